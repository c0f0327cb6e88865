//! Windows of an operating system, or a page.

pub(crate) mod conf;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) mod native;
#[cfg(target_arch = "wasm32")]
pub(crate) mod page;
