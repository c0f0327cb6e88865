//! That a player is to go: whoever has opened a room at a relay asks the relay for it. A host does it itself.

use core::fmt;

use crate::service::places::Secret;
use crate::session::AnySession;
use crate::session::talk::{MessageError, To};
use crate::value::ids::PlayerId;

/// A player is removed for good. Until the start is fixed, somebody else may come with the new secret.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Removal {
    /// The player.
    pub player: PlayerId,
    /// Opens the place from then on, if the start is not fixed yet (`AnySession::start_is_fixed`); random.
    pub secret: Secret,
}

/// Logs do not show the secret.
impl fmt::Debug for Removal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Removal").field("player", &self.player).finish_non_exhaustive()
    }
}

impl Removal {
    /// Asks the relay for it. Only the first player of a room is listened to. Until the start is fixed, the place's new code is that of
    /// [`Codes::renew`](crate::service::codes::Codes::renew).
    ///
    /// # Errors
    /// The message was not accepted.
    pub fn ask(self, session: &mut AnySession) -> Result<(), MessageError> {
        session.send_message(To::Middle, &[&[self.player.0], &self.secret[..]].concat())
    }

    /// Reads a message to the relay; none if it is something else.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let (player, secret) = bytes.split_first()?;
        Some(Self { player: PlayerId(*player), secret: secret.try_into().ok()? })
    }
}
