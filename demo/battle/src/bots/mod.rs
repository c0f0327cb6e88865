//! Players without a person: what a bot orders is a pure function of the state at the start of the turn, the match's seed
//! and its own number.
//!
//! A bot goes at the enemy's army, and recruits follow at once. It falls back when too few are left, defends its base, and takes barracks and keeps once hardly
//! anybody is left to defend them. What divides the levels is how they lead, not how their units walk.

use testudo_lockstep::{PlayerId, Simulation as _, Turn};

use crate::point::mean;
use crate::{
    Area, BuildingLook, Command, Dice, Foe, Game, Order, OrderPoint, Point, Ranges, Selection, UNIT, squared,
};

/// How well a bot plays.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Level {
    /// Slow to react, and it pauses; a part of its army stays at home; as soon as somebody comes it calls everybody home, and leaves the field to them.
    Easy,
    /// Slow to react, too, but it meets the enemy and fights whoever is nearest. A part of a large army stays at home, until it is behind.
    #[default]
    Normal,
    /// Quick, sends everybody, and pushes the enemy back to its base, where recruits are trained in two of five frames then.
    Hard,
    /// In the menu only of a battle that has it: somebody who plays for the first time. What [`Level::Easy`] is measured by.
    Clumsy,
}

/// What divides the levels.
struct Skill {
    /// A bot gives an order once in this many turns; bots take turns, so that not all orders come at once.
    turns: u32,
    /// The same while an enemy comes.
    turns_pressed: u32,
    /// Precision to which it sees a position, in units: a bot that followed every step of the enemy would need new paths all the time.
    rough: i32,
    /// Of the units of a full army beyond the first number, one in the second number stays at home.
    guards: Option<(u32, u32)>,
    /// It goes on to half the way between the nearest enemy and the enemy's base.
    pushes: bool,
}

impl Level {
    const fn skill(self) -> Skill {
        match self {
            Self::Easy => Skill { turns: 8, turns_pressed: 8, rough: 6, guards: Some((0, 8)), pushes: false },
            Self::Normal => {
                Skill { turns: 4, turns_pressed: 4, rough: 10, guards: Some((60, 6)), pushes: false }
            }
            Self::Hard => Skill { turns: 3, turns_pressed: 2, rough: 6, guards: None, pushes: true },
            // Ten seconds.
            Self::Clumsy => Skill { turns: 50, turns_pressed: 50, rough: 6, guards: None, pushes: false },
        }
    }
}

/// Buildings are attacked when the enemy has fewer units than one in this many of the bot's own. A unit that strikes a wall does not fight: with one in three,
/// Hard won 88 of 120 matches against Normal instead of 116.
const FEW_PART: u32 = 8;

/// Enemies this near to the base (raw) are driven away first.
const ALARM: i32 = 22 * UNIT;

/// One in this many of a full army near the base is an alarm; the units there handle fewer enemies themselves.
const ALARM_PART: u32 = 8;

/// Beyond the radius of its formation (raw), a unit is a straggler.
const LOOSE: i32 = 9 * UNIT;

/// An enemy this near (raw) is attacked, even if some units are still on the way.
const CONTACT: i32 = 14 * UNIT;

/// Half a minute, in frames.
const HALF_MINUTE: u64 = 30 * 20;

/// What the whole army does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Plan {
    /// Drive away the enemies at the base.
    Defend(Point),
    /// Wait at the base for recruits.
    FallBack(Point),
    /// Close up.
    Gather(Point),
    /// Go to the nearest enemy, or beyond it.
    Attack(Point),
    /// Take a building.
    Take(BuildingLook),
    /// No enemy is left.
    Rest,
}

/// The part of an army that fights away from home, if it is the majority.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Force {
    count: u32,
    middle: Point,
}

/// Lets a bot of ordinary level order about every army at the start of a turn.
pub fn lead(game: &mut Game, turn: Turn) {
    for player in (0..game.setup().players).map(PlayerId) {
        if let Some(order) = order(game, player, turn) {
            game.apply(player, &order);
        }
    }
}

/// The order that a bot of ordinary level gives at the start of a turn, if any.
pub fn order(game: &Game, player: PlayerId, turn: Turn) -> Option<Order> {
    order_at(Level::default(), game, player, turn)
}

/// The order that a bot gives at the start of a turn, if any.
pub fn order_at(level: Level, game: &Game, player: PlayerId, turn: Turn) -> Option<Order> {
    // Every match takes another course, and bots do not give all of their orders in the same turn.
    let delay = dice(game.setup().seed, player.0, Turn(u32::MAX)).between(0, 31);
    let clock = turn.0 + delay.unsigned_abs();
    let player = player.0;
    let is_pressed = matches!(level, Level::Easy | Level::Hard) && somebody_comes(game, player);
    let Skill { turns, turns_pressed, .. } = level.skill();
    let every = if is_pressed { turns_pressed } else { turns };
    if !clock.is_multiple_of(every) {
        return None;
    }
    if level == Level::Clumsy {
        return storm(game, player);
    }
    if level == Level::Easy && is_pressed {
        return Some(Order::new(Selection::All, Command::Move(OrderPoint::near(game.base(player)?))));
    }
    // Once in 32 turns.
    let is_rare = clock % 32 + every >= 32;
    let force = force(game, player)?;
    let plan = match plan(level, game, player, force) {
        Plan::Gather(_) | Plan::Attack(_) | Plan::Take(_) if level == Level::Easy && pauses(game, player) => {
            Plan::FallBack(game.base(player)?)
        }
        plan => plan,
    };
    let (units, command) = match plan {
        Plan::Rest => return None,
        _ if is_rare => rare(game, player, &mut dice(game.setup().seed, player, turn))?,
        Plan::FallBack(place) => (Selection::All, Command::Move(OrderPoint::near(place))),
        Plan::Defend(place) => (Selection::All, attack(place)),
        Plan::Gather(place) | Plan::Attack(place) => (sent(level, game, player), attack(place)),
        Plan::Take(building) => (sent(level, game, player), Command::Strike(Foe::Building(building.number))),
    };
    Some(Order::new(units, command))
}

/// Everybody at the nearest keep.
fn storm(game: &Game, player: u8) -> Option<Order> {
    let home = game.base(player)?;
    let keeps =
        game.building_looks().filter(|look| look.is_keep && !game.teams().are_friends(player, look.army));
    let keep = keeps.min_by_key(|look| (home.distance_squared(look.centre), look.number))?;
    Some(Order::new(Selection::All, attack(keep.centre)))
}

/// The units that are sent away from home: everybody, once the player is behind by more than a fifth of an army.
fn sent(level: Level, game: &Game, player: u8) -> Selection {
    let (units, losses) = (game.setup().units, |player| u64::from(game.score(player).1));
    let most = losses(player) * 5;
    let is_behind = enemies(game, player).all(|enemy| losses(enemy) * 5 + u64::from(units) < most);
    let (beyond, part) = level.skill().guards.unwrap_or((units, 1));
    let guards = if is_behind { 0 } else { units.saturating_sub(beyond) / part };
    let sent = Ranges::new([(guards, units - guards)]).filter(|_| guards > 0);
    sent.map_or(Selection::All, Selection::Units)
}

fn attack(place: Point) -> Command {
    Command::Attack(OrderPoint::near(place))
}

/// Random numbers of one player in one turn.
fn dice(seed: u64, player: u8, turn: Turn) -> Dice {
    Dice::new(seed ^ u64::from(turn.0) << 8 ^ u64::from(player))
}

/// The units away from home if they are the majority; else the whole army.
fn force(game: &Game, player: u8) -> Option<Force> {
    let home = game.base(player)?;
    let at_home = squared(game.formation_half() + LOOSE);
    let whole = mean(game.places_of(player))?;
    let away = mean(game.places_of(player).filter(|place| home.distance_squared(*place) > at_home));
    let (count, middle) = away.filter(|away| away.0 * 2 > whole.0).unwrap_or(whole);
    Some(Force { count, middle })
}

fn plan(level: Level, game: &Game, player: u8, force: Force) -> Plan {
    let Some(home) = game.base(player) else { return Plan::Rest };
    if let Some(raiders) = raiders(game, player, home) {
        return Plan::Defend(rough(level, raiders));
    }
    let Force { count: own, middle } = force;
    let Some(enemy) = nearest_army(game, player, middle) else { return Plan::Rest };
    let enemies = game.places_of(enemy).count() as u32;
    if falls_back(level, game, player, own, enemies, middle) {
        return Plan::FallBack(home);
    }
    let nearest =
        game.places_of(enemy).min_by_key(|place| (middle.distance_squared(*place), place.x, place.y));
    let is_in_contact = nearest
        .is_some_and(|place| middle.distance_squared(place) <= squared(CONTACT + game.formation_half()));
    if !is_in_contact && is_scattered(game, player, force) {
        return Plan::Gather(rough(level, middle));
    }
    let base = game.base(enemy).filter(|_| level.skill().pushes);
    match nearest.filter(|_| enemies * FEW_PART >= own) {
        Some(nearest) => Plan::Attack(rough(level, base.map_or(nearest, |base| half_way(nearest, base)))),
        None => take(game, enemy, middle),
    }
}

/// At home an army waits until it is at full strength or much stronger than the enemy; away from home it stays until it is much weaker.
fn falls_back(level: Level, game: &Game, player: u8, own: u32, enemies: u32, middle: Point) -> bool {
    let Some(home) = game.base(player) else { return false };
    if game.reserve(player) == 0 || own > enemies * 2 {
        return false;
    }
    let is_at_home = middle.distance_squared(home) <= squared(game.formation_half() + LOOSE);
    if is_at_home {
        return own * 10 < game.setup().units * 9;
    }
    level != Level::Easy && own * 2 < enemies
}

/// The armies that are no friends.
fn enemies(game: &Game, player: u8) -> impl Iterator<Item = u8> {
    (0..game.setup().players).filter(move |army| !game.teams().are_friends(player, *army))
}

/// Whether an easy bot stays at home now, though nobody comes: in every second half minute, unless it is stronger. Without pauses its recruits
/// would join each fight one by one. If it also paused while it besieges somebody who does nothing, it would lose some of these matches.
fn pauses(game: &Game, player: u8) -> bool {
    let count = |army| game.places_of(army).count();
    let enemies: usize = enemies(game, player).map(count).sum();
    game.world().frame() / HALF_MINUTE % 2 == 1 && count(player) <= enemies
}

/// Whether an enemy has come two fifths of the way to the base: its square distance from there is less than twice the one from its own.
fn somebody_comes(game: &Game, player: u8) -> bool {
    let Some(home) = game.base(player) else { return false };
    let mut bases = enemies(game, player).filter_map(|enemy| Some((enemy, game.base(enemy)?)));
    bases.any(|(enemy, base)| {
        game.places_of(enemy)
            .any(|at| at.distance_squared(home) < at.distance_squared(base).saturating_mul(2))
    })
}

/// The middle of the enemies at the base, if there are many.
fn raiders(game: &Game, player: u8, home: Point) -> Option<Point> {
    let near = enemies(game, player).flat_map(|enemy| game.places_of(enemy));
    let (count, middle) = mean(near.filter(|place| home.distance_squared(*place) <= squared(ALARM)))?;
    (count * ALARM_PART >= game.setup().units).then_some(middle)
}

/// The army with the nearest base that still has a building.
fn nearest_army(game: &Game, player: u8, middle: Point) -> Option<u8> {
    let owners = game
        .building_looks()
        .map(|building| building.army)
        .filter(|army| !game.teams().are_friends(player, *army));
    owners.min_by_key(|army| (game.base(*army).map(|base| middle.distance_squared(base)), *army))
}

/// Whether too many of a force are far from its middle.
fn is_scattered(game: &Game, player: u8, Force { count, middle }: Force) -> bool {
    let reach = squared(game.formation_half() + LOOSE);
    let near = game.places_of(player).filter(|place| middle.distance_squared(*place) <= reach).count();
    (near as u32) * 3 < count * 2
}

/// A building of an army: barracks before keeps, the nearest first.
fn take(game: &Game, enemy: u8, middle: Point) -> Plan {
    let targets = game.building_looks().filter(|building| building.army == enemy);
    let nearest = targets
        .min_by_key(|building| (building.is_keep, middle.distance_squared(building.centre), building.number));
    nearest.map_or(Plan::Rest, Plan::Take)
}

/// A position as a bot sees it.
fn rough(level: Level, place: Point) -> Point {
    let cell = level.skill().rough * UNIT;
    let rough = |part: i32| part.div_euclid(cell) * cell + cell / 2;
    Point { x: rough(place.x), y: rough(place.y) }
}

/// Positions are at most 2^30.
fn half_way(from: Point, to: Point) -> Point {
    Point { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 }
}

/// The units at the rally point.
fn recruits(game: &Game, player: u8) -> Option<Selection> {
    let (base, half) = (game.base(player)?, game.formation_half());
    Some(Selection::Area(Area::between(base.offset(-half, -half), base.offset(half, half))))
}

/// Rare orders: a patrol at home, another rally point, a new group, a halt.
fn rare(game: &Game, player: u8, dice: &mut Dice) -> Option<(Selection, Command)> {
    let base = game.base(player)?;
    let ahead = base.towards(Point::ZERO, 6 * UNIT);
    Some(match dice.between(0, 9) {
        0 => (recruits(game, player)?, Command::Patrol(OrderPoint::near(base.offset(ahead.y, -ahead.x)))),
        1 => (Selection::All, Command::Rally(OrderPoint::near(base.offset(ahead.x, ahead.y)))),
        2 => (recruits(game, player)?, Command::Assign(4)),
        3 => (Selection::Group(4), Command::Stop),
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
