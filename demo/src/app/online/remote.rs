//! Finds the number in which this copy differs from one in another process: a guest asks the host, and the host the player whose checksum is another.
//!
//! Questions and answers are messages beside the match. Only a limited number per second is answered.

use testudo_lockstep::state::inquiry::{Finding, Inquiry, Step};
use testudo_lockstep::{Duration, Identity, Instant, Message, Session, Simulation, To};

use crate::app::watch::client::Deed;
use crate::game::{Game, Order};

/// The rate of every match of the demo.
const FRAMES_PER_SECOND: u32 = 20;

/// First byte of a question and of an answer.
const ASK: u8 = 0;
const TELL: u8 = 1;

/// An answer that has not come after this time does not come.
const PATIENCE: Duration = Duration::from_secs(10);

/// Questions that are kept until this copy's own search begins: the other one has noticed the difference first.
pub(crate) const EARLY_MAX: usize = 8;

/// A search in progress. It answers the other side's questions, too.
pub(crate) struct Search {
    /// Who is asked; none if nobody can be.
    other: Option<(To, Identity)>,
    inquiry: Inquiry<Game>,
    /// What is to be said next, and to whom.
    unsaid: Vec<(To, Vec<u8>)>,
    /// Since when an answer is awaited.
    asked: Option<Instant>,
    is_in_vain: bool,
    finding: Option<Finding>,
    deeds: Vec<Deed>,
    is_reproduced: Option<bool>,
}

impl Search {
    /// Starts the questions to the other side.
    pub(crate) fn begin(other: Option<(To, Identity)>, mut inquiry: Inquiry<Game>, deeds: Vec<Deed>) -> Self {
        let question = inquiry.ask();
        let unsaid = other.map(|(other, _)| (other, tagged(ASK, &question))).into_iter().collect();
        Self {
            other,
            inquiry,
            unsaid,
            asked: None,
            is_in_vain: false,
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
        self.finding.is_some() || self.is_in_vain || self.other.is_none()
    }

    /// Handles a message: a question or an answer.
    pub(crate) fn hear(&mut self, message: &Message, now: Instant) {
        let is_theirs = self.other.is_some_and(|(_, identity)| message.from == identity);
        match message.bytes.split_first() {
            Some((&ASK, question)) => {
                if let Ok(answer) = self.inquiry.answer(message.link, now, question) {
                    self.unsaid.push((To::Link(message.link), tagged(TELL, &answer)));
                }
            }
            Some((&TELL, answer)) if !self.is_over() && is_theirs => match self.inquiry.hear(answer) {
                Ok(Step::Send(question)) => {
                    self.unsaid.extend(self.other.map(|(other, _)| (other, tagged(ASK, &question))));
                    self.asked = None;
                }
                Ok(Step::Found(finding)) => {
                    self.is_reproduced = finding.frame.and_then(|frame| self.play_again(frame));
                    self.finding = Some(finding);
                }
                // An answer that does not fit the question.
                Err(_) => {}
            },
            _ => {}
        }
    }

    /// Says what is to be said, as far as the session takes it now.
    pub(crate) fn advance(&mut self, session: &mut Session<Order>, now: Instant) {
        self.unsaid.truncate(EARLY_MAX);
        self.unsaid.retain(|(to, bytes)| session.send_message(*to, bytes).is_err());
        if self.other.is_some() && self.finding.is_none() {
            let asked = *self.asked.get_or_insert(now);
            self.is_in_vain |= now.since(asked) >= PATIENCE;
        }
    }
}

fn tagged(tag: u8, bytes: &[u8]) -> Vec<u8> {
    [&[tag], bytes].concat()
}
