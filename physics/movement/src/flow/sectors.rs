//! The portals of all tiles, and what is connected with what.

use alloc::vec::Vec;

use testudo_physics::math::isqrt_u64;

use crate::flow::portals::{NONE, Portal, lengths, portals};
use crate::flow::tile::Tile;
use crate::ground::{Cell, CellRect, Ground, SizeClass, TILE};

/// A portal of a tile, entered from the other side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Node {
    pub(crate) tile: u32,
    pub(crate) portal: u32,
}

/// What a search knows of a portal.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Visit {
    /// The search that was here last.
    pub(crate) search: u32,
    /// From the start, in 1/256 of a cell.
    pub(crate) length: u32,
    /// The portal through which the path entered this one's tile before; `None` at the start.
    pub(crate) from: Option<Node>,
}

/// The portals of one tile.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sector {
    pub(crate) portals: Vec<Portal>,
    /// The portal of the other tile that is the same step.
    pub(crate) partners: Vec<u32>,
    /// By portal, and by portal again: lengths of the paths inside of the tile.
    lengths: Vec<u32>,
    /// Portals with the same number are connected inside of the tile; numbers count from 0.
    parts: Vec<u32>,
    visits: Vec<Visit>,
}

/// The portals between tiles for one size of units: a pure function of the ground. Therefore it is no state, but for the visits, which belong to the
/// search that is under way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sectors {
    /// By tile; empty until the first use.
    sectors: Vec<Sector>,
    /// The number of the present search.
    pub(crate) search: u32,
    /// The tiles in which it begins and ends: it keeps lengths in them.
    ends: [u32; 2],
    /// By tile: where the numbers of its parts begin in `joined`.
    bases: Vec<u32>,
    /// By part: the least part that it is connected with.
    joined: Vec<u32>,
}

impl Sector {
    fn new(ground: &Ground, size: SizeClass, tile: u32, scratch: &mut Tile) -> Self {
        let portals = portals(ground, size, tile);
        let is_plain = ground.is_tile_plain(tile, size);
        let mut all = Vec::with_capacity(portals.len() * portals.len());
        let mut parts: Vec<u32> = Vec::with_capacity(portals.len());
        let mut count = 0;
        for (number, portal) in portals.iter().enumerate() {
            let mut cells = portals.iter().map(|other| other.cell);
            if is_plain {
                all.extend(cells.map(|to| straight(ground, portal.cell, to)));
            } else {
                all.extend(lengths(ground, size, (scratch, portal.cell), &mut cells));
            }
            let row = &all[number * portals.len()..];
            let known = (0..number).find(|&other| row[other] != NONE).map(|other| parts[other]);
            parts.push(known.unwrap_or(count));
            count += u32::from(known.is_none());
        }
        let visits = alloc::vec![Visit::default(); portals.len()];
        Self { portals, partners: Vec::new(), lengths: all, parts, visits }
    }

    /// Lengths of the paths from one portal to all, [`NONE`] where there is no path.
    pub(crate) fn lengths(&self, portal: u32) -> &[u32] {
        let count = self.portals.len();
        self.lengths.get(portal as usize * count..(portal as usize + 1) * count).unwrap_or(&[])
    }
}

impl Sectors {
    /// Whether they were used already.
    pub(crate) fn is_ready(&self) -> bool {
        !self.sectors.is_empty()
    }

    /// Finds all portals, if that was not done yet.
    pub(crate) fn prepare(&mut self, ground: &Ground, size: SizeClass) {
        if self.sectors.is_empty() {
            let [columns, rows] = ground.grid.tiles();
            self.sectors.resize_with((columns * rows).unsigned_abs() as usize, Sector::default);
            self.survey(ground, size, CellRect { min: [0; 2], max: [columns - 1, rows - 1] });
        }
    }

    /// Finds again what depends on a changed part of the ground. Says whether the present search knows something of it: it has been
    /// there, or begins or ends there.
    pub(crate) fn forget(&mut self, ground: &Ground, size: SizeClass, changed: CellRect) -> bool {
        if self.sectors.is_empty() {
            return false;
        }
        let near = ground.grid.clip(changed.grown(1));
        let tiles = CellRect { min: near.min.map(|at| at / TILE), max: near.max.map(|at| at / TILE) };
        let columns = ground.grid.tiles()[0];
        let is_known = |[x, y]: [i32; 2]| {
            let tile = (y * columns + x).unsigned_abs();
            self.ends.contains(&tile) || self.at(tile).visits.iter().any(|visit| self.is_now(visit))
        };
        let is_known = tiles.cells().any(is_known);
        self.survey(ground, size, tiles);
        is_known
    }

    /// Finds the portals of some tiles, and what is connected.
    fn survey(&mut self, ground: &Ground, size: SizeClass, tiles: CellRect) {
        let [columns, rows] = ground.grid.tiles();
        let number = |[x, y]: [i32; 2]| (y * columns + x).unsigned_abs();
        let mut scratch = Tile::new();
        for at in tiles.cells() {
            self.sectors[number(at) as usize] = Sector::new(ground, size, number(at), &mut scratch);
        }
        let exists = |at: &[i32; 2]| (0..columns).contains(&at[0]) && (0..rows).contains(&at[1]);
        // Neighbours name the portals by their places.
        tiles.grown(1).cells().filter(exists).for_each(|at| self.pair(number(at)));
        self.join();
    }

    /// Finds the portals beyond those of a tile.
    fn pair(&mut self, tile: u32) {
        let beyond = self.at(tile).portals.iter().map(|portal| {
            let is_same = |other: &Portal| other.cell == portal.beyond && other.beyond == portal.cell;
            self.at(portal.tile).portals.iter().position(is_same).unwrap_or(0) as u32
        });
        let partners = beyond.collect();
        self.sectors[tile as usize].partners = partners;
    }

    /// Finds which parts of tiles are connected with each other.
    fn join(&mut self) {
        let mut end = 0;
        self.bases.clear();
        for sector in &self.sectors {
            self.bases.push(end);
            end += sector.parts.iter().max().map_or(0, |last| last + 1);
        }
        let mut joined: Vec<u32> = (0..end).collect();
        for (sector, &base) in self.sectors.iter().zip(&self.bases) {
            for ((portal, &partner), part) in sector.portals.iter().zip(&sector.partners).zip(&sector.parts) {
                let Some(beyond) = self.at(portal.tile).parts.get(partner as usize) else { continue };
                let here = root(&mut joined, base + part);
                let there = root(&mut joined, self.bases[portal.tile as usize] + beyond);
                joined[here.max(there) as usize] = here.min(there);
            }
        }
        (0..end).for_each(|part| _ = root(&mut joined, part));
        self.joined = joined;
    }

    /// The lengths from a cell to all portals of its tile, and at the end to another cell ([`NONE`] if that is in another tile).
    pub(crate) fn lengths_from(&self, ground: &Ground, size: SizeClass, cell: Cell, other: Cell) -> Vec<u32> {
        let tile = tile_of(ground, cell);
        let mut scratch = Tile::new();
        let portals = self.at(tile).portals.iter().map(|portal| portal.cell);
        let mut all = lengths(ground, size, (&mut scratch, cell), &mut portals.chain([other]));
        if tile_of(ground, other) != tile
            && let Some(last) = all.last_mut()
        {
            *last = NONE;
        }
        all
    }

    /// Whether a path over portals leads from a tile to another one; by the lengths to their portals.
    pub(crate) fn connects(
        &self,
        (first, from_start): (u32, &[u32]),
        (last, to_goal): (u32, &[u32]),
    ) -> bool {
        let part = |tile: u32, row: &[u32]| {
            let parts = &self.at(tile).parts;
            let reached = parts.iter().zip(row).find(|&(_, &length)| length != NONE);
            reached.and_then(|(part, _)| self.joined.get((self.bases[tile as usize] + part) as usize))
        };
        part(first, from_start).is_some_and(|start| part(last, to_goal) == Some(start))
    }

    pub(crate) fn at(&self, tile: u32) -> &Sector {
        // All tiles are found before they are used.
        self.sectors.get(tile as usize).unwrap_or(const { &Sector::EMPTY })
    }

    /// A search begins, from a tile to a tile.
    pub(crate) fn begin_search(&mut self, ends: [u32; 2]) {
        (self.search, self.ends) = (self.search.wrapping_add(1).max(1), ends);
    }

    fn is_now(&self, visit: &Visit) -> bool {
        self.search != 0 && visit.search == self.search
    }

    pub(crate) fn visit(&self, node: Node) -> Visit {
        self.at(node.tile).visits.get(node.portal as usize).copied().unwrap_or_default()
    }

    pub(crate) fn visit_mut(&mut self, node: Node) -> Option<&mut Visit> {
        self.sectors.get_mut(node.tile as usize)?.visits.get_mut(node.portal as usize)
    }
}

impl Sector {
    const EMPTY: Self = Self {
        portals: Vec::new(),
        partners: Vec::new(),
        lengths: Vec::new(),
        parts: Vec::new(),
        visits: Vec::new(),
    };
}

/// The least part that a part is connected with so far.
fn root(joined: &mut [u32], part: u32) -> u32 {
    let mut at = part;
    while joined[at as usize] != at {
        let next = joined[at as usize];
        joined[at as usize] = joined[next as usize];
        at = next;
    }
    joined[part as usize] = at;
    at
}

pub(crate) fn tile_of(ground: &Ground, cell: Cell) -> u32 {
    ground.grid.tile(ground.grid.split(cell))
}

/// Length of the straight line between two cells, in 1/256 of a cell.
pub(crate) fn straight(ground: &Ground, from: Cell, to: Cell) -> u32 {
    let (from, to) = (ground.grid.split(from), ground.grid.split(to));
    let square: u64 = [0, 1].map(|axis| u64::from(from[axis].abs_diff(to[axis])).pow(2)).iter().sum();
    isqrt_u64(square << 16) as u32
}
