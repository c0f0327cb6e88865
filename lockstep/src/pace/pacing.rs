//! Length of turns and rate of frames: the plan that every peer derives from the averages of all.
//!
//! Each player measures two averages (network: from closing an entry to its last confirmation; runtime: slowest frame of a turn) and sends
//! them with its entries. All peers apply them at the turn of that entry. Measurements are session state, never simulation state.

use crate::value::bits::{BitReader, BitWriter, DecodeError};
use crate::value::entry::{Extra, SPEED_PERCENT_USUAL};
use crate::value::field::{Field, fields};
use crate::value::ids::{PLAYERS_MAX, PlayerId};
use crate::value::time::Duration;

/// How the pace of a session is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Pace {
    /// Turn length and frame rate stay as set.
    Fixed,
    /// The simulation's step stays as set. A turn has as many frames as the network path needs: two turns last as long as an entry takes
    /// to the slowest player, and one frame longer, in which a lost packet is repeated. If the slowest machine cannot keep up, everybody's
    /// frames take longer.
    Adaptive,
    /// The formula of the articles "Lockstep Implementation in Unity3D" (<http://clintonbrennan.com/2013/12/lockstep-implementation-in-unity3d/>
    /// and its second part), without its defects. A turn also waits for the confirmation of the player's own entry,
    /// its length is twice the network average plus 1 ms, and frames per second follow the runtime average. In a mesh nobody passes on confirmations: one
    /// broken link costs both its ends their places, and ends a match of three.
    Article,
}

/// Shape of a turn, equal on all peers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct TurnPlan {
    /// Frames of the turn.
    pub frames_per_turn: u32,
    /// Frames per second of simulated time: a step of the simulation is one second divided by this.
    pub frames_per_second: u32,
    /// Frames per 1,000 seconds of real time.
    pub pace_millihertz: u32,
}

impl TurnPlan {
    /// The plan if the match runs at this speed, percent of real time.
    pub(crate) fn at_speed(self, percent: u8) -> Self {
        let pace = u64::from(self.pace_millihertz) * u64::from(percent) / 100;
        Self { pace_millihertz: u32::try_from(pace.max(1)).unwrap_or(u32::MAX), ..self }
    }

    /// Length of the turn in nanoseconds of real time, rounded down.
    pub(crate) fn turn_ns(self) -> u64 {
        let frames = u64::from(self.frames_per_turn).saturating_mul(1_000_000_000_000);
        frames / u64::from(self.pace_millihertz.max(1))
    }
}

/// No setting gives more.
impl Field for TurnPlan {
    fn write(&self, writer: &mut BitWriter) {
        writer.write_bits(u64::from(self.frames_per_turn), 16);
        writer.write_bits(u64::from(self.frames_per_second), 16);
        self.pace_millihertz.write(writer);
    }

    fn read(reader: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            frames_per_turn: reader.read_max(16, 2_000)? as u32,
            frames_per_second: reader.read_max(16, 1_000)? as u32,
            pace_millihertz: reader.read_max(32, 1_000_000)? as u32,
        })
    }
}

/// The article's turn from a network average and a runtime average in milliseconds, with both defects of its arithmetic fixed.
///
/// - Its remainder rule made the frame a millisecond longer and dropped the rest of the turn (network 95, frame 50: 3 x 51 = 153 ms where
///   191 are needed). Here the number of frames is rounded up, so a turn is never shorter than the network needs.
/// - It computed frames per second from truncated turns per second (204 ms: 4 x 4 = 16 instead of 19.6, so the game ran 22 % fast). Here
///   the step and the rate of frames are the same number, rounded down, so game time is real time.
///
/// At most two seconds: a network path that needs more is broken rather than slow.
fn article_plan(network_ms: u32, runtime_ms: u32) -> TurnPlan {
    let frame_ms = runtime_ms.clamp(1, 1_000);
    let frames_per_second = 1_000 / frame_ms;
    let turn_ms = (u64::from(network_ms) * 2 + 1).max(u64::from(frame_ms));
    let frames = (turn_ms * u64::from(frames_per_second)).div_ceil(1_000);
    let frames = frames.clamp(1, u64::from(frames_per_second * 2));
    TurnPlan { frames_per_turn: frames as u32, frames_per_second, pace_millihertz: frames_per_second * 1_000 }
}

/// The default turn: a constant step, and turns as long as the network path needs.
///
/// `turns_ahead * turn >= network / 2 + one frame`; at most one second.
fn adaptive_plan(network_ms: u32, runtime_ms: u32, frames_per_second: u32, turns_ahead: u32) -> TurnPlan {
    let rate = u64::from(frames_per_second);
    // Plus one frame. In thousandths of a frame, so that rounding happens only at the end.
    let path = u64::from(network_ms) * rate / 2 + 1_000;
    let frames = path.div_ceil(1_000 * u64::from(turns_ahead.max(1)));
    let slowest = u32::try_from(1_000_000 / u64::from(runtime_ms.clamp(1, 1_000))).unwrap_or(u32::MAX);
    TurnPlan {
        frames_per_turn: frames.clamp(1, rate.clamp(1, 250)) as u32,
        frames_per_second,
        pace_millihertz: slowest.min(frames_per_second * 1_000),
    }
}

/// A turn becomes shorter only after a shorter turn was possible for this many turns, or for a second if that is over sooner.
pub(crate) const CALM_TURNS: u32 = 10;

/// A calm second, in ms.
pub(crate) const CALM_MS: u32 = 1_000;

/// A player's network average counts without a time limit up to this many ms.
pub(crate) const NETWORK_VOTE_MS: u16 = 1_000;

/// A player's runtime average counts without a time limit up to this many frames: it can halve the pace.
pub(crate) const RUNTIME_VOTE_FRAMES: u32 = 2;

/// No vote ever counts more than this multiple of the network's bound, and half this multiple of the machine's.
const EXCESS_VOTE_TIMES: u16 = 4;

/// Beyond these bounds a vote counts for this many ms of the match; a tenth of the time within the bounds is credited back.
pub(crate) const EXCESS_VOTE_MS: u32 = 10_000;

/// All players' averages as all peers know them, and the plan that follows: a pure function of the streams.
#[derive(Clone, Debug)]
pub(crate) struct Planner {
    pace: Pace,
    base: TurnPlan,
    turns_ahead: u32,
    plan: TurnPlan,
    /// Percent of real time, on which the players agreed.
    speed: u8,
    votes: [Votes; PLAYERS_MAX as usize],
    calm_turns: u32,
    calm_ms: u32,
}

/// A player's averages, and for how much of the match, in ms, they have counted beyond the bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Votes {
    pub(crate) network_ms: u16,
    pub(crate) runtime_ms: u16,
    pub(crate) excess_ms: u32,
}

fields!(Votes { network_ms, runtime_ms, excess_ms });

impl Planner {
    pub(crate) fn new(pace: Pace, base: TurnPlan, turns_ahead: u32) -> Self {
        Self {
            pace,
            base,
            turns_ahead,
            plan: base,
            speed: SPEED_PERCENT_USUAL,
            votes: Default::default(),
            calm_turns: 0,
            calm_ms: 0,
        }
    }

    /// Continues with the shape and speed of a saved match; measurements start again.
    pub(crate) fn resume(&mut self, plan: TurnPlan, speed: u8) {
        self.plan = plan;
        self.speed = speed;
    }

    /// Continues with everything that the others know about the measurements.
    pub(crate) fn restore(&mut self, calm: (u32, u32), votes: impl Iterator<Item = Votes>) {
        (self.calm_turns, self.calm_ms) = calm;
        self.votes.iter_mut().zip(votes).for_each(|(kept, votes)| *kept = votes);
    }

    /// How long the plan could have been shorter, in turns and ms, for [`Planner::restore`].
    pub(crate) fn calm(&self) -> (u32, u32) {
        (self.calm_turns, self.calm_ms)
    }

    /// A player's averages, for [`Planner::restore`].
    pub(crate) fn votes(&self, player: PlayerId) -> Votes {
        self.votes[player.index()]
    }

    /// The shape of turns and the speed, separately, for a save.
    pub(crate) fn to_save(&self) -> (TurnPlan, u8) {
        (self.plan, self.speed)
    }

    /// Percent of real time, on which the players agreed.
    pub(crate) fn speed(&self) -> u8 {
        self.speed
    }

    /// Nobody is left who could change the speed: it is the usual one. Returns whether it was another one.
    pub(crate) fn end_speed(&mut self) -> bool {
        core::mem::replace(&mut self.speed, SPEED_PERCENT_USUAL) != SPEED_PERCENT_USUAL
    }

    pub(crate) fn plan(&self) -> TurnPlan {
        self.plan.at_speed(self.speed)
    }

    /// Length of a turn in real time.
    pub(crate) fn turn(&self) -> Duration {
        Duration::from_micros(self.turn_ns() / 1_000)
    }

    /// The same in nanoseconds, rounded down.
    pub(crate) fn turn_ns(&self) -> u64 {
        self.plan().turn_ns()
    }

    /// Takes what a player's entry for the turn that begins says about the pace.
    pub(crate) fn take(&mut self, player: PlayerId, extra: &Extra) {
        match *extra {
            Extra::Pace { network_ms, runtime_ms } => self.note(player, network_ms, runtime_ms),
            // A player who is gone delays nobody any more.
            Extra::End(_) => self.note(player, 0, 0),
            Extra::Speed(percent) => self.speed = percent,
            _ => {}
        }
    }

    /// Notes a player's averages.
    pub(crate) fn note(&mut self, player: PlayerId, network_ms: u16, runtime_ms: u16) {
        let votes = &mut self.votes[player.index()];
        *votes = Votes { network_ms, runtime_ms, ..*votes };
    }

    /// A player's averages as all peers know them: network and runtime in milliseconds.
    pub(crate) fn averages(&self, player: PlayerId) -> (u16, u16) {
        let Votes { network_ms, runtime_ms, .. } = self.votes[player.index()];
        (network_ms, runtime_ms)
    }

    /// The players with the largest network and runtime averages.
    pub(crate) fn slowest(&self) -> (PlayerId, PlayerId) {
        let slowest = |average: fn(&Votes) -> u16| {
            // The last of equals is the greatest, the first player is meant.
            let of_all = (0..PLAYERS_MAX).zip(&self.votes).rev();
            of_all.max_by_key(|(_, votes)| average(votes)).map_or(PlayerId(0), |(player, _)| PlayerId(player))
        };
        (slowest(|votes| votes.network_ms), slowest(|votes| votes.runtime_ms))
    }

    /// Makes the plan of the turn that begins: longer at once, shorter after ten calm turns or a calm second.
    pub(crate) fn begin_turn(&mut self) {
        let (network, runtime) = self.counted_votes();
        // Before the first measurement there is nothing to follow.
        if self.pace == Pace::Fixed || network == 0 {
            return;
        }
        let wanted = match self.pace {
            Pace::Article if runtime > 0 => article_plan(network, runtime),
            Pace::Article => article_plan(network, 1_000 / self.base.frames_per_second.max(1)),
            _ => adaptive_plan(network, runtime, self.base.frames_per_second, self.turns_ahead),
        };
        let slower = |plan: &TurnPlan| {
            // Turn length as frames over pace, compared without division.
            (u64::from(plan.frames_per_turn) * u64::from(self.plan.pace_millihertz))
                > (u64::from(self.plan.frames_per_turn) * u64::from(plan.pace_millihertz))
        };
        let longer = slower(&wanted) || wanted.pace_millihertz < self.plan.pace_millihertz;
        if wanted != self.plan && !longer {
            self.calm_turns += 1;
            self.calm_ms = self.calm_ms.saturating_add(self.turn_ms());
            if self.calm_turns < CALM_TURNS && self.calm_ms < CALM_MS {
                return;
            }
        }
        (self.calm_turns, self.calm_ms) = (0, 0);
        self.plan = wanted;
    }

    /// Length of a turn at normal speed.
    fn turn_ms(&self) -> u32 {
        self.plan.frames_per_turn.saturating_mul(1_000_000) / self.plan.pace_millihertz.max(1)
    }

    /// The largest network and runtime averages, each limited to what counts: no player can slow the match beyond the bounds for long.
    fn counted_votes(&mut self) -> (u32, u32) {
        let runtime_bound = RUNTIME_VOTE_FRAMES * 1_000 / self.base.frames_per_second.max(1);
        let runtime_bound = u16::try_from(runtime_bound.max(2)).unwrap_or(u16::MAX);
        let turn_ms = self.turn_ms();
        let mut most = (0, 0);
        for Votes { network_ms, runtime_ms, excess_ms: excess } in &mut self.votes {
            let vote = (
                (*network_ms).min(EXCESS_VOTE_TIMES * NETWORK_VOTE_MS),
                (*runtime_ms).min(runtime_bound.saturating_mul(EXCESS_VOTE_TIMES / 2)),
            );
            let bounded = (vote.0.min(NETWORK_VOTE_MS), vote.1.min(runtime_bound));
            let counted = match (vote == bounded, *excess < EXCESS_VOTE_MS) {
                (true, _) => {
                    *excess = excess.saturating_sub(turn_ms.div_ceil(10));
                    bounded
                }
                (false, true) => {
                    *excess = excess.saturating_add(turn_ms);
                    vote
                }
                (false, false) => bounded,
            };
            most = (most.0.max(u32::from(counted.0)), most.1.max(u32::from(counted.1)));
        }
        most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_never_shorter_than_the_network_needs() {
        // The article: 3 frames of 51 ms = 153 ms.
        let plan = article_plan(95, 50);
        assert_eq!((plan.frames_per_turn, plan.frames_per_second), (4, 20));
        for network in 0..400 {
            for runtime in 1..100 {
                let plan = article_plan(network, runtime);
                let turn_us =
                    u64::from(plan.frames_per_turn) * 1_000_000_000 / u64::from(plan.pace_millihertz);
                assert!(turn_us >= u64::from(network) * 2_000 + 1_000, "{network} {runtime}");
            }
        }
    }

    #[test]
    fn game_time_is_real_time() {
        // Turns of 204 ms = 4 frames of 51 ms: the article steps by 1/16 s and runs 22 % fast.
        let plan = article_plan(101, 51);
        assert_eq!(plan.frames_per_second, 19);
        assert_eq!(plan.pace_millihertz, 19_000, "19 steps of 1/19 s in each second");
        assert_eq!(plan.frames_per_turn, 4, "203 ms need 4 frames of 52.6 ms");
    }

    #[test]
    fn two_turns_cover_the_path() {
        // 300 ms round trip at 20 frames per second: (150 + 50) / 2 = 100 ms = 2 frames.
        assert_eq!(adaptive_plan(300, 10, 20, 2).frames_per_turn, 2);
        assert_eq!(adaptive_plan(1, 10, 20, 2).frames_per_turn, 1);
        assert_eq!(adaptive_plan(60_000, 10, 20, 2).frames_per_turn, 20, "at most a second");
        assert_eq!(adaptive_plan(300, 10, 20, 2).pace_millihertz, 20_000);
        assert_eq!(adaptive_plan(300, 80, 20, 2).pace_millihertz, 12_500, "the slowest machine needs 80 ms");
    }

    /// The lengths of the next ten turns.
    fn next_ten(planner: &mut Planner) -> Vec<u32> {
        let mut next = || {
            planner.begin_turn();
            planner.plan().frames_per_turn
        };
        (0..10).map(|_| next()).collect()
    }

    #[test]
    fn longer_at_once_shorter_after_ten_calm_turns_or_a_calm_second() {
        let base = TurnPlan { frames_per_turn: 4, frames_per_second: 20, pace_millihertz: 20_000 };
        let mut planner = Planner::new(Pace::Adaptive, base, 2);
        planner.note(PlayerId(1), 900, 0);
        planner.begin_turn();
        assert_eq!(planner.plan().frames_per_turn, 5);
        assert_eq!(planner.slowest().0, PlayerId(1));
        planner.note(PlayerId(1), 100, 0);
        let lengths = next_ten(&mut planner);
        assert_eq!(lengths, [5, 5, 5, 1, 1, 1, 1, 1, 1, 1], "a second is four turns of 250 ms");
        planner.note(PlayerId(1), 200, 0);
        planner.begin_turn();
        assert_eq!(planner.plan().frames_per_turn, 2);
        planner.note(PlayerId(1), 100, 0);
        let lengths = next_ten(&mut planner);
        assert_eq!(lengths, [2, 2, 2, 2, 2, 2, 2, 2, 2, 1]);
        planner.take(PlayerId(1), &Extra::End(crate::EndReason::Left));
        planner.begin_turn();
        assert_eq!(planner.plan().frames_per_turn, 1, "nothing measured: stays");
    }

    /// "Length of turns" of `WIRE.md`, for two players: frames, frames per second and pace; network average, runtime average and excess of each; calm turns
    /// and ms.
    #[derive(Clone, Copy)]
    struct Page {
        shape: [u64; 3],
        players: [[u64; 3]; 2],
        calm: [u64; 2],
    }

    impl Page {
        fn begin_turn(&mut self, pace: Pace, rate: u64, ahead: u64) {
            let (long, bound) = (self.shape[0] * 1_000_000 / self.shape[2], (2_000 / rate).max(2));
            let (mut network, mut runtime) = (0, 0);
            for [ping, frame, excess] in &mut self.players {
                let full = [(*ping).min(4_000), (*frame).min(2 * bound)];
                let bounded = [(*ping).min(1_000), (*frame).min(bound)];
                let mut counted = bounded;
                if full == bounded {
                    *excess = excess.saturating_sub(long.div_ceil(10));
                } else if *excess < 10_000 {
                    (*excess, counted) = (*excess + long, full);
                }
                (network, runtime) = (network.max(counted[0]), runtime.max(counted[1]));
            }
            let slowest = if runtime > 0 { runtime } else { 1_000 / rate }.clamp(1, 1_000);
            let [frames, _, now] = self.shape;
            let wanted = match pace {
                _ if network == 0 => return,
                Pace::Fixed => return,
                Pace::Adaptive => [
                    (network * rate / 2 + 1_000).div_ceil(1_000 * ahead.max(1)).clamp(1, rate.min(250)),
                    rate,
                    (1_000_000 / runtime.clamp(1, 1_000)).min(1_000 * rate),
                ],
                Pace::Article => {
                    let rate = 1_000 / slowest;
                    let most = ((2 * network + 1).max(slowest) * rate).div_ceil(1_000);
                    [most.clamp(1, 2 * rate), rate, 1_000 * rate]
                }
            };
            if wanted != self.shape && wanted[2] >= now && wanted[0] * now <= frames * wanted[2] {
                self.calm = [self.calm[0] + 1, self.calm[1] + long];
                if self.calm[0] < 10 && self.calm[1] < 1_000 {
                    return;
                }
            }
            (self.shape, self.calm) = (wanted, [0, 0]);
        }
    }

    /// The page was silent, and each peer, also one in another language, must come to the same bits.
    #[test]
    fn turns_have_the_length_that_the_page_says() {
        let mut drawn = 1_u64;
        let mut draw = |below: u64| {
            drawn = drawn.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (drawn >> 33) % below
        };
        let mut shapes = std::collections::BTreeSet::new();
        for case in 0..600 {
            let pace = [Pace::Fixed, Pace::Adaptive, Pace::Article][case % 3];
            let (rate, frames, ahead) = (1 + draw(1_000) / (1 + draw(100)), 1 + draw(250), draw(9));
            let shape = [frames, rate, 1_000 * rate];
            let mut page = Page { shape, players: [[0; 3]; 2], calm: [0; 2] };
            let base = TurnPlan {
                frames_per_turn: frames as u32,
                frames_per_second: rate as u32,
                pace_millihertz: 1_000 * rate as u32,
            };
            let mut planner = Planner::new(pace, base, ahead as u32);
            for _ in 0..200 {
                for player in 0..2_u8 {
                    let (network, runtime) = (draw(65_536) >> draw(16), draw(65_536) >> draw(16));
                    let extra = match draw(10) {
                        0 => Extra::Pace { network_ms: network as u16, runtime_ms: runtime as u16 },
                        1 if draw(9) == 0 => Extra::End(crate::EndReason::Left),
                        _ => continue,
                    };
                    let said = if matches!(extra, Extra::End(_)) { [0, 0] } else { [network, runtime] };
                    page.players[usize::from(player)][..2].copy_from_slice(&said);
                    planner.take(PlayerId(player), &extra);
                }
                page.begin_turn(pace, rate, ahead);
                planner.begin_turn();
                let TurnPlan { frames_per_turn, frames_per_second, pace_millihertz } = planner.plan();
                assert_eq!([frames_per_turn, frames_per_second, pace_millihertz].map(u64::from), page.shape);
                assert_eq!(<[u32; 2]>::from(planner.calm()).map(u64::from), page.calm, "{case}");
                for player in 0..2_u8 {
                    let excess = planner.votes(PlayerId(player)).excess_ms;
                    assert_eq!(u64::from(excess), page.players[usize::from(player)][2], "{case}");
                }
                shapes.insert(page.shape);
            }
        }
        assert!(shapes.len() > 2_000, "{}", shapes.len());
    }

    #[test]
    fn a_vote_beyond_the_bounds_counts_for_a_limited_time() {
        let base = TurnPlan { frames_per_turn: 4, frames_per_second: 20, pace_millihertz: 20_000 };
        let mut planner = Planner::new(Pace::Adaptive, base, 2);
        planner.note(PlayerId(1), u16::MAX, u16::MAX);
        let mut spent_ms = 0;
        while spent_ms < 30_000 {
            planner.begin_turn();
            let plan = planner.plan();
            spent_ms += plan.frames_per_turn * 1_000_000 / plan.pace_millihertz;
            assert_eq!(plan.pace_millihertz, if spent_ms <= 16_000 { 5_000 } else { 10_000 }, "{spent_ms}");
        }
        // Four times as slow as set for a few turns; then twice as slow, with turns for a round trip of 1 s.
        for _ in 0..100 {
            planner.begin_turn();
            let plan = planner.plan();
            assert_eq!((plan.frames_per_turn, plan.pace_millihertz), (6, 10_000));
        }
    }
}
