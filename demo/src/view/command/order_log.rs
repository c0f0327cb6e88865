//! Notes for scripts that play with mouse and keys: orders, positions on the screen, events. One JSON object per line.

use std::collections::BTreeMap;

use macroquad::math::Rect;
use serde_json::{Value, json};
use testudo_lockstep::simnet::{LinkConfig, Transport};

use crate::app::Desync;
use testudo_battle::{Order, OrderPoint, Selection, Setup, UNIT};
use testudo_cubes::Input;
use testudo_render::battle::foresight::Foresight;
use testudo_render::paint::camera::Camera;
use testudo_render::paint::screen;

/// Where the notes go.
#[cfg_attr(target_arch = "wasm32", allow(dead_code))]
pub(crate) enum Sink {
    Nowhere,
    #[cfg(not(target_arch = "wasm32"))]
    File(std::fs::File),
    /// The console of the browser, which the script reads.
    #[cfg(target_arch = "wasm32")]
    Page,
}

/// Writes notes. The program itself writes them, because the scripts that play in the real window and in a browser (`demo/tests/window`,
/// `demo/tests/web`) learn from them where to click, and what has happened.
pub(crate) struct OrderLog {
    sink: Sink,
    places: BTreeMap<String, [i32; 4]>,
    /// The camera in the picture before, and whether that was written.
    camera: ([f32; 3], bool),
}

impl OrderLog {
    pub(crate) fn new(sink: Sink) -> Self {
        Self { sink, places: BTreeMap::new(), camera: ([0.0; 3], true) }
    }

    /// Whether notes are written.
    pub(crate) fn is_on(&self) -> bool {
        !matches!(self.sink, Sink::Nowhere)
    }

    /// Writes a note as it is.
    pub(crate) fn write(&mut self, line: &Value) {
        match &mut self.sink {
            Sink::Nowhere => {}
            #[cfg(not(target_arch = "wasm32"))]
            Sink::File(file) => {
                use std::io::Write as _;
                // A full disk must not end the match.
                if writeln!(file, "{line}").is_err() {
                    self.sink = Sink::Nowhere;
                }
            }
            #[cfg(target_arch = "wasm32")]
            Sink::Page => macroquad::miniquad::info!("{}", line),
        }
    }

    /// An order that the session has accepted.
    pub(crate) fn order(&mut self, player: u8, turn: u32, order: &Order, units: usize) {
        let (command, place) = named(order);
        let selection = match &order.units {
            Selection::All => "all",
            Selection::Group(_) => "group",
            Selection::Area(_) => "area",
            Selection::Units(_) => "units",
        };
        self.write(&json!({
            "event": "order", "player": player, "turn": turn, "command": command, "place": place,
            "queued": order.is_queued, "selection": selection, "units": units,
        }));
    }

    /// An order runs in this turn.
    pub(crate) fn ran(&mut self, player: u8, turn: u32, order: &Order) {
        let (command, place) = named(order);
        self.write(&json!({
            "event": "ran", "player": player, "turn": turn, "command": command, "place": place,
        }));
    }

    /// After this many turns all copies had this checksum.
    pub(crate) fn checksum(&mut self, turns: u32, checksum: u64) {
        self.write(&json!({ "event": "checksum", "turns": turns, "value": format!("{checksum:016x}") }));
    }

    /// The match of a window with a simulated network.
    pub(crate) fn started(&mut self, setup: &Setup, link: &LinkConfig) {
        let map = setup.map.map_or("open", |map| map.name.as_str());
        self.note(
            "match",
            json!({
                "seed": setup.seed, "units": setup.units, "map": map,
                "loss_ppm": link.loss_ppm, "latency_ms": link.latency.as_millis(),
            }),
        );
    }

    /// Writes where the camera is and its scale, once it has come to rest there: units, pixels per unit.
    pub(crate) fn camera(&mut self, camera: &Camera) {
        let now = [camera.centre.x, camera.centre.y, camera.scale];
        let (before, is_written) = self.camera;
        if now != before {
            self.camera = (now, false);
        } else if !is_written {
            self.camera.1 = true;
            let tenths = now.map(|value| (value * 10.0).round() / 10.0);
            self.note("camera", json!(tenths));
        }
    }

    /// This many units are selected now.
    pub(crate) fn selection(&mut self, player: u8, units: usize) {
        self.write(&json!({ "event": "selection", "player": player, "units": units }));
    }

    /// A side of the cubes has held other keys since this frame; with the position of its cube, raw units with 16 fraction bits.
    pub(crate) fn keys(&mut self, side: u8, frame: u32, held: Input, place: [i64; 2]) {
        let names = ["left", "right", "up", "down", "space", "z"];
        let keys = [held.left, held.right, held.up, held.down, held.space, held.z];
        let held: Vec<&str> =
            names.into_iter().zip(keys).filter(|(_, is_held)| *is_held).map(|(name, _)| name).collect();
        self.write(&json!({
            "event": "keys", "side": side, "frame": frame, "keys": held.join(" "), "place": place,
        }));
    }

    pub(crate) fn network(&mut self, link: &LinkConfig) {
        let transport = match link.transport {
            Transport::Udp => "udp",
            Transport::Tcp => "tcp",
            _ => "another",
        };
        self.write(&json!({
            "event": "network", "transport": transport, "latency_ms": link.latency.as_millis(), "jitter_ms": link.jitter.as_millis(),
            "loss_ppm": link.loss_ppm, "duplicate_ppm": link.duplicate_ppm, "reorder_ppm": link.reorder_ppm,
        }));
    }

    pub(crate) fn desync(&mut self, desync: &Desync) {
        let number = desync.number.as_ref();
        let values = number
            .map(|number| number.values.iter().map(|value| value.map(|raw| raw as i64)).collect::<Vec<_>>());
        self.write(&json!({
            "event": "desync", "turn": desync.turn, "frame": desync.frame, "body": desync.body(),
            "field": number.map(|number| number.field), "values": values,
            "outlier": desync.outlier,
        }));
    }

    /// How a side's predictions came out: turns, corrections, and how far units were off, in thousandths of a unit.
    pub(crate) fn foreseen(&mut self, player: u8, foresight: &Foresight) {
        let (stats, off) = (foresight.stats(), foresight.corrections());
        let milli = |raw: u64| raw * 1_000 / UNIT as u64;
        self.write(&json!({
            "event": "foreseen", "player": player, "turns_right": stats.turns_right, "turns_wrong": stats.turns_wrong,
            "corrections": stats.corrections, "frames": stats.frames, "copies": stats.copies,
            "off_mean": milli(off.mean()), "off_p99": milli(off.percentile(99)), "off_most": milli(off.greatest()),
            "cost_us": foresight.cost().as_micros(), "right_percent": (foresight.right_percent() * 10.0).round() / 10.0,
        }));
    }

    /// The window is closed: turns that were compared, checksums of the copies, and whether they were always equal.
    pub(crate) fn end(&mut self, turns: u32, checksums: &[String], agree: bool) {
        self.write(&json!({ "event": "end", "turns": turns, "checksums": checksums, "agree": agree }));
    }

    /// A replay has reached a requested frame.
    pub(crate) fn stands(&mut self, frame: u64, turn: u32, checksum: u64) {
        let checksum = format!("{checksum:016x}");
        self.write(&json!({ "event": "stands", "frame": frame, "turn": turn, "checksum": checksum }));
    }

    /// A replay has been compared with its recording.
    pub(crate) fn checked(&mut self, turns: u32, divergent_turn: Option<u32>) {
        self.write(&json!({ "event": "checked", "turns": turns, "divergent_turn": divergent_turn }));
    }

    /// An event with a name and a value.
    pub(crate) fn note(&mut self, event: &str, value: impl Into<Value>) {
        self.write(&json!({ "event": event, "value": value.into() }));
    }

    /// Positions of widgets; written if they have changed.
    pub(crate) fn places<'a>(&mut self, places: impl Iterator<Item = (&'a str, Rect)>) {
        if matches!(self.sink, Sink::Nowhere) {
            return;
        }
        // Scripts move the mouse in pixels of the desktop.
        let pixels = screen::desktop();
        let whole = |rect: Rect| [rect.x, rect.y, rect.w, rect.h].map(|length| (length * pixels) as i32);
        let places: BTreeMap<String, [i32; 4]> =
            places.map(|(name, rect)| (name.into(), whole(rect))).collect();
        if places != self.places {
            self.write(&json!({ "event": "places", "places": places }));
            self.places = places;
        }
    }
}

/// An order's name, and the place where it leads in whole units.
fn named(order: &Order) -> (&'static str, Option<[i32; 2]>) {
    let point = order.command.goal().map(OrderPoint::point);
    (order.command.name(), point.map(|point| [point.x / 65_536, point.y / 65_536]))
}
