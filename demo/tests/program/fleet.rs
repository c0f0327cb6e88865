//! A relay in a cluster, with a fake of the side car of Agones in place of the real one.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::network::Process;
use crate::relayed::assert_agreed;
use crate::run::program;

/// No call within this time is a failure, not a slow machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Connections that the fake drops before it answers: the side car is not there yet.
const DROPPED: usize = 3;

/// A fake of the side car's endpoints: takes every call, and remembers it.
struct Fake {
    port: u16,
    calls: Receiver<(String, Value)>,
}

impl Fake {
    /// It says that the server is found at this port, but not yet when it is asked first.
    fn start(public: u16) -> Self {
        let public = Some(public);
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("bound").port();
        let (sender, calls) = channel();
        std::thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let Ok(stream) = stream else { return };
                let is_placed = number > DROPPED;
                if number >= DROPPED && answer(stream, public.filter(|_| is_placed), &sender).is_none() {
                    return;
                }
            }
        });
        Self { port, calls }
    }

    /// The next call but signs of life, and questions.
    fn call(&self) -> (String, Value) {
        loop {
            let (call, body) = self.calls.recv_timeout(PATIENCE).expect("a call");
            if call != "POST /health" && call != "GET /gameserver" {
                return (call, body);
            }
        }
    }

    /// The next calls are these, with these bodies.
    fn expect(&self, calls: &[(&str, Value)]) {
        for (call, body) in calls {
            assert_eq!(self.call(), ((*call).to_owned(), body.clone()));
        }
    }
}

/// Answers one call, with the port that the server has, if it has one yet. None: the test is over.
fn answer(stream: TcpStream, public: Option<u16>, calls: &Sender<(String, Value)>) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut first = String::new();
    reader.read_line(&mut first).ok()?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        if line.trim_end().is_empty() {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let call = first.rsplit_once(' ')?.0.to_owned();
    let said = match call.as_str() {
        "GET /gameserver" => match public {
            None => json!({ "status": { "state": "Scheduled", "address": "", "ports": [] } }),
            // As of a node that has a name.
            Some(port) => json!({ "status": {
                "state": "Scheduled",
                "address": "node.invalid",
                "addresses": [
                    { "type": "InternalIP", "address": "10.0.0.7" },
                    { "type": "ExternalIP", "address": "127.0.0.1" },
                ],
                "ports": [{ "name": "relay", "port": port }],
            } }),
        },
        _ => json!({}),
    };
    calls.send((call, serde_json::from_slice(&body).unwrap_or(Value::Null))).ok()?;
    // The relay may have given up waiting.
    let _ = write!(&stream, "HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{said}");
    Some(())
}

/// Not there yet, without an address yet, at a node with a name, ready, allocated, full, drained with a match running that ends as it should, and done.
#[test]
#[cfg(unix)]
fn a_cluster_is_told_the_whole_life_of_a_relay() {
    let port = UdpSocket::bind("127.0.0.1:0").expect("a free port").local_addr().expect("bound").port();
    let fake = Fake::start(port);
    let mut relay = program(&format!("relay --json --agones --rooms-max 1 --bind 127.0.0.1:{port}"));
    let relay = Process::spawn(relay.env("AGONES_SDK_HTTP_PORT", fake.port.to_string()));
    for call in ["GET /gameserver", "POST /health", "GET /gameserver"] {
        assert_eq!(fake.calls.recv_timeout(PATIENCE).expect("a call").0, call);
    }
    for key in ["version", "sim", "protocol"] {
        let (call, body) = fake.call();
        assert_eq!((call.as_str(), &body["key"]), ("PUT /metadata/label", &key.into()));
        assert!(body["value"].as_str().is_some_and(|value| !value.is_empty()));
    }
    let (call, body) = fake.call();
    assert_eq!((call.as_str(), &body["key"]), ("PUT /metadata/annotation", &"code".into()));
    let code = body["value"].as_str().expect("a code").to_owned();
    let full = |is_full: &str| ("PUT /metadata/label", json!({ "key": "full", "value": is_full }));
    fake.expect(&[full("false"), ("POST /ready", json!({}))]);

    let mut host = Process::start(&format!("host --relay {code} --players 2 --units 5 --turns 40"));
    let (_, guest) = host.invitation();
    fake.expect(&[full("true"), ("POST /allocate", json!({}))]);
    let guest = Process::start(&format!("join {guest}"));
    host.wait_for("everybody is here");
    relay.signal("-TERM");
    assert_agreed([host, guest], 40);
    // It may say in between that it has no rooms any more.
    while fake.call().0 != "POST /shutdown" {}
    let (code, said) = relay.end();
    assert_eq!((code, &said["rooms"]), (0, &1.into()), "{said}");
}

/// The manifests are JSON where they say so, and name what exists.
#[test]
fn the_manifests_name_options_and_counters_that_exist() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fleet");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("a manifest");
    let help = crate::run::run("relay --help").stdout;
    let mut options = 0;
    for name in ["Dockerfile", "compose.yaml", "testudo-relay.service", "fleet.yaml"] {
        let text = read(name);
        let lines = text.lines().filter(|line| {
            ["ENTRYPOINT", "command:", "ExecStart", "args:"]
                .iter()
                .any(|start| line.trim_start().starts_with(start))
        });
        for word in lines.flat_map(|line| line.split(|c: char| !c.is_ascii_alphanumeric() && c != '-')) {
            if word.starts_with("--") {
                assert!(help.contains(word), "{name}: {word}");
                options += 1;
            }
        }
    }
    assert!(options >= 8, "{options} options");
    let dashboard: Value = serde_json::from_str(&read("dashboard.json")).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("panels");
    assert!(panels.iter().all(|panel| {
        panel["targets"][0]["expr"].as_str().is_some_and(|expr| expr.contains("testudo_relay_"))
    }));
}
