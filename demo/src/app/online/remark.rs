//! What the engine has noticed about the others, in one sentence each: on a terminal a line, in a window a notice.

use testudo_lockstep::{Duration, Identity, Instant, PlayerId};

use crate::app::words::count;

/// Number of like remarks at once, and the time after which there may be one more: somebody who pauses in every turn fills no screen.
const AT_ONCE: u32 = 3;
const ONE_MORE: Duration = Duration::from_secs(10);

/// That nothing comes from the middle of the star: a host, or a relay.
const SILENCE: [&str; 2] = ["nothing comes from the host", "nothing comes from the relay"];

/// Something that whoever plays or watches wants to know.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Remark {
    /// The match has stood for a while, and waits for these players.
    Waits { players: Vec<PlayerId>, drop_in: Option<Duration> },
    /// Nothing has come from the host or the relay for a while.
    Silent { is_relayed: bool },
    /// The others have waited for the player again and again.
    OftenLate { player: PlayerId, drop_in: Duration },
    /// The player's machine is so slow that everybody plays at so many percent of the speed. What can be done about it.
    Slow { player: PlayerId, percent: u8, remedy: Remedy },
    /// A player has asked for a pause, or for its end. It ends by itself when those who could end it have gone: nobody did it.
    Paused { player: Option<PlayerId>, paused: bool },
    /// A player has asked for another speed. It ends in the same way.
    Speed { player: Option<PlayerId>, percent: u8 },
    /// Most players have signed another state than this player.
    Outlier { player: PlayerId, turn: u32 },
    /// The player's copy cannot be compared.
    ChecksumMissing { player: PlayerId, turn: u32 },
    /// The player, or whoever forwards, withholds the player's signed statements.
    StatementMissing { player: PlayerId, turn: u32 },
    /// The player has signed another match than the one that was shown here. `since`: the turn of the state with which it came back.
    ShownAnother { player: PlayerId, turn: u32, since: Option<u32> },
    /// The player has sent orders for turns that nobody honest can be at.
    TooFarAhead { player: PlayerId },
    /// A player votes another one out, or no longer does.
    Vote { voter: PlayerId, player: PlayerId, out: bool },
    /// The programs have found different results.
    ResultsDiffer,
    /// Orders that may run nowhere.
    Cancelled { orders: u32 },
    /// A source has sent a wrong state.
    StateRefused { turn: u32 },
    /// A source has sent a state that most players contradict: who can have changed it.
    WrongState { turn: u32, suspects: Vec<Identity> },
    /// Somebody who was coming to the running match has given up.
    JoinFailed,
    /// This program was too slow to read all that the engine has told.
    Lost { events: u64 },
}

/// Who can do something against a slow machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Remedy {
    /// It is this program's own.
    Own,
    Host,
    Votes,
    HostOrVotes,
    /// It is that of the host, on which the match depends.
    Nobody,
}

impl Remedy {
    /// The rest of a sentence.
    fn words(self) -> &'static str {
        match self {
            Self::Own => "; other programs on this machine cost time",
            Self::Host => "; the host can remove it",
            Self::Votes => "; the others can vote it out",
            Self::HostOrVotes => "; the host can remove it, or the others vote it out",
            Self::Nobody => "; it is the host's",
        }
    }
}

impl Remark {
    /// A name for logs and scripts.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Waits { .. } => "waits",
            Self::Silent { .. } => "silent",
            Self::OftenLate { .. } => "often late",
            Self::Slow { .. } => "slow",
            Self::Paused { .. } => "paused",
            Self::Speed { .. } => "speed",
            Self::Outlier { .. } => "outlier",
            Self::ChecksumMissing { .. } => "checksum missing",
            Self::StatementMissing { .. } => "statement missing",
            Self::ShownAnother { .. } => "shown another",
            Self::TooFarAhead { .. } => "too far ahead",
            Self::Vote { .. } => "vote",
            Self::ResultsDiffer => "results differ",
            Self::Cancelled { .. } => "cancelled",
            Self::StateRefused { .. } => "state refused",
            Self::WrongState { .. } => "wrong state",
            Self::JoinFailed => "guest gone",
            Self::Lost { .. } => "lost",
        }
    }

    /// The player that it is about, if it is about one.
    pub(crate) fn player(&self) -> Option<PlayerId> {
        match self {
            Self::Waits { players, .. } => players.first().copied(),
            Self::OftenLate { player, .. }
            | Self::Slow { player, .. }
            | Self::Outlier { player, .. }
            | Self::ChecksumMissing { player, .. }
            | Self::StatementMissing { player, .. }
            | Self::ShownAnother { player, .. }
            | Self::TooFarAhead { player }
            | Self::Vote { voter: player, .. } => Some(*player),
            Self::Paused { player, .. } | Self::Speed { player, .. } => *player,
            Self::Silent { .. }
            | Self::ResultsDiffer
            | Self::Cancelled { .. }
            | Self::StateRefused { .. }
            | Self::WrongState { .. }
            | Self::JoinFailed
            | Self::Lost { .. } => None,
        }
    }

    /// One sentence without a full stop. `called` names a player.
    pub(crate) fn sentence(&self, called: impl Fn(PlayerId) -> String) -> String {
        match self {
            Self::Waits { players, drop_in } => {
                let names: Vec<String> = players.iter().map(|player| called(*player)).collect();
                let then = drop_in.map_or(String::new(), |left| format!("; dropped in {}", seconds(left)));
                format!("waiting for {}{then}", names.join(", "))
            }
            Self::Silent { is_relayed } => SILENCE[usize::from(*is_relayed)].into(),
            Self::OftenLate { player, drop_in } => {
                let left = seconds(*drop_in);
                format!("{} is often late; after {left} more of waiting it is dropped", called(*player))
            }
            Self::Slow { player, percent, remedy } => slow(&called(*player), *percent, *remedy),
            Self::Paused { player: Some(player), paused } => {
                let what = if *paused { "pauses" } else { "continues" };
                format!("{} {what} the match", called(*player))
            }
            Self::Paused { player: None, paused: true } => "the match is paused".into(),
            Self::Paused { player: None, paused: false } => "the match continues".into(),
            Self::Speed { player: Some(player), percent } => {
                format!("{} sets the speed to {percent} %", called(*player))
            }
            Self::Speed { player: None, percent } => format!("the speed is {percent} % now"),
            Self::Outlier { player, turn } => {
                let whose = called(*player);
                format!("{whose} has a wrong copy: most players have signed another state of turn {turn}")
            }
            Self::ChecksumMissing { player, turn } => {
                format!("{} sends no checksum of turn {turn}: its copy is not compared", called(*player))
            }
            Self::StatementMissing { player, turn } => {
                let whose = called(*player);
                format!(
                    "nothing signed comes from {whose} (turn {turn}): it or the peer that forwards withholds it"
                )
            }
            Self::ShownAnother { player, turn, since } => shown_another(&called(*player), *turn, *since),
            Self::TooFarAhead { player } => {
                let whose = called(*player);
                format!("{whose} has a changed program: it sends orders for turns that nobody has reached")
            }
            Self::Vote { voter, player, out } => {
                let what = if *out { "votes" } else { "no longer votes" };
                format!("{} {what} {} out", called(*voter), called(*player))
            }
            Self::ResultsDiffer => "the programs have found different results".into(),
            Self::Cancelled { orders } => format!("{} may not run", count(*orders, "late order")),
            Self::StateRefused { turn } => {
                format!("the state of turn {turn} was wrong or damaged; somebody else is asked")
            }
            Self::WrongState { turn, suspects } => {
                format!(
                    "most players say that the state of turn {turn} is wrong; it came from {}",
                    named(suspects, called, " or ")
                )
            }
            Self::JoinFailed => "somebody who was joining the match has given up or was too slow".into(),
            Self::Lost { events } => format!("this program is too slow: {} lost", count(*events, "remark")),
        }
    }
}

fn slow(whose: &str, percent: u8, remedy: Remedy) -> String {
    let rest = remedy.words();
    format!("the machine of {whose} is slow: everybody plays at {percent} % of the speed{rest}")
}

fn shown_another(whose: &str, turn: u32, since: Option<u32>) -> String {
    let given = since
        .map_or(String::new(), |since| format!("; it came back in turn {since}, perhaps with a wrong state"));
    format!("{whose} has signed another match up to turn {turn} than was shown here{given}")
}

/// Whoever a message can come from.
pub(crate) fn named(peers: &[Identity], called: impl Fn(PlayerId) -> String, between: &str) -> String {
    let names = peers.iter().map(|peer| match peer {
        Identity::Player(player) => called(*player),
        Identity::Relay => "the relay".into(),
        Identity::Watcher => "a watcher".into(),
    });
    names.collect::<Vec<_>>().join(between)
}

/// A duration in whole seconds, at least one.
fn seconds(time: Duration) -> String {
    format!("{} s", time.as_millis().div_ceil(1_000).max(1))
}

/// What has been remarked lately, so that nobody can fill a screen.
#[derive(Debug, Default)]
pub(crate) struct Remarks(Vec<Kind>);

/// Remarks of one kind about one player.
#[derive(Debug)]
struct Kind {
    name: &'static str,
    player: Option<PlayerId>,
    /// When all credit is there again: each remark costs [`ONE_MORE`].
    whole_at: Instant,
    left_out: u32,
}

impl Remarks {
    /// Whether a remark is made: then how many like it were left out since the last one.
    pub(crate) fn admit(&mut self, remark: &Remark, now: Instant) -> Option<u32> {
        let (name, player) = (remark.name(), remark.player());
        let index = self.0.iter().position(|kind| (kind.name, kind.player) == (name, player));
        let index = index.unwrap_or_else(|| {
            self.0.push(Kind { name, player, whole_at: now, left_out: 0 });
            self.0.len() - 1
        });
        let kind = &mut self.0[index];
        if kind.whole_at.since(now) > ONE_MORE.times(u64::from(AT_ONCE) - 1) {
            kind.left_out += 1;
            return None;
        }
        kind.whole_at = kind.whole_at.max(now) + ONE_MORE;
        Some(core::mem::take(&mut kind.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn who_pauses_in_every_turn_fills_no_screen() {
        let mut remarks = Remarks::default();
        let pause = |player, paused| Remark::Paused { player: Some(PlayerId(player)), paused };
        let told: Vec<u32> =
            (0..300).filter_map(|n| remarks.admit(&pause(1, n % 2 == 0), at(200 * n))).collect();
        assert!((8..=9).contains(&told.len()), "three at once, one in ten seconds: {told:?}");
        assert_eq!(told[..3], [0, 0, 0]);
        assert!(told[4] > 40, "what was left out is counted: {told:?}");
        // Nobody hides behind the noise of somebody else.
        assert_eq!(remarks.admit(&pause(2, true), at(60_000)), Some(0));
        assert_eq!(remarks.admit(&Remark::ResultsDiffer, at(60_000)), Some(0));
        // After a while it may be said again.
        assert!(remarks.admit(&pause(1, true), at(200_000)).is_some());
    }

    #[test]
    fn every_remark_is_a_sentence_about_whom_it_concerns() {
        let player = PlayerId(3);
        let drop_in = Duration::from_millis(7_400);
        let all = [
            Remark::Waits { players: vec![player], drop_in: Some(drop_in) },
            Remark::OftenLate { player, drop_in },
            Remark::Slow { player, percent: 50, remedy: Remedy::HostOrVotes },
            Remark::Paused { player: Some(player), paused: true },
            Remark::Speed { player: Some(player), percent: 10 },
            Remark::Outlier { player, turn: 9 },
            Remark::ChecksumMissing { player, turn: 9 },
            Remark::StatementMissing { player, turn: 9 },
            Remark::ShownAnother { player, turn: 9, since: None },
            Remark::ShownAnother { player, turn: 9, since: Some(4) },
            Remark::TooFarAhead { player },
            Remark::Vote { voter: player, player: PlayerId(1), out: true },
        ];
        for remark in all {
            let sentence = remark.sentence(|player| format!("<{player}>"));
            assert!(sentence.contains("<3>") && !sentence.ends_with('.'), "{sentence}");
            assert_eq!(remark.player(), Some(player));
        }
        assert!(Remark::Silent { is_relayed: true }.sentence(|_| String::new()).ends_with("the relay"));
        let late = Remark::OftenLate { player, drop_in }.sentence(|_| "Ada".into());
        assert!(late.contains("8 s"), "{late}");
    }
}
