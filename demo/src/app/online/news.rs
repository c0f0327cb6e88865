//! What a seat tells while a match is prepared and played.

use testudo_lockstep::{EndReason, Fingerprint, Identity, PlayerId};

use crate::app::online::codes::Codes;
use crate::app::online::remark::Remark;
use crate::app::terms::Terms;
use crate::game::Order;

/// What happens while a match is prepared and played.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum News {
    /// The host listens, and this is what the others need.
    Listening(Codes),
    /// Another code opens a place now, because its player was removed before the start.
    NewCode {
        player: PlayerId,
        code: String,
    },
    /// The match, and the player's number; none of a watcher.
    Seated {
        terms: Terms,
        player: Option<u8>,
    },
    /// A player has come.
    Joined(PlayerId),
    /// Somebody watches, or does not any more.
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
