//! Bots against bots, and against persons as scripts.

use testudo_lockstep::Simulation;
use testudo_tests::cases::{cases, share};

use super::*;
use crate::{MAP_NAMES, Map, Setup, Teams, UnitLook};

/// Two against two to the end.
#[test]
fn members_of_a_team_do_not_fight_each_other_and_win_together() {
    let mut game = Game::new(Setup { players: 4, units: 12, seed: 11, map: None }).unwrap();
    let teams = Teams::new(&[1, 2, 1, 2]).unwrap();
    game.apply(PlayerId(0), &Order::new(Selection::All, Command::Teams(teams)));
    let mut turn = 0;
    while game.result().is_none() {
        lead(&mut game, Turn(turn));
        for _ in 0..4 {
            game.step(20);
            let fights = |unit: UnitLook| game.fights_a_friend(unit.number);
            assert!(!game.unit_looks().any(fights), "turn {turn}");
        }
        turn += 1;
        assert!(turn < 9_000, "nobody has won after half an hour");
    }
    let winner = game.result().unwrap();
    assert!(winner < 2, "{winner}: the lowest number of the team that has won");
    let standing: Vec<u8> = game.building_looks().map(|building| building.army).collect();
    assert!(standing.iter().all(|army| teams.leader(*army) == winner as u8), "{standing:?}");
    assert!(game.score(0).0 + game.score(2).0 > 0 && game.score(1).0 + game.score(3).0 > 0);
}

#[test]
fn bots_depend_on_nothing_but_state_seed_player_and_turn() {
    let mut game = Game::new(Setup { players: 3, units: 80, seed: 5, map: None }).unwrap();
    let mut kinds = Vec::new();
    for turn in 0..200 {
        for player in (0..3).map(PlayerId) {
            let given = order(&game, player, Turn(turn));
            assert_eq!(given, order(&game.clone(), player, Turn(turn)));
            if let Some(order) = given {
                kinds.push((core::mem::discriminant(&order.units), core::mem::discriminant(&order.command)));
                game.apply(player, &order);
            }
        }
        game.step(20);
    }
    kinds.sort_by_key(|kind| format!("{kind:?}"));
    kinds.dedup();
    assert!(kinds.len() >= 6, "bots give few kinds of orders: {kinds:?}");
}

/// Fifteen minutes in turns of 0.2 s.
const FIFTEEN_MINUTES: u32 = 4_500;

/// Plays until a player has won, for a quarter of an hour at most; returns the number of turns of 0.2 s. `None`: an idle player.
fn play(setup: Setup, levels: [Option<Level>; 2]) -> (Game, u32) {
    let bots = |game: &Game, player: PlayerId, turn| order_at(levels[player.index()]?, game, player, turn);
    play_watched(setup, bots, |_| ())
}

/// As [`play`] with whatever gives these orders, and shows the battle after every turn.
fn play_watched(
    setup: Setup,
    orders: impl Fn(&Game, PlayerId, Turn) -> Option<Order>,
    mut watch: impl FnMut(&Game),
) -> (Game, u32) {
    let mut game = Game::new(setup).unwrap();
    let mut turn = 0;
    while game.result().is_none() && turn < FIFTEEN_MINUTES {
        for player in (0..2).map(PlayerId) {
            if let Some(order) = orders(&game, player, Turn(turn)) {
                game.apply(player, &order);
            }
        }
        (0..4).for_each(|_| game.step(20));
        watch(&game);
        turn += 1;
    }
    (game, turn)
}

#[test]
fn two_bots_fight_to_an_end() {
    let (game, turn) = play(Setup { players: 2, units: 30, seed: 7, map: None }, [Some(Level::Normal); 2]);
    let winner = game.result().expect("nobody has won after a quarter of an hour");
    assert!(turn > 300, "over after {turn} turns of 0.2 s");
    assert!(game.building_looks().all(|building| u32::from(building.army) == winner));
}

/// `demo/tests/tournament.sh` plays more of them, with 200 units.
#[test]
fn bots_on_every_map_fight_to_an_end() {
    for (seed, name) in (0..6).zip(MAP_NAMES.into_iter().cycle()) {
        let setup = Setup { players: 2, units: 40, seed, map: Map::named(name) };
        let (game, turn) = play(setup, [Some(Level::Normal); 2]);
        let scores = [game.score(0), game.score(1)];
        assert!(game.result().is_some(), "{name}, seed {seed}: nobody has won, {scores:?}");
        assert!(turn > 450, "{name}, seed {seed}: over after {turn} turns of 0.2 s");
    }
}

#[test]
fn every_level_beats_an_idle_player() {
    for (seed, level) in
        cases(100..124_u32).map(u64::from).zip([Level::Easy, Level::Normal, Level::Hard].into_iter().cycle())
    {
        let bot = seed as usize % 2;
        let mut levels = [None; 2];
        levels[bot] = Some(level);
        let (game, turn) = play(Setup { players: 2, units: 40, seed, map: None }, levels);
        let scores = [game.score(0), game.score(1)];
        assert_eq!(game.result(), Some(bot as u32), "seed {seed}, {level:?}, {turn} turns, {scores:?}");
    }
}

/// What a player does that knows Attack and no more: everybody at the enemy's keep, and again whenever recruits have gathered at home.
fn newcomer(game: &Game, player: u8, turn: u32) -> Option<Order> {
    /// A person looks home every five seconds, in turns of 0.2 s.
    const LOOKS: u32 = 25;
    if !turn.is_multiple_of(LOOKS) {
        return None;
    }
    let home = game.base(player)?;
    let near = squared(game.formation_half() + LOOSE);
    let waiting = game.places_of(player).filter(|place| home.distance_squared(*place) <= near).count();
    let keep = game.building_looks().find(|look| look.is_keep && look.army != player)?;
    let is_enough = waiting as u32 * 4 >= game.setup().units;
    is_enough.then(|| Order::new(Selection::All, attack(keep.centre)))
}

/// The winner of a match against a bot; the newcomer is player 1 in every second one.
fn against_a_newcomer(level: Level, setup: Setup) -> Option<u32> {
    let person = (setup.seed % 2) as u8;
    let orders = |game: &Game, player: PlayerId, turn: Turn| match player.0 == person {
        true => newcomer(game, person, turn.0),
        false => order_at(level, game, player, turn),
    };
    play_watched(setup, orders, |_| ()).0.result()
}

/// Against an easy bot without pauses one match of nine was won. The test stops when the matches that are left change nothing.
#[test]
fn a_newcomer_beats_easy_more_often_than_the_others() {
    const MATCHES: u64 = 12;
    let won = |level, seed: u64| {
        let map = Map::named(MAP_NAMES[seed as usize % MAP_NAMES.len()]);
        against_a_newcomer(level, Setup { players: 2, units: 40, seed, map }) == Some((seed % 2) as u32)
    };
    let easy = (0..MATCHES).filter(|seed| won(Level::Easy, *seed)).count() as u64;
    assert!(easy >= 5, "{easy} of {MATCHES} against easy");
    for level in [Level::Normal, Level::Hard] {
        let mut wins = 0;
        for seed in 0..MATCHES {
            wins += u64::from(won(level, seed));
            assert!(
                wins < easy,
                "{wins} of {} against {level:?}, {easy} of {MATCHES} against easy",
                seed + 1
            );
            if wins + (MATCHES - 1 - seed) < easy {
                break;
            }
        }
    }
}

/// The level that wins a match of 60 units; the first one is player 1 in the first three of six seeds.
fn winner_of(mut levels: [Level; 2], seed: u64) -> Option<Level> {
    if seed / 3 % 2 == 1 {
        levels.reverse();
    }
    let map = Map::named(MAP_NAMES[seed as usize % MAP_NAMES.len()]);
    let (game, _) = play(Setup { players: 2, units: 60, seed, map }, levels.map(Some));
    game.result().map(|winner| levels[winner as usize])
}

/// `demo/tests/tournament.sh` plays more of them. Once, Clumsy won 2 of 12 matches against Easy.
#[test]
fn each_level_beats_the_one_below_it_and_a_beginner_beats_easy() {
    for (better, other) in
        [(Level::Hard, Level::Normal), (Level::Normal, Level::Easy), (Level::Clumsy, Level::Easy)]
    {
        let mut won =
            cases(500..512_u32).filter(|seed| winner_of([better, other], (*seed).into()) == Some(better));
        // After two thirds the others decide nothing.
        let (all, enough) = (share(12), share(8) as usize);
        let wins = won.by_ref().take(enough).count();
        assert!(wins == enough, "{better:?} beats {other:?} {wins} of {all} times");
    }
}

/// Matches of equal bots until this many were interesting and so many of these were won: in how many somebody was behind by a fifth of an army, and in how many
/// of these the first of them won.
fn comebacks(seeds: impl Iterator<Item = u64>, enough: (u32, u32)) -> (u32, u32) {
    let (mut all, mut won) = (0, 0);
    for seed in seeds {
        if all >= enough.0 && won >= enough.1 {
            break;
        }
        let map = Map::named(MAP_NAMES[seed as usize % MAP_NAMES.len()]);
        let setup = Setup { players: 2, units: 60, seed, map };
        let mut behind = None;
        let (game, _) = play_watched(setup, order, |game| {
            let [first, second] = [0, 1].map(|army| game.score(army).1);
            if behind.is_none() && first.abs_diff(second) * 5 >= setup.units {
                behind = Some(u32::from(second > first));
            }
        });
        all += u32::from(behind.is_some());
        won += u32::from(behind.is_some() && behind == game.result());
    }
    (all, won)
}

/// It was one in eight without faster training for the side that is behind: the first clash decided.
#[test]
fn who_is_first_behind_by_a_fifth_of_an_army_often_wins() {
    // A quarter of all is enough, however the others end.
    let [interesting, enough] = [24, 8].map(|all| share(all) as u32);
    let (all, won) = comebacks(cases(700..730_u32).map(u64::from), (interesting, enough));
    assert!(all >= interesting && won * 4 >= all, "{won} of {all}");
}
