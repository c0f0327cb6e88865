//! Units of one order trade their posts.

use testudo_movement::{Crowd, CrowdDef, GroundDef, MoverDef};
use testudo_physics::{BodyId, Fx, Vec2};

use crate::maps::square;
use crate::scene::{RATE, Scene, open_world};

/// Two small units that run into each other on the way to each other's places, which are far apart because a large one is among them.
/// So far apart they begin, and so far aside.
fn two_that_cross(apart: Fx, aside: Fx) -> (Scene, [BodyId; 2]) {
    let sizes = [Fx::ONE / 2, Fx::from_num(2)];
    let mut scene = Scene::of(open_world(), CrowdDef::new(GroundDef::new(square(32)).sizes(&sizes)));
    let pair = [-3, 3].map(|x| scene.add(Vec2::from_ints(x, 0)));
    let large = scene.add_disc(sizes[1], Vec2::from_ints(0, -20), MoverDef::default());
    scene.go(&[pair[0], pair[1], large], Vec2::ZERO);
    let [one, two] = pair.map(|unit| scene.crowd.post(unit).unwrap());
    let (middle, way) = ((one + two) * (Fx::ONE / 2), (two - one).normalize());
    let off = (way * apart + Vec2::new(-way.y, way.x) * aside) * (Fx::ONE / 2);
    scene.world.set_position(pair[0], middle + off).unwrap();
    scene.world.set_position(pair[1], middle - off).unwrap();
    (scene, pair)
}

/// Whoever thought after the other one in the frame of the trade went on to its old post for up to half a second.
#[test]
fn both_turn_to_their_new_posts_in_the_frame_after_a_trade() {
    let (mut trades, mut late) = (0, 0);
    for (apart, aside) in (10..20).flat_map(|apart| (-4..5).map(move |aside| (apart, aside))) {
        let [apart, aside] = [apart, aside].map(|tenths| Fx::from_num(tenths) / 10);
        let (Scene { mut world, mut crowd, .. }, pair) = two_that_cross(apart, aside);
        let posts = |crowd: &Crowd| pair.map(|unit| crowd.post(unit).unwrap());
        let (mut before, mut has_traded) = (posts(&crowd), false);
        for _ in 0..2 * RATE {
            let old = pair.map(|unit| world.body(unit).unwrap().velocity());
            crowd.step(&mut world, RATE).unwrap();
            for (unit, old) in pair.into_iter().zip(old) {
                let (body, post) = (world.body(unit).unwrap(), crowd.post(unit).unwrap());
                let way = (post - body.position()).normalize();
                let turns = body.velocity().dot(way) > old.dot(way) || body.velocity().dot(way) > Fx::ZERO;
                late += u32::from(has_traded && !turns);
            }
            has_traded = posts(&crowd) != before;
            (before, trades) = (posts(&crowd), trades + u32::from(has_traded));
            world.step(RATE).unwrap();
        }
    }
    assert!(trades > 50, "{trades} trades: not interesting");
    assert_eq!(late, 0, "of {trades} trades");
}
