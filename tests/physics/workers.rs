//! The threads that help with a step, and when they come, do not affect the bits. `threads.rs` tests this with real threads.

use std::cell::Cell;

use testudo_physics::{BodyDef, Fx, Shape, Vec2, Workers, World, WorldDef};

/// A bad pool: may forget the step, runs it twice, and helps when there is nothing to help.
#[derive(Default)]
struct Careless {
    asked: Cell<usize>,
}

impl Workers for Careless {
    fn threads(&self) -> usize {
        usize::MAX
    }

    fn run(&self, step: &mut dyn FnMut(), help: &(dyn Fn() + Sync)) {
        self.asked.set(self.asked.get() + 1);
        match self.asked.get() % 3 {
            0 => help(),
            1 => {
                step();
                help();
                step();
            }
            _ => {}
        }
    }
}

/// A dense block of discs and boxes that run into each other: several windows of pairs.
pub(crate) fn crowd() -> World {
    let mut world = World::new(WorldDef::new()).unwrap();
    for i in 0..4_000 {
        let (x, y) = (i % 80, i / 80);
        let shape = if i % 5 == 0 {
            Shape::rect(Fx::lit("0.4"), Fx::lit("0.45"))
        } else {
            Shape::circle(Fx::lit("0.5"))
        };
        let towards_the_middle = Vec2::from_ints(if x < 40 { 3 } else { -3 }, if y < 25 { 1 } else { -1 });
        let def = BodyDef::dynamic(shape).position(Vec2::from_ints(x, y)).velocity(towards_the_middle);
        world.create_body(&def).unwrap();
    }
    world
}

/// Steps the crowd alone and with every pool: same bits, same events.
pub(crate) fn assert_same_bits(pools: Vec<Box<dyn Workers>>) {
    let mut reference = crowd();
    let mut others: Vec<_> = pools.into_iter().map(|pool| (crowd(), pool)).collect();
    for frame in 0..20 {
        reference.step(20).unwrap();
        for (world, pool) in &mut others {
            world.step_on(20, &**pool).unwrap();
            assert_eq!(world.checksum(), reference.checksum(), "frame {frame}, {} threads", pool.threads());
            assert_eq!(world.contacts_began(), reference.contacts_began());
            assert_eq!(world.contacts_ended(), reference.contacts_ended());
        }
    }
}

#[test]
fn a_step_that_is_forgotten_or_run_twice_gives_the_same_bits() {
    assert_same_bits(vec![Box::new(Careless::default())]);
}

#[test]
fn a_large_world_asks_for_help_and_a_small_one_does_not() {
    let pool = Careless::default();
    crowd().step_on(20, &pool).unwrap();
    assert_eq!(pool.asked.get(), 1);

    let mut small = World::new(WorldDef::new()).unwrap();
    small.create_body(&BodyDef::dynamic(Shape::circle(Fx::ONE))).unwrap();
    let pool = Careless::default();
    small.step_on(20, &pool).unwrap();
    assert_eq!(pool.asked.get(), 0);
}
