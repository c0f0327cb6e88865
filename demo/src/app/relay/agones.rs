//! The calls to Agones' side car, by which a cluster knows what a relay does. Own thread; plain HTTP to this machine.
//! It speaks HTTP over a `TcpStream` itself: a client library would add packages to the first command, for eight short requests to localhost.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream, ToSocketAddrs as _};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testudo_lockstep::PROTOCOL_VERSION;

use crate::app::interrupt;
use testudo_battle::Setup;

/// The side car listens there unless the environment says otherwise.
const PORT: u16 = 9_358;
const PORT_VARIABLE: &str = "AGONES_SDK_HTTP_PORT";

/// Time between two signs of life. The cluster's period must be longer.
const HEALTH_EVERY: Duration = Duration::from_secs(2);

/// For how long a relay without rooms stays allocated: whoever got its code has this time to come.
const IDLE: Duration = Duration::from_secs(60);

/// Time between two attempts to reach the side car, and how many there are before the relay gives up: it may start later than the relay, and
/// the cluster may write the address later still.
const AGAIN: Duration = Duration::from_millis(500);
const ATTEMPTS: u32 = 120;

/// Time for one call.
const PATIENCE: Duration = Duration::from_secs(2);

/// An answer is not read any further.
const ANSWER_MAX: u64 = 256 << 10;

/// What the cluster is to know.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Load {
    /// There are rooms: this server must not be removed.
    pub(crate) is_busy: bool,
    /// It opens no more rooms.
    pub(crate) is_full: bool,
}

/// The side car.
#[derive(Clone, Copy, Debug)]
struct SideCar(u16);

/// News for the cluster.
enum Note {
    Load(Load),
    /// Another code opens rooms now.
    Code(String),
}

/// The thread that talks to the side car. Dropping it says that the relay is done.
pub(crate) struct Agones {
    notes: Option<Sender<Note>>,
    thread: Option<JoinHandle<()>>,
    /// Where the cluster lets others find this relay. None: it tells no address that is one.
    pub(crate) address: Option<SocketAddr>,
    side_car: SideCar,
}

impl Agones {
    /// Asks the side car for this server's public address, until it tells one. `has_address`: the relay has another one, and needs none of the
    /// cluster.
    ///
    /// # Errors
    /// The side car does not answer within a minute, or tells no address.
    pub(crate) fn find(has_address: bool) -> io::Result<Self> {
        let port = std::env::var(PORT_VARIABLE).ok().and_then(|text| text.parse().ok()).unwrap_or(PORT);
        let side_car = SideCar(port);
        for attempt in 1.. {
            let found = side_car.call("GET", "/gameserver", None);
            let address = found.as_ref().ok().and_then(|server| address_of(server, resolve));
            if address.is_some() || has_address && found.is_ok() {
                return Ok(Self { notes: None, thread: None, address, side_car });
            }
            if attempt >= ATTEMPTS || interrupt::is_asked() {
                return Err(match found {
                    Ok(_) => io::Error::other("Agones tells no address and port of this server"),
                    Err(error) => io::Error::other(format!("no side car of Agones at port {port}: {error}")),
                });
            }
            if found.is_ok() {
                // It counts the signs of life already. One that is missing does no harm.
                let _ = side_car.post("/health", &json!({}));
            }
            thread::sleep(AGAIN);
        }
        unreachable!("the loop has no end")
    }

    /// The relay listens, and whoever has this code may open rooms.
    ///
    /// # Errors
    /// No thread.
    pub(crate) fn ready(&mut self, code: String) -> io::Result<()> {
        let (sender, notes) = channel();
        let side_car = self.side_car;
        let thread = thread::Builder::new()
            .name("agones".into())
            .spawn(move || talk(side_car, code, &notes, (HEALTH_EVERY, IDLE)))?;
        (self.notes, self.thread) = (Some(sender), Some(thread));
        Ok(())
    }

    /// Tells the cluster, soon.
    pub(crate) fn note(&self, load: Load) {
        self.send(Note::Load(load));
    }

    /// Tells the cluster another code, soon.
    pub(crate) fn note_code(&self, code: String) {
        self.send(Note::Code(code));
    }

    fn send(&self, note: Note) {
        // If the thread is gone, nobody can be told.
        let _ = self.notes.as_ref().map(|notes| notes.send(note));
    }
}

impl Drop for Agones {
    fn drop(&mut self) {
        drop(self.notes.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been printed.
            let _ = thread.join();
        }
    }
}

/// Tells everything that has changed, and lives until the relay ends. What the side car did not take is told again.
/// A sign of life follows the other after `health_every`; who is allocated in vain for `idle` is ready again.
fn talk(
    side_car: SideCar,
    mut code: String,
    notes: &Receiver<Note>,
    (health_every, idle): (Duration, Duration),
) {
    let (mut load, mut told, mut told_code, mut vain) = (Load::default(), None, None, Vain::default());
    let mut health_at = Instant::now() + health_every;
    loop {
        let now = Instant::now();
        if now >= health_at {
            health_at = now + health_every;
            // The next one follows soon; a cluster allows for a few that are missing.
            let _ = side_car.post("/health", &json!({}));
            if told == Some(load)
                && !load.is_busy
                && let Ok(server) = side_car.call("GET", "/gameserver", None)
                && vain.is_longer_than(idle, &server, now)
            {
                // Otherwise the cluster never removes this relay. If it fails, the next sign of life finds that.
                let _ = side_car.post("/ready", &json!({}));
            }
        }
        if load.is_busy {
            vain = Vain::default();
        }
        if told_code.as_ref() != Some(&code) && tell_code(side_car, &code, told_code.is_none()).is_ok() {
            told_code = Some(code.clone());
        }
        if told_code.is_some() && told != Some(load) && tell(side_car, load, told).is_ok() {
            told = Some(load);
        }
        match notes.recv_timeout(health_at.saturating_duration_since(Instant::now())) {
            Ok(newest) => {
                for note in [newest].into_iter().chain(notes.try_iter()) {
                    match note {
                        Note::Load(newest) => load = newest,
                        Note::Code(newest) => code = newest,
                    }
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                // If this fails, the cluster finds out when the process ends.
                let _ = side_car.post("/shutdown", &json!({}));
                return;
            }
        }
    }
}

/// Which version this is, at first, and the code.
fn tell_code(side_car: SideCar, code: &str, is_first: bool) -> io::Result<()> {
    if is_first {
        label(side_car, "version", env!("CARGO_PKG_VERSION"))?;
        label(side_car, "sim", &Setup::sim_version().to_string())?;
        label(side_car, "protocol", &PROTOCOL_VERSION.to_string())?;
    }
    let annotation = json!({ "key": "code", "value": code });
    side_car.call("PUT", "/metadata/annotation", Some(&annotation)).map(drop)
}

fn label(side_car: SideCar, key: &str, value: &str) -> io::Result<()> {
    side_car.call("PUT", "/metadata/label", Some(&json!({ "key": key, "value": value }))).map(drop)
}

fn tell(side_car: SideCar, load: Load, told: Option<Load>) -> io::Result<()> {
    if told.is_none_or(|told| told.is_full != load.is_full) {
        label(side_car, "full", if load.is_full { "true" } else { "false" })?;
    }
    match told {
        None if !load.is_busy => side_car.post("/ready", &json!({})).map(drop),
        // A relay whose last room is over may just have been given to new players: see [`Vain`].
        Some(told) if told.is_busy || !load.is_busy => Ok(()),
        _ => side_car.post("/allocate", &json!({})).map(drop),
    }
}

/// Since when this relay has no rooms and is allocated all the same: its last room is over, or nobody has come yet.
#[derive(Default)]
struct Vain(Option<(Instant, Value)>);

impl Vain {
    /// The relay has no rooms, and the side car says this of it. A new allocation begins anew.
    fn is_longer_than(&mut self, idle: Duration, server: &Value, now: Instant) -> bool {
        if server["status"]["state"] != "Allocated" {
            self.0 = None;
            return false;
        }
        // Agones writes there when it has allocated the server last.
        let allocated = &server["object_meta"]["annotations"]["agones.dev/last-allocated"];
        self.0.take_if(|(_, before)| before != allocated);
        let (since, _) = self.0.get_or_insert_with(|| (now, allocated.clone()));
        let is_longer = now.duration_since(*since) >= idle;
        if is_longer {
            self.0 = None;
        }
        is_longer
    }
}

/// The address that the cluster has given to a server, and its first port. Where nodes have names, the address is a name, and the list beside
/// it has the numbers. Inside of a cluster a name may lead to a private address, so the public number comes first.
fn address_of(server: &Value, resolve: impl Fn(&str) -> Option<IpAddr>) -> Option<SocketAddr> {
    let status = &server["status"];
    let port = u16::try_from(status["ports"].get(0)?["port"].as_u64()?).ok()?;
    let name = status["address"].as_str().filter(|name| !name.is_empty());
    let listed = |kind: &str| {
        let of_kind = |entry: &&Value| entry["type"] == kind;
        let number = |entry: &Value| entry["address"].as_str()?.parse().ok();
        status["addresses"].as_array()?.iter().filter(of_kind).find_map(number)
    };
    let ip = name
        .and_then(|name| name.parse().ok())
        .or_else(|| listed("ExternalIP"))
        .or_else(|| resolve(name?))
        .or_else(|| listed("InternalIP"))?;
    Some(SocketAddr::new(ip, port))
}

/// The first number of a name.
fn resolve(name: &str) -> Option<IpAddr> {
    Some((name, 0).to_socket_addrs().ok()?.next()?.ip())
}

impl SideCar {
    fn post(self, path: &str, body: &Value) -> io::Result<Value> {
        self.call("POST", path, Some(body))
    }

    /// One call. HTTP 1.0, so that the answer ends with the connection.
    fn call(self, method: &str, path: &str, body: Option<&Value>) -> io::Result<Value> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.0));
        let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let body = body.map(Value::to_string).unwrap_or_default();
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        )?;
        let mut answer = String::new();
        stream.take(ANSWER_MAX).read_to_string(&mut answer)?;
        let (head, body) = answer.split_once("\r\n\r\n").ok_or(io::ErrorKind::InvalidData)?;
        let status = head.split_whitespace().nth(1).unwrap_or_default();
        if status != "200" {
            return Err(io::Error::other(format!("{path}: status {status:?}")));
        }
        Ok(serde_json::from_str(body).unwrap_or(Value::Null))
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::net::TcpListener;

    use super::*;

    /// What the thread tells a side car that says this of the relay, until it says that the relay ends. `heard` takes note of a request's first line.
    fn hear(notes: Receiver<Note>, idle: Duration, said: &Value, mut heard: impl FnMut(&str)) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let side_car = SideCar(listener.local_addr().unwrap().port());
        // A sign of life is always due.
        let talking = thread::spawn(move || talk(side_car, "code".into(), &notes, (Duration::ZERO, idle)));
        for stream in listener.incoming() {
            let stream = stream.unwrap();
            let mut lines = BufReader::new(&stream).lines().map(Result::unwrap);
            let first = lines.next().unwrap();
            // The body is one line, which has no end.
            assert!(lines.take_while(|line| !line.is_empty()).count() > 1);
            heard(&first);
            write!(&stream, "HTTP/1.0 200 OK\r\n\r\n{said}").unwrap();
            if first.starts_with("POST /shutdown") {
                break;
            }
        }
        talking.join().unwrap();
    }

    /// Every note put the next sign of life off: the cluster ended a relay with all its matches if it was full by turns.
    #[test]
    fn notes_put_no_sign_of_life_off() {
        const NOTES: usize = 20;
        let (sender, notes) = channel();
        let (mut signs, mut sender) = (0, Some(sender));
        let mut codes = (0..NOTES).map(|n| format!("code {n}"));
        hear(notes, IDLE, &json!({}), |first| {
            signs += usize::from(first.starts_with("POST /health"));
            // The next note is there before the answer, so the thread never waits in vain.
            if first.starts_with("PUT /metadata/annotation") {
                // After the last one the relay is done.
                match (codes.next(), &sender) {
                    (Some(code), Some(sender)) => sender.send(Note::Code(code)).unwrap(),
                    _ => sender = None,
                }
            }
        });
        assert!(signs >= NOTES, "{signs} signs of life");
    }

    #[test]
    fn the_address_is_the_one_of_the_cluster() {
        let server =
            json!({ "status": { "address": "192.0.2.7", "ports": [{ "name": "relay", "port": 7_123 }] } });
        assert_eq!(address_of(&server, |_| None), "192.0.2.7:7123".parse().ok());
        for none in [json!({}), json!({ "status": { "address": "", "ports": [] } }), json!([]), json!(null)] {
            assert_eq!(address_of(&none, resolve), None, "{none}");
        }
    }

    /// The relay ended where nodes have names: Agones prefers an external name to an external number, and an internal one likewise.
    #[test]
    fn a_node_with_a_name_has_an_address() {
        let at = |name: &str, addresses: &[(&str, &str)]| {
            let entry = |(kind, address): &(&str, &str)| json!({ "type": kind, "address": address });
            let addresses: Vec<Value> = addresses.iter().map(entry).collect();
            let ports = json!([{ "name": "relay", "port": 7_123 }]);
            let server = json!({ "status": { "address": name, "addresses": addresses, "ports": ports } });
            let known = |name: &str| "10.0.0.8".parse().ok().filter(|_| name == "known.example");
            address_of(&server, known).map(|at| at.to_string())
        };
        let (inside, outside) = (("InternalIP", "10.0.0.7"), ("ExternalIP", "192.0.2.7"));
        let names = [("ExternalDNS", "known.example"), ("ExternalIP", "no number")];
        for (name, addresses, expected) in [
            // A number is what it was.
            ("192.0.2.9", &[inside, outside][..], Some("192.0.2.9:7123")),
            ("known.example", &[inside, names[0], names[1], outside], Some("192.0.2.7:7123")),
            ("known.example", &[inside, names[0]], Some("10.0.0.8:7123")),
            ("known.example", &[], Some("10.0.0.8:7123")),
            ("unknown.example", &[inside], Some("10.0.0.7:7123")),
            ("unknown.example", &[], None),
        ] {
            assert_eq!(at(name, addresses).as_deref(), expected, "{name} {addresses:?}");
        }
    }

    /// It stayed allocated for ever if nobody came, so that the cluster never removed it; and was ready under players on their way.
    #[test]
    fn who_is_allocated_in_vain_is_ready_after_a_minute() {
        let allocated = |at: &str| {
            let annotations = json!({ "agones.dev/last-allocated": at });
            json!({ "status": { "state": "Allocated" }, "object_meta": { "annotations": annotations } })
        };
        let ready = json!({ "status": { "state": "Ready" } });
        let (start, mut vain) = (Instant::now(), Vain::default());
        let mut is_over =
            |seconds, server: &Value| vain.is_longer_than(IDLE, server, start + Duration::from_secs(seconds));
        let (first, second) = (allocated("1"), allocated("2"));
        // Allocated again meanwhile, then ready for a moment; once told, it is told after another minute only.
        let told = [(0, &first), (59, &first), (60, &second), (119, &second), (120, &second), (121, &second)];
        assert_eq!(told.map(|(at, server)| is_over(at, server)), [false, false, false, false, true, false]);
        let told = [(130, &ready), (185, &second), (244, &second), (245, &second), (246, &json!(null))];
        assert_eq!(told.map(|(at, server)| is_over(at, server)), [false, false, false, true, false]);
    }

    /// What the thread tells, beside signs of life, to a side car that says that the cluster has allocated the relay.
    #[test]
    fn the_cluster_hears_that_nobody_has_come() {
        let (sender, notes) = channel();
        let (mut sender, mut calls, mut has_asked, mut is_told) = (Some(sender), 0, false, false);
        hear(notes, Duration::ZERO, &json!({ "status": { "state": "Allocated" } }), |first| {
            has_asked |= first.starts_with("GET /gameserver");
            is_told |= has_asked && first.starts_with("POST /ready");
            calls += 1;
            if is_told || calls > 100 {
                sender.take();
            }
        });
        assert!(is_told);
    }
}
