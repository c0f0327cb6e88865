//! Events, as numbers and as words.

use std::ffi::{CString, c_char};

use testudo_lockstep::state::inquiry::Finding;
use testudo_lockstep::{EndReason, Event, Identity, PlayerId, Turn};

use super::position::set_of;
use super::{Match, TESTUDO_NO_PEER, TESTUDO_NOBODY, TestudoMatch, number_of};
use crate::failure::{Failure, count, value};
use crate::handle::with;
use crate::pointer::write;

/// Events were lost because nobody took them: `number`. Those that a program needs are never lost.
pub const TESTUDO_EVENT_LOST: u32 = 1;
/// A peer is here: `peer`, and `player` says who (or `TESTUDO_WATCHER`, ...).
pub const TESTUDO_EVENT_CONNECTED: u32 = 2;
/// A peer was refused: `peer`; the words say why.
pub const TESTUDO_EVENT_REFUSED: u32 = 3;
/// A packet over the link `peer` claims to be from `player`, but the link is that of `other`. A host by codes has closed it. A link
/// of your own: close it, and take no more of its packets.
pub const TESTUDO_EVENT_FORGED: u32 = 4;
/// `player` shows something else of itself (`testudo_match_profile`).
pub const TESTUDO_EVENT_PROFILE: u32 = 5;
/// A message has not reached `players`.
pub const TESTUDO_EVENT_UNDELIVERED: u32 = 6;
/// All are here; the match begins.
pub const TESTUDO_EVENT_STARTED: u32 = 7;
/// `turn` cannot begin: actions of `players` are missing. `number`: microseconds until they are dropped, `UINT64_MAX` for never.
pub const TESTUDO_EVENT_WAITING_FOR: u32 = 8;
/// `turn` cannot begin, and nothing comes from the host or relay.
pub const TESTUDO_EVENT_CUT_OFF: u32 = 9;
/// `turn`, which was late, has begun.
pub const TESTUDO_EVENT_WAITING_OVER: u32 = 10;
/// The others wait for `player` again and again, now in `turn`. `number`: microseconds of waiting until it is dropped.
pub const TESTUDO_EVENT_OFTEN_LATE: u32 = 11;
/// `player` sends actions of turns that are further ahead than anybody honest can be.
pub const TESTUDO_EVENT_TOO_FAR_AHEAD: u32 = 12;
/// In `turn`, `other` votes `player` out (`number` 1), or no longer does (0).
pub const TESTUDO_EVENT_VOTE: u32 = 13;
/// From `turn` on frames pass at `number` percent of real time, as `player` asked.
pub const TESTUDO_EVENT_SPEED: u32 = 14;
/// The checksums of `turn` differ. `values` are those of `players`, folded to 32 bits; `number` is this peer's. `player`: the one that
/// differs from all others, if it is one. Only the first such turn is told.
pub const TESTUDO_EVENT_DESYNC: u32 = 15;
/// `player` sent no checksum of `turn`.
pub const TESTUDO_EVENT_CHECKSUM_MISSING: u32 = 16;
/// From `turn` on `player` gives no more actions. `number`: a `TESTUDO_GONE_...`.
pub const TESTUDO_EVENT_PLAYER_GONE: u32 = 17;
/// From `turn` on the game plays for `player`.
pub const TESTUDO_EVENT_TAKEN_OVER: u32 = 18;
/// From `turn` on nobody of team `number` is in the match.
pub const TESTUDO_EVENT_TEAM_OUT: u32 = 19;
/// The result as `players` have it: `values`, first found in `turn`. `number`: 1 if all agree.
pub const TESTUDO_EVENT_RESULT: u32 = 20;
/// From `turn` on the game is paused (`number` 1) or goes on (0), as `player` asked.
pub const TESTUDO_EVENT_PAUSED: u32 = 21;
/// The match is saved before `turn`, as `player` asked (`TestudoGame.save_point`).
pub const TESTUDO_EVENT_SAVE_POINT: u32 = 22;
/// `testudo_match_take_saved` has the match as it was before `turn`.
pub const TESTUDO_EVENT_SAVED: u32 = 23;
/// From `turn` on turns have `values[0]` frames, a frame is 1/`values[1]` s of the game, and `values[2]` frames pass in 1,000 s.
pub const TESTUDO_EVENT_PLAN: u32 = 24;
/// This player's part ends, or the match does for this peer, and `number` of its actions may run nowhere. None is counted twice. Not in input mode.
pub const TESTUDO_EVENT_CANCELLED: u32 = 25;
/// The watcher on link `peer` is gone.
pub const TESTUDO_EVENT_WATCHER_GONE: u32 = 26;
/// `values[0]` of `values[1]` bytes of the running match's state are here.
pub const TESTUDO_EVENT_STATE_PROGRESS: u32 = 27;
/// The state before `turn` was damaged or wrong; another one is asked for.
pub const TESTUDO_EVENT_STATE_REFUSED: u32 = 28;
/// Too few players confirm the state before `turn`; `players` are suspects.
pub const TESTUDO_EVENT_WRONG_STATE: u32 = 29;
/// This peer has the state of the running match before `turn`.
pub const TESTUDO_EVENT_JOINED: u32 = 30;
/// This peer has run all turns before `turn`.
pub const TESTUDO_EVENT_CAUGHT_UP: u32 = 31;
/// From `turn` on `player` is back.
pub const TESTUDO_EVENT_PLAYER_RETURNED: u32 = 32;
/// The peer on link `peer` did not manage to come to the running match.
pub const TESTUDO_EVENT_JOIN_FAILED: u32 = 33;
/// All turns have run, and everybody has everything.
pub const TESTUDO_EVENT_FINISHED: u32 = 34;
/// The match ended early here; the words say why.
pub const TESTUDO_EVENT_FAILED: u32 = 35;
/// The search after a desync is over, of a game with `visit`; the words name the number. `number`: whether it was found; then both copies were different
/// before the turn `turn`, for the first time unless the words say "or earlier", and `values[0]` is the number here, `values[1]` that of the peer that was
/// asked: numbers with a sign (`int64_t`), 0 where the words say that it is missing. Go on for some seconds: others ask, too. With `number` 0 the words
/// may also say that the game has refused its own present state when the search returned to it: leave the match then.
pub const TESTUDO_EVENT_DIFFERENCE: u32 = 36;
/// Anything else; see the words.
pub const TESTUDO_EVENT_OTHER: u32 = 255;

/// The player left in good order.
pub const TESTUDO_GONE_LEFT: u64 = 0;
/// The others went on without the player.
pub const TESTUDO_GONE_DROPPED: u64 = 1;
/// The player gave up.
pub const TESTUDO_GONE_SURRENDERED: u64 = 2;
/// The player handed over to a bot.
pub const TESTUDO_GONE_HANDED_OVER: u64 = 3;

/// Something that happened in a match.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TestudoEvent {
    /// What: a `TESTUDO_EVENT_...`, whose docs say which of these fields mean something.
    pub kind: u32,
    /// A turn.
    pub turn: u32,
    /// A link, or `TESTUDO_NO_PEER`.
    pub peer: u32,
    /// A player, `TESTUDO_WATCHER`, `TESTUDO_RELAY` or `TESTUDO_NOBODY`.
    pub player: u32,
    /// Another one.
    pub other: u32,
    /// Bit n for player n.
    pub players: u32,
    /// A number.
    pub number: u64,
    /// A value of each player in `players`.
    pub values: [u64; 16],
}

impl TestudoEvent {
    const NOTHING: Self = Self {
        kind: TESTUDO_EVENT_OTHER,
        turn: 0,
        peer: TESTUDO_NO_PEER,
        player: TESTUDO_NOBODY,
        other: TESTUDO_NOBODY,
        players: 0,
        number: 0,
        values: [0; 16],
    };

    fn kind(kind: u32) -> Self {
        Self { kind, ..Self::NOTHING }
    }

    fn at(kind: u32, turn: Turn) -> Self {
        Self { turn: turn.0, ..Self::kind(kind) }
    }

    /// Something of a player from a turn on.
    fn of(kind: u32, turn: Turn, player: PlayerId) -> Self {
        Self { player: player.0.into(), ..Self::at(kind, turn) }
    }

    fn number(self, number: impl Into<u64>) -> Self {
        Self { number: number.into(), ..self }
    }

    fn peer(self, peer: u32) -> Self {
        Self { peer, ..self }
    }

    fn players(self, players: impl IntoIterator<Item = PlayerId>) -> Self {
        Self { players: set_of(players), ..self }
    }

    /// Values that are not of players.
    fn list(mut self, values: &[u64]) -> Self {
        self.values[..values.len()].copy_from_slice(values);
        self
    }

    fn values(mut self, values: impl IntoIterator<Item = (PlayerId, u64)>) -> Self {
        for (player, value) in values {
            if let Some(slot) = self.values.get_mut(player.index()) {
                *slot = value;
                self.players |= 1 << player.0;
            }
        }
        self
    }

    fn difference(finding: Option<Finding>) -> Self {
        let Some(Finding { frame: Some(turn), here, there, .. }) = finding else {
            return Self::kind(TESTUDO_EVENT_DIFFERENCE);
        };
        // All numbers of games in C have 64 bits.
        let values = [here.map(|leaf| leaf.value), there].map(|value| value.unwrap_or(0) as u64);
        Self::at(TESTUDO_EVENT_DIFFERENCE, Turn(turn)).number(true).list(&values)
    }

    fn from(event: &Event) -> Self {
        Self::of_match(event).or_else(|| Self::of_peers(event)).unwrap_or(Self::NOTHING)
    }

    /// What happens in turns.
    fn of_match(event: &Event) -> Option<Self> {
        Some(match event {
            Event::Started => Self::kind(TESTUDO_EVENT_STARTED),
            Event::WaitingFor { turn, players, drop_in } => {
                let drop_in = drop_in.map_or(u64::MAX, testudo_lockstep::Duration::as_micros);
                Self::at(TESTUDO_EVENT_WAITING_FOR, *turn).players(players.iter().copied()).number(drop_in)
            }
            Event::CutOff { turn } => Self::at(TESTUDO_EVENT_CUT_OFF, *turn),
            Event::WaitingOver { turn } => Self::at(TESTUDO_EVENT_WAITING_OVER, *turn),
            Event::OftenLate { turn, player, drop_in } => {
                Self::of(TESTUDO_EVENT_OFTEN_LATE, *turn, *player).number(drop_in.as_micros())
            }
            Event::Vote { turn, voter, player, out } => {
                Self { other: voter.0.into(), ..Self::of(TESTUDO_EVENT_VOTE, *turn, *player).number(*out) }
            }
            Event::Speed { turn, player, percent } => {
                Self::of(TESTUDO_EVENT_SPEED, *turn, *player).number(*percent)
            }
            Event::Desync(desync) => Self {
                player: desync.outlier().map_or(TESTUDO_NOBODY, |player| player.0.into()),
                ..Self::at(TESTUDO_EVENT_DESYNC, desync.turn)
                    .values(desync.values.iter().copied())
                    .number(desync.own.unwrap_or(0))
            },
            Event::ChecksumMissing { player, turn } => {
                Self::of(TESTUDO_EVENT_CHECKSUM_MISSING, *turn, *player)
            }
            Event::PlayerGone { player, reason, turn } => {
                Self::of(TESTUDO_EVENT_PLAYER_GONE, *turn, *player).number(gone(*reason))
            }
            Event::TakenOver { player, turn } => Self::of(TESTUDO_EVENT_TAKEN_OVER, *turn, *player),
            Event::TeamOut { team, turn } => Self::at(TESTUDO_EVENT_TEAM_OUT, *turn).number(*team),
            Event::MatchResult(result) => {
                let values = result.values.iter();
                let values = values.filter_map(|(player, value)| Some((*player, u64::from((*value)?))));
                Self::at(TESTUDO_EVENT_RESULT, result.turn).values(values).number(result.agreed)
            }
            Event::Paused { turn, player, paused } => {
                Self::of(TESTUDO_EVENT_PAUSED, *turn, *player).number(*paused)
            }
            Event::SavePoint { turn, player } => Self::of(TESTUDO_EVENT_SAVE_POINT, *turn, *player),
            Event::Saved { turn } => Self::at(TESTUDO_EVENT_SAVED, *turn),
            Event::Plan { turn, plan } => {
                let numbers = [plan.frames_per_turn, plan.frames_per_second, plan.pace_millihertz];
                Self::at(TESTUDO_EVENT_PLAN, *turn).list(&numbers.map(u64::from))
            }
            Event::PlayerReturned { player, turn } => Self::of(TESTUDO_EVENT_PLAYER_RETURNED, *turn, *player),
            Event::Finished => Self::kind(TESTUDO_EVENT_FINISHED),
            Event::Failed(_) => Self::kind(TESTUDO_EVENT_FAILED),
            _ => return None,
        })
    }

    /// Who comes, and with what.
    fn of_peers(event: &Event) -> Option<Self> {
        Some(match event {
            Event::Lost { events } => Self::kind(TESTUDO_EVENT_LOST).number(*events),
            Event::Connected { peer, identity } => {
                Self { player: number_of(*identity), ..Self::kind(TESTUDO_EVENT_CONNECTED) }.peer(peer.0)
            }
            Event::Refused { peer, .. } => Self::kind(TESTUDO_EVENT_REFUSED).peer(peer.0),
            Event::Forged { peer, claimed, bound } => Self {
                player: number_of(*claimed),
                other: bound.map_or(TESTUDO_NOBODY, number_of),
                ..Self::kind(TESTUDO_EVENT_FORGED).peer(peer.0)
            },
            Event::Profile { player } => {
                Self { player: player.0.into(), ..Self::kind(TESTUDO_EVENT_PROFILE) }
            }
            Event::Undelivered { players } => Self::kind(TESTUDO_EVENT_UNDELIVERED).players(players.iter()),
            Event::TooFarAhead { player } => {
                Self { player: player.0.into(), ..Self::kind(TESTUDO_EVENT_TOO_FAR_AHEAD) }
            }
            Event::Cancelled { actions } => Self::kind(TESTUDO_EVENT_CANCELLED).number(*actions),
            Event::WatcherGone(peer) => Self::kind(TESTUDO_EVENT_WATCHER_GONE).peer(peer.0),
            Event::StateProgress { received, total } => {
                Self::kind(TESTUDO_EVENT_STATE_PROGRESS).list(&[u64::from(*received), u64::from(*total)])
            }
            Event::StateRefused { turn } => Self::at(TESTUDO_EVENT_STATE_REFUSED, *turn),
            Event::WrongState { turn, suspects } => {
                let players = suspects.iter().filter_map(|suspect| match suspect {
                    Identity::Player(player) => Some(*player),
                    _ => None,
                });
                Self::at(TESTUDO_EVENT_WRONG_STATE, *turn).players(players)
            }
            Event::Joined { turn } => Self::at(TESTUDO_EVENT_JOINED, *turn),
            Event::CaughtUp { turn } => Self::at(TESTUDO_EVENT_CAUGHT_UP, *turn),
            Event::JoinFailed(peer) => Self::kind(TESTUDO_EVENT_JOIN_FAILED).peer(peer.0),
            _ => return None,
        })
    }
}

fn gone(reason: EndReason) -> u64 {
    match reason {
        EndReason::Dropped => TESTUDO_GONE_DROPPED,
        EndReason::Surrendered => TESTUDO_GONE_SURRENDERED,
        EndReason::HandedOver => TESTUDO_GONE_HANDED_OVER,
        _ => TESTUDO_GONE_LEFT,
    }
}

impl Match {
    /// The next event of the session; the search learns of it.
    fn next_event(&mut self) -> Option<Event> {
        let event = self.session_mut().poll_event()?;
        if let (Event::Desync(desync), Some(hunt)) = (&event, &mut self.hunt) {
            hunt.begin(desync, *self.driver.simulation().game(), self.driver.session());
        }
        Some(event)
    }

    fn poll_event(&mut self) -> Option<TestudoEvent> {
        let (event, words) = match self.next_event() {
            Some(event) => (TestudoEvent::from(&event), event.to_string()),
            None => {
                let (finding, words) = self.hunt.as_mut()?.poll_result()?;
                (TestudoEvent::difference(finding), words)
            }
        };
        self.words = CString::new(words.replace('\0', " ")).unwrap_or_default();
        Some(event)
    }
}

/// Whether something has happened: 0 or 1. If so, it is in `out`. Call it until it returns 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_poll_event(handle: *mut TestudoMatch, out: *mut TestudoEvent) -> i32 {
    count(|| {
        // No event is taken that nobody gets.
        if out.is_null() {
            return Err(Failure::null("out"));
        }
        // SAFETY: the contract of pointers.
        let Some(event) = (unsafe { with(handle, |game| Ok(game.poll_event())) })? else { return Ok(0) };
        // SAFETY: as above.
        unsafe { write(out, event, "out") }?;
        Ok(1)
    })
}

/// The last event that `testudo_match_poll_event` gave, in English, for a person or a log. "" if there was none. Valid until its next call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_event_words(handle: *const TestudoMatch) -> *const c_char {
    // SAFETY: the contract of pointers.
    value(c"".as_ptr(), || unsafe { with(handle, |game| Ok(game.words.as_ptr())) })
}
