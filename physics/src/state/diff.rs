//! Names every number of a world, and finds where two worlds differ: the diagnosis after a desync.

use alloc::boxed::Box;

use crate::body::field::BodyField;
use crate::body::id::BodyId;
use crate::body::record::flag;
use crate::body::slot::Slot;
use crate::body::terrain::Piece;
use crate::math::boxes::RawBox;
use crate::state::walk::StatePart;
use crate::tree::quadtree::SplitRule;
use crate::world::World;
use crate::world_def::{EdgePolicy, Settings};

/// The first number in which two worlds differ.
///
/// It prints as one line: `bodies: body 3.0, velocity.x: 65536 here, 65537 there`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StateDifference {
    /// The part of the state.
    pub part: StatePart,
    /// The number within that part.
    pub path: StatePath,
    /// Its raw value in the first world; `None` if that has no such body or entry.
    pub here: Option<i128>,
    /// Its raw value in the other world; `None` likewise.
    pub there: Option<i128>,
}

/// Names one number of a world's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StatePath {
    /// A setting or counter of the whole world.
    World {
        /// Its name, such as `frame` or `gravity.x`.
        name: &'static str,
    },
    /// A number of a body.
    Body {
        /// The body's handle in the first world, or in the other one if it lives only there.
        body: BodyId,
        /// The number.
        field: BodyField,
    },
    /// An entry of a list, such as the contacts.
    Entry {
        /// Name of the list.
        list: &'static str,
        /// Index in the list, counted from 0.
        index: u32,
        /// The slot, in the first world, of the body that the entry belongs to, if any.
        slot: Option<u32>,
    },
}

impl core::fmt::Display for StateDifference {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}: ", self.part)?;
        match self.path {
            StatePath::World { name } => write!(f, "{name}")?,
            StatePath::Body { body, field } => write!(f, "body {body}, {field}")?,
            StatePath::Entry { list, index, slot: None } => write!(f, "{list}, entry {index}")?,
            StatePath::Entry { list, index, slot: Some(slot) } => {
                write!(f, "{list}, entry {index} (body in slot {slot})")?;
            }
        }
        for (value, side) in [(self.here, ": "), (self.there, ", ")] {
            f.write_str(side)?;
            match value {
                Some(value) => write!(f, "{value}")?,
                None => f.write_str("nothing")?,
            }
            f.write_str(if side == ": " { " here" } else { " there" })?;
        }
        Ok(())
    }
}

impl World {
    /// The first difference between the states of two [valid](Self::validate) worlds, or `None` if they have the same checksum. Parts are
    /// compared in the order of [`StatePart::ALL`], bodies by slot, and a body's numbers in the order of [`BodyField::ALL`].
    ///
    /// ```
    /// use testudo_physics::{BodyDef, BodyField, Fx, Shape, World, WorldDef};
    /// let mut world = World::new(WorldDef::new()).unwrap();
    /// let id = world.create_body(&BodyDef::dynamic(Shape::circle(Fx::ONE))).unwrap();
    /// let mut other = world.clone();
    /// assert_eq!(world.first_difference(&other), None);
    /// other.flip_bit(id, BodyField::PositionX, 4).unwrap();
    /// let difference = world.first_difference(&other).unwrap();
    /// assert_eq!(difference.to_string(), "bodies: body 0.0, position.x: 0 here, 16 there");
    /// ```
    #[must_use]
    pub fn first_difference(&self, other: &Self) -> Option<StateDifference> {
        StatePart::ALL.into_iter().find_map(|part| match part {
            StatePart::World => self.differing_number(other),
            StatePart::Order => self.differing_order(other),
            StatePart::Bodies => self.differing_body(other),
            StatePart::Contacts => self.differing_list(other, part, &CONTACT_LISTS),
            StatePart::Sensors => self.differing_list(other, part, &SENSOR_LISTS),
            StatePart::Pairs => self.differing_list(other, part, &PAIR_LISTS),
            StatePart::Terrain => self.differing_list(other, part, &TERRAIN_LISTS),
        })
    }

    /// Visits every number of the state with its name and raw value, in an order that follows from the state alone. These are the numbers
    /// that [`World::first_difference`] compares; use this to compare states on two machines. Every slot shows its generation, a vacant one
    /// -1. The other fields of a body follow later, for living bodies only.
    ///
    /// ```
    /// use testudo_physics::{BodyDef, BodyField, Fx, StatePath, Shape, World, WorldDef};
    /// let mut world = World::new(WorldDef::new()).unwrap();
    /// world.create_body(&BodyDef::dynamic(Shape::circle(Fx::ONE)).user(7)).unwrap();
    /// let mut seen = None;
    /// world.visit_numbers(&mut |path, value| {
    ///     if let StatePath::Body { field: BodyField::User, .. } = path {
    ///         seen = Some(value);
    ///     }
    /// });
    /// assert_eq!(seen, Some(7));
    /// ```
    pub fn visit_numbers(&self, each: &mut dyn FnMut(StatePath, i128)) {
        for (name, value) in numbers(self) {
            each(StatePath::World { name }, value);
        }
        let slots = self.order.slot_count();
        each(StatePath::World { name: "slots" }, slots as i128);
        for slot in Slot::all(slots) {
            let body = self.body_id(slot);
            let value = self.order.generation(slot).map_or(-1, i128::from);
            each(StatePath::Body { body, field: BodyField::Generation }, value);
        }
        self.visit_lists(&ORDER_LISTS, each);
        self.visit_bodies(each);
        self.visit_lists(&CONTACT_LISTS, each);
        self.visit_lists(&SENSOR_LISTS, each);
        self.visit_lists(&PAIR_LISTS, each);
        self.visit_lists(&TERRAIN_LISTS, each);
    }

    fn visit_lists(&self, lists: &[(&'static str, Column)], each: &mut dyn FnMut(StatePath, i128)) {
        for &(list, column) in lists {
            for (index, (slot, value)) in (0..).zip(column(self)) {
                each(StatePath::Entry { list, index, slot: slot.map(|slot| slot.0) }, value);
            }
        }
    }

    fn visit_bodies(&self, each: &mut dyn FnMut(StatePath, i128)) {
        for (slot, (body, extra)) in Slot::all(self.bodies.len()).zip(self.bodies.iter().zip(&self.extras)) {
            if body.has(flag::ALIVE) {
                let generation = self.order.slot_generation(slot);
                let id = BodyId::new(slot, generation);
                for field in BodyField::ALL.into_iter().filter(|field| *field != BodyField::Generation) {
                    each(StatePath::Body { body: id, field }, field.get(body, extra, generation));
                }
            }
        }
    }

    fn differing_number(&self, other: &Self) -> Option<StateDifference> {
        let (here, there) = (numbers(self), numbers(other));
        here.into_iter().zip(there).find(|(a, b)| a.1 != b.1).map(|((name, a), (_, b))| StateDifference {
            part: StatePart::World,
            path: StatePath::World { name },
            here: Some(a),
            there: Some(b),
        })
    }

    /// Bodies that live in one world only, then the slots that will be used next, then the order of the bodies.
    fn differing_order(&self, other: &Self) -> Option<StateDifference> {
        let slots = self.order.slot_count().max(other.order.slot_count());
        let unequal = Slot::all(slots).find_map(|slot| {
            let (here, there) = (self.order.generation(slot), other.order.generation(slot));
            let body = BodyId::new(slot, here.or(there)?);
            (here != there).then_some(StateDifference {
                part: StatePart::Order,
                path: StatePath::Body { body, field: BodyField::Generation },
                here: here.map(Into::into),
                there: there.map(Into::into),
            })
        });
        unequal.or_else(|| self.differing_list(other, StatePart::Order, &ORDER_LISTS))
    }

    /// Requires that the same slots live in both worlds.
    fn differing_body(&self, other: &Self) -> Option<StateDifference> {
        let living = |&slot: &Slot| self.bodies[slot].has(flag::ALIVE);
        Slot::all(self.bodies.len()).filter(living).find_map(|slot| {
            let value = |world: &Self, field: BodyField| {
                field.get(&world.bodies[slot], &world.extras[slot], world.order.slot_generation(slot))
            };
            let field = BodyField::ALL.into_iter().find(|&f| value(self, f) != value(other, f))?;
            let body = self.body_id(slot);
            Some(StateDifference {
                part: StatePart::Bodies,
                path: StatePath::Body { body, field },
                here: Some(value(self, field)),
                there: Some(value(other, field)),
            })
        })
    }

    fn differing_list(
        &self,
        other: &Self,
        part: StatePart,
        lists: &[(&'static str, Column)],
    ) -> Option<StateDifference> {
        lists.iter().find_map(|&(list, column)| differing_entry(part, list, [self, other].map(column)))
    }
}

/// One number per entry of a list, with the slot that the entry belongs to.
type Entries<'a> = Box<dyn Iterator<Item = (Option<Slot>, i128)> + 'a>;

type Column = for<'a> fn(&'a World) -> Entries<'a>;

const ORDER_LISTS: [(&str, Column); 3] = [
    ("vacant slots", |w| Box::new(w.order.vacant().iter().map(|slot| (None, slot.0.into())))),
    ("generations of vacant slots", |w| {
        Box::new(w.order.vacant().iter().map(|&s| (Some(s), w.order.slot_generation(s).into())))
    }),
    ("order of creation", |w| Box::new(w.order.iter().map(|slot| (None, slot.0.into())))),
];

const CONTACT_LISTS: [(&str, Column); 6] = [
    ("owners of contacts", |w| Box::new(w.contacts.iter().map(|c| (Some(c.owner), c.owner.0.into())))),
    ("bodies in contact", |w| Box::new(w.contacts.iter().map(|c| (Some(c.owner), c.other.0.into())))),
    ("impulses", |w| Box::new(w.contacts.iter().map(|c| (Some(c.owner), c.impulse.into())))),
    ("friction impulses", |w| Box::new(w.contacts.iter().map(|c| (Some(c.owner), c.slide.into())))),
    // Those of a world without friction are not stored.
    ("number of friction impulses", |w| {
        Box::new(core::iter::once((None, w.contacts.contacts.slides.len() as i128)))
    }),
    ("number of resting contacts", |w| Box::new(core::iter::once((None, w.contacts.resting.len() as i128)))),
];

const SENSOR_LISTS: [(&str, Column); 5] = [
    ("first bodies of overlaps", |w| Box::new(w.sensors.overlaps.iter().map(|o| (Some(o.0), o.0.0.into())))),
    ("second bodies of overlaps", |w| Box::new(w.sensors.overlaps.iter().map(|o| (Some(o.0), o.1.0.into())))),
    ("removed bodies", |w| Box::new(w.removed.iter().map(|r| (Some(r.slot), r.slot.0.into())))),
    ("generations of removed bodies", |w| {
        Box::new(w.removed.iter().map(|r| (Some(r.slot), r.generation.into())))
    }),
    ("user values of removed bodies", |w| Box::new(w.removed.iter().map(|r| (Some(r.slot), r.user.into())))),
];

const PAIR_LISTS: [(&str, Column); 2] = [
    ("first bodies of ignored pairs", |w| {
        Box::new(w.ignored.as_slice().iter().map(|p| (Some(p.0), p.0.0.into())))
    }),
    ("second bodies of ignored pairs", |w| {
        Box::new(w.ignored.as_slice().iter().map(|p| (Some(p.0), p.1.0.into())))
    }),
];

const TERRAIN_LISTS: [(&str, Column); 7] = [
    ("bodies that are terrain", |w| of_pieces(w, |p| p.slot.0.into())),
    ("radii of terrain", |w| of_pieces(w, |p| p.radius.into())),
    ("one-sided segments", |w| of_pieces(w, |p| p.one_sided.into())),
    ("segments before", |w| of_pieces(w, |p| p.links[0].0.into())),
    ("segments behind", |w| of_pieces(w, |p| p.links[1].0.into())),
    ("corners per piece of terrain", |w| of_pieces(w, |p| p.corners().len() as i128)),
    ("corners of terrain", |w| {
        let corners = |p: &Piece| p.corners().to_vec().into_flattened().into_iter();
        Box::new(w.terrain.iter().flat_map(move |p| corners(p).map(|c| (Some(p.slot), c.into()))))
    }),
];

/// One number of each piece of terrain.
fn of_pieces<'a>(world: &'a World, number: fn(&Piece) -> i128) -> Entries<'a> {
    Box::new(world.terrain.iter().map(move |piece| (Some(piece.slot), number(piece))))
}

/// Compares one column of a list.
fn differing_entry(
    part: StatePart,
    list: &'static str,
    columns: [Entries<'_>; 2],
) -> Option<StateDifference> {
    let [mut here, mut there] = columns;
    for index in 0.. {
        let (a, b) = (here.next(), there.next());
        if a.is_none() && b.is_none() {
            break;
        }
        if a.map(|a| a.1) != b.map(|b| b.1) {
            let slot = a.or(b).and_then(|entry| entry.0).map(|slot| slot.0);
            let path = StatePath::Entry { list, index, slot };
            return Some(StateDifference { part, path, here: a.map(|a| a.1), there: b.map(|b| b.1) });
        }
    }
    None
}

/// The numbers of a world that belong to no body.
fn numbers(world: &World) -> [(&'static str, i128); 23] {
    // Destructured without `..`, so that a new setting does not compile until it is named here.
    let Settings {
        gravity,
        bounds: RawBox { min, max },
        edge,
        iterations,
        relax_iterations,
        push_factor,
        margin,
        restitution_threshold,
        max_speed,
        sleep_speed,
        sleep_ms,
        split: SplitRule { leaf_capacity, depth_max },
    } = world.settings;
    let (state, stream) = world.rng.state();
    [
        ("gravity.x", gravity[0].into()),
        ("gravity.y", gravity[1].into()),
        ("bounds.min.x", min[0].into()),
        ("bounds.min.y", min[1].into()),
        ("bounds.max.x", max[0].into()),
        ("bounds.max.y", max[1].into()),
        ("edge", i128::from(edge == EdgePolicy::Bounce)),
        ("iterations", iterations.into()),
        ("relax_iterations", relax_iterations.into()),
        ("push_factor", push_factor.into()),
        ("margin", margin.into()),
        ("restitution_threshold", restitution_threshold.into()),
        ("max_speed", max_speed.into()),
        ("sleep_speed", sleep_speed.into()),
        ("sleep_ms", sleep_ms.into()),
        ("quadtree_leaf_capacity", leaf_capacity.into()),
        ("quadtree_depth_max", depth_max.into()),
        ("seed", world.seed.into()),
        ("frame", world.clock.frame.into()),
        ("frames per second", world.clock.fps.into()),
        ("remainder of the milliseconds", world.clock.remainder.into()),
        ("rng.state", state.into()),
        ("rng.stream", stream.into()),
    ]
}

impl core::fmt::Display for StatePart {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::World => "world",
            Self::Order => "order",
            Self::Bodies => "bodies",
            Self::Contacts => "contacts",
            Self::Sensors => "sensors",
            Self::Pairs => "pairs",
            Self::Terrain => "terrain",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::def::BodyDef;
    use crate::body::ordered::Ordered;
    use crate::body::record::flag;
    use crate::body::shape::Shape;
    use crate::body::slot::SlotPair;
    use crate::contact::cached::{Owner, RestingContact};
    use crate::math::num::Fx;
    use crate::math::vec2::Vec2;
    use crate::world_def::WorldDef;
    use alloc::string::ToString;
    use alloc::vec::Vec;

    /// A world with everything that state can hold: contacts awake and resting, overlaps, vacant slots. Nothing of it was computed: tests of a
    /// step are not for this package, which would build the engine a second time.
    fn world_of_all_parts() -> World {
        let mut world = World::new(WorldDef::new()).unwrap();
        let disc = BodyDef::dynamic(Shape::circle(Fx::ONE)).user(5);
        let ids: Vec<_> =
            (0..21).map(|i| world.create_body(&disc.position(Vec2::from_ints(3 * i, 0))).unwrap()).collect();
        world.clock.frame = 31;
        world.bodies.iter_mut().for_each(|body| body.set(flag::FRESH, false));
        world.remove_body(ids[12]).unwrap();
        world.remove_body(ids[11]).unwrap();
        world.contacts.owners = [Owner { slot: Slot(0), count: 2 }].into();
        world.contacts.contacts.others = [Slot(1), Slot(3)].into();
        world.contacts.contacts.impulses = [5, 6].into();
        let resting = RestingContact { owner: Slot(16), other: Slot(17), impulse: 4, slide: 0 };
        world.contacts.resting = [resting].into();
        world.sensors.overlaps = [SlotPair(Slot(0), Slot(18)), SlotPair(Slot(1), Slot(18))].into();
        world
    }

    #[test]
    fn differences_outside_of_bodies_are_named() {
        type Change = fn(&mut World);
        let changes: [(&str, Change); 13] = [
            ("world: frame: 31 here, 32 there", |w| w.clock.frame += 1),
            ("world: margin: 13107 here, 13108 there", |w| w.settings.margin += 1),
            ("order: body 0.0, generation: 0 here, nothing there", |w| {
                w.remove_body(BodyId::from_bits(0)).unwrap()
            }),
            ("order: body 11.1, generation: nothing here, 1 there", |w| {
                w.create_body(&BodyDef::static_body(Shape::circle(Fx::ONE))).unwrap();
            }),
            ("order: vacant slots, entry 0: 12 here, 11 there", |w| reorder(w, true)),
            ("order: order of creation, entry 0: 0 here, 20 there", |w| reorder(w, false)),
            ("contacts: impulses, entry 0", |w| w.contacts.contacts.impulses[0] ^= 1),
            ("contacts: bodies in contact, entry 1", |w| w.contacts.contacts.others[1].0 ^= 1),
            ("contacts: owners of contacts", |w| w.contacts.resting.clear()),
            ("sensors: first bodies of overlaps, entry 1", |w| w.sensors.overlaps.truncate(1)),
            ("sensors: removed bodies, entry 0 (body in slot 11): 11 here, nothing there", |w| {
                w.removed.clear()
            }),
            ("pairs: first bodies of ignored pairs, entry 0 (body in slot 2): nothing here, 2 there", |w| {
                w.ignored.set(Slot(5), Slot(2), true);
            }),
            ("sensors: user values of removed bodies, entry 0 (body in slot 11): 5 here, 7 there", |w| {
                w.removed[0].user = 7;
            }),
        ];
        for (expected, change) in changes {
            let (world, mut other) = (world_of_all_parts(), world_of_all_parts());
            change(&mut other);
            assert_ne!(world.checksum(), other.checksum(), "{expected}");
            let found = world.first_difference(&other).unwrap().to_string();
            assert!(found.starts_with(expected), "{found} instead of {expected}");
        }
    }

    /// Turns the order of the vacant or of the living slots round.
    fn reorder(world: &mut World, vacant: bool) {
        let order = &world.order;
        let generations: Vec<u32> = Slot::all(order.slot_count()).map(|s| order.slot_generation(s)).collect();
        let (mut free, mut living) = (order.vacant().to_vec(), order.iter().collect::<Vec<_>>());
        if vacant {
            free.reverse()
        } else {
            living.reverse()
        }
        world.order = Ordered::from_parts(generations, free, living).unwrap();
    }
}
