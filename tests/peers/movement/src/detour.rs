//! The same two groups as agents of Detour's crowd: one square of a navigation mesh, corridors on it, sampled velocity obstacles among the agents.
//!
//! Settings are those of the crowd tool in Recast's demo, at its highest quality, with the acceleration of our movement.
//!
//! Detour looks at the first 32 agents that it finds in the square of its range (`MAX_NEIS`), row by row, and keeps the six nearest of them. The demo's
//! range of twelve radii reaches over a hundred agents of a block, so that many do not see those beside and above them. `NEAR` reaches some thirty while
//! the block stands as it started, more where units crowd.

use std::ptr::null_mut;

use cpu_time::ThreadTime;
use recastnavigation_sys as detour;

use crate::avoidance::{Outcome, RATE, SECONDS, SPEED, starts};

/// Half the side of the square, units. A voxel is one unit.
const HALF: f32 = 96.0;
const SIDE: u16 = 192;

/// How far agents see others, units: in the demo, and so that Detour finds the nearest ones in a block.
pub(crate) const DEMO: f32 = 6.0;
pub(crate) const NEAR: f32 = 2.0;

/// Units per second squared, as `MoverDef::default()` has it.
const ACCELERATION: f32 = 30.0;

/// No polygon beyond an edge, no corner in a place.
const NONE: u16 = 0xffff;

fn has_succeeded(status: detour::dtStatus) -> bool {
    status & detour::DT_SUCCESS != 0
}

/// A crowd on its mesh.
struct Flat {
    mesh: *mut detour::dtNavMesh,
    crowd: *mut detour::dtCrowd,
}

impl Flat {
    fn new(agents: usize) -> Self {
        let corners = [[0, 0, 0], [0, 0, SIDE], [SIDE, 0, SIDE], [SIDE, 0, 0]];
        let square = [0, 1, 2, 3, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE];
        // SAFETY: numbers, flags and pointers, for all of which zero is a valid value.
        let mut params: detour::dtNavMeshCreateParams = unsafe { std::mem::zeroed() };
        (params.verts, params.vertCount) = (corners.as_flattened().as_ptr(), 4);
        (params.polys, params.polyCount, params.nvp) = (square.as_ptr(), 1, 6);
        let (flags, areas) = ([1], [0]);
        (params.polyFlags, params.polyAreas) = (flags.as_ptr(), areas.as_ptr());
        (params.bmin, params.bmax) = ([-HALF, 0.0, -HALF], [HALF, 2.0, HALF]);
        (params.walkableHeight, params.walkableRadius, params.walkableClimb) = (2.0, 0.5, 0.5);
        (params.cs, params.ch, params.buildBvTree) = (1.0, 1.0, true);
        let (mut data, mut size) = (null_mut(), 0);
        // SAFETY: `params` has arrays of the lengths that it names; Detour owns `data` from `init` on. Nothing is null: that is looked at.
        unsafe {
            assert!(detour::dtCreateNavMeshData(&mut params, &mut data, &mut size), "a square is a mesh");
            let (mesh, crowd) = (detour::dtAllocNavMesh(), detour::dtAllocCrowd());
            assert!(!mesh.is_null() && !crowd.is_null(), "there is memory");
            let free_data = detour::dtTileFlags_DT_TILE_FREE_DATA as i32;
            assert!(has_succeeded((*mesh).init1(data, size, free_data)), "the mesh is one tile");
            assert!((*crowd).init(agents as i32, 0.5, mesh), "there is memory");
            let mut quality = *(*crowd).getObstacleAvoidanceParams(3);
            (quality.velBias, quality.adaptiveDivs) = (0.5, 7);
            (quality.adaptiveRings, quality.adaptiveDepth) = (3, 3);
            (*crowd).setObstacleAvoidanceParams(3, &quality);
            Self { mesh, crowd }
        }
    }

    /// An agent that goes to a place.
    fn send(&mut self, from: [f32; 2], to: [f32; 2], range: f32, separates: bool) {
        let [from, to] = [from, to].map(|[x, z]| [x, 0.0, z]);
        // SAFETY: numbers and a pointer that Detour leaves alone; zero is a valid value of each.
        let mut agent: detour::dtCrowdAgentParams = unsafe { std::mem::zeroed() };
        (agent.radius, agent.height) = (0.5, 2.0);
        (agent.maxAcceleration, agent.maxSpeed) = (ACCELERATION, SPEED);
        (agent.collisionQueryRange, agent.pathOptimizationRange) = (range, 15.0);
        (agent.separationWeight, agent.obstacleAvoidanceType) = (2.0, 3);
        let mut flags = detour::UpdateFlags_DT_CROWD_ANTICIPATE_TURNS
            | detour::UpdateFlags_DT_CROWD_OPTIMIZE_VIS
            | detour::UpdateFlags_DT_CROWD_OPTIMIZE_TOPO
            | detour::UpdateFlags_DT_CROWD_OBSTACLE_AVOIDANCE;
        if separates {
            flags |= detour::UpdateFlags_DT_CROWD_SEPARATION;
        }
        agent.updateFlags = flags as u8;
        let (mut polygon, mut there, reach) = (0, [0.0; 3], [2.0; 3]);
        // SAFETY: the crowd lives as long as `self`, and all arrays have three numbers, as Detour expects.
        unsafe {
            let number = (*self.crowd).addAgent(from.as_ptr(), &agent);
            assert!(number >= 0, "there is room for all agents");
            let (query, filter) = ((*self.crowd).m_navquery, &(*self.crowd).m_filters[0]);
            let status = (*query).findNearestPoly(
                to.as_ptr(),
                reach.as_ptr(),
                filter,
                &mut polygon,
                there.as_mut_ptr(),
            );
            assert!(has_succeeded(status) && polygon != 0, "the place is on the mesh");
            assert!((*self.crowd).requestMoveTarget(number, polygon, there.as_ptr()), "it is an agent");
        }
    }

    fn update(&mut self) {
        // SAFETY: the crowd lives as long as `self`; without debug information the second argument may be null.
        unsafe { (*self.crowd).update(1.0 / RATE as f32, null_mut()) }
    }

    fn place(&self, number: usize) -> [f32; 2] {
        // SAFETY: the crowd lives as long as `self`, and has an agent of each number that the caller asks for.
        let place = unsafe { (*(*self.crowd).getAgent(number as i32)).npos };
        [place[0], place[2]]
    }
}

impl Drop for Flat {
    fn drop(&mut self) {
        // SAFETY: both come from Detour's allocators, and nobody uses them afterwards.
        unsafe {
            detour::dtFreeCrowd(self.crowd);
            detour::dtFreeNavMesh(self.mesh);
        }
    }
}

pub(crate) fn crowd(half: usize, range: f32, separates: bool) -> Outcome {
    let ways = [[78.0, 0.0], [0.0, 90.0]];
    let mut flat = Flat::new(2 * half);
    let mut goals = Vec::new();
    for (number, [x, y]) in starts(half).into_iter().enumerate() {
        let ([x, y], way) = ([x as f32 / 4.0, y as f32 / 4.0], ways[usize::from(number >= half)]);
        goals.push([x + way[0], y + way[1]]);
        flat.send([x, y], goals[number], range, separates);
    }
    let mut outcome = Outcome::default();
    for frame in 0..SECONDS * RATE {
        let start = ThreadTime::now();
        flat.update();
        outcome.note(start);
        let places: Vec<_> = (0..goals.len()).map(|number| flat.place(number)).collect();
        if frame % 100 == 99 {
            outcome.look(&places);
        }
        let is_there = |(at, goal): &(&[f32; 2], &[f32; 2])| (at[0] - goal[0]).hypot(at[1] - goal[1]) < 0.5;
        outcome.arrived = places.iter().zip(&goals).filter(is_there).count();
        if outcome.arrived == goals.len() {
            break;
        }
    }
    outcome
}
