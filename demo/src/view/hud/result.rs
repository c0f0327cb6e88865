//! The end of a battle: the winner, kills over time, and whether the computers always agreed.

use macroquad::color::Color;
use macroquad::math::{Rect, vec2};
use testudo_lockstep::Simulation as _;

use crate::game::{ARMIES_MAX, Game, Teams};
use crate::view::paint::palette::{BACKDROP, BAD, GOOD, LINE, PANEL, TEXT, TEXT_DIM, army, faded};
use crate::view::paint::pen::{LARGE, SIZE, SMALL};
use crate::view::widgets::ui::Ui;
use crate::view::widgets::{card, graph};

/// Frames of the match from one sample of the score to the next: two seconds.
const SAMPLE_FRAMES: u32 = 40;

/// Greatest number of samples: beyond it every second one is dropped.
const SAMPLES_MAX: usize = 400;

/// Kills by army.
pub(crate) type Kills = [u32; ARMIES_MAX as usize];

/// Kills of all armies over time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Score {
    samples: Vec<Kills>,
    /// Number of samples that each one represents, as a power of two.
    halvings: u32,
    skipped: u32,
    /// The frame of the last sample.
    frame: u32,
    /// Time since the battle was decided, seconds; none before.
    decided: Option<f32>,
}

impl Score {
    /// Follows a battle for the time of one picture; true: in it the battle was decided.
    pub(crate) fn follow(&mut self, frame: u32, game: &Game, seconds: f32) -> bool {
        let is_new = game.result().is_some() && self.decided.is_none();
        if is_new || (self.decided.is_none() && frame >= self.frame + SAMPLE_FRAMES) {
            self.frame = frame;
            self.note(kills(game));
        }
        if game.result().is_some() {
            *self.decided.get_or_insert(0.0) += seconds;
        }
        is_new
    }

    /// Whether the battle was decided a moment ago, so that the last blow has been visible.
    pub(crate) fn is_last_blow_seen(&self) -> bool {
        /// Seconds.
        const LAST_LOOK: f32 = 1.5;
        self.decided.is_some_and(|seconds| seconds > LAST_LOOK)
    }

    /// Notes these kills.
    fn note(&mut self, kills: Kills) {
        self.skipped += 1;
        if self.skipped < 1 << self.halvings {
            return;
        }
        self.skipped = 0;
        if self.samples.len() == SAMPLES_MAX {
            let mut is_kept = false;
            self.samples.retain(|_| {
                is_kept = !is_kept;
                is_kept
            });
            self.halvings += 1;
        }
        self.samples.push(kills);
    }
}

/// The kills of all armies of a match so far.
fn kills(game: &Game) -> Kills {
    let armies = game.setup().players;
    core::array::from_fn(|army| if army < usize::from(armies) { game.score(army as u8).0 } else { 0 })
}

/// Whether all armies but those on the winner's side were spent, as opposed to having lost their keeps.
pub(crate) fn are_spent(game: &Game, winner: Option<u8>) -> bool {
    let has_won = |army: &u8| winner.is_some_and(|winner| game.teams().are_friends(winner, *army));
    (0..game.setup().players).filter(|army| !has_won(army)).all(|army| game.is_spent(army))
}

/// Who has won and why, from the side of `person`; none if nobody plays, or has won. `is_spent`: see [`are_spent`].
pub(crate) fn title(
    winner: Option<u8>,
    person: Option<u8>,
    is_spent: bool,
    teams: &Teams,
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
        (Some(winner), None) => (format!("Player {} has won", winner + 1), army(winner)),
        (None, _) if is_spent => ("A draw: nobody is left".into(), TEXT),
        (None, _) => ("A draw: the last keeps have fallen".into(), TEXT),
    }
}

/// The result of a battle.
pub(crate) struct Ended<'a> {
    pub(crate) game: &'a Game,
    /// The person's player; none if both are bots.
    pub(crate) person: Option<u8>,
    pub(crate) seconds: u32,
    pub(crate) score: &'a Score,
    /// Number of turns whose checksums were compared, and whether they were equal in all of them.
    pub(crate) turns: u32,
    pub(crate) is_identical: bool,
    /// Offered from the left to the right; the first one is lit.
    pub(crate) choices: &'a [Option<Next>],
}

/// The person's next wish.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    Rematch,
    NewSeed,
    Replay,
    /// A link to the match.
    Share,
    /// Again: it was copied.
    Shared,
    /// Of a network match.
    #[cfg_attr(target_arch = "wasm32", allow(dead_code))]
    Leave,
    /// Looks on: a network match goes on for as long as somebody stays.
    #[cfg_attr(target_arch = "wasm32", allow(dead_code))]
    Stay,
}

impl Next {
    /// Script name, label, width in pixels.
    const fn button(self) -> (&'static str, &'static str, f32) {
        match self {
            Self::Rematch => ("rematch", "Rematch", 100.0),
            Self::NewSeed => ("new seed", "New seed", 100.0),
            Self::Replay => ("watch", "Watch replay", 120.0),
            Self::Share => ("share", "Copy link", 100.0),
            Self::Shared => ("share", "Copied", 100.0),
            Self::Leave => ("leave ended", "Leave", 100.0),
            Self::Stay => ("stay", "Look on", 100.0),
        }
    }
}

impl Ended<'_> {
    /// Draws the card in the middle of a rectangle.
    pub(crate) fn draw(&self, ui: &mut Ui, around: Rect) -> Option<Next> {
        let card = card::middle(around, 520.0, 300.0);
        let winner = self.game.result().and_then(|result| u8::try_from(result).ok());
        let (title, color) = title(winner, self.person, are_spent(self.game, winner), self.game.teams());
        ui.card("result", card, PANEL, (4.0, color));
        let x = card.x + 22.0;
        ui.pen.strong(&title, x, card.y + 36.0, LARGE, color);
        let mut time = format!("after {}:{:02} of game time", self.seconds / 60, self.seconds % 60);
        if winner.is_some() && self.person.is_some() && winner != self.person {
            // (Who sent every recruit at once lost them one by one.)
            let advice = ". Let recruits gather before they attack";
            if ui.pen.width(&time, SMALL) + ui.pen.width(advice, SMALL) < card.w - 44.0 {
                time += advice;
            }
        }
        ui.pen.text(&time, x, card.y + 58.0, SMALL, TEXT_DIM);
        let (checked, color) = self.checked();
        // (On a phone the longest form left the card.)
        let fits = |text: &String| ui.pen.width(text, SIZE) <= card.w - 44.0;
        ui.pen.text(&checked.into_iter().find(fits).unwrap_or_default(), x, card.y + 82.0, SIZE, color);
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
            let is_pressed = ui.button(name, Rect { y: top + at.y, ..at }, word, n == 0);
            is_pressed.then_some(what)
        };
        buttons.into_iter().enumerate().filter_map(pressed).last()
    }

    /// Whether the copies agreed, and shorter forms.
    fn checked(&self) -> ([String; 3], Color) {
        let turns = self.turns;
        if self.is_identical {
            let whose = if self.game.setup().players == 2 { "both" } else { "all" };
            let long = format!("Checksums of {whose} computers: equal in all {turns} turns");
            ([long, format!("Checksums equal in all {turns} turns"), format!("equal in {turns} turns")], GOOD)
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
        for (player, kills) in (0..self.game.setup().players).zip(kills(self.game)) {
            let text = format!("player {}: {kills}", player + 1);
            if x + pen.width(&text, SMALL) > rect.right() {
                break;
            }
            x = pen.text(&text, x, rect.y + 13.0, SMALL, army(player)) + 16.0;
        }
        let (batch, samples) = (&mut ui.batch, &self.score.samples);
        batch.block(plot, BACKDROP);
        let top = samples.iter().flatten().copied().max().unwrap_or(1).max(1) as f32;
        let step = plot.w / (samples.len().max(2) - 1) as f32;
        for half in [0.0, 0.5] {
            let y = plot.y + plot.h * half;
            batch.line(vec2(plot.x, y), vec2(plot.right(), y), 1.0, faded(LINE, 0.7));
        }
        for player in 0..self.game.setup().players {
            let kills = samples.iter().map(|kills| kills[usize::from(player)] as f32 / top);
            graph::curve(batch, plot, step, &kills.collect::<Vec<_>>(), army(player));
        }
        batch.draw();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_title_is_told_from_the_persons_side() {
        let none = Teams::default();
        let told = |winner, person, is_spent| title(winner, person, is_spent, &none).0;
        assert_eq!(told(Some(1), Some(0), false), "Defeat: your keep has fallen");
        assert_eq!(told(Some(1), Some(0), true), "Defeat: your army is spent");
        assert_eq!(told(Some(0), Some(0), true), "Victory: their army is spent");
        assert_eq!(told(Some(1), None, false), "Player 2 has won");
        assert!(told(None, Some(0), false).starts_with("A draw"));
        let teams = Teams::new(&[1, 2, 1, 0]).unwrap();
        let told = |winner, person| title(Some(winner), person, false, &teams).0;
        assert_eq!(told(0, Some(2)), "Victory for team 1: their keep has fallen");
        assert_eq!(told(1, Some(2)), "Defeat: team 2 has won");
        assert_eq!(told(3, Some(2)), "Defeat: your keep has fallen");
        assert_eq!(told(0, None), "Team 1 has won");
        assert_eq!(told(3, None), "Player 4 has won");
    }

    #[test]
    fn a_long_battle_keeps_a_bounded_number_of_samples() {
        let mut score = Score::default();
        (0..10_000).for_each(|n| score.note([n; ARMIES_MAX as usize]));
        assert!(score.samples.len() <= SAMPLES_MAX && score.samples.len() > SAMPLES_MAX / 4);
        assert!(score.samples.windows(2).all(|pair| pair[0][0] < pair[1][0]));
    }
}
