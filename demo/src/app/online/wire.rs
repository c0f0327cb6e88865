//! How packets reach the others: sealed, or as plain UDP.

use std::io;

use testudo_lockstep::service::code::JoinCode;
use testudo_lockstep::service::greeting::Refused;
use testudo_lockstep::service::guest::{Dial, Guest, GuestError, Line};
use testudo_lockstep::service::invitation::Offers;
#[cfg(not(target_arch = "wasm32"))]
use testudo_lockstep::transport::sealed::{SealedDialer, SealedHost};
use testudo_lockstep::transport::udp::{Aside, PlainDialer, UdpTransport};
use testudo_lockstep::{Duration, Instant, PeerId, Session};

use crate::app::error::{InvitationError, MatchError};
#[cfg(target_arch = "wasm32")]
use crate::app::page::Dialer as SealedDialer;
use testudo_battle::Order;

/// How long whoever cannot wait for packets sleeps at most.
const PAUSE: Duration = Duration::from_millis(2);

/// Makes a guest's connections.
pub(crate) enum Dialer {
    Plain(PlainDialer),
    Sealed(SealedDialer),
}

impl Dial for Dialer {
    type Line = Box<dyn Line>;

    fn dial(&mut self, code: &JoinCode, greeting: &[u8]) -> io::Result<Box<dyn Line>> {
        Ok(match self {
            Self::Plain(dialer) => Box::new(dialer.dial(code, greeting)?),
            Self::Sealed(dialer) => Box::new(dialer.dial(code, greeting)?),
        })
    }
}

/// One way to the others.
pub(crate) enum Wire {
    /// A host's, unsealed: it offers places to whoever asks.
    Plain(Box<UdpTransport>, Box<Offers>),
    /// A host's, sealed. A page cannot host: it has no port.
    #[cfg(not(target_arch = "wasm32"))]
    Host(Box<SealedHost>),
    /// A guest's.
    Guest(Box<Guest<Dialer>>),
    /// None any more: the guest has another seat.
    None,
}

impl Wire {
    /// Moves packets both ways.
    ///
    /// # Errors
    /// A broken socket, unless the session is over: it needs none any more.
    pub(crate) fn round(&mut self, session: &mut Session<Order>, now: Instant) -> Result<(), MatchError> {
        let moved = match self {
            Self::Plain(udp, offers) => {
                let invite = |member: Option<PeerId>, bytes: &[u8]| {
                    let reply = if member.is_none() { offers.answer(bytes, now) } else { None };
                    reply.map_or(Aside::Session, Aside::Reply)
                };
                udp.pump_with(session, now, invite)
            }
            #[cfg(not(target_arch = "wasm32"))]
            Self::Host(host) => {
                host.round(session, now);
                host.server().check()
            }
            Self::None => Ok(()),
            // A guest that asks for its place again needs no session; what went wrong in the end is kept: see `error`.
            Self::Guest(guest) if guest.is_calling() => Ok(()),
            Self::Guest(guest) => {
                drop(guest.round(Some(session), now));
                Ok(())
            }
        };
        if session.is_over() { Ok(()) } else { moved.map_err(MatchError::Socket) }
    }

    /// Waits until something has come, or the time is up; without a seal at most some milliseconds, as nothing tells when a packet comes.
    pub(crate) fn wait(&self, time: Duration) {
        let has_waited = match self {
            #[cfg(not(target_arch = "wasm32"))]
            Self::Host(host) => {
                host.server().wait(time);
                true
            }
            Self::Guest(guest) => guest.wait(time),
            Self::Plain(..) | Self::None => false,
        };
        if !has_waited {
            std::thread::sleep(std::time::Duration::from_micros(time.min(PAUSE).as_micros()));
        }
    }

    /// The places that a host without a seal offers.
    pub(crate) fn offers(&mut self) -> Option<&mut Offers> {
        match self {
            Self::Plain(_, offers) => Some(offers),
            _ => None,
        }
    }

    /// Why a guest has lost its place for good.
    pub(crate) fn error(&self) -> Option<InvitationError> {
        match self {
            Self::Guest(guest) => guest.error().cloned().map(InvitationError::from),
            _ => None,
        }
    }

    /// Whether a guest's connection is broken, and is made again.
    pub(crate) fn is_cut_off(&self) -> bool {
        matches!(self, Self::Guest(guest) if guest.is_cut_off())
    }

    /// Whether a guest asks for its place again, because the others went on without it.
    pub(crate) fn is_calling(&self) -> bool {
        matches!(self, Self::Guest(guest) if guest.is_calling())
    }

    /// From now on a lost place is not asked for again.
    pub(crate) fn leave(&mut self) {
        if let Self::Guest(guest) = self {
            guest.leave();
        }
    }
}

impl From<GuestError> for InvitationError {
    fn from(error: GuestError) -> Self {
        match error {
            GuestError::Refused(Refused::Version(theirs)) => Self::Version { theirs },
            GuestError::Refused(Refused::WrongSecret) => Self::WrongSecret,
            GuestError::Refused(Refused::TooManyRooms) => Self::TooManyRooms,
            GuestError::Refused(Refused::GoingAway) => Self::GoingAway,
            GuestError::Refused(Refused::Over) => Self::Over,
            GuestError::Refused(Refused::Removed) => Self::Removed,
            GuestError::Refused(Refused::OtherProgram) => Self::OtherProgram,
            GuestError::Refused(Refused::Malformed) | GuestError::NotUnderstood => Self::NotUnderstood,
            GuestError::Socket(why) => Self::Socket(io::Error::other(why)),
            other => Self::Lost { why: other.to_string() },
        }
    }
}
