//! The places of one match at the middle of its star, with the names of those who sit there.

use testudo_lockstep::transport::places;
use testudo_lockstep::{Action, Identity, Instant, PeerId, PlayerId, Session};

use crate::app::online::greeting::{Pass, Secret};
use crate::app::online::name::Name;

pub(crate) use testudo_lockstep::transport::places::NoPlace;

/// The table of places.
#[derive(Debug)]
pub(crate) struct Places {
    table: places::Places,
    /// By player; none: the place of the peer that has this table.
    names: Vec<Option<Name>>,
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

impl Places {
    /// `players`: their secrets in order; none for the peer that has this table. At most `watchers` watch at once, besides the referee.
    pub(crate) fn new(players: &[Option<Secret>], watch: Secret, watchers: usize, referee: Secret) -> Self {
        let watchers = u32::try_from(watchers).unwrap_or(u32::MAX);
        let taken =
            (0..).map(PlayerId).zip(players).filter_map(|(player, secret)| Some((player, (*secret)?)));
        let table = taken.fold(places::Places::new(), |table, (player, secret)| table.player(player, secret));
        let names = players.iter().map(|secret| secret.map(|_| Name::default())).collect();
        Self { table: table.watchers(watch, watchers).referee(referee), names }
    }

    /// Tells the session whose links these are.
    pub(crate) fn bind<A: Action>(&self, session: &mut Session<A>) {
        self.table.bind(session);
    }

    /// The match has begun: a player's place stays with the program that has it.
    pub(crate) fn settle(&mut self) {
        self.table.settle();
    }

    /// Seats whoever shows this pass at the other end of a connection.
    ///
    /// # Errors
    /// The secret opens no place, another program plays there, the player was removed, nobody else may watch, or too many have come in a short time.
    pub(crate) fn come(
        &mut self,
        connection: PeerId,
        pass: Pass,
        name: Name,
        now: Instant,
    ) -> Result<Seated, NoPlace> {
        let seated = self.table.come(connection, pass, now)?;
        if let Identity::Player(player) = seated.identity
            && let Some(Some(place)) = self.names.get_mut(player.index())
        {
            *place = name;
        }
        Ok(Seated { place: seated.identity, link: seated.link, former: seated.former })
    }

    /// A connection is closed. A player's place stays the player's. Returns the place.
    pub(crate) fn gone(&mut self, connection: PeerId) -> Option<Identity> {
        self.table.gone(connection)
    }

    /// Nobody comes to a player's place any more. Returns the connection to close.
    pub(crate) fn shut(&mut self, player: PlayerId) -> Option<PeerId> {
        self.table.shut(player)
    }

    /// Whether nobody comes to a player's place any more.
    pub(crate) fn is_shut(&self, player: PlayerId) -> bool {
        self.table.is_shut(player)
    }

    /// Another secret opens a player's place from now on.
    pub(crate) fn renew(&mut self, player: PlayerId, secret: &Secret) {
        self.table.renew(player, secret);
    }

    /// The session's number of the link behind a connection, and whose it is.
    pub(crate) fn seated(&self, connection: PeerId) -> Option<(PeerId, Identity)> {
        self.table.seated(connection)
    }

    /// The connection behind a link of the session.
    pub(crate) fn connection(&self, link: PeerId) -> Option<PeerId> {
        self.table.connection(link)
    }

    /// The player's name; empty if the player has not come yet.
    pub(crate) fn name(&self, player: PlayerId) -> Option<&Name> {
        self.names.get(player.index())?.as_ref()
    }

    /// Every connection that leads to a place.
    pub(crate) fn connections(&self) -> impl Iterator<Item = PeerId> {
        self.table.connections()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_comes_back_may_have_another_name() {
        let mut places = Places::new(&[None, Some([1; 16]), Some([2; 16])], [9; 16], 2, [8; 16]);
        let mut come = |name: &str| {
            places.come(PeerId(70), Pass::from(&[2; 16]), Name::cleaned(name), Instant::ZERO).unwrap();
            places.name(PlayerId(2)).cloned()
        };
        assert_eq!(come("Ada"), Some(Name::cleaned("Ada")));
        assert_eq!(come("Ada L"), Some(Name::cleaned("Ada L")));
        assert_eq!((places.name(PlayerId(0)), places.name(PlayerId(1))), (None, Some(&Name::default())));
    }
}
