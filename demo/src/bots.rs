//! Players without a person: what a bot orders is a pure function of the state at the start of the turn, the match's seed
//! and its own number.
//!
//! A bot gathers, attacks with both wings and the archers behind them, takes barracks before keeps, falls back to its base when too few are
//! left, and defends it when somebody comes.

use testudo_lockstep::{PlayerId, Turn};

use crate::game::{
    ARCHERS, Area, BuildingLook, Command, Dice, Foe, Game, LEFT_WING, Order, Place, Point, RIGHT_WING,
    Selection, UNIT,
};

/// A bot gives an order in every third turn; bots take turns, so that not all orders come at once.
const TURNS_PER_ORDER: u32 = 3;

/// An enemy this near to the base (raw, from centre to centre) is driven away first.
const ALARM: i32 = 25 * UNIT;

/// How roughly an enemy's place is looked at, raw.
const ROUGH: i32 = 8 * UNIT;

/// Below one in so many of its full strength an army falls back, unless the enemy has even fewer.
const WEAK_PART: u32 = 3;

/// What the army as a whole is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Plan {
    /// Drive away who has come to the base.
    Defend(Point),
    /// Wait at the base for recruits.
    FallBack(Point),
    /// Take a building.
    Take(BuildingLook),
    /// Nobody is left to fight: walk about.
    Rest,
}

/// The order that a bot gives at the start of a turn, if any.
pub(crate) fn order(game: &Game, player: PlayerId, turn: Turn) -> Option<Order> {
    let player = player.0;
    if turn.0 == 0 {
        return Some(Order { units: Selection::All, command: attack(Point::ZERO) });
    }
    let clock = turn.0 + u32::from(player);
    if !clock.is_multiple_of(TURNS_PER_ORDER) {
        return None;
    }
    let mut dice = dice(game.setup().seed, player, turn);
    let slot = clock / TURNS_PER_ORDER % 6;
    let (units, command) = match (plan(game, player), slot) {
        (_, 5) => rare(game, player, &mut dice)?,
        (Plan::Rest, _) => (Selection::All, attack(spread(Point::ZERO, 15, &mut dice))),
        (Plan::Defend(place), 0..=3) => (Selection::All, attack(place)),
        (Plan::FallBack(place), 0 | 1) => (Selection::All, Command::Move(Place::near(place))),
        (Plan::Take(building), 0) => {
            (Selection::Group(LEFT_WING), attack(beside(game, player, &building, -1)))
        }
        (Plan::Take(building), 1) => {
            (Selection::Group(RIGHT_WING), attack(beside(game, player, &building, 1)))
        }
        (Plan::Take(building), 2) => {
            (Selection::Group(ARCHERS), attack(behind(game, player, building.centre)))
        }
        (Plan::Take(building), 3) => (recruits(game, player)?, attack(building.centre)),
        (Plan::Take(building), _) => (about(&building), Command::Strike(Foe::Building(building.number))),
        (Plan::Defend(_) | Plan::FallBack(_), _) => return None,
    };
    Some(Order { units, command })
}

fn attack(place: Point) -> Command {
    Command::Attack(Place::near(place))
}

/// Random numbers of one player in one turn.
fn dice(seed: u64, player: u8, turn: Turn) -> Dice {
    Dice::new(seed ^ u64::from(turn.0) << 8 ^ u64::from(player))
}

fn plan(game: &Game, player: u8) -> Plan {
    let Some(home) = game.base(player) else { return Plan::Rest };
    let (own, middle) = game.middle(player).unwrap_or((0, home));
    let enemies = (0..game.setup().players).filter(|army| *army != player);
    let (mut strongest, mut nearest) = (0, None);
    for (count, place) in enemies.filter_map(|army| game.middle(army)) {
        strongest = strongest.max(count);
        let candidate = (home.distance_squared(place), place);
        nearest = Some(nearest.map_or(
            candidate,
            |nearest: (u64, Point)| if candidate.0 < nearest.0 { candidate } else { nearest },
        ));
    }
    if let Some((away, place)) = nearest
        && away <= crate::game::squared(ALARM)
    {
        // Who follows every step of the enemy looks for a new way all the time.
        let rough = |part: i32| part.div_euclid(ROUGH) * ROUGH + ROUGH / 2;
        return Plan::Defend(Point { x: rough(place.x), y: rough(place.y) });
    }
    let is_weak = own * WEAK_PART < game.setup().units && own < strongest + strongest / 4;
    if is_weak && game.reserve(player) > 0 {
        return Plan::FallBack(home);
    }
    let targets = game.building_looks().filter(|building| building.army != player);
    // Barracks before the keep of the same army, the nearest army first.
    let nearest = targets.min_by_key(|building| {
        let base = game.base(building.army).unwrap_or(building.centre);
        (middle.distance_squared(base), building.is_keep, middle.distance_squared(building.centre))
    });
    nearest.map_or(Plan::Rest, Plan::Take)
}

/// A place at most `units` away on each axis.
fn spread(place: Point, units: i32, dice: &mut Dice) -> Point {
    let reach = units * UNIT;
    place.offset(dice.between(-reach, reach), dice.between(-reach, reach))
}

/// Left (-1) or right (1) of a building, as seen from home.
fn beside(game: &Game, player: u8, building: &BuildingLook, side: i32) -> Point {
    let home = game.base(player).unwrap_or(Point::ZERO);
    let way = home.towards(building.centre, building.half.x + 3 * UNIT);
    building.centre.offset(-way.y * side, way.x * side)
}

/// Five units short of the goal, as seen from home.
fn behind(game: &Game, player: u8, goal: Point) -> Point {
    let home = game.base(player).unwrap_or(Point::ZERO);
    let back = goal.towards(home, 5 * UNIT);
    goal.offset(back.x, back.y)
}

/// Whoever stands where recruits gather.
fn recruits(game: &Game, player: u8) -> Option<Selection> {
    let (base, half) = (game.base(player)?, game.formation_half());
    Some(Selection::Area(Area::between(base.offset(-half, -half), base.offset(half, half))))
}

/// Own units around a building.
fn about(building: &BuildingLook) -> Selection {
    let reach = building.half.x + 8 * UNIT;
    let (low, high) = (building.centre.offset(-reach, -reach), building.centre.offset(reach, reach));
    Selection::Area(Area::between(low, high))
}

/// What commanders do seldom: a patrol at home, another place for recruits, a new group, a halt.
fn rare(game: &Game, player: u8, dice: &mut Dice) -> Option<(Selection, Command)> {
    let base = game.base(player)?;
    let ahead = base.towards(Point::ZERO, 6 * UNIT);
    Some(match dice.between(0, 9) {
        0 => (recruits(game, player)?, Command::Patrol(Place::near(base.offset(ahead.y, -ahead.x)))),
        1 => (Selection::All, Command::Rally(Place::near(base.offset(ahead.x, ahead.y)))),
        2 => (recruits(game, player)?, Command::Assign(4)),
        3 => (Selection::Group(4), Command::Stop),
        _ => return None,
    })
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
    #[test]
    fn two_bots_fight_to_an_end() {
        let mut game = Game::new(Setup { players: 2, units: 30, seed: 7 }).unwrap();
        let mut turn = 0;
        while game.result().is_none() {
            for player in (0..2).map(PlayerId) {
                if let Some(order) = order(&game, player, Turn(turn)) {
                    game.apply(player, &order);
                }
            }
            (0..4).for_each(|_| game.step(20));
            turn += 1;
            assert!(turn < 6_000, "twenty minutes were not enough");
        }
        assert!(turn > 300, "over after {turn} turns of 0.2 s");
        let winner = game.result().unwrap();
        assert!(game.building_looks().all(|building| u32::from(building.army) == winner));
    }
}
