//! Values without behaviour: bits, actions, entries, ids, time, limits.

pub(crate) mod action;
pub(crate) mod action_format;
pub(crate) mod bits;
pub(crate) mod bucket;
pub(crate) mod codec;
#[cfg_attr(
    not(feature = "wire"),
    allow(dead_code, unreachable_pub, reason = "tests that make their own packets use all of it")
)]
pub(crate) mod entry;
pub(crate) mod field;
pub(crate) mod ids;
pub(crate) mod time;
