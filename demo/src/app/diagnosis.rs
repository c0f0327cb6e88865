//! Comparing all clients' copies turn by turn: when, where and in whom they differ first.

use crate::app::client::TurnRecord;
use crate::game::{BodyField, BodyState};

/// The first difference between the copies of a match.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Desync {
    pub(crate) turn: u32,
    /// Number of the frame over the whole match.
    pub(crate) frame: u32,
    /// What differs; none if the bodies' positions and velocities are all equal and the difference lies elsewhere.
    pub(crate) body: Option<BodyDifference>,
    /// The client whose copy differs from what all others, and the witness if there is one, agree on; none when there is no
    /// such majority.
    pub(crate) outlier: Option<u8>,
}

/// The first body, by slot, and its first field that differ.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct BodyDifference {
    pub(crate) slot: u32,
    pub(crate) field: BodyField,
    /// Raw value in each client's copy; none where there is no such body.
    pub(crate) values: Vec<Option<i32>>,
}

/// Compares the clients' records of one turn. `first_frame` is the number of the turn's first frame.
pub(crate) fn compare(records: &[TurnRecord], turn: u32, first_frame: u32) -> Option<Desync> {
    let first = records.first()?;
    if records.iter().all(|record| record.checksum == first.checksum) {
        return None;
    }
    let checksums: Vec<u64> = records.iter().map(|record| record.checksum).collect();
    let witness = records.iter().find_map(|record| record.witness);
    let differs =
        |frame: &usize| records.iter().any(|record| record.frames.get(*frame) != first.frames.get(*frame));
    let frames = first.frames.len();
    let frame = (0..frames).find(differs).unwrap_or(frames.saturating_sub(1)) as u32;
    Some(Desync {
        turn,
        frame: first_frame + frame,
        body: body_difference(records),
        outlier: outlier(&checksums, witness),
    })
}

/// The only one that differs from all others; between two voices nobody can tell.
fn outlier(checksums: &[u64], witness: Option<u64>) -> Option<u8> {
    let alone = |(player, checksum): (usize, &u64)| {
        let others = checksums.iter().enumerate().filter(|(other, _)| *other != player).map(|(_, sum)| sum);
        let voices: Vec<&u64> = others.chain(&witness).collect();
        let agree = voices.len() > 1 && voices.iter().all(|voice| *voice == voices[0]);
        (agree && voices[0] != checksum).then_some(player as u8)
    };
    checksums.iter().enumerate().find_map(alone)
}

fn body_difference(records: &[TurnRecord]) -> Option<BodyDifference> {
    let state = |record: &TurnRecord, slot: u32| -> Option<BodyState> {
        let at = record.bodies.binary_search_by_key(&slot, |state| state.slot).ok()?;
        Some(record.bodies[at])
    };
    let slots = records.iter().filter_map(|record| Some(record.bodies.last()?.slot + 1)).max()?;
    for slot in 0..slots {
        let states: Vec<Option<BodyState>> = records.iter().map(|record| state(record, slot)).collect();
        if states.iter().all(|state| *state == states[0]) {
            continue;
        }
        for field in BodyField::ALL {
            let values: Vec<Option<i32>> =
                states.iter().map(|state| state.map(|state| state.value(field))).collect();
            if values.iter().any(|value| *value != values[0]) {
                return Some(BodyDifference { slot, field, values });
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(frames: [u64; 3], bodies: &[(u32, [i32; 4])]) -> TurnRecord {
        let bodies = bodies.iter().map(|&(slot, values)| BodyState { slot, values }).collect();
        TurnRecord { frames: frames.to_vec(), checksum: frames.iter().sum(), witness: None, bodies }
    }

    #[test]
    fn equal_copies_have_nothing_to_report() {
        let same = record([1, 2, 3], &[(0, [1; 4])]);
        assert_eq!(compare(&[same.clone(), same.clone(), same], 7, 28), None);
        assert_eq!(compare(&[], 7, 28), None);
    }

    #[test]
    fn the_first_frame_body_and_field_that_differ_are_named() {
        let whole = record([1, 2, 3], &[(2, [1; 4]), (5, [10, 20, 30, 40]), (6, [0; 4])]);
        let broken = record([1, 9, 9], &[(2, [1; 4]), (5, [10, 20, 31, 40]), (6, [1; 4])]);
        let desync = compare(&[whole.clone(), whole.clone(), broken], 7, 28).unwrap();
        assert_eq!((desync.turn, desync.frame, desync.outlier), (7, 29, Some(2)));
        let values = vec![Some(30), Some(30), Some(31)];
        assert_eq!(desync.body, Some(BodyDifference { slot: 5, field: BodyField::VelocityX, values }));
    }

    #[test]
    fn a_body_that_one_copy_lacks_is_a_difference() {
        let whole = record([1, 2, 3], &[(2, [1; 4]), (5, [3; 4])]);
        let broken = record([1, 2, 4], &[(2, [1; 4])]);
        let desync = compare(&[whole, broken], 0, 0).unwrap();
        assert_eq!(desync.outlier, None, "two clients have no majority");
        assert_eq!(desync.body.unwrap().values, [Some(3), None]);
    }

    #[test]
    fn a_difference_outside_of_the_bodies_is_reported_without_one() {
        let desync = compare(&[record([1, 2, 3], &[]), record([1, 2, 4], &[])], 3, 9).unwrap();
        assert_eq!((desync.frame, desync.body), (11, None));
    }

    #[test]
    fn two_against_two_have_no_outlier() {
        assert_eq!(outlier(&[1, 1, 2, 2], None), None);
        assert_eq!(outlier(&[1, 1, 2], None), Some(2));
        assert_eq!(outlier(&[1, 2, 2, 2], None), Some(0));
        assert_eq!(outlier(&[1, 2, 3], None), None);
        assert_eq!(outlier(&[1, 2], None), None);
        assert_eq!(outlier(&[1, 2], Some(1)), Some(1));
    }
}
