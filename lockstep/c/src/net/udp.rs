//! Plain UDP.

use std::ffi::c_char;

use testudo_lockstep::Instant;
use testudo_lockstep::transport::udp::UdpTransport;

use super::address;
use crate::buffer::{TestudoBuffer, put};
use crate::failure::{Failure, Outcome, TestudoStatus, status};
use crate::handle::{Handle, free, give, opaque, with};
use crate::pointer::{text, write};
use crate::session::{Match, TestudoMatch};

/// A UDP socket, for networks that are trusted: anybody on the way can read and forge packets.
#[derive(Debug)]
pub struct TestudoUdp(Handle<UdpTransport>);
opaque!(TestudoUdp, UdpTransport, "UDP socket");

/// Binds a socket to an address as "127.0.0.1:4000" or "[::]:4000". Port 0 takes a free one. Free it with `testudo_udp_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_udp_bind(
    address: *const c_char,
    out: *mut *mut TestudoUdp,
) -> TestudoStatus {
    let bind = || {
        // SAFETY: the contract of pointers.
        let address = super::address(unsafe { text(address, "address") }?)?;
        Ok(UdpTransport::bind(address)?)
    };
    // SAFETY: the contract of pointers.
    status(|| unsafe { give(out, bind) })
}

/// Closes a socket. NULL is allowed. A callback of a game in its round cannot: nothing happens then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_udp_free(udp: *mut TestudoUdp) {
    // SAFETY: the contract of pointers.
    unsafe { free(udp) }
}

/// The socket's address, as text with a 0 at its end. It replaces the content of the buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_udp_address(
    udp: *const TestudoUdp,
    out: *mut TestudoBuffer,
) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(udp, |udp| put(out, udp.local_address()?)) })
}

/// The number of the link to the peer at an address, for `testudo_match_join` and others. The same for the same address.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_udp_add_peer(
    udp: *mut TestudoUdp,
    address: *const c_char,
    peer: *mut u32,
) -> TestudoStatus {
    status(|| {
        // Before it is known.
        if peer.is_null() {
            return Err(Failure::null("peer"));
        }
        // SAFETY: the contract of pointers.
        let known = self::address(unsafe { text(address, "address") }?)?;
        // SAFETY: as above.
        unsafe { with(udp, |udp| write(peer, udp.add_peer(known).0, "peer")) }
    })
}

/// Moves packets both ways. Call it before and after `testudo_match_advance`, or call `testudo_udp_round`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_udp_pump(
    udp: *mut TestudoUdp,
    handle: *mut TestudoMatch,
    now_us: u64,
) -> TestudoStatus {
    let now = Instant::from_micros(now_us);
    let pump = |udp: &mut UdpTransport, game: &mut Match| Ok(udp.pump(game.session_mut(), now)?);
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(udp, |udp| with(handle, |game| pump(udp, game))) })
}

/// A round: packets in, frames, packets out. Then take the events.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_udp_round(
    udp: *mut TestudoUdp,
    handle: *mut TestudoMatch,
    now_us: u64,
) -> TestudoStatus {
    let now = Instant::from_micros(now_us);
    let round = |udp: &mut UdpTransport, game: &mut Match| {
        udp.pump(game.session_mut(), now)?;
        game.advance(now);
        udp.pump(game.session_mut(), now)?;
        Outcome::Ok(())
    };
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(udp, |udp| with(handle, |game| round(udp, game))) })
}
