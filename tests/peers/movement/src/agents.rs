//! The same two groups as agents of `landmass`: one square of a navigation mesh, paths on it, ORCA among the agents.

use std::sync::Arc;

use cpu_time::ThreadTime;
use glam::Vec2;
use landmass::{
    Agent, Archipelago, ArchipelagoOptions, FromAgentRadius as _, Island, NavigationMesh, Transform, XY,
};

use crate::avoidance::{Outcome, RATE, SECONDS, SPEED, starts};

/// Half the side of the square.
const HALF: f32 = 96.0;

pub(crate) fn landmass(half: usize) -> Outcome {
    let mut archipelago = Archipelago::<XY>::new(ArchipelagoOptions::from_agent_radius(0.5));
    let corners = [(-HALF, -HALF), (HALF, -HALF), (HALF, HALF), (-HALF, HALF)];
    let mesh = NavigationMesh {
        vertices: corners.map(|(x, y)| Vec2::new(x, y)).to_vec(),
        polygons: vec![vec![0, 1, 2, 3]],
        polygon_type_indices: vec![0],
        height_mesh: None,
    };
    let mesh = Arc::new(mesh.validate().expect("a square"));
    archipelago.add_island(Island::new(Transform { translation: Vec2::ZERO, rotation: 0.0 }, mesh));
    let ways = [Vec2::new(78.0, 0.0), Vec2::new(0.0, 90.0)];
    let mut goals = Vec::new();
    let agents: Vec<_> = starts(half)
        .into_iter()
        .enumerate()
        .map(|(number, [x, y])| {
            let position = Vec2::new(x as f32 / 4.0, y as f32 / 4.0);
            let goal = position + ways[usize::from(number >= half)];
            goals.push(goal);
            let mut agent = Agent::create(position, Vec2::ZERO, 0.5, SPEED, SPEED);
            agent.current_target = Some(goal);
            archipelago.add_agent(agent)
        })
        .collect();
    let step = 1.0 / RATE as f32;
    let mut outcome = Outcome::default();
    for frame in 0..SECONDS * RATE {
        let start = ThreadTime::now();
        archipelago.update(step);
        let mut places = Vec::new();
        for &agent in &agents {
            let agent = archipelago.get_agent_mut(agent).expect("nobody removes it");
            agent.velocity = *agent.get_desired_velocity();
            agent.position += agent.velocity * step;
            places.push(agent.position);
        }
        outcome.note(start);
        if frame % 100 == 99 {
            let places: Vec<_> = places.iter().map(|place| [place.x, place.y]).collect();
            outcome.look(&places);
        }
        outcome.arrived = places.iter().zip(&goals).filter(|(at, goal)| at.distance(**goal) < 0.5).count();
        if outcome.arrived == agents.len() {
            break;
        }
    }
    outcome
}
