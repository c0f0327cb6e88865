//! Two simulations of the scene of Glenn Fiedler's articles, the right one about two seconds behind the left one. Only keys cross the
//! network: six bits per frame, from a player to a watcher, in input mode, through a playout delay buffer.
//!
//! Each side runs the scene twice: in fixed point, and in a plain `f32` solver. The right side's `f32` solver processes contacts in another
//! order. Both pairs are compared frame by frame, from outside.

mod live;

pub(crate) use live::LiveCubes;

use std::collections::VecDeque;

use testudo_lockstep::simnet::{LinkConfig, SimNet};
use testudo_lockstep::{
    Driver, Duration, Event, Failure, FrameRate, Identity, Instant, PeerId, PlayerId, Playout, PlayoutMode,
    Session, SessionConfig, SessionPhase, Simulation, Turn, VirtualMatch,
};
use testudo_physics::{Pcg32, hash_bytes};

use crate::app::MatchError;

use testudo_cubes::{ContactOrder, Cubes, FRAMES_PER_SECOND, FloatCubes, Input, Setup, SetupError};

/// Longest demonstration: one hour.
pub(crate) const FRAMES_MAX: u32 = 3_600 * FRAMES_PER_SECOND;

/// Frames of the scene per second, for the playout buffer.
const FRAME_RATE: FrameRate = match FrameRate::per_second(FRAMES_PER_SECOND) {
    Ok(rate) => rate,
    Err(_) => panic!("there is no such rate"),
};

/// The playout delay of the articles.
pub(crate) const PLAYOUT_DELAY: Duration = Duration::from_millis(100);

/// Greatest number of frames by which the left side may be ahead before it forgets what the right one lacks: 17 s, the most that a session
/// keeps.
const WINDOW: u32 = 1_024;

/// Virtual time after which a network that delivers too little is given up, in addition to four times the length of the demonstration.
const PATIENCE: Duration = Duration::from_secs(120);

/// Everything that decides how the demonstration runs, except for the keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CubesSpec {
    pub(crate) setup: Setup,
    /// 1..=[`FRAMES_MAX`].
    pub(crate) frames: u32,
    /// The link between the two, in both directions.
    pub(crate) link: LinkConfig,
    /// When the right side plays what has arrived.
    pub(crate) playout: PlayoutMode,
    /// Flip one bit of the right side's fixed-point scene after this frame.
    pub(crate) corrupt_frame: Option<u32>,
}

impl CubesSpec {
    /// The articles' network, and an hour to play.
    pub(crate) fn to_play(cubes: u32, seed: u64) -> Self {
        Self {
            setup: Setup { cubes, seed },
            frames: FRAMES_MAX,
            link: LinkConfig::new().latency(Duration::from_millis(1_900)).loss_ppm(250_000),
            playout: PlayoutMode::Adaptive { late_ppm: 1_000, start: PLAYOUT_DELAY },
            corrupt_frame: None,
        }
    }
}

/// Distance between right and left side in the same frame.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Gap {
    /// Of the cube that is furthest off, units.
    pub(crate) max: f64,
    /// Over all cubes, units.
    pub(crate) mean: f64,
}

/// One frame, compared.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Moment {
    /// Whether both checksums of the fixed-point scene are equal.
    pub(crate) agrees: bool,
    pub(crate) fixed: Gap,
    pub(crate) float: Gap,
    /// Virtual time from the left side's frame to the right side's.
    pub(crate) delay: Duration,
}

/// The result.
#[derive(Debug)]
pub(crate) struct CubesOutcome {
    pub(crate) spec: CubesSpec,
    /// Frame by frame.
    pub(crate) moments: Vec<Moment>,
    /// Of the whole run, left and right.
    pub(crate) checksums: [u64; 2],
    /// The session's own alarm: the first turn whose checksums differed.
    pub(crate) alarm: Option<u32>,
    /// Frames for which the right side had to wait.
    pub(crate) stalled_frames: u64,
    /// Frames whose keys came after they were due.
    pub(crate) late_frames: u64,
    /// UDP payload that the left side sent from its first frame to its last.
    pub(crate) bytes_sent: u64,
    /// Packets given to the network, and those that it lost.
    pub(crate) packets: (u64, u64),
    /// Contacts per frame of the fixed-point scene.
    pub(crate) contacts_mean: f64,
}

/// The demonstration while it runs.
pub(crate) struct CubesMatch {
    spec: CubesSpec,
    sides: VirtualMatch<Side>,
    /// When the left side's first frame ran, and what it had sent by then.
    began: (Instant, u64),
    bytes_at_end: u64,
    /// Frames that the left side has run and the right one has not.
    waiting: VecDeque<(Instant, Record)>,
    moments: Vec<Moment>,
    /// Of the run up to the last frame compared, left and right.
    compared: [u64; 2],
}

impl CubesMatch {
    /// Both sides are ready, and the left one is about to run its first frame; the handshake has passed in virtual time.
    /// # Errors
    /// Settings out of range, or a network over which they do not connect.
    pub(crate) fn start(spec: &CubesSpec) -> Result<Self, MatchError> {
        let config = SessionConfig::input(1, FRAMES_PER_SECOND)
            .simulated()
            .turns(spec.frames)
            .turns_ahead(0)
            .window(WINDOW)
            .content_hash(spec.setup.content_hash())
            .session_id(spec.setup.seed)
            .watchers_min(1)
            .watchers_max(1)
            .connect_timeout(PATIENCE)
            .silence_timeout(PATIENCE)
            // The watcher gets the end several times, even if a quarter of the packets is lost.
            .linger(spec.link.latency.times(4) + Duration::from_secs(2));
        let now = Instant::ZERO;
        let left = Session::new(config.clone(), Identity::Player(PlayerId(0)), now)?;
        let mut right = Session::new(config, Identity::Watcher, now)?;
        right.connect(PeerId(0));
        let playout = Playout::new(spec.playout, FRAME_RATE);
        let shuffled = ContactOrder::Shuffled(Pcg32::new(spec.setup.seed, 2));
        let drivers = vec![
            Driver::new(Side::new(&spec.setup, ContactOrder::ByNumber, None)?, left),
            Driver::new(Side::new(&spec.setup, shuffled, spec.corrupt_frame)?, right).with_playout(playout),
        ];
        let mut net = SimNet::new(spec.setup.seed);
        net.set_default(spec.link);
        let mut demonstration = Self {
            spec: *spec,
            sides: VirtualMatch::new(drivers, net),
            began: (now, 0),
            bytes_at_end: 0,
            waiting: VecDeque::new(),
            moments: Vec::new(),
            compared: [0; 2],
        };
        demonstration.meet()?;
        Ok(demonstration)
    }

    /// Runs everything that is due up to this long after the start, and compares it. `keys` are the left side's, requested once per frame.
    /// Returns whether all frames have run on both sides.
    ///
    /// # Errors
    /// A session that failed.
    pub(crate) fn run(
        &mut self,
        up_to: Duration,
        mut keys: impl FnMut() -> Input,
    ) -> Result<bool, MatchError> {
        let until = self.began.0 + up_to;
        while !self.sides.is_over() && self.sides.now() < until {
            self.step(&mut keys);
        }
        self.check()?;
        Ok(self.sides.is_over())
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// A session that failed, or a network over which the end does not come.
    pub(crate) fn finish(
        mut self,
        keys: impl FnMut() -> Input,
        mut progress: impl FnMut(u32),
    ) -> Result<CubesOutcome, MatchError> {
        let length =
            Duration::from_micros(u64::from(self.spec.frames) * 1_000_000 / u64::from(FRAMES_PER_SECOND));
        let (limit, mut passed, mut keys) = (length.times(4) + PATIENCE, Duration::ZERO, keys);
        while !self.run(passed, &mut keys)? {
            if passed >= limit {
                return Err(too_slow(passed, self.frames_compared()));
            }
            passed = passed + Duration::from_secs(1);
            progress(self.frames_compared());
        }
        Ok(self.outcome())
    }

    /// Frames that both sides have run.
    pub(crate) fn frames_compared(&self) -> u32 {
        self.moments.len() as u32
    }

    fn side(&self, index: usize) -> &Side {
        self.sides.drivers()[index].simulation()
    }

    /// Lets virtual time pass until the left side's first frame is due.
    fn meet(&mut self) -> Result<(), MatchError> {
        let left = |sides: &VirtualMatch<Side>| sides.drivers()[0].session().phase();
        while left(&self.sides) == SessionPhase::Lobby {
            let now = self.sides.now();
            if now.since(Instant::ZERO) > PATIENCE {
                return Err(too_slow(PATIENCE, 0));
            }
            self.sides.step(&mut |_, _, _, _| {});
            self.began = (now, self.sides.drivers()[0].session().stats().bytes_sent);
        }
        self.check()
    }

    fn step(&mut self, keys: &mut impl FnMut() -> Input) {
        let now = self.sides.now();
        self.sides.step(&mut |_, _: Turn, _: &Side, session: &mut Session<Input>| {
            if session.player().is_some() {
                let given = session.submit(&keys());
                debug_assert!(given.is_ok(), "{given:?}");
            }
        });
        let [left, right] =
            [0, 1].map(|side| core::mem::take(&mut self.sides.drivers_mut()[side].simulation_mut().records));
        if !left.is_empty() {
            self.bytes_at_end = self.sides.drivers()[0].session().stats().bytes_sent;
        }
        self.waiting.extend(left.into_iter().map(|record| (now, record)));
        for record in right {
            // The right side runs only what the left one has run.
            if let Some((at, original)) = self.waiting.pop_front() {
                self.moments.push(original.compare(&record, now.since(at)));
                self.compared = [original.history, record.history];
            }
        }
    }

    fn check(&self) -> Result<(), MatchError> {
        for driver in self.sides.drivers() {
            if let SessionPhase::Failed(failure) = driver.session().phase() {
                return Err(MatchError::Cubes(in_words(failure, self.frames_compared())));
            }
        }
        Ok(())
    }

    fn outcome(mut self) -> CubesOutcome {
        let mut alarm: Option<u32> = None;
        for driver in self.sides.drivers_mut() {
            while let Some(event) = driver.session_mut().poll_event() {
                if let Event::Desync(mismatch) = event {
                    alarm = Some(alarm.map_or(mismatch.turn.0, |turn| turn.min(mismatch.turn.0)));
                }
            }
        }
        let right = &self.sides.drivers()[1];
        let stats = self.sides.net().stats();
        let left = self.side(0);
        CubesOutcome {
            spec: self.spec,
            checksums: [0, 1].map(|side| self.side(side).history),
            alarm,
            stalled_frames: right.session().stats().stalled_frames,
            late_frames: right.playout().map_or(0, |playout| playout.counts().1),
            bytes_sent: self.bytes_at_end - self.began.1,
            packets: (stats.sent, stats.lost),
            contacts_mean: left.contacts as f64 / left.fixed.frame().max(1) as f64,
            moments: self.moments,
        }
    }
}

impl CubesOutcome {
    /// The first frame in which the fixed-point scenes differed.
    pub(crate) fn first_divergent_frame(&self) -> Option<u32> {
        self.moments.iter().position(|moment| !moment.agrees).map(|frame| frame as u32)
    }

    /// Whether every frame was compared and equal, and the sessions agree.
    pub(crate) fn agrees(&self) -> bool {
        self.moments.len() == self.spec.frames as usize
            && self.first_divergent_frame().is_none()
            && self.alarm.is_none()
            && self.checksums[0] == self.checksums[1]
    }
}

/// One side: the scene in both kinds of numbers, with the same keys.
pub(crate) struct Side {
    pub(crate) fixed: Cubes,
    pub(crate) float: FloatCubes,
    pub(crate) held: Input,
    /// Hash of the checksums of all frames: a difference never heals.
    history: u64,
    corrupt_frame: Option<u32>,
    /// Frames that were not compared yet.
    records: Vec<Record>,
    /// Contacts of all frames together.
    contacts: u64,
}

/// One side after one frame.
struct Record {
    checksum: u64,
    history: u64,
    /// Centres, raw.
    fixed: Vec<[i64; 2]>,
    float: Vec<[f32; 2]>,
}

impl Side {
    fn new(setup: &Setup, order: ContactOrder, corrupt_frame: Option<u32>) -> Result<Self, SetupError> {
        Ok(Self {
            fixed: Cubes::new(setup)?,
            float: FloatCubes::new(setup, order)?,
            held: Input::default(),
            history: 0,
            corrupt_frame,
            records: Vec::new(),
            contacts: 0,
        })
    }
}

impl Simulation for Side {
    type Action = Input;

    fn apply(&mut self, _: PlayerId, input: &Input) {
        self.held = *input;
    }

    fn step(&mut self, _: u32) {
        self.fixed.step(self.held);
        self.float.step(self.held);
        if self.corrupt_frame.map(u64::from) == Some(self.fixed.frame() - 1) {
            self.fixed.flip_a_bit();
        }
        let checksum = self.fixed.checksum();
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.history.to_le_bytes());
        bytes[8..].copy_from_slice(&checksum.to_le_bytes());
        self.history = hash_bytes(&bytes);
        self.contacts += u64::from(self.fixed.world().contact_count());
        let raw = |cube: testudo_cubes::Cube| [cube.centre.x.to_bits(), cube.centre.y.to_bits()];
        self.records.push(Record {
            checksum,
            history: self.history,
            fixed: self.fixed.bodies().map(raw).collect(),
            float: self.float.centres().collect(),
        });
    }

    fn checksum(&mut self) -> u64 {
        self.history
    }
}

impl Record {
    fn compare(&self, later: &Self, delay: Duration) -> Moment {
        let unit = f64::from(1 << 16);
        let fixed = self.fixed.iter().zip(&later.fixed);
        let float = self.float.iter().zip(&later.float);
        Moment {
            agrees: self.checksum == later.checksum,
            fixed: Gap::of(fixed.map(|(a, b)| [0, 1].map(|axis| (a[axis] - b[axis]) as f64 / unit))),
            float: Gap::of(float.map(|(a, b)| [0, 1].map(|axis| f64::from(a[axis]) - f64::from(b[axis])))),
            delay,
        }
    }
}

impl Gap {
    fn of(offsets: impl ExactSizeIterator<Item = [f64; 2]>) -> Self {
        let count = offsets.len().max(1) as f64;
        let (max, sum) = offsets
            .map(|[x, y]| x.hypot(y))
            .fold((0.0, 0.0), |(max, sum): (f64, f64), distance| (max.max(distance), sum + distance));
        Self { max, mean: sum / count }
    }
}

impl From<SetupError> for MatchError {
    fn from(error: SetupError) -> Self {
        Self::Scene(error.to_string())
    }
}

/// Why a session gave up after so many frames.
fn in_words(failure: Failure, frames: u32) -> String {
    if failure != Failure::Dropped {
        return format!("{failure}, after {frames} frames");
    }
    let seconds = WINDOW / FRAMES_PER_SECOND;
    format!("the right side fell more than {seconds} s behind after {frames} frames and was given up")
}

fn too_slow(after: Duration, frames: u32) -> MatchError {
    let seconds = after.as_micros() / 1_000_000;
    MatchError::Cubes(format!("the network delivered too little: {frames} frames in {seconds} s"))
}
