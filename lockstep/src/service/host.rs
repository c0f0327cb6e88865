//! The middle of a star that plays itself: lets in whoever has the secret of a place.

use crate::service::agreement::Agreement;
use crate::service::greeting::{Answer, Greeting, Refused, Secrets, Welcome};
use crate::service::places::{Places, Secret};
use crate::session::AnySession;
use crate::session::config::{ENGINE_VERSION, SessionConfig};
use crate::value::ids::{Identity, PeerId, PlayerId};
use crate::value::time::{Duration, Instant};

/// How long a host waits for people who have to get a code, start a program and press a button.
const LOBBY: Duration = Duration::from_secs(600);

/// Places to watch from beside the referee's.
const WATCHERS_LESS: u32 = 1;

/// The places of a match at its host, and what guests are told. Connections have numbers that the transport chooses.
///
/// `SealedHost` moves its packets over a sealed socket.
#[derive(Debug)]
pub struct Host {
    places: Places,
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
}

impl Host {
    /// The settings of the host's own session. The host adds its local choices, such as a key, and creates it with [`crate::Session::host`].
    /// The version of the engines is that of this program: the agreement may be that of a save. `session_id` is random. The host waits ten
    /// minutes for the others, unless it sets another [`SessionConfig::lobby_timeout()`].
    #[must_use]
    pub fn config(agreement: &Agreement, session_id: u64) -> SessionConfig {
        let config = agreement.config().engine_version(ENGINE_VERSION);
        config.session_id(session_id).lobby_timeout(LOBBY).bound_peers_only()
    }

    /// The places of a session that was made with [`Host::config`]. Each secret opens one place, but for the host's own. Watchers have all
    /// places to watch from but one, which is the referee's.
    pub fn new(session: &mut AnySession, agreement: Agreement, secrets: &Secrets) -> Self {
        let host = session.player();
        let players = (0..).map(PlayerId).zip(&secrets.players).filter(|(player, _)| Some(*player) != host);
        let places = players.fold(Places::new(), |places, (player, secret)| places.player(player, *secret));
        let watchers = session.config().watchers.watchers_max.saturating_sub(WATCHERS_LESS);
        let places = places.watchers(secrets.watchers, watchers).referee(secrets.referee);
        places.bind(session);
        let session_id = session.config().session_id;
        let welcome = Welcome { place: Identity::Watcher, is_relayed: false, session_id, agreement };
        Self { places, welcome }
    }

    /// The places, and who has them.
    #[must_use]
    pub fn places(&self) -> &Places {
        &self.places
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
                let welcome = Welcome { place: placed.identity, ..self.welcome.clone() };
                Reply { answer: Answer::Come(welcome), former: placed.former }
            }
            Err(why) => Reply::only(why.into()),
        }
    }

    /// A packet has come by a connection. Returns false if it claims to come from another place: then the connection is to be closed.
    pub fn receive(
        &mut self,
        session: &mut AnySession,
        connection: PeerId,
        packet: &[u8],
        now: Instant,
    ) -> bool {
        let Some((link, _)) = self.places.placed(connection) else { return true };
        let forged = session.stats().hellos_forged;
        session.handle_packet(now, link, packet);
        let is_genuine = session.stats().hellos_forged == forged;
        if !is_genuine {
            self.places.gone(connection);
        }
        is_genuine
    }

    /// A connection is closed.
    pub fn closed(&mut self, connection: PeerId) {
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
