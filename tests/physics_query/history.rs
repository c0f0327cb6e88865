//! Worlds with a history: random calls from a seed.

use testudo_physics::{
    Aabb, BodyDef, BodyId, BodyKind, EXTENT_MIN, Filter, Fx, Pcg32, QUERY_MAX, QueryFilter, Shape, Vec2,
    World, WorldDef,
};

use crate::oracle::{Outline, Ray};

/// Where bodies are and how large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    /// Bodies of about one unit in a small place.
    Dense,
    /// From the smallest to hundreds of units, many in the same points.
    Mixed,
    /// The whole world and the largest extents.
    Wide,
}

/// A world and the generator that decides what happens to it.
pub(crate) struct History {
    pub(crate) world: World,
    pub(crate) context: String,
    scale: Scale,
    rng: Pcg32,
    bodies: Vec<BodyId>,
    bodies_wanted: u32,
}

impl History {
    pub(crate) fn new(seed: u64, scale: Scale) -> Self {
        let mut rng = Pcg32::new(seed, scale as u64);
        let mut pick = |values: [u32; 4]| values[rng.below(4) as usize];
        let def = WorldDef::new()
            .margin(Fx::from_bits(pick([0, 13_107, 13_107, 16 << 16]).into()))
            .sleep_ms(pick([0, 50, 150, 1_000]))
            .quadtree_leaf_capacity(pick([1, 4, 8, 20]))
            .quadtree_depth_max(pick([0, 3, 15, 15]));
        let bodies_wanted = pick([5, 40, 80, 150]);
        let world = World::new(def).unwrap();
        Self { world, context: String::new(), scale, rng, bodies: Vec::new(), bodies_wanted }
    }

    pub(crate) fn below(&mut self, n: u32) -> u32 {
        self.rng.below(n)
    }

    fn between(&mut self, low: i64, high: i64) -> i64 {
        low + i64::from(self.rng.below((high - low + 1) as u32))
    }

    /// Half the side of the square in which bodies are, raw units.
    fn spread(&self) -> i64 {
        match self.scale {
            Scale::Dense => 6 << 16,
            Scale::Mixed => 200 << 16,
            Scale::Wide => 16_384 << 16,
        }
    }

    fn place(&mut self, spread: i64) -> Vec2 {
        let mut c = || Fx::from_bits(self.between(-spread, spread));
        Vec2::new(c(), c())
    }

    /// A random position: anywhere near the bodies, or exactly at a body.
    pub(crate) fn point(&mut self) -> Vec2 {
        if self.below(3) == 0
            && let Some(id) = self.any_body()
            && let Some(body) = self.world.body(id)
        {
            return body.position();
        }
        let spread = self.spread() * 5 / 4;
        self.place(spread)
    }

    fn extent(&mut self) -> Fx {
        let top = match self.scale {
            Scale::Dense => 17,
            Scale::Mixed => self.between(8, 23),
            Scale::Wide => self.between(20, 28),
        };
        Fx::from_bits(self.between(EXTENT_MIN.to_bits(), 1 << top))
    }

    fn shape(&mut self) -> Shape {
        if self.below(2) == 0 {
            Shape::Circle { radius: self.extent() }
        } else {
            Shape::Rect { half_extents: Vec2::new(self.extent(), self.extent()) }
        }
    }

    fn any_filter(&mut self) -> Filter {
        match self.below(4) {
            0 => Filter::new(self.below(16), self.below(16)),
            _ => Filter::default(),
        }
    }

    fn any_body(&mut self) -> Option<BodyId> {
        let count = self.bodies.len() as u32;
        (count > 0).then(|| self.bodies[self.rng.below(count) as usize])
    }

    /// Makes `calls` random calls.
    pub(crate) fn go_on(&mut self, calls: u32) {
        for _ in 0..calls {
            if (self.bodies.len() as u32) < self.bodies_wanted / 2 {
                self.create();
            }
            match self.below(16) {
                0..=3 if (self.bodies.len() as u32) < self.bodies_wanted => self.create(),
                0..=3 => self.remove(),
                4..=6 => self.step(),
                _ => self.change(),
            }
        }
    }

    fn step(&mut self) {
        let fps = [1, 20, 20, 60][self.below(4) as usize];
        self.world.step(fps).unwrap();
    }

    fn create(&mut self) {
        let kind = [BodyKind::Static, BodyKind::Kinematic, BodyKind::Dynamic, BodyKind::Dynamic];
        let kind = kind[self.below(4) as usize];
        let position = match (self.scale, self.below(4)) {
            // Several bodies in one point.
            (Scale::Mixed, 0) => Vec2::from_ints(self.below(3) as i32, 0),
            _ => self.place(self.spread()),
        };
        let mut def = BodyDef::new(kind, self.shape()).position(position).filter(self.any_filter());
        def = def.sensor(self.below(6) == 0).enabled(self.below(8) != 0);
        if self.below(2) == 0 {
            def = def.velocity(self.place(5 << 16));
        }
        self.bodies.push(self.world.create_body(&def).unwrap());
    }

    fn remove(&mut self) {
        let at = self.below(self.bodies.len() as u32) as usize;
        let id = self.bodies.swap_remove(at);
        self.world.remove_body(id).unwrap();
    }

    fn change(&mut self) {
        let Some(id) = self.any_body() else { return };
        let result = match self.below(9) {
            0..=1 => {
                let to = self.place(self.spread());
                self.world.set_position(id, to)
            }
            2..=3 => {
                let velocity = self.place(20 << 16);
                self.world.set_velocity(id, velocity)
            }
            4 => self.world.set_velocity(id, Vec2::ZERO),
            5 => {
                let shape = self.shape();
                self.world.set_shape(id, shape)
            }
            6 => {
                let enabled = self.below(3) != 0;
                self.world.set_enabled(id, enabled)
            }
            7 => {
                let filter = self.any_filter();
                self.world.set_filter(id, filter)
            }
            _ => {
                let sensor = self.below(6) == 0;
                self.world.set_sensor(id, sensor)
            }
        };
        result.unwrap();
    }

    pub(crate) fn filter(&mut self) -> QueryFilter {
        let mut filter = QueryFilter::new();
        match self.below(8) {
            0 => filter = filter.with_sensors(),
            1 => filter = filter.only_sensors(),
            2 => filter = filter.filter(self.any_filter()),
            3 => {
                filter.statics = self.below(2) == 0;
                filter.kinematics = self.below(2) == 0;
                filter.dynamics = self.below(2) == 0;
            }
            4 => filter.exclude = self.any_body(),
            _ => {}
        }
        filter
    }

    pub(crate) fn length(&mut self) -> Fx {
        let spread = self.spread();
        Fx::from_bits(self.between(0, spread))
    }

    pub(crate) fn radius(&mut self) -> Fx {
        if self.below(4) == 0 { Fx::ZERO } else { self.extent() }
    }

    pub(crate) fn area(&mut self) -> Aabb {
        let (min, w, h) = (self.point(), self.length(), self.length());
        Aabb { min, max: Vec2::new(min.x + w, min.y + h) }
    }

    /// Any length and direction; one in four along an axis, some of no length.
    pub(crate) fn ray(&mut self) -> Ray {
        let (origin, mut end) = (self.point(), self.point());
        match self.below(12) {
            0 => end.x = origin.x,
            1 => end.y = origin.y,
            2 => end = origin,
            3 => {
                // A few raw units.
                let mut near = |c: Fx| (c + Fx::from_bits(self.between(-9, 9))).clamp(-QUERY_MAX, QUERY_MAX);
                end = Vec2::new(near(origin.x), near(origin.y));
            }
            _ => {}
        }
        Ray { origin, end }
    }

    /// The enabled bodies that a filter lets through, in ascending order of slots.
    pub(crate) fn all(&self, filter: &QueryFilter) -> impl Iterator<Item = (BodyId, Outline)> {
        let mut bodies: Vec<_> = self
            .world
            .bodies()
            .filter(|body| {
                let kind = match body.kind() {
                    BodyKind::Static => filter.statics,
                    BodyKind::Kinematic => filter.kinematics,
                    BodyKind::Dynamic => filter.dynamics,
                };
                let sensor = if body.is_sensor() { filter.sensors } else { filter.solids };
                let layers = filter
                    .filter
                    .is_none_or(|f| f.layers & body.filter().mask != 0 && body.filter().layers & f.mask != 0);
                body.is_enabled() && kind && sensor && layers && filter.exclude != Some(body.id())
            })
            .map(|body| (body.id(), Outline::of(&body)))
            .collect();
        bodies.sort_by_key(|(id, _)| id.index());
        bodies.into_iter()
    }
}
