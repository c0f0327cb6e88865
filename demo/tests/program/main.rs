//! The program as a person starts it: what it prints, and how it ends.

mod bad_input;
mod cubes;
mod headless;
mod network;
mod replay;
mod run;
mod soak;
mod window;
