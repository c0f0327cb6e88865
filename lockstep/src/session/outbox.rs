//! The queue of actions that wait for their turn.

use crate::value::action::Action;
use core::fmt;
use std::collections::VecDeque;

use crate::session::config::SessionConfig;
use crate::value::bits::{BitReader, BitWriter, DecodeError, Misfit};
use crate::value::codec::Codec;
use crate::value::entry::Payload;
use crate::value::ids::Turn;

/// Why an action was not accepted. It will not run anywhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SubmitError {
    /// The queue is full.
    QueueFull {
        /// The limit.
        max: u32,
    },
    /// The action encoded to more bits than its type allows, to none, or (input mode) to another number of bits.
    WrongSize {
        /// Bits written.
        bits: u32,
        /// Bits allowed.
        max: u32,
    },
    /// `encode` writes a value that does not fit its bits.
    DoesNotFit(Misfit),
    /// The decoded action encodes to other bits, or to another number of bits; or, where several actions may share a turn, what follows it changes it.
    NotCanonical,
    /// `decode` refuses what `encode` wrote.
    Refused(DecodeError),
    /// The match ends before the action could run.
    TooLate {
        /// The last turn of the match.
        last_turn: Turn,
    },
    /// This peer does not play now: it watches, its player has left or was dropped, or joins the running match and is not back yet. The middle of the star
    /// makes its entries until then.
    /// [`crate::AnySession::may_submit`] says so without an action.
    NotPlaying,
}

impl fmt::Display for SubmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::QueueFull { max } => write!(f, "the queue is full: {max} actions are waiting"),
            Self::WrongSize { bits, max } => {
                write!(f, "the action has {bits} bits, but its MAX_BITS is {max}")
            }
            Self::DoesNotFit(misfit) => write!(f, "`encode` writes a value that does not fit: {misfit}"),
            Self::NotCanonical => write!(f, "the action does not survive encoding and decoding"),
            Self::Refused(error) => write!(f, "`decode` refuses what `encode` wrote: {error}"),
            Self::TooLate { last_turn } => {
                write!(f, "the match ends with turn {last_turn}, before the action could run")
            }
            Self::NotPlaying => {
                write!(f, "this peer does not play: it watches, its player has left, or is not back yet")
            }
        }
    }
}

impl std::error::Error for SubmitError {}

/// The local player's queue. Actions are encoded when they are submitted, so the local player's actions pass through the codec too.
#[derive(Clone, Debug)]
pub(crate) struct Outbox {
    queue: VecDeque<Payload>,
    queue_max: u32,
    per_turn_max: u32,
    turn_bits_max: u32,
    /// Input mode: the last input, repeated while there is no new one.
    repeated: Option<Payload>,
    scratch: BitWriter,
    recoded: BitWriter,
}

impl Outbox {
    pub(crate) fn new(config: &SessionConfig, action_bits: u32) -> Self {
        Self {
            queue: VecDeque::with_capacity(4),
            queue_max: config.limits.queue_max,
            per_turn_max: if config.input_mode { 1 } else { config.limits.actions_per_turn_max },
            turn_bits_max: if config.input_mode { action_bits } else { config.limits.turn_bytes_max * 8 },
            repeated: config.input_mode.then(|| crate::value::codec::zeros(action_bits)),
            scratch: BitWriter::new(),
            recoded: BitWriter::new(),
        }
    }

    /// Input mode: the input that is held when a match is resumed.
    pub(crate) fn hold(&mut self, input: &Payload) {
        if let Some(repeated) = &mut self.repeated {
            *repeated = input.clone();
        }
    }

    /// Encodes and queues an action. `room` is the number of entries that can still close, and the last turn.
    pub(crate) fn submit<A: Action>(
        &mut self,
        action: &A,
        codec: &Codec,
        room: Option<(u32, Turn)>,
    ) -> Result<(), SubmitError> {
        if self.queue.len() as u32 >= self.queue_max {
            return Err(SubmitError::QueueFull { max: self.queue_max });
        }
        self.scratch.clear();
        action.encode(&mut self.scratch);
        if let Some(misfit) = self.scratch.misfit() {
            return Err(SubmitError::DoesNotFit(misfit));
        }
        let bits = self.scratch.bit_count();
        let max = codec.bits_max();
        let wrong_size = if self.repeated.is_some() { bits != max } else { bits == 0 || bits > max };
        if wrong_size {
            return Err(SubmitError::WrongSize { bits, max });
        }
        let payload = Payload::new(self.scratch.bytes(), bits);
        if codec.refuses(&payload, 1, &mut self.recoded) {
            let decoded = A::decode(&mut BitReader::with_bit_count(payload.bytes(), bits));
            return Err(decoded.map_or_else(SubmitError::Refused, |_| SubmitError::NotCanonical));
        }
        if self.per_turn_max > 1 && !codec.ends_itself(&payload, &mut self.recoded) {
            return Err(SubmitError::NotCanonical);
        }
        self.check_end(bits, room)?;
        self.queue.push_back(payload);
        Ok(())
    }

    /// Whether an action of so many bits still comes into one of the entries that can close.
    pub(crate) fn check_end(&self, bits: u32, room: Option<(u32, Turn)>) -> Result<(), SubmitError> {
        match room {
            Some((entries, last_turn)) if self.entries_before(bits) >= entries => {
                Err(SubmitError::TooLate { last_turn })
            }
            _ => Ok(()),
        }
    }

    /// Number of entries that close before one that can carry an action submitted now, of so many bits: as [`Outbox::close`] fills them.
    fn entries_before(&self, bits: u32) -> u32 {
        let (mut entries, mut count, mut sum) = (0, 0, 0);
        for bits in self.queue.iter().map(Payload::bit_count).chain([bits]) {
            if count == self.per_turn_max || (count > 0 && sum + bits > self.turn_bits_max) {
                (entries, count, sum) = (entries + 1, 0, 0);
            }
            (count, sum) = (count + 1, sum + bits);
        }
        entries
    }

    /// Number of waiting actions.
    pub(crate) fn len(&self) -> u32 {
        self.queue.len() as u32
    }

    /// Returns the payload of the next entry: the oldest actions that fit, or "no action".
    pub(crate) fn close(&mut self) -> Payload {
        if let Some(repeated) = &mut self.repeated {
            if let Some(fresh) = self.queue.pop_front() {
                *repeated = fresh;
            }
            return repeated.clone();
        }
        let Some(first) = self.queue.pop_front() else { return Payload::none() };
        if self.per_turn_max == 1 {
            return first;
        }
        self.scratch.clear();
        self.scratch.write_slice(first.bytes(), first.bit_count());
        for _ in 1..self.per_turn_max {
            let Some(next) = self.queue.front() else { break };
            if self.scratch.bit_count() + next.bit_count() > self.turn_bits_max {
                break;
            }
            self.scratch.write_slice(next.bytes(), next.bit_count());
            self.queue.pop_front();
        }
        Payload::new(self.scratch.bytes(), self.scratch.bit_count())
    }

    /// What [`Outbox::close`] will return for the entry that closes after so many others, if nothing more is submitted.
    pub(crate) fn preview(&self, later: u32) -> Payload {
        if self.queue.is_empty() {
            return self.repeated.clone().unwrap_or_default();
        }
        let mut outbox = self.clone();
        (0..later).for_each(|_| drop(outbox.close()));
        outbox.close()
    }

    /// Takes back what was submitted when so many actions waited.
    pub(crate) fn take_back(&mut self, waiting: u32) {
        self.queue.truncate(waiting as usize);
    }

    /// Cancels everything that waits; returns the number.
    pub(crate) fn cancel(&mut self) -> u32 {
        let cancelled = self.queue.len() as u32;
        self.queue.clear();
        cancelled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Byte(u8);

    impl Action for Byte {
        const MAX_BITS: u32 = 8;
        fn encode(&self, out: &mut BitWriter) {
            out.write_bits(u64::from(self.0), 8);
        }
        fn decode(input: &mut BitReader<'_>) -> Result<Self, DecodeError> {
            Ok(Self(input.read_bits(8)? as u8))
        }
    }

    #[test]
    fn one_action_per_turn_the_rest_waits_in_order() {
        let mut outbox = Outbox::new(&SessionConfig::new(1), 8);
        for value in 1..=3 {
            outbox.submit(&Byte(value), &Codec::of::<Byte>(), None).unwrap();
        }
        assert_eq!(outbox.close().bytes(), [1]);
        assert_eq!(outbox.close().bytes(), [2]);
        assert_eq!(outbox.close().bytes(), [3]);
        assert!(outbox.close().is_none());
    }

    #[test]
    fn a_byte_budget_spills_to_the_next_turn() {
        let config = SessionConfig::new(1).actions_per_turn_max(10).turn_bytes_max(3);
        let mut outbox = Outbox::new(&config, 8);
        for value in 1..=5 {
            outbox.submit(&Byte(value), &Codec::of::<Byte>(), None).unwrap();
        }
        assert_eq!(outbox.close().bytes(), [1, 2, 3]);
        assert_eq!(outbox.close().bytes(), [4, 5]);
    }

    #[test]
    fn a_full_queue_says_so() {
        let mut outbox = Outbox::new(&SessionConfig::new(1).queue_max(2), 8);
        outbox.submit(&Byte(1), &Codec::of::<Byte>(), None).unwrap();
        outbox.submit(&Byte(2), &Codec::of::<Byte>(), None).unwrap();
        assert_eq!(
            outbox.submit(&Byte(3), &Codec::of::<Byte>(), None),
            Err(SubmitError::QueueFull { max: 2 })
        );
        assert_eq!(outbox.len(), 2);
    }

    /// At most 9, as its decoder says.
    struct Digit(u8);

    impl Action for Digit {
        const MAX_BITS: u32 = 8;
        fn encode(&self, out: &mut BitWriter) {
            out.write_bits(u64::from(self.0), 8);
        }
        fn decode(input: &mut BitReader<'_>) -> Result<Self, DecodeError> {
            Ok(Self(input.read_max(8, 9)? as u8))
        }
    }

    #[test]
    fn what_decode_refuses_is_named() {
        let mut outbox = Outbox::new(&SessionConfig::new(1), 8);
        let refused = outbox.submit(&Digit(100), &Codec::of::<Digit>(), None).unwrap_err();
        assert_eq!(refused, SubmitError::Refused(DecodeError::OutOfRange { value: 100, max: 9 }));
        assert_eq!(refused.to_string(), "`decode` refuses what `encode` wrote: value 100 is above 9");
        assert_eq!(outbox.submit(&Digit(9), &Codec::of::<Digit>(), None), Ok(()));
        assert_eq!(outbox.len(), 1);
    }

    /// Two bits, for what may be more; its decoder adds to what it reads.
    struct Disc {
        number: u8,
    }

    impl Action for Disc {
        const MAX_BITS: u32 = 2;
        fn encode(&self, out: &mut BitWriter) {
            out.write_bits(self.number.into(), 2);
        }
        fn decode(input: &mut BitReader<'_>) -> Result<Self, DecodeError> {
            let number = input.read_bits(2)? as u8;
            Ok(Self { number: if number == 3 { 9 } else { number } })
        }
    }

    /// The fifth disc of a game with two bits for it stopped the program of the player who selected it.
    #[test]
    fn a_value_that_does_not_fit_its_bits_is_refused_and_no_panic() {
        let (mut outbox, codec) = (Outbox::new(&SessionConfig::new(1), 2), Codec::of::<Disc>());
        let refused = outbox.submit(&Disc { number: 4 }, &codec, None).unwrap_err();
        assert_eq!(refused.to_string(), "`encode` writes a value that does not fit: 4 does not fit 2 bits");
        assert!(matches!(refused, SubmitError::DoesNotFit(misfit) if (misfit.value, misfit.bits) == (4, 2)));
        assert_eq!(
            outbox.submit(&Disc { number: 3 }, &codec, None),
            Err(SubmitError::NotCanonical),
            "what was decoded cannot be encoded"
        );
        assert_eq!(outbox.submit(&Disc { number: 2 }, &codec, None), Ok(()));
        assert_eq!(outbox.close().bytes(), [2]);
    }

    #[test]
    fn input_mode_repeats_the_last_input() {
        let mut outbox = Outbox::new(&SessionConfig::input(1, 60), 8);
        assert_eq!(outbox.close().bytes(), [0], "nothing pressed before the first input");
        outbox.submit(&Byte(9), &Codec::of::<Byte>(), None).unwrap();
        assert_eq!(outbox.close().bytes(), [9]);
        assert_eq!(outbox.close().bytes(), [9]);
    }

    /// Where the bytes of a turn were the limit, actions were accepted that could not run before the end.
    #[test]
    fn what_cannot_run_before_the_end_is_refused() {
        for (per_turn, bytes) in [(1, 9), (10, 1), (10, 3), (2, 9), (3, 2)] {
            let config = SessionConfig::new(1).actions_per_turn_max(per_turn).turn_bytes_max(bytes);
            let mut outbox = Outbox::new(&config, 8);
            let room = |entries| Some((entries, Turn(9)));
            let accepted = (0..40)
                .take_while(|value| outbox.submit(&Byte(*value), &Codec::of::<Byte>(), room(4)).is_ok())
                .count();
            assert_eq!(accepted as u32, 4 * per_turn.min(bytes), "{per_turn} actions, {bytes} bytes");
            assert_eq!(
                outbox.submit(&Byte(0), &Codec::of::<Byte>(), room(4)),
                Err(SubmitError::TooLate { last_turn: Turn(9) })
            );
            (0..4).for_each(|_| drop(outbox.close()));
            assert_eq!(outbox.len(), 0);
        }
    }
}
