//! A second match, which goes on from a save of the first one.

use crate::drive::simulation::Simulation;
use crate::replay::{Recorded, Replay, ReplayHeader, ReplayPlayer};
use crate::session::config::Topology;
use crate::session::saved_match::SavedMatch;
use crate::state::{self, State};
use crate::testing::soak::plan::Plan;
use crate::testing::soak::trace::{Ran, Trace};
use crate::value::ids::PlayerId;

/// From where it goes on.
#[derive(Clone, Debug)]
pub(super) struct Resumed<A> {
    pub(super) saved: SavedMatch,
    pub(super) state: Vec<u8>,
    /// The orders that were on their way, as the first match ran them.
    pub(super) carried: Vec<Ran<A>>,
    /// Checksums of the first match in the turns of these orders.
    pub(super) checksums: Vec<u64>,
}

impl<A: Clone> Resumed<A> {
    /// What a save of the first match has to lead to, by the recording of a peer that saw all of it. None: players went or came while the match was saved, or
    /// too few are left.
    ///
    /// # Errors
    /// The state that the recording leads to is not the one that was saved.
    pub(super) fn of<S: Simulation + State>(
        plan: &Plan,
        fresh: S,
        saved: &SavedMatch,
        whole: &Trace<A>,
        recording: Replay,
    ) -> Result<Option<Self>, String> {
        let first = saved.turn().0;
        let in_flight = first..first + plan.turns_ahead;
        let changes =
            whole.gone.iter().chain(&whole.back).any(|(_, turn)| (first..=in_flight.end).contains(turn));
        let stays = |player: &u8| saved.ended(PlayerId(*player)).is_none();
        let is_led = plan.topology != Topology::Host || stays(&0);
        if changes || !is_led || in_flight.end >= plan.turns || (0..plan.players).filter(stays).count() < 2 {
            return Ok(None);
        }
        let mut player = ReplayPlayer::new(recording, fresh);
        if let Err(error) = player.seek(first) {
            return Err(format!("the recording does not lead to the save before turn {first}: {error}"));
        }
        if player.checksum() != saved.checksum() {
            return Err(format!("the save before turn {first} has another checksum than the match"));
        }
        let mut state = Vec::new();
        player.save(&mut state);
        let carried = whole.orders.iter().filter(|ran| in_flight.contains(&ran.turn)).cloned().collect();
        let checksums = whole.checksums[first as usize..in_flight.end as usize].to_vec();
        Ok(Some(Self { saved: saved.clone(), state, carried, checksums }))
    }

    /// Whether a node comes with the save; the middle of a star gives it to the others.
    pub(super) fn brings(plan: &Plan, node: u32) -> bool {
        plan.topology == Topology::Mesh || node == plan.centre() || node.is_multiple_of(2)
    }

    /// Whether a node's player was gone when the match was saved.
    pub(super) fn is_away(&self, plan: &Plan, node: u32) -> bool {
        node < u32::from(plan.players) && self.saved.ended(PlayerId(node as u8)).is_some()
    }

    /// The turns whose orders were on their way must run as in the first match, if their shape does not follow new measurements.
    pub(super) fn finding(&self, second: &Trace<A>) -> Option<String> {
        let ran = second.checksums.iter().zip(&self.checksums);
        let turn = self.saved.turn().0 + ran.clone().position(|(here, there)| here != there)? as u32;
        Some(format!("turn {turn} is another one than in the match that was saved"))
    }
}

/// A copy of the game, from its start or from a save.
pub(super) fn recorded<S: Simulation + State>(
    mut copy: S,
    header: &ReplayHeader,
    resumed: Option<&Resumed<S::Action>>,
) -> Recorded<S> {
    let Some(resumed) = resumed else { return Recorded::new(copy, header).keyframe_every(0) };
    // The state comes from the same game. If it could not be loaded all the same, the peers would differ.
    let _ = state::load(&mut copy, &resumed.state);
    Recorded::new(copy, header).starting_at(resumed.saved.turn()).keyframe_every(0)
}

#[cfg(test)]
mod tests {
    use smallvec::SmallVec;

    use super::*;
    use crate::packet::PayloadFormat;
    use crate::session::config::SessionConfig;

    #[test]
    fn a_turn_that_goes_on_differently_is_found() {
        let saved = SavedMatch {
            settings_hash: 0,
            turn: 7,
            checksum: 0,
            origin: 0,
            format: PayloadFormat::Variable(8),
            paused: false,
            paused_by: None,
            speed: 100,
            plan: SessionConfig::new(2).first_plan(),
            players: SmallVec::new(),
        };
        let resumed = Resumed::<u8> { saved, state: Vec::new(), carried: Vec::new(), checksums: vec![5, 6] };
        let trace = |checksums: &[u64]| Trace {
            first: 7,
            checksums: checksums.to_vec(),
            orders: Vec::new(),
            gone: Vec::new(),
            back: Vec::new(),
        };
        assert_eq!((resumed.finding(&trace(&[5, 6, 9])), resumed.finding(&trace(&[5]))), (None, None));
        assert!(resumed.finding(&trace(&[5, 7])).is_some_and(|text| text.contains("turn 8")));
    }
}
