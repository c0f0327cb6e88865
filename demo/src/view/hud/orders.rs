//! The command bar and the badges of groups, as buttons of a window: what a click on them does to a side.

use crate::view::command::controls;
use crate::view::command::side::{Side, Told};
use crate::view::command::sight::Sight;
use crate::view::hud::commands::{self, CommandLayout, Said};
use crate::view::hud::stage::Stage;
use crate::view::hud::unit_card::Summary;
use testudo_battle::{Command, UnitLook};
use testudo_render::battle::selection::Own;
use testudo_render::paint::camera::Camera;

/// Draws the bar for a side, and the badges above it: a click selects a group, a double click moves the camera there. Returns the command to
/// give, if there is one.
pub(crate) fn draw(
    stage: &mut Stage,
    camera: &mut Camera,
    side: &mut Side,
    sight: &Sight<'_>,
) -> Option<Told> {
    let layout = CommandLayout::new(sight.view.rect, sight.map);
    let own = sight.own();
    let sizes = side.group_sizes(&own, stage.seconds);
    let Stage { ui, log, .. } = stage;
    if let Some(key) = commands::groups(ui, &layout, &sizes) {
        controls::recall(side, key, &own, controls::shift(), camera);
        log.selection(sight.player, side.chosen.len());
    }
    if let Some(card) = layout.card {
        let is_chosen =
            |look: &UnitLook| look.army == sight.player && side.chosen.contains((look.index, look.body));
        let chosen = Summary::of(sight.shown.truth.unit_looks().filter(is_chosen));
        chosen.draw(ui, card);
    }
    let said = commands::draw(ui, &layout, sight.player, side.aim)?;
    let is_nobody = side.chosen.is_empty();
    match said {
        Said::All => {
            side.chosen.choose(own.iter().map(Own::member), false);
            log.selection(sight.player, own.len());
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
