//! A whole match in which a stranger or member sends arbitrary bytes.

use testudo_lockstep::simnet::{LinkConfig, SimNet};
use testudo_lockstep::{
    Duration, Identity, Instant, PeerId, PlayerId, PlayerKey, Session, SessionConfig, SessionPhase, Topology,
    VirtualMatch,
};

use super::first;
use super::packet::sealed;
use super::toy::{Act, Game, peer};

/// More only costs time.
const BYTES_MAX: usize = 4_096;

const PLAYERS: u8 = 3;
const TURNS: u32 = 16;

/// Numbers of kinds of packets (`lockstep/WIRE.md`).
const HELLO_KIND: u8 = 0;
const TURNS_KIND: u8 = 4;
const SESSION_ID: u64 = 7;

/// The turn after which the hostile packets come.
const WARM_TURNS: u32 = 5;

/// The kind of a record that lets time pass, in units of 4 ms. The others hold a packet: its length in two bytes, and its bytes without the tag.
const TIME: u8 = 7;

/// By then every match is over, at a tenth of its speed and with every timeout.
const END: Instant = Instant::from_millis(180_000);

/// The sender of the packets, and the receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Attack {
    /// A peer that has not joined, against the host and another player. Nothing changes at all.
    Stranger,
    /// A player of the star, who sends nothing else, against the host. The others play on, and all their orders run.
    Player,
    /// The host, against a player. The match belongs to the host; the player's session ends.
    Host,
    /// A player of a mesh, against both others. Their sessions end.
    MeshPlayer,
    /// Any peer, before the match has begun.
    Lobby,
    MeshLobby,
}

impl Attack {
    fn is_in_lobby(self) -> bool {
        matches!(self, Attack::Lobby | Attack::MeshLobby)
    }

    /// Whose place in the match the sender has, who sends nothing else.
    fn node(self) -> Option<usize> {
        match self {
            Attack::Player | Attack::MeshPlayer => Some(2),
            Attack::Host => Some(0),
            Attack::Stranger | Attack::Lobby | Attack::MeshLobby => None,
        }
    }
}

const ATTACKS: [Attack; 6] =
    [Attack::Stranger, Attack::Player, Attack::Host, Attack::MeshPlayer, Attack::Lobby, Attack::MeshLobby];

fn config(attack: Attack, has_keys: bool) -> SessionConfig {
    let is_mesh = matches!(attack, Attack::MeshPlayer | Attack::MeshLobby);
    let topology = if is_mesh { Topology::Mesh } else { Topology::Host };
    let config = SessionConfig::new(PLAYERS)
        .simulated()
        .topology(topology)
        .turns(TURNS)
        .frames_per_second(20)
        .frames_per_turn(2)
        .session_id(SESSION_ID)
        .drop_after(Duration::from_secs(1))
        .silence_timeout(Duration::from_secs(3))
        .connect_timeout(Duration::from_secs(5));
    if has_keys { config.signed() } else { config }
}

fn a_match(attack: Attack, has_keys: bool) -> VirtualMatch<Game> {
    let session = |player: u8| {
        let identity = Identity::Player(PlayerId(player));
        let config = config(attack, has_keys);
        let key = PlayerKey::from_secret([player + 1; 32]);
        let config = if has_keys { config.player_key(key) } else { config };
        let mut session = Session::new(config, identity, Instant::ZERO).expect("settings in range");
        let is_mesh = matches!(attack, Attack::MeshPlayer | Attack::MeshLobby);
        let dials = if is_mesh { player } else { player.min(1) };
        (0..dials).for_each(|other| session.connect(PeerId(u32::from(other))));
        peer(session)
    };
    let mut net = SimNet::new(1);
    net.set_default(LinkConfig::new().latency(Duration::from_millis(5)));
    VirtualMatch::new((0..PLAYERS).map(session).collect(), net)
}

/// A player's action of a turn: no other has the same.
fn act(turn: u32, player: u8) -> Act {
    Act::Number((turn * 16 + u32::from(player)) as u16)
}

fn step(game: &mut VirtualMatch<Game>) {
    game.step(&mut |player, turn, _, session: &mut Session<Act>| {
        let _ = session.submit(&act(turn.0, player as u8));
    });
}

/// The packets arrive during the match; afterwards it goes on to its end.
pub fn session(bytes: &[u8]) {
    let Some((choice, rest)) = first(bytes) else { return };
    if rest.len() > BYTES_MAX {
        return;
    }
    let attack = ATTACKS[usize::from(choice) % ATTACKS.len()];
    let has_keys = usize::from(choice) / ATTACKS.len() % 2 == 1;
    let hostile = attack.node();
    let (mut game, delivered, _) = attacked(attack, has_keys, rest);
    while !all_over(&game, hostile) && game.now() < END {
        step(&mut game);
    }
    check(&mut game, attack, hostile, delivered);
}

/// A match in which these records were played, how many packets they were, and how many of them were understood and no hello.
fn attacked(attack: Attack, has_keys: bool, mut rest: &[u8]) -> (VirtualMatch<Game>, u64, u64) {
    let mut game = warmed_up(attack, has_keys);
    let hostile = attack.node();
    if let Some(node) = hostile {
        game.put_to_sleep(node, END + Duration::from_secs(1_000));
    }
    let (mut delivered, mut understood) = (0, 0);
    while let [what, low, tail @ ..] = rest {
        if what % 8 == TIME {
            rest = tail;
            let until = game.now() + Duration::from_millis(u64::from(*low) * 4);
            while game.now() < until && !all_over(&game, hostile) {
                step(&mut game);
            }
            continue;
        }
        let [high, tail @ ..] = tail else { break };
        let length = usize::from(u16::from_le_bytes([*low, *high]));
        let (body, tail) = tail.split_at(length.min(tail.len()));
        rest = tail;
        understood += u64::from(deliver(&mut game, attack, *what, body));
        delivered += 1;
    }
    (game, delivered, understood)
}

/// Who gets the packet of a record of this kind, and from whom.
fn way(attack: Attack, what: u8) -> (usize, u32) {
    match attack {
        Attack::Stranger => (usize::from(what % 2), 100 + u32::from(what / 8)),
        Attack::Player => (0, 2),
        Attack::Host => (1, 0),
        Attack::MeshPlayer => (usize::from(what % 2), 2),
        Attack::Lobby | Attack::MeshLobby => (usize::from(what % 3), u32::from(what / 8)),
    }
}

/// Returns whether it was understood and no hello.
fn deliver(game: &mut VirtualMatch<Game>, attack: Attack, what: u8, body: &[u8]) -> bool {
    let (to, from) = way(attack, what);
    let now = game.now();
    let session = game.drivers_mut()[to].session_mut();
    // The key that a member knows; a hello has none.
    let is_hello = body.first().is_some_and(|first| first & 15 == HELLO_KIND);
    let key = if is_hello { 0 } else { session.packet_key(PeerId(from)).unwrap_or(SESSION_ID) };
    let bytes = sealed(body, key);
    let refused = |session: &Session<Act>| {
        let stats = session.stats();
        stats.packets_malformed + stats.packets_unexpected
    };
    let before = refused(session);
    session.handle_packet(now, PeerId(from), &bytes);
    assert!(session.link_count() <= usize::from(PLAYERS) + 64, "{} links", session.link_count());
    !is_hello && refused(session) == before
}

fn all_over(game: &VirtualMatch<Game>, hostile: Option<usize>) -> bool {
    let honest = game.drivers().iter().enumerate().filter(|(node, _)| Some(*node) != hostile);
    honest.map(|(_, driver)| driver.session()).all(|session| session.is_over())
}

fn check(game: &mut VirtualMatch<Game>, attack: Attack, hostile: Option<usize>, delivered: u64) {
    let states: Vec<SessionPhase> = game.drivers().iter().map(|driver| driver.session().phase()).collect();
    assert!(all_over(game, hostile), "no end: {attack:?} {states:?}");
    for driver in game.drivers_mut() {
        let session = driver.session_mut();
        let events = std::iter::from_fn(|| session.poll_event()).count();
        assert!(events <= 256, "{events} events");
    }
    let honest: &[u8] = match attack {
        Attack::Stranger => &[0, 1, 2],
        Attack::Player => &[0, 1],
        Attack::Host | Attack::MeshPlayer | Attack::Lobby | Attack::MeshLobby => return,
    };
    let expected: Vec<(u32, u8, Act)> = (2..TURNS)
        .flat_map(|turn| honest.iter().map(move |&player| (turn, player, act(turn - 2, player))))
        .collect();
    let whole = &game.drivers()[0].simulation().log;
    for &player in honest {
        let driver = &game.drivers()[usize::from(player)];
        assert_eq!(
            driver.session().phase(),
            SessionPhase::Finished,
            "{attack:?}: player {player} of {states:?}"
        );
        let ran = &driver.simulation().log;
        assert_eq!(ran, whole, "player {player}");
        let of_the_honest: Vec<_> =
            ran.iter().filter(|(_, author, _)| honest.contains(author)).cloned().collect();
        assert_eq!(of_the_honest, expected, "player {player}");
        if attack == Attack::Stranger {
            let stats = driver.session().stats();
            let noticed = stats.packets_malformed + stats.packets_unexpected;
            assert!(noticed <= delivered && stats.entries_invalid == 0, "{stats:?}");
        }
    }
}

/// A match at the moment in which the packets come.
fn warmed_up(attack: Attack, has_keys: bool) -> VirtualMatch<Game> {
    let mut game = a_match(attack, has_keys);
    while !attack.is_in_lobby() && game.drivers()[0].session().next_turn().0 < WARM_TURNS {
        step(&mut game);
    }
    game
}

/// Packets as they cross the network, one after the other, for each attack without keys and with them.
pub(super) fn session_seeds() -> Vec<Vec<u8>> {
    let attacks = ATTACKS.len() as u8;
    let seed = |choice: u8| {
        [&[choice][..], &recorded(ATTACKS[usize::from(choice % attacks)], choice >= attacks)].concat()
    };
    (0..2 * attacks).map(seed).collect()
}

/// What a peer sends in a match from that moment on, with some time in between. What goes to somebody whom no record reaches is left out.
fn recorded(attack: Attack, has_keys: bool) -> Vec<u8> {
    let mut game = warmed_up(attack, has_keys);
    let author = attack.node().unwrap_or(2);
    // A stranger sends what a player sends, from another address.
    let is_way = |what: u8, to: PeerId| {
        let (receiver, sender) = way(attack, what);
        receiver == to.0 as usize && (attack == Attack::Stranger || sender == author as u32)
    };
    let (mut records, mut packet) = (Vec::new(), Vec::new());
    let mut has_turns = false;
    while records.len() < BYTES_MAX - 2_500 && !game.is_over() {
        step(&mut game);
        // Whatever is due a moment later; the network sees it again.
        let later = game.now() + Duration::from_millis(60);
        for _ in 0..2 {
            let session = game.drivers_mut()[author].session_mut();
            let Some(to) = session.poll_transmit(later, &mut packet) else { break };
            let what = (0..=u8::MAX).find(|what| what % 8 != TIME && is_way(*what, to));
            let Some(what) = what else { continue };
            let body = &packet[..packet.len() - 4];
            has_turns |= body[0] & 15 == TURNS_KIND;
            records.push(what);
            records.extend_from_slice(&(body.len() as u16).to_le_bytes());
            records.extend_from_slice(body);
        }
        records.extend_from_slice(&[TIME, 5]);
    }
    assert!(attack.is_in_lobby() || has_turns, "{attack:?}: the match is not played");
    let understood = attacked(attack, has_keys, &records).2;
    let enough = if attack == Attack::Stranger { 0..1 } else { 5..u64::MAX };
    assert!(enough.contains(&understood), "{attack:?}: {understood} packets are understood");
    records
}
