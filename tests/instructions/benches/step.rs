//! One step of a warmed-up scene, as a whole and phase by phase; the state in bytes.

#![allow(missing_docs)] // of what the macros generate

use std::hint::black_box;

use gungraun::prelude::*;
use gungraun::{Callgrind, EntryPoint};
use testudo_physics::{BodyDef, BodyId, Fx, Shape, Vec2, World, WorldDef};
use testudo_tests::scenes::{self, Form, Scene};

/// Steps before the one that is counted: contacts are warm and buffers have their sizes.
const WARM_STEPS: u32 = 20;

/// A scene in the middle of its course.
fn stage(scene: Scene) -> World {
    let mut world = World::new(WorldDef::new()).expect("defaults");
    let raw = |[x, y]: [i32; 2]| Vec2::new(Fx::from_bits(x.into()), Fx::from_bits(y.into()));
    let mut units: Vec<(BodyId, Vec2)> = Vec::new();
    for spec in &scene.bodies {
        let shape = match spec.form {
            Form::Disc { radius } => Shape::Circle { radius: Fx::from_bits(radius.into()) },
            Form::Box { half_extents: [x, y] } => {
                Shape::rect(Fx::from_bits(x.into()), Fx::from_bits(y.into()))
            }
        };
        let def = if spec.movable { BodyDef::dynamic(shape) } else { BodyDef::static_body(shape) };
        let def = def.position(raw(spec.position)).velocity(raw(spec.velocity));
        let id = world.create_body(&def.restitution(Fx::from_num(scene.restitution))).expect("in range");
        if spec.movable {
            units.push((id, raw(spec.velocity)));
        }
    }
    for step in 0..=WARM_STEPS {
        if scene.restitution == 0 {
            for &(id, velocity) in &units {
                world.set_velocity(id, velocity).expect("alive");
            }
        }
        if step < WARM_STEPS {
            world.step(scene.frames_per_second).expect("in range");
        }
    }
    world
}

fn crowd(count: u32) -> World {
    stage(scenes::crowd(count))
}

fn bounce(count: u32) -> World {
    stage(scenes::bounce(count))
}

fn idle(count: u32) -> World {
    stage(scenes::idle(count))
}

fn saved(count: u32) -> (World, Vec<u8>) {
    let world = crowd(count);
    let mut bytes = Vec::new();
    world.snapshot(&mut bytes);
    (world, bytes)
}

/// Counts only what one function of the step runs, its callees included, over all of [`WARM_STEPS`] and the last one: 21 steps.
fn phase(function: &str) -> LibraryBenchmarkConfig {
    let phase = EntryPoint::Custom(function.into());
    let mut config = LibraryBenchmarkConfig::default();
    config.tool(Callgrind::with_args(["--cache-sim=no"]).entry_point(phase));
    config
}

#[library_benchmark]
#[bench::crowd_1_000(args = (1_000), setup = crowd)]
#[bench::crowd_10_000(args = (10_000), setup = crowd)]
#[bench::bounce_10_000(args = (10_000), setup = bounce)]
#[bench::idle_50_000(args = (50_000), setup = idle)]
fn whole_step(mut world: World) -> World {
    world.step(black_box(20)).expect("in range");
    world
}

#[library_benchmark(setup = crowd)]
#[bench::a_gather(args = (10_000), config = phase("*Stepper::gather"))]
#[bench::b_find_resting_pairs(args = (10_000), config = phase("*Near::find"))]
#[bench::c_find_contacts(args = (10_000), config = phase("*World>::find_contacts"))]
#[bench::c_of_which_pairs(args = (10_000), config = phase("*Path::join"))]
#[bench::d_solve(args = (10_000), config = phase("*Stepper::solve"))]
#[bench::e_keep_contacts_and_move(args = (10_000), config = phase("*World>::keep_contacts_and_move"))]
#[bench::e_of_which_move_bodies(args = (10_000), config = phase("*World>::move_bodies"))]
fn phases_of_21_steps(mut world: World) -> World {
    world.step(black_box(20)).expect("in range");
    world
}

#[library_benchmark(setup = crowd)]
#[bench::crowd_10_000(10_000)]
fn checksum(world: World) -> World {
    black_box(world.checksum());
    world
}

#[library_benchmark(setup = saved)]
#[bench::crowd_10_000(10_000)]
fn snapshot((world, mut bytes): (World, Vec<u8>)) -> (World, Vec<u8>) {
    bytes.clear();
    world.snapshot(&mut bytes);
    (world, bytes)
}

#[library_benchmark(setup = saved)]
#[bench::crowd_10_000(10_000)]
fn restore((mut world, bytes): (World, Vec<u8>)) -> (World, Vec<u8>) {
    world.restore(&bytes).expect("own bytes");
    (world, bytes)
}

#[library_benchmark(setup = saved)]
#[bench::crowd_10_000(10_000)]
fn from_bytes((world, bytes): (World, Vec<u8>)) -> (World, World) {
    (world, World::from_bytes(&bytes).expect("own bytes"))
}

library_benchmark_group!(name = steps, benchmarks = [whole_step, phases_of_21_steps]);
library_benchmark_group!(name = state, benchmarks = [checksum, snapshot, restore, from_bytes]);
main!(
    config = LibraryBenchmarkConfig::default().tool(Callgrind::with_args(["--cache-sim=no"])),
    library_benchmark_groups = [steps, state]
);
