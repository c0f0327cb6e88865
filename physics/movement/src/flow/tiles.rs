//! Sets of tiles.

use alloc::vec;
use alloc::vec::Vec;

/// Which of the tiles of a ground are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tiles {
    words: Vec<u64>,
    total: u32,
    count: u32,
}

impl Tiles {
    /// None of so many tiles.
    pub(crate) fn none(total: u32) -> Self {
        Self { words: vec![0; total.div_ceil(64) as usize], total, count: 0 }
    }

    /// All of so many tiles.
    pub(crate) fn all(total: u32) -> Self {
        let mut tiles = Self::none(total);
        (0..total).for_each(|tile| _ = tiles.insert(tile));
        tiles
    }

    #[inline]
    pub(crate) fn contains(&self, tile: u32) -> bool {
        self.words[(tile / 64) as usize] & 1 << (tile % 64) != 0
    }

    /// Says whether it is new.
    pub(crate) fn insert(&mut self, tile: u32) -> bool {
        let is_new = !self.contains(tile);
        self.words[(tile / 64) as usize] |= 1 << (tile % 64);
        self.count += u32::from(is_new);
        is_new
    }

    pub(crate) fn clear(&mut self) {
        self.words.fill(0);
        self.count = 0;
    }

    /// Whether all tiles are meant.
    pub(crate) fn is_whole(&self) -> bool {
        self.count == self.total
    }

    /// Whether at least half of all tiles are meant.
    pub(crate) fn is_half(&self) -> bool {
        self.count >= self.total / 2
    }

    /// In ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> {
        (0..self.total).filter(|&tile| self.contains(tile))
    }

    /// How many tiles there are, meant or not.
    pub(crate) fn total(&self) -> u32 {
        self.total
    }
}
