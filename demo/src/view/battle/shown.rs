//! Which states of a battle a view draws: the confirmed one, and what is shown of it.

use macroquad::math::Vec2;
use testudo_lockstep::predict::Glide;
use testudo_physics::{BodyId, BodyRef};

use crate::app::Foresight;
use crate::game::{Game, UnitLook};
use crate::view::paint::camera::units;

/// The states that a view draws.
#[derive(Clone, Copy)]
pub(crate) struct Shown<'a> {
    /// Where units are and what they do: predicted, if the view predicts.
    pub(crate) game: &'a Game,
    /// The confirmed battle: who is alive, what stands, and whom orders can name.
    pub(crate) truth: &'a Game,
    /// How far the picture is between the last two frames: 0..=65,536.
    pub(crate) alpha: u32,
    glide: Option<&'a Glide>,
}

impl<'a> Shown<'a> {
    /// The confirmed battle, or what was foreseen of it.
    pub(crate) fn new(truth: &'a Game, foresight: Option<&'a Foresight>, alpha: u32) -> Self {
        let game = foresight.map_or(truth, Foresight::game);
        Self { game, truth, alpha, glide: foresight.map(Foresight::glide) }
    }

    /// The confirmed battle.
    pub(crate) fn plain(game: &'a Game, alpha: u32) -> Self {
        Self { game, truth: game, alpha, glide: None }
    }

    /// A body. One that is there no more in the prediction stays as it is in truth, until that is confirmed.
    pub(crate) fn body(&self, body: BodyId) -> Option<BodyRef<'a>> {
        self.game.world().body(body).or_else(|| self.truth.world().body(body))
    }

    /// Where to draw a body.
    pub(crate) fn position(&self, body: BodyId) -> Option<Vec2> {
        let found = self.body(body)?;
        let at = Vec2::from(found.interpolated_position(self.alpha));
        let [x, y] = self.glide.map_or([0; 2], |glide| glide.offset(body.index())).map(|side| side as i32);
        Some(at + Vec2::new(units(x), units(y)))
    }

    /// The units to draw: those of the prediction, and those whose death is only predicted.
    pub(crate) fn unit_looks(&self) -> impl Iterator<Item = UnitLook> + '_ {
        let is_same = core::ptr::eq(self.game, self.truth);
        let survivors = self
            .truth
            .unit_looks()
            .filter(move |look| !is_same && self.game.world().body(look.body).is_none());
        self.game.unit_looks().chain(survivors)
    }
}
