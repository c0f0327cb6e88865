//! One join code for each place of a match.

use std::net::SocketAddr;

use crate::service::code::{JoinCode, JoinCodeError};
use crate::service::greeting::Secrets;
use crate::service::places::Secret;
use crate::value::ids::PlayerId;

/// The join codes of a match at a host or a relay. Each is for one person, but for the watchers' one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Codes {
    addresses: Vec<SocketAddr>,
    certificate_hash: [u8; 32],
    secrets: Secrets,
}

impl Codes {
    /// The codes of a match whose middle is at these one to four addresses, the most likely one first.
    ///
    /// # Errors
    /// No address, or more than four.
    pub fn new(
        addresses: &[SocketAddr],
        certificate_hash: [u8; 32],
        secrets: Secrets,
    ) -> Result<Self, JoinCodeError> {
        JoinCode::new(addresses, certificate_hash, secrets.watchers)?;
        Ok(Self { addresses: addresses.to_vec(), certificate_hash, secrets })
    }

    /// Where the middle is.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// The code of a player's place; none if there is no such player.
    #[must_use]
    pub fn player(&self, player: PlayerId) -> Option<JoinCode> {
        self.secrets.players.get(player.index()).and_then(|secret| self.code(secret))
    }

    /// The watchers' code.
    #[must_use]
    pub fn watchers(&self) -> Option<JoinCode> {
        self.code(&self.secrets.watchers)
    }

    /// The code of the place to watch from that other watchers cannot take.
    #[must_use]
    pub fn referee(&self) -> Option<JoinCode> {
        self.code(&self.secrets.referee)
    }

    /// Another secret opens a player's place from now on. Returns the new code.
    pub fn renew(&mut self, player: PlayerId, secret: Secret) -> Option<JoinCode> {
        *self.secrets.players.get_mut(player.index())? = secret;
        self.player(player)
    }

    fn code(&self, secret: &Secret) -> Option<JoinCode> {
        JoinCode::new(&self.addresses, self.certificate_hash, *secret).ok()
    }
}
