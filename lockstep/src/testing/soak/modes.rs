//! How a match is played besides its network and its faults. Each mode has a random stream of its own: a new one leaves all else of a seed as it was.

use crate::session::config::Controls;
use crate::testing::soak::dice::Dice;
use crate::value::entry::{SPEED_PERCENT_MAX, SPEED_PERCENT_MIN, SPEED_PERCENT_USUAL};
use crate::value::time::Duration;

/// The streams.
const SIGNED: u64 = 0x7369_676e;
const CONTROLS: u64 = 0x636f_6e74;
const WATCH_DELAY: u64 = 0x6465_6c61;
const TALK: u64 = 0x7461_6c6b;
const SAVE: u64 = 0x7361_7665;

/// What a seed draws besides.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Modes {
    pub(super) signed: Option<Signed>,
    pub(super) controls: Controls,
    /// In order of time.
    pub(super) speeds: Vec<Speed>,
    /// How much later than the players watchers see the match, if there are any.
    pub(super) watch_delay: Duration,
    /// Once in this many turns each player says something.
    pub(super) talk_every: Option<u32>,
    /// When a player asks for a save, from which a second match goes on; and which player.
    pub(super) save: Option<(Duration, u8)>,
}

/// The players sign statements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Signed {
    /// A program that is started again knows what its player has signed.
    pub(super) remembers: bool,
}

/// A player asks for another speed; all of them, if the majority decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Speed {
    /// From the first turn on.
    pub(super) at: Duration,
    pub(super) player: u8,
    /// Of real time.
    pub(super) percent: u8,
}

impl Modes {
    pub(super) fn of(seed: u64, players: u8) -> Self {
        let (controls, speeds) = controls(seed, players);
        Self {
            signed: signed(seed),
            controls,
            speeds,
            watch_delay: watch_delay(seed),
            talk_every: talk_every(seed),
            save: save(seed, players),
        }
    }

    /// Those of the match that goes on from the save.
    pub(super) fn resumed(&self) -> Self {
        Self { speeds: Vec::new(), save: None, ..self.clone() }
    }

    /// So many times as long as at the usual speed may everything take.
    pub(super) fn slowest_times(&self) -> u64 {
        let slowest = self.speeds.iter().map(|speed| speed.percent).min().unwrap_or(SPEED_PERCENT_USUAL);
        u64::from(SPEED_PERCENT_USUAL).div_ceil(slowest.into())
    }

    /// Who has to ask for something that this player wants of the match.
    pub(super) fn askers(&self, player: u8, players: u8) -> core::ops::Range<u8> {
        match self.controls {
            Controls::Everybody => player..player + 1,
            Controls::Majority => 0..players,
            Controls::HostPlayer => 0..1,
        }
    }
}

/// One of three matches, if this build can sign.
fn signed(seed: u64) -> Option<Signed> {
    let mut dice = Dice::of(seed, SIGNED);
    let is_signed = dice.between(0, 2) == 0;
    let remembers = dice.between(0, 1) == 0;
    (is_signed && cfg!(feature = "signed")).then_some(Signed { remembers })
}

/// In one of three matches the speed changes.
fn controls(seed: u64, players: u8) -> (Controls, Vec<Speed>) {
    let mut dice = Dice::of(seed, CONTROLS);
    let controls = [Controls::Everybody, Controls::Everybody, Controls::Majority, Controls::HostPlayer]
        [dice.between(0, 3) as usize];
    let count = if dice.between(0, 2) == 0 { dice.between(1, 5) } else { 0 };
    let mut speed = |_| {
        let (slowest, fastest) =
            if dice.between(0, 7) == 0 { (SPEED_PERCENT_MIN, 60) } else { (60, SPEED_PERCENT_MAX) };
        Speed {
            at: Duration::from_millis(dice.between(500, 14_000) as u64),
            player: dice.between(0, i32::from(players) - 1) as u8,
            percent: dice.between(slowest.into(), fastest.into()) as u8,
        }
    };
    let mut speeds: Vec<Speed> = (0..count).map(&mut speed).collect();
    speeds.sort_by_key(|speed| speed.at);
    (controls, speeds)
}

/// In one of two matches.
fn watch_delay(seed: u64) -> Duration {
    let mut dice = Dice::of(seed, WATCH_DELAY);
    let is_delayed = dice.between(0, 1) == 0;
    Duration::from_millis(if is_delayed { dice.between(300, 6_000) as u64 } else { 0 })
}

/// In one of two matches.
fn talk_every(seed: u64) -> Option<u32> {
    let mut dice = Dice::of(seed, TALK);
    (dice.between(0, 1) == 0).then(|| dice.between(6, 30) as u32)
}

/// In one of three matches.
fn save(seed: u64, players: u8) -> Option<(Duration, u8)> {
    let mut dice = Dice::of(seed, SAVE);
    let is_saved = dice.between(0, 2) == 0;
    let at = Duration::from_millis(dice.between(300, 12_000) as u64);
    let player = dice.between(0, i32::from(players) - 1) as u8;
    is_saved.then_some((at, player))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_is_drawn() {
        let modes: Vec<Modes> = (0..200).map(|seed| Modes::of(seed, 4)).collect();
        let count = |is: &dyn Fn(&Modes) -> bool| modes.iter().filter(|modes| is(modes)).count();
        for remembers in [true, false] {
            let drawn = count(&|modes| modes.signed == Some(Signed { remembers }));
            assert!((20..60).contains(&drawn) || cfg!(not(feature = "signed")), "{drawn}");
        }
        for controls in [Controls::Everybody, Controls::Majority, Controls::HostPlayer] {
            assert!(
                count(&|modes| modes.controls == controls && !modes.speeds.is_empty()) > 5,
                "{controls:?}"
            );
        }
        assert!((80..120).contains(&count(&|modes| modes.watch_delay > Duration::ZERO)));
        assert!((80..120).contains(&count(&|modes| modes.talk_every.is_some())));
        assert!((45..90).contains(&count(&|modes| modes.save.is_some())));
    }

    #[test]
    fn whoever_decides_asks() {
        let mut modes = Modes::of(0, 4);
        let mut asked = |controls| {
            modes.controls = controls;
            modes.askers(2, 4)
        };
        assert_eq!(asked(Controls::Everybody), 2..3);
        assert_eq!((asked(Controls::Majority), asked(Controls::HostPlayer)), (0..4, 0..1));
    }
}
