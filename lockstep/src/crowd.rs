//! A crowd of units as a part of a game's state, with the feature `movement`: one more call in the walk, after that of its world.

use core::cell::RefCell;

use testudo_movement::{Crowd, CrowdDef, CrowdNumber};
use testudo_physics::World;

use crate::state::{Leaf, Part, StateError};

/// A crowd on its way through a walk, with what it is restored with: its world and its definition. So the walk shows the world first.
///
/// ```
/// use testudo_lockstep::CrowdPart;
/// use testudo_lockstep::state::{self, State, StateError, Visit};
/// use testudo_movement::{Crowd, CrowdDef, GroundDef, MoverDef, Order};
/// use testudo_physics::{Aabb, BodyDef, Fx, Shape, Vec2, World, WorldDef};
///
/// struct Game { world: World, crowd: Crowd }
///
/// fn crowd_def() -> CrowdDef {
///     let area = Aabb { min: Vec2::from_ints(-8, -8), max: Vec2::from_ints(8, 8) };
///     CrowdDef::new(GroundDef::new(area).sizes(&[Fx::lit("0.5")]))
/// }
///
/// impl State for Game {
///     fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
///         v.part(&mut self.world)?;
///         v.part(&mut CrowdPart::new(&mut self.crowd, &self.world, crowd_def))
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let new = || -> Result<Game, Box<dyn std::error::Error>> {
///     let world = World::new(WorldDef::default())?;
///     let mut crowd = Crowd::new(&crowd_def())?;
///     crowd.survey(&world);
///     Ok(Game { world, crowd })
/// };
/// let (mut game, mut other) = (new()?, new()?);
/// let unit = game.world.create_body(&BodyDef::dynamic(Shape::circle(Fx::lit("0.5"))))?;
/// game.crowd.add(&game.world, unit, MoverDef::default())?;
/// game.crowd.order(&game.world, &[unit], &Order::go(Vec2::from_ints(5, 0)))?;
///
/// let mut bytes = Vec::new();
/// state::save(&mut game, &mut bytes);
/// state::load(&mut other, &bytes)?;
/// for Game { world, crowd } in [&mut game, &mut other] {
///     crowd.step(world, 20)?;
///     world.step(20)?;
/// }
/// assert_eq!(state::digest(&mut game), state::digest(&mut other));
/// # Ok(()) }
/// ```
#[derive(Debug)]
#[must_use]
pub struct CrowdPart<'a, D> {
    crowd: &'a mut Crowd,
    world: &'a World,
    def: D,
    buffer: Option<RefCell<&'a mut Vec<u8>>>,
}

impl<'a, D: Fn() -> CrowdDef> CrowdPart<'a, D> {
    /// `world` is the crowd's, and of the same moment. `def` makes the definition of the crowd; only a walk that restores or corrupts calls it.
    pub fn new(crowd: &'a mut Crowd, world: &'a World, def: D) -> Self {
        Self { crowd, world, def, buffer: None }
    }

    /// Memory for checksums that the game keeps from frame to frame; without it each checksum allocates ([`Crowd::checksum_in`]).
    pub fn buffer(self, buffer: &'a mut Vec<u8>) -> Self {
        Self { buffer: Some(RefCell::new(buffer)), ..self }
    }

    fn number(&self, leaf: &Leaf) -> Option<CrowdNumber> {
        let mut found = None;
        self.crowd.visit_numbers(&mut |number| {
            if leaf.is_same_number(&leaf_of(&number)) {
                found.get_or_insert(number);
            }
        });
        found
    }
}

fn leaf_of(number: &CrowdNumber) -> Leaf {
    let CrowdNumber { kind, index, name, value, bytes, .. } = *number;
    Leaf { kind, index, name, bits: 8 * bytes, value: value.into() }
}

impl<D: Fn() -> CrowdDef> Part for CrowdPart<'_, D> {
    fn digest(&self) -> u64 {
        match &self.buffer {
            Some(buffer) => self.crowd.checksum_in(&mut buffer.borrow_mut()),
            None => self.crowd.checksum(),
        }
    }

    fn save(&self, out: &mut Vec<u8>) {
        self.crowd.save(out);
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let loaded = Crowd::load(&(self.def)(), self.world, bytes);
        *self.crowd = loaded.map_err(|error| StateError::of_part("crowd", &error))?;
        Ok(())
    }

    fn leaves(&self, each: &mut dyn FnMut(Leaf)) {
        self.crowd.visit_numbers(&mut |number| each(leaf_of(&number)));
    }

    /// The bit flips in the saved bytes. What these bytes do not give back, as it follows from other numbers, cannot flip.
    fn flip_bit(&mut self, leaf: &Leaf, bit: u32) -> Result<(), StateError> {
        let number = self.number(leaf).filter(|number| bit < 8 * number.bytes);
        let number = number.ok_or(StateError::NoSuchBit { bit })?;
        let (mut bytes, mut again) = (Vec::new(), Vec::new());
        self.crowd.save(&mut bytes);
        bytes[number.at as usize + bit as usize / 8] ^= 1 << (bit % 8);
        let before = self.crowd.clone();
        self.load(&bytes)?;
        self.crowd.save(&mut again);
        if again == bytes {
            return Ok(());
        }
        *self.crowd = before;
        Err(StateError::Part { what: "a number of the crowd cannot have this bit" })
    }
}

#[cfg(test)]
mod tests {
    use testudo_movement::{GroundDef, MoverDef, Order};
    use testudo_physics::{Aabb, BodyDef, BodyId, Fx, Shape, Vec2, WorldDef};

    use super::*;
    use crate::state::{State, Visit, digest, first_difference, flip_bit, leaves, load, save};

    struct Game {
        world: World,
        crowd: Crowd,
        buffer: Vec<u8>,
    }

    impl State for Game {
        fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
            v.part(&mut self.world)?;
            v.part(&mut CrowdPart::new(&mut self.crowd, &self.world, def).buffer(&mut self.buffer))
        }
    }

    fn def() -> CrowdDef {
        let area = Aabb { min: Vec2::from_ints(-10, -10), max: Vec2::from_ints(10, 10) };
        CrowdDef::new(GroundDef::new(area).sizes(&[Fx::lit("0.5")]))
    }

    fn empty() -> Game {
        let world = World::new(WorldDef::default()).unwrap();
        let mut crowd = Crowd::new(&def()).unwrap();
        crowd.survey(&world);
        Game { world, crowd, buffer: Vec::new() }
    }

    /// Units on their way.
    fn game() -> Game {
        let mut game = empty();
        let disc = |x| BodyDef::dynamic(Shape::circle(Fx::lit("0.5"))).position(Vec2::from_ints(x, 0));
        let units: Vec<BodyId> = (-3..3).map(|x| game.world.create_body(&disc(2 * x)).unwrap()).collect();
        for &unit in &units {
            game.crowd.add(&game.world, unit, MoverDef::default()).unwrap();
        }
        game.crowd.order(&game.world, &units, &Order::go(Vec2::from_ints(3, 7))).unwrap();
        run(&mut game, 9);
        game
    }

    fn run(game: &mut Game, frames: u32) {
        for _ in 0..frames {
            game.crowd.step(&mut game.world, 20).unwrap();
            game.world.step(20).unwrap();
        }
    }

    #[test]
    fn a_crowd_is_restored_with_its_world() {
        let (mut before, mut after, mut bytes) = (game(), empty(), Vec::new());
        save(&mut before, &mut bytes);
        load(&mut after, &bytes).unwrap();
        assert_eq!(first_difference(&mut before, &mut after), None);
        for _ in 0..3 {
            assert_eq!(digest(&mut before), digest(&mut after));
            assert_eq!(before.crowd.checksum(), after.crowd.checksum());
            [&mut before, &mut after].into_iter().for_each(|game| run(game, 20));
        }
    }

    #[test]
    fn a_part_that_is_refused_says_why() {
        let (mut bytes, mut crowd) = (Vec::new(), game());
        crowd.crowd.save(&mut bytes);
        let before = crowd.crowd.checksum();
        let mut part = CrowdPart::new(&mut crowd.crowd, &crowd.world, def);
        bytes.pop();
        let refused = part.load(&bytes).unwrap_err().to_string();
        assert!(refused.starts_with("crowd: a saved crowd "), "{refused}");
        bytes[0] ^= 1;
        let refused = part.load(&bytes).unwrap_err().to_string();
        assert!(refused.starts_with("crowd: saved by version "), "{refused}");
        assert_eq!(part.digest(), before);
        let refused = Part::load(&mut crowd.world, &bytes).unwrap_err().to_string();
        assert_eq!(refused, "world: these bytes are not a snapshot of a world");
    }

    #[test]
    fn numbers_of_a_crowd_are_named_and_flip() {
        let (mut whole, mut all, mut flipped) = (game(), Vec::new(), 0);
        let before = digest(&mut whole);
        leaves(&mut whole, &mut |leaf| all.push(leaf));
        for leaf in all.iter().filter(|leaf| leaf.kind == "mover") {
            let mut other = game();
            if flip_bit(&mut other, leaf, 0).is_err() {
                assert_eq!(digest(&mut other), before, "{leaf:?}");
                continue;
            }
            flipped += 1;
            assert_ne!(digest(&mut other), before, "{leaf:?}");
            let found = first_difference(&mut whole, &mut other).unwrap();
            assert!(found.here.unwrap().is_same_number(leaf), "{leaf:?} is found as {found}");
        }
        assert!(flipped > 20, "{flipped}");
        let mover = *all.iter().find(|leaf| leaf.kind == "mover").unwrap();
        assert_eq!(flip_bit(&mut whole, &mover, mover.bits), Err(StateError::NoSuchBit { bit: mover.bits }));
    }
}
