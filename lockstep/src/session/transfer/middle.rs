//! The role of the middle of a star: it finds a state for joining peers, and passes it on.

use crate::pace::pacing::Planner;
use crate::session::SessionPhase;
use crate::session::common::Common;
use crate::session::delayed::Delayed;
use crate::session::lateness::Lateness;
use crate::session::link::Link;
use crate::session::stream::Stream;
use crate::session::transfer::Transfers;
use crate::session::transfer::arrival::{Arrival, ArrivalStage};
use crate::session::transfer::blob::Blob;
use crate::session::transfer::horizon::Horizon;
use crate::session::transfer::player_places::PlayerPlaces;
use crate::session::transfer::sender::Sender;
use crate::session::transfer::source::{Fate, StateSource};
use crate::value::ids::{Identity, PeerId, PlayerId};
use crate::value::time::{Duration, Instant};

/// Number of states that one joining peer may refuse.
const REFUSALS_MAX: u8 = 4;

/// A player is asked for its state only if it was heard within this time.
const HEARD_WITHIN: Duration = Duration::from_secs(1);

/// The middle asks everybody again so long after nobody has given a state.
const ASK_AGAIN_AFTER: Duration = Duration::from_secs(2);

/// Whom the middle has asked for a state, and what it keeps for players who come back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Middle {
    source: Option<StateSource>,
    /// The last word to a source that has sent all that is needed.
    thanks: Option<Thanks>,
    /// Sources that sent nothing, bit n for player n.
    failed: u16,
    /// Sources that were too slow once, bit n for player n. They are asked last.
    slow: u16,
    /// How often everybody has been asked for a state that joining peers wait for.
    round: Round,
    /// How far the others may go.
    pub(in crate::session) horizon: Horizon,
    /// The secret of each place, and since when its player is away.
    pub(in crate::session) places: PlayerPlaces,
    /// Bytes of states that this peer may hold; none: no limit besides the settings'.
    pub(in crate::session) allowed: Option<u64>,
}

/// The middle asks everybody for a state twice, because some give theirs last.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Round {
    #[default]
    First,
    /// Nobody has given one; the second round begins at this time.
    Pause(Instant),
    Second,
}

/// What ends the sending of a state: nothing of it is wanted any more. It may be lost, so it is said again whenever the source still sends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thanks {
    pub(super) peer: PeerId,
    pub(super) turn: u32,
    pub(super) chunks: u32,
    is_due: bool,
}

/// What the middle knows about the players' machines, for the choice of a source.
#[derive(Clone, Copy)]
pub(crate) struct Load<'a> {
    pub(crate) planner: &'a Planner,
    pub(crate) lateness: &'a Lateness,
}

impl Middle {
    pub(super) fn source(&self) -> Option<StateSource> {
        self.source
    }

    /// Whether the middle has asked this peer for a state.
    pub(in crate::session) fn has_asked(&self, peer: PeerId) -> bool {
        self.source.is_some_and(|source| source.peer == Some(peer))
    }

    /// Whether it has asked for a state before this turn at the earliest.
    pub(in crate::session) fn has_asked_for(&self, turn: u32) -> bool {
        self.source.is_some_and(|source| source.not_before == turn)
    }

    pub(super) fn note_progress(&mut self, now: Instant) {
        if let Some(source) = &mut self.source {
            source.progress = now;
        }
    }

    pub(super) fn note_promise(&mut self, now: Instant) {
        if let Some(source) = &mut self.source {
            source.note_promise(now);
        }
    }

    /// Whether it may hold so many bytes of states.
    pub(super) fn may_hold(&self, bytes: u64) -> bool {
        self.allowed.is_none_or(|most| bytes <= most)
    }

    pub(super) fn give_source_up(&mut self) {
        if let Some(source) = self.source.take() {
            tracing::info!(player = source.player.0, "gives no state");
            self.failed |= 1 << source.player.0;
        }
    }

    /// Nothing more of the state in transfer is wanted of its source.
    fn thank_source(&mut self, blob: Option<&Blob>) {
        let peer = self.source.take().and_then(|source| source.peer);
        if let (Some(peer), Some(blob)) = (peer, blob) {
            self.thanks = Some(Thanks { peer, turn: blob.turn(), chunks: blob.chunks(), is_due: true });
        }
    }

    pub(super) fn thanks_due(&self) -> Option<Thanks> {
        self.thanks.filter(|thanks| thanks.is_due)
    }

    pub(super) fn note_thanked(&mut self) {
        self.thanks.iter_mut().for_each(|thanks| thanks.is_due = false);
    }

    /// A peer sends a chunk of this turn's state: if it may not know yet that its state is not wanted any more, it is told again. Returns
    /// whether that is so.
    pub(in crate::session) fn thank_again(&mut self, peer: PeerId, turn: u32) -> bool {
        let thanked = self.thanks.as_mut().filter(|thanks| (thanks.peer, thanks.turn) == (peer, turn));
        thanked.map(|thanks| thanks.is_due = true).is_some()
    }

    /// A player with spare time that can be asked for a state: its number and link. An error if there is none, and none may come.
    fn best_source(
        &self,
        common: &Common,
        load: Load<'_>,
        tried: u16,
    ) -> Result<Option<(PlayerId, PeerId)>, ()> {
        let can = |link: &&Link| {
            let fresh = common.now.since(link.last_heard) < HEARD_WITHIN;
            fresh && link.may_be_source()
        };
        let player = |link: &Link| match link.identity {
            Some(Identity::Player(player)) if tried & (1 << player.0) == 0 => {
                let is_slow = self.slow & (1 << player.0) != 0;
                Some((is_slow, !common.plays(link), player, link.peer))
            }
            _ => None,
        };
        // The others' checksums say nothing about a state if nobody else plays, so players come first.
        let has_time = |(is_slow, watches, player, _): &(bool, bool, PlayerId, PeerId)| {
            (*is_slow, *watches, load.planner.averages(*player).1, load.lateness.of(*player), player.0)
        };
        let choice = common.links.values().filter(can).filter_map(player).min_by_key(has_time);
        // A player that is silent now may still answer; otherwise there is none.
        let may_come = |link: &Link| {
            let was_asked = |player: PlayerId| tried & (1 << player.0) != 0;
            matches!(link.identity, Some(Identity::Player(player)) if link.may_be_source() && !was_asked(player))
        };
        match choice {
            Some((_, _, player, peer)) => Ok(Some((player, peer))),
            None if common.links.values().any(may_come) => Ok(None),
            None => Err(()),
        }
    }

    /// Nobody has given a state: everybody is asked once more, because some give theirs last. The peers that wait have been welcomed by then, so they know for
    /// what they waited.
    fn ask_again(&mut self, common: &mut Common, delayed: &Delayed) {
        match self.round {
            Round::First => self.round = Round::Pause(common.now + ASK_AGAIN_AFTER),
            Round::Pause(until) if common.now < until => {}
            Round::Pause(_) => (self.round, self.failed) = (Round::Second, 0),
            Round::Second => {
                dismiss_waiting(common, delayed);
                (self.round, self.failed) = (Round::First, 0);
            }
        }
    }
}

/// A state that has to be asked for.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    /// Only delayed watchers wait for it.
    by_delayed: bool,
    /// A player waits for it, and it may come. Watchers who get another state do not keep it waiting; a player does.
    by_player: bool,
    /// Sources whose state was refused, bit n for player n.
    refused: u16,
    /// It is of use to all who wait.
    not_before: u32,
}

impl Wanted {
    /// `failed`: sources that sent nothing, bit n for player n.
    fn of(common: &Common, delayed: &Delayed, failed: u16) -> Option<Self> {
        let waiting = || {
            let links = common.links.values().filter(|link| delayed.wants_new_state(common, link));
            links.filter_map(|link| {
                Some((common.is_delayed(link), link.is_player(), link.arrival.as_deref()?))
            })
        };
        // First those for whom there is a source: when it is the turn of the others, nobody has one, and all are sent away.
        let order = |(is_delayed, is_player, arrival): &(bool, bool, &Arrival)| {
            (!Self::may_come(common, arrival.refused | failed), *is_delayed, !*is_player)
        };
        let (by_delayed, by_player, Arrival { refused, .. }) = waiting().min_by_key(order)?;
        let alike = waiting().filter(|(is_delayed, ..)| *is_delayed == by_delayed);
        Some(Self {
            by_delayed,
            by_player: by_player && Self::may_come(common, *refused),
            refused: *refused,
            not_before: alike.map(|(.., arrival)| arrival.not_before).max().unwrap_or_default(),
        })
    }

    /// Whether there is a source whose state was not refused.
    fn may_come(common: &Common, refused: u16) -> bool {
        let is_other = |player: PlayerId| refused & (1 << player.0) == 0;
        let gives = |link: &Link| match link.identity {
            Some(Identity::Player(player)) => link.may_be_source() && is_other(player),
            _ => false,
        };
        common.setup.player().is_some_and(is_other) || common.links.values().any(gives)
    }
}

impl Transfers {
    /// Replaces a source that leaves or sends nothing.
    pub(in crate::session) fn check_source(&mut self, common: &mut Common, turn: Duration) {
        let Some(source) = self.middle.source else { return };
        let Some(peer) = source.peer else { return };
        if self.blob.as_ref().is_some_and(Blob::is_whole) {
            self.middle.thank_source(self.blob.as_ref());
            return;
        }
        match source.fate(common, peer, self.blob.as_ref(), turn, self.middle.failed) {
            Fate::GoOn => {}
            Fate::Fail => self.source_failed(common),
            Fate::TooSlow => {
                self.middle.slow |= 1 << source.player.0;
                self.source_failed(common);
            }
        }
    }

    /// Finds states for waiting joining peers, and ends what takes too long.
    pub(in crate::session) fn serve_arrivals(
        &mut self,
        common: &mut Common,
        delayed: &mut Delayed,
        load: Load<'_>,
    ) {
        for index in 0..common.links.len() {
            check_arrival(common, delayed, load.planner.turn(), index);
        }
        let is_needed = common.links.values().any(Link::lacks_state);
        if !is_needed {
            self.middle.thank_source(self.blob.as_ref());
            (self.blob, self.middle.failed) = (None, 0);
            self.middle.round = Round::First;
        }
        if delayed.keep_state(common, &mut self.blob) {
            self.middle.source = None;
        }
        if !is_needed {
            return;
        }
        feed(common, self.blob.as_ref(), false);
        feed(common, delayed.visible_state(), true);
        let Some(wanted) = Wanted::of(common, delayed, self.middle.failed) else { return };
        let is_first = |link: &Link| link.is_player() || !wanted.by_player;
        let is_fed = |link: &Link| {
            let arrival = link.arrival.as_deref().filter(|_| !common.is_delayed(link) && is_first(link));
            arrival.is_some_and(|arrival| arrival.stage == ArrivalStage::Fed)
        };
        if common.links.values().any(is_fed) {
            return;
        }
        // A delayed watcher gets nothing of a state that is still on its way. One that is whole and was not put aside is of no use.
        let is_useless = |blob: &Blob| !wanted.by_delayed || blob.is_whole();
        let comes = self.middle.source.is_some() && !self.blob.as_ref().is_some_and(is_useless);
        if !comes {
            (self.blob, self.middle.source) = (None, None);
            common.take_back_states(false);
            self.choose_source(common, delayed, load, (wanted.refused, wanted.not_before));
        }
    }

    /// Asks for a state before this turn or a later one: the middle itself if it plays, else a player with spare time.
    fn choose_source(
        &mut self,
        common: &mut Common,
        delayed: &Delayed,
        load: Load<'_>,
        (refused, not_before): (u16, u32),
    ) {
        let tried = self.middle.failed | refused;
        if let Some(own) = common.setup.player().filter(|own| tried & (1 << own.0) == 0) {
            self.middle.source = Some(StateSource::new(own, None, not_before, common));
            self.giver.want(not_before);
            return;
        }
        match self.middle.best_source(common, load, tried) {
            Ok(None) => {}
            Err(()) => self.middle.ask_again(common, delayed),
            Ok(Some((player, peer))) => {
                // Entries that are forgotten here cannot follow the state. Those of a player who has just gone count, too.
                let oldest = common.streams.iter().map(Stream::oldest).max();
                let not_before = oldest.unwrap_or_default().max(not_before);
                tracing::debug!(player = player.0, not_before, "is asked for a state");
                self.middle.source = Some(StateSource::new(player, Some(peer), not_before, common));
            }
        }
    }
}

/// Ends joining that takes too long, and forgets a joining peer that has what it needs.
fn check_arrival(common: &mut Common, delayed: &Delayed, turn: Duration, index: usize) {
    // A relay runs until all others have finished; after the last turn nobody has a state to give.
    let live = common.streams.iter().filter(|stream| stream.end().is_none());
    let has_last = |end: u32| live.map(Stream::next).min().is_some_and(|next| next > end);
    let ends = common.setup.is_relay() && common.gate.last_turn.is_some_and(has_last);
    let running = common.phase == SessionPhase::Running && !ends;
    let (config, now) = (common.config(), common.now);
    // What a peer that follows has yet to confirm is on its way, for up to a second.
    let near = (config.limits.window / 2).max(common.notice_of_any_window(turn) + config.turns_ahead);
    let link = &common.links[index];
    let Some(arrival) = link.arrival.as_deref() else { return };
    let delay = if common.is_delayed(link) { config.watchers.watch_delay } else { Duration::ZERO };
    let mut streams = link.progress.acked.iter().zip(&common.streams);
    let is_near = arrival.stage == ArrivalStage::CatchingUp
        && streams
            .all(|(ack, stream)| delayed.near_end(common, link, stream.next()).saturating_sub(*ack) < near);
    let join_time = config.join_time_at(turn);
    let is_late = now.since(arrival.since) >= join_time + delay;
    // The players' signatures show later whether the state was right; then a watcher still refuses it.
    let may_refuse = arrival.fed.is_none_or(|fed| now.since(fed) < join_time);
    let (stage, refusals, peer) = (arrival.stage, arrival.refusals, link.peer);
    let link = &mut common.links[index];
    if !link.is_connected() {
        (link.arrival, link.sender) = (None, None);
    } else if refusals > REFUSALS_MAX
        || (is_late && !is_near)
        || (!running && stage != ArrivalStage::CatchingUp)
    {
        tracing::info!(peer = peer.0, ?stage, refusals, is_late, "a joining peer is given up");
        common.end_arrival(index);
    } else if is_near && !may_refuse && link.identity == Some(Identity::Watcher) {
        link.arrival = None;
    }
}

/// Sends a state to all joining peers that can use it: to delayed watchers or to the others.
fn feed(common: &mut Common, blob: Option<&Blob>, delayed: bool) {
    let Some((turn, source)) = blob.map(|blob| (blob.turn(), blob.manifest().source)) else { return };
    if !common.streams.serve(turn) {
        return;
    }
    for index in 0..common.links.len() {
        if common.is_delayed(&common.links[index]) != delayed {
            continue;
        }
        let link = &mut common.links[index];
        let Some(arrival) = link.arrival.as_mut().filter(|arrival| arrival.can_use(turn, source)) else {
            continue;
        };
        tracing::debug!(peer = link.peer.0, turn, source = source.0, "a joining peer gets a state");
        arrival.stage = ArrivalStage::Fed;
        arrival.given = Some((turn, source));
        link.sender = Some(Box::new(Sender::new(common.setup.config.arrivals.state_rate, common.now)));
        for (ack, stream) in link.progress.acked.iter_mut().zip(&common.streams) {
            *ack = stream.first_after(turn);
        }
    }
}

/// No source has a state for the waiting joining peers.
fn dismiss_waiting(common: &mut Common, delayed: &Delayed) {
    for index in 0..common.links.len() {
        if delayed.wants_new_state(common, &common.links[index]) {
            common.send_away(index);
        }
    }
}
