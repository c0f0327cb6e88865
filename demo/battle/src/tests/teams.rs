//! Teams: who is with whom, when that is settled, and what it changes.

use testudo_lockstep::{PlayerId, Simulation as _, state};

use crate::unit::Task;
use crate::{Command, Foe, Game, Order, Selection, Setup, Teams};

const SETUP: Setup = Setup { players: 4, units: 12, seed: 11, map: None };

fn teams(list: &[u8]) -> Teams {
    Teams::new(list).unwrap()
}

fn order(list: &[u8]) -> Order {
    Order::new(Selection::All, Command::Teams(teams(list)))
}

#[test]
fn sides_leaders_and_foes_follow_from_the_numbers() {
    let two = teams(&[3, 0, 3, 1]);
    assert_eq!([0, 1, 2, 3].map(|army| two.leader(army)), [0, 1, 0, 3]);
    assert_eq!((two.sides(4), two.sides(3), teams(&[2, 2]).sides(2)), (3, 2, 1));
    assert_eq!(two.foes_of(0), !0b101);
    assert_eq!(two.foes_of(1), !0b10, "no team is no team with others");
    assert_eq!(Teams::default().foes_of(15), !(1 << 15));
    assert_eq!((Teams::new(&[9]), Teams::new(&[0; 17])), (None, None));
    assert_eq!(teams(&[1; 16]).first(2), teams(&[1, 1]));
}

#[test]
fn teams_are_given_once_at_the_start_by_the_first_player() {
    let settled = |player, list: &[u8], frames| {
        let mut game = Game::new(SETUP).unwrap();
        (0..frames).for_each(|_| game.step(20));
        game.apply(PlayerId(player), &order(list));
        game.teams
    };
    assert_eq!(settled(0, &[1, 1, 2, 2], 199), teams(&[1, 1, 2, 2]));
    assert_eq!(settled(0, &[1, 1, 2, 2, 5, 5], 0), teams(&[1, 1, 2, 2]), "armies that do not exist");
    assert_eq!(settled(0, &[1, 1, 2, 2], 200), Teams::default(), "too late");
    assert_eq!(settled(1, &[1, 1, 2, 2], 0), Teams::default(), "not the first player");
    assert_eq!(settled(0, &[4, 4, 4, 4], 0), Teams::default(), "nobody to fight");
    let mut game = Game::new(SETUP).unwrap();
    game.apply(PlayerId(0), &order(&[1, 1, 2, 2]));
    game.apply(PlayerId(0), &order(&[1, 2, 1, 2]));
    assert_eq!(game.teams, teams(&[1, 1, 2, 2]), "once");
}

#[test]
fn who_was_sent_against_a_friend_stops() {
    let mut game = Game::new(SETUP).unwrap();
    let strike = |army: u32| Command::Strike(Foe::Unit(army * SETUP.units));
    game.apply(PlayerId(0), &Order::new(Selection::All, strike(1)));
    game.apply(PlayerId(3), &Order::new(Selection::All, strike(1)));
    let later = Order { is_queued: true, ..Order::new(Selection::All, strike(2)) };
    game.apply(PlayerId(3), &later);
    game.apply(PlayerId(0), &order(&[1, 1, 2, 2]));
    game.apply(PlayerId(1), &Order::new(Selection::All, strike(0)));
    let tasks = |army: u32| {
        let first = (army * SETUP.units) as usize;
        game.units[first..first + SETUP.units as usize].iter().all(|unit| unit.task == Task::Hold)
    };
    assert_eq!([0, 1, 3].map(tasks), [true; 3]);
}

#[test]
fn teams_are_part_of_the_checksum_and_of_what_is_saved() {
    let mut alone = Game::new(SETUP).unwrap();
    let mut with = alone.clone();
    with.apply(PlayerId(0), &order(&[1, 1, 2, 2]));
    // States are saved between a frame and the actions of the next turn.
    for game in [&mut alone, &mut with] {
        game.step(20);
    }
    let mut bytes = Vec::new();
    state::save(&mut with, &mut bytes);
    let mut loaded = alone.clone();
    state::load(&mut loaded, &bytes).unwrap();
    assert_eq!(loaded.teams, teams(&[1, 1, 2, 2]));
    for game in [&mut alone, &mut with, &mut loaded] {
        game.step(20);
    }
    assert_eq!(with.checksum(), loaded.checksum());
    assert_ne!(with.checksum(), alone.checksum());
}
