//! How a difference spreads: the bodies that are not the same in two copies, turn by turn.

use testudo_lockstep::Simulation as _;

use crate::app::watch::turn_record::FrameRecord;
use testudo_battle::Game;

/// Turns whose counts are kept; in longer matches the first ones tell the story.
const TURNS_MAX: usize = 3_000;

/// The bodies that differ now, and how many did before.
pub(crate) struct Spread {
    /// The two copies, to look into their states.
    copies: [Box<Game>; 2],
    /// Slots of the bodies that differ, in ascending order.
    pub(crate) differing: Vec<u32>,
    /// How many differed after each turn since the first difference.
    pub(crate) counts: Vec<u32>,
    /// Number of bodies in the first copy.
    pub(crate) bodies: u32,
}

impl Spread {
    /// `any`: any copy of the match.
    pub(crate) fn new(any: &Game) -> Self {
        let copies = [(); 2].map(|()| Box::new(any.clone()));
        Self { copies, differing: Vec::new(), counts: Vec::new(), bodies: 0 }
    }

    /// Compares the states of two copies after one and the same frame.
    pub(crate) fn note(&mut self, states: [&FrameRecord; 2]) {
        for (copy, record) in self.copies.iter_mut().zip(states) {
            // A state of one's own can be loaded.
            if !copy.load_state(&record.state) {
                return;
            }
        }
        let [first, second] = &self.copies;
        self.differing = first.differing_bodies(second);
        self.bodies = first.world().body_count();
        if self.counts.len() < TURNS_MAX {
            self.counts.push(self.differing.len() as u32);
        }
    }
}
