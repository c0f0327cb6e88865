//! The end of a battle: the winner, kills over time, and whether the computers always agreed.

use macroquad::color::Color;
use macroquad::math::Rect;
use testudo_lockstep::Simulation as _;

use crate::app::playback::{ArmySample, Curve, Score};
use crate::app::share;
use crate::app::words::count;
use crate::view::hud::ending::told as as_it_begins;
use crate::view::hud::menu;
use crate::view::widgets::ui::Ui;
use crate::view::widgets::{card, graph};
use testudo_battle::bots::Level;
use testudo_battle::{Game, Teams};
use testudo_render::paint::palette::{BAD, GOOD, PANEL, TEXT, TEXT_DIM, army};
use testudo_render::paint::pen::{LARGE, SIZE, SMALL};

/// Who has won and why, from the side of `person`; none if nobody plays. None of a battle that is not decided.
pub(crate) fn told(
    game: &Game,
    person: Option<u8>,
    called: impl Fn(u8) -> String,
) -> Option<(String, Color)> {
    let winner = u8::try_from(game.result()?).ok();
    let has_won = |army: &u8| winner.is_some_and(|winner| game.teams().are_friends(winner, *army));
    let is_spent = (0..game.setup().players).filter(|army| !has_won(army)).all(|army| game.is_spent(army));
    Some(title((winner, person), is_spent, game.teams(), called))
}

/// `is_spent`: all armies but those on the winner's side were spent, as opposed to having lost their keeps.
fn title(
    (winner, person): (Option<u8>, Option<u8>),
    is_spent: bool,
    teams: &Teams,
    called: impl Fn(u8) -> String,
) -> (String, Color) {
    let fate = if is_spent { "army is spent" } else { "keep has fallen" };
    let team = winner.map_or(0, |winner| teams.of(winner));
    match (winner, person) {
        (Some(winner), Some(person)) if teams.are_friends(winner, person) => {
            let whose = if team > 0 { format!("Victory for team {team}") } else { "Victory".into() };
            (format!("{whose}: their {fate}"), GOOD)
        }
        (Some(_), Some(_)) if team > 0 => (format!("Defeat: team {team} has won"), BAD),
        (Some(_), Some(_)) => (format!("Defeat: your {fate}"), BAD),
        (Some(winner), None) if team > 0 => (format!("Team {team} has won"), army(winner)),
        (Some(winner), None) => (as_it_begins(&format!("{} has won", called(winner))), army(winner)),
        (None, _) if is_spent => ("A draw: nobody is left".into(), TEXT),
        (None, _) => ("A draw: the last keeps have fallen".into(), TEXT),
    }
}

/// The result of a battle.
pub(crate) struct Ended<'a> {
    pub(crate) game: &'a Game,
    /// How each player is called.
    pub(crate) names: Vec<String>,
    /// The person's player; none if both are bots.
    pub(crate) person: Option<u8>,
    /// The bot that the person has played against.
    pub(crate) rival: Option<Level>,
    pub(crate) seconds: u32,
    pub(crate) score: &'a Score,
    /// Number of turns whose checksums were compared, and whether they were equal in all of them.
    pub(crate) turns: u32,
    pub(crate) is_identical: bool,
    /// Offered from the left to the right; the first one is lit.
    pub(crate) choices: &'a [Option<Next>],
    /// What there is to copy.
    pub(crate) link: Option<&'a str>,
}

/// The person's next wish.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    Rematch,
    NewSeed,
    Replay,
    /// A link to the match, or a command that shows it.
    Share,
    /// Of a network match.
    Leave,
    /// Looks on: a network match goes on for as long as somebody stays.
    Stay,
}

impl Next {
    /// Script name, label, width in pixels.
    const fn button(self) -> (&'static str, &'static str, f32) {
        match self {
            Self::Rematch => ("rematch", "Rematch", 100.0),
            Self::NewSeed => ("new seed", "New seed", 100.0),
            Self::Replay => ("watch", "Watch replay", 120.0),
            Self::Share => ("share", "Copy link", 120.0),
            Self::Leave => ("leave ended", "Leave", 100.0),
            Self::Stay => ("stay", "Look on", 100.0),
        }
    }
}

impl Ended<'_> {
    /// Draws the card in the middle of a rectangle.
    pub(crate) fn draw(&self, ui: &mut Ui, around: Rect) -> Option<Next> {
        let (title, color) = told(self.game, self.person, |player| self.called(player))?;
        let card = card::middle(around, 520.0, 300.0);
        ui.card("result", card, PANEL, (4.0, color));
        let x = card.x + 22.0;
        ui.pen.strong(&title, x, card.y + 36.0, LARGE, color);
        let mut time = format!("after {}:{:02} of game time", self.seconds / 60, self.seconds % 60);
        if let Some(level) = self.rival {
            time += &format!(", against {}", menu::bot(level));
        }
        if color == BAD {
            // Recruits that are sent at once are lost one by one.
            let advice = ". Let recruits gather before they attack";
            if ui.pen.width(&time, SMALL) + ui.pen.width(advice, SMALL) < card.w - 44.0 {
                time += advice;
            }
        }
        ui.pen.text(&time, x, card.y + 58.0, SMALL, TEXT_DIM);
        let (checked, color) = self.checked();
        // On a phone the longest form would leave the card.
        let checked = ui.pen.fitting(checked, SIZE, card.w - 44.0).unwrap_or_default();
        ui.pen.text(&checked, x, card.y + 82.0, SIZE, color);
        // On a phone the buttons need two rows.
        let (mut left, mut row, mut buttons) = (x, 0.0, Vec::new());
        for what in self.choices.iter().flatten() {
            let (name, word, width) = what.button();
            if left + width > card.right() - 22.0 {
                (left, row) = (x, row + 1.0);
            }
            buttons.push((*what, name, word, Rect::new(left, row * 40.0, width, 32.0)));
            left += width + 12.0;
        }
        let top = card.bottom() - 46.0 - row * 40.0;
        self.plot(ui, Rect::new(x, card.y + 96.0, card.w - 44.0, top - card.y - 110.0));
        let pressed = |(n, (what, name, word, at)): (usize, (Next, &'static str, &str, Rect))| {
            let at = Rect { y: top + at.y, ..at };
            let is_pressed = match self.link.filter(|_| what == Next::Share) {
                Some(link) => ui.copy(name, at, share::word(link), link),
                None => ui.button(name, at, word, n == 0),
            };
            is_pressed.then_some(what)
        };
        buttons.into_iter().enumerate().filter_map(pressed).last()
    }

    fn called(&self, player: u8) -> String {
        self.names.get(usize::from(player)).cloned().unwrap_or_default()
    }

    /// Whether the copies agreed, and shorter forms.
    fn checked(&self) -> ([String; 3], Color) {
        let turns = count(self.turns, "turn");
        if self.is_identical {
            let whose = if self.game.setup().players == 2 { "both" } else { "all" };
            let long = format!("Checksums of {whose} computers: equal in all {turns}");
            ([long, format!("Checksums equal in all {turns}"), format!("equal in {turns}")], GOOD)
        } else {
            let long = "The computers' copies were not equal in all turns".into();
            ([long, "The copies were not equal".into(), "not equal".into()], BAD)
        }
    }

    /// Kills over time, a line for each army.
    fn plot(&self, ui: &mut Ui, rect: Rect) {
        let pen = &ui.pen;
        let plot = Rect { y: rect.y + 20.0, h: (rect.h - 20.0).max(10.0), ..rect };
        let mut x = pen.text("Kills over time", rect.x, rect.y + 13.0, SMALL, TEXT_DIM) + 16.0;
        for (player, kills) in (0..self.game.setup().players).zip(ArmySample::of(self.game).kills) {
            let text = format!("{}: {kills}", self.called(player));
            if x + pen.width(&text, SMALL) > rect.right() {
                break;
            }
            x = pen.text(&text, x, rect.y + 13.0, SMALL, army(player)) + 16.0;
        }
        let samples: Vec<ArmySample> =
            self.score.curve().into_iter().flat_map(Curve::samples).map(|(_, sample)| sample).collect();
        let line = |player: u8| {
            let kills = samples.iter().map(|sample| sample.kills[usize::from(player)] as f32);
            (army(player), kills.collect())
        };
        graph::plot(&mut ui.batch, plot, &(0..self.game.setup().players).map(line).collect::<Vec<_>>());
    }
}

#[cfg(test)]
mod tests {
    use testudo_battle::Setup;

    use super::*;

    /// Who came back to a battle that had been decided read of a draw until the state was there.
    #[test]
    fn a_battle_that_is_not_decided_is_no_draw() {
        let game = Game::new(Setup { players: 2, units: 8, seed: 1, map: None }).unwrap();
        assert_eq!(told(&game, Some(0), |_| String::new()), None);
    }

    #[test]
    fn the_title_is_told_from_the_persons_side() {
        let none = Teams::default();
        let called = |player| format!("player {}", player + 1);
        let told = |winner, person, is_spent| title((winner, person), is_spent, &none, called).0;
        assert_eq!(told(Some(1), Some(0), false), "Defeat: your keep has fallen");
        assert_eq!(told(Some(1), Some(0), true), "Defeat: your army is spent");
        assert_eq!(told(Some(0), Some(0), true), "Victory: their army is spent");
        assert_eq!(told(Some(1), None, false), "Player 2 has won");
        assert!(told(None, Some(0), false).starts_with("A draw"));
        let teams = Teams::new(&[1, 2, 1, 0]).unwrap();
        let told = |winner, person| title((Some(winner), person), false, &teams, called).0;
        assert_eq!(told(0, Some(2)), "Victory for team 1: their keep has fallen");
        assert_eq!(told(1, Some(2)), "Defeat: team 2 has won");
        assert_eq!(told(3, Some(2)), "Defeat: your keep has fallen");
        assert_eq!(told(0, None), "Team 1 has won");
        assert_eq!(told(3, None), "Player 4 has won");
    }
}
