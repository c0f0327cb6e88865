//! Quality, measured from outside and in floats: overlaps of discs, and energy.

use std::collections::BTreeMap;

use testudo_physics::World;

/// A disc, in units.
#[derive(Clone, Copy, Debug)]
pub(super) struct Disc {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) radius: f64,
}

/// Depths of all overlapping pairs.
pub(super) fn overlaps(discs: &[Disc]) -> Vec<f64> {
    // No disc is larger than a cell, so overlapping discs are at most one cell apart.
    let side = discs.iter().map(|disc| 2.0 * disc.radius).fold(1.0, f64::max);
    let cell = |disc: &Disc| ((disc.x / side).floor() as i64, (disc.y / side).floor() as i64);
    let mut cells: BTreeMap<(i64, i64), Vec<usize>> = BTreeMap::new();
    for (i, disc) in discs.iter().enumerate() {
        cells.entry(cell(disc)).or_default().push(i);
    }
    let mut depths = Vec::new();
    for (i, a) in discs.iter().enumerate() {
        let (column, row) = cell(a);
        let near = (column - 1..=column + 1).flat_map(|c| (row - 1..=row + 1).map(move |r| (c, r)));
        for &j in near.filter_map(|c| cells.get(&c)).flatten().filter(|&&j| j > i) {
            let b = &discs[j];
            let depth = a.radius + b.radius - (a.x - b.x).hypot(a.y - b.y);
            if depth > 0.0 {
                depths.push(depth);
            }
        }
    }
    depths
}

/// Kinetic energy of all bodies.
pub(super) fn energy(world: &World) -> f64 {
    let of = |body: testudo_physics::BodyRef<'_>| {
        let v = body.velocity();
        let [x, y]: [f64; 2] = [v.x.to_num(), v.y.to_num()];
        body.mass().to_num::<f64>() * (x * x + y * y) / 2.0
    };
    world.bodies().map(of).sum()
}

/// The value below which the given part of the values lies; 0 without values.
pub(super) fn quantile(values: &mut [f64], part: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let at = ((values.len() as f64 * part) as usize).min(values.len().saturating_sub(1));
    values.get(at).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlaps_are_counted_once() {
        let disc = |x: f64| Disc { x, y: 0.0, radius: 0.5 };
        let depths = overlaps(&[disc(0.0), disc(0.75), disc(5.0), disc(-0.9)]);
        assert_eq!(depths.len(), 2);
        assert!((depths.iter().sum::<f64>() - 0.35).abs() < 1e-9);
    }
}
