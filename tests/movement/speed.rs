//! How long a field and a frame of movement take: 512 x 512 cells, 10,000 units, 20 goals, a new goal each second. Thread CPU time, because the
//! machine may be busy.
//!
//! `cargo run --release -p testudo-tests --features measure --example movement [fields | crowd | armies | hunts | doors | far]`

use std::time::Duration;

use cpu_time::ThreadTime;
use testudo_movement::{Crowd, CrowdDef, Flows, Formation, Ground, GroundDef, MoverDef, Order, Way};
use testudo_physics::{Aabb, Angle, BodyDef, BodyId, Fx, Pcg32, Shape, Vec2, World, WorldDef};

const HALF: i32 = 256;

fn area() -> Aabb {
    Aabb::from_corners(Vec2::from_ints(-HALF, -HALF), Vec2::from_ints(HALF, HALF))
}

/// A world with this many houses.
fn world(houses: u32) -> World {
    let mut world = World::new(WorldDef::new()).expect("the default settings are valid");
    let mut rng = Pcg32::new(1, 1);
    for _ in 0..houses {
        let mut part = |of: u32| Fx::from_num(rng.below(of));
        let place = Vec2::new(part(512) - Fx::from_num(HALF), part(512) - Fx::from_num(HALF));
        let shape = Shape::rect(part(4) + Fx::ONE, part(8) + Fx::ONE);
        world.create_body(&BodyDef::static_body(shape).position(place)).expect("all values are in range");
    }
    world
}

fn fields(houses: u32) {
    let world = world(houses);
    let mut ground = Ground::new(&GroundDef::new(area())).expect("a valid ground");
    let start = ThreadTime::now();
    ground.survey(&world);
    println!("{houses} houses: survey {:?}", start.elapsed());
    let start = ThreadTime::now();
    ground.survey_area(&world, Aabb::from_center_half(Vec2::ZERO, Vec2::from_ints(3, 3)));
    println!("  survey around one house {:?}", start.elapsed());
    let size = ground.size_of(Fx::ONE / 2).expect("the default size");
    let mut flows = Flows::new(8).expect("a valid number");
    let mut times = Vec::new();
    for turn in 0..8 {
        let goal = Vec2::from_ints(turn * 50 - 200, 100 - turn * 30);
        let start = ThreadTime::now();
        let flow = flows.to(&ground, goal, size).expect("there is ground");
        flows.search_all(&ground, flow);
        times.push(start.elapsed());
    }
    times.sort_unstable();
    println!("  field: fastest {:?}, median {:?}", times[0], times[4]);
}

fn crowd(houses: u32) {
    let mut world = world(houses);
    let mut crowd = Crowd::new(&CrowdDef::new(GroundDef::new(area()))).expect("a valid ground");
    crowd.survey(&world);
    let size = crowd.ground().size_of(Fx::ONE / 2).expect("the default size");
    let mut units: Vec<BodyId> = Vec::new();
    for at in 0..160_000_i32 {
        let place = Vec2::new(Fx::from_num(at % 400 * 5 / 4 - 250), Fx::from_num(at / 400 * 5 / 4 - 250));
        if units.len() < 10_000 && at % 13 == 0 && crowd.ground().is_open(place, size) {
            let disc = BodyDef::dynamic(Shape::circle(Fx::ONE / 2)).position(place);
            let unit = world.create_body(&disc).expect("all values are in range");
            crowd.add(&world, unit, MoverDef::default()).expect("it fits the ground");
            units.push(unit);
        }
    }
    let mut rng = Pcg32::new(2, 2);
    let (mut total, mut worst, mut steps) = (0.0, 0.0_f64, 0.0);
    for frame in 0..600_u32 {
        let start = ThreadTime::now();
        if frame % 20 == 0 {
            let group = (frame / 20 % 20) as usize;
            let goal = Vec2::from_ints(rng.below(480) as i32 - 240, rng.below(480) as i32 - 240);
            let chosen = &units[group * units.len() / 20..(group + 1) * units.len() / 20];
            crowd.order(&world, chosen, &Order::go(goal)).expect("there are 64 fields");
        }
        crowd.step(&mut world, 20).expect("a valid rate");
        let spent = start.elapsed().as_secs_f64() * 1e3;
        let start = ThreadTime::now();
        world.step(20).expect("a valid rate");
        steps += start.elapsed().as_secs_f64() * 1e3;
        if frame >= 20 {
            (total, worst) = (total + spent, worst.max(spent));
        }
    }
    println!(
        "{houses} houses, {} units: {:.2} ms per frame, worst {worst:.2} ms (the world's step: {:.2} ms)",
        units.len(),
        total / 580.0,
        steps / 600.0
    );
    let start = ThreadTime::now();
    crowd.order(&world, &units, &Order::go(Vec2::ZERO)).expect("there are 64 fields");
    let told = start.elapsed().as_secs_f64() * 1e3;
    let frames = (0..10).map(|_| {
        let start = ThreadTime::now();
        crowd.step(&mut world, 20).expect("a valid rate");
        world.step(20).expect("a valid rate");
        start.elapsed().as_secs_f64() * 1e3
    });
    let worst = frames.fold(0.0, f64::max);
    println!(
        "  an order to all of them: {told:.2} ms, and the dearest of the ten frames after it {worst:.2} ms"
    );
}

/// Two armies of 5,000 that march side by side over a field with rocks: their contacts show how wide they stay.
fn armies(rocks: u32) {
    let half = Vec2::from_ints(HALF / 2, HALF / 2);
    let mut world = World::new(WorldDef::new()).expect("the default settings are valid");
    let mut rng = Pcg32::new(4, 4);
    for _ in 0..rocks {
        let mut part = |of: u32| Fx::from_num(rng.below(of));
        let place = Vec2::new(part(110) - Fx::from_num(55), part(220) - Fx::from_num(110));
        let shape = Shape::rect(part(4) + Fx::ONE, part(4) + Fx::ONE);
        world.create_body(&BodyDef::static_body(shape).position(place)).expect("all values are in range");
    }
    let ground = GroundDef::new(Aabb::from_center_half(Vec2::ZERO, half));
    let mut crowd = Crowd::new(&CrowdDef::new(ground)).expect("a valid ground");
    crowd.survey(&world);
    let mut units: Vec<BodyId> = Vec::new();
    for y in [-60, 60] {
        let in_army = |at: i32| Vec2::new(Fx::from_num(at % 50 * 5) / 4, Fx::from_num(at / 50 * 9) / 8);
        let corner = Vec2::from_ints(-121, y - 56);
        let army: Vec<BodyId> = (0..5_000)
            .map(|at| {
                let disc = BodyDef::dynamic(Shape::circle(Fx::ONE / 2)).position(corner + in_army(at));
                let unit = world.create_body(&disc).expect("all values are in range");
                crowd.add(&world, unit, MoverDef::default()).expect("it fits the ground");
                unit
            })
            .collect();
        let rows = Order::go(Vec2::from_ints(90, y)).formation(Formation::Rows { files: 100 }, Angle::ZERO);
        crowd.order(&world, &army, &rows).expect("there are 64 fields");
        units.extend(army);
    }
    let (mut total, mut steps, mut contacts, mut frames, mut arrived) = (0.0, 0.0, 0, 0, 0);
    while arrived < 9_500 && frames < 4_000 {
        let start = ThreadTime::now();
        crowd.step(&mut world, 20).expect("a valid rate");
        total += start.elapsed().as_secs_f64() * 1e3;
        let start = ThreadTime::now();
        world.step(20).expect("a valid rate");
        steps += start.elapsed().as_secs_f64() * 1e3;
        contacts += world.contact_count();
        frames += 1;
        arrived = units.iter().filter(|&&unit| crowd.is_going(unit) == Some(false)).count();
    }
    println!(
        "{rocks} rocks, 2 x 5,000 units: {arrived} have arrived after {} s, {:.2} ms per frame (the world's step: {:.2} ms), {} contacts",
        frames / 20,
        total / f64::from(frames),
        steps / f64::from(frames),
        contacts / frames
    );
}

/// A thousand units pursue units behind walls, or five thousand units in a closed room.
fn hunts(units: i32, is_closed: bool) {
    const FRAMES: u32 = 1_200;
    let mut world = World::new(WorldDef::new()).expect("the default settings are valid");
    let mut house = |at: [i32; 2], half: [i32; 2]| {
        let shape = Shape::rect(Fx::from_num(half[0]), Fx::from_num(half[1]));
        let house = BodyDef::static_body(shape).position(Vec2::from_ints(at[0], at[1]));
        world.create_body(&house).expect("all values are in range");
    };
    for y in 0..12 {
        house([0, y * 40 - 220], [1, 17]);
    }
    if is_closed {
        for (at, half) in
            [([40, 0], [1, 120]), ([200, 0], [1, 120]), ([120, 119], [80, 1]), ([120, -119], [80, 1])]
        {
            house(at, half);
        }
    }
    let mut crowd = Crowd::new(&CrowdDef::new(GroundDef::new(area()))).expect("a valid ground");
    crowd.survey(&world);
    let mut add = |at: Vec2| {
        let disc = BodyDef::dynamic(Shape::circle(Fx::ONE / 2)).position(at);
        let unit = world.create_body(&disc).expect("all values are in range");
        crowd.add(&world, unit, MoverDef::default()).expect("it fits the ground");
        unit
    };
    let rows = units / 100;
    let preys: Vec<BodyId> =
        (0..100).map(|n| add(Vec2::from_ints(80 + n % 5 * 4, n / 5 * 10 - 100))).collect();
    let hunters: Vec<BodyId> =
        (0..units).map(|n| add(Vec2::from_ints(-30 - n % rows * 2, n / rows * 2 - 100))).collect();
    for (n, &unit) in hunters.iter().enumerate() {
        crowd.pursue(&world, unit, preys[n * 7 % 100], Fx::ONE).expect("they are units");
    }
    let (mut times, mut waiting) = (Vec::new(), 0);
    for _ in 0..FRAMES {
        let start = ThreadTime::now();
        crowd.step(&mut world, 20).expect("a valid rate");
        times.push(start.elapsed().as_secs_f64() * 1e3);
        world.step(20).expect("a valid rate");
        waiting += hunters.iter().filter(|&&unit| crowd.is_waiting(unit) == Some(true)).count();
    }
    let near = hunters.iter().zip(0..).filter(|&(&unit, n)| {
        let at = |unit| world.body(unit).expect("nobody is removed").position();
        at(unit).distance(at(preys[n * 7 % 100])) < Fx::from_num(6)
    });
    println!(
        "{units} pursuers, closed {is_closed}: {:.2} ms per frame, worst {:.2}, {:.1} wait for their turns, {} are near after 60 s",
        times.iter().sum::<f64>() / f64::from(FRAMES),
        times.iter().copied().fold(0.0, f64::max),
        waiting as f64 / f64::from(FRAMES),
        near.count()
    );
}

/// Three hundred units go through a door of so many tenths of their diameter, on one order or each on its own.
fn door(tenths: u32, is_group: bool) {
    let mut world = World::new(WorldDef::new()).expect("the default settings are valid");
    let (jamb, gap) = (Fx::from_num(40), Fx::from_num(tenths) / 20);
    for side in [-1, 1] {
        let wall = BodyDef::static_body(Shape::rect(Fx::ONE / 2, jamb));
        let wall = wall.position(Vec2::new(Fx::ZERO, (jamb + gap) * i64::from(side)));
        world.create_body(&wall).expect("all values are in range");
    }
    let ground = GroundDef::new(Aabb::from_center_half(Vec2::ZERO, Vec2::from_ints(64, 64)));
    let mut crowd = Crowd::new(&CrowdDef::new(ground)).expect("a valid ground");
    crowd.survey(&world);
    let units: Vec<BodyId> = (0..300)
        .map(|n| {
            let at = Vec2::from_ints(-8 - n % 15 * 2, n / 15 * 2 - 19);
            let disc = BodyDef::dynamic(Shape::circle(Fx::ONE / 2)).position(at);
            let unit = world.create_body(&disc).expect("all values are in range");
            crowd.add(&world, unit, MoverDef::default()).expect("it fits the ground");
            unit
        })
        .collect();
    for units in units.chunks(if is_group { 300 } else { 1 }) {
        crowd.order(&world, units, &Order::go(Vec2::from_ints(40, 0))).expect("there are 64 fields");
    }
    let (mut through, mut contacts, mut frames, mut half) = (0, 0, 0, 0);
    while through < units.len() && frames < 12_000 {
        crowd.step(&mut world, 20).expect("a valid rate");
        world.step(20).expect("a valid rate");
        contacts += world.contact_count();
        frames += 1;
        let place = |unit: BodyId| world.body(unit).expect("nobody is removed").position();
        through = units.iter().filter(|&&unit| place(unit).x > Fx::ONE).count();
        half = if through < 150 { frames } else { half };
    }
    println!(
        "door of {tenths} tenths, one order {is_group}: half of 300 are through after {} s, {through} after {} s, {} contacts",
        half / 20,
        frames / 20,
        contacts / frames
    );
}

/// One unit far away on 2,048 x 2,048 cells: planning, and the cells that are searched.
fn far(houses: u32) {
    let half = 4 * HALF;
    let mut world = World::new(WorldDef::new()).expect("the default settings are valid");
    let mut rng = Pcg32::new(3, 3);
    for _ in 0..houses {
        let mut part = |of: u32| Fx::from_num(rng.below(of));
        let place = Vec2::new(part(2_048) - Fx::from_num(half), part(2_048) - Fx::from_num(half));
        let shape = Shape::rect(part(4) + Fx::ONE, part(8) + Fx::ONE);
        world.create_body(&BodyDef::static_body(shape).position(place)).expect("all values are in range");
    }
    let area = Aabb::from_corners(Vec2::from_ints(-half, -half), Vec2::from_ints(half, half));
    let mut ground = Ground::new(&GroundDef::new(area)).expect("a valid ground");
    let start = ThreadTime::now();
    ground.survey(&world);
    println!("{houses} houses, 2,048 x 2,048: survey {:?}", start.elapsed());
    let size = ground.size_of(Fx::ONE / 2).expect("the default size");
    for turn in 0..3 {
        let (goal, from) = (Vec2::from_ints(900, 400 + turn), Vec2::from_ints(-900, -300 + turn));
        let mut flows = Flows::new(2).expect("a valid number");
        let start = ThreadTime::now();
        // The first one finds all portals.
        let flow = flows.to(&ground, goal, size).expect("there is ground");
        let prepared = start.elapsed();
        let (mut frames, mut planned, mut cells) = (0, 0, 0);
        let (mut all, mut worst) = (Duration::ZERO, Duration::ZERO);
        loop {
            let start = ThreadTime::now();
            let way = flows.follow(&ground, flow, from, false);
            let found = flows.search(&ground, 16_384);
            let spent = start.elapsed();
            if way != Way::Unknown {
                break;
            }
            (frames, planned, cells) = (frames + 1, planned + u32::from(found == 0), cells + found);
            (all, worst) = (all + spent, worst.max(spent));
        }
        let mut whole = Flows::new(1).expect("a valid number").whole_up_to(u32::MAX);
        let start = ThreadTime::now();
        let flow = whole.to(&ground, goal, size).expect("there is ground");
        whole.search_all(&ground, flow);
        println!(
            "{houses} houses, 2,048 x 2,048: portals {prepared:?}, planned in {planned} of {frames} frames, worst frame {worst:?}; {cells} cells and a path of \
             {:?} units after {all:?}; whole field {:?}, path {:?}",
            flows.way(&ground, flow, from).left().map(Fx::to_num::<i32>),
            start.elapsed(),
            whole.way(&ground, flow, from).left().map(Fx::to_num::<i32>),
        );
    }
}

fn main() {
    // A part alone, if it is named.
    let part = std::env::args().nth(1).unwrap_or_default();
    let plays = |name: &str| part.is_empty() || part == name;
    for houses in [0, 500, 3_000].into_iter().filter(|_| plays("fields")) {
        fields(houses);
    }
    for houses in [0, 500].into_iter().filter(|_| plays("crowd")) {
        crowd(houses);
    }
    for rocks in [0, 60].into_iter().filter(|_| plays("armies")) {
        armies(rocks);
    }
    for (units, is_closed) in
        [(1_000, false), (1_000, true), (5_000, true)].into_iter().filter(|_| plays("hunts"))
    {
        hunts(units, is_closed);
    }
    for tenths in [11, 15, 20, 30].into_iter().filter(|_| plays("doors")) {
        door(tenths, true);
        door(tenths, false);
    }
    for houses in [0, 8_000, 40_000].into_iter().filter(|_| plays("far")) {
        far(houses);
    }
}
