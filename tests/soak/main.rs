//! Random matches of a small game, sound and broken.

use core::cell::Cell;

use testudo_lockstep::state::{self, State, StateError, Visit};
use testudo_lockstep::testing::soak::{
    Faults, Finding, Plan, SoakGame, Uses, assert_soak, assert_soak_of, play,
};
use testudo_lockstep::{Action, BitReader, BitWriter, DecodeError, PlayerId, Simulation, Turn};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Push(u16);

impl Action for Push {
    const MAX_BITS: u32 = 16;

    fn encode(&self, out: &mut BitWriter) {
        out.write_bits(self.0.into(), 16);
    }

    fn decode(input: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        Ok(Self(input.read_bits(16)? as u16))
    }
}

/// Remembers everything in one number.
#[derive(Clone, Debug, Default)]
struct Toy {
    history: u64,
    events: u64,
    fault: Option<Fault>,
}

/// What one peer's program does wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    /// It ignores orders that are multiples of 16.
    Deaf,
    /// Its checksum is that of another state.
    Liar,
    /// It counts nothing.
    Idle,
}

impl Toy {
    fn mix(&mut self, value: u64) {
        self.history = (self.history ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }
}

impl State for Toy {
    fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
        v.number("history", &mut self.history)
    }
}

impl Simulation for Toy {
    type Action = Push;

    fn apply(&mut self, player: PlayerId, push: &Push) {
        self.events += u64::from(self.fault != Some(Fault::Idle));
        if self.fault != Some(Fault::Deaf) || !push.0.is_multiple_of(16) {
            self.mix(u64::from(push.0) << 8 | u64::from(player.0));
        }
    }

    fn step(&mut self, _: u32) {
        self.mix(1);
    }

    fn checksum(&mut self) -> u64 {
        let lie = u64::from(self.fault == Some(Fault::Liar));
        state::digest(self) ^ lie
    }

    fn player_gone(&mut self, player: PlayerId, _: Turn) {
        self.mix(99 + u64::from(player.0));
    }

    fn player_returned(&mut self, player: PlayerId, _: Turn) {
        self.mix(199 + u64::from(player.0));
    }

    fn play_for(&mut self, player: PlayerId, turn: Turn) {
        self.mix(299 + u64::from(player.0) + (u64::from(turn.0) << 16));
    }

    fn save_state(&mut self, out: &mut Vec<u8>) -> bool {
        state::save(self, out);
        true
    }

    fn load_state(&mut self, bytes: &[u8]) -> bool {
        state::load(self, bytes).is_ok()
    }
}

#[derive(Default)]
struct Bots {
    /// In which copies, counted as they start, and what.
    fault: Option<(core::ops::Range<u32>, Fault)>,
    started: Cell<u32>,
}

impl Bots {
    fn broken(copies: core::ops::Range<u32>, fault: Fault) -> Self {
        Self { fault: Some((copies, fault)), started: Cell::new(0) }
    }
}

impl SoakGame for Bots {
    type Game = Toy;

    fn start(&self) -> Toy {
        let number = self.started.replace(self.started.get() + 1);
        let fault = self.fault.clone().filter(|(copies, _)| copies.contains(&number)).map(|(_, fault)| fault);
        Toy { fault, ..Toy::default() }
    }

    fn order(&self, game: &Toy, player: PlayerId, turn: Turn) -> Option<Push> {
        let mut draw = game.clone();
        draw.mix(u64::from(turn.0) << 8 | u64::from(player.0));
        (draw.history >> 60 != 0).then_some(Push(draw.history as u16))
    }

    fn events(&self, game: &Toy) -> u64 {
        game.events
    }
}

#[test]
fn random_matches_come_through() {
    let (mut sum, mut uses) = (Faults::default(), Uses::default());
    // The last four have a player who takes a place that became free.
    for seed in (0..20).chain([98, 116, 120, 256]) {
        let report = play(&Plan::of(seed), &Bots::default());
        assert_eq!(report.findings, [], "seed {seed}");
        assert!(report.turns >= 100 && report.compared > 100 && report.orders > 50, "{report:?}");
        sum.loss += report.faults.loss;
        sum.drop += report.faults.drop;
        sum.votes += report.faults.votes;
        sum.rejoin += report.faults.rejoin;
        sum.late_joins += report.faults.late_joins;
        sum.watchers += report.faults.watchers;
        sum.pause += report.faults.pause;
        sum.partition += report.faults.partition;
        uses.keys += report.uses.keys;
        uses.speeds += report.uses.speeds;
        uses.delayed += report.uses.delayed;
        uses.messages += report.uses.messages;
        uses.resumed += report.uses.resumed;
    }
    let used = [uses.keys, uses.speeds, uses.delayed, uses.messages, uses.resumed];
    assert!(used.iter().all(|count| *count > 0), "{uses:?}");
    let counts =
        [sum.loss, sum.drop, sum.votes, sum.rejoin, sum.late_joins, sum.watchers, sum.pause, sum.partition];
    assert!(counts.iter().all(|count| *count > 0), "{sum:?}");
}

/// With few players, too, every kind of fault happens.
#[test]
fn matches_of_few_players_come_through() {
    let plans = || (0..16).map(|seed| Plan::of_players(seed, 2..=3));
    assert_soak_of(plans(), |plan| {
        assert!((2..=3).contains(&plan.players()));
        Bots::default()
    });
    let mut sum = Faults::default();
    for plan in plans() {
        let faults = play(&plan, &Bots::default()).faults;
        sum.loss += faults.loss;
        sum.drop += faults.drop;
        sum.rejoin += faults.rejoin;
        sum.pause += faults.pause;
        sum.watchers += faults.watchers;
    }
    assert!(
        [sum.loss, sum.drop, sum.rejoin, sum.pause, sum.watchers].iter().all(|count| *count > 0),
        "{sum:?}"
    );
}

#[test]
#[should_panic(expected = "seed 5: mismatch")]
fn a_plan_of_few_players_that_failed_is_named() {
    let broken = |_: &Plan| Bots::broken(1..2, Fault::Liar);
    assert_soak_of([Plan::of_players(5, 2..=2)], broken);
}

/// The plan let a player come back whom the others had voted out before, and demanded that it plays.
#[test]
fn a_player_that_was_voted_out_need_not_come_back() {
    let report = play(&Plan::of(2_811_260_008), &Bots::default());
    assert_eq!(report.findings, []);
}

#[test]
fn a_seed_gives_the_same_report_again() {
    for seed in 100..104 {
        assert_eq!(play(&Plan::of(seed), &Bots::default()), play(&Plan::of(seed), &Bots::default()));
    }
}

/// Each copy is broken in some match, and the replays of the peers are handed out.
#[test]
fn a_peer_that_runs_something_else_is_found() {
    for fault in [Fault::Deaf, Fault::Liar] {
        for copy in 0..2 {
            let report = play(&Plan::of_players(200, 2..=3), &Bots::broken(copy..copy + 1, fault));
            let found = report.findings.iter().any(|finding| matches!(finding, Finding::Mismatch(_)));
            assert!(found && report.replays.len() >= 2, "{fault:?} in copy {copy}: {:?}", report.findings);
        }
    }
    let idle = play(&Plan::of_players(200, 2..=3), &Bots::broken(0..100, Fault::Idle));
    assert_eq!(idle.findings, [Finding::Void]);
}

#[test]
#[should_panic(expected = "seed 201: mismatch")]
fn a_test_names_the_seed_that_failed() {
    assert_soak(200..203, |plan| match plan.seed() {
        201 => Bots::broken(1..2, Fault::Liar),
        _ => Bots::default(),
    });
}

/// A player was back, was cut off, and came again when the match was nearly over. The judge counted its time from its first return.
#[test]
fn a_player_that_was_cut_off_after_its_return_has_its_time_from_then_on() {
    let report = play(&Plan::of(1_035), &Bots::default());
    assert!(report.faults.rejoin > 0 || report.faults.drop > 0, "{:?}", report.faults);
    assert_eq!(report.findings, []);
}

/// A player came back and was gone again while the match stood. The end of its stream was too far ahead for the others to take it, and when the next
/// player wanted to come back, the host dropped all who had not confirmed that end for the drop time.
#[test]
fn nobody_is_dropped_for_an_end_that_it_could_not_take() {
    let report = play(&Plan::of(1_688), &Bots::default());
    assert_eq!((report.faults.rejoin, report.findings), (4, vec![]));
}

/// The match is signed, so the statements of the others prove it. No honest match says so.
#[test]
fn whom_a_match_accuses_is_found() {
    let accused = |copies: core::ops::Range<u32>| {
        let report = play(&Plan::of(212), &Bots::broken(copies, Fault::Liar));
        assert!(report.uses.keys > 2, "{:?}", report.uses);
        report.findings.iter().any(|finding| finding.to_string().contains("was told Outlier"))
    };
    assert_eq!((accused(1..2), accused(0..0)), (true, false));
}

/// One copy of a second match, which went on from the save of the first one, is broken. (Four copies were started for the first match, one to find the
/// saved state.)
#[test]
fn a_match_that_goes_on_differently_from_its_save_is_found() {
    let sound = play(&Plan::of(11), &Bots::default());
    assert_eq!((sound.uses.resumed, sound.findings), (1, vec![]));
    let report = play(&Plan::of(11), &Bots::broken(8..9, Fault::Liar));
    let is_of_second = |finding: &Finding| finding.to_string().starts_with("mismatch: resumed before turn");
    assert!(!report.findings.is_empty() && report.findings.iter().all(is_of_second), "{:?}", report.findings);
}
