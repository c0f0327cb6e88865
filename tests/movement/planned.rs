//! Paths that are planned over many frames while houses come and go where they begin and end.

use testudo_movement::{Crowd, Order};
use testudo_physics::{Aabb, BodyId, BodyKind, Fx, Pcg32, Vec2, World};
use testudo_tests::cases::share;

use crate::sectors::{FEW, HALF, Kind, def, house, squads};

/// A match whose squads get far goals, and houses around the ends of their paths.
struct Match {
    world: World,
    crowd: Crowd,
    units: Vec<BodyId>,
    goals: [Vec2; 2],
    rng: Pcg32,
}

impl Match {
    fn new(seed: u64) -> Self {
        // Few obstacles: a ground is surveyed as a whole whenever a crowd is loaded.
        let (world, crowd, units) = squads(Kind::Walls, seed, FEW);
        let rng = Pcg32::new(seed, 83);
        Self { world, crowd, units, goals: [Vec2::from_ints(90, 90), Vec2::from_ints(-90, -90)], rng }
    }

    /// A match as it is loaded, at the same place of the same script.
    fn restored(&self) -> Self {
        let (mut bytes, mut state) = (Vec::new(), Vec::new());
        self.crowd.save(&mut bytes);
        self.world.snapshot(&mut state);
        let world = World::from_bytes(&state).unwrap();
        let crowd = Crowd::load(&def(FEW), &world, &bytes).unwrap();
        Self { world, crowd, units: self.units.clone(), goals: self.goals, rng: self.rng.clone() }
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
            let half = self.units.len() / 2;
            let chosen = if squad == 0 { &self.units[..half] } else { &self.units[half..] };
            self.crowd.order(&self.world, chosen, &Order::go(self.goals[squad])).unwrap();
        }
        let changes = self.below(6) == 0;
        if changes {
            self.build();
        }
        let is_planned = self.crowd.flows().is_planning();
        self.crowd.step(&mut self.world, 20).unwrap();
        self.world.step(20).unwrap();
        changes && is_planned
    }

    /// A house comes in the tile of a goal or a unit, or at its border; or one of them goes.
    fn build(&mut self) {
        if self.below(3) == 0 {
            let houses: Vec<(BodyId, Aabb)> = self
                .world
                .bodies()
                .filter(|body| body.kind() == BodyKind::Static)
                .map(|body| (body.id(), body.aabb()))
                .collect();
            let nearest = houses.iter().min_by_key(|(_, area)| area.center().distance(self.goals[0]));
            if let Some(&(house, area)) = nearest {
                self.world.remove_body(house).unwrap();
                self.crowd.survey_area(&self.world, area);
            }
            return;
        }
        let unit = self.units[self.rng.below(self.units.len() as u32) as usize];
        let ends = [self.goals[0], self.goals[1], self.world.body(unit).unwrap().position()];
        let end = ends[self.below(3) as usize];
        let mut place = [end.x, end.y].map(|part| part + Fx::from_num(self.below(24) - 12));
        if self.below(2) == 0 {
            // At the nearest border of tiles of 32 cells.
            let axis = self.below(2) as usize;
            let side = Fx::from_num(32);
            place[axis] = ((place[axis] + Fx::from_num(HALF)) / side).round() * side - Fx::from_num(HALF);
        }
        let half = [self.below(12) + 1, self.below(12) + 1].map(|part| Fx::from_num(part) / 2);
        let around = house(&mut self.world, place, half);
        self.crowd.survey_area(&self.world, around);
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
            let (mut bytes, mut other) = (Vec::new(), Vec::new());
            live.crowd.save(&mut bytes);
            copy.crowd.save(&mut other);
            assert_eq!(live.world.checksum(), copy.world.checksum(), "{context}");
            assert!(bytes == other, "{context}");
            planning += u32::from(live.crowd.flows().is_planning());
            if live.rng.clone().below(12) == 0 {
                copy = live.restored();
            }
        }
    }
    println!("planning in {planning} frames, {changed} changes meanwhile");
    assert!(u64::from(planning) > share(2_000) && u64::from(changed) > share(200), "{planning} {changed}");
}
