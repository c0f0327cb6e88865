//! The counters as a page for Prometheus, in the OpenMetrics format. Serve it to the operator only.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hyper::body::Incoming;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};
use testudo_lockstep::Instant;
use testudo_lockstep::service::relay::counters::Counters;
use testudo_lockstep::service::relay::forwarding::Spread;
use testudo_lockstep::service::relay::rooms::Rooms;
use testudo_lockstep::transport::sealed::SealedStats;

use crate::app::relay::http::{Http, Responder, only};

const TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The page, on a thread of its own.
pub(crate) struct Metrics {
    http: Http,
    rooms: Gauge,
    connections: Gauge,
    states: Gauge,
    totals: Vec<(Counter, Total)>,
    forwarding: Histogram,
    turns: Quantiles,
    worst: Quantiles,
}

/// Seconds by quantile.
type Quantiles = Family<[(&'static str, &'static str); 1], Gauge<f64, AtomicU64>>;

/// Where a total comes from.
type Total = fn(&Counters, &SealedStats) -> u64;

/// Name, help, unit, and source of each total.
const TOTALS: [(&str, &str, Option<Unit>, Total); 14] = [
    ("rooms_opened", "Rooms opened", None, |counters, _| counters.rooms),
    ("players_seen", "Players who took their place", None, |counters, _| counters.players_seen),
    ("players_back", "Players who came back to their place", None, |counters, _| counters.players_back),
    ("players_lost", "Players dropped", None, |counters, _| counters.players_lost),
    ("watchers_seen", "Watchers who came", None, |counters, _| counters.watchers_seen),
    ("greetings_refused", "Greetings answered with a refusal", None, |counters, _| {
        counters.greetings_refused
    }),
    ("packets_refused", "Packets forged, damaged, unexpected or too many", None, |counters, _| {
        counters.packets_refused
    }),
    ("packets_in", "Packets received", None, |counters, _| counters.packets_in),
    ("packets_out", "Packets sent", None, |counters, _| counters.packets_out),
    ("in", "Bytes of packets received, without seals", Some(Unit::Bytes), |counters, _| counters.bytes_in),
    ("out", "Bytes of packets sent, without seals", Some(Unit::Bytes), |counters, _| counters.bytes_out),
    ("handshakes_refused", "Handshakes refused because of a limit", None, |_, sealed| sealed.refused),
    ("receive_dropped", "Packets dropped because too many waited", None, |_, sealed| sealed.receive_dropped),
    ("send_dropped", "Packets that could not be sent", None, |_, sealed| sealed.send_dropped),
];

impl Metrics {
    /// Serves the page at `http://ADDRESS/metrics`.
    ///
    /// # Errors
    /// A taken port, or no thread.
    pub(crate) fn serve(address: SocketAddr) -> io::Result<Self> {
        let mut registry = Registry::with_prefix("testudo_relay");
        let (rooms, connections, states) = (Gauge::default(), Gauge::default(), Gauge::default());
        registry.register("rooms", "Rooms now", rooms.clone());
        registry.register("connections", "Connections with a place now", connections.clone());
        let help = "Bytes of match states being sent to joining peers";
        registry.register_with_unit("states", help, Unit::Bytes, states.clone());
        let mut totals = Vec::new();
        for (name, help, unit, total) in TOTALS {
            let counter: Counter<u64, AtomicU64> = Counter::default();
            match unit {
                Some(unit) => registry.register_with_unit(name, help, unit, counter.clone()),
                None => registry.register(name, help, counter.clone()),
            }
            totals.push((counter, total));
        }
        // 0.1 ms to 3.3 s.
        let forwarding = Histogram::new(exponential_buckets(0.000_1, 2.0, 16));
        let help = "Time between the arrival of a turn's last entry and the packets that forward the turn";
        registry.register_with_unit("forwarding", help, Unit::Seconds, forwarding.clone());
        let (turns, worst) = (Quantiles::default(), Quantiles::default());
        let help = "Forwarding times of all turns of the last ten seconds";
        registry.register_with_unit("forwarding_recent", help, Unit::Seconds, turns.clone());
        let help = "The longest forwarding time of each room in the last ten seconds";
        registry.register_with_unit("forwarding_room_worst", help, Unit::Seconds, worst.clone());

        let http = Http::serve("metrics", address, Page(Arc::new(registry)))?;
        Ok(Self { http, rooms, connections, states, totals, forwarding, turns, worst })
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.http.address()
    }

    /// Puts new numbers on the page.
    pub(crate) fn show(&self, rooms: &mut Rooms, sealed: &SealedStats, now: Instant) {
        let gauge = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        self.rooms.set(gauge(rooms.len() as u64));
        self.connections.set(gauge(rooms.guests() as u64));
        self.states.set(gauge(rooms.states()));
        let counters = rooms.counters_mut();
        for (counter, total) in &self.totals {
            counter.inner().store(total(counters, sealed), Ordering::Relaxed);
        }
        for time in counters.forwarding.take() {
            self.forwarding.observe(time.as_micros() as f64 / 1e6);
        }
        rooms.close_window(now);
        let forwarding = &rooms.counters().forwarding;
        set(&self.turns, forwarding.turns);
        set(&self.worst, forwarding.rooms);
    }
}

fn set(quantiles: &Quantiles, spread: Spread) {
    for (quantile, time) in [("0.5", spread.half), ("0.99", spread.most), ("1", spread.worst)] {
        quantiles.get_or_create(&[("quantile", quantile)]).set(time.as_micros() as f64 / 1e6);
    }
}

/// Answers with the counters.
#[derive(Clone)]
struct Page(Arc<Registry>);

impl Responder for Page {
    type Body = String;

    async fn answer(&self, request: Request<Incoming>) -> Response<String> {
        if request.uri().path() != "/metrics" {
            return only(StatusCode::NOT_FOUND);
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            let mut refusal = only(StatusCode::METHOD_NOT_ALLOWED);
            refusal.headers_mut().insert(ALLOW, HeaderValue::from_static("GET,HEAD"));
            return refusal;
        }
        let mut answer = Response::<String>::default();
        match encode(answer.body_mut(), &self.0) {
            Ok(()) => {
                answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(TYPE));
                answer
            }
            Err(_) => only(StatusCode::INTERNAL_SERVER_ERROR),
        }
    }
}
