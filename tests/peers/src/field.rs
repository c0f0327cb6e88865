//! Units in a game, in all engines: the flow through doors, and the cost of pushing one unit of a crowd at rest.

use std::fmt::Write;

use testudo_tests::scenes::{BodySpec, Drive, Form, Generator, ONE, Scene, UNIT_RADIUS, UNIT_SPEED};

use crate::engine::{Contender, Engine, Settings, Velocities, create};
use crate::measure::{Summary, quantile, time_us};

/// The engines compared.
const ENGINES: [Contender; 3] = [Contender::Testudo, Contender::Rapier, Contender::Box2d];

/// Units before a door, and how long they have.
const UNITS: usize = 200;
const SECONDS: u32 = 120;

/// Seconds after which the pressure is measured.
const PRESSED: u32 = 20;
const RATE: u32 = 20;

/// How a unit steers to a door at the origin that leads to the right.
#[derive(Clone, Copy, Debug)]
enum Steering {
    /// At full speed to the middle of the door, then on.
    Middle,
    /// To the nearest point of the door, a radius from its posts, then on.
    Nearest,
    /// Like [`Steering::Nearest`], but no faster than a unit ahead within 1.15 units.
    Queue,
    /// As [`Steering::Nearest`]; each unit stands aside for a half second of every two, at a time of its own.
    Breathe,
}

const STEERINGS: [Steering; 4] = [Steering::Middle, Steering::Nearest, Steering::Queue, Steering::Breathe];

fn units(value: i32) -> f64 {
    f64::from(value) / f64::from(ONE)
}

fn scene(bodies: Vec<BodySpec>) -> Scene {
    Scene {
        frames_per_second: RATE,
        field: [[-60 * ONE; 2], [60 * ONE; 2]],
        bodies,
        restitution: 0,
        drive: Drive::Free,
        steps: SECONDS * RATE,
        settle_steps: 0,
    }
}

fn disc(position: [i32; 2]) -> BodySpec {
    BodySpec { movable: true, form: Form::Disc { radius: UNIT_RADIUS }, position, velocity: [0, 0] }
}

/// Two walls with a gap of `width` between them, and units on the left.
fn door(width: i32, start: u32) -> Scene {
    let half_extents = [ONE / 2, 40 * ONE];
    let post = |side: i32| BodySpec {
        movable: false,
        form: Form::Box { half_extents },
        position: [0, side * (half_extents[1] + width / 2)],
        velocity: [0, 0],
    };
    let mut generator = Generator::new(7 + u64::from(start));
    let mut bodies: Vec<_> = (0..UNITS as i32)
        .map(|i| {
            let jitter = generator.point([-ONE / 10; 2], [ONE / 10; 2]);
            disc([-(4 + i % 14) * ONE * 5 / 4 + jitter[0], (i / 14 - 7) * ONE * 5 / 4 + jitter[1]])
        })
        .collect();
    bodies.extend([post(1), post(-1)]);
    scene(bodies)
}

/// Where everybody wants to go now.
fn steer(
    steering: Steering,
    width: f64,
    frame: u32,
    places: &[[f64; 2]],
    last: &[[f64; 2]],
) -> Vec<[f64; 2]> {
    let speed = units(UNIT_SPEED);
    let free = (width / 2.0 - 0.5).max(0.0);
    let wish = |(unit, &[x, y]): (usize, &[f64; 2])| {
        let inside = x > -0.6 && y.abs() <= width / 2.0;
        let aside = match steering {
            Steering::Middle => 0.0,
            _ => y.clamp(-free, free),
        };
        let target = if inside || x > 0.5 { [x + 10.0, y] } else { [-0.5, aside] };
        let way = [target[0] - x, target[1] - y];
        let length = way[0].hypot(way[1]).max(1e-9);
        let mut pace = speed;
        if let (Steering::Queue, true) = (steering, x < -0.6) {
            let ahead = |&(other, &[ox, oy]): &(usize, &[f64; 2])| {
                let [dx, dy] = [ox - x, oy - y];
                other != unit
                    && dx.hypot(dy) < 1.15
                    && dx * way[0] + dy * way[1] > 0.5 * dx.hypot(dy) * length
            };
            if let Some((other, _)) = places.iter().enumerate().find(ahead) {
                let moved = [places[other][0] - last[other][0], places[other][1] - last[other][1]];
                pace = pace.min(moved[0].hypot(moved[1]) * f64::from(RATE) + 0.1);
            }
        }
        if let (Steering::Breathe, true) = (steering, x < -0.6) {
            let phase = (frame + 17 * unit as u32) % (2 * RATE);
            pace = if phase < RATE / 2 { -0.3 * speed } else { speed };
        }
        [way[0] / length * pace, way[1] / length * pace]
    };
    places.iter().enumerate().map(wish).collect()
}

/// How many of the units come through, and how deep touching units overlap when they press: the 95th percentile, units.
fn flow(contender: Contender, steering: Steering, width: i32, start: u32, settings: Settings) -> [f64; 2] {
    let mut engine = create(contender, &door(width, start), settings);
    let look = |engine: &dyn Engine| (0..UNITS as u32).map(|unit| engine.position(unit)).collect::<Vec<_>>();
    let mut last = look(&*engine);
    let mut velocities = Velocities::default();
    let mut pressed = 0.0;
    for frame in 0..SECONDS * RATE {
        let places = look(&*engine);
        if frame == PRESSED * RATE {
            pressed = overlap(&places);
        }
        velocities.clear();
        for (unit, wish) in (0..).zip(steer(steering, units(width), frame, &places, &last)) {
            velocities.push(unit, wish.map(|speed| (speed * f64::from(ONE)) as i32));
        }
        engine.write_velocities(&velocities);
        engine.step();
        last = places;
    }
    [look(&*engine).iter().filter(|place| place[0] > 1.0).count() as f64, pressed]
}

/// The 95th percentile of the overlaps between units that overlap at all; by brute force.
fn overlap(places: &[[f64; 2]]) -> f64 {
    let pairs = places.iter().enumerate().flat_map(|(i, a)| places[..i].iter().map(move |b| (a, b)));
    let depth = pairs.map(|(a, b)| 2.0 * units(UNIT_RADIUS) - (a[0] - b[0]).hypot(a[1] - b[1]));
    let mut depths: Vec<_> = depth.filter(|&depth| depth > 0.0).collect();
    depths.sort_by(f64::total_cmp);
    quantile(&depths, 0.95)
}

/// The table of doors: medians of some starts.
pub fn doors(settings: Settings, starts: u32) -> String {
    let mut text = format!(
        "{UNITS} units, {SECONDS} s, {RATE} frames per second: how many came through (overlaps after {PRESSED} s, 95th percentile), medians of {starts} starts\n\n"
    );
    text += "| steering | door, diameters | testudo | rapier2d | Box2D |\n| --- | --- | --- | --- | --- |\n";
    for steering in STEERINGS {
        for tenths in [12, 16, 20] {
            let answers = ENGINES.map(|engine| {
                let flows: Vec<_> = (0..starts)
                    .map(|start| flow(engine, steering, tenths * ONE / 10, start, settings))
                    .collect();
                let [through, pressed] = [0, 1]
                    .map(|at| Summary::of(&flows.iter().map(|flow| flow[at]).collect::<Vec<_>>()).median);
                format!("{through:.0} ({pressed:.2})")
            });
            writeln!(text, "| {steering:?} | {}.{} | {} |", tenths / 10, tenths % 10, answers.join(" | "))
                .expect("a string takes all");
        }
    }
    text
}

/// Discs in square blocks of `side`, so that they touch or just do not (`spacing`), with ten units between the blocks.
fn crowd_at_rest(count: u32, side: i32, spacing: i32) -> Scene {
    let blocks = (count as i32 / (side * side)).max(1);
    let row = blocks.isqrt().max(1);
    let pitch = side * spacing + 10 * ONE;
    let place = |block: i32, i: i32| {
        [
            (block % row - row / 2) * pitch + i % side * spacing,
            (block / row - row / 2) * pitch + i / side * spacing,
        ]
    };
    let bodies = (0..blocks).flat_map(|block| (0..side * side).map(move |i| disc(place(block, i)))).collect();
    scene(bodies)
}

/// The table of pokes: the corner of a sleeping crowd is pushed once.
pub fn poke(settings: Settings) -> String {
    let mut text = String::from(
        "One corner of a sleeping crowd gets 3 units/s once; 60 steps, thread CPU time in ms, two rounds in turn\n\n\
         | crowd | engine | first step | mean | longest |\n| --- | --- | --- | --- | --- |\n",
    );
    for (name, side, spacing) in [
        ("50,176 in one block, touching", 224, ONE),
        ("49,952 in blocks of 16, touching", 4, ONE),
        ("50,176 in one block, 1/20 apart", 224, ONE + ONE / 20),
    ] {
        let scene = crowd_at_rest(50_176, side, spacing);
        let mut runs: Vec<_> = ENGINES
            .iter()
            .map(|&contender| {
                let mut engine = create(contender, &scene, settings);
                (0..100).for_each(|_| engine.step());
                (contender, engine, Vec::new(), 0.0_f64)
            })
            .collect();
        for _ in 0..2 {
            for (_, engine, times, first) in &mut runs {
                let mut velocities = Velocities::default();
                velocities.push(0, [UNIT_SPEED, UNIT_SPEED]);
                engine.write_velocities(&velocities);
                let mut steps: Vec<f64> = (0..60).map(|_| time_us(|| engine.step()) / 1e3).collect();
                *first = first.max(steps[0]);
                times.append(&mut steps);
            }
        }
        for (contender, _, times, first) in runs {
            let (mean, longest) = (Summary::of(&times).mean, times.iter().copied().fold(0.0, f64::max));
            writeln!(text, "| {name} | {} | {first:.3} | {mean:.3} | {longest:.3} |", contender.name())
                .expect("a string takes all");
        }
    }
    text
}
