//! Threads change no bit: a step on any number of them.

use testudo_physics::Vec2;
use testudo_tests::threads::Threads;

use crate::build::Chance;
use crate::operations::{operate, same};
use crate::workers::{assert_same_bits, crowd};

#[test]
fn a_step_on_any_number_of_threads_gives_the_same_bits() {
    assert_same_bits(vec![Box::new(Threads(2)), Box::new(Threads(3)), Box::new(Threads(8))]);
}

/// Random changes to a crowd that is large enough to be shared out: some that leave it to geometry and masses alone, which threads set up, and some
/// that ask for more (sensors, locked axes, filters, fast bodies).
#[test]
fn operations_at_random_give_the_same_bits_on_one_two_three_and_seven_threads() {
    for seed in 0..3 {
        let mut worlds =
            [1, 2, 3, 7].map(|threads| (Threads(threads), crowd(), Chance::new(seed), Vec::new()));
        for frame in 0..16 {
            for (threads, world, chance, ids) in &mut worlds {
                let units: Vec<_> = world.bodies().map(|body| body.id()).collect();
                for _ in 0..chance.below(30) {
                    let unit = units[chance.below(units.len() as u32) as usize];
                    let speed = Vec2::from_ints(chance.between(-9, 9) as i32, chance.between(-9, 9) as i32);
                    match chance.below(3) {
                        0 if frame < 8 && world.remove_body(unit).is_ok() => {}
                        _ => _ = world.set_velocity(unit, speed),
                    }
                }
                if frame >= 8 {
                    (0..chance.below(9)).for_each(|_| operate(world, ids, chance));
                }
                world.step_on(20, threads).unwrap();
            }
            let [(_, alone, ..), others @ ..] = &worlds;
            for (Threads(threads), world, ..) in others {
                same(alone, world, &format!("seed {seed}, frame {frame}, {threads} threads"));
            }
        }
    }
}
