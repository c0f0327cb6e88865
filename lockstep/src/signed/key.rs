//! A player's key pair: Ed25519 (RFC 8032).

use core::fmt;

use crate::signed::crypto::{Public, SIGNATURE_BYTES, Secret};

/// The local player's secret key, which signs its statements.
#[derive(Clone, PartialEq, Eq)]
pub struct PlayerKey(Secret);

/// A player's public key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(Public);

impl PlayerKey {
    /// The key derived from 32 secret random bytes. Keep the bytes to have the same key in the next match.
    #[cfg(feature = "signed")]
    #[must_use]
    pub fn from_secret(secret: [u8; 32]) -> Self {
        Self(Secret::from_bytes(&secret))
    }

    /// The part that others may know.
    #[must_use]
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.public())
    }

    pub(crate) fn sign(&self, message: &[u8]) -> [u8; SIGNATURE_BYTES] {
        self.0.sign(message)
    }
}

impl PublicKey {
    /// The key with these bytes; none if they are not a key, or a key for which anybody can sign, or without the feature `signed`.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Option<Self> {
        Public::from_bytes(&bytes).map(Self)
    }

    /// The bytes of the key.
    #[must_use]
    pub fn to_bytes(self) -> [u8; 32] {
        self.0.to_bytes()
    }

    /// Whether the owner of the key has signed the message. Strict: every program gets the same result, and only the owner can make another
    /// signature of the same message.
    pub(crate) fn has_signed(&self, message: &[u8], signature: &[u8; SIGNATURE_BYTES]) -> bool {
        self.0.has_signed(message, signature)
    }
}

impl fmt::Debug for PlayerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PlayerKey(..)")
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey(")?;
        self.0.to_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        write!(f, ")")
    }
}
