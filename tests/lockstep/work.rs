//! Machines that take time: what a slow one costs the others, and what a round of the driver does at most.

use crate::play::{Play as _, alone, exchange_all, give_order};
use core::num::NonZeroU32;

use crate::toy::{Toy, latency, peer, toy_match};

use testudo_lockstep::{
    Blame, Duration, Identity, Instant, Pace, PlayerId, Session, SessionConfig, TurnStatus, VirtualMatch,
};

/// What a machine takes for a frame and for a picture, ms. It draws one picture after the other.
#[derive(Clone, Copy, Default)]
struct Machine {
    frame: u64,
    picture: u64,
}

/// A match of three in virtual time, whose machines are at work for as long as their frames and pictures take.
struct Table {
    game: VirtualMatch<Toy>,
    machines: [Machine; 3],
    awake: [Instant; 3],
    frames: [u32; 3],
    /// What the next round with a frame of the second machine takes besides.
    hiccup: Duration,
}

impl Table {
    fn new(pace: Pace, machines: [Machine; 3]) -> Self {
        let config = SessionConfig::new(3).simulated().turns(100_000).pace(pace);
        let link = latency(30);
        let game = toy_match(&config, 0, 1, link);
        Self { game, machines, awake: [Instant::ZERO; 3], frames: [0; 3], hiccup: Duration::ZERO }
    }

    /// Lets so many seconds pass. Returns the lowest pace that there was, frames per 1,000 s.
    fn play(&mut self, seconds: u64) -> u32 {
        let end = self.game.now() + Duration::from_secs(seconds);
        let mut lowest = u32::MAX;
        while self.game.now() < end {
            let now = self.game.now();
            self.game.step(&mut |_, turn, _, session: &mut Session<_>| give_order(turn, session));
            for peer in 0..3 {
                if now >= self.awake[peer] {
                    self.work(peer, now);
                }
                lowest = lowest.min(self.game.session(peer).plan().pace_millihertz);
            }
        }
        lowest
    }

    /// The round of a peer is over: frames have run, and a picture is drawn.
    fn work(&mut self, peer: usize, now: Instant) {
        let frame = self.game.drivers()[peer].frame().0;
        let frames = frame - core::mem::replace(&mut self.frames[peer], frame);
        let Machine { frame, picture } = self.machines[peer];
        let mut simulated = Duration::from_millis(frame).times(frames.into());
        if peer == 1 && frames > 0 {
            simulated = simulated + core::mem::take(&mut self.hiccup);
        }
        let drawn = Duration::from_millis(picture);
        self.awake[peer] = now + simulated + drawn;
        self.game.drivers_mut()[peer].note_work(simulated, drawn);
        self.game.put_to_sleep(peer, self.awake[peer]);
    }

    fn blames(&self) -> [Option<Blame>; 3] {
        [0, 1, 2].map(|player| self.game.session(2).player_report(PlayerId(player)).blame)
    }

    fn frames_and_stalls(&self) -> (u32, u64) {
        let driver = &self.game.drivers()[2];
        (driver.frame().0, driver.session().stats().stalled_frames)
    }
}

const FAST: Machine = Machine { frame: 2, picture: 5 };

/// The runtime average was measured by nobody: the others' pictures stood still again and again, and the network was blamed.
#[test]
fn a_machine_that_cannot_keep_up_slows_the_match_and_is_named() {
    let mut table = Table::new(Pace::Adaptive, [FAST, Machine { frame: 80, picture: 12 }, FAST]);
    table.play(20);
    assert_eq!(table.blames(), [None, Some(Blame::Processor), None]);
    let (frames, stalls) = table.frames_and_stalls();
    table.play(60);
    let report = table.game.session(2).player_report(PlayerId(1));
    assert!((80..90).contains(&report.runtime_ms), "{report:?}");
    let (later, stalled) = table.frames_and_stalls();
    // 12.5 frames per second are 750; it draws, too.
    assert!((660..=750).contains(&(later - frames)), "{} frames in a minute", later - frames);
    assert!(stalled - stalls < 20, "{} frames stood still", stalled - stalls);
    assert_eq!(table.blames(), [None, Some(Blame::Processor), None]);
}

/// What a machine needs was compared with a frame at full speed: the others' pictures stood still, or everybody waited for a machine that kept up.
#[test]
fn a_frame_of_another_speed_is_what_a_machine_must_keep_up_with() {
    // Frames of 20 ms, of which the machine can do 33 in a second; and of 100 ms, which it does with ease.
    for (speed, frame, pace, blame) in
        [(250, 30, 30_000..34_000, Some(Blame::Processor)), (50, 80, 10_000..10_001, None)]
    {
        let mut table = Table::new(Pace::Adaptive, [FAST, Machine { frame, picture: 0 }, FAST]);
        table.game.session_mut(0).set_speed(speed).unwrap();
        table.play(20);
        assert_eq!(table.blames(), [None, blame, None], "{speed} %");
        let stalls = table.frames_and_stalls().1;
        table.play(30);
        let plan = table.game.session(2).plan();
        assert!(pace.contains(&plan.pace_millihertz), "{speed} %: {plan:?}");
        let stalled = table.frames_and_stalls().1 - stalls;
        assert!(stalled < 20, "{speed} %: {stalled} frames stood still");
    }
}

/// Up to four frames run for each picture, so slow pictures are no reason to wait. (A machine that is always at work looks busy at any pace: counted as
/// a part of each frame, its drawing would slow the match further and further.)
#[test]
fn a_machine_that_draws_slowly_slows_nobody() {
    for picture in [30, 60, 70, 100, 150] {
        let mut table = Table::new(Pace::Adaptive, [FAST, Machine { frame: 3, picture }, FAST]);
        assert_eq!(table.play(60), 20_000, "{picture} ms per picture");
        assert_ne!(table.blames()[1], Some(Blame::Processor), "{picture} ms per picture");
        let frames = table.frames_and_stalls().0;
        assert!(frames > 1_150, "{picture} ms per picture: {frames} frames in a minute");
    }
}

#[test]
fn a_hiccup_slows_nobody_and_a_bad_time_not_for_long() {
    for ms in [300, 2_000] {
        let mut table = Table::new(Pace::Adaptive, [FAST; 3]);
        table.play(10);
        table.hiccup = Duration::from_millis(ms);
        assert_eq!(table.play(20), 20_000, "{ms} ms");
    }
    let mut table = Table::new(Pace::Adaptive, [FAST; 3]);
    table.play(10);
    table.machines[1].frame = 200;
    table.play(15);
    assert!((10_000..10_500).contains(&table.play(5)), "no slower than half of the pace");
    table.machines[1] = FAST;
    table.play(20);
    assert_eq!(table.play(10), 20_000);
    assert_ne!(table.blames()[1], Some(Blame::Processor));
}

/// With turns of fixed length nothing changes but what is said. Who was slow for a while is not blamed for ever.
#[test]
fn a_fixed_pace_stays_and_blame_ends() {
    let mut table = Table::new(Pace::Fixed, [FAST, Machine { frame: 80, picture: 12 }, FAST]);
    assert_eq!(table.play(10), 20_000);
    assert_eq!(table.blames()[1], Some(Blame::Processor));
    table.machines[1] = FAST;
    table.play(20);
    assert_ne!(table.blames()[1], Some(Blame::Processor));
    assert_eq!(table.game.session(2).plan().pace_millihertz, 20_000);
}

/// The article's frames follow the machine: not below the rate that was set, but never above it either.
#[test]
fn the_articles_pace_is_no_faster_than_it_was_set() {
    let mut table = Table::new(Pace::Article, [FAST; 3]);
    table.play(20);
    assert_eq!(table.game.session(2).plan().frames_per_second, 20);
    table.machines[1].frame = 80;
    table.play(20);
    assert!((10..=12).contains(&table.game.session(2).plan().frames_per_second));
}

/// However much time has passed.
#[test]
fn one_call_runs_four_frames_at_most() {
    for frames_per_turn in [1, 4, 9] {
        let mut driver = alone(SessionConfig::new(1).turns(100_000).frames_per_turn(frames_per_turn));
        let mut now = Instant::ZERO;
        assert_eq!(driver.advance(now).frames, 1, "the first one is due at once");
        let mut most = 0;
        for span_ms in [0, 10, 49, 50, 100, 190, 200, 201, 260, 1_000, 60_000, 3_600_000].repeat(20) {
            now += Duration::from_millis(span_ms);
            let before = driver.frame().0;
            let advance = driver.advance(now);
            assert!(advance.frames <= 4, "{advance:?} after {span_ms} ms");
            assert_eq!(driver.frame().0 - before, advance.frames);
            most = most.max(advance.frames);
        }
        // Time beyond three turns is not made up for.
        assert_eq!(most, 4.min(3 * frames_per_turn), "the bound is reached");
    }
}

/// A watcher that comes late runs 16 frames in each call, or as many as it was given, and four again as soon as it is there.
#[test]
fn one_call_runs_sixteen_frames_at_most_while_it_catches_up() {
    let config = SessionConfig::new(1).simulated().frames_per_second(60).frames_per_turn(1).turns_ahead(0);
    // The state takes two seconds.
    let config = config.turns(3_000).late_watchers(true).state_rate(10_000);
    for given in [None, NonZeroU32::new(7), NonZeroU32::new(40)] {
        let bound = given.map_or(16, NonZeroU32::get);
        let mut now = Instant::ZERO;
        let state = Toy { gives_state: true, ballast: 20_000, ..Toy::default() };
        let mut drivers = vec![peer(&config, Identity::Player(PlayerId(0)), state, now)];
        let mut most = 0;
        for step in 0..2_000 {
            now += Duration::from_millis(10);
            if step == 1_000 {
                let driver = peer(&config, Identity::Watcher, Toy::default(), now);
                drivers.push(match given {
                    Some(frames) => driver.catch_up_frames(frames),
                    None => driver,
                });
            }
            for driver in &mut drivers {
                // It takes the state in the call that begins to catch up.
                let is_behind = driver.session().is_joining() || driver.session().is_catching_up();
                let frames = driver.advance(now).frames;
                // Whoever sleeps in between does not wait for the next frame while it has turns to catch up with.
                let goes_on = driver.session().is_catching_up()
                    && matches!(driver.session().turn_status(), TurnStatus::Ready(_));
                assert!(!goes_on || driver.poll_timeout().is_some_and(|due| due <= now));
                assert!(frames <= if is_behind { bound } else { 4 }, "{frames} frames");
                most = most.max(frames);
            }
            exchange_all(&mut drivers, now);
        }
        assert_eq!(most, bound, "the bound is reached");
    }
}
