//! Heavy mode: games that forget something when they are restored, in a match that would never notice.

use testudo_lockstep::state::{self, State, StateError, Visit};
use testudo_lockstep::testing::{Heavy, TrialFault};
use testudo_lockstep::{Driver, Instant, PlayerId, Session, SessionConfig, Simulation, Turn};

use crate::toy::Keys;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Fault {
    None,
    /// The rate is not in the walk.
    RateForgotten,
    /// ... but in the checksum.
    RateOnlyHashed,
    /// What orders add up to is kept beside the state: only a restored game that is told an order differs.
    SumForgotten,
    SavesNothing,
    RefusesItsOwn,
}

/// How much is dug.
type Dig = Keys<8>;

#[derive(Clone, Debug)]
struct Mine {
    fault: Fault,
    gold: u32,
    rate: u32,
    sum: u32,
}

impl Mine {
    fn new(fault: Fault) -> Self {
        Self { fault, gold: 0, rate: 1, sum: 0 }
    }
}

impl Simulation for Mine {
    type Action = Dig;

    fn apply(&mut self, _: PlayerId, dig: &Dig) {
        self.sum += u32::from(dig.0);
        self.gold += self.sum;
    }

    fn step(&mut self, _: u32) {
        self.gold += self.rate;
        self.rate += u32::from(self.gold == 6);
    }

    fn checksum(&mut self) -> u64 {
        let hidden = if self.fault == Fault::RateOnlyHashed { self.rate } else { 0 };
        state::digest(self) ^ u64::from(hidden)
    }

    fn save_state(&mut self, out: &mut Vec<u8>) -> bool {
        state::save(self, out);
        self.fault != Fault::SavesNothing
    }

    fn load_state(&mut self, bytes: &[u8]) -> bool {
        self.fault != Fault::RefusesItsOwn && state::load(self, bytes).is_ok()
    }
}

impl State for Mine {
    fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
        v.object("mine", 0);
        v.number("gold", &mut self.gold)?;
        if !matches!(self.fault, Fault::RateForgotten | Fault::RateOnlyHashed) {
            v.number("rate", &mut self.rate)?;
        }
        if self.fault != Fault::SumForgotten {
            v.number("sum", &mut self.sum)?;
        }
        Ok(())
    }
}

/// A match of one player with turns of four frames, and an order in the third and the fifth one.
fn play(game: Heavy<Mine>) -> Heavy<Mine> {
    let config = SessionConfig::new(1).turns(10).frames_per_turn(4);
    let session = Session::single(config, Instant::ZERO).expect("settings in range");
    let mut driver = Driver::new(game, session);
    let mut now = Instant::ZERO;
    while !driver.session().is_over() {
        driver.advance_with(now, |turn, _, session| {
            if [0, 2].contains(&turn.0) {
                session.submit(&Keys(5)).expect("room for an order");
            }
        });
        now += testudo_lockstep::Duration::from_millis(10);
    }
    driver.simulation().clone()
}

fn found(fault: Fault) -> String {
    let game = play(Heavy::new(Mine::new(fault)));
    game.error().unwrap_or_else(|| panic!("{fault:?} is not found")).to_string()
}

#[test]
fn a_sound_game_passes_in_every_frame_and_plays_the_same_match() {
    let mut checked = play(Heavy::new(Mine::new(Fault::None)));
    let mut alone = play(Heavy::off(Mine::new(Fault::None)));
    assert_eq!((checked.error(), checked.frames()), (None, 40));
    assert_eq!((alone.error(), alone.frames()), (None, 0), "nothing is checked");
    assert_eq!(checked.checksum(), alone.checksum());
}

#[test]
fn the_frame_and_the_number_that_differ_are_named() {
    // Gold is 6 after frame 5; from then on the rate is 2.
    let advice = " (does `visit` show every field? or does a rule depend on addresses or the like?)";
    let number =
        |at: &str| format!("{at}: a run that was restored from the saved state differs in gold of mine 0: ");
    assert_eq!(found(Fault::RateForgotten), format!("{}8 and 7{advice}", number("turn 1, frame 6")));
    // The order of turn 4, before its first frame.
    assert_eq!(found(Fault::SumForgotten), format!("{}43 and 38{advice}", number("turn 4, frame 16")));
}

#[test]
fn what_only_the_checksum_knows_is_found() {
    let game = play(Heavy::new(Mine::new(Fault::RateOnlyHashed)));
    let error = game.error().expect("it is found");
    assert!(matches!(error.fault, TrialFault::Number { .. } | TrialFault::Checksum { .. }), "{error}");
    assert_eq!((error.turn, error.frame), (Turn(1), 6));
    assert_eq!(game.frames(), 6, "nothing is checked after it");
}

#[test]
fn a_game_that_cannot_be_saved_or_restored_is_named_at_once() {
    let refused = "turn 0, frame 0: the game refuses the state that it saved: ";
    assert_eq!(found(Fault::SavesNothing), format!("{refused}`save_state` saves nothing"));
    let what = "`load_state` does not take what `save_state` wrote";
    assert_eq!(found(Fault::RefusesItsOwn), format!("{refused}{what}"));
}

/// A flipped bit is a difference between machines, and none between a state and itself.
#[test]
fn a_game_that_was_changed_from_outside_is_saved_again() {
    let mut game = Heavy::new(Mine::new(Fault::None));
    game.step(20);
    game.turn_started(Turn(1), 4);
    game.game_mut().gold = 100;
    game.step(20);
    assert_eq!((game.error(), game.game().gold, game.frames()), (None, 101, 2));
    let mut bytes = Vec::new();
    assert!(Mine::new(Fault::None).save_state(&mut bytes));
    game.turn_started(Turn(2), 4);
    assert!(game.load_state(&bytes));
    game.step(20);
    assert_eq!((game.error(), game.game().gold, game.frames()), (None, 1, 3));
}
