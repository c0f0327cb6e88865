//! Two peers of a match differ, and each of them finds the number: `Moments`, `Inquiry` and `Search`.
//! `docs/debugging-a-desync.md` shows the core of it.
//!
//! `cargo run -p testudo-lockstep --example desync_search`, `cargo test -p testudo-lockstep --example desync_search`

use std::error::Error;

use testudo_lockstep::simnet::{LinkConfig, SimNet};
use testudo_lockstep::state::inquiry::{Inquiry, Moments};
use testudo_lockstep::state::{self, State, StateError, Visit};
use testudo_lockstep::{
    Driver, Duration, Event, Identity, Instant, NoAction, PeerId, PlayerId, Search, Session, SessionConfig,
    Simulation, To, VirtualMatch,
};

struct Game {
    frame: u32,
    health: [i32; 100],
    /// Not state: who sits in front of this copy. A rule reads it, and that is the mistake to be found.
    local: PlayerId,
    /// Not state: what is kept for a search. Predicted copies need none.
    moments: Option<Moments>,
}

impl Game {
    fn new(local: PlayerId, moments: Option<Moments>) -> Self {
        Self { frame: 0, health: [1_000; 100], local, moments }
    }
}

impl Simulation for Game {
    type Action = NoAction;
    fn apply(&mut self, _: PlayerId, _: &NoAction) {}
    fn step(&mut self, _frames_per_second: u32) {
        self.frame += 1;
        self.health.iter_mut().for_each(|health| *health -= 1);
        if self.frame == 101 && self.local == PlayerId(1) {
            self.health[5] += 1;
        }
        // Here, because a driver may run several frames at once.
        if let Some(mut moments) = self.moments.take() {
            moments.push(self.frame, self);
            self.moments = Some(moments);
        }
    }
    fn checksum(&mut self) -> u64 {
        state::digest(self)
    }
}

impl State for Game {
    fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
        let Self { frame, health, local: _, moments: _ } = self;
        v.object("game", 0);
        v.number("frame", frame)?;
        for (index, health) in (0..).zip(health) {
            v.object("unit", index);
            v.number("health", health)?;
        }
        Ok(())
    }
}

/// What a program does in each round, after its frames.
fn look_for_differences(driver: &mut Driver<Game>, search: &mut Search<Game>, now: Instant) {
    while let Some(event) = driver.session_mut().poll_event() {
        if let Event::Desync(desync) = event
            && let Some(moments) = driver.simulation_mut().moments.take()
        {
            // Somebody with another value is asked.
            let other = desync.values.iter().find(|(_, value)| Some(*value) != desync.own);
            let other = other.map(|&(player, _)| (To::Player(player), Identity::Player(player)));
            search.begin(other, Inquiry::new(moments, Game::new(PlayerId(0), None)));
        }
    }
    while let Some(message) = driver.session_mut().poll_message() {
        // False: it is the game's own message, such as chat.
        search.hear(message, now);
    }
    search.advance(driver.session_mut(), now);
}

/// Plays over a bad network, and says what each peer has found.
fn play() -> Result<Vec<String>, Box<dyn Error>> {
    let (config, mut now) = (SessionConfig::new(2).simulated().turns(60), Instant::ZERO);
    let game = |player| Game::new(PlayerId(player), Some(Moments::default()));
    let host = Driver::new(game(0), Session::host(config.clone(), now)?);
    let guest = Driver::new(game(1), Session::join(config, PlayerId(1), PeerId(0), now)?);
    let mut net = SimNet::new(7);
    net.set_default(LinkConfig::new().latency(Duration::from_millis(60)).loss_ppm(100_000));
    let mut game = VirtualMatch::new(vec![host, guest], net);
    let mut searches = [Search::default(), Search::default()];
    while !game.run(now, |_, _, _, _| {}) {
        for (driver, search) in game.drivers_mut().iter_mut().zip(&mut searches) {
            look_for_differences(driver, search, now);
        }
        now += Duration::from_millis(10);
    }
    let findings = (0..).zip(&searches).filter_map(|(peer, search)| Some((peer, search.finding()?)));
    Ok(findings.map(|(peer, finding): (u32, _)| format!("peer {peer}: {finding}")).collect())
}

fn main() -> Result<(), Box<dyn Error>> {
    play()?.iter().for_each(|line| println!("{line}"));
    Ok(())
}

#[test]
fn both_peers_name_the_number() {
    let found = play().expect("the settings are valid");
    // The guide shows these lines.
    let expected = [
        "peer 0: frame 101: health of unit 5 is 899 here and 900 there",
        "peer 1: frame 101: health of unit 5 is 900 here and 899 there",
    ];
    assert_eq!(found, expected);
}
