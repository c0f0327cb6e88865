//! What signatures are made of: Ed25519 (RFC 8032), from the crate `ed25519-dalek`, and truncated SHA-512, from `sha2`.

#[cfg(feature = "signed")]
pub(crate) use with::{Public, Secret, sha512};
#[cfg(not(feature = "signed"))]
pub(crate) use without::{Public, Secret, sha512};

/// Bytes of a signature.
pub(crate) const SIGNATURE_BYTES: usize = 64;

#[cfg(feature = "signed")]
mod with {
    use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
    use sha2::{Digest, Sha512};

    use super::SIGNATURE_BYTES;

    #[derive(Clone, PartialEq, Eq)]
    pub(crate) struct Secret(SigningKey);

    #[derive(Clone, Copy, PartialEq, Eq)]
    pub(crate) struct Public(VerifyingKey);

    impl Secret {
        pub(crate) fn from_bytes(secret: &[u8; 32]) -> Self {
            Self(SigningKey::from_bytes(secret))
        }

        pub(crate) fn public(&self) -> Public {
            Public(self.0.verifying_key())
        }

        pub(crate) fn sign(&self, message: &[u8]) -> [u8; SIGNATURE_BYTES] {
            self.0.sign(message).to_bytes()
        }
    }

    impl Public {
        /// None if the bytes are not a key, or a key for which anybody can sign.
        pub(crate) fn from_bytes(bytes: &[u8; 32]) -> Option<Self> {
            VerifyingKey::from_bytes(bytes).ok().filter(|key| !key.is_weak()).map(Self)
        }

        pub(crate) fn to_bytes(self) -> [u8; 32] {
            self.0.to_bytes()
        }

        pub(crate) fn has_signed(&self, message: &[u8], signature: &[u8; SIGNATURE_BYTES]) -> bool {
            self.0.verify_strict(message, &Signature::from_bytes(signature)).is_ok()
        }
    }

    pub(crate) fn sha512(parts: &[&[u8]]) -> [u8; 64] {
        let mut hasher = Sha512::new();
        for part in parts {
            hasher.update(part);
        }
        hasher.finalize().into()
    }
}

/// Without the feature nobody has a key, so there is no roster, and no session is signed.
#[cfg(not(feature = "signed"))]
mod without {
    use super::SIGNATURE_BYTES;

    #[derive(Clone, PartialEq, Eq)]
    pub(crate) enum Secret {}

    #[derive(Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Public {}

    impl Secret {
        pub(crate) fn public(&self) -> Public {
            match *self {}
        }

        pub(crate) fn sign(&self, _: &[u8]) -> [u8; SIGNATURE_BYTES] {
            match *self {}
        }
    }

    impl Public {
        pub(crate) fn from_bytes(_: &[u8; 32]) -> Option<Self> {
            None
        }

        pub(crate) fn to_bytes(self) -> [u8; 32] {
            match self {}
        }

        pub(crate) fn has_signed(&self, _: &[u8], _: &[u8; SIGNATURE_BYTES]) -> bool {
            match *self {}
        }
    }

    /// Not a hash: nothing is signed that it could be compared with.
    pub(crate) fn sha512(_: &[&[u8]]) -> [u8; 64] {
        [0; 64]
    }
}
