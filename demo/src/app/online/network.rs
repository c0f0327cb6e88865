//! A match between processes, in real time: from the question for a place to the last turn, and back after a lost connection.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::net::SocketAddr;

use testudo_lockstep::service::code::JoinCode;
use testudo_lockstep::service::greeting::Welcome;
use testudo_lockstep::service::guest::{Arrival, Guest, GuestError, MIDDLE};
use testudo_lockstep::transport::udp::PlainDialer;
use testudo_lockstep::{Duration, Identity, Pace, PlayerId, SessionPhase, state};

use crate::app::error::{InvitationError, MatchError};
use crate::app::interrupt;
use crate::app::online::agreement::Agreement;
use crate::app::online::codes::{self, Codes};
use crate::app::online::keys;
use crate::app::online::news::News;
use crate::app::online::own_saves::{self, Compared};
#[cfg(not(target_arch = "wasm32"))]
use crate::app::online::seat::hosting::Hosting;
use crate::app::online::seat::start::{Start, terms_of};
use crate::app::online::seat::{Seat, SeatOptions};
use crate::app::online::wire::{Dialer, Wire};
use crate::app::terms::Terms;
use crate::app::watch::FORESIGHT_PER_PICTURE;
use crate::app::watch::outcome::Outcome;
use crate::app::watch::recording::Kept;
use testudo_render::battle::foresight::Foresight;
use testudo_render::clock::Clock;

/// Pause between two checks for the host's answer.
const PAUSE: std::time::Duration = std::time::Duration::from_millis(2);

/// Time for telling the others that this process leaves.
const FAREWELL: Duration = Duration::from_secs(3);

/// Most units of a match, all players together, for a guest that names no other limit: a page has less memory.
pub(crate) const GUEST_UNITS_MAX: u32 = if cfg!(target_arch = "wasm32") { 20_000 } else { 100_000 };

/// The same for whoever opens a room. A page invites pages.
const OPENER_UNITS_MAX: u32 = if cfg!(target_arch = "wasm32") { GUEST_UNITS_MAX } else { u32::MAX };

/// Where a host or relay is reached.
#[derive(Clone, Debug)]
pub(crate) enum HostAddress {
    /// The host's address; without a seal.
    Plain(SocketAddr),
    Sealed(JoinCode),
}

/// What a guest asks for.
#[derive(Clone, Debug)]
pub(crate) struct JoinRequest {
    pub(crate) host: HostAddress,
    pub(crate) watches: bool,
    /// It asks a relay for a room.
    pub(crate) opens: bool,
    /// Most units of a match that is worth coming to, all players together.
    pub(crate) units_max: u32,
    /// What others need to come to the room, if this place has opened it, and comes back.
    pub(crate) codes: Option<Codes>,
}

impl JoinRequest {
    /// The place that a code opens, or one that is free.
    pub(crate) fn place(host: HostAddress) -> Self {
        Self { host, watches: false, opens: false, units_max: GUEST_UNITS_MAX, codes: None }
    }
}

/// This process's path into a match, and through it. Only [`NetworkMatch::play`] waits.
pub(crate) struct NetworkMatch {
    options: SeatOptions,
    /// What a guest asked for, and asks for again when it comes back.
    request: Option<JoinRequest>,
    clock: Clock,
    phase: NetworkPhase,
    news: VecDeque<News>,
    /// The seat before the connection was lost.
    former: Option<Box<Seat>>,
    /// The host's save was compared with those that were kept here.
    has_compared: bool,
    /// What is shown ahead of the seat's copy, if that is wanted.
    foresight: Option<Box<Foresight>>,
    /// How long the frames of the last step took.
    simulated: Duration,
}

/// Whether this process has its seat yet.
enum NetworkPhase {
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
        Ok(Self::at(NetworkPhase::Seated(Box::new(seat)), None, options, Clock::start()))
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
        terms_of(&agreement, OPENER_UNITS_MAX).map_err(MatchError::Invitation)?;
        let clock = Clock::start();
        let told = agreement.told().map_err(MatchError::Agreement)?;
        let dialer = Dialer::Sealed(Default::default());
        let guest = Guest::open(dialer, relay.clone(), keys::own()?.token(&relay), told, clock.now());
        let guest = guest.map_err(|error| MatchError::Invitation(error.into()))?;
        let host = HostAddress::Sealed(relay);
        let request = JoinRequest { opens: true, units_max: OPENER_UNITS_MAX, ..JoinRequest::place(host) };
        Ok(Self::at(NetworkPhase::Calling(Box::new(guest)), Some(request), options, clock))
    }

    /// Joins a match.
    ///
    /// # Errors
    /// No socket is available.
    pub(crate) fn join(request: JoinRequest, options: SeatOptions) -> Result<Self, MatchError> {
        let clock = Clock::start();
        let (dialer, code, token) = match &request.host {
            HostAddress::Plain(host) => {
                let dialer = PlainDialer::new(keys::random_number()?, request.watches);
                (Dialer::Plain(dialer), JoinCode::unsealed(*host), [0; 16])
            }
            HostAddress::Sealed(code) => {
                (Dialer::Sealed(Default::default()), code.clone(), keys::own()?.token(code))
            }
        };
        let guest = Guest::join(dialer, code, token, clock.now());
        let guest = guest.map_err(|error| MatchError::Invitation(error.into()))?;
        Ok(Self::at(NetworkPhase::Calling(Box::new(guest)), Some(request), options, clock))
    }

    /// The match to which a code leads: a place in one, or with `terms` a room that is opened at a relay.
    ///
    /// # Errors
    /// A sentence about why there is none.
    pub(crate) fn by_code(code: &str, terms: Option<&Terms>, options: SeatOptions) -> Result<Self, String> {
        let code = codes::read(code)?;
        let game = match terms {
            Some(terms) => Self::open(code, Agreement::new(terms, Pace::Adaptive, true), options),
            None => Self::join(JoinRequest::place(HostAddress::Sealed(code)), options),
        };
        game.map_err(|error| error.to_string())
    }

    /// The code of the place that this program has asked for; none of one that hosts or opens a room.
    pub(crate) fn code(&self) -> Option<String> {
        let request = self.request.as_ref().filter(|request| !request.opens)?;
        if let HostAddress::Sealed(code) = &request.host { Some(code.to_string()) } else { None }
    }

    /// Comes back to a room that was opened with these codes, which the other side tells only once.
    #[cfg(any(target_arch = "wasm32", test))]
    pub(crate) fn with_codes(mut self, codes: Option<Codes>) -> Self {
        self.request.iter_mut().for_each(|request| request.codes.clone_from(&codes));
        self
    }

    fn at(phase: NetworkPhase, request: Option<JoinRequest>, options: SeatOptions, clock: Clock) -> Self {
        Self {
            options,
            request,
            clock,
            phase,
            news: VecDeque::new(),
            former: None,
            has_compared: false,
            foresight: None,
            simulated: Duration::ZERO,
        }
    }

    /// Does everything that is due.
    ///
    /// # Errors
    /// No host let us in, the socket broke, or a replay could not be written.
    pub(crate) fn step(&mut self) -> Result<(), MatchError> {
        match self.advance() {
            Err(MatchError::Invitation(error)) if self.former.is_some() => {
                self.go_back(&error);
                Ok(())
            }
            advanced => advanced,
        }
    }

    /// The round of the last step is over, which kept this machine at work for so long: the step, and a picture if there was one. Waiting for the
    /// screen is no work. The others wait for a machine that cannot keep up, and are told why.
    pub(crate) fn note_work(&mut self, all: Duration) {
        let simulated = core::mem::take(&mut self.simulated);
        if let NetworkPhase::Seated(seat) = &mut self.phase {
            seat.note_work(simulated, all - simulated);
        }
    }

    fn advance(&mut self) -> Result<(), MatchError> {
        match core::mem::replace(&mut self.phase, NetworkPhase::Nowhere) {
            NetworkPhase::Calling(mut guest) => {
                let was_delayed = guest.delay().is_some();
                let arrival = guest.round(None, self.clock.now());
                match arrival.map_err(|error| MatchError::Invitation(self.why_not(error)))? {
                    Some(arrival) => self.arrive(&arrival, guest)?,
                    None => {
                        let why = guest.delay().filter(|_| !was_delayed);
                        self.news.extend(why.map(|why| News::Later(why.into())));
                        self.phase = NetworkPhase::Calling(guest);
                    }
                }
            }
            NetworkPhase::Seated(mut seat) => {
                let stepped = seat.step();
                self.phase = NetworkPhase::Seated(seat);
                self.simulated = stepped?;
                self.compare()?;
                self.come_back();
            }
            NetworkPhase::Nowhere => {}
        }
        Ok(())
    }

    /// Why there is no place. What is wrong with a code depends on what was wanted by it.
    fn why_not(&self, error: GuestError) -> InvitationError {
        match InvitationError::from(error) {
            InvitationError::WrongSecret if self.request.as_ref().is_some_and(|request| request.opens) => {
                InvitationError::OpensNoRoom
            }
            other => other,
        }
    }

    /// The host's save is not believed if this program has kept another one of the same match and turn.
    fn compare(&mut self) -> Result<(), MatchError> {
        let NetworkPhase::Seated(seat) = &self.phase else { return Ok(()) };
        // A state is loaded.
        let is_due = !seat.session().is_joining() && self.request.is_some() && !self.has_compared;
        let Some(saved) = seat.session().resumed().filter(|_| is_due) else { return Ok(()) };
        // No turn has run from it; or the host has begun in the moment in which it was there.
        let is_at_start = seat.session().phase() == SessionPhase::Lobby;
        let state = is_at_start.then(|| {
            let mut state = Vec::new();
            state::save(&mut seat.copy().game().clone(), &mut state);
            state
        });
        let (state, replay) = (state.as_deref(), &self.options.replay);
        let is_own = match own_saves::compare(saved, state, seat.agreement(), replay) {
            Compared::Unknown => false,
            Compared::Equal(_) => true,
            Compared::Changed(path) => {
                return Err(MatchError::Invitation(InvitationError::ChangedSave { path }));
            }
        };
        self.has_compared = true;
        self.news.push_back(News::Resumes { is_own });
        Ok(())
    }

    /// The other side has opened a place.
    fn arrive(&mut self, arrival: &Arrival, guest: Box<Guest<Dialer>>) -> Result<(), MatchError> {
        let Welcome { place, is_relayed, agreement: told, .. } = &arrival.welcome;
        let refused = |why| Err(MatchError::Invitation(why));
        if self.request.as_ref().is_some_and(|request| request.watches) && *place != Identity::Watcher {
            return refused(InvitationError::NotForWatching);
        }
        let Some(agreement) = Agreement::of(told) else { return refused(InvitationError::NotUnderstood) };
        let units_max = self.request.as_ref().map_or(u32::MAX, |request| request.units_max);
        let codes = arrival.codes.as_ref().map(|codes| {
            let codes = Codes::sealed(codes, PlayerId(0), told.players());
            codes.by_page(self.options.page.clone()).back_by(arrival.code.to_string())
        });
        let start = Start {
            terms: terms_of(&agreement, units_max).map_err(MatchError::Invitation)?,
            agreement,
            place: *place,
            is_relayed: *is_relayed,
            config: arrival.config(),
            clock: self.clock,
            wire: Wire::Guest(guest),
            middle: Some(MIDDLE),
            save: None,
            codes,
        };
        let mut seat = Seat::guest(start, &self.options, self.former.as_deref())?;
        // In the lobby the host may give another save than it gave before the connection was lost.
        self.has_compared = false;
        seat.keep_codes(self.request.as_ref().and_then(|request| request.codes.as_ref()));
        self.phase = NetworkPhase::Seated(Box::new(seat));
        Ok(())
    }

    /// The others went on without this process: its guest asks for the place again.
    fn come_back(&mut self) {
        let NetworkPhase::Seated(seat) = &mut self.phase else { return };
        if seat.session().phase() == SessionPhase::Running && seat.has_played() {
            self.former = None;
        }
        let Some(guest) = seat.take_calling_guest() else { return };
        // Why it is not let in at once is told by the way.
        self.news.push_back(guest.delay().map_or(News::ComingBack, |why| News::Later(why.into())));
        if let NetworkPhase::Seated(seat) = core::mem::replace(&mut self.phase, NetworkPhase::Calling(guest))
        {
            self.former.get_or_insert(seat);
        }
    }

    /// The place is lost for good: what was played before that is the result.
    fn go_back(&mut self, error: &InvitationError) {
        let Some(mut former) = self.former.take() else { return };
        if !matches!(error, InvitationError::Lost { .. }) {
            former.note_refusal(error);
        }
        self.phase = NetworkPhase::Seated(former);
    }

    /// The host that is being asked for a place, until there is a seat.
    pub(crate) fn asked(&self) -> Option<SocketAddr> {
        match &self.phase {
            NetworkPhase::Calling(guest) => guest.code().addresses().first().copied(),
            NetworkPhase::Seated(_) | NetworkPhase::Nowhere => None,
        }
    }

    /// This process's seat, as soon as it has one.
    pub(crate) fn seat(&self) -> Option<&Seat> {
        match &self.phase {
            NetworkPhase::Seated(seat) => Some(seat),
            _ => None,
        }
    }

    /// This process's seat, mutable.
    pub(crate) fn seat_mut(&mut self) -> Option<&mut Seat> {
        match &mut self.phase {
            NetworkPhase::Seated(seat) => Some(seat),
            _ => None,
        }
    }

    /// Shows the player's own orders at once, or when they run.
    pub(crate) fn set_prediction(&mut self, predicts: bool) {
        match &self.phase {
            NetworkPhase::Seated(seat) => {
                Foresight::switch(&mut self.foresight, predicts, seat.copy().game(), FORESIGHT_PER_PICTURE)
            }
            _ => self.foresight = None,
        }
    }

    /// Brings the prediction up to date: once per picture, `passed` after the last one.
    pub(crate) fn foresee(&mut self, passed: Duration) {
        if let NetworkPhase::Seated(seat) = &self.phase {
            let game = seat.copy().game();
            Foresight::follow(&mut self.foresight, seat.driver(), game, passed, seat.now());
        }
    }

    /// What is shown ahead of the seat's copy: if that is wanted, and until the picture has fallen back when it is no longer.
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
        if let NetworkPhase::Calling(guest) = &mut self.phase {
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
            let begun = self.clock.now();
            self.step()?;
            round(&mut self);
            self.note_work(self.clock.now().since(begun));
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
            seat.wait();
        }
    }

    /// The outcome up to the end or the time of leaving; none if the match had not begun.
    ///
    /// # Errors
    /// The match ended early.
    pub(crate) fn end(self) -> Result<Option<Outcome>, MatchError> {
        match (self.phase, self.former) {
            (_, Some(former)) => former.end(),
            (NetworkPhase::Seated(seat), None) => seat.end(),
            _ => Ok(None),
        }
    }
}
