//! A member that comes back again and again: the others stand for a tenth of the time at most.

use super::{bare, deliver, entries_of, slow};
use crate::joining::{come_back, config, start};
use crate::play::Play as _;
use crate::toy::{Toy, middle_of};
use testudo_lockstep::packet::{Bye, Packet, TurnsPacket};
use testudo_lockstep::{
    Duration, Entry, Event, Failure, Instant, PlayerId, Proof, Refusal, SessionConfig, SessionPhase,
    SignedBefore, Statement, Successor, Topology, Verdict, VirtualMatch,
};

const LIAR: u32 = 3;
const DROP_S: u64 = 8;

fn settings(topology: Topology) -> SessionConfig {
    config(4, topology).turns(4_000).drop_after(Duration::from_secs(DROP_S))
}

fn come_again(game: &mut VirtualMatch<Toy>, config: &SessionConfig) {
    come_back(game, config, LIAR as u8);
    // A session that is over has nothing to do; the new one has, at once.
    let now = game.now();
    game.put_to_sleep(LIAR as usize, now);
}

/// It is silent until it is dropped, comes back at once, and so on. The others stood for more than half of the time.
#[test]
fn who_is_dropped_again_and_again_waits_before_it_comes_back() {
    for topology in [Topology::Host, Topology::Relay] {
        let config = settings(topology);
        let mut game = start(&config, 0, 1, slow());
        game.play(5_000);
        let (mut longest, mut refused, mut awake_at) = (0, 0, game.now());
        while game.now() < Instant::from_millis(605_000) {
            let now = game.now();
            let session = game.session_mut(LIAR as usize);
            if let SessionPhase::Failed(Failure::Refused(Refusal::ComeBackIn { seconds })) = session.phase() {
                (longest, refused) = (longest.max(seconds), refused + 1);
            }
            if now >= awake_at && session.is_over() {
                come_again(&mut game, &config);
                awake_at = now + Duration::from_secs(1);
            } else if now >= awake_at && session.pause(false).is_ok() {
                // It plays, and may ask for something.
                let wakes = now + Duration::from_secs(DROP_S + 2);
                game.put_to_sleep(LIAR as usize, wakes);
                // Then it needs a moment to hear that it was dropped.
                awake_at = wakes + Duration::from_secs(1);
            }
            game.play(now.as_micros() / 1_000 + 500);
        }
        // Three thousand turns in ten minutes. It may cost four drop times at first, and then a tenth.
        let turns = game.session(0).next_turn().0;
        let least = (600 - 60 - 4 * DROP_S - 2 * DROP_S) * 5;
        assert!(u64::from(turns) >= least, "{topology:?}: {turns} turns of {least}, refused {refused} times");
        assert!(refused > 100 && longest > 20, "{topology:?}: refused {refused} times, {longest} s");
        assert!(u64::from(longest) <= 60 * DROP_S, "{topology:?} {longest}");
        assert_eq!(game.session(1).phase(), SessionPhase::Running, "{topology:?}");
    }
}

/// One code in two programs, which take the place from each other.
#[test]
fn a_place_that_changes_hands_all_the_time_is_closed_for_a_while() {
    for topology in [Topology::Host, Topology::Relay] {
        let config = settings(topology);
        let mut game = start(&config, 0, 1, slow());
        game.play(5_000);
        game.events(middle_of(&config) as usize);
        let mut came = 0;
        for round in 0..300 {
            come_again(&mut game, &config);
            game.play(6_000 + 1_000 * round);
            came += game
                .events(middle_of(&config) as usize)
                .iter()
                .filter(|event| matches!(event, Event::Connected { .. }))
                .count();
        }
        // At two seconds each: fifteen or so at first, then one in twenty seconds.
        assert!((10..=36).contains(&came), "{topology:?}: came {came} times in five minutes");
        let turns = game.session(0).next_turn().0;
        assert!(turns > 300 * 5 * 9 / 10, "{topology:?}: {turns}");
    }
}

/// Players that crash now and then, and come back at once.
#[test]
fn who_crashes_once_a_minute_does_not_wait() {
    for topology in [Topology::Host, Topology::Relay] {
        let config = settings(topology);
        let mut game = start(&config, 0, 1, slow());
        for crash in 1..8 {
            game.play(crash * 60_000);
            come_again(&mut game, &config);
            game.play(crash * 60_000 + 8_000);
            let back = game.toy(0).returned.len() as u64;
            assert_eq!(back, crash, "{topology:?}: {:?}", game.session(LIAR as usize).phase());
        }
    }
}

/// A player that acknowledged everything but the end of another one's stream kept that one out for the rest of the match; one that had resigned, and one that
/// came back itself, did so after those who play were lost for it.
#[test]
fn who_does_not_acknowledge_the_end_of_a_player_keeps_nobody_out() {
    for (topology, liar) in [Topology::Host, Topology::Relay].into_iter().flat_map(|topology| {
        ["plays", "has resigned", "has finished", "comes back"].map(|liar| (topology, liar))
    }) {
        let what = format!("{topology:?}: who {liar}");
        let config = settings(topology).join_timeout(Duration::from_secs(20));
        let mut game = start(&config, 0, 1, slow());
        let middle = middle_of(&config) as usize;
        game.play(5_000);
        match liar {
            "has resigned" | "has finished" => {
                game.session_mut(LIAR as usize).resign(Successor::Nobody);
                game.play_for(1_000);
            }
            "comes back" => {
                come_back(&mut game, &config, LIAR as u8);
                game.play_until(1, 60_000, |game| !game.toy(LIAR as usize).loaded.is_empty());
            }
            _ => {}
        }
        let (known, begun) = (game.session(0).next_turn().0, game.now().as_micros() / 1_000);
        // From now on it is played here: it lacks the last entries of player 2.
        game.put_to_sleep(LIAR as usize, Instant::from_millis(9_000_000));
        game.net_mut().set_partition(&[2]);
        for step in 0..1_200 {
            game.play(begun + 50 * step);
            if step == 400 {
                game.net_mut().set_partition(&[]);
                come_back(&mut game, &config, 2);
            }
            let from = game.session(1).next_turn().0.saturating_sub(1).max(2);
            let acks = [from, from, known.saturating_sub(2), from].into_iter().collect();
            let rest = TurnsPacket { acks, ..bare(from, 4) };
            let packet = match liar {
                // It says so, and nothing else.
                "has finished" if step > 0 => continue,
                "has finished" => Packet::Bye(Bye::Finished),
                "plays" => entries_of(3, from, vec![Entry::default(); 4], rest),
                _ => Packet::Turns(Box::new(rest)),
            };
            deliver(&mut game, middle, LIAR, &packet);
        }
        let back = game.toy(1).returned.iter().filter(|(player, _)| *player == 2).count();
        assert_eq!(back, 1, "{what}");
        assert!(game.session(0).next_turn().0 > known + 100, "{what}");
    }
}

/// Whoever was alone while the other one's program was started again sent the rest of the match at once, and the relay took it.
#[test]
fn who_is_alone_behind_a_relay_for_a_moment_does_not_play_the_match_to_its_end() {
    let config = config(2, Topology::Relay).turns(1_000);
    let mut game = start(&config, 0, 1, slow());
    game.play(5_000);
    come_back(&mut game, &config, 0);
    for step in 0..60 {
        game.play(5_000 + 20 * step);
        let mut first = game.session(1).next_turn().0;
        while first < 1_000 {
            let count = (1_000 - first).min(400);
            let rest = TurnsPacket { base: first + count, ..bare(1_000, 2) };
            deliver(&mut game, 2, 1, &entries_of(1, first, vec![Entry::default(); count as usize], rest));
            first += count;
        }
    }
    game.play(60_000);
    assert_eq!(game.session(2).phase(), SessionPhase::Running);
    assert_eq!(game.session(0).phase(), SessionPhase::Running, "it is back");
}

const VICTIM: u32 = 2;

/// A signed match as it is at this time; the same one each time.
fn signed_match_at(ms: u64, topology: Topology) -> VirtualMatch<Toy> {
    let config = settings(topology).signed();
    let mut game = start(&config, 0, 1, slow());
    for player in 0..config.players {
        come_back(&mut game, &config.clone().entropy([player; 16]), player);
    }
    game.play(ms);
    game
}

/// The victim comes back to a match that its middle has kept as it was, and in which all others are gone.
fn come_back_at(
    ms: u64,
    signed: Option<SignedBefore>,
    topology: Topology,
) -> (VirtualMatch<Toy>, Vec<Statement>) {
    let mut game = signed_match_at(30_000, topology);
    game.net_mut().set_partition(&[1, VICTIM, LIAR]);
    game.play(ms);
    game.net_mut().set_partition(&[1, LIAR]);
    let config = settings(topology).signed().entropy([77; 16]);
    let config = signed.into_iter().fold(config, SessionConfig::signed_before);
    come_back(&mut game, &config, VICTIM as u8);
    let mut said = Vec::new();
    for second in 1..30 {
        game.play(ms + 1_000 * second);
        said.extend(own_statements(&game));
    }
    (game, said)
}

fn own_statements(game: &VirtualMatch<Toy>) -> Vec<Statement> {
    let statements = game.session(VICTIM as usize).statements();
    statements.filter(|said| said.author == PlayerId(VICTIM as u8)).cloned().collect()
}

/// The host said that the player was dropped, and showed it a part of the match again that the player had signed. All were shown two accounts of one turn
/// with the signature of one who had never lied.
#[test]
fn whoever_comes_back_signs_no_turn_a_second_time() {
    for topology in [Topology::Host, Topology::Relay] {
        let game = signed_match_at(40_000, topology);
        let session = game.session(VICTIM as usize);
        let (roster, signed) = (session.roster().unwrap().clone(), session.signed_before());
        let before = own_statements(&game);
        assert!(before.last().unwrap().turn.0 > 180);
        let lies = |said: &[Statement]| {
            let mut pairs = said.iter().flat_map(|second| before.iter().map(move |first| (first, second)));
            pairs.any(|(first, second)| {
                let proof = Proof { first: first.clone(), second: second.clone(), opening: None };
                matches!(proof.verify(&roster), Ok(Verdict::Liar(_)))
            })
        };
        // A program that has forgotten what it has signed.
        let (game, said) = come_back_at(30_000, None, topology);
        assert_eq!(game.toy(0).returned.len(), 1);
        assert!(lies(&said));
        // And one that knows it.
        let (game, said) = come_back_at(30_000, signed, topology);
        let phase = game.session(VICTIM as usize).phase();
        assert_eq!(phase, SessionPhase::Failed(Failure::SignedAlready));
        assert!(said.is_empty() && signed.unwrap().to_bytes()[32..] != [0; 4]);
        // To turns that it has not signed it comes back, and signs.
        let (game, said) = come_back_at(45_000, signed, topology);
        assert_eq!(game.toy(0).returned.len(), 1);
        assert!(!said.is_empty() && !lies(&said));
        let kept = game.session(VICTIM as usize).signed_before();
        assert_eq!(kept.map(|kept| SignedBefore::from_bytes(&kept.to_bytes())), kept);
    }
}
