//! The players' places, as the middle of a star keeps them: for players who come back.

use core::fmt;

use crate::session::streams::Streams;
use crate::value::ids::{Identity, PLAYERS_MAX, PlayerId};
use crate::value::time::Instant;

/// All places, by player.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlayerPlaces([PlayerPlace; PLAYERS_MAX as usize]);

/// A player's place.
#[derive(Clone, Copy, Default)]
pub(crate) struct PlayerPlace {
    secret: u128,
    /// Number of the connections that have taken the place since the start, modulo 2^16.
    connection: u16,
    /// Since when its player is away.
    pub(crate) empty_since: Option<Instant>,
}

impl fmt::Debug for PlayerPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlayerPlace").field("empty_since", &self.empty_since).finish_non_exhaustive()
    }
}

impl PlayerPlace {
    /// Whether this secret gives the place back to its player.
    pub(crate) fn is_owned_by(&self, secret: u128) -> bool {
        secret != 0 && secret == self.secret
    }
}

impl PlayerPlaces {
    pub(crate) fn get(&self, player: PlayerId) -> Option<&PlayerPlace> {
        self.0.get(player.index())
    }

    /// Notes since when players are away.
    pub(crate) fn note_empty(&mut self, streams: &Streams, now: Instant) {
        for (place, stream) in self.0.iter_mut().zip(streams) {
            let since = place.empty_since.unwrap_or(now);
            place.empty_since = stream.end().map(|_| since);
        }
    }

    /// Notes the secret that gives a player its place back. `is_running`: the match runs, and this is a new connection.
    pub(crate) fn note(&mut self, identity: Identity, secret: u128, is_running: bool) {
        if let Identity::Player(player) = identity
            && let Some(place) = self.0.get_mut(player.index())
        {
            place.secret = secret;
            place.connection = place.connection.wrapping_add(u16::from(is_running));
        }
    }

    /// Number of the newest connection at a player's place.
    pub(crate) fn connection_of(&self, identity: Identity) -> u16 {
        match identity {
            Identity::Player(player) => self.get(player).map_or(0, |place| place.connection),
            Identity::Watcher | Identity::Relay => 0,
        }
    }
}
