//! A uniform grid over the living units: who is near a place. Rebuilt when it is used; not state.

/// Side of a cell, as a power of two in raw units: 8 units of length.
const CELL_SHIFT: u32 = 19;

/// One unit in the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    cell: (i32, i32),
    unit: u32,
    player: u8,
    place: [i32; 2],
}

/// Units sorted by cell, then number.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    entries: Vec<Entry>,
}

impl Grid {
    /// Takes the units in: number, player, position in raw units.
    pub fn fill(&mut self, units: impl Iterator<Item = (u32, u8, [i32; 2])>) {
        self.entries.clear();
        self.entries.extend(units.map(|(unit, player, place)| Entry {
            cell: cell(place),
            unit,
            player,
            place,
        }));
        self.entries.sort_unstable();
    }

    /// The nearest unit of another player within about one cell of `place`; on a tie the one with the lower number.
    pub fn nearest_enemy(&self, player: u8, place: [i32; 2], within: i64) -> Option<u32> {
        let (x, y) = cell(place);
        let mut best: Option<(i64, u32)> = None;
        for column in x - 1..=x + 1 {
            let from = self.entries.partition_point(|e| e.cell < (column, y - 1));
            for e in self.entries[from..].iter().take_while(|e| e.cell <= (column, y + 1)) {
                if e.player == player {
                    continue;
                }
                let [dx, dy] = [0, 1].map(|axis| i64::from(e.place[axis]) - i64::from(place[axis]));
                let candidate = (dx * dx + dy * dy, e.unit);
                if candidate.0 <= within * within && best.is_none_or(|b| candidate < b) {
                    best = Some(candidate);
                }
            }
        }
        best.map(|(_, unit)| unit)
    }
}

fn cell(place: [i32; 2]) -> (i32, i32) {
    (place[0] >> CELL_SHIFT, place[1] >> CELL_SHIFT)
}
