//! Every path of this machine against one number at a time.

use alloc::vec::Vec;

use super::*;
use crate::collide::narrow_phase::separation;
use crate::math::lanes::UNIT;
use crate::math::rng::Pcg32;
use crate::motion::working_arrays::AT_REST;
use crate::solve::batches::Cached;
use crate::solve::solver::{Contact, EVEN_SHARE, in_turns, solve_one, solve_one_soft};

/// Movable bodies; the immovable one and the dummy follow them.
const BODIES: u32 = 64;

/// Batches as colouring makes them: no movable body twice in a batch, immovable ones often, the last lanes empty.
fn batches(rng: &mut Pcg32) -> Vec<Batch> {
    let wall = WorkingIndex(BODIES);
    let number = |rng: &mut Pcg32, range: i32| rng.next_u32() as i32 % range;
    (0..if rng.below(2) == 0 { 40 } else { 41 })
        .map(|index| {
            let mut batch = Batch::empty(WorkingIndex(BODIES + 1));
            let mut free: Vec<u32> = (0..BODIES).collect();
            for lane in 0..LANES - index % 5 {
                let mut take = || free.swap_remove(rng.below(free.len() as u32) as usize);
                let (a, b) = (WorkingIndex(take()), WorkingIndex(take()));
                // About unit length; whatever its direction, the formulas are the same.
                let normal = [number(rng, UNIT), number(rng, UNIT)];
                let (b, share_a) = match index % 3 {
                    0 => (b, EVEN_SHARE),
                    1 if lane == 2 => (wall, UNIT),
                    _ => (b, number(rng, UNIT).abs()),
                };
                let biased = number(rng, 1 << 20);
                let impulse = number(rng, 1 << 18).abs();
                batch.set(lane, &Contact { a, b, normal, biased, impulse, share_a });
            }
            batch
        })
        .collect()
}

#[test]
fn passes_solve_as_one_contact_after_the_other_does() {
    for seed in 0..if cfg!(miri) { 1 } else { 50 } {
        let rng = &mut Pcg32::new(seed, 1);
        let start = batches(rng);
        let mut velocities = [Velocity::default(); BODIES as usize + 2];
        for velocity in &mut velocities[..BODIES as usize] {
            *velocity = Velocity::new([0; 2].map(|_: i32| rng.next_u32() as i32 % (100 << 16)));
        }
        for path in Path::each(Simd::Widest) {
            let (mut expected, mut batches) = (start.clone(), start.clone());
            let (mut expected_velocities, mut velocities) = (velocities, velocities);
            for pass in [Pass::WarmStart, Pass::Biased, Pass::Biased, Pass::Relax] {
                path.solve(&mut batches, &mut velocities, pass);
                for at in (0..expected.len()).map(|turn| in_turns(turn, expected.len())).collect::<Vec<_>>() {
                    let batch = &mut expected[at];
                    (0..LANES).for_each(|lane| solve_one(batch, lane, pass, &mut expected_velocities));
                }
                let name = path.name();
                assert_eq!(velocities, expected_velocities, "seed {seed}, {name}, {pass:?}");
                for (batch, expected) in batches.iter().zip(&expected) {
                    assert_eq!(batch.impulse, expected.impulse, "seed {seed}, {name}, {pass:?}");
                }
            }
            let softness: Vec<Softness> =
                start.iter().map(|batch| batch.biased.map(|v| UNIT + v.min(0))).collect();
            path.solve_soft(&mut batches, &softness, &mut velocities);
            for at in (0..expected.len()).map(|turn| in_turns(turn, expected.len())).collect::<Vec<_>>() {
                let (batch, softness) = (&mut expected[at], &softness[at]);
                (0..LANES).for_each(|lane| {
                    solve_one_soft(batch, lane, softness[lane], &mut expected_velocities);
                });
            }
            assert_eq!(velocities, expected_velocities, "seed {seed}, {}, soft", path.name());
            for (batch, expected) in batches.iter().zip(&expected) {
                assert_eq!(batch.impulse, expected.impulse, "seed {seed}, {}, soft", path.name());
            }
        }
    }
}

/// Shells of all kinds, many of them close together, some in one point.
fn shells(rng: &mut Pcg32, count: u32, spread: i32) -> Vec<Shell> {
    (0..count)
        .map(|slot| {
            let circle = rng.below(2) == 0;
            let size = 1 << (6 + rng.below(14));
            let mut extent = || 64 + rng.below(size) as i32;
            let (half, radius) = if circle { ([0; 2], extent()) } else { ([extent(), extent()], 0) };
            let position = [0; 2].map(|_: i32| (rng.next_u32() as i32 >> 3) % spread);
            Shell { position, half, radius, mass: rng.below(3), restitution: 0, slot: Slot(slot) }
        })
        .collect()
}

#[test]
fn pairs_are_measured_as_one_by_one() {
    let (mut touching, mut inside) = (0, 0);
    for (seed, spread) in [1 << 4, 1 << 10, 1 << 14, 1 << 17, 1 << 20, 1 << 28].into_iter().enumerate() {
        let rng = &mut Pcg32::new(seed as u64, 2);
        let shells = shells(rng, 200, spread);
        for count in [0, 1, 3, 4, 7, 8, 9, if cfg!(miri) { 20 } else { 1_000 }] {
            let pairs: Vec<WorkingPair> =
                (0..count).map(|_| [rng.below(200), rng.below(200)].map(WorkingIndex)).collect();
            // In a crowd few cores overlap, in one point most do.
            for margin in [0, 1 << 14] {
                let expected: Vec<_> = pairs
                    .iter()
                    .map(|&[a, b]| ([a, b], separation(&shells[a], &shells[b])))
                    .filter(|(_, (_, gap))| *gap <= margin)
                    .collect();
                touching += expected.len();
                inside += expected.iter().filter(|(_, (normal, _))| normal.contains(&0)).count();
                for path in Path::each(Simd::Widest) {
                    let mut hits = Hits::default();
                    path.narrow(&pairs, &shells, margin, &mut hits);
                    let found: Vec<_> =
                        hits.iter().map(|hit| ([hit.a, hit.b], (hit.normal, hit.gap))).collect();
                    assert_eq!(found, expected, "spread {spread}, {count} pairs, {}", path.name());
                }
            }
        }
    }
    let enough = if cfg!(miri) { 100 } else { 5_000 };
    assert!(touching > enough && inside > enough / 5 && inside < touching, "{touching}, {inside}");
}

#[test]
fn gathered_bodies_are_those_of_the_world() {
    let rng = &mut Pcg32::new(3, 3);
    for round in 0..200 {
        let body = |rng: &mut Pcg32| Body {
            position: [0; 2].map(|_: i32| rng.next_u32() as i32 >> 2),
            velocity: [0; 2].map(|_: i32| rng.next_u32() as i32 >> 9),
            half: [0; 2].map(|_: i32| rng.below(1 << 18) as i32),
            radius: rng.below(1 << 18) as i32,
            mass: rng.below(2 + round),
            restitution: rng.next_u32() as i32,
            flags: rng.next_u32(),
            still_ms: rng.next_u32() as u16,
            ..Body::default()
        };
        let bodies: Vec<Body> = (0..30).map(|_| body(rng)).collect();
        let ranges: Vec<Owned> =
            (0..25).map(|_| Owned { start: Cached(rng.next_u32()), end: Cached(rng.next_u32()) }).collect();
        let slots: Vec<[Slot; LANES]> = (0..4)
            .map(|_| {
                [0; LANES].map(|_: u32| if rng.below(5) == 0 { Slot::NONE } else { Slot(rng.below(30)) })
            })
            .collect();
        let (most, fast) = (rng.below(1 << 16) as i32, 2 + rng.below(2_000) as i32);
        for path in Path::each(Simd::Widest) {
            let (mut shells, mut velocities) = ([[Shell::HOLE; LANES]; 4], [[Velocity::default(); LANES]; 4]);
            let (mut still, mut cached, mut boxes) =
                ([[0; LANES]; 4], [[Owned::default(); LANES]; 4], [BoxBlock::EMPTY; 4]);
            let mut fast_lanes = [0; 4];
            let to = WorkingArrays {
                shells: &mut shells,
                velocities: &mut velocities,
                still: &mut still,
                cached: &mut cached,
                boxes: &mut boxes,
            };
            let all = path.gather(to, &slots, &bodies, &ranges, [most, fast], &mut fast_lanes);
            let mut expected = GatherSummary::default();
            for (at, lane) in (0..4).flat_map(|at| (0..LANES).map(move |lane| (at, lane))) {
                let (slot, case) = (slots[at][lane], (round, path.name(), at, lane));
                let is_fast = fast_lanes[at] >> lane & 1 != 0;
                let Some(body) = bodies.get(slot.at()) else {
                    assert_eq!((boxes[at].get(lane), is_fast), (RawBox::EMPTY, false), "{case:?}");
                    assert_eq!(
                        bytemuck::bytes_of(&shells[at][lane]),
                        bytemuck::bytes_of(&Shell::HOLE),
                        "{case:?}"
                    );
                    assert_eq!((still[at][lane], velocities[at][lane]), (AT_REST, Velocity::default()));
                    continue;
                };
                let shell = body.plain_shell(slot);
                let growth = shell.growth(most);
                let speed = body.velocity[0].abs().max(body.velocity[1].abs());
                assert_eq!(bytemuck::bytes_of(&shells[at][lane]), bytemuck::bytes_of(&shell), "{case:?}");
                assert_eq!(velocities[at][lane].get(), body.velocity, "{case:?}");
                assert_eq!(still[at][lane], body.still_ms, "{case:?}");
                assert_eq!(cached[at][lane], ranges.get(slot.at()).copied().unwrap_or_default(), "{case:?}");
                let grown = if body.mass == 0 { 2 * growth } else { growth };
                assert_eq!(boxes[at].get(lane), shell.bounds().grown(grown), "{case:?}");
                assert_eq!(is_fast, speed > growth * fast, "{case:?}");
                expected.flags |= body.flags;
                expected.half |= body.half[0];
                expected.some_fixed |= body.mass == 0;
                expected.some_fast |= is_fast;
            }
            assert_eq!(all, expected, "round {round}, {}", path.name());
        }
    }
}

#[test]
fn bodies_are_sorted_alike_on_every_path() {
    let rng = &mut Pcg32::new(5, 5);
    for round in 0..if cfg!(miri) { 3 } else { 100 } {
        // From one point to the whole world, and any number of bodies left over from blocks of eight.
        let (count, shift) = (rng.below(60) as usize, round % 32);
        let bodies: Vec<Body> = (0..count)
            .map(|_| Body {
                position: [0; 2].map(|_: i32| (rng.next_u32() as i32).unbounded_shr(1 + shift)),
                radius: 1 + rng.below(1 << 12) as i32,
                ..Body::default()
            })
            .collect();
        let slots: Vec<Slot> = Slot::all(count).filter(|_| rng.below(4) != 0).collect();
        let rule = SplitRule { leaf_capacity: 1 + rng.below(8), depth_max: rng.below(16) };
        let mut expected = Quadtree::default();
        Path::base().sort(&mut expected, &slots, rule, &bodies);
        for path in Path::each(Simd::Widest) {
            let mut tree = Quadtree::default();
            path.sort(&mut tree, &slots, rule, &bodies);
            assert_eq!(tree.leaves(), expected.leaves(), "round {round}, {}", path.name());
            assert_eq!(tree.slot_of_lane(), expected.slot_of_lane(), "round {round}, {}", path.name());
        }
    }
}
