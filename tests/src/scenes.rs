//! Scenes of the speed comparison, in integers only: initial positions, desired velocities, queries.
//!
//! Every engine that is measured gets its bodies, desired velocities, removals and queries from here, so that
//! all of them run the same inputs. Lengths are in units and speeds in units per second, both with 16 fraction
//! bits ([`ONE`]); an engine that computes in floats converts at its own edge (all values used here are exact
//! in `f32` up to the last bits of a position).
//!
//! A scene is a pure function of its size: the generator is seeded by a constant, and nothing reads a clock.

use testudo_physics::Pcg32;

/// One unit of length, or one unit per second, with 16 fraction bits.
pub const ONE: i32 = 1 << 16;

/// Radius of every disc and half extent of every movable box, in units with 16 fraction bits.
pub const UNIT_RADIUS: i32 = ONE / 2;

/// Speed that marching and gathering units want, in units per second with 16 fraction bits.
pub const UNIT_SPEED: i32 = 3 * ONE;

/// Distance between neighbours in a block of units, before jitter: 1.25 diameters.
const SPACING: i32 = ONE + ONE / 4;

/// Greatest offset of a unit from its place in the block. Twice this is less than the gap between
/// neighbours, so units never overlap at the start.
const JITTER: i32 = ONE / 10;

/// Free space that is kept around immovable boxes at the start, beyond the disc's radius.
const BOX_CLEARANCE: i32 = ONE / 8;

/// The physics' generator in a stream of its own.
#[derive(Clone, Debug)]
pub struct Generator(Pcg32);

impl Generator {
    /// A generator whose sequence depends on `seed` only.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Pcg32::new(seed, 721_347_520_444_481_703))
    }

    /// The next 32 bits.
    pub fn next_u32(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// A value in `low..=high`.
    ///
    /// # Panics
    /// If `low > high`.
    pub fn between(&mut self, low: i32, high: i32) -> i32 {
        assert!(low <= high, "empty range {low}..={high}");
        let span = (i64::from(high) - i64::from(low) + 1) as u64;
        let offset = (u64::from(self.next_u32()) * span) >> 32;
        (i64::from(low) + offset as i64) as i32
    }

    /// A point in the box between `min` and `max`, both included.
    pub fn point(&mut self, min: [i32; 2], max: [i32; 2]) -> [i32; 2] {
        let x = self.between(min[0], max[0]);
        [x, self.between(min[1], max[1])]
    }
}

/// Outline of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A disc.
    Disc {
        /// Radius in units with 16 fraction bits.
        radius: i32,
    },
    /// An axis-aligned box.
    Box {
        /// Half of the width and of the height, in units with 16 fraction bits.
        half_extents: [i32; 2],
    },
}

impl Form {
    /// Half of the width and of the height of the bounding box.
    #[must_use]
    pub fn half_extents(self) -> [i32; 2] {
        match self {
            Form::Disc { radius } => [radius, radius],
            Form::Box { half_extents } => half_extents,
        }
    }
}

/// One body as it is created. Movable bodies have mass 1, no friction and do not rotate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodySpec {
    /// Moves and has mass 1; otherwise it never moves.
    pub movable: bool,
    /// Outline.
    pub form: Form,
    /// Centre, in units with 16 fraction bits.
    pub position: [i32; 2],
    /// Velocity at the start, in units per second with 16 fraction bits.
    pub velocity: [i32; 2],
}

/// What the owner of the units writes to them before each step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drive {
    /// Nothing: bodies are left alone.
    Free,
    /// Every unit gets the velocity it was created with.
    March,
    /// Every unit gets a velocity towards the origin.
    Gather,
}

/// A starting position and how it is driven.
#[derive(Clone, Debug)]
pub struct Scene {
    /// All bodies in the order of creation: immovable ones first.
    pub bodies: Vec<BodySpec>,
    /// Changes to movable bodies before each step.
    pub drive: Drive,
    /// Steps per second.
    pub frames_per_second: u32,
    /// Steps that are run but not measured (bodies fall asleep meanwhile).
    pub settle_steps: u32,
    /// Steps that are measured.
    pub steps: u32,
    /// Restitution of all bodies: 0 or 1.
    pub restitution: u32,
    /// Corners of the area that the bodies fill at the start.
    pub field: [[i32; 2]; 2],
}

/// Two blocks of `count / 2` discs that march through each other between `count / 50` immovable boxes.
#[must_use]
pub fn crowd(count: u32) -> Scene {
    let mut generator = Generator::new(0xC0_57D0 ^ u64::from(count));
    // A box of mean half extent 2 blocks some 16 places of a block, so a third more places than units.
    let side = (count * 7 / 10).isqrt() as i32 + 1;
    let height = side * SPACING;
    let half_gap = ONE;
    let field = [[-half_gap - height, -height / 2], [half_gap + height, height / 2]];
    let mut bodies = boxes_in_cells(&mut generator, count / 50, field);
    let box_count = bodies.len();
    // The left block marches to the right and the other way round.
    for (block, units) in [(-1, count / 2), (1, count - count / 2)] {
        let mut missing = units;
        // From the front line backwards, so that free places are at the back.
        'block: for column in 0..2 * side {
            for row in 0..side {
                if missing == 0 {
                    break 'block;
                }
                let jitter = generator.point([-JITTER; 2], [JITTER; 2]);
                let position = [
                    block * (half_gap + column * SPACING + SPACING / 2) + jitter[0],
                    field[0][1] + row * SPACING + SPACING / 2 + jitter[1],
                ];
                if bodies[..box_count].iter().any(|wall| covers(wall, position)) {
                    continue;
                }
                bodies.push(disc(position, [-block * UNIT_SPEED, 0]));
                missing -= 1;
            }
        }
        assert!(missing == 0, "block of {units} units too small");
    }
    Scene {
        bodies,
        drive: Drive::March,
        frames_per_second: 20,
        settle_steps: 0,
        steps: 400,
        restitution: 0,
        field,
    }
}

/// `count` discs in a square block that all steer to its centre.
#[must_use]
pub fn gather(count: u32) -> Scene {
    let mut generator = Generator::new(0x06A7_4E50 ^ u64::from(count));
    let side = count.isqrt() as i32 + i32::from(!is_square(count));
    let half = side * SPACING / 2;
    let bodies = (0..count as i32)
        .map(|index| {
            let jitter = generator.point([-JITTER; 2], [JITTER; 2]);
            let x = (index % side) * SPACING + SPACING / 2 - half + jitter[0];
            let y = (index / side) * SPACING + SPACING / 2 - half + jitter[1];
            disc([x, y], [0, 0])
        })
        .collect();
    Scene {
        bodies,
        drive: Drive::Gather,
        frames_per_second: 20,
        settle_steps: 0,
        steps: 300,
        restitution: 0,
        field: [[-half; 2], [half; 2]],
    }
}

/// `count` bodies, every other one a box, that fly about and bounce without loss in a walled square of which
/// they fill a tenth.
#[must_use]
pub fn bounce(count: u32) -> Scene {
    let mut generator = Generator::new(0xB0_0E5C ^ u64::from(count));
    // A disc covers pi/4 and a box 1: 10 % of a cell of 2.99 x 2.99 on average.
    let cell = ONE * 299 / 100;
    let side = count.isqrt() as i32 + i32::from(!is_square(count));
    let half = side * cell / 2;
    let mut bodies = walls(half);
    let room = cell / 2 - UNIT_RADIUS - BOX_CLEARANCE;
    for index in 0..count as i32 {
        let offset = generator.point([-room; 2], [room; 2]);
        let x = (index % side) * cell + cell / 2 - half + offset[0];
        let y = (index / side) * cell + cell / 2 - half + offset[1];
        let velocity = generator.point([-4 * ONE; 2], [4 * ONE; 2]);
        let form = if index % 2 == 0 {
            Form::Disc { radius: UNIT_RADIUS }
        } else {
            Form::Box { half_extents: [UNIT_RADIUS; 2] }
        };
        bodies.push(BodySpec { movable: true, form, position: [x, y], velocity });
    }
    Scene {
        bodies,
        drive: Drive::Free,
        frames_per_second: 60,
        settle_steps: 0,
        steps: 400,
        restitution: 1,
        field: [[-half; 2], [half; 2]],
    }
}

/// `count` discs at rest, but for one in a hundred that move along the lanes between them; nobody touches
/// anybody, and nothing is written to any of them.
#[must_use]
pub fn idle(count: u32) -> Scene {
    let spacing = 3 * ONE;
    let side = count.isqrt() as i32 + i32::from(!is_square(count));
    let half = side * spacing / 2;
    let bodies = (0..count as i32)
        .map(|index| {
            let (column, row) = (index % side, index / side);
            let x = column * spacing + spacing / 2 - half;
            let y = row * spacing + spacing / 2 - half;
            // Movers of one lane have the same velocity, so they keep their distance.
            if index % 100 == 37 { disc([x, y + spacing / 2], [ONE, 0]) } else { disc([x, y], [0, 0]) }
        })
        .collect();
    Scene {
        bodies,
        drive: Drive::Free,
        frames_per_second: 20,
        // Three seconds: longer than the slowest engine waits before it lets a body sleep.
        settle_steps: 60,
        steps: 400,
        restitution: 0,
        field: [[-half; 2], [half; 2]],
    }
}

/// The crowd again, for a run in which units die and appear ([`Churn`]).
#[must_use]
pub fn churn(count: u32) -> Scene {
    Scene { steps: 300, ..crowd(count) }
}

/// Removals and creations between steps, the same for every engine.
#[derive(Clone, Debug)]
pub struct Churn {
    generator: Generator,
    walls: Vec<BodySpec>,
    field: [[i32; 2]; 2],
}

impl Churn {
    /// The sequence that belongs to `scene`.
    #[must_use]
    pub fn new(scene: &Scene) -> Self {
        let walls = scene.bodies.iter().copied().filter(|body| !body.movable).collect();
        Self { generator: Generator::new(0xC4_0A17), walls, field: scene.field }
    }

    /// Which of `live` movable bodies dies next, as a place in a list from which the dead are taken by
    /// moving the last one to their place.
    pub fn victim(&mut self, live: u32) -> u32 {
        self.generator.between(0, live as i32 - 1) as u32
    }

    /// The next new unit: anywhere in the field outside the immovable boxes, possibly on top of other units.
    pub fn newcomer(&mut self) -> BodySpec {
        loop {
            let position = self.generator.point(self.field[0], self.field[1]);
            if self.walls.iter().any(|wall| covers(wall, position)) {
                continue;
            }
            let direction = if self.generator.next_u32() & 1 == 0 { 1 } else { -1 };
            return disc(position, [direction * UNIT_SPEED, 0]);
        }
    }
}

/// Velocity towards the origin at [`UNIT_SPEED`]; zero within a quarter of a unit.
#[must_use]
pub fn steer_to_origin(position: [i32; 2]) -> [i32; 2] {
    let [x, y] = position.map(i64::from);
    let distance = (x * x + y * y).isqrt();
    if distance < i64::from(ONE / 4) {
        return [0, 0];
    }
    [-x, -y].map(|component| (component * i64::from(UNIT_SPEED) / distance) as i32)
}

/// Queries in the crowd's field.
#[derive(Clone, Debug)]
pub struct Queries {
    /// Boxes of 10 x 10 units, as corners.
    pub areas: Vec<[[i32; 2]; 2]>,
    /// Rays of length 50: origin and offset of the end.
    pub rays: Vec<[[i32; 2]; 2]>,
    /// Points of which the nearest body is asked.
    pub points: Vec<[i32; 2]>,
    /// Units that are created one before each query in the interleaved run.
    pub newcomers: Vec<BodySpec>,
}

/// `count` queries of each kind in the field of `scene`.
#[must_use]
pub fn queries(scene: &Scene, count: u32) -> Queries {
    let mut generator = Generator::new(0x0A5C_0DE5);
    let [min, max] = scene.field;
    let mut churn = Churn::new(scene);
    let areas = (0..count)
        .map(|_| {
            let [x, y] = generator.point(min, max);
            [[x - 5 * ONE, y - 5 * ONE], [x + 5 * ONE, y + 5 * ONE]]
        })
        .collect();
    let rays = (0..count).map(|_| [generator.point(min, max), direction(&mut generator, 50)]).collect();
    let points = (0..count).map(|_| generator.point(min, max)).collect();
    let newcomers = (0..count).map(|_| churn.newcomer()).collect();
    Queries { areas, rays, points, newcomers }
}

/// An offset of `length` units in any direction.
fn direction(generator: &mut Generator, length: i64) -> [i32; 2] {
    loop {
        let [x, y] = generator.point([-ONE; 2], [ONE; 2]).map(i64::from);
        let square = x * x + y * y;
        // Only from the ring between a quarter and one, so that all directions are equally likely.
        if square > i64::from(ONE).pow(2) || square < i64::from(ONE / 4).pow(2) {
            continue;
        }
        let norm = square.isqrt();
        return [x, y].map(|component| (component * length * i64::from(ONE) / norm) as i32);
    }
}

fn disc(position: [i32; 2], velocity: [i32; 2]) -> BodySpec {
    BodySpec { movable: true, form: Form::Disc { radius: UNIT_RADIUS }, position, velocity }
}

fn immovable(position: [i32; 2], half_extents: [i32; 2]) -> BodySpec {
    BodySpec { movable: false, form: Form::Box { half_extents }, position, velocity: [0, 0] }
}

/// Whether a unit at `position` would come too near to `wall`.
fn covers(wall: &BodySpec, position: [i32; 2]) -> bool {
    let half = wall.form.half_extents();
    let near =
        |axis: usize| (position[axis] - wall.position[axis]).abs() < half[axis] + UNIT_RADIUS + BOX_CLEARANCE;
    near(0) && near(1)
}

/// Immovable boxes of half extent 1 to 3, one in each cell of a grid over the field, so that none overlap
/// and a unit fits between any two.
fn boxes_in_cells(generator: &mut Generator, count: u32, field: [[i32; 2]; 2]) -> Vec<BodySpec> {
    if count == 0 {
        return Vec::new();
    }
    let [width, height] = [field[1][0] - field[0][0], field[1][1] - field[0][1]];
    let rows = (count / 2).isqrt().max(1) as i32;
    let columns = (count as i32).div_euclid(rows) + i32::from(count as i32 % rows != 0);
    let cell = [width / columns, height / rows];
    (0..count as i32)
        .map(|index| {
            let half = generator.point([ONE; 2], [3 * ONE; 2]);
            let room = [0, 1].map(|axis| cell[axis] / 2 - half[axis] - UNIT_RADIUS - BOX_CLEARANCE);
            assert!(room.iter().all(|&room| room >= 0), "field too small for its boxes");
            let offset = generator.point(room.map(|room| -room), room);
            let x = field[0][0] + (index / rows) * cell[0] + cell[0] / 2 + offset[0];
            let y = field[0][1] + (index % rows) * cell[1] + cell[1] / 2 + offset[1];
            immovable([x, y], half)
        })
        .collect()
}

/// Four walls around the square of half extent `half`, touching at the corners.
fn walls(half: i32) -> Vec<BodySpec> {
    let thickness = 2 * ONE;
    vec![
        immovable([-half - thickness, 0], [thickness, half]),
        immovable([half + thickness, 0], [thickness, half]),
        immovable([0, -half - thickness], [half + 2 * thickness, thickness]),
        immovable([0, half + thickness], [half + 2 * thickness, thickness]),
    ]
}

fn is_square(value: u32) -> bool {
    value.isqrt().pow(2) == value
}

#[cfg(test)]
mod tests;
