//! Which states of a battle a view draws: the confirmed one, and what is shown of it.

use macroquad::math::Vec2;
use testudo_physics::{BodyId, BodyRef};

use crate::battle::foresight::Foresight;
use crate::paint::camera::units;
use testudo_battle::{Game, UnitLook};

/// The states that a view draws.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    /// Where units are and what they do: predicted, if the view predicts.
    pub game: &'a Game,
    /// The confirmed battle: who is alive, what stands, and whom orders can name.
    pub truth: &'a Game,
    /// How far the picture is between the last two frames of each of them: 0..=65,536.
    alphas: [u32; 2],
    foresight: Option<&'a Foresight>,
}

impl<'a> Shown<'a> {
    /// The confirmed battle, `alpha` of 65,536 between its last two frames, or what was foreseen of it.
    pub fn new(truth: &'a Game, foresight: Option<&'a Foresight>, alpha: u32) -> Self {
        let game = foresight.map_or(truth, Foresight::game);
        let alphas = [foresight.map_or(alpha, Foresight::alpha), alpha];
        Self { game, truth, alphas, foresight }
    }

    /// The confirmed battle.
    pub fn plain(game: &'a Game, alpha: u32) -> Self {
        Self { game, truth: game, alphas: [alpha; 2], foresight: None }
    }

    /// A body. One that is there no more in the prediction stays as it is in truth, until that is confirmed.
    pub fn body(&self, body: BodyId) -> Option<BodyRef<'a>> {
        self.body_at(body).map(|(body, _)| body)
    }

    /// ... and how far the picture is between the last two frames of its battle.
    fn body_at(&self, body: BodyId) -> Option<(BodyRef<'a>, u32)> {
        let mut both = [self.game, self.truth].into_iter().zip(self.alphas);
        both.find_map(|(game, alpha)| Some((game.world().body(body)?, alpha)))
    }

    /// Where to draw a body. One that is there no more in the prediction stays where it was drawn last, until its death is confirmed.
    pub fn position(&self, body: BodyId) -> Option<Vec2> {
        if let Some([x, y]) = self.foresight.and_then(|foresight| foresight.drawn(body)) {
            return Some(Vec2::new(units(x as i32), units(y as i32)));
        }
        let (found, alpha) = self.body_at(body)?;
        Some(Vec2::from(found.interpolated_position(alpha)))
    }

    /// How predictions came out, if they are wanted.
    pub fn foresight(&self) -> Option<&'a Foresight> {
        self.foresight.filter(|foresight| foresight.is_wanted())
    }

    /// Whether this is more than the confirmed battle.
    pub fn is_predicted(&self) -> bool {
        !core::ptr::eq(self.game, self.truth)
    }

    /// Whether a unit lives, but not in the prediction.
    pub fn is_doomed(&self, body: BodyId) -> bool {
        self.is_predicted() && self.game.world().body(body).is_none()
    }

    /// The units to draw: those of the prediction, and those whose death is only predicted.
    pub fn unit_looks(&self) -> impl Iterator<Item = UnitLook> + '_ {
        let survivors = self.truth.unit_looks().filter(move |look| self.is_doomed(look.body));
        self.game.unit_looks().chain(survivors)
    }
}
