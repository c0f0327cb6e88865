//! The card of the selected units: how many of which kind, their health, and what they can do.

use macroquad::math::Rect;
use macroquad::shapes::draw_rectangle;

use crate::app::words::count;
use crate::view::widgets::ui::Ui;
use testudo_battle::{Stance, UNIT, UnitLook};
use testudo_render::paint::palette::{BACKDROP, HEALTHY, LINE, PANEL, TEXT, TEXT_DIM, WOUNDED, faded, mixed};
use testudo_render::paint::pen::{SIZE, SMALL};

/// What there is to know about some units.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Summary {
    guards: u32,
    archers: u32,
    /// How many hold their positions, and how many pursue.
    holding: u32,
    pursuing: u32,
    hit_points: i64,
    /// Usual ones of as many fresh units.
    hit_points_usual: i64,
    /// Of the slowest: units per second, raw.
    speed: i32,
    /// Of the hardest blow; the longest range, raw.
    damage: u32,
    range: i32,
}

impl Summary {
    pub(crate) fn of(units: impl Iterator<Item = UnitLook>) -> Self {
        let mut sum = Self { speed: i32::MAX, ..Self::default() };
        for unit in units {
            let stats = unit.stats;
            *if unit.is_archer { &mut sum.archers } else { &mut sum.guards } += 1;
            sum.holding += u32::from(unit.stance == Stance::Hold);
            sum.pursuing += u32::from(unit.stance == Stance::Pursue);
            sum.hit_points += i64::from(unit.hit_points.max(0));
            sum.hit_points_usual += i64::from(stats.hit_points);
            sum.speed = sum.speed.min(stats.speed);
            sum.damage = sum.damage.max(stats.damage);
            sum.range = sum.range.max(stats.range);
        }
        sum
    }

    /// Who they are.
    fn title(&self) -> String {
        let kinds = [(self.guards, "guard"), (self.archers, "archer")];
        let parts = kinds.into_iter().filter(|(number, _)| *number > 0);
        let mut text = parts.map(|(number, kind)| count(number, kind)).collect::<Vec<_>>().join(", ");
        let all = self.guards + self.archers;
        if all > 0 && self.holding == all {
            text += ", holding";
        } else if all > 0 && self.pursuing == all {
            text += ", pursuing";
        }
        text
    }

    /// What they can do, and a shorter form. The bar shows the health of several; their sum helps nobody.
    fn about(&self) -> [String; 2] {
        let tenths = |raw: i32| f64::from(raw) / f64::from(UNIT);
        let most = if self.guards > 0 && self.archers > 0 { "up to " } else { "" };
        let (range, speed) = (tenths(self.range), tenths(self.speed));
        let mut long = format!("damage {most}{}, range {most}{range:.1}, speed {speed:.1}", self.damage);
        if self.guards + self.archers == 1 {
            // No percentage: fresh units have up to a tenth more or less than usual, so it would tell of wounds before any fight.
            long = format!("{} hit points, {long}", self.hit_points);
        }
        [long, format!("range {most}{range:.1}, speed {speed:.1}")]
    }

    /// Draws the card, if anybody is selected.
    pub(crate) fn draw(&self, ui: &mut Ui, card: Rect) {
        /// Height of the bar with their health, pixels.
        const BAR: f32 = 4.0;
        if self.hit_points_usual == 0 {
            return;
        }
        ui.card("unit card", card, faded(PANEL, 0.92), (2.0, LINE));
        let x = card.x + 10.0;
        ui.pen.strong(&self.title(), x, card.y + 18.0, SIZE, TEXT);
        let about = ui.pen.fitting(self.about(), SMALL, card.w - 20.0);
        ui.pen.text(&about.unwrap_or_default(), x, card.y + 34.0, SMALL, TEXT_DIM);
        let part = (self.hit_points as f32 / self.hit_points_usual as f32).clamp(0.0, 1.0);
        let bar = Rect::new(x, card.bottom() - BAR - 3.0, card.w - 20.0, BAR);
        ui.pen.fill(bar, BACKDROP);
        draw_rectangle(bar.x, bar.y, bar.w * part, bar.h, mixed(WOUNDED, HEALTHY, part));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use testudo_battle::{Game, Setup};

    #[test]
    fn the_card_counts_kinds_and_says_what_they_can_do() {
        let game = Game::new(Setup { players: 2, units: 40, seed: 1, map: None }).unwrap();
        let own = || game.unit_looks().filter(|look| look.army == 0);
        let all = Summary::of(own());
        assert_eq!(all.title(), "30 guards, 10 archers");
        assert_eq!(all.about()[0], "damage up to 12, range up to 8.0, speed 4.0");
        let archers = Summary::of(own().filter(|look| look.is_archer));
        assert!(archers.about()[0].ends_with("damage 11, range 8.0, speed 4.5"), "{:?}", archers.about());
        let one = own().next().unwrap();
        let guard = Summary::of([one].into_iter());
        assert_eq!((guard.title(), guard.hit_points), ("1 guard".into(), i64::from(one.hit_points)));
        assert!(guard.about()[0].contains(" hit points, damage "), "{:?}", guard.about());
    }
}
