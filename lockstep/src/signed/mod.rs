//! Players' keys, the roster on which all players agree, statements, and proofs that somebody lies. Nothing here depends on a session.

pub(crate) mod chain;
pub(crate) mod conviction;
pub(crate) mod crypto;
pub(crate) mod key;
pub(crate) mod proof;
pub(crate) mod roster;
pub(crate) mod signed_before;
pub(crate) mod statement;
#[cfg(test)]
mod tests;
