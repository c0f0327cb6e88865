//! The window. It reads clients' states and submits orders; it has no other effect on a simulation. A slow picture only makes time pass
//! more slowly.
//!
//! From the bottom: `sound` is heard; `paint` draws shapes and letters; `widgets` are buttons, cards and curves; `battle` draws a client's state; `command`
//! turns mouse and keys into orders; `hud` surrounds the battle; `screens` combine them; `platform` opens a window or a page for them. `bench`
//! measures `paint` and `battle`.

pub(crate) mod battle;
mod command;
mod hud;
pub(crate) mod paint;
mod platform;
mod screens;
mod sound;
mod widgets;

#[cfg(not(target_arch = "wasm32"))]
pub(crate) use platform::native::{WindowError, WindowOptions, open, open_cubes, open_network, open_replay};
#[cfg(target_arch = "wasm32")]
pub(crate) use platform::page::open_page;
