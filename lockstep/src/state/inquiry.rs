//! Finding the number in which two peers' states differ without sending a state: hashes of parts, then of parts of the part that differs.
//!
//! Every peer keeps the states of its last frames in [`Moments`]. After a mismatch both freeze them into an [`Inquiry`], and either may ask. The one who
//! asks gets hashes of frames, then of 64 parts of the first frame that differs, then of 64 parts of the first part that differs, and at last the
//! numbers themselves: five round trips for a quarter of a million numbers. The messages fit a packet each; how they travel is the application's
//! business. What the other peer says is not trusted: it can mislead the report and nothing else.

use core::fmt;
use std::collections::VecDeque;

use indexmap::IndexMap;
use twox_hash::XxHash3_64;

use crate::state::{self, Leaf, State};
use crate::value::ids::{PLAYERS_MAX, PeerId};
use crate::value::time::{Duration, Instant};

/// Parts of a question.
const PARTS: usize = 64;

/// So many numbers or fewer are sent themselves.
const NUMBERS_MAX: usize = 32;

/// Most frames whose hashes fit an answer.
pub const MOMENTS_MAX: usize = 64;

/// Most round trips of an inquiry.
const ROUNDS_MAX: u32 = 10;

/// The longest question: its kind and three numbers.
const QUESTION_BYTES_MAX: usize = 13;

/// Time that a question costs who asks it: eight per second. With lost messages asked again, a search needs fewer.
const QUESTION_MS: u64 = 125;

/// Questions that may come at once.
const QUESTIONS_AT_ONCE: u64 = 24;

/// Answers that are kept.
const ANSWERS_MAX: usize = 32;

/// Kinds of messages.
const ASK_FRAMES: u8 = 0;
const TELL_FRAMES: u8 = 1;
const ASK_PARTS: u8 = 2;
const TELL_PARTS: u8 = 3;
const ASK_NUMBERS: u8 = 4;
const TELL_NUMBERS: u8 = 5;

/// The states of the last frames, oldest first.
#[derive(Clone, Debug, Default)]
pub struct Moments {
    ring: VecDeque<Moment>,
    most: usize,
}

#[derive(Clone, Debug)]
struct Moment {
    frame: u32,
    hash: u64,
    state: Vec<u8>,
}

impl Moments {
    /// Keeps the last `most` frames, 1..=[`MOMENTS_MAX`]: enough for the turns until a mismatch is known. What is out of range is set to the limit.
    pub fn new(most: usize) -> Self {
        let most = most.clamp(1, MOMENTS_MAX);
        Self { ring: VecDeque::with_capacity(most), most }
    }

    /// A frame is over. The oldest one's buffer is used again. The same frame once more takes the place of what was kept of it.
    pub fn push<S: State>(&mut self, frame: u32, game: &mut S) {
        self.ring.pop_back_if(|last| last.frame == frame);
        let full = self.ring.len() == self.most;
        let mut state = self.ring.pop_front_if(|_| full).map(|moment| moment.state).unwrap_or_default();
        state::save(game, &mut state);
        self.ring.push_back(Moment { frame, hash: XxHash3_64::oneshot(&state), state });
    }
}

/// One peer's side of the search.
pub struct Inquiry<S> {
    moments: Moments,
    game: S,
    /// The numbers of this frame.
    open: Option<(u32, Vec<Leaf>)>,
    /// Of the side that asks: what was asked last.
    asked: Option<Question>,
    limits: Limits,
    /// Both have kept an equal frame before the one that differs.
    is_first: bool,
    rounds: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Question {
    Frames,
    Parts { frame: u32, from: u32, to: u32 },
    Numbers { frame: u32, from: u32, to: u32 },
}

/// What those who ask have used up, and what they were told.
#[derive(Default)]
struct Limits {
    /// How many questions each may ask at once, in milliseconds of waiting, and when that was so.
    askers: IndexMap<PeerId, (u64, Instant)>,
    /// Oldest first.
    answers: IndexMap<Vec<u8>, Vec<u8>>,
}

impl Limits {
    fn admit(&mut self, asker: PeerId, now: Instant) -> Result<(), InquiryError> {
        if !self.askers.contains_key(&asker) && self.askers.len() >= usize::from(PLAYERS_MAX) {
            return Err(InquiryError::TooOften);
        }
        let (credit, since) = self.askers.entry(asker).or_insert((QUESTION_MS * QUESTIONS_AT_ONCE, now));
        let earned = now.since(*since).as_millis();
        *credit = (*credit).saturating_add(earned).min(QUESTION_MS * QUESTIONS_AT_ONCE);
        // Only what was counted is used up: parts of a millisecond stay.
        *since += Duration::from_millis(earned);
        *credit = credit.checked_sub(QUESTION_MS).ok_or(InquiryError::TooOften)?;
        Ok(())
    }
}

/// What follows from a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// Send this to the other peer.
    Send(Vec<u8>),
    /// The search is over.
    Found(Finding),
}

/// What an inquiry has found.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Finding {
    /// The first frame that both have kept and that differs; none if all are equal.
    pub frame: Option<u32>,
    /// Whether an earlier frame was kept by both and is equal: only then is this the first frame at all.
    pub is_first: bool,
    /// The first number that differs, as it is here.
    pub here: Option<Leaf>,
    /// The raw value there; none if there is another number in its place.
    pub there: Option<i128>,
    /// Questions asked.
    pub round_trips: u32,
}

/// Why a message leads nowhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum InquiryError {
    /// It is no message, or no answer to what was asked.
    Unexpected,
    /// The frame is not kept here any more.
    Forgotten,
    /// The answers lead nowhere: they contradict each other.
    Misled,
    /// The peer has asked more than it may; later it may again.
    TooOften,
}

impl<S: State> Inquiry<S> {
    /// `game` is any game of the match: states are restored into it.
    pub fn new(moments: Moments, game: S) -> Self {
        Self { moments, game, open: None, asked: None, limits: Limits::default(), is_first: false, rounds: 0 }
    }

    /// Begins to ask: the first message.
    pub fn ask(&mut self) -> Vec<u8> {
        self.rounds = 0;
        self.question(Question::Frames)
    }

    /// Answers a member's question. Each member may ask eight times per second, 24 times at once; an answer that was given lately is given
    /// again without work. The application sees to it that only members ask.
    ///
    /// # Errors
    /// [`InquiryError`]: there is no answer.
    pub fn answer(&mut self, asker: PeerId, now: Instant, question: &[u8]) -> Result<Vec<u8>, InquiryError> {
        if question.len() > QUESTION_BYTES_MAX {
            return Err(InquiryError::Unexpected);
        }
        self.limits.admit(asker, now)?;
        if let Some(answer) = self.limits.answers.get(question) {
            return Ok(answer.clone());
        }
        let Step::Send(answer) = self.told(question)? else { return Err(InquiryError::Unexpected) };
        if self.limits.answers.len() >= ANSWERS_MAX {
            self.limits.answers.shift_remove_index(0);
        }
        self.limits.answers.insert(question.to_vec(), answer.clone());
        Ok(answer)
    }

    /// Takes the other peer's answer: asks on, or has found the number.
    ///
    /// # Errors
    /// [`InquiryError`]; the search is over.
    pub fn hear(&mut self, answer: &[u8]) -> Result<Step, InquiryError> {
        let mut input = Input(answer);
        let kind = input.byte()?;
        let asked = self.asked.take().ok_or(InquiryError::Unexpected)?;
        match (kind, asked) {
            (TELL_FRAMES, Question::Frames) => self.hear_frames(input),
            (TELL_PARTS, Question::Parts { frame, from, to }) => self.hear_parts(input, frame, from, to),
            (TELL_NUMBERS, Question::Numbers { frame, from, to }) => {
                self.hear_numbers(input, frame, from, to)
            }
            _ => Err(InquiryError::Unexpected),
        }
    }

    fn told(&mut self, question: &[u8]) -> Result<Step, InquiryError> {
        let mut input = Input(question);
        match input.byte()? {
            ASK_FRAMES => input.end(Step::Send(self.tell_frames())),
            ASK_PARTS => {
                let (frame, from, to) = (input.number()?, input.number()?, input.number()?);
                let told = self.tell_parts(frame, from, to)?;
                input.end(Step::Send(told))
            }
            ASK_NUMBERS => {
                let (frame, from, to) = (input.number()?, input.number()?, input.number()?);
                let told = self.tell_numbers(frame, from, to)?;
                input.end(Step::Send(told))
            }
            _ => Err(InquiryError::Unexpected),
        }
    }

    /// Whether what led to a frame leads there again: restores the state of the frame before, lets `run` do what was done then, and compares. A
    /// simulation that looks at nothing but its state reproduces its own frames, even wrong ones; memory that was hit does not. None if one of the two frames
    /// is not kept.
    pub fn is_reproduced(&mut self, frame: u32, run: impl FnOnce(&mut S)) -> Option<bool> {
        let moment = |frame: u32| self.moments.ring.iter().find(|moment| moment.frame == frame);
        let (before, then) = (moment(frame.checked_sub(1)?)?, moment(frame)?.hash);
        state::load(&mut self.game, &before.state).ok()?;
        run(&mut self.game);
        let mut again = Vec::new();
        state::save(&mut self.game, &mut again);
        self.open = None;
        Some(XxHash3_64::oneshot(&again) == then)
    }

    fn question(&mut self, question: Question) -> Vec<u8> {
        self.asked = Some(question);
        self.rounds += 1;
        let (kind, numbers) = match question {
            Question::Frames => return vec![ASK_FRAMES],
            Question::Parts { frame, from, to } => (ASK_PARTS, [frame, from, to]),
            Question::Numbers { frame, from, to } => (ASK_NUMBERS, [frame, from, to]),
        };
        let mut out = vec![kind];
        numbers.iter().for_each(|number| out.extend_from_slice(&number.to_le_bytes()));
        out
    }

    fn tell_frames(&self) -> Vec<u8> {
        let mut out = vec![TELL_FRAMES];
        for moment in &self.moments.ring {
            out.extend_from_slice(&moment.frame.to_le_bytes());
            out.extend_from_slice(&moment.hash.to_le_bytes());
        }
        out
    }

    fn hear_frames(&mut self, mut input: Input<'_>) -> Result<Step, InquiryError> {
        let (mut has_equal, mut different) = (false, None);
        for _ in 0..MOMENTS_MAX {
            if input.0.is_empty() {
                break;
            }
            let (frame, hash) = (input.number()?, input.hash()?);
            let own = self.moments.ring.iter().find(|moment| moment.frame == frame).map(|moment| moment.hash);
            match own {
                None => {}
                Some(own) if own == hash => has_equal |= different.is_none(),
                Some(_) => different = different.or(Some((frame, has_equal))),
            }
        }
        let Some((frame, is_first)) = different else {
            return input.end(Step::Found(Finding {
                frame: None,
                is_first: false,
                here: None,
                there: None,
                round_trips: self.rounds,
            }));
        };
        self.is_first = is_first;
        let to = self.leaves(frame)?.len() as u32;
        let question = self.narrow(frame, 0, to)?;
        input.end(Step::Send(question))
    }

    fn hear_parts(
        &mut self,
        mut input: Input<'_>,
        frame: u32,
        from: u32,
        to: u32,
    ) -> Result<Step, InquiryError> {
        let total = input.number()?;
        let leaves = self.leaves(frame)?;
        let own = leaves.len() as u32;
        let mut differing = None;
        for (start, end) in parts(from, to) {
            let there = input.hash()?;
            if differing.is_none() && hash_of(leaves, start, end) != there {
                differing = Some((start, end));
            }
        }
        // One list may only be longer: then the first number that one of them lacks is the difference.
        let (start, end) = match differing {
            Some(part) => part,
            None if own != total => (own.min(total), own.min(total) + 1),
            None => return Err(InquiryError::Misled),
        };
        let question = self.narrow(frame, start, end)?;
        input.end(Step::Send(question))
    }

    fn hear_numbers(
        &mut self,
        mut input: Input<'_>,
        frame: u32,
        from: u32,
        to: u32,
    ) -> Result<Step, InquiryError> {
        let count = input.number()? as usize;
        if count > NUMBERS_MAX {
            return Err(InquiryError::Unexpected);
        }
        let mut told = Vec::with_capacity(count);
        for _ in 0..count {
            told.push((input.hash()?, input.value()?));
        }
        let rounds = self.rounds;
        let is_first = self.is_first;
        let leaves = self.leaves(frame)?;
        for (place, at) in (from..to).enumerate() {
            let here = leaves.get(at as usize).copied();
            let there = told.get(place).copied();
            if here.map(|leaf| (name_of(&leaf), leaf.value)) == there {
                continue;
            }
            let same_name = there.filter(|(name, _)| here.is_some_and(|leaf| name_of(&leaf) == *name));
            let there = same_name.map(|(_, value)| value);
            let finding = Finding { frame: Some(frame), is_first, here, there, round_trips: rounds };
            return input.end(Step::Found(finding));
        }
        Err(InquiryError::Misled)
    }

    /// Asks for parts of a part, or for the numbers of a small one.
    fn narrow(&mut self, frame: u32, from: u32, to: u32) -> Result<Vec<u8>, InquiryError> {
        if self.rounds == ROUNDS_MAX {
            return Err(InquiryError::Misled);
        }
        let is_small = to.saturating_sub(from) as usize <= NUMBERS_MAX;
        Ok(self.question(if is_small {
            Question::Numbers { frame, from, to }
        } else {
            Question::Parts { frame, from, to }
        }))
    }

    fn tell_parts(&mut self, frame: u32, from: u32, to: u32) -> Result<Vec<u8>, InquiryError> {
        if from > to {
            return Err(InquiryError::Unexpected);
        }
        let leaves = self.leaves(frame)?;
        let mut out = vec![TELL_PARTS];
        out.extend_from_slice(&(leaves.len() as u32).to_le_bytes());
        for (start, end) in parts(from, to) {
            out.extend_from_slice(&hash_of(leaves, start, end).to_le_bytes());
        }
        Ok(out)
    }

    fn tell_numbers(&mut self, frame: u32, from: u32, to: u32) -> Result<Vec<u8>, InquiryError> {
        let leaves = self.leaves(frame)?;
        let end = (to as usize).min(leaves.len()).min((from as usize).saturating_add(NUMBERS_MAX));
        let told = leaves.get(from as usize..end).unwrap_or_default();
        let mut out = vec![TELL_NUMBERS];
        out.extend_from_slice(&(told.len() as u32).to_le_bytes());
        for leaf in told {
            out.extend_from_slice(&name_of(leaf).to_le_bytes());
            out.extend_from_slice(&leaf.value.to_le_bytes());
        }
        Ok(out)
    }

    /// All numbers of a frame that is kept.
    fn leaves(&mut self, frame: u32) -> Result<&[Leaf], InquiryError> {
        if self.open.as_ref().is_none_or(|(open, _)| *open != frame) {
            let moment = self.moments.ring.iter().find(|moment| moment.frame == frame);
            let moment = moment.ok_or(InquiryError::Forgotten)?;
            state::load(&mut self.game, &moment.state).map_err(|_| InquiryError::Forgotten)?;
            let mut leaves = Vec::new();
            state::leaves(&mut self.game, &mut |leaf| leaves.push(leaf));
            self.open = Some((frame, leaves));
        }
        Ok(self.open.as_ref().map_or(&[], |(_, leaves)| leaves))
    }
}

/// The parts of a stretch of numbers, from where to where. Beyond the last number they are empty.
fn parts(from: u32, to: u32) -> impl Iterator<Item = (u32, u32)> {
    let size = to.saturating_sub(from).div_ceil(PARTS as u32);
    (0..PARTS as u32).map(move |part| {
        let start = from.saturating_add(part.saturating_mul(size)).min(to);
        (start, start.saturating_add(size).min(to))
    })
}

fn hash_of(leaves: &[Leaf], start: u32, end: u32) -> u64 {
    let end = (end as usize).min(leaves.len());
    let leaves = leaves.get(start as usize..end).unwrap_or_default();
    leaves
        .iter()
        .fold(0, |hash, leaf| XxHash3_64::oneshot_with_seed(hash ^ name_of(leaf), &leaf.value.to_le_bytes()))
}

/// A number's name as a number.
fn name_of(leaf: &Leaf) -> u64 {
    let seed = XxHash3_64::oneshot_with_seed(leaf.index.into(), leaf.kind.as_bytes());
    XxHash3_64::oneshot_with_seed(seed, leaf.name.as_bytes())
}

/// A message that is read.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], InquiryError> {
        let (taken, left) = self.0.split_first_chunk().ok_or(InquiryError::Unexpected)?;
        self.0 = left;
        Ok(*taken)
    }

    fn byte(&mut self) -> Result<u8, InquiryError> {
        Ok(self.take::<1>()?[0])
    }

    fn number(&mut self) -> Result<u32, InquiryError> {
        Ok(u32::from_le_bytes(self.take()?))
    }

    fn hash(&mut self) -> Result<u64, InquiryError> {
        Ok(u64::from_le_bytes(self.take()?))
    }

    fn value(&mut self) -> Result<i128, InquiryError> {
        Ok(i128::from_le_bytes(self.take()?))
    }

    /// Nothing may be left over.
    fn end(&self, step: Step) -> Result<Step, InquiryError> {
        if self.0.is_empty() { Ok(step) } else { Err(InquiryError::Unexpected) }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(frame) = self.frame else { return write!(f, "all frames that both have kept are equal") };
        write!(f, "frame {frame}{}: ", if self.is_first { "" } else { " or before" })?;
        match (self.here, self.there) {
            (Some(here), Some(there)) => {
                write!(
                    f,
                    "{} of {} {} is {} here and {there} there",
                    here.name, here.kind, here.index, here.value
                )
            }
            (Some(here), None) => {
                write!(
                    f,
                    "{} of {} {} is {} here and not there",
                    here.name, here.kind, here.index, here.value
                )
            }
            (None, _) => write!(f, "there is more in the other state than here"),
        }
    }
}

impl fmt::Display for InquiryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unexpected => "the other peer's message does not answer what was asked",
            Self::Forgotten => "the frame is not kept any more",
            Self::Misled => "the other peer's answers contradict each other",
            Self::TooOften => "the other peer asks too often",
        })
    }
}

impl core::error::Error for InquiryError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::{StateError, Visit};

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
        let mut moments = Moments::new(16);
        for frame in 0..20 {
            game.0.iter_mut().for_each(|value| *value += 1);
            if frame == at {
                fault(&mut game);
            }
            moments.push(frame, &mut game);
        }
        Inquiry::new(moments, Game::default())
    }

    /// Lets one ask the other; also the largest message.
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
                assert!(largest <= 1_200, "{largest} bytes");
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
            let mut question = vec![ASK_PARTS];
            for number in [10 + from % 6, from, 3_000] {
                question.extend_from_slice(&number.to_le_bytes());
            }
            asked.answer(PeerId(asker), Instant::from_millis(ms), &question)
        };
        // 300 questions per second for ten seconds: 24 at once, then eight per second.
        let answered =
            (0..3_000_u32).filter(|number| ask(1, u64::from(*number) * 10 / 3, *number).is_ok()).count();
        assert!((101..=105).contains(&answered), "{answered}");
        assert!((0..3).any(|_| ask(1, 10_000, 5) == Err(InquiryError::TooOften)));
        assert!(ask(2, 10_000, 5).is_ok(), "another one has its own share");
        assert!(ask(1, 10_200, 5).is_ok(), "and later it may again");
        // No list grows with those who ask.
        let admitted = (0..1_000).filter(|asker| ask(*asker, 20_000, 7).is_ok()).count();
        assert_eq!(admitted, usize::from(PLAYERS_MAX));
        assert!(asked.limits.answers.len() <= ANSWERS_MAX && asked.limits.askers.len() <= admitted);
    }

    #[test]
    fn answers_that_contradict_each_other_end_the_search() {
        let mut whole = inquiry(300, 99, |_| {});
        whole.ask();
        let mut frames = vec![TELL_FRAMES];
        frames.extend_from_slice(&19_u32.to_le_bytes());
        frames.extend_from_slice(&1_u64.to_le_bytes());
        let Ok(Step::Send(_)) = whole.hear(&frames) else { panic!("it asks on") };
        // The very same parts, though the hash of the whole differs.
        let told = inquiry(300, 99, |_| {}).tell_parts(19, 0, 301).unwrap();
        assert_eq!(whole.hear(&told), Err(InquiryError::Misled));
    }
}
