//! What a guest takes for an answer to its question.

use crate::script::Script;
use testudo_lockstep::packet::{Packet, PayloadFormat, Refusal, Refuse};
use testudo_lockstep::service::agreement::Agreement;
use testudo_lockstep::service::code::JoinCode;
use testudo_lockstep::service::greeting::{Answer, Opened, Refused, Secrets, Welcome};
use testudo_lockstep::service::guest::{Arrival, Guest, GuestError, MIDDLE};
use testudo_lockstep::{
    BitWriter, Duration, Event, Identity, Instant, NoAction, PlayerId, Session, SessionConfig, SessionPhase,
};

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
    Guest::join(Script::of([answer]), code(), [3; 16], Instant::ZERO).unwrap().round(None, Instant::ZERO)
}

/// A relay could answer with settings that nobody had asked for, and whoever opened the room played by them: a million units, say.
#[test]
fn a_room_is_the_one_that_was_asked_for() {
    let asked = agreement(3, b"small");
    let open = |answer: Answer| {
        let guest = Guest::open(Script::of([answer]), code(), [3; 16], asked.clone(), Instant::ZERO);
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

/// It could do so one step later: it turned away whoever had opened the right room, and then let it into another one.
#[test]
fn who_comes_back_finds_the_same_place_and_match() {
    let (asked, own) = (agreement(3, b"small"), Identity::Player(PlayerId(0)));
    let same = welcome(own, asked.clone());
    let back = |answers: [Answer; 2], is_opener: bool| {
        let (server, token, now) = (Script::of(answers), [3; 16], Instant::from_millis(1_000));
        let guest = match is_opener {
            true => Guest::open(server, code(), token, asked.clone(), now),
            false => Guest::join(server, code(), token, now),
        };
        let mut guest = guest.unwrap();
        let arrival = guest.round(None, now).unwrap().unwrap();
        let mut session = turned_away(&arrival, now);
        assert_eq!(guest.round(Some(&mut session), now), Ok(None));
        assert!(guest.is_calling());
        guest.round(None, now + Duration::from_secs(10)).map(|arrival| arrival.is_some())
    };
    let others = [
        welcome(own, agreement(3, b"large")),
        welcome(Identity::Player(PlayerId(1)), asked.clone()),
        Welcome { session_id: 8, ..same.clone() },
        Welcome { is_relayed: false, ..same.clone() },
    ];
    for (first, is_opener) in [(opened(0, asked.clone()), true), (Answer::Come(same.clone()), false)] {
        assert_eq!(back([first.clone(), Answer::Come(same.clone())], is_opener), Ok(true));
        let full = Answer::Refused(Refused::Full);
        assert_eq!(
            back([first.clone(), full], is_opener),
            Ok(false),
            "it asks again: its own former place may be full"
        );
        for other in others.clone().map(Answer::Come) {
            let found = back([first.clone(), other.clone()], is_opener);
            assert_eq!(found, Err(GuestError::NotUnderstood), "{other:?}");
        }
    }
}

/// The session of a guest that the middle tells to come back in a while.
fn turned_away(arrival: &Arrival, now: Instant) -> Session<NoAction> {
    let mut session = arrival.session::<NoAction>(arrival.config().simulated(), now).unwrap();
    let mut hello = Vec::new();
    session.poll_transmit(now, &mut hello).unwrap();
    let format = PayloadFormat::Variable(8);
    let Ok(Packet::Hello(hello)) = Packet::decode(&hello, 0, format) else { panic!("{hello:?}") };
    let (refuse, mut packet) = (Refuse { refusal: Refusal::ComeBackIn { seconds: 1 } }, Vec::new());
    Packet::Refuse(refuse).encode(hello.nonce, format, &mut BitWriter::new(), &mut packet);
    session.handle_packet(now, MIDDLE, &packet);
    session
}

/// A loop that stops at `Event::Failed`, or when its session is over, stopped while its guest was on the way back.
#[test]
fn a_session_is_over_only_when_its_guest_asks_for_no_other() {
    let came = || Answer::Come(welcome(Identity::Player(PlayerId(1)), agreement(2, b"")));
    let removed = Answer::Refused(Refused::Removed);
    let now = Instant::from_millis(1_000);
    let later = now + Duration::from_secs(10);
    for (second, is_back) in [(came(), true), (removed, false)] {
        let mut guest = Guest::join(Script::of([came(), second]), code(), [3; 16], now).unwrap();
        let arrival = guest.round(None, now).unwrap().unwrap();
        let mut session = turned_away(&arrival, now);
        let failed = |session: &mut Session<NoAction>| {
            core::iter::from_fn(|| session.poll_event()).any(|event| matches!(event, Event::Failed(_)))
        };
        assert!(matches!(session.phase(), SessionPhase::Failed(_)));
        assert!(!session.is_over() && !failed(&mut session), "its guest has not said what it does");
        assert_eq!(guest.round(Some(&mut session), now), Ok(None));
        assert!(guest.is_calling() && !session.is_over() && !failed(&mut session));
        let arrived = guest.round(Some(&mut session), later).map(|arrival| arrival.is_some());
        assert_eq!(arrived.is_ok(), is_back, "{arrived:?}");
        assert_eq!((session.is_over(), failed(&mut session)), (!is_back, !is_back));
    }
    // Whoever leaves does not come back.
    let mut guest = Guest::join(Script::of([came()]), code(), [3; 16], now).unwrap();
    let arrival = guest.round(None, now).unwrap().unwrap();
    let mut session = turned_away(&arrival, now);
    guest.leave();
    assert_eq!(guest.round(Some(&mut session), now), Ok(None));
    assert!(session.is_over() && !guest.is_calling());
    assert!(matches!(session.poll_event(), Some(Event::Failed(_))));
}

#[test]
fn who_comes_to_a_place_opens_no_room() {
    let come = |place| joined(Answer::Come(welcome(place, agreement(2, b"")))).is_ok_and(|it| it.is_some());
    assert!(come(Identity::Player(PlayerId(1))) && come(Identity::Watcher));
    assert_eq!(joined(opened(0, agreement(2, b""))).err(), Some(GuestError::NotUnderstood));
}
