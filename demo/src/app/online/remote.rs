//! Finds the number in which this copy differs from one in another process: a guest asks the host, and the host the guest whose checksum is another.
//!
//! Questions use the sockets of the match, in datagrams of their own that begin with a mark and the match's number. Only members get
//! answers, and only a limited number per second.

use testudo_lockstep::state::inquiry::{Finding, Inquiry, Step};
use testudo_lockstep::transport::udp::Aside;
use testudo_lockstep::{Duration, Instant, PeerId, Simulation};

use crate::app::online::wire::Wire;
use crate::app::watch::client::Deed;
use crate::game::Game;

/// The rate of every match of the demo.
const FRAMES_PER_SECOND: u32 = 20;

/// First bytes of a question and of an answer.
const ASK: [u8; 8] = *b"TESTASK1";
const TELL: [u8; 8] = *b"TESTTEL1";

/// Mark and number of the match.
const HEAD: usize = 16;

/// A question is asked again after this time, ...
const PATIENCE: Duration = Duration::from_millis(150);

/// ... and this many times in total.
const TRIES_MAX: u32 = 40;

fn wrapped(mark: [u8; 8], session_id: u64, message: &[u8]) -> Vec<u8> {
    [mark.as_slice(), &session_id.to_le_bytes(), message].concat()
}

fn unwrapped(mark: [u8; 8], session_id: u64, bytes: &[u8]) -> Option<&[u8]> {
    let (head, message) = bytes.split_at_checked(HEAD)?;
    (head[..8] == mark && head[8..] == session_id.to_le_bytes()).then_some(message)
}

/// A search in progress. It answers the other side's questions, too.
pub(crate) struct Search {
    /// Who is asked; none if nobody can be.
    other: Option<PeerId>,
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
    /// Starts the questions to the other side.
    pub(crate) fn begin(
        other: Option<PeerId>,
        session_id: u64,
        mut inquiry: Inquiry<Game>,
        deeds: Vec<Deed>,
    ) -> Self {
        let question = inquiry.ask();
        Self {
            other,
            session_id,
            inquiry,
            question,
            asked: None,
            tries: 0,
            finding: None,
            deeds,
            is_reproduced: None,
        }
    }

    /// The result of the search, once there is one.
    pub(crate) fn finding(&self) -> Option<&Finding> {
        self.finding.as_ref()
    }

    /// Whether the orders lead to this copy's state in that frame again; none if that is unknown.
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
        self.finding.is_some() || self.tries > TRIES_MAX || self.other.is_none()
    }

    /// Handles a datagram if it is a question or an answer. Only members of the match are answered, and only they are heard.
    pub(crate) fn hear(&mut self, member: Option<PeerId>, now: Instant, bytes: &[u8]) -> Aside {
        if let Some(question) = unwrapped(ASK, self.session_id, bytes) {
            let Some(member) = member else { return Aside::Taken };
            let answer = self.inquiry.answer(member, now, question);
            return answer
                .map_or(Aside::Taken, |message| Aside::Reply(wrapped(TELL, self.session_id, &message)));
        }
        let Some(message) = unwrapped(TELL, self.session_id, bytes) else { return Aside::Session };
        if member.is_none() || member != self.other || self.is_over() {
            return Aside::Taken;
        }
        match self.inquiry.hear(message) {
            Ok(Step::Send(question)) => (self.question, self.asked, self.tries) = (question, None, 0),
            Ok(Step::Found(finding)) => {
                self.is_reproduced = finding.frame.and_then(|frame| self.play_again(frame));
                self.finding = Some(finding);
            }
            // A duplicate answer, or one that does not fit the question.
            Err(_) => {}
        }
        Aside::Taken
    }

    /// Sends the question, and repeats it because datagrams may be lost.
    pub(crate) fn advance(&mut self, now: Instant, wire: &mut Wire) {
        let Some(other) = self.other.filter(|_| !self.is_over()) else { return };
        if self.asked.is_none_or(|asked| now.since(asked) >= PATIENCE) {
            wire.send_aside(other, &wrapped(ASK, self.session_id, &self.question));
            (self.asked, self.tries) = (Some(now), self.tries + 1);
        }
    }
}

/// Whether a datagram is a question about a difference that nobody has noticed here yet.
pub(crate) fn is_early_question(session_id: u64, bytes: &[u8]) -> bool {
    unwrapped(ASK, session_id, bytes).is_some()
}
