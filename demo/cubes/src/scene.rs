//! The scene in fixed point: the same keys give the same bits everywhere.

use testudo_physics::{
    Aabb, BodyDef, BodyField, BodyId, BodyKind, EdgePolicy, Filter, Fx, QueryFilter, Shape, Vec2, World,
    WorldDef, hash_bytes,
};

use super::rules::{self, LIFT_FRAMES, Setup, SetupError};
use crate::input::Input;

/// User value of the player's cube; the small ones have 0.
const PLAYER: u64 = 1;

/// The player's cube while it is above the others.
const ABOVE_ALL: Filter = Filter::new(2, 0);

/// A scene in progress.
#[derive(Clone)]
pub struct Cubes {
    world: World,
    player: BodyId,
    /// How far the player's cube is lifted, in frames of lifting, 0..=[`LIFT_FRAMES`].
    lift: u32,
    // not state: overwritten before it is read
    near: Vec<BodyId>,
}

/// One cube between two frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cube {
    /// Centre, units.
    pub centre: Vec2,
    /// Half of width and height, units.
    pub half: Vec2,
    /// Units per second.
    pub velocity: Vec2,
    /// Whether it is the player's.
    pub is_player: bool,
}

impl Cubes {
    /// A scene before its first frame.
    ///
    /// # Errors
    /// A setting out of range.
    pub fn new(setup: &Setup) -> Result<Self, SetupError> {
        setup.check()?;
        let edge = setup.field_half();
        let bounds = Aabb::from_center_half(Vec2::ZERO, Vec2::new(edge, edge));
        let def = WorldDef::new().bounds(bounds).edge(EdgePolicy::Bounce).seed(setup.seed);
        let mut world = World::new(def)?;
        let whole = Fx::from_num::<i32>;
        let mut player = None;
        for start in setup.starts() {
            let body = BodyDef::dynamic(Shape::Rect { half_extents: start.half })
                .position(start.centre)
                .mass(start.mass)
                .restitution(Fx::lit("0.25"));
            let body = match player {
                None => body
                    .user(PLAYER)
                    .ground_friction(whole(rules::PLAYER_FRICTION))
                    .max_speed(whole(rules::PLAYER_SPEED_MAX)),
                Some(_) => {
                    body.ground_friction(whole(rules::CUBE_FRICTION)).max_speed(whole(rules::CUBE_SPEED_MAX))
                }
            };
            let id = world.create_body(&body)?;
            player.get_or_insert(id);
        }
        // There is always a first start: the player's.
        let player = player.ok_or(SetupError::Cubes { given: 0 })?;
        Ok(Self { world, player, lift: 0, near: Vec::new() })
    }

    /// One frame of 1/60 s with these keys held.
    pub fn step(&mut self, input: Input) {
        self.lift(input.space);
        let (x, y) = input.direction();
        self.push(self.player, Vec2::from_ints(x, y) * Fx::from_num(rules::PUSH));
        if input.space {
            self.blow();
        }
        if input.z {
            self.gather();
        }
        let stepped = self.world.step(rules::FRAMES_PER_SECOND);
        debug_assert!(stepped.is_ok(), "{stepped:?}");
    }

    /// All cubes: the player's first, then the others in the order in which they were created.
    pub fn bodies(&self) -> impl DoubleEndedIterator<Item = Cube> {
        self.world.bodies().map(|body| Cube {
            centre: body.position(),
            half: body.shape().half_extents(),
            velocity: body.velocity(),
            is_player: body.user() == PLAYER,
        })
    }

    /// For drawing: contacts, and positions between two frames.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// How far the player's cube is lifted: 0..=[`LIFT_FRAMES`].
    pub fn lift_frames(&self) -> u32 {
        self.lift
    }

    /// Frames simulated so far.
    pub fn frame(&self) -> u64 {
        self.world.frame()
    }

    /// Hash of the whole state.
    pub fn checksum(&self) -> u64 {
        let mut bytes = [0; 12];
        bytes[..8].copy_from_slice(&self.world.checksum().to_le_bytes());
        bytes[8..].copy_from_slice(&self.lift.to_le_bytes());
        hash_bytes(&bytes)
    }

    /// Flips the least significant bit of the player's cube's position, as faulty memory would, to rehearse a divergence.
    pub fn flip_a_bit(&mut self) {
        // At the very edge of the field the position may not change, but the velocity may.
        let flipped = self
            .world
            .flip_bit(self.player, BodyField::PositionX, 0)
            .or_else(|_| self.world.flip_bit(self.player, BodyField::VelocityX, 0));
        debug_assert!(flipped.is_ok(), "{flipped:?}");
    }

    /// Moves the cube up while Space is held, otherwise down. Above the others it touches nothing; where it comes down it pushes them
    /// aside.
    fn lift(&mut self, up: bool) {
        let was_clear = self.lift >= rules::CLEAR_FRAMES;
        self.lift = if up { (self.lift + 1).min(LIFT_FRAMES) } else { self.lift.saturating_sub(1) };
        let is_clear = self.lift >= rules::CLEAR_FRAMES;
        if is_clear != was_clear {
            let filter = if is_clear { ABOVE_ALL } else { Filter::default() };
            let set = self.world.set_filter(self.player, filter);
            debug_assert!(set.is_ok(), "{set:?}");
        }
    }

    /// Pushes small cubes away from the player's cube, nearer ones harder.
    fn blow(&mut self) {
        let reach = Fx::from_num(rules::BLOW_REACH);
        self.for_near(rules::BLOW_REACH, |offset, distance, _| {
            offset.normalize() * (Fx::from_num(rules::BLOW) * (reach - distance) / reach)
        });
    }

    /// Pulls small cubes towards the player's cube, around it, and along with it.
    fn gather(&mut self) {
        self.for_near(rules::GATHER_REACH, |offset, _, slower| {
            let away = offset.normalize();
            let inwards = away * Fx::from_num(-rules::GATHER);
            let around = away.perpendicular() * Fx::from_num(rules::ROLL);
            inwards + around + slower * Fx::from_num(rules::FOLLOW)
        });
    }

    /// Accelerates every small cube whose centre is nearer than `reach` units. `acceleration` gets the vector from the player's cube to it,
    /// its length, and how much slower than the player's cube it is, per axis.
    fn for_near(&mut self, reach: i32, acceleration: impl Fn(Vec2, Fx, Vec2) -> Vec2) {
        let Some(player) = self.world.body(self.player) else { return };
        let (centre, velocity) = (player.position(), player.velocity());
        let area = Aabb::from_center_half(centre, Vec2::from_ints(reach, reach));
        let filter = QueryFilter::new().only(BodyKind::Dynamic).exclude(self.player);
        let mut near = core::mem::take(&mut self.near);
        self.world.query_area(area, &filter, &mut near);
        for &id in &near {
            let Some(body) = self.world.body(id) else { continue };
            let offset = body.position() - centre;
            let distance = offset.length();
            if distance < Fx::from_num(reach) {
                let slower = velocity - body.velocity();
                self.push(id, acceleration(offset, distance, slower));
            }
        }
        self.near = near;
    }

    /// Accelerates a body in the next step, units/s^2, whatever its mass.
    fn push(&mut self, id: BodyId, acceleration: Vec2) {
        let Some(mass) = self.world.body(id).map(|body| body.mass()) else { return };
        let pushed = self.world.apply_force(id, acceleration * mass);
        debug_assert!(pushed.is_ok(), "{pushed:?}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Autopilot;

    const SETUP: Setup = Setup { cubes: 300, seed: 7 };

    fn player(scene: &Cubes) -> Cube {
        scene.bodies().next().unwrap()
    }

    /// Small cubes with centres nearer to the player's than this many units.
    fn within(scene: &Cubes, reach: i32) -> usize {
        let centre = player(scene).centre;
        scene.bodies().skip(1).filter(|cube| cube.centre.distance(centre) < Fx::from_num(reach)).count()
    }

    #[test]
    fn the_same_keys_give_the_same_bits_and_others_do_not() {
        let [mut a, mut b, mut other] =
            [SETUP, SETUP, Setup { seed: 8, ..SETUP }].map(|s| Cubes::new(&s).unwrap());
        let (mut keys, mut touching) = (Autopilot::new(3), 0);
        for frame in 0..600 {
            let input = keys.press();
            a.step(input);
            b.step(input);
            other.step(input);
            assert_eq!(a.checksum(), b.checksum(), "frame {frame}");
            assert_ne!(a.checksum(), other.checksum());
            touching += a.world().contact_count();
        }
        assert!(touching > 600, "{touching}");
        let frame = a.frame();
        a.step(Input { z: true, ..Input::default() });
        b.step(Input::default());
        assert_eq!(frame + 1, a.frame());
        assert_ne!(a.checksum(), b.checksum(), "one key in one frame");
    }

    #[test]
    fn arrows_push_the_cube_through_the_others() {
        for (input, x, y) in [
            (Input { left: true, ..Input::default() }, -1, 0),
            (Input { right: true, ..Input::default() }, 1, 0),
            (Input { up: true, ..Input::default() }, 0, 1),
            (Input { down: true, ..Input::default() }, 0, -1),
        ] {
            let mut scene = Cubes::new(&SETUP).unwrap();
            let before: Vec<Cube> = scene.bodies().collect();
            (0..90).for_each(|_| scene.step(input));
            let moved = player(&scene).centre;
            assert!(moved.x * x + moved.y * y > 5, "{input:?}: {moved:?}");
            let pushed =
                scene.bodies().skip(1).zip(&before[1..]).filter(|(now, then)| now.centre != then.centre);
            assert!(pushed.count() >= 5, "nobody was in the way");
        }
    }

    #[test]
    fn space_lifts_and_blows_away() {
        let mut scene = Cubes::new(&SETUP).unwrap();
        let before = within(&scene, 5);
        (0..60).for_each(|_| scene.step(Input { space: true, ..Input::default() }));
        assert_eq!(scene.lift, LIFT_FRAMES);
        let blown = within(&scene, 5);
        assert!(before > 30 && blown * 4 < before, "{before} {blown}");
        let above = |scene: &Cubes| scene.world().body(scene.player).unwrap().filter() == ABOVE_ALL;
        assert!(above(&scene));
        (0..LIFT_FRAMES).for_each(|_| scene.step(Input::default()));
        assert!(!above(&scene) && scene.lift == 0);
    }

    #[test]
    fn z_gathers_and_takes_along() {
        let mut scene = Cubes::new(&SETUP).unwrap();
        let before = within(&scene, 4);
        (0..120).for_each(|_| scene.step(Input { z: true, ..Input::default() }));
        let gathered = within(&scene, 4);
        assert!(gathered > before + 15, "{before} {gathered}");
        let centre = player(&scene).centre;
        let turning = scene.bodies().skip(1).filter(|cube| cube.centre.distance(centre) < Fx::from_num(4));
        let round: Fx =
            turning.map(|cube| (cube.centre - centre).cross(cube.velocity - player(&scene).velocity)).sum();
        assert!(round > 0, "they roll around it, counter-clockwise: {round}");
        (0..60).for_each(|_| scene.step(Input { z: true, right: true, ..Input::default() }));
        assert!(player(&scene).centre.x > 2 && within(&scene, 5) > gathered / 2, "{}", within(&scene, 5));
    }

    #[test]
    fn nothing_leaves_the_field() {
        let mut scene = Cubes::new(&SETUP).unwrap();
        let (edge, mut keys) = (SETUP.field_half(), Autopilot::new(9));
        for _ in 0..900 {
            scene.step(keys.press());
        }
        assert!(scene.bodies().all(|cube| cube.centre.x.abs() <= edge && cube.centre.y.abs() <= edge));
    }
}
