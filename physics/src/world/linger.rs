//! Bodies that move to and fro and get nowhere.
//!
//! In a heap of very different masses some bodies may shake for ever, by some thousandths of a unit: no number of passes finds what each contact bears
//! there. Their speeds say that they move, their places say that they do not. So such a body counts as still, too, while it stays near an anchor, the place
//! where it was when it last got somewhere. (Jolt Physics puts bodies to sleep by their places, too.)

use crate::body::record::{Body, Extra, choice, flag};
use crate::math::axes::both;
use crate::world::World;
use crate::world_def::Settings;

/// A body that is faster than the sleep speed times 2 to this number is on its way.
const FASTEST_SHIFT: u32 = 3;

/// Anchors count in 1/128 unit.
const CELL_BITS: u32 = 9;

impl World {
    /// Counts the time of the bodies that linger, after the bodies have moved. Returns whether one of them may fall asleep.
    pub(crate) fn note_lingering(&mut self, frame_ms: u16) -> bool {
        let (settings, mut tired) = (self.settings, false);
        // Rigid contacts and bodies of like masses come to rest by themselves.
        if !settings.is_soft() || settings.sleep_ms == 0 || !self.stepper.contacts.stiff.mixed {
            return false;
        }
        for at in 0..self.activity.active.len() {
            let slot = self.activity.active[at];
            let Some(lane) = self.stepper.lanes.of(slot) else { continue };
            let body = &mut self.bodies[slot];
            if body.has(flag::DYNAMIC) && body.still_ms == 0 {
                if lingers(body, &mut self.extras[slot], &settings) {
                    let calm = self.stepper.working.calm[lane.at()];
                    body.still_ms = calm.saturating_add(frame_ms).min(settings.sleep_ms);
                    tired |= body.still_ms >= settings.sleep_ms;
                }
                self.note_extra(slot);
            }
        }
        tired
    }
}

/// Whether a body that moves is near its anchor. If not, it gets an anchor, or none if it is fast.
fn lingers(body: &Body, extra: &mut Extra, settings: &Settings) -> bool {
    let fastest = i64::from(settings.sleep_speed) << FASTEST_SHIFT;
    if body.velocity.iter().any(|v| i64::from(v.abs()) > fastest) {
        extra.raise_anchor();
        return false;
    }
    let stays = is_at_anchor(body, extra, settings);
    if !stays {
        extra.anchor = cell(body);
        extra.choices |= choice::ANCHORED;
    }
    stays
}

/// Whether a body has an anchor and is nearer to it than a body goes at the sleep speed until it sleeps.
fn is_at_anchor(body: &Body, extra: &Extra, settings: &Settings) -> bool {
    let far = i64::from(settings.sleep_speed) * i64::from(settings.sleep_ms) / 1_000;
    // No more than half of what an anchor can tell apart.
    let far = (far >> CELL_BITS).min(1 << 14) as u16;
    let place = cell(body);
    let is_near = |x: usize| place[x].wrapping_sub(extra.anchor[x]).unsigned_abs() < far;
    extra.choices & choice::ANCHORED != 0 && is_near(0) && is_near(1)
}

/// The place of a body as an anchor has it.
fn cell(body: &Body) -> [i16; 2] {
    both(body.position, |x| (x >> CELL_BITS) as i16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world_def::WorldDef;

    const CELL: i32 = 1 << CELL_BITS;

    /// Usual settings: 1/16 unit per second, 500 ms, so 4 cells.
    fn settings() -> Settings {
        WorldDef::new().settings().unwrap()
    }

    fn body(x: i32, velocity: i32) -> Body {
        Body { position: [x, 0], velocity: [0, velocity], ..Body::default() }
    }

    #[test]
    fn a_body_is_at_its_anchor_up_to_three_cells_away_also_where_the_numbers_wrap() {
        for at in
            [0, -CELL, (1 << 15) * CELL - CELL, -(1 << 15) * CELL, i32::MAX - 8 * CELL, i32::MIN + 8 * CELL]
        {
            let mut extra = Extra::USUAL;
            assert!(!lingers(&body(at, 0), &mut extra, &settings()), "no anchor yet");
            for (away, stays) in [(0, true), (3, true), (-3, true), (4, false), (-4, false), (1 << 14, false)]
            {
                let place = at.wrapping_add(away * CELL);
                assert_eq!(
                    is_at_anchor(&body(place, 0), &extra, &settings()),
                    stays,
                    "{away} cells from {at}"
                );
            }
        }
    }

    #[test]
    fn only_the_slow_have_anchors() {
        let fastest = settings().sleep_speed << FASTEST_SHIFT;
        let mut extra = Extra::USUAL;
        lingers(&body(0, fastest), &mut extra, &settings());
        assert!(lingers(&body(0, fastest), &mut extra, &settings()));
        assert!(!lingers(&body(0, -fastest - 1), &mut extra, &settings()));
        assert_eq!(extra, Extra::USUAL, "no anchor is left");
    }
}
