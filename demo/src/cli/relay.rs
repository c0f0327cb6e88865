//! `relay`.

use testudo_lockstep::service::code::{ADDRESSES_MAX, JoinCodeError};
use testudo_lockstep::service::relay::limits::Limits;
use testudo_lockstep::{Duration, Pace};

use crate::app::online::agreement::Agreement;
use crate::app::relay::server::{Relay, RelayNews, RelayOptions};
use crate::app::words::count;
use crate::app::{TURNS_MAX, Terms, interrupt};
use crate::cli::args::{RelayArgs, RelayLoadArgs};
use crate::cli::{Failed, check_public, print_json, tell_script};
use crate::console::{errln, outln};
use crate::load::process::Cores;
use crate::load::{self, LoadOptions};
use testudo_battle::Setup;

pub(crate) fn run_relay(options: &RelayArgs, json: bool) -> Result<bool, Failed> {
    // The cluster names one, too.
    check_public(options.public.len(), ADDRESSES_MAX - usize::from(options.agones))?;
    interrupt::watch();
    let mut limits = Limits::default();
    limits.rooms_max = options.rooms_max as usize;
    limits.rooms_per_address_max = options.rooms_per_address_max as usize;
    limits.watch_delay = Duration::from_secs(options.watch_delay_s);
    limits.drain = Duration::from_secs(options.drain_s);
    limits.states_bytes_max = options.states_mib << 20;
    let relay = Relay::bind(&RelayOptions {
        bind: options.bind,
        public: options.public.clone(),
        metrics: options.metrics,
        web: options.web.map(|at| (at, options.web_root.clone())),
        agones: options.agones,
        connections_per_address_max: options.connections_per_address_max,
        renew_every: Duration::from_secs(options.renew_s),
        limits,
    })?;
    let shows_watch_codes = options.print_watch_codes;
    let counters = relay.run(move |news| {
        let line = line(news, shows_watch_codes);
        errln!("{line}");
        tell_script(&line, json);
    })?;
    let Some(counters) = counters else {
        // Whoever tells holds the output, and whatever else is written on it would wait, too.
        std::process::exit(1)
    };
    let report = serde_json::json!({
        "rooms": counters.rooms,
        "players_seen": counters.players_seen,
        "players_back": counters.players_back,
        "players_lost": counters.players_lost,
        "watchers_seen": counters.watchers_seen,
        "packets_refused": counters.packets_refused,
        "packets_in": counters.packets_in,
        "packets_out": counters.packets_out,
        "bytes_in": counters.bytes_in,
        "bytes_out": counters.bytes_out,
    });
    if json {
        print_json(&report);
    } else {
        let counted = report.as_object().into_iter().flatten();
        counted.for_each(|(name, count)| outln!("{:<16} {count}", name.replace('_', " ")));
    }
    Ok(true)
}

/// Prints one JSON object: nobody else reads it.
pub(crate) fn run_load(options: &RelayLoadArgs) -> Result<bool, Failed> {
    // The relay's process ends with this one.
    interrupt::watch();
    let setup = Setup { players: options.players, units: 1, seed: 1, map: None };
    let agreement = Agreement::new(&Terms { setup, turns: TURNS_MAX }, Pace::Fixed, true);
    let agreement = Agreement { any_speed: true, ..agreement };
    let relay = options.relay.as_ref().map(|code| code.parse()).transpose();
    let relay = relay.map_err(|error: JoinCodeError| Failed::usage(error.to_string()))?;
    let (rooms, time) = (options.rooms as usize, Duration::from_secs(options.seconds));
    let cores = if options.pin { Cores::OneEach } else { Cores::Any };
    let load = LoadOptions { relay, rooms, agreement, watchers: options.watchers, time, cores };
    let report = load::run(&load, |line| errln!("{line}"));
    let report = report.map_err(|error| Failed { code: 1, sentence: error.to_string() })?;
    print_json(&report);
    Ok(true)
}

/// What is told of a relay's life.
fn line(news: RelayNews, shows_watch_codes: bool) -> String {
    match news {
        RelayNews::At(code) => format!("relay at {code}"),
        RelayNews::Metrics(address) => format!("metrics at http://{address}/metrics"),
        RelayNews::Web(address, code) => {
            format!("page at http://{address}/\npage that opens a room: http://{address}/#open={code}")
        }
        RelayNews::Opened { watch } if shows_watch_codes => format!("watch: {watch}"),
        RelayNews::Opened { .. } => "a room was opened".into(),
        RelayNews::Stopping { rooms: 0 } => "stops".into(),
        RelayNews::Stopping { rooms } => {
            let rooms = count(rooms as u64, "room");
            format!("opens no more rooms, and waits for {rooms}; another signal ends at once")
        }
    }
}
