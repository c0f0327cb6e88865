//! Where everything is in the window of a replay.

use macroquad::math::{Rect, Vec2};

use crate::view::battle::minimap;

const TOP: f32 = 44.0;
const ARMIES: f32 = 32.0;
const BOTTOM: f32 = 150.0;
const TRANSPORT: f32 = 44.0;
const MAP: f32 = 168.0;

/// Rectangles of one picture.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Layout {
    pub(crate) top: Rect,
    /// The strip with the players.
    pub(crate) armies: Rect,
    pub(crate) view: Rect,
    /// The small map, inside the view.
    pub(crate) map: Rect,
    /// Below the view: the transport above the timeline.
    pub(crate) bottom: Rect,
    pub(crate) transport: Rect,
    pub(crate) timeline: Rect,
}

impl Layout {
    /// `half`: of the field.
    pub(crate) fn new(size: Vec2, half: Vec2) -> Self {
        let Vec2 { x: width, y: height } = size;
        let bottom = Rect::new(0.0, height - BOTTOM, width, BOTTOM);
        let view = Rect::new(0.0, TOP + ARMIES, width, (bottom.y - TOP - ARMIES).max(40.0));
        let side = MAP.min(view.h / 2.5);
        Self {
            top: Rect::new(0.0, 0.0, width, TOP),
            armies: Rect::new(0.0, TOP, width, ARMIES),
            view,
            map: minimap::fitted(Rect::new(view.x + 8.0, view.bottom() - side - 8.0, side, side), half),
            bottom,
            transport: Rect { h: TRANSPORT, ..bottom },
            timeline: Rect::new(16.0, bottom.y + TRANSPORT, width - 32.0, BOTTOM - TRANSPORT - 8.0),
        }
    }
}
