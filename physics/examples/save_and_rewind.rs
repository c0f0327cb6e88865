//! Saves the world before every frame, rewinds two seconds and plays them again: the same pushes give the same bits,
//! another push gives others.
//!
//! `cargo run -p testudo-physics --example save_and_rewind`

use std::error::Error;
use testudo_physics::{Aabb, BodyDef, EdgePolicy, Fx, Shape, Vec2, World, WorldDef};

const FRAMES_PER_SECOND: u32 = 60;
const KEPT_FRAMES: u64 = 2 * FRAMES_PER_SECOND as u64;

/// The states before each frame of the last two seconds. Buffers are reused, so saving allocates nothing once they have grown.
struct Ring(Vec<Vec<u8>>);

impl Ring {
    fn at(&mut self, frame: u64) -> &mut Vec<u8> {
        &mut self.0[(frame % KEPT_FRAMES) as usize]
    }
}

/// Forty balls in a pen; nothing slows them down.
fn pen() -> Result<World, Box<dyn Error>> {
    let bounds = Aabb { min: Vec2::from_ints(-12, -12), max: Vec2::from_ints(12, 12) };
    let mut world = World::new(WorldDef::new().bounds(bounds).edge(EdgePolicy::Bounce))?;
    let ball = BodyDef::dynamic(Shape::circle(Fx::ONE)).restitution(Fx::ONE);
    for i in 0..40 {
        let place = Vec2::from_ints(i % 8 * 3 - 10, i / 8 * 4 - 8);
        world.create_body(&ball.position(place).velocity(Vec2::from_ints(i % 7 - 3, i % 5 - 2)))?;
    }
    Ok(world)
}

/// Plays up to a frame. The players' input is one push every half second, to the right or to the left.
fn play(world: &mut World, ring: &mut Ring, until: u64, push: i32) -> Result<u64, Box<dyn Error>> {
    while world.frame() < until {
        world.snapshot(ring.at(world.frame()));
        if world.frame().is_multiple_of(30) {
            let pushed = world.bodies().next().map(|body| body.id()).ok_or("an empty pen")?;
            world.apply_impulse(pushed, Vec2::from_ints(push, 0))?;
        }
        world.step(FRAMES_PER_SECOND)?;
    }
    Ok(world.checksum())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut world = pen()?;
    let mut ring = Ring(vec![Vec::new(); KEPT_FRAMES as usize]);
    let (then, now) = (300 - KEPT_FRAMES, 300);
    let first = play(&mut world, &mut ring, now, 5)?;
    println!("frame {now}: checksum {first:016x}, {} bytes per snapshot", ring.at(then).len());
    for push in [5, -5] {
        world.restore(ring.at(then))?;
        println!("rewound to frame {}: checksum {:016x}", world.frame(), world.checksum());
        let again = play(&mut world, &mut ring, now, push)?;
        println!("frame {now} again, pushed by {push}: checksum {again:016x}");
        assert_eq!(again == first, push == 5, "the same input gives the same bits, another one gives others");
    }
    Ok(())
}
