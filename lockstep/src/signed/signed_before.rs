//! What a player has to remember of its own signatures.

/// What a player has signed of the newest match that it has signed, for its next session in the same match: it never signs a turn twice.
/// A middle that lies could show it a part of the match again, with other orders, and two accounts of one turn are proof of a lie.
///
/// [`AnySession::signed_before`](crate::AnySession::signed_before) has it, [`SessionConfig::signed_before()`](crate::SessionConfig::signed_before) takes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SignedBefore {
    /// The hash of the match's roster.
    pub(crate) roster: [u8; 32],
    /// The first turn of which the player has signed nothing, and nothing of any later one.
    pub(crate) next: u32,
}

impl SignedBefore {
    /// The bytes, to be kept in a file.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; 36] {
        let mut bytes = [0; 36];
        bytes[..32].copy_from_slice(&self.roster);
        bytes[32..].copy_from_slice(&self.next.to_le_bytes());
        bytes
    }

    /// Reads what [`SignedBefore::to_bytes`] wrote. Any bytes are something that was signed before.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; 36]) -> Self {
        let (mut roster, mut next) = ([0; 32], [0; 4]);
        roster.copy_from_slice(&bytes[..32]);
        next.copy_from_slice(&bytes[32..]);
        Self { roster, next: u32::from_le_bytes(next) }
    }
}
