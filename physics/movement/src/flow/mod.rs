//! Flow fields: from everywhere to one goal, shared by all units that go there.

mod field;
mod flow_error;
mod flows;
mod path;
mod plan;
mod portals;
mod repair;
mod sectors;
mod sight;
mod tile;
mod tiles;
mod turn;
mod way;

pub(crate) use field::{Field, STRAIGHT};

pub use flow_error::{FIELDS_MAX, FlowError};
pub(crate) use flows::{ALONE, NO_FIELD, ONLY_FIELD, Used, WHOLE_UP_TO};
pub use flows::{FlowId, Flows};
pub use path::{Corner, PathError, PathSearch};
pub(crate) use plan::Ends;
pub(crate) use portals::portals;
pub(crate) use tiles::Tiles;
pub(crate) use turn::{SCATTER, Turn};
pub use way::Way;
