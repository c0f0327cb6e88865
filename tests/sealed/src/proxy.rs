//! A UDP proxy between clients and a server: the network, or somebody who sits in it. It reads everything and can drop, delay, repeat, reorder,
//! alter and invent datagrams. What it does is drawn from a seed; only the times are those of the machine.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rand_core::Rng;
use rand_pcg::Pcg32;
use tokio::net::UdpSocket;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

/// What happens on the way, the same in both directions. Parts are in millionths.
#[derive(Clone, Debug, Default)]
pub struct Weather {
    /// Time of a datagram on the way.
    pub delay: Duration,
    /// Up to so much more, evenly distributed; so datagrams overtake each other.
    pub jitter: Duration,
    /// Datagrams that are lost.
    pub loss_ppm: u32,
    /// Datagrams that arrive twice, the second after up to a second.
    pub duplicate_ppm: u32,
    /// Datagrams of which one bit is changed.
    pub alter_ppm: u32,
    /// Datagrams that are followed by an invented one: random bytes, or the same with random bytes behind its first 20.
    pub invent_ppm: u32,
    /// Bytes per second that pass, all clients together, and bytes that wait for it; more are lost. 0: no limit.
    pub bottleneck: (u64, u64),
}

/// What a proxy has seen and done.
#[derive(Clone, Debug, Default)]
pub struct Traffic {
    /// Datagrams from clients, and their bytes.
    pub up: (u64, u64),
    /// Datagrams from the server, and their bytes.
    pub down: (u64, u64),
    /// Datagrams lost.
    pub lost: u64,
    /// Datagrams altered.
    pub altered: u64,
    /// Datagrams invented.
    pub invented: u64,
    /// Everything that clients have sent, if it is recorded.
    pub capture: Vec<Vec<u8>>,
}

/// A running proxy. Dropping it ends its thread.
pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Mutex<Shared>>,
    orders: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    weather: Weather,
    traffic: Traffic,
    records: bool,
    rebind: bool,
}

/// A datagram under way.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Flight {
    arrival: Instant,
    /// Tells equal times apart.
    number: u64,
    client: SocketAddr,
    is_up: bool,
    bytes: Vec<u8>,
}

/// The socket of a client that the server sees, and the task that reads from it.
struct Back {
    socket: Arc<UdpSocket>,
    reader: AbortHandle,
}

impl Drop for Back {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

struct Road {
    server: SocketAddr,
    front: UdpSocket,
    back: BTreeMap<SocketAddr, Back>,
    answers: mpsc::Sender<(SocketAddr, Vec<u8>)>,
    flights: BinaryHeap<Reverse<Flight>>,
    number: u64,
    /// When the bottleneck is free again, in each direction.
    busy_until: [Instant; 2],
    random: Pcg32,
    shared: Arc<Mutex<Shared>>,
}

impl Proxy {
    /// A proxy before a server.
    ///
    /// # Errors
    /// An error of the operating system.
    pub fn start(server: SocketAddr, weather: Weather, seed: u64) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let front = runtime.block_on(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)))?;
        let address = front.local_addr()?;
        let shared = Arc::new(Mutex::new(Shared { weather, ..Shared::default() }));
        let (orders, ordered) = mpsc::channel(1);
        let (answers, from_server) = mpsc::channel(1_024);
        let road = Road {
            server,
            front,
            back: BTreeMap::new(),
            answers,
            flights: BinaryHeap::new(),
            number: 0,
            busy_until: [Instant::now(); 2],
            random: Pcg32::new(seed, 0),
            shared: Arc::clone(&shared),
        };
        let thread = std::thread::Builder::new()
            .name("proxy".into())
            .spawn(move || runtime.block_on(road.run(ordered, from_server)))?;
        Ok(Self { address, shared, orders: Some(orders), thread: Some(thread) })
    }

    /// Where clients send to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// From now on the weather is another.
    pub fn set_weather(&self, weather: Weather) {
        self.shared().weather = weather;
    }

    /// Every client gets another port towards the server, as from a router that was restarted.
    pub fn rebind(&self) {
        self.shared().rebind = true;
        if let Some(orders) = &self.orders {
            let _ = orders.try_send(());
        }
    }

    /// Begins to record what clients send.
    pub fn record(&self) {
        self.shared().records = true;
    }

    /// Ends the recording and hands it over.
    pub fn stop_recording(&self) -> Vec<Vec<u8>> {
        let mut shared = self.shared();
        shared.records = false;
        std::mem::take(&mut shared.traffic.capture)
    }

    /// What has happened so far.
    pub fn traffic(&self) -> Traffic {
        self.shared().traffic.clone()
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().expect("the proxy runs")
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        drop(self.orders.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Road {
    async fn run(
        mut self,
        mut orders: mpsc::Receiver<()>,
        mut from_server: mpsc::Receiver<(SocketAddr, Vec<u8>)>,
    ) {
        let mut buffer = vec![0; 65_536];
        loop {
            let now = Instant::now();
            let next = self.flights.peek().map_or(now + Duration::from_secs(3_600), |next| next.0.arrival);
            tokio::select! {
                order = orders.recv() => if order.is_none() { return },
                Some((client, bytes)) = from_server.recv() => self.enter(client, false, &bytes),
                Ok((length, client)) = self.front.recv_from(&mut buffer) => self.enter(client, true, &buffer[..length]),
                () = tokio::time::sleep_until(next.into()) => {}
            }
            let rebinds = std::mem::take(&mut self.shared().rebind);
            if rebinds {
                self.back.clear();
            }
            self.land().await;
        }
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().expect("the owner does not panic in here")
    }

    /// A datagram sets out.
    fn enter(&mut self, client: SocketAddr, is_up: bool, bytes: &[u8]) {
        let weather = self.shared().weather.clone();
        let jam = self.jam(&weather, is_up, bytes.len());
        let lost = self.happens(weather.loss_ppm) || jam.is_none();
        let altered = self.happens(weather.alter_ppm);
        let invented = self.happens(weather.invent_ppm);
        self.count(is_up, bytes, lost, altered, invented);
        let start = Instant::now() + jam.unwrap_or_default() + weather.delay;
        if invented {
            let mut fake = bytes.to_vec();
            let keep = if self.happens(500_000) { 0 } else { 20.min(fake.len()) };
            self.random.fill_bytes(&mut fake[keep..]);
            self.fly(start, client, is_up, fake);
        }
        if lost {
            return;
        }
        let mut bytes = bytes.to_vec();
        if altered && !bytes.is_empty() {
            let bit = self.random.next_u32() as usize % (8 * bytes.len());
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        let start = start + self.up_to(weather.jitter);
        if self.happens(weather.duplicate_ppm) {
            let later = self.up_to(Duration::from_secs(1));
            self.fly(start + later, client, is_up, bytes.clone());
        }
        self.fly(start, client, is_up, bytes);
    }

    /// Time until a datagram has passed the bottleneck; none if it does not fit into the queue before it.
    fn jam(&mut self, weather: &Weather, is_up: bool, length: usize) -> Option<Duration> {
        let (rate, queue) = weather.bottleneck;
        if rate == 0 {
            return Some(Duration::ZERO);
        }
        let time_of = |bytes: u64| Duration::from_micros(bytes * 1_000_000 / rate);
        let now = Instant::now();
        let free = self.busy_until[usize::from(is_up)].max(now);
        if free - now > time_of(queue) {
            return None;
        }
        let passed = free + time_of(length as u64);
        self.busy_until[usize::from(is_up)] = passed;
        Some(passed - now)
    }

    fn count(&self, is_up: bool, bytes: &[u8], lost: bool, altered: bool, invented: bool) {
        let mut shared = self.shared();
        let records = shared.records && is_up;
        let traffic = &mut shared.traffic;
        let counter = if is_up { &mut traffic.up } else { &mut traffic.down };
        counter.0 += 1;
        counter.1 += bytes.len() as u64;
        traffic.lost += u64::from(lost);
        traffic.altered += u64::from(altered && !lost);
        traffic.invented += u64::from(invented);
        if records {
            traffic.capture.push(bytes.to_vec());
        }
    }

    fn fly(&mut self, arrival: Instant, client: SocketAddr, is_up: bool, bytes: Vec<u8>) {
        self.number += 1;
        self.flights.push(Reverse(Flight { arrival, number: self.number, client, is_up, bytes }));
    }

    fn happens(&mut self, ppm: u32) -> bool {
        self.random.next_u32() % 1_000_000 < ppm
    }

    fn up_to(&mut self, time: Duration) -> Duration {
        Duration::from_micros((u64::from(self.random.next_u32()) * time.as_micros() as u64) >> 32)
    }

    /// Datagrams whose time has come arrive. What cannot be sent is lost, as on any network.
    async fn land(&mut self) {
        let now = Instant::now();
        while self.flights.peek().is_some_and(|next| next.0.arrival <= now) {
            let Some(Reverse(flight)) = self.flights.pop() else { return };
            if !flight.is_up {
                let _ = self.front.send_to(&flight.bytes, flight.client).await;
            } else if let Some(socket) = self.towards_server(flight.client).await {
                let _ = socket.send(&flight.bytes).await;
            }
        }
    }

    async fn towards_server(&mut self, client: SocketAddr) -> Option<&UdpSocket> {
        if !self.back.contains_key(&client) {
            let socket = Arc::new(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.ok()?);
            socket.connect(self.server).await.ok()?;
            let (reading, answers) = (Arc::clone(&socket), self.answers.clone());
            let reader = tokio::spawn(async move {
                let mut buffer = vec![0; 65_536];
                loop {
                    // "Connection refused" is an error, too, and not the end.
                    let Ok(length) = reading.recv(&mut buffer).await else { continue };
                    if answers.send((client, buffer[..length].to_vec())).await.is_err() {
                        return;
                    }
                }
            });
            self.back.insert(client, Back { socket, reader: reader.abort_handle() });
        }
        self.back.get(&client).map(|back| &*back.socket)
    }
}
