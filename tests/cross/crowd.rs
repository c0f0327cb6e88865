//! A crowd of 10,000 marches for 400 steps. `speed.sh` runs this with and without wide instructions; the exit code is a byte of the
//! checksum.

use std::process::ExitCode;

use testudo_physics::{BodyDef, BodyId, Fx, Shape, Vec2, World, WorldDef};
use testudo_tests::scenes::{self, Form};

fn main() -> ExitCode {
    let scene = scenes::crowd(10_000);
    let vector = |[x, y]: [i32; 2]| Vec2::new(Fx::from_bits(i64::from(x)), Fx::from_bits(i64::from(y)));
    let mut world = World::new(WorldDef::new()).expect("defaults are valid");
    let mut units: Vec<(BodyId, Vec2)> = Vec::new();
    for body in &scene.bodies {
        let shape = match body.form {
            Form::Disc { radius } => Shape::circle(Fx::from_bits(i64::from(radius))),
            Form::Box { half_extents } => Shape::Rect { half_extents: vector(half_extents) },
        };
        let def = if body.movable { BodyDef::dynamic(shape) } else { BodyDef::static_body(shape) };
        let id = world.create_body(&def.position(vector(body.position))).expect("scenes keep the limits");
        if body.movable {
            units.push((id, vector(body.velocity)));
        }
    }
    for _ in 0..scene.steps {
        for &(id, velocity) in &units {
            world.set_velocity(id, velocity).expect("alive");
        }
        world.step(scene.frames_per_second).expect("a valid rate");
    }
    ExitCode::from(world.checksum() as u8)
}
