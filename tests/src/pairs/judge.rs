//! Geometry by brute force, against contacts, overlaps and events.

use std::collections::BTreeSet;

use testudo_physics::{BodyId, BodyKind, ContactEvent, Filter, Shape, Vec2, World};

/// What touches or is apart by less than this may count as either, raw units: 1/100 unit.
const EPSILON: i64 = (1 << 16) / 100;

/// A contact may last while its bodies are no further apart than the margin within which the solver looks ahead, raw units: .2 units.
const MARGIN: i64 = (1 << 16) / 5;

/// What is apart further than the margin when a call moves a body and puts it to sleep may keep its contact: four times the sleep speed, as a
/// distance, raw units: 1/4 unit.
const LULLED: i64 = 1 << 14;

/// Points of a path that are looked at.
const SAMPLES: i64 = 64;

/// A body as anybody can see it.
#[derive(Clone, Copy, Debug)]
struct Seen {
    id: BodyId,
    kind: BodyKind,
    sensor: bool,
    enabled: bool,
    awake: bool,
    filter: Filter,
    position: [i64; 2],
    velocity: [i64; 2],
    /// Half extents and radius.
    half: [i64; 2],
    radius: i64,
}

fn raw(v: Vec2) -> [i64; 2] {
    [v.x.to_bits(), v.y.to_bits()]
}

fn look_at(world: &World) -> Vec<Seen> {
    let seen = |body: testudo_physics::BodyRef<'_>| {
        let (half, radius) = match body.shape() {
            Shape::Circle { radius } => ([0; 2], radius.to_bits()),
            Shape::Rect { half_extents } => (raw(half_extents), 0),
            shape => panic!("an unknown shape: {shape:?}"),
        };
        Seen {
            id: body.id(),
            kind: body.kind(),
            sensor: body.is_sensor(),
            enabled: body.is_enabled(),
            awake: body.is_awake(),
            filter: body.filter(),
            position: raw(body.position()),
            velocity: raw(body.velocity()),
            half,
            radius,
        }
    };
    world.bodies().map(seen).collect()
}

impl Seen {
    fn is_dynamic(&self) -> bool {
        self.kind == BodyKind::Dynamic
    }

    /// A rectangle that contacts cannot move.
    fn is_wall(&self) -> bool {
        !self.is_dynamic() && self.radius == 0 && self.enabled && !self.sensor
    }
}

/// How deep two bodies overlap with their centres at `p` and `q`, raw units; negative: how far they are apart.
fn depth(a: &Seen, b: &Seen, p: [i64; 2], q: [i64; 2]) -> i64 {
    let outside = [0, 1].map(|axis| (q[axis] - p[axis]).abs() - a.half[axis] - b.half[axis]);
    let [x, y] = outside.map(|o| o.max(0));
    let distance = if [x, y] == [0, 0] { outside[0].max(outside[1]) } else { (x * x + y * y).isqrt() };
    a.radius + b.radius - distance
}

/// Two bodies before and after a step.
struct Pair<'a> {
    before: [&'a Seen; 2],
    after: [&'a Seen; 2],
}

impl Pair<'_> {
    fn key(&self) -> (BodyId, BodyId) {
        key(self.before[0].id, self.before[1].id)
    }

    /// Depth at a part of the way, of [`SAMPLES`].
    fn depth_at(&self, part: i64) -> i64 {
        let place = |at: usize| {
            let (from, to) = (self.before[at].position, self.after[at].position);
            [0, 1].map(|axis| from[axis] + (to[axis] - from[axis]) * part / SAMPLES)
        };
        depth(self.before[0], self.before[1], place(0), place(1))
    }

    /// The greatest depth on the way, as far as it can be.
    fn most_depth(&self) -> i64 {
        let way = |axis: usize| {
            let [a, b] = [0, 1].map(|at| self.after[at].position[axis] - self.before[at].position[axis]);
            (b - a).abs()
        };
        (0..=SAMPLES).map(|part| self.depth_at(part)).max().unwrap_or(0) + (way(0) + way(1)) / SAMPLES
    }

    /// The least depth at the start and the end.
    fn lasting_depth(&self) -> i64 {
        self.depth_at(0).min(self.depth_at(SAMPLES))
    }

    /// How far any velocity of the step could have moved them towards each other.
    fn reach(&self, fps: u32) -> i64 {
        let fastest = |at: usize| {
            let most = |v: [i64; 2]| v[0].abs().max(v[1].abs());
            most(self.before[at].velocity).max(most(self.after[at].velocity))
        };
        (fastest(0) + fastest(1)) * 3 / 2 / i64::from(fps)
    }

    /// Whether they may report each other at all.
    fn interacts(&self, world: &World) -> bool {
        let [a, b] = self.before;
        a.enabled && b.enabled && a.filter.accepts(&b.filter) && !world.is_pair_ignored(a.id, b.id)
    }

    fn are_any(&self, is: impl Fn(&Seen) -> bool) -> bool {
        self.before.iter().any(|seen| is(seen))
    }

    fn rests(&self) -> bool {
        !self.are_any(|seen| seen.awake) && !self.after.iter().any(|seen| seen.awake)
    }
}

fn key(a: BodyId, b: BodyId) -> (BodyId, BodyId) {
    (a.min(b), a.max(b))
}

/// Pairs that began and have not ended.
type Pairs = BTreeSet<(BodyId, BodyId)>;

/// What the events have said so far.
#[derive(Default)]
pub(super) struct Judge {
    contacts: Pairs,
    overlaps: Pairs,
    /// Bodies that a call has put to sleep, and that have not been awake since: they stay where they are, even in each other.
    pub(super) lulled: BTreeSet<BodyId>,
}

fn follow(pairs: &mut Pairs, ended: &[ContactEvent], began: &[ContactEvent], what: &str) {
    for event in ended {
        assert!(pairs.remove(&key(event.a, event.b)), "{what} ended that had not begun: {event:?}");
    }
    for event in began {
        assert!(pairs.insert(key(event.a, event.b)), "{what} began twice: {event:?}");
    }
}

impl Judge {
    /// One step of the world and of its twin, and what is wrong with its pairs.
    pub(super) fn step(&mut self, world: &mut World, twin: Option<&mut World>, fps: u32) {
        let before = look_at(world);
        world.step(fps).expect("a rate in range");
        if let Some(twin) = twin {
            twin.step(fps).expect("a rate in range");
            assert_eq!(twin.checksum(), world.checksum(), "{:?}", world.first_difference(twin));
            assert_eq!(
                (twin.contacts_began(), twin.contacts_ended()),
                (world.contacts_began(), world.contacts_ended())
            );
            assert_eq!(
                (twin.sensors_began(), twin.sensors_ended()),
                (world.sensors_began(), world.sensors_ended())
            );
        }
        assert_eq!(world.validate(), Ok(()));
        follow(&mut self.contacts, world.contacts_ended(), world.contacts_began(), "a contact");
        follow(&mut self.overlaps, world.sensors_ended(), world.sensors_began(), "an overlap");
        let listed: Pairs = world.contacts().map(|contact| key(contact.a, contact.b)).collect();
        assert_eq!(listed, self.contacts, "the list of contacts and the events differ");
        let after = look_at(world);
        assert!(before.iter().map(|seen| seen.id).eq(after.iter().map(|seen| seen.id)));
        let alive = |id: BodyId| world.body(id).is_some();
        let gone = self.contacts.iter().chain(&self.overlaps).find(|pair| !alive(pair.0) || !alive(pair.1));
        assert_eq!(gone, None, "a pair with a removed body");
        self.lulled.retain(|&id| world.body(id).is_some_and(|body| !body.is_awake()));
        for b in 0..before.len() {
            for a in 0..b {
                let pair = Pair { before: [&before[a], &before[b]], after: [&after[a], &after[b]] };
                let wrong = self.wrong(&pair, world, &before, fps);
                if let Some(wrong) = wrong {
                    let frame = world.frame();
                    let (from, to) = (pair.depth_at(0), pair.depth_at(SAMPLES));
                    panic!(
                        "frame {frame}, {fps} fps: {wrong}, {from} and {to} raw units deep: {:#?}",
                        pair.before
                    );
                }
            }
        }
    }

    /// What is wrong with a pair.
    fn wrong(&self, pair: &Pair<'_>, world: &World, before: &[Seen], fps: u32) -> Option<&'static str> {
        let (interacts, sensors) = (pair.interacts(world), pair.before.map(|seen| seen.sensor));
        let notices =
            interacts && sensors[0] != sensors[1] && pair.are_any(|seen| seen.kind != BodyKind::Static);
        let overlaps = self.overlaps.contains(&pair.key());
        if overlaps && !notices {
            return Some("an overlap of bodies that do not notice each other");
        }
        if notices && !overlaps && pair.lasting_depth() > EPSILON {
            return Some("an overlap is not reported");
        }
        if overlaps && pair.most_depth() < -EPSILON {
            return Some("an overlap lasts");
        }
        let collides = interacts && sensors == [false; 2] && pair.are_any(Seen::is_dynamic);
        let touches = self.contacts.contains(&pair.key());
        if touches && !collides {
            return Some("a contact of bodies that do not collide");
        }
        if collides && !touches && pair.depth_at(0) > EPSILON && !self.is_excused(pair, before) {
            return Some("a contact is not reported");
        }
        let apart = -pair.depth_at(0).max(pair.depth_at(SAMPLES));
        let most = MARGIN + EPSILON + pair.reach(fps) + if self.is_lulled(pair) { LULLED } else { 0 };
        if touches && apart > most {
            return Some("a contact lasts");
        }
        None
    }

    /// Whether a call has put a pair to sleep as it is.
    fn is_lulled(&self, pair: &Pair<'_>) -> bool {
        pair.rests() && pair.are_any(|seen| self.lulled.contains(&seen.id))
    }

    /// Whether a pair may overlap without a contact: a call put it to sleep like this, or the body meets an inner side of a wall that consists of
    /// several rectangles, and touches another one of them.
    fn is_excused(&self, pair: &Pair<'_>, before: &[Seen]) -> bool {
        if self.is_lulled(pair) {
            return true;
        }
        let [a, b] = pair.before;
        let (body, wall) = if a.is_dynamic() { (a, b) } else { (b, a) };
        let touches = |other: &&Seen| {
            other.id != wall.id && other.is_wall() && self.contacts.contains(&key(body.id, other.id))
        };
        wall.is_wall() && before.iter().any(|other| touches(&other))
    }
}
