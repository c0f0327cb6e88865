//! The places of one match at the middle of its star: which secret opens which place, who is there, and by which connection.
//!
//! A place keeps its link number whatever connection leads to it. So a player whose connection broke and came back goes on where it was, and
//! the session notices only a silence.

use testudo_lockstep::packet::{Packet, PayloadFormat};
use testudo_lockstep::{Identity, PLAYERS_MAX, PeerId, PlayerId};

use crate::app::online::greeting::Secret;
use crate::app::online::name::Name;

/// The table of places.
#[derive(Debug)]
pub(crate) struct Places {
    /// None: the place of the peer that has this table.
    players: Vec<Option<Place>>,
    /// Opens a place to watch from.
    watch: Secret,
    /// Their places; none: free.
    watchers: Vec<Option<Place>>,
}

#[derive(Clone, Debug)]
struct Place {
    /// 0 for a watcher: all of them have the same secret.
    secret: u128,
    name: Name,
    connection: Option<PeerId>,
    /// Its player was removed and may not come back.
    is_shut: bool,
}

/// Who has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Seated {
    pub(crate) place: Identity,
    /// The session's number of the link.
    pub(crate) link: PeerId,
    /// The connection that led to this place before; to be closed.
    pub(crate) former: Option<PeerId>,
}

/// Why somebody cannot come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NoPlace {
    /// The secret opens nothing.
    WrongSecret,
    /// As many watch as may.
    Full,
    /// The player was removed.
    Removed,
    /// Too many have come in a short time.
    Later,
}

impl Places {
    /// `players`: their secrets in order; none for the peer that has this table. At most `watchers` watch at once.
    pub(crate) fn new(players: &[Option<Secret>], watch: Secret, watchers: usize) -> Self {
        let place = |secret: &Secret| Place {
            secret: u128::from_le_bytes(*secret),
            name: Name::default(),
            connection: None,
            is_shut: false,
        };
        let players = players.iter().map(|secret| secret.as_ref().map(place)).collect();
        Self { players, watch, watchers: vec![None; watchers] }
    }

    /// The place that a secret opens.
    pub(crate) fn opened_by(&self, secret: &Secret) -> Option<Identity> {
        // Whole numbers are compared, so the time says nothing about how many bytes were right.
        let wanted = u128::from_le_bytes(*secret);
        let holds = |place: &Option<Place>| place.as_ref().is_some_and(|place| place.secret == wanted);
        if let Some(player) = self.players.iter().position(holds) {
            return u8::try_from(player).ok().map(|player| Identity::Player(PlayerId(player)));
        }
        (u128::from_le_bytes(self.watch) == wanted).then_some(Identity::Spectator)
    }

    /// Seats whoever has this secret at the other end of a connection.
    ///
    /// # Errors
    /// The secret opens no place, or nobody else may watch.
    pub(crate) fn come(
        &mut self,
        connection: PeerId,
        secret: &Secret,
        name: Name,
    ) -> Result<Seated, NoPlace> {
        self.gone(connection);
        match self.opened_by(secret).ok_or(NoPlace::WrongSecret)? {
            Identity::Player(player) => {
                let place = self.players.get_mut(player.index()).and_then(Option::as_mut);
                let place = place.ok_or(NoPlace::WrongSecret)?;
                if place.is_shut {
                    return Err(NoPlace::Removed);
                }
                let former = place.connection.replace(connection);
                place.name = name;
                Ok(Seated { place: Identity::Player(player), link: PeerId(player.0.into()), former })
            }
            _ => {
                let free = self.watchers.iter().position(Option::is_none).ok_or(NoPlace::Full)?;
                self.watchers[free] =
                    Some(Place { secret: 0, name, connection: Some(connection), is_shut: false });
                let link = PeerId(u32::from(PLAYERS_MAX) + free as u32);
                Ok(Seated { place: Identity::Spectator, link, former: None })
            }
        }
    }

    /// A connection is closed. A player's place stays the player's. Returns the place.
    pub(crate) fn gone(&mut self, connection: PeerId) -> Option<Identity> {
        let (link, place) = self.seated(connection)?;
        match self.watcher_of(link) {
            Some(watcher) => self.watchers[watcher] = None,
            None => {
                self.players[link.0 as usize].as_mut().into_iter().for_each(|place| place.connection = None)
            }
        }
        Some(place)
    }

    /// Nobody comes to a player's place any more. Returns the connection to close.
    pub(crate) fn shut(&mut self, player: PlayerId) -> Option<PeerId> {
        let place = self.players.get_mut(player.index())?.as_mut()?;
        place.is_shut = true;
        place.connection.take()
    }

    /// Whether nobody comes to a player's place any more.
    pub(crate) fn is_shut(&self, player: PlayerId) -> bool {
        self.players.get(player.index()).and_then(Option::as_ref).is_some_and(|place| place.is_shut)
    }

    /// Another secret opens a player's place from now on.
    pub(crate) fn renew(&mut self, player: PlayerId, secret: &Secret) {
        if let Some(place) = self.players.get_mut(player.index()).and_then(Option::as_mut) {
            (place.secret, place.is_shut) = (u128::from_le_bytes(*secret), false);
        }
    }

    /// The session's number of the link behind a connection, and whose it is.
    pub(crate) fn seated(&self, connection: PeerId) -> Option<(PeerId, Identity)> {
        let is_it =
            |place: &Option<Place>| place.as_ref().is_some_and(|place| place.connection == Some(connection));
        if let Some(player) = self.players.iter().position(is_it) {
            return Some((PeerId(player as u32), Identity::Player(PlayerId(player as u8))));
        }
        let watcher = self.watchers.iter().position(is_it)?;
        Some((PeerId(u32::from(PLAYERS_MAX) + watcher as u32), Identity::Spectator))
    }

    /// The connection behind a link of the session.
    pub(crate) fn connection(&self, link: PeerId) -> Option<PeerId> {
        let place = match self.watcher_of(link) {
            Some(watcher) => self.watchers.get(watcher)?,
            None => self.players.get(link.0 as usize)?,
        };
        place.as_ref()?.connection
    }

    /// The player's name; empty if the player has not come yet.
    pub(crate) fn name(&self, player: PlayerId) -> Option<&Name> {
        Some(&self.players.get(player.index())?.as_ref()?.name)
    }

    /// Every connection that leads to a place.
    pub(crate) fn connections(&self) -> impl Iterator<Item = PeerId> {
        self.players.iter().chain(&self.watchers).flatten().filter_map(|place| place.connection)
    }

    fn watcher_of(&self, link: PeerId) -> Option<usize> {
        link.0.checked_sub(PLAYERS_MAX.into()).map(|watcher| watcher as usize)
    }
}

/// Whether a packet that came by the connection of this place claims to come from another one. Only a hello says whose it is; all later
/// packets belong to the link of the hello.
pub(crate) fn is_forged(place: Identity, packet: &[u8]) -> bool {
    /// A hello is sealed with this key, and has no actions.
    const HELLO_KEY: u64 = 0;
    const ANY_FORMAT: PayloadFormat = PayloadFormat::Variable(0);
    let hello = Packet::decode(packet, HELLO_KEY, ANY_FORMAT);
    matches!(hello, Ok(Packet::Hello(hello)) if hello.identity != place)
}

#[cfg(test)]
mod tests {
    use testudo_lockstep::packet::Hello;
    use testudo_lockstep::{BitWriter, PROTOCOL_VERSION};

    use super::*;

    const WATCH: Secret = [9; 16];

    /// Player 0 has the table.
    fn places() -> Places {
        Places::new(&[None, Some([1; 16]), Some([2; 16])], WATCH, 2)
    }

    fn named(name: &str) -> Name {
        Name::cleaned(name)
    }

    #[test]
    fn a_secret_opens_its_own_place_and_no_other() {
        let places = places();
        assert_eq!(places.opened_by(&[1; 16]), Some(Identity::Player(PlayerId(1))));
        assert_eq!(places.opened_by(&[2; 16]), Some(Identity::Player(PlayerId(2))));
        assert_eq!(places.opened_by(&WATCH), Some(Identity::Spectator));
        let mut near = [1; 16];
        near[15] ^= 0x80;
        for wrong in [[0; 16], [3; 16], near] {
            assert_eq!(places.opened_by(&wrong), None);
        }
    }

    #[test]
    fn who_comes_back_by_another_connection_keeps_link_and_place() {
        let mut places = places();
        let first = places.come(PeerId(70), &[2; 16], named("Ada")).unwrap();
        let link = PeerId(2);
        assert_eq!(first, Seated { place: Identity::Player(PlayerId(2)), link, former: None });
        let again = places.come(PeerId(71), &[2; 16], named("Ada L")).unwrap();
        assert_eq!((again.link, again.former), (link, Some(PeerId(70))));
        assert_eq!((places.seated(PeerId(70)), places.connection(link)), (None, Some(PeerId(71))));
        assert_eq!(places.gone(PeerId(70)), None, "its place has a newer connection");
        assert_eq!(places.gone(PeerId(71)), Some(Identity::Player(PlayerId(2))));
        assert_eq!((places.connection(link), places.name(PlayerId(2))), (None, Some(&named("Ada L"))));
        let third = places.come(PeerId(72), &[2; 16], Name::default()).unwrap();
        assert_eq!((third.link, third.former), (link, None));
    }

    #[test]
    fn who_was_removed_does_not_come_back() {
        let mut places = places();
        places.come(PeerId(70), &[1; 16], Name::default()).unwrap();
        assert_eq!(places.shut(PlayerId(1)), Some(PeerId(70)));
        assert_eq!(places.come(PeerId(71), &[1; 16], Name::default()), Err(NoPlace::Removed));
        assert!(places.come(PeerId(72), &[2; 16], Name::default()).is_ok());
        places.renew(PlayerId(1), &[5; 16]);
        assert_eq!(places.come(PeerId(71), &[1; 16], Name::default()), Err(NoPlace::WrongSecret));
        assert!(places.come(PeerId(73), &[5; 16], Name::default()).is_ok());
        assert_eq!(places.shut(PlayerId(0)), None, "its own place");
    }

    #[test]
    fn watchers_come_and_go_up_to_a_limit() {
        let mut places = places();
        let come = |places: &mut Places, peer| places.come(PeerId(peer), &WATCH, Name::default());
        let links = [5, 6].map(|peer| come(&mut places, peer).unwrap().link);
        assert_eq!(links, [PeerId(16), PeerId(17)]);
        assert_eq!(come(&mut places, 7), Err(NoPlace::Full));
        assert_eq!(places.gone(PeerId(5)), Some(Identity::Spectator));
        assert_eq!(places.connections().count(), 1);
        assert_eq!(come(&mut places, 7).unwrap().link, PeerId(16));
        assert_eq!(places.come(PeerId(8), &[7; 16], Name::default()), Err(NoPlace::WrongSecret));
        assert_eq!(places.connections().count(), 2);
    }

    #[test]
    fn a_hello_of_another_place_is_a_forgery() {
        let hello = |identity| {
            let hello = Hello {
                version: PROTOCOL_VERSION,
                nonce: 5,
                session_mark: 6,
                config_hash: 7,
                content_hash: 8,
                frames_per_second: 20,
                identity,
                cookie: 9,
                seat: 10,
            };
            let mut bytes = Vec::new();
            let format = PayloadFormat::Variable(0);
            Packet::Hello(hello).encode(0, format, &mut BitWriter::new(), &mut bytes);
            bytes
        };
        let player = |player| Identity::Player(PlayerId(player));
        assert!(!is_forged(player(1), &hello(player(1))));
        for other in [player(0), player(2), Identity::Spectator, Identity::Relay] {
            assert!(is_forged(player(1), &hello(other)), "{other:?}");
        }
        assert!(is_forged(Identity::Spectator, &hello(player(1))));
        assert!(!is_forged(player(1), b"no packet at all"), "the session counts it as malformed");
    }
}
