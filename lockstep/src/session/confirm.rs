//! Confirmations: which peer has which entries, which entries can be forgotten, and which peers are too far behind or ahead.

use crate::session::common::Common;
use crate::session::link::Link;
use crate::session::stream::ARRIVAL_WINDOW;
use crate::value::ids::{Identity, PlayerId};
use crate::value::time::Duration;

/// A peer that is there is heard several times in this time, also over a bad line.
const HEARD: Duration = Duration::from_secs(1);

impl Common {
    /// Every player has our entries below this number.
    pub(super) fn confirmed(&self) -> u32 {
        self.confirming_links().map(|link| link.progress.confirmed).min().unwrap_or(u32::MAX)
    }

    pub(super) fn confirming_links(&self) -> impl Iterator<Item = &Link> {
        self.links.values().filter(|link| link.is_connected() && !link.progress.finished && self.counts(link))
    }

    /// Whether the other end must get our entries: it plays, or it passes them on.
    pub(super) fn counts(&self, link: &Link) -> bool {
        let forwards = !self.setup.is_mesh() && link.identity == Some(self.setup.coordinator());
        forwards || self.plays(link)
    }

    /// Whether the player at the other end still gives actions. A player who has left confirms nothing more, even if its bye packet was
    /// lost.
    pub(super) fn plays(&self, link: &Link) -> bool {
        match link.identity {
            Some(Identity::Player(player)) => self.streams[player.index()].end().is_none(),
            _ => false,
        }
    }

    /// How many of a player's entries that are here are still missing at a peer that this one serves.
    pub(super) fn unconfirmed(&self, player: PlayerId) -> u32 {
        let here = self.streams[player.index()].next();
        if !self.setup.forwards() {
            return 0;
        }
        let served = self.links.values().filter(|link| {
            link.is_connected() && self.plays(link) && link.identity != Some(Identity::Player(player))
        });
        let least = served.map(|link| link.progress.acked[player.index()]).min().unwrap_or(here);
        here.saturating_sub(least)
    }

    pub(super) fn forget_confirmed(&mut self) {
        // A relay reads complete turns for its plans.
        let run = if self.setup.is_relay() { self.gate.complete } else { self.gate.turn.saturating_sub(1) };
        for (index, stream) in self.streams.iter_mut().enumerate() {
            let confirmed =
                self.links.values().filter(|link| link.is_connected()).map(|link| link.progress.acked[index]);
            let needed = confirmed.min().unwrap_or(u32::MAX).min(run);
            stream.forget_below(needed.min(stream.next()));
        }
    }

    /// The first entry of a player that is not taken now.
    ///
    /// A player begins turn T when it has the entries of all others for T, and then closes its entry for T + `turns_ahead`. So this entry
    /// is less than `turns_ahead` after the next entry of any other player. One more follows at once if the player's stream ends, or
    /// after the last turn. That holds at every pace, in a resumed match, and for a player who is back. A player who does not know yet
    /// that another one is back begins no turn after that return ([`crate::session::transfer::horizon`]), and the other one's next entry is later.
    /// The first own entry after a return may come before the others are there: whoever is back and goes at once ends its stream with it.
    ///
    /// The middle of a star has everything that a player can know of the others. Any other peer is only sure of its own entries. A
    /// watcher, and the middle if nobody else plays, have no such measure, and keep a window; a relay then goes by the clock, too.
    pub(super) fn first_refused(&self, player: PlayerId) -> u32 {
        let others = (0_u8..).map(PlayerId).zip(&self.streams).filter(|(other, stream)| {
            let knows = self.setup.forwards() || self.streams.author() == Some(*other);
            *other != player && knows && stream.end().is_none()
        });
        let slowest = others.map(|(_, stream)| stream.next()).min();
        let stream = &self.streams[player.index()];
        let first_own = if stream.is_pending() { stream.next().saturating_add(1) } else { 0 };
        let honest =
            slowest.map(|slowest| slowest.saturating_add(self.setup.config.turns_ahead + 1).max(first_own));
        if !self.setup.is_relay() {
            let window = self.gate.turn.saturating_add(self.setup.config.limits.window);
            return honest.map_or(window, |honest| honest.min(window));
        }
        honest.unwrap_or_else(|| {
            let kept = self.streams[player.index()].oldest().saturating_add(ARRIVAL_WINDOW);
            self.alone.map_or(kept, |alone| alone.first_refused.min(kept))
        })
    }

    /// Whether the remote is too far behind to be served any longer. The others wait for a player, so only a player that withholds confirmations gets
    /// there, or a watcher on a line that is too slow. Nobody is judged by entries that are younger than the drop time.
    pub(super) fn is_straggler(&self, link: &Link) -> bool {
        if !link.is_connected() {
            return false;
        }
        let config = &self.setup.config;
        let patience = config.waits.drop_after.unwrap_or(config.waits.silence_timeout);
        let has_time = self.is_delayed(link) || link.arrival.is_some();
        (0_u8..).map(PlayerId).zip(&self.streams).any(|(player, stream)| {
            let ack = link.progress.acked[player.index()];
            let (mark, since) = link.progress.marks[player.index()];
            let behind = stream.next().saturating_sub(ack);
            let is_old = ack < mark && self.now.since(since) >= patience;
            behind > ARRIVAL_WINDOW
                || (behind > config.limits.window && is_old && !has_time && self.serves(link, player))
        })
    }

    /// Whether a player is heard and has not confirmed the end of another one for the drop time, or for the time for joining while it joins itself. A player
    /// who has resigned confirms it, too.
    pub(super) fn withholds_end(&self, link: &Link, player: PlayerId) -> bool {
        let config = &self.setup.config;
        let patience = match link.arrival {
            Some(_) => config.join_time(),
            None => config.waits.drop_after.unwrap_or(config.waits.silence_timeout),
        };
        let ack = link.progress.acked[player.index()];
        let (mark, since) = link.progress.marks[player.index()];
        let is_here = link.is_connected() && link.is_player() && !link.lacks_state();
        let is_heard = self.now.since(link.last_heard) < HEARD;
        let is_old = ack < mark && self.now.since(since) >= patience;
        is_here && is_heard && is_old && self.serves(link, player)
    }

    /// Notes which entries every remote has confirmed by now. A player refuses what is too far ahead of its own entries
    /// ([`Common::first_refused`]), for example the end of a player who came back while the match waits: its time begins when it can take the entry.
    pub(super) fn note_marks(&mut self) {
        for link in self.links.values_mut() {
            let refused = match link.identity {
                Some(Identity::Player(player)) if self.streams[player.index()].end().is_none() => {
                    self.streams[player.index()].next().saturating_add(self.setup.config.turns_ahead + 1)
                }
                // Whoever gives no more entries measures nothing by them.
                _ => u32::MAX,
            };
            let marks = link.progress.marks.iter_mut().zip(link.progress.acked).zip(&self.streams);
            for (((mark, since), ack), stream) in marks {
                if ack >= *mark {
                    (*mark, *since) = (stream.next(), self.now);
                } else if ack >= refused {
                    *since = self.now;
                }
            }
        }
    }

    /// Whether this peer must give a player's stream to the remote.
    pub(super) fn serves(&self, link: &Link, player: PlayerId) -> bool {
        let is_own = self.setup.identity == Identity::Player(player);
        is_own || (self.setup.forwards() && link.identity != Some(Identity::Player(player)))
    }

    /// Whether this peer sends a player's stream over a link.
    pub(super) fn sends_stream(&self, link: &Link, player: PlayerId) -> bool {
        if link.identity == Some(Identity::Player(player)) {
            return link.progress.acked[player.index()] < link.progress.author_from;
        }
        if self.setup.identity == Identity::Player(player) {
            return true;
        }
        self.setup.forwards() && self.streams[player.index()].source != Some(link.peer)
    }

    /// The remote had the entries of all other players below this number when it last sent its acknowledgements.
    pub(super) fn had_of_others(&self, index: usize) -> u32 {
        let link = &self.links[index];
        let author = match link.identity {
            Some(Identity::Player(player)) => player.index(),
            _ => return 0,
        };
        let live = self.streams.iter().enumerate().filter(|(_, stream)| stream.end().is_none());
        let others =
            live.filter(|(player, _)| *player != author).map(|(player, _)| link.progress.acked[player]);
        others.min().unwrap_or(0)
    }

    /// Star: players who have not confirmed the others' entries below the slowest player's next one, bit n for player n. If that player does
    /// not move, these entries have been here for as long.
    pub(super) fn withholding(&self) -> u16 {
        let position = self.streams.slowest_next();
        let lacks = |player: PlayerId, link: &Link| {
            let others = (0_u8..).map(PlayerId).zip(&self.streams).zip(link.progress.acked);
            let mut others = others.filter(|((other, stream), _)| *other != player && stream.end().is_none());
            others.any(|(_, ack)| ack < position)
        };
        self.links.values().filter(|link| link.is_connected() && self.plays(link)).fold(0, |mask, link| {
            match link.identity {
                Some(Identity::Player(player)) if lacks(player, link) => mask | (1 << player.0),
                _ => mask,
            }
        })
    }
}
