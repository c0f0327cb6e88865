//! What is true, beside what each engine computes: an expectation from a law, a formula or geometry, and one number per engine and rate.
//!
//! `tests/truth` holds Testudo to these laws at five rates with drawn parameters; here one can see who is right where.

use std::fmt::Write;

use testudo_tests::scenes::{BodySpec, Drive, Form, Generator, ONE, Scene};

use crate::engine::{Contender, Engine, Matter, Settings, Velocities, create_of};

/// The engines compared.
const ENGINES: [Contender; 3] = [Contender::Testudo, Contender::Rapier, Contender::Box2d];

/// Frames per second at which most truths are asked.
const RATES: &[u32] = &[20, 60];

/// The rates for very different masses, which are hardest in long frames.
const MASS_RATES: &[u32] = &[10, 60, 144];

/// The rates for what long frames make hard.
const LONG_RATES: &[u32] = &[10, 20, 60];

/// One engine at one rate.
#[derive(Clone, Copy)]
struct Lab {
    contender: Contender,
    rate: u32,
    settings: Settings,
}

/// A world on trial.
struct Trial {
    engine: Box<dyn Engine>,
    bodies: Vec<BodySpec>,
    rate: u32,
}

fn raw(value: f64) -> i32 {
    (value * f64::from(ONE)) as i32
}

fn disc(at: [f64; 2], radius: f64, velocity: [f64; 2]) -> BodySpec {
    let form = Form::Disc { radius: raw(radius) };
    BodySpec { movable: true, form, position: at.map(raw), velocity: velocity.map(raw) }
}

fn brick(at: [f64; 2], half: [f64; 2], velocity: [f64; 2]) -> BodySpec {
    let form = Form::Box { half_extents: half.map(raw) };
    BodySpec { movable: true, form, position: at.map(raw), velocity: velocity.map(raw) }
}

fn wall(at: [f64; 2], half: [f64; 2]) -> BodySpec {
    BodySpec { movable: false, ..brick(at, half, [0.0; 2]) }
}

/// Where gravity pulls, bodies lie on this.
fn ground() -> BodySpec {
    wall([0.0, -1.0], [60.0, 1.0])
}

impl Lab {
    fn trial(self, matter: &Matter, bodies: Vec<BodySpec>) -> Trial {
        let scene = Scene {
            frames_per_second: self.rate,
            field: [[-60 * ONE; 2], [60 * ONE; 2]],
            bodies: bodies.clone(),
            // Only asks Box2D to bounce at every speed.
            restitution: u32::from(matter.restitution.is_some()),
            drive: Drive::Free,
            steps: 0,
            settle_steps: 0,
        };
        Trial { engine: create_of(matter, self.contender, &scene, self.settings), bodies, rate: self.rate }
    }
}

impl Trial {
    fn run(&mut self, seconds: f64, mut watch: impl FnMut(&Self)) {
        for _ in 0..(seconds * f64::from(self.rate)) as u32 {
            self.engine.step();
            watch(self);
        }
    }

    fn at(&self, body: usize) -> [f64; 2] {
        self.engine.position(body as u32)
    }

    fn velocity(&self, body: usize) -> [f64; 2] {
        self.engine.velocity(body as u32)
    }

    fn movable(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.bodies.len()).filter(|&body| self.bodies[body].movable)
    }

    fn top_speed(&self) -> f64 {
        self.movable().map(|body| self.velocity(body)).map(|[x, y]| x.hypot(y)).fold(0.0, f64::max)
    }

    /// Kinetic energy of bodies of mass 1.
    fn energy(&self) -> f64 {
        self.movable().map(|body| self.velocity(body)).map(|[x, y]| (x * x + y * y) / 2.0).sum()
    }
}

/// Greatest error of the speeds after a collision.
fn head_on(lab: Lab) -> f64 {
    let matter = Matter { restitution: Some(1.0), masses: vec![1.0, 50.0], ..Matter::default() };
    let mut trial =
        lab.trial(&matter, vec![disc([-5.0, 0.0], 0.5, [6.0, 0.0]), disc([5.0, 0.0], 0.5, [-2.0, 0.0])]);
    trial.run(2.0, |_| ());
    let expected = [(1.0 - 50.0) / 51.0 * 6.0 - 2.0 * 50.0 / 51.0 * 2.0, (2.0 * 6.0 - 49.0 * 2.0) / 51.0];
    (0..2).map(|body| (trial.velocity(body)[0] - expected[body]).abs()).fold(0.0, f64::max)
}

/// Part of the energy that an elastic gas has after 2,000 frames.
fn gas(lab: Lab) -> f64 {
    let mut generator = Generator::new(3);
    let mut bodies: Vec<_> = (0..200)
        .map(|i| {
            let speed = generator.point([-10 * ONE; 2], [10 * ONE; 2]).map(|v| f64::from(v) / f64::from(ONE));
            disc([f64::from(i % 15) * 2.6 - 18.2, f64::from(i / 15) * 2.8 - 18.2], 0.5, speed)
        })
        .collect();
    for side in [-1.0, 1.0] {
        bodies.push(wall([side * 22.0, 0.0], [2.0, 24.0]));
        bodies.push(wall([0.0, side * 22.0], [24.0, 2.0]));
    }
    let mut trial = lab.trial(&Matter { restitution: Some(1.0), ..Matter::default() }, bodies);
    let before = trial.energy();
    trial.run(2_000.0 / f64::from(lab.rate), |_| ());
    trial.energy() / before
}

/// The highest that an elastic ball that fell from 5 units gets in the second half of a minute.
fn bounce(lab: Lab) -> f64 {
    let matter = Matter { gravity: 10.0, restitution: Some(1.0), ..Matter::default() };
    let mut trial = lab.trial(&matter, vec![disc([0.0, 5.5], 0.5, [0.0; 2]), ground()]);
    trial.run(30.0, |_| ());
    let mut peak = 0.0_f64;
    trial.run(30.0, |trial| peak = peak.max(trial.at(0)[1] - 0.5));
    peak
}

/// Momentum that is left after a disc of momentum 300 ran into three that slept.
fn sleepers(lab: Lab) -> f64 {
    let masses = vec![1.0, 1.0, 1.0, 30.0];
    let mut bodies: Vec<_> = (0..3).map(|i| disc([f64::from(i), 0.0], 0.5, [0.0; 2])).collect();
    bodies.push(disc([-20.0, 0.0], 0.5, [0.0; 2]));
    let mut trial = lab.trial(&Matter { masses: masses.clone(), ..Matter::default() }, bodies);
    trial.run(3.0, |_| ());
    let mut velocities = Velocities::default();
    velocities.push(3, [10 * ONE, 0]);
    trial.engine.write_velocities(&velocities);
    trial.run(2.5, |_| ());
    (0..4).map(|body| f64::from(masses[body]) * trial.velocity(body)[0]).sum()
}

/// Greatest speed of twelve discs that begin within a hundredth of a unit.
fn spot(lab: Lab) -> f64 {
    let mut generator = Generator::new(4);
    let mut place =
        || generator.point([-ONE / 100; 2], [ONE / 100; 2]).map(|v| f64::from(v) / f64::from(ONE));
    let bodies = (0..12).map(|_| disc(place(), 0.5, [0.0; 2])).collect();
    let mut trial = lab.trial(&Matter::default(), bodies);
    let mut fastest = 0.0_f64;
    trial.run(5.0, |trial| fastest = fastest.max(trial.top_speed()));
    fastest
}

/// Greatest speed in the last of 20 seconds in a heap of 300 discs.
fn heap(lab: Lab) -> f64 {
    let mut generator = Generator::new(5);
    let mut bodies = vec![ground(), wall([-11.0, 30.0], [1.0, 30.0]), wall([11.0, 30.0], [1.0, 30.0])];
    bodies.extend((0..300).map(|i| {
        let x = f64::from(i % 16) * 1.2 - 9.0 + f64::from(generator.between(-3_000, 3_000)) / f64::from(ONE);
        disc([x, f64::from(i / 16) * 1.2 + 0.6], 0.5, [0.0; 2])
    }));
    let mut trial = lab.trial(&Matter { gravity: 10.0, friction: 0.5, ..Matter::default() }, bodies);
    trial.run(19.0, |_| ());
    let mut fastest = 0.0_f64;
    trial.run(1.0, |trial| fastest = fastest.max(trial.top_speed()));
    fastest
}

/// Greatest speed in the last of ten seconds in a tower, thousand for one that fell.
fn tower(lab: Lab, height: i32) -> f64 {
    let mut bodies = vec![ground()];
    bodies.extend((0..height).map(|i| brick([0.0, f64::from(i) + 0.5], [0.5; 2], [0.0; 2])));
    let mut trial = lab.trial(&Matter { gravity: 10.0, friction: 0.5, ..Matter::default() }, bodies);
    trial.run(9.0, |_| ());
    let mut fastest = 0.0_f64;
    trial.run(1.0, |trial| fastest = fastest.max(trial.top_speed()));
    let stands = trial.at(height as usize)[1] > f64::from(height) - 1.0;
    if stands { fastest } else { 1_000.0 }
}

/// How far the top of 1:15:225 leaves its place within ten seconds.
fn chain(lab: Lab) -> f64 {
    let mut bodies: Vec<_> = (0..3).map(|i| disc([0.0, f64::from(i) + 0.5], 0.5, [0.0; 2])).collect();
    bodies.push(ground());
    let masses = vec![1.0, 15.0, 225.0];
    let mut trial = lab.trial(&Matter { gravity: 10.0, masses, ..Matter::default() }, bodies);
    let mut way = 0.0_f64;
    trial.run(10.0, |trial| way = way.max((trial.at(2)[1] - 2.5).abs()));
    way
}

/// Five boxes of mass 1 below one of 100: how far the top leaves its place within ten seconds; thousand if it fell.
fn heavy_top(lab: Lab) -> f64 {
    let mut bodies: Vec<_> = (0..6).map(|i| brick([0.0, f64::from(i) + 0.5], [0.5; 2], [0.0; 2])).collect();
    bodies.push(ground());
    let masses = vec![1.0, 1.0, 1.0, 1.0, 1.0, 100.0];
    let mut trial = lab.trial(&Matter { gravity: 10.0, friction: 0.5, masses, ..Matter::default() }, bodies);
    let mut way = 0.0_f64;
    trial.run(10.0, |trial| way = way.max((trial.at(5)[1] - 5.5).abs()));
    if trial.at(5)[1] < 3.0 { 1_000.0 } else { way }
}

/// A heap of 120 discs with masses from 1 to 100 after 20 seconds: the greatest speed in the last one, and the greatest depth in a wall or
/// the ground.
fn mixed_heap(lab: Lab) -> [f64; 2] {
    const HALF: f64 = 6.0;
    let mut generator = Generator::new(6);
    let mut bodies: Vec<_> = (0..120)
        .map(|i| {
            let x =
                f64::from(i % 9) * 1.2 - 4.8 + f64::from(generator.between(-3_000, 3_000)) / f64::from(ONE);
            disc([x, f64::from(i / 9) * 1.2 + 0.6], 0.5, [0.0; 2])
        })
        .collect();
    let masses = (0..120).map(|_| 10.0_f32.powf(generator.between(0, 2_000) as f32 / 1_000.0)).collect();
    bodies.extend([ground(), wall([-HALF - 1.0, 30.0], [1.0, 30.0]), wall([HALF + 1.0, 30.0], [1.0, 30.0])]);
    let mut trial = lab.trial(&Matter { gravity: 10.0, friction: 0.5, masses, ..Matter::default() }, bodies);
    trial.run(19.0, |_| ());
    let mut fastest = 0.0_f64;
    trial.run(1.0, |trial| fastest = fastest.max(trial.top_speed()));
    let depth = |[x, y]: [f64; 2]| (0.5 - y).max(x.abs() + 0.5 - HALF);
    (fastest, trial.movable().map(|body| depth(trial.at(body))).fold(0.0, f64::max)).into()
}

/// Heaps that are drawn for [`drawn_heaps`].
const HEAPS: u64 = 20;

/// Heaps of 40 to 120 discs and boxes of all sizes and frictions with masses up to 1:`ratio`, thrown into a box: how many of [`HEAPS`] are
/// restless after 30 seconds or have a body more than a tenth of a unit in a wall.
fn drawn_heaps(lab: Lab, ratio: f64) -> f64 {
    const HALF: f64 = 6.0;
    const STILL: f64 = 1.0 / 16.0;
    let bad = (0..HEAPS).filter(|&seed| {
        let mut generator = Generator::new(100 + seed);
        let mut draw =
            |low: f64, high: f64| f64::from(generator.between(raw(low), raw(high))) / f64::from(ONE);
        let count = draw(40.0, 120.0) as usize;
        let mut masses = Vec::new();
        let mut bodies: Vec<_> = (0..count)
            .map(|i| {
                masses.push(ratio.powf(draw(0.0, 1.0)) as f32);
                let at = [(i % 7) as f64 * 1.6 - 4.8 + draw(-0.1, 0.1), (i / 7) as f64 * 1.6 + 0.8];
                let (half, speed) = ([draw(0.2, 0.7), draw(0.2, 0.7)], [draw(-6.0, 6.0), draw(-6.0, 6.0)]);
                if draw(0.0, 1.0) < 0.5 { disc(at, half[0], speed) } else { brick(at, half, speed) }
            })
            .collect();
        bodies.extend([
            ground(),
            wall([-HALF - 3.0, 60.0], [3.0, 60.0]),
            wall([HALF + 3.0, 60.0], [3.0, 60.0]),
        ]);
        let matter = Matter { gravity: 10.0, friction: draw(0.2, 0.9) as f32, masses, ..Matter::default() };
        let mut trial = lab.trial(&matter, bodies);
        trial.run(30.0, |_| ());
        let depth = |body: usize| {
            let ([x, y], half) = (
                trial.at(body),
                trial.bodies[body].form.half_extents().map(|h| f64::from(h) / f64::from(ONE)),
            );
            (half[1] - y).max(x.abs() + half[0] - HALF)
        };
        trial.top_speed() > STILL || trial.movable().any(|body| depth(body) > 0.1)
    });
    bad.count() as f64
}

/// How deep discs get into hills of a chain of segments, onto which they fall from 20 units: in any frame, and in the end. The deepest of
/// 300 falls; a thousand if one is below the hills.
fn hills(lab: Lab) -> [f64; 2] {
    let mut deepest = [0.0_f64; 2];
    for seed in 0..60 {
        let mut generator = Generator::new(200 + seed);
        let mut draw =
            |low: f64, high: f64| f64::from(generator.between(raw(low), raw(high))) / f64::from(ONE);
        let points: Vec<_> =
            (-20..=20).map(|i| f64::from(i)).map(|i| [i * 1.5, draw(-1.5, 1.5) + i * i * 0.04]).collect();
        let discs =
            (0..5).map(|i| disc([f64::from(i) * 8.0 - 16.0, 20.0], draw(0.2, 1.2), [0.0; 2])).collect();
        let chain = points.iter().map(|point| point.map(|c| c as f32)).collect();
        let mut trial = lab.trial(&Matter { gravity: 10.0, chain, ..Matter::default() }, discs);
        let depth = |trial: &Trial| {
            let of = |body: usize| depth_in_chain(trial.at(body), trial.bodies[body].form, &points);
            trial.movable().map(of).fold(0.0, f64::max)
        };
        trial.run(10.0, |trial| deepest[0] = deepest[0].max(depth(trial)));
        deepest[1] = deepest[1].max(depth(&trial));
    }
    deepest
}

/// How deep a disc is in a chain from left to right; a thousand below it.
fn depth_in_chain([x, y]: [f64; 2], form: Form, points: &[[f64; 2]]) -> f64 {
    let far = points.array_windows().map(|&[a, b]| {
        let edge = [b[0] - a[0], b[1] - a[1]];
        let along = ((x - a[0]) * edge[0] + (y - a[1]) * edge[1]) / (edge[0] * edge[0] + edge[1] * edge[1]);
        let along = along.clamp(0.0, 1.0);
        let below = (a[0]..b[0]).contains(&x) && y < a[1] + edge[1] * (x - a[0]) / edge[0];
        if below { -1_000.0 } else { (x - a[0] - along * edge[0]).hypot(y - a[1] - along * edge[1]) }
    });
    let far = far.fold(f64::INFINITY, f64::min);
    if far < 0.0 { 1_000.0 } else { f64::from(form.half_extents()[0]) / f64::from(ONE) - far }
}

/// Degrees by which discs are turned that pass a corner at a tenth of a unit; the greatest of forty.
fn corner(lab: Lab) -> f64 {
    let mut turned = 0.0_f64;
    for i in 0..40 {
        let start = -8.0 - f64::from(i) / 40.0;
        let bodies = vec![
            disc([start, start + 0.5 * 2.0_f64.sqrt() + 0.1 * 2.0_f64.sqrt()], 0.5, [7.0; 2]),
            wall([1.0, -1.0], [1.0; 2]),
        ];
        let mut trial = lab.trial(&Matter::default(), bodies);
        trial.run(2.5, |_| ());
        let [x, y] = trial.velocity(0);
        turned = turned.max((y.atan2(x).to_degrees() - 45.0).abs());
    }
    turned
}

/// How deep a disc of radius 2 that moves 1.6 units in a frame gets into a wall; the deepest of twenty.
fn sinking(lab: Lab) -> f64 {
    let mut deepest = 0.0_f64;
    for i in 0..20 {
        let bodies = vec![
            disc([-10.0 - f64::from(i) * 0.08, 0.0], 2.0, [1.6 * f64::from(lab.rate), 0.0]),
            wall([3.0, 0.0], [3.0, 20.0]),
        ];
        let mut trial = lab.trial(&Matter::default(), bodies);
        trial.run(1.0, |trial| deepest = deepest.max(trial.at(0)[0] + 2.0));
    }
    deepest
}

/// Part of its speed that a box keeps on flush tiles.
fn tiles(lab: Lab) -> f64 {
    let mut bodies = vec![brick([-18.0, 0.5], [0.5; 2], [5.0, 0.0])];
    bodies.extend((-20..20).map(|i| wall([f64::from(i) + 0.5, -0.5], [0.5; 2])));
    let mut trial = lab.trial(&Matter { gravity: 10.0, ..Matter::default() }, bodies);
    trial.run(6.0, |_| ());
    trial.velocity(0)[0] / 5.0
}

/// How many of forty discs at 20 units/s pass through a resting one.
fn bullets(lab: Lab) -> f64 {
    let passed = (0..40).filter(|&i| {
        let bodies =
            vec![disc([-5.0 - f64::from(i) / 40.0, 0.0], 0.2, [20.0, 0.0]), disc([0.0; 2], 0.2, [0.0; 2])];
        let mut trial = lab.trial(&Matter::default(), bodies);
        trial.run(0.6, |_| ());
        trial.at(0)[0] > trial.at(1)[0]
    });
    passed.count() as f64
}

/// A truth: what is asked, what is expected, and how an engine answers.
type Truth = (&'static str, &'static str, fn(Lab) -> f64);

const MASS_TRUTHS: [Truth; 3] = [
    ("five boxes of mass 1 below one of 100: way of the top", "small", heavy_top),
    ("heap of 120 discs, masses 1:100: speed after 20 s", "0", |lab| mixed_heap(lab)[0]),
    ("heap of 120 discs, masses 1:100: depth in walls", "small", |lab| mixed_heap(lab)[1]),
];

/// What long frames make hard.
const LONG_TRUTHS: [Truth; 4] = [
    ("20 drawn heaps, masses 1:30: restless or in a wall after 30 s", "0", |lab| drawn_heaps(lab, 30.0)),
    ("20 drawn heaps, masses 1:100: restless or in a wall after 30 s", "0", |lab| drawn_heaps(lab, 100.0)),
    ("300 discs fall 20 units onto hills: deepest in any frame", "0", |lab| hills(lab)[0]),
    ("300 discs fall 20 units onto hills: deepest after 10 s", "0", |lab| hills(lab)[1]),
];

const TRUTHS: [Truth; 13] = [
    ("head-on, e = 1, masses 1:50: error of the speeds", "0", head_on),
    ("elastic gas, 200 discs, 2,000 frames: energy kept", "1", gas),
    ("elastic ball from 5 units: highest peak after 30 s", "5", bounce),
    ("momentum 300 into three sleepers: momentum after", "300", sleepers),
    ("12 discs in one spot: greatest speed", "small", spot),
    ("heap of 300 discs, friction 0.5: speed after 20 s", "0", heap),
    ("tower of 10 boxes: speed after 10 s (1,000: fell)", "0", |lab| tower(lab, 10)),
    ("tower of 20 boxes: speed after 10 s (1,000: fell)", "0", |lab| tower(lab, 20)),
    ("masses 1:15:225 stacked: way of the top", "below 0.1", chain),
    ("corner passed at 0.1 units: degrees turned", "0", corner),
    ("radius 2, 1.6 units per frame: depth in a wall", "0", sinking),
    ("box over flush tiles: speed kept", "1", tiles),
    ("radius 0.2 at 20 units/s at a resting one: through, of 40", "0", bullets),
];

/// All truths as a table.
pub fn table(settings: Settings) -> String {
    let mut text = String::from(
        "| truth | fps | expected | testudo | rapier2d | Box2D |\n| --- | --- | --- | --- | --- | --- |\n",
    );
    let usual = TRUTHS.map(|truth| (truth, RATES));
    for ((name, expected, ask), rates) in usual
        .into_iter()
        .chain(MASS_TRUTHS.map(|truth| (truth, MASS_RATES)))
        .chain(LONG_TRUTHS.map(|truth| (truth, LONG_RATES)))
    {
        for &rate in rates {
            let answers = ENGINES.map(|contender| format!("{:.3}", ask(Lab { contender, rate, settings })));
            writeln!(text, "| {name} | {rate} | {expected} | {} |", answers.join(" | "))
                .expect("a string takes all");
        }
    }
    text
}
