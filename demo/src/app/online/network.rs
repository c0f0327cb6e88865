//! A match between processes, in real time: from the question for a place to the last turn, and back after a lost connection.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::net::SocketAddr;

use testudo_lockstep::service::code::JoinCode;
use testudo_lockstep::service::greeting::Welcome;
use testudo_lockstep::service::guest::{Arrival, Guest, MIDDLE};
use testudo_lockstep::transport::udp::UdpTransport;
use testudo_lockstep::{Duration, Failure, Identity, PlayerId, SessionPhase, Topology, state};

use crate::app::clock::Clock;
use crate::app::error::{InvitationError, MatchError};
use crate::app::interrupt;
use crate::app::online::agreement::Agreement;
use crate::app::online::asking::Asking;
use crate::app::online::codes::Codes;
use crate::app::online::keys;
use crate::app::online::news::News;
use crate::app::online::own_saves::{self, Compared};
#[cfg(not(target_arch = "wasm32"))]
use crate::app::online::seat::hosting::Hosting;
use crate::app::online::seat::start::{Start, terms_of};
use crate::app::online::seat::{Seat, SeatOptions};
use crate::app::online::wire::{Dialer, Wire};
use crate::app::watch::foresight::Foresight;
use crate::app::watch::outcome::Outcome;
use crate::app::watch::recording::Kept;

/// Pause between two checks for the host's answer.
const PAUSE: std::time::Duration = std::time::Duration::from_millis(2);

/// Time for telling the others that this process leaves.
const FAREWELL: Duration = Duration::from_secs(3);

/// How often a guest without a seal whose connection was lost asks for its place again, one time after the other without success.
const RETURNS_MAX: u32 = 3;

/// How long a guest without a seal waits for the host.
const SILENCE: Duration = Duration::from_secs(80);

/// The way to a place.
#[derive(Clone, Debug)]
pub(crate) enum Way {
    /// The host's address; without a seal.
    Plain(SocketAddr),
    Sealed(JoinCode),
}

/// What a guest asks for.
#[derive(Clone, Debug)]
pub(crate) struct Wish {
    pub(crate) way: Way,
    pub(crate) watches: bool,
    /// Most units of a match that is worth coming to, all players together.
    pub(crate) units_max: u32,
}

/// This process's path into a match, and through it. Only [`NetworkMatch::play`] waits.
pub(crate) struct NetworkMatch {
    options: SeatOptions,
    /// A guest's way, also back.
    wish: Option<Wish>,
    clock: Clock,
    stage: Stage,
    news: VecDeque<News>,
    /// The seat before the connection was lost.
    former: Option<Box<Seat>>,
    /// Attempts to come back without a seal since the last success.
    returns: u32,
    /// The host's save was compared with those that were kept here.
    has_compared: bool,
    is_leaving: bool,
    /// What is shown ahead of the seat's copy, if that is wanted.
    foresight: Option<Box<Foresight>>,
}

enum Stage {
    /// The host has not yet named a free place.
    Asking(Asking),
    /// The host or relay has not yet opened the place.
    Calling(Box<Guest<Dialer>>),
    Seated(Box<Seat>),
    /// Between two of the others.
    Nowhere,
}

impl NetworkMatch {
    /// Hosts a match as player 0.
    ///
    /// # Errors
    /// Settings out of range, a port that is taken, a replay that cannot be written.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn host(hosting: &Hosting, options: SeatOptions) -> Result<Self, MatchError> {
        let seat = Seat::host(hosting, &options)?;
        Ok(Self::at(Stage::Seated(Box::new(seat)), None, options, Clock::start()))
    }

    /// Opens a room at a relay, and plays in it as player 0.
    ///
    /// # Errors
    /// Settings out of range; no socket is available.
    pub(crate) fn open(
        relay: JoinCode,
        agreement: Agreement,
        options: SeatOptions,
    ) -> Result<Self, MatchError> {
        // The relay does not know the game: without this, the others would be told of other rules.
        agreement.check_setup().map_err(MatchError::Setup)?;
        let clock = Clock::start();
        let told = agreement.told().map_err(MatchError::Agreement)?;
        let guest =
            Guest::open(Dialer::default(), relay.clone(), keys::pass(&relay)?.token, told, clock.now());
        let guest = guest.map_err(|error| MatchError::Invitation(error.into()))?;
        let wish = Wish { way: Way::Sealed(relay), watches: false, units_max: u32::MAX };
        Ok(Self::at(Stage::Calling(Box::new(guest)), Some(wish), options, clock))
    }

    /// Joins a match.
    ///
    /// # Errors
    /// No socket is available.
    pub(crate) fn join(wish: Wish, options: SeatOptions) -> Result<Self, MatchError> {
        let clock = Clock::start();
        let stage = match &wish.way {
            Way::Plain(host) => Stage::Asking(Asking::begin(*host, wish.watches)?),
            Way::Sealed(code) => {
                let guest =
                    Guest::join(Dialer::default(), code.clone(), keys::pass(code)?.token, clock.now());
                Stage::Calling(Box::new(guest.map_err(|error| MatchError::Invitation(error.into()))?))
            }
        };
        Ok(Self::at(stage, Some(wish), options, clock))
    }

    fn at(stage: Stage, wish: Option<Wish>, options: SeatOptions, clock: Clock) -> Self {
        let news = VecDeque::new();
        Self {
            options,
            wish,
            clock,
            stage,
            news,
            former: None,
            returns: 0,
            has_compared: false,
            is_leaving: false,
            foresight: None,
        }
    }

    /// Does everything that is due.
    ///
    /// # Errors
    /// No host let us in, the socket broke, or a replay could not be written.
    pub(crate) fn step(&mut self) -> Result<(), MatchError> {
        match self.advance() {
            Err(MatchError::Invitation(error)) if self.former.is_some() => self.try_again(&error),
            advanced => advanced,
        }
    }

    fn advance(&mut self) -> Result<(), MatchError> {
        match core::mem::replace(&mut self.stage, Stage::Nowhere) {
            Stage::Asking(mut asking) => match asking.step().map_err(MatchError::Invitation)? {
                Some(welcome) => self.sit_down_at(asking.host(), welcome)?,
                None => self.stage = Stage::Asking(asking),
            },
            Stage::Calling(mut guest) => {
                let was_delayed = guest.delay().is_some();
                let arrival = guest.round(None, self.clock.now());
                match arrival.map_err(|error| MatchError::Invitation(error.into()))? {
                    Some(arrival) => self.arrive(&arrival, guest)?,
                    None => {
                        let why = guest.delay().filter(|_| !was_delayed);
                        self.news.extend(why.map(|why| News::Later(why.into())));
                        self.stage = Stage::Calling(guest);
                    }
                }
            }
            Stage::Seated(mut seat) => {
                let stepped = seat.step();
                self.stage = Stage::Seated(seat);
                stepped?;
                self.compare()?;
                self.come_back()?;
            }
            Stage::Nowhere => {}
        }
        Ok(())
    }

    /// The host's save is not believed if this program has kept another one of the same match and turn.
    fn compare(&mut self) -> Result<(), MatchError> {
        let Stage::Seated(seat) = &self.stage else { return Ok(()) };
        // The state is loaded, and no turn has run from it.
        let is_at_start = seat.session().phase() == SessionPhase::Lobby && !seat.session().is_joining();
        let is_due = is_at_start && self.wish.is_some() && !self.has_compared && self.former.is_none();
        let Some(saved) = seat.session().resumed().filter(|_| is_due) else { return Ok(()) };
        let mut state = Vec::new();
        state::save(&mut seat.client().game().clone(), &mut state);
        let is_own = match own_saves::compare(saved, &state, seat.agreement(), &self.options.replay) {
            Compared::Unknown => false,
            Compared::Equal(_) => true,
            Compared::Changed(path) => {
                return Err(MatchError::Invitation(InvitationError::ChangedSave { path }));
            }
        };
        let turn = saved.turn();
        self.has_compared = true;
        self.news.push_back(News::Resumes { is_own });
        if let Stage::Seated(seat) = &mut self.stage {
            seat.record_from(turn, &self.options.replay)?;
        }
        Ok(())
    }

    /// The other side has opened a place.
    fn arrive(&mut self, arrival: &Arrival, guest: Box<Guest<Dialer>>) -> Result<(), MatchError> {
        let Welcome { place, ref agreement, .. } = arrival.welcome;
        if self.wish.as_ref().is_some_and(|wish| wish.watches) && place != Identity::Watcher {
            return Err(MatchError::Invitation(InvitationError::NotForWatching));
        }
        let codes = arrival.codes.as_ref().map(|codes| {
            let codes = Codes::sealed(codes, PlayerId(0), agreement.players());
            codes.by_page(self.options.page.clone()).back_by(arrival.code.to_string())
        });
        let config = arrival.config();
        self.sit_down(&arrival.welcome, config, Wire::Guest(guest))?;
        if let (Some(codes), Stage::Seated(seat)) = (codes, &mut self.stage) {
            seat.opened(codes);
        }
        Ok(())
    }

    /// A host without a seal has named a free place.
    fn sit_down_at(&mut self, host: SocketAddr, welcome: Welcome) -> Result<(), MatchError> {
        let address: SocketAddr =
            if host.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { ([0_u16; 8], 0).into() };
        let udp = UdpTransport::bind(address);
        let mut udp = udp.map_err(|error| MatchError::Bind { address, error })?;
        let middle = udp.add_peer(host);
        debug_assert_eq!(middle, MIDDLE);
        let config = welcome.agreement.config().topology(Topology::Host).session_id(welcome.session_id);
        let config = config.silence_timeout(SILENCE);
        self.sit_down(&welcome, config, Wire::Plain(Box::new(udp), None))
    }

    fn sit_down(
        &mut self,
        welcome: &Welcome,
        config: testudo_lockstep::SessionConfig,
        wire: Wire,
    ) -> Result<(), MatchError> {
        let units_max = self.wish.as_ref().map_or(u32::MAX, |wish| wish.units_max);
        let agreement = Agreement::of(&welcome.agreement)
            .ok_or(MatchError::Invitation(InvitationError::NotUnderstood))?;
        let terms = terms_of(&agreement, units_max).map_err(MatchError::Invitation)?;
        let start = Start {
            terms,
            agreement,
            place: welcome.place,
            is_relayed: welcome.is_relayed,
            config,
            clock: self.clock,
            wire,
            middle: Some(MIDDLE),
            save: None,
        };
        let seat = Seat::guest(start, &self.options, self.former.as_deref())?;
        self.stage = Stage::Seated(Box::new(seat));
        Ok(())
    }

    /// Asks for the place again if the others went on without this process.
    fn come_back(&mut self) -> Result<(), MatchError> {
        let Stage::Seated(seat) = &mut self.stage else { return Ok(()) };
        let phase = seat.session().phase();
        if phase == SessionPhase::Running && seat.has_played() {
            (self.returns, self.former) = (0, None);
        }
        if let Some(guest) = seat.take_calling_guest() {
            // Why it is not let in at once is told by the way.
            self.news.push_back(guest.delay().map_or(News::ComingBack, |why| News::Later(why.into())));
            self.keep_seat(Stage::Calling(guest));
            return Ok(());
        }
        let is_lost = matches!(
            phase,
            SessionPhase::Failed(
                Failure::Dropped | Failure::ConnectionLost(_) | Failure::JoinTimeout | Failure::NoState
            )
        );
        let has_played = seat.has_played() || self.former.is_some();
        let Some(Wish { way: Way::Plain(host), watches, .. }) = &self.wish else { return Ok(()) };
        if is_lost && has_played && !self.is_leaving && self.returns < RETURNS_MAX {
            let stage = Stage::Asking(Asking::begin(*host, *watches)?);
            self.returns += 1;
            self.news.push_back(News::ComingBack);
            self.keep_seat(stage);
        }
        Ok(())
    }

    fn keep_seat(&mut self, next: Stage) {
        if let Stage::Seated(seat) = core::mem::replace(&mut self.stage, next) {
            self.former.get_or_insert(seat);
        }
    }

    /// The attempt to come back has failed.
    fn try_again(&mut self, error: &InvitationError) -> Result<(), MatchError> {
        let is_final = !matches!(error, InvitationError::Lost { .. } | InvitationError::NoAnswer { .. });
        self.returns = if is_final || self.is_leaving { RETURNS_MAX } else { self.returns + 1 };
        match (&self.wish, self.former.take()) {
            (Some(Wish { way: Way::Plain(host), watches, .. }), Some(former))
                if self.returns < RETURNS_MAX =>
            {
                self.stage = Stage::Asking(Asking::begin(*host, *watches)?);
                self.former = Some(former);
            }
            (_, Some(mut former)) => {
                if is_final {
                    former.note_refusal(error.to_string());
                }
                self.stage = Stage::Seated(former);
            }
            _ => {}
        }
        Ok(())
    }

    /// The host that is being asked for a place, until there is a seat.
    pub(crate) fn asked(&self) -> Option<SocketAddr> {
        match &self.stage {
            Stage::Asking(asking) => Some(asking.host()),
            Stage::Calling(guest) => guest.code().addresses().first().copied(),
            Stage::Seated(_) | Stage::Nowhere => None,
        }
    }

    /// This process's seat, as soon as it has one.
    pub(crate) fn seat(&self) -> Option<&Seat> {
        match &self.stage {
            Stage::Seated(seat) => Some(seat),
            _ => None,
        }
    }

    /// This process's seat, mutable.
    pub(crate) fn seat_mut(&mut self) -> Option<&mut Seat> {
        match &mut self.stage {
            Stage::Seated(seat) => Some(seat),
            _ => None,
        }
    }

    /// Shows the own orders at once, or when they run.
    pub(crate) fn set_prediction(&mut self, predicts: bool) {
        let game = self.seat().map(|seat| seat.client().game()).filter(|_| predicts);
        self.foresight = game.map(|game| Box::new(Foresight::new(game)));
    }

    /// Brings the prediction up to date: once per picture, `passed` after the last one.
    pub(crate) fn foresee(&mut self, passed: Duration) {
        if let (Some(foresight), Stage::Seated(seat)) = (&mut self.foresight, &self.stage) {
            foresight.follow(seat.driver(), passed, seat.alpha());
        }
    }

    /// What is shown ahead of the seat's copy, if that is wanted.
    pub(crate) fn foresight(&self) -> Option<&Foresight> {
        self.foresight.as_deref()
    }

    /// The replay up to now, which is ended by that.
    pub(crate) fn take_replay(&mut self) -> Option<Kept> {
        self.seat_mut()?.take_replay()
    }

    /// What has happened since the last call.
    pub(crate) fn poll_news(&mut self) -> Option<News> {
        self.news.pop_front().or_else(|| self.seat_mut()?.poll_news())
    }

    /// Leaves in good order: a few steps later it is over.
    pub(crate) fn leave(&mut self) {
        self.is_leaving = true;
        if let Stage::Calling(guest) = &mut self.stage {
            guest.leave();
        }
        if let Some(seat) = self.seat_mut().filter(|seat| !seat.is_over()) {
            seat.leave();
        }
    }

    /// Plays to the end, however long that takes. `round` is called again and again.
    ///
    /// # Errors
    /// The match was not played to its end.
    pub(crate) fn play(
        mut self,
        mut tell: impl FnMut(&Self, News),
        mut round: impl FnMut(&mut Self),
    ) -> Result<Option<Outcome>, MatchError> {
        let mut farewell = None;
        loop {
            self.step()?;
            round(&mut self);
            if interrupt::is_asked() && farewell.is_none() {
                farewell = Some(Clock::start());
                self.leave();
            }
            while let Some(news) = self.poll_news() {
                tell(&self, news);
            }
            let has_waited = farewell.is_some_and(|clock| clock.elapsed() > FAREWELL);
            if has_waited || (farewell.is_some() && self.seat().is_none()) {
                return self.end();
            }
            let Some(seat) = self.seat() else {
                std::thread::sleep(PAUSE);
                continue;
            };
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
        match (self.stage, self.former) {
            (_, Some(former)) => former.end(),
            (Stage::Seated(seat), None) => seat.end(),
            _ => Ok(None),
        }
    }
}
