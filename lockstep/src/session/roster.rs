//! The roster before the match: every player sends its key, the middle of a star sends everybody all of them, and all peers compare.

use crate::packet::LobbyKeys;
use crate::session::SessionPhase;
use crate::session::common::Common;
use crate::session::event::Event;
use crate::session::failure::Failure;
use crate::session::link::Link;
use crate::session::signing::Signing;
use crate::session::transfer::header::HeaderSigning;
use crate::signed::roster::{Roster, Seat};
use crate::value::ids::{Identity, PlayerId};
use crate::value::time::Duration;

/// Time between two copies of the roster for a peer that asks for it during the match.
const ROSTER_GAP: Duration = Duration::from_millis(250);

impl Signing {
    /// The local player's seat.
    fn own_seat(&self, common: &Common) -> Option<Seat> {
        let key = common.config().own.key.as_ref()?;
        common.setup.player().map(|_| Seat { key: key.public().to_bytes(), salt: self.salt })
    }

    /// Builds the roster from the players' seats, before the start. The other peers of a star receive it.
    pub(super) fn gather_roster(&mut self, common: &Common) {
        if !common.setup.forwards() && !common.setup.is_mesh() {
            return;
        }
        let own = self.own_seat(common);
        let seat = |player: PlayerId| match common.setup.player() {
            Some(local) if local == player => own,
            _ => {
                let identity = Some(Identity::Player(player));
                let link = common.links.connected().find(|link| link.identity == identity);
                link.and_then(|link| link.lobby.seat)
            }
        };
        let players = || (0..common.config().players).map(PlayerId);
        let seats: Vec<Option<Seat>> = players().map(seat).collect();
        let absent = |player: PlayerId| common.setup.is_absent(Identity::Player(player));
        let is_complete = players().zip(&seats).all(|(player, seat)| seat.is_some() || absent(player));
        let known = self.roster.as_ref().is_some_and(|roster| roster.seats().eq(seats.iter().copied()));
        if !known {
            let roster = is_complete.then(|| Roster::new(common.config().session_id, &seats));
            self.roster = roster.flatten();
        }
    }

    /// Whether the other end of a link has the same roster.
    pub(super) fn agrees_with(&self, link: &Link) -> bool {
        self.roster.as_ref().is_some_and(|roster| link.lobby.mark == Some(roster.mark()))
    }

    /// The key part of a lobby packet.
    pub(super) fn lobby_keys(&self, common: &Common, link: &Link) -> Box<LobbyKeys> {
        let roster = self.roster.as_ref();
        let mark = roster.map(Roster::mark);
        let tells = common.setup.forwards() && link.lobby.mark != mark;
        let roster = roster.filter(|_| tells).map(|roster| roster.seats().collect()).unwrap_or_default();
        Box::new(LobbyKeys { own: self.own_seat(common), mark, roster })
    }

    /// Handles the key part of a lobby packet.
    ///
    /// # Errors
    /// The roster has another seat for the local player.
    pub(super) fn take_keys(
        &mut self,
        common: &mut Common,
        index: usize,
        keys: &LobbyKeys,
    ) -> Result<(), Failure> {
        let in_match = common.phase != SessionPhase::Lobby;
        let link = &mut common.links[index];
        link.lobby.mark = keys.mark;
        if link.is_player() && !in_match {
            link.lobby.seat = keys.own;
        }
        let tells = !common.setup.is_mesh() && link.identity == Some(common.setup.coordinator());
        // During the match only a peer without a roster accepts one.
        let is_wanted = tells && !common.is_over() && !(in_match && self.roster.is_some());
        if !is_wanted || keys.roster.len() != usize::from(common.config().players) {
            return Ok(());
        }
        let Some(roster) = Roster::new(common.config().session_id, &keys.roster) else { return Ok(()) };
        let own = self.own_seat(common);
        if common.setup.player().is_some_and(|player| roster.seats().nth(player.index()) != Some(own)) {
            return Err(Failure::OtherRoster);
        }
        self.roster = Some(roster);
        if in_match {
            self.tell_roster(common);
        }
        Ok(())
    }

    /// The match begins.
    ///
    /// # Errors
    /// A player without the roster cannot play.
    pub(super) fn settle_roster(&self, common: &mut Common) -> Result<(), Failure> {
        if common.setup.player().is_some() && self.roster.is_none() {
            return Err(Failure::OtherRoster);
        }
        self.tell_roster(common);
        Ok(())
    }

    /// The roster of a running match's header. None: it has a key that is none, or is not that of the match that the player has signed last (whoever has
    /// played two would have forgotten the first one). The source may have changed it.
    pub(super) fn roster_to_join(&self, common: &Common, header: &HeaderSigning) -> Option<Roster> {
        let roster = Roster::new(common.config().session_id, &header.seats)?;
        let signed = common.config().own.signed_before.filter(|_| common.setup.player().is_some());
        signed.is_none_or(|signed| signed.roster == *roster.hash()).then_some(roster)
    }

    /// Adopts the roster of a running match's header.
    ///
    /// # Errors
    /// It has no place for the local player's key.
    pub(super) fn join_roster(
        &mut self,
        common: &mut Common,
        header: &HeaderSigning,
        roster: Roster,
    ) -> Result<(), Failure> {
        let key = common.config().own.key.as_ref().map(|key| key.public().to_bytes());
        if !self.go_on(header, roster, common.setup.player().zip(key)) {
            return Err(Failure::OtherKey);
        }
        self.tell_roster(common);
        Ok(())
    }

    fn tell_roster(&self, common: &mut Common) {
        if let Some(roster) = self.roster.clone() {
            tracing::info!(fingerprint = %roster.fingerprint(), "roster");
            common.emit(Event::Roster(Box::new(roster)));
        }
    }

    /// Whether the next packet to a link carries the roster for a peer that has none.
    pub(super) fn owes_roster(&self, common: &mut Common, index: usize) -> bool {
        let now = common.now;
        let carried = &mut common.links[index].carried_statements;
        let is_due = carried.roster_sent.is_none_or(|at| now.since(at) >= ROSTER_GAP);
        let owes = core::mem::take(&mut carried.owes_roster) && self.roster.is_some() && is_due;
        if owes {
            carried.roster_sent = Some(now);
        }
        owes
    }
}
