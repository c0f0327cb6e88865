//! Scenes: initial positions, and what happens before each step.

use testudo_physics::{
    Aabb, BodyDef, BodyId, BodyKind, EXTENT_MAX, EXTENT_MIN, EdgePolicy, Fx, Shape, Vec2, World, WorldDef,
};

use crate::build::{ONE, at, circle, milli, raw, rect};

/// A world and how it is driven.
pub(crate) struct Scene {
    pub(crate) world: World,
    pub(crate) fps: u32,
    pub(crate) steps: u32,
    /// Called before each step. It depends only on the world, so a restored world goes on alike.
    pub(crate) drive: fn(&mut World),
    /// Bodies that a report shows.
    pub(crate) shown: Vec<BodyId>,
}

/// Builds a scene on top of settings that must not change results.
pub(crate) type Build = fn(WorldDef) -> Scene;

/// Every scene with its name.
pub(crate) const ALL: [(&str, Build); 12] = [
    ("gap", gap),
    ("billiards", billiards),
    ("stack", stack),
    ("tower", tower),
    ("masses", masses),
    ("removal", removal),
    ("sizes", sizes),
    ("edge_stop", edge_stop),
    ("edge_bounce", edge_bounce),
    ("sensors", sensors),
    ("pusher", pusher),
    ("point", point),
];

impl Scene {
    fn new(def: WorldDef, fps: u32, steps: u32, drive: fn(&mut World)) -> Self {
        Self { world: World::new(def).unwrap(), fps, steps, drive, shown: Vec::new() }
    }

    fn add(&mut self, def: BodyDef) -> BodyId {
        self.world.create_body(&def).unwrap()
    }

    fn show(&mut self, def: BodyDef) -> BodyId {
        let id = self.add(def);
        self.shown.push(id);
        id
    }

    /// One frame.
    pub(crate) fn step(&mut self) {
        (self.drive)(&mut self.world);
        self.world.step(self.fps).unwrap();
    }

    fn add_shown(&mut self, is_shown: bool, def: BodyDef) {
        let id = self.add(def);
        self.shown.extend(is_shown.then_some(id));
    }

    /// All frames; `look` sees the world after each.
    pub(crate) fn run(&mut self, mut look: impl FnMut(&World)) {
        for _ in 0..self.steps {
            self.step();
            look(&self.world);
        }
    }
}

/// A disc of radius 1/2.
fn disc() -> BodyDef {
    BodyDef::dynamic(circle(500))
}

fn wall(x: i64, y: i64, half_width: i64, half_height: i64) -> BodyDef {
    BodyDef::static_body(rect(half_width, half_height)).position(at(x, y))
}

fn nothing(_: &mut World) {}

/// A vector of `length` along `direction`.
pub(crate) fn along(direction: [i64; 2], length: i64) -> Vec2 {
    let norm = ((direction[0].pow(2) + direction[1].pow(2)) as u64).isqrt().max(1) as i64;
    let component = |c: i64| Fx::from_bits(c * length / norm);
    Vec2::new(component(direction[0]), component(direction[1]))
}

fn all_ids(world: &World) -> Vec<BodyId> {
    world.bodies().map(|b| b.id()).collect()
}

/// 150 units squeeze through a gap of four units, march on, and come to rest.
pub(crate) fn gap(def: WorldDef) -> Scene {
    let mut scene = Scene::new(def, 20, 700, |world| {
        for id in all_ids(world) {
            let body = world.body(id).unwrap();
            let [x, y] = raw(body.position());
            if body.kind() != BodyKind::Dynamic || x > 15 * ONE {
                continue;
            }
            let (door, left) = (3 * ONE / 2, x < ONE / 2);
            let velocity = if left && (x < -ONE || y.abs() > door) {
                along([ONE - x, -y], 3 * ONE)
            } else {
                at(3_000, 0)
            };
            world.set_velocity(id, velocity).unwrap();
        }
    });
    scene.add(wall(0, 14_000, 1_000, 12_000));
    scene.add(wall(0, -14_000, 1_000, 12_000));
    for i in 0..150 {
        let unit =
            disc().ground_friction(milli(2_000)).position(at(-5_000 - i / 15 * 1_100, (i % 15 - 7) * 1_100));
        scene.add_shown(i % 37 == 0, unit);
    }
    scene
}

/// A cue ball breaks a rack of fifteen; nothing is lost.
pub(crate) fn billiards(def: WorldDef) -> Scene {
    let mut scene = Scene::new(def, 60, 400, nothing);
    let ball = disc().restitution(Fx::ONE);
    scene.show(ball.position(at(-8_000, 130)).velocity(at(12_000, 0)));
    for row in 0..5 {
        for i in 0..=row {
            let position = at(row * 900, i * 1_040 - row * 520);
            scene.add_shown(i == 0, ball.position(position));
        }
    }
    scene
}

/// A crowd pushes boxes against a wall.
pub(crate) fn stack(def: WorldDef) -> Scene {
    let mut scene = Scene::new(def, 20, 300, |world| {
        for id in all_ids(world) {
            if world.body(id).unwrap().user() == 1 {
                world.set_velocity(id, at(3_000, 0)).unwrap();
            }
        }
    });
    scene.add(wall(11_000, 0, 1_000, 40_000));
    for i in 0..24 {
        let side = rect(500, 500);
        let bin = BodyDef::dynamic(side).position(at(9_500 - i / 8 * 1_000, i % 8 * 1_000 - 3_500));
        scene.add_shown(i % 8 == 3, bin.mass(milli(2_000)));
    }
    for i in 0..60 {
        let unit = disc().user(1).position(at(3_000 - i / 6 * 1_100, (i % 6) * 1_100 - 2_700));
        scene.add_shown(i % 20 == 0, unit);
    }
    scene
}

/// A tower of ten boxes and a pyramid of fifteen stand on the ground.
pub(crate) fn tower(def: WorldDef) -> Scene {
    let mut scene = Scene::new(def.gravity(Vec2::from_ints(0, -10)), 60, 600, nothing);
    scene.add(wall(0, -1_000, 30_000, 1_000));
    let brick = BodyDef::dynamic(rect(500, 500)).friction(milli(500));
    for i in 0..10 {
        let brick = brick.position(at(-10_000, 500 + i * 1_000));
        scene.add_shown(i % 3 == 0, brick);
    }
    for row in 0..5 {
        for i in 0..5 - row {
            scene.add(brick.position(at(5_000 + row * 550 + i * 1_100, 500 + row * 1_000)));
        }
    }
    scene
}

/// Ten on one, a thousand into ones, and one against a thousand.
pub(crate) fn masses(def: WorldDef) -> Scene {
    let mut scene = Scene::new(def, 60, 300, |world| {
        for id in all_ids(world) {
            // Presses the column together.
            let body = world.body(id).unwrap();
            if body.user() == 1 {
                let weight = body.mass() * 10;
                world.apply_force(id, Vec2::new(Fx::ZERO, -weight)).unwrap();
            }
        }
    });
    let heavy = milli(1_000_000);
    scene.add(wall(0, -1_000, 5_000, 1_000));
    scene.show(disc().user(1).position(at(0, 500)));
    scene.show(disc().user(1).position(at(0, 1_500)).mass(milli(10_000)));
    scene.show(disc().position(at(10_000, 0)).velocity(at(4_000, 0)).mass(heavy));
    for i in 0..5 {
        scene.add(disc().position(at(13_000 + i * 1_200, 0)).restitution(milli(500)));
    }
    scene.show(disc().position(at(10_000, 20_000)).velocity(at(4_000, 0)).restitution(Fx::ONE));
    scene.show(disc().position(at(13_000, 20_000)).mass(heavy));
    scene
}

/// A dense heap in which the oldest body vanishes every third frame and another one appears.
pub(crate) fn removal(def: WorldDef) -> Scene {
    let mut scene = Scene::new(def, 20, 240, |world| {
        for id in all_ids(world) {
            let [x, y] = raw(world.body(id).unwrap().position());
            world.set_velocity(id, along([-x, -y], 2 * ONE)).unwrap();
        }
        if world.frame() % 3 == 2 {
            let oldest = world.bodies().next().unwrap().id();
            world.remove_body(oldest).unwrap();
            // Each new body appears on another side of the heap.
            let side = [[11, 0], [0, 12], [-13, 0], [0, -14]][world.frame() as usize / 3 % 4];
            let newcomer = disc().user(1_000 + world.frame()).position(Vec2::from_ints(side[0], side[1]));
            world.create_body(&newcomer).unwrap();
        }
    });
    for i in 0..100 {
        scene.add(disc().user(i as u64).position(at(i % 10 * 900 - 4_000, i / 10 * 900 - 4_000)));
    }
    scene.shown = scene.world.bodies().skip(95).map(|b| b.id()).collect();
    scene
}

/// Bodies from the smallest to the largest size in one world.
pub(crate) fn sizes(def: WorldDef) -> Scene {
    let mut scene = Scene::new(def.gravity(Vec2::from_ints(0, -10)), 60, 400, nothing);
    scene.add(BodyDef::static_body(Shape::rect(EXTENT_MAX, EXTENT_MAX)).position(Vec2::from_ints(0, -4_096)));
    let grain = BodyDef::dynamic(Shape::circle(EXTENT_MIN)).mass(Fx::from_bits(256));
    for i in 0..20 {
        let grain = grain.position(at(-20_000 + i * 100, 200 + i * 7));
        scene.add_shown(i % 7 == 0, grain);
    }
    for i in 0..5 {
        let radius = milli(125 << i);
        let ball = BodyDef::dynamic(Shape::circle(radius)).position(Vec2::new(milli(i * 9_000), radius * 2));
        scene.show(ball.mass(milli(16 << (2 * i))));
    }
    scene
        .show(BodyDef::dynamic(rect(200_000, 50_000)).mass(milli(16_000_000)).position(at(-400_000, 50_500)));
    scene
}

fn in_a_box(def: WorldDef, policy: EdgePolicy) -> Scene {
    let bounds = Aabb { min: Vec2::from_ints(-10, -8), max: Vec2::from_ints(10, 8) };
    let mut scene = Scene::new(def.bounds(bounds).edge(policy), 60, 400, nothing);
    for i in 0..12 {
        let ball = disc().restitution(Fx::ONE).position(at(i % 4 * 4_000 - 6_000, i / 4 * 4_000 - 4_000));
        let ball = ball.velocity(at(3_000 - i * 777, i * 1_234 - 6_000));
        scene.add_shown(i % 4 == 0, ball);
    }
    scene
}

/// Balls fly against the edge and stay there.
pub(crate) fn edge_stop(def: WorldDef) -> Scene {
    in_a_box(def, EdgePolicy::Stop)
}

/// Balls bounce between the edges.
pub(crate) fn edge_bounce(def: WorldDef) -> Scene {
    in_a_box(def, EdgePolicy::Bounce)
}

/// Ten runners cross three gates in a row; a gate of its own layer sees nobody.
pub(crate) fn sensors(def: WorldDef) -> Scene {
    let mut scene = Scene::new(def, 20, 200, nothing);
    for i in 0..3 {
        scene.add(wall(i * 10_000, 0, 1_000, 30_000).sensor(true).user(100 + i as u64));
    }
    let blind = testudo_physics::Filter::new(2, 2);
    scene.add(wall(15_000, 0, 1_000, 30_000).sensor(true).user(200).filter(blind));
    for i in 0..10 {
        let runner = disc().user(i).position(at(-5_000 - i as i64 * 300, i as i64 * 2_000 - 9_000));
        scene.show(runner.velocity(at(4_000 + i as i64 * 100, 0)));
    }
    scene
}

/// A kinematic bar pushes discs along that sleep when it arrives; another one is slower than what counts as still.
pub(crate) fn pusher(def: WorldDef) -> Scene {
    let mut scene = Scene::new(def, 30, 300, nothing);
    scene.show(BodyDef::kinematic(rect(500, 500)).position(at(0, 20_000)).velocity(at(50, 0)));
    scene.show(disc().position(at(1_100, 20_000)));
    scene.show(BodyDef::kinematic(rect(500, 4_000)).velocity(at(1_500, 0)));
    for i in 0..16 {
        let unit =
            disc().ground_friction(milli(1_000)).position(at(2_000 + i / 4 * 1_050, i % 4 * 1_050 - 1_500));
        scene.add_shown(i % 5 == 0, unit);
    }
    scene
}

/// Forty discs in one point burst apart.
pub(crate) fn point(def: WorldDef) -> Scene {
    let mut scene = Scene::new(def, 20, 300, nothing);
    for i in 0..40 {
        let unit = disc().ground_friction(milli(4_000));
        scene.add_shown(i % 10 == 0, unit);
    }
    scene
}
