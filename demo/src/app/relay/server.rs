//! A relay on a sealed port, in real time.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::thread;

use testudo_lockstep::service::code::ADDRESSES_MAX;
use testudo_lockstep::service::relay::counters::Counters;
use testudo_lockstep::service::relay::limits::Limits;
use testudo_lockstep::transport::sealed::{SealedConfig, SealedRelay, SealedServer, reachable};
use testudo_lockstep::{Duration, Instant};

use crate::app::error::MatchError;
use crate::app::interrupt;
use crate::app::relay::agones::{Agones, Load};
use crate::app::relay::http::Http;
use crate::app::relay::metrics::Metrics;
use crate::app::relay::teller::Teller;
use crate::app::relay::web;
use testudo_render::clock::Clock;

/// Packets that arrive within this time are forwarded together. It bounds what one packet costs, and what a packet waits here.
const ROUND: Duration = Duration::from_millis(1);

/// Longest time without a look at the signals.
const PAUSE: Duration = Duration::from_millis(50);

/// Time between two updates of the page with the counters.
const SHOW_EVERY: Duration = Duration::from_millis(250);

/// What an operator chooses.
#[derive(Clone, Debug)]
pub(crate) struct RelayOptions {
    /// Where it listens.
    pub(crate) bind: SocketAddr,
    /// Where others find it, if not at `bind`.
    pub(crate) public: Vec<SocketAddr>,
    /// Where the page with the counters is.
    pub(crate) metrics: Option<SocketAddr>,
    /// Where the browser page is, and the folder of its files.
    pub(crate) web: Option<(SocketAddr, PathBuf)>,
    /// Tell a cluster, and ask it for the public address.
    pub(crate) agones: bool,
    /// Connections at once from one address.
    pub(crate) connections_per_address_max: u32,
    /// Time after which it makes another certificate: at most 12 days, less the time for running matches.
    pub(crate) renew_every: Duration,
    pub(crate) limits: Limits,
}

/// What happens at a relay.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum RelayNews {
    /// Whoever has this code may open rooms.
    At(String),
    /// The page with the counters is there.
    Metrics(SocketAddr),
    /// The browser page is there; with the relay's code it opens a room.
    Web(SocketAddr, String),
    /// A room was opened; whoever has this code may watch.
    Opened { watch: String },
    /// It was told to stop, and waits for this many rooms.
    Stopping { rooms: usize },
}

/// A relay that listens.
pub(crate) struct Relay {
    sealed: SealedRelay,
    code: String,
    clock: Clock,
    metrics: Option<Metrics>,
    web: Option<Http>,
    agones: Option<Agones>,
    /// What the cluster was told last.
    told: Load,
    renew_every: Duration,
    /// From then on there are no new rooms until the certificate is renewed, which happens when the last room is over, or after `drain`.
    renew_at: Instant,
    drain: Duration,
}

impl Relay {
    /// # Errors
    /// A port is taken, or the system gives no randomness.
    pub(crate) fn bind(options: &RelayOptions) -> Result<Self, MatchError> {
        let failed = |address: SocketAddr| move |error| MatchError::Bind { address, error };
        let connections = u32::try_from(options.limits.rooms_max).unwrap_or(u32::MAX).saturating_mul(32);
        let config = SealedConfig::new()
            .connections_max(connections)
            .connections_per_address_max(options.connections_per_address_max);
        let sealed = SealedServer::bind(options.bind, &config);
        let sealed = sealed.map_err(|error| bind_failure(options.bind, error))?;
        let mut addresses = options.public.clone();
        let find = || Agones::find(!addresses.is_empty()).map_err(MatchError::Socket);
        let mut agones = options.agones.then(find).transpose()?;
        addresses.extend(agones.as_ref().and_then(|agones| agones.address));
        if addresses.is_empty() {
            addresses = reachable(sealed.local_address());
        }
        addresses.truncate(ADDRESSES_MAX);
        let sealed = SealedRelay::new(sealed, &addresses, options.limits);
        let sealed = sealed.map_err(|error| MatchError::Randomness(error.to_string()))?;
        let code = code(&sealed).map_err(failed(options.bind))?;
        let metrics = options.metrics.map(|at| Metrics::serve(at).map_err(failed(at))).transpose()?;
        let web = options.web.as_ref().map(|(at, folder)| web::serve(*at, folder)).transpose()?;
        if let Some(agones) = &mut agones {
            agones.ready(code.clone()).map_err(MatchError::Socket)?;
        }
        let (clock, told) = (Clock::start(), Load::default());
        let (renew_every, drain) = (options.renew_every, options.limits.drain);
        let renew_at = clock.now() + renew_every;
        Ok(Self { sealed, code, clock, metrics, web, agones, told, renew_every, renew_at, drain })
    }

    /// Serves until it is told to stop and the last room is over. No match waits for `tell`. None: `tell` still waits for a reader that stands still.
    ///
    /// # Errors
    /// The system gives no randomness, or no thread, or has taken the socket away.
    pub(crate) fn run(
        mut self,
        tell: impl FnMut(RelayNews) + Send + 'static,
    ) -> Result<Option<Counters>, MatchError> {
        let teller = Teller::start(tell).map_err(MatchError::Socket)?;
        teller.tell(RelayNews::At(self.code.clone()));
        if let Some(metrics) = &self.metrics {
            teller.tell(RelayNews::Metrics(metrics.address()));
        }
        if let Some(web) = &self.web {
            teller.tell(RelayNews::Web(web.address(), self.code.clone()));
        }
        let (mut shown, mut is_stopping) = (self.clock.now(), false);
        loop {
            let began = self.clock.now();
            let clock = self.clock;
            let served = self.sealed.round(|| clock.now());
            served.map_err(|error| failure(self.sealed.server().check(), &error))?;
            while let Some(codes) = self.sealed.poll_opened() {
                let watch = codes.watchers().map(|code| code.to_string());
                watch.into_iter().for_each(|watch| teller.tell_if_room(RelayNews::Opened { watch }));
            }
            if interrupt::is_asked() && !is_stopping {
                is_stopping = true;
                self.sealed.rooms_mut().stop(began);
                teller.tell(RelayNews::Stopping { rooms: self.sealed.rooms().len() });
            }
            if began >= self.renew_at && !is_stopping {
                self.renew(began, &teller)?;
            }
            if is_stopping && self.sealed.rooms().is_empty() {
                let is_told = teller.finish();
                return Ok(is_told.then(|| self.sealed.rooms().counters().clone()));
            }
            self.tell_cluster();
            if began.since(shown) >= SHOW_EVERY {
                shown = began;
                self.show();
                // Nobody comes to the rooms that are open either, so they are not waited for.
                if !is_stopping && !self.sealed.server().certificate_is_valid() {
                    self.make_certificate(began, &teller)?;
                }
            }
            self.wait(began);
        }
    }

    /// Makes another certificate before the present one expires. Rooms that are open then go on, but nobody can come back to them; so this waits
    /// for them, and opens no new ones meanwhile.
    fn renew(&mut self, now: Instant, teller: &Teller<RelayNews>) -> Result<(), MatchError> {
        self.sealed.rooms_mut().set_renewing(true);
        if !self.sealed.rooms().is_empty() && now < self.renew_at + self.drain {
            return Ok(());
        }
        self.make_certificate(now, teller)
    }

    fn make_certificate(&mut self, now: Instant, teller: &Teller<RelayNews>) -> Result<(), MatchError> {
        let renewed = self.sealed.renew_certificate();
        renewed.map_err(|error| failure(self.sealed.server().check(), &error))?;
        self.code = code(&self.sealed).map_err(MatchError::Socket)?;
        teller.tell(RelayNews::At(self.code.clone()));
        if let Some(agones) = &self.agones {
            agones.note_code(self.code.clone());
        }
        self.sealed.rooms_mut().set_renewing(false);
        self.renew_at = now + self.renew_every;
        Ok(())
    }

    fn tell_cluster(&mut self) {
        let load = Load { is_busy: !self.sealed.rooms().is_empty(), is_full: self.sealed.rooms().is_full() };
        if let Some(agones) = &self.agones
            && load != self.told
        {
            self.told = load;
            agones.note(load);
        }
    }

    fn show(&mut self) {
        if let Some(metrics) = &self.metrics {
            let stats = self.sealed.server().stats();
            metrics.show(self.sealed.rooms_mut(), &stats, self.clock.now());
        } else {
            self.sealed.rooms_mut().counters_mut().forwarding.take().for_each(drop);
            self.sealed.rooms_mut().close_window(self.clock.now());
        }
    }

    /// Waits for the next packet or the next thing to do, and at least for the rest of the round.
    fn wait(&self, began: Instant) {
        let now = self.clock.now();
        let due = self.sealed.rooms().next_due().map_or(PAUSE, |at| at.since(now).min(PAUSE));
        self.sealed.server().wait(due);
        let rest = ROUND - self.clock.now().since(began);
        thread::sleep(core::time::Duration::from_micros(rest.as_micros()));
    }
}

fn code(sealed: &SealedRelay) -> std::io::Result<String> {
    let code = sealed.code().map_err(|error| std::io::Error::other(error.to_string()))?;
    Ok(code.to_string())
}

/// Why nothing listens. What the system says of the address has a number; a certificate without randomness has none.
fn bind_failure(address: SocketAddr, error: std::io::Error) -> MatchError {
    if error.raw_os_error().is_none() && error.kind() == std::io::ErrorKind::Other {
        MatchError::Randomness(error.to_string())
    } else {
        MatchError::Bind { address, error }
    }
}

/// Why a round or another certificate has failed: the socket is lost, or else the system gives no randomness.
fn failure(socket: std::io::Result<()>, error: &std::io::Error) -> MatchError {
    match socket {
        Err(lost) => MatchError::Socket(lost),
        Ok(()) => MatchError::Randomness(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An operator read that the network had failed, and looked for the mistake there.
    #[test]
    fn a_relay_without_randomness_says_so() {
        let error = std::io::Error::other("no entropy");
        assert!(matches!(failure(Ok(()), &error), MatchError::Randomness(what) if what == "no entropy"));
        let lost = || std::io::Error::other("lost");
        assert!(matches!(failure(Err(lost()), &lost()), MatchError::Socket(_)));
        let other = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = other.local_addr().unwrap();
        assert!(matches!(bind_failure(address, error), MatchError::Randomness(_)));
        let taken = SealedServer::bind(address, &SealedConfig::new());
        let told = taken.map(drop).map_err(|error| bind_failure(address, error));
        assert!(matches!(told, Err(MatchError::Bind { .. })), "{told:?}");
    }
}
