//! Truths about bodies that walls leave no room, under gravity, and about what lies on them.

use testudo_physics::{BodyDef, BodyId, Fx, Shape, World, WorldDef};

use crate::build::{Chance, add, at, circle, milli, rect, world};
use crate::frame::{Listed, RATES, Truth, any_mass, rests, top_speed};
use crate::masses::deepest;

/// Seconds after which all rests.
const REST: u32 = 15;

/// All truths of this file: law, source, hearing.
pub(crate) const WEDGED: [Listed; 1] =
    [("a body on a wedged body comes to rest", "statics", lies_on_the_wedged)];

/// A chamber with a shelf, bodies wedged between the shelf and the floor, and others that fall on them.
struct Cellar {
    world: World,
    walls: Vec<BodyId>,
    heap: Vec<BodyId>,
}

impl Cellar {
    fn new(chance: &mut Chance) -> Self {
        let gravity = chance.between(3_000, 20_000);
        let mut w = world(WorldDef::new().gravity(at(0, -gravity)));
        let friction = milli(chance.between(0, 900));
        // The floor's surface is at 0, the shelf ends above it at the left.
        let (radius, half) = (chance.between(250, 700), chance.between(700, 3_000));
        let shelf = [chance.between(300, 1_000), chance.between(200, 1_000)];
        let missing = chance.between(20, radius / 2);
        // The wedged disc is deep in the floor and in the shelf's corner by half of what it lacks each.
        let reach = radius - missing / 2;
        let aside = chance.between(-radius, reach * 3 / 4);
        let below = if aside <= 0 { reach } else { (reach * reach - aside * aside).isqrt() };
        let corner = [-aside, reach + below];
        let mut walls = Vec::new();
        for (place, shape) in [
            ([0, -2_000], rect(20_000, 2_000)),
            ([corner[0] - shelf[0], corner[1] + shelf[1]], rect(shelf[0], shelf[1])),
            ([corner[0] - 2 * shelf[0] - 1_000, 9_000], rect(1_000, 10_000)),
            ([half + radius + 1_000, 9_000], rect(1_000, 10_000)),
        ] {
            let wall = BodyDef::static_body(shape).position(at(place[0], place[1])).friction(friction);
            walls.push(add(&mut w, wall));
        }
        let most = [1_000, 4_000, 30_000, 100_000][chance.below(4) as usize];
        let body = |w: &mut World, chance: &mut Chance, place: [i64; 2], shape: Shape| {
            let mass = any_mass(chance, 1_000, most);
            let def = BodyDef::dynamic(shape).mass(milli(mass)).position(at(place[0], place[1]));
            add(w, def.friction(friction))
        };
        body(&mut w, chance, [0, reach], circle(radius));
        let count = chance.between(2, 24);
        let heap = (0..count).map(|i| {
            let size = chance.between(150, 450);
            let shape = if chance.below(3) > 0 { circle(size) } else { rect(size, size * 3 / 4) };
            let left = corner[0].max(-radius) + 540;
            let columns = ((half + radius - left) / 920).max(1);
            let aside = chance.between(-80, 80);
            let place = [left + i % columns * 920 + aside, 2 * radius + 500 + i / columns * 920];
            body(&mut w, chance, place, shape)
        });
        let heap = heap.collect();
        Self { world: w, walls, heap }
    }

    fn deepest(&self) -> Fx {
        deepest(&self.world, &self.heap, &self.walls)
    }
}

fn lies_on_the_wedged(truth: &mut Truth, chance: &mut Chance, seed: u64) {
    for fps in RATES {
        let mut cellar = Cellar::new(chance);
        let case = format!("seed {seed}, {fps} fps, {} bodies on the wedged one", cellar.heap.len());
        let rests = rests(&mut cellar.world, REST, fps);
        let awake = cellar.world.bodies().filter(|body| body.is_awake()).count();
        let speed = top_speed(&cellar.world);
        truth.claim(&case, rests, format_args!("{awake} awake, up to {speed:.3}"));
        truth.expect(format!("{case}: depth in a wall"), Fx::ZERO..=milli(100), cellar.deepest());
    }
}

#[test]
fn who_lies_on_a_wedged_body_comes_to_rest() {
    Truth::hear_listed(WEDGED[0], 1..=8);
}

/// The springs of the two walls gave the wedged body a speed in each pass, which the walls took back after the last one. What lay on it was solved against
/// that speed, and hovered for ever.
#[test]
fn who_lies_on_a_wedged_body_does_not_hover() {
    for seed in [23, 71, 87, 100, 314, 339, 383, 400, 456, 558, 670, 774, 781, 787, 826, 872] {
        Truth::hear_listed(WEDGED[0], seed..=seed);
    }
}
