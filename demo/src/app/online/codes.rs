//! What a host passes on so that others can come.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};
use testudo_lockstep::PlayerId;
use testudo_lockstep::service::code::{JoinCode, JoinCodeError};
use testudo_lockstep::service::codes::Codes as JoinCodes;

/// The code in what somebody was sent: a link ends with it, and so does a command.
pub(crate) fn in_text(text: &str) -> &str {
    let last = text.split_whitespace().next_back().unwrap_or_default();
    let code = last.rsplit_once('#').map_or(last, |(_, code)| code);
    code.strip_prefix("open=").unwrap_or(code)
}

/// The code in a text.
///
/// # Errors
/// A sentence about what is wrong with it.
pub(crate) fn read(text: &str) -> Result<JoinCode, String> {
    // It may have been broken into several words on its way.
    if let Ok(code) = text.parse() {
        return Ok(code);
    }
    let code = in_text(text);
    if code.contains("://") || (code.is_empty() && text.contains('#')) {
        return Err("the link has no code: copy all of it, with the # and what follows".into());
    }
    code.parse().map_err(|error: JoinCodeError| error.to_string())
}

/// The join codes of a match. Without a seal they are its address. A page keeps those of a room that it has opened.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Codes {
    /// Where the host listens, or the relay through which it plays.
    pub(crate) address: SocketAddr,
    pub(crate) is_sealed: bool,
    /// Player and code, for each place but the host's.
    pub(crate) players: Vec<(u8, String)>,
    /// For whoever wants to watch.
    pub(crate) watch: String,
    /// For a referee, whose place no watcher can take; only in sealed matches.
    pub(crate) referee: Option<String>,
    /// Brings the player that opened a room at a relay back to it after a crash.
    pub(crate) back: Option<String>,
    /// Where a page is that takes codes; none: they are typed.
    page: Option<String>,
}

impl Codes {
    /// The codes of an unsealed match.
    pub(crate) fn plain(address: SocketAddr, players: u8, host: PlayerId) -> Self {
        let code = address.to_string();
        let others = (0..players).filter(|player| *player != host.0);
        let players = others.map(|player| (player, code.clone())).collect();
        Self { address, is_sealed: false, players, watch: code, referee: None, back: None, page: None }
    }

    /// The codes of a sealed match in which this player is here.
    pub(crate) fn sealed(codes: &JoinCodes, own: PlayerId, players: u8) -> Self {
        let text = |code: Option<JoinCode>| code.map(|code| code.to_string());
        let others = (0..players).filter(|player| *player != own.0);
        let code = |player| Some((player, text(codes.player(PlayerId(player)))?));
        Self {
            address: codes.addresses()[0],
            is_sealed: true,
            players: others.filter_map(code).collect(),
            watch: text(codes.watchers()).unwrap_or_default(),
            referee: text(codes.referee()),
            back: None,
            page: None,
        }
    }

    /// Another code opens a player's place from now on.
    pub(crate) fn renew(&mut self, player: PlayerId, code: &JoinCode) {
        if let Some((_, old)) = self.players.iter_mut().find(|(place, _)| *place == player.0) {
            *old = code.to_string();
        }
    }

    /// The others open a page at this address.
    pub(crate) fn by_page(self, page: Option<String>) -> Self {
        Self { page, ..self }
    }

    /// This code opens this player's own place.
    pub(crate) fn back_by(self, code: String) -> Self {
        Self { back: Some(code), ..self }
    }

    /// Where a page is that takes codes.
    pub(crate) fn page(&self) -> Option<&str> {
        self.page.as_deref()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_found_in_a_link_and_in_a_command() {
        for text in [
            "0abc",
            "  0abc\n",
            "testudo join 0abc",
            "https://example.org/battle/#0abc",
            "http://[::1]:8000/#open=0abc ",
        ] {
            assert_eq!(in_text(text), "0abc", "{text}");
        }
        assert_eq!(in_text(""), "");
    }

    /// A character in it was said to be wrong, and the advice was to copy the code again.
    #[test]
    fn a_link_without_its_end_is_named() {
        for text in ["https://example.org/battle/", "http://127.0.0.1:8000", "https://example.org/#"] {
            let told = read(text).expect_err("there is no code");
            assert!(told.contains("the link has no code"), "{text}: {told}");
        }
        assert!(read("0abc").expect_err("it is cut off").contains("damaged"));
    }
}
