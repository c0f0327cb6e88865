//! Recorded battles for the tests of this folder. `tests/lockstep/viewing.rs` tries seeking and comparing.

use testudo_lockstep::replay::{Ending, Notice, Recorder, Replay};
use testudo_lockstep::{PlayerId, Simulation, Turn};

use crate::app::playback::{Budget, Course};
use crate::app::{Terms, replay_header};
use testudo_battle::bots;
use testudo_battle::{Game, Setup};

fn terms(turns: u32) -> Terms {
    Terms { setup: Setup { players: 2, units: 12, seed: 5, map: None }, turns }
}

/// Two bots. `gone`: a player leaves in this turn.
pub(super) fn record(turns: u32, gone: Option<(u32, u8)>) -> Replay {
    let terms = terms(turns);
    let mut recorder = Recorder::new(&replay_header(&terms));
    let mut game = Game::new(terms.setup).unwrap();
    for turn in 0..turns {
        for player in (0..2).map(PlayerId) {
            if gone == Some((turn, player.0)) {
                recorder.notice(player, Notice::Gone);
                game.player_gone(player, Turn(turn));
            }
            if gone.is_none_or(|(gone, who)| turn < gone || who != player.0)
                && let Some(order) = bots::order(&game, player, Turn(turn))
            {
                recorder.action(player, &order);
                game.apply(player, &order);
            }
        }
        for _ in 0..4 {
            recorder.frame(20);
            game.step(20);
        }
        recorder.end_turn(game.checksum());
    }
    recorder.end(Ending::Over);
    Replay::read(recorder.bytes().to_vec(), Setup::sim_version()).unwrap()
}

pub(crate) fn course(turns: u32) -> Course {
    Course::new(record(turns, None), terms(turns)).unwrap()
}

pub(super) fn check_all(course: &mut Course) {
    while !course.is_checked() {
        course.spend_on_check(&mut Budget::frames(50));
    }
}
