//! Debug drawing: passes what the engine sees to a small trait, in simulation units. Nothing here draws.

use crate::body::id::BodyId;
use crate::body::record::{Shell, vec2};
use crate::body::shape::Shape;
use crate::body::slot::Slot;
use crate::body::terrain::{Terrain, TerrainRef};
use crate::body::view::BodyRef;
use crate::collide::narrow_phase::{Manifold, UNIT_BITS, manifold, scale_down};
use crate::math::aabb::Aabb;
use crate::math::axes::{both, each_axis};
use crate::math::num::{Fx, POSITION_MAX};
use crate::math::vec2::Vec2;
use crate::tree::quadtree::Quadtree;
use crate::world::{TouchingContact, World};

/// Receives what [`World::debug_draw`] shows. Every method does nothing by default, so implement only those that you need.
///
/// ```
/// use testudo_physics::{BodyDef, BodyRef, DebugDraw, DebugDrawOptions, Fx, Shape, Vec2, World, WorldDef};
/// #[derive(Default)]
/// struct Lines(Vec<String>);
/// impl DebugDraw for Lines {
///     fn shape(&mut self, body: BodyRef<'_>, shape: Shape, centre: Vec2) {
///         self.0.push(format!("body {} at {centre:?}: {shape:?}", body.id().index()));
///     }
/// }
/// let mut world = World::new(WorldDef::new())?;
/// world.create_body(&BodyDef::dynamic(Shape::circle(Fx::ONE)))?;
/// let mut lines = Lines::default();
/// world.debug_draw(&mut lines, DebugDrawOptions::new());
/// assert_eq!(lines.0.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait DebugDraw {
    /// A body's shape and the position of its centre.
    fn shape(&mut self, body: BodyRef<'_>, shape: Shape, centre: Vec2) {
        let _ = (body, shape, centre);
    }

    /// The outline of a body that is terrain; called instead of [`Self::shape`].
    fn terrain(&mut self, body: BodyRef<'_>, outline: TerrainRef<'_>) {
        let _ = (body, outline);
    }

    /// The box around a body.
    fn aabb(&mut self, body: BodyRef<'_>, aabb: Aabb) {
        let _ = (body, aabb);
    }

    /// A leaf of a quadtree: its quadrant (clipped to the range of positions), its depth, and the number of bodies in it.
    fn tree_cell(&mut self, quadrant: Aabb, depth: u32, bodies: u32) {
        let _ = (quadrant, depth, bodies);
    }

    /// Two touching bodies: a point between their surfaces, and the unit normal from the first body to the second.
    fn contact(&mut self, contact: TouchingContact, point: Vec2, normal: Vec2) {
        let _ = (contact, point, normal);
    }

    /// A moving body's velocity, units per second.
    fn velocity(&mut self, body: BodyRef<'_>, centre: Vec2, velocity: Vec2) {
        let _ = (body, centre, velocity);
    }
}

/// What [`World::debug_draw`] shows. By default shapes, contacts and velocities.
///
/// ```
/// # use testudo_physics::DebugDrawOptions;
/// let everything = DebugDrawOptions::new().aabbs(true).tree_cells(true);
/// assert!(everything.shapes && everything.aabbs);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub struct DebugDrawOptions {
    /// See [`DebugDrawOptions::shapes()`].
    pub shapes: bool,
    /// See [`DebugDrawOptions::aabbs()`].
    pub aabbs: bool,
    /// See [`DebugDrawOptions::tree_cells()`].
    pub tree_cells: bool,
    /// See [`DebugDrawOptions::contacts()`].
    pub contacts: bool,
    /// See [`DebugDrawOptions::velocities()`].
    pub velocities: bool,
}

impl Default for DebugDrawOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl DebugDrawOptions {
    /// Shapes, contacts and velocities.
    pub const fn new() -> Self {
        Self { shapes: true, aabbs: false, tree_cells: false, contacts: true, velocities: true }
    }

    /// Shapes of all enabled bodies, oldest first. Default true.
    pub const fn shapes(self, shapes: bool) -> Self {
        Self { shapes, ..self }
    }

    /// Boxes around them. Default false.
    pub const fn aabbs(self, aabbs: bool) -> Self {
        Self { aabbs, ..self }
    }

    /// Leaves of the moving bodies' tree as of the last step, then of the trees of bodies at rest. Default false.
    pub const fn tree_cells(self, tree_cells: bool) -> Self {
        Self { tree_cells, ..self }
    }

    /// Contacts. Default true.
    pub const fn contacts(self, contacts: bool) -> Self {
        Self { contacts, ..self }
    }

    /// Velocities that are not zero. Default true.
    pub const fn velocities(self, velocities: bool) -> Self {
        Self { velocities, ..self }
    }
}

impl World {
    /// Passes shapes, boxes, tree cells, contacts and velocities to a renderer. Changes nothing.
    pub fn debug_draw(&self, draw: &mut impl DebugDraw, options: DebugDrawOptions) {
        for body in self.bodies().filter(BodyRef::is_enabled) {
            if options.shapes {
                match body.terrain() {
                    Some(outline) => draw.terrain(body, outline),
                    None => draw.shape(body, body.shape(), body.position()),
                }
            }
            if options.aabbs {
                draw.aabb(body, body.aabb());
            }
            if options.velocities && body.velocity() != Vec2::ZERO {
                draw.velocity(body, body.position(), body.velocity());
            }
        }
        if options.tree_cells {
            draw_cells(&self.stepper.lanes.tree, draw);
            self.resting.each_tree().into_iter().for_each(|tree| draw_cells(tree, draw));
        }
        if options.contacts {
            for contact in self.contacts() {
                let shell = |id: BodyId| self.bodies[id.slot()].shell(id.slot());
                if let Some((point, normal)) =
                    touching_point(&shell(contact.a), &shell(contact.b), &self.terrain)
                {
                    draw.contact(contact, point, normal);
                }
            }
        }
    }
}

/// Any gap is accepted: bodies may have been moved since they touched.
const ANY_GAP: i32 = i32::MAX / 4;

/// No two bodies whose centres are further apart on an axis touch, raw units: each reaches 4,096 units.
const FAR: u32 = 3 << 28;

/// The point halfway between a round surface and the other surface (for two rectangles, the centre of their overlap), and the normal.
fn touching_point(a: &Shell, b: &Shell, terrain: &Terrain) -> Option<(Vec2, Vec2)> {
    if a.is_terrain() {
        return touching_point(b, a, terrain).map(|(point, normal)| (point, -normal));
    }
    // One was moved away since: further than the kernels compute with.
    if (0..2).any(|axis| a.position[axis].abs_diff(b.position[axis]) > FAR) {
        return None;
    }
    let Manifold { normal, gap } =
        if b.is_terrain() { terrain.plain_separation(b.slot, a) } else { manifold(a, b, ANY_GAP) }?;
    let (from, way) = if a.radius != 0 {
        (a.position, a.radius + gap / 2)
    } else if b.is_terrain() {
        // The leading corner, or the middle of the leading side.
        (each_axis(|axis| a.position[axis] + a.half[axis] * normal[axis].signum()), gap / 2)
    } else if b.radius != 0 {
        (b.position, -(b.radius + gap / 2))
    } else {
        let (a, b) = (a.bounds(), b.bounds());
        let middle = |axis: usize| {
            let (low, high) = (a.min[axis].max(b.min[axis]), a.max[axis].min(b.max[axis]));
            ((i64::from(low) + i64::from(high)) / 2) as i32
        };
        ([middle(0), middle(1)], 0)
    };
    let point = each_axis(|axis| from[axis] + scale_down(way, normal[axis]));
    // From 30 fraction bits to 16, to nearest.
    Some((vec2(point), vec2(both(normal, |n| (n + (1 << (UNIT_BITS - 17))) >> (UNIT_BITS - 16)))))
}

fn draw_cells(tree: &Quadtree, draw: &mut impl DebugDraw) {
    let edge = POSITION_MAX.to_bits();
    let held = |raw: i64| Fx::from_bits(raw.clamp(-edge, edge));
    for leaf in tree.leaves() {
        // Bodies that were removed since the tree was built have left their lanes.
        let bodies = tree.slot_of_lane()[leaf.lanes()].iter().filter(|&&slot| slot != Slot::NONE).count();
        if bodies == 0 {
            continue;
        }
        let (corner, side) = tree.grid().quadrant(leaf.key, leaf.depth);
        let min = Vec2::new(held(corner[0]), held(corner[1]));
        let max = Vec2::new(held(corner[0] + side), held(corner[1] + side));
        draw.tree_cell(Aabb { min, max }, leaf.depth, bodies as u32);
    }
}
