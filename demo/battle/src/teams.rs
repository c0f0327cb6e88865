//! Teams: armies that do not fight each other, and win and lose together. Without teams every army fights every other.

use testudo_lockstep::{BitReader, BitWriter, DecodeError};

use crate::Game;
use crate::setup::ARMIES_MAX;
use crate::unit::{Deed, Foe, Task};

/// The highest number of a team.
pub const TEAMS_MAX: u8 = 8;

/// Teams are settled within this many frames (10 s), before armies meet, or not at all: nobody changes sides in a battle.
const SETTLED_WITHIN: u64 = 200;

/// The team of each army in order, 1..=[`TEAMS_MAX`]; 0: none, the army is for itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Teams([u8; ARMIES_MAX as usize]);

impl Teams {
    /// From a list by army; armies beyond it are in no team. None if it is too long, or a number too high.
    pub fn new(list: &[u8]) -> Option<Self> {
        let mut teams = Self::default();
        teams.0.get_mut(..list.len())?.copy_from_slice(list);
        list.iter().all(|team| *team <= TEAMS_MAX).then_some(teams)
    }

    /// The team of an army; 0: none.
    pub fn of(&self, army: u8) -> u8 {
        self.0.get(usize::from(army)).copied().unwrap_or(0)
    }

    /// Puts an army into a team. Numbers out of range change nothing.
    pub fn set(&mut self, army: u8, team: u8) {
        if let Some(slot) = self.0.get_mut(usize::from(army)).filter(|_| team <= TEAMS_MAX) {
            *slot = team;
        }
    }

    /// Whether any army is in a team.
    pub fn are_any(&self) -> bool {
        self.0.iter().any(|team| *team > 0)
    }

    /// The first `armies` of them, which are in a match.
    pub(crate) fn first(self, armies: u8) -> Self {
        Self(core::array::from_fn(|army| if army < usize::from(armies) { self.0[army] } else { 0 }))
    }

    /// Number of sides among the first `armies`: teams, and armies that are for themselves.
    pub fn sides(&self, armies: u8) -> usize {
        (0..armies).filter(|army| self.leader(*army) == *army).count()
    }

    /// The army with the lowest number on an army's side, which stands for it in results.
    pub(crate) fn leader(&self, army: u8) -> u8 {
        (0..army).find(|other| self.are_friends(*other, army)).unwrap_or(army)
    }

    /// Whether two armies are on the same side; an army is its own friend.
    pub fn are_friends(&self, one: u8, other: u8) -> bool {
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
    pub fn teams(&self) -> &Teams {
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

    /// Whether a unit fights a friend, or is to do so.
    pub(crate) fn fights_a_friend(&self, unit: u32) -> bool {
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
