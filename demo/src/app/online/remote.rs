//! Asking the host, in another process, in which number the states differ.
//!
//! Questions travel beside the match: from a socket of their own to the host's, in datagrams that begin with a mark and the match's number. Whoever does
//! not know that number gets no answer.

use std::net::{SocketAddr, UdpSocket};

use testudo_lockstep::inquiry::{Finding, Inquiry, Step};
use testudo_lockstep::{Duration, Instant, Simulation};

use crate::app::watch::client::Deed;
use crate::game::Game;

/// The rate of every match of the demo.
const FRAMES_PER_SECOND: u32 = 20;

/// First bytes of a question and of an answer.
const ASK: [u8; 8] = *b"TESTASK1";
const TELL: [u8; 8] = *b"TESTTEL1";

/// Mark and number of the match.
const HEAD: usize = 16;

/// Largest datagram.
const BYTES_MAX: usize = 2_048;

/// A question is asked again after this time, ...
const PATIENCE: Duration = Duration::from_millis(150);

/// ... and so many times at all.
const TRIES_MAX: u32 = 40;

fn wrapped(mark: [u8; 8], session_id: u64, message: &[u8]) -> Vec<u8> {
    [mark.as_slice(), &session_id.to_le_bytes(), message].concat()
}

fn unwrapped(mark: [u8; 8], session_id: u64, bytes: &[u8]) -> Option<&[u8]> {
    let (head, message) = bytes.split_at_checked(HEAD)?;
    (head[..8] == mark && head[8..] == session_id.to_le_bytes()).then_some(message)
}

/// The host's answer to a datagram that may be a question; none if it is not, or if nothing is known to differ yet.
pub(crate) fn answer(inquiry: Option<&mut Inquiry<Game>>, session_id: u64, bytes: &[u8]) -> Option<Vec<u8>> {
    let question = unwrapped(ASK, session_id, bytes)?;
    match inquiry?.handle(question) {
        Ok(Step::Send(message)) => Some(wrapped(TELL, session_id, &message)),
        Ok(Step::Found(_)) | Err(_) => None,
    }
}

/// A search that is under way.
pub(crate) struct Search {
    socket: UdpSocket,
    host: SocketAddr,
    session_id: u64,
    inquiry: Inquiry<Game>,
    question: Vec<u8>,
    asked: Option<Instant>,
    tries: u32,
    finding: Option<Finding>,
    deeds: Vec<Deed>,
    is_reproduced: Option<bool>,
}

impl Search {
    /// None if there is no socket to be had: the match goes on without an answer.
    pub(crate) fn begin(
        host: SocketAddr,
        session_id: u64,
        mut inquiry: Inquiry<Game>,
        deeds: Vec<Deed>,
    ) -> Option<Self> {
        let local: SocketAddr =
            if host.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { ([0_u16; 8], 0).into() };
        let socket = UdpSocket::bind(local).ok()?;
        socket.set_nonblocking(true).ok()?;
        let question = inquiry.ask();
        Some(Self {
            socket,
            host,
            session_id,
            inquiry,
            question,
            asked: None,
            tries: 0,
            finding: None,
            deeds,
            is_reproduced: None,
        })
    }

    /// What was found, as soon as it was.
    pub(crate) fn finding(&self) -> Option<&Finding> {
        self.finding.as_ref()
    }

    /// Whether the orders lead to this copy's state in that frame again; none if that cannot be told.
    pub(crate) fn is_reproduced(&self) -> Option<bool> {
        self.is_reproduced
    }

    fn play_again(&mut self, frame: u32) -> Option<bool> {
        let deeds: Vec<&Deed> = self.deeds.iter().filter(|deed| deed.frame == frame).collect();
        if deeds.iter().any(|deed| deed.order.is_none()) {
            return None;
        }
        self.inquiry.is_reproduced(frame, |game| {
            for deed in deeds {
                deed.order.iter().for_each(|order| game.apply(deed.player, order));
            }
            game.step(FRAMES_PER_SECOND);
        })
    }

    /// No more answers are expected.
    pub(crate) fn is_over(&self) -> bool {
        self.finding.is_some() || self.tries > TRIES_MAX
    }

    /// Takes answers, asks on, asks again.
    pub(crate) fn advance(&mut self, now: Instant) {
        let mut bytes = [0; BYTES_MAX];
        while !self.is_over() {
            let Ok((length, from)) = self.socket.recv_from(&mut bytes) else { break };
            let told = unwrapped(TELL, self.session_id, &bytes[..length]).filter(|_| from == self.host);
            match told.map(|message| self.inquiry.handle(message)) {
                Some(Ok(Step::Send(question))) => {
                    (self.question, self.asked, self.tries) = (question, None, 0);
                }
                Some(Ok(Step::Found(finding))) => {
                    self.is_reproduced = finding.frame.and_then(|frame| self.play_again(frame));
                    self.finding = Some(finding);
                }
                // An answer that comes twice, or is none.
                Some(Err(_)) | None => {}
            }
        }
        if !self.is_over() && self.asked.is_none_or(|asked| now.since(asked) >= PATIENCE) {
            // A datagram that is lost is sent again.
            let _ = self.socket.send_to(&wrapped(ASK, self.session_id, &self.question), self.host);
            (self.asked, self.tries) = (Some(now), self.tries + 1);
        }
    }
}
