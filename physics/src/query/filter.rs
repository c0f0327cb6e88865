//! Which bodies a query finds.

use crate::body::def::BodyKind;
use crate::body::filter::Filter;
use crate::body::id::BodyId;
use crate::body::record::{Body, flag};
use crate::body::slot::Slot;

/// Which bodies a query finds. By default all except sensors. Disabled bodies are never found.
///
/// ```
/// use testudo_physics::{BodyKind, Filter, QueryFilter};
/// // Units of the second layer, sensors not.
/// let enemies = QueryFilter::new().filter(Filter::new(u32::MAX, 0b10));
/// // What blocks the view: only static bodies.
/// let walls = QueryFilter::new().only(BodyKind::Static);
/// assert!(walls.statics && !walls.dynamics && enemies.dynamics);
/// ```
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub struct QueryFilter {
    /// If set, finds only bodies whose filter and this one accept each other. Default: none.
    pub filter: Option<Filter>,
    /// Whether bodies other than sensors are found. Default: yes.
    pub solids: bool,
    /// Whether sensors are found. Default: no.
    pub sensors: bool,
    /// Whether static bodies are found. Default: yes.
    pub statics: bool,
    /// Whether kinematic bodies are found. Default: yes.
    pub kinematics: bool,
    /// Whether dynamic bodies are found. Default: yes.
    pub dynamics: bool,
    /// Whether rays and sweeps hit one-sided terrain from behind, too: where the centre is on its open side. Default: no.
    pub both_sides: bool,
    /// A body that is not found, for example the one that casts a ray. A stale handle excludes nothing.
    pub exclude: Option<BodyId>,
}

impl Default for QueryFilter {
    fn default() -> Self {
        Self::new()
    }
}

impl QueryFilter {
    /// Every enabled body except sensors.
    pub const fn new() -> Self {
        Self {
            filter: None,
            solids: true,
            sensors: false,
            statics: true,
            kinematics: true,
            dynamics: true,
            both_sides: false,
            exclude: None,
        }
    }

    /// Finds only bodies whose filter and this one accept each other. `layers` are the layers of the query itself, `mask` those that it
    /// looks for.
    pub const fn filter(self, filter: Filter) -> Self {
        Self { filter: Some(filter), ..self }
    }

    /// Finds sensors, too.
    pub const fn with_sensors(self) -> Self {
        Self { sensors: true, ..self }
    }

    /// Finds sensors only.
    pub const fn only_sensors(self) -> Self {
        Self { sensors: true, solids: false, ..self }
    }

    /// Finds bodies of one kind only.
    pub const fn only(self, kind: BodyKind) -> Self {
        Self {
            statics: matches!(kind, BodyKind::Static),
            kinematics: matches!(kind, BodyKind::Kinematic),
            dynamics: matches!(kind, BodyKind::Dynamic),
            ..self
        }
    }

    /// Rays and sweeps hit one-sided terrain from behind, too.
    pub const fn both_sides(self) -> Self {
        Self { both_sides: true, ..self }
    }

    /// Does not find this body.
    pub const fn exclude(self, id: BodyId) -> Self {
        Self { exclude: Some(id), ..self }
    }

    /// The filter in the form that the search uses; `excluded` is the slot of `exclude`.
    pub(crate) fn prepare(&self, excluded: Option<Slot>) -> Prepared {
        let of = |chosen: bool, kinds: u32| if chosen { kinds } else { 0 };
        let kinds = of(self.statics, STATIC)
            | of(self.kinematics, KINEMATIC)
            | of(self.dynamics, !(STATIC | KINEMATIC));
        let kinds = kinds & (of(self.sensors, SENSOR) | of(self.solids, !SENSOR));
        Prepared {
            kinds,
            filter: self.filter,
            both_sides: self.both_sides,
            excluded: excluded.unwrap_or(Slot::NONE),
        }
    }
}

/// Flags that say what kind of body it is: the lowest three.
const KIND_BITS: u32 = flag::DYNAMIC | flag::KINEMATIC | flag::SENSOR;
const _: () = assert!(KIND_BITS == 7);
/// The combinations that mean a static body, a kinematic one, a sensor; one bit each.
const STATIC: u32 = combinations(flag::DYNAMIC | flag::KINEMATIC, 0);
const KINEMATIC: u32 = combinations(flag::DYNAMIC | flag::KINEMATIC, flag::KINEMATIC);
const SENSOR: u32 = combinations(flag::SENSOR, flag::SENSOR);

/// The combinations that have these bits under a mask.
const fn combinations(mask: u32, bits: u32) -> u32 {
    let (mut found, mut flags) = (0, 0);
    while flags <= KIND_BITS {
        found |= ((flags & mask == bits) as u32) << flags;
        flags += 1;
    }
    found
}

/// A query's filter in the form that the search uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prepared {
    /// One bit for each combination of [`KIND_BITS`].
    kinds: u32,
    filter: Option<Filter>,
    /// Whether paths meet one-sided terrain from behind, too.
    pub(crate) both_sides: bool,
    excluded: Slot,
}

impl Prepared {
    /// Whether a body passes.
    #[inline]
    pub(crate) fn accepts(&self, slot: Slot, body: &Body) -> bool {
        let kind = self.kinds >> (body.flags & KIND_BITS) & 1 != 0;
        kind & (slot != self.excluded) && self.filter.is_none_or(|filter| filter.accepts(&body.filter()))
    }
}
