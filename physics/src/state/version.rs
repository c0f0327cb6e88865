//! Versions of a snapshot, and why bytes are none.

/// Version of the snapshot's layout.
pub const SNAPSHOT_VERSION: u32 = 4;

/// Version of the simulation: two builds with the same number compute the same bits. Every change of a golden value raises it.
pub const SIM_VERSION: u32 = 17;

/// What [`conformance`](crate::conformance) returns wherever this version of the simulation is computed rightly. It moves with [`SIM_VERSION`], and with the
/// programme.
pub const CONFORMANCE: u64 = 0x5ba3_42aa_6e7b_3385;

/// Why bytes are not a snapshot of this version, or do not describe a consistent world.
///
/// ```
/// use testudo_physics::{SnapshotError, World, WorldDef};
/// let mut bytes = Vec::new();
/// World::new(WorldDef::new()).unwrap().snapshot(&mut bytes);
/// assert!(World::from_bytes(&bytes).is_ok());
/// bytes[20] ^= 1;
/// assert_eq!(World::from_bytes(&bytes).unwrap_err(), SnapshotError::Damaged);
/// assert_eq!(World::from_bytes(b"hello").unwrap_err(), SnapshotError::NotASnapshot);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SnapshotError {
    /// The bytes do not begin like a snapshot.
    NotASnapshot,
    /// Written by another version of the layout or of the simulation.
    Version {
        /// Layout version in the bytes.
        layout: u32,
        /// Simulation version in the bytes.
        sim: u32,
    },
    /// The bytes end early, go on too long, or fail their checksum.
    Damaged,
    /// The named part of the state breaks a documented limit or an invariant.
    Invalid {
        /// What is wrong.
        what: &'static str,
    },
}

impl core::fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NotASnapshot => write!(f, "these bytes are not a snapshot of a world"),
            Self::Version { layout, sim } => write!(
                f,
                "snapshot of layout {layout} and simulation {sim}; this build reads layout {SNAPSHOT_VERSION} and simulation {SIM_VERSION}"
            ),
            Self::Damaged => write!(f, "the snapshot is damaged: its length or checksum is wrong"),
            Self::Invalid { what } => write!(f, "the snapshot describes no consistent world: {what}"),
        }
    }
}

impl core::error::Error for SnapshotError {}
