//! Frames of one match that differ in length: units think in time.

use testudo_movement::{Crowd, CrowdDef, FlowError, GroundDef, MoveError, MoveEvent, MoverDef, Order};
use testudo_physics::{BodyDef, BodyId, Fx, Pcg32, Shape, Vec2, World, WorldDef};
use testudo_tests::cases::share;

use crate::maps::{HALF, KINDS, draw, square};

fn unit(world: &mut World, crowd: &mut Crowd, place: Vec2, speed: i32) -> BodyId {
    let unit = world.create_body(&BodyDef::dynamic(Shape::circle(Fx::ONE / 2)).position(place)).unwrap();
    let pace = MoverDef { speed: Fx::from_num(speed), ..MoverDef::default() };
    crowd.add(world, unit, pace).unwrap();
    unit
}

fn frame(world: &mut World, crowd: &mut Crowd, rate: u32) {
    crowd.step(world, rate).unwrap();
    world.step(rate).unwrap();
}

/// It kept the velocity of its last thought for as many frames as that had planned, and these had become longer: it went up to ten units past its place.
#[test]
fn a_unit_stops_at_its_post_when_frames_become_longer() {
    for slow in [20, 10, 3] {
        for late in 0..40 {
            let mut world = World::new(WorldDef::new()).unwrap();
            let mut crowd = Crowd::new(&CrowdDef::new(GroundDef::new(square(40)))).unwrap();
            crowd.survey(&world);
            let unit = unit(&mut world, &mut crowd, Vec2::ZERO, 4);
            crowd.order(&world, &[unit], &Order::go(Vec2::from_ints(6, 0))).unwrap();
            let mut furthest = Fx::ZERO;
            for number in 0..200 {
                frame(&mut world, &mut crowd, if number < 40 + late { 60 } else { slow });
                furthest = furthest.max(world.body(unit).unwrap().position().x);
            }
            assert!(furthest < Fx::lit("6.5"), "{slow} frames per second after {late}: {furthest}");
            assert_eq!(crowd.is_going(unit), Some(false), "{slow} frames per second after {late}");
        }
    }
}

/// In seconds, whatever the frames.
#[test]
fn that_a_prey_is_gone_is_told_within_half_a_second_when_frames_become_longer() {
    for late in 0..30 {
        let mut world = World::new(WorldDef::new()).unwrap();
        let mut crowd = Crowd::new(&CrowdDef::new(GroundDef::new(square(40)))).unwrap();
        crowd.survey(&world);
        let unit = unit(&mut world, &mut crowd, Vec2::from_ints(-30, 0), 4);
        let prey = BodyDef::dynamic(Shape::circle(Fx::ONE / 2)).position(Vec2::from_ints(30, 0));
        let prey = world.create_body(&prey).unwrap();
        crowd.pursue(&world, unit, prey, Fx::ONE).unwrap();
        (0..60 + late).for_each(|_| frame(&mut world, &mut crowd, 60));
        world.remove_body(prey).unwrap();
        let mut frames = 0;
        while !crowd.events().contains(&MoveEvent::PreyGone(unit)) {
            frame(&mut world, &mut crowd, 10);
            frames += 1;
            // The last one begins within half a second.
            assert!(frames <= 6, "after {late} frames");
        }
    }
}

/// A match whose rate of frames is drawn again and again.
struct Match {
    world: World,
    crowd: Crowd,
    units: Vec<BodyId>,
    rate: u32,
    rng: Pcg32,
}

fn def() -> CrowdDef {
    CrowdDef::new(GroundDef::new(square(HALF))).fields_max(3).cells_per_frame(800)
}

impl Match {
    fn new(seed: u64) -> Self {
        let mut world = draw(KINDS[seed as usize % KINDS.len()], seed);
        let mut crowd = Crowd::new(&def()).unwrap();
        crowd.survey(&world);
        let size = crowd.ground().size_of(Fx::ONE / 2).unwrap();
        let mut units = Vec::new();
        for n in 0..400 {
            let place = Vec2::from_ints(n % 20 * 3 / 2 - 15, n / 20 * 3 / 2 - 15);
            if n % 7 == 0 && crowd.ground().is_open(place, size) {
                units.push(unit(&mut world, &mut crowd, place, 2 + n % 4));
            }
        }
        Self { world, crowd, units, rate: 60, rng: Pcg32::new(seed, 91) }
    }

    fn restored(&self) -> Self {
        let (mut bytes, mut state) = (Vec::new(), Vec::new());
        self.crowd.save(&mut bytes);
        self.world.snapshot(&mut state);
        let world = World::from_bytes(&state).unwrap();
        let crowd = Crowd::load(&def(), &world, &bytes).unwrap();
        Self { world, crowd, units: self.units.clone(), rate: self.rate, rng: self.rng.clone() }
    }

    fn play(&mut self) {
        if self.rng.below(8) == 0 {
            self.rate = 10 + self.rng.below(135);
        }
        if self.rng.below(12) == 0 {
            let half = HALF as u32 - 2;
            let mut part = || self.rng.below(2 * half) as i32 - half as i32;
            let goal = Vec2::from_ints(part(), part());
            let count = self.units.len() as u32;
            let [first, prey] = [0, 1].map(|_| self.rng.below(count) as usize);
            let _ = self.crowd.order(
                &self.world,
                &self.units[first..(first + 9).min(count as usize)],
                &Order::go(goal),
            );
            let _ = self.crowd.pursue(&self.world, self.units[0], self.units[prey], Fx::ONE);
        }
        frame(&mut self.world, &mut self.crowd, self.rate);
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
            assert_eq!(live.world.checksum(), copy.world.checksum(), "{context}");
            assert_eq!(live.crowd.checksum(), copy.crowd.checksum(), "{context}");
            assert_eq!(live.crowd.events(), copy.crowd.events(), "{context}");
            told += live.crowd.events().len();
            if live.rng.clone().below(10) == 0 {
                copy = live.restored();
            }
        }
    }
    assert!(told as u64 > share(80), "{told} events: not interesting");
}

#[test]
fn a_clock_that_no_frames_leave_behind_is_refused() {
    let live = Match::new(1);
    let mut rest = None;
    live.crowd.visit_numbers(&mut |number| rest = rest.or((number.name == "clock.rest").then_some(number)));
    let at = rest.unwrap().at as usize;
    let mut bytes = Vec::new();
    live.crowd.save(&mut bytes);
    for (rest, rate, is_fine) in
        [(0, 0, true), (59, 60, true), (999, 1_000, true), (1, 0, false), (60, 60, false), (0, 1_001, false)]
    {
        bytes[at..at + 2].copy_from_slice(&u16::to_le_bytes(rest));
        bytes[at + 2..at + 4].copy_from_slice(&u16::to_le_bytes(rate));
        let loaded = Crowd::load(&def(), &live.world, &bytes);
        assert_eq!(loaded.is_ok(), is_fine, "{rest} of {rate}");
    }
}

/// In each frame the rate is another one. Nobody is late, and nobody's place in a field is given away meanwhile.
#[test]
fn all_arrive_in_the_same_time_whatever_the_rates() {
    let seconds = |rates: &[u32]| {
        let mut world = World::new(WorldDef::new()).unwrap();
        let mut crowd = Crowd::new(&CrowdDef::new(GroundDef::new(square(40)))).unwrap();
        crowd.survey(&world);
        let units: Vec<BodyId> = (0..40)
            .map(|n| unit(&mut world, &mut crowd, Vec2::from_ints(-30 + n % 5 * 2, n / 5 * 2 - 8), 4))
            .collect();
        crowd.order(&world, &units, &Order::go(Vec2::from_ints(20, 0))).unwrap();
        let mut time = Fx::ZERO;
        for &rate in rates.iter().cycle() {
            if units.iter().all(|&unit| crowd.is_going(unit) == Some(false)) {
                break;
            }
            frame(&mut world, &mut crowd, rate);
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
        let mut world = World::new(WorldDef::new()).unwrap();
        let wall = BodyDef::static_body(Shape::rect(Fx::ONE, Fx::from_num(30)));
        world.create_body(&wall).unwrap();
        let mut crowd = Crowd::new(&CrowdDef::new(GroundDef::new(square(40))).fields_max(1)).unwrap();
        crowd.survey(&world);
        let mut pair = |y: i32| [0, 4].map(|x| unit(&mut world, &mut crowd, Vec2::from_ints(x - 38, y), 4));
        let (first, second) = (pair(0), pair(10));
        crowd.order(&world, &first, &Order::go(Vec2::from_ints(38, 0))).unwrap();
        for _ in 0..slow {
            frame(&mut world, &mut crowd, slow);
        }
        for number in 0..2 * fast {
            frame(&mut world, &mut crowd, fast);
            let taken = crowd.clone().order(&world, &second, &Order::go(Vec2::from_ints(38, 20)));
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
        let mut world = World::new(WorldDef::new()).unwrap();
        let wall = BodyDef::static_body(Shape::rect(Fx::ONE, Fx::from_num(30)));
        world.create_body(&wall).unwrap();
        let def = CrowdDef::new(GroundDef::new(square(40)));
        let mut crowd = Crowd::new(&def).unwrap();
        crowd.survey(&world);
        let units = [-38, -34].map(|x| unit(&mut world, &mut crowd, Vec2::from_ints(x, 0), 4));
        frame(&mut world, &mut crowd, before);
        crowd.order(&world, &units, &Order::go(Vec2::from_ints(38, 0))).unwrap();
        for rate in [after, before, after] {
            frame(&mut world, &mut crowd, rate);
            let mut bytes = Vec::new();
            crowd.save(&mut bytes);
            let loaded = Crowd::load(&def, &world, &bytes).map(|crowd| crowd.checksum());
            assert_eq!(loaded, Ok(crowd.checksum()), "{before} frames per second, then {after}");
        }
    }
}
