//! A guest's way to a host without a seal: it asks for a place, and then moves packets.

use std::io;
use std::net::{SocketAddr, UdpSocket};

use crate::packet::PACKET_BYTES_MAX;
use crate::service::code::JoinCode;
use crate::service::greeting::Answer;
use crate::service::guest::{Dial, Line, LineEvent, LossKind};
use crate::service::invitation::Asking;
use crate::value::time::{Duration, Instant};

/// A question without an answer is given up after this time.
const ANSWER_WAIT: Duration = Duration::from_secs(10);

/// Greatest number of packets that are passed over in one call: those of strangers, and those that are no answer, which anybody can send in the host's name.
const STRANGERS_MAX: u32 = 64;

/// An answer with the agreement of a match, after the head of an invitation.
const BUFFER_BYTES: usize = 2_048;

/// Makes unsealed connections of a [`Guest`](crate::service::guest::Guest), to hosts with [`Offers`](crate::service::invitation::Offers). For tests and for
/// networks in which everybody is trusted. The code is one of [`JoinCode::unsealed`].
#[derive(Clone, Copy, Debug)]
pub struct PlainDialer {
    nonce: u64,
    watches: bool,
}

impl PlainDialer {
    /// Asks for a place to play, or to watch. `nonce` is random: by it the host knows a guest that asks again.
    #[must_use]
    pub fn new(nonce: u64, watches: bool) -> Self {
        Self { nonce, watches }
    }
}

impl Dial for PlainDialer {
    type Line = PlainLine;

    /// The greeting is for sealed connections; without a seal there are no secrets to show.
    fn dial(&mut self, code: &JoinCode, _: &[u8]) -> io::Result<PlainLine> {
        let host = *code.addresses().first().ok_or(io::ErrorKind::InvalidInput)?;
        let any: SocketAddr = if host.is_ipv4() { ([0; 4], 0).into() } else { ([0_u16; 8], 0).into() };
        let socket = UdpSocket::bind(any)?;
        socket.set_nonblocking(true)?;
        let question = Some(Asking::new(self.nonce, self.watches));
        Ok(PlainLine { host, socket, question, since: None, is_over: false, buffer: vec![0; BUFFER_BYTES] })
    }
}

/// An unsealed connection. UDP knows none, so it is never lost once there was an answer: the session notices a silence.
#[derive(Debug)]
pub struct PlainLine {
    host: SocketAddr,
    socket: UdpSocket,
    /// Until it is answered.
    question: Option<Asking>,
    /// When the question was first asked.
    since: Option<Instant>,
    is_over: bool,
    buffer: Vec<u8>,
}

impl PlainLine {
    /// The length of the next packet of the host. Errors such as "nobody listens there" may be temporary; a time limit decides.
    fn receive(&mut self) -> Option<usize> {
        for _ in 0..STRANGERS_MAX {
            match self.socket.recv_from(&mut self.buffer) {
                Ok((length, from)) if from == self.host => return Some(length),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return None,
                Ok(_) | Err(_) => {}
            }
        }
        None
    }

    /// The host's answer, if it has arrived.
    fn answer(&mut self) -> Option<Answer> {
        for _ in 0..STRANGERS_MAX {
            let length = self.receive()?;
            let answer = self.question.as_ref()?.hear(&self.buffer[..length]);
            if answer.is_some() {
                return answer;
            }
        }
        None
    }

    fn ask(&mut self, now: Instant) -> Option<LineEvent> {
        if let Some(answer) = self.answer() {
            self.question = None;
            self.is_over = matches!(answer, Answer::Refused(_));
            let bytes = answer.to_bytes();
            return Some(if self.is_over { LineEvent::Refused(bytes) } else { LineEvent::Accepted(bytes) });
        }
        if now.since(*self.since.get_or_insert(now)) >= ANSWER_WAIT {
            (self.question, self.is_over) = (None, true);
            let seconds = ANSWER_WAIT.as_millis() / 1_000;
            let why = format!("nobody at {} answered within {seconds} s", self.host);
            return Some(LineEvent::Lost { why, kind: LossKind::Other });
        }
        if let Some(question) = self.question.as_mut()?.question(now) {
            let _ = self.socket.send_to(&question, self.host);
        }
        None
    }
}

impl Line for PlainLine {
    fn poll(&mut self, now: Instant) -> Option<LineEvent> {
        if self.is_over {
            return None;
        }
        if self.question.is_some() {
            return self.ask(now);
        }
        let length = self.receive()?;
        // Longer ones are none of a session.
        Some(LineEvent::Packet(self.buffer[..length.min(PACKET_BYTES_MAX + 1)].to_vec()))
    }

    fn send(&mut self, packet: &[u8]) {
        // The next packets carry the same content.
        let _ = self.socket.send_to(packet, self.host);
    }
}
