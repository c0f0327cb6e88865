//! Buildings: immovable until they fall. An army needs a keep; barracks train its recruits.

use testudo_physics::{BodyId, Rate};

use crate::point::{Point, UNIT};
use crate::rock::Rock;

/// Recruits are counted in thousandths, so that small armies get some, too.
pub(crate) const RECRUIT: u32 = 1_000;

/// The purpose of a building.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BuildingKind {
    /// An army whose last keep falls is defeated. A keep trains few recruits.
    Keep,
    /// Trains recruits.
    Barracks,
}

impl BuildingKind {
    /// Hit points in an army of `units`: a few raiders do no harm, and a whole army needs one minute for a keep and half of one for a
    /// barracks. So a lost battle is not yet a lost match, and matches take five to ten minutes.
    pub(crate) fn hit_points(self, units: u32) -> i32 {
        let units = units as i32;
        match self {
            Self::Keep => 15_000 + 480 * units,
            Self::Barracks => 5_000 + 145 * units,
        }
    }

    /// Thousandths of a recruit per second in an army of `units`.
    fn training_per_second(self, units: u32) -> u32 {
        match self {
            Self::Keep => (units * RECRUIT / 200).max(RECRUIT / 16),
            Self::Barracks => (units * RECRUIT / 70).max(RECRUIT / 8),
        }
    }

    /// Half of the side of its square, raw; `files` is the width of a full army's formation.
    pub(crate) const fn half(self, files: u32) -> i32 {
        match self {
            Self::Keep => 2 * UNIT + files as i32 * UNIT / 16,
            Self::Barracks => UNIT * 3 / 2 + files as i32 * UNIT / 24,
        }
    }
}

/// One building. Its position and size follow from the setup.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Building {
    pub(crate) army: u8,
    pub(crate) kind: BuildingKind,
    pub(crate) ground: Rock,
    /// The body in the world; none once it has fallen.
    pub(crate) body: Option<BodyId>,
    /// At most 0 only between a blow and the end of its frame.
    pub(crate) hit_points: i32,
    /// Thousandths of recruits that are ready, below twice [`RECRUIT`] except in large armies.
    pub(super) ready: u32,
    pub(super) training: Rate,
}

impl Building {
    /// A building at full strength that is not in the world yet.
    pub(crate) fn new(army: u8, kind: BuildingKind, ground: Rock, units: u32) -> Self {
        let hit_points = kind.hit_points(units);
        let training = Rate::new(kind.training_per_second(units).into());
        Self { army, kind, ground, body: None, hit_points, ready: 0, training }
    }

    pub(crate) fn stands(&self) -> bool {
        self.body.is_some()
    }

    /// A standing keep of this army.
    pub(crate) fn is_keep_of(&self, army: u8) -> bool {
        self.army == army && self.kind == BuildingKind::Keep && self.stands()
    }

    /// One frame of training. It pauses while no unit is missing.
    pub(crate) fn train(&mut self, is_wanted: bool, frames_per_second: u32) {
        let trained = self.training.take(frames_per_second) as u32;
        self.ready = if is_wanted { self.ready.saturating_add(trained) } else { 0 };
    }

    /// Takes a recruit if one is ready.
    pub(crate) fn take_recruit(&mut self) -> bool {
        let is_ready = self.ready >= RECRUIT;
        if is_ready {
            self.ready -= RECRUIT;
        }
        is_ready
    }

    /// The point of the building that is nearest to `from`.
    pub(crate) fn nearest_place(&self, from: Point) -> Point {
        let Rock { centre, half } = self.ground;
        Point {
            x: from.x.clamp(centre.x - half.x, centre.x + half.x),
            y: from.y.clamp(centre.y - half.y, centre.y + half.y),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn barracks() -> Building {
        let half = BuildingKind::Barracks.half(15);
        let ground = Rock { centre: Point::from_units(10, 0), half: Point { x: half, y: half } };
        Building::new(0, BuildingKind::Barracks, ground, 140)
    }

    #[test]
    fn recruits_come_at_their_pace_and_do_not_wait() {
        let mut barracks = barracks();
        for _ in 0..1_000 {
            barracks.train(false, 20);
        }
        assert!(!barracks.take_recruit());
        let mut recruits = 0;
        for _ in 0..200 {
            barracks.train(true, 20);
            recruits += u32::from(barracks.take_recruit());
        }
        assert_eq!(recruits, 20, "two per second for ten seconds");
    }

    #[test]
    fn the_nearest_place_is_on_the_wall() {
        let barracks = barracks();
        let half = barracks.ground.half.x;
        let from = Point::from_units(0, 1);
        assert_eq!(barracks.nearest_place(from), Point { x: 10 * UNIT - half, y: UNIT });
        assert_eq!(barracks.nearest_place(barracks.ground.centre), barracks.ground.centre);
    }
}
