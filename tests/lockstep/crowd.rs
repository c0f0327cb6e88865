//! Two crowds of units on a bad network, one peer of which predicts: how soon orders are seen, and how wrong predictions are.

use testudo_lockstep::predict::{Correction, Corrections, Predict, Predictor};
use testudo_lockstep::simnet::{LinkConfig, SimNet};
use testudo_lockstep::{
    Action, BitReader, BitWriter, DecodeError, Driver, Duration, Identity, Instant, Pace, PeerId, PlayerId,
    Session, SessionConfig, Simulation, Turn, VirtualMatch,
};
use testudo_physics::{BodyDef, BodyId, Fx, Shape, Vec2, World, WorldDef};
use testudo_tests::scenes::Generator;

/// A part of the player's units marches to a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct March {
    /// 0 to 7.
    pub(crate) part: u8,
    pub(crate) goal: [i16; 2],
}

impl Action for March {
    const MAX_BITS: u32 = 35;

    fn encode(&self, out: &mut BitWriter) {
        out.write_bits(self.part.into(), 3);
        self.goal.iter().for_each(|side| out.write_signed((*side).into(), 16));
    }

    fn decode(input: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        let part = input.read_bits(3)? as u8;
        Ok(Self { part, goal: [input.read_signed(16)? as i16, input.read_signed(16)? as i16] })
    }
}

/// Units that march and push.
#[derive(Debug)]
pub(crate) struct Crowd {
    world: World,
    /// By player.
    units: [Vec<BodyId>; 2],
    /// By player and part.
    goals: [[Option<[i16; 2]>; 8]; 2],
}

impl Clone for Crowd {
    fn clone(&self) -> Self {
        Self { world: self.world.clone(), units: self.units.clone(), goals: self.goals }
    }

    fn clone_from(&mut self, source: &Self) {
        self.world.clone_from(&source.world);
        self.units.clone_from(&source.units);
        self.goals = source.goals;
    }
}

impl Crowd {
    pub(crate) fn new(units: u32) -> Self {
        let mut world = World::new(WorldDef::new()).expect("defaults");
        let files = units.isqrt() as i32;
        let units = [-1, 1].map(|side| {
            let place = |n: i32| Vec2::from_ints(side * (5 + n % files), n / files - files / 2);
            let def = |n| BodyDef::dynamic(Shape::circle(Fx::lit("0.45"))).position(place(n));
            (0..units as i32).map(|n| world.create_body(&def(n)).expect("in range")).collect()
        });
        Self { world, units, goals: [[None; 8]; 2] }
    }

    /// Number of pairs that touch.
    #[allow(dead_code)]
    pub(crate) fn contacts(&self) -> u32 {
        self.world.contact_count()
    }

    /// Raw position and velocity of a unit.
    fn motion(&self, player: usize, unit: usize) -> [[i64; 2]; 2] {
        let body = self.world.body(self.units[player][unit]).expect("nobody falls");
        [body.position(), body.velocity()].map(|v| [v.x.to_bits(), v.y.to_bits()])
    }

    fn distance(&self, other: &Self, player: usize, unit: usize) -> u64 {
        let [a, b] = [self, other].map(|crowd| crowd.motion(player, unit)[0]);
        let [x, y] = [0, 1].map(|axis| a[axis] - b[axis]);
        (x * x + y * y).isqrt() as u64
    }
}

impl Simulation for Crowd {
    type Action = March;

    fn apply(&mut self, player: PlayerId, march: &March) {
        self.goals[player.index()][usize::from(march.part)] = Some(march.goal);
    }

    fn step(&mut self, frames_per_second: u32) {
        for (units, goals) in self.units.iter().zip(&self.goals) {
            for (n, &unit) in units.iter().enumerate() {
                let Some([x, y]) = goals[n * 8 / units.len()] else { continue };
                let place = self.world.body(unit).expect("nobody falls").position();
                let way = Vec2::from_ints(x.into(), y.into()) - place;
                // Four units of length per second, and less near the goal.
                let far = way.x.abs().max(way.y.abs()).to_bits().max(4 << 16);
                let part = |side: Fx| Fx::from_bits(side.to_bits() * (4 << 16) / far);
                let velocity = Vec2::new(part(way.x), part(way.y));
                self.world.set_velocity(unit, velocity).expect("in range");
            }
        }
        self.world.step(frames_per_second).expect("in range");
    }

    fn checksum(&mut self) -> u64 {
        self.world.checksum()
    }
}

impl Predict for Crowd {}

/// How a match went.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// Of each turn, by peer.
    pub(crate) checksums: [Vec<u64>; 2],
    pub(crate) corrections: Corrections,
    /// Orders of the peer that predicts, frames until they moved its units on the screen, and until they ran.
    pub(crate) orders: u32,
    pub(crate) seen_after: Vec<u32>,
    pub(crate) ran_after: Vec<u32>,
    /// Frames that were simulated for one picture: the greatest number, and by how much the prediction was ahead.
    pub(crate) work_max: u32,
    pub(crate) depth_max: u32,
    pub(crate) stats: testudo_lockstep::predict::PredictionStats,
}

/// Settings of a match.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// Per player.
    pub(crate) units: u32,
    pub(crate) round_trip_ms: u64,
    pub(crate) seconds: u64,
    pub(crate) predicts: bool,
}

fn start(plan: Plan) -> VirtualMatch<Crowd> {
    let config = SessionConfig::new(2).simulated().pace(Pace::Adaptive).actions_per_turn_max(4);
    let crowd = Crowd::new(plan.units);
    let mut drivers = Vec::new();
    for player in 0..2 {
        let mut session =
            Session::new(config.clone(), Identity::Player(PlayerId(player)), Instant::ZERO).expect("good");
        if player == 1 {
            session.connect(PeerId(0));
        }
        drivers.push(Driver::new(crowd.clone(), session));
    }
    let mut net = SimNet::new(plan.round_trip_ms);
    let link = LinkConfig::new().latency(Duration::from_millis(plan.round_trip_ms / 2)).loss_ppm(50_000);
    net.set_default(link);
    VirtualMatch::new(drivers, net)
}

/// An order of the peer that predicts that its units do not show yet.
struct Waiting {
    part: usize,
    frame: u32,
    goal: [i16; 2],
    is_seen: bool,
}

/// Follows the match in one picture with at most so many frames, and returns how many it simulated.
pub(crate) type Follow<'a> = &'a mut dyn FnMut(u32) -> u32;

/// Plays a match of 60 pictures per second. Both players give orders about once a second, at any time. `at_picture` lets the peer that predicts
/// follow.
pub(crate) fn play(plan: Plan, at_picture: &mut dyn FnMut(Follow<'_>)) -> Told {
    let mut game = start(plan);
    let mut predictor = plan.predicts.then(|| Predictor::new(game.drivers()[1].simulation()));
    let (mut told, mut chance) = (Told::default(), Generator::new(plan.round_trip_ms));
    let mut waiting: Option<Waiting> = None;
    let mut ended = [0; 2];
    for picture in 1..=plan.seconds * 60 {
        let now = Instant::from_micros(picture * 1_000_000 / 60);
        while game.now() < now {
            game.step(&mut |peer: usize, turn: Turn, crowd: &Crowd, _: &mut Session<March>| {
                if turn.0 > ended[peer] {
                    ended[peer] = turn.0;
                    told.checksums[peer].push(crowd.clone().checksum());
                }
            });
        }
        for peer in 0..2 {
            let is_on = picture > 60 && (peer == 0 || waiting.is_none());
            if is_on && chance.between(0, 60) == 0 {
                let goal = chance.point([-30, -30], [30, 30]).map(|side| side as i16);
                let part = chance.between(0, 7) as u8;
                let driver = &mut game.drivers_mut()[peer];
                driver.session_mut().submit(&March { part, goal }).expect("room");
                if peer == 1 {
                    let frame = driver.frame().0;
                    waiting = Some(Waiting { part: part.into(), frame, goal, is_seen: false });
                    told.orders += 1;
                }
            }
        }
        let driver = &game.drivers()[1];
        let frame = driver.frame().0;
        if let Some(predictor) = &mut predictor {
            let Told { corrections, work_max, depth_max, .. } = &mut told;
            at_picture(&mut |frames| {
                let crowd = driver.simulation();
                let followed = predictor.follow_with(driver, crowd, now, frames, |correction| {
                    for (player, unit) in (0..2).flat_map(|p| (0..plan.units as usize).map(move |n| (p, n))) {
                        let Correction { before, after, .. } = *correction;
                        corrections.note(before.distance(after, player, unit));
                    }
                });
                *work_max = followed.frames.max(*work_max);
                *depth_max = followed.depth.max(*depth_max);
                followed.frames
            });
        }
        if let Some(wait) = &mut waiting {
            let has = |crowd: &Crowd| crowd.goals[1][wait.part] == Some(wait.goal);
            let seen = predictor.as_ref().map_or(driver.simulation(), Predictor::simulation);
            // They move in the first frame after the order was taken.
            if !wait.is_seen && has(seen) && frame > wait.frame {
                wait.is_seen = true;
                told.seen_after.push(frame - wait.frame);
            }
            if has(driver.simulation()) && wait.is_seen {
                told.ran_after.push(frame - wait.frame);
                waiting = None;
            }
        }
    }
    told.stats = predictor.map(|predictor| predictor.stats()).unwrap_or_default();
    told
}
