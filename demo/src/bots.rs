//! Bots: players without a person. A bot is a pure function of the state at the start of a turn, the seed and its player
//! number, and gives its orders through the same path as everybody else.

use testudo_physics::Pcg32;

use crate::game::{Battle, GROUPS, Order, Selection};

/// Turns between two orders of one bot.
const TURNS_PER_ORDER: u32 = 3;

/// What the bot of `player` orders at the start of `turn`, if anything.
pub fn order(battle: &Battle, turn: u32, player: u8) -> Option<Order> {
    if !(turn + u32::from(player)).is_multiple_of(TURNS_PER_ORDER) {
        return None;
    }
    let setup = battle.setup();
    let mut rng = Pcg32::new(setup.seed ^ u64::from(turn), u64::from(player) + 2);
    let number = turn / TURNS_PER_ORDER;
    let who = match number % 8 {
        6 => Selection::Range { first: 0, last: setup.units / 8 },
        7 => area_around_base(battle, player),
        _ => Selection::Group((number % u32::from(GROUPS)) as u8),
    };
    let to = goal(battle, player, number, &mut rng);
    Some(match rng.below(12) {
        0 => Order::Stop { who },
        1 => Order::Move { who, to },
        _ => Order::AttackMove { who, to },
    })
}

/// The reinforcements that stand at home.
fn area_around_base(battle: &Battle, player: u8) -> Selection {
    let base = battle.field().base(player);
    let reach = (battle.field().half_side - battle.field().radius).max(8);
    Selection::Area { min: base.map(|c| place(c - reach)), max: base.map(|c| place(c + reach)) }
}

/// First to the middle of the field, later against the enemy who leads, with some spread.
fn goal(battle: &Battle, player: u8, number: u32, rng: &mut Pcg32) -> [i16; 2] {
    let leader = (0..battle.setup().players)
        .filter(|&other| other != player)
        .max_by_key(|&other| (battle.armies()[usize::from(other)].kills, std::cmp::Reverse(other)));
    let target = match leader {
        Some(other) if number % 3 == 2 => battle.field().base(other),
        _ => [0, 0],
    };
    let spread = (battle.field().radius / 4).max(1);
    target.map(|c| place(c + i64::from(rng.below(2 * spread as u32 + 1)) - spread))
}

fn place(coordinate: i64) -> i16 {
    coordinate.clamp(i64::from(i16::MIN), i64::from(i16::MAX)) as i16
}
