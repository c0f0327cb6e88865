//! What all parts of a session read: the settings, the time, the links, the streams and the position of the match.

use crate::pace::pacing::Pace;
use crate::packet::Bye;
use crate::session::SessionPhase;
use crate::session::clock::Jumps;
use crate::session::config::SessionConfig;
use crate::session::event::Event;
use crate::session::events::EventQueue;
use crate::session::gate::Gate;
use crate::session::link::{Link, LinkPhase};
use crate::session::links::Links;
use crate::session::setup::Setup;
use crate::session::stats::Stats;
use crate::session::stream::Stream;
use crate::session::streams::Streams;
use crate::session::transfer::arrival::ArrivalStage;
use crate::value::ids::{Identity, PlayerId, Turn};
use crate::value::time::{Duration, Instant};

/// The horizon is this far ahead of the newest entry, so that a packet or two may be lost before anybody waits for it; and everybody knows
/// of a return this long before.
const RETURN_NOTICE: Duration = Duration::from_secs(1);

/// A watcher that is far behind passes time at most so many times as fast as the players.
const HASTE_MAX: u32 = 8;

/// Passed to the parts of a session, each of which owns what only it changes.
#[derive(Clone, Debug)]
pub(crate) struct Common {
    pub(super) setup: Setup,
    pub(super) phase: SessionPhase,
    /// The latest time that was passed in.
    pub(super) now: Instant,
    pub(super) jumps: Jumps,
    pub(super) links: Links,
    pub(super) streams: Streams,
    pub(super) gate: Gate,
    pub(super) events: EventQueue,
    pub(super) stats: Stats,
    /// At a relay with one player: since when the others are gone, the player's next entry then, and the first one that is not taken now.
    pub(super) alone: Option<Alone>,
}

/// A player whose entries no other player's entries limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alone {
    /// Until when the time has been counted.
    counted: Instant,
    pub(super) first_refused: u32,
}

/// What a player gives of its state to the middle of its star, bytes per second at most: half of the packets that hosts and relays take from one connection.
const STATE_RATE_TO_MIDDLE: u32 = 500_000;

impl Common {
    pub(super) fn new(setup: Setup, now: Instant) -> Self {
        let config = &setup.config;
        let streams = (0..config.players).map(|_| Stream::new(config.first_entry()));
        Self {
            phase: SessionPhase::Lobby,
            now,
            jumps: Jumps::default(),
            links: Links::default(),
            streams: Streams::new(streams, setup.player()),
            gate: Gate { last_turn: config.turns.map(|turns| turns - 1), ..Gate::default() },
            events: EventQueue::default(),
            stats: Stats::default(),
            alone: None,
            setup,
        }
    }

    /// What states in transfer use of this peer's uplink, bytes per second at most.
    pub(super) fn state_rate(&self) -> u32 {
        let wanted = self.config().arrivals.state_rate;
        if self.setup.forwards() { wanted } else { wanted.min(STATE_RATE_TO_MIDDLE) }
    }

    /// Only the clock limits a player that is alone behind a relay: to twice the pace of turns. Otherwise a player that is alone while the others' programs are
    /// started again would play the match to its end in a second.
    pub(super) fn note_alone(&mut self, turn: Duration) {
        self.note_alone_since(turn, self.now);
    }

    /// The same; if the player has not been alone before, it is since this time.
    pub(super) fn note_alone_since(&mut self, turn: Duration, since: Instant) {
        let mut live = self.streams.iter().filter(|stream| stream.end().is_none());
        let (Some(stream), None) = (live.next(), live.next()) else {
            self.alone = None;
            return;
        };
        let first_refused = stream.next().saturating_add(self.setup.config.turns_ahead + 2);
        let Alone { counted, first_refused } = self.alone.unwrap_or(Alone { counted: since, first_refused });
        // What was counted stays when turns become longer.
        let half = (turn.as_micros() / 2).max(1);
        let turns = self.now.since(counted).as_micros() / half;
        let counted = counted + Duration::from_micros(turns * half);
        let turns = u32::try_from(turns).unwrap_or(u32::MAX);
        self.alone = Some(Alone { counted, first_refused: first_refused.saturating_add(turns) });
    }

    /// Whether the session has finished or failed.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.phase, SessionPhase::Finished | SessionPhase::Left | SessionPhase::Failed(_))
    }

    pub(super) fn config(&self) -> &SessionConfig {
        &self.setup.config
    }

    pub(super) fn emit(&mut self, event: Event) {
        self.stats.events_lost += self.events.push(event);
    }

    /// Whether the local player's stream has ended (or there is none).
    pub(super) fn player_ended(&self) -> bool {
        self.setup.player().is_none_or(|player| self.streams[player.index()].end().is_some())
    }

    /// Whether the remote must give signs of life. A peer that has finished need not, except the middle of a star as long as this peer still lacks
    /// something: it cannot come from anybody else.
    pub(super) fn is_awaited(&self, link: &Link) -> bool {
        if self.needs_nobody() {
            return false;
        }
        let serves_us =
            !self.setup.is_mesh() && !self.setup.accepts() && link.identity == Some(self.setup.coordinator());
        let serves_us = serves_us && !self.has_everything() && !self.runs_rest();
        link.is_connected() && (!link.progress.finished || serves_us)
    }

    /// Players from whom something has come within this time, and the local one; bit n for player n.
    pub(super) fn heard_within(&self, span: Duration) -> u16 {
        self.own() | self.links.heard_within(span, self.now)
    }

    /// Players from whom something has come in the last half of the drop time, and the local one; bit n for player n.
    pub(super) fn talking(&self) -> u16 {
        let drop_after = self.setup.config.waits.drop_after.unwrap_or_default();
        self.heard_within(Duration::from_micros(drop_after.as_micros() / 2))
    }

    /// The local player, as a set.
    pub(super) fn own(&self) -> u16 {
        self.setup.player().map_or(0, |own| 1 << own.0)
    }

    /// Whether watchers get everything later from here.
    pub(super) fn delays(&self) -> bool {
        self.setup.config.watchers.watch_delay > Duration::ZERO && self.setup.forwards()
    }

    /// Whether what goes over this link is delayed.
    pub(super) fn is_delayed(&self, link: &Link) -> bool {
        self.phase != SessionPhase::Lobby && self.delays() && link.identity == Some(Identity::Watcher)
    }

    /// Joining peers that were getting a state wait for another one: delayed watchers, who have a state of their own, or all others.
    pub(super) fn take_back_states(&mut self, delayed: bool) {
        let front = self.front();
        for index in 0..self.links.len() {
            if self.is_delayed(&self.links[index]) != delayed {
                continue;
            }
            let arrival = self.links[index].arrival.as_deref_mut();
            if let Some(arrival) = arrival.filter(|arrival| arrival.stage == ArrivalStage::Fed) {
                arrival.take_back(front);
                self.links.wait_for_state(index, &self.streams);
            }
        }
    }

    /// Whether every link that this peer needs before the start exists.
    pub(super) fn links_are_complete(&self) -> bool {
        let linked = |identity: Identity| {
            self.links.values().any(|link| link.is_connected() && link.identity == Some(identity))
        };
        let all_players = || {
            let mut players = (0..self.setup.config.players).map(|player| Identity::Player(PlayerId(player)));
            players.all(|identity| {
                identity == self.setup.identity || self.setup.is_absent(identity) || linked(identity)
            })
        };
        if self.setup.coordinates() || self.setup.is_mesh() {
            all_players()
        } else {
            linked(self.setup.coordinator())
        }
    }

    /// A relay knows the position of the match only from the entries of those who play.
    pub(super) fn anybody_may_return(&self) -> bool {
        !self.setup.is_relay() || self.streams.live() != 0
    }

    /// No player has got further. The first entries of returning players do not count, because this peer made them.
    pub(super) fn front(&self) -> u32 {
        let leads = |stream: &&Stream| stream.end().is_none() && !stream.is_pending();
        let only_pending = !self.streams.iter().any(|stream| leads(&stream));
        let made = self.streams.iter().filter(|stream| only_pending || !stream.is_pending());
        made.map(Stream::next).max().unwrap_or(0).max(self.gate.turn)
    }

    /// The link to the middle of the star (or whoever starts a mesh), once that has finished.
    pub(super) fn finished_middle(&self) -> Option<&Link> {
        let coordinator = Some(self.setup.coordinator());
        self.links.values().find(|link| link.progress.finished && link.identity == coordinator)
    }

    /// The horizon, if it counts: while all others play, a peer waits for their entries, and nobody can return whose end it does not know.
    /// When the middle has finished, nobody comes back any more. But a return from before may not have arrived: the horizon stops this peer there, and nowhere
    /// else before the entries that are here end, because it lies beyond all of them.
    pub(super) fn horizon(&self) -> Option<u32> {
        let horizon = self.gate.horizon?;
        let own = self.streams.author();
        let others = (0_u8..).zip(&self.streams).filter(|(player, _)| own != Some(PlayerId(*player)));
        let ended = others.clone().filter(|(_, stream)| stream.end().is_some()).count();
        let is_limited = ended > 0 && (self.finished_middle().is_none() || ended < others.count());
        is_limited.then_some(horizon)
    }

    /// Whether the next turn may begin as far as the middle of the star is concerned.
    pub(super) fn is_within_horizon(&self) -> bool {
        self.horizon().is_none_or(|horizon| self.gate.turn < horizon)
    }

    /// Players for whom the next turn waits, bit n for player n.
    pub(super) fn waits_for(&self) -> u16 {
        self.missing() | self.unconfirming()
    }

    /// Players whose entry for the next turn is missing, bit n for player n. Not the local one, if it makes its own: that entry closes in
    /// time.
    pub(super) fn missing(&self) -> u16 {
        let own = self.streams.author();
        (0_u8..).zip(&self.streams).fold(0, |missing, (player, stream)| {
            let here = stream.has(self.gate.turn) || own == Some(PlayerId(player));
            missing | (u16::from(!here) << player)
        })
    }

    /// The strict gate of the article: players who have not confirmed our own entry for the next turn, bit n for player n. Players behind
    /// the middle of a star count as its bit (behind the relay: as player 0's).
    pub(super) fn unconfirming(&self) -> u16 {
        let implied = self.gate.turn < self.setup.config.first_entry();
        let is_author = self.streams.author().is_some() && !self.player_ended();
        if self.setup.config.tempo.pace != Pace::Article || implied || !is_author {
            return 0;
        }
        let lacking = self.confirming_links().filter(|link| link.progress.confirmed <= self.gate.turn);
        lacking.fold(0, |mask, link| match link.identity {
            Some(Identity::Player(player)) => mask | (1 << player.0),
            _ => mask | 1,
        })
    }

    /// Number of entries after the last one of a finished stream.
    pub(super) fn final_next(&self) -> Option<u32> {
        self.gate.last_turn.map(|last| last.saturating_add(self.setup.config.turns_ahead).saturating_add(2))
    }

    /// How long the turn lasts in which the slowest player is, if the match cannot go on without its next entry: that entry closes when this turn is over.
    pub(super) fn slowest_turn(&self) -> Option<Duration> {
        let next = self.streams.slowest_next();
        let needed = match self.phase {
            SessionPhase::Ending => self.final_next().unwrap_or(0),
            _ if self.setup.is_relay() => u32::MAX,
            _ => self.gate.turn.saturating_add(1),
        };
        let turn =
            next.checked_sub(self.setup.config.turns_ahead.saturating_add(1)).filter(|_| next < needed);
        turn.map(|turn| self.gate.length_of(turn))
    }

    /// At a relay: how long the last turn lasts for which it has all entries.
    pub(super) fn newest_turn(&self) -> Duration {
        self.gate.complete.checked_sub(1).map_or(Duration::ZERO, |turn| self.gate.length_of(turn))
    }

    /// How long the end waits without progress. A turn that lasts is none.
    pub(super) fn ending_deadline(&self) -> Duration {
        self.setup.config.ending_deadline() + self.slowest_turn().unwrap_or_default()
    }

    /// How many of the local player's entries can still close before the last one that runs, and the last turn.
    pub(super) fn room_before_end(&self) -> Option<(u32, Turn)> {
        let last = self.gate.last_turn?;
        let next = self.streams.author().map_or(0, |own| self.streams[own.index()].next());
        Some((last.saturating_add(1).saturating_sub(next), Turn(last)))
    }

    /// Whether every entry of the match that others make is here.
    pub(super) fn has_everything(&self) -> bool {
        let own = self.setup.player().filter(|_| self.phase == SessionPhase::Running).map(PlayerId::index);
        let Some(next) = self.final_next() else { return false };
        let mut others = self.streams.iter().enumerate().filter(|(player, _)| own != Some(*player));
        others.all(|(_, stream)| stream.end().is_some() || stream.next() >= next)
    }

    /// Whether this peer plays to the end by itself: it watches, so nobody waits for it, it has every entry, and nobody can come back before the end. Or the
    /// others have finished.
    pub(super) fn needs_nobody(&self) -> bool {
        let runs = matches!(self.phase, SessionPhase::Running | SessionPhase::Ending);
        let is_known = || self.horizon().is_none_or(|horizon| self.gate.last_turn < Some(horizon));
        let has_everything =
            || self.setup.identity == Identity::Watcher && self.has_everything() && is_known();
        runs && (has_everything() || self.runs_rest())
    }

    /// The middle has finished, and this peer, which makes no entries, has turns that have yet to run. One of them may be the last, which the game alone
    /// knows ([`Session::end_match`](crate::AnySession::end_match)).
    pub(super) fn runs_rest(&self) -> bool {
        let has_next = self.turns_ready() > 0 && self.is_within_horizon();
        let is_late = self.phase == SessionPhase::Running && (self.gate.in_turn || has_next);
        is_late && self.player_ended() && !self.setup.accepts() && self.finished_middle().is_some()
    }

    /// How many times as fast as in the match time passes here. A watcher, or a player who has resigned, whose next turns are all here may have slept, and
    /// nobody waits for it: the more of them, the faster it runs them, until it is less than two seconds behind.
    pub(super) fn haste(&self, turn: Duration) -> u32 {
        if !self.player_ended() || self.setup.forwards() {
            return 1;
        }
        (self.turns_ready() / self.notice(turn)).clamp(1, HASTE_MAX)
    }

    /// Whether this peer has every entry of the match and has compared every checksum.
    pub(super) fn is_complete(&self) -> bool {
        (self.phase == SessionPhase::Ending || self.setup.is_relay()) && self.has_everything()
    }

    /// Whether the middle of the star lacks actions that have run here. While it does, it may have gone on without them.
    pub(super) fn may_be_dropped_by(&self, link: &Link) -> bool {
        let Some(player) = self.setup.player().filter(|_| !self.setup.accepts()) else { return false };
        let stream = &self.streams[player.index()];
        let needed = stream.end().map_or(self.gate.turn, |(last, _)| self.gate.turn.min(last + 1));
        link.progress.acked[player.index()] < needed
    }

    /// How long the end waits for a silent remote. A remote that has all turns lacks at most a last confirmation, and may have gone. A
    /// remote that lacks turns may be cut off and come back. The checksums that follow the last turn pass through the middle of a star, so there
    /// they count as turns do, for it and for their author.
    pub(super) fn patience(&self, link: &Link) -> Duration {
        let (Some(last), Some(all)) = (self.gate.last_turn, self.final_next()) else {
            return self.setup.config.waits.silence_timeout;
        };
        let is_middle = !self.setup.is_mesh() && link.identity == Some(self.setup.coordinator());
        let next = if self.setup.coordinates() || is_middle { all } else { last.saturating_add(1) };
        let lacks = |(player, stream): (u8, &Stream)| {
            let serves = self.setup.accepts() || self.setup.player() == Some(PlayerId(player));
            let needed = stream.end().map_or(next, |(end, _)| end.saturating_add(1).min(next));
            serves
                && link.identity != Some(Identity::Player(PlayerId(player)))
                && link.progress.acked[usize::from(player)] < needed
        };
        if (0_u8..).zip(&self.streams).any(lacks) {
            self.setup.config.waits.silence_timeout.max(self.setup.config.waits.linger)
        } else {
            self.setup.config.waits.linger
        }
    }

    /// Number of turns in [`RETURN_NOTICE`], within limits.
    pub(super) fn notice(&self, turn: Duration) -> u32 {
        let config = &self.setup.config;
        let most = (config.limits.window / 4).max(config.turns_ahead + 2);
        self.notice_of_any_window(turn).min(most)
    }

    /// The same where the window is as large as it may be. The middle of a star may have another one than this peer.
    pub(super) fn notice_of_any_window(&self, turn: Duration) -> u32 {
        let turns = RETURN_NOTICE.as_micros().div_ceil(turn.as_micros().max(1));
        u32::try_from(turns).unwrap_or(u32::MAX).max(self.setup.config.turns_ahead + 2)
    }

    /// Whether the middle of the star has turns for a player who comes back that have not arrived. While the player is away every packet says how far nobody
    /// may go: the notice beyond the newest entry, which is at most the turns ahead and one beyond the turns that are complete.
    pub(super) fn lacks_turns(&self, turn: Duration) -> bool {
        let ahead = self.setup.config.turns_ahead;
        let near =
            self.gate.turn.saturating_add(self.notice_of_any_window(turn)).saturating_add(2 * ahead + 2);
        self.setup.player().is_some() && self.gate.horizon.is_some_and(|horizon| horizon > near)
    }

    /// Number of turns, from the next one on, whose entries are all here.
    pub(super) fn turns_ready(&self) -> u32 {
        // Our own entry closes when the turn that needs it begins.
        let own = self.streams.author().map(PlayerId::index);
        let others = self.streams.iter().enumerate().filter(|(player, _)| own != Some(*player));
        let live = others.map(|(_, stream)| stream).filter(|stream| stream.end().is_none());
        // If nobody else plays, there is no other measure than the horizon; and none at all if nobody can return.
        let horizon = self.horizon().filter(|horizon| *horizon < u32::MAX);
        let next = live.map(Stream::next).min().or(horizon).unwrap_or(self.gate.turn.saturating_add(1));
        let end = self.gate.last_turn.map_or(u32::MAX, |last| last.saturating_add(1));
        next.min(end).saturating_sub(self.gate.turn).min(self.setup.config.limits.window)
    }

    /// There is no state for a joining peer.
    pub(super) fn send_away(&mut self, index: usize) {
        let link = &mut self.links[index];
        if link.lacks_state() {
            tracing::info!(peer = link.peer.0, "nobody has a state for a joining peer");
            self.end_arrival(index);
        }
    }

    /// A joining peer cannot come in any more. One that has its state would take "left" for the end of the match, because to it the match runs: it is told
    /// that the others go on without it.
    pub(super) fn end_arrival(&mut self, index: usize) {
        let link = &mut self.links[index];
        let peer = link.peer;
        let bye = if link.lacks_state() { Bye::Left } else { Bye::Dropped };
        (link.arrival, link.sender) = (None, None);
        link.phase = LinkPhase::Closed;
        link.outflow.owe_bye(bye);
        self.emit(Event::JoinFailed(peer));
    }

    pub(super) fn may_state(&self, link: &Link, author: PlayerId) -> bool {
        let Some(from) = link.identity else { return false };
        author.0 < self.setup.config.players
            && (from == Identity::Player(author) || self.setup.may_forward(from))
    }
}
