//! The messages of an inquiry, and their bytes: a kind, then little-endian numbers.

use twox_hash::XxHash3_64;

use crate::state::Leaf;
use crate::state::inquiry::{InquiryError, MOMENTS_MAX};

/// Number of parts in a question.
const PARTS: usize = 64;

/// If there are at most this many numbers, they are sent themselves.
pub(super) const NUMBERS_MAX: usize = 32;

/// Kinds of messages.
const ASK_FRAMES: u8 = 0;
const TELL_FRAMES: u8 = 1;
const ASK_PARTS: u8 = 2;
const TELL_PARTS: u8 = 3;
const ASK_NUMBERS: u8 = 4;
const TELL_NUMBERS: u8 = 5;

/// Consecutive numbers of one frame, in the order of the walk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Stretch {
    pub(super) frame: u32,
    /// Index of the first number.
    pub(super) from: u32,
    /// Index after the last number.
    pub(super) to: u32,
}

impl Stretch {
    /// The stretch divided into [`PARTS`] parts. Those beyond its last number are empty.
    pub(super) fn parts(self) -> impl Iterator<Item = Stretch> {
        let size = self.to.saturating_sub(self.from).div_ceil(PARTS as u32);
        (0..PARTS as u32).map(move |part| {
            let from = self.from.saturating_add(part.saturating_mul(size)).min(self.to);
            Stretch { from, to: from.saturating_add(size).min(self.to), ..self }
        })
    }

    /// The numbers of a frame that lie in the stretch.
    pub(super) fn of(self, leaves: &[Leaf]) -> &[Leaf] {
        let end = (self.to as usize).min(leaves.len());
        leaves.get(self.from as usize..end).unwrap_or_default()
    }

    /// Hash of the numbers in the stretch, with their names.
    pub(super) fn hash_of(self, leaves: &[Leaf]) -> u64 {
        let chain = |hash, leaf: &Leaf| {
            XxHash3_64::oneshot_with_seed(hash ^ name_of(leaf), &leaf.value.to_le_bytes())
        };
        self.of(leaves).iter().fold(0, chain)
    }
}

/// A hash of a number's name.
pub(super) fn name_of(leaf: &Leaf) -> u64 {
    let seed = XxHash3_64::oneshot_with_seed(leaf.index.into(), leaf.kind.as_bytes());
    XxHash3_64::oneshot_with_seed(seed, leaf.name.as_bytes())
}

/// A question of one peer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum InquiryQuestion {
    Frames,
    Parts(Stretch),
    Numbers(Stretch),
}

impl InquiryQuestion {
    /// The longest question: its kind and three numbers.
    pub(super) const BYTES_MAX: usize = 13;

    pub(super) fn to_bytes(self) -> Vec<u8> {
        let (kind, Stretch { frame, from, to }) = match self {
            Self::Frames => return vec![ASK_FRAMES],
            Self::Parts(stretch) => (ASK_PARTS, stretch),
            Self::Numbers(stretch) => (ASK_NUMBERS, stretch),
        };
        let mut out = vec![kind];
        [frame, from, to].iter().for_each(|number| out.extend_from_slice(&number.to_le_bytes()));
        out
    }

    pub(super) fn read(bytes: &[u8]) -> Result<Self, InquiryError> {
        let mut input = Input(bytes);
        let question = match input.byte()? {
            ASK_FRAMES => Self::Frames,
            ASK_PARTS => Self::Parts(input.stretch()?),
            ASK_NUMBERS => Self::Numbers(input.stretch()?),
            _ => return Err(InquiryError::Unexpected),
        };
        input.end(question)
    }
}

/// The other peer's answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum InquiryAnswer {
    /// Frames and their hashes.
    Frames(Vec<(u32, u64)>),
    /// The frame's total number of numbers, and the hashes of the parts.
    Parts { total: u32, hashes: Vec<u64> },
    /// Hashes of names, and values.
    Numbers(Vec<(u64, i128)>),
}

impl InquiryAnswer {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Self::Frames(frames) => {
                out.push(TELL_FRAMES);
                for (frame, hash) in frames {
                    out.extend_from_slice(&frame.to_le_bytes());
                    out.extend_from_slice(&hash.to_le_bytes());
                }
            }
            Self::Parts { total, hashes } => {
                out.push(TELL_PARTS);
                out.extend_from_slice(&total.to_le_bytes());
                hashes.iter().for_each(|hash| out.extend_from_slice(&hash.to_le_bytes()));
            }
            Self::Numbers(numbers) => {
                out.push(TELL_NUMBERS);
                out.extend_from_slice(&(numbers.len() as u32).to_le_bytes());
                for (name, value) in numbers {
                    out.extend_from_slice(&name.to_le_bytes());
                    out.extend_from_slice(&value.to_le_bytes());
                }
            }
        }
        out
    }

    pub(super) fn read(bytes: &[u8]) -> Result<Self, InquiryError> {
        let mut input = Input(bytes);
        let answer = match input.byte()? {
            TELL_FRAMES => {
                let mut frames = Vec::new();
                while !input.0.is_empty() && frames.len() < MOMENTS_MAX {
                    frames.push((input.number()?, input.hash()?));
                }
                Self::Frames(frames)
            }
            TELL_PARTS => {
                let total = input.number()?;
                let hashes = (0..PARTS).map(|_| input.hash()).collect::<Result<_, _>>()?;
                Self::Parts { total, hashes }
            }
            TELL_NUMBERS => {
                let count = input.number()? as usize;
                if count > NUMBERS_MAX {
                    return Err(InquiryError::Unexpected);
                }
                let numbers = (0..count).map(|_| Ok((input.hash()?, input.value()?)));
                Self::Numbers(numbers.collect::<Result<_, InquiryError>>()?)
            }
            _ => return Err(InquiryError::Unexpected),
        };
        input.end(answer)
    }
}

/// A message that is being read.
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

    fn stretch(&mut self) -> Result<Stretch, InquiryError> {
        let stretch = Stretch { frame: self.number()?, from: self.number()?, to: self.number()? };
        if stretch.from > stretch.to { Err(InquiryError::Unexpected) } else { Ok(stretch) }
    }

    /// Checks that nothing is left over.
    fn end<T>(&self, message: T) -> Result<T, InquiryError> {
        if self.0.is_empty() { Ok(message) } else { Err(InquiryError::Unexpected) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::MESSAGE_BYTES_MAX;

    #[test]
    fn every_message_reads_back_and_no_other_length_does() {
        let stretch = Stretch { frame: 9, from: 3, to: 500 };
        for question in
            [InquiryQuestion::Frames, InquiryQuestion::Parts(stretch), InquiryQuestion::Numbers(stretch)]
        {
            let bytes = question.to_bytes();
            assert!(bytes.len() <= InquiryQuestion::BYTES_MAX);
            assert_eq!(InquiryQuestion::read(&bytes), Ok(question));
            assert_eq!(InquiryQuestion::read(&[&bytes[..], &[0]].concat()), Err(InquiryError::Unexpected));
            assert_eq!(InquiryQuestion::read(&bytes[..bytes.len() - 1]), Err(InquiryError::Unexpected));
        }
        let answers = [
            InquiryAnswer::Frames((0..MOMENTS_MAX as u32).map(|frame| (frame, 7)).collect()),
            InquiryAnswer::Parts { total: 4, hashes: vec![5; PARTS] },
            InquiryAnswer::Numbers(vec![(1, -2); NUMBERS_MAX]),
        ];
        for answer in answers {
            let bytes = answer.to_bytes();
            // `Search` sends it as a message of the session, behind a byte of its own.
            assert!(bytes.len() < MESSAGE_BYTES_MAX, "{} bytes", bytes.len());
            assert_eq!(InquiryAnswer::read(&[&bytes[..], &[0]].concat()), Err(InquiryError::Unexpected));
            assert_eq!(InquiryAnswer::read(&bytes[..bytes.len() - 1]), Err(InquiryError::Unexpected));
            assert_eq!(InquiryAnswer::read(&bytes), Ok(answer));
        }
    }

    #[test]
    fn parts_cover_a_stretch_once() {
        for (from, to) in [(0, 0), (0, 1), (5, 70), (0, 64), (7, 250_000), (u32::MAX - 3, u32::MAX)] {
            let mut next = from;
            for part in (Stretch { frame: 1, from, to }).parts().filter(|part| part.from < part.to) {
                assert_eq!(part.from, next);
                next = part.to;
            }
            assert_eq!(next, to);
        }
    }
}
