//! What one peer shows ahead of the confirmed battle, and what that costs and is worth.

use std::collections::VecDeque;

use testudo_lockstep::predict::{Correction, Corrections, Glide, PictureBudget, PredictionStats, Predictor};
use testudo_lockstep::{Driver, Duration, Instant, Simulation};
use testudo_physics::{BodyId, BodyRef};

use crate::clock::Clock;
use testudo_battle::{Game, Order, UNIT};

/// A unit that was predicted wrong glides to its position within this time.
const GLIDE: Duration = Duration::from_millis(200);

/// One that was this far off (raw) is put there at once.
const JUMP: u64 = 6 * UNIT as u64;

/// A unit that is off by no more than this (raw) was predicted right: 1/16 of a unit.
const RIGHT: u64 = UNIT as u64 / 16;

/// It never reaches further ahead than this, frames: three turns of a third of a second.
const DEPTH_MAX: u32 = 20;

/// Over so many turns the share of right units is taken.
const TURNS: usize = 40;

/// A body, and where it was drawn, raw.
type Drawn = (BodyId, [i64; 2]);

/// A prediction of one peer's battle.
pub struct Foresight {
    predictor: Predictor<Game>,
    /// None: as many frames as are wanted, however long they take.
    budget: Option<PictureBudget>,
    glide: Glide,
    corrections: Corrections,
    /// Where everything was drawn last, by slots of bodies.
    drawn: Vec<Option<Drawn>>,
    /// Those that live and whose slots the prediction has given to others.
    displaced: Vec<Drawn>,
    depth: u32,
    /// No longer: what is shown falls back to the confirmed battle.
    is_leaving: bool,
    /// Average time for a picture, microseconds.
    cost_micros: u64,
    /// Of the last turns: how many bodies were predicted right, and how many there were.
    right: VecDeque<(u32, u32)>,
    turn: u32,
}

impl Foresight {
    /// Switches a prediction of this battle on or off. One that is switched off stays until what is shown has fallen back to the confirmed battle.
    /// `per_picture` is the time that a picture may give to it; none: as long as it takes.
    pub fn switch(kept: &mut Option<Box<Self>>, predicts: bool, game: &Game, per_picture: Option<Duration>) {
        if predicts && kept.is_none() {
            *kept = Some(Box::new(Self::new(game, per_picture)));
        }
        if let Some(foresight) = kept {
            foresight.is_leaving = !predicts;
            foresight.predictor.set_depth_max(if predicts { DEPTH_MAX } else { 0 });
        }
    }

    /// It shows the confirmed battle until it is told to follow.
    fn new(game: &Game, per_picture: Option<Duration>) -> Self {
        Self {
            predictor: Predictor::new(game),
            budget: per_picture.map(PictureBudget::new),
            glide: Glide::new(GLIDE, JUMP),
            corrections: Corrections::default(),
            drawn: Vec::new(),
            displaced: Vec::new(),
            depth: 0,
            is_leaving: false,
            cost_micros: 0,
            right: VecDeque::new(),
            turn: 0,
        }
    }

    /// For one picture at this time, `passed` after the last one. `game` is the confirmed battle of the driver.
    pub fn follow<S: Simulation<Action = Order>>(
        kept: &mut Option<Box<Self>>,
        driver: &Driver<S>,
        game: &Game,
        passed: Duration,
        now: Instant,
    ) {
        if let Some(foresight) = kept {
            foresight.glide.pass(passed);
            foresight.draw_near(driver, game, now);
        }
        kept.take_if(|foresight| foresight.has_left());
    }

    fn draw_near<S: Simulation<Action = Order>>(&mut self, driver: &Driver<S>, game: &Game, now: Instant) {
        self.begin_turn(driver.session().next_turn().0, game.world().body_count());
        let clock = Clock::start();
        let (glide, corrections, right) = (&mut self.glide, &mut self.corrections, &mut self.right);
        let drawn = |body| drawn_in(&self.drawn, &self.displaced, body);
        let frames = self.budget.as_ref().map_or(DEPTH_MAX, PictureBudget::frames);
        let followed = self.predictor.follow_with(driver, game, now, frames, |correction| {
            let count = correct(correction, &drawn, glide, corrections);
            if let Some(worst) = right.back_mut().filter(|worst| count.0 < worst.0) {
                *worst = count;
            }
        });
        if followed.leapt {
            self.glide_on();
        }
        self.note_drawn(game);
        let took = clock.elapsed();
        if let Some(budget) = &mut self.budget {
            budget.note(followed.frames, took);
        }
        self.depth = followed.depth;
        self.cost_micros = (self.cost_micros * 31 + took.as_micros()) / 32;
    }

    /// After a leap, because an own order does not wait for the lead: everything glides on from where it was drawn.
    fn glide_on(&mut self) {
        let (alpha, world) = (self.predictor.alpha(), self.predictor.simulation().world());
        for &(id, at) in self.drawn.iter().flatten() {
            let Some(body) = world.body(id) else { continue };
            let before = without(at, self.glide.offset(id.index()));
            self.glide.correct(id.index(), before, position(body, alpha));
        }
    }

    /// What is not in the prediction any more stays noted where it was.
    fn note_drawn(&mut self, truth: &Game) {
        let (alpha, world) = (self.predictor.alpha(), self.predictor.simulation().world());
        // Units that live again in the prediction are noted by slot.
        self.displaced.retain(|(id, _)| truth.world().body(*id).is_some() && world.body(*id).is_none());
        for body in world.bodies() {
            let (id, slot) = (body.id(), body.id().index() as usize);
            if self.drawn.len() <= slot {
                self.drawn.resize(slot + 1, None);
            }
            let ([x, y], [right, up]) = (position(body, alpha), self.glide.offset(id.index()));
            let was = self.drawn[slot].replace((id, [x + right, y + up]));
            let lives = |was: &Drawn| was.0 != id && truth.world().body(was.0).is_some();
            self.displaced.extend(was.filter(lives));
        }
    }

    fn begin_turn(&mut self, turn: u32, bodies: u32) {
        if turn != self.turn || self.right.is_empty() {
            self.turn = turn;
            self.right.push_back((bodies, bodies));
            if self.right.len() > TURNS {
                self.right.pop_front();
            }
        }
    }

    /// Whether it was switched off, and shows what is confirmed.
    fn has_left(&self) -> bool {
        self.is_leaving && self.predictor.ahead() == 0 && self.glide.is_still()
    }

    /// Whether it is switched on.
    pub fn is_wanted(&self) -> bool {
        !self.is_leaving
    }

    /// Where the picture is between the last two frames of the predicted battle: 0..=65,536.
    pub fn alpha(&self) -> u32 {
        self.predictor.alpha()
    }

    /// The predicted battle.
    pub fn game(&self) -> &Game {
        self.predictor.simulation()
    }

    /// Where a body is drawn, raw. One that is there no more in the prediction: where it was drawn last.
    pub fn drawn(&self, body: BodyId) -> Option<[i64; 2]> {
        drawn_in(&self.drawn, &self.displaced, body)
    }

    /// Frames by which it is ahead.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Time by which pictures are ahead, in 65,536ths of a frame.
    pub fn ahead(&self) -> u64 {
        self.predictor.ahead()
    }

    /// Average time for a picture.
    pub fn cost(&self) -> Duration {
        Duration::from_micros(self.cost_micros)
    }

    /// Share of the bodies that were predicted right in the last turns, percent.
    pub fn right_percent(&self) -> f64 {
        let (right, all) = self.right.iter().fold((0, 0), |sum, turn| (sum.0 + turn.0, sum.1 + turn.1));
        f64::from(right) * 100.0 / f64::from(all.max(1))
    }

    /// How far those were off that were not, raw.
    pub fn corrections(&self) -> &Corrections {
        &self.corrections
    }

    /// What the predictor has done.
    pub fn stats(&self) -> PredictionStats {
        self.predictor.stats()
    }
}

/// Lets everything glide from where it was drawn to where it would be drawn now. Returns how many bodies were predicted right, and how many
/// there are. Not generic, so that it is compiled, and optimised, here: it goes over all bodies.
fn correct(
    correction: &Correction<'_, Game>,
    drawn: &dyn Fn(BodyId) -> Option<[i64; 2]>,
    glide: &mut Glide,
    corrections: &mut Corrections,
) -> (u32, u32) {
    let Correction { before: old, after: new, alpha, alpha_after, .. } = *correction;
    let (mut right, mut all) = (0, 0);
    for body in new.world().bodies() {
        let to = position(body, alpha_after);
        let Some(before) = old.world().body(body.id()) else {
            // Its death was predicted, and it lives.
            if let Some(at) = drawn(body.id()) {
                let offset = glide.offset(body.id().index());
                glide.correct(body.id().index(), without(at, offset), to);
            }
            continue;
        };
        let from = position(before, alpha);
        let distance = glide.correct(body.id().index(), from, to);
        corrections.note(distance);
        all += 1;
        right += u32::from(distance <= RIGHT);
    }
    (right, all)
}

/// `displaced`: those whose slots others have.
fn drawn_in(drawn: &[Option<Drawn>], displaced: &[Drawn], body: BodyId) -> Option<[i64; 2]> {
    let in_slot = drawn.get(body.index() as usize).copied().flatten();
    in_slot.iter().chain(displaced).find(|(id, _)| *id == body).map(|(_, at)| *at)
}

fn without([x, y]: [i64; 2], [right, up]: [i64; 2]) -> [i64; 2] {
    [x - right, y - up]
}

/// Raw.
fn position(body: BodyRef<'_>, alpha: u32) -> [i64; 2] {
    body.interpolated_position(alpha).map(|side| (side * UNIT as f32) as i64)
}

#[cfg(test)]
mod tests {
    use testudo_lockstep::predict::Predict as _;
    use testudo_lockstep::{PlayerId, Simulation as _, Turn, state};

    use super::*;
    use testudo_battle::bots::{Level, order_at};
    use testudo_battle::{Map, Setup};

    /// Into a copy that has been somewhere else, in a battle until buildings fall. What a copy has tried does not show.
    #[test]
    fn a_copied_battle_goes_on_alike() {
        let map = Map::named("ford");
        let mut game = Game::new(Setup { players: 2, units: 24, seed: 5, map }).unwrap();
        let mut kept = game.clone();
        let buildings = game.building_looks().count();
        let mut turn = 0;
        while turn < 900 || game.building_looks().count() == buildings {
            assert!(turn < 3_000, "no building has fallen");
            if turn % 7 == 0 {
                kept.clone_from(&game);
                assert_eq!(state::digest(&mut kept), state::digest(&mut game), "turn {turn}");
                let mut ahead = game.clone();
                ahead.begin_prediction();
                (0..9).for_each(|_| ahead.step(20));
                ahead.clone_from(&game);
                if turn % 2 == 0 {
                    core::mem::swap(&mut ahead, &mut kept);
                }
            }
            for player in [0, 1].map(PlayerId) {
                let order = order_at(Level::Normal, &game, player, Turn(turn));
                for game in [&mut game, &mut kept] {
                    order.iter().for_each(|order| game.apply(player, order));
                }
            }
            for game in [&mut game, &mut kept] {
                (0..4).for_each(|_| game.step(20));
            }
            assert_eq!(kept.checksum(), game.checksum(), "turn {turn}");
            turn += 1;
        }
    }

    #[test]
    fn a_prediction_differs_in_nothing_but_checksums() {
        let mut game = Game::new(Setup { players: 2, units: 30, seed: 8, map: None }).unwrap();
        let mut ahead = game.clone();
        ahead.begin_prediction();
        for turn in 0..60 {
            for player in [0, 1].map(PlayerId) {
                let order = order_at(Level::Normal, &game, player, Turn(turn));
                for game in [&mut game, &mut ahead] {
                    order.iter().for_each(|order| game.apply(player, order));
                }
            }
            for game in [&mut game, &mut ahead] {
                (0..4).for_each(|_| game.step(20));
            }
            assert_eq!(ahead.world().checksum(), game.world().checksum(), "turn {turn}");
            assert_ne!(ahead.checksum(), game.checksum());
        }
    }
}
