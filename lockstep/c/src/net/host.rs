//! A host on the internet.

use std::ffi::c_char;
use std::net::SocketAddr;
use std::ptr::null_mut;

use testudo_lockstep::service::agreement::Agreement;
use testudo_lockstep::service::code::{ADDRESSES_MAX, JoinCodeError};
use testudo_lockstep::service::greeting::Secrets;
use testudo_lockstep::service::host::Host;
use testudo_lockstep::transport::sealed::{SealedConfig, SealedHost, SealedServer, random, reachable};
use testudo_lockstep::{Duration, Identity, Instant, Session};

use super::address;
use super::guest::code_of;
use crate::buffer::{TestudoBuffer, put};
use crate::config::{TestudoConfig, player};
use crate::failure::{Failure, Outcome, TESTUDO_REFUSED, TestudoStatus, status};
use crate::game::{Game, TestudoGame};
use crate::handle::{Handle, change, free, hold, opaque, with};
use crate::pointer::{read, text, write};
use crate::session::{Match, TestudoMatch};

/// The sealed socket of a host: it lets in whoever has the code of a place. All packets are encrypted.
#[derive(Debug)]
pub struct TestudoHost(Handle<SealedHost>);
opaque!(TestudoHost, SealedHost, "host");

/// Fills in random bytes of the operating system, at most 256.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_random_bytes(out: *mut u8, length: u32) -> TestudoStatus {
    status(|| {
        if length > 256 {
            return Err(Failure::enumerator("length", length, 256));
        }
        let bytes: [u8; 256] = random()?;
        for (at, byte) in bytes.iter().take(length as usize).enumerate() {
            // SAFETY: the contract of pointers.
            unsafe { write(if out.is_null() { out } else { out.add(at) }, *byte, "out") }?;
        }
        Ok(())
    })
}

/// What stands in the codes. The port may be the socket's, which nobody knows before; and an address that stands for all of a machine leads guests to
/// themselves.
fn found_at(bound: SocketAddr, given: Option<&str>) -> Outcome<Vec<SocketAddr>> {
    let given = given.map(|list| list.split(',').map(address).collect()).transpose()?;
    let with_port = |address: SocketAddr| match address.port() {
        0 => SocketAddr::new(address.ip(), bound.port()),
        _ => address,
    };
    let given = given.unwrap_or_else(|| vec![bound]);
    if given.len() > ADDRESSES_MAX {
        return Err(JoinCodeError::Addresses.into());
    }
    let found: Vec<_> = given.into_iter().map(with_port).map(reachable).collect();
    Ok(in_codes(&found))
}

/// The addresses for each one that was given, without doubles. A machine may have two for one: where there is no room for all, one is enough.
fn in_codes(found: &[Vec<SocketAddr>]) -> Vec<SocketAddr> {
    let mut all = Vec::new();
    for address in found.iter().flatten() {
        if !all.contains(address) {
            all.push(*address);
        }
    }
    let is_second = |address: &SocketAddr| found.iter().all(|some| some.first() != Some(address));
    while all.len() > ADDRESSES_MAX {
        let Some(at) = all.iter().rposition(is_second) else { break };
        all.remove(at);
    }
    all
}

/// # Safety
/// The contract of pointers.
unsafe fn open(
    (config, game): (*const TestudoConfig, *const TestudoGame),
    (bind, addresses): (*const c_char, *const c_char),
    now_us: u64,
) -> Outcome<(SealedHost, Match)> {
    // SAFETY: the caller's promise.
    let (config, game, bind) = unsafe { (read(config, "config")?, Game::read(game)?, text(bind, "bind")?) };
    // SAFETY: the caller's promise.
    let data = unsafe { config.game_data() }?;
    let agreement = Agreement::with_action_bits(&config.agreed()?, game.action_bits(), data)?;
    let id = if config.session_id == 0 { u64::from_le_bytes(random()?) } else { config.session_id };
    // SAFETY: the caller's promise.
    let settings = unsafe { config.with_own(Host::config(&agreement, id)) }?;
    let host = Identity::Player(player(config.sides.host_player)?);
    let mut session = Session::of_format(settings, host, game.format(), Instant::from_micros(now_us))?;
    let server = SealedServer::bind(address(bind)?, &SealedConfig::new())?;
    // SAFETY: the caller's promise.
    let given = unsafe { (!addresses.is_null()).then(|| text(addresses, "addresses")) }.transpose()?;
    let found_at = found_at(server.local_address(), given)?;
    let mut failed = None;
    let mut draw = || {
        random().unwrap_or_else(|error| {
            failed = Some(error);
            [0; 16]
        })
    };
    let secrets = Secrets::draw(session.config().players, &mut draw);
    if let Some(error) = failed {
        return Err(error.into());
    }
    let host = SealedHost::new(server, &found_at, &mut session, agreement, secrets)?;
    Ok((host, Match::new(&config, game, data, session)?))
}

/// Hosts a match on the internet: makes the match and a socket at the address `bind` ("0.0.0.0:0", port 0 takes a free one). `addresses`:
/// where guests find it, one to four, separated by commas; NULL: where it is bound. Port 0 in them is that of the socket. In the place of "0.0.0.0" or "[::]"
/// codes get the address of this machine that leads outside, for "[::]" also a second one if there is room. Behind a router these lead guests of the same house
/// only: for others the router passes the port on, and its address belongs into `addresses`, as in "203.0.113.5:0,0.0.0.0:0". Where no route leads to the
/// internet, as between two machines at a cable, codes get the address of loopback, by which other machines call themselves: name that of this machine then.
/// A `session_id` of 0 is drawn.
///
/// Free both, `*host` with `testudo_host_free`, `*handle` with `testudo_match_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_host_open(
    config: *const TestudoConfig,
    game: *const TestudoGame,
    bind: *const c_char,
    addresses: *const c_char,
    now_us: u64,
    host: *mut *mut TestudoHost,
    handle: *mut *mut TestudoMatch,
) -> TestudoStatus {
    status(|| {
        for (is_null, name) in [(host.is_null(), "host"), (handle.is_null(), "handle")] {
            if is_null {
                return Err(Failure::null(name));
            }
        }
        // SAFETY: the contract of pointers; they are not NULL.
        unsafe { write(host, null_mut(), "host").and(write(handle, null_mut(), "handle")) }?;
        // SAFETY: as above.
        let (opened, game) = unsafe { open((config, game), (bind, addresses), now_us) }?;
        // SAFETY: as above.
        unsafe { write(host, hold(opened), "host").and(write(handle, hold(game), "handle")) }
    })
}

/// Closes the socket, and waits up to a quarter of a second until the last packets are sent. Free the match by itself. NULL is allowed. A callback of
/// a game in its round cannot: nothing happens then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_host_free(host: *mut TestudoHost) {
    // SAFETY: the contract of pointers.
    unsafe { free(host) }
}

/// The socket's address, as text with a 0 at its end: with it the port, where `bind` left it open. It replaces the content of the buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_host_address(
    host: *const TestudoHost,
    out: *mut TestudoBuffer,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(host, |host| put(out, host.server().local_address())) })
}

/// The code that opens a place, as text with a 0 at its end: that of a player, or of all who watch (`TESTUDO_WATCHER`). Give each
/// player its own. It replaces the content of the buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_host_code(
    host: *const TestudoHost,
    place: u32,
    out: *mut TestudoBuffer,
) -> TestudoStatus {
    let code = |host: &mut SealedHost| {
        // SAFETY: the contract of pointers.
        unsafe { put(out, code_of(host.codes(), place)?) }
    };
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(host, code) })
}

/// Removes a player for good: any but the host's own. Before the match has begun, `testudo_host_code` then has a new code for the place, also if nobody
/// was there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_host_remove(
    host: *mut TestudoHost,
    handle: *mut TestudoMatch,
    player: u32,
    now_us: u64,
) -> TestudoStatus {
    let remove = |host: &mut SealedHost, game: &mut Match| {
        let (player, now) = (self::player(player)?, Instant::from_micros(now_us));
        let session = game.session_mut();
        if session.player() == Some(player) || player.0 >= session.config().players {
            return Err(Failure::new(TESTUDO_REFUSED, "a host removes players of its match, and not itself"));
        }
        host.remove(session, player, random()?, now);
        Ok(())
    };
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(host, |host| with(handle, |game| remove(host, game))) })
}

/// A round: packets in and guests, frames, packets out. Then take the events. `TESTUDO_IO`: the socket is lost, and nobody can come any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_host_round(
    host: *mut TestudoHost,
    handle: *mut TestudoMatch,
    now_us: u64,
) -> TestudoStatus {
    let now = Instant::from_micros(now_us);
    let round = |host: &mut SealedHost, game: &mut Match| {
        host.round(game.session_mut(), now);
        game.advance(now);
        host.round(game.session_mut(), now);
        host.server().check()?;
        Outcome::Ok(())
    };
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(host, |host| with(handle, |game| round(host, game))) })
}

/// Sleeps until a packet comes, at most so many milliseconds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_host_wait(host: *const TestudoHost, ms: u32) -> TestudoStatus {
    let time = Duration::from_millis(ms.into());
    // SAFETY: the contract of pointers.
    status(|| unsafe { change(host, |host| host.server().wait(time)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four were refused on machines with an address of version 6.
    #[test]
    fn what_a_machine_has_besides_takes_no_room_of_what_was_given() {
        let of = |text: &str| -> Vec<SocketAddr> {
            text.split(' ').map(|address| address.parse().expect("an address")).collect()
        };
        let both = of("10.0.0.2:7 [fd00::2]:7");
        let [a, b, c] = ["203.0.113.5:7", "198.51.100.7:7", "192.0.2.7:7"].map(of);
        let [four, six] = [&both[..1], &both[1..]].map(<[SocketAddr]>::to_vec);
        for (found, expected) in [
            (vec![both.clone()], both.clone()),
            (vec![a.clone(), four.clone(), both.clone()], [&a[..], &both].concat()),
            (vec![both.clone(), a.clone(), b.clone(), c.clone()], [&four[..], &a, &b, &c].concat()),
            (vec![both.clone(), six, a.clone(), b.clone()], [&both[..], &a, &b].concat()),
            (vec![four, both.clone(), a.clone(), b.clone()], [&both[..], &a, &b].concat()),
        ] {
            assert_eq!(in_codes(&found), expected);
        }
    }
}
