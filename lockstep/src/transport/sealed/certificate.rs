//! A server's certificate, which nobody has signed but its own key.

use std::io;
use std::time::SystemTime;

use wtransport::Identity;

/// How long a certificate is valid, in days. Browsers take a certificate by its hash only if it is valid for 14 days at most.
const VALID_DAYS: u32 = 13;

/// How much of it lies in the past, for clients whose clocks are behind: a day.
pub(super) const VALID_BEFORE: core::time::Duration = core::time::Duration::from_secs(86_400);

/// A fresh key on the curve P-256 and a certificate signed with it, with its hash. Its names mean nothing: clients compare the hash.
pub(super) fn identity(start: SystemTime) -> io::Result<(Identity, [u8; 32])> {
    let identity = Identity::self_signed_builder()
        .subject_alt_names(["localhost"])
        .not_before(start.into())
        .validity_days(VALID_DAYS)
        .build()
        .map_err(io::Error::other)?;
    let hash =
        identity.certificate_chain().as_slice().first().map(|certificate| *certificate.hash().as_ref());
    hash.map(|hash| (identity, hash)).ok_or_else(|| io::Error::other("no certificate"))
}
