//! The roster before the match: every player sends its key, the middle of a star sends everybody all of them, and all peers compare.

use crate::packet::LobbyKeys;
use crate::session::event::{Event, Failure};
use crate::session::header::HeaderSigning;
use crate::session::link::Link;
use crate::session::{AnySession, SessionPhase};
use crate::signed::roster::{Roster, Seat};
use crate::value::ids::{Identity, PlayerId};
use crate::value::time::Duration;

/// Time between two copies of the roster for a peer that asks for it during the match.
const ROSTER_GAP: Duration = Duration::from_millis(250);

impl AnySession {
    /// The local player's seat.
    fn own_seat(&self) -> Option<Seat> {
        let (key, signing) = (self.setup.config.key.as_ref()?, self.signing.as_ref()?);
        self.setup.player().map(|_| Seat { key: key.public().to_bytes(), salt: signing.salt })
    }

    /// Builds the roster from the players' seats. Guests of a star receive it.
    pub(super) fn gather_roster(&mut self) {
        let gathers = self.setup.forwards() || self.setup.is_mesh();
        if self.signing.is_none() || !gathers || self.lobby.start_at.is_some() {
            return;
        }
        let own = self.own_seat();
        let seat = |player: PlayerId| match self.setup.player() {
            Some(local) if local == player => own,
            _ => {
                let identity = Some(Identity::Player(player));
                let link = self.links.values().find(|link| link.is_connected() && link.identity == identity);
                link.and_then(|link| link.lobby.seat)
            }
        };
        let players = || (0..self.setup.config.players).map(PlayerId);
        let seats: Vec<Option<Seat>> = players().map(seat).collect();
        let absent = |player: PlayerId| self.setup.is_absent(Identity::Player(player));
        let is_complete = players().zip(&seats).all(|(player, seat)| seat.is_some() || absent(player));
        let known = self.roster().is_some_and(|roster| roster.seats().eq(seats.iter().copied()));
        if !known && let Some(signing) = &mut self.signing {
            let roster = is_complete.then(|| Roster::new(self.setup.config.session_id, &seats));
            signing.roster = roster.flatten();
        }
    }

    /// Whether this peer knows the roster, or needs none.
    pub(super) fn has_roster(&self) -> bool {
        self.signing.is_none() || self.roster().is_some()
    }

    /// Whether the other end of a link has the same roster, or needs none.
    pub(super) fn agrees_on_roster(&self, link: &Link) -> bool {
        self.signing.is_none() || self.roster().is_some_and(|roster| link.lobby.mark == Some(roster.mark()))
    }

    /// The key part of a lobby packet.
    pub(super) fn lobby_keys(&self, link: &Link) -> Option<Box<LobbyKeys>> {
        self.signing.as_ref()?;
        let roster = self.roster();
        let mark = roster.map(Roster::mark);
        let tells = self.setup.forwards() && link.lobby.mark != mark;
        let roster = roster.filter(|_| tells).map(|roster| roster.seats().collect()).unwrap_or_default();
        Some(Box::new(LobbyKeys { own: self.own_seat(), mark, roster }))
    }

    /// Handles the key part of a lobby packet.
    pub(super) fn take_keys(&mut self, index: usize, keys: Option<&LobbyKeys>) {
        let (Some(keys), true) = (keys, self.signing.is_some()) else { return };
        let identity = self.links[index].identity;
        let lobby = &mut self.links[index].lobby;
        lobby.mark = keys.mark;
        if matches!(identity, Some(Identity::Player(_))) && self.phase == SessionPhase::Lobby {
            lobby.seat = keys.own;
        }
        let tells = !self.setup.is_mesh() && identity == Some(self.setup.coordinator());
        if !tells || keys.roster.is_empty() || self.is_over() {
            return;
        }
        // During the match only a peer without a roster accepts one.
        let in_match = self.phase != SessionPhase::Lobby;
        if keys.roster.len() != usize::from(self.setup.config.players) || (in_match && self.has_roster()) {
            return;
        }
        let Some(roster) = Roster::new(self.setup.config.session_id, &keys.roster) else { return };
        let own = self.own_seat();
        if self.setup.player().is_some_and(|player| roster.seats().nth(player.index()) != Some(own)) {
            self.fail(Failure::OtherRoster);
            return;
        }
        if let Some(signing) = &mut self.signing {
            signing.roster = Some(roster);
        }
        if in_match {
            self.tell_roster();
        }
    }

    /// The match begins: a player without the roster cannot play. Returns whether the match goes on.
    pub(super) fn settle_roster(&mut self) -> bool {
        if self.setup.player().is_some() && !self.has_roster() {
            self.fail(Failure::OtherRoster);
            return false;
        }
        self.tell_roster();
        true
    }

    /// Adopts the roster of a running match's header. Returns whether the match is signed as the settings say, and has a place for the
    /// local player's key.
    pub(super) fn join_roster(&mut self, header: Option<&HeaderSigning>) -> bool {
        let own = self.setup.player().zip(self.setup.config.key.as_ref().map(|key| key.public().to_bytes()));
        let is_done = match (&mut self.signing, header) {
            (None, None) => return true,
            (Some(signing), Some(header)) => {
                let roster = Roster::new(self.setup.config.session_id, &header.seats);
                roster.is_some_and(|roster| signing.go_on(header, roster, own))
            }
            _ => false,
        };
        if is_done {
            self.tell_roster();
        }
        is_done
    }

    fn tell_roster(&mut self) {
        if let Some(roster) = self.roster().cloned() {
            tracing::info!(fingerprint = %roster.fingerprint(), "roster");
            self.emit(Event::Roster(Box::new(roster)));
        }
    }

    /// Whether the next packet to a link carries the roster for a peer that has none.
    pub(super) fn owes_roster(&mut self, index: usize) -> bool {
        let (now, knows) = (self.now, self.roster().is_some());
        let carried = &mut self.links[index].carried_statements;
        let is_due = carried.roster_sent.is_none_or(|at| now.since(at) >= ROSTER_GAP);
        let owes = core::mem::take(&mut carried.owes_roster) && knows && is_due;
        if owes {
            carried.roster_sent = Some(now);
        }
        owes
    }
}
