//! A judge of pairs: after every step it compares the contacts, the overlaps with sensors and their begin and end events of all pairs of bodies
//! with the geometry, by brute force. What the engine promises is that an event is at most one frame late.

mod judge;
mod script;

use testudo_physics::{Aabb, BodyId, EdgePolicy, Fx, Vec2, World, WorldDef};

use judge::Judge;
use script::Script;

/// Greatest number of bodies: what can go wrong can go wrong among few, which meet more often.
const BODIES_MAX: usize = 14;

/// Greatest number of steps of a script.
const STEPS_MAX: u32 = 600;

/// Plays a script of calls and steps.
///
/// # Panics
/// If a pair is reported that is none, or none is reported that is one, for longer than the promise allows.
pub fn play(bytes: &[u8]) {
    let mut play = Play::new(Script::new(bytes));
    while !play.script.is_over() && play.steps < STEPS_MAX {
        play.act();
    }
    // A last look, when all may have come to rest.
    play.run(2);
}

/// A world, what is drawn for it, and its judge.
struct Play<'a> {
    script: Script<'a>,
    world: World,
    /// The same world, restored from bytes in the middle of the script.
    twin: Option<World>,
    judge: Judge,
    ids: Vec<BodyId>,
    fps: u32,
    steps: u32,
}

impl<'a> Play<'a> {
    fn new(mut script: Script<'a>) -> Self {
        let gravity =
            script.one_of([Vec2::ZERO, Vec2::ZERO, Vec2::from_ints(0, -10), Vec2::from_ints(3, -5)]);
        let far = Vec2::from_ints(7, 7);
        let bounds = Aabb { min: -far, max: far };
        let def = WorldDef::new().gravity(gravity).bounds(bounds).sleep_ms(script.one_of([60, 200, 500]));
        let def = def.edge(script.one_of([EdgePolicy::Stop, EdgePolicy::Bounce]));
        let world = World::new(def).expect("settings in range");
        let fps = script.one_of([10, 20, 30, 60, 144]);
        let mut play =
            Self { script, world, twin: None, judge: Judge::default(), ids: Vec::new(), fps, steps: 0 };
        for _ in 0..play.script.below(9) {
            play.create();
        }
        play
    }

    /// Calls the same on the world and on its twin.
    fn call<T>(&mut self, call: impl Fn(&mut World) -> T) -> T {
        if let Some(twin) = &mut self.twin {
            call(twin);
        }
        call(&mut self.world)
    }

    fn create(&mut self) {
        let def = self.script.body();
        if self.ids.len() < BODIES_MAX {
            let id = self.call(|world| world.create_body(&def)).expect("a definition in range");
            self.ids.push(id);
        }
    }

    fn run(&mut self, steps: u32) {
        for _ in 0..steps {
            self.judge.step(&mut self.world, self.twin.as_mut(), self.fps);
        }
        self.steps += steps;
    }

    /// One call, or some steps.
    fn act(&mut self) {
        match self.script.below(32) {
            0..8 => self.run(1),
            8..10 => {
                let steps = self.script.one_of([2, 5, 20, 80]);
                self.run(steps);
            }
            10 | 11 => self.create(),
            12 => self.world_call(),
            what => {
                if !self.ids.is_empty() {
                    let at = self.script.below(self.ids.len() as u32) as usize;
                    self.body_call(what, at);
                }
            }
        }
    }

    /// A call that concerns the whole world.
    fn world_call(&mut self) {
        match self.script.below(5) {
            0 => {
                let gravity =
                    self.script.one_of([Vec2::ZERO, Vec2::from_ints(0, -10), Vec2::from_ints(8, 0)]);
                self.call(|world| world.set_gravity(gravity)).expect("in range");
            }
            1 => {
                let (x, y) = (self.script.one_of([4, 6, 7]), self.script.one_of([4, 6, 7]));
                let far = Vec2::from_ints(x, y);
                self.call(|world| world.set_bounds(Aabb { min: -far, max: far })).expect("in range");
            }
            2 => self.fps = self.script.one_of([10, 20, 30, 60, 144]),
            _ => {
                let mut bytes = Vec::new();
                self.world.snapshot(&mut bytes);
                self.twin = Some(World::from_bytes(&bytes).expect("its own bytes"));
            }
        }
    }

    /// A call that concerns one body.
    fn body_call(&mut self, what: u32, at: usize) {
        let id = self.ids[at];
        match what {
            13 => {
                self.ids.swap_remove(at);
                self.call(|world| world.remove_body(id)).expect("alive");
            }
            14..17 => {
                let place = self.script.place();
                self.call(|world| world.set_position(id, place)).expect("alive");
            }
            17 | 18 => {
                let shape = self.script.shape();
                self.call(|world| world.set_shape(id, shape)).expect("alive");
            }
            19 => {
                let kind = self.script.kind();
                self.call(|world| world.set_kind(id, kind)).expect("alive");
            }
            20 => {
                let filter = self.script.filter();
                self.call(|world| world.set_filter(id, filter)).expect("alive");
            }
            21..24 => {
                let sensor = self.script.one_in(2);
                self.call(|world| world.set_sensor(id, sensor)).expect("alive");
            }
            24 | 25 => {
                let enabled = !self.script.one_in(3);
                self.call(|world| world.set_enabled(id, enabled)).expect("alive");
            }
            26 | 27 => self.lull(id),
            28 | 29 => {
                let velocity = self.script.one_of([true, false]);
                let velocity = if velocity { self.script.velocity() } else { Vec2::ZERO };
                self.call(|world| world.set_velocity(id, velocity)).expect("alive");
            }
            30 => self.call(|world| world.wake_body(id)).expect("alive"),
            _ => self.rare_call(id),
        }
    }

    fn rare_call(&mut self, id: BodyId) {
        match self.script.below(4) {
            0 => {
                let other = self.ids[self.script.below(self.ids.len() as u32) as usize];
                let ignored = !self.script.one_in(3);
                let _ = self.call(|world| world.set_pair_ignored(id, other, ignored));
            }
            1 => {
                let locks = [self.script.one_in(2), self.script.one_in(2)];
                self.call(|world| world.set_locked_axes(id, locks[0], locks[1])).expect("alive");
            }
            2 => {
                let mass = self.script.one_of([Fx::ONE / 4, Fx::ONE, Fx::from_num(40)]);
                self.call(|world| world.set_mass(id, mass)).expect("in range");
            }
            _ => {
                let can_sleep = self.script.one_in(2);
                self.call(|world| world.set_can_sleep(id, can_sleep)).expect("alive");
            }
        }
    }

    /// Puts a body to sleep, with those that it touches.
    fn lull(&mut self, id: BodyId) {
        let awake: Vec<BodyId> =
            self.world.bodies().filter(|body| body.is_awake()).map(|body| body.id()).collect();
        self.call(|world| world.sleep_body(id)).expect("alive");
        let asleep = |id: &BodyId| self.world.body(*id).is_some_and(|body| !body.is_awake());
        self.judge.lulled.extend(awake.into_iter().filter(asleep));
    }
}
