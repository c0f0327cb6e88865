//! Pairs against brute force: each pair of overlapping boxes exactly once, and no others.

use alloc::vec::Vec;

use super::*;
use crate::body::slot::Slot;
use crate::math::axes::each_axis;
use crate::math::boxes::RawBox;
use crate::math::lanes::base;
use crate::math::num::{EXTENT_MAX, EXTENT_MIN, POSITION_MAX};
use crate::math::rng::Pcg32;
use crate::tree::block_join::BODIES_OF_ONE;
use crate::tree::curve_box::CurveBox;
use crate::tree::quadtree::SplitRule;
use crate::world_def::Simd;

/// Furthest centre and largest extent, raw units.
const FAR: i64 = POSITION_MAX.to_bits();
const LARGEST: i64 = EXTENT_MAX.to_bits();

/// Boxes by slot: centre and half extents grown by half a margin, as the world makes them.
fn boxes(count: u32, mut one: impl FnMut(u32) -> ([i64; 2], [i64; 2])) -> Vec<RawBox> {
    (0..count)
        .map(|slot| {
            let (centre, half) = one(slot);
            let corner = |sign: i64| each_axis(|axis| (centre[axis] + sign * half[axis]) as i32);
            RawBox { min: corner(-1), max: corner(1) }.grown(6_554)
        })
        .collect()
}

fn between(rng: &mut Pcg32, low: i64, high: i64) -> i64 {
    low + i64::from(rng.below((high - low + 1) as u32))
}

fn centre_and_extent(b: &RawBox) -> ([i32; 2], i32) {
    let half = |axis: usize| (i64::from(b.max[axis]) - i64::from(b.min[axis])) / 2;
    let middle = |axis: usize| (i64::from(b.min[axis]) + half(axis)) as i32;
    ([middle(0), middle(1)], half(0).max(half(1)) as i32)
}

/// The shapes of worlds that are tried, by name.
fn worlds(seed: u64) -> Vec<(&'static str, Vec<RawBox>)> {
    let mut rng = Pcg32::new(seed, 1);
    let unit = 1 << 16;
    let extent = EXTENT_MIN.to_bits();
    let mut all = Vec::new();
    all.push((
        "a dense crowd",
        boxes(700, |_| {
            let centre = [0; 2].map(|_: i32| between(&mut rng, -9 * unit, 9 * unit));
            (centre, [unit / 2; 2])
        }),
    ));
    all.push((
        "the whole world, all sizes",
        boxes(600, |slot| {
            let centre = [0; 2].map(|_: i32| between(&mut rng, -FAR, FAR));
            let top = (extent << (slot % 23)).min(LARGEST);
            (centre, [0; 2].map(|_: i32| between(&mut rng, extent, top)))
        }),
    ));
    all.push((
        "a corner of the world",
        boxes(400, |_| ([0; 2].map(|_: i32| between(&mut rng, FAR - 20 * unit, FAR)), [2 * unit; 2])),
    ));
    all.push(("tiny ones in one spot", {
        boxes(1_500, |_| ([0; 2].map(|_: i32| between(&mut rng, 0, unit)), [extent; 2]))
    }));
    all.push((
        "everything in one point",
        boxes(150, |slot| ([-3 * unit; 2], [i64::from(slot) * 500 + 64; 2])),
    ));
    all.push(("a line", boxes(300, |slot| ([i64::from(slot) * unit - 150 * unit, 0], [unit, 50 * unit]))));
    all.push((
        "one huge body over small ones",
        boxes(500, |slot| match slot {
            250 => ([0; 2], [LARGEST; 2]),
            _ => ([0; 2].map(|_: i32| between(&mut rng, -5_000 * unit, 5_000 * unit)), [unit; 2]),
        }),
    ));
    for few in [0, 1, 2, 8, 9, 64, 65] {
        all.push(("few bodies", boxes(few, |slot| ([i64::from(slot % 3) * unit; 2], [unit; 2]))));
    }
    all
}

fn rules() -> [SplitRule; 4] {
    [(1, 15), (8, 15), (8, 2), (64, 0)]
        .map(|(leaf_capacity, depth_max)| SplitRule { leaf_capacity, depth_max })
}

/// The tree of the slots for which `takes` is true.
fn tree(boxes: &[RawBox], rule: SplitRule, takes: impl Fn(Slot) -> bool) -> Quadtree {
    let slots: Vec<Slot> = Slot::all(boxes.len()).filter(|&slot| takes(slot)).collect();
    let mut tree = Quadtree::default();
    tree.sort(base(), &slots, rule, |slot| centre_and_extent(&boxes[slot.at()]));
    tree.set_boxes(|_, slot| boxes[slot.at()]);
    tree
}

/// Joins a tree with itself or two trees, as the step does; slots, in the order in which they come out.
fn joined(a: &Quadtree, b: Option<&Quadtree>, path: Path) -> Vec<(Slot, Slot)> {
    let (mut join, mut lanes, mut out) = (Join::default(), Vec::new(), Vec::new());
    let blocks = match b {
        None => join.within(a, path),
        Some(b) => join.between(a, b, path),
    };
    let keep_own = if b.is_none() { BODIES_OF_ONE } else { ALL_PAIRS };
    let b = b.unwrap_or(a);
    // In windows, as the contact phase takes them.
    for window in blocks.chunks(WINDOW) {
        lanes.clear();
        path.join(window, &a.levels()[0], &b.levels()[0], keep_own, &mut lanes);
        let slots = |pair: &CurvePair| (a.slot_of_lane()[pair.a.at()], b.slot_of_lane()[pair.b.at()]);
        out.extend(lanes.iter().map(slots));
    }
    out
}

fn sorted(mut pairs: Vec<(Slot, Slot)>) -> Vec<(Slot, Slot)> {
    pairs.sort_unstable();
    pairs
}

fn overlapping(boxes: &[RawBox], takes: impl Fn(Slot, Slot) -> bool) -> Vec<(Slot, Slot)> {
    let slots = Slot::all(boxes.len());
    slots
        .clone()
        .flat_map(|i| slots.clone().map(move |j| (i, j)))
        .filter(|&(i, j)| takes(i, j) && boxes[i.at()].overlaps(&boxes[j.at()]))
        .collect()
}

#[test]
fn one_tree_gives_each_overlapping_pair_once() {
    let mut found = 0;
    for seed in 0..3 {
        for (name, boxes) in worlds(seed) {
            let expected = overlapping(&boxes, |i, j| i < j);
            for rule in rules() {
                let tree = tree(&boxes, rule, |_| true);
                let pairs = joined(&tree, None, Path::base());
                for path in Path::each(Simd::Widest) {
                    assert_eq!(pairs, joined(&tree, None, path), "{name}, seed {seed}, {rule:?}: {path:?}");
                }
                let pairs = sorted(pairs.iter().map(|&(i, j)| (i.min(j), i.max(j))).collect());
                assert_eq!(pairs, expected, "{name}, seed {seed}, {rule:?}");
                found += pairs.len();
            }
        }
    }
    assert!(found > 1_000_000, "{found}");
}

#[test]
fn two_trees_give_each_overlapping_pair_once() {
    let mut found = 0;
    for seed in 0..3 {
        for (name, boxes) in worlds(seed) {
            // A third moves, and one tree is much smaller than the other; they are raised to the same height.
            for share in [3, 50] {
                let moves = |slot: Slot| slot.0.is_multiple_of(share);
                let expected = overlapping(&boxes, |i, j| moves(i) && !moves(j));
                for rule in rules() {
                    let (mut a, mut b) = (tree(&boxes, rule, moves), tree(&boxes, rule, |slot| !moves(slot)));
                    if a.is_empty() || b.is_empty() {
                        assert_eq!(expected, []);
                        continue;
                    }
                    let height = a.levels().len().max(b.levels().len());
                    a.raise_to(height);
                    b.raise_to(height);
                    let pairs = joined(&a, Some(&b), Path::base());
                    for path in Path::each(Simd::Widest) {
                        assert_eq!(pairs, joined(&a, Some(&b), path), "{name}, seed {seed}: {path:?}");
                    }
                    assert_eq!(sorted(pairs), expected, "{name}, seed {seed}, {rule:?}, 1 of {share}");
                    found += expected.len();
                }
            }
        }
    }
    assert!(found > 300_000, "{found}");
}

/// Blocks of bodies that a step compares: most of those at rest are passed over high in their tree.
#[test]
fn bodies_at_rest_elsewhere_are_no_work() {
    let compared = |resting: u32| {
        let mut rng = Pcg32::new(1, 1);
        // Bodies at rest as far as their number goes, around 500 that move.
        let side = 2 * resting.isqrt();
        let mut place = |reach: i64| [0; 2].map(|_: i32| between(&mut rng, -reach << 16, reach << 16));
        let boxes =
            boxes(500 + resting, |slot| (place(if slot < 500 { 20 } else { side.into() }), [1 << 15; 2]));
        let moves = |slot: Slot| slot.0 < 500;
        let [mut a, mut b] = [tree(&boxes, rules()[1], moves), tree(&boxes, rules()[1], |slot| !moves(slot))];
        let height = a.levels().len().max(b.levels().len());
        a.raise_to(height);
        b.raise_to(height);
        Join::default().between(&a, &b, Path::base()).len()
    };
    let [few, many] = [1_000, 50_000].map(compared);
    assert!(few > 50 && many < 2 * few, "{few} {many}");
}

#[test]
fn moved_and_vacated_lanes_are_followed() {
    for seed in 0..20 {
        let mut rng = Pcg32::new(seed, 2);
        let place = |rng: &mut Pcg32| [0; 2].map(|_: i32| between(rng, -20 << 16, 20 << 16));
        let mut boxes = boxes(300, |_| (place(&mut rng), [1 << 16; 2]));
        let mut rng = Pcg32::new(seed, 3);
        let mut tree = tree(&boxes, rules()[1], |_| true);
        let mut gone = alloc::vec![false; boxes.len()];
        for _ in 0..60 {
            let lane = CurveBox::new(rng.below(tree.slot_of_lane().len() as u32) as usize);
            let slot = tree.slot_of_lane()[lane.at()];
            if slot == Slot::NONE {
                continue;
            }
            if rng.below(2) == 0 {
                tree.vacate(lane);
                gone[slot.at()] = true;
            } else {
                let [x, y] = place(&mut rng).map(|c| c as i32);
                boxes[slot.at()] = RawBox { min: [x, y], max: [x + (3 << 16), y + (1 << 16)] };
                tree.replace_box(lane, &boxes[slot.at()]);
            }
        }
        let expected = overlapping(&boxes, |i, j| i < j && !gone[i.at()] && !gone[j.at()]);
        assert!(expected.len() > 100);
        let pairs = joined(&tree, None, Path::base());
        assert_eq!(
            sorted(pairs.iter().map(|&(i, j)| (i.min(j), i.max(j))).collect()),
            expected,
            "seed {seed}"
        );
    }
}
