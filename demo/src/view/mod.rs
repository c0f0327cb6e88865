//! The window. It reads clients' states and gives orders; nothing that it does changes a simulation by another way, and a slow
//! picture only makes time pass more slowly.
//!
//! From the bottom: `paint` puts shapes and letters on the screen; `widgets` are buttons, cards and curves; `battle` draws a client's
//! state; `command` turns mouse and keys into orders; `hud` is what stands around the battle; `screens` put it together;
//! `platform` opens a window or a page for them.

mod battle;
mod command;
mod hud;
mod paint;
mod platform;
mod screens;
mod widgets;

#[cfg(not(target_arch = "wasm32"))]
pub(crate) use platform::native::{WindowError, open, open_cubes, open_network, open_replay};
#[cfg(target_arch = "wasm32")]
pub(crate) use platform::page::open_page;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use screens::drawing_cost::{DrawingResult, measure as measure_drawing};
