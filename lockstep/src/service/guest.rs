//! A peer that joins by a code: it calls, takes its place, keeps its connection, and comes back when it was lost.
//!
//! [`Guest::round`] does all of it. It returns an [`Arrival`] whenever the other side has opened a place: at first, and again when the others
//! had gone on without this peer. The application makes a session of it and passes that in from then on.

use core::fmt;
use std::io;

use crate::packet::Refusal;
use crate::service::agreement::Agreement;
use crate::service::code::JoinCode;
use crate::service::codes::Codes;
use crate::service::greeting::{Answer, Greeting, Opened, Refused, Welcome};
use crate::service::places::{Pass, Secret};
use crate::session::config::{ConfigError, ENGINE_VERSION, SessionConfig, Topology};
use crate::session::failure::Failure;
use crate::session::{AnySession, Session, SessionPhase};
use crate::signed::signed_before::SignedBefore;
use crate::value::action::Action;
use crate::value::ids::{Identity, PeerId, PlayerId};
use crate::value::time::{Duration, Instant};

/// A guest's one link, to the middle of the star.
pub const MIDDLE: PeerId = PeerId(0);

/// Greatest number of events of a connection that are handled in one round, so that a flood cannot starve the game.
const EVENTS_MAX: u32 = 512;

/// Time until a lost connection is made again. It doubles, up to a limit, as long as connections do not last: two browsers with one code, which
/// are not told of each other, would take the place from each other for ever.
const AGAIN: Duration = Duration::from_secs(1);
const AGAIN_MAX: Duration = Duration::from_secs(16);
const LASTS: Duration = Duration::from_secs(10);

/// Time until the other side is asked again that has said "later".
const LATER: Duration = Duration::from_secs(4);

/// An attempt that has begun ends by itself, or after this time.
const ATTEMPT: Duration = Duration::from_secs(30);

/// How long a side is asked that says "later" or takes no more connections: a match may be running there, and a player who has crashed may be
/// meant to come back to it.
const PATIENCE: Duration = Duration::from_secs(80);

/// How often a guest that the others went on without asks for its place again, one time after the other without success. Each time takes half a
/// minute if nobody answers.
const RETURNS_MAX: u32 = 3;

/// How long a guest waits for the middle before it gives up. Longer than a minute: a virtual machine that is moved stands for so long, and
/// behind a relay, the match would be lost if all gave up.
const SILENCE: Duration = Duration::from_secs(80);

/// Makes connections. A program has a socket; in a page the browser has it.
pub trait Dial {
    /// A connection.
    type Line: Line;

    /// Begins to connect, with a greeting.
    ///
    /// # Errors
    /// The system gives no socket, or the browser cannot connect at all.
    fn dial(&mut self, code: &JoinCode, greeting: &[u8]) -> io::Result<Self::Line>;
}

/// A connection. Dropping it closes it.
pub trait Line {
    /// The next event. The first one is never a packet, and nothing comes after a refusal or a loss.
    fn poll(&mut self, now: Instant) -> Option<LineEvent>;

    /// Sends a packet, which may be lost.
    fn send(&mut self, packet: &[u8]);

    /// Waits until there is an event, or the time is up. False at once if it cannot wait.
    fn wait(&self, time: Duration) -> bool {
        let _ = time;
        false
    }
}

impl<L: Line + ?Sized> Line for Box<L> {
    fn poll(&mut self, now: Instant) -> Option<LineEvent> {
        (**self).poll(now)
    }

    fn send(&mut self, packet: &[u8]) {
        (**self).send(packet);
    }

    fn wait(&self, time: Duration) -> bool {
        (**self).wait(time)
    }
}

/// What happened on a connection.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LineEvent {
    /// The other side has accepted, with this answer.
    Accepted(Vec<u8>),
    /// It has not, with this answer.
    Refused(Vec<u8>),
    /// A packet.
    Packet(Vec<u8>),
    /// There is no connection, or not any more.
    Lost {
        /// Why, for a person.
        why: String,
        /// What that means for another attempt.
        kind: LossKind,
    },
}

/// What the loss of a connection means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LossKind {
    /// Somebody else has come by the same code: no other attempt.
    Displaced,
    /// The other side takes no more connections just now.
    Full,
    /// Anything else.
    Other,
}

/// Why a guest has no place, or lost it for good.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum GuestError {
    /// The system gives no socket.
    Socket(String),
    /// The other side does not let this guest in.
    Refused(Refused),
    /// The connection was not made, or was lost.
    Lost {
        /// Why, for a person.
        why: String,
    },
    /// The other side speaks another language.
    NotUnderstood,
}

impl fmt::Display for GuestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Socket(why) => write!(f, "no connection can be made: {why}"),
            Self::Refused(why) => why.fmt(f),
            Self::Lost { why } => f.write_str(why),
            Self::NotUnderstood => write!(f, "the other side's answer was not understood"),
        }
    }
}

impl std::error::Error for GuestError {}

/// A place that was opened.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Arrival {
    /// The place, and what all members of the match agree on.
    pub welcome: Welcome,
    /// The codes of all places, for whoever has opened a room at a relay: at its first arrival, and not when it comes back. Keep them.
    pub codes: Option<Codes>,
    /// The code that opens this place again, also after a crash.
    pub code: JoinCode,
    signed_before: Option<SignedBefore>,
}

impl Arrival {
    /// The settings of this peer's session, apart from its local choices: a key, random bytes ([`SessionConfig::entropy()`]). The version of the engines is
    /// that of this program, and not the one in the agreement: programs with other ones refuse each other. In a signed match the session signs nothing that a
    /// former one has signed ([`SessionConfig::signed_before()`]).
    pub fn config(&self) -> SessionConfig {
        let Welcome { is_relayed, session_id, agreement, .. } = &self.welcome;
        let topology = if *is_relayed { Topology::Relay } else { Topology::Host };
        let config = agreement.config().topology(topology).session_id(*session_id);
        let mut config = config.engine_version(ENGINE_VERSION).silence_timeout(SILENCE);
        config.own.is_of_guest = true;
        config.own.signed_before = self.signed_before;
        if self.code.is_sealed() { config.place_secret(*self.code.secret()) } else { config }
    }

    /// This peer's session, which asks the middle to be let in.
    ///
    /// # Errors
    /// A setting out of range.
    pub fn session<A: Action>(&self, config: SessionConfig, now: Instant) -> Result<Session<A>, ConfigError> {
        let mut session = Session::new(config, self.welcome.place, now)?;
        session.connect(MIDDLE);
        Ok(session)
    }
}

/// A peer's way to its place, and back.
#[derive(Debug)]
pub struct Guest<D: Dial> {
    dial: D,
    code: JoinCode,
    token: [u8; 16],
    greeting: Vec<u8>,
    /// What the first arrival was told: with a seal it is the same whenever this guest comes again.
    welcome: Option<Welcome>,
    /// What the player has signed in its sessions.
    signed_before: Option<SignedBefore>,
    line: Option<D::Line>,
    stage: GuestStage,
    /// When to connect again.
    again: Option<Instant>,
    /// How long to wait before that, and since when there is a connection.
    pause: Duration,
    since: Option<Instant>,
    /// The match has begun here.
    has_played: bool,
    /// Attempts to come back since the last success.
    returns: u32,
    is_leaving: bool,
    outgoing: Vec<u8>,
}

/// How far a guest is on its way to its place.
#[derive(Debug)]
enum GuestStage {
    /// Asks for the place, since this time. Why not yet, while the other side is asked again.
    Calling { since: Instant, delay: Option<String> },
    /// Has the place.
    Placed,
    /// It is lost for good.
    Lost(GuestError),
}

impl<D: Dial> Guest<D> {
    /// Asks for the place that a code opens. `token` tells this machine from others that have the same code: it is always the same at one server, also
    /// after a crash, and unlike those at other servers. Zeros are none. Keep it in a file, or derive it (`MachineSecret::token`): a relay, and a host of a
    /// signed match, let a player back only with the token with which it first came ([`crate::service::greeting::Refused::OtherProgram`]).
    ///
    /// # Errors
    /// No connection can be made.
    pub fn join(dial: D, code: JoinCode, token: [u8; 16], now: Instant) -> Result<Self, GuestError> {
        let greeting = Greeting::Come { pass: Pass { secret: *code.secret(), token } };
        Self::call(dial, (code, token), &greeting, now)
    }

    /// Opens a room at the relay that has this code, to play in it as the first player.
    ///
    /// # Errors
    /// No connection can be made.
    pub fn open(
        dial: D,
        relay: JoinCode,
        token: [u8; 16],
        agreement: Agreement,
        now: Instant,
    ) -> Result<Self, GuestError> {
        let pass = Pass { secret: *relay.secret(), token };
        let greeting = Greeting::Open { pass, agreement: Box::new(agreement) };
        Self::call(dial, (relay, token), &greeting, now)
    }

    fn call(
        mut dial: D,
        (code, token): (JoinCode, [u8; 16]),
        greeting: &Greeting,
        now: Instant,
    ) -> Result<Self, GuestError> {
        let greeting = greeting.to_bytes();
        let line = dial.dial(&code, &greeting).map_err(|error| GuestError::Socket(error.to_string()))?;
        Ok(Self {
            dial,
            code,
            token,
            greeting,
            welcome: None,
            signed_before: None,
            line: Some(line),
            stage: GuestStage::Calling { since: now, delay: None },
            again: None,
            pause: AGAIN,
            since: None,
            has_played: false,
            returns: 0,
            is_leaving: false,
            outgoing: Vec::new(),
        })
    }

    /// The code that opens the place again, also after a crash.
    #[must_use]
    pub fn code(&self) -> &JoinCode {
        &self.code
    }

    /// Whether the place is asked for, and not open yet.
    #[must_use]
    pub fn is_calling(&self) -> bool {
        matches!(self.stage, GuestStage::Calling { .. })
    }

    /// Why the other side does not let this guest in yet, while it is asked again.
    #[must_use]
    pub fn delay(&self) -> Option<&str> {
        match &self.stage {
            GuestStage::Calling { delay, .. } => delay.as_deref(),
            _ => None,
        }
    }

    /// Whether the connection is broken and is made again. The session notices a silence.
    #[must_use]
    pub fn is_cut_off(&self) -> bool {
        matches!(self.stage, GuestStage::Placed) && self.again.is_some()
    }

    /// Why the place is lost for good.
    #[must_use]
    pub fn error(&self) -> Option<&GuestError> {
        match &self.stage {
            GuestStage::Lost(error) => Some(error),
            _ => None,
        }
    }

    /// After a crash: what the player had signed of this match ([`AnySession::signed_before`]), if the program has kept it. Sessions of this guest sign none of
    /// it again.
    pub fn set_signed_before(&mut self, signed: SignedBefore) {
        self.signed_before = Some(signed);
    }

    /// From now on the place is not asked for again when it is lost.
    pub fn leave(&mut self) {
        self.is_leaving = true;
    }

    /// Does what is due: asks for the place, or moves packets both ways and runs [`Session::handle_timeout`](AnySession::handle_timeout). `session` is that of
    /// the newest arrival; none before the first one. Call it before and after running frames.
    ///
    /// When it returns an arrival, a session of it takes the place of the one before, whose match is continued or over. Until then the session before keeps its
    /// failure to itself: it is not [over](AnySession::is_over), and [`Event::Failed`](crate::Event::Failed) comes only when nothing is asked for any more.
    ///
    /// # Errors
    /// The place is not open, or was lost for good.
    pub fn round(
        &mut self,
        mut session: Option<&mut AnySession>,
        now: Instant,
    ) -> Result<Option<Arrival>, GuestError> {
        let arrival = match (&self.stage, &mut session) {
            (GuestStage::Calling { .. }, _) => self.call_on(now),
            (GuestStage::Lost(error), _) => Err(error.clone()),
            (GuestStage::Placed, None) => Ok(None),
            (GuestStage::Placed, Some(session)) => {
                self.receive(session, now);
                session.handle_timeout(now);
                self.signed_before = session.signed_before();
                self.transmit(session, now);
                self.come_back(session, now);
                Ok(None)
            }
        };
        // Nobody comes back after a failure unless this guest asks, or has been let in again.
        let goes_on = self.is_calling() || matches!(arrival, Ok(Some(_)));
        session.filter(|_| !goes_on).into_iter().for_each(AnySession::tell_failure);
        arrival
    }

    /// Sleeps between two rounds: until something has come, or the time is up, which the caller computes from
    /// [`Driver::poll_timeout`](crate::Driver::poll_timeout). At most 20 ms: a guest also calls again by itself, which is in no `poll_timeout`. False
    /// at once if there is no connection, or none that can wait: sleep yourself then.
    pub fn wait(&self, time: Duration) -> bool {
        self.line.as_ref().is_some_and(|line| line.wait(time))
    }

    // ---- the way to the place

    fn call_on(&mut self, now: Instant) -> Result<Option<Arrival>, GuestError> {
        if self.line.is_none() && self.again.is_none_or(|at| now >= at) {
            self.again = None;
            match self.dial.dial(&self.code, &self.greeting) {
                Ok(line) => self.line = Some(line),
                Err(error) => {
                    let may_pass = self.has_played;
                    return self.try_later(GuestError::Socket(error.to_string()), may_pass, now);
                }
            }
        }
        let event = self.line.as_mut().and_then(|line| line.poll(now));
        match event {
            None | Some(LineEvent::Packet(_)) => Ok(None),
            Some(LineEvent::Accepted(answer)) => match Answer::read(&answer) {
                Some(answer) if self.has_asked(&answer) => self.arrive(answer, now),
                _ => self.fail(GuestError::NotUnderstood),
            },
            Some(LineEvent::Refused(answer)) => {
                let why = match Answer::read(&answer) {
                    Some(Answer::Refused(why)) => why,
                    _ => return self.fail(GuestError::NotUnderstood),
                };
                // Whoever was here before may still count as present.
                let may_pass = why == Refused::Later || (self.welcome.is_some() && why.is_temporary());
                self.try_later(GuestError::Refused(why), may_pass, now)
            }
            Some(LineEvent::Lost { why, kind }) => {
                self.try_later(GuestError::Lost { why }, kind == LossKind::Full, now)
            }
        }
    }

    /// Asks again later if that makes sense.
    fn try_later(
        &mut self,
        error: GuestError,
        is_temporary: bool,
        now: Instant,
    ) -> Result<Option<Arrival>, GuestError> {
        let GuestStage::Calling { since, delay } = &mut self.stage else { return Err(error) };
        if is_temporary && now.since(*since) < PATIENCE {
            *delay = Some(error.to_string());
            (self.line, self.again) = (None, Some(now + LATER));
            return Ok(None);
        }
        let is_gone = matches!(error, GuestError::Lost { .. });
        self.returns += 1;
        if self.has_played && is_gone && !self.is_leaving && self.returns < RETURNS_MAX {
            self.ask_again(now, Duration::ZERO, None);
            return Ok(None);
        }
        self.fail(error)
    }

    fn fail(&mut self, error: GuestError) -> Result<Option<Arrival>, GuestError> {
        self.lose(error.clone());
        Err(error)
    }

    fn lose(&mut self, error: GuestError) {
        (self.line, self.again) = (None, None);
        self.stage = GuestStage::Lost(error);
    }

    /// Whether this answers the question. A relay that means harm would open another room than the one that was asked for, say of a million units, or
    /// turn the guest away, and let it into another room when it comes back.
    fn has_asked(&self, answer: &Answer) -> bool {
        match (Greeting::read(&self.greeting), answer) {
            (Ok(Greeting::Open { agreement, .. }), Answer::Opened(Opened { welcome, .. })) => {
                welcome.agreement == *agreement && welcome.place == Identity::Player(PlayerId(0))
            }
            (Ok(Greeting::Come { .. }), Answer::Come(welcome)) => {
                // Without a seal whoever comes back may be given another place, and anybody may answer.
                !self.code.is_sealed() || self.welcome.as_ref().is_none_or(|first| first == welcome)
            }
            _ => false,
        }
    }

    fn arrive(&mut self, answer: Answer, now: Instant) -> Result<Option<Arrival>, GuestError> {
        let (welcome, codes) = match answer {
            Answer::Come(welcome) => (welcome, None),
            Answer::Opened(opened) => {
                let own = opened.secrets.players.first().copied().unwrap_or_default();
                let (addresses, hash) = (self.code.addresses().to_vec(), self.code.certificate_hash());
                let codes = Codes::new(&addresses, hash, opened.secrets);
                let code = JoinCode::new(&addresses, hash, own);
                let (Ok(codes), Ok(code)) = (codes, code) else {
                    return self.fail(GuestError::NotUnderstood);
                };
                // Whoever opened a room comes back to it as everybody else does.
                self.come_by(code, own);
                (opened.welcome, Some(codes))
            }
            Answer::Refused(_) => return self.fail(GuestError::NotUnderstood),
        };
        self.stage = GuestStage::Placed;
        self.welcome.get_or_insert_with(|| welcome.clone());
        (self.again, self.since, self.pause) = (None, Some(now), AGAIN);
        let signed_before = self.signed_before;
        Ok(Some(Arrival { welcome, codes, code: self.code.clone(), signed_before }))
    }

    fn come_by(&mut self, code: JoinCode, secret: Secret) {
        self.code = code;
        self.greeting = Greeting::Come { pass: Pass { secret, token: self.token } }.to_bytes();
    }

    // ---- in the place

    fn receive(&mut self, session: &mut AnySession, now: Instant) {
        for _ in 0..EVENTS_MAX {
            match self.line.as_mut().and_then(|line| line.poll(now)) {
                None => break,
                Some(LineEvent::Packet(bytes)) => session.handle_packet(now, MIDDLE, &bytes),
                Some(LineEvent::Accepted(_)) => (self.again, self.since) = (None, Some(now)),
                // The others have finished, and their relay may be gone; what is left is played without them.
                Some(LineEvent::Refused(_) | LineEvent::Lost { .. }) if !session.needs_others() => {
                    (self.line, self.again) = (None, None);
                    break;
                }
                Some(LineEvent::Refused(answer)) => match Answer::read(&answer) {
                    // Whoever was here before is wanted, but not now.
                    Some(Answer::Refused(why)) if why.is_temporary() => self.again = Some(now + LATER),
                    Some(Answer::Refused(why)) => return self.lose(GuestError::Refused(why)),
                    _ => return self.lose(GuestError::NotUnderstood),
                },
                Some(LineEvent::Lost { why, kind: LossKind::Displaced }) => {
                    return self.lose(GuestError::Lost { why });
                }
                Some(LineEvent::Lost { .. }) => self.connect_later(now),
            }
        }
        if self.again.is_some_and(|again| now >= again) && !session.has_ended() && session.needs_others() {
            // The next attempt is due after this one has failed, or never.
            self.again = Some(now + ATTEMPT);
            match self.dial.dial(&self.code, &self.greeting) {
                Ok(line) => self.line = Some(line),
                // No socket just now: as if the connection had been lost at once.
                Err(_) => self.connect_later(now),
            }
        }
    }

    /// The connection is lost, or was not made.
    fn connect_later(&mut self, now: Instant) {
        if let Some(since) = self.since.take() {
            let has_lasted = now.since(since) >= LASTS;
            self.pause = if has_lasted { AGAIN } else { self.pause.times(2).min(AGAIN_MAX) };
        }
        self.again = Some(now + self.pause);
    }

    fn transmit(&mut self, session: &mut AnySession, now: Instant) {
        // Without a line, too: what is due would stay due, and whoever sleeps until then would not sleep.
        while session.poll_transmit(now, &mut self.outgoing).is_some() {
            self.line.iter_mut().for_each(|line| line.send(&self.outgoing));
        }
    }

    /// Asks for the place again if the others went on without this peer.
    fn come_back(&mut self, session: &AnySession, now: Instant) {
        if !matches!(self.stage, GuestStage::Placed) {
            return;
        }
        let failure = match session.phase() {
            SessionPhase::Running if !session.is_joining() && !session.is_catching_up() => {
                (self.has_played, self.returns) = (true, 0);
                return;
            }
            SessionPhase::Failed(failure) => failure,
            _ => return,
        };
        if let Failure::Refused(Refusal::ComeBackIn { seconds }) = failure {
            // The middle has the place, but not yet: whoever comes and goes too often waits.
            if !self.is_leaving {
                let wait = Duration::from_secs(u64::from(seconds) + 1);
                self.ask_again(now, wait, Some(failure.to_string()));
            }
            return;
        }
        // The connection was tried again and again while the middle was silent: that was long enough.
        let is_lost = matches!(failure, Failure::Dropped | Failure::JoinTimeout | Failure::NoState)
            || matches!(failure, Failure::ConnectionLost(_)) && !self.is_cut_off();
        if is_lost && self.has_played && !self.is_leaving && self.returns < RETURNS_MAX {
            self.returns += 1;
            self.ask_again(now, Duration::ZERO, None);
        }
    }

    fn ask_again(&mut self, now: Instant, wait: Duration, delay: Option<String>) {
        self.line = None;
        self.again = Some(now + wait);
        self.stage = GuestStage::Calling { since: now + wait, delay };
    }
}
