//! The world's edge under a pull: gravity, or a force in every frame.
//!
//! The energy of a body along an axis is judged by its positions alone. On a parabola the mean speed of a frame is the speed in the middle of its time, where
//! the body is by `a h^2 / 8` before the middle of both places; `a` is its acceleration and `h` the length of the frame.

use testudo_physics::{Aabb, BodyDef, BodyId, EdgePolicy, Filter, Fx, Simd, Vec2, World, WorldDef};

use crate::build::{Chance, ONE, add, at, circle, milli, position, raw, velocity, world};
use crate::frame::{Truth, about};

/// Bodies of a scene: more than are moved at once, and a few over.
const BODIES: usize = 6;

/// What pulls all bodies of a scene: a part as gravity, a part as a force. Their mass is one.
#[derive(Clone, Copy, Debug)]
struct Pull {
    gravity: Vec2,
    force: Vec2,
}

impl Pull {
    /// Along one axis or both, in any direction; by gravity, a force, or both.
    fn draw(chance: &mut Chance) -> Self {
        let mut part = || if chance.below(2) == 0 { chance.between(3_000, 12_000) } else { 0 };
        let (x, y) = (part(), part());
        let (x, y) = if (x, y) == (0, 0) { (0, 9_000) } else { (x, y) };
        let pull = at([x, -x][chance.below(2) as usize], [y, -y][chance.below(2) as usize]);
        let gravity = [pull, Vec2::ZERO, pull * (Fx::ONE / 4)][chance.below(3) as usize];
        Self { gravity, force: pull - gravity }
    }

    fn acceleration(self) -> [i64; 2] {
        raw(self.gravity + self.force)
    }
}

/// Bodies that do not meet, in a world that they meet the edges of.
struct Scene {
    w: World,
    ids: Vec<BodyId>,
    pull: Pull,
    fps: u32,
    /// Half width of the world, raw.
    half: i64,
}

impl Scene {
    fn new(chance: &mut Chance, pull: Pull, edge: EdgePolicy, restitution: Fx, simd: Simd) -> Self {
        let (fps, half) = (chance.between(10, 144) as u32, milli(chance.between(4_000, 9_000)));
        let bounds = Aabb::from_center_half(Vec2::ZERO, Vec2::new(half, half));
        let mut w = world(WorldDef::new().gravity(pull.gravity).bounds(bounds).edge(edge).simd(simd));
        let ids = (0..BODIES)
            .map(|_| {
                let alone = Filter::new(1, 0);
                let disc =
                    BodyDef::dynamic(circle(chance.between(100, 900))).filter(alone).restitution(restitution);
                let disc = disc.position(at(chance.between(-1_500, 1_500), chance.between(-1_500, 1_500)));
                // Nothing slows a body along an axis without a pull.
                let mut speed = |pull: i64| if pull == 0 { 0 } else { chance.between(-6_000, 6_000) };
                let [x, y] = pull.acceleration();
                add(&mut w, disc.velocity(at(speed(x), speed(y))))
            })
            .collect();
        Self { w, ids, pull, fps, half: half.to_bits() }
    }

    fn step(&mut self) {
        if self.pull.force != Vec2::ZERO {
            for &id in &self.ids {
                self.w.apply_force(id, self.pull.force).expect("in range");
            }
        }
        self.w.step(self.fps).expect("in range");
    }

    /// Twice the energy along an axis in the frame from one place to another; none if the frame ends at the edge.
    fn energy(&self, axis: usize, from: i64, to: i64) -> Option<i64> {
        let (a, fps) = (self.pull.acceleration()[axis], i64::from(self.fps));
        let (speed, gain) = ((to - from) * fps, a / fps);
        (to.abs() < self.half).then(|| speed * speed - a * (from + to) + gain * gain / 4)
    }

    /// Twice the energy along an axis of a body that rests in the middle of the world, above that of one that rests where the pull goes.
    fn depth(&self, axis: usize) -> i64 {
        2 * self.pull.acceleration()[axis].abs() * self.half
    }
}

/// Tolerances, thousandths of the energy that the fall from the middle of the world gives: within a frame, and in 20 seconds.
const IN_A_FRAME: i64 = 2;
const IN_ALL: i64 = 4;

#[test]
fn the_edge_gives_no_energy_and_takes_none_from_elastic_bodies() {
    Truth::hear(
        "the world's edge gives no energy",
        "conservation of energy",
        1..=120,
        |truth, chance, seed| {
            let edge = if chance.below(4) == 0 { EdgePolicy::Stop } else { EdgePolicy::Bounce };
            let elastic = chance.below(2) == 0;
            let restitution = if elastic { Fx::ONE } else { milli(chance.between(0, 1_000)) };
            let (pull, mut twin) = (Pull::draw(chance), chance.clone());
            let mut scene = Scene::new(chance, pull, edge, restitution, Simd::Widest);
            let mut plain = Scene::new(&mut twin, pull, edge, restitution, Simd::Plain);
            let case =
                format!("seed {seed}, {} fps, {edge:?}, restitution {restitution:.3}, {pull:?}", scene.fps);
            let mut known = [[None; 2]; BODIES];
            let mut before: Vec<_> = scene.ids.iter().map(|&id| position(&scene.w, id)).collect();
            for frame in 0..20 * scene.fps {
                scene.step();
                plain.step();
                for (body, &id) in scene.ids.iter().enumerate() {
                    let now = position(&scene.w, id);
                    let from = std::mem::replace(&mut before[body], now);
                    for axis in (0..2).filter(|&axis| scene.depth(axis) > 0) {
                        let Some(energy) = scene.energy(axis, from[axis], now[axis]) else { continue };
                        let (first, last) = *known[body][axis].get_or_insert((energy, energy));
                        known[body][axis] = Some((first, energy));
                        let promille = |energy: i64| energy * 1_000 / scene.depth(axis);
                        let seen = || {
                            format!(
                                "{} after {} in frame {frame} of body {body}",
                                promille(energy),
                                promille(last)
                            )
                        };
                        truth.claim(&case, promille(energy - last) <= IN_A_FRAME, seen());
                        truth.claim(&case, promille(energy - first) <= IN_ALL, seen());
                        let kept =
                            edge == EdgePolicy::Stop || !elastic || promille(energy - first) >= -IN_ALL;
                        truth.claim(&case, kept, seen());
                    }
                }
            }
            truth.claim(&case, scene.w.checksum() == plain.w.checksum(), "other bits on another path");
            truth.claim(&case, known.as_flattened().iter().flatten().count() >= BODIES, "nobody flew");
        },
    );
}

/// A body without its height was sent away in each frame with the fall of that frame, and never slept.
#[test]
fn who_is_not_elastic_comes_to_rest_at_the_edge() {
    let law = "bodies come to rest at the world's edge";
    Truth::hear(law, "a geometric series", 1..=120, |truth, chance, seed| {
        let lost = chance.between(80, 1_000);
        let pull = Pull::draw(chance);
        let mut scene = Scene::new(chance, pull, EdgePolicy::Bounce, milli(1_000 - lost), Simd::Widest);
        let pulls = scene.pull.acceleration();
        let case = format!("seed {seed}, {} fps, restitution .{:03}, {pull:?}", scene.fps, 1_000 - lost);
        // Both flights of a bounce from the greatest height, with the greatest speed, and half a second to fall asleep.
        let flight = |a: i64| {
            if a == 0 { 0 } else { 2 * (6 * ONE + (36 * ONE * ONE + 4 * a * scene.half).isqrt()) * 1_000 / a }
        };
        let longest = pulls.iter().map(|a| flight(a.abs())).max().unwrap_or(0);
        let milliseconds = longest + longest * 1_000 / lost + 700;
        for _ in 0..milliseconds * i64::from(scene.fps) / 1_000 {
            scene.step();
        }
        for _ in 0..3 {
            scene.step();
            for &id in &scene.ids {
                for axis in (0..2).filter(|&axis| pulls[axis] != 0) {
                    let lowest = pulls[axis].signum() * scene.half;
                    truth.expect(
                        &case,
                        about(Fx::ZERO, Fx::ZERO),
                        Fx::from_bits(velocity(&scene.w, id)[axis]),
                    );
                    truth.expect(
                        &case,
                        about(Fx::from_bits(lowest), Fx::ZERO),
                        Fx::from_bits(position(&scene.w, id)[axis]),
                    );
                }
                let awake = scene.w.body(id).expect("alive").is_awake();
                let pressed = scene.pull.force != Vec2::ZERO;
                truth.claim(&case, awake == pressed, format!("{id} awake: {awake}"));
            }
        }
    });
}

/// Without a pull the edge multiplies the speed, exactly.
#[test]
fn without_a_pull_the_edge_reverses_speeds_exactly() {
    let law = "bouncing at the world's edge";
    Truth::hear(law, "the definition of restitution", 1..=40, |truth, chance, seed| {
        let fps = chance.between(10, 144) as u32;
        let restitution = milli(chance.between(0, 1_000));
        let bounds = Aabb { min: at(-3_000, -3_000), max: at(3_000, 3_000) };
        let mut w = world(WorldDef::new().bounds(bounds).edge(EdgePolicy::Bounce));
        let disc = BodyDef::dynamic(circle(500)).restitution(restitution);
        let id = add(&mut w, disc.velocity(at(chance.between(-9_000, 9_000), chance.between(-9_000, 9_000))));
        let mut before = velocity(&w, id);
        for _ in 0..5 * fps {
            w.step(fps).expect("in range");
            let (now, place) = (velocity(&w, id), position(&w, id));
            for axis in 0..2 {
                let bounced = place[axis].abs() == 3 * ONE && place[axis].signum() == before[axis].signum();
                let expected =
                    if bounced { (-before[axis] * restitution.to_bits()) >> 16 } else { before[axis] };
                let case = format!("seed {seed}, {fps} fps, restitution {restitution:.3}");
                truth.claim(case, now[axis] == expected, format!("{} raw, not {expected}", now[axis]));
            }
            before = now;
        }
    });
}
