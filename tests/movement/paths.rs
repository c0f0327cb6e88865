//! Lengths of paths against brute force, and partial updates against whole ones.

use testudo_movement::{FlowId, Flows, Ground, GroundDef, SizeClass, Way};
use testudo_physics::{Aabb, BodyDef, Fx, Pcg32, Shape, Vec2};

use crate::maps::{HALF as HALF_SIDE, KINDS, area, draw};

/// Half the side of a map, units.
const HALF: Fx = Fx::const_from_int(HALF_SIDE as i64);

pub(crate) fn size(ground: &Ground) -> SizeClass {
    ground.size_of(Fx::ONE / 2).unwrap()
}

fn middles(ground: &Ground) -> Vec<Vec2> {
    let half = ground.cell() / 2;
    (0..ground.rows())
        .flat_map(|y| (0..ground.columns()).map(move |x| (x, y)))
        .map(|(x, y)| {
            Vec2::new(ground.cell() * i64::from(x) + half - HALF, ground.cell() * i64::from(y) + half - HALF)
        })
        .collect()
}

/// Exact lengths of the shortest paths from all cells to one, where every cell in sight is a neighbour.
fn exact(ground: &Ground, cells: &[Vec2], goal: usize) -> Vec<Option<Fx>> {
    let mut best: Vec<Option<Fx>> = vec![None; cells.len()];
    let mut is_done = vec![false; cells.len()];
    best[goal] = Some(Fx::ZERO);
    while let Some(at) =
        (0..cells.len()).filter(|&at| !is_done[at] && best[at].is_some()).min_by_key(|&at| best[at])
    {
        is_done[at] = true;
        for to in (0..cells.len()).filter(|&to| !is_done[to]) {
            let length = best[at].unwrap() + cells[at].distance(cells[to]);
            if best[to].is_none_or(|known| length < known) && ground.sees(cells[at], cells[to], size(ground))
            {
                best[to] = Some(length);
            }
        }
    }
    best
}

/// The length of the path that a point walks along a field, from aim to aim.
pub(crate) fn walked(ground: &Ground, flows: &Flows, flow: FlowId, from: Vec2) -> Option<Fx> {
    let (mut place, mut length) = (from, Fx::ZERO);
    for _ in 0..1_000 {
        match flows.way(ground, flow, place) {
            Way::Straight { left } => return Some(length + left),
            Way::Aim { to, .. } => {
                length += place.distance(to);
                place = to;
            }
            _ => return None,
        }
    }
    panic!("no end from {from:?}, now at {place:?}");
}

#[test]
fn paths_are_hardly_longer_than_exact_ones() {
    let (mut around, mut longer, mut worst, mut sum) = (0, 0, Fx::ZERO, Fx::ZERO);
    for seed in 0..3 {
        for kind in KINDS {
            let world = draw(kind, seed);
            let mut ground = Ground::new(&GroundDef::new(area())).unwrap();
            ground.survey(&world);
            let cells: Vec<Vec2> =
                middles(&ground).into_iter().filter(|&at| ground.is_open(at, size(&ground))).collect();
            let mut rng = Pcg32::new(seed, 1);
            let goal = rng.below(cells.len() as u32) as usize;
            let shortest = exact(&ground, &cells, goal);
            let mut flows = Flows::new(4);
            let flow = flows.to(&ground, cells[goal], size(&ground)).unwrap();
            flows.search_all(&ground, flow);
            for (&from, shortest) in cells.iter().zip(&shortest) {
                let walked = walked(&ground, &flows, flow, from);
                assert_eq!(walked.is_some(), shortest.is_some(), "{kind:?} {seed}: {from:?}");
                let (Some(walked), Some(shortest)) = (walked, *shortest) else { continue };
                // The exact path goes from middle to middle, a walked one over anchors.
                if shortest > Fx::from_num(4) {
                    around += 1;
                    sum += walked / shortest;
                    let allowed = shortest * 21 / 20 + ground.cell() / 2;
                    longer += u32::from(walked > allowed);
                    worst = worst.max((walked - ground.cell() / 2) / shortest);
                }
            }
        }
    }
    println!(
        "mean {} worst {worst} of {around}; {longer} are more than a twentieth and half a cell longer",
        sum / around
    );
    assert!(around > 3_000, "{around} paths: not interesting");
    // Beside obstacles that lie across cells, paths over anchors make small detours.
    assert!(longer * 1_000 < around as u32 && worst < Fx::lit("1.25"), "{longer} paths, {worst}");
    assert!(sum / around <= Fx::lit("1.01"), "{}", sum / around);
}

#[test]
fn a_partial_survey_equals_a_whole_one() {
    let mut changes = 0;
    for seed in 0..6 {
        for kind in KINDS {
            let mut world = draw(kind, seed);
            let mut rng = Pcg32::new(seed, 2);
            let def = GroundDef::new(area()).sizes(&[Fx::lit("0.4"), Fx::lit("0.5"), Fx::lit("1.3")]);
            let mut ground = Ground::new(&def).unwrap();
            ground.survey(&world);
            for turn in 0..6 {
                let before = ground.clone();
                let bodies: Vec<_> = world.bodies().map(|body| body.id()).collect();
                let part = |rng: &mut Pcg32, of: u32| Fx::from_bits(i64::from(rng.below(of << 16)));
                let around = if turn % 2 == 0 || bodies.is_empty() {
                    let place = Vec2::new(part(&mut rng, 32) - HALF, part(&mut rng, 32) - HALF);
                    let half = [part(&mut rng, 3) + Fx::ONE / 8, part(&mut rng, 3) + Fx::ONE / 8];
                    let house = BodyDef::static_body(Shape::rect(half[0], half[1])).position(place);
                    world.create_body(&house).unwrap();
                    Aabb::from_center_half(place, Vec2::new(half[0], half[1]))
                } else {
                    let gone = bodies[rng.below(bodies.len() as u32) as usize];
                    let around = world.body(gone).unwrap().aabb();
                    world.remove_body(gone).unwrap();
                    around
                };
                ground.survey_area(&world, around);
                let mut whole = Ground::new(&def).unwrap();
                whole.survey(&world);
                assert!(ground == whole, "{kind:?} {seed} turn {turn}");
                changes += u32::from(ground != before);
            }
        }
    }
    assert!(changes > 100, "{changes} changes: not interesting");
}
