//! Where everything is on the screen: a bar at the top, one view or two with a strip above each, a line that says how things stand, and a
//! panel.

use macroquad::math::{Rect, Vec2};

use crate::view::hud::header;
use testudo_render::battle::minimap;

pub(crate) const TOP: f32 = 44.0;
pub(crate) const HEADER: f32 = header::HEIGHT;
pub(crate) const STATUS: f32 = 36.0;

/// Below this width a window that is higher than wide has two more lines in the strip above a battle, pixels.
const NARROW: f32 = 480.0;
const LINES: f32 = 36.0;

const GAP: f32 = 6.0;
const MAP: f32 = 132.0;

/// Width of the inset as a part of the large view, and its limits, pixels.
const INSET: f32 = 0.24;
const INSET_MIN: f32 = 150.0;
const INSET_MAX: f32 = 420.0;

/// Greatest height of the inset as a part of its width: on a phone it must not lie over the own army.
const INSET_SHAPE_MAX: f32 = 0.75;

/// How many views there are, and how they stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Views {
    One,
    /// A large one, and the other one in its corner.
    Inset,
    /// Two, side by side or one below the other.
    Split,
}

/// Rectangles of one picture. What is not there has no height.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Layout {
    pub(crate) is_split: bool,
    pub(crate) top: Rect,
    /// A strip above each view.
    pub(crate) headers: [Rect; 2],
    pub(crate) views: [Rect; 2],
    /// The small maps, inside the views; an inset has none.
    pub(crate) maps: [Rect; 2],
    /// The line that says how things stand, and the panel below it.
    pub(crate) status: Rect,
    pub(crate) panel: Rect,
}

impl Layout {
    /// In a window of this size, with these heights of the line and the panel.
    pub(crate) fn new(size: Vec2, views: Views, status: f32, panel: f32) -> Self {
        let Vec2 { x: width, y: height } = size;
        let strip = if status > 0.0 && width < height.min(NARROW) { HEADER + LINES } else { HEADER };
        let panel = Rect::new(0.0, height - panel, width, panel);
        let status = Rect::new(0.0, panel.y - status, width, status);
        let area = Rect::new(0.0, TOP, width, status.y - TOP);
        let header = |area: Rect| Rect { h: strip, ..area };
        let below_header = |area: Rect| Rect { y: area.y + strip, h: (area.h - strip).max(40.0), ..area };
        let ([first, second], inset) = match views {
            Views::One => ([area, area], None),
            Views::Inset => ([area, area], Some(inset(below_header(area)))),
            Views::Split => (halves(area, width >= height), None),
        };
        let [caption, other] = inset.unwrap_or([header(second), below_header(second)]);
        let views_ = [below_header(first), other];
        let map = |view: Rect| {
            let side = MAP.min(view.h / 2.5);
            Rect::new(view.x + 8.0, view.bottom() - side - 8.0, side, side)
        };
        let none = Rect::new(-1.0, -1.0, 0.0, 0.0);
        let is_split = views == Views::Split;
        Self {
            is_split,
            top: Rect::new(0.0, 0.0, width, TOP),
            headers: [header(first), caption],
            views: views_,
            maps: [map(views_[0]), if is_split { map(other) } else { none }],
            status,
            panel,
        }
    }

    /// With small maps of the shape of the field.
    pub(crate) fn of_field(self, half: Vec2) -> Self {
        Self { maps: self.maps.map(|map| minimap::fitted(map, half)), ..self }
    }

    /// How large the inset is beside the view that it repeats: 1 where both are side by side.
    pub(crate) fn part(&self) -> f32 {
        if self.is_split { 1.0 } else { self.views[1].w / self.views[0].w.max(1.0) }
    }

    /// Both views.
    pub(crate) fn around(&self) -> Rect {
        if self.is_split { self.views[0].combine_with(self.views[1]) } else { self.views[0] }
    }
}

/// Title and picture of the inset: in the upper right corner of a view, and of its shape unless that is high.
fn inset(view: Rect) -> [Rect; 2] {
    let wide = (view.w * INSET).clamp(INSET_MIN, INSET_MAX).min(view.w / 2.0);
    let caption = Rect::new(view.right() - wide - 10.0, view.y + 10.0, wide, HEADER);
    let high = (wide * (view.h / view.w).min(INSET_SHAPE_MAX)).floor();
    [caption, Rect::new(caption.x, caption.bottom(), wide, high)]
}

/// Side by side in a wide window, otherwise one below the other.
fn halves(area: Rect, is_wide: bool) -> [Rect; 2] {
    let (wide, high) = (((area.w - GAP) / 2.0).floor(), ((area.h - GAP) / 2.0).floor());
    if is_wide {
        [0.0, wide + GAP].map(|x| Rect { x: area.x + x, w: wide, ..area })
    } else {
        [0.0, high + GAP].map(|y| Rect { y: area.y + y, h: high, ..area })
    }
}
