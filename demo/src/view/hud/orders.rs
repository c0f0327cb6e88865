//! The command bar and the badges of groups, as buttons of a window: what a click on them does to a side.

use crate::game::{Command, UnitLook};
use crate::view::battle::selection::Own;
use crate::view::command::controls;
use crate::view::command::order_log::OrderLog;
use crate::view::command::side::{Side, Told};
use crate::view::command::sight::Sight;
use crate::view::hud::commands::{self, Places, Said};
use crate::view::hud::unit_card::Summary;
use crate::view::paint::batch::Batch;
use crate::view::paint::camera::Camera;
use crate::view::paint::pen::Pen;
use crate::view::widgets::ui::Ui;

/// What the buttons are drawn with, and what they change.
pub(crate) struct OrderBar<'a> {
    pub(crate) batch: &'a mut Batch,
    pub(crate) pen: &'a Pen,
    pub(crate) ui: &'a mut Ui,
    pub(crate) log: &'a mut OrderLog,
    pub(crate) camera: &'a mut Camera,
    /// Real time, seconds.
    pub(crate) now: f32,
}

impl OrderBar<'_> {
    /// Draws the bar, and the badges above it: a click selects a group, a double click moves the camera there. Returns
    /// the command to give, if there is one.
    pub(crate) fn draw(&mut self, side: &mut Side, sight: &Sight<'_>) -> Option<Told> {
        let places = Places::new(sight.view.rect, sight.map);
        let own = sight.own();
        let sizes = side.group_sizes(&own, self.now);
        if let Some(key) = commands::groups(self.pen, self.ui, &places, &sizes) {
            controls::recall(side, key, &own, self.camera);
            self.log.selection(sight.player, side.chosen.len());
        }
        if let Some(card) = places.card {
            let is_chosen =
                |look: &UnitLook| look.army == sight.player && side.chosen.contains((look.index, look.body));
            let chosen = Summary::of(sight.shown.truth.unit_looks().filter(is_chosen));
            chosen.draw(self.pen, self.ui, card);
        }
        let said = commands::draw(self.batch, self.pen, self.ui, &places, sight.player, side.aim)?;
        let is_nobody = side.chosen.is_empty();
        match said {
            Said::All => {
                side.chosen.choose(own.iter().map(Own::member), false);
                self.log.selection(sight.player, own.len());
            }
            Said::Aim(aim) if !is_nobody => side.aim = Some(aim),
            Said::Stop if !is_nobody => return Some(Told::here(Command::Stop)),
            Said::Hold if !is_nobody => {
                return Some(Told::here(Command::Stand(side.chosen.next_stance(&own))));
            }
            Said::Aim(_) | Said::Stop | Said::Hold => {}
        }
        None
    }
}
