//! A relay on a sealed port, in real time.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::thread;

use testudo_lockstep::transport::code::JoinCode;
use testudo_lockstep::transport::sealed::{SealedConfig, SealedEvent, SealedServer};
use testudo_lockstep::{Duration, Instant, PeerId};

use crate::app::clock::Clock;
use crate::app::error::MatchError;
use crate::app::interrupt;
use crate::app::online::address::{ADDRESSES_MAX, reachable};
use crate::app::online::greeting::{Answer, Secret};
use crate::app::online::keys;
use crate::app::relay::agones::{Agones, Load};
use crate::app::relay::counters::Counters;
use crate::app::relay::http::Http;
use crate::app::relay::limits::Limits;
use crate::app::relay::metrics::Metrics;
use crate::app::relay::rooms::Rooms;
use crate::app::relay::web;

/// Packets that arrive within this time are forwarded together. It bounds what one packet costs, and what a packet waits here.
const ROUND: Duration = Duration::from_millis(1);

/// Longest time without a look at the signals.
const PAUSE: Duration = Duration::from_millis(50);

/// Time between two updates of the page with the counters.
const SHOW_EVERY: Duration = Duration::from_millis(250);

/// Greatest number of events that are handled in one round.
const EVENTS_MAX: u32 = 20_000;

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
    sealed: SealedServer,
    rooms: Rooms,
    addresses: Vec<SocketAddr>,
    code: String,
    clock: Clock,
    metrics: Option<Metrics>,
    web: Option<Http>,
    agones: Option<Agones>,
    /// What the cluster was told last.
    told: Load,
    secret: Secret,
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
        let sealed = SealedServer::bind(options.bind, &config).map_err(failed(options.bind))?;
        let mut agones =
            if options.agones { Some(Agones::find().map_err(MatchError::Socket)?) } else { None };
        let mut addresses = options.public.clone();
        addresses.extend(agones.as_ref().map(|agones| agones.address));
        if addresses.is_empty() {
            addresses = reachable(sealed.local_address());
        }
        addresses.truncate(ADDRESSES_MAX);
        let secret: Secret = keys::random()?;
        let code = code(&addresses, &sealed, secret)
            .map_err(|why| MatchError::Bind { address: options.bind, error: std::io::Error::other(why) })?;
        let metrics = options.metrics.map(|at| Metrics::serve(at).map_err(failed(at))).transpose()?;
        let web = options.web.as_ref().map(|(at, folder)| web::serve(*at, folder)).transpose()?;
        if let Some(agones) = &mut agones {
            agones.ready(code.clone()).map_err(MatchError::Socket)?;
        }
        let rooms = Rooms::new(secret, options.limits);
        let (clock, told) = (Clock::start(), Load::default());
        let (renew_every, drain) = (options.renew_every, options.limits.drain);
        let renew_at = clock.now() + renew_every;
        Ok(Self {
            sealed,
            rooms,
            addresses,
            code,
            clock,
            metrics,
            web,
            agones,
            told,
            secret,
            renew_every,
            renew_at,
            drain,
        })
    }

    /// Serves until it is told to stop and the last room is over.
    ///
    /// # Errors
    /// The system gives no randomness.
    pub(crate) fn run(mut self, mut tell: impl FnMut(RelayNews)) -> Result<Counters, MatchError> {
        tell(RelayNews::At(self.code.clone()));
        if let Some(metrics) = &self.metrics {
            tell(RelayNews::Metrics(metrics.address()));
        }
        if let Some(web) = &self.web {
            tell(RelayNews::Web(web.address(), self.code.clone()));
        }
        let (mut shown, mut is_stopping) = (self.clock.now(), false);
        loop {
            let began = self.clock.now();
            self.receive(&mut tell)?;
            self.send();
            if interrupt::is_asked() && !is_stopping {
                is_stopping = true;
                self.rooms.stop(began);
                tell(RelayNews::Stopping { rooms: self.rooms.len() });
            }
            if began >= self.renew_at && !is_stopping {
                self.renew(began, &mut tell)?;
            }
            if is_stopping && self.rooms.len() == 0 {
                return Ok(self.rooms.counters().clone());
            }
            self.tell_cluster(is_stopping);
            if began.since(shown) >= SHOW_EVERY {
                shown = began;
                self.show();
            }
            self.wait(began);
        }
    }

    /// Makes another certificate before the present one expires. Rooms that are open then go on, but nobody can come back to them; so this waits
    /// for them, and opens no new ones meanwhile.
    fn renew(&mut self, now: Instant, tell: &mut impl FnMut(RelayNews)) -> Result<(), MatchError> {
        self.rooms.set_renewing(true);
        if self.rooms.len() > 0 && now < self.renew_at + self.drain {
            return Ok(());
        }
        self.sealed.renew_certificate().map_err(MatchError::Socket)?;
        let failed = |why| MatchError::Socket(std::io::Error::other(why));
        self.code = code(&self.addresses, &self.sealed, self.secret).map_err(failed)?;
        tell(RelayNews::At(self.code.clone()));
        if let Some(agones) = &self.agones {
            agones.note_code(self.code.clone());
        }
        self.rooms.set_renewing(false);
        self.renew_at = now + self.renew_every;
        Ok(())
    }

    /// Handles what has arrived.
    fn receive(&mut self, tell: &mut impl FnMut(RelayNews)) -> Result<(), MatchError> {
        for _ in 0..EVENTS_MAX {
            match self.sealed.poll() {
                None => return Ok(()),
                Some(SealedEvent::Packet { peer, bytes }) => {
                    self.rooms.packet(peer, &bytes, self.clock.now());
                }
                Some(SealedEvent::Closed { peer }) => self.rooms.closed(peer, self.clock.now()),
                Some(SealedEvent::Greeting { peer, address, bytes }) => {
                    self.greet(peer, address, &bytes, tell)?;
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    fn greet(
        &mut self,
        peer: PeerId,
        address: SocketAddr,
        greeting: &[u8],
        tell: &mut impl FnMut(RelayNews),
    ) -> Result<(), MatchError> {
        let mut failed = None;
        let mut draw = || match keys::random() {
            Ok(bytes) => bytes,
            Err(error) => {
                failed = Some(error);
                [0; 16]
            }
        };
        let reply =
            self.rooms.greet(peer, address.ip().to_canonical(), greeting, self.clock.now(), &mut draw);
        // Without randomness there are no secrets.
        if let Some(error) = failed {
            return Err(error);
        }
        if let Some(former) = reply.former {
            self.sealed.displace(former);
        }
        let answer = reply.answer.to_bytes();
        if !reply.is_welcome() {
            self.sealed.refuse(peer, &answer);
            return Ok(());
        }
        self.sealed.accept(peer, &answer);
        if let Answer::Opened(opened) = &reply.answer
            && let Ok(watch) = code(&self.addresses, &self.sealed, opened.watchers)
        {
            tell(RelayNews::Opened { watch });
        }
        Ok(())
    }

    /// Sends what is due.
    fn send(&mut self) {
        let mut batch = self.sealed.batch();
        self.rooms.step(self.clock.now(), |peer, packet| batch.send(peer, packet));
        drop(batch);
        while let Some(connection) = self.rooms.poll_close() {
            self.sealed.close(connection);
        }
    }

    fn tell_cluster(&mut self, is_stopping: bool) {
        let load = Load { is_busy: self.rooms.len() > 0, is_full: is_stopping || self.rooms.is_full() };
        if let Some(agones) = &self.agones
            && load != self.told
        {
            self.told = load;
            agones.note(load);
        }
    }

    fn show(&mut self) {
        if let Some(metrics) = &self.metrics {
            metrics.show(&mut self.rooms, &self.sealed.stats(), self.clock.now());
        } else {
            self.rooms.counters_mut().forwarding.take().for_each(drop);
            self.rooms.close_window(self.clock.now());
        }
    }

    /// Waits for the next packet or the next thing to do, and at least for the rest of the round.
    fn wait(&self, began: Instant) {
        let now = self.clock.now();
        let due = self.rooms.next_due().map_or(PAUSE, |at| at.since(now).min(PAUSE));
        self.sealed.wait(due);
        let rest = ROUND - self.clock.now().since(began);
        thread::sleep(core::time::Duration::from_micros(rest.as_micros()));
    }
}

fn code(addresses: &[SocketAddr], sealed: &SealedServer, secret: Secret) -> Result<String, String> {
    let code = JoinCode::new(addresses, sealed.certificate_hash(), secret);
    code.map(|code| code.to_string()).map_err(|error| error.to_string())
}
