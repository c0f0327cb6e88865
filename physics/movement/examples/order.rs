//! From an order to movement: sixty units cross a wall with a door, a building comes into their way, and they line up in rows. Prints pictures
//! made of letters: `#` closed, arrows where the field leads, `o` units, `x` their places.
//!
//! `cargo run --release -p testudo-movement --example order`

use std::error::Error;

use testudo_movement::{Crowd, CrowdDef, Formation, GroundDef, MoveEvent, MovementDraw, MoverDef, Order};
use testudo_physics::{Aabb, Angle, BodyDef, BodyId, Fx, Shape, Vec2, World, WorldDef};

const FRAMES_PER_SECOND: u32 = 20;
const HALF: i32 = 16;

/// A map of letters, one for each cell.
struct Letters(Vec<Vec<char>>);

impl Letters {
    fn new() -> Self {
        Self(vec![vec![' '; 2 * HALF as usize]; 2 * HALF as usize])
    }

    fn put(&mut self, at: Vec2, letter: char) {
        let [column, row] =
            [at.x, at.y].map(|part| (part.floor().to_num::<i32>() + HALF).clamp(0, 2 * HALF - 1));
        self.0[(2 * HALF - 1 - row) as usize][column as usize] = letter;
    }

    fn print(&self, title: &str) {
        println!("{title}");
        self.0.iter().for_each(|row| println!("  {}", row.iter().collect::<String>().trim_end()));
    }
}

impl MovementDraw for Letters {
    fn cell(&mut self, cell: Aabb, cost: u8) {
        self.put(cell.center(), if cost == 0 { '#' } else { '~' });
    }

    fn arrow(&mut self, from: Vec2, to: Vec2, _: Fx) {
        let way = to - from;
        let letter = match (way.x.abs() * 2 > way.y.abs(), way.y.abs() * 2 > way.x.abs()) {
            (true, true) if (way.x > Fx::ZERO) == (way.y > Fx::ZERO) => '/',
            (true, true) => '\\',
            (true, false) => {
                if way.x > Fx::ZERO {
                    '>'
                } else {
                    '<'
                }
            }
            _ => {
                if way.y > Fx::ZERO {
                    '^'
                } else {
                    'v'
                }
            }
        };
        self.put(from, letter);
    }

    fn unit(&mut self, _: BodyId, post: Vec2, _: Option<Vec2>) {
        self.put(post, 'x');
    }
}

fn build(world: &mut World, centre: Vec2, half: Vec2) -> Result<Aabb, Box<dyn Error>> {
    let body = world.create_body(&BodyDef::static_body(Shape::rect(half.x, half.y)).position(centre))?;
    Ok(world.body(body).ok_or("it was just built")?.aabb())
}

/// Steps until all have arrived; returns the seconds.
fn play(world: &mut World, crowd: &mut Crowd, units: &[BodyId]) -> Result<u32, Box<dyn Error>> {
    for frame in 0..120 * FRAMES_PER_SECOND {
        crowd.step(world, FRAMES_PER_SECOND)?;
        world.step(FRAMES_PER_SECOND)?;
        for event in crowd.events() {
            match event {
                MoveEvent::Arrived(_) => {}
                // A game tells its player.
                other => println!("  {other:?}"),
            }
        }
        if units.iter().all(|&unit| crowd.is_going(unit) == Some(false)) {
            return Ok(frame / FRAMES_PER_SECOND);
        }
    }
    Err("somebody still goes".into())
}

fn main() -> Result<(), Box<dyn Error>> {
    // The world has its walls before the crowd looks at it.
    let mut world = World::new(WorldDef::new())?;
    for side in [-1, 1] {
        build(&mut world, Vec2::new(Fx::ZERO, Fx::lit("10.6") * side), Vec2::from_ints(1, 9))?;
    }
    let area = Aabb::from_corners(Vec2::from_ints(-HALF, -HALF), Vec2::from_ints(HALF, HALF));
    let radius = Fx::ONE / 2;
    let mut crowd = Crowd::new(&CrowdDef::new(GroundDef::new(area).sizes(&[radius])))?;
    crowd.survey(&world);

    // Units are dynamic bodies; the crowd gives them velocities.
    let mut units = Vec::new();
    for i in 0..60 {
        let place = Vec2::new(Fx::from_num(i % 6 * 5 / 4 - 14), Fx::from_num(i / 6 * 5 / 4 - 6));
        let unit = world.create_body(&BodyDef::dynamic(Shape::circle(radius)).position(place))?;
        crowd.add(&world, unit, MoverDef { speed: Fx::from_num(3 + i % 2), ..MoverDef::default() })?;
        units.push(unit);
    }

    // An order: a goal, a formation, a facing. All go at the pace of the slowest.
    let goal = Vec2::from_ints(9, 4);
    let rows = Order::go(goal).formation(Formation::Rows { files: 10 }, Angle::ZERO).together(true);
    crowd.order(&world, &units, &rows)?;
    crowd.step(&mut world, FRAMES_PER_SECOND)?;
    let size = crowd.ground().size_of(radius).ok_or("all units have this radius")?;
    let mut letters = Letters::new();
    if let Some(flow) = crowd.flow_of(units[0]) {
        crowd.draw_flow(flow, &mut letters);
    }
    crowd.draw_ground(size, &mut letters);
    crowd.draw_units(&mut letters);
    letters.print("The field to the goal, and the units' places:");

    // A building that comes later is surveyed alone.
    let house = build(&mut world, Vec2::from_ints(4, 0), Vec2::new(Fx::ONE / 2, Fx::from_num(2)))?;
    crowd.survey_area(&world, house);
    let seconds = play(&mut world, &mut crowd, &units)?;

    let mut letters = Letters::new();
    crowd.draw_ground(size, &mut letters);
    for &unit in &units {
        letters.put(world.body(unit).ok_or("nobody is removed here")?.position(), 'o');
    }
    letters.print(&format!("After {seconds} s, around a new building:"));
    Ok(())
}
