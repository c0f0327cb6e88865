//! A sealed connection that is being made, up to the answer to its greeting. Nothing here waits.

use testudo_lockstep::transport::sealed::{ClientEvent, JoinCode, SealedClient, SealedConfig};

use crate::app::error::{InvitationError, MatchError};
use crate::app::online::greeting::{Answer, Greeting};
use crate::app::online::wire::{Client, refusal};

/// A call to a host or a relay.
pub(crate) struct Calling {
    code: JoinCode,
    greeting: Vec<u8>,
    client: Option<SealedClient>,
}

impl Calling {
    /// # Errors
    /// The system gives no socket or thread.
    pub(crate) fn begin(code: JoinCode, greeting: &Greeting) -> Result<Self, MatchError> {
        let greeting = greeting.to_bytes();
        let client =
            SealedClient::connect(code.addresses(), code.certificate_hash(), &greeting, &SealedConfig::new());
        let client = client.map_err(|error| MatchError::Invitation(InvitationError::Socket(error)))?;
        Ok(Self { code, greeting, client: Some(client) })
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
        let event = self.client.as_mut().and_then(SealedClient::poll);
        let bytes = match event {
            None => return Ok(None),
            Some(ClientEvent::Accepted(bytes)) => bytes,
            Some(ClientEvent::Refused(bytes)) => return Err(refusal(Answer::read(&bytes))),
            Some(ClientEvent::Lost(why)) => return Err(InvitationError::Lost { why: why.to_string() }),
            Some(_) => return Ok(None),
        };
        match (Answer::read(&bytes), self.client.take()) {
            (Some(answer @ (Answer::Come(_) | Answer::Opened(_))), Some(sealed)) => {
                // Whoever opened a room comes back to it as everybody else does.
                let (code, greeting) = (self.code.clone(), core::mem::take(&mut self.greeting));
                Ok(Some((answer, Client::new(sealed, code, greeting))))
            }
            (answer, _) => Err(refusal(answer)),
        }
    }
}
