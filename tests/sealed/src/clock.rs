//! Matches in real time: for measurements, never for tests.

use std::time::Instant as StdInstant;

use testudo_lockstep::{Duration, Instant, SessionConfig, SessionPhase};

use crate::game::{Guest, Host};

/// A clock of a match, which begins at zero.
pub struct Clock(StdInstant);

impl Clock {
    /// Starts.
    #[must_use]
    pub fn start() -> Self {
        Self(StdInstant::now())
    }

    /// The time.
    #[must_use]
    pub fn now(&self) -> Instant {
        Instant::from(self.0.elapsed())
    }
}

/// The settings of a match without an end, for a network on which it takes a minute to connect.
pub fn patient(config: SessionConfig) -> SessionConfig {
    let minutes = Duration::from_secs(300);
    config.session_id(77).connect_timeout(minutes).silence_timeout(minutes).lobby_timeout(minutes)
}

/// A host and guests in one thread.
pub struct Group {
    /// Their time.
    pub clock: Clock,
    /// Player 0.
    pub host: Host,
    /// The others.
    pub guests: Vec<Guest>,
}

impl Group {
    /// Waits for a packet to the host, at most 2 ms, and runs what is due for everybody.
    pub fn run(&mut self) {
        self.host.wait(Duration::from_millis(2));
        let now = self.clock.now();
        self.host.run(now);
        self.guests.iter_mut().for_each(|guest| guest.run(now));
    }

    /// Runs until everybody plays, at most 300 s. False if somebody is lost.
    pub fn meet(&mut self) -> bool {
        while self.clock.now() < Instant::from_millis(300_000) {
            self.run();
            if self.guests.iter().any(|guest| guest.lost.is_some()) {
                return false;
            }
            let mut drivers = self.guests.iter().map(|guest| &guest.driver).chain([&self.host.driver]);
            if drivers.all(|driver| driver.session().phase() == SessionPhase::Running) {
                return true;
            }
        }
        false
    }

    /// Runs for so many seconds.
    pub fn play(&mut self, seconds: u64) {
        let end = self.clock.now() + Duration::from_secs(seconds);
        while self.clock.now() < end {
            self.run();
        }
    }
}
