//! Lends a pool of threads to the steps of a large crowd: the bits are those of one thread.
//!
//! `cargo run --release -p testudo-physics --features rayon --example threads`
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a program may ask how long its frames take"
)]

use std::error::Error;
use std::time::Instant;

use testudo_physics::{BodyDef, Fx, SameThread, Shape, Vec2, Workers, World, WorldDef};

const FRAMES: u32 = 100;

/// Two crowds that march through each other, and what all of them want.
fn crowd(columns: i32, rows: i32) -> Result<World, Box<dyn Error>> {
    let mut world = World::new(WorldDef::new())?;
    let unit = BodyDef::dynamic(Shape::circle(Fx::lit("0.5")));
    for i in 0..columns * rows {
        let (x, y) = (i % columns, i / columns);
        let towards_the_middle = Vec2::from_ints(if x < columns / 2 { 3 } else { -3 }, 0);
        world.create_body(&unit.position(Vec2::from_ints(x, y)).velocity(towards_the_middle))?;
    }
    Ok(world)
}

fn play(name: &str, workers: &dyn Workers) -> Result<u64, Box<dyn Error>> {
    let mut world = crowd(200, 100)?;
    let start = Instant::now();
    for _ in 0..FRAMES {
        world.step_on(20, workers)?;
    }
    let ms = start.elapsed().as_secs_f64() * 1e3 / f64::from(FRAMES);
    println!("{name}: {ms:.2} ms per frame, checksum {:016x}", world.checksum());
    Ok(world.checksum())
}

fn main() -> Result<(), Box<dyn Error>> {
    let alone = play("one thread", &SameThread)?;
    for threads in [1, 2, 3, 7] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        // This thread works, too, so one thread fewer of the pool is asked.
        let checksum = play(&format!("a pool of {threads}"), &pool)?;
        assert_eq!(checksum, alone, "threads change no bit");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use testudo_physics::{BodyDef, Fx, SameThread, Shape, Vec2, Workers, World, WorldDef};

    #[test]
    fn a_pool_of_rayon_gives_the_same_bits() {
        let checksum = |workers: &dyn Workers| {
            let mut world = World::new(WorldDef::new()).unwrap();
            for i in 0..4_000 {
                let (x, y) = (i % 80, i / 80);
                let def = BodyDef::dynamic(Shape::circle(Fx::lit("0.55"))).position(Vec2::from_ints(x, y));
                world.create_body(&def.velocity(Vec2::from_ints(40 - x, 25 - y))).unwrap();
            }
            for _ in 0..5 {
                world.step_on(20, workers).unwrap();
            }
            world.checksum()
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        assert_eq!(checksum(&pool), checksum(&SameThread));
    }
}
