//! What a peer ran, read from its own recording.

use crate::replay::{Notice, Replay, ReplayError, TurnEvent};
use crate::value::action::Action;

/// An order as a peer ran it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Ran<A> {
    pub(super) turn: u32,
    pub(super) player: u8,
    pub(super) order: A,
}

/// What a peer ran.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Trace<A> {
    /// The first turn that it ran: not 0 for a peer that joined the running match.
    pub(super) first: u32,
    /// Checksum after each turn, from the first on.
    pub(super) checksums: Vec<u64>,
    pub(super) orders: Vec<Ran<A>>,
    /// Players who are gone, and the first turn without each.
    pub(super) gone: Vec<(u8, u32)>,
    /// Players who are back, and the first turn with them.
    pub(super) back: Vec<(u8, u32)>,
}

impl<A: Action> Trace<A> {
    /// `first` is the first turn if the recording does not say it.
    ///
    /// # Errors
    /// The recording cannot be read.
    pub(super) fn read(recording: &[u8], sim_version: u32, first: u32) -> Result<Self, ReplayError> {
        let replay = Replay::read(recording.to_vec(), sim_version)?;
        let first = replay.start().map_or(first, |(turn, _)| turn);
        let mut trace =
            Self { first, checksums: Vec::new(), orders: Vec::new(), gone: Vec::new(), back: Vec::new() };
        for (turn, (mut events, checksum)) in (first..).zip((0..).map_while(|turn| replay.turn(turn))) {
            trace.checksums.extend(checksum);
            while let Ok(Some(event)) = events.next_event::<A>() {
                match event {
                    TurnEvent::Action(player, order) => {
                        trace.orders.push(Ran { turn, player: player.0, order });
                    }
                    TurnEvent::Notice(player, Notice::Returned) => trace.back.push((player.0, turn)),
                    // Bots' orders follow from the state and are not accounted for.
                    TurnEvent::Notice(_, Notice::PlayedFor) => {}
                    TurnEvent::Notice(player, _) => trace.gone.push((player.0, turn)),
                }
            }
        }
        Ok(trace)
    }
}

impl<A> Trace<A> {
    /// Number of turns that have ended, including those before its first one.
    pub(super) fn turns(&self) -> u32 {
        self.first + self.checksums.len() as u32
    }
}
