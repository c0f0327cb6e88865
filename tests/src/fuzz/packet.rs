//! The decoder of packets.

use testudo_lockstep::packet::{
    Address, Bye, Challenge, Chunk, Echo, Frame, Hello, Lobby, LobbyKeys, Manifest, Members, Messages,
    Packet, PayloadFormat, Received, Refuse, Segment, Signed, SignedEnd, Transfer, TurnsPacket, Want,
    Welcome,
};
use testudo_lockstep::{
    BitWriter, EndReason, Entry, Extra, Identity, PACKET_BYTES_MAX, PROTOCOL_VERSION, Payload, PlayerId,
    Refusal, Seat, Since, Statement, Turn,
};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::first;

/// A packet's body with the tag that its receiver expects.
pub(super) fn sealed(body: &[u8], session_id: u64) -> Vec<u8> {
    let tag = (xxh3_64_with_seed(body, session_id) as u32).to_le_bytes();
    [body, &tag].concat()
}

fn format_of(byte: u8) -> PayloadFormat {
    match byte % 4 {
        0 => PayloadFormat::Variable(2_048),
        1 => PayloadFormat::Variable(u32::from(byte) + 1),
        2 => PayloadFormat::Fixed(u32::from(byte / 4) + 1),
        _ => PayloadFormat::Fixed(4_096),
    }
}

/// Any bytes decode to an error or to a packet that encodes to the very same bytes.
pub fn packet(bytes: &[u8]) {
    let Some((choice, body)) = first(bytes) else { return };
    let format = format_of(choice);
    let _ = Packet::decode(body, 0, format);
    let bytes = sealed(body, 7);
    let Ok(packet) = Packet::decode(&bytes, 7, format) else { return };
    assert!(bytes.len() <= PACKET_BYTES_MAX);
    let mut again = Vec::new();
    packet.encode(7, format, &mut BitWriter::new(), &mut again);
    assert_eq!(again, bytes, "{packet:?}");
}

/// Everything that rides with the entries of a match with keys.
fn signed() -> Signed {
    let statement = |author, live| Statement {
        author: PlayerId(author),
        turn: Turn(40),
        live,
        own: [1; 8],
        all: [2; 12],
        checksum: 77,
        agreed: [6; 8],
        since: Some(Since { turn: Turn(7), checksum: 9 }),
        signature: [9; 64],
    };
    let end = SignedEnd { player: PlayerId(1), number: 43, reason: 0, signature: [8; 64] };
    Signed {
        wants_roster: true,
        received: [Received { turn: 35, authors: 6 }].into_iter().collect(),
        statements: [statement(0, 7), statement(1, 3)].into_iter().collect(),
        ends: [end].into_iter().collect(),
    }
}

/// One packet of each kind.
pub(super) fn packet_seeds() -> Vec<Vec<u8>> {
    let mut end = Entry::default();
    end.extras.extend([Extra::Checksum(77), Extra::End(EndReason::Left)]);
    let mut entries = vec![Entry { payload: Payload::new(&[9, 1], 12), ..Entry::default() }; 3];
    entries[1].extras.extend([
        Extra::Pace { network_ms: 90, runtime_ms: 16 },
        Extra::Pause(true),
        Extra::Speed(50),
        Extra::Save,
        Extra::Return(2),
    ]);
    entries.push(end);
    let segments = [(0, 0..2), (1, 2..4)].map(|(player, entries)| Segment {
        player: PlayerId(player),
        first: 40,
        entries,
    });
    let turns = TurnsPacket {
        base: 44,
        acks: [42, 43, 41].into_iter().collect(),
        unconfirmed: 1,
        horizon: Some(50),
        frozen: 4,
        votes: 8,
        signed: signed(),
        segments: segments.into_iter().collect(),
        entries,
    };
    let echo = Some(Echo { sent_us: 5, held_us: 6 });
    let seat = Some(Seat { key: [3; 32], salt: 4 });
    let keys = Some(Box::new(LobbyKeys { own: seat, mark: Some(5), roster: vec![seat, None, seat] }));
    let members = Some(Members { here: 7, ready: 3 });
    let frames = vec![
        Frame::Profile { player: PlayerId(2), bytes: b"Ada".to_vec() },
        Frame::Message { from: Identity::Watcher, to: Address::Everybody, bytes: b"hello".to_vec() },
        Frame::Message { from: Identity::Relay, to: Address::Receiver, bytes: Vec::new() },
        Frame::Undelivered { players: 5 },
    ];
    let messages = Messages { ack: 4, first: 6, frames };
    let packets = [
        Packet::Hello(Hello {
            version: PROTOCOL_VERSION,
            nonce: 1,
            session_mark: 2,
            config_hash: 3,
            content_hash: 4,
            frames_per_second: 20,
            identity: Identity::Watcher,
            cookie: 5,
            place: 6,
        }),
        Packet::Challenge(Challenge { cookie: 6 }),
        Packet::Lobby(Lobby { ready: true, members, sent_us: 9, echo, start_in_us: Some(100_000), keys }),
        Packet::Messages(messages),
        Packet::Turns(Box::new(turns)),
        Packet::Transfer(Transfer::Wait),
        Packet::Transfer(Transfer::Manifest(Manifest {
            turn: 9,
            source: PlayerId(1),
            total: 100_000,
            hash: 7,
            blocks: vec![1, 2],
        })),
        Packet::Transfer(Transfer::Chunk(Chunk { turn: 9, index: 3, sent_ms: 4, bytes: vec![5; 20] })),
        Packet::Transfer(Transfer::Want(Want {
            turn: 9,
            next: 3,
            received: 5,
            echo_ms: 4,
            held_ms: 1,
            have: [6].into_iter().collect(),
        })),
        Packet::Transfer(Transfer::Refuse { turn: 9 }),
        Packet::Transfer(Transfer::Here),
        Packet::Transfer(Transfer::Ask { not_before: 8 }),
        Packet::Welcome(Welcome { identity: Identity::Player(PlayerId(1)), connection: 3 }),
        Packet::Refuse(Refuse { refusal: Refusal::ComeBackIn { seconds: 60 } }),
        Packet::Bye(Bye::Finished),
    ];
    let body = |packet: Packet| {
        let mut bytes = Vec::new();
        packet.encode(7, format_of(0), &mut BitWriter::new(), &mut bytes);
        [&[0], &bytes[..bytes.len() - 4]].concat()
    };
    packets.into_iter().map(body).collect()
}
