//! What the main screen looks at.

use macroquad::input::{KeyCode, is_key_pressed, mouse_wheel};
use macroquad::math::{Rect, Vec2};

use crate::game::Game;
use crate::view::battle::opening::{LOW, Opened};
use crate::view::command::steering::steer;
use crate::view::hud::alarm;
use crate::view::paint::camera::{Camera, place};
use crate::view::paint::screen;
use crate::view::screens::desk::layout::layout;
use crate::view::screens::desk::{Desk, over};
use crate::view::screens::layout::Layout;

/// The camera, and the views in which it shows the battle.
pub(super) struct Eye {
    pub(super) camera: Camera,
    /// What shows all armies, and what the camera may show at most.
    pub(super) opened: Opened,
    pub(super) layout: Layout,
    /// Both views are equally large, and the panel is open.
    pub(super) is_split: bool,
    pub(super) is_unfolded: bool,
}

/// The size of a view as far as it limits the scale: that of its width or height which is the shorter one for a field, pixels.
fn extent(view: Rect) -> f32 {
    /// Width of a field by its height, about.
    const FIELD: f32 = 16.0 / 9.0;
    view.w.min(view.h * FIELD).max(1.0)
}

impl Eye {
    pub(super) fn new(game: &Game) -> Self {
        let layout = layout(screen::size(), false, false).of_field(place(game.field_half()));
        let opened = Opened::new(game, layout.views[0], Some(0), &over::covers(&layout, false));
        Self { camera: opened.camera, opened, layout, is_split: false, is_unfolded: false }
    }

    /// When the window or the number of views changes, what was in the picture stays there: both armies, as long as the person `has_begun`
    /// nothing.
    pub(super) fn lay_out(&mut self, game: &Game, has_begun: bool) {
        let before = self.layout.views[0];
        let shows_all = self.camera == self.opened.camera;
        let half = place(game.field_half());
        self.layout = layout(screen::size(), self.is_split, self.is_unfolded).of_field(half);
        let view = self.layout.views[0];
        if view == before {
            return;
        }
        self.open(game);
        // (Two views cut off both keeps.)
        if has_begun && !shows_all {
            self.camera.scale_by(extent(view) / extent(before));
            self.hold();
        } else {
            self.camera = self.opened.camera;
        }
    }

    /// Moves the camera so that a position on the field lies below the desync card. If there is no room for both, the panel below is
    /// closed.
    pub(super) fn show_below_card(&mut self, game: &Game, at: Vec2) {
        /// Room for rings and cross hairs, pixels.
        const ROOM: f32 = 110.0;
        /// A unit is large enough to be seen, pixels per unit.
        const NEAR: f32 = 20.0;
        let below = |layout: &Layout| layout.views[0].bottom() - layout.around().y - alarm::HEIGHT;
        self.lay_out(game, true);
        if below(&self.layout) < ROOM {
            self.is_unfolded = false;
            self.lay_out(game, true);
        }
        // Folding the panel may have changed the scale.
        self.camera.scale = self.camera.scale.max(NEAR);
        let view = self.layout.views[0];
        let wanted = view.bottom() - (below(&self.layout) / 2.0).max(20.0);
        self.camera.centre = at - Vec2::new(0.0, (wanted - view.center().y) / self.camera.scale);
        // Also at the edge of the field.
        self.opened.bounds = self.opened.bounds.combine_with(self.camera.seen(view));
    }

    /// Finds what shows all armies, as at the start; in a window that is higher than wide or very low, the own one.
    fn open(&mut self, game: &Game) {
        let (view, around) = (self.layout.views[0], self.layout.around());
        let is_low = !self.is_split && !self.is_unfolded && view.h < LOW;
        let player = (around.w < around.h || is_low).then_some(0);
        let covers = over::covers(&self.layout, self.is_unfolded);
        self.opened = Opened::new(game, view, player, &covers);
    }

    pub(super) fn show_all(&mut self, game: &Game) {
        self.open(game);
        self.camera = self.opened.camera;
    }

    /// Keeps the camera within what it may show.
    pub(super) fn hold(&mut self) {
        self.camera.hold(self.opened.bounds, self.layout.views[0]);
    }

    /// An inset shows the same part of the field as the large view.
    pub(super) fn camera_of(&self, player: u8) -> Camera {
        let part = if player == 1 { self.layout.part() } else { 1.0 };
        Camera::new(self.camera.centre, self.camera.scale * part)
    }
}

impl Desk {
    /// After "Continue" the camera holds all that differs in view, until the person moves it.
    pub(super) fn follow_spread(&mut self, seconds: f32) {
        /// Room around it, units; greatest scale, pixels per unit; part of the way that is left after a second.
        const AIR: f32 = 8.0;
        const NEAR: f32 = 20.0;
        const LEFT: f32 = 0.2;
        let Some(spread) = self.skirmish.spread().filter(|_| self.alarm.is_followed) else { return };
        let places: Vec<Vec2> = spread.differing().iter().filter_map(|slot| self.place_of(*slot)).collect();
        let low = places.iter().fold(Vec2::INFINITY, |low, at| low.min(*at));
        let high = places.iter().fold(Vec2::NEG_INFINITY, |high, at| high.max(*at));
        if places.is_empty() {
            return;
        }
        let view = self.eye.layout.views[0];
        let wanted = Camera::fitting((low + high) / 2.0, (high - low) / 2.0 + Vec2::splat(AIR), view);
        let part = 1.0 - LEFT.powf(seconds);
        self.eye.camera.centre += (wanted.centre - self.eye.camera.centre) * part;
        self.eye.camera.scale_by((wanted.scale.min(NEAR) / self.eye.camera.scale).powf(part));
        self.eye.hold();
    }

    pub(super) fn move_camera(&mut self, seconds: f32) {
        let mouse = self.stage.ui.mouse;
        let under = self.side_under(mouse).map(|side| self.eye.layout.views[usize::from(side)]);
        let may_push_edges = !self.is_dragging();
        let is_moved = steer(&mut self.eye.camera, mouse, under, may_push_edges, seconds);
        self.alarm.is_followed &= !is_moved && mouse_wheel().1 == 0.0;
        if is_key_pressed(KeyCode::Home) {
            self.eye.show_all(self.skirmish.client(0).game());
        }
    }
}
