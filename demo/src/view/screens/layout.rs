//! Where everything is on the screen.

use macroquad::math::{Rect, Vec2};

use crate::view::battle::minimap;

const TOP: f32 = 44.0;
const HEADER: f32 = 30.0;
const BOTTOM: f32 = 214.0;
const GAP: f32 = 6.0;
const MAP: f32 = 132.0;

/// Rectangles of one picture with this many views side by side.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Layout<const VIEWS: usize> {
    pub(crate) top: Rect,
    /// A strip above each view.
    pub(crate) headers: [Rect; VIEWS],
    pub(crate) views: [Rect; VIEWS],
    /// The small maps, inside the views.
    pub(crate) maps: [Rect; VIEWS],
    pub(crate) bottom: Rect,
}

impl<const VIEWS: usize> Layout<VIEWS> {
    pub(crate) fn new(size: Vec2) -> Self {
        Self::above(size, BOTTOM)
    }

    /// With a panel of another height.
    pub(crate) fn above(size: Vec2, bottom: f32) -> Self {
        let Vec2 { x: width, y: height } = size;
        let bottom = Rect::new(0.0, height - bottom, width, bottom);
        let wide = ((width + GAP) / VIEWS as f32 - GAP).floor();
        let tall = (bottom.y - TOP - HEADER).max(40.0);
        let column = |left: f32, y: f32, h: f32| Rect::new(left, y, wide, h);
        let lefts: [f32; VIEWS] = core::array::from_fn(|n| n as f32 * (wide + GAP));
        let views = lefts.map(|left| column(left, TOP + HEADER, tall));
        let side = MAP.min(tall / 2.5);
        Self {
            top: Rect::new(0.0, 0.0, width, TOP),
            headers: lefts.map(|left| column(left, TOP, HEADER)),
            views,
            maps: views.map(|view| Rect::new(view.x + 8.0, view.y + view.h - side - 8.0, side, side)),
            bottom,
        }
    }

    /// With small maps of the shape of the field.
    pub(crate) fn of_field(self, half: Vec2) -> Self {
        Self { maps: self.maps.map(|map| minimap::fitted(map, half)), ..self }
    }
}
