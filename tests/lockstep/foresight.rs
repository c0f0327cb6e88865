//! Prediction of thousands of units over networks with round trips of 100 to 300 ms and losses of a twentieth.

use crate::crowd::{Plan, Told, play};

/// The crowds are small here; the example `foresight` plays the same matches with thousands of units, and measures.
const UNITS: u32 = 120;

fn both(round_trip_ms: u64) -> [Told; 2] {
    [true, false].map(|predicts| {
        let plan = Plan { units: UNITS, round_trip_ms, seconds: 20, predicts };
        play(plan, &mut |follow| _ = follow(4))
    })
}

#[test]
fn own_orders_move_units_in_the_next_frame_and_the_truth_stays() {
    for round_trip_ms in [100, 200, 300] {
        let [with, without] = both(round_trip_ms);
        let what = format!("{round_trip_ms} ms");
        assert_eq!(with.checksums, without.checksums, "{what}: the match is the same");
        let turns = with.checksums[0].len().min(with.checksums[1].len());
        assert_eq!(with.checksums[0][..turns], with.checksums[1][..turns], "{what}: on both peers");
        assert!(turns > 60 && with.orders >= 5, "{what}: {turns}, {}", with.orders);
        assert!(with.seen_after.iter().all(|frames| *frames == 1), "{what}: {:?}", with.seen_after);
        // Two turns and what was left of a third.
        let least = without.seen_after.iter().min().copied().unwrap_or(0);
        assert!(least >= 2, "{what}: without prediction {:?}", without.seen_after);
        assert!(with.work_max <= 4 && with.depth_max <= 20, "{what}: {with:?}");
        // A unit walks four units of length per second: whatever was predicted, it is off by no more than it walks in the depth there and back.
        let farthest = u64::from(with.depth_max) * 2 * 4 * 65_536 / 20;
        let corrections = &with.corrections;
        assert!(corrections.wrong() > 100 && corrections.greatest() < farthest, "{what}: {corrections:?}");
        // Most orders are known half a round trip after they were given, and the prediction has begun their turn a turn before: that much is wrong.
        let turn = u64::from(with.depth_max + 1) / 3;
        let late = turn + round_trip_ms.div_ceil(2 * 50) + 1;
        assert!(
            corrections.percentile(99) < late * 2 * 4 * 65_536 / 20,
            "{what}: {}",
            corrections.percentile(99)
        );
    }
}
