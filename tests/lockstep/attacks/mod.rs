//! A peer that has joined and means harm: it may end its own part in the match, not anybody else's.

mod ahead;
mod controls;
mod ends;
mod forgers;
mod members;
mod mesh;
mod messages;
mod places;
mod returns;
mod roles;
mod rosters;
mod signed;
mod slow;
mod states;
mod strangers;
mod votes;
mod watchers;
mod weather;

use crate::joining::step;
use crate::play::{Play as _, assert_unharmed, introduce, introduced, match_at};
use crate::toy::{Order, Toy, latency, middle_of, toy_match};
use testudo_lockstep::packet::{
    Bye, Echo, Hello, Lobby, Packet, PayloadFormat, Segment, TurnsPacket, Welcome,
};
use testudo_lockstep::simnet::{Delivery, LinkConfig};
use testudo_lockstep::{
    BitWriter, Duration, Entry, Event, Failure, Identity, Instant, PROTOCOL_VERSION, PeerId, PlayerId,
    Session, SessionConfig, SessionPhase, Successor, Topology, VirtualMatch,
};

pub(crate) const FORMAT: PayloadFormat = PayloadFormat::Variable(2_048);

fn config(players: u8, topology: Topology) -> SessionConfig {
    SessionConfig::new(players).simulated().turns(60).topology(topology).drop_after(Duration::from_secs(2))
}

fn slow() -> LinkConfig {
    latency(60)
}

/// The bytes of a packet whose tag is made with this key.
pub(crate) fn sealed(packet: &Packet, key: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    packet.encode(key, FORMAT, &mut BitWriter::new(), &mut bytes);
    bytes
}

pub(crate) fn deliver(game: &mut VirtualMatch<Toy>, to: usize, from: u32, packet: &Packet) {
    // A member knows the key of its own link.
    let key = game.session(to).packet_key(PeerId(from)).unwrap_or(0);
    let now = game.now();
    game.session_mut(to).handle_packet(now, PeerId(from), &sealed(packet, key));
}

/// Plays to this time; `look` sees every packet that arrives, and when and where, before it is handed over.
pub(crate) fn play_watched(
    game: &mut VirtualMatch<Toy>,
    until_ms: u64,
    mut look: impl FnMut(Instant, u32, &Packet),
) {
    while game.now() < Instant::from_millis(until_ms) && !game.is_over() {
        let now = game.now();
        while let Some(Delivery { from, to, bytes, .. }) = game.net_mut().receive(now) {
            let session = game.session_mut(to as usize);
            let key = session.packet_key(PeerId(from)).unwrap_or(0);
            if let Ok(packet) = Packet::decode(&bytes, key, FORMAT) {
                look(now, to, &packet);
            }
            session.handle_packet(now, PeerId(from), &bytes);
        }
        step(game);
    }
}

/// Acknowledgements of everything that is there, and nothing else.
pub(crate) fn bare(next: u32, players: u8) -> TurnsPacket {
    TurnsPacket { base: next, acks: (0..players).map(|_| next).collect(), ..TurnsPacket::default() }
}

/// A packet with entries of one player, the rest of which is this.
pub(crate) fn entries_of(player: u8, first: u32, entries: Vec<Entry>, rest: TurnsPacket) -> Packet {
    let segment = Segment { player: PlayerId(player), first, entries: 0..entries.len() as u32 };
    Packet::Turns(Box::new(TurnsPacket { segments: [segment].into_iter().collect(), entries, ..rest }))
}

/// To whom this player speaks.
fn hearers(config: &SessionConfig, player: u8) -> Vec<usize> {
    match config.topology {
        Topology::Mesh => (0..config.players).filter(|other| *other != player).map(usize::from).collect(),
        _ => vec![middle_of(config) as usize],
    }
}

#[test]
fn a_player_cannot_tell_others_that_they_are_dropped() {
    for (topology, victim, attacker) in
        [(Topology::Host, 0, 2), (Topology::Relay, 3, 2), (Topology::Mesh, 0, 2), (Topology::Mesh, 2, 0)]
    {
        let mut game = match_at(&config(3, topology), slow(), 4_000);
        deliver(&mut game, victim, attacker, &Packet::Bye(Bye::Dropped));
        assert_unharmed(&mut game, &format!("{topology:?}"));
    }
}

#[test]
fn votes_for_drops_count_in_a_mesh_only_and_not_against_those_who_talk() {
    for (topology, attacker) in [(Topology::Relay, 0), (Topology::Host, 1), (Topology::Mesh, 0)] {
        let mut game = match_at(&config(4, topology), slow(), 3_000);
        if topology == Topology::Host {
            // The lowest player must not be the middle.
            game.session_mut(0).resign(Successor::AsConfigured);
        }
        game.play(4_000);
        // Everybody waits for player 3.
        game.net_mut().set_partition(&[3]);
        for step in 0..30 {
            game.play(4_500 + step * 17);
            for victim in 0..game.drivers().len() {
                let next = game.session(victim).next_turn().0;
                let vote = TurnsPacket { frozen: !(1 << attacker), ..bare(next, 4) };
                deliver(&mut game, victim, attacker, &Packet::Turns(Box::new(vote)));
            }
        }
        game.net_mut().set_partition(&[]);
        assert_unharmed(&mut game, &format!("{topology:?}"));
    }
}

#[test]
fn the_last_numbers_of_turns_are_numbers_like_others() {
    for topology in [Topology::Host, Topology::Mesh] {
        let mut game = match_at(&config(3, topology), slow(), 4_000);
        for (base, first, count) in [(u32::MAX, u32::MAX - 1, 1), (u32::MAX, u32::MAX - 4, 4), (0, 0, 1)] {
            let rest = TurnsPacket { base, unconfirmed: u32::MAX, ..bare(u32::MAX, 3) };
            deliver(&mut game, 0, 2, &entries_of(2, first, vec![Entry::default(); count], rest));
        }
        assert_unharmed(&mut game, &format!("{topology:?}"));
    }
}

/// It would make the others keep everything for it.
#[test]
fn who_confirms_nothing_is_dropped() {
    for (topology, drops) in [(Topology::Host, true), (Topology::Relay, true), (Topology::Host, false)] {
        let config = SessionConfig::new(3).simulated().turns(200).topology(topology).window(16);
        let config = if drops { config.drop_after(Duration::from_secs(4)) } else { config.without_drops() };
        let mut game = match_at(&config, LinkConfig::new(), 3_000);
        let middle = if topology == Topology::Relay { 3 } else { 0 };
        game.put_to_sleep(2, Instant::from_millis(2_000_000));
        let first = game.session(0).next_turn().0;
        let over = |game: &VirtualMatch<Toy>| [0, 1].iter().all(|&node| game.session(node).is_over());
        let mut until = 3_000;
        while !over(&game) && until < 200_000 {
            until += 10;
            game.play(until);
            let next = game.session(0).next_turn().0 + 2;
            let rest = TurnsPacket { base: next, ..bare(first, 3) };
            deliver(&mut game, middle, 2, &entries_of(2, next - 3, vec![Entry::default(); 4], rest));
        }
        let states = game.phases();
        if drops {
            assert_eq!(states[..2], [SessionPhase::Finished; 2], "{topology:?}");
            assert_eq!(game.session(middle).stats().drops, 1);
            assert!(game.toy(0).gone[0].1 < first + 30, "after the window, not at the end");
        } else {
            assert_eq!(states[0], SessionPhase::Failed(Failure::ConnectionLost(PeerId(2))));
            assert_eq!(states[1], SessionPhase::Failed(Failure::PeerLeft(PeerId(0))));
        }
    }
}

/// A player who gives no more entries was measured by its entries, and so could confirm nothing for ever.
#[test]
fn who_has_resigned_and_confirms_nothing_is_sent_away() {
    for topology in [Topology::Host, Topology::Relay] {
        let config = config(3, topology).turns(200).window(16).drop_after(Duration::from_secs(4));
        let mut game = match_at(&config, LinkConfig::new(), 2_000);
        game.session_mut(2).resign(Successor::Nobody);
        game.play(4_000);
        let middle = if topology == Topology::Relay { 3 } else { 0 };
        game.put_to_sleep(2, Instant::from_millis(2_000_000));
        let first = game.session(0).next_turn().0;
        let is_sent_away =
            |game: &mut VirtualMatch<Toy>| game.events(middle).contains(&Event::WatcherGone(PeerId(2)));
        let mut until = 4_000;
        while !is_sent_away(&mut game) {
            until += 20;
            assert!(!game.play(until), "{topology:?}: it was kept to the end");
            let packet = TurnsPacket { acks: [first; 3].into_iter().collect(), ..bare(first, 3) };
            deliver(&mut game, middle, 2, &Packet::Turns(Box::new(packet)));
        }
        let next = game.session(0).next_turn().0;
        assert!(
            (first + 16..first + 60).contains(&next),
            "{topology:?}: after the window and the drop time, {first} {next}"
        );
        game.play(60_000);
        let phases = [0, 1].map(|node: usize| game.session(node).phase());
        assert_eq!(phases, [SessionPhase::Finished; 2], "{topology:?}");
    }
}

#[test]
fn a_stranger_is_not_welcomed_as_somebody_who_does_not_exist() {
    let now = Instant::ZERO;
    let config = config(3, Topology::Mesh);
    for identity in [Identity::Player(PlayerId(9)), Identity::Watcher, Identity::Relay] {
        let mut game = toy_match(&config, 0, 1, slow());
        game.session_mut(2).connect(PeerId(0));
        deliver(&mut game, 2, 0, &Packet::Welcome(Welcome { identity, connection: 1 }));
        assert_eq!(game.session_mut(2).poll_event(), None, "{identity:?}");
        assert_unharmed(&mut game, "an answer that made no sense");
    }
    // A watcher has no place in a mesh, where everybody passes on what everybody says.
    let mut member = Session::<Order>::new(config.clone(), Identity::Player(PlayerId(0)), now).unwrap();
    let mut watcher = Session::<Order>::new(config, Identity::Watcher, now).unwrap();
    watcher.connect(PeerId(0));
    introduce(&mut member, &mut watcher, PeerId(5), now);
    assert!(matches!(member.poll_event(), Some(Event::Refused { .. })));
    assert_eq!(member.link_count(), 0);
}

#[test]
fn the_start_does_not_wait_for_a_round_trip_that_somebody_made_up() {
    let mut now = Instant::from_millis(100_000);
    let config = SessionConfig::new(2).simulated().turns(10);
    let (mut host, _) = introduced(config.clone(), config, now);
    let key = host.packet_key(PeerId(1)).unwrap();
    // 59 seconds ago, it says.
    let echo = Some(Echo { sent_us: (now.as_micros() - 59_000_000) as u32, held_us: 0 });
    let lie = sealed(&Packet::Lobby(Lobby { ready: true, echo, ..Lobby::default() }), key);
    let begun = now;
    while host.phase() == SessionPhase::Lobby {
        host.handle_packet(now, PeerId(1), &lie);
        host.handle_timeout(now);
        now += Duration::from_millis(50);
        assert!(now.since(begun) < Duration::from_millis(5_300), "{:?}", host.phase());
    }
    assert_eq!(host.phase(), SessionPhase::Running);
    // The hello of a version that does not exist is answered, as often as there is room.
    let hello = Hello { version: PROTOCOL_VERSION + 1, ..strangers::hello_of(&host, 1, 0, 0) };
    let hello = sealed(&Packet::Hello(hello), 0);
    (100..400).for_each(|stranger| host.handle_packet(now, PeerId(stranger), &hello));
    let answers =
        std::iter::from_fn(|| host.poll_transmit(now, &mut Vec::new())).filter(|peer| peer.0 >= 100).count();
    assert_eq!((answers, host.link_count()), (16, 1));
}
