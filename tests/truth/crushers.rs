//! Truths about crushers: kinematic bodies that leave others less room than they need. Walls never yield: a body without room overlaps the
//! crusher.

use testudo_physics::{BodyDef, BodyId, Fx, World, WorldDef};

use crate::build::{Chance, ONE, add, at, circle, milli, overlap, position, rect, world};
use crate::frame::{Listed, RATES, Truth, after_fall, fastest, step};
use crate::masses::deepest;

/// Seconds for which the crusher stays where it is, and after which all rests again when it has gone back.
const SECONDS: [u32; 2] = [3, 15];

/// All truths of this file: law, source, hearing.
pub(crate) const CRUSHERS: [Listed; 2] = [
    ("a body that a crusher squeezes never changes the side of a wall", "walls never yield", crushed),
    ("a door drives through a crowd", "stated depths", door),
];

/// A closed chamber whose walls are two units thick, and a crusher in it.
struct Press {
    world: World,
    walls: Vec<BodyId>,
    crusher: BodyId,
    bodies: Vec<BodyId>,
    /// Half width and half height, thousandths.
    half: [i64; 2],
    /// The axis along which the crusher moves, and to which side.
    axis: usize,
    side: i64,
    /// Units per second, thousandths.
    speed: i64,
    /// What it leaves between itself and the wall, thousandths.
    gap: i64,
    gravity: i64,
}

impl Press {
    /// Draws the chamber, the crusher, and what stands before it.
    fn new(chance: &mut Chance) -> Self {
        let gravity = [0, 10_000, 10_000][chance.below(3) as usize];
        let mut w = world(WorldDef::new().gravity(at(0, -gravity)));
        let half = [chance.between(4_000, 8_000), chance.between(3_000, 6_000)];
        let friction = milli(chance.between(0, 800));
        let mut walls = Vec::new();
        for side in [-1, 1] {
            for (place, shape) in [
                (at(side * (half[0] + 1_000), 0), rect(1_000, half[1] + 2_000)),
                (at(0, side * (half[1] + 1_000)), rect(half[0], 1_000)),
            ] {
                walls.push(add(&mut w, BodyDef::static_body(shape).position(place).friction(friction)));
            }
        }
        let (axis, side) = [(0, 1), (0, -1), (1, -1), (0, 1)][chance.below(4) as usize];
        let mut extent = half.map(|h| h - 20);
        extent[axis] = 800;
        let mut from = [0; 2];
        from[axis] = -side * (half[axis] - 900);
        let crusher = BodyDef::kinematic(rect(extent[0], extent[1])).position(at(from[0], from[1]));
        let crusher = add(&mut w, crusher.friction(friction));
        let (count, largest) = (chance.between(3, 14), chance.between(250, 700));
        let restitution = chance.between(0, 500) * chance.between(0, 1);
        let mut bodies = Vec::new();
        for i in 0..count {
            let columns = (2 * half[1 - axis] - 200) / (2 * largest + 40);
            let mut place = [0; 2];
            place[axis] = side * (half[axis] - largest - 60 - i / columns * (2 * largest + 40));
            place[1 - axis] = largest + 100 - half[1 - axis] + i % columns * (2 * largest + 40);
            let size = chance.between(largest / 2, largest);
            let shape = if chance.below(2) == 0 { circle(size) } else { rect(size, largest) };
            let def = BodyDef::dynamic(shape).position(at(place[0], place[1])).friction(friction);
            let def = def.restitution(milli(restitution)).ground_friction(milli(500));
            if side * place[axis] > 1_900 - half[axis] {
                bodies.push(add(&mut w, def.mass(milli(chance.between(500, 2_000)))));
            }
        }
        let (speed, gap) = (chance.between(500, 5_000), chance.between(300, 500));
        Self { world: w, walls, crusher, bodies, half, axis, side, speed, gap, gravity }
    }

    fn case(&self) -> String {
        let Self { bodies, half, axis, side, speed, gap, gravity, .. } = self;
        format!(
            "gravity {gravity}, {} bodies in {half:?}, crusher along {axis} to {side} at {speed} until {gap}",
            bodies.len()
        )
    }

    /// Where the crusher is, from the wall that it goes to, thousandths.
    fn left(&self) -> i64 {
        let place = position(&self.world, self.crusher)[self.axis] * 1_000 / ONE;
        self.half[self.axis] - self.side * place - 800
    }

    /// One frame with the crusher at this speed.
    fn frame(&mut self, speed: i64, fps: u32) {
        let mut velocity = [0; 2];
        velocity[self.axis] = self.side * speed;
        self.world.set_velocity(self.crusher, at(velocity[0], velocity[1])).expect("in range");
        step(&mut self.world, fps);
    }

    /// Whether all centres are in the chamber.
    fn is_closed(&self) -> bool {
        let inside = |&id: &BodyId| {
            let place = position(&self.world, id);
            (0..2).all(|x| place[x].abs() <= milli(self.half[x]).to_bits())
        };
        self.bodies.iter().all(inside)
    }

    fn fastest(&self) -> Fx {
        fastest(&self.world, &self.bodies)
    }

    /// The greatest depth in a wall.
    fn deepest(&self) -> Fx {
        deepest(&self.world, &self.bodies, &self.walls)
    }

    fn rests(&self) -> bool {
        self.bodies.iter().all(|&id| !self.world.body(id).expect("alive").is_awake())
    }
}

/// The crusher closes, waits, goes back, and all comes to rest.
fn crushed(truth: &mut Truth, chance: &mut Chance, seed: u64) {
    for fps in RATES {
        let mut press = Press::new(chance);
        let case = format!("seed {seed}, {fps} fps, {}", press.case());
        let (mut fastest, mut deepest, mut closed) = (Fx::ZERO, Fx::ZERO, true);
        let mut note = |press: &Press| {
            fastest = fastest.max(press.fastest());
            deepest = deepest.max(press.deepest());
            closed &= press.is_closed();
        };
        let most = 40 * fps;
        for _ in 0..most {
            let way = press.left() - press.gap;
            if way <= 0 {
                break;
            }
            let speed = press.speed.min(way * i64::from(fps));
            press.frame(speed, fps);
            note(&press);
        }
        for _ in 0..SECONDS[0] * fps {
            press.frame(0, fps);
            note(&press);
        }
        let (speed, back) = (press.speed, 2 * press.half[press.axis] - 1_700);
        while press.left() < back - speed / i64::from(fps) {
            press.frame(-speed, fps);
            note(&press);
        }
        press.frame(0, fps);
        for second in 0..SECONDS[1] {
            (0..fps).for_each(|_| step(&mut press.world, fps));
            note(&press);
            if second == 5 {
                truth.expect(format!("{case}: depth 5 s later"), Fx::ZERO..=milli(100), press.deepest());
            }
        }
        truth.claim(&case, closed, "somebody on the other side of a wall");
        truth.claim(&case, press.rests(), format!("still {}", press.fastest()));
        truth.expect(format!("{case}: depth in a wall"), Fx::ZERO..=milli(250), deepest);
        // The wall that it comes from is a crusher's, too: what bounces is as fast as it.
        let limit = Fx::from_num(12) + after_fall(press.gravity, 2 * press.half[1]);
        truth.expect(format!("{case}: speed"), Fx::ZERO..=limit, fastest);
    }
}

/// Walls two units thick let eight bodies through in eighty scenes, at up to 58 units/s; one scene never came to rest.
#[test]
fn who_is_squeezed_never_changes_the_side_of_a_wall() {
    Truth::hear_listed(CRUSHERS[0], 1..=8);
}

/// A column that was pressed together from the floor to the ceiling, and has no room when the crusher is gone: its bodies overlap each other, but its springs
/// pressed the uppermost one ever deeper into the ceiling.
#[test]
fn a_column_without_room_does_not_press_into_the_ceiling() {
    Truth::hear_listed(CRUSHERS[0], 900_016..=900_016);
}

/// Rows that a crusher pressed together between two walls, without gravity, and that stayed too long for them: their ends were pressed into the walls, and
/// each contact that was solved last sent its bodies to and fro.
#[test]
fn a_row_without_room_between_walls_comes_to_rest_before_them() {
    for seed in [910_102, 910_138, 910_145, 920_001, 920_015, 920_106, 920_127, 920_330] {
        Truth::hear_listed(CRUSHERS[0], seed..=seed);
    }
}

/// Crushers at up to 5 units/s that threw somebody at up to 27 units/s: what squeezes from two sides gave speed along the wall.
#[test]
fn who_is_squeezed_is_not_thrown() {
    for seed in [920_078, 920_172, 920_316, 940_085, 940_620, 941_046, 941_222] {
        Truth::hear_listed(CRUSHERS[0], seed..=seed);
    }
}

/// A door that does not stop for a crowd: nobody is much deeper in it than what it moves in a frame.
fn door(truth: &mut Truth, chance: &mut Chance, seed: u64) {
    let (side, half) = (chance.between(6, 10), [chance.between(100, 500), chance.between(1_000, 3_000)]);
    for fps in RATES {
        for (most_speed, most_depth) in [(5_000, 200), (15_000, 700)] {
            let speed = chance.between(1_000, most_speed);
            let mut w = world(WorldDef::new());
            let crowd: Vec<_> = (0..side * side)
                .map(|i| {
                    let place = at(i % side * 1_020, i / side * 1_020 - side * 510);
                    add(&mut w, BodyDef::dynamic(circle(500)).position(place))
                })
                .collect();
            let door = BodyDef::kinematic(rect(half[0], half[1])).position(at(-half[0] - 600, 0));
            let door = add(&mut w, door.velocity(at(speed, 0)));
            let mut deepest = 0;
            for _ in 0..i64::from(fps) * 15_000 / speed {
                step(&mut w, fps);
                let body = |id: BodyId| w.body(id).expect("alive");
                deepest =
                    crowd.iter().map(|&id| overlap(&body(id), &body(door))).max().unwrap_or(0).max(deepest);
            }
            let case = format!("seed {seed}, {fps} fps, {side} by {side}, door of {half:?} at {speed}");
            truth.expect(case, Fx::ZERO..=milli(most_depth), Fx::from_bits(deepest));
        }
    }
}

#[test]
fn a_door_drives_through_a_crowd() {
    Truth::hear_listed(CRUSHERS[1], 1..=6);
}
