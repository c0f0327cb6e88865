//! Everything around the battle.

pub(crate) mod alarm;
pub(crate) mod commands;
pub(crate) mod conditions;
pub(crate) mod ending;
pub(crate) mod friends;
pub(crate) mod header;
pub(crate) mod hearing;
pub(crate) mod help;
pub(crate) mod hints;
pub(crate) mod lobby;
pub(crate) mod menu;
pub(crate) mod orders;
pub(crate) mod pace;
pub(crate) mod panel;
pub(crate) mod peers;
pub(crate) mod picture;
pub(crate) mod presence;
pub(crate) mod qr;
pub(crate) mod result;
pub(crate) mod stage;
pub(crate) mod status;
pub(crate) mod tips;
pub(crate) mod unit_card;
