//! Reads a saved crowd. Untrusted bytes are welcome: every number is checked.

use testudo_physics::{BodyId, Fx, POSITION_MAX, Vec2};

use crate::crowd::around::RETRY_MS;
use crate::crowd::def::MoverDef;
use crate::crowd::pursue::REACH_MAX;
use crate::crowd::state::StateError;
use crate::crowd::{Errand, Mover, Progress, Pursuit, Task, Walker};
use crate::flow::{FlowId, Tiles};
use crate::ground::{Cell, Ground, SizeClass};
use crate::steer::Sight;

/// Longer than any path over a ground, units.
const PATH_MAX: Fx = Fx::const_from_int(1 << 40);

/// Reads what was saved.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl Reader<'_> {
    /// A number of 1 to 8 bytes; not negative unless it has 8.
    pub(super) fn take(&mut self, bytes: usize) -> Result<i64, StateError> {
        let (first, rest) = self.0.split_at_checked(bytes).ok_or(StateError::Length)?;
        self.0 = rest;
        let mut all = [0; 8];
        all[..bytes].copy_from_slice(first);
        Ok(i64::from_le_bytes(all))
    }

    /// A cell inside the frame of the ground, and one of its sizes.
    pub(super) fn goal(&mut self, ground: &Ground) -> Result<(Cell, SizeClass), StateError> {
        let goal = self.cell(ground)?;
        let size = self.take(1)? as u8;
        if usize::from(size) >= ground.sizes.len() {
            return Err(StateError::Invalid { what: "goal" });
        }
        Ok((goal, SizeClass(size)))
    }

    /// A cell inside the frame of the ground.
    pub(super) fn cell(&mut self, ground: &Ground) -> Result<Cell, StateError> {
        let cell = self.take(4)? as u32;
        let is_inside = cell < ground.grid.len() && ground.grid.whole().contains(ground.grid.split(cell));
        if is_inside { Ok(cell) } else { Err(StateError::Invalid { what: "cell" }) }
    }

    pub(super) fn flag(&mut self) -> Result<bool, StateError> {
        match self.take(1)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(StateError::Invalid { what: "flag" }),
        }
    }

    /// So many tiles, one bit for each.
    pub(super) fn tiles(&mut self, total: u32) -> Result<Tiles, StateError> {
        let mut tiles = Tiles::none(total);
        for first in (0..total).step_by(8) {
            let bits = self.take(1)?;
            for tile in (first..first + 8).filter(|tile| bits >> (tile - first) & 1 == 1) {
                if tile >= total {
                    return Err(StateError::Invalid { what: "tile" });
                }
                tiles.insert(tile);
            }
        }
        Ok(tiles)
    }

    /// A length in `0..=max` units.
    fn length(&mut self, what: &'static str, max: Fx) -> Result<Fx, StateError> {
        let value = Fx::from_bits(self.take(8)?);
        if (Fx::ZERO..=max).contains(&value) { Ok(value) } else { Err(StateError::Invalid { what }) }
    }

    fn point(&mut self, what: &'static str) -> Result<Vec2, StateError> {
        let point = Vec2::new(Fx::from_bits(self.take(8)?), Fx::from_bits(self.take(8)?));
        // Grids may reach beyond the area by less than a cell.
        let edge = POSITION_MAX * 2;
        let is_near = |part: Fx| (-edge..=edge).contains(&part);
        if is_near(point.x) && is_near(point.y) { Ok(point) } else { Err(StateError::Invalid { what }) }
    }

    fn errand(&mut self, ground: &Ground) -> Result<Errand, StateError> {
        let index = self.take(2)? as u16;
        let (goal, size) = self.goal(ground)?;
        let group = self.take(4)? as u32;
        let pace = self.length("pace", testudo_physics::SPEED_MAX)?;
        let in_rows = self.flag()?;
        Ok(Errand { flow: FlowId { index, goal, size }, group, pace, in_rows })
    }

    /// A number of four bytes in `-max..=max`.
    fn part(&mut self, what: &'static str, max: Fx) -> Result<i32, StateError> {
        let value = self.take(4)? as u32 as i32;
        let is_small = i64::from(value.unsigned_abs()) <= max.to_bits();
        if is_small { Ok(value) } else { Err(StateError::Invalid { what }) }
    }

    pub(super) fn walker(&mut self) -> Result<Walker, StateError> {
        let body = BodyId::from_bits(self.take(8)? as u64);
        let speed = testudo_physics::SPEED_MAX;
        let mut velocity = || Ok([self.part("velocity", speed)?, self.part("velocity", speed)?]);
        let (wish, takes) = (velocity()?, velocity()?);
        let left = self.length("path", Fx::MAX)?.to_bits();
        let group = self.take(4)? as u32;
        let is_going = self.flag()?;
        let right_ms = self.take(2)? as u16;
        let radius = self.part("radius", testudo_physics::EXTENT_MAX)?.abs();
        let acceleration = self.part("acceleration", speed)?.abs();
        let (thinks, thought) = (self.take(4)? as u32, self.take(4)? as u32);
        let sight = Sight { wish, left, group, radius, right_ms, is_going, ..Sight::default() };
        let (is_gone, is_away, stalled_ms) = (false, false, 0);
        Ok(Walker { sight, body, takes, acceleration, is_gone, is_away, stalled_ms, thinks, thought })
    }

    pub(super) fn mover(&mut self, ground: &Ground, acceleration: i32) -> Result<Mover, StateError> {
        let speed = self.length("speed", testudo_physics::SPEED_MAX)?;
        let acceleration = Fx::from_bits(acceleration.into());
        let size = SizeClass(self.take(1)? as u8);
        if usize::from(size.0) >= ground.sizes.len() {
            return Err(StateError::Invalid { what: "size" });
        }
        let rank = self.take(1)? as u8 as i8;
        let flags = self.take(1)?;
        if flags > 127 {
            return Err(StateError::Invalid { what: "flag" });
        }
        let flag = |bit: u32| flags >> bit & 1 == 1;
        let task = match self.take(1)? {
            0 => Task::Stand(None),
            1 => Task::Stand(Some(self.errand(ground)?)),
            2 => Task::Go(self.errand(ground)?),
            3 => {
                let prey = BodyId::from_bits(self.take(8)? as u64);
                let reach = self.length("reach", REACH_MAX)?;
                let (has_failed, waits_ms) = (self.flag()?, self.take(2)? as u16);
                if waits_ms > RETRY_MS || waits_ms > 0 && !has_failed {
                    return Err(StateError::Invalid { what: "pause of a search" });
                }
                Task::Pursue(Pursuit { prey, reach, has_failed, waits_ms })
            }
            _ => return Err(StateError::Invalid { what: "task" }),
        };
        let post = self.point("post")?;
        let aim = if flag(3) { Some(self.point("aim")?) } else { None };
        let beyond = self.length("path", PATH_MAX)?;
        let best = self.length("path", Fx::MAX)?;
        let (setbacks, trades) = (self.take(1)? as u8, self.take(1)? as u8);
        let [stalled_ms, off_ms] = [self.take(4)?, self.take(4)?].map(|ms| ms as u32);
        Ok(Mover {
            def: MoverDef { speed, acceleration },
            size,
            rank,
            pushes: flag(0),
            task,
            is_told: flag(1),
            post,
            aim,
            beyond,
            beside: Fx::ZERO,
            straight: 0,
            is_around: false,
            is_new: flag(5),
            is_closed: false,
            to_go: Fx::ZERO,
            progress: Progress { best, stalled_ms, setbacks, is_back: flag(2), is_old: flag(6) },
            trades,
            is_straight: flag(4),
            off_ms,
            right_ms: 0,
        })
    }
}
