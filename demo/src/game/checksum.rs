//! The one walk over the game's state: hashed, saved, restored, compared and corrupted number by number.
//!
//! Each structure is taken apart without `..`, so that a new field does not compile until it is shown here or named as none.

use testudo_lockstep::state::{self, Leaf, Part, State, StateError, Visit};
use testudo_physics::{BodyField, BodyId, FlipError, Place, SnapshotError, World};

use crate::game::Game;
use crate::game::army::Army;
use crate::game::point::Point;
use crate::game::unit::{Task, Unit};

impl Game {
    /// Hash of everything that decides how the match goes on, the checksum of the frame before included: so it covers every frame,
    /// and a difference never heals. The setup is left out: peers compare it before they play.
    pub(super) fn hash_state(&mut self) -> u64 {
        let mut bytes = core::mem::take(&mut self.scratch.bytes);
        let hash = state::digest(self, &mut bytes);
        self.scratch.bytes = bytes;
        hash
    }
}

impl State for Game {
    fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
        // The setup and the field that follows from it are the same for all; the scratch lasts for a frame.
        let Self { setup, field: _, world, frame, dice, armies, units, checksum, scratch: _ } = self;
        v.part(&mut WorldPart(world))?;
        v.object("game", 0);
        v.number("frame", frame)?;
        let (mut state, mut stream) = dice.state();
        v.number("dice.state", &mut state)?;
        v.number("dice.stream", &mut stream)?;
        dice.set_state(state, stream);
        for (index, army) in (0..).zip(armies) {
            v.object("army", index);
            army.visit(v, index * setup.units, setup.units)?;
        }
        let count = i64::from(setup.units) * i64::from(setup.players);
        for (index, unit) in (0..).zip(units) {
            v.object("unit", index);
            unit.visit(v, count - 1)?;
        }
        // The last one: it follows from all others.
        v.object("game", 0);
        v.number("checksum", checksum)
    }
}

impl Army {
    /// `first` is the number of its first unit, `units` how many it has.
    fn visit<V: Visit>(&mut self, v: &mut V, first: u32, units: u32) -> Result<(), StateError> {
        let Self { kills, losses, is_gone, fallen, ready, arrivals } = self;
        v.number("kills", kills)?;
        v.number("losses", losses)?;
        v.number("is_gone", is_gone)?;
        v.number("ready", ready)?;
        arrivals.visit(v, ["arrivals.rest", "arrivals.frames_per_second"])?;
        let mut length = fallen.len() as u32;
        v.number_in("fallen", &mut length, 0..=i64::from(units))?;
        fallen.resize(length as usize, first);
        for (place, unit) in fallen.iter_mut().enumerate() {
            v.object("place among the fallen", first + place as u32);
            v.number_in("unit", unit, i64::from(first)..=i64::from(first + units - 1))?;
        }
        Ok(())
    }
}

impl Unit {
    fn visit<V: Visit>(&mut self, v: &mut V, last: i64) -> Result<(), StateError> {
        // Army and kind follow from the number.
        let Self { army: _, kind: _, groups, body, hit_points, blows, task, target } = self;
        v.number("hit_points", hit_points)?;
        v.number("groups", groups)?;
        blows.visit(v, ["blows.rest", "blows.frames_per_second"])?;
        let mut lives = body.is_some();
        v.number("lives", &mut lives)?;
        if lives {
            let mut bits = body.map_or(0, BodyId::to_bits);
            v.number("body", &mut bits)?;
            *body = Some(BodyId::from_bits(bits));
        } else {
            *body = None;
        }
        visit_task(task, v)?;
        let mut has_target = target.is_some();
        v.number("has_target", &mut has_target)?;
        if has_target {
            let number = target.get_or_insert(0);
            v.number_in("target", number, 0..=last)?;
        } else {
            *target = None;
        }
        Ok(())
    }
}

fn visit_task<V: Visit>(task: &mut Task, v: &mut V) -> Result<(), StateError> {
    let (mut kind, mut goal) = match *task {
        Task::Hold => (0_u8, Point::ZERO),
        Task::March(goal) => (1, goal),
        Task::Attack(goal) => (2, goal),
    };
    v.number_in("task", &mut kind, 0..=2)?;
    if kind != 0 {
        v.number_in("goal.x", &mut goal.x, Point::RANGE)?;
        v.number_in("goal.y", &mut goal.y, Point::RANGE)?;
    }
    *task = match kind {
        0 => Task::Hold,
        1 => Task::March(goal),
        _ => Task::Attack(goal),
    };
    Ok(())
}

/// The physical world as a part of the game's state.
struct WorldPart<'a>(&'a mut World);

impl Part for WorldPart<'_> {
    fn digest(&self) -> u64 {
        self.0.checksum()
    }

    fn save(&self, out: &mut Vec<u8>) {
        self.0.append_snapshot(out);
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        *self.0 = World::from_bytes(bytes).map_err(|error| StateError::Part {
            what: match error {
                SnapshotError::NotASnapshot => "these bytes are no snapshot of a world",
                SnapshotError::Version { .. } => "the world was saved by another version",
                SnapshotError::Damaged => "the snapshot of the world is damaged",
                SnapshotError::Invalid { what } => what,
            },
        })?;
        Ok(())
    }

    fn leaves(&self, each: &mut dyn FnMut(Leaf)) {
        self.0.visit_numbers(&mut |place, value| {
            let (kind, index, name, bits) = match place {
                Place::World { name } => ("world", 0, name, 0),
                Place::Body { body, field } => ("body", body.index(), field.name(), field.bits()),
                Place::Entry { list, index, .. } => (list, index, "entry", 0),
            };
            each(Leaf { kind, index, name, bits, value });
        });
    }

    fn flip_bit(&mut self, leaf: &Leaf, bit: u32) -> Result<(), StateError> {
        let field = BodyField::ALL.into_iter().find(|field| field.name() == leaf.name);
        let Some(field) = field.filter(|_| leaf.kind == "body") else {
            return Err(StateError::NoSuchBit { bit });
        };
        self.0.flip_bit(leaf.index, field, bit).map_err(|error| match error {
            FlipError::OutOfRange { what } => StateError::Part { what },
            FlipError::Vacant { .. } | FlipError::NoSuchBit { .. } => StateError::NoSuchBit { bit },
        })
    }
}
