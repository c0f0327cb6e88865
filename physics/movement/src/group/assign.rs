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
    let by = |points: &[Vec2], axis: Vec2| {
        let keys: Vec<Fx> = points.iter().map(|point| point.dot(axis)).collect();
        let mut order: Vec<u32> = (0..points.len() as u32).collect();
        order.sort_by_key(|&point| (keys[point as usize], point));
        order
    };
    let (mut units_ahead, mut places_ahead) = (by(units, -ahead), by(&places[..count], -ahead));
    let sides = |points: &[Vec2], order: &mut [u32]| {
        order.sort_by_key(|&point| (points[point as usize].dot(left), point));
    };
    for (units_row, places_row) in units_ahead[..count].chunks_mut(row).zip(places_ahead.chunks_mut(row)) {
        sides(units, units_row);
        sides(places, places_row);
        for (&unit, &place) in units_row.iter().zip(places_row.iter()) {
            given[unit as usize] = place;
        }
    }
    given
}
