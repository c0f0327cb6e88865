//! What a screen of a battle looks at.

use macroquad::math::Rect;

use crate::view::screens::layout::Layout;
use testudo_battle::Game;
use testudo_render::battle::opening::Opened;
use testudo_render::battle::view::View;
use testudo_render::paint::camera::Camera;

/// The camera, and the views in which it shows the battle.
pub(crate) struct Eye {
    pub(crate) camera: Camera,
    /// What shows all armies, and what the camera may show at most; not known of a battle that was not seen yet.
    opened: Option<Opened>,
    pub(crate) layout: Layout,
    /// Both views are equally large, and the panel is open.
    pub(crate) is_split: bool,
    pub(crate) is_unfolded: bool,
}

/// The size of a view as far as it limits the scale: that of its width or height which is the shorter one for a field, pixels.
fn extent(view: Rect) -> f32 {
    /// Width of a field by its height, about.
    const FIELD: f32 = 16.0 / 9.0;
    view.w.min(view.h * FIELD).max(1.0)
}

impl Eye {
    pub(crate) fn new(layout: Layout) -> Self {
        let camera = Camera::new(layout.views[0].center(), 1.0);
        Self { camera, opened: None, layout, is_split: false, is_unfolded: false }
    }

    /// When the window or the number of views changes, what was in the picture stays there: all armies, or what the person has moved it to.
    /// `player`, `covers`: see [`Opened`].
    pub(crate) fn lay_out(&mut self, layout: Layout, game: &Game, player: Option<u8>, covers: &[Rect]) {
        let (before, view) = (core::mem::replace(&mut self.layout, layout).views[0], layout.views[0]);
        let moved = match self.opened {
            Some(_) if view == before => return,
            Some(opened) => opened.camera != self.camera,
            None => false,
        };
        let opened = self.opened.insert(Opened::new(game, view, player, covers));
        if moved {
            // Otherwise two views would cut off both keeps.
            self.camera.scale_by(extent(view) / extent(before));
            self.hold();
        } else {
            self.camera = opened.camera;
        }
    }

    /// All armies in the next picture, as at the start, of whatever battle that will be.
    pub(crate) fn show_all(&mut self) {
        self.opened = None;
    }

    /// Keeps the camera within what it may show.
    pub(crate) fn hold(&mut self) {
        if let Some(opened) = self.opened {
            self.camera.hold(opened.bounds, self.layout.views[0]);
        }
    }

    /// What the camera shows now is within its bounds, wherever it is.
    pub(crate) fn allow(&mut self) {
        let seen = self.camera.seen(self.layout.views[0]);
        self.opened.iter_mut().for_each(|opened| opened.bounds = opened.bounds.combine_with(seen));
    }

    /// A view. An inset shows the same part of the field as the large view.
    pub(crate) fn view(&self, number: u8) -> View {
        let part = if number == 1 { self.layout.part() } else { 1.0 };
        let camera = Camera::new(self.camera.centre, self.camera.scale * part);
        View { rect: self.layout.views[usize::from(number)], camera }
    }
}
