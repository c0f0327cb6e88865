//! A hundred units go through a door that is 1.2 times as wide as one of them. If all push, two or three of them stand in an arch and nobody
//! gets through. Two rules of a game that let all through: each unit waits for those nearer to the door, or the one that waited longest gets a rank
//! for a moment.
//!
//! `cargo run --release -p testudo-physics --example door`

use std::error::Error;
use testudo_physics::{BodyDef, BodyId, Fx, QueryFilter, Shape, Vec2, World, WorldDef};

const FRAMES_PER_SECOND: u32 = 20;
const SPEED: Fx = Fx::const_from_int(3);
/// Before the middle of the door, which leads to the right.
const DOOR: Vec2 = Vec2::new(Fx::from_bits(-(1 << 15)), Fx::ZERO);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Rule {
    Push,
    GiveWay,
    Patience,
}

/// A unit of the game.
struct Unit {
    body: BodyId,
    last: Vec2,
    /// Frames for which it has made no progress, and frames for which it keeps its rank.
    waited: u32,
    pushing: u32,
}

/// The world with its door, and the units on the left.
fn scene() -> Result<(World, Vec<Unit>), Box<dyn Error>> {
    let mut world = World::new(WorldDef::new())?;
    for side in [-1, 1] {
        let wall = BodyDef::static_body(Shape::rect(Fx::lit("0.5"), Fx::from_num(30)));
        world.create_body(&wall.position(Vec2::new(Fx::ZERO, side * Fx::lit("30.6"))))?;
    }
    let disc = BodyDef::dynamic(Shape::circle(Fx::lit("0.5")));
    let mut units = Vec::new();
    for i in 0..100 {
        let aside = Fx::from_num(world.rng().below(100)) / 1_000;
        let last =
            Vec2::new(Fx::from_num(-4 - i % 10 * 5 / 4) - aside, Fx::from_num(i / 10 * 5 / 4 - 6) + aside);
        units.push(Unit { body: world.create_body(&disc.position(last))?, last, waited: 0, pushing: 0 });
    }
    Ok((world, units))
}

fn place(world: &World, body: BodyId) -> Vec2 {
    world.body(body).map_or(Vec2::ZERO, |body| body.position())
}

/// Whether somebody within 1.15 units of this unit is nearer to the door.
fn must_wait(world: &World, body: BodyId, near: &mut Vec<(BodyId, Fx)>) -> Result<bool, Box<dyn Error>> {
    let mut others = QueryFilter::new().exclude(body);
    others.statics = false;
    // Distances count from the edge of the other unit.
    world.nearest(place(world, body), 6, Fx::lit("0.65"), &others, near)?;
    let left = |body| place(world, body).distance(DOOR);
    Ok(near.iter().any(|&(other, _)| place(world, other).x > DOOR.x || left(other) < left(body)))
}

/// A unit that is blocked for a second, and for longer than all others within two units, pushes them aside for half a second.
fn give_ranks(world: &mut World, units: &mut [Unit]) -> Result<(), Box<dyn Error>> {
    let places: Vec<_> = units.iter().map(|unit| place(world, unit.body)).collect();
    for (unit, &place) in units.iter_mut().zip(&places) {
        let slow = place.distance(unit.last) * i64::from(FRAMES_PER_SECOND) < SPEED / 4;
        unit.waited = if slow && place.x < DOOR.x { unit.waited + 1 } else { 0 };
        unit.pushing = unit.pushing.saturating_sub(1);
        unit.last = place;
    }
    for at in 0..units.len() {
        let patient = (0..units.len()).all(|other| {
            let is_near = other != at && places[other].distance(places[at]) < Fx::from_num(2);
            !is_near || units[other].pushing == 0 && (units[other].waited, other) < (units[at].waited, at)
        });
        if units[at].waited > FRAMES_PER_SECOND && patient {
            (units[at].waited, units[at].pushing) = (0, FRAMES_PER_SECOND / 2);
        }
        world.set_dominance(units[at].body, i8::from(units[at].pushing > 0))?;
    }
    Ok(())
}

/// How many come through in a minute.
fn play(rule: Rule) -> Result<usize, Box<dyn Error>> {
    let (mut world, mut units) = scene()?;
    let mut near = Vec::new();
    for _ in 0..60 * FRAMES_PER_SECOND {
        if rule == Rule::Patience {
            give_ranks(&mut world, &mut units)?;
        }
        for unit in &units {
            let place = place(&world, unit.body);
            let target = if place.x < DOOR.x { DOOR } else { Vec2::new(place.x + Fx::from_num(9), place.y) };
            let waits = rule == Rule::GiveWay && place.x < DOOR.x && must_wait(&world, unit.body, &mut near)?;
            let way = (target - place).normalize();
            let pace = if waits { Fx::ZERO } else { SPEED };
            world.set_velocity(unit.body, Vec2::new(way.x * pace, way.y * pace))?;
        }
        world.step(FRAMES_PER_SECOND)?;
    }
    Ok(units.iter().filter(|unit| place(&world, unit.body).x > Fx::ONE).count())
}

fn main() -> Result<(), Box<dyn Error>> {
    for rule in [Rule::Push, Rule::GiveWay, Rule::Patience] {
        let through = play(rule)?;
        println!("{rule:?}: {through} of 100 are through after a minute");
        assert_eq!(through > 50, rule != Rule::Push, "pushing jams, and both rules help");
    }
    Ok(())
}
