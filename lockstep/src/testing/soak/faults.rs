//! Counts what went wrong because it was meant to.

use crate::simnet::SimNetStats;
use crate::testing::soak::Faults;
use crate::testing::soak::plan::Plan;
use crate::testing::soak::summary::EventSummary;

pub(super) fn count_network(faults: &mut Faults, stats: SimNetStats) {
    faults.loss = stats.lost + stats.lost_in_bursts + stats.lost_in_queues;
    faults.duplicate = stats.duplicated;
    faults.reorder = stats.reordered;
    faults.corruption = stats.corrupted;
}

/// By the events of a peer that saw the whole match, if there is one.
pub(super) fn count_players(
    faults: &mut Faults,
    plan: &Plan,
    summary: Option<&EventSummary>,
    is_stranger: impl Fn(u8) -> bool,
) {
    let Some(summary) = summary else { return };
    let is_voted_out = |(player, _): &&(u8, u32)| plan.is_voted_out(*player);
    faults.drop = summary.dropped.len() as u64;
    faults.pause = summary.pauses;
    faults.votes = summary.dropped.iter().filter(is_voted_out).count() as u64;
    faults.late_joins = summary.back.iter().filter(|(player, _)| is_stranger(*player)).count() as u64;
    faults.rejoin = summary.back.len() as u64 - faults.late_joins;
}
