//! The calls to Agones' side car, by which a cluster knows what a relay does. Own thread; plain HTTP to this machine.
//! It speaks HTTP over a `TcpStream` itself: a client library would add packages to the first command, for seven short requests to localhost.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
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

/// Time between two attempts to reach the side car, and how many there are before the relay gives up: it may start later than the relay.
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
    /// Where the cluster lets others find this relay.
    pub(crate) address: SocketAddr,
    side_car: SideCar,
}

impl Agones {
    /// Asks the side car for this server's public address, until it answers.
    ///
    /// # Errors
    /// It does not answer within a minute, or tells no address.
    pub(crate) fn find() -> io::Result<Self> {
        let port = std::env::var(PORT_VARIABLE).ok().and_then(|text| text.parse().ok()).unwrap_or(PORT);
        let side_car = SideCar(port);
        for attempt in 1.. {
            match side_car.call("GET", "/gameserver", None) {
                Ok(server) => {
                    let address = address_of(&server)
                        .ok_or_else(|| io::Error::other("Agones tells no address and port of this server"))?;
                    return Ok(Self { notes: None, thread: None, address, side_car });
                }
                Err(error) if attempt >= ATTEMPTS || interrupt::is_asked() => {
                    return Err(io::Error::other(format!("no side car of Agones at port {port}: {error}")));
                }
                Err(_) => thread::sleep(AGAIN),
            }
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
            .spawn(move || talk(side_car, code, &notes, HEALTH_EVERY))?;
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
fn talk(side_car: SideCar, mut code: String, notes: &Receiver<Note>, health_every: Duration) {
    let (mut load, mut told, mut told_code) = (Load::default(), None, None);
    let mut health_at = Instant::now() + health_every;
    loop {
        let now = Instant::now();
        if now >= health_at {
            health_at = now + health_every;
            // The next one follows soon; a cluster allows for a few that are missing.
            let _ = side_car.post("/health", &json!({}));
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
    if told.is_none_or(|told| told.is_busy != load.is_busy) {
        side_car.post(if load.is_busy { "/allocate" } else { "/ready" }, &json!({}))?;
    }
    Ok(())
}

/// The address that the cluster has given to a server, and its first port.
fn address_of(server: &Value) -> Option<SocketAddr> {
    let status = &server["status"];
    let ip: IpAddr = status["address"].as_str()?.parse().ok()?;
    let port = u16::try_from(status["ports"].get(0)?["port"].as_u64()?).ok()?;
    Some(SocketAddr::new(ip, port))
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

    /// Every note put the next sign of life off: the cluster ended a relay with all its matches if it was full by turns.
    #[test]
    fn notes_put_no_sign_of_life_off() {
        const NOTES: usize = 20;
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let side_car = SideCar(listener.local_addr().unwrap().port());
        let (sender, notes) = channel();
        // A sign of life is always due.
        let talking = thread::spawn(move || talk(side_car, "code".into(), &notes, Duration::ZERO));
        let (mut signs, mut sender) = (0, Some(sender));
        let mut codes = (0..NOTES).map(|n| format!("code {n}"));
        for stream in listener.incoming() {
            let stream = stream.unwrap();
            let mut lines = BufReader::new(&stream).lines().map(Result::unwrap);
            let first = lines.next().unwrap();
            // The body is one line, which has no end.
            let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
            assert!(head.len() > 1, "{head:?}");
            signs += usize::from(first.starts_with("POST /health"));
            if first.starts_with("POST /shutdown") {
                write!(&stream, "HTTP/1.0 200 OK\r\n\r\n{{}}").unwrap();
                break;
            }
            // The next note is there before the answer, so the thread never waits in vain.
            if first.starts_with("PUT /metadata/annotation") {
                // After the last one the relay is done.
                match (codes.next(), &sender) {
                    (Some(code), Some(sender)) => sender.send(Note::Code(code)).unwrap(),
                    _ => sender = None,
                }
            }
            write!(&stream, "HTTP/1.0 200 OK\r\n\r\n{{}}").unwrap();
        }
        talking.join().unwrap();
        assert!(signs >= NOTES, "{signs} signs of life");
    }

    #[test]
    fn the_address_is_the_one_of_the_cluster() {
        let server =
            json!({ "status": { "address": "192.0.2.7", "ports": [{ "name": "relay", "port": 7_123 }] } });
        assert_eq!(address_of(&server), "192.0.2.7:7123".parse().ok());
        for none in [json!({}), json!({ "status": { "address": "", "ports": [] } }), json!([]), json!(null)] {
            assert_eq!(address_of(&none), None, "{none}");
        }
    }
}
