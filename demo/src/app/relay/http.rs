//! A server for HTTP on a thread of its own, with limits: connections at once, and time for each.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::error::Error;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use http_body_util::Either;
use hyper::body::{Body, Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use testudo_lockstep::service::household::household;
use tokio::runtime::Builder;
use tokio::sync::{Notify, oneshot};
use tokio::time::{sleep, timeout};

/// Connections at once. For one more the oldest one of the address that has most gives way, unless it comes from there.
const CONNECTIONS_MAX: usize = 256;

/// Connections at once from one address, or one /64 network of version 6, as one home has; further ones are closed. A browser makes six.
const CONNECTIONS_PER_ADDRESS_MAX: usize = 48;

/// Greatest length of a path: that of a name in a folder.
const PATH_BYTES_MAX: usize = 255;

/// Time for the head of a request, and for all that a connection does: a page of 2.5 MB at 10 kB/s.
const HEAD_WITHIN: Duration = Duration::from_secs(10);
const ALL_WITHIN: Duration = Duration::from_secs(250);

/// Pause after an error of the system, such as too many open files.
const PAUSE: Duration = Duration::from_millis(100);

/// What answers requests: a page, or files.
pub(crate) trait Responder: Clone + Send + Sync + 'static {
    /// What follows the head of an answer.
    type Body: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static;

    /// The answer to a request.
    fn answer(&self, request: Request<Incoming>) -> impl Future<Output = Response<Self::Body>> + Send;
}

/// A running server. Dropping it ends it; whoever still reads is cut off.
pub(crate) struct Http {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Http {
    /// Serves at an address, on a thread with this name.
    ///
    /// # Errors
    /// A taken port, or no thread.
    pub(crate) fn serve(name: &str, address: SocketAddr, responder: impl Responder) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = thread::Builder::new().name(name.into()).spawn(move || {
            runtime.block_on(async {
                let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
                tokio::select! {
                    () = accept(&listener, &responder) => {}
                    _ = stopped => {}
                }
            });
            runtime.shutdown_background();
        })?;
        Ok(Self { address, stop: Some(stop), thread: Some(thread) })
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

async fn accept(listener: &tokio::net::TcpListener, responder: &impl Responder) {
    let visitors = Visitors::default();
    loop {
        let Ok((stream, address)) = listener.accept().await else {
            sleep(PAUSE).await;
            continue;
        };
        let Some(visit) = Visit::begin(&visitors, address.ip()) else { continue };
        let responder = responder.clone();
        tokio::spawn(async move {
            let service = service_fn(|request| with_short_path(&responder, request));
            let mut server = http1::Builder::new();
            server.timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN);
            // A client that breaks off is no concern of ours.
            tokio::select! {
                _ = timeout(ALL_WITHIN, server.serve_connection(TokioIo::new(stream), service)) => {}
                () = visit.evicted.notified() => {}
            }
        });
    }
}

/// Connections of each address or network that has some.
type Visitors = Arc<Mutex<Visits>>;

#[derive(Default)]
struct Visits {
    /// The oldest first.
    by_address: BTreeMap<IpAddr, VecDeque<Arc<Notify>>>,
}

impl Visits {
    /// Whether one more may come from this address, for which an older one may have to go.
    fn have_room(&mut self, address: IpAddr) -> bool {
        let own = self.by_address.get(&address).map_or(0, VecDeque::len);
        let all: usize = self.by_address.values().map(VecDeque::len).sum();
        if own >= CONNECTIONS_PER_ADDRESS_MAX || all < CONNECTIONS_MAX {
            return own < CONNECTIONS_PER_ADDRESS_MAX;
        }
        let most = self.by_address.values_mut().max_by_key(|visits| visits.len());
        // Not of an address that would have fewer then.
        let oldest = most.filter(|visits| visits.len() > own + 1).and_then(VecDeque::pop_front);
        oldest.is_some_and(|evicted| {
            evicted.notify_one();
            true
        })
    }
}

/// One of them, until it is dropped.
struct Visit {
    visitors: Visitors,
    address: IpAddr,
    /// It is to end, because another address needs the place.
    evicted: Arc<Notify>,
}

impl Visit {
    fn begin(visitors: &Visitors, address: IpAddr) -> Option<Self> {
        let address = household(address);
        let mut visits = visitors.lock().unwrap_or_else(PoisonError::into_inner);
        visits.have_room(address).then(|| {
            let evicted = Arc::new(Notify::new());
            visits.by_address.entry(address).or_default().push_back(Arc::clone(&evicted));
            Self { visitors: Arc::clone(visitors), address, evicted }
        })
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        let mut visits = self.visitors.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(here) = visits.by_address.get_mut(&self.address) {
            here.retain(|visit| !Arc::ptr_eq(visit, &self.evicted));
            if here.is_empty() {
                visits.by_address.remove(&self.address);
            }
        }
    }
}

/// No file has a longer name; the system's error about it would look like one of ours.
async fn with_short_path<A: Responder>(
    responder: &A,
    request: Request<Incoming>,
) -> Result<Response<Either<String, A::Body>>, Infallible> {
    if request.uri().path().len() > PATH_BYTES_MAX {
        return Ok(only(StatusCode::URI_TOO_LONG).map(Either::Left));
    }
    Ok(responder.answer(request).await.map(Either::Right))
}

/// An answer that is no more than its status.
pub(crate) fn only<B: Default>(status: StatusCode) -> Response<B> {
    let mut answer = Response::default();
    *answer.status_mut() = status;
    answer
}

impl Drop for Http {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been printed.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 300 requests that were never finished, from one address, kept everybody out for ten seconds.
    #[test]
    fn one_address_leaves_room_for_others() {
        let visitors = Visitors::default();
        let [one, other] = [1, 2].map(|host| IpAddr::from([10, 0, 0, host]));
        let visits: Vec<Visit> = (0..300).filter_map(|_| Visit::begin(&visitors, one)).collect();
        assert_eq!(visits.len(), CONNECTIONS_PER_ADDRESS_MAX);
        assert!(visits.len() < CONNECTIONS_MAX);
        let guest = Visit::begin(&visitors, other);
        assert!(guest.is_some());
        drop((visits, guest));
        assert!(visitors.lock().unwrap().by_address.is_empty(), "nothing is kept of visitors that are gone");
        assert!(Visit::begin(&visitors, one).is_some());
    }

    /// Six addresses held all connections open, and nobody else got the page.
    #[test]
    fn the_address_with_most_gives_way() {
        let visitors = Visitors::default();
        let from = |host: u8| IpAddr::from([10, 0, 0, host]);
        let visits: Vec<Visit> =
            (0..=255).filter_map(|number| Visit::begin(&visitors, from(number % 6))).collect();
        assert_eq!(visits.len(), CONNECTIONS_MAX);
        let others: Vec<Visit> = (0..60).filter_map(|_| Visit::begin(&visitors, from(9))).collect();
        // 256 in seven parts.
        assert!((36..=37).contains(&others.len()), "{}", others.len());
        assert!(Visit::begin(&visitors, from(10)).is_some());
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        let is_evicted = |visit: &Visit| {
            runtime.block_on(async { timeout(Duration::ZERO, visit.evicted.notified()).await.is_ok() })
        };
        assert!(is_evicted(&visits[0]) && !is_evicted(&visits[255]), "the oldest ones go");
        drop((visits, others));
        assert!(visitors.lock().unwrap().by_address.is_empty());
    }

    /// Each of the addresses of one network had its own 48 connections, so one customer could keep everybody out.
    #[test]
    fn the_addresses_of_one_network_count_as_one() {
        let visitors = Visitors::default();
        let from = |network: u16, host: u16| IpAddr::from([0x2001, 0xdb8, 0, network, 0, 0, 0, host]);
        let visits: Vec<Visit> = (0..300).filter_map(|host| Visit::begin(&visitors, from(1, host))).collect();
        assert_eq!(visits.len(), CONNECTIONS_PER_ADDRESS_MAX);
        assert!(Visit::begin(&visitors, from(2, 1)).is_some());
        let (mapped, plain) = ("::ffff:10.0.0.1".parse().unwrap(), IpAddr::from([10, 0, 0, 1]));
        let visits: Vec<Visit> = (0..48).filter_map(|_| Visit::begin(&visitors, mapped)).collect();
        assert!(visits.len() == 48 && Visit::begin(&visitors, plain).is_none());
    }
}
