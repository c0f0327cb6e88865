//! The documented budget (`docs/movement.md`: "the search covers `cells_per_frame` cells in each frame"), held by whole crowds, whatever the rate.

use testudo_movement::{Crowd, CrowdDef, GroundDef, MoveEvent, MoverDef, Order};
use testudo_physics::{Aabb, BodyDef, BodyId, Fx, Shape, Vec2, World, WorldDef};

use crate::maps::square;

const RATES: [u32; 3] = [20, 60, 144];

/// A unit that waits learns within this time that its way is known, ms: it thinks again.
const THINKS_MS: u32 = 125;

/// A world with a crowd, and how many events each unit had.
struct Scene {
    world: World,
    crowd: Crowd,
    rate: u32,
    told: Vec<(BodyId, MoveEvent)>,
}

impl Scene {
    /// A ground of this half side, and a wall across it that leaves a gap at both ends.
    fn new(half: i32, def: impl Fn(CrowdDef) -> CrowdDef, rate: u32) -> Self {
        let mut world = World::new(WorldDef::new()).unwrap();
        let wall = BodyDef::static_body(Shape::rect(Fx::ONE, Fx::from_num(half * 4 / 5)));
        world.create_body(&wall).unwrap();
        let mut crowd = Crowd::new(&def(CrowdDef::new(GroundDef::new(square(half))))).unwrap();
        crowd.survey(&world);
        Self { world, crowd, rate, told: Vec::new() }
    }

    fn add(&mut self, place: Vec2, speed: i32) -> BodyId {
        let disc = BodyDef::dynamic(Shape::circle(Fx::ONE / 2)).position(place);
        let unit = self.world.create_body(&disc).unwrap();
        let pace = MoverDef { speed: Fx::from_num(speed), ..MoverDef::default() };
        self.crowd.add(&self.world, unit, pace).unwrap();
        unit
    }

    /// Two units side by side.
    fn pair(&mut self, place: Vec2, speed: i32) -> [BodyId; 2] {
        [0, 2].map(|x| self.add(place + Vec2::from_ints(x, 0), speed))
    }

    fn go(&mut self, units: &[BodyId], goal: Vec2) {
        self.crowd.order(&self.world, units, &Order::go(goal)).unwrap();
    }

    fn step(&mut self) {
        self.crowd.step(&mut self.world, self.rate).unwrap();
        self.world.step(self.rate).unwrap();
        for &event in self.crowd.events() {
            if let MoveEvent::Arrived(unit) | MoveEvent::GaveUp(unit) | MoveEvent::Unreachable(unit) = event {
                self.told.push((unit, event));
            }
        }
    }

    /// A gate opens or closes.
    fn swing(&mut self, gate: &mut Option<BodyId>, place: Vec2) {
        match gate.take() {
            Some(gate) => self.world.remove_body(gate).unwrap(),
            None => {
                let shape = Shape::rect(Fx::from_num(3), Fx::ONE);
                *gate = Some(self.world.create_body(&BodyDef::static_body(shape).position(place)).unwrap());
            }
        }
        let half = Vec2::from_ints(3, 1);
        self.crowd.survey_area(&self.world, Aabb::from_center_half(place, half));
    }

    fn place(&self, unit: BodyId) -> Vec2 {
        self.world.body(unit).unwrap().position()
    }

    fn waits(&self, units: &[BodyId]) -> bool {
        units.iter().any(|&unit| self.crowd.is_waiting(unit) == Some(true))
    }

    fn frames(&self, ms: u32) -> u32 {
        (ms * self.rate).div_ceil(1_000)
    }

    /// Frames until none of these units waits.
    fn wait(&mut self, units: &[BodyId]) -> u32 {
        let mut frames = 0;
        while self.waits(units) {
            self.step();
            frames += 1;
            assert!(frames < 1_000_000 / THINKS_MS, "they wait for ever");
        }
        frames
    }
}

/// A field was searched only in frames in which a unit thought that waited for it: in each seventh one at 60 frames per second.
#[test]
fn the_far_corner_has_its_way_when_its_cells_are_paid_for_at_any_rate() {
    for rate in RATES {
        let mut scene = Scene::new(256, |def| def, rate);
        let units = scene.pair(Vec2::from_ints(-250, -250), 4);
        scene.go(&units, Vec2::from_ints(250, 250));
        let frames = scene.wait(&units);
        let most = 512 * 512 / 16_384 + scene.frames(THINKS_MS) + 2;
        println!("{rate} frames per second: {frames} frames of {most}");
        assert!(frames <= most, "{rate} frames per second: {frames} frames of {most}");
    }
}

/// The field was never found anew before the gate moved again, and nobody was told.
#[test]
fn a_group_far_away_arrives_though_a_gate_at_its_goal_never_rests() {
    for rate in RATES {
        let mut scene = Scene::new(256, |def| def, rate);
        let units = scene.pair(Vec2::from_ints(-250, -250), 16);
        let goal = Vec2::from_ints(250, 250);
        scene.go(&units, goal);
        let (mut gate, mut frame) = (None, 0);
        let start = scene.place(units[0]);
        // Half a second to walk.
        let period = 16 + scene.frames(THINKS_MS + 500);
        while scene.told.len() < 2 {
            if frame % period == 0 {
                scene.swing(&mut gate, goal - Vec2::from_ints(8, 8));
            }
            scene.step();
            frame += 1;
            // 750 units of way, a third of the time to walk.
            let far = scene.place(units[0]).distance(start);
            assert!(frame < 150 * rate, "{rate} frames per second: {far} units after {frame} frames");
        }
        println!("{rate} frames per second: {frame} frames");
        assert!(
            scene.told.iter().all(|(_, event)| matches!(event, MoveEvent::Arrived(_))),
            "{:?}",
            scene.told
        );
    }
}

/// Each search began with the field in the first place. While houses came and went, the last ones had nothing, for ever.
#[test]
fn each_group_gets_its_field_though_the_ground_changes_before_all_have_theirs() {
    const GROUPS: u32 = 16;
    for rate in [60, 144] {
        // A field takes ten to sixteen frames, all of them more than 160.
        let mut scene = Scene::new(256, |def| def, rate);
        let groups: Vec<_> = (0..GROUPS as i32)
            .map(|n| {
                let group = scene.pair(Vec2::from_ints(-250, -250 + 4 * n), 1);
                scene.go(&group, Vec2::from_ints(248, 210 + 2 * n));
                group
            })
            .collect();
        let (mut gate, mut served) = (None, [0; GROUPS as usize]);
        // A unit that marches notices after half a second at the latest that the ground has changed.
        let period = 32 + scene.frames(500 + THINKS_MS);
        for _ in 0..2 * GROUPS {
            scene.swing(&mut gate, Vec2::from_ints(242, 225));
            (0..period).for_each(|_| scene.step());
            for (served, group) in served.iter_mut().zip(&groups) {
                *served += u32::from(!scene.waits(group));
            }
        }
        println!("{rate} frames per second: {served:?}");
        assert!(scene.told.is_empty());
        // Whose turn it is after a change has all cells.
        assert!(
            period < 160 && served.iter().all(|&times| times > 0),
            "{rate} frames per second: {served:?}"
        );
    }
}

/// Units that go alone asked for their paths only in the two frames of an eighth of a second in which all of them thought.
#[test]
fn paths_of_lone_units_use_the_cells_of_each_frame_at_any_rate() {
    let mut all = Vec::new();
    for rate in RATES {
        let mut scene = Scene::new(64, |def| def.cells_per_frame(8_192), rate);
        let mut units = Vec::new();
        for n in 0..120 {
            let [x, y] = [n % 12, n / 12];
            units.push(scene.add(Vec2::from_ints(-38 + 3 * x, 20 + 3 * y), 4));
        }
        for (n, &unit) in (0..).zip(&units) {
            let [x, y] = [n % 12, n / 12];
            scene.go(&[unit], Vec2::from_ints(38 - 3 * x, 20 + 3 * y));
        }
        all.push((rate, scene.wait(&units)));
    }
    println!("{all:?}");
    let least = all.iter().map(|&(_, frames)| frames).min().unwrap();
    for (rate, frames) in all {
        assert!(
            frames <= least * 3 / 2 + rate * THINKS_MS / 1_000 + 2,
            "{rate}: {frames} frames, least {least}"
        );
    }
}
