//! The smallest game that can be saved: one number.

use testudo_lockstep::state::{self, State, StateError, Visit};
use testudo_lockstep::{PlayerId, Simulation, Turn};

mod add;
pub(crate) use add::Add;

/// The toy.
#[derive(Default)]
pub(crate) struct Game {
    /// Depends on all actions and their order.
    pub(crate) sum: u64,
    /// The state at the last save point; not a part of the state.
    pub(crate) kept: Vec<u8>,
}

impl State for Game {
    fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
        v.number("sum", &mut self.sum)
    }
}

impl Simulation for Game {
    type Action = Add;
    fn apply(&mut self, player: PlayerId, action: &Add) {
        let said = u64::from(action.0) << 8 | u64::from(player.0);
        self.sum = self.sum.wrapping_mul(31).wrapping_add(said);
    }
    fn step(&mut self, _frames_per_second: u32) {}
    fn checksum(&mut self) -> u64 {
        state::digest(self)
    }
    fn save_state(&mut self, out: &mut Vec<u8>) -> bool {
        state::save(self, out);
        true
    }
    fn load_state(&mut self, bytes: &[u8]) -> bool {
        state::load(self, bytes).is_ok()
    }
    fn save_point(&mut self, _turn: Turn) {
        let mut kept = Vec::new();
        state::save(self, &mut kept);
        self.kept = kept;
    }
}
