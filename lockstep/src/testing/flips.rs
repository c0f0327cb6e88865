//! Checks that the checksum covers every number that the walk shows: it flips single bits, and the checksum must change.

use crate::drive::simulation::Simulation;
use crate::state::{self, Leaf, State};

/// Flips `count` numbers of the saved state, starting with number `from` and wrapping around. Returns the first that the checksum ignores.
pub(super) fn next_unhashed<S: Simulation + State>(
    game: &mut S,
    saved: &[u8],
    from: u64,
    count: u32,
) -> Option<Leaf> {
    if count == 0 {
        return None;
    }
    let numbers = numbers(game, saved)?;
    let length = numbers.len() as u64;
    let chosen = (0..length.min(u64::from(count))).map(|number| numbers[((from + number) % length) as usize]);
    first_unhashed(game, saved, chosen)
}

/// The number that the checksum is, as it came with the saved state. None: the checksum is computed from what was loaded.
pub(super) fn stored_checksum<S: Simulation + State>(game: &mut S, saved: &[u8]) -> Option<Leaf> {
    let numbers = numbers(game, saved)?;
    let checksum = game.checksum();
    let mut changed = Vec::new();
    numbers.into_iter().filter(|leaf| leaf.bits == 64 && leaf.value as u64 == checksum).find(|leaf| {
        // The first bit that is not refused tells, since the game takes or computes the number as a whole.
        (0..leaf.bits).find_map(|bit| {
            state::load(game, saved).ok()?;
            state::flip_or_spoil(game, leaf, bit).ok()?;
            state::save(game, &mut changed);
            state::load(game, &changed).ok()?;
            Some(game.checksum() == checksum ^ (1 << bit))
        }) == Some(true)
    })
}

/// Flips all numbers of the saved state, or `most` of them spread evenly.
pub(super) fn any_unhashed<S: Simulation + State>(game: &mut S, saved: &[u8], most: u32) -> Option<Leaf> {
    let numbers = numbers(game, saved)?;
    let (length, most) = (numbers.len() as u64, u64::from(most).min(numbers.len() as u64));
    first_unhashed(game, saved, (0..most).map(|place| numbers[(place * length / most) as usize]))
}

/// The numbers that can be flipped. None if there are none, or the state cannot be loaded.
fn numbers<S: State>(game: &mut S, saved: &[u8]) -> Option<Vec<Leaf>> {
    state::load(game, saved).ok()?;
    let mut numbers = Vec::new();
    state::leaves(game, &mut |leaf| {
        if leaf.bits > 0 {
            numbers.push(leaf);
        }
    });
    (!numbers.is_empty()).then_some(numbers)
}

fn first_unhashed<S: Simulation + State>(
    game: &mut S,
    saved: &[u8],
    mut chosen: impl Iterator<Item = Leaf>,
) -> Option<Leaf> {
    let checksum = game.checksum();
    chosen.find(|leaf| {
        // Limits may refuse a bit; then another one is used.
        let changed = (0..leaf.bits).find_map(|bit| {
            let flipped = state::flip_or_spoil(game, leaf, bit);
            let changed = flipped.map(|()| game.checksum() != checksum);
            // A flipped length may have removed objects or made some, so flipping it back is not enough. The game has loaded these bytes before.
            let loaded = state::load(game, saved);
            debug_assert!(loaded.is_ok(), "{loaded:?}");
            changed.ok()
        });
        changed == Some(false)
    })
}
