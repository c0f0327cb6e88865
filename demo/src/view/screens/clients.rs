//! The clients that a screen of a battle shows: whichever a match has in this process, one in each view.

#[cfg(test)]
mod tests;

use testudo_lockstep::{PlayerId, SubmitError};

use crate::app::playback::Course;
use crate::app::{NetworkMatch, Pilot, Sample, Seat, Skirmish};
use crate::view::hud::status::Status;
use testudo_battle::bots::Level;
use testudo_battle::{Game, Order};
use testudo_render::battle::shown::Shown;

/// A match as its views see it. A view without a client has no game.
pub(crate) trait Clients {
    /// Whose client it is.
    fn player(&self, view: u8) -> u8;

    /// What is shown of the battle, and the number of frames that have run.
    fn shown(&self, view: u8) -> Option<Shown<'_>>;
    fn frame(&self, view: u8) -> u32;

    /// Whether a person commands the army.
    fn has_person(&self, _view: u8) -> bool {
        false
    }

    /// Whether nobody here commands an army.
    fn is_watching(&self) -> bool {
        false
    }

    /// Submits orders, all or none. Returns the turn in which they were accepted.
    ///
    /// # Errors
    /// None of them runs.
    fn order(&mut self, _view: u8, _orders: &[Order]) -> Result<u32, SubmitError> {
        Err(SubmitError::NotPlaying)
    }

    /// Shows the own orders at once, or when they run.
    fn set_prediction(&mut self, _view: u8, _predicts: bool) {}

    /// How a player is called.
    fn called(&self, player: u8) -> String {
        format!("player {}", player + 1)
    }

    /// How the copies stand to each other; none of a match that nobody plays.
    fn status(&self) -> Option<Status> {
        None
    }

    /// The level of the bot that the person plays against.
    fn rival(&self) -> Option<Level> {
        None
    }

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
        Some(Shown::new(self.copy(view).game(), self.foresight(view), self.alpha(view)))
    }

    fn frame(&self, view: u8) -> u32 {
        self.frame(view)
    }

    fn has_person(&self, view: u8) -> bool {
        self.pilot(view) == Pilot::Person
    }

    fn order(&mut self, view: u8, orders: &[Order]) -> Result<u32, SubmitError> {
        self.order(view, orders)?;
        Ok(self.session(view).next_turn().0)
    }

    fn set_prediction(&mut self, view: u8, predicts: bool) {
        self.set_prediction(view, predicts);
    }

    fn rival(&self) -> Option<Level> {
        let pilots = [0, 1].map(|view| self.pilot(view));
        pilots.contains(&Pilot::Person).then(|| pilots.iter().find_map(|pilot| pilot.level()))?
    }

    fn status(&self) -> Option<Status> {
        Some(Status {
            computers: 2,
            are_simulated: true,
            turns: self.compared().0,
            divergent_turn: self.desync().map(|desync| desync.turn),
            bytes_per_second: Sample::mean(self.samples().rev(), 20, |sample| sample.bytes_per_second),
            is_doubtful: false,
            is_waiting: (0..2).any(|player| self.waiting(player).is_some()),
        })
    }
}

/// This process's client, as soon as it has a seat.
impl Clients for NetworkMatch {
    fn player(&self, _: u8) -> u8 {
        self.seat().map_or(0, |seat| seat.player().0)
    }

    fn shown(&self, view: u8) -> Option<Shown<'_>> {
        let seat = self.seat().filter(|_| view == 0)?;
        Some(Shown::new(seat.copy().game(), self.foresight(), seat.alpha()))
    }

    fn frame(&self, _: u8) -> u32 {
        self.seat().map_or(0, Seat::frame)
    }

    fn has_person(&self, _: u8) -> bool {
        self.seat().is_some_and(|seat| seat.pilot() == Pilot::Person && !seat.is_watching())
    }

    fn is_watching(&self) -> bool {
        self.seat().is_some_and(Seat::is_watching)
    }

    fn order(&mut self, _: u8, orders: &[Order]) -> Result<u32, SubmitError> {
        Ok(self.seat_mut().ok_or(SubmitError::NotPlaying)?.order(orders)?.0)
    }

    fn set_prediction(&mut self, _: u8, predicts: bool) {
        self.set_prediction(predicts);
    }

    fn called(&self, player: u8) -> String {
        self.seat().map_or_else(String::new, |seat| seat.shown_as(PlayerId(player)))
    }

    fn status(&self) -> Option<Status> {
        let seat = self.seat()?;
        let both_ways = |sample: &Sample| sample.bytes_per_second + sample.received_per_second;
        Some(Status {
            computers: seat.computers(),
            are_simulated: false,
            turns: seat.compared().0,
            divergent_turn: seat.divergent_turn(),
            is_doubtful: seat.is_doubtful(),
            bytes_per_second: Sample::mean(seat.samples().rev(), 20, both_ways),
            is_waiting: !seat.is_over() && (seat.waiting().is_some() || seat.is_cut_off()),
        })
    }
}

/// A replay, whose units nobody commands.
pub(crate) struct Replayed<'a> {
    pub(crate) course: &'a Course,
    pub(crate) followed: Option<u8>,
    /// How far the picture is between the last two frames: 0..=65,536.
    pub(crate) alpha: u32,
}

impl Clients for Replayed<'_> {
    fn player(&self, _: u8) -> u8 {
        self.followed.unwrap_or(0)
    }

    fn shown(&self, view: u8) -> Option<Shown<'_>> {
        (view == 0).then(|| Shown::plain(self.course.game(), self.alpha))
    }

    fn frame(&self, _: u8) -> u32 {
        self.course.frame() as u32
    }
}
