//! What a guest takes for an answer to its question.

use std::io;

use testudo_lockstep::service::agreement::Agreement;
use testudo_lockstep::service::code::JoinCode;
use testudo_lockstep::service::greeting::{Answer, Opened, Secrets, Welcome};
use testudo_lockstep::service::guest::{Arrival, Dial, Guest, GuestError, Line, LineEvent};
use testudo_lockstep::{Identity, Instant, PlayerId, SessionConfig};

/// A server that says this to everybody.
struct Server(Answer);

impl Dial for Server {
    type Line = Server;

    fn dial(&mut self, _: &JoinCode, _: &[u8]) -> io::Result<Server> {
        Ok(Server(self.0.clone()))
    }
}

impl Line for Server {
    fn poll(&mut self, _: Instant) -> Option<LineEvent> {
        Some(LineEvent::Accepted(self.0.to_bytes()))
    }

    fn send(&mut self, _: &[u8]) {}
}

fn agreement(players: u8, game: &[u8]) -> Agreement {
    Agreement::with_action_bits(&SessionConfig::new(players), 8, game).unwrap()
}

fn welcome(place: Identity, agreement: Agreement) -> Welcome {
    Welcome { place, is_relayed: true, session_id: 7, agreement }
}

fn opened(place: u8, agreement: Agreement) -> Answer {
    let secrets = Secrets::draw(agreement.players(), || [5; 16]);
    Answer::Opened(Opened { welcome: welcome(Identity::Player(PlayerId(place)), agreement), secrets })
}

fn code() -> JoinCode {
    JoinCode::new(&["192.0.2.1:7".parse().unwrap()], [1; 32], [2; 16]).unwrap()
}

fn joined(answer: Answer) -> Result<Option<Arrival>, GuestError> {
    Guest::join(Server(answer), code(), [3; 16], Instant::ZERO).unwrap().round(None, Instant::ZERO)
}

/// A relay could answer with settings that nobody had asked for, and whoever opened the room played by them: a million units, say.
#[test]
fn a_room_is_the_one_that_was_asked_for() {
    let asked = agreement(3, b"small");
    let open = |answer: Answer| {
        let guest = Guest::open(Server(answer), code(), [3; 16], asked.clone(), Instant::ZERO);
        guest.unwrap().round(None, Instant::ZERO)
    };
    assert!(
        open(opened(0, asked.clone())).is_ok_and(|arrival| arrival.is_some_and(|room| room.codes.is_some()))
    );
    let come = Answer::Come(welcome(Identity::Player(PlayerId(0)), asked.clone()));
    for other in
        [opened(0, agreement(3, b"large")), opened(0, agreement(4, b"small")), opened(1, asked.clone()), come]
    {
        assert_eq!(open(other.clone()).err(), Some(GuestError::NotUnderstood), "{other:?}");
    }
}

#[test]
fn who_comes_to_a_place_opens_no_room() {
    let come = |place| joined(Answer::Come(welcome(place, agreement(2, b"")))).is_ok_and(|it| it.is_some());
    assert!(come(Identity::Player(PlayerId(1))) && come(Identity::Watcher));
    assert_eq!(joined(opened(0, agreement(2, b""))).err(), Some(GuestError::NotUnderstood));
}
