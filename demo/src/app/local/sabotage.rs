//! Which bit is flipped on purpose: one whose change reaches other bodies, so that there is something to see.

use testudo_lockstep::Simulation as _;

use testudo_battle::{BodyField, Dice, Game};

/// Bits of a position: 1/32 of a unit, too little to be seen; half a unit and a whole one, for armies that stand apart.
const BITS: [u32; 3] = [11, 15, 16];

/// Bodies that are tried with each bit, and the frames that are simulated ahead for each: a second.
const TRIES: u32 = 6;
const FRAMES: u32 = 20;
const FRAMES_PER_SECOND: u32 = 20;

/// So many bodies differ at the end of that second: the change spreads.
const ENOUGH: usize = 3;

/// The slot of a unit and the bit of its position; none if no unit lives. If no change spreads within a second without new orders, the one
/// that reaches the most.
pub(crate) fn choose(game: &Game, dice: &mut Dice) -> Option<(u32, u32)> {
    let slots: Vec<u32> = game.unit_slots().collect();
    let last = i32::try_from(slots.len()).ok()?.checked_sub(1).filter(|last| *last >= 0)?;
    let whole = ahead(game.clone());
    let (mut best, mut most) = (None, 0);
    for bit in BITS {
        for _ in 0..TRIES {
            let slot = slots[dice.between(0, last) as usize];
            let mut broken = game.clone();
            if broken.corrupt(slot, BodyField::PositionX, bit).is_err() {
                continue;
            }
            let reached = whole.differing_bodies(&ahead(broken)).len();
            if reached >= ENOUGH {
                return Some((slot, bit));
            }
            if reached > most || best.is_none() {
                (best, most) = (Some((slot, bit)), reached);
            }
        }
    }
    best
}

fn ahead(mut game: Game) -> Game {
    (0..FRAMES).for_each(|_| game.step(FRAMES_PER_SECOND));
    game
}

#[cfg(test)]
mod tests {
    use testudo_lockstep::Turn;

    use super::*;
    use testudo_battle::Setup;
    use testudo_battle::bots;

    #[test]
    fn the_flip_reaches_others_in_a_fight_and_among_idle_units() {
        for turns in [0, 20, 250] {
            let mut game = Game::new(Setup { players: 2, units: 60, seed: 4, map: None }).unwrap();
            for turn in 0..turns {
                bots::lead(&mut game, Turn(turn));
                (0..4).for_each(|_| game.step(20));
            }
            let (slot, bit) = choose(&game, &mut Dice::new(7)).unwrap();
            let mut broken = game.clone();
            broken.corrupt(slot, BodyField::PositionX, bit).unwrap();
            assert_eq!(game.differing_bodies(&broken), [slot]);
            let reached = ahead(game).differing_bodies(&ahead(broken)).len();
            assert!(reached >= ENOUGH, "after {turns} turns, bit {bit} of {slot} reached {reached}");
        }
    }
}
