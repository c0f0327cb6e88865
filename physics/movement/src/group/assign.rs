//! Which unit goes to which place.

use alloc::vec;
use alloc::vec::Vec;

use testudo_physics::{Fx, Vec2};

/// Gives each unit one of the places; the numbers of the places in the order of the units. There are at least as many places as units, or the
/// last units share the last place.
///
/// Two sorts: units and places are cut into rows across `ahead`, the foremost row of units gets the foremost row of places, and in each row the order from
/// right to left stays. So nobody crosses a row, and the cost is that of sorting.
#[must_use]
pub fn assign(units: &[Vec2], places: &[Vec2], ahead: Vec2) -> Vec<u32> {
    let mut given = vec![places.len().saturating_sub(1) as u32; units.len()];
    let count = units.len().min(places.len());
    let left = ahead.perpendicular();
    // Rows as long as there are rows.
    let row = (count as u32).isqrt().max(1) as usize;
    let along = |points: &[Vec2], axis: Vec2| {
        let mut order: Vec<(Fx, u32)> = points.iter().map(|point| point.dot(axis)).zip(0..).collect();
        order.sort_unstable();
        order
    };
    let (mut units_ahead, mut places_ahead) = (along(units, -ahead), along(&places[..count], -ahead));
    let to_the_left = |points: &[Vec2], order: &mut [(Fx, u32)]| {
        order.iter_mut().for_each(|(side, point)| *side = points[*point as usize].dot(left));
        order.sort_unstable();
    };
    for (units_row, places_row) in units_ahead[..count].chunks_mut(row).zip(places_ahead.chunks_mut(row)) {
        to_the_left(units, units_row);
        to_the_left(places, places_row);
        for (&(_, unit), &(_, place)) in units_row.iter().zip(places_row.iter()) {
            given[unit as usize] = place;
        }
    }
    given
}
