//! What a body is: shape, material, filter, definition, handle, and the record that the world stores.

pub(crate) mod def;
pub(crate) mod field;
pub(crate) mod filter;
pub(crate) mod id;
pub(crate) mod indexed;
pub(crate) mod material;
pub(crate) mod ordered;
pub(crate) mod record;
pub(crate) mod shape;
pub(crate) mod slot;
pub(crate) mod slot_sort;
pub(crate) mod terrain;
pub(crate) mod terrain_def;
pub(crate) mod view;
pub(crate) mod working_index;
