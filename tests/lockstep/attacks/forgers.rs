//! Random forgers: one member, in every role, sends what the dice say with the key of its own link, and signs what the dice say with its own key. Nobody
//! panics, every match of the honest ends, and honest players who finish without an alarm have run the same orders. (In a match without keys the
//! middle of a star can still show different matches to different players: only the first two are asked there.) No honest player is named.

use super::{config, deliver, slow};
use crate::play::Play as _;
use crate::toy::{Toy, key_of, toy_match};
use testudo_lockstep::packet::{
    Address, Bye, Echo, Frame, Lobby, LobbyKeys, Members, Messages, Packet, Received, Segment, Signed,
    SignedEnd, TurnsPacket, Welcome,
};
use testudo_lockstep::{
    Duration, EndReason, Entry, Event, Extra, Identity, Instant, Payload, PlayerId, Roster, Seat,
    SessionPhase, Since, Statement, Topology, Turn, Verdict, VirtualMatch,
};
use testudo_tests::scenes::Generator;

/// Matches of a test run; every second one has keys. More are a matter of patience: `FORGED_MATCHES=3000 cargo test --release -p testudo-tests --test
/// lockstep forgers` takes a minute.
const MATCHES: u64 = 150;

const PLAYERS: u8 = 4;

pub(super) fn below(dice: &mut Generator, end: u32) -> u32 {
    dice.next_u32() % end
}

/// A number near a turn, or anywhere.
pub(super) fn near(dice: &mut Generator, turn: u32) -> u32 {
    match below(dice, 8) {
        0 => dice.next_u32(),
        1 => 0,
        _ => (turn + below(dice, 10)).saturating_sub(4),
    }
}

fn entry(dice: &mut Generator, is_last: bool) -> Entry {
    let payload = match below(dice, 3) {
        0 => Payload::none(),
        1 => Payload::new(&[dice.next_u32() as u8 & 0xfe, 7, 1], 17),
        _ => Payload::new(&dice.next_u32().to_le_bytes(), 1 + below(dice, 32)),
    };
    let mut entry = Entry { payload, ..Entry::default() };
    let mut add = |dice: &mut Generator, one_in: u32, extra: Extra| {
        if below(dice, one_in) == 0 {
            entry.extras.push(extra);
        }
    };
    let (number, percent) = (dice.next_u32(), 10 + below(dice, 241) as u8);
    add(dice, 2, Extra::Checksum(number));
    add(dice, 4, Extra::Pace { network_ms: number as u16, runtime_ms: (number >> 16) as u16 });
    let reason = [EndReason::Left, EndReason::Dropped, EndReason::Surrendered, EndReason::HandedOver]
        [below(dice, 4) as usize];
    if is_last {
        add(dice, 6, Extra::End(reason));
    }
    add(dice, 12, Extra::Speed(percent));
    add(dice, 9, Extra::Result(number));
    add(dice, 9, Extra::Slack(number as i16));
    add(dice, 9, Extra::Return((number % 3) as u16));
    entry
}

/// What rides along in a match with keys: statements about turns near this one, some of them signed by the forger.
fn signed(dice: &mut Generator, turn: u32, forger: Option<u8>, roster: Option<&Roster>) -> Signed {
    let mut signed = Signed { wants_roster: below(dice, 16) == 0, ..Signed::default() };
    for _ in 0..below(dice, 4) {
        let author =
            if below(dice, 3) == 0 { below(dice, u32::from(PLAYERS)) as u8 } else { forger.unwrap_or(0) };
        let live = 15 >> if author < 2 { below(dice, 2) } else { 0 };
        let number = below(dice, 3) as u8;
        let mut statement = Statement {
            author: PlayerId(author),
            turn: Turn(near(dice, turn)),
            live: live | (1 << author),
            own: [number; 8],
            all: [below(dice, 3) as u8; 12],
            checksum: below(dice, 3),
            agreed: [below(dice, 2) as u8; 8],
            since: (below(dice, 4) == 0)
                .then(|| Since { turn: Turn(near(dice, turn)), checksum: below(dice, 3) }),
            signature: [number; 64],
        };
        if let (Some(roster), Some(forger)) = (roster, forger) {
            statement.sign(roster, &key_of(forger));
        }
        signed.statements.push(statement);
    }
    if below(dice, 3) == 0 {
        let received = Received { turn: near(dice, turn), authors: 1 + below(dice, 15) as u16 };
        signed.received.push(received);
    }
    if below(dice, 3) == 0 {
        let player = PlayerId(below(dice, u32::from(PLAYERS)) as u8);
        let (number, reason) = (near(dice, turn), below(dice, 4) as u8);
        signed.ends.push(SignedEnd { player, number, reason, signature: [reason; 64] });
    }
    signed
}

fn seat(dice: &mut Generator) -> Option<Seat> {
    (below(dice, 4) > 0).then(|| Seat {
        key: key_of(below(dice, 6) as u8).public().to_bytes(),
        salt: u64::from(below(dice, 3)),
    })
}

fn lobby(dice: &mut Generator) -> Packet {
    let echo = Some(Echo { sent_us: dice.next_u32(), held_us: dice.next_u32() });
    let start_in_us = Some(dice.next_u32() % 1_000_000);
    let roster = (0..below(dice, 2) * u32::from(PLAYERS)).map(|_| seat(dice)).collect();
    let keys = LobbyKeys { own: seat(dice), mark: Some(u64::from(dice.next_u32())), roster };
    let keys = (below(dice, 2) == 0).then(|| Box::new(keys));
    let here = below(dice, 16) as u16;
    let members = (below(dice, 2) == 0).then(|| Members { here, ready: here & below(dice, 16) as u16 });
    Packet::Lobby(Lobby { ready: true, members, sent_us: dice.next_u32(), echo, start_in_us, keys })
}

fn messages(dice: &mut Generator) -> Packet {
    let frame = |dice: &mut Generator| match below(dice, 3) {
        0 => Frame::Profile {
            player: PlayerId(below(dice, 16) as u8),
            bytes: vec![1; below(dice, 65) as usize],
        },
        1 => Frame::Undelivered { players: 1 + below(dice, 0xffff) as u16 },
        _ => {
            let from = [Identity::Player(PlayerId(below(dice, 4) as u8)), Identity::Watcher]
                [below(dice, 2) as usize];
            let to = match below(dice, 6) {
                0 => Address::Everybody,
                1 => Address::Receiver,
                other => Address::Player(PlayerId(4 * other as u8 - 6)),
            };
            Frame::Message { from, to, bytes: vec![2; below(dice, 300) as usize] }
        }
    };
    let frames: Vec<Frame> = (0..below(dice, 4)).map(|_| frame(dice)).collect();
    let first = if frames.is_empty() { 0 } else { below(dice, 8) };
    Packet::Messages(Messages { ack: below(dice, 6), first, frames })
}

pub(super) fn packet(dice: &mut Generator, turn: u32, forger: Option<u8>, roster: Option<&Roster>) -> Packet {
    match below(dice, 13) {
        3 => messages(dice),
        0 => Packet::Bye([Bye::Finished, Bye::Left, Bye::Dropped][below(dice, 3) as usize]),
        1 => lobby(dice),
        2 => Packet::Welcome(Welcome {
            identity: Identity::Player(PlayerId(below(dice, 5) as u8)),
            connection: below(dice, 3) as u16,
        }),
        _ => {
            let mut turns = TurnsPacket { base: near(dice, turn), ..TurnsPacket::default() };
            turns.acks = (0..PLAYERS).map(|_| near(dice, turn)).collect();
            if roster.is_some() {
                turns.signed = signed(dice, turn, forger, roster);
            }
            turns.horizon = (below(dice, 2) == 0).then(|| near(dice, turn));
            if below(dice, 4) == 0 {
                (turns.frozen, turns.votes) = (dice.next_u32() as u16, dice.next_u32() as u16);
            }
            for player in (0..PLAYERS).map(PlayerId) {
                if below(dice, 2) == 0 {
                    let start = turns.entries.len() as u32;
                    let count = 1 + below(dice, 4);
                    for number in 0..count {
                        let entry = entry(dice, number + 1 == count);
                        turns.entries.push(entry);
                    }
                    let first = near(dice, turn).clamp(1, u32::MAX - 8);
                    turns.segments.push(Segment { player, first, entries: start..start + count });
                }
            }
            Packet::Turns(Box::new(turns))
        }
    }
}

fn play(seed: u64) -> (VirtualMatch<Toy>, Topology, usize) {
    let mut dice = Generator::new(seed);
    let topology = [Topology::Host, Topology::Relay, Topology::Mesh][(seed % 3) as usize];
    let config = config(PLAYERS, topology).turns(40).silence_timeout(Duration::from_secs(5));
    let config = if seed.is_multiple_of(2) { config.signed() } else { config };
    let mut game = toy_match(&config, 0, seed, slow());
    let nodes = game.drivers().len() as u32;
    let forger = below(&mut dice, nodes) as usize;
    game.play(1_500 + u64::from(below(&mut dice, 6_000)));
    for _ in 0..below(&mut dice, 60) {
        game.play_for(u64::from(below(&mut dice, 120)));
        let victim = below(&mut dice, nodes) as usize;
        if victim != forger {
            let session = game.session(victim);
            let (turn, roster) = (session.next_turn().0, session.roster().cloned());
            let own = (forger < usize::from(PLAYERS)).then_some(forger as u8);
            let forged = packet(&mut dice, turn, own, roster.as_ref());
            deliver(&mut game, victim, forger as u32, &forged);
        }
    }
    game.put_to_sleep(forger, Instant::from_millis(4_000_000));
    // At a tenth of the speed a match takes a minute and a half.
    game.play(600_000);
    (game, topology, forger)
}

/// The forger as the others know it.
fn identity_of(node: usize) -> Identity {
    if node < usize::from(PLAYERS) { Identity::Player(PlayerId(node as u8)) } else { Identity::Relay }
}

/// Whether an honest peer was told that something is wrong. Nobody but the forger is named.
fn is_alarmed(event: &Event, forger: Identity, roster: Option<&Roster>, what: &str) -> bool {
    match event {
        Event::Contradiction(told) => {
            let suspects = &told.suspects;
            assert!(suspects.is_empty() || suspects.contains(&forger), "{what}: {told:?}");
            assert_eq!(told.proof.verify(roster.unwrap()), Ok(told.verdict), "{what}");
            if let Verdict::Liar(player) = told.verdict {
                assert_eq!(Identity::Player(player), forger, "{what}");
            }
            true
        }
        Event::Outlier(told) => {
            assert_eq!(Identity::Player(told.player), forger, "{what}");
            true
        }
        Event::Desync(desync) => {
            assert!(roster.is_none() || desync.outlier().is_none(), "{what}");
            true
        }
        _ => false,
    }
}

/// Whether anybody was told that something is wrong.
fn check(seed: u64) -> bool {
    let (mut game, topology, forger) = play(seed);
    let is_middle = topology != Topology::Mesh && forger == if topology == Topology::Relay { 4 } else { 0 };
    let phases = game.phases();
    let is_signed = seed.is_multiple_of(2);
    let mut reference: Option<Toy> = None;
    let mut is_anybody_told = false;
    for (node, driver) in game.drivers_mut().iter_mut().enumerate().filter(|(node, _)| *node != forger) {
        let what = format!("seed {seed} {topology:?} forger {forger}: {node} of {phases:?}");
        assert!(driver.session().is_over(), "{what}");
        let roster = driver.session().roster().cloned();
        let mut is_told = false;
        while let Some(event) = driver.session_mut().poll_event() {
            is_told |= is_alarmed(&event, identity_of(forger), roster.as_ref(), &what);
        }
        is_anybody_told |= is_told;
        let simulates = driver.session().player().is_some();
        let is_done = driver.session().phase() == SessionPhase::Finished && simulates;
        if is_done && !is_told && (is_signed || !is_middle) {
            let toy = driver.simulation().clone();
            let first = reference.get_or_insert_with(|| toy.clone());
            assert_eq!(first.history, toy.history, "{what}");
        }
    }
    is_anybody_told
}

#[test]
fn whatever_a_member_forges_the_match_ends_and_the_honest_agree_or_are_told() {
    let asked = std::env::var("FORGED_MATCHES").ok();
    let matches = asked.map_or(MATCHES, |asked| asked.parse().expect("FORGED_MATCHES is a number"));
    let told = (0..matches).filter(|seed| check(*seed)).count() as u64;
    println!("in {told} of {matches} matches somebody was told");
    assert!(told * 10 > matches, "the forgers forge nothing: {told} of {matches}");
}
