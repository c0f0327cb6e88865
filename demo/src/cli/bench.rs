//! `bench`: what the engines, lockstep and pictures cost, as a table or as JSON.

use std::time::Duration;

use testudo_bench::{
    DrawingResult, LockstepResult, SCENES_COUNT, SceneResult, measure_drawing, measure_lockstep,
    measure_scenes,
};
use testudo_lockstep::testing::soak::{Plan, SoakReport, play};

use super::Failed;
use crate::app::{Battle, MatchError};
use crate::cli::args::BenchArgs;
use crate::cli::headless::progress_bar;
use crate::console::outln;

/// Measures with a progress bar on standard error, and prints.
pub(super) fn bench(options: &BenchArgs, json: bool) -> Result<bool, Failed> {
    if options.drawing {
        print_drawing(&measure_drawing().map_err(MatchError::from)?, json);
        return Ok(true);
    }
    let bar = progress_bar("scene", SCENES_COUNT as u64 + 1);
    bar.enable_steady_tick(Duration::from_millis(200));
    let mut begun = 0;
    let scenes = measure_scenes(options.portable, |name, n| {
        bar.set_position(begun);
        bar.set_message(format!("{name} with {n} bodies"));
        begun += 1;
    });
    bar.set_position(begun);
    bar.set_message("lockstep");
    let lockstep = measure_lockstep(soak);
    bar.finish_and_clear();
    print(&scenes, &lockstep, json);
    Ok(true)
}

fn soak(plan: &Plan) -> SoakReport {
    let battle = Battle::new(plan).unwrap_or_else(|error| unreachable!("setups are valid: {error:?}"));
    play(plan, &battle)
}

/// Prints the results on standard output.
fn print(results: &[SceneResult], lockstep: &LockstepResult, json: bool) {
    if json {
        outln!("{:#}", serde_json::json!({ "scenes": results, "lockstep": lockstep }));
        return;
    }
    outln!(
        "                  step, ms            penetration            contacts  energy    state, us: checksum, snapshot,"
    );
    outln!(
        "scene    bodies   median    p99       mean   p99    max                kept      restore, from_bytes; bytes per body; peak memory"
    );
    for r in results {
        let energy = r.energy_kept.map_or("-".to_owned(), |kept| format!("{kept:.4}"));
        let memory =
            r.peak_memory_bytes.map_or("-".to_owned(), |bytes| format!("{:.1} MB", bytes as f64 / 1e6));
        outln!(
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
    outln!();
    outln!(
        "Step: writing the units' velocities and one World::step, one thread. Penetration: overlapping discs of diameter 1"
    );
    outln!("at the end, in units. Memory: of the process so far, over what it had before the first scene.");
    print_lockstep(lockstep);
}

/// Prints the cost of pictures on standard output.
fn print_drawing(results: &[DrawingResult], json: bool) {
    if json {
        outln!("{:#}", serde_json::json!({ "drawing": results }));
        return;
    }
    outln!("                                 picture, us        memory, us");
    outln!("view            units  shapes   median    p99    median    p99");
    for r in results {
        outln!(
            "{:14} {:6.0} {:7.0}   {:6} {:6}    {:6} {:6}",
            r.view,
            r.units,
            r.shapes,
            r.picture_us_median,
            r.picture_us_p99,
            r.memory_us_median,
            r.memory_us_p99
        );
    }
    outln!();
    outln!(
        "Processor time of one view up to its vertices: the scene and the small map, and what is remembered between pictures."
    );
}

fn print_lockstep(r: &LockstepResult) {
    outln!();
    outln!(
        "Lockstep, {} players, an order of each in every turn of 200 ms, without a simulation:",
        r.players
    );
    outln!(
        "  a turn       {:.1} us at the host of a star, which forwards; {:.1} us at a client; {:.1} us in a mesh",
        r.turn_host_us,
        r.turn_client_us,
        r.turn_mesh_us
    );
    outln!(
        "  a packet     of three turns of all players, {} bytes: {:.0} ns to encode, {:.0} ns to decode and check",
        r.packet_bytes,
        r.packet_encode_ns,
        r.packet_decode_ns
    );
    outln!(
        "  soak         {:.0} times real time on one core ({} four-player stars)",
        r.soak_times_real_time,
        r.soak_games
    );
}
