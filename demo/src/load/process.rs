//! The processes of a measurement: the relay, and what loads it.

use std::io::{self, BufRead, BufReader, Lines, Read};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::thread;

use testudo_lockstep::service::code::JoinCode;

/// Players and watchers of a room at most, and what a relay takes from one address at most.
const CONNECTIONS_OF_ROOM: usize = 32;
const CONNECTIONS_MAX: usize = 100_000;

/// Where the processes run: both on any core, or the relay on the first one and all that loads it on the second.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cores {
    Any,
    OneEach,
}

/// This program as another process. It does not outlive its owner.
pub(crate) struct Process {
    child: Child,
    lines: Option<Lines<BufReader<ChildStderr>>>,
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Process {
    /// Starts this program with these arguments, after these words: another program that starts it.
    fn start(by: &[&str], arguments: &[&str]) -> io::Result<Self> {
        let program = std::env::current_exe()?;
        let mut command = match by.split_first() {
            Some((first, rest)) => {
                let mut command = Command::new(first);
                command.args(rest).arg(program);
                command
            }
            None => Command::new(program),
        };
        let mut child = command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let lines = BufReader::new(child.stderr.take().ok_or_else(no_pipe)?).lines();
        Ok(Self { child, lines: Some(lines) })
    }

    /// Waits for a line that begins like this, and returns the rest of it.
    fn wait_for(&mut self, start: &str) -> io::Result<String> {
        let mut lines = self.lines.take().ok_or_else(no_pipe)?;
        let mut last = String::new();
        loop {
            let line =
                lines.next().ok_or_else(|| io::Error::other(format!("ended before {start:?}: {last}")))??;
            if let Some(rest) = line.strip_prefix(start) {
                // The process must not wait for a reader.
                thread::spawn(move || lines.for_each(drop));
                return Ok(rest.to_owned());
            }
            last = line;
        }
    }

    /// A relay with room for so many rooms, and its code.
    pub(crate) fn relay(rooms: usize, cores: Cores) -> io::Result<(Self, JoinCode)> {
        let by: &[&str] = if cores == Cores::OneEach { &["taskset", "-c", "0"] } else { &[] };
        let connections = (rooms * CONNECTIONS_OF_ROOM).min(CONNECTIONS_MAX).to_string();
        let rooms = rooms.to_string();
        let limits = ["--rooms-max", &rooms, "--rooms-per-address-max", &rooms];
        let connections = ["--connections-per-address-max", &connections];
        let mut relay =
            Self::start(by, &[&["relay", "--json", "--drain-s", "0"][..], &limits, &connections].concat())?;
        let code = relay.wait_for("relay at ")?.parse().map_err(io::Error::other)?;
        Ok((relay, code))
    }

    /// More rooms at this relay, with less right to the processor than the caller. Returns when all of them play.
    pub(crate) fn crowd(
        code: &JoinCode,
        rooms: usize,
        players: u8,
        watchers: u32,
        seconds: u64,
    ) -> io::Result<Self> {
        let (code, rooms, seconds) = (code.to_string(), rooms.to_string(), seconds.to_string());
        let (players, watchers) = (players.to_string(), watchers.to_string());
        let mut crowd = Self::start(
            &["nice", "-n", "10"],
            &[
                "relay-load",
                "--relay",
                &code,
                "--rooms",
                &rooms,
                "--players",
                &players,
                "--watchers",
                &watchers,
                "--seconds",
                &seconds,
            ],
        )?;
        crowd.wait_for("all play")?;
        Ok(crowd)
    }

    /// User and system time so far. Linux only.
    pub(crate) fn processor_seconds(&self) -> io::Result<f64> {
        processor_seconds(&self.child.id().to_string())
    }

    pub(crate) fn memory_kib(&self) -> io::Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.split_whitespace().next()).and_then(|text| text.parse().ok());
        kib.ok_or_else(|| io::Error::other("the system does not tell the memory of a process"))
    }

    /// Asks it to end, and returns what it says.
    pub(crate) fn stop(&mut self) -> io::Result<serde_json::Value> {
        let id = self.child.id().to_string();
        Command::new("kill").args(["-TERM", &id]).status()?;
        self.end()
    }

    /// Waits for its end, and returns what it says.
    pub(crate) fn end(&mut self) -> io::Result<serde_json::Value> {
        let mut said = String::new();
        self.child.stdout.take().ok_or_else(no_pipe)?.read_to_string(&mut said)?;
        serde_json::from_str(&said).map_err(io::Error::other)
    }
}

/// This process and its later threads run on the second core only.
pub(crate) fn take_second_core() -> io::Result<()> {
    let id = std::process::id().to_string();
    let status = Command::new("taskset").args(["-cp", "1", &id]).stdout(Stdio::null()).status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other("this machine has no second core")) }
}

/// This process, and its threads so far, run before all others on their core. Without it a time that is measured beside a load that takes the whole
/// core is that of the system's turns. Returns whether the system allows it, which usually takes an administrator.
pub(crate) fn go_first() -> bool {
    let id = std::process::id().to_string();
    let quiet = Stdio::null;
    let mut command = Command::new("chrt");
    command.args(["--all-tasks", "--reset-on-fork", "--rr", "--pid", "10", &id]);
    command.stdout(quiet()).stderr(quiet()).status().is_ok_and(|status| status.success())
}

/// User and system time of a process so far, "self" for this one. Linux only.
pub(crate) fn processor_seconds(process: &str) -> io::Result<f64> {
    /// Linux reports in hundredths of a second.
    const TICKS: f64 = 100.0;
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |field: usize| fields.get(field).and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0);
    Ok((ticks(11) + ticks(12)) / TICKS)
}

fn no_pipe() -> io::Error {
    io::Error::other("no pipe to the process")
}
