//! What a match looked like: the JSON object, and the summary for people.

use serde::Serialize;

use super::fault::Desync;

/// Result of a match. The names of the fields are the keys of `--json`.
#[derive(Debug, Serialize)]
pub struct Report {
    pub players: u8,
    pub turns: u32,
    pub frames: u32,
    pub seed: u64,
    pub final_checksum: String,
    pub checksums_agree: bool,
    pub first_divergent_turn: Option<u32>,
    pub client_checksums: Vec<String>,
    pub client_steps: Vec<u32>,
    pub stalled_frames: u64,
    pub stalled_fraction: f64,
    pub turn_ms_mean: f64,
    pub delivered_fraction: f64,
    pub bytes_per_second_per_player: f64,
    pub host_bytes_per_second: f64,
    pub step_ms_median: f64,
    pub step_ms_p99: f64,
    pub bodies: u32,
    pub contacts_mean: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub desync: Option<Desync>,
}

/// 16 hex digits.
pub fn hex(checksum: u64) -> String {
    format!("{checksum:016x}")
}

/// Median and 99th percentile of microseconds, in milliseconds.
pub fn step_times(step_us: &mut [u32]) -> (f64, f64) {
    step_us.sort_unstable();
    let at =
        |percent: usize| step_us.get(step_us.len() * percent / 100).map_or(0.0, |&us| f64::from(us) / 1e3);
    (at(50), at(99))
}

impl Report {
    /// One JSON object.
    pub fn print_json(&self) {
        match serde_json::to_string_pretty(self) {
            Ok(text) => println!("{text}"),
            Err(error) => println!("{{\"error\": \"{error}\"}}"),
        }
    }

    /// A few lines for people. `link` describes the network in words.
    pub fn print_summary(&self, link: &str) {
        let seconds = f64::from(self.turns) * self.turn_ms_mean / 1e3;
        println!();
        println!(
            "Match over: {} turns ({} frames, {seconds:.0} s of game) on {link}",
            self.turns, self.frames
        );
        println!("  players         {}, each simulating all {} bodies on its own", self.players, self.bodies);
        if self.checksums_agree {
            println!("  checksums       all equal in every turn; the last one is {}", self.final_checksum);
        } else {
            let turn = self.first_divergent_turn.map_or(String::new(), |t| format!(" from turn {t} on"));
            println!("  checksums       DIFFERENT{turn}: {}", self.client_checksums.join(", "));
        }
        println!(
            "  stalls          {} frames ({:.1} %) in which a player had to wait for the network",
            self.stalled_frames,
            self.stalled_fraction * 100.0
        );
        println!(
            "  traffic         {:.0} bytes per second and player (host: {:.0}), however many units there are",
            self.bytes_per_second_per_player, self.host_bytes_per_second
        );
        println!(
            "  one step        {:.2} ms (99 % below {:.2} ms), with {:.0} contacts on average",
            self.step_ms_median, self.step_ms_p99, self.contacts_mean
        );
    }
}
