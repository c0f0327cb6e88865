//! Where everything is on the main screen: one large view with the other computer's as an inset, or both side by side.

use macroquad::math::Vec2;

use crate::view::screens::layout::{HEADER, Layout, STATUS, TOP, Views};

/// Height of the unfolded panel; in a narrow window its columns stand below each other.
const PANEL: f32 = 200.0;
const PANEL_NARROW: f32 = 398.0;

/// Below this width the window is narrow, pixels.
const NARROW: f32 = 780.0;

pub(crate) fn layout(size: Vec2, is_split: bool, is_unfolded: bool) -> Layout {
    let tall = if size.x < NARROW { PANEL_NARROW } else { PANEL };
    let tall = if is_unfolded { tall.min(size.y - TOP - STATUS - HEADER - 60.0).max(0.0) } else { 0.0 };
    Layout::new(size, if is_split { Views::Split } else { Views::Inset }, STATUS, tall)
}

#[cfg(test)]
mod tests {
    use macroquad::math::Rect;

    use super::*;

    #[test]
    fn nothing_overlaps_and_nothing_leaves_the_screen() {
        let sizes = [
            (800, 600),
            (1_024, 600),
            (1_360, 860),
            (1_920, 1_080),
            (3_840, 2_160),
            (600, 1_024),
            (412, 800),
        ];
        for (width, height) in sizes.map(|(w, h)| (w as f32, h as f32)) {
            for (is_split, is_unfolded) in [(false, false), (false, true), (true, false), (true, true)] {
                let layout = layout(Vec2::new(width, height), is_split, is_unfolded);
                let screen = Rect::new(0.0, 0.0, width, height);
                let inside = |outer: Rect, inner: Rect| {
                    outer.x <= inner.x
                        && outer.y <= inner.y
                        && outer.right() >= inner.right()
                        && outer.bottom() >= inner.bottom()
                };
                let mut apart = vec![layout.top, layout.headers[0], layout.views[0], layout.status];
                apart.extend(is_unfolded.then_some(layout.panel));
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
