//! Events that are known early: whether they are predicted or confirmed, and those that did not come true.

use std::collections::{BTreeMap, VecDeque};

use smallvec::SmallVec;

use crate::value::ids::Frame;

/// Most events that wait for their confirmation, and most that wait to be taken. Beyond, the newest are dropped.
const EVENTS_MAX: usize = 65_536;

/// How sure an event is. Exhaustive on purpose: a game that forgets one shows what did not happen, or hides what did.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Certainty {
    /// It happens in the predicted game. Show what is harmless if it does not come true: acknowledgement, dust, a footstep.
    Predicted,
    /// It has happened. Show what must not be taken back: deaths, scores, the end.
    Confirmed,
    /// It was predicted and did not happen.
    Revoked,
}

/// Reports each event once as predicted, and once as confirmed or revoked, however often predictions are corrected.
///
/// An event is a value of the game that names what happened and to whom, such as `Fell(unit)`. It may happen a few frames earlier or later than
/// predicted. Equal events that may happen so soon one after the other that a correction takes one for the other need different names, such as
/// the number of the blow: see [`EarlyEvents::new`].
///
/// ```
/// use testudo_lockstep::Frame;
/// use testudo_lockstep::predict::{Certainty, EarlyEvents};
/// let mut events = EarlyEvents::new(4);
/// events.predicted(Frame(10), "horn");
/// events.predicted(Frame(11), "horn"); // after a correction
/// events.predicted(Frame(12), "drum");
/// events.confirmed(Frame(11), "horn");
/// events.reached(Frame(20));
/// let told: Vec<_> = std::iter::from_fn(|| events.poll()).collect();
/// use Certainty::*;
/// assert_eq!(told, [(Predicted, "horn"), (Predicted, "drum"), (Confirmed, "horn"), (Revoked, "drum")]);
/// ```
#[derive(Clone, Debug)]
pub struct EarlyEvents<E> {
    slack: u32,
    /// By event: each time that it happens.
    known: BTreeMap<E, SmallVec<[Occurrence; 1]>>,
    /// Number of occurrences.
    count: usize,
    news: VecDeque<(Certainty, E)>,
}

#[derive(Clone, Copy, Debug)]
struct Occurrence {
    frame: Frame,
    has_happened: bool,
}

impl<E: Ord + Clone> EarlyEvents<E> {
    /// Two equal events within `slack` frames are the same one, and those more than twice as far apart are two. In between a correction may move
    /// the first one nearer to where the second one was: it is taken for this, and one event too many is told, and revoked.
    #[must_use]
    pub fn new(slack: u32) -> Self {
        Self { slack, known: BTreeMap::new(), count: 0, news: VecDeque::new() }
    }

    /// It happens in this frame of the predicted game.
    pub fn predicted(&mut self, frame: Frame, event: E) {
        let has_room = self.count < EVENTS_MAX;
        match self.occurrence(frame, &event) {
            // A correction has moved it.
            Some(known) if !known.has_happened => known.frame = frame,
            None if has_room => {
                self.note(frame, &event, false);
                self.tell(Certainty::Predicted, event);
            }
            _ => {}
        }
    }

    /// It happens in this frame of the confirmed game.
    pub fn confirmed(&mut self, frame: Frame, event: E) {
        let has_room = self.count < EVENTS_MAX;
        match self.occurrence(frame, &event) {
            Some(known) if known.has_happened => return,
            Some(known) => *known = Occurrence { frame, has_happened: true },
            None if has_room => self.note(frame, &event, true),
            None => {}
        }
        self.tell(Certainty::Confirmed, event);
    }

    /// The confirmed game has come to this frame: what was predicted for long before and did not happen is revoked.
    pub fn reached(&mut self, frame: Frame) {
        let (slack, news, count) = (self.slack, &mut self.news, &mut self.count);
        self.known.retain(|event, occurrences| {
            occurrences.retain(|known| {
                let is_over = known.frame.0.saturating_add(slack) < frame.0;
                if is_over && !known.has_happened && news.len() < EVENTS_MAX {
                    news.push_back((Certainty::Revoked, event.clone()));
                }
                *count -= usize::from(is_over);
                !is_over
            });
            !occurrences.is_empty()
        });
    }

    /// The nearest time that an event happens, if it is this one.
    fn occurrence(&mut self, frame: Frame, event: &E) -> Option<&mut Occurrence> {
        let (slack, distance) = (self.slack, |known: &Occurrence| known.frame.0.abs_diff(frame.0));
        let nearest = self.known.get_mut(event)?.iter_mut().min_by_key(|known| distance(known))?;
        (distance(nearest) <= slack).then_some(nearest)
    }

    fn note(&mut self, frame: Frame, event: &E, has_happened: bool) {
        self.known.entry(event.clone()).or_default().push(Occurrence { frame, has_happened });
        self.count += 1;
    }

    /// Takes the oldest news.
    pub fn poll(&mut self) -> Option<(Certainty, E)> {
        self.news.pop_front()
    }

    fn tell(&mut self, certainty: Certainty, event: E) {
        if self.news.len() < EVENTS_MAX {
            self.news.push_back((certainty, event));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(events: &mut EarlyEvents<u8>) -> Vec<(Certainty, u8)> {
        std::iter::from_fn(|| events.poll()).collect()
    }

    #[test]
    fn what_was_not_foreseen_is_confirmed_at_once_and_only_once() {
        let mut events = EarlyEvents::new(3);
        events.confirmed(Frame(5), 1);
        events.predicted(Frame(6), 1);
        events.confirmed(Frame(5), 1);
        events.reached(Frame(9));
        assert_eq!(take(&mut events), [(Certainty::Confirmed, 1)]);
    }

    #[test]
    fn the_same_thing_may_happen_again_later() {
        let mut events = EarlyEvents::new(3);
        for frame in [10, 20] {
            events.predicted(Frame(frame), 1);
            events.confirmed(Frame(frame + 1), 1);
            events.reached(Frame(frame + 5));
        }
        let both = [(Certainty::Predicted, 1), (Certainty::Confirmed, 1)];
        assert_eq!(take(&mut events), [both, both].concat());
    }

    /// Only the last one of equal events was remembered.
    #[test]
    fn equal_events_further_apart_than_the_slack_are_two() {
        use Certainty::{Confirmed, Predicted, Revoked};
        let mut events = EarlyEvents::new(2);
        let told = |events: &mut EarlyEvents<u8>| {
            take(events).into_iter().map(|(certainty, _)| certainty).collect::<Vec<_>>()
        };
        for frame in [10, 15] {
            events.predicted(Frame(frame), 1);
        }
        for frame in [10, 15] {
            events.confirmed(Frame(frame), 1);
        }
        assert_eq!(told(&mut events), [Predicted, Predicted, Confirmed, Confirmed]);
        events.reached(Frame(30));
        assert_eq!((events.count, events.known.len()), (0, 0));
        for frame in [40, 45] {
            events.predicted(Frame(frame), 1);
        }
        events.confirmed(Frame(46), 1);
        events.reached(Frame(60));
        assert_eq!(told(&mut events), [Predicted, Predicted, Confirmed, Revoked]);
        for frame in [70, 74, 70, 74] {
            events.confirmed(Frame(frame), 1);
            events.predicted(Frame(74), 1);
        }
        assert_eq!(told(&mut events), [Confirmed, Predicted, Confirmed]);
    }
}
