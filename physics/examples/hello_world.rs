//! A ball rolls into a row of boxes on open ground. Run: `cargo run -p testudo-physics --example hello_world`

use testudo_physics::{BodyDef, Fx, Shape, Vec2, World, WorldDef};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut world = World::new(WorldDef::new())?;

    let ball = BodyDef::dynamic(Shape::circle(Fx::ONE))
        .position(Vec2::from_ints(-10, 0))
        .velocity(Vec2::from_ints(12, 0))
        .mass(Fx::from_num(4))
        .ground_friction(Fx::from_num(2));
    let ball = world.create_body(&ball)?;

    let half = Fx::from_num(1) / 2;
    for i in 0..4 {
        let box_ = BodyDef::dynamic(Shape::rect(half, half)).ground_friction(Fx::from_num(3));
        world.create_body(&box_.position(Vec2::from_ints(2 * i, 0)))?;
    }

    for frame in 0..=180 {
        if frame % 30 == 0 {
            let places: Vec<String> = world.bodies().map(|b| format!("{:6.2}", b.position().x)).collect();
            println!("frame {frame:3}  x = {}", places.join(" "));
        }
        world.step(60)?; // one frame of 1/60 s
    }

    let ball = world.body(ball).expect("nobody removed it");
    println!(
        "The ball came to rest at {:?}; the same on every machine: {:016x}",
        ball.position(),
        world.checksum()
    );
    Ok(())
}
