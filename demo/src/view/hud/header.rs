//! The strip above a view: the player, the next step, and the score.

use macroquad::color::Color;
use macroquad::math::Rect;

use crate::app::words::count;
use crate::view::command::side::Side;
use crate::view::widgets::ui::Ui;
use testudo_battle::Game;
use testudo_render::paint::palette::{LINE, SELECTION, TEXT, TEXT_DIM, WARN, army};
use testudo_render::paint::pen::{SIZE, SMALL};

/// Height of the strip, pixels; where it is higher, there are two lines more.
pub(crate) const HEIGHT: f32 = 30.0;

/// The player of the strip.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    pub(crate) rect: Rect,
    pub(crate) player: u8,
    /// Name of the button that hands over to a bot and back, for scripts.
    pub(crate) widget: &'static str,
    pub(crate) is_person: bool,
    /// Nobody here commands an army.
    pub(crate) is_watching: bool,
    /// Own orders are shown at once.
    pub(crate) predicts: bool,
}

/// What the person has pressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum HeaderAction {
    /// To hand over, or to take over.
    Pilot,
    /// To predict, or no longer.
    Predict,
}

impl Header {
    /// Draws the strip and asks its buttons.
    pub(crate) fn draw(
        &self,
        ui: &mut Ui,
        side: &Side,
        game: &Game,
        called: impl Fn(u8) -> String,
    ) -> Option<HeaderAction> {
        let Self { rect, player, is_person, .. } = *self;
        if self.is_watching {
            draw_watched(ui, rect, armies(game, called));
            return None;
        }
        ui.strip(rect, army(player));
        let base = rect.y + 20.0;
        let name = format!("Player {}", player + 1);
        let x = ui.pen.strong(&name, rect.x + 16.0, base, SIZE, army(player)) + 12.0;
        let text = if is_person { "You play" } else { "A bot plays" };
        let button = Rect::new(x, rect.y + 3.0, 92.0, HEIGHT - 6.0);
        let pressed = ui.button(self.widget, button, text, is_person);
        let [long, short] = standing(game, player);
        let enemy = enemy(game, player);
        let longest = format!("{long}   |   {enemy}");
        let predict = Rect::new(button.right() + 6.0, button.y, 92.0, button.h);
        let name = ["prediction 1", "prediction 2"][usize::from(player.min(1))];
        let predicts = ui.button(name, predict, "Prediction", self.predicts);
        let left = predict.right() + 14.0;
        // Parts that do not fit are left out, the score last.
        let (hint, color) = hint(side, game, player, is_person);
        let hint = ui.hand(&hint);
        let room = rect.right() - 24.0 - left - ui.pen.width(&hint, SMALL);
        let score = if rect.h > HEIGHT {
            // On a phone the score has two lines of its own: it says who is ahead.
            for (line, text) in [(20.0, &long), (38.0, &enemy)] {
                ui.pen.text(text, rect.x + 16.0, base + line, SMALL, TEXT);
            }
            String::new()
        } else {
            ui.pen.fitting([longest, long], SMALL, room).unwrap_or(short)
        };
        let right = rect.right() - 10.0 - ui.pen.width(&score, SMALL);
        if left + ui.pen.width(&hint, SMALL) + 14.0 < right {
            ui.pen.text(&hint, left, base, SMALL, color);
        }
        if left < right {
            ui.pen.text(&score, right, base, SMALL, TEXT);
        }
        pressed.then_some(HeaderAction::Pilot).or(predicts.then_some(HeaderAction::Predict))
    }
}

/// The strip of somebody who only watches: how many units each army has, and nothing to press.
fn draw_watched(ui: &mut Ui, rect: Rect, [long, short]: [Vec<String>; 2]) {
    const GAP: f32 = 12.0;
    ui.strip(rect, LINE);
    let (start, end) = (rect.x + 16.0, rect.right() - 10.0);
    let mut base = rect.y + 20.0;
    let mut x = ui.pen.strong("Watching", start, base, SIZE, TEXT) + GAP;
    let width = |forms: &[String]| forms.iter().map(|form| ui.pen.width(form, SMALL) + GAP).sum::<f32>();
    let forms = if x + width(&long) < end { long } else { short };
    for (number, form) in (0..).zip(forms) {
        let right = x + ui.pen.width(&form, SMALL);
        if right > end {
            (x, base) = (start, base + 18.0);
        }
        if base > rect.bottom() {
            return;
        }
        x = ui.pen.text(&form, x, base, SMALL, army(number)) + GAP;
    }
}

/// The units of each army, and a shorter form.
fn armies(game: &Game, called: impl Fn(u8) -> String) -> [Vec<String>; 2] {
    let living = |army| game.middle(army).map_or(0, |(living, _)| living);
    let all = || (0..game.setup().players).map(|army| (army, living(army)));
    let long = all().map(|(army, living)| format!("{}: {}", called(army), count(living, "unit")));
    [long.collect(), all().map(|(army, living)| format!("{}: {living}", army + 1)).collect()]
}

/// How an army stands, and a shorter form.
pub(crate) fn standing(game: &Game, player: u8) -> [String; 2] {
    let ((kills, losses), units) = (game.score(player), game.middle(player).map_or(0, |(living, _)| living));
    let (units, kills) = (count(units, "unit"), count(kills, "kill"));
    let (reserve, keep) = (game.reserve(player), game.keep_percent(player));
    let long = format!("{units}   {reserve} to come   {kills}   {losses} lost   keep {keep} %");
    [long, format!("{units}   {kills}   {losses} lost")]
}

/// How the others stand, so that one sees who is ahead.
fn enemy(game: &Game, player: u8) -> String {
    let others = (0..game.setup().players).filter(|army| !game.teams().are_friends(*army, player));
    let (mut units, mut reserve, mut keep) = (0, 0_u64, 0);
    for army in others {
        units += game.middle(army).map_or(0, |(living, _)| living);
        reserve += u64::from(game.reserve(army));
        keep = keep.max(game.keep_percent(army));
    }
    format!("enemy {}   {reserve} to come   keep {keep} %", count(units, "unit"))
}

/// Whoever breaks off a fight with a right click is told what this costs.
const WALK_ON: &str = "They walk on while they are struck: Attack or Stop makes them fight";

/// The next step, in a few words.
fn hint(side: &Side, game: &Game, player: u8, is_person: bool) -> (String, Color) {
    if !is_person {
        return ("click to play yourself".into(), TEXT_DIM);
    }
    if side.names_group {
        return ("press a digit to name the group".into(), SELECTION);
    }
    if let Some(aim) = side.aim {
        return (aim.hint().into(), SELECTION);
    }
    match side.chosen.len() {
        0 => (String::new(), TEXT_DIM),
        _ if walk_on(side, game, player) => (WALK_ON.into(), WARN),
        chosen => (format!("{chosen} selected"), SELECTION),
    }
}

/// Whether some of the selected units are struck, and go on to where they were sent without a fight.
fn walk_on(side: &Side, game: &Game, player: u8) -> bool {
    game.unit_looks().any(|look| {
        look.army == player
            && side.effects.hurt(look.number) > 0.0
            && side.chosen.contains((look.index, look.body))
            && game.plan(look.number).next().is_some_and(|leg| !leg.attacks)
    })
}

#[cfg(test)]
mod tests {
    use testudo_lockstep::{PlayerId, Simulation as _};

    use super::*;
    use testudo_battle::{Command, Order, OrderPoint, Selection, Setup};
    use testudo_render::battle::shown::Shown;

    #[test]
    fn the_enemys_numbers_are_told() {
        let game = Game::new(Setup { players: 2, units: 20, seed: 1, map: None }).unwrap();
        let told = enemy(&game, 0);
        assert!(told.contains("enemy 20 units") && told.contains("keep 100 %"), "{told}");
    }

    #[test]
    fn a_watcher_sees_every_army_and_is_none_of_the_players() {
        let game = Game::new(Setup { players: 4, units: 20, seed: 1, map: None }).unwrap();
        let [long, short] = armies(&game, |army| format!("Ada {army}"));
        assert_eq!((long.len(), &long[3][..]), (4, "Ada 3: 20 units"));
        assert_eq!(short, ["1: 20", "2: 20", "3: 20", "4: 20"]);
    }

    /// Nothing told somebody who left a fight with a right click why so many fell.
    #[test]
    fn who_walks_away_from_a_fight_is_told() {
        let mut game = Game::new(Setup { players: 2, units: 20, seed: 1, map: None }).unwrap();
        let mut side = Side::default();
        let looks = game.unit_looks().filter(|look| look.army == 0);
        side.chosen.choose(looks.map(|look| (look.index, look.body)), false);
        let mut frame = 0;
        // Plays for some seconds; whether the hint was seen.
        let mut play = |game: &mut Game, side: &mut Side, seconds: u64| {
            (0..seconds * 20).fold(false, |told, _| {
                game.step(20);
                frame += 1;
                side.effects.observe(Shown::plain(game, 0), frame, 0.05, 0.05);
                told | (hint(side, game, 0, true).0 == WALK_ON)
            })
        };
        let home = |player| OrderPoint::near(game.base(player).unwrap());
        let (own, theirs) = (home(0), home(1));
        game.apply(PlayerId(0), &Order::new(Selection::All, Command::Attack(theirs)));
        game.apply(PlayerId(1), &Order::new(Selection::All, Command::Attack(own)));
        let mut seconds = 0;
        while game.score(0).0 == 0 {
            assert!(!play(&mut game, &mut side, 1), "they fight");
            seconds += 1;
            assert!(seconds < 60, "the armies do not meet");
        }
        game.apply(PlayerId(0), &Order::new(Selection::All, Command::Move(own)));
        assert!(play(&mut game, &mut side, 3), "they walk away");
        game.apply(PlayerId(0), &Order::new(Selection::All, Command::Stop));
        play(&mut game, &mut side, 1);
        assert!(!play(&mut game, &mut side, 2), "they fight again");
    }
}
