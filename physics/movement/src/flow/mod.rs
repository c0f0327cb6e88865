//! Flow fields: from everywhere to one goal, shared by all units that go there.

mod field;
mod flows;
mod sight;
mod tile;
mod way;

pub(crate) use field::{Field, STRAIGHT};

pub(crate) use flows::Used;
pub use flows::{FIELDS_MAX, FlowError, FlowId, Flows};
pub use way::Way;
