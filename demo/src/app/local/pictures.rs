//! What a view shows ahead of the confirmed battle, picture after picture.

use testudo_lockstep::simnet::LinkConfig;
use testudo_lockstep::{Duration, Pace};

use crate::app::local::skirmish::Skirmish;
use crate::app::local::skirmish::tests::{AMPLE, PICTURE, over, skirmish};
use crate::app::watch::pilot::Pilot;
use testudo_battle::{Command, Order, OrderPoint, Point, Selection, UNIT};
use testudo_render::battle::foresight::Foresight;

/// With prediction a player's order moves its units at once, without it two turns later. The match is the same.
#[test]
fn a_predicted_order_is_seen_at_once_and_changes_nothing() {
    let played = |predicts: [bool; 2]| {
        let mut skirmish = skirmish([Pilot::Person; 2], 60);
        for (player, predicts) in (0..).zip(predicts) {
            skirmish.set_prediction(player, predicts);
        }
        let mut moved = [None; 2];
        let shown = |skirmish: &Skirmish, player| {
            let foresight = skirmish.foresight(player);
            let game = foresight.map_or(skirmish.copy(player).game(), Foresight::game);
            game.middle(player).unwrap().1
        };
        let mut start = [Point::ZERO; 2];
        for picture in 0..600 {
            if picture == 60 {
                start = [0, 1].map(|player| shown(&skirmish, player));
                for player in [0, 1] {
                    let order = Order::new(Selection::All, Command::Move(OrderPoint::near(Point::ZERO)));
                    skirmish.order(player, &[order]).unwrap();
                }
            }
            skirmish.advance(PICTURE, AMPLE).unwrap();
            skirmish.foresee(PICTURE);
            for player in [0, 1_u8].into_iter().filter(|_| picture >= 60) {
                let at = usize::from(player);
                if moved[at].is_none() && shown(&skirmish, player).distance_squared(start[at]) > 0 {
                    moved[at] = Some(picture - 60);
                }
            }
        }
        assert_eq!(skirmish.desync(), None);
        (moved.map(Option::unwrap), skirmish.compared().1.to_vec(), skirmish.compared().0)
    };
    let (both, sums, turns) = played([true, true]);
    let (one, sums_one, turns_one) = played([true, false]);
    let (none, sums_none, turns_none) = played([false, false]);
    assert_eq!((&sums, turns), (&sums_one, turns_one));
    assert_eq!((&sums, turns), (&sums_none, turns_none));
    // Two frames are six pictures; two turns are eight frames.
    assert!(both.iter().all(|pictures| *pictures <= 6), "{both:?}");
    assert!(one[0] <= 6 && one[1] >= 20, "{one:?}");
    assert!(none.iter().all(|pictures| *pictures >= 20), "{none:?}");
}

/// In the picture of a correction, units go on by no more than they walk: they glide afterwards. Orders come at any time within a frame.
#[test]
fn corrections_are_not_seen_as_jumps() {
    let mut skirmish = skirmish([Pilot::Person; 2], 100);
    skirmish.set_prediction(0, true);
    let (mut drawn, mut last, mut looked) = (std::collections::BTreeMap::new(), (0, 0), 0);
    for picture in 60..960 {
        if picture % 47 == 0 {
            let place = OrderPoint::near(Point { x: 0, y: [-8, 8][picture / 47 % 2] * UNIT });
            skirmish.order(0, &[Order::new(Selection::All, Command::Move(place))]).unwrap();
        }
        skirmish.advance(PICTURE, AMPLE).unwrap();
        skirmish.foresee(PICTURE);
        let foresight = skirmish.foresight(0).unwrap();
        let now = foresight.game().world().bodies().map(|body| {
            (body.id(), foresight.drawn(body.id()).unwrap().map(|side| side as f32 / UNIT as f32))
        });
        let before = core::mem::replace(&mut drawn, now.collect());
        let corrections = foresight.stats().corrections;
        // Without what is left of gliding.
        if corrections > last.0 && picture > last.1 + 15 {
            looked += 1;
            for (unit, [x, y]) in &drawn {
                let step = before.get(unit).map_or(0.0, |from| (x - from[0]).hypot(y - from[1]));
                assert!(
                    step < 0.13,
                    "picture {picture}, {unit:?}: {step}, twice of what one walks in a picture"
                );
            }
        }
        last = if corrections > last.0 { (corrections, picture) } else { last };
    }
    assert!(looked >= 10, "{looked}");
}

/// A unit's slot, and where it is drawn.
type Drawn = (u32, [f32; 2]);

/// The units of the first player in its view.
fn drawn(skirmish: &Skirmish) -> Vec<Drawn> {
    let (truth, foresight) = (skirmish.copy(0).game(), skirmish.foresight(0));
    let game = foresight.map_or(truth, Foresight::game);
    let own = game.unit_looks().filter(|look| look.army == 0);
    let at = |body: testudo_physics::BodyId| {
        let foreseen = foresight.and_then(|foresight| foresight.drawn(body));
        let at = foreseen.map(|at| at.map(|side| side as f32 / UNIT as f32));
        let truth = || game.world().body(body).unwrap().interpolated_position(skirmish.alpha(0));
        (body.index(), at.unwrap_or_else(truth))
    };
    own.map(|look| at(look.body)).collect()
}

/// The greatest step of a unit between two pictures, and how far their middle has gone ahead.
fn steps(before: &[Drawn], after: &[Drawn]) -> (f32, [f32; 2]) {
    let both = || before.iter().zip(after).filter(|(a, b)| a.0 == b.0);
    let step = |axis: usize| move |(a, b): (&Drawn, &Drawn)| b.1[axis] - a.1[axis];
    let far = both().map(|(a, b)| (b.1[0] - a.1[0]).hypot(b.1[1] - a.1[1])).fold(0.0, f32::max);
    (far, [0, 1].map(|axis| both().map(step(axis)).sum::<f32>() / both().count().max(1) as f32))
}

/// The way of the fastest unit in a frame is shorter than this, units.
const WALK: f32 = 0.24;

/// A unit is shown to walk faster or slower for a while, at most twice as fast as in the match; it does not hop, and the army never goes back. After a wait
/// the match itself goes on with more than a picture's part of a frame.
#[test]
fn units_do_not_hop_when_the_length_of_turns_changes_or_the_switch() {
    for switches in [false, true] {
        let link = |ms| LinkConfig::new().latency(Duration::from_millis(ms));
        let mut skirmish = over(link(20), Pace::Adaptive, [Pilot::Person; 2], 2_000);
        skirmish.set_prediction(0, true);
        let (mut before, mut lengths, mut looked, mut place) = (drawn(&skirmish), Vec::new(), 0, 0.0);
        for picture in 0..2_400 {
            let side = if picture / 240 % 2 == 0 { -1 } else { 1 };
            match picture % 240 {
                0 => {
                    let place = OrderPoint::near(Point { x: 0, y: side * 8 * UNIT });
                    skirmish.order(0, &[Order::new(Selection::All, Command::Move(place))]).unwrap();
                }
                90 if switches => skirmish.set_prediction(0, side > 0),
                90 => skirmish.set_link(link(if side > 0 { 20 } else { 150 })),
                _ => {}
            }
            skirmish.advance(PICTURE, AMPLE).unwrap();
            skirmish.foresee(PICTURE);
            let after = drawn(&skirmish);
            let (far, middle) = steps(&before, &after);
            let was = core::mem::replace(
                &mut place,
                skirmish.frame(0) as f32 + skirmish.alpha(0) as f32 / 65_536.0,
            );
            if picture > 240 && (60..200).contains(&(picture % 240)) {
                let most = 2.0 * (place - was) * WALK + 0.01;
                assert!(far < most, "{switches}, picture {picture}: a step of {far}, not {most}");
                assert!(middle[1] * side as f32 > -0.001, "{switches}, picture {picture}: {middle:?}");
                looked += u32::from(far > 0.03);
            }
            before = after;
            lengths.extend(skirmish.samples().next_back().map(|sample| sample.turn_ms));
            lengths.dedup();
        }
        assert!(looked > 1_000, "{looked}");
        assert!(switches || lengths.len() > 6, "{lengths:?}");
    }
}

/// Ten times, while everybody walks: an order that is given right after the switch is seen at once, and what leaps ahead for it glides.
#[test]
fn a_leap_for_an_own_order_is_not_seen_as_a_jump() {
    let mut skirmish = skirmish([Pilot::Person; 2], 200);
    let order = |side: i32| {
        let place = OrderPoint::near(Point { x: 0, y: side * 8 * UNIT });
        Order::new(Selection::All, Command::Move(place))
    };
    let (mut before, mut farthest, mut leaps, mut fastest) = (Vec::new(), 0_u64, 0, 0.0_f32);
    for picture in 0..1_800 {
        let side = if picture / 180 % 2 == 0 { -1 } else { 1 };
        match picture % 180 {
            0 => skirmish.set_prediction(0, false),
            60 => skirmish.order(0, &[order(side)]).unwrap(),
            120 => skirmish.set_prediction(0, true),
            123 => skirmish.order(0, &[order(-side)]).unwrap(),
            _ => {}
        }
        skirmish.advance(PICTURE, AMPLE).unwrap();
        skirmish.foresee(PICTURE);
        let after = drawn(&skirmish);
        if picture % 180 == 123 {
            let ahead = skirmish.foresight(0).unwrap().ahead();
            (farthest, leaps) = (farthest.max(ahead), leaps + u32::from(ahead > 4 << 16));
        }
        if picture > 180 && (121..150).contains(&(picture % 180)) {
            fastest = fastest.max(steps(&before, &after).0);
        }
        before = after;
    }
    assert!(leaps >= 8, "{leaps}, {farthest}");
    // The lead leaps by eight frames or more, in which a unit walks almost two units.
    assert!((0.2..0.5).contains(&fastest), "{fastest}");
}
