//! Everything that one run of the program found, as tables and as JSON.

use serde::Serialize;
use testudo_physics::{World, WorldDef};

use crate::engine::Settings;
use crate::engines::box2d;
use crate::memory::MemoryRow;
use crate::queries::QueryRow;
use crate::simulate::{StepRow, ThreadRow};
use crate::state::StateRow;
use crate::targets::{TargetResult, TargetRow};

/// All results, with what a reader needs to judge them.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Where and how the program ran.
    pub conditions: Conditions,
    /// Stepped scenes.
    pub simulated: Vec<StepRow>,
    /// Queries.
    pub queries: Vec<QueryRow>,
    /// Checksum, snapshot, restore.
    pub state: Vec<StateRow>,
    /// Peak memory, each engine in a process of its own.
    pub memory: Vec<MemoryRow>,
    /// The crowd on one and two threads.
    pub threads: Vec<ThreadRow>,
    /// Frames in milliseconds of Testudo in crowds of 1,000 and 50,000 that took turns.
    pub growth: Option<[f64; 2]>,
    /// Targets and whether they were reached.
    pub targets: Vec<TargetRow>,
}

/// Machine, build and settings.
#[derive(Clone, Debug, Serialize)]
pub struct Conditions {
    /// Model of the processor, as the system names it.
    pub processor: String,
    /// Architecture and system of the build.
    pub build: String,
    /// The widest instructions that Testudo uses here.
    pub instructions: &'static str,
    /// rapier2d: version and features.
    pub rapier: String,
    /// Box2D: version and compiler flags.
    pub box2d: String,
    /// Solver iterations of rapier2d and substeps of Box2D.
    pub peer_iterations: u32,
}

impl Conditions {
    /// Those of this program.
    pub fn of(settings: Settings) -> Self {
        let determinism =
            if cfg!(feature = "determinism") { "enhanced-determinism" } else { "default features" };
        let parallel = if cfg!(feature = "parallel") { " and parallel" } else { "" };
        let avx2 = if cfg!(feature = "box2d-avx2") { "AVX2" } else { "SSE2, as by default" };
        Self {
            processor: processor().unwrap_or_else(|| "unknown".to_owned()),
            build: format!("{} {}", std::env::consts::ARCH, std::env::consts::OS),
            instructions: World::new(WorldDef::new()).map_or("", |world| world.instruction_set()),
            rapier: format!("0.36.1, {determinism}{parallel}"),
            box2d: format!("{}, {}, {avx2}", box2d::version(), env!("PEERS_CFLAGS")),
            peer_iterations: settings.peer_iterations,
        }
    }
}

fn processor() -> Option<String> {
    let info = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = info.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

impl Report {
    /// All tables in Markdown.
    pub fn tables(&self) -> String {
        format!("{}\n\n{}\n{}", self.head(), self.measurements(), self.target_table())
    }

    /// Where and how the program ran.
    fn head(&self) -> String {
        let c = &self.conditions;
        format!(
            "{} ({}, {}); thread CPU time, one thread\nrapier2d {}; Box2D {}; peers at {} iterations",
            c.processor, c.build, c.instructions, c.rapier, c.box2d, c.peer_iterations
        )
    }

    /// The targets and whether they were reached.
    fn target_table(&self) -> String {
        let head = ["what", "measured", "must", "aim", "result", "note"];
        let rows: Vec<_> = self.targets.iter().map(target_cells).collect();
        if rows.is_empty() { String::new() } else { titled("Targets", &head, &rows) }
    }

    /// Everything that was measured.
    fn measurements(&self) -> String {
        let steps = [
            "scene", "bodies", "engine", "frame ms", "p99", "step ms", "write ms", "overlaps", "mean", "p99",
            "max", "in boxes", "energy", "progress",
        ];
        let queries = [
            "bodies",
            "engine",
            "area",
            "ray",
            "nearest",
            "+area",
            "+ray",
            "+nearest",
            "found",
            "truth",
            "missed",
            "hits",
            "ray error",
            "nearest error",
        ];
        let state = [
            "bodies",
            "engine",
            "checksum us",
            "covers",
            "snapshot us",
            "restore us",
            "bytes/body",
            "resumes exactly",
        ];
        let memory = ["bodies", "engine", "process MB", "engine MB"];
        let threads = ["bodies", "engine", "threads", "step ms", "p99"];
        let tables: [(&str, &[&str], Vec<Vec<String>>); 5] = [
            ("Steps", &steps, self.simulated.iter().map(step_cells).collect()),
            (
                "Queries, microseconds each; with a body created before each",
                &queries,
                self.queries.iter().map(query_cells).collect(),
            ),
            ("State", &state, self.state.iter().map(state_cells).collect()),
            ("Peak memory, crowd", &memory, self.memory.iter().map(memory_cells).collect()),
            (
                "Threads, the crowd's step by the clock on the wall",
                &threads,
                self.threads.iter().map(thread_cells).collect(),
            ),
        ];
        let filled = tables.iter().filter(|(_, _, rows)| !rows.is_empty());
        filled.map(|(title, head, rows)| titled(title, head, rows)).collect::<Vec<_>>().join("\n")
    }

    /// What a person wants to know first, as a list in Markdown.
    fn summary(&self) -> String {
        let times = |scene: &str, count: u32| -> Option<String> {
            // The widest instructions of the machine are named once.
            let named_before = format!("testudo-{}", self.conditions.instructions);
            let mut rows = self
                .simulated
                .iter()
                .filter(|row| row.scene == scene && row.count == count && row.engine != named_before);
            let time =
                |row: &StepRow| format!("{} {:.2} ms", self.shown_name(&row.engine), row.frame_ms.median);
            let first = time(rows.next()?);
            Some(rows.fold(first, |line, row| line + ", " + &time(row)))
        };
        let scenes = [
            ("A crowd of 10,000 units that push each other, per frame", "crowd", 10_000),
            ("50,000 units", "crowd", 50_000),
            ("100,000 units", "crowd", 100_000),
            (
                "50,000 bodies at rest but for 500, which are told their velocity in every frame",
                "idle-written",
                50_000,
            ),
        ];
        let lines = scenes.into_iter().filter_map(|(what, scene, count)| {
            times(scene, count).map(|times| format!("- {what}: {times}.\n"))
        });
        self.opening() + &lines.collect::<String>() + "- " + &self.targets_reached()
    }

    /// The one sentence: what a frame of a large crowd costs, and how that compares.
    fn opening(&self) -> String {
        let row = |engine: &str| {
            self.simulated
                .iter()
                .find(|row| row.scene == "crowd" && row.count == 10_000 && row.engine == engine)
        };
        let (Some(own), Some(rapier), Some(box2d)) = (row("testudo"), row("rapier"), row("box2d")) else {
            return String::new();
        };
        let [ours, rapiers, box2ds] = [own, rapier, box2d].map(|row| row.frame_ms.median);
        let [overlap, rapiers_overlap, box2ds_overlap] = [own, rapier, box2d].map(|row| row.overlap.mean);
        format!(
            "10,000 units that march through each other take {ours:.2} ms of one core per frame: {:.1} times as fast as rapier2d and {:.1} times as \
             fast as Box2D. Their mean overlap is {overlap:.3} of a unit's diameter, where rapier2d leaves {rapiers_overlap:.3} and Box2D {box2ds_overlap:.3}.\n\n",
            rapiers / ours,
            box2ds / ours,
        )
    }

    /// How many targets are reached, and which are short.
    pub fn targets_reached(&self) -> String {
        let is_short = |row: &&TargetRow| row.result == TargetResult::Short;
        let measured = self.targets.iter().filter(|row| row.result != TargetResult::NotMeasured).count();
        let short: Vec<String> = self.targets.iter().filter(is_short).map(short_of).collect();
        let reached = format!("{} of {measured} targets are reached", measured - short.len());
        if short.is_empty() { reached + "." } else { format!("{reached}. Short: {}.", short.join("; ")) }
    }

    fn shown_name(&self, engine: &str) -> String {
        match engine {
            "testudo" => self.conditions.instructions.to_uppercase(),
            "rapier" => "rapier2d".to_owned(),
            "box2d" => "Box2D".to_owned(),
            other => other.trim_start_matches("testudo-").to_owned(),
        }
    }

    /// The page of results with those of this run between its marks: `<!-- targets -->` to `<!-- end of targets -->`, and the same for `summary`.
    ///
    /// # Errors
    /// A mark that is missing.
    pub fn fill(&self, document: &str) -> Result<String, String> {
        let targets = self.target_table().replacen("### Targets\n\n", "", 1);
        between(&between(document, "summary", &self.summary())?, "targets", &targets)
    }

    /// The page of measurements with those of this run between the marks of `measurements`.
    ///
    /// # Errors
    /// A mark that is missing.
    pub fn fill_measurements(&self, document: &str) -> Result<String, String> {
        between(document, "measurements", &format!("{}\n\n{}", self.head(), self.measurements()))
    }
}

fn short_of(row: &TargetRow) -> String {
    let measured = row.measured.unwrap_or(f64::NAN);
    format!("{} ({measured:.2} {unit}, must be {:.2})", row.what, row.must, unit = row.unit)
}

fn titled(title: &str, head: &[&str], rows: &[Vec<String>]) -> String {
    format!("### {title}\n\n{}", markdown(head, rows))
}

/// `document` with other text between the marks of a name.
fn between(document: &str, name: &str, text: &str) -> Result<String, String> {
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
    let missing = |mark: &str| format!("the document has no line `{}`", mark.trim());
    let (before, rest) = document.split_once(&begin).ok_or_else(|| missing(&begin))?;
    let (_, after) = rest.split_once(&end).ok_or_else(|| missing(&end))?;
    Ok(format!("{before}{begin}\n{}\n\n{end}{after}", text.trim()))
}

fn step_cells(row: &StepRow) -> Vec<String> {
    let optional =
        |value: Option<f64>, digits| value.map_or(String::new(), |value| format!("{value:.digits$}"));
    let o = &row.overlap;
    vec![
        row.scene.clone(),
        row.count.to_string(),
        row.engine.clone(),
        format!("{:.3}", row.frame_ms.median),
        format!("{:.3}", row.frame_ms.p99),
        format!("{:.3}", row.step_ms.median),
        format!("{:.3}", row.write_ms.median),
        o.pairs.to_string(),
        format!("{:.3}", o.mean),
        format!("{:.3}", o.p99),
        format!("{:.3}", o.max),
        format!("{:.3}", o.box_max),
        optional(row.energy_kept, 4),
        optional(row.progress, 1),
    ]
}

fn query_cells(row: &QueryRow) -> Vec<String> {
    let (a, b) = (&row.plain, &row.with_creation);
    let mut cells = vec![row.count.to_string(), row.engine.clone()];
    for us in [a.area_us, a.ray_us, a.nearest_us, b.area_us, b.ray_us, b.nearest_us] {
        cells.push(format!("{us:.2}"));
    }
    cells.extend([
        format!("{:.1}", row.found_per_area),
        format!("{:.1}", row.truly_in_area),
        row.areas_short.to_string(),
        format!("{:.0} %", row.ray_hits * 100.0),
        format!("{:.4}", row.ray_error),
        format!("{:.4}", row.nearest_error),
    ]);
    cells
}

fn state_cells(row: &StateRow) -> Vec<String> {
    vec![
        row.count.to_string(),
        row.engine.clone(),
        format!("{:.1}", row.checksum_us),
        row.checksum_covers.clone(),
        format!("{:.0}", row.snapshot_us),
        format!("{:.0}", row.restore_us),
        format!("{:.1}", row.bytes_per_body),
        if row.resumes_exactly { "yes" } else { "no" }.to_owned(),
    ]
}

fn memory_cells(row: &MemoryRow) -> Vec<String> {
    let megabytes = |bytes: u64| format!("{:.1}", bytes as f64 / 1e6);
    let own = row.peak_bytes - row.harness_bytes;
    vec![row.count.to_string(), row.engine.clone(), megabytes(row.peak_bytes), megabytes(own)]
}

fn thread_cells(row: &ThreadRow) -> Vec<String> {
    let (count, threads) = (row.count.to_string(), row.threads.to_string());
    let times = [row.wall_ms.median, row.wall_ms.p99].map(|ms| format!("{ms:.3}"));
    [count, row.engine.clone(), threads].into_iter().chain(times).collect()
}

fn target_cells(row: &TargetRow) -> Vec<String> {
    let value = |value: f64| format!("{value:.2} {}", row.unit);
    vec![
        row.what.clone(),
        row.measured.map_or("-".to_owned(), value),
        value(row.must),
        value(row.aim),
        match row.result {
            TargetResult::Aim => "pass, aim reached",
            TargetResult::Pass => "pass",
            TargetResult::Short => "SHORT",
            TargetResult::NotMeasured => "not measured",
        }
        .to_owned(),
        row.note.clone(),
    ]
}

/// A Markdown table with aligned columns.
fn markdown(head: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .chain([head[column].chars().count()])
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |cells: Vec<&str>| {
        let padded: Vec<String> =
            cells.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}")).collect();
        format!("| {} |\n", padded.join(" | "))
    };
    let rule: Vec<String> = widths.iter().map(|&width| "-".repeat(width)).collect();
    let mut text = line(head.to_vec()) + &line(rule.iter().map(String::as_str).collect());
    for row in rows {
        text += &line(row.iter().map(String::as_str).collect());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_between_marks_is_replaced() {
        let document = "a\n<!-- x -->\nold\n<!-- end of x -->\nb\n";
        let filled = "a\n<!-- x -->\n\nnew\n\n<!-- end of x -->\nb\n";
        assert_eq!(between(document, "x", "new\n").as_deref(), Ok(filled));
        assert_eq!(between(filled, "x", "new").as_deref(), Ok(filled));
        assert!(between(document, "y", "new").is_err());
    }

    #[test]
    fn tables_are_aligned() {
        let text = markdown(&["a", "long"], &[vec!["xyz".into(), "1".into()]]);
        assert_eq!(text, "| a   | long |\n| --- | ---- |\n| xyz | 1    |\n");
    }
}
