//! The demonstration in a window: pictures drive its virtual time from outside, and the network may change. A slow picture makes time pass
//! more slowly and changes nothing else.

use testudo_lockstep::simnet::{LinkConfig, SimNet};
use testudo_lockstep::{Duration, Instant};

use super::{CubesMatch, CubesSpec, Moment, Side};
use crate::app::watch::telemetry::Telemetry;
use crate::app::{MatchError, Sample};
use testudo_cubes::{FRAMES_PER_SECOND, Input};
use testudo_render::clock::Clock;

/// Time for which one frame is requested before it is given up.
const STEP_PATIENCE: Duration = Duration::from_millis(500);

/// The demonstration, its clock, and measurements.
pub(crate) struct LiveCubes {
    inner: CubesMatch,
    /// Virtual time as pictures see it; never before the last thing that happened.
    time: Instant,
    telemetry: Telemetry,
    /// The first frame in which both sides had different checksums, and the number of frames compared so far.
    first_difference: Option<u32>,
    looked_at: u32,
}

impl LiveCubes {
    /// Both sides before their first frame; the handshake has passed in virtual time.
    ///
    /// # Errors
    /// Settings out of range, or a network that does not let them meet.
    pub(crate) fn new(spec: &CubesSpec) -> Result<Self, MatchError> {
        let inner = CubesMatch::start(spec)?;
        let time = inner.sides.now();
        Ok(Self { inner, time, telemetry: Telemetry::new(time), first_difference: None, looked_at: 0 })
    }

    /// Advances virtual time. `keys` are requested once per frame of the left side. Stops early when this has taken `budget` of real time;
    /// then the rest of `span` is dropped.
    ///
    /// # Errors
    /// A session that has failed.
    pub(crate) fn advance(
        &mut self,
        span: Duration,
        budget: Duration,
        mut keys: impl FnMut() -> Input,
    ) -> Result<(), MatchError> {
        let (clock, until) = (Clock::start(), self.time + span);
        while self.inner.sides.now() <= until && !self.is_over() {
            self.happen(&mut keys)?;
            if clock.elapsed() > budget {
                self.time = self.time.max(self.inner.sides.now()).min(until);
                return Ok(());
            }
        }
        self.time = until;
        Ok(())
    }

    /// Advances until the left side has run one more frame.
    ///
    /// # Errors
    /// A session that has failed.
    pub(crate) fn step_frame(&mut self, mut keys: impl FnMut() -> Input) -> Result<(), MatchError> {
        let (frame, limit) = (self.frame(0), self.time + STEP_PATIENCE);
        while self.frame(0) == frame && self.inner.sides.now() <= limit && !self.is_over() {
            self.time = self.time.max(self.inner.sides.now());
            self.happen(&mut keys)?;
        }
        Ok(())
    }

    /// Everything that happens at the next point of virtual time.
    fn happen(&mut self, keys: &mut impl FnMut() -> Input) -> Result<(), MatchError> {
        self.inner.step(keys);
        let fresh = self.inner.moments.iter().skip(self.looked_at as usize);
        if let (None, Some(offset)) = (self.first_difference, fresh.clone().position(|m| !m.agrees)) {
            self.first_difference = Some(self.looked_at + offset as u32);
        }
        self.looked_at = self.inner.frames_compared();
        let sides = &self.inner.sides;
        self.telemetry.observe(sides.now(), sides.net().stats(), sides.drivers());
        self.inner.check()
    }

    /// Changes the network, from the next packet on.
    pub(crate) fn set_link(&mut self, link: LinkConfig) {
        self.inner.spec.link = link;
        self.inner.sides.net_mut().set_default(link);
    }

    /// Flips one bit of the right side's scene after its next frame.
    pub(crate) fn corrupt_one_bit(&mut self) {
        let side = self.inner.sides.drivers_mut()[1].simulation_mut();
        side.corrupt_frame = u32::try_from(side.fixed.frame()).ok();
    }

    /// What decides how it runs, with the link as it is now.
    pub(crate) fn spec(&self) -> &CubesSpec {
        &self.inner.spec
    }

    pub(crate) fn net(&self) -> &SimNet {
        self.inner.sides.net()
    }

    /// 0 is the left one.
    pub(crate) fn side(&self, side: u8) -> &Side {
        self.inner.side(usize::from(side))
    }

    /// Frames that a side has run.
    pub(crate) fn frame(&self, side: u8) -> u32 {
        self.inner.sides.drivers()[usize::from(side)].frame().0
    }

    /// How far the picture is between a side's last two frames: 0..=65,536.
    pub(crate) fn alpha(&self, side: u8) -> u32 {
        self.inner.sides.drivers()[usize::from(side)].alpha_at(self.time)
    }

    /// Virtual time that the right side has waited for its present frame, if that is late.
    pub(crate) fn late_by(&self) -> Option<Duration> {
        let right = &self.inner.sides.drivers()[1];
        let due = right.playout()?.due_at(right.frame().0)?;
        let late = self.time.since(due);
        let one_frame = Duration::from_micros(1_000_000 / u64::from(FRAMES_PER_SECOND));
        (late > one_frame && !self.is_over()).then_some(late)
    }

    /// Frames that both sides have run and that were compared, oldest first.
    pub(crate) fn moments(&self) -> &[Moment] {
        &self.inner.moments
    }

    /// Checksums of the run up to the last frame compared, left and right.
    pub(crate) fn checksums(&self) -> [u64; 2] {
        self.inner.compared
    }

    /// The first frame in which the sides differed.
    pub(crate) fn first_difference(&self) -> Option<u32> {
        self.first_difference
    }

    /// Measurements of the last while, oldest first.
    pub(crate) fn samples(&self) -> impl DoubleEndedIterator<Item = &Sample> {
        self.telemetry.samples()
    }

    /// All frames have run, on both sides.
    pub(crate) fn is_over(&self) -> bool {
        self.inner.frames_compared() >= self.inner.spec.frames
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use testudo_cubes::{Autopilot, Setup};
    use testudo_lockstep::PlayoutMode;
    use testudo_lockstep::simnet::Transport;

    const AMPLE: Duration = Duration::from_secs(60);

    fn live(frames: u32) -> LiveCubes {
        let link = LinkConfig::new().latency(Duration::from_millis(600)).loss_ppm(250_000);
        let playout = PlayoutMode::Adaptive { late_ppm: 1_000, start: Duration::from_millis(100) };
        let setup = Setup { cubes: 60, seed: 4 };
        LiveCubes::new(&CubesSpec { setup, frames, link, playout, corrupt_frame: None }).unwrap()
    }

    fn play(live: &mut LiveCubes, micros: u64) {
        let mut keys = Autopilot::new(4);
        while !live.is_over() {
            match micros {
                0 => {
                    let frame = live.frame(0);
                    live.step_frame(|| keys.press()).unwrap();
                    assert!(live.frame(0) <= frame + 1);
                }
                _ => live.advance(Duration::from_micros(micros), AMPLE, || keys.press()).unwrap(),
            }
            assert!(live.alpha(0) <= 65_536 && live.alpha(1) <= 65_536);
            assert!(live.frame(1) <= live.frame(0));
        }
    }

    #[test]
    fn the_length_of_pictures_does_not_change_the_scene() {
        let [smooth, jerky, stepped] = [16_667, 150_000, 0].map(|micros| {
            let mut live = live(300);
            play(&mut live, micros);
            assert_eq!((live.moments().len(), live.first_difference()), (300, None));
            live.checksums()
        });
        assert_eq!(smooth[0], smooth[1]);
        assert_eq!((smooth, smooth), (jerky, stepped));
    }

    #[test]
    fn a_longer_way_stalls_the_right_side_and_a_flipped_bit_is_seen() {
        let mut live = live(2_000);
        let second = Duration::from_secs(1);
        let right = Input { right: true, ..Input::default() };
        (0..3).for_each(|_| live.advance(second, AMPLE, || right).unwrap());
        let behind = live.frame(0) - live.frame(1);
        assert!((36..60).contains(&behind) && live.side(1).held == right, "{behind}");
        live.set_link(live.spec().link.latency(Duration::from_secs(2)));
        live.advance(second, AMPLE, || right).unwrap();
        assert!(live.late_by() > Some(Duration::from_millis(200)), "{:?}", live.late_by());
        (0..5).for_each(|_| live.advance(second, AMPLE, || right).unwrap());
        assert!(live.frame(0) - live.frame(1) >= 120);
        assert!(live.samples().any(|sample| sample.stalled_frames > 0 && sample.behind_frames > 60));
        assert_eq!(live.first_difference(), None);
        let frame = live.frame(1);
        live.corrupt_one_bit();
        live.advance(second, AMPLE, || right).unwrap();
        assert_eq!(live.first_difference(), Some(frame));
        assert_ne!(live.checksums()[0], live.checksums()[1]);
    }

    #[test]
    fn tcp_loses_the_copy_where_udp_keeps_it() {
        let mut live = live(100_000);
        let second = Duration::from_secs(1);
        let keys = Input::default;
        (0..20).for_each(|_| live.advance(second, AMPLE, keys).unwrap());
        assert!(live.frame(0) - live.frame(1) < 60 && live.net().held_back() == 0);
        live.set_link(live.spec().link.transport(Transport::Tcp));
        let mut held_back = 0;
        for _ in 0..15 {
            live.advance(second, AMPLE, keys).unwrap();
            held_back = held_back.max(live.net().held_back());
        }
        assert!(live.late_by() > Some(Duration::from_secs(5)) && held_back > 50, "{:?}", live.late_by());
        assert_eq!(live.first_difference(), None);
    }
}
