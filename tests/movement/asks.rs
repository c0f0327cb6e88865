//! On large ground paths are planned for those who ask, a bounded number in each frame.

use testudo_physics::{BodyId, Vec2};

use crate::scene::{RATE, Scene, open_world, usual};

/// Forty units in two tiles; the first one is alone in its.
fn forty(scene: &mut Scene, y: i32) -> Vec<BodyId> {
    let place = |n: i32| Vec2::from_ints(if n == 0 { -125 } else { -158 + n % 8 * 2 }, y + n / 8 * 2);
    (0..40).map(|n| scene.add(place(n))).collect()
}

/// An order in every second frame, in which the others think, too. All asks were the first group's, for ever.
#[test]
fn a_group_with_a_new_goal_in_every_turn_does_not_keep_others_from_their_paths() {
    // Ground of 10 x 10 tiles, all of whose fields are corridors.
    let mut scene = Scene::of(open_world(), usual(160).whole_up_to(0));
    let restless = forty(&mut scene, -150);
    let others = forty(&mut scene, 100);
    for turn in 0..5 * RATE as i32 {
        scene.go(&restless, Vec2::from_ints(150, turn - 50));
        if turn == 0 {
            scene.go(&others, Vec2::from_ints(150, 0));
        }
        (0..2).for_each(|_| scene.step());
    }
    assert_eq!(scene.waiting(&others), 0, "of 40 wait for their paths");
}
