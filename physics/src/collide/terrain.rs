//! Shapes against terrain: where they touch, how they pass, and why the seams of chains are no obstacle.
//!
//! A body that touches the end of a segment also touches its neighbour, or is nearer to it. The far ends of the neighbours (the *ghost
//! points* of Box2D's chain shapes) decide which of the two segments has the contact:
//!
//! * A contact at the end of a segment counts only if its direction lies in the cone between the normals of both segments. Otherwise the
//!   neighbour is nearer. Where the chain bends towards the body or goes straight on, the cone is empty.
//! * A contact at the start of a segment that has a previous segment never counts: it is the same as the contact at the end of that one.
//!   Where it is the shortest way out of a segment that a rectangle overlaps, the segment has no contact: its own sides would push further.
//!
//! For a body that does not collide with a neighbour (`joins`), the chain ends there, as beside one that takes no part.
//!
//! A one-sided segment only collides with bodies on its right side; see [`Terrain::is_entered`].

use crate::body::record::Shell;
use crate::body::slot::Slot;
use crate::body::terrain::{Piece, Terrain};
use crate::collide::narrow_phase::Manifold;
use crate::collide::passage::{Passage, nearest_place};
use crate::collide::polygon::{Bearer, Feature, Nearest, RoundedPolygon};
use crate::collide::polygon_cast::{Met, all};
use crate::collide::rounded_box::{Cast, FRACTION_BITS, Segment, Side};
use crate::collide::sweep::{Barrier, Core};
use crate::math::axes::{both, each_axis};

/// Where and how a body meets a piece of terrain: see [`crate::collide::passage::impact`].
type Impact = (u64, [i32; 2], Manifold);

/// Whether a body collides with the neighbour of a segment in this slot.
type Joins<'a> = &'a dyn Fn(Slot) -> bool;

/// The outline that the centre of a shape must not enter.
fn sum(piece: &Piece, half: [i32; 2], radius: i32) -> RoundedPolygon {
    RoundedPolygon::sum(piece.corners(), both(half, |h| -h), half, radius + piece.radius)
}

fn sum_for(piece: &Piece, mover: &Shell) -> RoundedPolygon {
    sum(piece, mover.half, mover.radius)
}

/// The manifold from the mover to the terrain.
fn manifold(found: Nearest) -> Manifold {
    Manifold { normal: both(found.outward, |c| -c), gap: found.gap }
}

impl Terrain {
    /// Who has the contact at this feature of a segment, with this direction away from it.
    fn bearer(
        &self,
        piece: &Piece,
        sum: &RoundedPolygon,
        (feature, outward): (Feature, [i128; 2]),
        joins: Joins<'_>,
    ) -> Bearer {
        if !piece.is_segment() {
            return Bearer::Itself;
        }
        let edge = both(piece.edge(), i128::from);
        let dot = |way: [i128; 2]| way[0] * outward[0] + way[1] * outward[1];
        let Some(end) = feature.from.map(usize::from) else {
            let is_open = piece.one_sided && !sum.is_first_edge(feature);
            return if is_open { Bearer::Nobody } else { Bearer::Itself };
        };
        let is_behind = piece.one_sided && dot([edge[1], -edge[0]]) <= 0;
        let Some(ghost) = self.ghost(piece, end).filter(|_| joins(piece.links[end])) else {
            return if is_behind { Bearer::Nobody } else { Bearer::Itself };
        };
        let corner = piece.corners()[end];
        // Where the corner is nearest to a body, its direction is between the normals of the segments before and behind it.
        let other = each_axis(|axis| i128::from(ghost[axis]) - i128::from(corner[axis]));
        let (before, behind) = if end == 0 { (-dot(other), dot(edge)) } else { (dot(edge), dot(other)) };
        // By more than a right angle: a body that touches the corner may be in front of one of both segments only.
        let onward = other[0] * edge[0] + other[1] * edge[1];
        let is_sharp = piece.one_sided && if end == 0 { onward > 0 } else { onward < 0 };
        match (before >= 0 && behind <= 0 && (is_sharp || !is_behind), end) {
            (false, _) => Bearer::Nobody,
            (true, 0) if is_sharp => Bearer::Either,
            (true, 0) => Bearer::Neighbour,
            (true, _) => Bearer::Itself,
        }
    }

    /// Likewise for a body at a position, which is in front of the piece. A one-sided neighbour has no contact with a body behind it.
    fn bearer_at(
        &self,
        piece: &Piece,
        sum: &RoundedPolygon,
        position: [i32; 2],
        joins: Joins<'_>,
    ) -> impl Fn(Feature, [i128; 2]) -> Bearer {
        let previous = self.get(piece.links[0]).is_some_and(|p| !p.one_sided || p.is_in_front(position));
        move |feature, outward| match self.bearer(piece, sum, (feature, outward), joins) {
            Bearer::Either if previous => Bearer::Neighbour,
            Bearer::Either => Bearer::Itself,
            Bearer::Neighbour if !previous => Bearer::Nobody,
            bearer => bearer,
        }
    }

    /// Normal and gap of a body and a piece; `None` where a neighbour has the contact instead, and on the open side.
    pub(crate) fn separation(&self, slot: Slot, mover: &Shell, joins: Joins<'_>) -> Option<Manifold> {
        let piece = self.get(slot)?;
        if piece.one_sided && !piece.is_in_front(mover.position) {
            return None;
        }
        let sum = sum_for(piece, mover);
        sum.nearest(mover.position, self.bearer_at(piece, &sum, mover.position, joins)).map(manifold)
    }

    /// Normal and gap of a body and a piece, whatever its neighbours and sides.
    pub(crate) fn plain_separation(&self, slot: Slot, mover: &Shell) -> Option<Manifold> {
        sum_for(self.get(slot)?, mover).nearest(mover.position, |_, _| Bearer::Itself).map(manifold)
    }

    /// Where the path of a body meets a piece. A body behind a one-sided segment meets it nowhere. One that comes by the end of a segment, where a neighbour
    /// has the contact, meets it where it comes in front of it.
    fn cast(
        &self,
        piece: &Piece,
        sum: &RoundedPolygon,
        way: &Segment,
        joins: Joins<'_>,
    ) -> Option<(u64, Met)> {
        if piece.one_sided && !piece.is_in_front(way.from) {
            return None;
        }
        let bearer = |feature, out| self.bearer(piece, sum, (feature, out), joins);
        // Whose a sharp corner is follows from where the body meets it.
        let bears = |feature, out| matches!(bearer(feature, out), Bearer::Itself | Bearer::Either);
        let met = sum.cast(way, bears);
        let is_at_end = match met {
            None => true,
            Some((_, Met::Inside)) => sum.nearest(way.from, bearer).is_none(),
            Some(_) => false,
        };
        if !is_at_end || !piece.is_segment() {
            return met;
        }
        sum.cast_beside(piece.corners(), way, bears).or(met)
    }

    /// Where a body meets a piece that moves by `motion` as seen from it: see [`crate::collide::passage::impact`].
    pub(crate) fn impact(
        &self,
        slot: Slot,
        mover: &Shell,
        motion: [i32; 2],
        joins: Joins<'_>,
    ) -> Option<Impact> {
        let piece = self.get(slot)?;
        let way = Segment { from: mover.position, delta: both(motion, |m| -i64::from(m)) };
        let (place, _) = self.cast(piece, &sum_for(piece, mover), &way, joins)?;
        let position = way.point(place);
        let found = self.separation(slot, &Shell { position, ..*mover }, joins)?;
        let inward: i64 = (0..2).map(|axis| i64::from(motion[axis]) * i64::from(found.normal[axis])).sum();
        let moved = each_axis(|axis| mover.position[axis] - position[axis]);
        (inward < 0).then_some((place, moved, found))
    }

    /// How a body passes a piece that moves by `legs` as seen from it: see [`crate::collide::passage::passage`].
    pub(crate) fn passage(
        &self,
        slot: Slot,
        mover: &Shell,
        legs: [[i32; 2]; 2],
        margin: i32,
        joins: Joins<'_>,
    ) -> Option<Passage> {
        let piece = self.get(slot)?;
        let sum = sum_for(piece, mover);
        let leg = |from: [i32; 2], motion: [i32; 2]| {
            let way = Segment { from, delta: both(motion, |m| -i64::from(m)) };
            let met = self.cast(piece, &sum, &way, joins);
            let place = met.map_or_else(
                || nearest_place(|place| sum.core_distance(way.point(place))),
                |(place, _)| place,
            );
            let position = way.point(place);
            let found = self.separation(slot, &Shell { position, ..*mover }, joins);
            (met.is_some(), found.map(|found| (position, found, place)))
        };
        let (meets, mut best) = leg(mover.position, legs[0]);
        if !meets && legs[1] != [0; 2] {
            let turn = each_axis(|axis| mover.position[axis] - legs[0][axis]);
            let (_, second) = leg(turn, legs[1]);
            if let Some((position, found, place)) = second
                && best.is_none_or(|(_, best, _)| found.gap < best.gap)
            {
                best = Some((position, found, place + (1 << FRACTION_BITS)));
            }
        }
        let (position, Manifold { normal, gap }, place) = best?;
        let moved = each_axis(|axis| mover.position[axis] - position[axis]);
        (gap <= margin).then(|| Passage::from_begin(normal, gap, moved, place))
    }

    /// Whether a body touches a piece while it moves by `motion`, from any side.
    pub(crate) fn meets(&self, slot: Slot, mover: &Shell, motion: [i32; 2]) -> bool {
        let way = Segment { from: mover.position, delta: both(motion, i64::from) };
        self.get(slot).is_some_and(|piece| sum_for(piece, mover).cast(&way, all).is_some())
    }

    /// How far a body can go: see [`crate::collide::sweep::sweep`].
    pub(crate) fn sweep(
        &self,
        slot: Slot,
        mover: &Shell,
        motion: [i32; 2],
        joins: Joins<'_>,
    ) -> Option<Barrier> {
        let piece = self.get(slot)?;
        let way = Segment { from: mover.position, delta: both(motion, i64::from) };
        for core in Core::ALL {
            let sum = sum(piece, mover.half.map(|half| core.of(half)), core.of(mover.radius));
            let (place, met) = self.cast(piece, &sum, &way, joins)?;
            let side = match met {
                Met::Inside => continue,
                Met::Edge(edge) => Side::Slope(edge),
                Met::Corner(corner) => Side::Corner(corner),
            };
            return Some(Barrier::new(&way, &Cast { place, side }));
        }
        None
    }

    /// Whether a body may have a contact with a one-sided segment: it is clear of it, comes back, or already touches the segment or one of
    /// its neighbours. A body that still overlaps it on its way out may not.
    pub(crate) fn is_entered(
        &self,
        slot: Slot,
        found: &Manifold,
        velocity: [i32; 2],
        touched: impl Fn(Slot) -> bool,
    ) -> bool {
        let Some(piece) = self.get(slot).filter(|piece| piece.one_sided) else { return true };
        let inward: i64 = (0..2).map(|axis| i64::from(velocity[axis]) * i64::from(found.normal[axis])).sum();
        found.gap >= 0 || inward > 0 || touched(slot) || piece.links.into_iter().any(touched)
    }
}
