//! Questions for a place in a match, and what a host answers.

use testudo_lockstep::service::agreement::Agreement;
use testudo_lockstep::service::greeting::{Answer, Refused, Welcome};
use testudo_lockstep::service::host::Host;
use testudo_lockstep::service::invitation::{Asking, Offers, QUESTION_BYTES};
use testudo_lockstep::{Identity, Instant, NoAction, PROTOCOL_VERSION, PlayerId, Session, SessionConfig};

fn agreement() -> Agreement {
    Agreement::new::<NoAction>(&SessionConfig::new(3), b"lakes").unwrap()
}

fn offers() -> Offers {
    let config = SessionConfig::new(3).simulated().session_id(99);
    Offers::new(&Session::<NoAction>::host(config, Instant::ZERO).unwrap(), agreement())
}

fn ask(nonce: u64, watches: bool) -> Vec<u8> {
    Asking::new(nonce, watches).question(Instant::ZERO).unwrap()
}

fn place(offers: &mut Offers, nonce: u64, ms: u64) -> Option<u8> {
    let answer = offers.answer(&ask(nonce, false), Instant::from_millis(ms))?;
    match Asking::new(nonce, false).hear(&answer)? {
        Answer::Come(Welcome { place: Identity::Player(player), .. }) => Some(player.0),
        _ => None,
    }
}

#[test]
fn an_invitation_says_all_that_a_session_needs() {
    let mut offers = offers();
    let question = ask(7, false);
    let answer = offers.answer(&question, Instant::ZERO).unwrap();
    assert!(answer.len() <= question.len());
    let place = Identity::Player(PlayerId(1));
    let welcome = Welcome { place, is_relayed: false, session_id: 99, agreement: agreement() };
    assert_eq!(Asking::new(7, false).hear(&answer), Some(Answer::Come(welcome.clone())));
    assert_eq!(Asking::new(8, false).hear(&answer), None, "an answer to somebody else's question");
    let answer = offers.answer(&ask(8, true), Instant::ZERO).unwrap();
    let welcome = Welcome { place: Identity::Watcher, ..welcome };
    assert_eq!(Asking::new(8, true).hear(&answer), Some(Answer::Come(welcome)));
}

/// A guest got its place, and waited for ten seconds until its session failed: the host's session answers nobody who is not bound.
#[test]
fn a_session_for_bound_peers_only_offers_no_place() {
    let config = Host::config(&agreement(), 99).simulated();
    let mut offers = Offers::new(&Session::<NoAction>::host(config, Instant::ZERO).unwrap(), agreement());
    for watches in [false, true] {
        let answer = offers.answer(&ask(7, watches), Instant::ZERO).unwrap();
        assert_eq!(Asking::new(7, watches).hear(&answer), Some(Answer::Refused(Refused::WrongSecret)));
    }
}

#[test]
fn a_question_is_asked_again_after_a_while() {
    let mut asking = Asking::new(7, false);
    let asked = (0..1_000).filter(|ms| asking.question(Instant::from_millis(*ms)).is_some()).count();
    assert_eq!(asked, 5);
}

#[test]
fn places_are_kept_for_who_asked_and_free_again_when_nobody_comes() {
    let mut offers = offers();
    assert_eq!(place(&mut offers, 7, 0), Some(1));
    assert_eq!(place(&mut offers, 8, 10), Some(2));
    assert_eq!(place(&mut offers, 7, 20), Some(1), "a guest that asks twice keeps the place");
    assert_eq!(place(&mut offers, 9, 30), None, "full");
    offers.set_connected(PlayerId(1), true);
    assert_eq!(place(&mut offers, 9, 5_100), Some(2), "player 2 has never connected");
    let why = "the session knows whether player 1 is still there";
    assert_eq!(place(&mut offers, 10, 5_200), Some(1), "{why}");
    offers.set_connected(PlayerId(1), true);
    offers.set_connected(PlayerId(2), true);
    offers.set_connected(PlayerId(2), false);
    assert_eq!(place(&mut offers, 11, 5_300), Some(2), "player 2 is gone");
}

#[test]
fn whatever_arrives_is_an_answer_or_nothing() {
    let (mut offers, asking) = (offers(), Asking::new(7, false));
    let good = offers.answer(&ask(7, false), Instant::ZERO).unwrap();
    for length in 0..good.len() {
        assert_eq!(asking.hear(&good[..length]), None);
    }
    for length in 0..QUESTION_BYTES {
        assert_eq!(offers.answer(&ask(7, false)[..length], Instant::ZERO), None);
    }
    for (at, value) in [(18, 2), (19, 25), (1_023, 1)] {
        let mut bytes = ask(7, false);
        bytes[at] = value;
        assert_eq!(offers.answer(&bytes, Instant::ZERO), None, "byte {at} = {value}");
    }
    let mut other = ask(7, false);
    other[16] ^= 1;
    other[40] = 1;
    let answer = offers.answer(&other, Instant::ZERO).unwrap();
    assert_eq!(asking.hear(&answer), Some(Answer::Refused(Refused::Version(PROTOCOL_VERSION))));
    assert_eq!(offers.answer(&other[..19], Instant::ZERO).map(|answer| answer.len()), Some(19));
    assert_eq!(offers.answer(&other[..18], Instant::ZERO), None, "shorter than any answer");
}
