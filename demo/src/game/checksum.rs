//! The hash of the whole battle: the world, every unit and every army, as little-endian bytes.

use xxhash_rust::xxh3::Xxh3;

use super::unit::Task;
use super::{Battle, Unit};

/// Bytes of one unit in the hash.
const UNIT_BYTES: usize = 40;

pub fn of(battle: &Battle) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(&battle.world.checksum().to_le_bytes());
    hash.update(&battle.frame.to_le_bytes());
    for army in &battle.armies {
        hash.update(&army.kills.to_le_bytes());
        hash.update(&army.losses.to_le_bytes());
        hash.update(&[u8::from(army.gone)]);
    }
    for unit in &battle.units {
        hash.update(&bytes_of(unit));
    }
    hash.digest()
}

/// Every field of a unit in a fixed place.
fn bytes_of(unit: &Unit) -> [u8; UNIT_BYTES] {
    let (kind, to, within) = match unit.task {
        Task::Hold => (0, [0; 2], 0),
        Task::Move { to, within } => (1, to, within),
        Task::AttackMove { to, within } => (2, to, within),
    };
    let body = unit.body.map_or(u64::MAX, |id| u64::from(id.index()) | u64::from(id.generation()) << 32);
    let mut bytes = [0; UNIT_BYTES];
    bytes[0..4].copy_from_slice(&[unit.player, unit.group, kind, u8::from(unit.target.is_some())]);
    bytes[4..6].copy_from_slice(&to[0].to_le_bytes());
    bytes[6..8].copy_from_slice(&to[1].to_le_bytes());
    bytes[8..10].copy_from_slice(&within.to_le_bytes());
    bytes[12..20].copy_from_slice(&body.to_le_bytes());
    bytes[20..24].copy_from_slice(&unit.hit_points.to_le_bytes());
    bytes[24..28].copy_from_slice(&unit.target.unwrap_or(0).to_le_bytes());
    bytes[28..32].copy_from_slice(&unit.returns_in.to_le_bytes());
    bytes[32..36].copy_from_slice(&unit.damage_rest.to_le_bytes());
    bytes
}
