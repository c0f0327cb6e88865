//! A match between processes over UDP, in real time: from the question for a place to the last turn.

use std::net::SocketAddr;
use std::path::PathBuf;

use crate::app::Terms;
use crate::app::client::Fault;
use crate::app::invitation::Asking;
use crate::app::outcome::{MatchError, Outcome};
use crate::app::seat::{News, Seat};

/// Pause between two looks for the host's answer.
const PAUSE: std::time::Duration = std::time::Duration::from_millis(2);

/// What a seat is to have beside a client.
#[derive(Clone, Debug, Default)]
pub(crate) struct SeatOptions {
    /// Where its replay is written.
    pub(crate) replay: Option<PathBuf>,
    /// A bit to flip in its copy; whose copy that is goes without saying.
    pub(crate) fault: Option<Fault>,
}

/// This process's way into a match, and through it. Nothing but [`NetworkMatch::play`] waits.
pub(crate) struct NetworkMatch {
    options: SeatOptions,
    stage: Stage,
}

enum Stage {
    /// The host has not said yet which place is free.
    Asking(Asking),
    Seated(Box<Seat>),
}

impl NetworkMatch {
    /// Hosts a match as player 0.
    ///
    /// # Errors
    /// Settings out of range, a port that is taken, a replay that cannot be written.
    pub(crate) fn host(terms: &Terms, bind: SocketAddr, options: SeatOptions) -> Result<Self, MatchError> {
        let seat = Seat::host(terms, bind, options.replay.as_deref())?;
        Ok(Self { options, stage: Stage::Seated(Box::new(seat)) })
    }

    /// Joins the match at an address.
    ///
    /// # Errors
    /// No socket can be had.
    pub(crate) fn join(host: SocketAddr, options: SeatOptions) -> Result<Self, MatchError> {
        let asking = Asking::begin(host).map_err(MatchError::Invitation)?;
        Ok(Self { options, stage: Stage::Asking(asking) })
    }

    /// Does everything that is due.
    ///
    /// # Errors
    /// Nobody let us in, the socket broke, or a replay could not be written.
    pub(crate) fn step(&mut self) -> Result<(), MatchError> {
        match &mut self.stage {
            Stage::Asking(asking) => {
                if let Some(invitation) = asking.step().map_err(MatchError::Invitation)? {
                    let SeatOptions { replay, fault } = &self.options;
                    let seat = Seat::join(asking.host(), &invitation, replay.as_deref(), *fault)?;
                    self.stage = Stage::Seated(Box::new(seat));
                }
                Ok(())
            }
            Stage::Seated(seat) => seat.step(),
        }
    }

    /// This process's seat, as soon as it has one.
    fn seat_mut(&mut self) -> Option<&mut Seat> {
        match &mut self.stage {
            Stage::Asking(_) => None,
            Stage::Seated(seat) => Some(seat),
        }
    }

    /// Plays to the end, however long that takes.
    ///
    /// # Errors
    /// The match was not played to its end.
    pub(crate) fn play(mut self, mut tell: impl FnMut(News)) -> Result<Option<Outcome>, MatchError> {
        loop {
            self.step()?;
            let Some(seat) = self.seat_mut() else {
                std::thread::sleep(PAUSE);
                continue;
            };
            while let Some(news) = seat.poll_news() {
                tell(news);
            }
            if seat.is_over() {
                return self.end();
            }
            std::thread::sleep(seat.pause());
        }
    }

    /// What came of it; none if there was no seat.
    ///
    /// # Errors
    /// The match was not played to its end.
    fn end(self) -> Result<Option<Outcome>, MatchError> {
        match self.stage {
            Stage::Asking(_) => Ok(None),
            Stage::Seated(seat) => seat.end().map(Some),
        }
    }
}
