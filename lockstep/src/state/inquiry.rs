//! Finds the number in which two peers' states differ without sending a state: first by hashes of parts, then by hashes of parts of the
//! part that differs.
//!
//! Every peer keeps the states of its last frames in [`Moments`]. After a desync both freeze them into an [`Inquiry`], and either may ask.
//! The asking peer gets hashes of frames, then of 64 parts of the first frame that differs, then of 64 parts of the first part that
//! differs, and at last the numbers themselves: five round trips for a quarter of a million numbers. Each message fits into a packet; the
//! application carries them. The other peer's answers are not trusted: they can mislead the report and nothing else.

mod finding;
mod limits;
mod message;
mod moments;

use twox_hash::XxHash3_64;

use crate::state::{self, Leaf, State};
use crate::value::ids::PeerId;
use crate::value::time::Instant;

pub use finding::{Finding, InquiryError};
use limits::Limits;
use message::{InquiryAnswer, InquiryQuestion, NUMBERS_MAX, Stretch, name_of};
pub use moments::{MOMENTS_MAX, Moments, MomentsError};

/// Greatest number of round trips of an inquiry.
const ROUNDS_MAX: u32 = 10;

/// One peer's side of the search.
pub struct Inquiry<S> {
    moments: Moments,
    game: S,
    /// The numbers of this frame.
    open: Option<(u32, Vec<Leaf>)>,
    /// The asking side's last question.
    asked: Option<InquiryQuestion>,
    limits: Limits,
    /// Both peers have kept an equal frame before the one that differs.
    is_first: bool,
    rounds: u32,
}

/// The result of a message. Exhaustive on purpose: a search goes on or is over, and hangs if either is left out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// Send this to the other peer.
    Send(Vec<u8>),
    /// The search is over.
    Found(Finding),
}

impl<S: State> Inquiry<S> {
    /// `game` is any game of the match; states are restored into it.
    pub fn new(moments: Moments, game: S) -> Self {
        Self { moments, game, open: None, asked: None, limits: Limits::default(), is_first: false, rounds: 0 }
    }

    /// The game into which states are restored.
    pub fn game(&self) -> &S {
        &self.game
    }

    /// Starts the search and returns the first message.
    pub fn ask(&mut self) -> Vec<u8> {
        self.rounds = 0;
        self.question(InquiryQuestion::Frames)
    }

    /// Answers a member's question. Recent answers are kept, and a question that one of them answers is always answered: all peers ask the one that differs
    /// the same questions. Of others each member may ask eight per second, and up to 24 at once. The application must pass only questions of members.
    ///
    /// # Errors
    /// [`InquiryError`]: there is no answer.
    pub fn answer(&mut self, asker: PeerId, now: Instant, question: &[u8]) -> Result<Vec<u8>, InquiryError> {
        if question.len() > InquiryQuestion::BYTES_MAX {
            return Err(InquiryError::Unexpected);
        }
        if let Some(answer) = self.limits.answer_to(question) {
            return Ok(answer.to_vec());
        }
        self.limits.admit(asker, now)?;
        let answer = self.told(InquiryQuestion::read(question)?)?.to_bytes();
        self.limits.keep(question, &answer);
        Ok(answer)
    }

    /// Whether the answer to a question needs a state to be loaded.
    pub(crate) fn needs_load(&self, question: &[u8]) -> bool {
        let Ok(InquiryQuestion::Parts(stretch) | InquiryQuestion::Numbers(stretch)) =
            InquiryQuestion::read(question)
        else {
            return false;
        };
        let is_open = self.open.as_ref().is_some_and(|(open, _)| *open == stretch.frame);
        !is_open && self.limits.answer_to(question).is_none() && self.moments.of(stretch.frame).is_some()
    }

    /// Handles the other peer's answer. Returns the next question, or the number that differs.
    ///
    /// # Errors
    /// [`InquiryError`]; the search is over.
    pub fn hear(&mut self, answer: &[u8]) -> Result<Step, InquiryError> {
        let asked = self.asked.take().ok_or(InquiryError::Unexpected)?;
        match (InquiryAnswer::read(answer)?, asked) {
            (InquiryAnswer::Frames(frames), InquiryQuestion::Frames) => self.hear_frames(&frames),
            (InquiryAnswer::Parts { total, hashes }, InquiryQuestion::Parts(stretch)) => {
                self.hear_parts(stretch, total, &hashes)
            }
            (InquiryAnswer::Numbers(numbers), InquiryQuestion::Numbers(stretch)) => {
                self.hear_numbers(stretch, &numbers)
            }
            _ => Err(InquiryError::Unexpected),
        }
    }

    /// Whether this machine reproduces a frame: restores the state of the frame before, lets `run` repeat what was done then, and compares.
    /// A simulation that depends on nothing but its state reproduces its own frames, even wrong ones; damaged memory does not reproduce.
    /// None if one of the two frames is not kept.
    pub fn is_reproduced(&mut self, frame: u32, run: impl FnOnce(&mut S)) -> Option<bool> {
        let (before, then) = (self.moments.of(frame.checked_sub(1)?)?, self.moments.of(frame)?.hash);
        state::load(&mut self.game, &before.state).ok()?;
        run(&mut self.game);
        let mut again = Vec::new();
        state::save(&mut self.game, &mut again);
        self.open = None;
        Some(XxHash3_64::oneshot(&again) == then)
    }

    fn question(&mut self, question: InquiryQuestion) -> Vec<u8> {
        self.asked = Some(question);
        self.rounds += 1;
        question.to_bytes()
    }

    /// The answer to a question.
    fn told(&mut self, question: InquiryQuestion) -> Result<InquiryAnswer, InquiryError> {
        match question {
            InquiryQuestion::Frames => Ok(InquiryAnswer::Frames(self.moments.hashes())),
            InquiryQuestion::Parts(stretch) => {
                let leaves = self.leaves(stretch.frame)?;
                let hashes = stretch.parts().map(|part| part.hash_of(leaves)).collect();
                Ok(InquiryAnswer::Parts { total: leaves.len() as u32, hashes })
            }
            InquiryQuestion::Numbers(stretch) => {
                let told = stretch.of(self.leaves(stretch.frame)?).iter().take(NUMBERS_MAX);
                Ok(InquiryAnswer::Numbers(told.map(|leaf| (name_of(leaf), leaf.value)).collect()))
            }
        }
    }

    fn hear_frames(&mut self, frames: &[(u32, u64)]) -> Result<Step, InquiryError> {
        let (mut has_equal, mut different) = (false, None);
        for &(frame, hash) in frames {
            match self.moments.of(frame) {
                None => {}
                Some(own) if own.hash == hash => has_equal |= different.is_none(),
                Some(_) => different = different.or(Some((frame, has_equal))),
            }
        }
        let Some((frame, is_first)) = different else {
            let round_trips = self.rounds;
            return Ok(Step::Found(Finding {
                frame: None,
                is_first: false,
                here: None,
                there: None,
                round_trips,
            }));
        };
        self.is_first = is_first;
        let to = self.leaves(frame)?.len() as u32;
        self.narrow(Stretch { frame, from: 0, to })
    }

    fn hear_parts(&mut self, stretch: Stretch, total: u32, hashes: &[u64]) -> Result<Step, InquiryError> {
        let leaves = self.leaves(stretch.frame)?;
        let own = leaves.len() as u32;
        let differing = stretch.parts().zip(hashes).find(|(part, there)| part.hash_of(leaves) != **there);
        let part = match differing {
            Some((part, _)) => part,
            // If only the lengths differ, the first number that one of them lacks is the difference.
            None if own != total => Stretch { from: own.min(total), to: own.min(total) + 1, ..stretch },
            None => return Err(InquiryError::Misled),
        };
        self.narrow(part)
    }

    fn hear_numbers(&mut self, stretch: Stretch, told: &[(u64, i128)]) -> Result<Step, InquiryError> {
        let (round_trips, is_first) = (self.rounds, self.is_first);
        let leaves = self.leaves(stretch.frame)?;
        for (index, at) in (stretch.from..stretch.to).enumerate() {
            let here = leaves.get(at as usize).copied();
            let there = told.get(index).copied();
            if here.map(|leaf| (name_of(&leaf), leaf.value)) == there {
                continue;
            }
            let same_name = there.filter(|(name, _)| here.is_some_and(|leaf| name_of(&leaf) == *name));
            let there = same_name.map(|(_, value)| value);
            let frame = Some(stretch.frame);
            return Ok(Step::Found(Finding { frame, is_first, here, there, round_trips }));
        }
        Err(InquiryError::Misled)
    }

    /// Asks for parts of a part, or for the numbers of a small one.
    fn narrow(&mut self, part: Stretch) -> Result<Step, InquiryError> {
        if self.rounds == ROUNDS_MAX {
            return Err(InquiryError::Misled);
        }
        let is_small = part.to.saturating_sub(part.from) as usize <= NUMBERS_MAX;
        let question = if is_small { InquiryQuestion::Numbers(part) } else { InquiryQuestion::Parts(part) };
        Ok(Step::Send(self.question(question)))
    }

    /// All numbers of a frame that is kept.
    fn leaves(&mut self, frame: u32) -> Result<&[Leaf], InquiryError> {
        if self.open.as_ref().is_none_or(|(open, _)| *open != frame) {
            let moment = self.moments.of(frame).ok_or(InquiryError::Forgotten)?;
            state::load(&mut self.game, &moment.state).map_err(|_| InquiryError::Forgotten)?;
            let mut leaves = Vec::new();
            state::leaves(&mut self.game, &mut |leaf| leaves.push(leaf));
            self.open = Some((frame, leaves));
        }
        Ok(self.open.as_ref().map_or(&[], |(_, leaves)| leaves))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::MESSAGE_BYTES_MAX;
    use crate::state::{StateError, Visit};
    use crate::value::ids::PLAYERS_MAX;

    /// Numbers in a list.
    #[derive(Clone, Default)]
    struct Game(Vec<u32>);

    impl State for Game {
        fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
            v.object("game", 0);
            let mut length = self.0.len() as u32;
            v.number_in("length", &mut length, 0..=1_000_000)?;
            self.0.resize(length as usize, 0);
            for (index, value) in (0..).zip(&mut self.0) {
                v.object("entry", index);
                v.number("value", value)?;
            }
            Ok(())
        }
    }

    /// Twenty frames in which all numbers rise; from `at` on, `fault` has changed the state.
    fn inquiry(count: u32, at: u32, fault: impl Fn(&mut Game)) -> Inquiry<Game> {
        let mut game = Game((0..count).collect());
        let mut moments = Moments::new(16).unwrap();
        for frame in 0..20 {
            game.0.iter_mut().for_each(|value| *value += 1);
            if frame == at {
                fault(&mut game);
            }
            moments.push(frame, &mut game);
        }
        Inquiry::new(moments, Game::default())
    }

    /// Lets one ask the other; also returns the size of the largest message.
    fn search(here: &mut Inquiry<Game>, there: &mut Inquiry<Game>) -> (Result<Finding, InquiryError>, usize) {
        let (mut message, mut largest) = (here.ask(), 0);
        loop {
            largest = largest.max(message.len());
            let answer = there.answer(PeerId(1), Instant::ZERO, &message).unwrap();
            largest = largest.max(answer.len());
            match here.hear(&answer) {
                Ok(Step::Send(next)) => message = next,
                Ok(Step::Found(finding)) => return (Ok(finding), largest),
                Err(error) => return (Err(error), largest),
            }
        }
    }

    #[test]
    fn the_number_is_found_in_a_few_small_messages() {
        for (count, rounds) in [(1, 2), (40, 3), (3_000, 4), (250_000, 5)] {
            for place in [0, count / 2, count - 1] {
                let mut whole = inquiry(count, 99, |_| {});
                let mut broken = inquiry(count, 13, |game| game.0[place as usize] ^= 1 << 20);
                let (finding, largest) = search(&mut whole, &mut broken);
                let finding = finding.unwrap();
                let here = finding.here.unwrap();
                assert_eq!((finding.frame, finding.is_first), (Some(13), true));
                assert_eq!((here.kind, here.index, here.name), ("entry", place, "value"));
                assert_eq!(finding.there, Some(here.value ^ 1 << 20));
                assert!(finding.round_trips <= rounds, "{} rounds for {count}", finding.round_trips);
                assert!(largest < MESSAGE_BYTES_MAX, "{largest} bytes");
            }
        }
    }

    #[test]
    fn a_frame_that_was_hit_is_not_reproduced() {
        let mut broken = inquiry(50, 13, |game| game.0[7] ^= 1);
        let mut again =
            |frame| broken.is_reproduced(frame, |game| game.0.iter_mut().for_each(|value| *value += 1));
        assert_eq!([12, 13, 14].map(&mut again), [Some(true), Some(false), Some(true)]);
        assert_eq!([0, 4, 20].map(again), [None; 3], "not kept, or what was before is not");
    }

    #[test]
    fn equal_states_and_lists_of_other_lengths() {
        let mut whole = inquiry(500, 99, |_| {});
        let (finding, _) = search(&mut whole, &mut inquiry(500, 99, |_| {}));
        assert_eq!(finding.unwrap().frame, None);
        let mut longer = inquiry(500, 15, |game| game.0.push(7));
        let found = search(&mut whole, &mut longer).0.unwrap();
        assert_eq!(found.to_string(), "frame 15: length of game 0 is 500 here and 501 there");
        let mut early = inquiry(500, 2, |game| game.0[3] = 0);
        let found = search(&mut whole, &mut early).0.unwrap();
        assert_eq!((found.frame, found.is_first), (Some(4), false), "the frame itself is forgotten");
    }

    #[test]
    fn whatever_comes_is_an_error_or_an_answer() {
        let mut whole = inquiry(300, 99, |_| {});
        let mut seed = 5_u64;
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as u32
        };
        let mut answers = 0;
        for round in 0..20_000 {
            if round % 3 == 0 {
                whole.ask();
            }
            let mut message = vec![next() as u8 % 8];
            for _ in 0..next() % 4 {
                let number = if next() % 2 == 0 { next() % 400 } else { next() };
                message.extend_from_slice(&number.to_le_bytes());
            }
            let now = Instant::from_millis(round * 125);
            let answered = whole.answer(PeerId(1), now, &message).is_ok() | whole.hear(&message).is_ok();
            answers += u32::from(answered);
        }
        assert!(answers > 500, "{answers}");
        assert_eq!(whole.hear(&[]), Err(InquiryError::Unexpected));
        assert_eq!(whole.answer(PeerId(2), Instant::ZERO, &[]), Err(InquiryError::Unexpected));
    }

    #[test]
    fn who_asks_too_often_is_refused_and_others_are_not() {
        let mut asked = inquiry(3_000, 99, |_| {});
        let mut ask = |asker, ms, from: u32| {
            let question =
                InquiryQuestion::Parts(Stretch { frame: 10 + from % 6, from, to: 3_000 }).to_bytes();
            asked.answer(PeerId(asker), Instant::from_millis(ms), &question)
        };
        // 300 questions per second for ten seconds: 24 at once, then eight per second.
        let answered =
            (0..3_000_u32).filter(|number| ask(1, u64::from(*number) * 10 / 3, *number).is_ok()).count();
        assert!((101..=105).contains(&answered), "{answered}");
        assert!((0..3).any(|new| ask(1, 10_000, 5 + new) == Err(InquiryError::TooOften)));
        assert!(ask(2, 10_000, 9).is_ok(), "another one has its own share");
        assert!((0..100).all(|_| ask(1, 10_000, 9).is_ok()), "what another one has asked is known");
        assert!(ask(1, 10_200, 5).is_ok(), "and later it may again");
        // No list grows with the number of peers that ask.
        let admitted = (0..1_000).filter(|asker| ask(*asker, 20_000, 100 + asker).is_ok()).count();
        assert_eq!(admitted, usize::from(PLAYERS_MAX));
        let (askers, answers) = asked.limits.lengths();
        assert!(askers <= admitted && answers <= 32, "{askers} {answers}");
    }

    #[test]
    fn answers_that_contradict_each_other_end_the_search() {
        let mut whole = inquiry(300, 99, |_| {});
        whole.ask();
        let frames = InquiryAnswer::Frames(vec![(19, 1)]).to_bytes();
        let Ok(Step::Send(_)) = whole.hear(&frames) else { panic!("it asks on") };
        // The very same parts, though the hash of the whole differs.
        let question = InquiryQuestion::Parts(Stretch { frame: 19, from: 0, to: 301 });
        let told = inquiry(300, 99, |_| {}).told(question).unwrap();
        assert_eq!(whole.hear(&told.to_bytes()), Err(InquiryError::Misled));
    }
}
