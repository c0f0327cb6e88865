//! Which secret opens which place of a match, and by which connection somebody is there.
//!
//! A connection is for the middle of a star only a number. [`Places`] turns it into a link of the session, by the secret that came with it. A place
//! keeps its link whatever connection leads to it: a player whose connection broke and came back goes on where it was, and the session
//! notices only a silence.
//!
//! [`Places::bind`] tells the session whose links these are. From then on a peer plays only in the place that its secret opens.

use core::fmt;

#[cfg(feature = "sealed")]
use crate::service::pass::Claim;
pub use crate::service::pass::{NoPlace, Pass, Placed, Secret};
use crate::session::AnySession;
use crate::value::bucket::Bucket;
use crate::value::ids::{Identity, PLAYERS_MAX, PeerId, PlayerId};
use crate::value::time::{Duration, Instant};

/// Those who come to one player's place: so many at once, and one more after each gap. Each of them closes the connection of the one before, and
/// everybody waits for the place until somebody speaks for it, about a second.
const ARRIVALS: u64 = 6;
const ARRIVAL_GAP: Duration = Duration::from_secs(12);

/// Those who come to watch, all together: somebody has to send each of them a state.
const WATCHERS: u64 = 32;
const WATCHER_GAP: Duration = Duration::from_secs(2);

/// The places of one match at the middle of its star. See [the module](self).
///
/// ```
/// use testudo_lockstep::service::places::{NoPlace, Places};
/// use testudo_lockstep::{Identity, Instant, PeerId, PlayerId};
///
/// // Player 0 is the host itself. The secrets are random in earnest.
/// let mut places = Places::new().player(PlayerId(1), [1; 16]).watchers([9; 16], 4);
/// let placed = places.come(PeerId(70), &[1; 16], Instant::ZERO)?;
/// assert_eq!(placed.identity, Identity::Player(PlayerId(1)));
/// // The same secret from another connection: the newer one counts.
/// let again = places.come(PeerId(71), &[1; 16], Instant::ZERO)?;
/// assert_eq!((again.link, again.former), (placed.link, Some(PeerId(70))));
/// assert_eq!(places.come(PeerId(72), &[7; 16], Instant::ZERO), Err(NoPlace::WrongSecret));
/// # Ok::<(), NoPlace>(())
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct Places {
    /// By player; none: nobody can come there.
    players: Vec<Option<Place>>,
    /// None: nobody can watch.
    watch: Option<u128>,
    watchers: Vec<WatcherPlace>,
    watch_arrivals: Bucket,
    /// One more place to watch from, with a secret of its own.
    referee: Option<Place>,
    /// A player's place stays with the program that has it.
    is_settled: bool,
}

#[derive(Clone, Copy)]
struct Place {
    secret: u128,
    /// What opened it for the player who was removed, until somebody else could come.
    removed: Option<u128>,
    connection: Option<PeerId>,
    /// The token of whoever came last. Whoever came without one, which is zeros, comes back without one.
    owner: Option<u128>,
    /// Nobody comes any more.
    is_shut: bool,
    arrivals: Bucket,
}

/// One of the places that all watchers share.
#[derive(Clone, Copy, Default)]
struct WatcherPlace {
    /// None: free.
    connection: Option<PeerId>,
    /// The token of whoever was there last; 0: nobody, or a program that has none.
    token: u128,
}

impl Place {
    fn new(secret: Secret) -> Self {
        Self {
            secret: u128::from_le_bytes(secret),
            removed: None,
            connection: None,
            owner: None,
            is_shut: false,
            arrivals: Bucket::default(),
        }
    }
}

/// Without the secrets.
impl fmt::Debug for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let players: Vec<_> = self.players.iter().map(|place| place.map(|place| place.connection)).collect();
        f.debug_struct("Places")
            .field("players", &players)
            .field("watchers", &self.watchers.iter().map(|place| place.connection).collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

/// The session's number of a watcher's link.
fn watcher_link(watcher: usize) -> PeerId {
    PeerId(u32::from(PLAYERS_MAX) + watcher as u32)
}

fn player_link(player: usize) -> (PeerId, Identity) {
    (PeerId(player as u32), Identity::Player(PlayerId(player as u8)))
}

impl Places {
    /// No places.
    pub fn new() -> Self {
        Self::default()
    }

    /// With a place for this player, which `secret` opens. The place of the peer that has this table is left out.
    pub fn player(mut self, player: PlayerId, secret: Secret) -> Self {
        if player.index() >= self.players.len() {
            self.players.resize(player.index() + 1, None);
        }
        self.players[player.index()] = Some(Place::new(secret));
        self
    }

    /// With places for so many watchers at once. `secret` opens all of them.
    pub fn watchers(mut self, secret: Secret, count: u32) -> Self {
        self.watch = Some(u128::from_le_bytes(secret));
        self.watchers = vec![WatcherPlace::default(); count as usize];
        self
    }

    /// With one more place to watch from, which only `secret` opens: other watchers cannot take it. It comes after [`Places::watchers`], and the session
    /// needs room for one more of them ([`crate::SessionConfig::watchers_max()`]).
    pub fn referee(mut self, secret: Secret) -> Self {
        self.referee = Some(Place::new(secret));
        self
    }

    /// Tells the session whose links these are; once, before the first packet. See [`Session::bind`](crate::AnySession::bind).
    pub fn bind(&self, session: &mut AnySession) {
        for player in (0..self.players.len()).filter(|player| self.players[*player].is_some()) {
            let (link, identity) = player_link(player);
            session.bind(link, identity);
        }
        for watcher in 0..self.watchers.len() + usize::from(self.referee.is_some()) {
            session.bind(watcher_link(watcher), Identity::Watcher);
        }
    }

    /// The place that a secret opens.
    #[must_use]
    pub fn opened_by(&self, secret: &Secret) -> Option<Identity> {
        // Whole numbers are compared, and the time says nothing about how many bytes were right.
        let wanted = u128::from_le_bytes(*secret);
        let opens = |place: &Option<Place>| place.is_some_and(|place| place.secret == wanted);
        if let Some(player) = self.players.iter().position(opens) {
            return Some(player_link(player).1);
        }
        let watches = self.watch == Some(wanted) || opens(&self.referee);
        watches.then_some(Identity::Watcher)
    }

    /// The start of the match is fixed. A player's place stays with the program that has come to it last: in a signed match whoever else has its secret could
    /// not play, and would only close the connection of whoever can. It does not matter how often this is called.
    pub fn settle(&mut self) {
        self.is_settled = true;
    }

    /// Gives the connection the place that this pass (or only a secret) opens.
    ///
    /// # Errors
    /// The secret opens no place, the place is shut or another program's, nobody else may watch, or too many have come in a short time.
    pub fn come(
        &mut self,
        connection: PeerId,
        pass: impl Into<Pass>,
        now: Instant,
    ) -> Result<Placed, NoPlace> {
        let Pass { secret, token } = pass.into();
        self.gone(connection);
        let identity = self.opened_by(&secret).ok_or_else(|| self.why_not(&secret))?;
        let is_settled = self.is_settled;
        let later = |wait| NoPlace::Later { wait };
        let (place, link) = match identity {
            Identity::Player(player) => (self.place(player), player_link(player.index()).0),
            _ => {
                let link = watcher_link(self.watchers.len());
                let opens = |place: &&mut Place| place.secret == u128::from_le_bytes(secret);
                (self.referee.as_mut().filter(opens), link)
            }
        };
        let Some(place) = place else {
            let free = self.place_of_watcher(u128::from_le_bytes(token)).ok_or(NoPlace::Full)?;
            self.watch_arrivals.take(now, WATCHER_GAP, WATCHER_GAP.times(WATCHERS)).map_err(later)?;
            self.watchers[free] =
                WatcherPlace { connection: Some(connection), token: u128::from_le_bytes(token) };
            return Ok(Placed { identity, link: watcher_link(free), former: None });
        };
        let token = u128::from_le_bytes(token);
        if place.is_shut {
            return Err(NoPlace::Shut);
        }
        if identity != Identity::Watcher && is_settled && place.owner.is_some_and(|owner| owner != token) {
            return Err(NoPlace::OtherProgram);
        }
        place.arrivals.take(now, ARRIVAL_GAP, ARRIVAL_GAP.times(ARRIVALS)).map_err(later)?;
        place.owner = Some(token);
        Ok(Placed { identity, link, former: place.connection.replace(connection) })
    }

    /// The free place of a watcher who shows this token: the one where it was, as its session may go on there; or one that nobody may come back to.
    fn place_of_watcher(&self, token: u128) -> Option<usize> {
        let free = |wanted: u128| {
            let fits = |place: &WatcherPlace| place.connection.is_none() && place.token == wanted;
            self.watchers.iter().position(fits)
        };
        let any = || self.watchers.iter().position(|place| place.connection.is_none());
        free(token).or_else(|| free(0)).or_else(any)
    }

    /// What whoever shows this secret asks for.
    #[cfg(feature = "sealed")]
    pub(crate) fn claim(&self, secret: &Secret) -> Claim {
        let wanted = u128::from_le_bytes(*secret);
        let taken_by = |place: &Option<Place>| {
            place.as_ref().filter(|place| place.secret == wanted).and_then(|place| place.connection)
        };
        if let Some(by) = self.players.iter().find_map(taken_by) {
            return Claim::Taken { plays: true, by };
        }
        if let Some(by) = taken_by(&self.referee) {
            return Claim::Taken { plays: false, by };
        }
        match self.opened_by(secret) {
            Some(Identity::Player(_)) => Claim::Player,
            _ => Claim::Other,
        }
    }

    /// Why a secret opens nothing.
    fn why_not(&self, secret: &Secret) -> NoPlace {
        let shown = Some(u128::from_le_bytes(*secret));
        let was_removed = self.players.iter().flatten().any(|place| place.removed == shown);
        if was_removed { NoPlace::Shut } else { NoPlace::WrongSecret }
    }

    /// A connection is closed. A player's place stays the player's. Returns the place.
    pub fn gone(&mut self, connection: PeerId) -> Option<Identity> {
        let (link, identity) = self.placed(connection)?;
        match identity {
            Identity::Player(player) => self.place(player)?.connection = None,
            _ => match self.watchers.get_mut(watcher_of(link)?) {
                Some(watcher) => watcher.connection = None,
                None => self.referee.as_mut()?.connection = None,
            },
        }
        Some(identity)
    }

    /// Nobody comes to a player's place any more. Returns the connection to close.
    pub fn shut(&mut self, player: PlayerId) -> Option<PeerId> {
        let place = self.place(player)?;
        place.is_shut = true;
        place.connection.take()
    }

    /// Whether nobody comes to a player's place any more.
    #[must_use]
    pub fn is_shut(&self, player: PlayerId) -> bool {
        self.players.get(player.index()).copied().flatten().is_some_and(|place| place.is_shut)
    }

    /// Another secret opens a player's place from now on. Whoever was removed from it last is still told so.
    pub fn renew(&mut self, player: PlayerId, secret: &Secret) {
        if let Some(place) = self.place(player) {
            // A secret that nobody has used does not take the place of another one.
            let counts = place.is_shut && (place.owner.is_some() || place.removed.is_none());
            let removed = if counts { Some(place.secret) } else { place.removed };
            *place = Place { connection: place.connection, removed, ..Place::new(*secret) };
        }
    }

    /// The session's number of the link behind a connection, and whose it is.
    #[must_use]
    pub fn placed(&self, connection: PeerId) -> Option<(PeerId, Identity)> {
        let leads = |place: &Option<Place>| place.is_some_and(|place| place.connection == Some(connection));
        if let Some(player) = self.players.iter().position(leads) {
            return Some(player_link(player));
        }
        let watcher = self.watchers.iter().position(|watcher| watcher.connection == Some(connection));
        let watcher = watcher.or_else(|| leads(&self.referee).then_some(self.watchers.len()))?;
        Some((watcher_link(watcher), Identity::Watcher))
    }

    /// The connection behind a link of the session.
    #[must_use]
    pub fn connection(&self, link: PeerId) -> Option<PeerId> {
        match watcher_of(link) {
            Some(watcher) if watcher == self.watchers.len() => self.referee.as_ref()?.connection,
            Some(watcher) => self.watchers.get(watcher)?.connection,
            None => self.players.get(link.0 as usize)?.as_ref()?.connection,
        }
    }

    /// Number of places, and so of connections that lead to one.
    #[cfg(feature = "sealed")]
    pub(crate) fn count(&self) -> u32 {
        let own = self.players.iter().chain([&self.referee]).flatten();
        (own.count() + self.watchers.len()) as u32
    }

    /// Every connection that leads to a place.
    pub fn connections(&self) -> impl Iterator<Item = PeerId> {
        let players =
            self.players.iter().chain([&self.referee]).flatten().filter_map(|place| place.connection);
        players.chain(self.watchers.iter().filter_map(|place| place.connection))
    }

    fn place(&mut self, player: PlayerId) -> Option<&mut Place> {
        self.players.get_mut(player.index())?.as_mut()
    }
}

fn watcher_of(link: PeerId) -> Option<usize> {
    link.0.checked_sub(PLAYERS_MAX.into()).map(|watcher| watcher as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WATCH: Secret = [9; 16];

    /// Player 0 has the table.
    fn places() -> Places {
        Places::new().player(PlayerId(1), [1; 16]).player(PlayerId(2), [2; 16]).watchers(WATCH, 2)
    }

    /// Whoever had the code to watch took every place, and then nobody could judge the match.
    #[test]
    fn those_who_watch_leave_the_referee_its_place() {
        const REFEREE: Secret = [8; 16];
        let mut places = places().referee(REFEREE);
        let come = |places: &mut Places, peer, secret: &Secret| places.come(PeerId(peer), secret, at(0));
        for peer in 5..7 {
            assert!(come(&mut places, peer, &WATCH).is_ok());
        }
        assert_eq!(come(&mut places, 7, &WATCH), Err(NoPlace::Full));
        let placed = come(&mut places, 8, &REFEREE).unwrap();
        assert_eq!((placed.identity, placed.link, placed.former), (Identity::Watcher, PeerId(18), None));
        assert_eq!(places.placed(PeerId(8)), Some((PeerId(18), Identity::Watcher)));
        assert_eq!((places.connection(PeerId(18)), places.connections().count()), (Some(PeerId(8)), 3));
        assert_eq!(come(&mut places, 9, &REFEREE).unwrap().former, Some(PeerId(8)), "as a player's place");
        assert_eq!((places.gone(PeerId(8)), places.gone(PeerId(9))), (None, Some(Identity::Watcher)));
        assert_eq!(places.connection(PeerId(18)), None);
        assert_eq!(come(&mut places, 10, &WATCH), Err(NoPlace::Full), "it stays the referee's");
    }

    fn at(seconds: u64) -> Instant {
        Instant::from_millis(seconds * 1_000)
    }

    #[test]
    fn a_secret_opens_its_own_place_and_no_other() {
        let places = places();
        assert_eq!(places.opened_by(&[1; 16]), Some(Identity::Player(PlayerId(1))));
        assert_eq!(places.opened_by(&[2; 16]), Some(Identity::Player(PlayerId(2))));
        assert_eq!(places.opened_by(&WATCH), Some(Identity::Watcher));
        let mut near = [1; 16];
        near[15] ^= 0x80;
        for wrong in [[0; 16], [3; 16], near] {
            assert_eq!(places.opened_by(&wrong), None);
        }
        assert_eq!(Places::new().opened_by(&[0; 16]), None, "no place to watch from is opened by no secret");
    }

    #[test]
    fn who_comes_back_by_another_connection_keeps_the_link() {
        let mut places = places();
        let first = places.come(PeerId(70), &[2; 16], at(0)).unwrap();
        let link = PeerId(2);
        assert_eq!(first, Placed { identity: Identity::Player(PlayerId(2)), link, former: None });
        let again = places.come(PeerId(71), &[2; 16], at(0)).unwrap();
        assert_eq!((again.link, again.former), (link, Some(PeerId(70))));
        assert_eq!((places.placed(PeerId(70)), places.connection(link)), (None, Some(PeerId(71))));
        assert_eq!(places.gone(PeerId(70)), None, "its place has a newer connection");
        assert_eq!(places.gone(PeerId(71)), Some(Identity::Player(PlayerId(2))));
        assert_eq!(places.connection(link), None);
        let third = places.come(PeerId(72), &[2; 16], at(0)).unwrap();
        assert_eq!((third.link, third.former), (link, None));
    }

    #[test]
    fn who_was_removed_does_not_come_back() {
        let mut places = places();
        places.come(PeerId(70), &[1; 16], at(0)).unwrap();
        assert_eq!(places.shut(PlayerId(1)), Some(PeerId(70)));
        assert_eq!(places.come(PeerId(71), &[1; 16], at(0)), Err(NoPlace::Shut));
        assert!(places.come(PeerId(72), &[2; 16], at(0)).is_ok());
        places.renew(PlayerId(1), &[5; 16]);
        assert_eq!(
            places.come(PeerId(71), &[1; 16], at(0)),
            Err(NoPlace::Shut),
            "it was told of a wrong code"
        );
        places.shut(PlayerId(1));
        places.renew(PlayerId(1), &[6; 16]);
        assert_eq!(
            places.come(PeerId(74), &[1; 16], at(0)),
            Err(NoPlace::Shut),
            "also after another renewal"
        );
        assert_eq!(places.come(PeerId(74), &[5; 16], at(0)), Err(NoPlace::WrongSecret), "nobody has used it");
        assert_eq!(places.shut(PlayerId(0)), None, "its own place");
    }

    #[test]
    fn watchers_come_and_go_up_to_a_limit() {
        let mut places = places();
        let links = [5, 6].map(|peer| places.come(PeerId(peer), &WATCH, at(0)).unwrap().link);
        assert_eq!(links, [PeerId(16), PeerId(17)]);
        assert_eq!(places.come(PeerId(7), &WATCH, at(0)), Err(NoPlace::Full));
        assert_eq!(places.gone(PeerId(5)), Some(Identity::Watcher));
        assert_eq!(places.connections().count(), 1);
        assert_eq!(places.come(PeerId(7), &WATCH, at(0)).unwrap().link, PeerId(16));
        assert_eq!(places.come(PeerId(8), &[7; 16], at(0)), Err(NoPlace::WrongSecret));
        assert_eq!(places.connections().count(), 2);
    }

    /// Its session was at another link, heard nothing for 80 s, and got a state once more.
    #[test]
    fn a_watcher_whose_connection_breaks_has_its_link_again() {
        let mut places = Places::new().watchers(WATCH, 3);
        let come = |places: &mut Places, connection, token| {
            let pass = Pass { secret: WATCH, token: [token; 16] };
            places.come(PeerId(connection), pass, at(0)).unwrap().link.0
        };
        assert_eq!([(70, 1), (71, 2)].map(|(peer, token)| come(&mut places, peer, token)), [16, 17]);
        places.gone(PeerId(70));
        places.gone(PeerId(71));
        assert_eq!(come(&mut places, 72, 2), 17);
        assert_eq!(come(&mut places, 73, 9), 18, "a place to which nobody comes back");
        places.gone(PeerId(73));
        assert_eq!(come(&mut places, 74, 0), 16, "without a token any place will do");
        assert_eq!(come(&mut places, 75, 1), 18, "its own is taken");
    }

    /// It took the place, could not play with its own key, and then both were out.
    #[test]
    fn a_secret_in_another_program_does_not_displace_whoever_plays() {
        let mut places = places();
        let come = |places: &mut Places, connection, token| {
            let placed = places.come(PeerId(connection), Pass { secret: [1; 16], token: [token; 16] }, at(0));
            placed.map(|placed| placed.former)
        };
        assert_eq!(come(&mut places, 70, 1), Ok(None));
        assert_eq!(come(&mut places, 71, 2), Ok(Some(PeerId(70))), "before the start the newer one counts");
        places.settle();
        for connection in 72..100 {
            assert_eq!(come(&mut places, connection, 1), Err(NoPlace::OtherProgram));
            assert_eq!(places.connection(PeerId(1)), Some(PeerId(71)));
        }
        assert_eq!(come(&mut places, 100, 2), Ok(Some(PeerId(71))), "and the others cost it no arrival");
        places.gone(PeerId(100));
        assert_eq!(come(&mut places, 101, 1), Err(NoPlace::OtherProgram), "also while nobody is there");
        assert_eq!(come(&mut places, 102, 2), Ok(None));
        // Nobody had come there before the start.
        let other = Pass { secret: [2; 16], token: [9; 16] };
        assert!(places.come(PeerId(103), other, at(0)).is_ok());
        places.renew(PlayerId(1), &[5; 16]);
        assert!(places.come(PeerId(104), &[5; 16], at(0)).is_ok(), "another secret is for somebody else");
    }

    /// 416 connections per second with one valid code made everybody else stand for 15 s of 20 at a host.
    #[test]
    fn a_code_that_comes_again_and_again_takes_its_place_rarely() {
        let mut places = places();
        let (mut taken, mut refused) = (0_u64, 0_u64);
        for connection in 0..416 * 120 {
            let now = Instant::from_micros(u64::from(connection) * 1_000_000 / 416);
            match places.come(PeerId(connection), &[1; 16], now) {
                Ok(_) => taken += 1,
                Err(NoPlace::Later { wait }) => {
                    assert!(wait <= ARRIVAL_GAP);
                    refused += 1;
                }
                other => panic!("{other:?}"),
            }
        }
        // At most a second of standing for each.
        assert_eq!((taken, refused), (6 + 9, 416 * 120 - 15));
        let other = places.come(PeerId(99_999), &[2; 16], at(120));
        assert!(other.is_ok(), "another place has its own limit");
        assert!(places.come(PeerId(99_998), &WATCH, at(120)).is_ok());
        assert!(places.come(PeerId(99_997), &[1; 16], at(140)).is_ok(), "later it comes");
    }
}
