//! Hand-made maps: a text file of characters, and the three maps that come with the program. `docs/maps.md` describes the format.

#![expect(
    clippy::disallowed_types,
    reason = "the built-in maps are constants; which thread reads them first does not matter"
)]

use core::fmt;
use std::sync::LazyLock;

use testudo_physics::hash_bytes;

/// The first line of a map file.
const HEADER: &str = "testudo map 1";

/// Rows and columns of a map: even numbers in this range.
const SIDE_MIN: usize = 24;
const SIDE_MAX: usize = 96;

/// Largest map file, bytes.
pub const MAP_BYTES_MAX: usize = 16 * 1024;

/// Free ground needed around the centre of a formation, a keep and a barracks, in characters to each side.
pub(crate) const START_FREE: usize = 5;
const KEEP_FREE: usize = 3;
const BARRACKS_FREE: usize = 2;

/// The ground that one character of a map stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ground {
    Grass,
    /// Slows units.
    Wood,
    /// Impassable.
    Water,
    /// Impassable, too.
    Rock,
}

/// A place on a map, in characters from the upper left corner: column, row.
pub(crate) type Spot = (usize, usize);

/// A rectangle of one kind of ground: its first spot, and its size in columns and rows.
// not state: read from the map's text before the match begins
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Block {
    pub(crate) ground: Ground,
    pub(crate) first: Spot,
    pub(crate) columns: usize,
    pub(crate) rows: usize,
}

/// Where an army starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Start {
    /// Middle of the formation.
    pub(crate) army: Spot,
    pub(crate) keep: Spot,
    pub(crate) barracks: [Spot; 2],
}

/// The map of a match of two players. It is symmetric under rotation by 180 degrees, so no side has an advantage.
// not state: read from a text before the match begins
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Map {
    /// Its name in menus: the first comment of its file.
    pub name: String,
    pub(crate) columns: usize,
    pub(crate) rows: usize,
    /// Everything but grass.
    pub(crate) blocks: Vec<Block>,
    pub(crate) boulders: Vec<Spot>,
    pub(crate) starts: [Start; 2],
    /// The text as it was read.
    pub text: String,
    /// Hash of everything that affects a match.
    pub hash: u64,
}

/// Why a text is not a map. Lines count from 1.
// not state: a message about a file
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the fields are what their names say")]
pub enum MapError {
    /// The first line is wrong.
    Header,
    /// The file is longer than [`MAP_BYTES_MAX`].
    TooLong { bytes: usize },
    /// Rows or columns are odd, too few or too many.
    Size { columns: usize, rows: usize },
    /// A row is longer or shorter than the first one.
    Ragged { line: usize, columns: usize, wanted: usize },
    /// An unknown character.
    Character { line: usize, column: usize, found: char },
    /// The character opposite this one, after rotation by 180 degrees, does not match it.
    Unfair { line: usize, column: usize, found: char, opposite: char },
    /// A wrong number of one character.
    Count { sign: char, found: usize, wanted: usize },
    /// Something stands within this many characters of this one.
    Crowded { sign: char, line: usize, column: usize, free: usize },
    /// Formations or buildings overlap.
    Overlap { a: char, b: char },
    /// No path two characters wide leads from the first army to this character.
    CutOff { sign: char, line: usize, column: usize },
}

/// The built-in maps, by the names that `--map` takes.
pub const MAP_NAMES: [&str; 3] = ["ford", "pass", "lakes"];

/// The contents of their files.
const MAP_TEXTS: [&str; MAP_NAMES.len()] = [
    include_str!("../../maps/ford.txt"),
    include_str!("../../maps/pass.txt"),
    include_str!("../../maps/lakes.txt"),
];

/// The built-in maps, in the order of [`MAP_NAMES`].
static OWN: LazyLock<[Map; MAP_NAMES.len()]> = LazyLock::new(|| {
    MAP_TEXTS.map(|text| match Map::parse(text) {
        Ok(map) => map,
        Err(error) => unreachable!("a built-in map: {error}"),
    })
});

impl Map {
    /// One of [`MAP_NAMES`].
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::numbered(MAP_NAMES.iter().position(|known| *known == name)?)
    }

    /// Number `number` of the built-in maps.
    pub fn numbered(number: usize) -> Option<&'static Self> {
        OWN.get(number)
    }

    /// # Errors
    /// The text is not a map.
    pub fn parse(text: &str) -> Result<Self, MapError> {
        if text.len() > MAP_BYTES_MAX {
            return Err(MapError::TooLong { bytes: text.len() });
        }
        let mut lines = (1..).zip(text.lines().map(str::trim_end));
        if lines.next().is_none_or(|(_, first)| first != HEADER) {
            return Err(MapError::Header);
        }
        let mut name = None;
        let mut rows: Vec<(usize, Vec<char>)> = Vec::new();
        for (line, row) in lines {
            if let Some(comment) = row.strip_prefix(';') {
                name = name.or_else(|| Some(comment.split(':').next().unwrap_or("").trim().to_owned()));
            } else if !row.is_empty() {
                rows.push((line, row.chars().collect()));
            }
        }
        let sheet = Sheet::new(rows)?;
        sheet.check_fairness()?;
        let starts = [sheet.start(['1', 'K', 'B'])?, sheet.start(['2', 'k', 'b'])?];
        sheet.check_room(&starts)?;
        sheet.check_ways(&starts)?;
        let hash = sheet.hash();
        Ok(Self {
            name: name.filter(|name| !name.is_empty()).unwrap_or_else(|| "a map without a name".into()),
            columns: sheet.columns,
            rows: sheet.rows.len(),
            blocks: sheet.blocks(),
            boulders: sheet.spots('o'),
            starts,
            text: text.into(),
            hash,
        })
    }
}

/// The characters of a map, all rows of the same length.
// not state: read from a file before the match begins
struct Sheet {
    columns: usize,
    /// Line in the file, characters.
    rows: Vec<(usize, Vec<char>)>,
}

impl Sheet {
    fn new(rows: Vec<(usize, Vec<char>)>) -> Result<Self, MapError> {
        let columns = rows.first().map_or(0, |(_, row)| row.len());
        let is_side = |side: usize| (SIDE_MIN..=SIDE_MAX).contains(&side) && side.is_multiple_of(2);
        for (line, row) in &rows {
            if row.len() != columns {
                return Err(MapError::Ragged { line: *line, columns: row.len(), wanted: columns });
            }
            let strange = row.iter().position(|sign| !".^~#o12KBkb".contains(*sign));
            if let Some(column) = strange {
                return Err(MapError::Character { line: *line, column: column + 1, found: row[column] });
            }
        }
        if is_side(columns) && is_side(rows.len()) {
            Ok(Self { columns, rows })
        } else {
            Err(MapError::Size { columns, rows: rows.len() })
        }
    }

    fn at(&self, (column, row): Spot) -> char {
        self.rows[row].1[column]
    }

    fn line_of(&self, (column, row): Spot) -> (usize, usize) {
        (self.rows[row].0, column + 1)
    }

    /// All spots, row by row.
    fn all(&self) -> impl Iterator<Item = Spot> + use<> {
        let (columns, rows) = (self.columns, self.rows.len());
        (0..rows).flat_map(move |row| (0..columns).map(move |column| (column, row)))
    }

    fn spots(&self, sign: char) -> Vec<Spot> {
        self.all().filter(|spot| self.at(*spot) == sign).collect()
    }

    fn opposite(&self, (column, row): Spot) -> Spot {
        (self.columns - 1 - column, self.rows.len() - 1 - row)
    }

    fn check_fairness(&self) -> Result<(), MapError> {
        let partner = |sign: char| match sign {
            '1' => '2',
            '2' => '1',
            'K' | 'B' => sign.to_ascii_lowercase(),
            'k' | 'b' => sign.to_ascii_uppercase(),
            _ => sign,
        };
        for spot in self.all() {
            let (found, opposite) = (self.at(spot), self.at(self.opposite(spot)));
            if partner(found) != opposite {
                let (line, column) = self.line_of(spot);
                return Err(MapError::Unfair { line, column, found, opposite });
            }
        }
        Ok(())
    }

    fn start(&self, [army, keep, barracks]: [char; 3]) -> Result<Start, MapError> {
        let exactly = |sign: char, wanted: usize| {
            let found = self.spots(sign);
            if found.len() == wanted {
                Ok(found)
            } else {
                Err(MapError::Count { sign, found: found.len(), wanted })
            }
        };
        let houses = exactly(barracks, 2)?;
        Ok(Start { army: exactly(army, 1)?[0], keep: exactly(keep, 1)?[0], barracks: [houses[0], houses[1]] })
    }

    /// Checks that formations and buildings stand on free ground, apart from each other.
    fn check_room(&self, starts: &[Start; 2]) -> Result<(), MapError> {
        let places = |[army, keep, barracks]: [char; 3], start: &Start| {
            [
                (army, start.army, START_FREE),
                (keep, start.keep, KEEP_FREE),
                (barracks, start.barracks[0], BARRACKS_FREE),
                (barracks, start.barracks[1], BARRACKS_FREE),
            ]
        };
        let places = [places(['1', 'K', 'B'], &starts[0]), places(['2', 'k', 'b'], &starts[1])].concat();
        for &(sign, spot, free) in &places {
            let (line, column) = self.line_of(spot);
            let is_free = |(x, y): Spot| !matches!(self.at((x, y)), '#' | '~' | 'o');
            let around = self.around(spot, free);
            if !around.is_some_and(|mut spots| spots.all(is_free)) {
                return Err(MapError::Crowded { sign, line, column, free });
            }
        }
        for (n, (b, at, free)) in places.iter().enumerate() {
            for (a, other, others_free) in &places[..n] {
                let apart = at.0.abs_diff(other.0).max(at.1.abs_diff(other.1));
                if apart <= free + others_free {
                    return Err(MapError::Overlap { a: *a, b: *b });
                }
            }
        }
        Ok(())
    }

    /// The square around a spot; none if it leaves the map.
    fn around(&self, (column, row): Spot, reach: usize) -> Option<impl Iterator<Item = Spot> + use<>> {
        let (left, top) = (column.checked_sub(reach)?, row.checked_sub(reach)?);
        (column + reach < self.columns && row + reach < self.rows.len())
            .then(|| (top..=row + reach).flat_map(move |y| (left..=column + reach).map(move |x| (x, y))))
    }

    /// Checks that paths two characters wide lead from the first army's start to the second one's and to every building.
    fn check_ways(&self, starts: &[Start; 2]) -> Result<(), MapError> {
        let fits = |(x, y): Spot| {
            let corners = [(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)];
            x + 1 < self.columns
                && y + 1 < self.rows.len()
                && corners.iter().all(|corner| !matches!(self.at(*corner), '#' | '~'))
        };
        let mut reached = vec![false; self.columns * self.rows.len()];
        let mut waiting = vec![starts[0].army];
        while let Some((x, y)) = waiting.pop() {
            if !fits((x, y)) || core::mem::replace(&mut reached[y * self.columns + x], true) {
                continue;
            }
            waiting.extend([(x + 1, y), (x, y + 1)]);
            waiting.extend(x.checked_sub(1).map(|x| (x, y)));
            waiting.extend(y.checked_sub(1).map(|y| (x, y)));
        }
        for spot in self.all().filter(|spot| "2KBkb".contains(self.at(*spot))) {
            if !reached[spot.1 * self.columns + spot.0] {
                let (line, column) = self.line_of(spot);
                return Err(MapError::CutOff { sign: self.at(spot), line, column });
            }
        }
        Ok(())
    }

    /// Rectangles of equal ground that cover everything but grass. Those of the lower half are those of the upper half, rotated by 180
    /// degrees.
    fn blocks(&self) -> Vec<Block> {
        let ground = |spot: Spot| match self.at(spot) {
            '^' => Ground::Wood,
            '~' => Ground::Water,
            '#' => Ground::Rock,
            _ => Ground::Grass,
        };
        let half = self.rows.len() / 2;
        let mut is_covered = vec![false; self.columns * half];
        let mut blocks = Vec::new();
        for first in self.all().take(self.columns * half) {
            let kind = ground(first);
            let is_new = |(x, y): Spot, is_covered: &[bool]| {
                x < self.columns && y < half && !is_covered[y * self.columns + x] && ground((x, y)) == kind
            };
            if kind == Ground::Grass || !is_new(first, &is_covered) {
                continue;
            }
            let (x, y) = first;
            let columns = (1..).find(|n| !is_new((x + n, y), &is_covered)).unwrap_or(1);
            let is_row_new = |n: usize| (0..columns).all(|column| is_new((x + column, y + n), &is_covered));
            let rows = (1..).find(|n| !is_row_new(*n)).unwrap_or(1);
            for row in y..y + rows {
                is_covered[row * self.columns + x..][..columns].fill(true);
            }
            let turned = (self.columns - x - columns, self.rows.len() - y - rows);
            blocks.push(Block { ground: kind, first, columns, rows });
            blocks.push(Block { ground: kind, first: turned, columns, rows });
        }
        blocks
    }

    /// Leaves out comments.
    fn hash(&self) -> u64 {
        let mut bytes = Vec::with_capacity((self.columns + 1) * self.rows.len());
        for (_, row) in &self.rows {
            bytes.extend(row.iter().map(|sign| *sign as u8));
            bytes.push(b'\n');
        }
        hash_bytes(&bytes)
    }
}

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header => write!(f, "the first line must be '{HEADER}'"),
            Self::TooLong { bytes } => write!(f, "the file has {bytes} bytes, {MAP_BYTES_MAX} are allowed"),
            Self::Size { columns, rows } => write!(
                f,
                "{columns} columns and {rows} rows; both must be even and from {SIDE_MIN} to {SIDE_MAX}"
            ),
            Self::Ragged { line, columns, wanted } => {
                write!(f, "line {line} has {columns} characters, the first row has {wanted}")
            }
            Self::Character { line, column, found } => {
                write!(f, "line {line}, column {column}: '{found}' is unknown; use . ^ ~ # o 1 2 K B k b")
            }
            Self::Unfair { line, column, found, opposite } => write!(
                f,
                "line {line}, column {column}: '{found}' here and '{opposite}' at the opposite place; the map must be \
                 symmetric under rotation by 180 degrees"
            ),
            Self::Count { sign, found, wanted } => {
                write!(f, "the map has {found} of '{sign}', it needs {wanted}")
            }
            Self::Crowded { sign, line, column, free } => write!(
                f,
                "line {line}, column {column}: '{sign}' needs {free} characters of free ground on all sides"
            ),
            Self::Overlap { a, b } => write!(f, "'{a}' and '{b}' are too close together"),
            Self::CutOff { sign, line, column } => write!(
                f,
                "line {line}, column {column}: no path from '1' to '{sign}' is two characters wide throughout"
            ),
        }
    }
}

impl std::error::Error for MapError {}

#[cfg(test)]
mod tests {
    use super::*;

    const SOUND: &str = include_str!("../../maps/ford.txt");

    /// The text with one character changed; lines and columns count from 1.
    fn changed(changes: &[(usize, usize, char)]) -> String {
        let mut rows: Vec<Vec<char>> = SOUND.lines().map(|line| line.chars().collect()).collect();
        for &(line, column, sign) in changes {
            rows[line - 1][column - 1] = sign;
        }
        let lines: Vec<String> = rows.into_iter().map(|row| row.into_iter().collect()).collect();
        lines.join("\n")
    }

    #[test]
    fn the_programs_maps_are_sound_and_different() {
        let hashes = MAP_NAMES.map(|name| Map::named(name).unwrap().hash);
        assert!(hashes[0] != hashes[1] && hashes[1] != hashes[2] && hashes[0] != hashes[2]);
        for (number, name) in MAP_NAMES.into_iter().enumerate() {
            let map = Map::named(name).unwrap();
            assert_eq!(Map::numbered(number), Some(map), "{name}");
            for ground in [Ground::Wood, Ground::Water, Ground::Rock] {
                assert!(map.blocks.iter().any(|block| block.ground == ground), "{name} has no {ground:?}");
            }
        }
        assert_eq!(Map::named("moon"), None);
    }

    /// Together the blocks are the map, and they are symmetric under rotation by 180 degrees.
    #[test]
    fn blocks_cover_all_but_grass_once() {
        for name in MAP_NAMES {
            let map = Map::named(name).unwrap();
            let rows: Vec<Vec<char>> = map
                .text
                .lines()
                .filter(|line| line.len() == map.columns)
                .map(|l| l.chars().collect())
                .collect();
            let mut painted = vec![vec!['.'; map.columns]; map.rows];
            for block in &map.blocks {
                let sign = match block.ground {
                    Ground::Grass => panic!("grass needs no block"),
                    Ground::Wood => '^',
                    Ground::Water => '~',
                    Ground::Rock => '#',
                };
                for y in block.first.1..block.first.1 + block.rows {
                    for x in block.first.0..block.first.0 + block.columns {
                        assert_eq!(
                            core::mem::replace(&mut painted[y][x], sign),
                            '.',
                            "{name}: twice {x} {y}"
                        );
                    }
                }
                let turned =
                    (map.columns - block.first.0 - block.columns, map.rows - block.first.1 - block.rows);
                assert!(map.blocks.contains(&Block { first: turned, ..*block }), "{name}: {block:?}");
            }
            for (y, row) in rows.iter().enumerate() {
                for (x, sign) in row.iter().enumerate() {
                    let wanted = if "^~#".contains(*sign) { *sign } else { '.' };
                    assert_eq!(painted[y][x], wanted, "{name}: {x} {y}");
                }
            }
        }
    }

    #[test]
    fn a_text_that_is_no_map_is_refused_with_its_place() {
        let line = 3;
        for (text, wanted) in [
            ("", MapError::Header),
            ("testudo map 2\n....", MapError::Header),
            (HEADER, MapError::Size { columns: 0, rows: 0 }),
            ("testudo map 1\n..\n..", MapError::Size { columns: 2, rows: 2 }),
            ("testudo map 1\n..\n...", MapError::Ragged { line, columns: 3, wanted: 2 }),
            ("testudo map 1\n..\n.x", MapError::Character { line, column: 2, found: 'x' }),
        ] {
            assert_eq!(Map::parse(text), Err(wanted), "{text}");
        }
        assert_eq!(
            Map::parse(&changed(&[(3, 1, '#')])),
            Err(MapError::Unfair { line: 3, column: 1, found: '#', opposite: '.' })
        );
        let (bottom, right) = (SOUND.lines().count(), SOUND.lines().last().unwrap().len());
        let pair = |line: usize, column: usize, sign: char| {
            [(line, column, sign), (bottom + 3 - line, right + 1 - column, sign)]
        };
        assert!(matches!(Map::parse(&changed(&pair(18, 12, '#'))), Err(MapError::Crowded { sign: '1', .. })));
        assert!(matches!(
            Map::parse(&changed(&pair(18, 14, '.'))),
            Err(MapError::Count { sign: '1', found: 0, wanted: 1 })
        ));
        let wall: Vec<_> = (3..=bottom).flat_map(|line| pair(line, 25, '#')).collect();
        assert!(matches!(Map::parse(&changed(&wall)), Err(MapError::CutOff { sign: 'k' | '2' | 'b', .. })));
        assert_eq!(
            Map::parse(&".".repeat(MAP_BYTES_MAX + 1)),
            Err(MapError::TooLong { bytes: MAP_BYTES_MAX + 1 })
        );
    }

    /// Column and row of `1`, `K` and both `B`, from 0, on 32 x 32 characters of grass.
    fn on_grass(spots: [Spot; 4]) -> Result<Map, MapError> {
        let mut rows = vec![['.'; 32]; 32];
        for ((x, y), [sign, partner]) in
            spots.into_iter().zip([['1', '2'], ['K', 'k'], ['B', 'b'], ['B', 'b']])
        {
            (rows[y][x], rows[31 - y][31 - x]) = (sign, partner);
        }
        let rows: Vec<String> = rows.into_iter().map(|row| row.into_iter().collect()).collect();
        Map::parse(&format!("{HEADER}\n{}", rows.join("\n")))
    }

    /// Only places of one army were compared: both armies could start inside each other.
    #[test]
    fn the_free_ground_of_both_armies_does_not_overlap() {
        let overlap = |a: char, b: char| Err(MapError::Overlap { a, b });
        assert_eq!(on_grass([(15, 15), (4, 15), (15, 4), (15, 27)]), overlap('1', '2'));
        // Formations whose middles are 11 characters apart stand side by side.
        assert!(on_grass([(10, 21), (4, 4), (18, 28), (19, 20)]).is_ok());
        assert_eq!(on_grass([(11, 20), (4, 4), (18, 28), (19, 20)]), overlap('1', '2'));
        assert_eq!(on_grass([(10, 21), (10, 13), (18, 28), (19, 20)]), overlap('1', 'K'));
        assert_eq!(on_grass([(10, 21), (4, 4), (18, 28), (23, 24)]), overlap('B', 'k'));
    }

    #[test]
    fn comments_do_not_count() {
        let named = SOUND.replace("; The ford", "; Elsewhere\n; The ford");
        let [one, other] = [SOUND, &named].map(|text| Map::parse(text).unwrap());
        assert_eq!((one.hash, other.name.as_str()), (other.hash, "Elsewhere"));
    }
}
