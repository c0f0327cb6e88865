//! Which keys the players of a signed match have: all know the same before the first turn.

use super::signed::{TOPOLOGIES, signed};
use super::{config, deliver, slow};
use crate::play::{Play as _, introduced};
use crate::toy::{key_of, terrible, toy_match};
use testudo_lockstep::packet::{Echo, Lobby, LobbyKeys, Packet};
use testudo_lockstep::{Event, Failure, Instant, PlayerId, Roster, Seat, SessionPhase, Topology};

#[test]
fn all_have_the_same_roster_before_the_first_turn() {
    for topology in TOPOLOGIES {
        let watchers = if topology == Topology::Mesh { 0 } else { 2 };
        let mut game = toy_match(&signed(4, topology), watchers, 1, terrible());
        game.play(6_000);
        let fingerprint = game.session(0).roster().unwrap().fingerprint();
        for node in 0..game.drivers().len() {
            let told = game.events(node);
            let at = |wanted: fn(&Event) -> bool| told.iter().position(wanted);
            let roster = at(|event| matches!(event, Event::Roster(_)));
            if game.session(node).player().is_some() {
                assert!(roster.unwrap() < at(|event| matches!(event, Event::Started)).unwrap());
            }
            assert_eq!(game.session(node).roster().unwrap().fingerprint(), fingerprint, "{node}");
        }
    }
}

/// The host sends a guest another key than a player has sent. (The guest notices its own key. Another player's is noticed only by people who compare
/// fingerprints.)
#[test]
fn whose_key_was_exchanged_does_not_play() {
    for exchanged in [1, 2] {
        let mut game = toy_match(&signed(3, Topology::Host), 0, 1, slow());
        game.play_until(10, 10_000, |game| game.session(0).roster().is_some());
        let honest = game.session(0).roster().unwrap().clone();
        let mut roster: Vec<Option<Seat>> = honest.seats().collect();
        roster[exchanged] = Some(Seat { key: key_of(9).public().to_bytes(), salt: 9 });
        let told = Roster::new(0, &roster).unwrap();
        assert_ne!(told.fingerprint(), honest.fingerprint());
        let keys = Some(Box::new(LobbyKeys { own: roster[0], mark: Some(told.mark()), roster }));
        let lobby = Lobby { ready: true, keys, ..Lobby::default() };
        deliver(&mut game, 1, 0, &Packet::Lobby(lobby));
        let guest = game.session(1);
        if exchanged == 1 {
            assert_eq!(guest.phase(), SessionPhase::Failed(Failure::OtherRoster));
        } else {
            assert_eq!(guest.roster().unwrap().fingerprint(), told.fingerprint());
        }
    }
}

/// A player of a mesh sends one key to one peer and another to the other, and tells both that it has the same roster.
#[test]
fn a_mesh_begins_when_all_have_been_told_the_same_keys() {
    for lies in [false, true] {
        let mut game = toy_match(&signed(3, Topology::Mesh), 0, 1, slow());
        game.play_until(5, 3_000, |game| game.session(0).present_players().contains(&PlayerId(2)));
        game.net_mut().set_link(2, 0, slow().loss_ppm(1_000_000));
        while game.now() < Instant::from_millis(3_000) {
            game.play_for(20);
            let told = game.session(1).roster().and_then(|roster| roster.seats().nth(2)?);
            let own = if lies { Some(Seat { key: key_of(9).public().to_bytes(), salt: 9 }) } else { told };
            let mark = game.session(0).roster().map(Roster::mark);
            let keys = Some(Box::new(LobbyKeys { own, mark, roster: Vec::new() }));
            let echo = Some(Echo { sent_us: game.now().as_micros() as u32, held_us: 0 });
            deliver(&mut game, 0, 2, &Packet::Lobby(Lobby { ready: true, echo, keys, ..Lobby::default() }));
        }
        let started = |node: usize| game.session(node).phase() == SessionPhase::Running;
        assert_eq!([0, 1].map(started), [!lies; 2]);
    }
}

#[test]
fn a_match_without_keys_and_one_with_keys_are_two() {
    let key = |player: u8| signed(2, Topology::Host).player_key(key_of(player));
    let plain = config(2, Topology::Host);
    for (host, guest, fits) in
        [(key(0), key(1), true), (key(0), plain.clone(), false), (plain.clone(), key(1), false)]
    {
        let (_, guest) = introduced(host, guest, Instant::ZERO);
        assert_eq!(guest.phase() == SessionPhase::Lobby, fits);
    }
    let no_key = testudo_lockstep::Session::<crate::toy::Order>::host(plain.signed(), Instant::ZERO);
    assert_eq!(no_key.unwrap_err(), testudo_lockstep::ConfigError::NoKey);
}
