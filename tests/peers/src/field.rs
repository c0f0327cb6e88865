//! The cost of pushing one unit of a crowd at rest, in all engines, and what scenes of units share.

use std::fmt::Write;

use testudo_tests::scenes::{BodySpec, Drive, Form, ONE, Scene, UNIT_RADIUS, UNIT_SPEED};

use crate::engine::{Contender, Settings, Velocities, create};
use crate::measure::{Summary, time_us};

/// The engines compared.
pub(crate) const ENGINES: [Contender; 3] = [Contender::Testudo, Contender::Rapier, Contender::Box2d];

/// Raw to units.
pub(crate) fn units(value: i32) -> f64 {
    f64::from(value) / f64::from(ONE)
}

/// Bodies on a plane.
pub(crate) fn scene(bodies: Vec<BodySpec>, frames_per_second: u32) -> Scene {
    Scene {
        frames_per_second,
        field: [[-60 * ONE; 2], [60 * ONE; 2]],
        bodies,
        restitution: 0,
        drive: Drive::Free,
        steps: 0,
        settle_steps: 0,
    }
}

/// A unit.
pub(crate) fn disc(position: [i32; 2]) -> BodySpec {
    BodySpec { movable: true, form: Form::Disc { radius: UNIT_RADIUS }, position, velocity: [0, 0] }
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
    scene(bodies, 20)
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
