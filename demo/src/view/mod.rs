//! The window. It reads clients' states and submits orders; it has no other effect on a simulation. A slow picture only makes time pass
//! more slowly.
//!
//! From the bottom: `widgets` are buttons, cards and curves; `command` turns mouse and keys into orders; `hud` surrounds the battle; `screens` combine
//! them; `platform` opens a window or a page for them. The battle itself is drawn, and heard, by the package `testudo-render`.

mod command;
mod hud;
mod platform;
mod screens;
mod widgets;

#[cfg(not(target_arch = "wasm32"))]
pub(crate) use platform::native::{WindowOptions, open, open_cubes, open_network, open_replay};
#[cfg(target_arch = "wasm32")]
pub(crate) use platform::page::open_page;
