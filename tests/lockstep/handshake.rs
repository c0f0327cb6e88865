//! The handshake, and the common start.

use crate::play::{Play as _, assert_agreed};
use crate::toy::{Order, Toy, latency, network, peer, toy_match};
use testudo_lockstep::simnet::{LinkConfig, SimNet};
use testudo_lockstep::{
    Duration, Event, Failure, Identity, Instant, PeerId, PlayerId, PlayerSet, Refusal, Session,
    SessionConfig, SessionPhase, Topology, VirtualMatch,
};

fn pair(host: SessionConfig, client: SessionConfig, link: LinkConfig) -> VirtualMatch<Toy> {
    let peers = [(host, 0), (client, 1)];
    let drivers = peers.map(|(config, player)| {
        peer(&config, Identity::Player(PlayerId(player)), Toy::default(), Instant::ZERO)
    });
    VirtualMatch::new(drivers.into(), network(1, link))
}

#[test]
fn nobody_there_ends_in_the_connect_timeout() {
    let config = SessionConfig::new(2).simulated().turns(10);
    let dead = LinkConfig::new().loss_ppm(1_000_000);
    let mut game = pair(config.clone(), config, dead);
    assert!(game.idle(11_000));
    let missing = Failure::PlayersMissing { players: PlayerSet::from_iter([PlayerId(1)]), watchers: 0 };
    for (driver, failure) in game.drivers().iter().zip([missing, Failure::ConnectTimeout]) {
        assert_eq!(driver.session().phase(), SessionPhase::Failed(failure));
        assert_eq!(driver.frame().0, 0);
    }
}

/// It waited for ever and said nothing: a guest that was connected to nobody, a host whose settings name a relay, and a relay whose settings do not.
#[test]
fn a_session_that_nobody_can_reach_says_so() {
    let config = |topology| SessionConfig::new(2).simulated().turns(10).topology(topology);
    let cases = [
        (Topology::Host, Identity::Player(PlayerId(1))),
        (Topology::Host, Identity::Watcher),
        (Topology::Host, Identity::Relay),
        (Topology::Relay, Identity::Player(PlayerId(0))),
        (Topology::Relay, Identity::Watcher),
    ];
    for (topology, identity) in cases {
        let mut session = Session::<Order>::new(config(topology), identity, Instant::ZERO).unwrap();
        session.handle_timeout(Instant::ZERO);
        let due = session.poll_timeout();
        assert!(
            due.is_some_and(|due| due <= Instant::from_millis(11_000)),
            "{topology:?} {identity:?} {due:?}"
        );
        session.handle_timeout(Instant::from_millis(11_000));
        let failed = SessionPhase::Failed(Failure::ConnectTimeout);
        assert_eq!(session.phase(), failed, "{topology:?} {identity:?}");
    }
}

#[test]
fn other_content_is_refused_before_the_first_turn() {
    let config = SessionConfig::new(2).simulated().turns(10);
    let mut game = pair(config.clone(), config.content_hash(5), LinkConfig::new());
    game.idle(11_000);
    let client = game.session(1).phase();
    assert!(matches!(client, SessionPhase::Failed(Failure::Refused(Refusal::Content { .. }))), "{client:?}");
    let host = game.session_mut(0);
    assert!(matches!(host.poll_event(), Some(Event::Refused { refusal: Refusal::Content { .. }, .. })));
    let missing = Failure::PlayersMissing { players: PlayerSet::from_iter([PlayerId(1)]), watchers: 0 };
    assert_eq!(host.phase(), SessionPhase::Failed(missing), "nobody else came");
    assert_eq!(missing.to_string(), "did not connect in time: player 1");
    let nobody = Failure::PlayersMissing { players: PlayerSet::default(), watchers: 0 };
    assert_eq!(nobody.to_string(), "the players were not all ready in time");
}

/// The host gave up in the third of a second between "everybody is ready" and the first turn, when the others knew already when that would be.
#[test]
fn a_start_that_is_fixed_comes_although_the_time_for_the_lobby_is_over() {
    let match_with = |lobby: Duration| {
        let config = SessionConfig::new(2).simulated().turns(10).lobby_timeout(lobby);
        let link = latency(100);
        let mut game = pair(config.clone(), config, link);
        while game.session(0).phase() == SessionPhase::Lobby {
            game.step(&mut |_, _, _, _| {});
        }
        let left = game.now();
        assert!(game.idle(60_000));
        (left, [0, 1].map(|node| game.session(node).phase()))
    };
    let (begins, _) = match_with(Duration::from_secs(10));
    let begins = begins.as_micros() / 1_000;
    // It is fixed a round trip and 100 ms before.
    for lobby in (begins - 280..begins).step_by(5) {
        let (_, phases) = match_with(Duration::from_millis(lobby));
        assert_eq!(phases, [SessionPhase::Finished; 2], "{lobby} of {begins} ms");
    }
    let (_, phases) = match_with(Duration::from_millis(begins - 400));
    let nobody = Failure::PlayersMissing { players: PlayerSet::default(), watchers: 0 };
    assert_eq!(phases, [nobody, Failure::NeverBegan(PeerId(0))].map(SessionPhase::Failed));
}

/// A match tolerates a host that stands for a minute. In the lobby nothing is lost.
#[test]
fn a_host_that_is_gone_before_the_start_is_noticed_within_20_s() {
    let minutes = Duration::from_secs(600);
    let config = SessionConfig::new(3).simulated().turns(10).lobby_timeout(minutes).connect_timeout(minutes);
    let config = config.silence_timeout(Duration::from_secs(80));
    let mut game = pair(config.clone(), config, LinkConfig::new());
    game.idle(5_000);
    game.put_to_sleep(0, Instant::from_millis(1_000_000));
    game.idle(24_000);
    assert_eq!(game.session(1).phase(), SessionPhase::Lobby);
    game.idle(25_100);
    let lost = SessionPhase::Failed(Failure::ConnectionLost(PeerId(0)));
    assert_eq!(game.session(1).phase(), lost);
}

#[test]
fn a_place_is_taken_once() {
    let config = SessionConfig::new(3).simulated().turns(10);
    let drivers = [0, 1, 1]
        .map(|player| peer(&config, Identity::Player(PlayerId(player)), Toy::default(), Instant::ZERO));
    let mut game = VirtualMatch::new(drivers.into(), SimNet::new(1));
    game.idle(1_000);
    assert_eq!(game.session(2).phase(), SessionPhase::Failed(Failure::Refused(Refusal::Taken)));
    assert_eq!(game.session(1).phase(), SessionPhase::Lobby);
}

/// The last bye of a peer that had not heard the welcome had the tag of a hello. When the two before it were lost, the place stayed taken.
#[test]
fn each_bye_of_a_guest_that_has_not_heard_the_welcome_frees_its_place() {
    let config = SessionConfig::new(2).simulated().turns(10);
    for lost in 0..3 {
        let now = Instant::ZERO;
        let mut host = Session::<Order>::host(config.clone(), now).unwrap();
        let mut guest = Session::<Order>::join(config.clone(), PlayerId(1), PeerId(0), now).unwrap();
        let (mut packet, mut welcome) = (Vec::new(), Vec::new());
        // A hello, the challenge, and a hello with its cookie.
        guest.poll_transmit(now, &mut packet).unwrap();
        host.handle_packet(now, PeerId(1), &packet);
        host.poll_transmit(now, &mut packet).unwrap();
        guest.handle_packet(now, PeerId(0), &packet);
        guest.poll_transmit(now, &mut packet).unwrap();
        host.handle_packet(now, PeerId(1), &packet);
        host.poll_transmit(now, &mut welcome).unwrap();
        assert!(host.knows(PeerId(1)), "the host has let it in, and the welcome is lost");
        guest.leave();
        for copy in 0..3 {
            assert_eq!(guest.poll_transmit(now, &mut packet), Some(PeerId(0)), "{lost} {copy}");
            if copy == lost {
                host.handle_packet(now, PeerId(1), &packet);
            }
        }
        assert!(!host.knows(PeerId(1)), "copy {lost} of the bye: {:?}", host.stats());
        assert_eq!(guest.poll_transmit(now, &mut packet), None, "there are three of them");
    }
}

#[test]
fn peers_start_together_within_the_sync_window() {
    // Five frames of 20 ms in the article: at most 100 ms apart.
    for seed in 0..20 {
        let link = latency(80).jitter(Duration::from_millis(30)).loss_ppm(50_000);
        let mut game = toy_match(&SessionConfig::new(4).simulated().turns(20), 0, seed, link);
        let mut begun = [None; 4];
        while begun.iter().any(Option::is_none) {
            game.step(&mut |_, _, _, _| {});
            for (slot, driver) in begun.iter_mut().zip(game.drivers()) {
                if slot.is_none() && driver.session().phase() == SessionPhase::Running {
                    *slot = Some(game.now());
                }
            }
            assert!(game.now() < Instant::from_millis(20_000), "seed {seed}");
        }
        let first = begun.iter().flatten().min().unwrap();
        let last = begun.iter().flatten().max().unwrap();
        assert!(last.since(*first) <= Duration::from_millis(100), "seed {seed}: {begun:?}");
    }
}

#[test]
fn watchers_watch_and_give_nothing() {
    let mut game = toy_match(&SessionConfig::new(2).simulated().turns(30), 2, 4, LinkConfig::new());
    let over = game.run(Instant::from_millis(60_000), |_, _, _, session| {
        let result = session.submit(&Order::Push(3));
        let playing = matches!(session.identity(), Identity::Player(_));
        assert_eq!(result.is_ok(), playing && session.next_turn().0 < 28);
    });
    assert!(over);
    assert_agreed(&mut game, "watched");
    assert_eq!(game.toy(0).log.len(), 2 * 28);
}
