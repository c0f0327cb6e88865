//! A match between processes, in real time: from the question for a place to the last turn, and back after a lost connection.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::net::SocketAddr;

use testudo_lockstep::transport::code::JoinCode;
use testudo_lockstep::transport::udp::UdpTransport;
use testudo_lockstep::{Duration, Failure, Identity, PlayerId, Refusal, SessionPhase};

use crate::app::clock::Clock;
use crate::app::error::{InvitationError, MatchError};
use crate::app::interrupt;
use crate::app::online::agreement::Agreement;
use crate::app::online::calling::Calling;
use crate::app::online::codes::Codes;
use crate::app::online::greeting::{Answer, Greeting, Secret, Welcome};
use crate::app::online::invitation::Asking;
use crate::app::online::keys;
use crate::app::online::news::News;
use crate::app::online::own_saves::{self, Compared};
use crate::app::online::saves::{Getting, Save};
#[cfg(not(target_arch = "wasm32"))]
use crate::app::online::seat::hosting::Hosting;
use crate::app::online::seat::start::terms_of;
use crate::app::online::seat::{Seat, SeatOptions};
use crate::app::online::wire::{Client, Wire};
use crate::app::terms::Terms;
use crate::app::watch::foresight::Foresight;
use crate::app::watch::outcome::Outcome;
use crate::app::watch::recording::Kept;

/// Pause between two checks for the host's answer.
const PAUSE: std::time::Duration = std::time::Duration::from_millis(2);

/// Time for telling the others that this process leaves.
const FAREWELL: Duration = Duration::from_secs(3);

/// How often a guest whose connection was lost asks for its place again, one time after the other without success. Each time takes half a minute
/// if nobody answers.
const RETURNS_MAX: u32 = 3;

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
    stage: Stage,
    news: VecDeque<News>,
    /// The seat before the connection was lost.
    former: Option<Box<Seat>>,
    /// Attempts to come back since the last success.
    returns: u32,
    is_leaving: bool,
    /// What is shown ahead of the seat's copy, if that is wanted.
    foresight: Option<Box<Foresight>>,
}

enum Stage {
    /// The host has not yet named a free place.
    Asking(Asking),
    /// A sealed connection is being made.
    Calling(Box<Calling>),
    /// The match goes on from a save, which is on its way.
    Getting(Box<Arrival>, Box<Getting>),
    Seated(Box<Seat>),
    /// Between two of the others.
    Nowhere,
}

/// A guest that has a place.
struct Arrival {
    welcome: Welcome,
    terms: Terms,
    pipe: Pipe,
    secret: Option<Secret>,
    codes: Option<Codes>,
}

/// How a guest without a session reaches the host.
enum Pipe {
    Plain(Asking),
    Sealed(Box<Client>),
}

impl NetworkMatch {
    /// Hosts a match as player 0.
    ///
    /// # Errors
    /// Settings out of range, a port that is taken, a replay that cannot be written.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn host(hosting: &Hosting, options: SeatOptions) -> Result<Self, MatchError> {
        let seat = Seat::host(hosting, &options)?;
        Ok(Self::at(Stage::Seated(Box::new(seat)), None, options))
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
        let greeting = Greeting::Open { pass: keys::pass(&relay)?, agreement, name: options.name.clone() };
        let calling = Calling::begin(relay.clone(), &greeting)?;
        let wish = Wish { way: Way::Sealed(relay), watches: false, units_max: u32::MAX };
        Ok(Self::at(Stage::Calling(Box::new(calling)), Some(wish), options))
    }

    /// Joins a match.
    ///
    /// # Errors
    /// No socket is available.
    pub(crate) fn join(wish: Wish, options: SeatOptions) -> Result<Self, MatchError> {
        let stage = Self::ask(&wish, &options)?;
        Ok(Self::at(stage, Some(wish), options))
    }

    fn at(stage: Stage, wish: Option<Wish>, options: SeatOptions) -> Self {
        Self {
            options,
            wish,
            stage,
            news: VecDeque::new(),
            former: None,
            returns: 0,
            is_leaving: false,
            foresight: None,
        }
    }

    fn ask(wish: &Wish, options: &SeatOptions) -> Result<Stage, MatchError> {
        let name = options.name.clone();
        Ok(match &wish.way {
            Way::Plain(host) => Stage::Asking(Asking::begin(*host, wish.watches, name)?),
            Way::Sealed(code) => {
                let greeting = Greeting::Come { pass: keys::pass(code)?, name };
                Stage::Calling(Box::new(Calling::begin(code.clone(), &greeting)?))
            }
        })
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
                Some(welcome) => self.arrive(welcome, Pipe::Plain(asking), None, None)?,
                None => self.stage = Stage::Asking(asking),
            },
            Stage::Calling(mut calling) => {
                let was_delayed = calling.delay().is_some();
                match calling.step().map_err(MatchError::Invitation)? {
                    Some((answer, client)) => self.come(calling.code(), answer, client)?,
                    None => {
                        let why = calling.delay().filter(|_| !was_delayed);
                        self.news.extend(why.map(|why| News::Later(why.into())));
                        self.stage = Stage::Calling(calling);
                    }
                }
            }
            Stage::Getting(mut arrival, mut getting) => {
                let before = getting.percent();
                match arrival.get(&mut getting)? {
                    Some(save) => {
                        self.compare(&save)?;
                        self.sit_down(*arrival, Some(&save))?;
                    }
                    None => {
                        let percent = getting.percent();
                        if percent / 10 > before / 10 {
                            self.news.push_back(News::State { percent });
                        }
                        self.stage = Stage::Getting(arrival, getting);
                    }
                }
            }
            Stage::Seated(mut seat) => {
                let stepped = seat.step();
                self.stage = Stage::Seated(seat);
                stepped?;
                self.come_back()?;
            }
            Stage::Nowhere => {}
        }
        Ok(())
    }

    /// The other side has answered.
    fn come(&mut self, code: &JoinCode, answer: Answer, mut client: Client) -> Result<(), MatchError> {
        let (welcome, secret, codes) = match answer {
            Answer::Opened(opened) => {
                let secret = opened.players.first().copied().unwrap_or_default();
                let (addresses, hash) = (code.addresses(), code.certificate_hash());
                let codes = Codes::sealed(
                    addresses,
                    hash,
                    &opened.players,
                    PlayerId(0),
                    (opened.watchers, opened.referee),
                );
                let own = JoinCode::new(addresses, hash, secret);
                let (Ok(codes), Ok(own)) = (codes, own) else {
                    return Err(MatchError::Invitation(InvitationError::NotUnderstood));
                };
                let pass = keys::pass(&own)?;
                let greeting = Greeting::Come { pass, name: self.options.name.clone() };
                client.come_back_with(own.clone(), greeting.to_bytes());
                let codes = codes.by_page(self.options.page.clone()).back_by(own.to_string());
                if let Some(wish) = &mut self.wish {
                    wish.way = Way::Sealed(own);
                }
                (opened.welcome, secret, Some(codes))
            }
            Answer::Come(welcome) => (welcome, *code.secret(), None),
            _ => return Err(MatchError::Invitation(InvitationError::NotUnderstood)),
        };
        let watches = self.wish.as_ref().is_some_and(|wish| wish.watches);
        if watches && welcome.place != Identity::Watcher {
            return Err(MatchError::Invitation(InvitationError::NotForWatching));
        }
        self.arrive(welcome, Pipe::Sealed(Box::new(client)), Some(secret), codes)
    }

    fn arrive(
        &mut self,
        welcome: Welcome,
        pipe: Pipe,
        secret: Option<Secret>,
        codes: Option<Codes>,
    ) -> Result<(), MatchError> {
        let units_max = self.wish.as_ref().map_or(u32::MAX, |wish| wish.units_max);
        let terms = terms_of(&welcome.agreement, units_max).map_err(MatchError::Invitation)?;
        let arrival = Arrival { welcome, terms, pipe, secret, codes };
        if welcome.agreement.save == 0 {
            return self.sit_down(arrival, None);
        }
        let getting = Getting::begin(&welcome).map_err(MatchError::Invitation)?;
        self.stage = Stage::Getting(Box::new(arrival), Box::new(getting));
        Ok(())
    }

    /// The host's save is not believed if this program has kept another one of the same match and turn.
    fn compare(&mut self, save: &Save) -> Result<(), MatchError> {
        // The save is agreed before the first turn, so nobody has to compare it again after a break.
        if self.former.is_some() {
            return Ok(());
        }
        let is_own = match own_saves::compare(save, &self.options.replay) {
            Compared::Unknown => false,
            Compared::Equal(_) => true,
            Compared::Changed(path) => {
                return Err(MatchError::Invitation(InvitationError::ChangedSave { path }));
            }
        };
        self.news.push_back(News::Resumes { is_own });
        Ok(())
    }

    fn sit_down(&mut self, arrival: Arrival, save: Option<&Save>) -> Result<(), MatchError> {
        let Arrival { welcome, terms, pipe, secret, codes } = arrival;
        let wire = match pipe {
            Pipe::Sealed(client) => Wire::Client(client),
            Pipe::Plain(asking) => {
                let host = asking.host();
                let address: SocketAddr =
                    if host.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { ([0_u16; 8], 0).into() };
                let udp = UdpTransport::bind(address);
                let mut udp = udp.map_err(|error| MatchError::Bind { address, error })?;
                udp.add_peer(host);
                Wire::Plain(Box::new(udp))
            }
        };
        let mut seat =
            Seat::guest(welcome, terms, wire, secret, save, &self.options, self.former.as_deref())?;
        if let Some(codes) = codes {
            seat.opened(codes);
        }
        self.stage = Stage::Seated(Box::new(seat));
        Ok(())
    }

    /// The middle has the place, but not yet: whoever comes and goes too often waits. Returns whether that is so.
    fn come_back_later(&mut self) -> bool {
        let (Stage::Seated(seat), Some(wish)) = (&self.stage, &self.wish) else { return false };
        let SessionPhase::Failed(failure @ Failure::Refused(Refusal::ComeBackIn { seconds })) =
            seat.session().phase()
        else {
            return false;
        };
        let Way::Sealed(code) = &wish.way else { return false };
        if self.is_leaving {
            return false;
        }
        let Ok(pass) = keys::pass(code) else { return false };
        let greeting = Greeting::Come { pass, name: self.options.name.clone() };
        let wait = Duration::from_secs(u64::from(seconds) + 1);
        let calling = Calling::after(wait, code.clone(), &greeting, failure.to_string());
        self.news.push_back(News::Later(failure.to_string()));
        self.stage = Stage::Calling(Box::new(calling));
        true
    }

    /// Asks for the place again if the others went on without this process.
    fn come_back(&mut self) -> Result<(), MatchError> {
        if self.come_back_later() {
            return Ok(());
        }
        let (Stage::Seated(seat), Some(wish)) = (&self.stage, &self.wish) else { return Ok(()) };
        if seat.session().phase() == SessionPhase::Running && seat.has_played() {
            (self.returns, self.former) = (0, None);
        }
        let is_lost = matches!(
            seat.session().phase(),
            SessionPhase::Failed(
                Failure::Dropped | Failure::ConnectionLost(_) | Failure::JoinTimeout | Failure::NoState
            )
        );
        // The connection was tried again and again while the middle was silent: that was long enough.
        let is_silent = matches!(seat.session().phase(), SessionPhase::Failed(Failure::ConnectionLost(_)));
        let is_lost = is_lost && !(is_silent && seat.is_cut_off());
        let has_played = seat.has_played() || self.former.is_some();
        if !is_lost || self.is_leaving || self.returns >= RETURNS_MAX || !has_played {
            return Ok(());
        }
        let stage = Self::ask(wish, &self.options)?;
        self.returns += 1;
        self.news.push_back(News::ComingBack);
        if let Stage::Seated(seat) = core::mem::replace(&mut self.stage, stage) {
            self.former.get_or_insert(seat);
        }
        Ok(())
    }

    /// The last attempt to come back has failed.
    fn try_again(&mut self, error: &InvitationError) -> Result<(), MatchError> {
        let is_final = !matches!(error, InvitationError::Lost { .. } | InvitationError::NoAnswer { .. });
        self.returns = if is_final || self.is_leaving { RETURNS_MAX } else { self.returns + 1 };
        match (&self.wish, self.former.take()) {
            (Some(wish), Some(former)) if self.returns < RETURNS_MAX => {
                self.stage = Self::ask(wish, &self.options)?;
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
            Stage::Calling(calling) => calling.code().addresses().first().copied(),
            Stage::Getting(arrival, _) => match &arrival.pipe {
                Pipe::Plain(asking) => Some(asking.host()),
                Pipe::Sealed(_) => self.way_to(),
            },
            Stage::Seated(_) | Stage::Nowhere => None,
        }
    }

    fn way_to(&self) -> Option<SocketAddr> {
        match &self.wish.as_ref()?.way {
            Way::Plain(host) => Some(*host),
            Way::Sealed(code) => code.addresses().first().copied(),
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

impl Arrival {
    /// Gets more of the save.
    fn get(&mut self, getting: &mut Getting) -> Result<Option<Save>, MatchError> {
        match &mut self.pipe {
            Pipe::Plain(asking) => {
                while let Some(bytes) = asking.poll_packet() {
                    getting.hear(&bytes);
                }
                while let Some(question) = getting.question() {
                    asking.send(&question);
                }
            }
            Pipe::Sealed(client) => {
                while let Some(bytes) = client.poll_packet() {
                    getting.hear(&bytes);
                }
                while let Some(question) = getting.question() {
                    client.send(&question);
                }
            }
        }
        getting.take().map_err(MatchError::Invitation)
    }
}
