//! Input mode with the numbers of Glenn Fiedler's articles: six keys, 60 times per second, and the size of packets.

use crate::tally::Tally;
use crate::toy::{Keys, latency, network};

use testudo_lockstep::{
    Action, BitReader, BitWriter, ConfigError, DecodeError, Driver, Duration, Event, Identity, Instant,
    PACKET_BYTES_MAX, PeerId, PlayerId, Session, SessionConfig, SessionPhase, Topology, TurnStatus,
    VirtualMatch,
};

/// Bytes around the inputs: kind, base, acknowledgement, the segment's head, padding and tag.
const HEAD_BYTES: usize = 11;

/// A checksum among the entries: 32 bits, its kind, and how far it is from the one before.
const CHECKSUM_BITS: usize = 32 + 4 + 9;

const FRAME: Duration = Duration::from_micros(16_667);

/// A player and a watcher, both in the match.
fn pair(config: &SessionConfig) -> (Instant, Session<Keys<6>>, Session<Keys<6>>) {
    let mut now = Instant::ZERO;
    let mut player = Session::host(config.clone(), now).unwrap();
    let mut watcher = Session::new(config.clone(), Identity::Watcher, now).unwrap();
    watcher.connect(PeerId(0));
    while player.phase() == SessionPhase::Lobby {
        now += FRAME;
        pass(now, &mut player, PeerId(0), &mut watcher);
        pass(now, &mut watcher, PeerId(1), &mut player);
        player.handle_timeout(now);
        watcher.handle_timeout(now);
    }
    (now, player, watcher)
}

/// Passes on the packets of one peer; returns the length of the longest one.
fn pass(now: Instant, from: &mut Session<Keys<6>>, name: PeerId, to: &mut Session<Keys<6>>) -> usize {
    let (mut packet, mut longest) = (Vec::new(), 0);
    while from.poll_transmit(now, &mut packet).is_some() {
        longest = longest.max(packet.len());
        to.handle_packet(now, name, &packet);
    }
    longest
}

/// The length of the packet after this many frames without any arrival, and what the other side reads from it.
fn packet_after(frames: u32, checksum_interval: u32, keys: impl Fn(u32) -> u8) -> (usize, u32) {
    let config = SessionConfig::input(1, 60)
        .simulated()
        .turns_ahead(0)
        .watchers_min(1)
        .checksum_interval(checksum_interval);
    let (mut now, mut player, mut watcher) = pair(&config);
    let mut lost = Vec::new();
    for frame in 0..frames {
        while player.poll_transmit(now, &mut lost).is_some() {}
        now += FRAME;
        player.handle_timeout(now);
        player.submit(&Keys(keys(frame))).unwrap();
        assert!(matches!(player.begin_turn(now), TurnStatus::Ready(_)));
        player.end_turn(now, u64::from(frame) << 32);
    }
    let length = pass(now, &mut player, PeerId(0), &mut watcher);
    let mut ran = 0;
    watcher.handle_timeout(now);
    while matches!(watcher.begin_turn(now), TurnStatus::Ready(_)) {
        let got: Vec<(PlayerId, u8)> =
            watcher.turn_actions().map(|(player, keys)| (player, keys.0)).collect();
        assert_eq!(got, [(PlayerId(0), keys(ran))]);
        watcher.end_turn(now, u64::from(ran) << 32);
        ran += 1;
    }
    (length, ran)
}

#[test]
fn two_seconds_of_keys_that_change_in_every_frame_are_90_and_15_bytes() {
    let keys = |frame: u32| (frame % 64) as u8;
    let (length, ran) = packet_after(120, 600, keys);
    assert_eq!(ran, 120, "one packet carries it all");
    assert!((90 + 15..=90 + 15 + HEAD_BYTES).contains(&length), "{length} bytes");
    let (length, ran) = packet_after(120, 30, keys);
    let checksums = (4 * CHECKSUM_BITS).div_ceil(8);
    assert!(ran == 120 && length <= 90 + 15 + HEAD_BYTES + checksums, "{length} bytes with checksums");
}

#[test]
fn idle_keys_cost_one_bit_each() {
    for frames in [60, 120, 480] {
        let (length, ran) = packet_after(frames, 600, |_| 5);
        assert_eq!(ran, frames);
        assert!(
            length <= (frames as usize + 5).div_ceil(8) + HEAD_BYTES,
            "{length} bytes for {frames} frames"
        );
    }
}

#[test]
fn a_whole_window_of_changing_keys_fits_one_packet() {
    let (length, ran) = packet_after(512, 30, |frame| (frame % 64) as u8);
    assert!(ran == 512 && length <= PACKET_BYTES_MAX, "{ran} inputs in {length} bytes");
}

/// Peers refused the first entries of each other, and nobody was told why.
#[test]
fn zeros_must_be_an_input() {
    #[derive(Debug)]
    struct FromOne(u64);
    impl Action for FromOne {
        const MAX_BITS: u32 = 6;
        fn encode(&self, out: &mut BitWriter) {
            out.write_bits(self.0, 6);
        }
        fn decode(input: &mut BitReader<'_>) -> Result<Self, DecodeError> {
            match input.read_bits(6)? {
                0 => Err(DecodeError::NotCanonical),
                value => Ok(Self(value)),
            }
        }
    }
    let config = SessionConfig::input(2, 60).simulated();
    let refused = Session::<FromOne>::host(config.clone(), Instant::ZERO).unwrap_err();
    assert_eq!(refused, ConfigError::ZerosAreNoInput);
    assert!(Session::<Keys<6>>::host(config, Instant::ZERO).is_ok());
    let command = SessionConfig::new(2).simulated();
    assert!(Session::<FromOne>::host(command, Instant::ZERO).is_ok());
}

/// Between a player's end and its return, whoever kept the entries that fill the gap let it press nothing, and the others let it do nothing: all differed.
/// A delayed watcher makes the host keep them.
#[test]
fn a_player_that_is_away_presses_nothing_anywhere() {
    for (topology, delay_ms) in [(Topology::Host, 3_000), (Topology::Host, 0), (Topology::Relay, 3_000)] {
        let config = SessionConfig::input(3, 20).simulated().topology(topology).turns_ahead(3).turns(400);
        let config = config.watchers_min(1).watch_delay(Duration::from_millis(delay_ms));
        let middle = if topology == Topology::Relay { 3 } else { 0 };
        let identities = (0..3).map(|player| Identity::Player(PlayerId(player)));
        let identities = identities.chain((topology == Topology::Relay).then_some(Identity::Relay));
        let identities: Vec<Identity> = identities.chain([Identity::Watcher]).collect();
        let start = |node: usize, now| {
            let config = config.clone().place_secret([node as u8 + 1; 16]);
            let mut session = Session::new(config, identities[node], now).unwrap();
            if node != middle {
                session.connect(PeerId(middle as u32));
            }
            Driver::new(Tally::default(), session)
        };
        let drivers = (0..identities.len()).map(|node| start(node, Instant::ZERO)).collect();
        let net = network(1, latency(40));
        let mut game = VirtualMatch::new(drivers, net);
        let play = |game: &mut VirtualMatch<Tally<Keys<6>>>, until: u64| {
            game.run(Instant::from_millis(until), |_, turn, _, session| {
                let _ = session.submit(&Keys((turn.0 * 7 % 63) as u8));
            })
        };
        play(&mut game, 4_000);
        game.drivers_mut()[1] = start(1, game.now());
        assert!(play(&mut game, 100_000));
        let (mut returns, mut ends) = (0, Vec::new());
        for (node, driver) in game.drivers_mut().iter_mut().enumerate() {
            let what = format!("{topology:?}, {delay_ms} ms, node {node}");
            assert_eq!(driver.session().phase(), SessionPhase::Finished, "{what}");
            while let Some(event) = driver.session_mut().poll_event() {
                assert!(!matches!(event, Event::Desync(_)), "{what}: {event:?}");
                returns += u32::from(matches!(event, Event::PlayerReturned { .. }));
            }
            ends.extend((identities[node] != Identity::Relay).then_some(driver.simulation().history));
        }
        assert!(returns >= 4 && ends.iter().all(|end| *end == ends[0]), "{topology:?}: {returns} {ends:?}");
    }
}
