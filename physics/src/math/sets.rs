//! Disjoint sets of indices.

use alloc::vec::Vec;

/// Sets that are merged one by one. The lowest member names a set, so the order of merging does not matter. Members are plain numbers: there are
/// sets of slots, and of bodies by working index.
#[derive(Clone, Debug, Default)]
pub(crate) struct DisjointSets(Vec<u32>);

impl DisjointSets {
    /// Makes a set of each of the first `len` indices.
    pub(crate) fn reset(&mut self, len: usize) {
        self.0.clear();
        self.0.extend(0..len as u32);
    }

    /// The name of a member's set; halves the path to it.
    pub(crate) fn find(&mut self, mut at: u32) -> u32 {
        let parents = &mut self.0;
        while parents[at as usize] != at {
            parents[at as usize] = parents[parents[at as usize] as usize];
            at = parents[at as usize];
        }
        at
    }

    pub(crate) fn merge(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a.max(b) as usize] = a.min(b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn sets_are_named_after_their_lowest_member_in_any_order() {
        let pairs = [(7, 3), (1, 7), (4, 5), (0, 8), (5, 6)];
        let mut names = vec![];
        for turn in 0..pairs.len() {
            let mut sets = DisjointSets::default();
            sets.reset(9);
            for k in 0..pairs.len() {
                let (a, b) = pairs[(k * 2 + turn) % pairs.len()];
                sets.merge(a, b);
            }
            names.push((0..9).map(|at| sets.find(at)).collect::<Vec<_>>());
        }
        assert!(names.iter().all(|n| n == &[0, 1, 2, 1, 4, 4, 4, 1, 0]), "{names:?}");
    }
}
