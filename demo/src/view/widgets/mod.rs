//! Buttons, switches and scales, cards and curves.

pub(crate) mod bar;
pub(crate) mod card;
pub(crate) mod graph;
pub(crate) mod keys;
pub(crate) mod pointer;
pub(crate) mod ui;
