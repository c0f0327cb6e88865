//! A sealed connection that is being made, up to the answer to its greeting. Nothing here waits.

use testudo_lockstep::transport::code::JoinCode;

use crate::app::error::{InvitationError, MatchError};
use crate::app::online::edge::{Edge, EdgeEvent};
use crate::app::online::greeting::{Answer, Greeting};
use crate::app::online::wire::{Client, refusal};

/// A call to a host or a relay.
pub(crate) struct Calling {
    code: JoinCode,
    greeting: Vec<u8>,
    edge: Option<Edge>,
}

impl Calling {
    /// # Errors
    /// The system gives no socket or thread.
    pub(crate) fn begin(code: JoinCode, greeting: &Greeting) -> Result<Self, MatchError> {
        let greeting = greeting.to_bytes();
        let edge = Edge::connect(&code, &greeting);
        let edge = edge.map_err(|error| MatchError::Invitation(InvitationError::Socket(error)))?;
        Ok(Self { code, greeting, edge: Some(edge) })
    }

    /// Where the call goes.
    pub(crate) fn code(&self) -> &JoinCode {
        &self.code
    }

    /// The answer that lets us in, with the connection. None: there is no answer yet.
    ///
    /// # Errors
    /// There is no connection, or the other side does not let us in.
    pub(crate) fn step(&mut self) -> Result<Option<(Answer, Client)>, InvitationError> {
        let event = self.edge.as_mut().and_then(Edge::poll);
        let bytes = match event {
            None => return Ok(None),
            Some(EdgeEvent::Accepted(bytes)) => bytes,
            Some(EdgeEvent::Refused(bytes)) => return Err(refusal(Answer::read(&bytes))),
            Some(EdgeEvent::Lost(why)) => return Err(InvitationError::Lost { why }),
            Some(EdgeEvent::Packet(_)) => return Ok(None),
        };
        match (Answer::read(&bytes), self.edge.take()) {
            (Some(answer @ (Answer::Come(_) | Answer::Opened(_))), Some(edge)) => {
                // Whoever opened a room comes back to it as everybody else does.
                let (code, greeting) = (self.code.clone(), core::mem::take(&mut self.greeting));
                Ok(Some((answer, Client::new(edge, code, greeting))))
            }
            (answer, _) => Err(refusal(answer)),
        }
    }
}
