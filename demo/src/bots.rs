//! Players without a person: what a bot orders is a pure function of the state at the start of the turn, the match's seed
//! and its own number.

use testudo_lockstep::{PlayerId, Turn};

use crate::game::{
    ARCHERS, Area, Command, Dice, Game, LEFT_WING, Order, Place, Point, RIGHT_WING, Ranges, Selection, UNIT,
    guards,
};

/// A bot gives an order in every third turn; bots take turns, so that not all orders come at once.
const TURNS_PER_ORDER: u32 = 3;

/// The order that a bot gives at the start of a turn, if any.
pub(crate) fn order(game: &Game, player: PlayerId, turn: Turn) -> Option<Order> {
    if turn.0 == 0 {
        return Some(Order { units: Selection::All, command: Command::Attack(Place::near(Point::ZERO)) });
    }
    let clock = turn.0 + u32::from(player.0);
    if !clock.is_multiple_of(TURNS_PER_ORDER) {
        return None;
    }
    let mut dice = dice(game.setup().seed, player, turn);
    let goal = goal(game, player.0, &mut dice);
    let attack = |goal: Point| Command::Attack(Place::near(goal));
    let (units, command) = match clock / TURNS_PER_ORDER % 6 {
        0 => (Selection::Group(LEFT_WING), attack(spread(goal, 6, &mut dice))),
        1 => (Selection::Group(RIGHT_WING), attack(spread(goal, 6, &mut dice))),
        2 => (Selection::Group(ARCHERS), attack(behind(game, player.0, goal))),
        3 => (reinforcements(game, player.0)?, attack(goal)),
        4 => (some_guards(game, &mut dice)?, attack(spread(goal, 12, &mut dice))),
        _ => rare(game, player.0, &mut dice)?,
    };
    Some(Order { units, command })
}

/// Random numbers of one player in one turn.
fn dice(seed: u64, player: PlayerId, turn: Turn) -> Dice {
    Dice::new(seed ^ u64::from(turn.0) << 8 ^ u64::from(player.0))
}

/// The middle of the nearest enemy army, now and then that of another one; the centre if nobody is there.
fn goal(game: &Game, player: u8, dice: &mut Dice) -> Point {
    let own = game.middle(player).map_or(Point::ZERO, |(_, middle)| middle);
    let enemies = (0..game.setup().players).filter(|army| *army != player);
    let mut middles: Vec<Point> = enemies.filter_map(|army| Some(game.middle(army)?.1)).collect();
    middles.sort_by_key(|middle| own.distance_squared(*middle));
    if middles.is_empty() {
        return spread(Point::ZERO, 15, dice);
    }
    let choice = if dice.between(0, 3) == 0 { dice.between(0, middles.len() as i32 - 1) } else { 0 };
    middles[choice as usize]
}

/// A place at most `units` away on each axis.
fn spread(place: Point, units: i32, dice: &mut Dice) -> Point {
    let reach = units * UNIT;
    place.offset(dice.between(-reach, reach), dice.between(-reach, reach))
}

/// Five units short of the goal, as seen from home.
fn behind(game: &Game, player: u8, goal: Point) -> Point {
    let home = game.base(player).unwrap_or(Point::ZERO);
    let back = goal.towards(home, 5 * UNIT);
    goal.offset(back.x, back.y)
}

/// Whoever stands where reinforcements arrive.
fn reinforcements(game: &Game, player: u8) -> Option<Selection> {
    let (base, half) = (game.base(player)?, game.formation_half());
    Some(Selection::Area(Area::between(base.offset(-half, -half), base.offset(half, half))))
}

/// Up to a quarter of the guards, next to each other in the formation.
fn some_guards(game: &Game, dice: &mut Dice) -> Option<Selection> {
    let guards = guards(game.setup().units) as i32;
    let count = (guards / 4).max(1);
    Ranges::one(dice.between(0, guards - count) as u32, count as u32).map(Selection::Units)
}

/// What commanders do seldom: fall back, halt, form a new group.
fn rare(game: &Game, player: u8, dice: &mut Dice) -> Option<(Selection, Command)> {
    let command = match dice.between(0, 5) {
        0 => Command::Move(Place::near(game.base(player)?)),
        1 => Command::Stop,
        2 => Command::Assign(4),
        _ => return None,
    };
    Some((some_guards(game, dice)?, command))
}

#[cfg(test)]
mod tests {
    use testudo_lockstep::Simulation;

    use super::*;
    use crate::game::Setup;

    #[test]
    fn bots_depend_on_nothing_but_state_seed_player_and_turn() {
        let mut game = Game::new(Setup { players: 3, units: 20, seed: 5 }).unwrap();
        let mut kinds = Vec::new();
        for turn in 0..200 {
            for player in (0..3).map(PlayerId) {
                let given = order(&game, player, Turn(turn));
                assert_eq!(given, order(&game.clone(), player, Turn(turn)));
                if let Some(order) = given {
                    kinds.push((
                        core::mem::discriminant(&order.units),
                        core::mem::discriminant(&order.command),
                    ));
                    game.apply(player, &order);
                }
            }
            game.step(20);
        }
        kinds.sort_by_key(|kind| format!("{kind:?}"));
        kinds.dedup();
        assert!(kinds.len() >= 6, "bots give few kinds of orders: {kinds:?}");
    }

    #[test]
    fn a_lonely_bot_has_something_to_do() {
        let game = Game::new(Setup { players: 1, units: 1, seed: 5 }).unwrap();
        let orders = (0..60).filter(|turn| order(&game, PlayerId(0), Turn(*turn)).is_some()).count();
        assert!(orders >= 15, "{orders} orders in 60 turns");
    }
}
