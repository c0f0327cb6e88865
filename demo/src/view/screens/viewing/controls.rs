//! Keys and mouse in the window of a replay.

use macroquad::input::{KeyCode, is_key_down, is_key_pressed};

use crate::view::command::controls::digits;
use crate::view::screens::clients::Replayed;
use crate::view::screens::viewing::{Back, Viewing};
use crate::view::widgets::keys::Act;

/// How far the arrow keys go, milliseconds.
const LEAP_MS: i64 = 5_000;

/// What leads to another frame: its key, its button's script name, label and width, and the room after that, pixels.
type Move = (KeyCode, &'static str, &'static str, f32, f32, Act<Viewing>);

pub(super) const MOVES: [Move; 5] = [
    (KeyCode::Home, "start", "|<", 34.0, 4.0, |viewing| viewing.go(0)),
    (KeyCode::B, "back", "<", 34.0, 4.0, |viewing| viewing.step(-1)),
    (KeyCode::Space, PLAY, "Play", 74.0, 4.0, Viewing::toggle_play),
    (KeyCode::N, "step", ">", 34.0, 4.0, |viewing| viewing.step(1)),
    (KeyCode::End, "end", ">|", 34.0, 18.0, |viewing| viewing.go(u64::MAX)),
];

/// The button that is lit while the replay plays.
pub(super) const PLAY: &str = "play";

impl Viewing {
    pub(super) fn read_all(&mut self, seconds: f32) {
        self.stage.read_keys();
        if is_key_pressed(KeyCode::Escape) {
            self.wants = self.way_back.filter(|back| *back == Back::Running && !self.stage.shows_help);
            self.stage.shows_help = false;
            self.follow(None);
        }
        self.read_transport();
        for (digit, _) in digits(is_key_pressed) {
            match (digit as u8).checked_sub(1) {
                None => self.follow(None),
                Some(player) if player < self.course.terms().setup.players => self.follow(Some(player)),
                Some(_) => {}
            }
        }
        let mut clients = Replayed { course: &self.course, followed: self.followed, alpha: 65_536 };
        let is_covered = self.stage.shows_help;
        // Moving the picture by hand ends following.
        if self.board.read(&mut self.stage, &mut clients, is_covered, seconds) {
            self.follow(None);
        }
    }

    fn read_transport(&mut self) {
        /// What each key does that has no button.
        const KEYS: [(KeyCode, Act<Viewing>); 3] = [
            (KeyCode::Right, |viewing| viewing.leap(LEAP_MS)),
            (KeyCode::Left, |viewing| viewing.leap(-LEAP_MS)),
            (KeyCode::X, Viewing::go_to_divergence),
        ];
        let control = is_key_down(KeyCode::LeftControl) || is_key_down(KeyCode::RightControl);
        if control {
            return;
        }
        let all = MOVES.iter().map(|(key, .., act)| (*key, *act)).chain(KEYS);
        all.filter(|(key, _)| is_key_pressed(*key)).for_each(|(_, act)| act(self));
        self.pace.read_keys(&mut self.stage.log);
    }
}
