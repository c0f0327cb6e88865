//! Where everything is on the main screen: one large view with the other computer's as an inset, or both side by side.

use macroquad::math::Vec2;

use crate::view::hud::panel;
use crate::view::screens::layout::{HEADER, Layout, STATUS, TOP, Views};

/// Height of the unfolded panel; in a narrow window (`panel::BELOW`) its columns stand below each other.
const PANEL: f32 = 200.0;
const PANEL_NARROW: f32 = 398.0;

pub(crate) fn layout(size: Vec2, is_split: bool, is_unfolded: bool) -> Layout {
    let tall = if size.x < panel::BELOW { PANEL_NARROW } else { PANEL };
    let tall = if is_unfolded { tall.min(size.y - TOP - STATUS - HEADER - 60.0).max(0.0) } else { 0.0 };
    Layout::new(size, if is_split { Views::Split } else { Views::Inset }, STATUS, tall)
}

#[cfg(test)]
mod tests {
    use macroquad::math::Rect;

    use super::*;
    use testudo_render::paint::screen::misplaced;

    /// Three of five sliders were below the lower edge.
    #[test]
    fn the_panel_is_whole_in_a_small_window() {
        for (width, height) in [(640.0, 480.0), (844.0, 390.0), (800.0, 600.0)] {
            let layout = layout(Vec2::new(width, height), false, true);
            assert_eq!(layout.panel.h, PANEL, "{width}x{height}");
        }
        assert_eq!(layout(Vec2::new(412.0, 800.0), false, true).panel.h, PANEL_NARROW);
    }

    #[test]
    fn nothing_overlaps_and_nothing_leaves_the_screen() {
        let small = [(800.0, 600.0), (1_024.0, 600.0), (600.0, 1_024.0), (412.0, 800.0)];
        let large = [(1_360.0, 860.0), (1_920.0, 1_080.0), (3_840.0, 2_160.0)];
        for (width, height) in small.into_iter().chain(large) {
            for (is_split, is_unfolded) in [(false, false), (false, true), (true, false), (true, true)] {
                let layout = layout(Vec2::new(width, height), is_split, is_unfolded);
                let mut apart = vec![layout.top, layout.headers[0], layout.views[0], layout.status];
                apart.extend(is_unfolded.then_some(layout.panel));
                let other = [layout.headers[1], layout.views[1]];
                let inset = if is_split { &[][..] } else { &other };
                apart.extend(if is_split { &other[..] } else { &[] });
                let screen = Rect::new(0.0, 0.0, width, height);
                assert_eq!(misplaced(screen, &apart), None, "{width}x{height}: {layout:?}");
                assert_eq!(misplaced(layout.views[0], inset), None, "{width}x{height}: {layout:?}");
                for (map, view) in layout.maps.into_iter().zip(layout.views).take(1 + usize::from(is_split)) {
                    assert_eq!(misplaced(view, &[map]), None, "{width}x{height}: {layout:?}");
                }
            }
        }
    }
}
