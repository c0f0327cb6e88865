//! The menu: the map, the bot's level and the size of the next battle; the size of letters.

use macroquad::math::Rect;

use crate::app::maps;
use crate::view::hud::friends::{self, Friends, FriendsAction};
use crate::view::widgets::card;
use crate::view::widgets::ui::Ui;
use testudo_battle::bots::Level;
use testudo_battle::{MAP_NAMES, Setup};
use testudo_render::paint::palette::{LINE, PANEL, TEXT, TEXT_DIM};
use testudo_render::paint::pen::{Align, LARGE, SMALL};
use testudo_render::paint::screen::{self, Letters};

/// A button: script name, label, value.
type Offer<'a, T> = (&'static str, &'a str, T);

const MAPS: [Offer<'_, Option<&str>>; 4] = [
    ("map ford", "Ford", Some(MAP_NAMES[0])),
    ("map pass", "Pass", Some(MAP_NAMES[1])),
    ("map lakes", "Lakes", Some(MAP_NAMES[2])),
    ("map open", "Random", None),
];

const LEVELS: [Offer<'_, Level>; 3] = [
    ("bot easy", "Easy", Level::Easy),
    ("bot normal", "Normal", Level::Normal),
    ("bot hard", "Hard", Level::Hard),
];

/// What only a command line asks for: its button is there in a battle that has it.
const OTHERS: [Offer<'_, Option<Level>>; 2] =
    [("bot clumsy", "Clumsy", Some(Level::Clumsy)), ("bot idle", "Idle", None)];

/// Units of each army.
const SIZES: [Offer<'_, u32>; 5] = [
    ("units 50", "50", 50),
    ("units 100", "100", 100),
    ("units 200", "200", 200),
    ("units 500", "500", 500),
    ("units 1000", "1000", 1_000),
];

/// Who plays the first army: two bots are watched.
const SIDES: [Offer<'_, bool>; 2] = [("side person", "You", false), ("side bots", "Two bots", true)];

const LETTERS: [Offer<'_, Letters>; 5] = [
    ("letters auto", "Auto", Letters::Auto),
    ("letters 100", "100 %", Letters::Percent(100)),
    ("letters 125", "125 %", Letters::Percent(125)),
    ("letters 150", "150 %", Letters::Percent(150)),
    ("letters 200", "200 %", Letters::Percent(200)),
];

/// Width of the names of the rows, height of a row, and of the lowest one, pixels.
const NAMES: f32 = 66.0;
const ROW: f32 = 38.0;
const ROW_LEAST: f32 = 23.0;

/// Height of a row that a finger finds, pixels.
const ROW_FINGER: f32 = 35.0;

/// Width of a card with two columns, and of what is around it at least, pixels.
const WIDE: f32 = 720.0;
const WIDE_FROM: f32 = 600.0;

/// Number of rows, and the height of everything else.
const ROWS: f32 = 6.0;
const REST: f32 = 136.0;

/// Width of the button that leads to the other page, pixels.
const FRIENDS: f32 = 124.0;

/// What the person has pressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MenuAction {
    Start,
    Close,
    /// Away from the battle: the cubes, and the newest replay.
    Cubes,
    LastReplay,
    /// To an earlier moment of the running battle.
    LookBack,
    /// To a match with others.
    Online(FriendsAction),
}

/// The buttons below.
const ACTIONS: [Offer<'_, MenuAction>; 5] = [
    ("start", "Start", MenuAction::Start),
    ("close menu", "Close", MenuAction::Close),
    ("look back", "Look back", MenuAction::LookBack),
    ("to cubes", "Cubes", MenuAction::Cubes),
    ("last replay", "Replay", MenuAction::LastReplay),
];

/// A bot in a sentence: "the easy bot".
pub(crate) fn bot(level: Level) -> String {
    let word = bots(Some(level)).into_iter().find_map(|(_, word, of)| (of == Some(level)).then_some(word));
    format!("the {} bot", word.unwrap_or("other").to_lowercase())
}

/// What is chosen so far.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Menu {
    pub(crate) setup: Setup,
    /// None of an enemy who does nothing.
    pub(crate) level: Option<Level>,
    /// Bots play both armies.
    pub(crate) is_watched: bool,
    /// There is a replay to look at.
    has_replay: bool,
    /// The bot in the running battle, the units of each army, and the seed.
    bot: Option<Level>,
    units: u32,
    seed: u64,
    /// The other page, if it is open.
    pub(crate) friends: Option<Friends>,
}

/// The sizes of [`SIZES`], and the running battle's, which an address or a command line may have set, in ascending order.
fn sizes(running: u32, word: &str) -> Vec<Offer<'_, u32>> {
    let mut sizes = SIZES.to_vec();
    if let Err(place) = sizes.binary_search_by_key(&running, |size| size.2) {
        sizes.insert(place, ("units running", word, running));
    }
    sizes
}

/// The levels of [`LEVELS`], and the running battle's.
fn bots(running: Option<Level>) -> Vec<Offer<'static, Option<Level>>> {
    let other = OTHERS.into_iter().filter(|offer| offer.2 == running);
    LEVELS.into_iter().map(|(name, word, level)| (name, word, Some(level))).chain(other).collect()
}

impl Menu {
    /// What is chosen first: what the running battle has.
    pub(crate) fn new(setup: Setup, level: Option<Level>, is_watched: bool, has_replay: bool) -> Self {
        let Setup { units, seed, .. } = setup;
        Self { setup, level, is_watched, has_replay, bot: level, units, seed, friends: None }
    }

    /// Draws the card in the middle of a rectangle.
    pub(crate) fn draw(&mut self, ui: &mut Ui, around: Rect) -> Option<MenuAction> {
        // On a phone that lies on its side there are two columns: in one, rows would be 18 pixels high, too low for a finger.
        let fits = |columns: f32| ((around.h - 8.0 - REST) * columns / ROWS).min(ROW);
        let columns = if fits(1.0) < ROW_FINGER && around.w >= WIDE_FROM { 2.0 } else { 1.0 };
        let high = fits(columns).max(ROW_LEAST);
        let (wide, tall) = match self.friends {
            Some(_) => (480.0, friends::HEIGHT),
            None => (480.0 + (columns - 1.0) * (WIDE - 480.0), ROWS / columns * high + REST),
        };
        let card = card::middle(around, wide, tall);
        ui.card("menu card", card, PANEL, (4.0, LINE));
        if let Some(friends) = &mut self.friends {
            let action = friends.draw(ui, card);
            self.friends.take_if(|_| action == Some(FriendsAction::Back));
            return action.filter(|action| *action != FriendsAction::Back).map(MenuAction::Online);
        }
        let x = card.x + 22.0;
        ui.pen.strong("The next battle", x, card.y + 36.0, LARGE, TEXT);
        let button = Rect::new(card.right() - 22.0 - FRIENDS, card.y + 16.0, FRIENDS, 28.0);
        if ui.button("friends", button, "With friends", false) {
            self.friends = Some(Friends::opened());
        }
        let wide = (card.w - 44.0 - (columns - 1.0) * 16.0) / columns;
        let row = |n: f32| {
            let column = (n * columns / ROWS).floor();
            let line = n - column * ROWS / columns;
            Rect::new(x + column * (wide + 16.0), card.y + 56.0 + line * high, wide, high * 0.84)
        };
        let Setup { map, units, seed, .. } = &mut self.setup;
        let offered = MAPS.map(|(name, word, offer)| (name, word, offer.and_then(maps::named)));
        choose(ui, row(0.0), "Map", &offered, map);
        choose(ui, row(1.0), "Bot", &bots(self.bot), &mut self.level);
        choose(ui, row(2.0), "Units", &sizes(self.units, &self.units.to_string()), units);
        choose(ui, row(3.0), "Plays", &SIDES, &mut self.is_watched);
        let next = self.seed.wrapping_add(1);
        let words = [self.seed, next].map(|seed| seed.to_string());
        let seeds = [("seed same", words[0].as_str(), self.seed), ("seed next", &words[1], next)];
        choose(ui, row(4.0), "Seed", &seeds, seed);
        // This one holds at once.
        let mut letters = screen::letters();
        let last = Rect { y: card.bottom() - 54.0 - high, ..row(5.0) };
        let fitting: Vec<_> = LETTERS.into_iter().filter(|(.., size)| size.fits()).collect();
        choose(ui, last, "Text size", &fitting, &mut letters);
        screen::set_letters(letters);
        let actions = &ACTIONS[..if self.has_replay { 5 } else { 4 }];
        let below = Rect::new(x, card.bottom() - 46.0, card.w - 44.0, 32.0);
        let buttons = actions.iter().map(|(name, word, action)| (*name, *word, *action == MenuAction::Start));
        ui.row(below, 8.0, buttons).map(|n| actions[n].2)
    }
}

/// A row of buttons, one of which is lit: the chosen one.
fn choose<T: Copy + PartialEq>(ui: &mut Ui, rect: Rect, name: &str, offers: &[Offer<'_, T>], chosen: &mut T) {
    ui.pen.label(name, Rect { w: NAMES, ..rect }, Align::Left, SMALL, TEXT_DIM);
    let row = Rect { x: rect.x + NAMES, w: rect.w - NAMES, ..rect };
    let buttons = offers.iter().map(|(script, word, offer)| (*script, *word, *chosen == *offer));
    if let Some(n) = ui.row(row, 6.0, buttons) {
        *chosen = offers[n].2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bot_of_the_running_battle_is_offered_whatever_it_is() {
        for running in [Some(Level::Clumsy), Some(Level::Easy), Some(Level::Normal), Some(Level::Hard), None]
        {
            let offered = bots(running);
            assert_eq!(offered.iter().filter(|offer| offer.2 == running).count(), 1, "{running:?}");
            assert!((3..=4).contains(&offered.len()), "{running:?}");
        }
        assert_eq!(bot(Level::Clumsy), "the clumsy bot");
    }

    #[test]
    fn a_size_of_its_own_is_offered_too() {
        let offered = |running: u32| sizes(running, "").iter().map(|size| size.2).collect::<Vec<_>>();
        assert_eq!(offered(100), [50, 100, 200, 500, 1_000]);
        assert_eq!(offered(40), [40, 50, 100, 200, 500, 1_000]);
        assert_eq!(offered(5_000), [50, 100, 200, 500, 1_000, 5_000]);
    }
}
