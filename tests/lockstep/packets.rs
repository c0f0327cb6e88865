//! Tests the codec with arbitrary packets and arbitrary bytes.

use proptest::prelude::*;
use testudo_lockstep::packet::{
    Address, BODY_BITS_MAX, Bye, CHUNK_BYTES, Challenge, Chunk, Echo, Frame, Hello, Lobby, LobbyKeys,
    MESSAGE_BYTES_MAX, MESSAGES_HEAD_BITS_MAX, Manifest, Members, Messages, PROFILE_BYTES_MAX, Packet,
    PayloadFormat, Received, Refuse, STATE_BYTES_MAX, Segment, Signed, SignedEnd, TAG_BYTES, Transfer,
    TurnsPacket, WANT_WORDS_MAX, Want, Welcome, block_count, segment_cost,
};
use testudo_lockstep::{
    BitWriter, DecodeError, EndReason, Entry, Extra, Extras, Identity, PACKET_BYTES_MAX, Payload, PlayerId,
    Refusal, Seat, Since, Statement, Turn,
};
use xxhash_rust::xxh3::xxh3_64_with_seed;

const SESSION: u64 = 0x1234_5678_9abc_def0;

fn identity() -> impl Strategy<Value = Identity> {
    prop_oneof![
        (0_u8..16).prop_map(|player| Identity::Player(PlayerId(player))),
        Just(Identity::Watcher),
        Just(Identity::Relay),
    ]
}

fn refusal() -> impl Strategy<Value = Refusal> {
    prop_oneof![
        any::<u16>().prop_map(|expected| Refusal::Version { expected }),
        any::<u64>().prop_map(|expected| Refusal::Config { expected }),
        Just(Refusal::Taken),
        Just(Refusal::Running),
        Just(Refusal::Session),
        Just(Refusal::VotedOut),
        any::<u16>().prop_map(|seconds| Refusal::ComeBackIn { seconds }),
        any::<u64>().prop_map(|expected| Refusal::Content { expected }),
        any::<u16>().prop_map(|expected| Refusal::FrameRate { expected }),
    ]
}

fn payload(format: PayloadFormat) -> BoxedStrategy<Payload> {
    let sized = |bits: u32| {
        prop::collection::vec(any::<u8>(), bits.div_ceil(8) as usize)
            .prop_map(move |bytes| Payload::new(&bytes, bits))
    };
    match format {
        PayloadFormat::Fixed(bits) => sized(bits).boxed(),
        PayloadFormat::Variable(bits_max) => {
            prop_oneof![Just(Payload::none()), (1..=bits_max).prop_flat_map(sized)].boxed()
        }
    }
}

fn extras() -> impl Strategy<Value = Extras> {
    let checksum = prop::option::of(any::<u32>().prop_map(Extra::Checksum));
    let pace = prop::option::of(
        any::<(u16, u16)>().prop_map(|(network_ms, runtime_ms)| Extra::Pace { network_ms, runtime_ms }),
    );
    let pause = prop::option::of(any::<bool>().prop_map(Extra::Pause));
    let speed = prop::option::of((10_u8..=250).prop_map(Extra::Speed));
    let save = prop::option::of(Just(Extra::Save));
    let result = prop::option::of(any::<u32>().prop_map(Extra::Result));
    let slack = prop::option::of(any::<i16>().prop_map(Extra::Slack));
    let back = prop::option::of(any::<u16>().prop_map(Extra::Return));
    let players = prop::collection::vec((0_u8..16).prop_map(PlayerId), 0..=16);
    let votes = prop::option::of(players.prop_map(|players| Extra::Votes(players.into_iter().collect())));
    (checksum, pace, pause, speed, save, result, slack, back, votes)
        .prop_map(|(a, b, c, d, e, f, g, h, i)| [a, b, c, d, e, f, g, h, i].into_iter().flatten().collect())
}

fn stream(format: PayloadFormat) -> impl Strategy<Value = Vec<Entry>> {
    let entry = (payload(format), extras()).prop_map(|(payload, extras)| Entry { payload, extras });
    let runs = prop::collection::vec((entry, 1_usize..5), 1..6);
    let reason = prop_oneof![
        Just(EndReason::Left),
        Just(EndReason::Dropped),
        Just(EndReason::Surrendered),
        Just(EndReason::HandedOver),
    ];
    (runs, prop::option::of(reason)).prop_map(|(runs, end)| {
        let mut entries: Vec<Entry> =
            runs.into_iter().flat_map(|(entry, times)| vec![entry; times]).collect();
        if let (Some(reason), Some(last)) = (end, entries.last_mut()) {
            last.extras.retain(|extra| matches!(extra, Extra::Checksum(_) | Extra::Pace { .. }));
            last.extras.push(Extra::End(reason));
        }
        entries
    })
}

fn turns(format: PayloadFormat) -> impl Strategy<Value = TurnsPacket> {
    let streams = prop::collection::btree_map(0_u8..16, (any::<u16>(), stream(format)), 0..4);
    let acks = prop::collection::vec(any::<u32>(), 0..=16);
    let horizon = prop::option::of(any::<u32>());
    (any::<u32>(), acks, any::<u32>(), horizon, any::<u16>(), signed(), streams)
        .prop_map(|(base, acks, unconfirmed, horizon, frozen, mut signed, streams)| {
            // A peer that speaks is in the match.
            let everybody = ((1_u32 << acks.len()) - 1) as u16;
            signed.statements.retain(|statement| {
                statement.live &= everybody;
                statement.live & (1 << statement.author.0) != 0
            });
            let mut packet = TurnsPacket {
                base,
                acks: acks.into(),
                unconfirmed,
                horizon,
                frozen,
                votes: frozen.rotate_left(3),
                signed,
                segments: Default::default(),
                entries: vec![],
            };
            for (player, (first, entries)) in streams {
                let start = packet.entries.len() as u32;
                packet.entries.extend(entries);
                let entries = start..packet.entries.len() as u32;
                packet.segments.push(Segment { player: PlayerId(player), first: u32::from(first), entries });
            }
            packet
        })
        .prop_filter("larger than any packet", move |packet| {
            let mut writer = BitWriter::new();
            packet.encode(format, &mut writer);
            writer.bytes().len() <= PACKET_BYTES_MAX - TAG_BYTES
        })
}

fn signature() -> impl Strategy<Value = [u8; 64]> {
    any::<[[u8; 32]; 2]>().prop_map(|halves| core::array::from_fn(|at| halves[at / 32][at % 32]))
}

fn signed() -> impl Strategy<Value = Signed> {
    let statement =
        (any::<(u32, u16, [u8; 8], [u8; 12], u32, [u8; 8], Option<(u32, u32)>)>(), 0_u8..16, signature())
            .prop_map(|((turn, live, own, all, checksum, agreed, since), author, signature)| Statement {
                author: PlayerId(author),
                turn: Turn(turn),
                live: live | (1 << author),
                own,
                all,
                checksum,
                agreed,
                since: since.map(|(turn, checksum)| Since { turn: Turn(turn), checksum }),
                signature,
            });
    let received = (any::<u32>(), 1..=u16::MAX).prop_map(|(turn, authors)| Received { turn, authors });
    let end =
        (0_u8..16, any::<u32>(), 0_u8..4, signature()).prop_map(|(player, number, reason, signature)| {
            SignedEnd { player: PlayerId(player), number, reason, signature }
        });
    let lists = (
        prop::collection::vec(received, 0..=4),
        prop::collection::vec(statement, 0..=4),
        prop::collection::vec(end, 0..3),
    );
    (any::<bool>(), lists).prop_map(|(wants_roster, (received, statements, ends))| Signed {
        wants_roster,
        received: received.into(),
        statements: statements.into(),
        ends: ends.into(),
    })
}

fn seat() -> impl Strategy<Value = Seat> {
    any::<([u8; 32], u64)>().prop_map(|(key, salt)| Seat { key, salt })
}

fn keys() -> impl Strategy<Value = Box<LobbyKeys>> {
    let roster = prop::collection::vec(prop::option::of(seat()), 0..=16);
    (prop::option::of(seat()), any::<Option<u64>>(), roster)
        .prop_map(|(own, mark, roster)| Box::new(LobbyKeys { own, mark, roster }))
}

fn hello() -> impl Strategy<Value = Hello> {
    let numbers = any::<(u16, u64, u32, u64, u64, u16, u64, u128)>();
    (numbers, identity()).prop_map(|(numbers, identity)| {
        let (version, nonce, session_mark, config_hash, content_hash, frames_per_second, cookie, place) =
            numbers;
        Hello {
            version,
            nonce,
            session_mark,
            config_hash,
            content_hash,
            frames_per_second,
            identity,
            cookie,
            place,
        }
    })
}

fn transfer() -> impl Strategy<Value = Transfer> {
    let manifest =
        (any::<(u32, u64)>(), 0_u8..16, 1..=STATE_BYTES_MAX, prop::collection::vec(any::<u32>(), 256));
    let manifest = manifest.prop_map(|((turn, hash), source, total, mut blocks)| {
        blocks.truncate(block_count(total) as usize);
        Manifest { turn, source: PlayerId(source), total, hash, blocks }
    });
    let chunk = (any::<(u32, u32, u16)>(), prop::collection::vec(any::<u8>(), 1..=CHUNK_BYTES as usize));
    let chunk = chunk.prop_map(|((turn, index, sent_ms), bytes)| Chunk { turn, index, sent_ms, bytes });
    let want = (any::<(u32, u32, u32, u16, u16)>(), prop::collection::vec(any::<u64>(), 0..=WANT_WORDS_MAX));
    let want = want.prop_map(|((turn, next, received, echo_ms, held_ms), mut have)| {
        while have.last() == Some(&0) {
            have.pop();
        }
        Want { turn, next, received, echo_ms, held_ms, have: have.into_iter().collect() }
    });
    prop_oneof![
        Just(Transfer::Wait),
        manifest.prop_map(Transfer::Manifest),
        chunk.prop_map(Transfer::Chunk),
        want.prop_map(Transfer::Want),
        any::<u32>().prop_map(|turn| Transfer::Refuse { turn }),
        Just(Transfer::Here),
        any::<u32>().prop_map(|not_before| Transfer::Ask { not_before }),
    ]
}

fn messages() -> impl Strategy<Value = Messages> {
    let profile = ((0_u8..16).prop_map(PlayerId), prop::collection::vec(any::<u8>(), 0..=PROFILE_BYTES_MAX));
    let address = prop_oneof![
        (0_u8..16).prop_map(|player| Address::Player(PlayerId(player))),
        Just(Address::Everybody),
        Just(Address::Receiver),
    ];
    let message = (identity(), address, prop::collection::vec(any::<u8>(), 0..=MESSAGE_BYTES_MAX));
    let frame = prop_oneof![
        profile.prop_map(|(player, bytes)| Frame::Profile { player, bytes }),
        message.prop_map(|(from, to, bytes)| Frame::Message { from, to, bytes }),
        (1..=u16::MAX).prop_map(|players| Frame::Undelivered { players }),
    ];
    (any::<(u32, u32)>(), prop::collection::vec(frame, 0..6)).prop_map(|((ack, first), frames)| {
        let mut bits = MESSAGES_HEAD_BITS_MAX;
        let fits = |frame: &Frame| {
            bits += frame.bits();
            bits <= BODY_BITS_MAX
        };
        let frames: Vec<Frame> = frames.into_iter().take_while(fits).collect();
        Messages { ack, first: if frames.is_empty() { 0 } else { first }, frames }
    })
}

fn packet(format: PayloadFormat) -> impl Strategy<Value = Packet> {
    let echo = any::<(u32, u32)>().prop_map(|(sent_us, held_us)| Echo { sent_us, held_us });
    let members = any::<(u16, u16)>().prop_map(|(here, ready)| Members { here, ready: here & ready });
    let lobby = (
        any::<bool>(),
        prop::option::of(members),
        any::<u32>(),
        prop::option::of(echo),
        prop::option::of(any::<u32>()),
    );
    prop_oneof![
        hello().prop_map(Packet::Hello),
        transfer().prop_map(Packet::Transfer),
        any::<u64>().prop_map(|cookie| Packet::Challenge(Challenge { cookie })),
        (identity(), any::<u16>())
            .prop_map(|(identity, connection)| Packet::Welcome(Welcome { identity, connection })),
        refusal().prop_map(|refusal| Packet::Refuse(Refuse { refusal })),
        (lobby, prop::option::of(keys())).prop_map(|((ready, members, sent_us, echo, start_in_us), keys)| {
            Packet::Lobby(Lobby { ready, members, sent_us, echo, start_in_us, keys })
        }),
        messages().prop_map(Packet::Messages),
        turns(format).prop_map(|packet| Packet::Turns(Box::new(packet))),
        prop_oneof![Just(Bye::Finished), Just(Bye::Left), Just(Bye::Dropped)].prop_map(Packet::Bye),
    ]
}

fn format() -> impl Strategy<Value = PayloadFormat> {
    prop_oneof![(1_u32..40).prop_map(PayloadFormat::Fixed), (1_u32..80).prop_map(PayloadFormat::Variable)]
}

/// Encodes without the size limit that the session keeps.
fn body_of(packet: &Packet, format: PayloadFormat) -> Vec<u8> {
    let (mut writer, mut out) = (BitWriter::new(), Vec::new());
    packet.encode(SESSION, format, &mut writer, &mut out);
    out
}

fn with_tag(body: &[u8]) -> Vec<u8> {
    [body, &xxh3_64_with_seed(body, SESSION).to_le_bytes()[..TAG_BYTES]].concat()
}

proptest! {
    #[test]
    fn decode_gives_back_what_was_encoded(
        (format, packet) in format().prop_flat_map(|format| (Just(format), packet(format)))
    ) {
        let bytes = body_of(&packet, format);
        prop_assert_eq!(Packet::decode(&bytes, SESSION, format), Ok(packet));
    }

    #[test]
    fn arbitrary_bytes_decode_to_an_error_or_to_their_own_encoding(
        format in format(),
        kind in 0_u8..16,
        mut body in prop::collection::vec(any::<u8>(), 1..200),
    ) {
        body[0] = (body[0] & 0xf0) | kind;
        let bytes = with_tag(&body);
        if let Ok(packet) = Packet::decode(&bytes, SESSION, format) {
            prop_assert_eq!(body_of(&packet, format), bytes, "not canonical: {:?}", packet);
        }
    }

    #[test]
    fn mutated_packets_decode_to_an_error_or_to_their_own_encoding(
        (format, packet) in format().prop_flat_map(|format| (Just(format), turns(format))),
        flips in prop::collection::vec(any::<u16>(), 1..4),
        cut in 0_usize..4,
    ) {
        let whole = body_of(&Packet::Turns(Box::new(packet)), format);
        let mut body = whole[..whole.len() - TAG_BYTES].to_vec();
        body.truncate(body.len().saturating_sub(cut).max(1));
        for flip in flips {
            let bit = usize::from(flip) % (body.len() * 8);
            body[bit / 8] ^= 1 << (bit % 8);
        }
        let bytes = with_tag(&body);
        if let Ok(packet) = Packet::decode(&bytes, SESSION, format) {
            prop_assert_eq!(body_of(&packet, format), bytes, "not canonical: {:?}", packet);
        }
    }

    #[test]
    fn a_damaged_packet_is_told_by_its_tag(
        (format, packet) in format().prop_flat_map(|format| (Just(format), packet(format))),
        flip in any::<u16>(),
    ) {
        let mut bytes = body_of(&packet, format);
        let bit = usize::from(flip) % (bytes.len() * 8);
        bytes[bit / 8] ^= 1 << (bit % 8);
        prop_assert_eq!(Packet::decode(&bytes, SESSION, format), Err(DecodeError::WrongTag));
    }

    #[test]
    fn the_plan_of_a_segment_bounds_its_bits(
        (format, entries) in format().prop_flat_map(|format| (Just(format), stream(format))),
        bits_max in 0_u32..2_000,
    ) {
        let plan = segment_cost(entries.iter(), format, bits_max);
        prop_assert!(plan.count == 0 || plan.bits <= bits_max);
        let mut packet = TurnsPacket { base: 5_000, ..TurnsPacket::default() };
        let empty = { let mut writer = BitWriter::new(); packet.encode(format, &mut writer); writer.bit_count() };
        packet.entries = entries;
        packet.entries.truncate(plan.count as usize);
        if plan.count > 0 {
            packet.segments.push(Segment { player: PlayerId(0), first: 4_000, entries: 0..plan.count });
            let mut writer = BitWriter::new();
            packet.encode(format, &mut writer);
            // The packet's own count of segments grows by two bits.
            prop_assert!(writer.bit_count() - empty <= plan.bits + 2);
        }
    }
}

#[test]
fn the_longest_input_packet_of_the_articles() {
    // 120 inputs of 6 bits; neighbours differ.
    let format = PayloadFormat::Fixed(6);
    let entry = |n: u8| Entry { payload: Payload::new(&[n % 64], 6), extras: Extras::new() };
    let mut packet =
        TurnsPacket { base: 1_000, acks: [1_000, 998].into_iter().collect(), ..Default::default() };
    let head = {
        let mut writer = BitWriter::new();
        packet.encode(format, &mut writer);
        writer.bit_count()
    };
    packet.entries = (0..120).map(entry).collect();
    packet.segments.push(Segment { player: PlayerId(0), first: 880, entries: 0..120 });
    let mut writer = BitWriter::new();
    packet.encode(format, &mut writer);
    // Inputs 90 bytes, one bit each 15 bytes; the segment's own head is 4 + 1 + 11 + 1 bits and one count.
    assert!(writer.bit_count() - head <= 8 * (90 + 15) + 19, "{} bits", writer.bit_count() - head);
    // Idle: one bit each.
    packet.entries = vec![entry(0); 120];
    packet.encode(format, &mut writer);
    assert!(writer.bit_count() - head <= 6 + 119 + 19, "{} bits", writer.bit_count() - head);
}
