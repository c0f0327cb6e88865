//! How well an engine kept bodies apart, measured from outside in the same way for all.

use std::collections::BTreeMap;

use serde::Serialize;
use testudo_tests::scenes::{BodySpec, Form};

use crate::engine::float;
use crate::measure::quantile;

/// A disc or box as the engine left it, in units.
#[derive(Clone, Copy, Debug)]
pub struct Outline {
    /// Centre.
    pub position: [f64; 2],
    /// Radius of a disc.
    pub radius: Option<f64>,
    /// Half extents of the bounding box.
    pub half_extents: [f64; 2],
    /// Whether it can move.
    pub movable: bool,
}

impl Outline {
    /// Where `spec` is now.
    pub fn of(spec: &BodySpec, position: [f64; 2]) -> Self {
        Self {
            position,
            radius: match spec.form {
                Form::Disc { radius } => Some(f64::from(float(radius))),
                Form::Box { .. } => None,
            },
            half_extents: spec.form.half_extents().map(|half| f64::from(float(half))),
            movable: spec.movable,
        }
    }
}

/// Penetration between movable discs, and of movable discs into immovable boxes, in units.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Overlap {
    /// Pairs of discs that overlap at all.
    pub pairs: usize,
    /// Mean depth of these pairs.
    pub mean: f64,
    /// 99 % of them are no deeper.
    pub p99: f64,
    /// The deepest of them.
    pub max: f64,
    /// The deepest disc in an immovable box.
    pub box_max: f64,
}

/// Side of the cells in which neighbours are looked for: no less than the diameter of a disc.
const CELL: f64 = 1.0;

/// Measures all overlaps between `bodies`.
pub fn overlap(bodies: &[Outline]) -> Overlap {
    let discs: Vec<_> = bodies
        .iter()
        .filter(|body| body.movable)
        .filter_map(|body| body.radius.map(|radius| (body.position, radius)))
        .collect();
    let mut cells: BTreeMap<[i64; 2], Vec<usize>> = BTreeMap::new();
    for (index, (position, radius)) in discs.iter().enumerate() {
        assert!(2.0 * radius <= CELL, "disc larger than a cell");
        cells.entry(cell_of(*position)).or_default().push(index);
    }
    let mut depths = Vec::new();
    for (index, &(position, radius)) in discs.iter().enumerate() {
        let [x, y] = cell_of(position);
        for other in neighbours(&cells, [x - 1, y - 1], [x + 1, y + 1]).filter(|other| *other > index) {
            let (place, other_radius) = discs[other];
            let apart = (position[0] - place[0]).hypot(position[1] - place[1]);
            if apart < radius + other_radius {
                depths.push(radius + other_radius - apart);
            }
        }
    }
    let mut box_max = 0.0_f64;
    for wall in bodies.iter().filter(|body| !body.movable && body.radius.is_none()) {
        let corner = |sign: f64| {
            let reach = [0, 1].map(|axis| wall.half_extents[axis] + CELL);
            cell_of([0, 1].map(|axis| wall.position[axis] + sign * reach[axis]))
        };
        for disc in neighbours(&cells, corner(-1.0), corner(1.0)) {
            let (position, radius) = discs[disc];
            box_max = box_max.max(depth_in_box(position, radius, wall));
        }
    }
    depths.sort_by(f64::total_cmp);
    Overlap {
        pairs: depths.len(),
        mean: depths.iter().fold(0.0, |sum, depth| sum + depth) / depths.len().max(1) as f64,
        p99: quantile(&depths, 0.99),
        max: depths.last().copied().unwrap_or(0.0),
        box_max,
    }
}

fn cell_of(position: [f64; 2]) -> [i64; 2] {
    position.map(|coordinate| (coordinate / CELL).floor() as i64)
}

fn neighbours<'a>(
    cells: &'a BTreeMap<[i64; 2], Vec<usize>>,
    min: [i64; 2],
    max: [i64; 2],
) -> impl Iterator<Item = usize> + 'a {
    (min[0]..=max[0])
        .flat_map(move |x| cells.range([x, min[1]]..=[x, max[1]]))
        .flat_map(|(_, held)| held.iter().copied())
}

fn depth_in_box(position: [f64; 2], radius: f64, wall: &Outline) -> f64 {
    let outside = [0, 1].map(|axis| (position[axis] - wall.position[axis]).abs() - wall.half_extents[axis]);
    if outside[0] > 0.0 || outside[1] > 0.0 {
        radius - outside[0].max(0.0).hypot(outside[1].max(0.0))
    } else {
        radius - outside[0].max(outside[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disc(x: f64, y: f64) -> Outline {
        Outline { position: [x, y], radius: Some(0.5), half_extents: [0.5; 2], movable: true }
    }

    #[test]
    fn depth_of_known_pairs() {
        let found =
            overlap(&[disc(0.0, 0.0), disc(0.75, 0.0), disc(-3.0, 0.0), disc(-3.0, -0.5), disc(9.0, 9.0)]);
        assert_eq!((found.pairs, found.mean, found.max), (2, 0.375, 0.5));
        assert_eq!(found.box_max, 0.0);
    }

    #[test]
    fn touching_is_not_overlapping() {
        assert_eq!(overlap(&[disc(0.0, 0.0), disc(1.0, 0.0)]).pairs, 0);
    }

    #[test]
    fn depth_in_boxes_at_a_side_a_corner_and_inside() {
        let wall = Outline { position: [10.0, 0.0], radius: None, half_extents: [2.0, 1.0], movable: false };
        let depth = |x, y| overlap(&[wall, disc(x, y)]).box_max;
        assert!((depth(7.75, 0.0) - 0.25).abs() < 1e-12);
        assert!((depth(12.3, 1.4) - 0.0).abs() < 1e-12);
        assert!((depth(12.3, 1.1) - (0.5 - 0.1_f64.sqrt())).abs() < 1e-9);
        assert!((depth(10.0, 0.5) - 1.0).abs() < 1e-12);
        assert_eq!(depth(7.0, 0.0), 0.0);
    }

    #[test]
    fn agrees_with_all_pairs() {
        let mut generator = testudo_tests::scenes::Generator::new(5);
        let bodies: Vec<_> = (0..500)
            .map(|_| generator.point([-600_000; 2], [600_000; 2]).map(|raw| f64::from(raw) / 65_536.0))
            .map(|[x, y]| disc(x, y))
            .collect();
        let mut pairs = 0;
        let mut sum = 0.0;
        for (place, a) in bodies.iter().enumerate() {
            for b in &bodies[place + 1..] {
                let apart = (a.position[0] - b.position[0]).hypot(a.position[1] - b.position[1]);
                if apart < 1.0 {
                    pairs += 1;
                    sum += 1.0 - apart;
                }
            }
        }
        let found = overlap(&bodies);
        assert!(pairs > 100, "too sparse to test anything: {pairs}");
        assert_eq!(found.pairs, pairs);
        assert!((found.mean * pairs as f64 - sum).abs() < 1e-9);
    }
}
