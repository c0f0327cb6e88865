//! How a match is played besides its network and its faults. Each mode has a random stream of its own: a new one leaves all else of a seed as it was.

use crate::testing::soak::dice::Dice;

/// The streams.
const SIGNED: u64 = 0x7369_676e;

/// What a seed draws besides.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Modes {
    pub(super) signed: Option<Signed>,
}

/// The players sign statements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Signed {
    /// A program that is started again knows what its player has signed.
    pub(super) remembers: bool,
}

impl Modes {
    pub(super) fn of(seed: u64) -> Self {
        Self { signed: signed(seed) }
    }
}

/// One of three matches, if this build can sign.
fn signed(seed: u64) -> Option<Signed> {
    let mut dice = Dice::of(seed, SIGNED);
    let is_signed = dice.between(0, 2) == 0;
    let remembers = dice.between(0, 1) == 0;
    (is_signed && cfg!(feature = "signed")).then_some(Signed { remembers })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_is_drawn() {
        let modes: Vec<Modes> = (0..200).map(Modes::of).collect();
        let count = |is: &dyn Fn(&Modes) -> bool| modes.iter().filter(|modes| is(modes)).count();
        for remembers in [true, false] {
            let drawn = count(&|modes| modes.signed == Some(Signed { remembers }));
            assert!((20..60).contains(&drawn) || cfg!(not(feature = "signed")), "{drawn}");
        }
    }
}
