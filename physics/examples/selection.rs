//! Queries of a strategy game: the units in a selection box, lines of sight, the nearest unit.
//! Run: `cargo run -p testudo-physics --example selection`

use testudo_physics::{Aabb, BodyDef, Filter, Fx, QueryFilter, Shape, Vec2, World, WorldDef};

const OWN: u32 = 1 << 0;
const ENEMY: u32 = 1 << 1;
const BUILDING: u32 = 1 << 2;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut world = World::new(WorldDef::new())?;
    let unit = |x, y, layers| {
        BodyDef::dynamic(Shape::circle(Fx::from_num(1) / 2))
            .position(Vec2::from_ints(x, y))
            .filter(Filter::new(layers, u32::MAX))
    };
    for i in 0..20 {
        world.create_body(&unit(i % 5 * 2, i / 5 * 2, OWN).user(i as u64))?;
    }
    let far = world.create_body(&unit(30, 0, ENEMY).user(100))?;
    world.create_body(&unit(18, 12, ENEMY).user(101))?;
    let wall = Shape::rect(Fx::ONE, Fx::from_num(4));
    let building = Filter::new(BUILDING, u32::MAX);
    world.create_body(&BodyDef::static_body(wall).position(Vec2::from_ints(16, 0)).filter(building))?;

    let only = |mask| QueryFilter::new().filter(Filter::new(u32::MAX, mask));
    let mut selected = Vec::new();
    let mouse = Aabb { min: Vec2::from_ints(-1, -1), max: Vec2::from_ints(4, 3) };
    world.query_area_exact(mouse, &only(OWN), &mut selected);
    println!("The box selects {} of our units.", selected.len());
    assert_eq!(selected.len(), 6);

    let eye = selected[0];
    let (from, to) = (world.body(eye).unwrap().position(), world.body(far).unwrap().position());
    let hit = world.ray_cast(from, to, &only(ENEMY | BUILDING).exclude(eye))?;
    let hit = hit.expect("something is in the way");
    println!("Its first unit looks at the far enemy and sees something after {:.2} units.", hit.distance);
    assert_ne!(hit.body, far, "the building hides it");

    let mut near = Vec::new();
    world.nearest(from, 1, Fx::from_num(50), &only(ENEMY), &mut near)?;
    let (enemy, distance) = near[0];
    println!("The nearest enemy is unit {}, {distance:.2} units away.", world.body(enemy).unwrap().user());
    Ok(())
}
