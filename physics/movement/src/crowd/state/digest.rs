//! The hash of a crowd: of its definition, of each unit by itself, and then of all of these. Between two steps few units change.

use alloc::vec::Vec;

use testudo_physics::{QueryFilter, hash_bytes};

use crate::crowd::state::write::{self, Bytes, Sink};
use crate::crowd::{Crowd, CrowdDef};
use crate::ground::GroundDef;

/// In the place of a hash: the unit may have changed since.
pub(crate) const CHANGED: u64 = 0;

/// In the place of a hash: the unit is gone, and no part of the state.
pub(crate) const GONE: u64 = 1;

/// More than a unit takes.
const UNIT_MAX: usize = 256;

/// One unit's bytes.
struct Unit {
    bytes: [u8; UNIT_MAX],
    // not state: counts the bytes while they are written
    filled: usize,
}

impl Sink for Unit {
    #[inline(always)]
    fn object(&mut self, _: &'static str, _: u32) {}

    #[inline(always)]
    fn put(&mut self, _: &'static str, value: i64, bytes: usize) {
        self.bytes[self.filled..self.filled + 8].copy_from_slice(&value.to_le_bytes());
        self.filled += bytes;
    }
}

impl CrowdDef {
    /// A hash of all settings. Crowds with different ones do not go on alike, and are not the same even while they do.
    pub(in crate::crowd) fn digest(&self) -> u64 {
        let Self { ground, fields_max, cells_per_frame, whole_up_to, slows } = self;
        let GroundDef { area, cell, sizes, obstacles } = ground;
        let mut all = Vec::new();
        let mut bytes = Bytes::new(&mut all);
        for length in [area.min.x, area.min.y, area.max.x, area.max.y, *cell].iter().chain(sizes) {
            bytes.put("length", length.to_bits(), 8);
        }
        for number in [*fields_max, *cells_per_frame, *whole_up_to] {
            bytes.put("setting", number.into(), 4);
        }
        let QueryFilter { filter, solids, sensors, statics, kinematics, dynamics, exclude, .. } = obstacles;
        for flag in [*slows, *solids, *sensors, *statics, *kinematics, *dynamics] {
            bytes.put("flag", flag.into(), 1);
        }
        for number in filter.iter().flat_map(|filter| [filter.layers, filter.mask]) {
            bytes.put("filter", number.into(), 4);
        }
        exclude.iter().for_each(|body| bytes.put("exclude", body.to_bits() as i64, 8));
        bytes.end();
        hash_bytes(&all)
    }
}

impl Crowd {
    /// A hash of the whole state and of the definition, to be compared between peers beside [`World::checksum`](testudo_physics::World::checksum).
    #[must_use]
    pub fn checksum(&self) -> u64 {
        self.checksum_in(&mut Vec::new())
    }

    /// As [`Crowd::checksum`], in the memory of a buffer that is kept from frame to frame.
    pub fn checksum_in(&self, buffer: &mut Vec<u8>) -> u64 {
        buffer.clear();
        let mut bytes = Bytes::new(buffer);
        self.write_head(&mut bytes);
        for (at, &hash) in self.hashes.iter().enumerate() {
            if hash != GONE {
                let hash = if hash == CHANGED { self.hash_of(at) } else { hash };
                bytes.put("unit", hash as i64, 8);
            }
        }
        bytes.end();
        hash_bytes(buffer)
    }

    /// Hashes the units that have changed since it was called last, so that checksums until the next step need not: call it after each step in a game that
    /// computes checksums in each frame. It changes no checksum.
    pub fn hash_units(&mut self) {
        for at in 0..self.hashes.len() {
            if self.hashes[at] == CHANGED {
                self.hashes[at] = self.hash_of(at);
            }
        }
    }

    /// The next checksum hashes all units again.
    pub(in crate::crowd) fn all_change(&mut self) {
        self.hashes.iter_mut().filter(|hash| **hash != GONE).for_each(|hash| *hash = CHANGED);
    }

    fn hash_of(&self, at: usize) -> u64 {
        let mut unit = Unit { bytes: [0; UNIT_MAX], filled: 0 };
        write::unit(&mut unit, &self.walkers[at], &self.movers[at]);
        hash_bytes(&unit.bytes[..unit.filled]).max(GONE + 1)
    }
}
