//! What a seat tells while a match is prepared and played.

use testudo_lockstep::{EndReason, Fingerprint, Identity, PlayerId};

use crate::app::online::codes::Codes;
use crate::app::online::remark::{Remark, named};
use crate::app::terms::Terms;
use testudo_battle::Order;

/// What happens while a match is prepared and played.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum News {
    /// The host listens, and this is what the others need.
    Listening(Codes),
    /// Another code opens a place now, because its player was removed before the start.
    NewCode {
        player: PlayerId,
        code: String,
        link: Option<String>,
    },
    /// The match, and the player's number; none of a watcher.
    Seated {
        terms: Terms,
        player: Option<u8>,
    },
    /// A player has come.
    Joined(PlayerId),
    /// A watcher has come, or is gone.
    Watcher,
    WatcherGone,
    /// A player gives no more orders; a bot may play on.
    Gone {
        player: PlayerId,
        reason: EndReason,
        is_taken_over: bool,
    },
    /// A player who was gone gives orders again.
    Back(PlayerId),
    /// Part of the state of the running match, or of the saved one, that has arrived.
    State {
        percent: u8,
    },
    /// The match goes on from a save that the host has given. Whether this program has kept the same one itself; otherwise it has none of that turn.
    Resumes {
        is_own: bool,
    },
    /// The state of the running match is here, from before this turn.
    CameIn {
        turn: u32,
    },
    /// Everything up to this turn has run here, too.
    CaughtUp {
        turn: u32,
    },
    /// The connection is lost; the place is asked for again.
    ComingBack,
    /// The other side lets nobody in just now, for this reason; it is asked again.
    Later(String),
    /// What the players may compare.
    Fingerprint(Fingerprint),
    /// The disk refuses a replay or a save; the match goes on.
    DiskTrouble(String),
    /// Somebody has shown different matches to different players: the possible liars.
    Liars(Vec<Identity>),
    /// Everybody is here.
    Started,
    /// A turn has begun.
    Turn(u32),
    /// An order runs, here as everywhere.
    Ran {
        turn: u32,
        player: PlayerId,
        order: Order,
    },
    /// The match stands and waits for these players.
    WaitingFor(Vec<PlayerId>),
    /// The engine has noticed something. Before this, so many like remarks were left out.
    Remark {
        remark: Remark,
        left_out: u32,
    },
    /// The copies differ since this turn.
    Differs(u32),
}

impl News {
    /// What has happened, for people; none of what is not worth a sentence. `called`: a player's name.
    pub(crate) fn sentence(&self, called: impl Fn(PlayerId) -> String) -> Option<String> {
        Some(match self {
            Self::Joined(player) => format!("{} is here", called(*player)),
            Self::Watcher => "somebody watches".into(),
            Self::WatcherGone => "a watcher is gone".into(),
            Self::Gone { player, reason, is_taken_over } => {
                let why = match reason {
                    EndReason::Left => "has left",
                    EndReason::Dropped => "is lost",
                    EndReason::Surrendered => "has given up",
                    EndReason::HandedOver => "has handed over",
                    _ => "is gone",
                };
                let then = if *is_taken_over { ": a bot plays on" } else { "" };
                format!("{} {why}{then}", called(*player))
            }
            Self::Back(player) => format!("{} is back", called(*player)),
            Self::State { percent } => format!("getting the state: {percent} %"),
            Self::Resumes { is_own: true } => "the host's save is the one that was kept here".into(),
            Self::Resumes { is_own: false } => {
                "no save of this turn was kept here to compare the host's with".into()
            }
            Self::CameIn { turn } => format!("the state of turn {turn} is here; catching up"),
            Self::CaughtUp { turn } => format!("caught up in turn {turn}"),
            Self::DiskTrouble(why) => format!("not kept from here on: {why}"),
            Self::Later(why) => format!("{why}; trying again"),
            Self::ComingBack => "the connection is lost: asking for the place again".into(),
            Self::Fingerprint(fingerprint) => format!("fingerprint of the players' keys: {fingerprint}"),
            Self::Liars(suspects) => {
                let suspects = named(suspects, called, ", ");
                format!("two statements contradict each other; one of these lies: {suspects}")
            }
            Self::Started => "everybody is here".into(),
            Self::Differs(turn) => format!("the copies differ from turn {turn} on"),
            Self::Remark { remark, .. } => remark.sentence(called),
            Self::NewCode { player, .. } => {
                format!("player {} is removed; a new code opens the place", player.0 + 1)
            }
            Self::Listening(_) | Self::Seated { .. } => return None,
            Self::Turn(_) | Self::Ran { .. } | Self::WaitingFor(_) => return None,
        })
    }
}
