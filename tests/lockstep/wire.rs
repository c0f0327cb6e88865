//! The bytes of every kind of packet, and `WIRE.md` that specifies them: code, golden bytes and document are held together here.

use std::collections::BTreeSet;

use testudo_lockstep::packet::{
    Address, BLOCKS_MAX, Bye, CHUNK_BYTES, Challenge, Chunk, Echo, Frame, Hello, Lobby, LobbyKeys,
    MESSAGE_BYTES_MAX, Manifest, Members, Messages, PACKET_BYTES_MAX, PROFILE_BYTES_MAX, Packet,
    PayloadFormat, Received, Refuse, STATE_BYTES_MAX, Segment, Signed, Transfer, TurnsPacket, WANT_WORDS_MAX,
    Want, Welcome, link_key, session_mark,
};
use testudo_lockstep::service::agreement::GAME_BYTES_MAX;
use testudo_lockstep::service::code::JoinCode;
use testudo_lockstep::{
    BitWriter, DecodeError, EndReason, Entry, Extra, Identity, Instant, NoAction, PROTOCOL_VERSION, Payload,
    PlayerId, PlayerKey, Refusal, Roster, SavedMatch, Seat, Session, SessionConfig, Since, Statement, Turn,
    TurnStatus,
};
use testudo_tests::fuzz::TARGETS;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

const DOCUMENT: &str = include_str!("../../lockstep/WIRE.md");
const SESSION: u64 = 0x1122_3344_5566_7788;
const NONCE: u64 = 0x1020_3040_5060_7080;
const COMMAND: PayloadFormat = PayloadFormat::Variable(2_048);
const INPUT: PayloadFormat = PayloadFormat::Fixed(6);

fn entry(payload: Payload, extras: &[Extra]) -> Entry {
    Entry { payload, extras: extras.iter().copied().collect() }
}

fn turns(base: u32, acks: &[u32], segments: &[(u8, u32, Vec<Entry>)]) -> Packet {
    let mut packet = TurnsPacket { base, acks: acks.into(), ..TurnsPacket::default() };
    for (player, first, entries) in segments {
        let start = packet.entries.len() as u32;
        packet.entries.extend(entries.iter().cloned());
        let entries = start..packet.entries.len() as u32;
        packet.segments.push(Segment { player: PlayerId(*player), first: *first, entries });
    }
    Packet::Turns(Box::new(packet))
}

/// Two players whose secrets are bytes of 1 and of 2.
fn roster() -> Roster {
    let seat = |number: u8| {
        Some(Seat { key: PlayerKey::from_secret([number; 32]).public().to_bytes(), salt: u64::from(number) })
    };
    Roster::new(SESSION, &[seat(1), seat(2)]).unwrap()
}

/// The first player's word on turn 9.
fn statement() -> Statement {
    let mut statement = Statement {
        author: PlayerId(0),
        turn: Turn(9),
        live: 3,
        own: [1, 2, 3, 4, 5, 6, 7, 8],
        all: [12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1],
        checksum: 0xdead_beef,
        agreed: [9, 8, 7, 6, 5, 4, 3, 2],
        since: Some(Since { turn: Turn(4), checksum: 0x0123_4567 }),
        signature: [0; 64],
    };
    statement.sign(&roster(), &PlayerKey::from_secret([1; 32]));
    assert!(statement.is_signed(&roster()));
    statement
}

/// One packet of each kind, and of each shape of the turns packet.
fn examples() -> Vec<(&'static str, PayloadFormat, Packet)> {
    let said = |extras: &[Extra]| entry(Payload::none(), extras);
    let idle = |checksum| said(&[Extra::Checksum(checksum)]);
    let from_first = |extras: &[Extra]| turns(6, &[6, 6], &[(0, 5, vec![said(extras)])]);
    let refuse = |refusal| Packet::Refuse(Refuse { refusal });
    let input = |bits| entry(Payload::new(&[bits], 6), &[]);
    let order = Payload::new(&[0x5a, 0x01], 9);
    let controls = [Extra::Pace { network_ms: 95, runtime_ms: 50 }, Extra::Pause(true)];
    let nonce = NONCE;
    let hello = Hello {
        version: PROTOCOL_VERSION,
        nonce,
        session_mark: session_mark(SESSION, nonce),
        config_hash: 0x0102_0304_0506_0708,
        content_hash: 9,
        frames_per_second: 20,
        identity: Identity::Player(PlayerId(2)),
        cookie: 0x0a0b_0c0d_0e0f_0001,
        place: 0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10,
    };
    let voted = [PlayerId(1)].into_iter().collect();
    let votes =
        TurnsPacket { base: 6, acks: [6, 6, 6][..].into(), frozen: 2, votes: 6, ..TurnsPacket::default() };
    let votes = Packet::Turns(Box::new(votes));
    let horizon =
        TurnsPacket { base: 6, acks: [6, 6][..].into(), horizon: Some(14), ..TurnsPacket::default() };
    let echo = Some(Echo { sent_us: 1_000, held_us: 2_000 });
    let received = [Received { turn: 4, authors: 2 }].into_iter().collect();
    let signed = Signed { received, statements: [statement()].into_iter().collect(), ..Signed::default() };
    let signed = TurnsPacket { base: 11, acks: [11, 10][..].into(), signed, ..TurnsPacket::default() };
    let own = Some(Seat { key: PlayerKey::from_secret([2; 32]).public().to_bytes(), salt: 2 });
    let keys = Some(Box::new(LobbyKeys { own, mark: Some(roster().mark()), roster: Vec::new() }));
    let with_keys = Lobby { ready: true, sent_us: 1, keys, ..Lobby::default() };
    let (members, start_in_us) = (Some(Members { here: 7, ready: 5 }), Some(150_000));
    let lobby = Lobby { ready: true, members, sent_us: 0x0a0b_0c0d, echo, start_in_us, keys: None };
    let manifest = Manifest {
        turn: 258,
        source: PlayerId(1),
        total: 65_539,
        hash: 0x0102_0304_0506_0708,
        blocks: vec![0xdead_beef, 0xcafe_f00d],
    };
    let told = |from, to, bytes: &[u8]| Frame::Message { from, to, bytes: bytes.to_vec() };
    let frames = vec![
        Frame::Profile { player: PlayerId(1), bytes: b"Ada".to_vec() },
        told(Identity::Player(PlayerId(2)), Address::Everybody, b"hi"),
        told(Identity::Watcher, Address::Receiver, b"?"),
        told(Identity::Relay, Address::Player(PlayerId(0)), b""),
        Frame::Undelivered { players: 9 },
    ];
    let messages = Messages { ack: 3, first: 7, frames };
    let chunk = Chunk { turn: 258, index: 64, sent_ms: 513, bytes: vec![7, 8, 9] };
    let have = [0b101].into_iter().collect();
    let want = Want { turn: 258, next: 2, received: 4, echo_ms: 513, held_ms: 3, have };
    vec![
        ("hello", COMMAND, Packet::Hello(hello)),
        ("challenge", COMMAND, Packet::Challenge(Challenge { cookie: hello.cookie })),
        ("welcome", COMMAND, Packet::Welcome(Welcome { identity: Identity::Relay, connection: 2 })),
        ("refuse", COMMAND, refuse(Refusal::Version { expected: PROTOCOL_VERSION })),
        ("lobby", COMMAND, Packet::Lobby(lobby)),
        ("turns-acks", COMMAND, turns(12, &[12, 11, 12], &[])),
        ("turns-idle", COMMAND, turns(12, &[12, 12], &[(0, 10, vec![idle(0xdead_beef), idle(0xcafe_f00d)])])),
        (
            "turns-order",
            COMMAND,
            turns(9, &[9, 9], &[(1, 8, vec![entry(order, &controls)]), (0, 7, vec![idle(1), idle(2)])]),
        ),
        (
            "turns-input",
            INPUT,
            turns(70_000, &[70_000, 69_995], &[(0, 69_996, [5, 5, 9, 9].map(input).to_vec())]),
        ),
        ("turns-end", COMMAND, turns(6, &[6, 4], &[(1, 3, vec![said(&[Extra::End(EndReason::Dropped)])])])),
        ("turns-speed", COMMAND, from_first(&[Extra::Speed(150)])),
        ("turns-save", COMMAND, from_first(&[Extra::Save])),
        ("turns-result", COMMAND, from_first(&[Extra::Result(7), Extra::Slack(-25)])),
        ("turns-votes", COMMAND, votes),
        ("turns-signed", COMMAND, Packet::Turns(Box::new(signed))),
        ("lobby-keys", COMMAND, Packet::Lobby(with_keys)),
        (
            "turns-return",
            COMMAND,
            turns(6, &[6, 9], &[(1, 9, vec![said(&[Extra::Return(2)]), Entry::default()])]),
        ),
        ("turns-vote", COMMAND, from_first(&[Extra::Votes(voted)])),
        ("come-back", COMMAND, refuse(Refusal::ComeBackIn { seconds: 60 })),
        ("turns-star", COMMAND, Packet::Turns(Box::new(horizon))),
        ("bye", COMMAND, Packet::Bye(Bye::Finished)),
        ("wait", COMMAND, Packet::Transfer(Transfer::Wait)),
        ("manifest", COMMAND, Packet::Transfer(Transfer::Manifest(manifest))),
        ("chunk", COMMAND, Packet::Transfer(Transfer::Chunk(chunk))),
        ("want", COMMAND, Packet::Transfer(Transfer::Want(want))),
        ("refuse-state", COMMAND, Packet::Transfer(Transfer::Refuse { turn: 258 })),
        ("here", COMMAND, Packet::Transfer(Transfer::Here)),
        ("ask", COMMAND, Packet::Transfer(Transfer::Ask { not_before: 257 })),
        ("messages", COMMAND, Packet::Messages(messages)),
    ]
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

fn listing() -> String {
    let mut writer = BitWriter::new();
    let mut bytes = Vec::new();
    let mut lines = String::new();
    for (name, format, packet) in examples() {
        let key = match packet {
            Packet::Hello(_) => 0,
            Packet::Challenge(_) | Packet::Refuse(_) => NONCE,
            _ => link_key(SESSION, NONCE),
        };
        packet.encode(key, format, &mut writer, &mut bytes);
        assert_eq!(Packet::decode(&bytes, key, format), Ok(packet), "{name}");
        lines += &format!("{name:<12} {}\n", hex(&bytes));
    }
    lines += &format!("{:<12} {}\n", "saved", hex(&saved_match()));
    lines += &format!("{:<12} {}\n", "fingerprint", roster().fingerprint());
    lines
}

/// One player of default settings, saved at turn 5 with a change of speed on its way.
fn saved_match() -> Vec<u8> {
    let now = Instant::ZERO;
    let mut session =
        Session::<NoAction>::single(SessionConfig::new(1).simulated().engine_version(13), now).unwrap();
    session.handle_timeout(now);
    for turn in 0..7 {
        match turn {
            3 => {
                session.save();
            }
            4 => session.set_speed(150).unwrap(),
            _ => {}
        }
        assert_eq!(session.begin_turn(now), TurnStatus::Ready(Turn(turn)));
        session.end_turn(now, 0x0123_4567_89ab_cdef);
    }
    let saved = session.take_saved().unwrap();
    assert_eq!(SavedMatch::from_bytes(&saved.to_bytes()), Ok(saved.clone()));
    saved.to_bytes()
}

/// Nothing failed when a new kind had neither an example nor a seed of the fuzz target. Its number is no longer refused as unknown.
#[test]
fn every_kind_of_packet_has_an_example_and_a_seed() {
    let key = link_key(SESSION, 1);
    let (mut writer, mut bytes) = (BitWriter::new(), Vec::new());
    let mut kinds = [[false; 16]; 2];
    for (_, format, packet) in examples() {
        packet.encode(key, format, &mut writer, &mut bytes);
        kinds[0][usize::from(bytes[0] & 15)] = true;
    }
    let (_, _, seeds) = TARGETS.iter().find(|(name, ..)| *name == "packet").unwrap();
    for seed in seeds() {
        // Before the packet stands how its payloads are read.
        kinds[1][usize::from(seed[1] & 15)] = true;
    }
    let known = (0..16).map(|kind| {
        let tag = (xxh3_64_with_seed(&[kind], key) as u32).to_le_bytes();
        let read = Packet::decode(&[&[kind][..], &tag].concat(), key, COMMAND);
        read != Err(DecodeError::UnknownKind(kind))
    });
    let known: Vec<bool> = known.collect();
    assert_eq!(kinds.map(Vec::from), [known.clone(), known.clone()], "examples and seeds of kinds 0 to 15");
    let count = known.iter().filter(|is_known| **is_known).count();
    let kinds = DOCUMENT.lines().find(|line| line.starts_with("| kind |")).unwrap();
    assert!(kinds.ends_with(&format!("; {count}..15 reserved |")), "{kinds}");
    assert!(DOCUMENT.contains(&format!("Protocol version {PROTOCOL_VERSION}.")));
}

#[test]
fn golden_bytes_of_every_packet() {
    insta::assert_snapshot!(listing());
}

#[test]
fn the_document_holds_the_golden_bytes() {
    let code = JoinCode::new(&["203.0.113.5:7777".parse().unwrap()], [1; 32], [2; 16]).unwrap();
    for line in listing().lines().chain([&*format!("join-code    {code}")]) {
        assert!(DOCUMENT.contains(line), "WIRE.md lacks this line (in its list of examples):\n{line}");
    }
}

/// A search through all files had changed digits of the number from which most tags of the examples follow.
#[test]
fn the_document_names_the_numbers_from_which_the_examples_follow() {
    for name in [format!("Session id `{SESSION:#018x}`"), format!("nonce `{NONCE:#018x}`")] {
        assert!(DOCUMENT.contains(&name), "WIRE.md lacks: {name}");
    }
    let (version, content) = (PROTOCOL_VERSION.into(), xxh3_64_with_seed(&[0; 8], 13));
    let budgets = [16 << 32 | 100, 600_000, 0x0123_4567_89ab_cdef];
    let numbers =
        [&[version, 1, 0, content, 20, 4, 2, 0, 0, 1, 256, 1, 1, 0, 0, 0, 0], &budgets[..]].concat();
    let shown = numbers.iter().map(|number| match number {
        0..=0xffff_ffff => number.to_string(),
        _ => format!("{number:#x}"),
    });
    let shown = format!("settings     {}\n", shown.collect::<Vec<_>>().join(" "));
    assert!(DOCUMENT.contains(&shown), "WIRE.md lacks: {shown}");
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    assert_eq!(saved_match()[2..10], xxh3_64(&bytes).to_le_bytes(), "the settings hash of the save");
}

/// The turns about which a player alone signs statements, by the shape of turns.
fn due_turns(frames_per_turn: u32, frames_per_second: u32, until: u32) -> Vec<u32> {
    let config = SessionConfig::new(1).frames_per_turn(frames_per_turn).frames_per_second(frames_per_second);
    let config = config.player_key(PlayerKey::from_secret([1; 32]));
    let now = Instant::ZERO;
    let mut session = Session::<NoAction>::single(config, now).unwrap();
    session.handle_timeout(now);
    let mut due = BTreeSet::new();
    for turn in 0..=until {
        assert_eq!(session.begin_turn(now), TurnStatus::Ready(Turn(turn)));
        due.extend(session.statements().map(|statement| statement.turn.0));
        session.end_turn(now, 0);
    }
    due.into_iter().collect()
}

#[test]
fn the_document_names_the_turns_in_which_statements_are_due() {
    let list = |due: Vec<u32>| due.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    let (long, short) = (list(due_turns(4, 20, 20)), list(due_turns(1, 60, 250)));
    let shown =
        format!("With turns of four frames at 20 per second: in the turns {long}; of one at 60: in {short}.");
    assert!(DOCUMENT.split_whitespace().collect::<Vec<_>>().join(" ").contains(&shown), "{shown}");
}

/// A number with commas, as documents have it.
fn with_commas(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        _ => format!("{},{:03}", with_commas(number / 1_000), number % 1_000),
    }
}

/// It said that a receiver ignores chunks from the 514th on after the first missing one.
#[test]
fn the_document_names_the_limits() {
    let limits = [
        ("A packet has at most ", PACKET_BYTES_MAX as u64, " bytes"),
        ("a part of ", CHUNK_BYTES.into(), " bytes"),
        ("words (at most ", WANT_WORDS_MAX as u64, ")"),
        ("ignores chunks more than ", 64 * WANT_WORDS_MAX as u64, " after the first missing one"),
        ("the number of bytes, 1..", STATE_BYTES_MAX.into(), ";"),
        ("total / ", BLOCKS_MAX.into(), " rounded up"),
        ("length `u(7)` at most ", PROFILE_BYTES_MAX as u64, ","),
        ("length `g(5)` at most ", MESSAGE_BYTES_MAX as u64, ";"),
        ("the length of the game's part, at most ", GAME_BYTES_MAX as u64, ","),
    ];
    let document = DOCUMENT.split_whitespace().collect::<Vec<_>>().join(" ");
    for (before, limit, after) in limits {
        let shown = format!("{before}{}{after}", with_commas(limit));
        assert!(document.contains(&shown), "WIRE.md lacks: {shown}");
    }
}
