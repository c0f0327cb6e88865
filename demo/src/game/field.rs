//! The field: how large it is, where the armies start, and the buildings between them.

use testudo_physics::{Aabb, BodyDef, Fx, Pcg32, Shape, Vec2, World, WorldDef, WorldError};

use super::Setup;

/// Distance between units at the start, in quarter units of length.
const SPACING_QUARTERS: i64 = 5;

/// The first quarter of sixteen directions, 1,024 = one.
const DIRECTIONS: [[i64; 2]; 4] = [[1024, 0], [946, 392], [724, 724], [392, 946]];

/// Measures of the field in whole units of length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    setup: Setup,
    /// Units in one row of an army's block.
    row: u32,
    /// Distance of the bases from the centre.
    pub radius: i64,
    /// Half side of the square that nobody leaves.
    pub half_side: i64,
}

impl Field {
    /// A field that is large enough for everybody to start without touching.
    pub fn new(setup: Setup) -> Self {
        let row = setup.units.isqrt() + u32::from(setup.units.isqrt().pow(2) < setup.units);
        let block = i64::from(row) * SPACING_QUARTERS / 4 + 2;
        let radius = (block + 12).max(block * i64::from(setup.players) / 3 + 8);
        Self { setup, row, radius, half_side: radius + block + 16 }
    }

    /// The empty world of this field.
    pub fn world(&self, seed: u64) -> Result<World, WorldError> {
        let edge = Fx::from_num(self.half_side);
        let bounds = Aabb { min: Vec2::new(-edge, -edge), max: Vec2::new(edge, edge) };
        World::new(WorldDef::new().bounds(bounds).seed(seed))
    }

    /// Where a player's base is, whole units of length.
    pub fn base(&self, player: u8) -> [i64; 2] {
        let step = usize::from(player) * 16 / usize::from(self.setup.players.max(1));
        let [x, y] = DIRECTIONS[step % 4];
        let [x, y] = match step / 4 {
            0 => [x, y],
            1 => [-y, x],
            2 => [-x, -y],
            _ => [y, -x],
        };
        [x * self.radius / 1024, y * self.radius / 1024]
    }

    /// Where a player's unit starts and returns: a square block around the base.
    pub fn place(&self, player: u8, number: u32) -> Vec2 {
        let base = self.base(player);
        let (column, line) = (i64::from(number % self.row), i64::from(number / self.row));
        let offset = i64::from(self.row - 1) * SPACING_QUARTERS / 2;
        let quarters = [column, line].map(|i| i * SPACING_QUARTERS - offset);
        let coordinate = |axis: usize| Fx::from_bits((base[axis] << 16) + (quarters[axis] << 14));
        Vec2::new(coordinate(0), coordinate(1))
    }

    /// Puts up buildings in the middle of the field, none of them overlapping.
    pub fn build_obstacles(&self, world: &mut World) {
        let mut rng = Pcg32::new(self.setup.seed, 1);
        let reach = (self.radius * 5 / 8).max(4) as u32;
        let wanted = (self.radius / 4).clamp(4, 400);
        let mut built: Vec<([i64; 2], [i64; 2])> = Vec::new();
        for _ in 0..wanted * 2 {
            let centre = [0, 1].map(|_| i64::from(rng.below(2 * reach + 1)) - i64::from(reach));
            let half = [0, 1].map(|_| i64::from(1 + rng.below(3)));
            // Two units stay free between buildings, so that armies pass.
            let apart = |&(c, h): &([i64; 2], [i64; 2])| {
                (0..2).any(|axis| (centre[axis] - c[axis]).abs() > half[axis] + h[axis] + 2)
            };
            let inside = centre[0] * centre[0] + centre[1] * centre[1] <= i64::from(reach) * i64::from(reach);
            if inside && built.iter().all(apart) && (built.len() as i64) < wanted {
                built.push((centre, half));
                let vec = |v: [i64; 2]| Vec2::new(Fx::from_num(v[0]), Fx::from_num(v[1]));
                let building = BodyDef::fixed(Shape::Rect { half_extents: vec(half) }).position(vec(centre));
                let placed = world.create_body(&building);
                debug_assert!(placed.is_ok());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_army_starts_inside_and_apart() {
        for (players, units) in [(1, 1), (2, 200), (4, 200), (16, 1), (16, 1000), (3, 100_000), (16, 100_000)]
        {
            let field = Field::new(Setup { players, units, seed: 1 });
            assert!(field.half_side < 16_384, "{players} x {units} does not fit the world");
            let block = i64::from(field.row) * SPACING_QUARTERS / 4;
            for a in 0..players {
                for b in 0..a {
                    let (p, q) = (field.base(a), field.base(b));
                    let apart = (0..2).any(|axis| (p[axis] - q[axis]).abs() > block);
                    assert!(apart, "armies {a} and {b} of {players} x {units} overlap");
                }
            }
        }
    }
}
