//! Teams: armies that do not fight each other, and win and lose together. Without teams every army fights every other.

use testudo_lockstep::{BitReader, BitWriter, DecodeError};

use crate::game::Game;
use crate::game::setup::ARMIES_MAX;
use crate::game::unit::{Deed, Foe, Task};

/// The highest number of a team.
pub(crate) const TEAMS_MAX: u8 = 8;

/// Teams are settled within this many frames (10 s), before armies meet, or not at all: nobody changes sides in a battle.
const SETTLED_WITHIN: u64 = 200;

/// The team of each army in order, 1..=[`TEAMS_MAX`]; 0: none, the army is for itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Teams([u8; ARMIES_MAX as usize]);

impl Teams {
    /// From a list by army; armies beyond it are in no team. None if it is too long, or a number too high.
    pub(crate) fn new(list: &[u8]) -> Option<Self> {
        let mut teams = Self::default();
        teams.0.get_mut(..list.len())?.copy_from_slice(list);
        list.iter().all(|team| *team <= TEAMS_MAX).then_some(teams)
    }

    /// The team of an army; 0: none.
    pub(crate) fn of(&self, army: u8) -> u8 {
        self.0.get(usize::from(army)).copied().unwrap_or(0)
    }

    /// Puts an army into a team. Numbers out of range change nothing.
    pub(crate) fn set(&mut self, army: u8, team: u8) {
        if let Some(slot) = self.0.get_mut(usize::from(army)).filter(|_| team <= TEAMS_MAX) {
            *slot = team;
        }
    }

    /// Whether any army is in a team.
    pub(crate) fn are_any(&self) -> bool {
        self.0.iter().any(|team| *team > 0)
    }

    /// The first `armies` of them, which are in a match.
    pub(crate) fn first(self, armies: u8) -> Self {
        Self(core::array::from_fn(|army| if army < usize::from(armies) { self.0[army] } else { 0 }))
    }

    /// Number of sides among the first `armies`: teams, and armies that are for themselves.
    pub(crate) fn sides(&self, armies: u8) -> usize {
        (0..armies).filter(|army| self.leader(*army) == *army).count()
    }

    /// The army with the lowest number on an army's side, which stands for it in results.
    pub(crate) fn leader(&self, army: u8) -> u8 {
        (0..army).find(|other| self.are_friends(*other, army)).unwrap_or(army)
    }

    /// Whether two armies are on the same side; an army is its own friend.
    pub(crate) fn are_friends(&self, one: u8, other: u8) -> bool {
        one == other || (self.of(one) > 0 && self.of(one) == self.of(other))
    }

    /// Bit `n`: army `n` is no friend.
    pub(crate) fn foes_of(&self, army: u8) -> u16 {
        if self.of(army) == 0 {
            return !(1 << army);
        }
        (0..ARMIES_MAX).map(|other| u16::from(!self.are_friends(army, other)) << other).sum()
    }

    pub(super) fn encode(&self, out: &mut BitWriter) {
        self.0.iter().for_each(|team| out.write_bits(u64::from(*team), 4));
    }

    pub(super) fn decode(input: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        let mut teams = Self::default();
        for team in &mut teams.0 {
            *team = input.read_max(4, u64::from(TEAMS_MAX))? as u8;
        }
        Ok(teams)
    }
}

impl Game {
    /// Who is with whom.
    pub(crate) fn teams(&self) -> &Teams {
        &self.teams
    }

    /// The teams that the first player's program has given. It does so once, at the start; if that would leave nobody to fight, or comes later,
    /// nothing changes.
    pub(super) fn settle_teams(&mut self, army: u8, teams: Teams) {
        let teams = teams.first(self.setup.players);
        let is_late = self.frame >= SETTLED_WITHIN || self.teams.are_any();
        if army != 0 || is_late || teams.sides(self.setup.players) < 2 {
            return;
        }
        self.teams = teams;
        // Orders of the first turns may have named units that are friends now.
        let units = 0..self.units.len() as u32;
        let confused: Vec<u32> = units.filter(|unit| self.fights_a_friend(*unit)).collect();
        self.stop(&confused);
    }

    fn fights_a_friend(&self, unit: u32) -> bool {
        let unit = &self.units[unit as usize];
        let present = if let Task::Strike { foe, .. } = unit.task { Some(foe) } else { None };
        let later = unit.errands.iter().filter_map(|errand| match errand.deed {
            Deed::Strike(foe) => Some(foe),
            _ => None,
        });
        let is_friend = |foe: Foe| self.teams.are_friends(unit.army, self.owner_of(foe));
        unit.target.into_iter().chain(present).chain(later).any(is_friend)
    }

    /// The army of a unit or a building of this match, standing or not.
    fn owner_of(&self, foe: Foe) -> u8 {
        match foe {
            Foe::Unit(number) => self.units[number as usize].army,
            Foe::Building(number) => self.buildings[number as usize].army,
        }
    }
}

#[cfg(test)]
mod tests {
    use testudo_lockstep::{PlayerId, Simulation as _, state};

    use super::*;
    use crate::bots;
    use crate::game::{Command, Order, Selection, Setup};

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

    /// Two against two, bots on all sides, to the end.
    #[test]
    fn members_of_a_team_do_not_fight_each_other_and_win_together() {
        let mut game = Game::new(SETUP).unwrap();
        game.apply(PlayerId(0), &order(&[1, 2, 1, 2]));
        let friends = |game: &Game, unit: &crate::game::Unit| {
            unit.target.is_some_and(|foe| game.teams.are_friends(unit.army, game.owner_of(foe)))
        };
        let mut turn = 0;
        while game.result().is_none() {
            for player in (0..4).map(PlayerId) {
                if let Some(order) = bots::order(&game, player, testudo_lockstep::Turn(turn)) {
                    game.apply(player, &order);
                }
            }
            for _ in 0..4 {
                game.step(20);
                assert!(!game.units.iter().any(|unit| friends(&game, unit)), "turn {turn}");
            }
            turn += 1;
            assert!(turn < 9_000, "nobody has won after half an hour");
        }
        let winner = game.result().unwrap();
        assert!(winner < 2, "{winner}: the lowest number of the team that has won");
        let standing: Vec<u8> = game.building_looks().map(|building| building.army).collect();
        assert!(standing.iter().all(|army| game.teams.leader(*army) == winner as u8), "{standing:?}");
        assert!(game.score(0).0 + game.score(2).0 > 0 && game.score(1).0 + game.score(3).0 > 0);
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
}
