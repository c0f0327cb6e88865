//! Terrain: walls that are not axis-aligned.

use alloc::vec::Vec;

use crate::body::def::BodyError;
use crate::body::id::BodyId;
use crate::body::terrain::Piece;
use crate::body::terrain_def::{ChainDef, PolygonDef, TerrainError};
use crate::math::axes::both;
use crate::world::World;

impl World {
    /// Adds a chain of segments. Each segment is its own static body; the handles are returned in the order of the chain. The segments carry the chain's user
    /// value, appear in events, queries and [`World::bodies`], and can be disabled, filtered or removed one by one. For each body the chain ends beside a
    /// segment that is gone, takes no part, or does not collide with that body: a gate has solid ends on both sides. Terrain never moves:
    /// [`World::set_position`], [`World::set_shape`], [`World::set_kind`] and [`World::set_sensor`] refuse it.
    ///
    /// # Errors
    /// [`TerrainError`] names the first point or number that is wrong; the world is unchanged.
    ///
    /// ```
    /// use testudo_physics::{BodyDef, ChainDef, Fx, Shape, Vec2, World, WorldDef};
    /// let mut world = World::new(WorldDef::new().gravity(Vec2::from_ints(0, -10)))?;
    /// let valley = [(-9, 6), (0, 0), (9, 6)].map(|(x, y)| Vec2::from_ints(x, y));
    /// let slopes = world.create_chain(&ChainDef::new(&valley))?;
    /// let ball = BodyDef::dynamic(Shape::circle(Fx::ONE)).position(Vec2::from_ints(0, 4));
    /// let ball = world.create_body(&ball)?;
    /// for _ in 0..120 {
    ///     world.step(30)?;
    /// }
    /// assert!(!world.body(ball).unwrap().is_awake());
    /// assert!(world.contacts().map(|contact| contact.a).eq(slopes)); // it lies on both
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create_chain(&mut self, def: &ChainDef) -> Result<Vec<BodyId>, TerrainError> {
        def.validate()?;
        let mut pieces = Vec::new();
        for (body, piece) in def.bodies() {
            pieces.push((self.create_body(&body)?, piece));
        }
        let ids: Vec<BodyId> = pieces.iter().map(|&(id, _)| id).collect();
        for (id, mut piece) in pieces {
            // A link beyond the last body means that there is no neighbour.
            piece.links = both(piece.links, |link| ids.get(link.at()).map_or(link, |id| id.slot()));
            self.make_terrain(id, piece);
        }
        Ok(ids)
    }

    /// Adds a solid convex polygon: a static body that never moves, see [`World::create_chain`].
    ///
    /// # Errors
    /// [`TerrainError`] names the first point or number that is wrong; the world is unchanged.
    ///
    /// ```
    /// use testudo_physics::{Fx, PolygonDef, QueryFilter, Vec2, World, WorldDef};
    /// let mut world = World::new(WorldDef::new())?;
    /// let ramp = [(0, 0), (4, 0), (4, 2)].map(|(x, y)| Vec2::from_ints(x, y));
    /// let ramp = world.create_polygon(&PolygonDef::new(&ramp))?;
    /// let mut found = Vec::new();
    /// world.query_point(Vec2::from_ints(3, 1), &QueryFilter::new(), &mut found);
    /// assert_eq!(found, [ramp]);
    /// world.query_point(Vec2::from_ints(1, 1), &QueryFilter::new(), &mut found);
    /// assert_eq!(found, []);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create_polygon(&mut self, def: &PolygonDef) -> Result<BodyId, TerrainError> {
        def.validate()?;
        let (body, piece) = def.body();
        let id = self.create_body(&body)?;
        self.make_terrain(id, piece);
        Ok(id)
    }

    /// Turns the body with the box around a piece into that piece.
    fn make_terrain(&mut self, id: BodyId, mut piece: Piece) {
        piece.mark(&mut self.bodies[id.slot()]);
        piece.slot = id.slot();
        self.terrain.insert(piece);
    }

    /// Refuses changes that terrain does not allow.
    pub(super) fn refuse_terrain(&self, id: BodyId) -> Result<(), BodyError> {
        self.slot(id)?;
        if self.terrain.get(id.slot()).is_some() { Err(BodyError::Terrain(id)) } else { Ok(()) }
    }
}
