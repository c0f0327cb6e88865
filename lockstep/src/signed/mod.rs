//! Who says what: keys of players, the roster on which all agree, statements, and proofs that somebody lies. Nothing here knows a session.

pub(crate) mod chain;
pub(crate) mod key;
pub(crate) mod proof;
pub(crate) mod roster;
pub(crate) mod statement;
#[cfg(test)]
mod tests;
