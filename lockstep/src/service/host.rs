//! The middle of a star that plays itself: lets in whoever has the secret of a place.

use std::collections::BTreeMap;

use crate::service::agreement::Agreement;
use crate::service::flow::{Flow, Verdict};
use crate::service::greeting::{Answer, Greeting, Refused, Secrets, Welcome};
#[cfg(feature = "sealed")]
use crate::service::pass::Claim;
use crate::service::places::{Places, Secret};
use crate::session::AnySession;
use crate::session::config::{ENGINE_VERSION, REFEREES, SessionConfig};
use crate::value::ids::{Identity, PeerId, PlayerId};
use crate::value::time::{Duration, Instant};

/// How long a host waits for people who have to get a code, start a program and press a button.
const LOBBY: Duration = Duration::from_secs(600);

/// The places of a match at its host, and what guests are told. Connections have numbers that the transport chooses.
///
/// `SealedHost` moves its packets over a sealed socket.
#[derive(Debug)]
pub struct Host {
    places: Places,
    /// By connection.
    flows: BTreeMap<PeerId, Flow>,
    /// But for the place.
    welcome: Welcome,
}

/// The answer to a greeting.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Reply {
    /// What the client is told.
    pub answer: Answer,
    /// The connection that led to the same place before: it is to be closed, and its client be told why.
    pub former: Option<PeerId>,
}

impl Reply {
    pub(crate) fn only(why: Refused) -> Self {
        Self { answer: Answer::Refused(why), former: None }
    }

    /// Whether packets flow from now on.
    #[must_use]
    pub fn is_welcome(&self) -> bool {
        !matches!(self.answer, Answer::Refused(_))
    }

    /// Whether it gives a player's place.
    #[cfg(feature = "sealed")]
    pub(crate) fn plays(&self) -> bool {
        let welcome = match &self.answer {
            Answer::Come(welcome) => welcome,
            Answer::Opened(opened) => &opened.welcome,
            Answer::Refused(_) => return false,
        };
        matches!(welcome.place, Identity::Player(_))
    }
}

impl Host {
    /// The settings of the host's own session over sealed connections: only bound peers may come ([`SessionConfig::bound_peers_only()`]). Over plain UDP nobody
    /// is bound; there take `agreement.config().session_id(..)`. The host adds its local choices, such as a key, and creates it with [`crate::Session::host`].
    /// The version of the engines is that of this program: the agreement may be that of a save. `session_id` is random. The host waits ten
    /// minutes for the others, unless it sets another [`SessionConfig::lobby_timeout()`]. A referee is one watcher more than the agreement allows.
    pub fn config(agreement: &Agreement, session_id: u64) -> SessionConfig {
        let config = agreement.config().engine_version(ENGINE_VERSION);
        let watchers = config.watchers.watchers_max.saturating_add(REFEREES);
        let config = config.watchers_max(watchers);
        config.session_id(session_id).lobby_timeout(LOBBY).bound_peers_only()
    }

    /// The places of a session that was made with [`Host::config`]. Each secret opens one place, but for the host's own. Watchers have all
    /// places to watch from but one, which is the referee's.
    pub fn new(session: &mut AnySession, agreement: Agreement, secrets: &Secrets) -> Self {
        let host = session.player();
        let players = (0..).map(PlayerId).zip(&secrets.players).filter(|(player, _)| Some(*player) != host);
        let places = players.fold(Places::new(), |places, (player, secret)| places.player(player, *secret));
        let watchers = session.config().watchers.watchers_max.saturating_sub(REFEREES);
        let places = places.watchers(secrets.watchers, watchers).referee(secrets.referee);
        places.bind(session);
        let session_id = session.config().session_id;
        let welcome = Welcome { place: Identity::Watcher, is_relayed: false, session_id, agreement };
        Self { places, flows: BTreeMap::new(), welcome }
    }

    /// The places, and who has them.
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// What a greeting asks for.
    #[cfg(feature = "sealed")]
    pub(crate) fn claim(&self, greeting: &[u8]) -> Claim {
        match Greeting::read(greeting) {
            Ok(Greeting::Come { pass }) => self.places.claim(&pass.secret),
            _ => Claim::Other,
        }
    }

    /// Answers the greeting of a connection.
    pub fn greet(
        &mut self,
        session: &AnySession,
        connection: PeerId,
        greeting: &[u8],
        now: Instant,
    ) -> Reply {
        let pass = match Greeting::read(greeting) {
            Ok(Greeting::Come { pass }) => pass,
            // Rooms are opened at relays.
            Ok(Greeting::Open { .. }) => return Reply::only(Refused::WrongSecret),
            Err(why) => return Reply::only(why),
        };
        if session.is_over() {
            return Reply::only(Refused::Over);
        }
        if session.config().signed && session.start_is_fixed() {
            self.places.settle();
        }
        match self.places.come(connection, pass, now) {
            Ok(placed) => {
                if let Some(former) = placed.former {
                    self.flows.remove(&former);
                }
                let welcome = Welcome { place: placed.identity, ..self.welcome.clone() };
                Reply { answer: Answer::Come(welcome), former: placed.former }
            }
            Err(why) => Reply::only(why.into()),
        }
    }

    /// A packet has come by a connection. Returns false if it claims to come from another place, or if there are too many, as at a relay: then the
    /// connection is to be closed. A player who sends too many is dropped.
    pub fn receive(
        &mut self,
        session: &mut AnySession,
        connection: PeerId,
        packet: &[u8],
        now: Instant,
    ) -> bool {
        let Some((link, identity)) = self.places.placed(connection) else { return true };
        let flow = || Flow::new(session.config().frames_per_second);
        match self.flows.entry(connection).or_insert_with(flow).take(now) {
            Verdict::Take => {}
            Verdict::Leave => return true,
            Verdict::Close => {
                if let Identity::Player(player) = identity {
                    session.kick(player);
                }
                self.closed(connection);
                return false;
            }
        }
        let forged = session.stats().hellos_forged;
        session.handle_packet(now, link, packet);
        let is_genuine = session.stats().hellos_forged == forged;
        if !is_genuine {
            self.closed(connection);
        }
        is_genuine
    }

    /// A connection is closed.
    pub fn closed(&mut self, connection: PeerId) {
        self.flows.remove(&connection);
        self.places.gone(connection);
    }

    /// The connection that leads to a link of the session.
    #[must_use]
    pub fn connection(&self, link: PeerId) -> Option<PeerId> {
        self.places.connection(link)
    }

    /// Removes a player for good. Until the start is fixed, somebody else may come instead with `secret`. Returns the connection that is to be closed, once
    /// the session's last packets to it have been sent.
    pub fn remove(&mut self, session: &mut AnySession, player: PlayerId, secret: &Secret) -> Option<PeerId> {
        session.kick(player);
        let connection = self.places.shut(player);
        if !session.start_is_fixed() {
            self.places.renew(player, secret);
        }
        connection
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Session;
    use crate::{NoAction, service::places::Pass};

    fn host(watchers: u32) -> (Session<NoAction>, Host) {
        host_of(SessionConfig::new(2), watchers)
    }

    fn host_of(config: SessionConfig, watchers: u32) -> (Session<NoAction>, Host) {
        let config = config.watchers_max(watchers);
        let agreement = Agreement::new::<NoAction>(&config, b"").unwrap();
        let config = Host::config(&agreement, 7).watchers_min(watchers).simulated();
        let mut session = Session::host(config, Instant::ZERO).unwrap();
        let secrets = Secrets { players: vec![[1; 16], [2; 16]], watchers: [9; 16], referee: [8; 16] };
        let host = Host::new(&mut session, agreement, &secrets);
        (session, host)
    }

    /// The referee had one of their places. Of a game for one watcher the code to watch was a wrong one, and the host waited for that watcher in vain.
    #[test]
    fn as_many_may_watch_as_the_agreement_says() {
        for few in [0, 1, 2, 16, 255, 256] {
            let (session, mut host) = host(few);
            let mut come = |connection, secret: Secret| {
                let greeting = Greeting::Come { pass: Pass::from(&secret) }.to_bytes();
                // As often as the code to watch lets somebody in.
                let now = Instant::from_millis(2_000 * u64::from(connection));
                host.greet(&session, PeerId(connection), &greeting, now).answer
            };
            for watcher in 0..few {
                assert!(matches!(come(100 + watcher, [9; 16]), Answer::Come(_)), "{watcher} of {few}");
            }
            assert_eq!(come(500, [9; 16]), Answer::Refused(Refused::Full), "{few}");
            assert!(matches!(come(501, [8; 16]), Answer::Come(_)), "the referee beside {few}");
            assert_eq!(come(502, [7; 16]), Answer::Refused(Refused::WrongSecret), "{few}");
        }
    }

    /// At a relay a flood had an end, and at a host it took the time of the game.
    #[test]
    fn a_connection_that_floods_is_closed() {
        let (mut session, mut host) = host(2);
        for (connection, secret) in [(100, [9; 16]), (101, [2; 16])] {
            let greeting = Greeting::Come { pass: Pass::from(&secret) }.to_bytes();
            assert!(host.greet(&session, PeerId(connection), &greeting, Instant::ZERO).is_welcome());
            // What the transport keeps of one connection while the program stands is no flood.
            let mut receive = || host.receive(&mut session, PeerId(connection), &[15], Instant::ZERO);
            assert!((0..512).all(|_| receive()));
            let closed = (0..20_000).filter(|_| !receive()).count();
            assert_eq!(closed, 1);
            assert_eq!(host.places().connections().count(), 0);
            assert!(session.stats().packets_malformed + session.stats().packets_unexpected <= 2_000);
        }
    }

    /// Nothing told the limit from one that was half or twice as high.
    #[test]
    fn a_flood_is_closed_when_a_thousand_packets_were_too_many() {
        let (mut session, mut host) = host(2);
        let greeting = Greeting::Come { pass: Pass::from(&[2; 16]) }.to_bytes();
        assert!(host.greet(&session, PeerId(101), &greeting, Instant::ZERO).is_welcome());
        let mut receive = || host.receive(&mut session, PeerId(101), &[15], Instant::ZERO);
        assert!((0..2_000).all(|_| receive()), "a thousand at once, and a thousand too many");
        assert!(!receive());
        assert_eq!(session.stats().packets_malformed + session.stats().packets_unexpected, 1_000);
    }

    /// A player sends each turn at once, and 2,500 turns per second are allowed: everybody was dropped after some seconds.
    #[test]
    fn the_shortest_turns_are_no_flood() {
        let (mut session, mut host) = host_of(SessionConfig::new(2).frames_per_second(1_000), 2);
        let greeting = Greeting::Come { pass: Pass::from(&[2; 16]) }.to_bytes();
        assert!(host.greet(&session, PeerId(101), &greeting, Instant::ZERO).is_welcome());
        let mut receive =
            |micros| host.receive(&mut session, PeerId(101), &[15], Instant::from_micros(micros));
        assert!((0..25_000).all(|packet| receive(400 * packet)));
        assert_eq!(session.stats().packets_malformed + session.stats().packets_unexpected, 25_000);
    }
}
