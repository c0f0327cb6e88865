//! The queue of events.

use std::collections::VecDeque;

use crate::session::event::Event;

/// Greatest number of waiting events that may be lost. Events that must not be lost are few by their nature.
const EVENTS_MAX: usize = 256;

/// Greatest number of refusals and forgeries among them, so that strangers cannot push out the events of the match.
const REFUSED_MAX: usize = 16;

/// A bounded queue. It counts the events that are lost when the application does not take them, and reports the number before the next
/// event.
#[derive(Clone, Debug, Default)]
pub(crate) struct EventQueue {
    queue: VecDeque<Event>,
    /// Events lost since the last one was taken.
    lost: u64,
}

impl EventQueue {
    /// Appends an event. Returns how many events are lost because of it.
    pub(crate) fn push(&mut self, event: Event) -> u64 {
        let refused = |event: &Event| matches!(event, Event::Refused { .. } | Event::Forged { .. });
        let too_many =
            refused(&event) && self.queue.iter().filter(|event| refused(event)).count() >= REFUSED_MAX;
        let full = self.queue.len() >= EVENTS_MAX;
        let oldest = || self.queue.iter().position(|event| !is_kept(event));
        let lost = match (too_many, full.then(oldest).flatten()) {
            (true, _) => 1,
            (false, Some(index)) => {
                self.queue.remove(index);
                self.queue.push_back(event);
                1
            }
            (false, None) if full && !is_kept(&event) => 1,
            (false, None) => {
                self.queue.push_back(event);
                0
            }
        };
        self.lost += lost;
        lost
    }

    /// Takes the oldest event; if events were lost, their number comes first.
    pub(crate) fn pop(&mut self) -> Option<Event> {
        match core::mem::take(&mut self.lost) {
            0 => self.queue.pop_front(),
            events => Some(Event::Lost { events }),
        }
    }
}

/// Events that an application needs. Each kind comes at most a few times per player in a match.
fn is_kept(event: &Event) -> bool {
    match event {
        Event::Started
        | Event::Roster(_)
        | Event::Desync(_)
        | Event::Contradiction(_)
        | Event::Outlier(_)
        | Event::PlayerGone { .. }
        | Event::TakenOver { .. }
        | Event::PlayerReturned { .. }
        | Event::Joined { .. }
        | Event::WrongState { .. }
        | Event::TeamOut { .. }
        | Event::MatchResult(_)
        | Event::Cancelled { .. }
        | Event::Finished
        | Event::Failed(_) => true,
        Event::Lost { .. }
        | Event::Connected { .. }
        | Event::Refused { .. }
        | Event::Forged { .. }
        | Event::Profile { .. }
        | Event::Undelivered { .. }
        | Event::WaitingFor { .. }
        | Event::CutOff { .. }
        | Event::WaitingOver { .. }
        | Event::OftenLate { .. }
        | Event::TooFarAhead { .. }
        | Event::Vote { .. }
        | Event::Speed { .. }
        | Event::ShownAnother { .. }
        | Event::StatementMissing { .. }
        | Event::ChecksumMissing { .. }
        | Event::Paused { .. }
        | Event::SavePoint { .. }
        | Event::Saved { .. }
        | Event::Plan { .. }
        | Event::WatcherGone(_)
        | Event::StateProgress { .. }
        | Event::StateRefused { .. }
        | Event::CaughtUp { .. }
        | Event::JoinFailed(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Refusal;
    use crate::session::failure::Failure;
    use crate::value::ids::{PeerId, Turn};

    #[test]
    fn what_matters_survives_any_flood_and_the_loss_is_told() {
        let mut queue = EventQueue::default();
        queue.push(Event::Started);
        queue.push(Event::Failed(Failure::Dropped));
        let noise = |turn| Event::WaitingOver { turn: Turn(turn) };
        let lost: u64 = (0..1_000).map(|turn| queue.push(noise(turn))).sum();
        queue.push(Event::Finished);
        assert_eq!(lost, 1_000 - 254);
        assert_eq!(queue.pop(), Some(Event::Lost { events: lost + 1 }));
        let all: Vec<Event> = core::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(all.len(), EVENTS_MAX);
        assert_eq!(all[..2], [Event::Started, Event::Failed(Failure::Dropped)]);
        assert_eq!(all[2], noise(1_000 - 253));
        assert_eq!(all.last(), Some(&Event::Finished));
    }

    #[test]
    fn refusals_do_not_push_anything_out() {
        let mut queue = EventQueue::default();
        queue.push(Event::WaitingOver { turn: Turn(1) });
        for peer in 0..1_000 {
            queue.push(Event::Refused { peer: PeerId(peer), refusal: Refusal::Taken });
        }
        assert_eq!(queue.pop(), Some(Event::Lost { events: 1_000 - 16 }));
        assert_eq!(queue.pop(), Some(Event::WaitingOver { turn: Turn(1) }));
        assert_eq!(core::iter::from_fn(|| queue.pop()).count(), 16);
    }
}
