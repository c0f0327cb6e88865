//! Maps that are drawn from a seed: rocks, mazes, caves, rooms with doors, islands.

use testudo_physics::{Aabb, BodyDef, Fx, Pcg32, Shape, Vec2, World, WorldDef};

/// Kinds of maps.
pub(crate) const KINDS: [Kind; 5] = [Kind::Rocks, Kind::Maze, Kind::Cave, Kind::Rooms, Kind::Islands];

/// What a map looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Discs and boxes at random places.
    Rocks,
    /// Corridors without loops.
    Maze,
    /// Blocks where noise is high.
    Cave,
    /// Walls with one door each, 1.1 to 3 diameters of a unit wide, anywhere.
    Rooms,
    /// Like rocks, and an island that nobody reaches.
    Islands,
}

/// Half the side of a map, units.
pub(crate) const HALF: i32 = 16;

/// The box around a map.
pub(crate) fn area() -> Aabb {
    square(HALF)
}

/// The box of this half side around the origin.
pub(crate) fn square(half: i32) -> Aabb {
    Aabb::from_corners(Vec2::from_ints(-half, -half), Vec2::from_ints(half, half))
}

fn wall(world: &mut World, min: [Fx; 2], max: [Fx; 2]) {
    let half = Vec2::new((max[0] - min[0]) / 2, (max[1] - min[1]) / 2);
    if half.x >= testudo_physics::EXTENT_MIN && half.y >= testudo_physics::EXTENT_MIN {
        let centre = Vec2::new((max[0] + min[0]) / 2, (max[1] + min[1]) / 2);
        world.create_body(&BodyDef::static_body(Shape::rect(half.x, half.y)).position(centre)).unwrap();
    }
}

fn fraction(rng: &mut Pcg32, low: Fx, high: Fx) -> Fx {
    low + Fx::from_bits(i64::from(rng.below((high - low).to_bits() as u32 + 1)))
}

/// A world with the obstacles of a map.
pub(crate) fn draw(kind: Kind, seed: u64) -> World {
    let mut world = World::new(WorldDef::new().seed(seed)).unwrap();
    let mut rng = Pcg32::new(seed, 31);
    match kind {
        Kind::Rocks => rocks(&mut world, &mut rng, 30),
        Kind::Maze => maze(&mut world, &mut rng),
        Kind::Cave => cave(&mut world, &mut rng),
        Kind::Rooms => rooms(&mut world, &mut rng),
        Kind::Islands => {
            rocks(&mut world, &mut rng, 15);
            let [a, b] = [Fx::from_num(6), Fx::from_num(12)];
            let t = Fx::ONE / 4;
            wall(&mut world, [a, a], [b, a + t]);
            wall(&mut world, [a, b - t], [b, b]);
            wall(&mut world, [a, a], [a + t, b]);
            wall(&mut world, [b - t, a], [b, b]);
        }
    }
    world
}

fn rocks(world: &mut World, rng: &mut Pcg32, count: u32) {
    let edge = Fx::from_num(HALF);
    for number in 0..count {
        let place = Vec2::new(fraction(rng, -edge, edge), fraction(rng, -edge, edge));
        let half = fraction(rng, Fx::ONE / 2, Fx::from_num(2));
        let other = fraction(rng, Fx::ONE / 2, Fx::from_num(3));
        let shape = if number % 2 == 0 { Shape::circle(half) } else { Shape::rect(half, other) };
        world.create_body(&BodyDef::static_body(shape).position(place)).unwrap();
    }
}

/// Corridors between walls of 1/4 unit, carved by a random walk that goes back where it cannot go on.
fn maze(world: &mut World, rng: &mut Pcg32) {
    const SIDE: usize = 8;
    let pitch = Fx::from_num(2 * HALF) / SIDE as i64;
    let (mut right, mut up, mut seen) = ([[true; SIDE]; SIDE], [[true; SIDE]; SIDE], [[false; SIDE]; SIDE]);
    let mut trail = vec![[0_usize; 2]];
    seen[0][0] = true;
    while let Some(&[x, y]) = trail.last() {
        let mut free = Vec::new();
        for (dx, dy) in [(1, 0), (-1, 0), (0, 1), (0, -1)] {
            let (nx, ny) = (x.wrapping_add_signed(dx), y.wrapping_add_signed(dy));
            if nx < SIDE && ny < SIDE && !seen[ny][nx] {
                free.push([nx, ny]);
            }
        }
        if free.is_empty() {
            trail.pop();
            continue;
        }
        let [nx, ny] = free[rng.below(free.len() as u32) as usize];
        if nx == x {
            up[y.min(ny)][x] = false
        } else {
            right[y][x.min(nx)] = false
        }
        seen[ny][nx] = true;
        trail.push([nx, ny]);
    }
    let at = |index: usize| pitch * index as i64 - Fx::from_num(HALF);
    let t = Fx::ONE / 8;
    for y in 0..SIDE {
        for x in 0..SIDE {
            if right[y][x] && x + 1 < SIDE {
                wall(world, [at(x + 1) - t, at(y) - t], [at(x + 1) + t, at(y + 1) + t]);
            }
            if up[y][x] && y + 1 < SIDE {
                wall(world, [at(x) - t, at(y + 1) - t], [at(x + 1) + t, at(y + 1) + t]);
            }
        }
    }
}

fn cave(world: &mut World, rng: &mut Pcg32) {
    const SIDE: usize = 16;
    let mut rock = [[false; SIDE]; SIDE];
    rock.iter_mut().flatten().for_each(|rock| *rock = rng.below(100) < 42);
    for _ in 0..2 {
        let before = rock;
        for y in 0..SIDE {
            for x in 0..SIDE {
                let near = (y.saturating_sub(1)..=(y + 1).min(SIDE - 1))
                    .flat_map(|ny| (x.saturating_sub(1)..=(x + 1).min(SIDE - 1)).map(move |nx| (nx, ny)))
                    .filter(|&(nx, ny)| before[ny][nx])
                    .count();
                rock[y][x] = near >= 5;
            }
        }
    }
    let at = |index: usize| Fx::from_num(2 * index as i32 - HALF);
    for y in 0..SIDE {
        for x in 0..SIDE {
            if rock[y][x] {
                wall(world, [at(x), at(y)], [at(x + 1), at(y + 1)]);
            }
        }
    }
}

/// Three walls across the map, with a door each.
fn rooms(world: &mut World, rng: &mut Pcg32) {
    let (edge, inner, t) = (Fx::from_num(HALF), Fx::from_num(HALF - 3), Fx::ONE / 4);
    for column in [-8, 0, 8] {
        let x = Fx::from_num(column) + fraction(rng, -Fx::ONE, Fx::ONE);
        let door = fraction(rng, Fx::lit("1.1"), Fx::from_num(3));
        let y = fraction(rng, -inner, inner);
        wall(world, [x - t, -edge], [x + t, y - door / 2]);
        wall(world, [x - t, y + door / 2], [x + t, edge]);
    }
}
