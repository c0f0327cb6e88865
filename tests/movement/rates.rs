//! Frames of one match that differ in length: units think in time.

use testudo_movement::{FlowError, MoveError, MoveEvent, Order};
use testudo_physics::{BodyDef, BodyId, Fx, Pcg32, Shape, Vec2};
use testudo_tests::cases::share;

use crate::maps::{HALF, KINDS, draw};
use crate::paths::size;
use crate::scene::{Scene, house, open_world, usual};

/// Square ground, with a wall across it.
fn divided(fields_max: u32) -> Scene {
    let mut world = open_world();
    house(&mut world, Vec2::ZERO, Vec2::from_ints(1, 30));
    Scene::of(world, usual(40).fields_max(fields_max))
}

/// It kept the velocity of its last thought for as many frames as that had planned, and these had become longer: it went up to ten units past its place.
#[test]
fn a_unit_stops_at_its_post_when_frames_become_longer() {
    for slow in [20, 10, 3] {
        for late in 0..40 {
            let mut scene = Scene::new(open_world(), 40);
            let unit = scene.add_with(Vec2::ZERO, 4);
            scene.go(&[unit], Vec2::from_ints(6, 0));
            let mut furthest = Fx::ZERO;
            for number in 0..200 {
                scene.step_at(if number < 40 + late { 60 } else { slow });
                furthest = furthest.max(scene.place(unit).x);
            }
            assert!(furthest < Fx::lit("6.5"), "{slow} frames per second after {late}: {furthest}");
            assert_eq!(scene.crowd.is_going(unit), Some(false), "{slow} frames per second after {late}");
        }
    }
}

/// In seconds, whatever the frames.
#[test]
fn that_a_prey_is_gone_is_told_within_half_a_second_when_frames_become_longer() {
    for late in 0..30 {
        let mut scene = Scene::new(open_world(), 40);
        let unit = scene.add_with(Vec2::from_ints(-30, 0), 4);
        let prey = BodyDef::dynamic(Shape::circle(Fx::ONE / 2)).position(Vec2::from_ints(30, 0));
        let prey = scene.world.create_body(&prey).unwrap();
        scene.pursue(unit, prey, Fx::ONE);
        (0..60 + late).for_each(|_| scene.step_at(60));
        scene.world.remove_body(prey).unwrap();
        let mut frames = 0;
        while !scene.crowd.events().contains(&MoveEvent::PreyGone(unit)) {
            scene.step_at(10);
            frames += 1;
            // The last one begins within half a second.
            assert!(frames <= 6, "after {late} frames");
        }
    }
}

/// A match whose rate of frames is drawn again and again.
struct Match {
    scene: Scene,
    rate: u32,
    rng: Pcg32,
}

impl Match {
    fn new(seed: u64) -> Self {
        let world = draw(KINDS[seed as usize % KINDS.len()], seed);
        let mut scene = Scene::of(world, usual(HALF).fields_max(3).cells_per_frame(800));
        let size = size(scene.crowd.ground());
        for n in 0..400 {
            let place = Vec2::from_ints(n % 20 * 3 / 2 - 15, n / 20 * 3 / 2 - 15);
            if n % 7 == 0 && scene.crowd.ground().is_open(place, size) {
                scene.add_with(place, 2 + n % 4);
            }
        }
        Self { scene, rate: 60, rng: Pcg32::new(seed, 91) }
    }

    fn restored(&self) -> Self {
        Self { scene: self.scene.restored(), rate: self.rate, rng: self.rng.clone() }
    }

    fn play(&mut self) {
        if self.rng.below(8) == 0 {
            self.rate = 10 + self.rng.below(135);
        }
        if self.rng.below(12) == 0 {
            let half = HALF as u32 - 2;
            let mut part = || self.rng.below(2 * half) as i32 - half as i32;
            let goal = Vec2::from_ints(part(), part());
            let Scene { world, crowd, units, .. } = &mut self.scene;
            let [first, prey] = [0, 1].map(|_| self.rng.below(units.len() as u32) as usize);
            let some = &units[first..(first + 9).min(units.len())];
            let _ = crowd.order(world, some, &Order::go(goal));
            let _ = crowd.pursue(world, units[0], units[prey], Fx::ONE);
        }
        self.scene.step_at(self.rate);
    }
}

#[test]
fn a_match_whose_rate_changes_goes_on_with_the_same_bits_when_it_is_restored() {
    let mut told = 0;
    for seed in 0..share(24) {
        let mut live = Match::new(seed);
        let mut copy = live.restored();
        for number in 0..400 {
            live.play();
            copy.play();
            let context = format!("seed {seed}, frame {number}, {} frames per second", live.rate);
            live.scene.assert_same(&copy.scene, context);
            told += live.scene.crowd.events().len();
            if live.rng.clone().below(10) == 0 {
                copy = live.restored();
            }
        }
    }
    assert!(told as u64 > share(80), "{told} events: not interesting");
}

#[test]
fn a_clock_that_no_frames_leave_behind_is_refused() {
    let Match { scene, .. } = Match::new(1);
    let mut rest = None;
    scene.crowd.visit_numbers(&mut |number| rest = rest.or((number.name == "clock.rest").then_some(number)));
    let at = rest.unwrap().at as usize;
    let mut bytes = scene.saved();
    for (rest, rate, is_fine) in
        [(0, 0, true), (59, 60, true), (999, 1_000, true), (1, 0, false), (60, 60, false), (0, 1_001, false)]
    {
        bytes[at..at + 2].copy_from_slice(&u16::to_le_bytes(rest));
        bytes[at + 2..at + 4].copy_from_slice(&u16::to_le_bytes(rate));
        assert_eq!(scene.load(&bytes).is_ok(), is_fine, "{rest} of {rate}");
    }
}

/// In each frame the rate is another one. Nobody is late, and nobody's place in a field is given away meanwhile.
#[test]
fn all_arrive_in_the_same_time_whatever_the_rates() {
    let seconds = |rates: &[u32]| {
        let mut scene = Scene::new(open_world(), 40);
        let place = |n: i32| Vec2::from_ints(-30 + n % 5 * 2, n / 5 * 2 - 8);
        let units: Vec<BodyId> = (0..40).map(|n| scene.add_with(place(n), 4)).collect();
        scene.go(&units, Vec2::from_ints(20, 0));
        let mut time = Fx::ZERO;
        for &rate in rates.iter().cycle() {
            if units.iter().all(|&unit| scene.crowd.is_going(unit) == Some(false)) {
                break;
            }
            scene.step_at(rate);
            time += Fx::ONE / i64::from(rate);
            assert!(time < Fx::from_num(60), "{rates:?}");
        }
        time
    };
    let usual = seconds(&[20]);
    for rates in [&[144, 10][..], &[10, 11, 12, 144], &[60, 58, 59], &[144], &[10]] {
        let time = seconds(rates);
        println!("{rates:?}: {time} s, {usual} s at 20");
        assert!((time - usual).abs() < Fx::from_num(4), "{rates:?}: {time} and {usual}");
    }
}

/// What was left of the last frame in which a field was to be kept counted for nothing: others could take it until those who used it thought again.
#[test]
fn a_field_is_kept_as_long_as_before_when_frames_become_shorter() {
    for (slow, fast) in [(3, 60), (5, 60), (3, 1_000), (20, 144)] {
        let mut scene = divided(1);
        let mut pair = |y: i32| [0, 4].map(|x| scene.add_with(Vec2::from_ints(x - 38, y), 4));
        let (first, second) = (pair(0), pair(10));
        scene.go(&first, Vec2::from_ints(38, 0));
        (0..slow).for_each(|_| scene.step_at(slow));
        for number in 0..2 * fast {
            scene.step_at(fast);
            let order = Order::go(Vec2::from_ints(38, 20));
            let taken = scene.crowd.clone().order(&scene.world, &second, &order);
            let refused = Err(MoveError::Flow(FlowError::TooMany { max: 1 }));
            assert_eq!(taken, refused, "{slow} frames per second, then {fast}: frame {number}");
        }
    }
}

/// A frame of a second became a thousand frames, and no saved crowd may keep a field so long: nobody could join for half a second.
#[test]
fn a_crowd_is_loaded_whatever_the_rate_was_before() {
    let rates = [1, 2, 3, 20, 60, 499, 502, 1_000];
    for (before, after) in rates.into_iter().flat_map(|before| rates.map(|after| (before, after))) {
        let mut scene = divided(64);
        let units = [-38, -34].map(|x| scene.add_with(Vec2::from_ints(x, 0), 4));
        scene.step_at(before);
        scene.go(&units, Vec2::from_ints(38, 0));
        for rate in [after, before, after] {
            scene.step_at(rate);
            let loaded = scene.load(&scene.saved()).map(|crowd| crowd.checksum());
            assert_eq!(loaded, Ok(scene.crowd.checksum()), "{before} frames per second, then {after}");
        }
    }
}
