//! The middle of a star lets peers join a running match: it finds a state for them, keeps the entries that follow, and brings players back.

use crate::packet::{Bye, Hello, Refusal};
use crate::session::event::Event;
use crate::session::link::{Link, LinkPhase};
use crate::session::sender::Sender;
use crate::session::source::Source;
use crate::session::stream::Stream;
use crate::session::transfer::{ASK_AGAIN_AFTER, Round};
use crate::session::{AnySession, SessionPhase};
use crate::value::codec;
use crate::value::entry::{EndReason, Entry, Payload};
use crate::value::ids::{Identity, PeerId, PlayerId};
use crate::value::time::{Duration, Instant};

/// Number of entries of one stream that are kept for a peer that is catching up.
pub(super) const GUEST_WINDOW: u32 = 4_096;

/// Number of states that one guest may refuse.
const REFUSALS_MAX: u8 = 4;

/// A player is asked for its state only if it was heard within this time.
const HEARD_WITHIN: Duration = Duration::from_secs(1);

/// A peer that joins a running match, as the middle of the star sees it.
#[derive(Clone, Debug)]
pub(crate) struct Guest {
    since: Instant,
    pub(super) stage: GuestStage,
    /// Sources whose state it has refused, bit n for player n.
    refused: u16,
    refusals: u8,
    /// Only a state before this turn or a later one is of use: with an older one, acknowledgements that it sent before it refused a state
    /// would look like acknowledgements of the new one.
    not_before: u32,
    /// The state that it gets or got: the turn before which it was taken, and its source.
    given: Option<(u32, PlayerId)>,
    /// When it had the state.
    fed: Option<Instant>,
}

/// The stage of a guest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum GuestStage {
    /// Waits for a state.
    Waiting,
    /// Gets a state.
    Fed,
    /// Has the state, and gets the turns after it.
    CatchingUp,
}

impl Guest {
    fn new(now: Instant) -> Self {
        Self {
            since: now,
            stage: GuestStage::Waiting,
            refused: 0,
            refusals: 0,
            not_before: 0,
            given: None,
            fed: None,
        }
    }
}

impl Link {
    /// Whether the remote cannot use entries yet.
    pub(crate) fn lacks_state(&self) -> bool {
        self.guest.as_ref().is_some_and(|guest| guest.stage != GuestStage::CatchingUp)
    }
}

impl AnySession {
    // ---- the handshake

    /// Why a peer may not join the running match; none if it may.
    pub(super) fn judge_guest(&self, peer: PeerId, hello: &Hello) -> Option<Refusal> {
        let config = &self.setup.config;
        let is_open = self.phase == SessionPhase::Running && self.local.leaving.is_none();
        if !is_open || !self.setup.forwards() || config.state_bytes_max == 0 {
            return Some(Refusal::Running);
        }
        match hello.identity {
            Identity::Player(player) => {
                let (Some(seat), Some(stream)) =
                    (self.transfers.seats.get(player.index()), self.streams.get(player.index()))
                else {
                    return Some(Refusal::Taken);
                };
                let reason = stream.end().map(|(_, reason)| reason);
                if hello.identity == self.setup.identity || reason == Some(EndReason::Surrendered) {
                    return Some(Refusal::Taken);
                }
                if !self.anybody_may_return() {
                    return Some(Refusal::Running);
                }
                if self.is_voted_out(player) {
                    return Some(Refusal::VotedOut);
                }
                if let Some(refusal) = self.must_wait(player) {
                    return Some(refusal);
                }
                let is_owner = hello.seat != 0 && hello.seat == seat.secret;
                let away = seat.empty_since.filter(|_| reason.is_some()).map(|since| self.now.since(since));
                let is_free = config.late_joins.is_some_and(|after| away.is_some_and(|away| away >= after));
                let in_use = self.links.values().any(|link| {
                    link.peer != peer && link.is_connected() && link.identity == Some(hello.identity)
                });
                match (is_owner, is_free && !in_use) {
                    (true, _) | (_, true) => None,
                    (false, false) => Some(if away.is_some() { Refusal::Taken } else { Refusal::Running }),
                }
            }
            Identity::Spectator if config.late_watchers => {
                let watch = |link: &&Link| link.is_connected() && link.identity == Some(Identity::Spectator);
                let count = self.links.values().filter(watch).count() as u64;
                (count >= u64::from(config.spectators_max)).then_some(Refusal::Taken)
            }
            _ => Some(Refusal::Running),
        }
    }

    /// A player shows the secret of its place before the others have noticed that it was gone: ends its former connection.
    pub(super) fn end_former_self(&mut self, identity: Identity) {
        if let Identity::Player(player) = identity
            && self.phase == SessionPhase::Running
            && self.streams[player.index()].end().is_none()
        {
            self.end_streams(1 << player.0);
        }
    }

    /// A peer is let in: it gets a state first, and the entries that follow are kept for it.
    pub(super) fn guest_comes(&mut self, index: usize) {
        if self.phase == SessionPhase::Running && self.links[index].guest.is_none() {
            tracing::debug!(peer = self.links[index].peer.0, "a guest waits for a state");
            self.links[index].guest = Some(Box::new(Guest::new(self.now)));
            self.guest_waits(index);
        }
    }

    // ---- messages of guests

    /// A guest waits for a state (again).
    pub(super) fn guest_waits(&mut self, index: usize) {
        let link = &mut self.links[index];
        if let Some(guest) = &mut link.guest {
            guest.stage = GuestStage::Waiting;
        }
        link.sender = None;
        for (ack, stream) in link.acked.iter_mut().zip(&self.streams) {
            *ack = stream.oldest();
        }
    }

    /// A guest reports that the state is not valid.
    pub(super) fn guest_refuses(&mut self, index: usize, turn: u32) {
        let front = self.front();
        let Some(guest) = &mut self.links[index].guest else { return };
        if let Some((_, source)) = guest.given.take_if(|(given, _)| *given == turn) {
            guest.refused |= 1 << source.0;
            guest.refusals += 1;
            guest.not_before = front.saturating_add(1);
            if self.is_delayed(&self.links[index]) {
                self.delayed.forget_state();
            }
            self.guest_waits(index);
        }
    }

    /// Whether a guest that acknowledges entries has its state; then it counts as a spectator that is behind.
    pub(super) fn guest_has_state(&mut self, index: usize, acks: &[u32]) -> bool {
        let link = &mut self.links[index];
        let Some(guest) = &mut link.guest else { return true };
        let turn = guest.given.map_or(u32::MAX, |(turn, _)| turn);
        let has = |(ack, stream): (&u32, &Stream)| {
            *ack >= stream.ended_before(turn).map_or(turn, |(last, _)| last.saturating_add(1))
        };
        if guest.stage == GuestStage::Fed && acks.iter().zip(&self.streams).all(has) {
            tracing::debug!(peer = link.peer.0, turn, "a guest has the state");
            guest.stage = GuestStage::CatchingUp;
            guest.fed = Some(self.now);
            link.sender = None;
            (link.carried, link.author_from) = Default::default();
            // Of its own stream it lacks the entries that were made for it.
            if let Some(Identity::Player(player)) = link.identity {
                let stream = &self.streams[player.index()];
                link.author_from = stream.end().map_or(0, |(last, _)| last.saturating_add(1));
            }
        }
        guest.stage == GuestStage::CatchingUp
    }

    /// A guest has run every turn that it has: a player is brought back.
    pub(super) fn guest_is_here(&mut self, index: usize) {
        let link = &self.links[index];
        if let (Some(guest), Some(Identity::Player(player))) = (&link.guest, link.identity)
            && guest.stage == GuestStage::CatchingUp
            && self.phase == SessionPhase::Running
        {
            self.bring_back(index, player);
        }
    }

    // ---- time

    /// Finds states for waiting guests, and ends what takes too long.
    pub(super) fn serve_guests(&mut self) {
        for index in 0..self.links.len() {
            self.check_guest(index);
        }
        let guests = || self.links.values().filter_map(|link| Some((link, link.guest.as_deref()?)));
        if !guests().any(|(link, _)| link.lacks_state()) {
            self.thank_source();
            (self.transfers.blob, self.transfers.failed) = (None, 0);
            self.transfers.round = Round::First;
            self.keep_state_for_watchers();
            return;
        }
        self.keep_state_for_watchers();
        self.feed_guests();
        self.feed_watchers();
        let guests = || self.links.values().filter_map(|link| Some((link, link.guest.as_deref()?)));
        let is_fed = guests().any(|(link, guest)| guest.stage == GuestStage::Fed && !self.is_delayed(link));
        let waiting = guests().filter(|(link, _)| self.wants_new_state(link));
        let waiting = waiting.map(|(link, guest)| (self.is_delayed(link), guest.refused, guest.not_before));
        let waiting = waiting.min_by_key(|(is_delayed, _, _)| *is_delayed);
        let Some((is_delayed, refused, not_before)) = waiting.filter(|_| !is_fed) else { return };
        // A delayed watcher gets nothing of a state that is still on its way.
        let comes = self.transfers.source.is_some() && (self.transfers.blob.is_none() || is_delayed);
        if !comes {
            (self.transfers.blob, self.transfers.source) = (None, None);
            self.choose_source(refused, not_before);
        }
    }

    fn check_guest(&mut self, index: usize) {
        // A relay runs until all others have finished; after the last turn nobody has a state to give.
        let live = self.streams.iter().filter(|stream| stream.end().is_none());
        let has_last = |end: u32| live.map(Stream::next).min().is_some_and(|next| next > end);
        let ends = self.setup.is_relay() && self.gate.last_turn.is_some_and(has_last);
        let running = self.phase == SessionPhase::Running && !ends;
        let limit = self.setup.config.join_timeout;
        let window = self.setup.config.window / 2;
        let link = &self.links[index];
        let Some(guest) = link.guest.as_deref() else { return };
        let limit = if self.is_delayed(link) { limit + self.setup.config.watch_delay } else { limit };
        let mut streams = link.acked.iter().zip(&self.streams);
        let is_near = guest.stage == GuestStage::CatchingUp
            && streams.all(|(ack, stream)| self.near_end(link, stream.next()).saturating_sub(*ack) < window);
        let is_late = self.now.since(guest.since) >= limit;
        // The players' signatures show later whether the state was right; then a watcher still refuses it.
        let may_refuse = guest.fed.is_none_or(|fed| self.now.since(fed) < self.setup.config.join_timeout);
        let (stage, refusals, peer) = (guest.stage, guest.refusals, link.peer);
        let link = &mut self.links[index];
        if !link.is_connected() {
            (link.guest, link.sender) = (None, None);
        } else if refusals > REFUSALS_MAX
            || (is_late && !is_near)
            || (!running && stage != GuestStage::CatchingUp)
        {
            tracing::info!(peer = peer.0, ?stage, refusals, is_late, "a guest is given up");
            (link.guest, link.sender) = (None, None);
            link.phase = LinkPhase::Closed;
            link.owe_bye(Bye::Left);
            self.emit(Event::GuestGone(peer));
        } else if is_near && !may_refuse && link.identity == Some(Identity::Spectator) {
            link.guest = None;
        }
    }

    /// Sends the state that is here, or in transfer, to all guests that can use it.
    fn feed_guests(&mut self) {
        let state = self.transfers.blob.as_ref().map(|blob| (blob.turn(), blob.manifest().source));
        self.feed(state, false);
    }

    /// Sends the state that is old enough to all delayed watchers.
    fn feed_watchers(&mut self) {
        let state = self.delayed.state().filter(|_| self.may_show_state());
        self.feed(state.map(|blob| (blob.turn(), blob.manifest().source)), true);
    }

    fn feed(&mut self, state: Option<(u32, PlayerId)>, delayed: bool) {
        let Some((turn, source)) = state else { return };
        if !self.streams.iter().all(|stream| stream.serves(turn)) {
            return;
        }
        for index in 0..self.links.len() {
            if self.is_delayed(&self.links[index]) != delayed {
                continue;
            }
            let link = &mut self.links[index];
            let Some(guest) = link.guest.as_mut().filter(|guest| guest.stage == GuestStage::Waiting) else {
                continue;
            };
            if guest.refused & (1 << source.0) != 0 || turn < guest.not_before {
                continue;
            }
            tracing::debug!(peer = link.peer.0, turn, source = source.0, "a guest gets a state");
            guest.stage = GuestStage::Fed;
            guest.given = Some((turn, source));
            link.sender = Some(Box::new(Sender::new(self.setup.config.state_rate, self.now)));
            for (ack, stream) in link.acked.iter_mut().zip(&self.streams) {
                *ack = stream.first_after(turn);
            }
        }
    }

    /// Asks for a state before this turn or a later one: the middle itself if it plays, else a player with spare time.
    fn choose_source(&mut self, refused: u16, not_before: u32) {
        let tried = self.transfers.failed | refused;
        if let Some(own) = self.setup.player().filter(|own| tried & (1 << own.0) == 0) {
            self.transfers.source = Some(Source::new(own, None, not_before, self.front(), self.now));
            self.want_own_state(not_before);
            return;
        }
        let can = |link: &&Link| {
            let fresh = self.now.since(link.last_heard) < HEARD_WITHIN;
            fresh && self.may_be_source(link)
        };
        let player = |link: &Link| match link.identity {
            Some(Identity::Player(player)) if tried & (1 << player.0) == 0 => {
                let is_slow = self.transfers.slow & (1 << player.0) != 0;
                Some((is_slow, !self.plays(link), player, link.peer))
            }
            _ => None,
        };
        // The others' checksums say nothing about a state if nobody else plays, so whoever plays comes first.
        let has_time = |(is_slow, watches, player, _): &(bool, bool, PlayerId, PeerId)| {
            (*is_slow, *watches, self.pace.planner.averages(*player).1, self.lateness.of(*player), player.0)
        };
        let choice = self.links.values().filter(can).filter_map(player).min_by_key(has_time);
        let Some((_, _, player, peer)) = choice else {
            let nobody = |link: &Link| {
                let asked = |player: PlayerId| tried & (1 << player.0) != 0;
                matches!(link.identity, Some(Identity::Player(player)) if self.may_be_source(link) && !asked(player))
            };
            // A player that is silent now may still answer; otherwise there is none.
            if !self.links.values().any(nobody) {
                self.ask_again();
            }
            return;
        };
        // Entries that are forgotten here cannot follow the state. Those of a player who has just gone count, too.
        let oldest = self.streams.iter().map(Stream::oldest).max();
        let not_before = oldest.unwrap_or_default().max(not_before);
        tracing::debug!(player = player.0, not_before, "is asked for a state");
        self.transfers.source = Some(Source::new(player, Some(peer), not_before, self.front(), self.now));
    }

    /// Nobody has given a state: everybody is asked once more, because some give theirs last.
    fn ask_again(&mut self) {
        match self.transfers.round {
            Round::First if self.transfers.failed != 0 => {
                self.transfers.round = Round::Pause(self.now + ASK_AGAIN_AFTER);
            }
            Round::Pause(until) if self.now < until => {}
            Round::Pause(_) => (self.transfers.round, self.transfers.failed) = (Round::Second, 0),
            Round::First | Round::Second => self.dismiss_waiting(),
        }
    }

    /// Whether the remote has the state of the match: it is a player, even one who only watches now, and has not just come itself.
    pub(super) fn may_be_source(&self, link: &Link) -> bool {
        link.is_connected() && link.is_player() && link.guest.is_none() && !link.finished
    }

    /// No source has a state for the waiting guests.
    fn dismiss_waiting(&mut self) {
        for index in 0..self.links.len() {
            let wants = self.wants_new_state(&self.links[index]);
            let link = &mut self.links[index];
            if wants {
                tracing::info!(peer = link.peer.0, "nobody has a state for a guest");
                link.guest = None;
                link.phase = LinkPhase::Closed;
                link.owe_bye(Bye::Left);
                let peer = link.peer;
                self.emit(Event::GuestGone(peer));
            }
        }
        (self.transfers.round, self.transfers.failed) = (Round::First, 0);
    }

    // ---- the return

    /// Continues a player's stream in a turn that nobody has begun. Peers that have not confirmed that they know of it get no later turn.
    fn bring_back(&mut self, index: usize, player: PlayerId) {
        let stream = &self.streams[player.index()];
        let Some((last, _)) = stream.end() else { return };
        // Delayed watchers hear of it in their own time: the end, then the return.
        let knows =
            |link: &&Link| link.lacks_state() || self.is_delayed(link) || link.acked[player.index()] > last;
        let everybody_knows = self.links.values().filter(|link| link.is_connected()).all(|link| knows(&link));
        if !everybody_knows || !self.anybody_may_return() {
            return;
        }
        let (ahead, first) = (self.setup.config.turns_ahead, self.extend_horizon());
        if self.gate.last_turn.is_some_and(|end| first.saturating_add(2 * ahead + 2) > end) {
            return;
        }
        tracing::info!(player = player.0, turn = first, "comes back");
        self.ballots.forget(player);
        self.go_on_stream(player, first, self.links[index].connection);
        self.streams[player.index()].source = None;
        let link = &mut self.links[index];
        link.guest = None;
        link.author_from = first.saturating_add(1);
        for link in self.links.values_mut() {
            link.mark_urgent();
        }
    }

    /// Continues a stream that had ended, here and on every link that knew its end.
    pub(super) fn go_on_stream(&mut self, player: PlayerId, first: u32, connection: u16) {
        let payload =
            if self.setup.config.input_mode { codec::zeros(self.setup.action_bits) } else { Payload::none() };
        let filler = Entry { payload, ..Entry::default() };
        let made = self.setup.config.turns_ahead.max(1);
        let stream = &mut self.streams[player.index()];
        let Some((last, _)) = stream.end() else { return };
        stream.go_on(first, made, connection, &filler);
        for link in self.links.values_mut() {
            let ack = &mut link.acked[player.index()];
            if *ack > last {
                *ack = (*ack).max(first);
            }
        }
    }
}
