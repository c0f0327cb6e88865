//! The frame of a truth: rates, drawn parameters, and a ledger of what did not hold.

use std::fmt::Display;
use std::ops::RangeInclusive;
use testudo_tests::cases::cases;

use testudo_physics::{BodyId, Fx, World};

use crate::build::{Chance, milli, raw, velocity};

/// Frames per second at which a truth is asked.
pub(crate) const RATES: [u32; 5] = [10, 20, 30, 60, 144];

/// Asks a truth with what is drawn from a seed.
pub(crate) type Hearing = fn(&mut Truth, &mut Chance, u64);

/// A truth in a list: law, source, hearing.
pub(crate) type Listed = (&'static str, &'static str, Hearing);

/// One truth on trial. All cases are heard before it fails, each failing one on a line of its own.
pub(crate) struct Truth {
    law: &'static str,
    source: &'static str,
    cases: u32,
    failures: Vec<String>,
}

impl Truth {
    /// Hears `law`, whose expectation comes from `source`, for each of the seeds; panics with all lines that failed.
    pub(crate) fn hear(
        law: &'static str,
        source: &'static str,
        seeds: RangeInclusive<u64>,
        mut hearing: impl FnMut(&mut Self, &mut Chance, u64),
    ) {
        let mut truth = Self { law, source, cases: 0, failures: Vec::new() };
        for seed in cases(seeds) {
            hearing(&mut truth, &mut Chance::new(seed), seed);
        }
        assert!(truth.cases > 0, "{law}: no case was heard");
        let failed = truth.failures.len();
        assert!(failed == 0, "{failed} of {} cases failed:\n{}", truth.cases, truth.failures.join("\n"));
    }

    /// Hears one of a list.
    pub(crate) fn hear_listed((law, source, hearing): Listed, seeds: RangeInclusive<u64>) {
        Self::hear(law, source, seeds, hearing);
    }

    /// Hears it for each of the seeds at each of [`RATES`], one after the other with the same source of chance.
    pub(crate) fn at_rates(
        law: &'static str,
        source: &'static str,
        seeds: RangeInclusive<u64>,
        mut hearing: impl FnMut(&mut Self, &mut Chance, u64, u32),
    ) {
        Self::hear(law, source, seeds, |truth, chance, seed| {
            RATES.into_iter().for_each(|fps| hearing(truth, chance, seed, fps));
        });
    }

    /// Expects a number within a range. `case` names seed, rate and parameters.
    pub(crate) fn expect(&mut self, case: impl Display, expected: RangeInclusive<Fx>, seen: Fx) {
        self.cases += 1;
        if !expected.contains(&seen) {
            let (low, high) = expected.into_inner();
            self.failures.push(format!(
                "{}: expected {low:.4} to {high:.4} ({}), seen {seen:.4}; {case}",
                self.law, self.source
            ));
        }
    }

    /// Expects a condition; `seen` describes the actual state.
    pub(crate) fn claim(&mut self, case: impl Display, holds: bool, seen: impl Display) {
        self.cases += 1;
        if !holds {
            self.failures.push(format!("{} ({}): seen {seen}; {case}", self.law, self.source));
        }
    }
}

/// Steps without looking at the whole state each time.
pub(crate) fn step(w: &mut World, fps: u32) {
    w.step(fps).expect("in range");
}

/// Seconds until all sleep, at most `most`.
pub(crate) fn seconds_to_rest(
    w: &mut World,
    most: u32,
    fps: u32,
    mut watch: impl FnMut(&World),
) -> Option<Fx> {
    for frame in 1..=most * fps {
        step(w, fps);
        watch(w);
        if w.bodies().all(|body| !body.is_awake()) {
            return Some(Fx::from_num(frame) / i64::from(fps));
        }
    }
    None
}

pub(crate) fn rests(w: &mut World, most: u32, fps: u32) -> bool {
    seconds_to_rest(w, most, fps, |_| ()).is_some()
}

pub(crate) fn length([x, y]: [i64; 2]) -> i64 {
    (x * x + y * y).isqrt()
}

/// The greatest speed, components taken together.
pub(crate) fn top_speed(w: &World) -> Fx {
    Fx::from_bits(w.bodies().map(|body| length(raw(body.velocity()))).max().unwrap_or(0))
}

/// The greatest speed of these.
pub(crate) fn fastest(w: &World, ids: &[BodyId]) -> Fx {
    Fx::from_bits(ids.iter().map(|&id| length(velocity(w, id))).max().unwrap_or(0))
}

/// A mass between these; light ones are as frequent as heavy ones.
pub(crate) fn any_mass(chance: &mut Chance, least: i64, most: i64) -> i64 {
    (0..chance.between(0, 16)).fold(least, |mass, _| (mass * 133 / 100).min(most))
}

/// The speed after a fall, units per second, from thousandths.
pub(crate) fn after_fall(gravity: i64, height: i64) -> Fx {
    Fx::from_bits((2 * milli(gravity).to_bits() * milli(height).to_bits()).isqrt())
}

/// The range around `centre`.
pub(crate) fn about(centre: Fx, tolerance: Fx) -> RangeInclusive<Fx> {
    centre - tolerance..=centre + tolerance
}

#[test]
#[should_panic(
    expected = "1 of 3 cases failed:\nlaw: expected 0.5000 to 1.5000 (nobody), seen 1.7500; 7 at 20 fps"
)]
fn a_case_that_does_not_hold_is_told_with_its_source() {
    Truth::hear("law", "nobody", 7..=7, |truth, _, seed| {
        truth.expect("fine", about(Fx::ONE, Fx::lit("0.5")), Fx::ONE);
        truth.expect(format!("{seed} at 20 fps"), about(Fx::ONE, Fx::lit("0.5")), Fx::lit("1.75"));
        truth.claim("fine, too", true, "nothing");
    });
}
