//! Answers to the queries by brute force over all bodies, so that no engine is fast by being wrong.

use crate::engine::float;
use crate::quality::Outline;

fn units(raw: [i32; 2]) -> [f64; 2] {
    raw.map(|value| f64::from(float(value)))
}

/// Bodies whose bounding box meets the area.
pub fn count_in_area(bodies: &[Outline], corners: [[i32; 2]; 2]) -> u32 {
    let (min, max) = (units(corners[0]), units(corners[1]));
    let meets = |body: &&Outline| {
        (0..2).all(|axis| {
            body.position[axis] + body.half_extents[axis] >= min[axis]
                && body.position[axis] - body.half_extents[axis] <= max[axis]
        })
    };
    bodies.iter().filter(meets).count() as u32
}

/// Distance of the first hit of the ray from `origin` to `origin + offset`; 0 if it starts inside of a body.
pub fn ray(bodies: &[Outline], origin: [i32; 2], offset: [i32; 2]) -> Option<f64> {
    let (origin, offset) = (units(origin), units(offset));
    let length = offset[0].hypot(offset[1]);
    let direction = offset.map(|component| component / length);
    bodies
        .iter()
        .filter_map(|body| match body.radius {
            Some(radius) => ray_to_disc(origin, direction, body.position, radius),
            None => ray_to_box(origin, direction, body),
        })
        .filter(|distance| *distance <= length)
        .min_by(f64::total_cmp)
}

fn ray_to_disc(origin: [f64; 2], direction: [f64; 2], centre: [f64; 2], radius: f64) -> Option<f64> {
    let to_centre = [centre[0] - origin[0], centre[1] - origin[1]];
    let along = to_centre[0] * direction[0] + to_centre[1] * direction[1];
    let square = to_centre[0].powi(2) + to_centre[1].powi(2);
    if square <= radius * radius {
        return Some(0.0);
    }
    let half_chord_squared = radius * radius - (square - along * along);
    (along > 0.0 && half_chord_squared >= 0.0).then(|| along - half_chord_squared.sqrt())
}

fn ray_to_box(origin: [f64; 2], direction: [f64; 2], body: &Outline) -> Option<f64> {
    let (mut enter, mut leave) = (0.0_f64, f64::INFINITY);
    for axis in 0..2 {
        let low = body.position[axis] - body.half_extents[axis] - origin[axis];
        let high = body.position[axis] + body.half_extents[axis] - origin[axis];
        if direction[axis] == 0.0 {
            if low > 0.0 || high < 0.0 {
                return None;
            }
            continue;
        }
        let (a, b) = (low / direction[axis], high / direction[axis]);
        enter = enter.max(a.min(b));
        leave = leave.min(a.max(b));
    }
    (enter <= leave).then_some(enter)
}

/// Distance from the point to the nearest body; 0 inside of one.
pub fn nearest_distance(bodies: &[Outline], point: [i32; 2]) -> f64 {
    let point = units(point);
    let distance = |body: &Outline| {
        let apart = [0, 1].map(|axis| (point[axis] - body.position[axis]).abs());
        match body.radius {
            Some(radius) => (apart[0].hypot(apart[1]) - radius).max(0.0),
            None => {
                let outside = [0, 1].map(|axis| (apart[axis] - body.half_extents[axis]).max(0.0));
                outside[0].hypot(outside[1])
            }
        }
    };
    bodies.iter().map(distance).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use testudo_tests::scenes::ONE;

    fn bodies() -> Vec<Outline> {
        let disc =
            Outline { position: [10.0, 0.0], radius: Some(0.5), half_extents: [0.5; 2], movable: true };
        let wall = Outline { position: [20.0, 3.0], radius: None, half_extents: [2.0, 1.0], movable: false };
        vec![disc, wall]
    }

    #[test]
    fn known_answers() {
        let bodies = bodies();
        assert_eq!(ray(&bodies, [0, 0], [50 * ONE, 0]), Some(9.5));
        assert_eq!(ray(&bodies, [0, 3 * ONE], [50 * ONE, 0]), Some(18.0));
        assert_eq!(ray(&bodies, [0, ONE], [50 * ONE, 0]), None);
        assert_eq!(ray(&bodies, [10 * ONE, 0], [50 * ONE, 0]), Some(0.0));
        assert_eq!(ray(&bodies, [0, 0], [9 * ONE, 0]), None);
        assert_eq!(nearest_distance(&bodies, [0, 0]), 9.5);
        assert_eq!(nearest_distance(&bodies, [20 * ONE, 3 * ONE]), 0.0);
        assert_eq!(nearest_distance(&bodies, [25 * ONE, 8 * ONE]), 5.0);
        assert_eq!(count_in_area(&bodies, [[0, 0], [30 * ONE, ONE]]), 1);
        assert_eq!(count_in_area(&bodies, [[0, 0], [30 * ONE, 5 * ONE]]), 2);
        assert_eq!(count_in_area(&bodies, [[0, 0], [9 * ONE, ONE]]), 0);
    }
}
