//! Where everything is on the screen: one large view with the other computer's as an inset, or both side by side.

use macroquad::math::{Rect, Vec2};

use crate::view::battle::minimap;

const TOP: f32 = 44.0;
const HEADER: f32 = 30.0;
const STATUS: f32 = 36.0;
const GAP: f32 = 6.0;
const MAP: f32 = 132.0;

/// Height of the unfolded panel, and where the screen is too narrow for all of its columns side by side.
const PANEL: f32 = 200.0;
const PANEL_NARROW: f32 = 398.0;

/// Width of the inset as a part of the large view, and its limits, pixels.
const INSET: f32 = 0.24;
const INSET_MIN: f32 = 150.0;
const INSET_MAX: f32 = 420.0;

/// Greatest height of the inset as a part of its width: on a phone it must not lie over the own army.
const INSET_SHAPE_MAX: f32 = 0.75;

/// Below this width the panel's columns stand below each other, pixels.
pub(crate) const NARROW: f32 = 780.0;

/// Rectangles of one picture.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct DeskLayout {
    pub(crate) is_split: bool,
    pub(crate) top: Rect,
    /// A strip above each view.
    pub(crate) headers: [Rect; 2],
    pub(crate) views: [Rect; 2],
    /// The small maps, inside the views; an inset has none.
    pub(crate) maps: [Rect; 2],
    /// The line that says how the match stands.
    pub(crate) status: Rect,
    /// Below it, if it is unfolded.
    pub(crate) panel: Option<Rect>,
}

impl DeskLayout {
    pub(crate) fn new(size: Vec2, is_split: bool, is_unfolded: bool) -> Self {
        let Vec2 { x: width, y: height } = size;
        let tall = if width < NARROW { PANEL_NARROW } else { PANEL };
        let tall = if is_unfolded { tall.min(height - TOP - STATUS - HEADER - 60.0).max(0.0) } else { 0.0 };
        let status = Rect::new(0.0, height - STATUS - tall, width, STATUS);
        let panel = is_unfolded.then(|| Rect::new(0.0, height - tall, width, tall));
        let area = Rect::new(0.0, TOP, width, status.y - TOP);
        let (headers, views) = match (is_split, width >= height) {
            (false, _) => single(area),
            (true, true) => {
                let wide = ((area.w - GAP) / 2.0).floor();
                pair([0.0, wide + GAP].map(|x| Rect::new(x, area.y, wide, area.h)))
            }
            (true, false) => {
                let high = ((area.h - GAP) / 2.0).floor();
                pair([0.0, high + GAP].map(|y| Rect::new(0.0, area.y + y, area.w, high)))
            }
        };
        let map = |view: Rect| {
            let side = MAP.min(view.h / 2.5);
            Rect::new(view.x + 8.0, view.y + view.h - side - 8.0, side, side)
        };
        let none = Rect::new(-1.0, -1.0, 0.0, 0.0);
        let maps = [map(views[0]), if is_split { map(views[1]) } else { none }];
        Self { is_split, top: Rect::new(0.0, 0.0, width, TOP), headers, views, maps, status, panel }
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

/// The large view, and the other one in its upper right corner, of the same shape unless that is high.
fn single(area: Rect) -> ([Rect; 2], [Rect; 2]) {
    let header = Rect { h: HEADER, ..area };
    let view = Rect { y: area.y + HEADER, h: (area.h - HEADER).max(40.0), ..area };
    let wide = (view.w * INSET).clamp(INSET_MIN, INSET_MAX).min(view.w / 2.0);
    let caption = Rect::new(view.x + view.w - wide - 10.0, view.y + 10.0, wide, HEADER);
    let high = (wide * (view.h / view.w).min(INSET_SHAPE_MAX)).floor();
    let inset = Rect::new(caption.x, caption.y + caption.h, wide, high);
    ([header, caption], [view, inset])
}

fn pair(columns: [Rect; 2]) -> ([Rect; 2], [Rect; 2]) {
    let headers = columns.map(|column| Rect { h: HEADER, ..column });
    let views =
        columns.map(|column| Rect { y: column.y + HEADER, h: (column.h - HEADER).max(40.0), ..column });
    (headers, views)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_overlaps_and_nothing_leaves_the_screen() {
        let sizes = [(800, 600), (1_024, 600), (1_360, 860), (1_920, 1_080), (3_840, 2_160), (600, 1_024)];
        for (width, height) in sizes.map(|(w, h)| (w as f32, h as f32)) {
            for (is_split, is_unfolded) in [(false, false), (false, true), (true, false), (true, true)] {
                let layout = DeskLayout::new(Vec2::new(width, height), is_split, is_unfolded);
                let screen = Rect::new(0.0, 0.0, width, height);
                let inside = |outer: Rect, inner: Rect| {
                    outer.x <= inner.x
                        && outer.y <= inner.y
                        && outer.right() >= inner.right()
                        && outer.bottom() >= inner.bottom()
                };
                let mut apart = vec![layout.top, layout.headers[0], layout.views[0], layout.status];
                apart.extend(layout.panel);
                if is_split {
                    apart.extend([layout.headers[1], layout.views[1]]);
                } else {
                    assert!(inside(layout.views[0], layout.headers[1]), "{width}x{height}: {layout:?}");
                    assert!(inside(layout.views[0], layout.views[1]), "{width}x{height}: {layout:?}");
                }
                for (n, a) in apart.iter().enumerate() {
                    assert!(inside(screen, *a), "{width}x{height}: {a:?} in {layout:?}");
                    for b in &apart[..n] {
                        let common = a.intersect(*b);
                        assert!(
                            common.is_none_or(|c| c.w < 0.5 || c.h < 0.5),
                            "{width}x{height}: {a:?} {b:?}"
                        );
                    }
                }
                for (map, view) in
                    layout.maps.into_iter().zip(layout.views).take(if is_split { 2 } else { 1 })
                {
                    assert!(inside(view, map), "{width}x{height}: {map:?} in {view:?}");
                }
            }
        }
    }
}
