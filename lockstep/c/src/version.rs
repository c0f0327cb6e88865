//! Versions, and the hash that all peers share.

use crate::failure::value;
use crate::pointer::bytes;

/// Version of this header: functions, structures, numbers. It grows when one of these is changed or taken away, and when a structure gets a
/// field: the library reads and writes structures in the size that it knows. A program whose header has another one than its library has
/// (`testudo_interface_version`) must not go on.
pub const TESTUDO_INTERFACE_VERSION: u32 = 1;

/// The library's `TESTUDO_INTERFACE_VERSION`.
#[unsafe(no_mangle)]
pub extern "C" fn testudo_interface_version() -> u32 {
    TESTUDO_INTERFACE_VERSION
}

/// Version of the physics: two builds with the same number compute the same bits.
#[unsafe(no_mangle)]
pub extern "C" fn testudo_sim_version() -> u32 {
    testudo_physics::SIM_VERSION
}

/// Version of the movement: crowds of two builds compute the same bits if both this number and `testudo_sim_version` are the same.
#[unsafe(no_mangle)]
pub extern "C" fn testudo_movement_version() -> u32 {
    testudo_movement::MOVEMENT_VERSION
}

/// Version of the bytes between peers, which compare it before they play.
#[unsafe(no_mangle)]
pub extern "C" fn testudo_protocol_version() -> u32 {
    testudo_lockstep::PROTOCOL_VERSION.into()
}

/// Version of the layout of saved worlds.
#[unsafe(no_mangle)]
pub extern "C" fn testudo_snapshot_version() -> u32 {
    testudo_physics::SNAPSHOT_VERSION
}

/// 64-bit hash (XXH3) of bytes, the same on every machine: for the checksum of a game's own numbers. Write numbers little-endian
/// before. `data` may be NULL if `length` is 0. 0 if it is NULL otherwise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_hash(data: *const u8, length: usize) -> u64 {
    // SAFETY: the contract of pointers.
    value(0, || Ok(testudo_physics::hash_bytes(unsafe { bytes(data, length) }?)))
}
