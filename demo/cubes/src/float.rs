//! The same scene in a plain `f32` solver: sequential impulses, contact by contact, as in many games. With the same order of contacts it
//! gives the same bits on the same machine; with another order it diverges.
//!
//! For comparison only, and the only file of the scene with floats. Nothing in it affects [`crate::Cubes`].
#![expect(
    clippy::float_arithmetic,
    clippy::disallowed_types,
    reason = "shows what becomes of the same scene in floats, beside the simulation"
)]

use testudo_physics::{Fx, Pcg32, Vec2};

use super::rules::{self, LIFT_FRAMES, Setup, SetupError};
use crate::input::Input;

/// Seconds per frame.
const FRAME_SECONDS: f32 = 1.0 / rules::FRAMES_PER_SECOND as f32;

/// Passes over all contacts per frame.
const PASSES: u32 = 7;

/// Coefficient of restitution, and the speed below which there is none, units/s.
const RESTITUTION: f32 = 0.25;
const RESTING_SPEED: f32 = 0.25;

/// Part of an overlap beyond the slop that is separated per frame; units.
const PUSH_FACTOR: f32 = 0.2;
const SLOP: f32 = 0.01;

/// The order in which a frame's contacts are solved.
#[derive(Clone, Debug)]
pub enum ContactOrder {
    /// By the numbers of the two cubes.
    ByNumber,
    /// Another order in every frame, as from a solver that shuffles, or from threads that finish in any order.
    Shuffled(Pcg32),
}

/// A scene in progress, in floats.
#[derive(Clone, Debug)]
pub struct FloatCubes {
    /// The player's cube first.
    cubes: Vec<FloatCube>,
    /// Half of the side of the field, units.
    edge: f32,
    lift: u32,
    order: ContactOrder,
    /// Cubes by their left edge; almost sorted from frame to frame.
    by_left: Vec<u32>,
    /// Pairs that touch in this frame.
    touching: Vec<(u32, u32)>,
}

/// Units, units per second, and one over the mass.
#[derive(Clone, Copy, PartialEq, Debug)]
struct FloatCube {
    centre: [f32; 2],
    half: [f32; 2],
    velocity: [f32; 2],
    inverse_mass: f32,
    friction: f32,
    speed_max: f32,
}

/// An overlap of two cubes.
// not state: made and used within a frame
struct Overlap {
    /// The axis along which the overlap is least.
    axis: usize,
    /// From the first to the second along the axis: -1 or 1.
    sign: f32,
    depth: f32,
}

impl FloatCubes {
    /// The start of [`crate::Cubes`] in floats; the conversion is exact.
    ///
    /// # Errors
    /// A setting out of range.
    pub fn new(setup: &Setup, order: ContactOrder) -> Result<Self, SetupError> {
        setup.check()?;
        let cubes: Vec<FloatCube> = setup
            .starts()
            .iter()
            .enumerate()
            .map(|(index, start)| {
                let (friction, speed_max) = match index {
                    0 => (rules::PLAYER_FRICTION, rules::PLAYER_SPEED_MAX),
                    _ => (rules::CUBE_FRICTION, rules::CUBE_SPEED_MAX),
                };
                FloatCube {
                    centre: floats(start.centre),
                    half: floats(start.half),
                    velocity: [0.0; 2],
                    inverse_mass: 1.0 / float(start.mass),
                    friction: friction as f32,
                    speed_max: speed_max as f32,
                }
            })
            .collect();
        let by_left = (0..cubes.len() as u32).collect();
        let edge = float(setup.field_half());
        Ok(Self { cubes, edge, lift: 0, order, by_left, touching: Vec::new() })
    }

    /// One frame of 1/60 s with these keys held.
    pub fn step(&mut self, input: Input) {
        self.lift = if input.space { (self.lift + 1).min(LIFT_FRAMES) } else { self.lift.saturating_sub(1) };
        self.accelerate(input);
        self.find_touching();
        if let ContactOrder::Shuffled(rng) = &mut self.order {
            rng.shuffle(&mut self.touching);
        }
        for pass in 0..PASSES {
            for at in 0..self.touching.len() {
                let (a, b) = self.touching[at];
                self.bounce(a as usize, b as usize, pass == 0);
            }
        }
        for cube in &mut self.cubes {
            for axis in 0..2 {
                cube.centre[axis] += cube.velocity[axis] * FRAME_SECONDS;
            }
        }
        for at in 0..self.touching.len() {
            let (a, b) = self.touching[at];
            self.push_apart(a as usize, b as usize);
        }
        let edge = self.edge;
        self.cubes.iter_mut().for_each(|cube| cube.stay_inside(edge));
        self.cubes.iter_mut().for_each(FloatCube::slow_down);
    }

    /// Centres, in the order of [`crate::Cubes::bodies`].
    pub fn centres(&self) -> impl ExactSizeIterator<Item = [f32; 2]> {
        self.cubes.iter().map(|cube| cube.centre)
    }

    fn accelerate(&mut self, input: Input) {
        let (x, y) = input.direction();
        let Some((player, others)) = self.cubes.split_first_mut() else { return };
        player.accelerate([(x * rules::PUSH) as f32, (y * rules::PUSH) as f32]);
        for cube in others {
            let offset = [cube.centre[0] - player.centre[0], cube.centre[1] - player.centre[1]];
            let distance = length(offset);
            if distance <= 0.0 {
                continue;
            }
            let away = offset.map(|part| part / distance);
            if input.space && distance < rules::BLOW_REACH as f32 {
                let reach = rules::BLOW_REACH as f32;
                let strength = rules::BLOW as f32 * (reach - distance) / reach;
                cube.accelerate(away.map(|part| part * strength));
            }
            if input.z && distance < rules::GATHER_REACH as f32 {
                let around = [-away[1], away[0]];
                cube.accelerate([0, 1].map(|axis| {
                    let slower = player.velocity[axis] - cube.velocity[axis];
                    around[axis] * rules::ROLL as f32 - away[axis] * rules::GATHER as f32
                        + slower * rules::FOLLOW as f32
                }));
            }
        }
    }

    /// Pairs of overlapping cubes: a sweep along x, then sorted by number, so that the order does not depend on how they were found.
    fn find_touching(&mut self) {
        let cubes = &self.cubes;
        let left = |&index: &u32| cubes[index as usize].centre[0] - cubes[index as usize].half[0];
        self.by_left.sort_by(|a, b| left(a).total_cmp(&left(b)));
        self.touching.clear();
        let first = u32::from(self.lift >= rules::CLEAR_FRAMES);
        for (place, &a) in self.by_left.iter().enumerate() {
            let right = cubes[a as usize].centre[0] + cubes[a as usize].half[0];
            for &b in self.by_left[place + 1..].iter().take_while(|b| left(b) < right) {
                let pair = (a.min(b), a.max(b));
                if pair.0 >= first && overlap(&cubes[pair.0 as usize], &cubes[pair.1 as usize]).is_some() {
                    self.touching.push(pair);
                }
            }
        }
        self.touching.sort_unstable();
    }

    /// Removes the closing speed of two cubes.
    fn bounce(&mut self, a: usize, b: usize, is_first_pass: bool) {
        let (first, second) = (self.cubes[a], self.cubes[b]);
        let Some(Overlap { axis, sign, .. }) = overlap(&first, &second) else { return };
        let closing = (first.velocity[axis] - second.velocity[axis]) * sign;
        if closing <= 0.0 {
            return;
        }
        let returned = if is_first_pass && closing > RESTING_SPEED { RESTITUTION } else { 0.0 };
        let impulse = (1.0 + returned) * closing / (first.inverse_mass + second.inverse_mass) * sign;
        self.cubes[a].velocity[axis] -= impulse * first.inverse_mass;
        self.cubes[b].velocity[axis] += impulse * second.inverse_mass;
    }

    fn push_apart(&mut self, a: usize, b: usize) {
        let (first, second) = (self.cubes[a], self.cubes[b]);
        let Some(Overlap { axis, sign, depth }) = overlap(&first, &second) else { return };
        let share = (depth - SLOP).max(0.0) * PUSH_FACTOR / (first.inverse_mass + second.inverse_mass) * sign;
        self.cubes[a].centre[axis] -= share * first.inverse_mass;
        self.cubes[b].centre[axis] += share * second.inverse_mass;
    }
}

impl FloatCube {
    fn accelerate(&mut self, acceleration: [f32; 2]) {
        for axis in 0..2 {
            self.velocity[axis] += acceleration[axis] * FRAME_SECONDS;
        }
    }

    fn stay_inside(&mut self, edge: f32) {
        for axis in 0..2 {
            if self.centre[axis].abs() > edge {
                self.centre[axis] = edge.copysign(self.centre[axis]);
                self.velocity[axis] *= -RESTITUTION;
            }
        }
    }

    fn slow_down(&mut self) {
        let speed = length(self.velocity);
        if speed > 0.0 {
            let slower = (speed - self.friction * FRAME_SECONDS).clamp(0.0, self.speed_max);
            self.velocity = self.velocity.map(|part| part * (slower / speed));
        }
    }
}

fn overlap(a: &FloatCube, b: &FloatCube) -> Option<Overlap> {
    let offset = [0, 1].map(|axis| b.centre[axis] - a.centre[axis]);
    let depth = [0, 1].map(|axis| a.half[axis] + b.half[axis] - offset[axis].abs());
    if depth[0] <= 0.0 || depth[1] <= 0.0 {
        return None;
    }
    let axis = usize::from(depth[1] < depth[0]);
    Some(Overlap { axis, sign: 1.0_f32.copysign(offset[axis]), depth: depth[axis] })
}

fn length(vector: [f32; 2]) -> f32 {
    (vector[0] * vector[0] + vector[1] * vector[1]).sqrt()
}

fn float(value: Fx) -> f32 {
    value.to_num()
}

fn floats(vector: Vec2) -> [f32; 2] {
    [float(vector.x), float(vector.y)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Autopilot, Cubes};

    const SETUP: Setup = Setup { cubes: 300, seed: 7 };

    fn largest_gap(a: &FloatCubes, b: &FloatCubes) -> f32 {
        let gaps = a.centres().zip(b.centres()).map(|(a, b)| length([a[0] - b[0], a[1] - b[1]]));
        gaps.fold(0.0, f32::max)
    }

    /// The order of contacts alone makes the difference: everything else is equal.
    #[test]
    fn the_same_order_stays_together_and_another_does_not() {
        let shuffled = ContactOrder::Shuffled(Pcg32::new(1, 0));
        let orders = [ContactOrder::ByNumber, ContactOrder::ByNumber, shuffled];
        let [mut left, mut same, mut other] = orders.map(|order| FloatCubes::new(&SETUP, order).unwrap());
        let (mut keys, mut touching) = (Autopilot::new(3), 0);
        for frame in 0..900 {
            let input = keys.press();
            left.step(input);
            same.step(input);
            other.step(input);
            touching += left.touching.len();
            assert_eq!(left.cubes, same.cubes, "frame {frame}");
        }
        assert!(touching > 900, "{touching}");
        assert!(largest_gap(&left, &other) > 1.0, "{}", largest_gap(&left, &other));
    }

    /// A fair comparison: it starts from the same positions and does what the fixed-point scene does, until chaos separates them.
    #[test]
    fn it_is_the_same_scene() {
        let mut floats = FloatCubes::new(&SETUP, ContactOrder::ByNumber).unwrap();
        let mut exact = Cubes::new(&SETUP).unwrap();
        let far = |exact: &Cubes, floats: &FloatCubes, cubes: usize| {
            let pairs = exact.bodies().zip(floats.centres()).take(cubes);
            pairs.map(|(cube, centre)| (float(cube.centre.x) - centre[0]).abs()).fold(0.0, f32::max)
        };
        assert_eq!(far(&exact, &floats, usize::MAX), 0.0);
        for _ in 0..60 {
            let input = Input { right: true, ..Input::default() };
            exact.step(input);
            floats.step(input);
        }
        let player = exact.bodies().next().unwrap();
        assert!(
            player.centre.x > 4 && far(&exact, &floats, 1) < 0.6,
            "{} {}",
            player.centre.x,
            far(&exact, &floats, 1)
        );
    }

    #[test]
    fn cubes_do_not_sink_into_each_other_or_leave() {
        let mut scene = FloatCubes::new(&SETUP, ContactOrder::ByNumber).unwrap();
        (0..240).for_each(|_| scene.step(Input { z: true, ..Input::default() }));
        let deepest = scene
            .touching
            .iter()
            .filter_map(|&(a, b)| overlap(&scene.cubes[a as usize], &scene.cubes[b as usize]))
            .fold(0.0, |deepest: f32, overlap| deepest.max(overlap.depth));
        assert!(scene.touching.len() > 20 && deepest < 0.35, "{} {deepest}", scene.touching.len());
        let mut keys = Autopilot::new(9);
        (0..900).for_each(|_| scene.step(keys.press()));
        assert!(scene.centres().flatten().all(|part| part.abs() <= scene.edge));
    }
}
