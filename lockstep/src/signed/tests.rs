//! What statements prove, and what they do not.

use crate::signed::chain::{Opening, StreamHash};
use crate::signed::key::{PlayerKey, PublicKey};
use crate::signed::proof::{Proof, ProofError, Verdict};
use crate::signed::roster::{Roster, Seat};
use crate::signed::statement::Statement;
use crate::value::ids::{PlayerId, Turn};

fn key(player: u8) -> PlayerKey {
    PlayerKey::from_secret([player + 1; 32])
}

fn roster() -> Roster {
    let seat = |player: u8| Some(Seat { key: key(player).public().to_bytes(), salt: u64::from(player) });
    Roster::new(77, &[seat(0), seat(1), None]).unwrap()
}

/// What players 0 and 1 have done; the number is what differs.
fn opening(number: u8) -> Opening {
    let stream = |player: u8, number: u8| {
        let mut hash = StreamHash::default();
        hash.add(2, &[player, number]);
        hash.shown()
    };
    Opening::new(vec![stream(0, 0), stream(1, number), [0; 16]]).unwrap()
}

fn statement(author: u8, opening: &Opening, checksum: u32) -> Statement {
    let mut statement = Statement {
        author: PlayerId(author),
        turn: Turn(9),
        live: 3,
        own: opening.own(usize::from(author)).unwrap(),
        all: opening.all(9, 3),
        checksum,
        agreed: [6; 8],
        since: None,
        signature: [0; 64],
    };
    statement.sign(&roster(), &key(author));
    statement
}

fn verdict(first: &Statement, second: &Statement, opening: Option<Opening>) -> Result<Verdict, ProofError> {
    let proof = Proof { first: first.clone(), second: second.clone(), opening };
    let again = Proof::from_bytes(&proof.to_bytes()).unwrap();
    assert_eq!(again, proof);
    proof.verify(&roster())
}

#[test]
fn two_accounts_under_one_key_are_a_lie() {
    let (one, other) = (statement(1, &opening(1), 5), statement(1, &opening(2), 5));
    assert_eq!(verdict(&one, &other, None), Ok(Verdict::Liar(PlayerId(1))));
    let checksum = statement(1, &opening(1), 6);
    assert_eq!(verdict(&one, &checksum, None), Ok(Verdict::Liar(PlayerId(1))));
    assert_eq!(verdict(&one, &one, None), Err(ProofError::NoContradiction));
    let mut later = statement(1, &opening(2), 5);
    later.turn = Turn(10);
    later.sign(&roster(), &key(1));
    assert_eq!(verdict(&one, &later, None), Err(ProofError::NotComparable), "the game goes on");
}

#[test]
fn two_players_who_differ_are_divided_and_an_opening_tells_by_which_stream() {
    let (author, receiver) = (statement(1, &opening(1), 5), statement(0, &opening(2), 5));
    let divided = Verdict::Divided([PlayerId(1), PlayerId(0)]);
    let forged = Verdict::Forged { author: PlayerId(1), receiver: PlayerId(0) };
    assert_eq!(verdict(&author, &receiver, None), Ok(divided));
    assert_eq!(verdict(&author, &receiver, Some(opening(2))), Ok(forged));
    assert_eq!(verdict(&author, &receiver, Some(opening(3))), Err(ProofError::WrongOpening));
    let desync = statement(0, &opening(1), 6);
    assert_eq!(verdict(&author, &desync, None), Err(ProofError::NoContradiction), "a desync is no lie");
    // The same account of everything, and another one of a part of it.
    let mut torn = author;
    torn.own = opening(7).own(1).unwrap();
    torn.sign(&roster(), &key(1));
    assert_eq!(
        verdict(&torn, &statement(0, &opening(1), 5), Some(opening(1))),
        Ok(Verdict::Liar(PlayerId(1)))
    );
}

#[test]
fn who_is_dropped_for_one_of_them_proves_nothing() {
    let mut without = statement(0, &opening(2), 5);
    without.live = 1;
    without.all = opening(2).all(9, 1);
    without.sign(&roster(), &key(0));
    assert_eq!(verdict(&statement(1, &opening(1), 5), &without, None), Err(ProofError::NotComparable));
}

#[test]
fn nobody_signs_for_somebody_else_or_for_another_match() {
    let mut forged = statement(1, &opening(2), 5);
    forged.sign(&roster(), &key(0));
    let honest = statement(1, &opening(1), 5);
    assert_eq!(verdict(&honest, &forged, None), Err(ProofError::NotSigned(PlayerId(1))));
    let seat = |player: u8, salt| Some(Seat { key: key(player).public().to_bytes(), salt });
    let again = Roster::new(77, &[seat(0, 0), seat(1, 99), None]).unwrap();
    let proof = Proof { first: honest, second: statement(1, &opening(2), 5), opening: None };
    assert_eq!(proof.verify(&again), Err(ProofError::NotSigned(PlayerId(1))), "another salt, another match");
    assert_ne!(again.fingerprint(), roster().fingerprint());
}

#[test]
fn rosters_are_kept_and_compared() {
    let roster = roster();
    assert_eq!(Roster::from_bytes(&roster.to_bytes()), Ok(roster.clone()));
    assert_eq!((roster.players(), roster.key(PlayerId(2))), (3, None));
    let text = roster.fingerprint().to_string();
    assert_eq!((text.len(), text.split('-').count()), (24, 5), "{text}");
    // Points of small order sign everything.
    assert_eq!(PublicKey::from_bytes([0; 32]), None);
    let mut weak = [0; 32];
    weak[0] = 1;
    assert_eq!(PublicKey::from_bytes(weak), None);
    assert!(!format!("{:?}", key(3)).contains('4'), "the secret is in no log");
}

#[test]
fn other_bytes_are_no_proof() {
    let proof =
        Proof { first: statement(0, &opening(1), 1), second: statement(1, &opening(2), 1), opening: None };
    let bytes = proof.to_bytes();
    for length in 0..bytes.len() {
        assert!(Proof::from_bytes(&bytes[..length]).is_err(), "{length}");
    }
    let longer: Vec<u8> = bytes.iter().copied().chain([0]).collect();
    assert!(Proof::from_bytes(&longer).is_err());
}
