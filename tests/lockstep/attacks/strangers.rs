//! A stranger, with its own address or a forged one: it costs nothing, and cannot be used against anybody.

use super::{bare, config, entries_of, sealed, slow};
use crate::play::{Play as _, assert_unharmed, introduce, introduced, match_at};
use crate::toy::Order;
use testudo_lockstep::packet::{Bye, Hello, Packet, TurnsPacket, link_key, session_mark};
use testudo_lockstep::{
    Entry, Event, Failure, Identity, Instant, PROTOCOL_VERSION, PeerId, PlayerId, Refusal, Session,
    SessionConfig, SessionPhase, Topology,
};

const SESSION: u64 = 77;

pub(super) fn hello_of(session: &Session<Order>, nonce: u64, session_id: u64, content_hash: u64) -> Hello {
    Hello {
        version: PROTOCOL_VERSION,
        nonce,
        session_mark: session_mark(session_id, nonce),
        config_hash: 1,
        content_hash,
        frames_per_second: session.config().frames_per_second as u16,
        identity: Identity::Watcher,
        cookie: 0,
        place: 0,
    }
}

/// With the session id and a false sender address: before, 225 times the bytes went to the victim.
#[test]
fn a_hello_is_answered_with_less_and_nothing_is_kept_until_the_address_is_proven() {
    let now = Instant::from_millis(5_000);
    let mut host =
        Session::<Order>::host(SessionConfig::new(3).simulated().session_id(SESSION).engine_version(0), now)
            .unwrap();
    let (mut asked, mut answered, mut packet) = (0, 0, Vec::new());
    for round in 0..1_000_u32 {
        let hello = Packet::Hello(hello_of(&host, u64::from(round) << 7, SESSION, 0));
        let bytes = sealed(&hello, 0);
        asked += bytes.len();
        host.handle_packet(now, PeerId(100 + round % 300), &bytes);
        while let Some(peer) = host.poll_transmit(now, &mut packet) {
            assert!(peer.0 >= 100 && packet.len() < bytes.len(), "{} for {}", packet.len(), bytes.len());
            answered += packet.len();
        }
    }
    assert!(answered < asked / 2, "{answered} for {asked}");
    assert_eq!(host.link_count(), 0);
    assert_eq!(host.poll_event(), None, "the application hears nothing of it");
    let later = now + testudo_lockstep::Duration::from_secs(1);
    host.handle_timeout(later);
    assert_eq!(host.poll_transmit(later, &mut packet), None, "nor is anything sent later");
}

/// It knows the session id and every address, and sees no packet of the others.
#[test]
fn packets_with_a_false_sender_change_nothing() {
    for topology in [Topology::Host, Topology::Relay, Topology::Mesh] {
        let config = config(3, topology).session_id(SESSION);
        let mut game = match_at(&config, slow(), 4_000);
        let next = game.session(0).next_turn().0 + 2;
        let rest = TurnsPacket { base: next + 1, ..bare(next, 3) };
        let packets = [
            Packet::Bye(Bye::Left),
            Packet::Bye(Bye::Dropped),
            Packet::Bye(Bye::Finished),
            entries_of(2, next, vec![Entry::default()], rest),
        ];
        for to in 0..game.drivers().len() {
            for from in 0..4 {
                for (packet, key) in packets.iter().flat_map(|packet| {
                    [0, SESSION, link_key(SESSION, 0), link_key(SESSION, 1)].map(|key| (packet, key))
                }) {
                    let now = game.now();
                    let bytes = sealed(packet, key);
                    let session = game.session_mut(to);
                    let before = session.stats();
                    session.handle_packet(now, PeerId(from), &bytes);
                    let after = session.stats();
                    assert_eq!(after.packets_received, before.packets_received, "{topology:?}");
                    assert_eq!(after.entries_received, before.entries_received, "{topology:?}");
                }
            }
        }
        assert_unharmed(&mut game, &format!("{topology:?}"));
    }
}

#[test]
fn a_refusal_says_what_was_different() {
    // Without an engine, the content is compared as it is.
    let base = SessionConfig::new(2).simulated().session_id(SESSION).turns(10).engine_version(0);
    let cases = [
        (base.clone().session_id(SESSION + 1), Refusal::Session),
        (base.clone().content_hash(4), Refusal::Content { expected: 0 }),
        (base.clone().engine_version(4), Refusal::Content { expected: 0 }),
        (base.clone().frames_per_second(30), Refusal::FrameRate { expected: 20 }),
    ];
    for (config, expected) in cases {
        let now = Instant::from_millis(1_000);
        let (host, guest) = introduced(base.clone(), config, now);
        assert_eq!(guest.phase(), SessionPhase::Failed(Failure::Refused(expected)));
        assert_eq!(host.link_count(), 0);
    }
    // A forged refusal does not contain the number of the hello.
    let now = Instant::from_millis(1_000);
    let mut guest = Session::<Order>::join(base.clone(), PlayerId(1), PeerId(0), now).unwrap();
    for key in [0, SESSION, 1] {
        let refuse = Packet::Refuse(testudo_lockstep::packet::Refuse { refusal: Refusal::Taken });
        guest.handle_packet(now, PeerId(0), &sealed(&refuse, key));
    }
    assert_eq!(guest.phase(), SessionPhase::Lobby);
    // A guest that starts again at the same address gets its place back.
    let mut host = Session::<Order>::host(base.clone(), now).unwrap();
    introduce(&mut host, &mut guest, PeerId(5), now);
    let later = Instant::from_millis(1_500);
    let mut again = Session::<Order>::join(base, PlayerId(1), PeerId(0), later).unwrap();
    introduce(&mut host, &mut again, PeerId(5), later);
    assert_eq!(host.link_count(), 1);
    let connected =
        std::iter::from_fn(|| again.poll_event()).any(|event| matches!(event, Event::Connected { .. }));
    assert!(connected);
}
