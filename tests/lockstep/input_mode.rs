//! Input mode with the numbers of Glenn Fiedler's articles: six keys, 60 times per second, and the size of packets.

use crate::foreseen::Foreseen;
use crate::tally::Tally;
use crate::toy::{Keys, game_match, latency, peer};

use testudo_lockstep::predict::Predict;
use testudo_lockstep::{
    Action, BitReader, BitWriter, ConfigError, DecodeError, Duration, Event, Identity, Instant,
    PACKET_BYTES_MAX, PeerId, PlayerId, Session, SessionConfig, SessionPhase, Simulation, SubmitError,
    Topology, TurnStatus, VirtualMatch,
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
        let mut game = game_match(&config, &Tally::default(), 1, 1, latency(40));
        let start = |game: &mut VirtualMatch<_>, player: u8| {
            let (config, identity) =
                (config.clone().place_secret([player + 1; 16]), Identity::Player(PlayerId(player)));
            game.drivers_mut()[usize::from(player)] = peer(&config, identity, Tally::default(), game.now());
        };
        (0..3).for_each(|player| start(&mut game, player));
        let play = |game: &mut VirtualMatch<Tally<Keys<6>>>, until: u64| {
            game.run(Instant::from_millis(until), |_, turn, _, session| {
                let _ = session.submit(&Keys((turn.0 * 7 % 63) as u8));
            })
        };
        play(&mut game, 4_000);
        start(&mut game, 1);
        assert!(play(&mut game, 100_000));
        let (mut returns, mut ends) = (0, Vec::new());
        for (node, driver) in game.drivers_mut().iter_mut().enumerate() {
            let what = format!("{topology:?}, {delay_ms} ms, node {node}");
            assert_eq!(driver.session().phase(), SessionPhase::Finished, "{what}");
            while let Some(event) = driver.session_mut().poll_event() {
                assert!(!matches!(event, Event::Desync(_)), "{what}: {event:?}");
                returns += u32::from(matches!(event, Event::PlayerReturned { .. }));
            }
            ends.extend(
                (driver.session().identity() != Identity::Relay).then_some(driver.simulation().history),
            );
        }
        assert!(returns >= 4 && ends.iter().all(|end| *end == ends[0]), "{topology:?}: {returns} {ends:?}");
    }
}

/// Notes in how many turns after its submission each input of player 1 runs. An input names its turn.
#[derive(Clone, Debug, Default)]
struct Delays {
    turn: u32,
    seen: Vec<u32>,
}

/// The input that is submitted when this turn begins; zeros are no input.
fn named(turn: u32) -> Keys<8> {
    Keys((turn % 255) as u8 + 1)
}

impl Simulation for Delays {
    type Action = Keys<8>;

    fn apply(&mut self, player: PlayerId, input: &Keys<8>) {
        if player == PlayerId(1) && input.0 != 0 {
            self.seen.push((self.turn + 255 + 1 - u32::from(input.0)) % 255);
        }
    }

    fn step(&mut self, _: u32) {
        self.turn += 1;
    }

    fn checksum(&mut self) -> u64 {
        self.turn.into()
    }

    fn save_state(&mut self, out: &mut Vec<u8>) -> bool {
        out.extend_from_slice(&self.turn.to_le_bytes());
        true
    }

    fn load_state(&mut self, bytes: &[u8]) -> bool {
        bytes.try_into().map(|bytes| self.turn = u32::from_le_bytes(bytes)).is_ok()
    }
}

/// What a player submitted between the news of its return and the return waited in its queue, and everything behind it for the rest of the match: each input
/// ran a second late.
#[test]
fn after_a_return_inputs_run_as_soon_as_before() {
    for topology in [Topology::Host, Topology::Relay] {
        let config = SessionConfig::input(3, 60).simulated().topology(topology).turns(3_600);
        let config = config.drop_after(Duration::from_secs(2));
        let mut game = game_match(&config, &Delays::default(), 0, 1, latency(10));
        let come_back = |game: &mut VirtualMatch<Delays>| {
            let config = config.clone().place_secret([7; 16]);
            let identity = Identity::Player(PlayerId(1));
            game.drivers_mut()[1] = peer(&config, identity, Delays::default(), game.now());
        };
        come_back(&mut game);
        let (mut refused, mut longest) = (0, 0);
        for round in 1..4 {
            game.run(Instant::from_millis(8_000 * round), |node, turn, _, session| {
                longest = longest.max(session.queued_actions());
                let given = session.submit(&named(turn.0));
                refused += u32::from(node == 1 && given == Err(SubmitError::NotPlaying));
            });
            if round < 3 {
                come_back(&mut game);
                // It does not know yet that the match runs.
                game.drivers_mut()[1].session_mut().submit(&named(0)).unwrap();
            }
        }
        let seen = &game.drivers()[0].simulation().seen;
        // Eight seconds, and some of the time after each return.
        assert!(seen.len() > 800, "{topology:?}: {}", seen.len());
        let ahead = config.turns_ahead;
        let late = seen.iter().filter(|delay| **delay != ahead).count();
        assert_eq!((late, longest), (0, 0), "{topology:?}: {seen:?}");
        assert!(refused >= 60, "{topology:?}: {refused}");
    }
}

/// Nobody has an entry in the first turns: the prediction held zeros there, and every match began with a wrong turn and a correction.
#[test]
fn the_turns_before_the_first_inputs_are_known() {
    #[derive(Clone, Debug, Default)]
    struct Held(u64, u32);
    impl Simulation for Held {
        type Action = Keys<6>;
        fn apply(&mut self, player: PlayerId, keys: &Keys<6>) {
            self.0 = self.0.wrapping_mul(31) + u64::from(player.0) * 64 + u64::from(keys.0) + 1;
        }
        fn step(&mut self, _: u32) {
            self.1 += 1;
        }
        fn checksum(&mut self) -> u64 {
            self.0 << 32 | u64::from(self.1)
        }
    }
    impl Predict for Held {}
    let config = SessionConfig::input(2, 60).simulated().turns(120);
    let mut match_ = Foreseen::new(game_match(&config, &Held::default(), 0, 1, latency(30)), |_| true);
    match_.run(|_, _, _, session| {
        let _ = session.submit(&Keys(0));
    });
    for predictor in match_.predictors.iter().flatten() {
        let stats = predictor.stats();
        assert!(stats.turns_right > 100, "{stats:?}");
        assert_eq!((stats.turns_wrong, stats.corrections), (0, 0), "{stats:?}");
    }
}
