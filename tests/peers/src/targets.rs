//! The targets of the project's performance page, and whether a run reached them.

use serde::Serialize;

use crate::engine::Contender::{self, Box2d, Rapier, Testudo, TestudoAvx2, TestudoSse42};
use crate::memory::MemoryRow;
use crate::queries::{QueryRow, QueryTimes};
use crate::report::Report;
use crate::simulate::StepRow;
use crate::state::StateRow;

/// How a target was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetResult {
    /// Both the required and the desired value.
    Aim,
    /// The required value.
    Pass,
    /// Less, or at worse quality than the peer's.
    Short,
    /// Something that it compares was not run.
    NotMeasured,
}

/// One row of the table of targets.
#[derive(Clone, Debug, Serialize)]
pub struct TargetRow {
    /// The quantity compared.
    pub what: String,
    /// The value found.
    pub measured: Option<f64>,
    /// Its unit: `x` for the peer's time divided by ours.
    pub unit: &'static str,
    /// Required.
    pub must: f64,
    /// Desired.
    pub aim: f64,
    /// Result.
    pub result: TargetResult,
    /// Quality of both sides, or what the value is made of.
    pub note: String,
}

/// Which side of the limits is the good one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Better {
    More,
    Less,
}

/// A value found, whether the condition that goes with it holds, and a note.
struct Found {
    value: f64,
    condition: bool,
    note: String,
}

impl Found {
    fn plain(value: f64) -> Self {
        Self { value, condition: true, note: String::new() }
    }
}

/// All targets against `report`. Times are medians of writes and step together.
pub fn targets(report: &Report) -> Vec<TargetRow> {
    let mut rows = Vec::new();
    let mut add = |what: String, unit, better, [must, aim]: [f64; 2], found: Option<Found>| {
        rows.push(target_row(what, unit, better, must, aim, found));
    };
    let more = |wanted| ("x", Better::More, wanted);
    for (ours, scene, count, peer, wanted) in [
        (Testudo, "crowd", 10_000, Some(Rapier), [9.5, 12.0]),
        (Testudo, "crowd", 10_000, Some(Box2d), [8.0, 10.0]),
        (TestudoAvx2, "crowd", 10_000, Some(Rapier), [8.0, 10.0]),
        (TestudoAvx2, "crowd", 10_000, Some(Box2d), [6.5, 8.5]),
        (TestudoSse42, "crowd", 10_000, Some(Rapier), [6.5, 8.0]),
        (TestudoSse42, "crowd", 10_000, Some(Box2d), [5.5, 7.0]),
        (Testudo, "crowd", 1_000, None, [5.5, 8.0]),
        (Testudo, "crowd", 50_000, None, [10.5, 15.0]),
        (Testudo, "gather", 10_000, Some(Rapier), [8.0, 11.0]),
        (Testudo, "gather", 10_000, Some(Box2d), [8.0, 11.0]),
        (Testudo, "churn", 10_000, None, [9.4, 13.0]),
    ] {
        let against = peer.map_or("better peer", Contender::name);
        let (unit, better, wanted) = more(wanted);
        let what = format!("{scene} {count}, {} against {against}", ours.name());
        add(what, unit, better, wanted, step_ratio(report, scene, count, ours, peer, no_deeper));
    }
    let bounce = step_ratio(report, "bounce", 10_000, Testudo, None, keeps_energy);
    add("bounce 10000 against better peer, energy >= 0.999".into(), "x", Better::More, [9.5, 11.0], bounce);
    let frame = step(report, "crowd", 100_000, Testudo).map(|row| Found::plain(row.frame_ms.median));
    add("crowd 100000 on one core".into(), "ms", Better::Less, [21.0, 15.0], frame);
    let written = |engine| step(report, "idle-written", 50_000, engine);
    let idle = written(Testudo).zip(written(Box2d));
    let idle = idle.map(|(ours, peer)| Found::plain(ours.frame_ms.median / peer.frame_ms.median));
    let what = "idle 50000, 500 told their velocity in every frame, part of box2d's time";
    add(what.into(), "of it", Better::Less, [0.85, 0.6], idle);
    for (name, of, wanted) in QUERY_KINDS {
        for with_creation in [false, true] {
            let what =
                format!("{name}{} against better peer", if with_creation { " + creation" } else { "" });
            add(what, "x", Better::More, wanted, query_ratio(report, of, with_creation));
        }
    }
    let saved = state(report, Testudo).zip(state(report, Box2d)).map(|(ours, peer)| Found {
        value: (peer.snapshot_us + peer.restore_us) / (ours.snapshot_us + ours.restore_us),
        condition: ours.resumes_exactly,
        note: String::new(),
    });
    add("snapshot + restore against box2d".into(), "x", Better::More, [20.0, 50.0], saved);
    let bytes = state(report, Testudo).map(|row| Found::plain(row.bytes_per_body));
    add("snapshot per body, contacts included".into(), "bytes", Better::Less, [72.0, 48.0], bytes);
    let checksum = state(report, Testudo).zip(state(report, Rapier)).zip(state(report, Box2d));
    let checksum = checksum.map(|((ours, rapier), box2d)| Found {
        value: rapier.checksum_us.min(box2d.checksum_us) / ours.checksum_us,
        condition: true,
        note: format!("{} against {}", ours.checksum_covers, box2d.checksum_covers),
    });
    add("checksum against better peer".into(), "x", Better::More, [3.0, 5.0], checksum);
    for count in [10_000, 50_000] {
        let memory = |engine: Contender| {
            report.memory.iter().find(|row| row.count == count && row.engine == engine.name())
        };
        let share = memory(Testudo).zip(memory(Box2d)).map(|(ours, peer)| {
            let own = |row: &MemoryRow| (row.peak_bytes - row.harness_bytes) as f64;
            let whole = ours.peak_bytes as f64 / peer.peak_bytes as f64;
            let note = format!("without program and scene; with them {whole:.2}");
            Found { value: own(ours) / own(peer), condition: true, note }
        });
        let what = format!("peak memory, crowd {count}, part of box2d's");
        add(what, "of it", Better::Less, [1.0 / 3.0, 0.2], share);
    }
    for (count, wanted) in [(10_000, [1.25, 1.4]), (50_000, [1.5, 1.7])] {
        let wall = |threads: usize| {
            let mut rows = report.threads.iter();
            let found =
                rows.find(|row| row.count == count && row.threads == threads && row.engine == Testudo.name());
            found.map(|row| row.wall_ms.median)
        };
        let gain = wall(1).zip(wall(2)).map(|(one, two)| Found::plain(one / two));
        add(format!("crowd {count}, two threads against one"), "x", Better::More, wanted, gain);
    }
    let growth = report.growth.map(|[few, many]| Found::plain(many / 50.0 / few));
    add("time per body, crowd 50000 by crowd 1000".into(), "x", Better::Less, [1.3, 1.15], growth);
    rows
}

type TimeOf = fn(&QueryTimes) -> f64;

const QUERY_KINDS: [(&str, TimeOf, [f64; 2]); 3] = [
    ("area", |times| times.area_us, [2.0, 3.0]),
    ("ray", |times| times.ray_us, [2.0, 3.0]),
    ("nearest", |times| times.nearest_us, [2.0, 3.0]),
];

fn target_row(
    what: String,
    unit: &'static str,
    better: Better,
    must: f64,
    aim: f64,
    found: Option<Found>,
) -> TargetRow {
    let reaches =
        |value: f64, limit: f64| if better == Better::More { value >= limit } else { value <= limit };
    let result = match &found {
        None => TargetResult::NotMeasured,
        Some(found) if !found.condition || !reaches(found.value, must) => TargetResult::Short,
        Some(found) if reaches(found.value, aim) => TargetResult::Aim,
        Some(_) => TargetResult::Pass,
    };
    let measured = found.as_ref().map(|found| found.value);
    TargetRow {
        what,
        measured,
        unit,
        must,
        aim,
        result,
        note: found.map_or(String::new(), |found| found.note),
    }
}

fn step<'a>(report: &'a Report, scene: &str, count: u32, engine: Contender) -> Option<&'a StepRow> {
    report
        .simulated
        .iter()
        .find(|row| row.scene == scene && row.count == count && row.engine == engine.name())
}

fn state(report: &Report, engine: Contender) -> Option<&StateRow> {
    report.state.iter().find(|row| row.count == 10_000 && row.engine == engine.name())
}

/// The peer's time by ours, with `condition` on both rows; without a named peer the faster one counts.
fn step_ratio(
    report: &Report,
    scene: &str,
    count: u32,
    ours: Contender,
    peer: Option<Contender>,
    condition: fn(&StepRow, &StepRow) -> (bool, String),
) -> Option<Found> {
    let ours = step(report, scene, count, ours)?;
    let peer = match peer {
        Some(peer) => step(report, scene, count, peer)?,
        None => {
            let (rapier, box2d) = (step(report, scene, count, Rapier)?, step(report, scene, count, Box2d)?);
            if rapier.frame_ms.median < box2d.frame_ms.median { rapier } else { box2d }
        }
    };
    let (condition, note) = condition(ours, peer);
    Some(Found { value: peer.frame_ms.median / ours.frame_ms.median, condition, note })
}

/// Whether our overlaps are no deeper than the peer's, in the mean and at p99.
fn no_deeper(ours: &StepRow, peer: &StepRow) -> (bool, String) {
    let (a, b) = (&ours.overlap, &peer.overlap);
    let good = a.mean <= b.mean && a.p99 <= b.p99;
    let word = if good { "no deeper" } else { "DEEPER" };
    (good, format!("{word}: {:.3}/{:.3}, {} {:.3}/{:.3}", a.mean, a.p99, peer.engine, b.mean, b.p99))
}

/// Whether we keep the energy of a scene without losses.
fn keeps_energy(ours: &StepRow, peer: &StepRow) -> (bool, String) {
    let kept = |row: &StepRow| row.energy_kept.unwrap_or(0.0);
    let good = (0.999..1.001).contains(&kept(ours));
    (good, format!("energy {:.4}, {} {:.4}", kept(ours), peer.engine, kept(peer)))
}

/// The faster peer's time by ours; only right answers count.
fn query_ratio(report: &Report, of: TimeOf, with_creation: bool) -> Option<Found> {
    let row = |engine: Contender| report.queries.iter().find(|row| row.engine == engine.name());
    let time = |row: &QueryRow| of(if with_creation { &row.with_creation } else { &row.plain });
    let (ours, rapier, box2d) = (row(Testudo)?, row(Rapier)?, row(Box2d)?);
    let right = ours.areas_short == 0 && ours.ray_error < 0.01 && ours.nearest_error < 0.01;
    let note = if right { String::new() } else { "WRONG ANSWERS".to_owned() };
    Some(Found { value: time(rapier).min(time(box2d)) / time(ours), condition: right, note })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(better: Better, value: f64, condition: bool) -> TargetResult {
        let found = Found { value, condition, note: String::new() };
        let (must, aim) = if better == Better::More { (4.0, 8.0) } else { (8.0, 4.0) };
        target_row(String::new(), "x", better, must, aim, Some(found)).result
    }

    #[test]
    fn results_on_both_sides_of_both_limits() {
        assert_eq!(result(Better::More, 3.9, true), TargetResult::Short);
        assert_eq!(result(Better::More, 4.0, true), TargetResult::Pass);
        assert_eq!(result(Better::More, 8.0, true), TargetResult::Aim);
        assert_eq!(result(Better::Less, 8.1, true), TargetResult::Short);
        assert_eq!(result(Better::Less, 8.0, true), TargetResult::Pass);
        assert_eq!(result(Better::Less, 4.0, true), TargetResult::Aim);
        assert_eq!(
            result(Better::More, 100.0, false),
            TargetResult::Short,
            "speed at worse quality is not speed"
        );
        assert_eq!(
            target_row(String::new(), "x", Better::More, 1.0, 2.0, None).result,
            TargetResult::NotMeasured
        );
    }
}
