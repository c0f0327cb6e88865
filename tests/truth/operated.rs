//! Terrain and the bodies at it, while a game changes both: filters, ignored pairs, kinds, sensors, who takes part, saves and loads.

use std::collections::BTreeMap;

use testudo_physics::{
    BodyDef, BodyId, BodyKind, ChainDef, ContactEvent, Filter, Fx, PolygonDef, Vec2, World, WorldDef,
};

use crate::build::{Chance, ONE, add, at, circle, rect, restored, world};
use crate::frame::{RATES, Truth};
use crate::terrain_tools::{apart, polygon};

/// Deeper than this is an overlap that nobody may miss, further away is none, raw units.
const SURE: i64 = 2_000;

/// Frames for which a pair was surely an overlap, or surely none, and whether its contact or overlap is reported.
#[derive(Clone, Copy, Default)]
struct Pair {
    deep: u32,
    apart: u32,
    is_reported: bool,
    /// Whether it is reported since this frame: it may have crossed the piece.
    is_new: bool,
}

struct Scene {
    world: World,
    bodies: Vec<BodyId>,
    /// Chains of two sides and polygons, piece by piece.
    terrain: Vec<Vec<BodyId>>,
    overlaps: BTreeMap<(BodyId, BodyId), Pair>,
}

impl Scene {
    fn new(chance: &mut Chance) -> Self {
        let gravity = at(0, -10_000 * i64::from(chance.below(2)));
        let mut w = world(WorldDef::new().gravity(gravity).sleep_ms(250));
        let mut terrain = Vec::new();
        for _ in 0..2 {
            let height = chance.between(-3_000, 3_000);
            let points: Vec<Vec2> =
                (0..8).map(|i| at(i * 2_500 - 8_750, height + chance.between(-1_500, 1_500))).collect();
            terrain.push(w.create_chain(&ChainDef::new(&points)).expect("a good chain"));
        }
        for _ in 0..3 {
            let place = [chance.between(-8_000, 8_000), chance.between(-6_000, 6_000)];
            let shape = polygon(chance, place, 1_200);
            terrain.push(vec![w.create_polygon(&PolygonDef::new(&shape)).expect("a good polygon")]);
        }
        Self { world: w, bodies: Vec::new(), terrain, overlaps: BTreeMap::new() }
    }

    fn place(chance: &mut Chance) -> Vec2 {
        at(chance.between(-8_000, 8_000), chance.between(-5_000, 5_000))
    }

    /// One random call.
    fn operate(&mut self, chance: &mut Chance) {
        let w = &mut self.world;
        if self.bodies.len() < 10 {
            let half = chance.between(200, 800);
            let shape =
                if chance.below(2) == 0 { circle(half) } else { rect(half, chance.between(200, 800)) };
            let body = BodyDef::dynamic(shape).position(Self::place(chance)).sensor(chance.below(3) == 0);
            let speed = at(chance.between(-4_000, 4_000), chance.between(-4_000, 4_000));
            self.bodies.push(add(w, body.velocity(speed).enabled(chance.below(5) != 0)));
            return;
        }
        let number = chance.below(self.bodies.len() as u32) as usize;
        let body = self.bodies[number];
        let chain = chance.below(self.terrain.len() as u32) as usize;
        let piece = self.terrain[chain][chance.below(self.terrain[chain].len() as u32) as usize];
        let either = if chance.below(2) == 0 { body } else { piece };
        match chance.below(9) {
            0 => w.set_filter(either, Filter::new(1 << chance.below(2), 1 + chance.below(3))),
            1 => w.set_pair_ignored(body, piece, chance.below(2) == 0),
            2 => w.set_enabled(either, chance.below(3) != 0),
            3 => w.set_sensor(body, chance.below(2) == 0),
            4 => {
                let kinds = [BodyKind::Static, BodyKind::Kinematic, BodyKind::Dynamic, BodyKind::Dynamic];
                w.set_kind(body, kinds[chance.below(4) as usize])
            }
            5 => w.set_position(body, Self::place(chance)),
            6 => w.set_velocity(body, Vec2::ZERO),
            7 => w.apply_force(body, at(chance.between(-20_000, 20_000), 0)),
            _ => {
                self.bodies.swap_remove(number);
                w.remove_body(body)
            }
        }
        .expect("alive");
        if chance.below(40) == 0 && self.terrain[chain].len() > 1 {
            let at = chance.below(self.terrain[chain].len() as u32) as usize;
            let gone = self.terrain[chain].remove(at);
            w.remove_body(gone).expect("alive");
            let rest = self.terrain[chain].split_off(at);
            self.terrain.push(rest);
            self.terrain.retain(|chain| !chain.is_empty());
        }
        if chance.below(4) == 0 {
            *w = restored(w);
        }
    }

    /// Whether two bodies may meet at all.
    fn interact(&self, a: BodyId, b: BodyId) -> bool {
        let [a, b] = [a, b].map(|id| self.world.body(id).expect("alive"));
        a.is_enabled()
            && b.is_enabled()
            && a.filter().accepts(&b.filter())
            && !self.world.is_pair_ignored(a.id(), b.id())
    }

    /// Raw units; a unit if it is more.
    fn distance(&self, a: BodyId, b: BodyId) -> i64 {
        let [a, b] = [a, b].map(|id| self.world.body(id).expect("alive"));
        let (box_a, box_b) = (a.aabb(), b.aabb());
        let is_far = |low: Fx, high: Fx| low - high > Fx::ONE;
        let is_apart = is_far(box_a.min.x, box_b.max.x)
            || is_far(box_b.min.x, box_a.max.x)
            || is_far(box_a.min.y, box_b.max.y)
            || is_far(box_b.min.y, box_a.max.y);
        if is_apart { ONE } else { apart(&a, &b).min(ONE) }
    }

    /// All pairs of a body and a piece of terrain that are surely overlaps, or surely none, now.
    fn sure(&self) -> BTreeMap<(BodyId, BodyId), bool> {
        let pairs = self.bodies.iter().flat_map(|&body| {
            self.terrain.iter().flatten().filter_map(move |&piece| {
                let far = self.distance(body, piece);
                let can = self.interact(body, piece);
                (!(-SURE..=SURE).contains(&far) || !can).then_some(((body, piece), can && far < 0))
            })
        });
        pairs.collect()
    }

    fn step(&mut self, truth: &mut Truth, case: &str, fps: u32) -> u32 {
        let before = self.sure();
        self.world.step(fps).expect("in range");
        let after = self.sure();
        let told = [(self.world.sensors_ended(), false), (self.world.sensors_began(), true)];
        for (event, begins) in told.iter().flat_map(|(all, begins)| all.iter().map(|event| (event, *begins)))
        {
            for pair in [(event.a, event.b), (event.b, event.a)] {
                let pair = self.overlaps.entry(pair).or_default();
                (pair.is_reported, pair.is_new) = (begins, begins);
            }
        }
        let mut found = 0;
        for (&(body, piece), &is_deep) in &after {
            let pair = self.overlaps.entry((body, piece)).or_default();
            let was = before.get(&(body, piece)).copied();
            pair.deep = if is_deep && was == Some(true) { pair.deep + 1 } else { 0 };
            pair.apart = if !is_deep && was == Some(false) { pair.apart + 1 } else { 0 };
            let is_new = core::mem::take(&mut pair.is_new);
            let pair = Pair { is_new, ..*pair };
            let view = self.world.body(body).expect("alive");
            if view.kind() != BodyKind::Dynamic {
                continue;
            }
            let far = self.distance(body, piece);
            let case =
                format!("{case}, {body:?} and {piece:?}, {far} raw apart, sensor {}", view.is_sensor());
            found += u32::from(pair.deep >= 2);
            if view.is_sensor() {
                truth.claim(&case, pair.deep < 2 || pair.is_reported, "no overlap");
                truth.claim(&case, pair.apart < 2 || !pair.is_reported || pair.is_new, "an overlap");
            } else {
                let meets = |other: BodyId| {
                    let mut contacts = self.world.contacts();
                    contacts.any(|c| [(c.a, c.b), (c.b, c.a)].contains(&(body, other)))
                };
                if pair.deep >= 2 {
                    let chain = self.terrain.iter().find(|chain| chain.contains(&piece)).expect("alive");
                    truth.claim(&case, chain.iter().any(|&other| meets(other)), "no contact");
                }
                // A fast one may have passed the piece in this frame, and a slow one leaves it.
                let began = |event: &ContactEvent| [event.a, event.b].contains(&body);
                let may = far < ONE / 2 || self.world.contacts_began().iter().any(began);
                truth.claim(&case, pair.apart < 2 || may || !meets(piece), "a contact");
            }
        }
        self.overlaps.retain(|&(a, b), _| [a, b].iter().all(|&id| self.world.body(id).is_some()));
        found
    }
}

#[test]
fn terrain_and_bodies_that_change_meet_as_their_outlines_say() {
    let source = "distances by brute force";
    let mut found = 0;
    Truth::hear("contacts and overlaps with terrain", source, 1..=32, |truth, chance, seed| {
        let fps = RATES[seed as usize % RATES.len()];
        let mut scene = Scene::new(chance);
        for frame in 0..200 {
            if chance.below(4) == 0 {
                (0..chance.below(6)).for_each(|_| scene.operate(chance));
            }
            found += scene.step(truth, &format!("seed {seed}, {fps} fps, frame {frame}"), fps);
        }
    });
    assert!(found > 30, "{found} overlaps");
}
