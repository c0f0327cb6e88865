//! Everything around the battle.

pub(crate) mod alarm;
pub(crate) mod commands;
pub(crate) mod conditions;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) mod ending;
pub(crate) mod header;
pub(crate) mod hearing;
pub(crate) mod help;
pub(crate) mod hints;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) mod lobby;
pub(crate) mod orders;
pub(crate) mod panel;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) mod peers;
pub(crate) mod result;
pub(crate) mod status;
