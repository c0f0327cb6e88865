//! The world's edge: it holds the centres of bodies that can move, and stops or bounces them.
//!
//! A body leaves the edge with the energy that it brought there, or less. Its velocity after a frame is not the one with which it came: that contains all
//! that gravity and forces add in the frame, and the edge holds the body where they have done a part of their work. A ball that reversed it would
//! bounce ever higher, and one that lies at the edge would be sent away in each frame. So the speed at the edge follows from the speed before the frame's
//! gain and from the way to the edge: `w^2 = v^2 + 2 g s`.

use crate::body::record::Body;
use crate::body::slot::Slot;
use crate::math::num::isqrt_u64;
use crate::solve::soft;
use crate::world_def::{EdgePolicy, Settings};

/// The edge in one frame.
#[derive(Clone, Copy)]
pub(crate) struct Edge<'a> {
    pub(crate) settings: &'a Settings,
    /// What gravity and forces added to the velocities in this frame, by slot; slots beyond the end got nothing.
    pub(crate) gains: &'a [[i32; 2]],
    /// Frames per second.
    pub(crate) fps: u32,
}

impl Edge<'_> {
    /// Moves the centre, held inside the world's bounds. Returns along which axes the edge holds it.
    pub(crate) fn advance(&self, slot: Slot, body: &mut Body, step: [i32; 2]) -> [bool; 2] {
        let Self { settings, .. } = self;
        let mut stopped = [false; 2];
        for axis in 0..2 {
            let (low, high) = (settings.bounds.min[axis], settings.bounds.max[axis]);
            let from = body.position[axis];
            let wanted = from.saturating_add(step[axis]);
            if low < wanted && wanted < high {
                body.position[axis] = wanted;
                continue;
            }
            let held = wanted.clamp(low, high);
            body.position[axis] = held;
            let outward =
                (held >= high && body.velocity[axis] > 0) || (held <= low && body.velocity[axis] < 0);
            stopped[axis] = outward;
            if outward {
                body.position_remainder[axis] = 0;
                body.velocity[axis] = match settings.edge {
                    EdgePolicy::Stop => 0,
                    EdgePolicy::Bounce => {
                        let gain = self.gains.get(slot.at()).map_or(0, |gain| gain[axis]);
                        self.bounce(body.velocity[axis], gain, held.abs_diff(from), body.restitution)
                    }
                };
            }
        }
        stopped
    }

    /// The velocity of a body that the edge has held. It had `velocity`, outward, with the frame's `gain`, and has come `way` to the edge.
    #[inline(never)]
    fn bounce(&self, velocity: i32, gain: i32, way: u32, restitution: i32) -> i32 {
        let Self { settings, fps, .. } = *self;
        let out = i64::from(velocity.signum());
        // Positive outward.
        let gain = out * i64::from(gain);
        let own = out * i64::from(velocity) - gain;
        let threshold = if restitution < 1 << 16 { settings.restitution_threshold } else { 0 };
        if gain > 0 && own <= i64::from(threshold) {
            return 0;
        }
        // Positions advance with the velocities at the ends of sub-steps, so the speed where a body is, is half of a sub-step later than its velocity:
        // greater before the edge and smaller after it.
        let parts = if settings.is_soft() { soft::parts(fps) } else { 1 };
        let half = gain / i64::from(2 * parts);
        // At most 2^57: gains are below 2^30 per second, and a way is no longer than a frame's.
        let square = (own + half).pow(2) + 2 * gain * i64::from(fps) * i64::from(way);
        let speed = (isqrt_u64(square.max(0) as u64) as i64 + half).max(0);
        let most = i64::from(settings.max_speed);
        ((-out * speed * i64::from(restitution)) >> 16).clamp(-most, most) as i32
    }
}
