//! The hash of the whole state, and the history of the match in one number.

use testudo_physics::BodyId;
use xxhash_rust::xxh3::xxh3_64;

use crate::game::Game;
use crate::game::unit::{Task, Unit};

/// Folds another frame into the hash of all frames before it.
pub(super) fn extend(history: u64, frame_checksum: u64) -> u64 {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&history.to_le_bytes());
    bytes[8..].copy_from_slice(&frame_checksum.to_le_bytes());
    xxh3_64(&bytes)
}

impl Game {
    /// Hash of everything that decides how the match goes on, as little-endian bytes. The setup is left out: peers compare it
    /// before they play.
    pub(super) fn hash_state(&mut self) -> u64 {
        let mut bytes = core::mem::take(&mut self.scratch.bytes);
        bytes.clear();
        self.write_state(&mut bytes);
        let hash = xxh3_64(&bytes);
        self.scratch.bytes = bytes;
        hash
    }

    fn write_state(&self, out: &mut Vec<u8>) {
        put(out, self.world.checksum());
        put(out, self.frame);
        let (state, stream) = self.dice.state();
        put(out, state);
        put(out, stream);
        for army in &self.armies {
            put(out, pair(army.kills, army.losses));
            put(out, u64::from(army.is_gone));
            let [ready, arrivals] = army.reserve_bits();
            put(out, pair(ready, arrivals));
            put(out, army.fallen.len() as u64);
            for &unit in &army.fallen {
                out.extend_from_slice(&unit.to_le_bytes());
            }
        }
        for unit in &self.units {
            write_unit(unit, out);
        }
    }
}

/// Army and kind follow from the unit's number. Every unit has the same number of bytes, so nothing can shift.
fn write_unit(unit: &Unit, out: &mut Vec<u8>) {
    let (task, goal) = match unit.task {
        Task::Hold => (0, crate::game::point::Point::ZERO),
        Task::March(goal) => (1, goal),
        Task::Attack(goal) => (2, goal),
    };
    let has_body = u32::from(unit.body.is_some());
    let has_target = u32::from(unit.target.is_some());
    let flags = task | has_body << 2 | has_target << 3 | u32::from(unit.groups) << 16;
    put(out, pair(flags, unit.blows.to_bits()));
    put(out, unit.body.map_or(0, |id: BodyId| pair(id.index(), id.generation())));
    put(out, pair(unit.hit_points as u32, unit.target.unwrap_or(0)));
    put(out, pair(goal.x as u32, goal.y as u32));
}

fn put(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&value.to_le_bytes());
}

fn pair(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}
