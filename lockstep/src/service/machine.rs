//! What follows from the one secret of a player's machine: keys that sign, and marks by which servers know the machine again.

use core::fmt;

use sha2::{Digest as _, Sha256};

use crate::service::code::JoinCode;
use crate::signed::key::PlayerKey;
use crate::value::ids::PlayerId;

/// The secret of a machine: 32 random bytes that it keeps, and never sends. A program that crashed has the same keys and marks when it comes back, and neither
/// a server nor another match learns anything about the secret.
///
/// ```
/// use testudo_lockstep::PlayerId;
/// use testudo_lockstep::service::machine::MachineSecret;
/// let own = MachineSecret::new([7; 32]);
/// let key = own.player_key(0x1234, PlayerId(1));
/// assert_eq!(key.public().to_bytes(), own.player_key(0x1234, PlayerId(1)).public().to_bytes());
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct MachineSecret([u8; 32]);

/// Logs do not show the secret.
impl fmt::Debug for MachineSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MachineSecret(..)")
    }
}

impl MachineSecret {
    /// From random bytes that the machine has kept.
    #[must_use]
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The key of a player in the match with this number: another one in each match and for each player.
    #[must_use]
    pub fn player_key(&self, session_id: u64, player: PlayerId) -> PlayerKey {
        PlayerKey::from_secret(self.derived(b"testudo player key", &[&session_id.to_le_bytes(), &[player.0]]))
    }

    /// The key with which this machine signs what it says as a referee, always the same.
    #[must_use]
    pub fn referee_key(&self) -> PlayerKey {
        PlayerKey::from_secret(self.derived(b"testudo referee key", &[]))
    }

    /// What this machine shows at a server besides the secret of a place ([`Guest::join`](crate::service::guest::Guest::join)), always the same. The server's
    /// certificate is in it, so two servers cannot tell that the same player has come.
    #[must_use]
    pub fn token(&self, code: &JoinCode) -> [u8; 16] {
        let hash = self.derived(b"testudo token", &[&code.certificate_hash()]);
        let mut token = [0; 16];
        token.copy_from_slice(&hash[..16]);
        token
    }

    fn derived(&self, purpose: &[u8], parts: &[&[u8]]) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(purpose);
        hash.update(self.0);
        parts.iter().for_each(|part| hash.update(part));
        hash.finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(own: u8, id: u64, player: u8) -> [u8; 32] {
        MachineSecret::new([own; 32]).player_key(id, PlayerId(player)).public().to_bytes()
    }

    #[test]
    fn every_place_of_every_match_has_its_own_key_again() {
        let first = key(1, 2, 3);
        assert_eq!(first, key(1, 2, 3));
        for other in [key(2, 2, 3), key(1, 3, 3), key(1, 2, 4)] {
            assert_ne!(first, other);
        }
    }

    #[test]
    fn servers_know_a_machine_again_and_not_each_others_guests() {
        let code = |certificate: u8, secret: u8| {
            JoinCode::new(&["192.0.2.1:7".parse().unwrap()], [certificate; 32], [secret; 16]).unwrap()
        };
        let token = |own: u8, code: &JoinCode| MachineSecret::new([own; 32]).token(code);
        assert_eq!(token(1, &code(1, 1)), token(1, &code(1, 2)), "whatever the place");
        assert_ne!(token(1, &code(1, 1)), token(1, &code(2, 1)));
        assert_ne!(token(1, &code(1, 1)), token(2, &code(1, 1)));
    }
}
