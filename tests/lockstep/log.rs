//! What the library logs.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use crate::play::Play as _;
use crate::toy::{latency, toy_match};
use testudo_lockstep::{Duration, SessionConfig};
use tracing::field::Field;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Keeps the lines that have this message, with their fields.
struct Lines(&'static str, Arc<Mutex<Vec<String>>>);

impl Subscriber for Lines {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        let mut line = String::new();
        event.record(&mut |field: &Field, value: &dyn Debug| line += &format!("{field}={value:?} "));
        if line.contains(&format!("message={} ", self.0)) {
            self.1.lock().unwrap().push(line);
        }
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// The lines with this message that are logged meanwhile.
pub(crate) fn logged(message: &'static str, run: impl FnOnce()) -> Vec<String> {
    let lines = Arc::default();
    tracing::subscriber::with_default(Lines(message, Arc::clone(&lines)), run);
    Arc::into_inner(lines).expect("nobody else has it").into_inner().unwrap()
}

/// With the length of the turn, and who sets it.
#[test]
fn each_turn_is_a_line_of_the_performance_log() {
    let lines = logged("turn", || {
        let mut game = toy_match(&SessionConfig::article(2).simulated().turns(40), 0, 1, latency(250));
        game.session_mut(1).note_frame_time(Duration::from_millis(60));
        assert!(game.idle(600_000));
    });
    let of_turn = |turn| lines.iter().filter(move |line| line.contains(&format!(" turn={turn} ")));
    assert!(lines.len() == 80 && (0..40).all(|turn| of_turn(turn).count() == 2), "{lines:#?}");
    for part in
        ["network_by=", "runtime_by=1", "runtime_ms=", "frames=", "frames_per_second=16", "stalled_frames="]
    {
        assert!(of_turn(20).all(|line| line.contains(part)), "no {part}: {:?}", lines[40]);
    }
}
