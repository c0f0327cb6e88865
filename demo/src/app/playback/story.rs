//! The events of a match according to its replay: orders and departures.

use testudo_lockstep::PlayerId;
use testudo_lockstep::replay::{Notice, Replay, TurnEvent};

use testudo_battle::Order;

/// Most departures that are listed: every player can leave once.
const DEPARTURES_MAX: usize = 16;

/// Something notable: when, whose it is, and a few words about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Milestone {
    pub(crate) turn: u32,
    pub(crate) player: Option<u8>,
    pub(crate) text: String,
}

/// Players that left a match, and players that came back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Story {
    departures: Vec<Departure>,
}

/// A player gives no orders from a turn on, or is back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Departure {
    pub(crate) turn: u32,
    pub(crate) player: u8,
    pub(crate) notice: Notice,
}

impl Departure {
    pub(crate) fn milestone(&self) -> Milestone {
        let what = match self.notice {
            Notice::Surrendered => "gave up",
            Notice::TakenOver | Notice::PlayedFor => "left: a bot plays on",
            Notice::Returned => "is back",
            _ => "left",
        };
        let text = format!("player {} {what}", self.player + 1);
        Milestone { turn: self.turn, player: Some(self.player), text }
    }
}

impl Story {
    pub(crate) fn of(replay: &Replay) -> Self {
        let mut story = Self::default();
        for turn in 0..replay.turns() {
            for event in events(replay, turn) {
                if let TurnEvent::Notice(player, notice) = event {
                    story.note(turn, player, notice);
                }
            }
        }
        story
    }

    /// Players who left or came back, in order.
    pub(crate) fn departures(&self) -> &[Departure] {
        &self.departures
    }

    fn note(&mut self, turn: u32, player: PlayerId, notice: Notice) {
        let player = player.0;
        let last = self.departures.iter().rev().find(|known| known.player == player);
        let is_away = last.is_some_and(|last| last.notice != Notice::Returned);
        let is_new = is_away == (notice == Notice::Returned);
        if is_new && self.departures.len() < DEPARTURES_MAX {
            self.departures.push(Departure { turn, player, notice });
        }
    }
}

/// The orders of a turn, with their players.
pub(crate) fn orders(replay: &Replay, turn: u32) -> impl Iterator<Item = (u8, Order)> + '_ {
    events(replay, turn).filter_map(|event| match event {
        TurnEvent::Action(player, order) => Some((player.0, order)),
        TurnEvent::Notice(..) => None,
    })
}

/// The events of a turn, up to the first one that is invalid in this game.
fn events(replay: &Replay, turn: u32) -> impl Iterator<Item = TurnEvent<Order>> + '_ {
    let mut events = replay.turn(turn).map(|(events, _)| events);
    core::iter::from_fn(move || events.as_mut()?.next_event().ok().flatten())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::playback::tests::record;

    #[test]
    fn orders_are_read_and_departures_listed_once() {
        let replay = record(30, Some((12, 1)));
        let story = Story::of(&replay);
        let listed = (0..30).map(|turn| orders(&replay, turn).count()).sum::<usize>();
        assert!(listed > 4, "{listed}");
        assert!(orders(&replay, 30).next().is_none());
        let left = Departure { turn: 12, player: 1, notice: Notice::Gone };
        assert_eq!(story.departures(), [left]);
    }
}
