//! Crowds at doors, in all engines: how many units get through, by steering, by step size, and beside a judge that is no engine.

use std::fmt::Write;

use testudo_tests::scenes::{BodySpec, Form, Generator, ONE, Scene, UNIT_RADIUS};

use crate::engine::{Contender, Engine, Settings, Velocities, create};
use crate::field::{ENGINES, disc, scene, units};
use crate::judge::Judge;
use crate::measure::{Summary, quantile};
use crate::steering::{Steerer, Steering};

/// Units before a door, and how long they have.
const UNITS: usize = 200;
const SECONDS: u32 = 120;

/// Seconds after which the pressure is measured.
const PRESSED: u32 = 20;

/// Frames per second, unless the step is cut.
const RATE: u32 = 20;

/// Width of the narrow door, tenths of a diameter, and of one that is wide enough.
const WIDTHS: [i32; 3] = [12, 16, 20];

/// What moves units by the velocities that they want.
trait Mover {
    fn places(&self) -> Vec<[f64; 2]>;
    fn advance(&mut self, wishes: &[[f64; 2]], ranks: &[u8]);
}

/// An engine, with the ranks that it was told.
struct Driven {
    engine: Box<dyn Engine>,
    velocities: Velocities,
    ranks: Vec<u8>,
}

impl Mover for Driven {
    fn places(&self) -> Vec<[f64; 2]> {
        (0..UNITS as u32).map(|unit| self.engine.position(unit)).collect()
    }

    fn advance(&mut self, wishes: &[[f64; 2]], ranks: &[u8]) {
        self.velocities.clear();
        for (unit, wish) in (0..).zip(wishes) {
            self.velocities.push(unit, wish.map(|speed| (speed * f64::from(ONE)) as i32));
        }
        for (unit, (told, &rank)) in (0..).zip(self.ranks.iter_mut().zip(ranks)) {
            if *told != rank {
                *told = rank;
                self.engine.set_rank(unit, rank);
            }
        }
        self.engine.write_velocities(&self.velocities);
        self.engine.step();
    }
}

impl Mover for Judge {
    fn places(&self) -> Vec<[f64; 2]> {
        self.discs().to_vec()
    }

    fn advance(&mut self, wishes: &[[f64; 2]], _: &[u8]) {
        self.move_on(wishes);
    }
}

/// Half the extents of the wall on each side of a door.
const WALL: [i32; 2] = [ONE / 2, 40 * ONE];

/// Two walls with a gap of `width` between them, and units on the left.
fn door(width: i32, start: u32, rate: u32) -> Scene {
    let post = |side: i32| BodySpec {
        movable: false,
        form: Form::Box { half_extents: WALL },
        position: [0, side * (WALL[1] + width / 2)],
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
    scene(bodies, rate)
}

/// How many of the units come through, and how deep touching units overlap when they press: the 95th percentile, units.
fn flow(mover: &mut dyn Mover, steering: Steering, width: f64, rate: u32) -> [f64; 2] {
    let mut steerer = Steerer::new(steering, width, rate, mover.places());
    let mut pressed = 0.0;
    for frame in 0..SECONDS * rate {
        let places = mover.places();
        if frame == PRESSED * rate {
            pressed = overlap(&places);
        }
        steerer.steer(places);
        mover.advance(steerer.wishes(), steerer.ranks());
    }
    [mover.places().iter().filter(|place| place[0] > 1.0).count() as f64, pressed]
}

/// The 95th percentile of the overlaps between units that overlap at all; by brute force.
fn overlap(places: &[[f64; 2]]) -> f64 {
    let pairs = places.iter().enumerate().flat_map(|(i, a)| places[..i].iter().map(move |b| (a, b)));
    let depth = pairs.map(|(a, b)| 2.0 * units(UNIT_RADIUS) - (a[0] - b[0]).hypot(a[1] - b[1]));
    let mut depths: Vec<_> = depth.filter(|&depth| depth > 0.0).collect();
    depths.sort_by(f64::total_cmp);
    quantile(&depths, 0.95)
}

/// Medians of some starts as text: units that came through, and the overlap.
fn medians(starts: u32, mut one: impl FnMut(u32) -> [f64; 2]) -> String {
    let flows: Vec<_> = (0..starts).map(&mut one).collect();
    let [through, pressed] =
        [0, 1].map(|at| Summary::of(&flows.iter().map(|flow| flow[at]).collect::<Vec<_>>()).median);
    format!("{through:.0} ({pressed:.3})")
}

/// The medians of an engine with its step cut in `cut`.
fn of_engine(
    contender: Contender,
    steering: Steering,
    tenths: i32,
    settings: Settings,
    cut: u32,
    starts: u32,
) -> String {
    medians(starts, |start| {
        let engine = create(contender, &door(tenths * ONE / 10, start, RATE * cut), settings);
        let mut driven = Driven { engine, velocities: Velocities::default(), ranks: vec![0; UNITS] };
        flow(&mut driven, steering, f64::from(tenths) / 10.0, RATE * cut)
    })
}

/// The table of doors: medians of some starts.
pub fn doors(settings: Settings, starts: u32) -> String {
    let mut text = format!(
        "{UNITS} units, {SECONDS} s, {RATE} frames per second: how many came through (overlaps after {PRESSED} s, 95th percentile), medians of {starts} starts\n\n"
    );
    text += "| steering | door, diameters | testudo | rapier2d | Box2D |\n| --- | --- | --- | --- | --- |\n";
    for steering in Steering::ALL {
        for tenths in WIDTHS {
            let answers = ENGINES.map(|engine| of_engine(engine, steering, tenths, settings, 1, starts));
            writeln!(text, "| {steering:?} | {}.{} | {} |", tenths / 10, tenths % 10, answers.join(" | "))
                .expect("a string takes all");
        }
    }
    text
}

/// How often the step is cut, and iterations of all engines, in the table of exactness.
const CUTS: [u32; 4] = [1, 2, 4, 8];
const ITERATIONS: [u32; 4] = [4, 8, 16, 32];

/// Stiffness of the judge's springs, per second: a unit of speed 3 that presses alone is 3/stiffness deep.
const STIFFNESSES: [f64; 5] = [25.0, 100.0, 400.0, 1_600.0, 6_400.0];

/// The table of exactness: who pushes to the middle of the door, by step and iterations, and what the judge says.
pub fn exactness(settings: Settings, starts: u32) -> String {
    let mut text = format!(
        "{UNITS} units that push to the middle of the door, {SECONDS} s: how many came through (overlaps after {PRESSED} s, 95th percentile), medians of {starts} starts\n\n\
         | engine | steps per second | iterations | door 1.2 | 1.6 | 2.0 |\n| --- | --- | --- | --- | --- | --- |\n"
    );
    let steering = Steering::Middle;
    for contender in ENGINES {
        let cuts = CUTS.map(|cut| (cut, ITERATIONS[0]));
        let iterations = ITERATIONS[1..].iter().map(|&iterations| (1, iterations));
        // The finest of both.
        for (cut, iterations) in cuts.into_iter().chain(iterations).chain([(CUTS[3], ITERATIONS[3])]) {
            // Testudo's own least number, 8, counts as the peers' usual one.
            let own = if iterations == ITERATIONS[0] { None } else { Some(iterations) };
            let settings = Settings { peer_iterations: iterations, iterations: own, ..settings };
            let answers = WIDTHS.map(|tenths| of_engine(contender, steering, tenths, settings, cut, starts));
            let iterations = match (contender, own) {
                (Contender::Testudo, None) => "default".to_owned(),
                _ => iterations.to_string(),
            };
            let row = answers.join(" | ");
            writeln!(text, "| {} | {} | {iterations} | {row} |", contender.name(), RATE * cut)
                .expect("a string takes all");
        }
    }
    for stiffness in STIFFNESSES {
        let answers = WIDTHS.map(|tenths| {
            medians(starts, |start| {
                let bodies = door(tenths * ONE / 10, start, RATE).bodies;
                let discs = bodies[..UNITS].iter().map(|body| body.position.map(units)).collect();
                let half = WALL.map(units);
                let gap = units(tenths * ONE / 10) / 2.0;
                let posts = [gap, -gap].map(|edge| [0.0, edge + half[1] * edge.signum()]);
                let mut judge = Judge::new(discs, posts, half, stiffness, Judge::RATE);
                flow(&mut judge, steering, f64::from(tenths) / 10.0, Judge::RATE)
            })
        });
        writeln!(text, "| springs of {stiffness}/s | | | {} |", answers.join(" | "))
            .expect("a string takes all");
    }
    text
}
