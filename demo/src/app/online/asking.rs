//! Unsealed matches: a guest asks the host's address for a free place. Nothing here waits.

use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};

use testudo_lockstep::PACKET_BYTES_MAX;
use testudo_lockstep::service::greeting::{Answer, Refused, Welcome};
use testudo_lockstep::service::invitation::Asking as Question;

use crate::app::clock::Clock;
use crate::app::error::{ANSWER_WAIT, InvitationError, MatchError};
use crate::app::online::keys;

/// Greatest number of packets that are read in one step.
const RECEIVE_MAX: u32 = 64;

/// A question to a host, repeated until it is answered.
pub(crate) struct Asking {
    host: SocketAddr,
    socket: UdpSocket,
    question: Question,
    clock: Clock,
}

impl Asking {
    /// # Errors
    /// No socket is available.
    pub(crate) fn begin(host: SocketAddr, watches: bool) -> Result<Self, MatchError> {
        let failed = |error| MatchError::Invitation(InvitationError::Socket(error));
        let local: SocketAddr =
            if host.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { ([0_u16; 8], 0).into() };
        let socket = UdpSocket::bind(local).map_err(failed)?;
        socket.set_nonblocking(true).map_err(failed)?;
        let question = Question::new(keys::random_number()?, watches);
        Ok(Self { host, socket, question, clock: Clock::start() })
    }

    /// The host that is asked.
    pub(crate) fn host(&self) -> SocketAddr {
        self.host
    }

    /// Reads what has arrived, and asks again if it is time. None: there is no answer yet.
    ///
    /// # Errors
    /// The host has refused, or has not answered for long enough.
    pub(crate) fn step(&mut self) -> Result<Option<Welcome>, InvitationError> {
        let host = self.host;
        match self.answer() {
            Some(Answer::Come(welcome)) => return Ok(Some(welcome)),
            Some(Answer::Refused(Refused::Version(theirs))) => {
                return Err(InvitationError::Version { theirs });
            }
            Some(_) => return Err(InvitationError::Full { host }),
            None => {}
        }
        if self.clock.elapsed() >= ANSWER_WAIT {
            return Err(InvitationError::NoAnswer { host });
        }
        if let Some(question) = self.question.question(self.clock.now()) {
            // The error "nobody listens there" comes at once and may be temporary.
            let _ = self.socket.send_to(&question, host);
        }
        Ok(None)
    }

    /// The host's answer, if it has arrived.
    fn answer(&self) -> Option<Answer> {
        let mut buffer = [0; PACKET_BYTES_MAX];
        for _ in 0..RECEIVE_MAX {
            match self.socket.recv_from(&mut buffer) {
                Ok((length, from)) if from == self.host => {
                    let answer = self.question.hear(&buffer[..length]);
                    if answer.is_some() {
                        return answer;
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Ok(_) | Err(_) => {}
            }
        }
        None
    }
}
