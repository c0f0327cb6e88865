//! Remembers for each unit whether the straight path to its destination is free: a unit stays in a cell for many frames, and the path is long.

use crate::game::terrain::Cell;

/// The last answer for each unit.
// not state: answers that the terrain gives again
#[derive(Clone, Debug)]
pub(crate) struct Sights {
    by_unit: Vec<Option<Sight>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Sight {
    from: Cell,
    to: Cell,
    is_free: bool,
}

impl Sights {
    /// No answers yet.
    pub(crate) fn new(units: u32) -> Self {
        Self { by_unit: vec![None; units as usize] }
    }

    /// To be called when the terrain changes.
    pub(crate) fn forget(&mut self) {
        self.by_unit.fill(None);
    }

    /// The last answer for this unit if it is about these cells, else what `ask` says. The answer must not depend on anything else as long
    /// as the terrain does not change.
    pub(crate) fn get(
        &mut self,
        unit: u32,
        [from, to]: [Cell; 2],
        ask: impl FnOnce(Cell, Cell) -> bool,
    ) -> bool {
        let known = &mut self.by_unit[unit as usize];
        match *known {
            Some(sight) if [sight.from, sight.to] == [from, to] => sight.is_free,
            _ => {
                let is_free = ask(from, to);
                *known = Some(Sight { from, to, is_free });
                is_free
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::dice::Dice;
    use crate::game::terrain::tests::ground;

    #[test]
    fn answers_are_those_of_the_terrain() {
        let terrains = [ground(20, &[(0, 0, 3, 3)]), ground(20, &[(8, 9, 1, 4)])];
        let mut sights = Sights::new(3);
        let mut dice = Dice::new(3);
        let mut seen = 0;
        for terrain in &terrains {
            sights.forget();
            for _ in 0..3_000 {
                let unit = dice.between(0, 2) as u32;
                let [from, to] = [0; 2].map(|_| dice.between(0, 40) as Cell * 7);
                let is_free = sights.get(unit, [from, to], |from, to| terrain.sees(from, to));
                assert_eq!(is_free, terrain.sees(from, to), "{from} {to}");
                seen += u32::from(is_free);
            }
        }
        assert!((500..5_500).contains(&seen), "{seen}");
    }
}
