//! The results as a table or as JSON.

use super::SceneResult;

/// Prints the results on standard output.
pub(crate) fn print(results: &[SceneResult], json: bool) {
    if json {
        println!("{:#}", serde_json::json!({ "scenes": results }));
        return;
    }
    println!(
        "                  step, ms            penetration            contacts  energy    state, us: checksum, snapshot,"
    );
    println!(
        "scene    bodies   median    p99       mean   p99    max                kept      restore, from_bytes; bytes per body; peak memory"
    );
    for r in results {
        let energy = r.energy_kept.map_or("-".to_owned(), |kept| format!("{kept:.4}"));
        let memory =
            r.peak_memory_bytes.map_or("-".to_owned(), |bytes| format!("{:.1} MB", bytes as f64 / 1e6));
        println!(
            "{:8} {:6}  {:8.3} {:8.3}   {:6.3} {:6.3} {:6.3}  {:8}  {:8}  {:6.0} {:6.0} {:6.0} {:6.0}  {:5.1} B  {memory}",
            r.name,
            r.n,
            r.step_ms_median,
            r.step_ms_p99,
            r.penetration_mean,
            r.penetration_p99,
            r.penetration_max,
            r.contacts,
            energy,
            r.checksum_us,
            r.snapshot_us,
            r.restore_us,
            r.from_bytes_us,
            r.bytes_per_body,
        );
    }
    println!();
    println!(
        "Step: writing the units' velocities and one World::step, one thread. Penetration: overlapping discs of diameter 1"
    );
    println!("at the end, in units. Memory: of the process so far, over what it had before the first scene.");
}
