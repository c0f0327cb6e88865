//! The clients that a screen of a battle shows: whichever a match has in this process, one in each view.

use crate::app::{NetworkMatch, Pilot, Seat, Skirmish};
use crate::game::{Game, Order};
use crate::view::battle::shown::Shown;

/// A match as its views see it. A view without a client has no game.
pub(crate) trait Clients {
    /// Whose client it is.
    fn player(&self, view: u8) -> u8;

    /// What is shown of the battle, and the number of frames that have run.
    fn shown(&self, view: u8) -> Option<Shown<'_>>;
    fn frame(&self, view: u8) -> u32;

    /// Whether a person commands the army.
    fn has_person(&self, view: u8) -> bool;

    /// Submits an order. Returns the turn in which it was accepted, if it was.
    fn order(&mut self, view: u8, order: &Order) -> Option<u32>;

    /// Shows the own orders at once, or when they run.
    fn set_prediction(&mut self, view: u8, predicts: bool);

    fn game(&self, view: u8) -> Option<&Game> {
        self.shown(view).map(|shown| shown.truth)
    }

    fn predicts(&self, view: u8) -> bool {
        self.shown(view).is_some_and(|shown| shown.foresight().is_some())
    }
}

/// Both players' clients.
impl Clients for Skirmish {
    fn player(&self, view: u8) -> u8 {
        view
    }

    fn shown(&self, view: u8) -> Option<Shown<'_>> {
        Some(Shown::new(self.client(view).game(), self.foresight(view), self.alpha(view)))
    }

    fn frame(&self, view: u8) -> u32 {
        self.frame(view)
    }

    fn has_person(&self, view: u8) -> bool {
        self.pilot(view) == Pilot::Person
    }

    fn order(&mut self, view: u8, order: &Order) -> Option<u32> {
        self.order(view, order).ok()?;
        Some(self.session(view).next_turn().0)
    }

    fn set_prediction(&mut self, view: u8, predicts: bool) {
        self.set_prediction(view, predicts);
    }
}

/// This process's client, as soon as it has a seat.
impl Clients for NetworkMatch {
    fn player(&self, _: u8) -> u8 {
        self.seat().map_or(0, |seat| seat.player().0)
    }

    fn shown(&self, view: u8) -> Option<Shown<'_>> {
        let seat = self.seat().filter(|_| view == 0)?;
        Some(Shown::new(seat.client().game(), self.foresight(), seat.alpha()))
    }

    fn frame(&self, _: u8) -> u32 {
        self.seat().map_or(0, Seat::frame)
    }

    fn has_person(&self, _: u8) -> bool {
        self.seat().is_some_and(|seat| seat.pilot() == Pilot::Person && !seat.is_watching())
    }

    fn order(&mut self, _: u8, order: &Order) -> Option<u32> {
        Some(self.seat_mut()?.order(order).ok()?.0)
    }

    fn set_prediction(&mut self, _: u8, predicts: bool) {
        self.set_prediction(predicts);
    }
}
