//! A match between processes over UDP, in real time: from the question for a place to the last turn.

use std::net::SocketAddr;

use testudo_lockstep::{Duration, Pace};

use crate::app::Terms;
use crate::app::clock::Clock;
use crate::app::error::MatchError;
use crate::app::interrupt;
use crate::app::online::invitation::Asking;
use crate::app::online::news::News;
use crate::app::online::seat::{Seat, SeatOptions};
use crate::app::watch::outcome::Outcome;

/// Pause between two checks for the host's answer.
const PAUSE: std::time::Duration = std::time::Duration::from_millis(2);

/// Time for telling the others that this process leaves.
const FAREWELL: Duration = Duration::from_secs(3);

/// This process's path into a match, and through it. Only [`NetworkMatch::play`] waits.
pub(crate) struct NetworkMatch {
    options: SeatOptions,
    stage: Stage,
}

enum Stage {
    /// The host has not yet named a free place.
    Asking(Asking),
    Seated(Box<Seat>),
}

impl NetworkMatch {
    /// Hosts a match as player 0.
    ///
    /// # Errors
    /// Settings out of range, a port that is taken, a replay that cannot be written.
    pub(crate) fn host(
        terms: &Terms,
        pace: Pace,
        bind: SocketAddr,
        options: SeatOptions,
    ) -> Result<Self, MatchError> {
        let seat = Seat::host(terms, pace, bind, &options)?;
        Ok(Self { options, stage: Stage::Seated(Box::new(seat)) })
    }

    /// Joins the match at an address, unless it has more units than this, all players together.
    ///
    /// # Errors
    /// No socket is available.
    pub(crate) fn join(host: SocketAddr, units_max: u32, options: SeatOptions) -> Result<Self, MatchError> {
        let asking = Asking::begin(host, units_max).map_err(MatchError::Invitation)?;
        Ok(Self { options, stage: Stage::Asking(asking) })
    }

    /// Does everything that is due.
    ///
    /// # Errors
    /// No host let us in, the socket broke, or a replay could not be written.
    pub(crate) fn step(&mut self) -> Result<(), MatchError> {
        match &mut self.stage {
            Stage::Asking(asking) => {
                if let Some(invitation) = asking.step().map_err(MatchError::Invitation)? {
                    let seat = Seat::join(asking.host(), &invitation, &self.options)?;
                    self.stage = Stage::Seated(Box::new(seat));
                }
                Ok(())
            }
            Stage::Seated(seat) => seat.step(),
        }
    }

    /// The host that is being asked for a place, until there is a seat.
    pub(crate) fn asked(&self) -> Option<SocketAddr> {
        match &self.stage {
            Stage::Asking(asking) => Some(asking.host()),
            Stage::Seated(_) => None,
        }
    }

    /// This process's seat, as soon as it has one.
    pub(crate) fn seat(&self) -> Option<&Seat> {
        match &self.stage {
            Stage::Asking(_) => None,
            Stage::Seated(seat) => Some(seat),
        }
    }

    /// This process's seat, mutable.
    pub(crate) fn seat_mut(&mut self) -> Option<&mut Seat> {
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
        let mut farewell = None;
        loop {
            self.step()?;
            if interrupt::is_asked() && farewell.is_none() {
                farewell = Some(Clock::start());
                if let Some(seat) = self.seat_mut().filter(|seat| !seat.is_over()) {
                    seat.leave();
                }
            }
            let has_waited = farewell.is_some_and(|clock| clock.elapsed() > FAREWELL);
            if has_waited || (farewell.is_some() && self.seat().is_none()) {
                return self.end();
            }
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

    /// The outcome up to the end or the time of leaving; none if the match had not begun.
    ///
    /// # Errors
    /// The match ended early.
    pub(crate) fn end(self) -> Result<Option<Outcome>, MatchError> {
        match self.stage {
            Stage::Asking(_) => Ok(None),
            Stage::Seated(seat) => seat.end(),
        }
    }
}

#[cfg(test)]
mod tests {
    use testudo_lockstep::SessionPhase;

    use super::*;
    use crate::app::{Pilot, ReplayFile};
    use crate::game::{Command, Order, Selection, Setup};

    /// This much real time is a failure, not a slow machine.
    const PATIENCE: Duration = Duration::from_secs(120);

    fn options() -> SeatOptions {
        SeatOptions { pilot: Pilot::Person, replay: ReplayFile::None, fault: None }
    }

    /// A host and a guest in one process, over loopback.
    struct Pair {
        games: [NetworkMatch; 2],
        news: [Vec<News>; 2],
        clock: Clock,
    }

    impl Pair {
        fn new() -> Self {
            let terms = Terms { setup: Setup { players: 2, units: 5, seed: 3, map: None }, turns: 1_000 };
            let bind = SocketAddr::from(([127, 0, 0, 1], 0));
            let host = NetworkMatch::host(&terms, Pace::Adaptive, bind, options()).unwrap();
            let address = host.seat().and_then(Seat::address).unwrap();
            let guest = NetworkMatch::join(address, 1_000, options()).unwrap();
            Self { games: [host, guest], news: [Vec::new(), Vec::new()], clock: Clock::start() }
        }

        fn until(&mut self, what: &str, is_done: impl Fn(&Self) -> bool) {
            while !is_done(self) {
                assert!(self.clock.elapsed() < PATIENCE, "{what}: {:?}", self.news);
                for (game, news) in self.games.iter_mut().zip(&mut self.news) {
                    game.step().unwrap();
                    news.extend(std::iter::from_fn(|| game.seat_mut()?.poll_news()));
                }
                std::thread::yield_now();
            }
        }

        fn seat(&mut self, player: usize) -> &mut Seat {
            self.games[player].seat_mut().unwrap()
        }

        fn has_heard(&self, player: usize, is_it: impl Fn(&News) -> bool) -> bool {
            self.news[player].iter().any(is_it)
        }
    }

    #[test]
    fn two_persons_play_pause_and_part_in_good_order() {
        let mut pair = Pair::new();
        assert_eq!(pair.games[1].asked(), pair.games[0].seat().and_then(Seat::address));
        pair.until("everybody is here", |pair| {
            (0..2).all(|player| pair.has_heard(player, |news| *news == News::Started))
        });
        let order = Order::new(Selection::All, Command::Stop);
        let given = pair.seat(1).order(&order).unwrap().0;
        let ran = |news: &News| matches!(news, News::Ran { player, .. } if player.0 == 1);
        pair.until("the order runs", |pair| (0..2).all(|player| pair.has_heard(player, ran)));
        let orders = [0, 1].map(|player: usize| pair.news[player].iter().find(|news| ran(news)).cloned());
        assert_eq!(orders[0], orders[1], "in the same turn everywhere");
        let Some(News::Ran { turn, .. }) = orders[0] else { unreachable!() };
        assert!(turn > given, "given in turn {given}, run in turn {turn}");

        pair.seat(0).toggle_pause();
        let stands = |pair: &Pair| {
            pair.games.iter().all(|game| game.seat().is_some_and(|seat| seat.session().is_paused()))
        };
        pair.until("a pause for all", stands);
        let frames = [0, 1].map(|player| pair.seat(player).frame());
        assert_eq!(frames[0], frames[1], "they stand at the same frame");
        pair.seat(1).toggle_pause();
        pair.until("its end", |pair| {
            pair.games.iter().all(|game| game.seat().is_some_and(|seat| seat.frame() > frames[0]))
        });

        pair.seat(1).leave();
        pair.until("the guest is gone", |pair| {
            let is_gone =
                |news: &News| matches!(news, News::Gone { player, is_taken_over: true } if player.0 == 1);
            pair.games[1].seat().is_some_and(Seat::is_over) && pair.has_heard(0, is_gone)
        });
        assert_eq!(pair.seat(1).session().phase(), SessionPhase::Left);
        assert_eq!(pair.seat(0).session().phase(), SessionPhase::Running);
        let [host, guest] = pair.games;
        let (host, guest) = (host.end().unwrap().unwrap(), guest.end().unwrap().unwrap());
        assert!(guest.terms.turns <= host.terms.turns && guest.divergent_turn.is_none(), "{guest:?}");
    }

    #[test]
    fn who_leaves_before_the_first_turn_has_nothing_to_tell() {
        let mut pair = Pair::new();
        let [host, _] = &mut pair.games;
        host.step().unwrap();
        host.seat_mut().unwrap().leave();
        let [host, guest] = pair.games;
        assert!(host.seat().is_some_and(Seat::is_over));
        assert!(host.end().unwrap().is_none() && guest.end().unwrap().is_none());
    }
}
