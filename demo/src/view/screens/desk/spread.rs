//! What is seen of a difference as it spreads: how many bodies differ, and since when.

use macroquad::math::{Rect, Vec2};

use crate::app::Spread;
use crate::app::words::count;
use crate::view::hud::alarm;
use crate::view::hud::stage::Screen as _;
use crate::view::screens::desk::Desk;
use crate::view::screens::layout::Layout;
use crate::view::widgets::graph;
use testudo_render::paint::camera::Camera;
use testudo_render::paint::palette::{DIFFERENT, PANEL, TEXT_DIM, faded};
use testudo_render::paint::pen::{SIZE, SMALL};

/// Size of the plate, pixels.
const PLATE: (f32, f32) = (286.0, 96.0);

/// How far the person has been told of a difference.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Alarm {
    /// The log and the card have told of it; the card has been answered.
    pub(super) is_told: bool,
    pub(super) is_answered: bool,
    /// The camera holds what differs in view.
    pub(super) is_followed: bool,
    /// Turns of its spread that the log knows.
    logged: usize,
}

impl Desk {
    /// The person wants to see what becomes of it.
    pub(super) fn watch_it_spread(&mut self) {
        self.alarm = Alarm { is_answered: true, is_followed: true, ..self.alarm };
        // Even at half of the speed, four hundred units differ before one has looked.
        self.pace.crawl(&mut self.stage.log);
    }

    /// Moves the camera so that a position on the field lies below the desync card. If there is no room for both, the panel below is
    /// closed.
    pub(super) fn show_below_card(&mut self, at: Vec2) {
        /// Room for rings and cross hairs, pixels.
        const ROOM: f32 = 110.0;
        /// A unit is large enough to be seen, pixels per unit.
        const NEAR: f32 = 20.0;
        let below = |layout: &Layout| layout.views[0].bottom() - layout.around().y - alarm::HEIGHT;
        if below(&self.board.eye.layout) < ROOM {
            self.board.eye.is_unfolded = false;
            self.lay_out();
        }
        let eye = &mut self.board.eye;
        // Folding the panel may have changed the scale.
        eye.camera.scale = eye.camera.scale.max(NEAR);
        let view = eye.layout.views[0];
        let wanted = view.bottom() - (below(&eye.layout) / 2.0).max(20.0);
        eye.camera.centre = at - Vec2::new(0.0, (wanted - view.center().y) / eye.camera.scale);
        // Also at the edge of the field.
        eye.allow();
    }

    /// After "Continue" the camera holds all that differs in view, until the person moves it.
    pub(super) fn follow_spread(&mut self, seconds: f32) {
        /// Room around it, units; greatest scale, pixels per unit; part of the way that is left after a second.
        const AIR: f32 = 8.0;
        const NEAR: f32 = 20.0;
        const LEFT: f32 = 0.2;
        let Some(spread) = self.skirmish.spread().filter(|_| self.alarm.is_followed) else { return };
        let places: Vec<Vec2> = spread.differing.iter().filter_map(|slot| self.place_of(*slot)).collect();
        let low = places.iter().fold(Vec2::INFINITY, |low, at| low.min(*at));
        let high = places.iter().fold(Vec2::NEG_INFINITY, |high, at| high.max(*at));
        if places.is_empty() {
            return;
        }
        let eye = &mut self.board.eye;
        let wanted =
            Camera::fitting((low + high) / 2.0, (high - low) / 2.0 + Vec2::splat(AIR), eye.layout.views[0]);
        let part = 1.0 - LEFT.powf(seconds);
        eye.camera.centre += (wanted.centre - eye.camera.centre) * part;
        eye.camera.scale_by((wanted.scale.min(NEAR) / eye.camera.scale).powf(part));
        eye.hold();
    }

    /// "3 of 2,104 bodies differ", and the count over time, in a corner.
    pub(super) fn draw_spread(&mut self) {
        let Some(spread) = self.skirmish.spread().filter(|_| self.alarm.is_answered) else { return };
        let counts = &spread.counts;
        if counts.len() > self.alarm.logged {
            self.alarm.logged = counts.len();
            self.stage.log.note("spread", spread.differing.len());
        }
        // In the damaged copy, whose view has no switches.
        let view = self.board.eye.layout.views[usize::from(self.board.eye.is_split)];
        let plate = Rect::new(view.x + 10.0, view.y + 10.0, PLATE.0.min(view.w - 20.0), PLATE.1);
        self.stage.ui.pen.cover(plate);
        self.stage.ui.cover(plate);
        self.stage.ui.note("spread", plate);
        self.stage.ui.batch.block(plate, faded(PANEL, 0.92));
        let plot = Rect::new(plate.x + 10.0, plate.y + 46.0, plate.w - 20.0, plate.h - 54.0);
        let line = counts.iter().map(|count| *count as f32).collect();
        graph::plot(&mut self.stage.ui.batch, plot, &[(DIFFERENT, line)]);
        self.stage.ui.pen.strong(&words(spread), plate.x + 10.0, plate.y + 20.0, SIZE, DIFFERENT);
        let slow = if self.pace.percent() < 100 { ", in slow motion: + ends it" } else { "" };
        let since = format!("{} later{slow}", count(counts.len() as u64, "turn"));
        self.stage.ui.pen.text(&since, plate.x + 10.0, plate.y + 38.0, SMALL, TEXT_DIM);
    }
}

fn words(spread: &Spread) -> String {
    format!("{} of {} bodies differ", grouped(spread.differing.len() as u32), grouped(spread.bodies))
}

/// A number with a comma before each three digits.
fn grouped(number: u32) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| str::from_utf8(group).ok()).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_have_commas() {
        assert_eq!([0, 999, 2_104, 1_000_000].map(grouped), ["0", "999", "2,104", "1,000,000"]);
    }
}
