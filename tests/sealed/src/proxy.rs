//! A UDP proxy between clients and a server: the network, or somebody who sits in it. It reads everything and can drop, delay, repeat, reorder,
//! alter and invent datagrams. All that it does is drawn from a seed; only the times are those of the machine.
#![expect(clippy::disallowed_types, reason = "sockets are what is tested here")]

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rand_core::Rng;
use rand_pcg::Pcg32;

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
    /// Datagrams that are followed by an invented one: random bytes, or one of the last with random bytes behind its first 20.
    pub invent_ppm: u32,
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
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    weather: Weather,
    traffic: Traffic,
    records: bool,
    rebind: bool,
    stop: bool,
}

/// A datagram under way: when it arrives, a number that tells equal times apart, from which client or to it, and its bytes.
type Flight = Reverse<(Instant, u64, SocketAddr, bool, Vec<u8>)>;

struct Road {
    server: SocketAddr,
    front: UdpSocket,
    /// For each client the socket that the server sees.
    back: BTreeMap<SocketAddr, UdpSocket>,
    flights: BinaryHeap<Flight>,
    number: u64,
    random: Pcg32,
    shared: Arc<Mutex<Shared>>,
}

impl Proxy {
    /// A proxy before a server.
    ///
    /// # Errors
    /// An error of the operating system.
    pub fn start(server: SocketAddr, weather: Weather, seed: u64) -> io::Result<Self> {
        let front = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        front.set_read_timeout(Some(Duration::from_millis(1)))?;
        let address = front.local_addr()?;
        let shared = Arc::new(Mutex::new(Shared { weather, ..Shared::default() }));
        let road = Road {
            server,
            front,
            back: BTreeMap::new(),
            flights: BinaryHeap::new(),
            number: 0,
            random: Pcg32::new(seed, 0),
            shared: Arc::clone(&shared),
        };
        let thread = std::thread::Builder::new().name("proxy".into()).spawn(move || road.run())?;
        Ok(Self { address, shared, thread: Some(thread) })
    }

    /// Where clients send to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// From now on the weather is another.
    pub fn set_weather(&self, weather: Weather) {
        self.shared().weather = weather;
    }

    /// Every client gets another port towards the server, as from a router that was started anew.
    pub fn rebind(&self) {
        self.shared().rebind = true;
    }

    /// Begins to record what clients send.
    pub fn record(&self) {
        self.shared().records = true;
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
        if let Ok(mut shared) = self.shared.lock() {
            shared.stop = true;
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Road {
    fn run(mut self) {
        let mut buffer = vec![0; 65_536];
        loop {
            let weather = {
                let mut shared = self.shared.lock().expect("the owner lives");
                if shared.stop {
                    return;
                }
                if std::mem::take(&mut shared.rebind) {
                    self.back.clear();
                }
                shared.weather.clone()
            };
            // Waits for a millisecond at most, then empties both sides.
            while let Ok((length, client)) = self.front.recv_from(&mut buffer) {
                self.enter(&weather, client, true, &buffer[..length]);
                if self.arrives_by().is_some_and(|time| time <= Instant::now()) {
                    break;
                }
            }
            let clients: Vec<SocketAddr> = self.back.keys().copied().collect();
            for client in clients {
                while let Some(length) = self.receive_back(client, &mut buffer) {
                    self.enter(&weather, client, false, &buffer[..length]);
                }
            }
            self.land();
        }
    }

    fn arrives_by(&self) -> Option<Instant> {
        self.flights.peek().map(|Reverse((time, ..))| *time)
    }

    fn receive_back(&self, client: SocketAddr, buffer: &mut [u8]) -> Option<usize> {
        loop {
            match self.back.get(&client)?.recv(buffer) {
                Ok(length) => return Some(length),
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
                Err(_) => return None,
            }
        }
    }

    /// A datagram sets out.
    fn enter(&mut self, weather: &Weather, client: SocketAddr, is_up: bool, bytes: &[u8]) {
        let lost = self.happens(weather.loss_ppm);
        let altered = self.happens(weather.alter_ppm);
        let invented = self.happens(weather.invent_ppm);
        {
            let mut shared = self.shared.lock().expect("the owner lives");
            let records = shared.records;
            let traffic = &mut shared.traffic;
            let counter = if is_up { &mut traffic.up } else { &mut traffic.down };
            counter.0 += 1;
            counter.1 += bytes.len() as u64;
            traffic.lost += u64::from(lost);
            traffic.altered += u64::from(altered && !lost);
            traffic.invented += u64::from(invented);
            if records && is_up {
                traffic.capture.push(bytes.to_vec());
            }
        }
        if invented {
            let mut fake = bytes.to_vec();
            let keep = if self.happens(500_000) { 0 } else { 20.min(fake.len()) };
            self.random.fill_bytes(&mut fake[keep..]);
            self.fly(weather, client, is_up, fake, Duration::ZERO);
        }
        if lost {
            return;
        }
        let mut bytes = bytes.to_vec();
        if altered && !bytes.is_empty() {
            let bit = self.random.next_u32() as usize % (8 * bytes.len());
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        if self.happens(weather.duplicate_ppm) {
            let later = Duration::from_millis(u64::from(self.random.next_u32() % 1_000));
            self.fly(weather, client, is_up, bytes.clone(), later);
        }
        self.fly(weather, client, is_up, bytes, Duration::ZERO);
    }

    fn fly(&mut self, weather: &Weather, client: SocketAddr, is_up: bool, bytes: Vec<u8>, later: Duration) {
        let jitter = weather.jitter.as_micros() as u64;
        let jitter = Duration::from_micros(u64::from(self.random.next_u32()) * jitter >> 32);
        let time = Instant::now() + weather.delay + jitter + later;
        self.number += 1;
        self.flights.push(Reverse((time, self.number, client, is_up, bytes)));
    }

    fn happens(&mut self, ppm: u32) -> bool {
        self.random.next_u32() % 1_000_000 < ppm
    }

    /// Datagrams whose time has come arrive.
    fn land(&mut self) {
        let now = Instant::now();
        while self.arrives_by().is_some_and(|time| time <= now) {
            let Some(Reverse((_, _, client, is_up, bytes))) = self.flights.pop() else { return };
            // What cannot be sent is lost, as on any network.
            if is_up {
                if let Some(socket) = self.towards_server(client) {
                    let _ = socket.send(&bytes);
                }
            } else {
                let _ = self.front.send_to(&bytes, client);
            }
        }
    }

    fn towards_server(&mut self, client: SocketAddr) -> Option<&UdpSocket> {
        if !self.back.contains_key(&client) {
            let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).ok()?;
            socket.connect(self.server).ok()?;
            socket.set_nonblocking(true).ok()?;
            self.back.insert(client, socket);
        }
        self.back.get(&client)
    }
}
