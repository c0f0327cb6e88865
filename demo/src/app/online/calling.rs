//! A sealed connection that is being made, up to the answer to its greeting. Nothing here waits.

use testudo_lockstep::transport::code::JoinCode;

use testudo_lockstep::{Duration, Instant};

use crate::app::clock::Clock;
use crate::app::error::{InvitationError, MatchError};
use crate::app::online::edge::{Edge, EdgeEvent, LossKind};
use crate::app::online::greeting::{Answer, Greeting};
use crate::app::online::wire::{Client, LATER, refusal};

/// How long a side is tried that says "later" or takes no more connections: a match may be running there, and a player who has crashed may be meant to
/// come back to it.
const PATIENCE: Duration = Duration::from_secs(80);

/// A call to a host or a relay.
pub(crate) struct Calling {
    code: JoinCode,
    greeting: Vec<u8>,
    edge: Option<Edge>,
    clock: Clock,
    /// When to call again, and why not yet.
    again: Option<(Instant, String)>,
}

impl Calling {
    /// # Errors
    /// The system gives no socket or thread.
    pub(crate) fn begin(code: JoinCode, greeting: &Greeting) -> Result<Self, MatchError> {
        let greeting = greeting.to_bytes();
        let edge = Edge::connect(&code, &greeting);
        let edge = edge.map_err(|error| MatchError::Invitation(InvitationError::Socket(error)))?;
        Ok(Self { code, greeting, edge: Some(edge), clock: Clock::start(), again: None })
    }

    /// A call that begins after this time, because the other side has said so.
    pub(crate) fn after(wait: Duration, code: JoinCode, greeting: &Greeting, why: String) -> Self {
        let clock = Clock::start();
        let again = Some((clock.now() + wait, why));
        Self { code, greeting: greeting.to_bytes(), edge: None, clock, again }
    }

    /// Where the call goes.
    pub(crate) fn code(&self) -> &JoinCode {
        &self.code
    }

    /// Why the other side does not let us in yet, while it is tried again.
    pub(crate) fn delay(&self) -> Option<&str> {
        self.again.as_ref().map(|(_, why)| why.as_str())
    }

    /// Calls again later, unless that was long enough.
    fn try_later(&mut self, error: InvitationError) -> Result<(), InvitationError> {
        if self.clock.elapsed() >= PATIENCE {
            return Err(error);
        }
        self.again = Some((self.clock.now() + LATER, error.to_string()));
        self.edge = None;
        Ok(())
    }

    /// The answer that lets us in, with the connection. None: there is no answer yet.
    ///
    /// # Errors
    /// There is no connection, or the other side does not let us in.
    pub(crate) fn step(&mut self) -> Result<Option<(Answer, Client)>, InvitationError> {
        if let (None, Some((at, _))) = (&self.edge, &self.again)
            && self.clock.now() >= *at
        {
            self.edge = Some(Edge::connect(&self.code, &self.greeting).map_err(InvitationError::Socket)?);
        }
        let event = self.edge.as_mut().and_then(Edge::poll);
        let bytes = match event {
            None => return Ok(None),
            Some(EdgeEvent::Accepted(bytes)) => bytes,
            Some(EdgeEvent::Refused(bytes)) => {
                let answer = Answer::read(&bytes);
                let is_later = answer == Some(Answer::Later);
                let error = refusal(answer);
                return if is_later { self.try_later(error).map(|()| None) } else { Err(error) };
            }
            Some(EdgeEvent::Lost(loss)) => {
                let error = InvitationError::Lost { why: loss.why };
                let is_full = loss.kind == LossKind::Full;
                return if is_full { self.try_later(error).map(|()| None) } else { Err(error) };
            }
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

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use testudo_lockstep::PeerId;
    use testudo_lockstep::transport::sealed::{
        ClientEvent, SealedClient, SealedConfig, SealedEvent, SealedServer,
    };

    use super::*;
    use crate::app::online::greeting::Pass;
    use crate::app::online::name::Name;

    fn greeting_at(server: &mut SealedServer) -> PeerId {
        loop {
            if let Some(SealedEvent::Greeting { peer, .. }) = server.poll() {
                return peer;
            }
            std::thread::yield_now();
        }
    }

    /// Strangers had taken all places of a host, and a player who had crashed gave up after a tenth of a second.
    #[test]
    fn a_side_that_takes_no_more_connections_is_called_again() {
        let config = SealedConfig::new().connections_max(1);
        let mut server = SealedServer::bind("127.0.0.1:0".parse().unwrap(), &config).unwrap();
        let (address, hash) = (server.local_address(), server.certificate_hash());
        let mut stranger = SealedClient::connect(&[address], hash, b"stranger", &config).unwrap();
        let peer = greeting_at(&mut server);
        server.accept(peer, b"come in");
        while !matches!(stranger.poll(), Some(ClientEvent::Accepted(_))) {
            std::thread::yield_now();
        }
        let code = JoinCode::new(&[address], hash, [1; 16]).unwrap();
        let pass = Pass { secret: [1; 16], token: [2; 16] };
        let greeting = Greeting::Come { pass, name: Name::cleaned("Ada") };
        let mut calling = Calling::begin(code, &greeting).unwrap();
        while calling.delay().is_none() {
            assert!(calling.step().is_ok_and(|answer| answer.is_none()));
            std::thread::yield_now();
        }
        assert!(
            calling.delay().is_some_and(|why| why.contains("no more connections")),
            "{:?}",
            calling.delay()
        );
        drop(stranger);
        // The second call arrives.
        loop {
            assert!(calling.step().is_ok_and(|answer| answer.is_none()));
            if let Some(SealedEvent::Greeting { bytes, .. }) = server.poll() {
                assert_eq!(bytes, greeting.to_bytes());
                break;
            }
            std::thread::yield_now();
        }
    }
}
