//! What lies over the large view: the hint, the names of the keeps, the buttons for units, what the colours of debug drawing mean.

use macroquad::math::{Rect, Vec2, vec2};

use crate::view::hud::commands::{self, CommandLayout};
use crate::view::hud::hints::{self, Seen};
use crate::view::screens::clients::Clients as _;
use crate::view::screens::desk::Desk;
use crate::view::screens::desk::frame::GOALS;
use crate::view::screens::layout::Layout;
use testudo_render::battle::opening::LOW;
use testudo_render::paint::camera::place;
use testudo_render::paint::palette::{PANEL, army, faded};
use testudo_render::paint::pen::{Align, SIZE};

/// A hint stands beside the inset if there is as much room as this, otherwise below it, pixels.
const HINT_MIN: f32 = 340.0;

impl Desk {
    /// Hints, and the commands for the selected units.
    pub(super) fn draw_over_view(&mut self) {
        let [strip, buttons, card] = strip_and_buttons(&self.board.eye.layout);
        let is_decided = self.skirmish.result().is_some();
        // Whoever has fought to the end knows what to do, and sees no more hints in further battles.
        let is_person = self.skirmish.has_person(0);
        if is_decided && is_person {
            self.progress.end();
        }
        // Buttons may take the place of hints in a small view.
        let has_room =
            !strip.overlaps(&buttons) && (self.board.sides[0].chosen.is_empty() || !strip.overlaps(&card));
        // Whoever watches two bots can drag no box, so there are no hints.
        let is_covered = self.stage.shows_help || self.menu.is_some() || !is_person;
        if has_room && !is_decided && !self.alarm.is_told && !is_covered && self.error.is_none() {
            let view = self.board.eye.view(0);
            let mut looks = self.skirmish.copy(0).game().building_looks();
            let enemy = looks.any(|look| {
                let keep = view.rect_at(place(look.centre), place(look.half));
                look.army != 0 && look.is_keep && view.rect.contains(keep.center())
            });
            let seen = Seen { panel: self.board.eye.is_unfolded, enemy };
            if hints::draw(&mut self.stage.ui, strip, self.progress, seen) {
                self.progress.end();
            }
        }
        // Where the bar at the top has no room for it, as on a phone.
        let plate = goal_plate(&self.board.eye.layout, self.stage.ui.pen.width(GOALS[1], SIZE) + 16.0);
        if let Some(plate) = plate.filter(|_| is_person && !self.progress.has_attacked)
            && !self.stage.ui.places().contains_key("goal")
        {
            self.name(plate, GOALS[1], "goal", 0);
        }
        let has_card = self.skirmish.desync().is_some() && !self.alarm.is_answered;
        commands::legend(&self.stage.ui.pen, vec2(strip.x, strip.bottom() + 10.0), self.stage.layers);
        if is_person && !is_decided && !has_card {
            self.board.draw_orders(&mut self.stage, &mut self.skirmish);
            if has_room && !self.progress.has_attacked && !self.stage.shows_help {
                self.name_keeps();
            }
        }
    }

    /// Says whose keeps these are, until the person knows what to attack.
    fn name_keeps(&mut self) {
        let view = self.board.eye.view(0);
        let mut covers = covers(&self.board.eye.layout);
        covers.extend(self.stage.ui.places().get("goal"));
        let mut named = Vec::new();
        for look in self.skirmish.copy(0).game().building_looks().filter(|look| look.is_keep) {
            let text = if look.army == 0 { "Your keep" } else { "Their keep" };
            let keep = view.rect_at(place(look.centre), place(look.half));
            let size = vec2(self.stage.ui.pen.width(text, SIZE) + 16.0, 24.0);
            if let Some(plate) = plate(keep, size, view.rect, &covers) {
                covers.push(plate);
                named.push((plate, text, look.army));
            }
        }
        for (plate, text, army) in named {
            self.name(plate, text, if army == 0 { "own keep" } else { "their keep" }, army);
        }
    }

    /// A plate with a few words in the colour of an army.
    fn name(&mut self, plate: Rect, words: &str, note: &'static str, of: u8) {
        self.stage.ui.pen.fill(plate, faded(PANEL, 0.8));
        self.stage.ui.pen.label(words, plate, Align::Middle, SIZE, army(of));
        self.stage.ui.note(note, plate);
    }
}

/// Where hints stand, what the command bar may cover, and where the card of the selected units is.
fn strip_and_buttons(layout: &Layout) -> [Rect; 3] {
    let [view, inset] = layout.views;
    let free = if layout.is_split { view.w } else { inset.x - view.x };
    // Never with two views: the inset is one of them, and in a window 640 wide the hint would lie on the line below both.
    let strip = if free < HINT_MIN && !layout.is_split {
        Rect::new(view.x + 10.0, inset.bottom() + 8.0, view.w - 20.0, 30.0)
    } else {
        Rect::new(view.x + 10.0, view.y + 10.0, free - 20.0, 30.0)
    };
    let has_buttons = view.h >= commands::LOWEST_VIEW;
    let [buttons, card] =
        if has_buttons { CommandLayout::new(view, layout.maps[0]).covered() } else { Default::default() };
    [strip, buttons, card]
}

/// A place for the goal of the battle: beside the inset, if hints stand below it.
fn goal_plate(layout: &Layout, wide: f32) -> Option<Rect> {
    let ([view, inset], [strip, ..]) = (layout.views, strip_and_buttons(layout));
    let plate = Rect::new(view.x + 10.0, view.y + 10.0, wide, 24.0);
    (strip.y > inset.y && plate.right() < inset.x).then_some(plate)
}

/// The army that a battle opens with in a window that is higher than wide or very low: the own one; otherwise none, that is all.
pub(super) fn only_army(layout: &Layout, is_unfolded: bool) -> Option<u8> {
    let (view, around) = (layout.views[0], layout.around());
    let is_low = !layout.is_split && !is_unfolded && view.h < LOW;
    (around.w < around.h || is_low).then_some(0)
}

/// Everything that lies over the large view.
pub(super) fn covers(layout: &Layout) -> Vec<Rect> {
    let mut covers = strip_and_buttons(layout).to_vec();
    covers.push(layout.maps[0]);
    if !layout.is_split {
        covers.push(layout.headers[1].combine_with(layout.views[1]));
    }
    covers
}

/// A place for the name of a keep: below it, above it or beside it, whichever is free first. None if the keep is out of sight, or if the name
/// would lie over something else everywhere.
fn plate(keep: Rect, size: Vec2, view: Rect, covers: &[Rect]) -> Option<Rect> {
    const AWAY: f32 = 10.0;
    const STEPS: u8 = 4;
    let middle = keep.center() - size / 2.0;
    let places = (0..STEPS).map(|step| AWAY + f32::from(step) * size.y).flat_map(|away| {
        [
            vec2(middle.x, keep.bottom() + away),
            vec2(middle.x, keep.y - away - size.y),
            vec2(keep.x - away - size.x, middle.y),
            vec2(keep.right() + away, middle.y),
        ]
    });
    let is_free = |plate: &Rect| {
        let is_inside = plate.y > view.y && plate.bottom() < view.bottom();
        is_inside && !plate.overlaps(&keep) && covers.iter().all(|cover| !cover.overlaps(plate))
    };
    let inside = |at: Vec2| {
        // A little sideways is as good.
        let x = at.x.clamp(view.x + 4.0, view.right() - size.x - 4.0);
        Rect::new(x, at.y, size.x, size.y)
    };
    places.filter(|_| view.contains(keep.center())).map(inside).find(is_free)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::screens::desk::layout::layout;
    use testudo_battle::{Game, Map, Setup};
    use testudo_render::battle::opening;
    use testudo_render::battle::view::View;

    /// In a window of 1024x600 with two views and the network's panel, a keep's name lay under buttons.
    #[test]
    fn a_keeps_name_lies_where_nothing_else_does() {
        let view = Rect::new(0.0, 74.0, 509.0, 290.0);
        let keep = Rect::new(455.0, 214.0, 22.0, 22.0);
        let size = vec2(85.0, 24.0);
        let below = plate(keep, size, view, &[]).expect("there is room");
        assert_eq!((below.right(), below.y), (view.right() - 4.0, 246.0), "below it, inside the view");
        let buttons = [Rect::new(407.0, 124.0, 92.0, 148.0)];
        assert!(buttons[0].overlaps(&below));
        let free = plate(keep, size, view, &buttons).expect("there is room beside it");
        assert!(!buttons[0].overlaps(&free) && !free.overlaps(&keep), "{free:?}");
        assert_eq!(plate(keep, size, view, &[view]), None);
        let far = Rect { x: 800.0, ..keep };
        assert_eq!(plate(far, size, view, &[]), None, "nothing names a keep out of sight");
    }

    #[test]
    fn hints_stand_inside_the_view() {
        for size in [(412, 800), (600, 1_000), (640, 480), (640, 600), (800, 600), (1_280, 800)] {
            for (is_split, is_unfolded) in [(false, false), (false, true), (true, false), (true, true)] {
                let layout = layout(vec2(size.0 as f32, size.1 as f32), is_split, is_unfolded);
                let ([strip, ..], view) = (strip_and_buttons(&layout), layout.views[0]);
                let is_inside = strip.y > view.y && strip.right() < view.right();
                let is_above = strip.bottom() < view.bottom() || view.h < commands::LOWEST_VIEW;
                assert!(is_inside && is_above, "{size:?}, {is_split}, {is_unfolded}: {strip:?} in {view:?}");
            }
        }
    }

    /// In a window of 800x500 the small map lay over one of the own barracks, the hint over the other one, and the inset over one of the
    /// enemy's. With two views and the network's panel the command bar lay over the own keep.
    #[test]
    fn nothing_lies_over_a_building_when_a_battle_begins() {
        let sizes =
            [(800, 500), (800, 600), (900, 600), (1_024, 600), (1_360, 860), (1_920, 1_080), (412, 800)];
        let maps = [None, Map::named("ford"), Map::named("pass"), Map::named("lakes")];
        for (map, name) in maps.into_iter().zip(["open", "ford", "pass", "lakes"]) {
            let game = Game::new(Setup { players: 2, units: 40, seed: 1, map }).unwrap();
            for (width, height) in sizes {
                for (is_split, is_unfolded) in [(false, false), (false, true), (true, false), (true, true)] {
                    let layout = layout(vec2(width as f32, height as f32), is_split, is_unfolded)
                        .of_field(place(game.field_half()));
                    let player = (layout.around().w < layout.around().h).then_some(0);
                    let covers = covers(&layout);
                    let rect = layout.views[0];
                    let view = View { rect, camera: opening::camera(&game, rect, player, &covers) };
                    let looks = game.building_looks().filter(|look| {
                        let seen = view.rect_at(place(look.centre), place(look.half));
                        let matters = player.is_none() || look.army == 0;
                        matters && covers.iter().any(|cover| cover.overlaps(&seen))
                    });
                    let hidden: Vec<(u8, bool)> = looks.map(|look| (look.army, look.is_keep)).collect();
                    // Where there is hardly any field, the keeps have to be enough.
                    let (is_low, has_buttons) = (rect.h < 320.0, rect.h >= commands::LOWEST_VIEW);
                    let is_hidden = hidden.iter().any(|(_, is_keep)| *is_keep || !is_low);
                    let split = (is_split, is_unfolded);
                    assert!(!has_buttons || !is_hidden, "{name} {width}x{height} {split:?}: {hidden:?}");
                }
            }
        }
    }
}
