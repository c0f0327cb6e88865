//! A guest on the internet.

use std::ffi::c_char;

use testudo_lockstep::service::agreement::Agreement;
use testudo_lockstep::service::code::JoinCode;
use testudo_lockstep::service::codes::Codes;
use testudo_lockstep::service::guest::{Arrival, Guest, MIDDLE};
use testudo_lockstep::service::removal::Removal;
use testudo_lockstep::transport::sealed::{SealedDialer, random};
use testudo_lockstep::{AnySession, Duration, Identity, Instant, PlayerId, Session};

use crate::buffer::{TestudoBuffer, put};
use crate::config::{self, TestudoConfig, player};
use crate::failure::{Failure, Outcome, TESTUDO_REFUSED, TestudoStatus, count, status, value};
use crate::game::{Game, TestudoGame};
use crate::handle::{Handle, change, free, give, opaque, with};
use crate::pointer::{TestudoBool, read, read_if, text};
use crate::session::{Match, TESTUDO_WATCHER, TestudoMatch, number_of, with_session};

/// A guest's way to its place, and back to it whenever the connection was lost.
#[derive(Debug)]
pub struct TestudoGuest(Handle<Visitor>);
opaque!(TestudoGuest, Visitor, "guest");

/// What is behind a [`TestudoGuest`].
#[derive(Debug)]
pub(crate) struct Visitor {
    guest: Guest<SealedDialer>,
    /// The newest arrival.
    arrival: Option<Arrival>,
}

impl Visitor {
    fn arrival(&mut self) -> Outcome<&mut Arrival> {
        self.arrival.as_mut().ok_or_else(|| Failure::new(TESTUDO_REFUSED, "the place is not open yet"))
    }

    /// Packets both ways. Returns whether the place was opened.
    fn pump(&mut self, game: Option<&mut Match>, now: Instant) -> Outcome<bool> {
        let Some(mut arrival) = self.guest.round(game.map(Match::session_mut), now)? else {
            return Ok(false);
        };
        // Whoever has opened a room is told its codes once, and not again when it comes back.
        arrival.codes = arrival.codes.or_else(|| self.arrival.take()?.codes);
        self.arrival = Some(arrival);
        Ok(true)
    }

    fn round(&mut self, mut game: Option<&mut Match>, now: Instant) -> Outcome<bool> {
        if self.pump(game.as_deref_mut(), now)? {
            return Ok(true);
        }
        let Some(game) = game else { return Ok(false) };
        game.advance(now);
        self.pump(Some(game), now)
    }
}

/// # Safety
/// The contract of pointers.
unsafe fn code(code: *const c_char) -> Outcome<JoinCode> {
    // SAFETY: the caller's promise.
    Ok(unsafe { text(code, "code") }?.trim().parse()?)
}

/// 16 bytes, or zeros.
///
/// # Safety
/// The contract of pointers.
unsafe fn secret(token: *const u8) -> [u8; 16] {
    // SAFETY: the caller's promise; any bytes are such an array.
    if token.is_null() { [0; 16] } else { unsafe { token.cast::<[u8; 16]>().read() } }
}

/// The code of a place.
pub(super) fn code_of(codes: &Codes, place: u32) -> Outcome<JoinCode> {
    let code = match place {
        TESTUDO_WATCHER => codes.watchers(),
        place => codes.player(player(place)?),
    };
    code.ok_or_else(|| Failure::new(TESTUDO_REFUSED, "there is no such place"))
}

/// Asks for the place that a code opens. `token`: 16 bytes by which the host tells this machine from others with the same code, the
/// same again after a crash, others for other hosts; NULL: none. Free it with `testudo_guest_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_guest_join(
    code: *const c_char,
    token: *const u8,
    now_us: u64,
    out: *mut *mut TestudoGuest,
) -> TestudoStatus {
    let join = || {
        // SAFETY: the contract of pointers.
        let (code, token) = unsafe { (self::code(code)?, secret(token)) };
        let guest = Guest::join(SealedDialer::default(), code, token, Instant::from_micros(now_us))?;
        Ok(Visitor { guest, arrival: None })
    };
    // SAFETY: the contract of pointers.
    status(|| unsafe { give(out, join) })
}

/// Opens a room at a relay, whose code this is, to play in it as player 0: nobody of the players is the middle then, and all of them may have crashed and come
/// back: whoever opened the room by `testudo_guest_join` with the code of its own place, `testudo_guest_code(guest, 0)`, as a second call opens another room.
/// `config`: the settings of the match, with `game_data`; `action_bits` as in the game; `token` as in `testudo_guest_join`. A relay has its own
/// `arrivals.watch_delay_ms` and `watchers_min`: `TESTUDO_REFUSED` if they are not 0 here. The rest is as after `testudo_guest_join`, with
/// `testudo_guest_code` for the others. Free it with `testudo_guest_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_guest_open(
    relay: *const c_char,
    token: *const u8,
    config: *const TestudoConfig,
    action_bits: u32,
    now_us: u64,
    out: *mut *mut TestudoGuest,
) -> TestudoStatus {
    let open = || {
        // SAFETY: the contract of pointers.
        let (relay, token, config) = unsafe { (code(relay)?, secret(token), read(config, "config")?) };
        // SAFETY: as above.
        let data = unsafe { config.game_data() }?;
        if (config.arrivals.watch_delay_ms, config.arrivals.watchers_min) != (0, 0) {
            let words =
                "arrivals.watch_delay_ms and watchers_min must be 0 in a room of a relay, which has its own";
            return Err(Failure::new(TESTUDO_REFUSED, words));
        }
        let agreement = Agreement::with_action_bits(&config.agreed()?, action_bits, data)?;
        let now = Instant::from_micros(now_us);
        let guest = Guest::open(SealedDialer::default(), relay, token, agreement, now)?;
        Ok(Visitor { guest, arrival: None })
    };
    // SAFETY: the contract of pointers.
    status(|| unsafe { give(out, open) })
}

/// The code that opens a place of the room that this guest has opened, as text with a 0 at its end: that of a player, or of all who watch (`TESTUDO_WATCHER`).
/// `TESTUDO_REFUSED` before the place is open, and to whoever has opened none. It replaces the content of the buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_guest_code(
    guest: *const TestudoGuest,
    place: u32,
    out: *mut TestudoBuffer,
) -> TestudoStatus {
    let code = |guest: &mut Visitor| {
        let codes = guest.arrival()?.codes.as_ref();
        let codes =
            codes.ok_or_else(|| Failure::new(TESTUDO_REFUSED, "only whoever opens a room has its codes"))?;
        // SAFETY: the contract of pointers.
        unsafe { put(out, code_of(codes, place)?) }
    };
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(guest, code) })
}

/// Whoever has opened a room at a relay removes a player for good: any but itself. The relay does it soon. Before the match has begun, `testudo_guest_code`
/// then has a new code for the place, also if nobody was there. Whoever came back by its own code removes players, too, but has no codes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_guest_remove(
    guest: *mut TestudoGuest,
    handle: *mut TestudoMatch,
    player: u32,
) -> TestudoStatus {
    let remove = |guest: &mut Visitor, session: &mut AnySession| {
        let (player, Arrival { welcome, codes, .. }) = (self::player(player)?, guest.arrival()?);
        let opener = PlayerId(0);
        let is_opener = welcome.is_relayed && welcome.place == Identity::Player(opener);
        if !is_opener || player == opener || player.0 >= welcome.agreement.players() {
            let words = "whoever has opened a room removes players of its match, and not itself";
            return Err(Failure::new(TESTUDO_REFUSED, words));
        }
        let secret = random()?;
        Removal { player, secret }.ask(session)?;
        if let Some(codes) = codes.as_mut().filter(|_| !session.start_is_fixed()) {
            codes.renew(player, secret);
        }
        Ok(())
    };
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(guest, |guest| with_session(handle, |session| remove(guest, session))) })
}

/// Closes the connection, and waits up to a quarter of a second until the last packets are sent. Free the match by itself. NULL is allowed. A callback of
/// a game in its round cannot: nothing happens then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_guest_free(guest: *mut TestudoGuest) {
    // SAFETY: the contract of pointers.
    unsafe { free(guest) }
}

/// A round: packets in, frames, packets out. `handle`: the match of the newest arrival; NULL before the first one.
///
/// Returns whether the place was opened, at first or again: 0 or 1. If so, free the match before, and make a game and its match
/// (`testudo_guest_match`): in a running match it gets the state from the others. A failure other than `TESTUDO_BUSY` says that there is no place, or
/// none any more, and why.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_guest_round(
    guest: *mut TestudoGuest,
    handle: *mut TestudoMatch,
    now_us: u64,
) -> i32 {
    let now = Instant::from_micros(now_us);
    let round = |guest: &mut Visitor| match handle.is_null() {
        true => guest.round(None, now),
        // SAFETY: the contract of pointers.
        false => unsafe { with(handle, |game| guest.round(Some(game), now)) },
    };
    // SAFETY: the contract of pointers.
    count(|| unsafe { with(guest, |guest| Ok(round(guest)?.into())) })
}

/// Sleeps until a packet comes, at most so many milliseconds: 1. Give 20 at most: a guest also calls again by itself. Without a connection it is 0 at
/// once: sleep yourself then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_guest_wait(guest: *const TestudoGuest, ms: u32) -> i32 {
    let time = Duration::from_millis(ms.into());
    // SAFETY: the contract of pointers.
    count(|| unsafe { with(guest, |guest| Ok(guest.guest.wait(time).into())) })
}

/// What the host has given as `game_data`: map, seed, ... It replaces the content of the buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_guest_game_data(
    guest: *const TestudoGuest,
    out: *mut TestudoBuffer,
) -> TestudoStatus {
    let data = |guest: &mut Visitor| Ok(guest.arrival()?.welcome.agreement.game().to_vec());
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(guest, data).and_then(|data| change(out, |bytes| *bytes = data)) })
}

/// The place: a player's number, or `TESTUDO_WATCHER`; `TESTUDO_NOBODY` before it is open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_guest_place(guest: *const TestudoGuest) -> u32 {
    let place = |guest: &mut Visitor| Ok(number_of(guest.arrival()?.welcome.place));
    // SAFETY: the contract of pointers.
    value(crate::session::TESTUDO_NOBODY, || unsafe { with(guest, place) })
}

/// Number of players of the match; 0 before the place is open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_guest_players(guest: *const TestudoGuest) -> u32 {
    let players = |guest: &mut Visitor| Ok(guest.arrival()?.welcome.agreement.players().into());
    // SAFETY: the contract of pointers.
    value(0, || unsafe { with(guest, players) })
}

/// Makes the match of the newest arrival, with the host's settings. Of `config` it takes what this peer chooses for itself, and
/// `engine_version`, `content_hash` (unless it is 0) and `rules_version`, so that other versions refuse each other. `config` may be NULL: the defaults.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_guest_match(
    guest: *const TestudoGuest,
    config: *const TestudoConfig,
    game: *const TestudoGame,
    now_us: u64,
    out: *mut *mut TestudoMatch,
) -> TestudoStatus {
    let make = |guest: &mut Visitor| {
        let arrival = guest.arrival()?;
        // SAFETY: the contract of pointers.
        let game = unsafe { Game::read(game) }?;
        // SAFETY: as above.
        let mut own = unsafe { read_if(config) }.unwrap_or_else(|| config::default(1));
        let mut settings = arrival.config().engine_version(own.engine_version);
        if own.content_hash == 0 {
            own.content_hash = arrival.welcome.agreement.content_hash();
        }
        settings = settings.content_hash(own.content_hash);
        // SAFETY: as above.
        let settings = unsafe { own.with_own(settings) }?;
        let (place, now) = (arrival.welcome.place, Instant::from_micros(now_us));
        let mut session = Session::of_format(settings, place, game.format(), now)?;
        session.connect(MIDDLE);
        Match::new(&own, game, arrival.welcome.agreement.game(), session)
    };
    // SAFETY: the contract of pointers.
    status(|| unsafe { give(out, || with(guest, make)) })
}

/// From now on the place is not asked for again when it is lost. Call `testudo_match_leave`, too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_guest_leave(guest: *mut TestudoGuest) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { change(guest, |guest| guest.guest.leave()) })
}

/// Whether the connection is broken and is being made again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_guest_is_cut_off(guest: *const TestudoGuest) -> TestudoBool {
    // SAFETY: the contract of pointers.
    value(0, || unsafe { with(guest, |guest| Ok(guest.guest.is_cut_off().into())) })
}

/// Why the place is not open yet, while it is asked for again, as text with a 0 at its end; "" if there is no such reason.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_guest_delay(
    guest: *const TestudoGuest,
    out: *mut TestudoBuffer,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(guest, |guest| put(out, guest.guest.delay().unwrap_or_default())) })
}
