//! Connections on which a guest hears what a test has written down.

use std::collections::VecDeque;
use std::io;

use testudo_lockstep::Instant;
use testudo_lockstep::service::code::JoinCode;
use testudo_lockstep::service::greeting::Answer;
use testudo_lockstep::service::guest::{Dial, Line, LineEvent};

/// What happens on each connection that is made, and nothing on further ones; none where there is no socket.
pub(crate) struct Script(pub(crate) VecDeque<Option<Scripted>>);

pub(crate) struct Scripted(VecDeque<LineEvent>);

impl Script {
    /// A server that gives these answers, one on each connection.
    pub(crate) fn of(answers: impl IntoIterator<Item = Answer>) -> Self {
        let event = |answer: Answer| match answer {
            Answer::Refused(_) => LineEvent::Refused(answer.to_bytes()),
            _ => LineEvent::Accepted(answer.to_bytes()),
        };
        Self(answers.into_iter().map(|answer| Some([event(answer)].into())).collect())
    }
}

impl<const N: usize> From<[LineEvent; N]> for Scripted {
    fn from(events: [LineEvent; N]) -> Self {
        Self(events.into())
    }
}

impl Dial for Script {
    type Line = Scripted;

    fn dial(&mut self, _: &JoinCode, _: &[u8]) -> io::Result<Scripted> {
        self.0.pop_front().unwrap_or(Some([].into())).ok_or_else(|| io::ErrorKind::AddrNotAvailable.into())
    }
}

impl Line for Scripted {
    fn poll(&mut self, _: Instant) -> Option<LineEvent> {
        self.0.pop_front()
    }

    fn send(&mut self, _: &[u8]) {}
}
