//! A program in C (`scene.c`) and this one make the same scene, one by the header and one by the Rust packages: every line is the same.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "it reads and makes files, and starts programs"
)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use testudo_movement::{
    Crowd, CrowdDef, Formation, GroundDef, MoveEvent, MovementDraw, MoverDef, Order, PathSearch,
};
use testudo_physics::{
    Aabb, Angle, BodyDef, BodyField, BodyId, BodyKind, ChainDef, ContactEvent, EdgePolicy, Filter, Fx, Pcg32,
    PolygonDef, QueryFilter, Shape, Vec2, World, WorldDef, hash_bytes, math::mul_floor,
};

/// `line!`, but into a text.
macro_rules! say {
    ($out:expr, $($arguments:tt)*) => { writeln!($out, $($arguments)*).expect("memory") };
}

fn int(number: i64) -> Fx {
    Fx::const_from_int(number)
}

fn disc(at: u32, size: Fx, x: Fx, vx: Fx) -> BodyDef {
    let shape = if at.is_multiple_of(3) { Shape::rect(size, Fx::ONE / 2) } else { Shape::circle(size) };
    let kind = if at % 13 == 12 { BodyKind::Kinematic } else { BodyKind::Dynamic };
    let def = BodyDef::new(kind, shape)
        .position(Vec2::new(x, int(2 + i64::from(at) / 2)))
        .velocity(Vec2::new(vx, Fx::ZERO))
        .mass(int(1 + i64::from(at) % 5))
        .restitution(Fx::ONE / 4)
        .friction(Fx::ONE / 2)
        .filter(Filter::new(1 << (at % 2), u32::MAX))
        .user(1_000 + u64::from(at))
        .sensor(at % 11 == 10)
        .locked_axes(at % 17 == 16, false)
        .can_sleep(at % 7 != 6)
        .dominance(if at % 4 == 3 { -1 } else { 0 });
    if at == 5 { def.max_speed(int(2)) } else { def }
}

fn fill(world: &mut World) -> Vec<BodyId> {
    let mut random = Pcg32::new(42, 7);
    let mut next = || {
        let size = random.range(Fx::ONE / 4, Fx::ONE);
        (size, random.range(int(-8), int(8)), random.range(int(-3), int(3)))
    };
    let mut bodies = Vec::new();
    for at in 0..40 {
        let (size, x, vx) = next();
        bodies.push(world.create_body(&disc(at, size, x, vx)).expect("a body"));
    }
    bodies
}

fn ground(world: &mut World, out: &mut String) {
    let points = [(-12, 6), (-9, 0), (9, 0), (12, 6)].map(|(x, y)| Vec2::from_ints(x, y));
    let chain = world.create_chain(&ChainDef::new(&points).friction(Fx::ONE / 2)).expect("a chain");
    let rock = [(-1, 0), (1, 0), (0, 1)].map(|(x, y)| Vec2::from_ints(x, y));
    let rock = PolygonDef::new(&rock).friction(Fx::ONE / 2).radius(Fx::ONE / 8);
    let rock = world.create_polygon(&rock).expect("a polygon");
    for segment in chain {
        say!(out, "segment {}", segment.to_bits());
    }
    for corner in world.body(rock).and_then(|body| body.terrain()).expect("terrain").points() {
        say!(out, "corner {} {}", corner.x.to_bits(), corner.y.to_bits());
    }
}

fn play(world: &mut World, bodies: &mut Vec<BodyId>, frame: u32) {
    let body = bodies[frame as usize % bodies.len()];
    let done = match frame {
        30 => world.set_pair_ignored(bodies[1], bodies[2], true),
        60 => world.remove_body(bodies.pop().expect("a body")),
        70 => world.set_kind(bodies[3], BodyKind::Static),
        _ => Ok(()),
    };
    done.expect("bodies of this world");
    if frame == 40 {
        world.set_gravity(Vec2::from_ints(1, -9)).expect("gravity in range");
    }
    let angle = |shift: u32| Angle::from_bits(frame << shift);
    let done = match frame % 10 {
        1 => world.apply_impulse(body, Vec2::new(int(i64::from(frame) % 7), int(5))),
        2 => world.apply_force(body, Vec2::from_ints(-90, 0)),
        3 => world.set_velocity(body, Vec2::from_angle(angle(24))),
        _ => Ok(()),
    };
    done.expect("a body of this world");
    let target = Vec2::new(mul_floor(int(4), angle(26).sin()), Fx::ONE);
    world.move_kinematic(bodies[12], target, 60).expect("a body of this world");
}

fn events(world: &World, out: &mut String) {
    let lists: [&[ContactEvent]; 5] = [
        world.contacts_began(),
        world.contacts_ended(),
        world.contacts_stayed(),
        world.sensors_began(),
        world.sensors_ended(),
    ];
    for (list, events) in lists.into_iter().enumerate() {
        for event in events {
            let (a, b) = (event.a.to_bits(), event.b.to_bits());
            say!(out, "event {list} {a} {b} {} {}", event.user_a, event.user_b);
        }
    }
    for hit in world.contact_hits() {
        let [x, y, nx, ny] = [hit.point.x, hit.point.y, hit.normal.x, hit.normal.y].map(Fx::to_bits);
        let (a, b, speed) = (hit.a.to_bits(), hit.b.to_bits(), hit.approach_speed.to_bits());
        say!(out, "hit {a} {b} at {x} {y} along {nx} {ny} with {speed}");
    }
    for contact in world.contacts() {
        let (a, b) = (contact.a.to_bits(), contact.b.to_bits());
        say!(out, "touching {a} {b} {}", contact.impulse.to_bits());
    }
}

fn queries(world: &World, bodies: &[BodyId], out: &mut String) {
    let (from, to, point) = (Vec2::from_ints(-10, 1), Vec2::from_ints(10, 1), Vec2::from_ints(1, 1));
    let area = Aabb { min: Vec2::from_ints(-3, 0), max: Vec2::from_ints(3, 3) };
    let all = QueryFilter::new();
    let mut filter = QueryFilter::new().with_sensors().exclude(bodies[4]);
    filter.statics = false;
    let disc = Shape::circle(Fx::ONE);
    let mut found = Vec::new();
    let mut list = |name: &str, found: &[BodyId]| {
        for body in found {
            say!(out, "{name} {}", body.to_bits());
        }
    };
    world.query_area(area, &filter, &mut found);
    list("area", &found);
    world.query_area_exact(area, &all, &mut found);
    list("exactly", &found);
    world.query_point(point, &filter, &mut found);
    list("point", &found);
    world.query_shape(disc, point, &filter, &mut found).expect("in range");
    list("shape", &found);
    let (mut near, mut rays, mut sweeps) = (Vec::new(), Vec::new(), Vec::new());
    world.nearest(point, 3, int(5), &filter, &mut near).expect("in range");
    for (body, distance) in near {
        say!(out, "near {} {}", body.to_bits(), distance.to_bits());
    }
    world.ray_cast_all(from, to, &all, &mut rays).expect("in range");
    for hit in rays {
        let [x, ny, distance, fraction] =
            [hit.point.x, hit.normal.y, hit.distance, hit.fraction].map(Fx::to_bits);
        say!(out, "ray {} {x} {ny} {distance} {fraction}", hit.body.to_bits());
    }
    world.sweep_all(disc, from, to, &filter, &mut sweeps).expect("in range");
    for hit in sweeps {
        let [x, px, ny, distance] =
            [hit.position.x, hit.point.x, hit.normal.y, hit.distance].map(Fx::to_bits);
        say!(out, "sweep {} {x} {px} {ny} {distance}", hit.body.to_bits());
    }
    if let Some(hit) = world.ray_cast(from, to, &all).expect("in range") {
        say!(out, "first ray {}", hit.body.to_bits());
    }
    if let Some(hit) = world.sweep(disc, from, to, &filter).expect("in range") {
        say!(out, "first sweep {}", hit.body.to_bits());
    }
}

fn states(world: &World, bodies: &[BodyId], out: &mut String) {
    for &id in bodies {
        let body = world.body(id).expect("a body of this world");
        let (kind, (shape, radius, half)) = (
            match body.kind() {
                BodyKind::Static => 0,
                BodyKind::Kinematic => 1,
                BodyKind::Dynamic => 2,
            },
            match body.shape() {
                Shape::Circle { radius } => (0, radius.to_bits(), 0),
                other => (1, 0, other.half_extents().x.to_bits()),
            },
        );
        let (at, speed, mass) = (body.position(), body.velocity(), body.mass().to_bits());
        let [x, y, vx, vy] = [at.x, at.y, speed.x, speed.y].map(Fx::to_bits);
        let limit = body.max_speed().map_or(-1, Fx::to_bits);
        let (lock_x, lock_y) = body.locked_axes();
        let flags = [body.is_sensor(), body.is_enabled(), body.can_sleep(), lock_x, lock_y, body.is_awake()];
        let flags: String = flags.map(|flag| if flag { '1' } else { '0' }).into_iter().collect();
        say!(
            out,
            "body {} kind {kind} shape {shape} {radius} {half} at {x} {y} with {vx} {vy} mass {mass} limit {limit} \
             layers {} user {} rank {} is {flags}",
            id.to_bits(),
            body.filter().layers,
            body.user(),
            body.dominance(),
        );
    }
    let mut drawn = Vec::new();
    world.interpolated_positions(32_768, &mut drawn);
    for (body, [x, y]) in drawn {
        say!(out, "drawn {} {x:.3} {y:.3}", body.to_bits());
    }
}

fn save(world: &mut World, bodies: &[BodyId], out: &mut String) {
    let mut bytes = Vec::new();
    world.append_snapshot(&mut bytes);
    let mut other = World::from_bytes(&bytes).expect("a snapshot");
    let third = world.clone();
    world.step(60).expect("frames per second");
    other.step(60).expect("frames per second");
    say!(out, "saved {} bytes, hash {:016x}", bytes.len(), hash_bytes(&bytes));
    say!(out, "differs {}", i32::from(world.first_difference(&other).is_some()));
    other.flip_bit(bodies[0], BodyField::PositionX, 3).expect("a bit");
    say!(out, "{}", world.first_difference(&other).expect("a difference"));
    other.restore(&bytes).expect("a snapshot");
    say!(out, "restored {:016x} {:016x}", other.checksum(), third.checksum());
}

/// A crowd among a wall with a door: orders, a pursuit, a building that comes, a save.
fn crowd(out: &mut String) {
    let mut world = World::new(WorldDef::new()).expect("settings in range");
    for y in [-14, 14] {
        let wall = BodyDef::static_body(Shape::rect(Fx::ONE, int(12)));
        world.create_body(&wall.position(Vec2::from_ints(0, y))).expect("a wall");
    }
    let area = Aabb { min: Vec2::from_ints(-32, -32), max: Vec2::from_ints(32, 32) };
    let ground = GroundDef::new(area).sizes(&[Fx::ONE / 2, Fx::ONE]);
    let def = CrowdDef::new(ground).cells_per_frame(2_000).fields_max(8).slow_ground(true);
    let mut crowd = Crowd::new(&def).expect("settings in range");
    crowd.survey(&world);
    let marsh = Aabb { min: Vec2::from_ints(-12, 2), max: Vec2::from_ints(-6, 8) };
    crowd.set_cost(&world, marsh, 3).expect("a cost in range");
    let mut units = Vec::new();
    for n in 0..24 {
        let size = if n % 5 == 4 { Fx::ONE } else { Fx::ONE / 2 };
        let disc = BodyDef::dynamic(Shape::circle(size)).damping(int(2));
        let unit = disc.position(Vec2::from_ints(-20 + 3 * (n % 4), 3 * (n / 4) - 8));
        units.push(world.create_body(&unit).expect("a body"));
        let pace = MoverDef { speed: int((4 + n % 3).into()), acceleration: int(30) };
        crowd.add(&world, units[n as usize], pace).expect("a dynamic body");
    }
    let rows = Order::go(Vec2::from_ints(20, 0))
        .formation(Formation::Rows { files: 6 }, Angle::QUARTER)
        .together(true);
    for frame in 0..260 {
        let done = match frame {
            0 => crowd.order(&world, &units[..18], &rows),
            5 => crowd.order(&world, &units[18..22], &Order::go(Vec2::from_ints(-20, 20))),
            6 => crowd.pursue(&world, units[22], units[0], Fx::ONE * 2),
            7 => crowd.send(units[23], Vec2::from_ints(10, 10), Vec2::from_ints(12, 10)),
            100 => crowd.stop(&world, &units[18..20]),
            _ => Ok(()),
        };
        done.expect("units of this crowd");
        if frame == 60 {
            let house = BodyDef::static_body(Shape::rect(Fx::ONE, int(2)));
            world.create_body(&house.position(Vec2::from_ints(8, 1))).expect("a house");
            let around = Aabb { min: Vec2::from_ints(7, -1), max: Vec2::from_ints(9, 3) };
            crowd.survey_area(&world, around);
            say!(out, "removed {}", i32::from(crowd.remove(&mut world, units[17])));
        }
        if frame == 150 {
            world.remove_body(units[21]).expect("a body of this world");
        }
        crowd.step(&mut world, 20).expect("frames per second");
        world.step(20).expect("frames per second");
        say!(out, "crowd {:016x} {:016x}", crowd.checksum(), world.checksum());
        for event in crowd.events() {
            let (kind, unit) = match *event {
                MoveEvent::Arrived(unit) => (0, unit),
                MoveEvent::Unreachable(unit) => (1, unit),
                MoveEvent::GaveUp(unit) => (2, unit),
                MoveEvent::Gone(unit) => (3, unit),
                other => panic!("{other:?}"),
            };
            say!(out, "move event {kind} of {}", unit.to_bits());
        }
        if frame == 30 {
            crowd_reads(&crowd, &units, out);
        }
    }
    save_crowd(crowd, world, &def, &units, out);
}

fn crowd_reads(crowd: &Crowd, units: &[BodyId], out: &mut String) {
    /// Counts, and hashes what there is.
    #[derive(Default)]
    struct Drawn(u64, i64);
    impl Drawn {
        fn add(&mut self, numbers: &[i64]) {
            self.0 += 1;
            numbers.iter().for_each(|number| self.1 = self.1.wrapping_mul(31).wrapping_add(*number));
        }
    }
    impl MovementDraw for Drawn {
        fn cell(&mut self, cell: Aabb, cost: u8) {
            self.add(&[cell.min.x.to_bits(), cell.max.y.to_bits(), cost.into()]);
        }
        fn arrow(&mut self, from: Vec2, to: Vec2, left: Fx) {
            self.add(&[from.x.to_bits(), to.y.to_bits(), left.to_bits()]);
        }
        fn unit(&mut self, body: BodyId, post: Vec2, aim: Option<Vec2>) {
            let there = aim.unwrap_or(post);
            self.add(&[body.to_bits() as i64, post.x.to_bits(), there.y.to_bits(), aim.is_some().into()]);
        }
    }
    for &unit in units {
        let post = crowd.post(unit).expect("a unit");
        let [going, waiting] =
            [crowd.is_going(unit), crowd.is_waiting(unit)].map(|is| i32::from(is == Some(true)));
        let prey = crowd.prey(unit).map_or(u64::MAX, BodyId::to_bits);
        say!(out, "unit at {} {} prey {prey} is {going}{waiting}", post.x.to_bits(), post.y.to_bits());
    }
    let size = crowd.ground().size_of(Fx::ONE).expect("a size");
    let [mut ground, mut flow, mut ways] = [(); 3].map(|()| Drawn::default());
    crowd.draw_ground(size, &mut ground);
    crowd.draw_flow(crowd.flow_of(units[0]).expect("a field"), &mut flow);
    crowd.draw_units(&mut ways);
    for (name, Drawn(count, sum)) in [("cells", ground), ("arrows", flow), ("ways", ways)] {
        say!(out, "{name} {count} {sum}");
    }
    let wall = Vec2::from_ints(0, 10);
    let open = crowd.ground().nearest_open(wall, size).expect("open ground");
    let is_open = i32::from(crowd.ground().is_open(wall, size));
    say!(out, "open {is_open} nearest {} {}", open.x.to_bits(), open.y.to_bits());
    let ends = [Vec2::from_ints(-10, 10), Vec2::from_ints(10, 10)];
    for corner in PathSearch::default().find(crowd.ground(), ends, size, 4_000).expect("a path") {
        say!(out, "path {} {} {}", corner.at.x.to_bits(), corner.at.y.to_bits(), corner.left.to_bits());
    }
}

fn save_crowd(mut crowd: Crowd, mut world: World, def: &CrowdDef, units: &[BodyId], out: &mut String) {
    let mut bytes = Vec::new();
    crowd.save(&mut bytes);
    let mut other = Crowd::load(def, &world, &bytes).expect("a saved crowd");
    say!(out, "saved crowd {} bytes, hash {:016x}", bytes.len(), hash_bytes(&bytes));
    let mut world_too = world.clone();
    for (crowd, world) in [(&mut crowd, &mut world), (&mut other, &mut world_too)] {
        let order = Order::go(Vec2::from_ints(-20, 0));
        crowd.order(world, &units[..10], &order).expect("units of this crowd");
        for _ in 0..20 {
            crowd.step(world, 20).expect("frames per second");
            world.step(20).expect("frames per second");
        }
        say!(out, "went on {:016x} {:016x}", crowd.checksum(), world.checksum());
    }
}

fn sizes(out: &mut String) {
    use testudo::*;
    let sizes = [
        size_of::<TestudoWorldDef>(),
        size_of::<TestudoBodyDef>(),
        size_of::<TestudoBodyState>(),
        size_of::<TestudoTerrainDef>(),
        size_of::<TestudoQueryFilter>(),
        size_of::<TestudoContactHit>(),
        size_of::<TestudoSweepHit>(),
        size_of::<TestudoDrawn>(),
        size_of::<TestudoCrowdDef>(),
        size_of::<TestudoMoveOrder>(),
        size_of::<TestudoUnitState>(),
        size_of::<TestudoMoveEvent>(),
    ];
    say!(out, "sizes {}", sizes.map(|size| size.to_string()).join(" "));
}

/// What `main` of `scene.c` prints.
fn scene() -> String {
    let out = &mut String::new();
    sizes(out);
    let def = WorldDef::new().gravity(Vec2::from_ints(0, -10)).edge(EdgePolicy::Bounce).seed(5);
    let mut world = World::new(def).expect("settings in range");
    world.list_contact_hits(true);
    world.list_stayed_contacts(true);
    ground(&mut world, out);
    let mut bodies = fill(&mut world);
    for frame in 0..90 {
        play(&mut world, &mut bodies, frame);
        world.step(60).expect("frames per second");
        say!(out, "frame {} {:016x}", world.frame(), world.checksum());
        say!(out, "drawn {}", world.rng().below(100));
        if frame % 30 == 29 {
            events(&world, out);
            queries(&world, &bodies, out);
            states(&world, &bodies, out);
        }
    }
    save(&mut world, &bodies, out);
    crowd(out);
    std::mem::take(out)
}

/// Compiles a program in C against the static library beside this test.
fn compile(name: &str, source: &Path) -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let deps = std::env::current_exe().expect("a path").parent().expect("a folder").to_path_buf();
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let done = Command::new(&compiler)
        .args(["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O1"])
        .arg("-I")
        .arg(package.join("include"))
        .arg(source)
        .arg(deps.join("libtestudo.a"))
        .args(["-lpthread", "-ldl", "-lm", "-o"])
        .arg(&program)
        .status();
    let done = done.unwrap_or_else(|error| panic!("a C compiler is needed ($CC, cc): {error}"));
    assert!(done.success(), "{compiler:?} failed");
    program
}

/// What a program prints.
fn run(program: &Path) -> String {
    let output = Command::new(program).output().expect("a program that starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// What a program in the README prints: the first one that contains this.
fn readme(name: &str, contains: &str) -> String {
    let readme = include_str!("../README.md");
    let mut programs = readme.split("```c\n").filter(|block| block.contains("int main"));
    let block = programs.find(|block| block.contains(contains)).expect("a program");
    let source = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.c"));
    std::fs::write(&source, block.split("```").next().expect("a block that ends")).expect("a file");
    run(&compile(name, &source))
}

#[test]
fn the_program_in_the_readme_runs() {
    let said = readme("readme", "testudo_world_new");
    let lines: Vec<_> = said.lines().collect();
    assert_eq!((lines.len(), lines[0]), (2, "0 meets 1"), "{said}");
    assert!(lines[1].starts_with("x = 1") && lines[1].contains("checksum"), "{said}");
}

#[test]
fn the_crowd_in_the_readme_arrives() {
    let said = readme("crowd", "testudo_crowd_new");
    assert!(said.starts_with("12 units arrived after ") && said.contains(" frames, checksum "), "{said}");
}

#[test]
#[cfg(all(feature = "udp", feature = "sealed"))]
fn the_match_in_the_readme_is_played() {
    let said = readme("match", "testudo_match_host");
    let ends: Vec<_> = said.lines().filter(|line| line.starts_with("sums 7 and 5, checksum ")).collect();
    assert!(ends.len() == 2 && ends[0] == ends[1], "{said}");
    assert!(!said.contains("differ"), "{said}");
}

#[test]
fn c_and_rust_make_the_same_scene() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scene.c");
    let (c, rust) = (run(&compile("scene", &source)), scene());
    for (at, (c, rust)) in c.lines().zip(rust.lines()).enumerate() {
        assert_eq!(c, rust, "line {}", at + 1);
    }
    assert_eq!(c.lines().count(), rust.lines().count());
    // The comparison was not empty.
    let kinds = [
        "segment",
        "corner",
        "event 0",
        "event 1",
        "event 2",
        "event 3",
        "hit",
        "touching",
        "area",
        "exactly",
        "point",
        "shape",
        "near",
        "ray",
        "sweep",
        "first ray",
        "first sweep",
        "body",
        "drawn",
        "differs 0",
        "bodies: ",
        "restored",
        "removed 1",
        "move event 0",
        "move event 3",
        "unit at",
        "cells ",
        "arrows ",
        "ways 24",
        "open 0",
        "path",
        "saved crowd",
        "went on",
    ];
    for kind in kinds {
        assert!(rust.lines().any(|line| line.starts_with(kind)), "no line begins with {kind:?}");
    }
}
