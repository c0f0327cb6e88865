//! What a network, or somebody who sits in it, can do to a match: nothing but make it slower.

use std::time::Duration as StdDuration;

use testudo_lockstep::transport::sealed::{SealedConfig, SealedServer};
use testudo_lockstep::{Duration, Identity, Instant, PlayerId, SessionConfig, SessionPhase};
use testudo_sealed_tests::game::{Guest, Host};
use testudo_sealed_tests::proxy::{Proxy, Weather};

use crate::until;

/// A match of three on the clock of a test: everybody meets, then each round takes 1 ms of the machine and 10 ms of the match.
pub(crate) struct Table {
    pub(crate) config: SessionConfig,
    pub(crate) now: Instant,
    pub(crate) host: Host,
    pub(crate) guests: Vec<Guest>,
}

impl Table {
    /// Sealed guests, who come by way of a proxy if there is one.
    pub(crate) fn new(turns: u32, proxy: impl Fn(&Host) -> Option<Proxy>) -> (Self, Option<Proxy>) {
        let sealed = SealedConfig::new()
            .connect_timeout(Duration::from_secs(120))
            .greeting_timeout(Duration::from_secs(120));
        Self::start(turns, |config| Host::sealed(config, &sealed, Instant::ZERO), proxy, &sealed)
    }

    fn start(
        turns: u32,
        host: impl Fn(&SessionConfig) -> Host,
        proxy: impl Fn(&Host) -> Option<Proxy>,
        sealed: &SealedConfig,
    ) -> (Self, Option<Proxy>) {
        let config = SessionConfig::new(3)
            .simulated()
            .turns(turns)
            .session_id(77)
            .silence_timeout(Duration::from_secs(600));
        let now = Instant::ZERO;
        let host = host(&config);
        let proxy = proxy(&host);
        let way = proxy.as_ref().map_or(host.address(), Proxy::address);
        let guests = (1..3)
            .map(|player| host.guest(way, Identity::Player(PlayerId(player)), &config, sealed, now))
            .collect();
        let mut table = Self { config, now, host, guests };
        until("everybody is accepted", || {
            table.host.wait(Duration::from_millis(10));
            table.run_all();
            let lost: Vec<_> = table.guests.iter().filter_map(|guest| guest.lost).collect();
            assert_eq!(lost, []);
            table.guests.iter().all(|guest| guest.accepted)
        });
        (table, proxy)
    }

    fn run_all(&mut self) {
        self.host.run(self.now);
        let now = self.now;
        self.guests.iter_mut().for_each(|guest| guest.run(now));
    }

    pub(crate) fn round(&mut self) {
        self.host.wait(Duration::from_millis(1));
        self.run_all();
        self.now += Duration::from_millis(10);
        assert!(self.now < Instant::from_millis(1_000_000), "the match does not end");
    }

    pub(crate) fn is_over(&self) -> bool {
        self.host.driver.session().is_over()
            && self.guests.iter().all(|guest| guest.driver.session().is_over())
    }

    /// The frame of the host.
    pub(crate) fn frame(&self) -> u32 {
        self.host.driver.frame().0
    }

    /// Everybody has played to the end, with the state that the players' actions have without any network.
    #[track_caller]
    pub(crate) fn assert_untouched(&mut self) {
        let drivers = self.guests.iter().map(|guest| &guest.driver).chain([&self.host.driver]);
        let expected = alone(&self.config);
        for driver in drivers {
            assert_eq!(driver.session().phase(), SessionPhase::Finished);
            assert_eq!(driver.simulation().sum(), expected);
        }
        assert_eq!(self.host.closed, 0, "no connection was lost");
        assert_eq!(self.host.accepted, 2, "nobody else was let in");
        let malformed = |stats: testudo_lockstep::Stats| stats.packets_malformed;
        assert_eq!(malformed(self.host.driver.session().stats()), 0, "what arrives is what was sent");
        for guest in &self.guests {
            assert_eq!(malformed(guest.driver.session().stats()), 0, "what arrives is what was sent");
        }
    }
}

/// The state at the end of a match: actions given in a turn run two turns later, in the order of the players.
fn alone(config: &SessionConfig) -> u64 {
    use testudo_lockstep::Simulation;
    let mut state = testudo_sealed_tests::game::History::default();
    let turns = config.turns.expect("a match with an end");
    for turn in 0..turns {
        if let Some(given) = turn.checked_sub(config.turns_ahead) {
            for player in (0..config.players).map(|place| (place + start_of(config, turn)) % config.players) {
                state.apply(PlayerId(player), &testudo_sealed_tests::game::bot(given, player));
            }
        }
        (0..config.frames_per_turn).for_each(|_| state.step(config.frames_per_second));
    }
    state.sum()
}

/// The player who comes first in a turn.
fn start_of(config: &SessionConfig, turn: u32) -> u8 {
    if config.rotate_players { (turn % u32::from(config.players)) as u8 } else { 0 }
}

/// A network that loses, delays, reorders and repeats, and somebody in it who alters and invents.
fn terrible() -> Weather {
    Weather {
        delay: StdDuration::from_millis(10),
        jitter: StdDuration::from_millis(20),
        loss_ppm: 200_000,
        duplicate_ppm: 100_000,
        alter_ppm: 100_000,
        invent_ppm: 300_000,
        bottleneck: (0, 0),
    }
}

#[test]
fn a_bad_network_changes_nothing_but_time() {
    let (mut clean, _) = Table::new(100, |_| None);
    while !clean.is_over() {
        clean.round();
    }
    clean.assert_untouched();
    for seed in [1, 2] {
        let (mut table, proxy) =
            Table::new(100, |host| Some(Proxy::start(host.address(), terrible(), seed).unwrap()));
        while !table.is_over() {
            table.round();
        }
        table.assert_untouched();
        let traffic = proxy.unwrap().traffic();
        let (lost, altered, invented) = (traffic.lost, traffic.altered, traffic.invented);
        assert!(lost.min(altered).min(invented) > 50, "seed {seed}: {lost} {altered} {invented}");
    }
}

#[test]
fn a_match_is_played_over_version_6_of_ip() {
    let at = "[::1]:0".parse().unwrap();
    let sealed = SealedConfig::new();
    if let Err(error) = SealedServer::bind(at, &sealed) {
        return eprintln!("nothing is tested: this machine has no IPv6: {error}");
    }
    let host = |config: &SessionConfig| Host::sealed_at(at, config, &sealed, Instant::ZERO);
    let (mut table, _) = Table::start(100, host, |_| None, &sealed);
    while !table.is_over() {
        table.round();
    }
    table.assert_untouched();
}

/// The same without the seal: what was altered and invented comes as far as the session. So the test above could fail.
#[test]
fn plain_udp_lets_forgeries_through() {
    let host = |config: &SessionConfig| Host::plain(config, Instant::ZERO);
    let proxy = |host: &Host| Some(Proxy::start(host.address(), terrible(), 1).unwrap());
    let (mut table, _proxy) = Table::start(100, host, proxy, &SealedConfig::new());
    while !table.is_over() {
        table.round();
    }
    let stats = table.host.driver.session().stats();
    assert!(stats.packets_malformed > 10, "{stats:?}");
}

/// Routers give a connection another port when they please. Nobody hears of it.
#[test]
fn a_new_port_on_the_way_is_not_noticed() {
    let (mut table, proxy) =
        Table::new(300, |host| Some(Proxy::start(host.address(), Weather::default(), 3).unwrap()));
    let proxy = proxy.unwrap();
    let mut next = 100;
    let mut rebinds = 0;
    while !table.is_over() {
        table.round();
        if table.frame() >= next && next < 1_000 {
            next += 300;
            rebinds += 1;
            proxy.rebind();
        }
    }
    assert_eq!(rebinds, 3);
    table.assert_untouched();
}

/// Everything that the guests of a match have sent is sent again: during the match, to the next one on the same server, and from other addresses.
#[test]
fn a_captured_match_is_worth_nothing() {
    let (mut table, proxy) =
        Table::new(200, |host| Some(Proxy::start(host.address(), Weather::default(), 4).unwrap()));
    let proxy = proxy.unwrap();
    proxy.record();
    let server = table.host.address();
    let mut thief = testudo_sealed_tests::stranger::Stranger::new(server, 4);
    let mut sent = 0;
    while !table.is_over() {
        table.round();
        let capture = proxy.traffic().capture;
        for datagram in capture.iter().skip(sent) {
            thief.send(datagram);
        }
        sent = capture.len();
    }
    table.assert_untouched();
    assert!(sent > 100, "{sent} datagrams captured");

    // The next match has another host, another key and other secrets of the session; the guests' codes are the same.
    let (mut next, _) = Table::new(100, |_| None);
    let capture = proxy.traffic().capture;
    let mut thief = testudo_sealed_tests::stranger::Stranger::new(next.host.address(), 5);
    let mut datagrams = capture.iter().cycle();
    while !next.is_over() {
        next.round();
        for _ in 0..10 {
            thief.send(datagrams.next().unwrap());
        }
    }
    next.assert_untouched();
    assert_eq!(next.host.server().stats().greetings, 2, "the thief has not come as far as a greeting");
}
