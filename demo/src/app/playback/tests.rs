//! Recorded battles for the tests of this folder. `tests/lockstep/viewing.rs` tries seeking and comparing.

use testudo_lockstep::replay::{Ending, Recorded, Replay};
use testudo_lockstep::{PlayerId, Simulation, Turn};

use crate::app::playback::{Budget, Course};
use crate::app::{Terms, replay_header};
use testudo_battle::bots;
use testudo_battle::{Game, Setup};

fn terms(turns: u32) -> Terms {
    Terms { setup: Setup { players: 2, units: 12, seed: 5, map: None }, turns }
}

/// Two bots, in turns of four frames. `gone`: a player leaves in this turn.
pub(super) fn record(turns: u32, gone: Option<(u32, u8)>) -> Replay {
    recorded(&terms(turns), gone, |_| 4)
}

/// A match of two bots, in turns of so many frames.
pub(crate) fn recorded(terms: &Terms, gone: Option<(u32, u8)>, frames: fn(u32) -> u32) -> Replay {
    let header = replay_header(terms);
    let mut game = Recorded::new(Game::new(terms.setup).unwrap(), &header);
    for turn in 0..terms.turns {
        for player in (0..2).map(PlayerId) {
            if gone == Some((turn, player.0)) {
                game.player_gone(player, Turn(turn));
            }
            if gone.is_none_or(|(gone, who)| turn < gone || who != player.0)
                && let Some(order) = bots::order(game.game(), player, Turn(turn))
            {
                game.apply(player, &order);
            }
        }
        (0..frames(turn)).for_each(|_| game.step(20));
        let checksum = game.checksum();
        game.turn_ended(Turn(turn), checksum);
    }
    game.finish(Ending::Over);
    Replay::read(game.take_bytes(), header.sim_version).unwrap()
}

pub(crate) fn course(turns: u32) -> Course {
    Course::new(record(turns, None), terms(turns)).unwrap()
}

pub(super) fn check_all(course: &mut Course) {
    while !course.is_checked() {
        course.spend_on_check(&mut Budget::frames(50));
    }
}
