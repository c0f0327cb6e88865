//! Who takes part: pause, leaving, dropping those who do not answer, and who delays the game.

use crate::pace::pacing::Pace;
use crate::packet::Bye;
use crate::session::config::Topology;
use crate::session::event::{Event, Failure};
use crate::session::link::{Link, LinkPhase};
use crate::session::{Session, SessionPhase};
use crate::value::action::Action;
use crate::value::codec;
use crate::value::entry::{EndReason, Entry, Extra, Extras, Payload, SPEED_MAX, SPEED_MIN};
use crate::value::ids::{Identity, PLAYERS_MAX, PlayerId};
use crate::value::time::Duration;

/// How much a player has delayed the game, as this peer knows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PlayerReport {
    /// Rolling average of the player's confirmations, milliseconds; 0 if it was never told.
    pub network_ms: u16,
    /// Rolling average of the player's slowest frames, milliseconds; 0 if it was never told.
    pub runtime_ms: u16,
    /// Turns that waited for this player, who was the last or among the last.
    pub delayed_turns: u32,
    /// Time for which they waited.
    pub delayed: Duration,
    /// How long before they are needed the others' entries are with the player, on average, in tenths of a millisecond; negative if the
    /// player waits. None if it was never told (the local player's own is not).
    pub slack_tenths: Option<i16>,
    /// Why the player delays the game; none if it does not.
    pub blame: Option<Blame>,
}

/// Why a player delays the game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Blame {
    /// The player's entries come late.
    Network,
    /// The player's machine needs longer for a frame than a frame lasts.
    Processor,
}

/// For whom this peer has waited.
#[derive(Clone, Debug, Default)]
pub(crate) struct Delays {
    /// Bit n: the turn that does not begin lacks player n.
    missing: u16,
    turns: [u32; PLAYERS_MAX as usize],
    time: [Duration; PLAYERS_MAX as usize],
    /// The slowest stream's next entry: while it moves, nobody stands.
    position: u32,
}

impl Delays {
    /// The wait is over: it counts for those who were missing at its end.
    pub(crate) fn note(&mut self, span: Duration) {
        for player in 0..usize::from(PLAYERS_MAX) {
            if self.missing & (1 << player) != 0 {
                self.turns[player] += 1;
                self.time[player] = self.time[player] + span;
            }
        }
        self.missing = 0;
    }
}

/// The players of a set of bits, in order.
pub(super) fn players_in(set: u16) -> impl Iterator<Item = PlayerId> {
    (0..PLAYERS_MAX).map(PlayerId).filter(move |player| set & (1 << player.0) != 0)
}

impl<A: Action> Session<A> {
    /// Asks for a pause, or for its end, with the next entry: the simulation of every peer stands from the same turn on. Turns go
    /// on, and actions are taken and applied.
    pub fn pause(&mut self, paused: bool) {
        self.pause_request = Some(paused);
    }

    /// Asks for another speed with the next entry, percent of real time, clamped to 10..=250: frames of every peer pass faster or slower
    /// from the same turn on. The simulation's step stays, so the course of the game is the same.
    pub fn set_speed(&mut self, percent: u8) {
        self.speed_request = Some(percent.clamp(SPEED_MIN, SPEED_MAX));
    }

    /// The local player gives no more actions from the next entry on. This peer goes on as one that watches, and forwards if it
    /// is the host. Actions that wait are cancelled; returns how many.
    pub fn resign(&mut self) -> u32 {
        self.end_own_stream(EndReason::Left)
    }

    /// As [`Session::resign`], and the player has lost: no bot plays on, whatever the settings say
    /// ([`crate::Simulation::player_surrendered`]).
    pub fn surrender(&mut self) -> u32 {
        self.end_own_stream(EndReason::Surrendered)
    }

    /// As [`Session::resign`], and the game plays on for the player ([`crate::Simulation::player_taken_over`]).
    pub fn hand_over(&mut self) -> u32 {
        self.end_own_stream(EndReason::HandedOver)
    }

    fn end_own_stream(&mut self, reason: EndReason) -> u32 {
        let cancelled = self.outbox.cancel();
        if self.phase == SessionPhase::Running && !self.player_ended() {
            self.resigning = Some(reason);
            self.close_entry(false);
        }
        cancelled
    }

    /// Leaves in good order: as [`Session::resign`]; the session is over as soon as the others have the last entry. If the host
    /// leaves, the match ends for all. Returns how many waiting actions are cancelled.
    pub fn leave(&mut self) -> u32 {
        let cancelled = self.resign();
        self.leaving = true;
        if self.phase != SessionPhase::Running || self.player().is_none() {
            self.depart();
        }
        cancelled
    }

    /// Notes how long a frame took, drawing included. The slowest of a turn counts for the runtime average.
    pub fn note_frame_time(&mut self, span: Duration) {
        self.meter.frame_took(span);
    }

    /// What is known of a player's delays.
    pub fn player_report(&self, player: PlayerId) -> PlayerReport {
        if player.0 >= self.config.players {
            return PlayerReport::default();
        }
        let (network_ms, runtime_ms) = self.planner.averages(player);
        let (delayed_turns, delayed) = (self.delays.turns[player.index()], self.delays.time[player.index()]);
        let slack_tenths = self.alignment.slack_of(player);
        let too_slow = u32::from(runtime_ms) * self.config.frames_per_second > 1_000;
        let blame = match (too_slow, delayed_turns) {
            (true, _) => Some(Blame::Processor),
            (false, 0) => None,
            (false, _) => Some(Blame::Network),
        };
        PlayerReport { network_ms, runtime_ms, delayed_turns, delayed, slack_tenths, blame }
    }

    /// Time until the players who are waited for are dropped. None if nobody is waited for, or nobody is ever dropped.
    pub fn drop_in(&self) -> Option<Duration> {
        let drop_at = self.waiting_since? + self.config.drop_after?;
        Some(drop_at.since(self.now))
    }

    /// Our entries below this number are at every player's.
    pub(super) fn confirmed(&self) -> u32 {
        self.confirming_links().map(|link| link.confirmed).min().unwrap_or(u32::MAX)
    }

    fn confirming_links(&self) -> impl Iterator<Item = &Link> {
        self.links.iter().filter(|link| link.is_connected() && !link.finished && self.counts(link))
    }

    /// Whether it matters that the other end has our entries: it plays, or passes them on.
    fn counts(&self, link: &Link) -> bool {
        let forwards = self.config.topology != Topology::Mesh && link.identity == Some(self.coordinator());
        forwards || self.plays(link)
    }

    /// Whether a player is at the other end who still gives actions. One who has left confirms nothing more, even if the farewell was lost.
    pub(super) fn plays(&self, link: &Link) -> bool {
        match link.identity {
            Some(Identity::Player(player)) => self.streams[player.index()].end().is_none(),
            _ => false,
        }
    }

    /// The strict gate of the article: players who have not confirmed our own entry for the next turn, bit n for player n. Those who are
    /// reached through the middle of a star count as its bit (the relay: as player 0's).
    fn unconfirming(&self) -> u16 {
        let implied = self.turn < self.config.first_entry();
        if self.config.pace != Pace::Article || implied || self.player_ended() {
            return 0;
        }
        let lacking = self.confirming_links().filter(|link| link.confirmed <= self.turn);
        lacking.fold(0, |mask, link| match link.identity {
            Some(Identity::Player(player)) => mask | (1 << player.0),
            _ => mask | 1,
        })
    }

    /// Players for whom the next turn waits, bit n for player n.
    pub(super) fn waits_for(&self) -> u16 {
        self.missing() | self.unconfirming()
    }

    /// Whether the local player's stream has ended (or there is none).
    pub(super) fn player_ended(&self) -> bool {
        self.player().is_none_or(|player| self.streams[player.index()].end().is_some())
    }

    /// Whether this peer may drop somebody for whom the game stands too long: the host, the relay, or any peer of a mesh.
    pub(super) fn may_drop(&self) -> bool {
        self.config.drop_after.is_some() && self.accepts()
    }

    pub(super) fn note_missing(&mut self) {
        self.delays.missing = self.waits_for();
    }

    /// Players whose entry for the next turn is missing, bit n for player n. Never the local one: that entry closes in time.
    pub(super) fn missing(&self) -> u16 {
        let own = self.player();
        (0_u8..).zip(&self.streams).fold(0, |missing, (player, stream)| {
            let here = stream.has(self.turn) || own == Some(PlayerId(player));
            missing | (u16::from(!here) << player)
        })
    }

    /// Drops the players for whom the game has waited too long.
    pub(super) fn drop_silent(&mut self) {
        if !self.may_drop() {
            return;
        }
        let follows_turns = self.phase == SessionPhase::Running && !self.is_relay();
        let missing = self.blocking();
        let position = self.slowest_next();
        if !follows_turns && (missing == 0 || position != self.delays.position) {
            self.waiting_since = None;
        }
        self.delays.position = position;
        if missing == 0 {
            return;
        }
        let since = *self.waiting_since.get_or_insert(self.now);
        // Whom the lowest player gives up, the others give up too: all must give up the same. Its word is not enough for those who
        // are neither missing here nor silent.
        let told = self.given_up_by_leader();
        let told = told & (missing | !self.talking());
        if told & !self.frozen != 0 {
            self.freeze(told);
            return;
        }
        if self.now.since(since) < self.config.drop_after.unwrap_or_default() {
            return;
        }
        if self.config.topology == Topology::Mesh {
            self.freeze(self.given_up_first(missing));
        } else {
            self.end_streams(missing);
        }
    }

    /// Mesh: whom to give up first when these are missing. Who talks and stands may itself have given up one who is silent (the article's
    /// gate waits for confirmations, which only the player itself can give), and goes on when that one is gone.
    fn given_up_first(&self, missing: u16) -> u16 {
        let talking = self.talking();
        let blamed = self.links.iter().filter_map(|link| match link.identity {
            Some(Identity::Player(player)) if talking & missing & (1 << player.0) != 0 => Some(link.frozen),
            _ => None,
        });
        let blamed = blamed.fold(missing, |mask, frozen| mask | frozen);
        match blamed & self.live() & !(talking & !self.frozen) {
            0 => missing,
            silent => silent,
        }
    }

    /// Players from whom something has come in the last half of the drop time, and the local one; bit n for player n.
    fn talking(&self) -> u16 {
        let drop_after = self.config.drop_after.unwrap_or_default();
        let silence = Duration::from_micros(drop_after.as_micros() / 2);
        let own = self.player().map_or(0, |own| 1 << own.0);
        let talks = |link: &&Link| {
            link.is_connected() && (link.finished || self.now.since(link.last_heard) < silence)
        };
        self.links.iter().filter(talks).fold(own, |mask, link| match link.identity {
            Some(Identity::Player(player)) => mask | (1 << player.0),
            _ => mask,
        })
    }

    /// Next entry of the slowest stream that has not ended.
    fn slowest_next(&self) -> u32 {
        let live = self.streams.iter().filter(|stream| stream.end().is_none());
        live.map(crate::session::stream::Stream::next).min().unwrap_or(u32::MAX)
    }

    /// Players without whose next entry nothing goes on, bit n for player n.
    fn blocking(&self) -> u16 {
        let own = self.player();
        let live = || {
            let others = (0_u8..).zip(&self.streams).filter(|(player, _)| own != Some(PlayerId(*player)));
            others.filter(|(_, stream)| stream.end().is_none())
        };
        let needed = match (self.phase, self.is_relay()) {
            // Nobody is more than the turns ahead in front of the slowest, and all who wait for the slowest are exactly that.
            (SessionPhase::Running, true) => {
                let slowest = self.slowest_next();
                let fastest = live().map(|(_, stream)| stream.next()).max().unwrap_or(0);
                let stands = fastest.saturating_sub(slowest) >= self.config.turns_ahead.max(1);
                if stands { slowest.saturating_add(1) } else { 0 }
            }
            (SessionPhase::Running, false) if self.waiting_since.is_some() => self.turn.saturating_add(1),
            (SessionPhase::Ending, _) => self.final_next().unwrap_or(0),
            _ => 0,
        };
        let waits = self.phase == SessionPhase::Running && self.waiting_since.is_some() && !self.in_turn;
        let unconfirming = if waits { self.unconfirming() } else { 0 };
        live()
            .filter(|(player, stream)| stream.next() < needed || unconfirming & (1 << player) != 0)
            .fold(0, |mask, (player, _)| mask | (1 << player))
    }

    /// Ends streams after what is here, for everybody who gets them from here.
    pub(super) fn end_streams(&mut self, players: u16) {
        for player in players_in(players) {
            let stream = &mut self.streams[player.index()];
            if stream.end().is_some() {
                continue;
            }
            let payload = if self.config.input_mode { codec::zeros(A::MAX_BITS) } else { Payload::none() };
            let extras: Extras = [Extra::End(EndReason::Dropped)].into_iter().collect();
            tracing::warn!(player = player.0, turn = stream.next(), "dropped");
            stream.push(Entry { payload, extras });
            stream.source = None;
            self.stats.drops += 1;
            self.close_link_of(player);
        }
        for link in &mut self.links {
            link.mark_urgent();
        }
        if let Some(since) = self.waiting_since.take() {
            self.delays.missing = players;
            self.delays.note(self.now.since(since));
        }
        self.settle_checksums();
    }

    /// The player has been dropped and is told so.
    pub(super) fn close_link_of(&mut self, player: PlayerId) {
        for link in self.links.iter_mut().filter(|link| link.identity == Some(Identity::Player(player))) {
            link.phase = LinkPhase::Closed;
            link.owe_bye(Bye::Dropped);
        }
    }

    /// Mesh: takes nothing more from these players' own links. When every survivor has done so and everything that any of them
    /// has is here, the lowest of them ends the streams.
    fn freeze(&mut self, missing: u16) {
        // Whoever is silent as well, or has no link to here, cannot agree to anything.
        let drop_after = self.config.drop_after.unwrap_or_default();
        let reachable = |player: PlayerId| {
            let mut links = self.links.iter().filter(|link| link.identity == Some(Identity::Player(player)));
            links.any(|link| {
                link.is_connected() && (link.finished || self.now.since(link.last_heard) < drop_after)
            })
        };
        let own = self.player();
        let silent = players_in(self.live()).filter(|&player| own != Some(player) && !reachable(player));
        self.frozen |= silent.fold(missing, |mask, player| mask | (1 << player.0));
        let live = self.live();
        // Once given up, always given up.
        let missing = self.frozen & live;
        let survivors = live & !self.frozen;
        let (all, left) = (live.count_ones(), survivors.count_ones());
        let has_lowest = live.trailing_zeros() == survivors.trailing_zeros();
        if left * 2 < all || (left * 2 == all && !has_lowest) {
            let lost = self.links.iter().find(|link| !link.finished).map(|link| link.peer);
            self.fail(Failure::ConnectionLost(lost.unwrap_or_default()));
            return;
        }
        if self.player().is_none_or(|own| u32::from(own.0) != survivors.trailing_zeros()) {
            return;
        }
        let agrees = |player: PlayerId| {
            let link = self.links.iter().find(|link| link.identity == Some(Identity::Player(player)));
            link.is_some_and(|link| {
                let has_no_more = |p: PlayerId| link.acked[p.index()] <= self.streams[p.index()].next();
                link.is_connected()
                    && link.frozen & missing == missing
                    && players_in(missing).all(has_no_more)
            })
        };
        let own = self.player();
        if players_in(survivors).filter(|&player| own != Some(player)).all(agrees) {
            self.end_streams(missing);
        }
    }

    /// Players whose streams have not ended, bit n for player n.
    fn live(&self) -> u16 {
        let live =
            (0..self.config.players).filter(|&player| self.streams[usize::from(player)].end().is_none());
        live.fold(0, |mask, player| mask | (1 << player))
    }

    /// Mesh: whom the lowest player that is not given up here has given up, but for this peer.
    fn given_up_by_leader(&self) -> u16 {
        let own = self.player().map_or(0, |own| 1 << own.0);
        let leader = (self.live() & !self.frozen).trailing_zeros() as u8;
        let link = self.links.iter().find(|link| link.identity == Some(Identity::Player(PlayerId(leader))));
        link.filter(|link| link.is_connected()).map_or(0, |link| link.frozen & self.live() & !own)
    }

    /// A peer says that it has dropped the local player. In a star only the middle can; in a mesh one peer alone cannot end anybody's
    /// match, only its own part in it.
    pub(super) fn dropped_by(&mut self, index: usize) {
        let link = &mut self.links[index];
        let counts = match link.identity {
            Some(identity) if self.config.topology == Topology::Mesh => {
                matches!(identity, Identity::Player(_))
            }
            Some(identity) => identity == self.coordinator(),
            None => false,
        };
        if !counts {
            self.stats.packets_unexpected += 1;
            return;
        }
        self.links[index].phase = LinkPhase::Closed;
        let others = |link: &&Link| self.plays(link) && !link.finished;
        let all = self.links.iter().filter(others).count();
        let closed = self.links.iter().filter(others).filter(|link| link.phase == LinkPhase::Closed).count();
        if self.config.topology != Topology::Mesh || closed * 2 > all {
            self.fail(Failure::Dropped);
        }
    }

    /// A player's last word has come before the end of the match.
    pub(super) fn player_left(&mut self, index: usize) {
        let (peer, identity) = (self.links[index].peer, self.links[index].identity);
        match identity {
            // Without the middle of the star nobody hears anybody.
            _ if !self.accepts() => self.fail(Failure::PeerLeft(peer)),
            Some(Identity::Player(player)) if self.streams[player.index()].end().is_some() => {
                self.links[index].phase = LinkPhase::Closed;
            }
            // The process is gone: no need to wait for what cannot come. (In a mesh others may still have some of it.)
            Some(Identity::Player(player)) if self.may_drop() => {
                if self.config.topology != Topology::Mesh {
                    self.end_streams(1 << player.0);
                }
            }
            _ => self.fail(Failure::PeerLeft(peer)),
        }
    }

    /// Whether the others have the local player's last entry, so that this peer may go.
    pub(super) fn check_left(&mut self) {
        if !self.leaving || !self.player_ended() {
            return;
        }
        let Some(player) = self.player() else { return };
        let next = self.streams[player.index()].next();
        let lacks = |link: &&Link| link.is_connected() && !link.finished && link.acked[player.index()] < next;
        let silent = |link: &Link| self.now.since(link.last_heard) >= self.config.linger;
        if self.links.iter().filter(lacks).any(|link| !silent(link)) {
            return;
        }
        match self.links.iter().find(lacks).map(|link| link.peer) {
            None => self.depart(),
            // Gone, but not in good order: nobody has confirmed it.
            Some(peer) => self.fail(Failure::ConnectionLost(peer)),
        }
    }

    fn depart(&mut self) {
        if self.is_over() {
            return;
        }
        self.phase = SessionPhase::Left;
        for link in &mut self.links {
            link.owe_bye(Bye::Left);
        }
        self.report_cancelled();
    }

    /// Reports accepted actions that may run nowhere: those that wait, and those in entries that somebody has not confirmed.
    pub(super) fn report_cancelled(&mut self) {
        let mut actions = self.outbox.cancel();
        if let Some(player) = self.player() {
            let stream = &self.streams[player.index()];
            let acks =
                self.links.iter().filter(|link| self.counts(link)).map(|link| link.acked[player.index()]);
            let safe = acks.min().unwrap_or(self.turn);
            // Beyond the last turn nothing runs, whoever has it.
            let safe = safe.min(self.last_turn.map_or(u32::MAX, |last| last.saturating_add(1)));
            let entries = (safe..stream.next()).filter_map(|number| stream.get(number));
            actions += entries.map(|entry| codec::actions::<A>(&entry.payload).count() as u32).sum::<u32>();
        }
        if actions > 0 && !self.config.input_mode {
            self.emit(Event::Cancelled { actions });
        }
    }
}
