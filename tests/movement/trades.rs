//! Units of one order trade their posts.

use testudo_movement::{Crowd, CrowdDef, GroundDef, MoverDef, Order};
use testudo_physics::{BodyDef, BodyId, Fx, Shape, Vec2, World, WorldDef};

use crate::maps::square;

const RATE: u32 = 20;

/// Two small units that run into each other on the way to each other's places, which are far apart because a large one is among them.
/// So far apart they begin, and so far aside.
fn two_that_cross(apart: Fx, aside: Fx) -> (World, Crowd, [BodyId; 2]) {
    let sizes = [Fx::ONE / 2, Fx::from_num(2)];
    let mut world = World::new(WorldDef::new()).unwrap();
    let mut crowd = Crowd::new(&CrowdDef::new(GroundDef::new(square(32)).sizes(&sizes))).unwrap();
    crowd.survey(&world);
    let mut add = |radius: Fx, at: Vec2| {
        let body = world.create_body(&BodyDef::dynamic(Shape::circle(radius)).position(at)).unwrap();
        crowd.add(&world, body, MoverDef::default()).unwrap();
        body
    };
    let pair = [Vec2::from_ints(-3, 0), Vec2::from_ints(3, 0)].map(|at| add(sizes[0], at));
    let large = add(sizes[1], Vec2::from_ints(0, -20));
    crowd.order(&world, &[pair[0], pair[1], large], &Order::go(Vec2::ZERO)).unwrap();
    let [one, two] = pair.map(|unit| crowd.post(unit).unwrap());
    let (middle, way) = ((one + two) * (Fx::ONE / 2), (two - one).normalize());
    let off = (way * apart + Vec2::new(-way.y, way.x) * aside) * (Fx::ONE / 2);
    world.set_position(pair[0], middle + off).unwrap();
    world.set_position(pair[1], middle - off).unwrap();
    (world, crowd, pair)
}

/// Whoever thought after the other one in the frame of the trade went on to its old post for up to half a second.
#[test]
fn both_turn_to_their_new_posts_in_the_frame_after_a_trade() {
    let (mut trades, mut late) = (0, 0);
    for (apart, aside) in (10..20).flat_map(|apart| (-4..5).map(move |aside| (apart, aside))) {
        let [apart, aside] = [apart, aside].map(|tenths| Fx::from_num(tenths) / 10);
        let (mut world, mut crowd, pair) = two_that_cross(apart, aside);
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
