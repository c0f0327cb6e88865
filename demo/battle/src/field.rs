//! The field: its size, the armies' starting positions, and its obstacles.
//!
//! Everything here is a pure function of the [`Setup`], so it is not state.

use crate::building::BuildingKind;
use crate::dice::Dice;
use crate::map::{Ground, Map, START_FREE, Spot, Start};
use crate::point::{Point, UNIT};
use crate::rock::Rock;
use crate::setup::Setup;

/// Distance between neighbours in a formation, raw: 5/4 units, so that discs of radius 1/2 do not touch.
pub(crate) const SPACING: i32 = UNIT + UNIT / 4;

/// Free ground between the formations of neighbours, units.
const GAP: i32 = 16;

/// From the centre to the front of each of two armies, units: five seconds of march.
const APPROACH: i32 = 20;

/// Free ground on both sides of the formations of two armies, units.
const BESIDE: i32 = 14;

/// Smallest side of one character of a map, raw.
const CHARACTER_MIN: i32 = 2 * UNIT;

/// Free ground before and behind a keep, units: room to walk around it.
const AROUND_KEEP: i32 = 4;

/// Free ground between a keep and the barracks beside it, raw.
const ALLEY: i32 = 4 * UNIT;

/// Half length of the longest walls, raw: the free space between armies and the positions of rocks.
const WALL_HALF_MAX: i32 = 4 * UNIT;

/// Radius of a boulder, raw.
pub(crate) const BOULDER_RADIUS: i32 = UNIT * 3 / 4;

/// Boulders on every field. They can be pushed but not destroyed.
const BOULDERS: u32 = 16;

/// The starting position of an army.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Base {
    /// Centre of the formation.
    pub(crate) centre: Point,
    /// The axis that leads to the middle of the field, one of (+-1, 0), (0, +-1).
    pub(crate) forward: (i32, i32),
    /// Behind the formation: the keep in the middle, barracks at both sides.
    pub(crate) buildings: [(BuildingKind, Rock); 3],
}

/// The ground of one match.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Field {
    /// Half of the sides, raw. Centres of bodies stay within it.
    pub(crate) half: Point,
    /// Ranks and files of a full army.
    pub(crate) files: u32,
    pub(crate) bases: Vec<Base>,
    pub(crate) rocks: Vec<Rock>,
    /// Impassable, too.
    pub(crate) waters: Vec<Rock>,
    /// Slows units.
    pub(crate) woods: Vec<Rock>,
    pub(crate) boulders: Vec<Point>,
}

impl Field {
    /// The field of a setup whose ranges have been checked.
    pub(crate) fn new(setup: &Setup) -> Self {
        match setup.map {
            Some(map) => Self::of_map(map, files_for(setup.units)),
            None => Self::open(setup),
        }
    }

    /// Random rocks on open ground.
    fn open(setup: &Setup) -> Self {
        let files = files_for(setup.units);
        // Largest: 317 files of 1.25 units.
        let army = files as i32 * SPACING / UNIT + 1;
        let ring = match i32::from(setup.players) {
            ..=2 => army / 2 + APPROACH,
            // Neighbours on the square ring are at least 4 / players of its half side apart on one axis.
            players => (army / 2 + APPROACH).max(players * (army + GAP) / 4),
        };
        let bases = (0..setup.players).map(|player| base(player, setup.players, ring, files)).collect();
        let keep = BuildingKind::Keep.half(files) / UNIT + 1;
        let free = ring - (army + 1) / 2 - WALL_HALF_MAX / UNIT;
        let mut dice = Dice::new(setup.seed ^ 0x6669_656c_6421);
        let breadth = if setup.players <= 2 { free.max(army / 2) } else { free };
        let half = ring + army / 2 + 2 * (keep + AROUND_KEEP);
        let half_y = if setup.players <= 2 { (army / 2).max(breadth) + BESIDE } else { half };
        Self {
            half: Point { x: half * UNIT, y: half_y * UNIT },
            files,
            bases,
            rocks: rocks(&mut dice, free, breadth),
            waters: Vec::new(),
            woods: Vec::new(),
            boulders: boulders(&mut dice, free, breadth),
        }
    }

    /// The size of a map's characters follows from the armies.
    fn of_map(map: &Map, files: u32) -> Self {
        // Even, so that the middle of the map is exact.
        let side = (files as i32 * SPACING / (2 * START_FREE as i32)).max(CHARACTER_MIN) & !1;
        let half = Point { x: map.columns as i32 * side / 2, y: map.rows as i32 * side / 2 };
        let middle = |(column, row): Spot| Point {
            x: column as i32 * side + side / 2 - half.x,
            y: row as i32 * side + side / 2 - half.y,
        };
        let blocks = |ground: Ground| -> Vec<Rock> {
            let blocks = map.blocks.iter().filter(|block| block.ground == ground);
            let rect = blocks.map(|block| {
                let size = Point { x: block.columns as i32 * side / 2, y: block.rows as i32 * side / 2 };
                Rock { centre: middle(block.first).offset(size.x - side / 2, size.y - side / 2), half: size }
            });
            rect.collect()
        };
        let base = |start: &Start| {
            let centre = middle(start.army);
            let forward = if centre.x.abs() >= centre.y.abs() {
                (-centre.x.signum(), 0)
            } else {
                (0, -centre.y.signum())
            };
            let building = |kind: BuildingKind, spot: Spot| {
                let half = kind.half(files);
                (kind, Rock { centre: middle(spot), half: Point { x: half, y: half } })
            };
            let [left, right] = start.barracks.map(|spot| building(BuildingKind::Barracks, spot));
            Base { centre, forward, buildings: [building(BuildingKind::Keep, start.keep), left, right] }
        };
        Self {
            half,
            files,
            bases: map.starts.iter().map(base).collect(),
            rocks: blocks(Ground::Rock),
            waters: blocks(Ground::Water),
            woods: blocks(Ground::Wood),
            boulders: map.boulders.iter().copied().map(middle).collect(),
        }
    }

    /// Position number `rank * files + file` of an army's formation around `middle`; the front faces the middle of the field.
    pub(crate) fn place(&self, army: u8, middle: Point, number: u32, files: u32) -> Point {
        let (fx, fy) = self.bases[usize::from(army)].forward;
        // Twice the distance from the middle of the formation, in positions.
        let across = 2 * (number % files) as i32 - (files as i32 - 1);
        let back = 2 * (number / files) as i32 - (files as i32 - 1);
        let half = SPACING / 2;
        middle
            .offset((-fx * back - fy * across) * half, (-fy * back + fx * across) * half)
            .clamped(self.half.offset(-UNIT, -UNIT))
    }
}

/// Number of files of a square formation with this many units.
pub(crate) fn files_for(units: u32) -> u32 {
    let root = units.isqrt();
    (if root * root < units { root + 1 } else { root }).max(1)
}

/// Places the bases at equal distances along a square with half side `ring`, starting in the middle of its left side.
fn base(player: u8, players: u8, ring: i32, files: u32) -> Base {
    // Position along the square in 1/1024 of its half side: four sides of 2,048.
    let way = 8 * 1_024 * i32::from(player) / i32::from(players);
    let (x, y, forward) = match way {
        ..1_024 => (-1_024, -way, (1, 0)),
        1_024..3_072 => (way - 2_048, -1_024, (0, 1)),
        3_072..5_120 => (1_024, way - 4_096, (-1, 0)),
        5_120..7_168 => (6_144 - way, 1_024, (0, -1)),
        _ => (-1_024, 8_192 - way, (1, 0)),
    };
    let raw = |part: i32| ring * part * (UNIT / 1_024);
    let centre = Point { x: raw(x), y: raw(y) };
    let [keep_half, barracks_half] =
        [BuildingKind::Keep, BuildingKind::Barracks].map(|kind| kind.half(files));
    let behind = files as i32 * SPACING / 2 + AROUND_KEEP * UNIT + keep_half;
    let beside = (keep_half + ALLEY + barracks_half).max(files as i32 * SPACING / 3);
    let building = |kind: BuildingKind, half: i32, across: i32| {
        let centre =
            centre.offset(-forward.0 * behind - forward.1 * across, -forward.1 * behind + forward.0 * across);
        (kind, Rock { centre, half: Point { x: half, y: half } })
    };
    let buildings = [
        building(BuildingKind::Keep, keep_half, 0),
        building(BuildingKind::Barracks, barracks_half, -beside),
        building(BuildingKind::Barracks, barracks_half, beside),
    ];
    Base { centre, forward, buildings }
}

/// Pairs of rocks in mirrored positions, so that no side has an advantage. Every second pair is a wall.
fn rocks(dice: &mut Dice, depth: i32, breadth: i32) -> Vec<Rock> {
    let pairs = (breadth / 7).clamp(3, 16);
    let mut rocks = Vec::new();
    for pair in 0..pairs {
        let centre = random_place(dice, depth, breadth);
        let mut half = Point { x: dice.between(UNIT, UNIT * 5 / 2), y: dice.between(UNIT, UNIT * 5 / 2) };
        if pair % 2 == 0 {
            half = Point { x: UNIT, y: dice.between(3 * UNIT, WALL_HALF_MAX) };
            if dice.between(0, 2) == 0 {
                half = Point { x: half.y, y: half.x };
            }
        }
        rocks.push(Rock { centre, half });
        rocks.push(Rock { centre: Point { x: -centre.x, y: -centre.y }, half });
    }
    rocks
}

fn boulders(dice: &mut Dice, depth: i32, breadth: i32) -> Vec<Point> {
    (0..BOULDERS).map(|_| random_place(dice, depth, breadth)).collect()
}

fn random_place(dice: &mut Dice, depth: i32, breadth: i32) -> Point {
    Point { x: dice.between(-depth * UNIT, depth * UNIT), y: dice.between(-breadth * UNIT, breadth * UNIT) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::MAP_NAMES;

    #[test]
    fn every_setup_fits_the_world_and_armies_do_not_overlap() {
        for players in 1..=16_u8 {
            for units in [1, 2, 5, 200, 5_000, 100_000] {
                let field = Field::new(&Setup { players, units, seed: 3, map: None });
                assert!(field.half.x.max(field.half.y) <= 16_384 * UNIT, "{players} x {units}");
                let army = field.files as i32 * SPACING;
                for (n, a) in field.bases.iter().enumerate() {
                    for (kind, Rock { centre, half }) in a.buildings {
                        let far = Point { x: centre.x.abs(), y: centre.y.abs() }
                            .offset(half.x + UNIT, half.y + UNIT);
                        let inside = far.x < field.half.x && far.y < field.half.y;
                        assert!(inside, "{players} x {units}: {kind:?} of {n}");
                        let apart = |other: &Rock| {
                            let dx = (centre.x - other.centre.x).abs() - half.x - other.half.x;
                            let dy = (centre.y - other.centre.y).abs() - half.y - other.half.y;
                            dx.max(dy)
                        };
                        let others = field.bases[..n].iter().flat_map(|base| &base.buildings);
                        let nearest = others.map(|(_, other)| apart(other)).min();
                        assert!(
                            nearest.is_none_or(|apart| apart > 0),
                            "{players} x {units}: {kind:?} of {n}"
                        );
                    }
                    for b in &field.bases[..n] {
                        let apart = (a.centre.x - b.centre.x).abs().max((a.centre.y - b.centre.y).abs());
                        assert!(apart >= army + 8 * UNIT, "{players} x {units}: {apart} for {army}");
                    }
                    let free = |rock: &Rock| {
                        let dx = (rock.centre.x - a.centre.x).abs() - rock.half.x;
                        let dy = (rock.centre.y - a.centre.y).abs() - rock.half.y;
                        dx.max(dy) >= army / 2
                    };
                    assert!(field.rocks.iter().all(free), "{players} x {units}: a rock in army {n}");
                }
            }
        }
    }

    #[test]
    fn places_of_a_formation_are_apart_and_the_front_looks_to_the_middle() {
        let setup = Setup { players: 4, units: 30, seed: 3, map: None };
        let field = Field::new(&setup);
        for army in 0..4 {
            let centre = field.bases[usize::from(army)].centre;
            let places: Vec<Point> =
                (0..30).map(|number| field.place(army, centre, number, field.files)).collect();
            for (n, a) in places.iter().enumerate() {
                let far = |b: &Point| a.distance_squared(*b) >= crate::point::squared(SPACING);
                assert!(places[..n].iter().all(far), "army {army}: place {n} is taken");
            }
            let from_middle = |place: &Point| place.distance_squared(Point::ZERO);
            assert!(from_middle(&places[2]) < from_middle(&places[26]), "army {army} stands backwards");
        }
    }

    #[test]
    fn the_seed_decides_what_lies_around() {
        let field = |seed| Field::new(&Setup { players: 2, units: 50, seed, map: None });
        assert_eq!(field(1), field(1));
        assert_ne!(field(1).rocks, field(2).rocks);
    }

    /// At every size, armies and buildings stand on free ground, and both armies have the same view.
    #[test]
    fn maps_fit_armies_of_every_size_and_are_fair() {
        for name in MAP_NAMES {
            for units in [1, 5, 200, 5_000, 100_000] {
                let field = Field::new(&Setup { players: 2, units, seed: 3, map: Map::named(name) });
                let [one, two] = [&field.bases[0], &field.bases[1]];
                let turned = |point: Point| Point { x: -point.x, y: -point.y };
                assert_eq!((one.centre, one.forward), (turned(two.centre), (-two.forward.0, -two.forward.1)));
                let reach = field.files as i32 * SPACING / 2;
                let formation = Rock { centre: one.centre, half: Point { x: reach, y: reach } };
                let own: Vec<Rock> = one.buildings.iter().map(|(_, rock)| *rock).chain([formation]).collect();
                for (n, place) in own.iter().enumerate() {
                    let apart = |other: &Rock| {
                        (place.centre.x - other.centre.x).abs() >= place.half.x + other.half.x
                            || (place.centre.y - other.centre.y).abs() >= place.half.y + other.half.y
                    };
                    let solid = field.rocks.iter().chain(&field.waters).chain(&own[..n]);
                    let hit = solid.filter(|other| !apart(other)).collect::<Vec<_>>();
                    assert!(hit.is_empty(), "{name} x {units}: {place:?} {hit:?}");
                    let far = place.centre.offset(place.half.x * place.centre.x.signum(), 0);
                    assert_eq!(far, far.clamped(field.half), "{name} x {units}");
                }
                for blocks in [&field.rocks, &field.waters, &field.woods] {
                    for block in blocks {
                        assert!(blocks.contains(&Rock { centre: turned(block.centre), ..*block }), "{name}");
                    }
                }
                assert!(field.boulders.iter().all(|place| field.boulders.contains(&turned(*place))));
            }
        }
    }

    #[test]
    fn a_square_has_room_for_all() {
        for units in [1, 2, 3, 4, 5, 99, 100, 101, 100_000] {
            let files = files_for(units);
            assert!(files * files >= units && (files - 1) * (files - 1) < units, "{units}: {files}");
        }
    }
}
