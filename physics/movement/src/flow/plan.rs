//! Paths from tile to tile, for goals that are far away.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use testudo_physics::math::isqrt_u64;

use crate::flow::portals::{NONE, Portal, lengths, portals};
use crate::flow::tile::Tile;
use crate::flow::tiles::Tiles;
use crate::ground::{Cell, CellRect, Ground, SizeClass, TILE};

/// A straight line over so many portals is tried at most.
const LINE: usize = 32;

/// A portal of a tile, entered from the other side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Node {
    tile: u32,
    portal: u32,
}

/// What a search knows of a portal.
#[derive(Clone, Copy, Debug, Default)]
struct Visit {
    /// The search that was here last.
    search: u32,
    /// From the start, in 1/256 of a cell.
    length: u32,
    /// The portal through which the path entered this one's tile before; `None` at the start.
    from: Option<Node>,
    /// Portals with the same number are connected; 0 if that is not known.
    part: u32,
}

/// The portals of one tile.
#[derive(Clone, Debug)]
struct Sector {
    portals: Vec<Portal>,
    /// The portal of the other tile that is the same step.
    partners: Vec<u32>,
    /// By portal, when somebody came through it: lengths of the paths inside of the tile to the others.
    lengths: Vec<Vec<u32>>,
    visits: Vec<Visit>,
}

/// The portals between tiles for one size of units, and searches over them. What it keeps is a pure function of the ground, computed when it is
/// asked for; therefore it is no state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sectors {
    /// By tile.
    sectors: Vec<Option<Sector>>,
    search: u32,
    /// The greatest number of a part, and the greatest that is no longer right.
    part: u32,
    part_before: u32,
}

impl Sectors {
    /// Forgets what depends on a changed part of the ground.
    pub(crate) fn forget(&mut self, ground: &Ground, changed: CellRect) {
        self.part_before = self.part;
        if self.sectors.is_empty() {
            return;
        }
        let near = ground.grid.clip(changed.grown(1));
        let tiles = CellRect { min: near.min.map(|at| at / TILE), max: near.max.map(|at| at / TILE) };
        let [columns, rows] = ground.grid.tiles();
        for [x, y] in tiles.grown(1).cells() {
            if (0..columns).contains(&x) && (0..rows).contains(&y) {
                let sector = &mut self.sectors[(y * columns + x) as usize];
                if tiles.contains([x, y]) {
                    *sector = None;
                } else if let Some(sector) = sector {
                    // It names the portals of its neighbours by their places.
                    sector.partners.clear();
                }
            }
        }
    }

    /// The cells over which a short path from one cell to another goes, each end of a line; `None` if there is no path (A* over portals).
    pub(crate) fn path(
        &mut self,
        ground: &Ground,
        size: SizeClass,
        start: Cell,
        goal: Cell,
    ) -> Option<Vec<Cell>> {
        let tile_of = |cell: Cell| ground.grid.tile(ground.grid.split(cell));
        let (first, last) = (tile_of(start), tile_of(goal));
        let mut scratch = Tile::new();
        self.look(ground, size, first);
        self.look(ground, size, last);
        let mut row = |sectors: &Self, tile: u32, from: Cell| {
            let portals = sectors.at(tile).portals.iter().map(|portal| portal.cell);
            lengths(ground, size, (&mut scratch, from), portals.chain([goal]))
        };
        let (from_start, to_goal) = (row(self, first, start), row(self, last, goal));
        let direct = if first == last { from_start.last().copied().unwrap_or(NONE) } else { NONE };
        if direct == NONE && !self.may_connect((first, &from_start), (last, &to_goal)) {
            return None;
        }
        self.search = self.search.wrapping_add(1);
        let mut search = Search { best: (direct, None), queue: BinaryHeap::new(), opened: Vec::new(), goal };
        for (portal, &length) in (0..self.at(first).portals.len() as u32).zip(&from_start) {
            if length != NONE {
                self.enter(ground, size, &mut search, (Node { tile: first, portal }, length, None));
            }
        }
        while let Some(Reverse((least, node, length))) = search.queue.pop() {
            if least >= search.best.0 {
                break;
            }
            if length > self.visit(node).length {
                continue;
            }
            if node.tile == last
                && let Some(&rest) = to_goal.get(node.portal as usize)
                && rest != NONE
                && length + rest < search.best.0
            {
                search.best = (length + rest, Some(node));
            }
            self.look_through(ground, size, &mut scratch, node);
            for portal in 0..self.at(node.tile).portals.len() as u32 {
                let inside = self.at(node.tile).lengths[node.portal as usize][portal as usize];
                if inside != NONE && portal != node.portal {
                    let exit = Node { portal, ..node };
                    self.enter(ground, size, &mut search, (exit, length + inside, Some(node)));
                }
            }
        }
        if search.best.0 == NONE {
            self.mark_part(&search.opened);
            return None;
        }
        Some(self.trace(search.best.1, start, goal))
    }

    fn at(&self, tile: u32) -> &Sector {
        // Tiles are looked at before they are used.
        self.sectors[tile as usize].as_ref().unwrap_or(const { &Sector::EMPTY })
    }

    fn visit(&self, node: Node) -> Visit {
        self.at(node.tile).visits.get(node.portal as usize).copied().unwrap_or_default()
    }

    fn visit_mut(&mut self, node: Node) -> Option<&mut Visit> {
        self.sectors[node.tile as usize].as_mut()?.visits.get_mut(node.portal as usize)
    }

    /// Finds the portals of a tile.
    fn look(&mut self, ground: &Ground, size: SizeClass, tile: u32) {
        let [columns, rows] = ground.grid.tiles();
        self.sectors.resize_with((columns * rows) as usize, || None);
        if self.sectors[tile as usize].is_none() {
            let portals = portals(ground, size, tile);
            let count = portals.len();
            let visits = alloc::vec![Visit::default(); count];
            self.sectors[tile as usize] = Some(Sector {
                portals,
                partners: Vec::new(),
                lengths: alloc::vec![Vec::new(); count],
                visits,
            });
        }
    }

    /// Finds the lengths of paths from a portal of a tile to the others.
    fn look_through(&mut self, ground: &Ground, size: SizeClass, scratch: &mut Tile, node: Node) {
        let Some(sector) = &mut self.sectors[node.tile as usize] else { return };
        let (portals, known) = (&sector.portals, &mut sector.lengths[node.portal as usize]);
        if known.is_empty() {
            let cells = portals.iter().map(|portal| portal.cell);
            *known = if ground.is_tile_plain(node.tile, size) {
                let from = portals[node.portal as usize].cell;
                cells.map(|to| straight(ground, from, to)).collect()
            } else {
                lengths(ground, size, (scratch, portals[node.portal as usize].cell), cells)
            };
        }
    }

    /// Finds the portals beyond those of a tile.
    fn pair(&mut self, ground: &Ground, size: SizeClass, tile: u32) {
        if !self.at(tile).partners.is_empty() {
            return;
        }
        let mut partners = Vec::new();
        for at in 0..self.at(tile).portals.len() {
            let portal = self.at(tile).portals[at];
            self.look(ground, size, portal.tile);
            let is_same = |other: &Portal| other.cell == portal.beyond && other.beyond == portal.cell;
            let partner = self.at(portal.tile).portals.iter().position(is_same);
            partners.push(partner.unwrap_or(0) as u32);
        }
        if let Some(sector) = &mut self.sectors[tile as usize] {
            sector.partners = partners;
        }
    }

    /// Goes through a portal of a tile to the other side, if no shorter path is known.
    fn enter(
        &mut self,
        ground: &Ground,
        size: SizeClass,
        search: &mut Search,
        (exit, length, from): (Node, u32, Option<Node>),
    ) {
        self.pair(ground, size, exit.tile);
        let sector = self.at(exit.tile);
        let portal = sector.portals[exit.portal as usize];
        let node = Node { tile: portal.tile, portal: sector.partners[exit.portal as usize] };
        let (length, number) = (length + portal.across, self.search);
        let Some(visit) = self.visit_mut(node) else { return };
        if visit.search == number && visit.length <= length {
            return;
        }
        if visit.search != number {
            search.opened.push(node);
        }
        (visit.search, visit.length, visit.from) = (number, length, from);
        let least = length + straight(ground, portal.beyond, search.goal);
        search.queue.push(Reverse((least, node, length)));
    }

    /// Whether two ends may be connected, by what earlier searches found.
    fn may_connect(&self, (first, from_start): (u32, &[u32]), (last, to_goal): (u32, &[u32])) -> bool {
        let part = |tile: u32, row: &[u32]| {
            let visits = self.at(tile).visits.iter().zip(row).filter(|&(_, &length)| length != NONE);
            visits.map(|(visit, _)| if visit.part > self.part_before { visit.part } else { 0 }).max()
        };
        match (part(first, from_start), part(last, to_goal)) {
            (Some(0), Some(0)) => true,
            (Some(a), Some(b)) => a == b,
            _ => false,
        }
    }

    /// Notes that these portals are all that are connected with each other.
    fn mark_part(&mut self, opened: &[Node]) {
        self.part += 1;
        let part = self.part;
        for &node in opened {
            let portal = self.at(node.tile).portals[node.portal as usize];
            self.pair_up(node, portal.tile, part);
            if let Some(visit) = self.visit_mut(node) {
                visit.part = part;
            }
        }
    }

    /// Marks the other side of a portal.
    fn pair_up(&mut self, node: Node, tile: u32, part: u32) {
        let partner = self.at(node.tile).partners.get(node.portal as usize).copied();
        if let Some(portal) = partner
            && let Some(visit) = self.visit_mut(Node { tile, portal })
        {
            visit.part = part;
        }
    }

    /// The cells of a path, from its start.
    fn trace(&self, last: Option<Node>, start: Cell, goal: Cell) -> Vec<Cell> {
        let (mut path, mut at) = (alloc::vec![goal], last);
        while let Some(node) = at {
            let portal = self.at(node.tile).portals[node.portal as usize];
            path.extend([portal.cell, portal.beyond]);
            at = self.visit(node).from;
        }
        path.push(start);
        path.reverse();
        path
    }
}

impl Sector {
    const EMPTY: Self =
        Self { portals: Vec::new(), partners: Vec::new(), lengths: Vec::new(), visits: Vec::new() };
}

/// A search over portals.
struct Search {
    /// The shortest path to the goal so far, and the last portal on it.
    best: (u32, Option<Node>),
    /// The least possible length of a path over a portal, and that of the path to it.
    queue: BinaryHeap<Reverse<(u32, Node, u32)>>,
    opened: Vec<Node>,
    goal: Cell,
}

/// Length of the straight line between two cells, in 1/256 of a cell.
fn straight(ground: &Ground, from: Cell, to: Cell) -> u32 {
    let (from, to) = (ground.grid.split(from), ground.grid.split(to));
    let square: u64 = [0, 1].map(|axis| u64::from(from[axis].abs_diff(to[axis])).pow(2)).iter().sum();
    isqrt_u64(square << 16) as u32
}

/// The tiles around a path: those of its cells and of the lines that cut its corners, and one more on each side.
pub(crate) fn corridor(ground: &Ground, size: SizeClass, path: &[Cell]) -> Tiles {
    let [columns, rows] = ground.grid.tiles();
    let mut tiles = Tiles::none((columns * rows).unsigned_abs());
    let mut add = |at: [i32; 2]| {
        let tile = at.map(|part| part / TILE);
        for [x, y] in (CellRect { min: tile, max: tile }.grown(1)).cells() {
            if (0..columns).contains(&x) && (0..rows).contains(&y) {
                tiles.insert((y * columns + x).unsigned_abs());
            }
        }
    };
    path.iter().for_each(|&cell| add(ground.grid.split(cell)));
    let mut from = 0;
    while from + 1 < path.len() {
        let (start, mut to) = (ground.anchor(path[from]), from + 1);
        while to + 1 < path.len() && to - from < LINE && ground.sees(start, ground.anchor(path[to + 1]), size)
        {
            to += 1;
        }
        let ends = [path[from], path[to]].map(|cell| ground.grid.split(cell));
        let away = [0, 1].map(|axis| ends[1][axis] - ends[0][axis]);
        let parts = away[0].abs().max(away[1].abs()) / (TILE / 2) + 1;
        for part in 0..parts {
            add([0, 1].map(|axis| ends[0][axis] + away[axis] * part / parts));
        }
        from = to;
    }
    tiles
}
