//! Matches: how they are made.

mod events;
mod messages;
mod position;
mod round;
mod saving;
mod search;
mod wishes;

use std::ffi::CString;
use std::num::NonZeroU32;

use testudo_lockstep::replay::{Recorded, ReplayHeader};
use testudo_lockstep::{
    AnyAction, AnySession, Driver, Duration, FrameRate, Identity, Instant, PeerId, PlayerId, Playout,
    PlayoutMode, Session,
};

use crate::config::{TESTUDO_TOPOLOGY_HOST, TESTUDO_TOPOLOGY_RELAY, TestudoConfig, player};
use crate::failure::{Failure, Outcome, TESTUDO_OUT_OF_RANGE, TESTUDO_REFUSED, TestudoStatus, status};
use crate::game::{Game, TestudoGame};
use crate::handle::{Handle, change, free, give, opaque, with};
use crate::pointer::read;

use search::Hunt;

pub use events::*;
pub use messages::*;
pub use position::*;
pub use round::*;
pub use saving::*;
pub use wishes::*;

/// Instead of a player: a relay.
pub const TESTUDO_RELAY: u32 = 253;
/// Instead of a player: a watcher.
pub const TESTUDO_WATCHER: u32 = 254;
/// Instead of a player: nobody.
pub const TESTUDO_NOBODY: u32 = 255;
/// Instead of the number of a link: none.
pub const TESTUDO_NO_PEER: u32 = u32::MAX;

/// A peer's part of a match: its session, and the game that it drives. It has neither sockets nor a clock. Times are microseconds of
/// any clock that does not go back.
pub struct TestudoMatch(Handle<Match>);
opaque!(TestudoMatch, Match, "match");

/// What is behind a [`TestudoMatch`].
pub(crate) struct Match {
    pub(crate) driver: Driver<Recorded<Game>>,
    /// The words of the last event.
    words: CString,
    packet: Vec<u8>,
    /// For games that name their numbers.
    hunt: Option<Hunt>,
}

impl Match {
    /// A match in which nothing has happened yet.
    pub(crate) fn new(
        own: &TestudoConfig,
        game: Game,
        game_data: &[u8],
        session: Session<AnyAction>,
    ) -> Outcome<Self> {
        let resumed = session.resumed().map(|saved| (saved.turn(), saved.checksum()));
        if resumed.is_some_and(|(_, checksum)| checksum != game.checksum()) {
            return Err(Failure::new(TESTUDO_REFUSED, "the game is not in the state that was saved"));
        }
        let mut recorded = Recorded::unrecorded(game);
        if own.own.records != 0 {
            if resumed.is_some() && !game.has_state() {
                return Err(Failure::new(TESTUDO_REFUSED, "a replay from here on needs `save` and `load`"));
            }
            if game.only_loads() {
                // It would begin anew with a loaded state that is not in the file.
                return Err(Failure::new(
                    TESTUDO_REFUSED,
                    "a replay of a game with `load` needs `save`, too",
                ));
            }
            let header = ReplayHeader {
                sim_version: own.rules_version,
                content_hash: own.content_hash,
                players: session.config().players,
                settings: game_data.to_vec(),
            };
            let every = if game.has_state() { Recorded::<Game>::KEYFRAME_EVERY } else { 0 };
            recorded = Recorded::new(game, &header).keyframe_every(every);
            if let Some((turn, _)) = resumed {
                recorded = recorded.starting_at(turn);
            }
        }
        let driver = drive(own, recorded, session)?;
        Ok(Self { driver, words: CString::default(), packet: Vec::new(), hunt: Hunt::new(&game) })
    }

    pub(crate) fn session(&self) -> &AnySession {
        self.driver.session()
    }

    pub(crate) fn session_mut(&mut self) -> &mut AnySession {
        self.driver.session_mut()
    }
}

/// Greatest value of `own.catch_up_frames`.
const CATCH_UP_MAX: u32 = 10_000;
/// Greatest `own.playout_ms` in turns. A watcher refuses what is 512 turns ahead of its picture, and is dropped when it has fallen back by so
/// many. Turns may become shorter than they were at the start.
const PLAYOUT_TURNS_MAX: u64 = 128;

/// The driver as this peer has chosen.
fn drive(
    own: &TestudoConfig,
    game: Recorded<Game>,
    session: Session<AnyAction>,
) -> Outcome<Driver<Recorded<Game>>> {
    let (frames, playout_ms) = (own.own.catch_up_frames, own.own.playout_ms);
    let out_of_range = |words: String| Err(Failure::new(TESTUDO_OUT_OF_RANGE, words));
    let Some(catch_up) = NonZeroU32::new(frames).filter(|frames| frames.get() <= CATCH_UP_MAX) else {
        return out_of_range(format!("own.catch_up_frames must be 1..={CATCH_UP_MAX}, not {frames}"));
    };
    let (per_turn, per_second) = (session.config().frames_per_turn, session.config().frames_per_second);
    let most = PLAYOUT_TURNS_MAX * 1_000 * u64::from(per_turn) / u64::from(per_second.max(1));
    if u64::from(playout_ms) > most {
        return out_of_range(format!("own.playout_ms must be 0..={most}, not {playout_ms}"));
    }
    let watches = session.player().is_none();
    let driver = Driver::new(game, session).catch_up_frames(catch_up);
    Ok(match FrameRate::per_second(per_second) {
        Ok(rate) if watches && playout_ms > 0 => {
            let delay = PlayoutMode::Fixed(Duration::from_millis(playout_ms.into()));
            driver.with_playout(Playout::new(delay, rate))
        }
        _ => driver,
    })
}

/// Calls something with the session of a match.
///
/// # Safety
/// As [`with`].
pub(crate) unsafe fn with_session<T>(
    handle: *const TestudoMatch,
    call: impl FnOnce(&mut AnySession) -> Outcome<T>,
) -> Outcome<T> {
    // SAFETY: the caller's promise.
    unsafe { with(handle, |game| call(game.session_mut())) }
}

/// A player's number, or `TESTUDO_WATCHER`, `TESTUDO_RELAY`.
pub(crate) fn number_of(identity: Identity) -> u32 {
    match identity {
        Identity::Player(player) => player.0.into(),
        Identity::Watcher => TESTUDO_WATCHER,
        Identity::Relay => TESTUDO_RELAY,
    }
}

/// Makes a match of settings and a game.
///
/// # Safety
/// The contract of pointers.
unsafe fn make(
    (config, game): (*const TestudoConfig, *const TestudoGame),
    identity: Identity,
    peer: u32,
    now_us: u64,
) -> Outcome<Match> {
    // SAFETY: the caller's promise.
    let (config, game) = unsafe { (read(config, "config")?, Game::read(game)?) };
    // SAFETY: the caller's promise.
    let (settings, data) = unsafe { (config.with_own(config.agreed()?)?, config.game_data()?) };
    let now = Instant::from_micros(now_us);
    let mut session = Session::of_format(settings, identity, game.format(), now)?;
    if peer != TESTUDO_NO_PEER {
        session.connect(PeerId(peer));
    }
    Match::new(&config, game, data, session)
}

/// A match of one player alone, without a network: nobody can come. `topology` and `arrivals.watchers_min` mean nothing. Free it with
/// `testudo_match_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_single(
    config: *const TestudoConfig,
    game: *const TestudoGame,
    now_us: u64,
    out: *mut *mut TestudoMatch,
) -> TestudoStatus {
    let alone = || {
        // SAFETY: the contract of pointers.
        let mut config = unsafe { read(config, "config") }?;
        if config.sides.players != 1 {
            let words = format!("a match alone is for 1 player, not for {}", config.sides.players);
            return Err(Failure::new(TESTUDO_OUT_OF_RANGE, words));
        }
        // Nobody is there to guess them.
        (config.session_id, config.own.entropy) = (1, [1; 16]);
        // A program may have one set of settings for all its matches.
        config.arrivals.watchers_min = 0;
        if config.topology == TESTUDO_TOPOLOGY_RELAY {
            config.topology = TESTUDO_TOPOLOGY_HOST;
        }
        let player = Identity::Player(PlayerId(0));
        // SAFETY: the contract of pointers.
        let game = unsafe { make((&raw const config, game), player, TESTUDO_NO_PEER, now_us) }?;
        // No other copy can differ.
        Ok(Match { hunt: None, ..game })
    };
    // SAFETY: the contract of pointers.
    status(|| unsafe { give(out, alone) })
}

/// The match of the host, player `sides.host_player`, which waits for the others.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_host(
    config: *const TestudoConfig,
    game: *const TestudoGame,
    now_us: u64,
    out: *mut *mut TestudoMatch,
) -> TestudoStatus {
    let host = || {
        // SAFETY: the contract of pointers.
        let host = player(unsafe { read(config, "config") }?.sides.host_player)?;
        // SAFETY: as above.
        unsafe { make((config, game), Identity::Player(host), TESTUDO_NO_PEER, now_us) }
    };
    // SAFETY: the contract of pointers.
    status(|| unsafe { give(out, host) })
}

/// The match of a player who joins, also one that runs, over the link `peer` to the host or relay. `TESTUDO_NO_PEER`:
/// `testudo_match_connect` follows.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_join(
    config: *const TestudoConfig,
    game: *const TestudoGame,
    player: u32,
    peer: u32,
    now_us: u64,
    out: *mut *mut TestudoMatch,
) -> TestudoStatus {
    let join = || {
        let player = Identity::Player(self::player(player)?);
        // SAFETY: the contract of pointers.
        unsafe { make((config, game), player, peer, now_us) }
    };
    // SAFETY: the contract of pointers.
    status(|| unsafe { give(out, join) })
}

/// The match of somebody who watches, over the link `peer` to the host or relay.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_watch(
    config: *const TestudoConfig,
    game: *const TestudoGame,
    peer: u32,
    now_us: u64,
    out: *mut *mut TestudoMatch,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { give(out, || make((config, game), Identity::Watcher, peer, now_us)) })
}

/// Frees a match; the others are told nothing (`testudo_match_leave`). NULL is allowed. A callback of its own game cannot: nothing happens then, and
/// `testudo_error()` says so.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_free(handle: *mut TestudoMatch) {
    // SAFETY: the contract of pointers.
    unsafe { free(handle) }
}

/// Opens a link to a peer and asks to be let in. In a mesh everybody does so for all others.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_match_connect(handle: *mut TestudoMatch, peer: u32) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { change(handle, |game| game.session_mut().connect(PeerId(peer))) })
}
