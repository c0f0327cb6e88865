//! What a host passes on so that others can come.

use std::net::SocketAddr;

use testudo_lockstep::PlayerId;
use testudo_lockstep::transport::code::{JoinCode, JoinCodeError};

use crate::app::online::greeting::Secret;

/// The join codes of a match. Without a seal they are its address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Codes {
    /// Where the host listens, or the relay through which it plays.
    pub(crate) address: SocketAddr,
    pub(crate) is_sealed: bool,
    /// Player and code, for each place but the host's.
    pub(crate) players: Vec<(u8, String)>,
    /// For whoever wants to watch.
    pub(crate) watch: String,
    /// For a referee, whose place nobody who watches can take; only in sealed matches.
    pub(crate) referee: Option<String>,
    /// By which whoever opened a room at a relay comes back to it after a crash.
    pub(crate) back: Option<String>,
    /// Where a page is that takes codes; none: they are typed.
    page: Option<String>,
    addresses: Vec<SocketAddr>,
    certificate_hash: [u8; 32],
}

impl Codes {
    /// The codes of an unsealed match.
    pub(crate) fn plain(address: SocketAddr, players: u8, host: PlayerId) -> Self {
        let code = address.to_string();
        let others = (0..players).filter(|player| *player != host.0);
        let players = others.map(|player| (player, code.clone())).collect();
        let (addresses, certificate_hash) = (vec![address], [0; 32]);
        Self {
            address,
            is_sealed: false,
            players,
            watch: code,
            referee: None,
            back: None,
            page: None,
            addresses,
            certificate_hash,
        }
    }

    /// The codes of a sealed match. `players`: the secrets of all players, also the host's own; then those of who watches and of a referee.
    ///
    /// # Errors
    /// No address, or more than four.
    pub(crate) fn sealed(
        addresses: &[SocketAddr],
        certificate_hash: [u8; 32],
        players: &[Secret],
        host: PlayerId,
        (watch, referee): (Secret, Secret),
    ) -> Result<Self, JoinCodeError> {
        let address = *addresses.first().ok_or(JoinCodeError::Addresses)?;
        let code = |secret: &Secret| {
            JoinCode::new(addresses, certificate_hash, *secret).map(|code| code.to_string())
        };
        let player = |(player, secret)| code(secret).map(|code| (player, code));
        let others = (0_u8..).zip(players).filter(|(player, _)| *player != host.0);
        let players = others.map(player).collect::<Result<_, _>>()?;
        let (addresses, watch, referee) = (addresses.to_vec(), code(&watch)?, Some(code(&referee)?));
        Ok(Self {
            address,
            is_sealed: true,
            players,
            watch,
            referee,
            back: None,
            page: None,
            addresses,
            certificate_hash,
        })
    }

    /// Another secret opens a player's place from now on. Returns its code.
    pub(crate) fn renew(&mut self, player: u8, secret: Secret) -> Option<&str> {
        let (_, code) = self.players.iter_mut().find(|(place, _)| *place == player)?;
        *code = JoinCode::new(&self.addresses, self.certificate_hash, secret).ok()?.to_string();
        Some(code)
    }

    /// The others open a page at this address.
    pub(crate) fn by_page(self, page: Option<String>) -> Self {
        Self { page, ..self }
    }

    /// This code opens the own place.
    pub(crate) fn back_by(self, code: String) -> Self {
        Self { back: Some(code), ..self }
    }

    /// Whether the others open a page instead of typing a command.
    pub(crate) fn has_page(&self) -> bool {
        self.page.is_some()
    }

    /// The link that opens a place in a browser.
    pub(crate) fn link(&self, code: &str) -> Option<String> {
        self.page.as_ref().map(|page| format!("{page}#{code}"))
    }

    /// What a player types, or opens.
    pub(crate) fn command(&self, code: &str) -> String {
        if let Some(link) = self.link(code) {
            return link;
        }
        if self.is_sealed { format!("testudo join {code}") } else { format!("testudo join --plain {code}") }
    }
}
