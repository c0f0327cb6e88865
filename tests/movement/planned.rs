//! Paths that are planned over many frames while houses come and go where they begin and end.

use testudo_physics::{BodyKind, Fx, Pcg32, Vec2};
use testudo_tests::cases::share;

use crate::scene::Scene;
use crate::sectors::{FEW, HALF, Kind, squads};

/// A match whose squads get far goals, and houses around the ends of their paths.
struct Match {
    scene: Scene,
    goals: [Vec2; 2],
    rng: Pcg32,
}

impl Match {
    fn new(seed: u64) -> Self {
        // Few obstacles: a ground is surveyed as a whole whenever a crowd is loaded.
        let (scene, rng) = (squads(Kind::Walls, seed, FEW), Pcg32::new(seed, 83));
        Self { scene, goals: [Vec2::from_ints(90, 90), Vec2::from_ints(-90, -90)], rng }
    }

    /// A match as it is loaded, at the same place of the same script.
    fn restored(&self) -> Self {
        Self { scene: self.scene.restored(), goals: self.goals, rng: self.rng.clone() }
    }

    fn below(&mut self, most: u32) -> i32 {
        self.rng.below(most) as i32
    }

    /// Whether the ground changed around an end of a path that is being planned.
    fn play(&mut self) -> bool {
        if self.below(30) == 0 {
            let squad = self.below(2) as usize;
            let goal = Vec2::from_ints(self.below(40) + 65, self.below(200) - 100);
            self.goals[squad] = if squad == 0 { goal } else { -goal };
            let units = self.scene.units.clone();
            let (first, second) = units.split_at(units.len() / 2);
            self.scene.go([first, second][squad], self.goals[squad]);
        }
        let changes = self.below(6) == 0;
        if changes {
            self.build();
        }
        let is_planned = self.scene.crowd.flows().is_planning();
        self.scene.step();
        changes && is_planned
    }

    /// A house comes in the tile of a goal or a unit, or at its border; or one of them goes.
    fn build(&mut self) {
        if self.below(3) == 0 {
            let houses = self.scene.world.bodies().filter(|body| body.kind() == BodyKind::Static);
            let nearest = houses.min_by_key(|house| house.aabb().center().distance(self.goals[0]));
            if let Some(house) = nearest.map(|house| house.id()) {
                self.scene.pull_down(house);
            }
            return;
        }
        let unit = self.scene.units[self.rng.below(self.scene.units.len() as u32) as usize];
        let ends = [self.goals[0], self.goals[1], self.scene.place(unit)];
        let end = ends[self.below(3) as usize];
        let mut place = [end.x, end.y].map(|part| part + Fx::from_num(self.below(24) - 12));
        if self.below(2) == 0 {
            // At the nearest border of tiles of 32 cells.
            let axis = self.below(2) as usize;
            let side = Fx::from_num(32);
            place[axis] = ((place[axis] + Fx::from_num(HALF)) / side).round() * side - Fx::from_num(HALF);
        }
        let half = [self.below(12) + 1, self.below(12) + 1].map(|part| Fx::from_num(part) / 2);
        self.scene.build(Vec2::new(place[0], place[1]), Vec2::new(half[0], half[1]));
    }
}

/// The lengths from the goal to the portals of its tile were those of the ground on which the search began, and a crowd that was loaded had others.
#[test]
fn a_path_whose_ends_are_built_over_while_it_is_planned_is_the_same_in_a_match_that_was_loaded() {
    let (mut planning, mut changed) = (0, 0);
    for seed in 0..share(24) {
        let mut live = Match::new(seed);
        let mut copy = live.restored();
        for frame in 0..200 {
            let context = format!("seed {seed}, frame {frame}");
            changed += u32::from(live.play());
            copy.play();
            live.scene.assert_same(&copy.scene, context);
            planning += u32::from(live.scene.crowd.flows().is_planning());
            if live.rng.clone().below(12) == 0 {
                copy = live.restored();
            }
        }
    }
    println!("planning in {planning} frames, {changed} changes meanwhile");
    assert!(u64::from(planning) > share(2_000) && u64::from(changed) > share(200), "{planning} {changed}");
}
