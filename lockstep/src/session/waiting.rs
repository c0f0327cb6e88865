//! Waiting: for whom, for how long, and which players have delayed the game so far.

use crate::session::SessionPhase;
use crate::session::common::Common;
use crate::session::event::Event;
use crate::session::{AnySession, players_in};
use crate::value::ids::{Identity, PLAYERS_MAX, PlayerId, Turn};
use crate::value::time::{Duration, Instant};

/// If several players are missing, those from whom nothing has come for this long count.
const SILENCE: Duration = Duration::from_secs(1);

/// A peer sends a packet in each frame, more or less. After so many frames without one it is silent.
const SILENT_FRAMES: u64 = 4;

/// How much a player has delayed the game, as far as this peer knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct PlayerReport {
    /// Rolling average of the player's confirmations, milliseconds; 0 if the player never reported it.
    pub network_ms: u16,
    /// Rolling average of the player's slowest frames, milliseconds; 0 if the player never reported it.
    pub runtime_ms: u16,
    /// Number of turns that waited for this player, who was the last or among the last.
    pub delayed_turns: u32,
    /// Total time of these waits.
    pub delayed: Duration,
    /// How long the others' entries wait at the player's machine before they are needed, on average, in tenths of a millisecond; negative
    /// if the player waits. None if the player never reported it (the local player's own is not known here).
    pub slack_tenths: Option<i16>,
    /// The greater of two numbers. Time for which the others have waited, without the first part of each wait (an eighth of the drop time), less
    /// a quarter of the time in which they did not wait. All of the time for which they waited, less half of the time in which they did not,
    /// as far as it is more than that of half of the other players. A player who owes three times the drop time is dropped.
    pub owed: Duration,
    /// Parts per thousand of the player's last entries (about a hundred) that came when it already had everybody else's of the same turn,
    /// so that it could look at them first. There can be innocent reasons: the player's turns begin later. Only the middle of a star and
    /// the peers of a mesh know this.
    pub looked_first_permille: u16,
    /// Why the player delays the game; none if it does not.
    pub blame: Option<Blame>,
}

/// Why a player delays the game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Blame {
    /// The player's entries arrive late.
    Network,
    /// The player's machine needs longer for a frame than a frame lasts.
    Processor,
}

/// What the application knows of a wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Told {
    #[default]
    Nothing,
    /// Nothing comes from the middle of the star.
    CutOff,
    /// Who is late.
    Players,
}

/// The wait for the next turn, and all waits before it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waiting {
    /// Since when the next turn is due and cannot begin.
    pub(super) since: Option<Instant>,
    pub(super) told: Told,
    /// Bit n: the blocked turn lacks player n.
    pub(super) missing: u16,
    pub(super) turns: [u32; PLAYERS_MAX as usize],
    pub(super) time: [Duration; PLAYERS_MAX as usize],
    /// Until when nothing came from the middle of the star.
    silent_until: Instant,
    /// The slowest stream's next entry: while it advances, nobody is stuck.
    pub(super) position: u32,
    /// Since when it is the next one.
    pub(super) position_since: Instant,
}

impl Waiting {
    /// The wait is over: it counts against the players who were missing at its end. If nothing came from the middle, nobody knows who they were.
    pub(super) fn end(&mut self, now: Instant) {
        let missing = core::mem::take(&mut self.missing);
        let missing = if self.told == Told::CutOff { 0 } else { missing };
        let Some(since) = self.since.take() else { return };
        let span = now.since(since.max(self.silent_until));
        for player in players_in(missing) {
            self.turns[player.index()] += 1;
            self.time[player.index()] = self.time[player.index()] + span;
        }
    }

    /// Whether the application knows of this wait.
    pub(super) fn has_told(&self) -> bool {
        self.told != Told::Nothing
    }

    /// How long the match has waited for the next turn; zero if it does not wait.
    pub(super) fn waited(&self, common: &Common) -> Duration {
        self.waits_since(common).map_or(Duration::ZERO, |since| common.now.since(since))
    }

    /// From when on the match waits for the next turn, perhaps not yet. A relay sees that somebody is a turn behind as soon as the first
    /// player begins a turn, and that player waits when the turn is over.
    ///
    /// Whoever is behind makes its next entry when the turn that it is in is over. That turn may be longer than the drop time: the speed may be low, and the
    /// others may have run it and all that follow. So nobody waits before it can be over.
    pub(super) fn waits_since(&self, common: &Common) -> Option<Instant> {
        let first = if common.setup.is_relay() { common.newest_turn() } else { Duration::ZERO };
        let due = common.slowest_turn().map_or(Instant::ZERO, |turn| self.position_since + turn);
        self.since.map(|since| (since + first).max(due))
    }

    /// Time until those who are waited for are dropped, if somebody is waited for and players are dropped at all.
    fn drop_in(&self, common: &Common) -> Option<Duration> {
        let drop_at = self.waits_since(common)? + common.setup.config.waits.drop_after?;
        Some(drop_at.since(common.now))
    }

    /// The slowest stream's next entry is this one now.
    pub(super) fn note_position(&mut self, position: u32, now: Instant) {
        if position != self.position {
            (self.position, self.position_since) = (position, now);
        }
    }

    /// Players whose next entry blocks the match, bit n for player n.
    pub(super) fn blocking(&self, common: &Common) -> u16 {
        let own = common.setup.player();
        let live = || {
            let others = (0_u8..).zip(&common.streams).filter(|(player, _)| own != Some(PlayerId(*player)));
            others.filter(|(_, stream)| stream.end().is_none())
        };
        let needed = match (common.phase, common.setup.is_relay()) {
            // No player is more than the turns ahead in front of the slowest one, and all players who wait for the slowest one are exactly
            // that far ahead.
            (SessionPhase::Running, true) => {
                let slowest = common.streams.slowest_next();
                // The first entries of a returning player lie ahead, and no peer has reached them.
                let fastest = live().filter(|(_, stream)| !stream.is_pending());
                let fastest = fastest.map(|(_, stream)| stream.next()).max().unwrap_or(0);
                // After the last turn no player gets further ahead.
                let ends = common.final_next().is_some_and(|next| fastest >= next && slowest < next);
                let stands =
                    ends || fastest.saturating_sub(slowest) >= common.setup.config.turns_ahead.max(1);
                if stands { slowest.saturating_add(1) } else { 0 }
            }
            (SessionPhase::Running, false) if self.since.is_some() => common.gate.turn.saturating_add(1),
            (SessionPhase::Ending, _) => common.final_next().unwrap_or(0),
            _ => 0,
        };
        let waits = common.phase == SessionPhase::Running && self.since.is_some() && !common.gate.in_turn;
        let unconfirming = if waits { common.unconfirming() } else { 0 };
        live()
            .filter(|(player, stream)| stream.next() < needed || unconfirming & (1 << player) != 0)
            .fold(0, |mask, (player, _)| mask | (1 << player))
    }

    /// Those of the missing players who are to blame, bit n for player n.
    pub(super) fn late(&self, common: &Common) -> u16 {
        let missing = if common.setup.is_relay() { self.blocking(common) } else { common.missing() };
        match missing & !common.heard_within(SILENCE) {
            0 => missing,
            silent => silent,
        }
    }

    /// Whether anything has come from the middle of the star in the last frames, or lately since the match waits. Without the middle nobody knows
    /// who is late.
    pub(super) fn hears_middle(&self, common: &Common) -> bool {
        let hears = |since| silent_at(common, since).is_some_and(|at| common.now < at);
        !has_middle(common) || self.since.is_none_or(hears)
    }

    /// When the application has to be told of the wait, or that the middle is silent or is heard again. None if only a packet changes that.
    /// While the middle is silent, it is also time now and then to note that it still is: its silence counts against nobody.
    pub(super) fn notice_at(&self, common: &Common, since: Instant) -> Option<Instant> {
        let notice = common.setup.config.waits.waiting_notice;
        let told_players = self.told == Told::Players || common.setup.player().is_none();
        let players = (!told_players).then(|| since.max(self.silent_until) + notice);
        let may_be_cut_off = has_middle(common) && self.told != Told::CutOff;
        let silent = silent_at(common, since).filter(|_| may_be_cut_off);
        let cut_off = silent.map(|at| at.max(since + notice));
        [players, cut_off].into_iter().flatten().filter(|at| *at > common.now).min()
    }

    /// Tells the application of a wait that lasts: once, and again when the middle goes silent or is heard again.
    pub(super) fn notice(&mut self, common: &mut Common) {
        let config = &common.setup.config;
        let hears = self.hears_middle(common);
        if !hears {
            self.silent_until = common.now;
        }
        // When the middle is back, what it has to say is a moment on its way.
        let (told, from) =
            if hears { (Told::Players, self.silent_until) } else { (Told::CutOff, Instant::ZERO) };
        let is_long =
            self.since.is_some_and(|since| common.now.since(since.max(from)) >= config.waits.waiting_notice);
        if !is_long || self.told == told {
            return;
        }
        if told == Told::CutOff {
            self.told = told;
            let turn = Turn(common.gate.turn);
            tracing::info!(turn = turn.0, "nothing comes from the middle");
            common.emit(Event::CutOff { turn });
            return;
        }
        // A watcher waits whenever turns get longer, and that is nobody's fault.
        if common.setup.player().is_none() {
            return;
        }
        self.told = told;
        let players: Vec<PlayerId> = players_in(common.waits_for()).collect();
        let drop_in = self.drop_in(common);
        let turn = Turn(common.gate.turn);
        tracing::info!(turn = turn.0, ?players, ?drop_in, "waiting");
        common.emit(Event::WaitingFor { turn, players, drop_in });
    }
}

/// Whether the others' entries come from the middle of a star.
fn has_middle(common: &Common) -> bool {
    !common.setup.is_mesh() && !common.setup.accepts()
}

/// During a wait since this time: from when on the middle is silent, if nothing comes from it. None if there is no link to it.
fn silent_at(common: &Common, since: Instant) -> Option<Instant> {
    let frames = common.setup.config.frame_length().times(SILENT_FRAMES);
    let middle = common.links.values().filter(|link| link.identity == Some(common.setup.coordinator()));
    let heard = middle.map(|link| link.last_heard).max()?;
    // During a wait the middle may be silent for longer.
    Some(heard + if heard > since { SILENCE.max(frames) } else { frames })
}

impl AnySession {
    /// Players for whom the next turn waits: their entry is missing, or (strict gate) they have not confirmed ours.
    #[must_use]
    pub fn missing_players(&self) -> Vec<PlayerId> {
        players_in(self.common.waits_for()).collect()
    }

    /// Time until the players who are waited for are dropped. None if nobody is waited for, if nobody is ever dropped, or if nothing comes from the
    /// host or relay ([`Event::CutOff`]), which alone drops players.
    #[must_use]
    pub fn drop_in(&self) -> Option<Duration> {
        if !self.waiting.hears_middle(&self.common) {
            return None;
        }
        self.waiting.drop_in(&self.common)
    }

    /// What this peer knows about a player's delays.
    #[must_use]
    pub fn player_report(&self, player: PlayerId) -> PlayerReport {
        if player.0 >= self.common.setup.config.players {
            return PlayerReport::default();
        }
        let (network_ms, runtime_ms) = self.pace.planner.averages(player);
        let (delayed_turns, delayed) =
            (self.waiting.turns[player.index()], self.waiting.time[player.index()]);
        let slack_tenths = self.pace.alignment.slack_of(player);
        // Averages travel as whole milliseconds, rounded up.
        let least_ms = u32::from(runtime_ms).saturating_sub(1);
        let too_slow = least_ms * self.common.setup.config.frames_per_second >= 1_000;
        let blame = match (too_slow, delayed_turns) {
            (true, _) => Some(Blame::Processor),
            (false, 0) => None,
            (false, _) => Some(Blame::Network),
        };
        let links = self.common.links.values().filter(|link| link.identity == Some(Identity::Player(player)));
        let looked_first_permille = links.map(|link| link.looked_first.permille()).max().unwrap_or(0);
        let owed = self.lateness.owed_by(&self.common, player);
        PlayerReport {
            network_ms,
            runtime_ms,
            delayed_turns,
            delayed,
            slack_tenths,
            owed,
            looked_first_permille,
            blame,
        }
    }

    /// Notes how long a frame took. The slowest frame of a turn counts for the runtime average. [`Driver::note_work`](crate::Driver::note_work) does this,
    /// and knows which rounds count.
    pub fn note_frame_time(&mut self, span: Duration) {
        self.note_frame_of_full_speed(self.at_full_speed(span));
    }

    /// What a span is of the match at 100 % of its speed: averages travel like this, and the speed changes for all at the same turn.
    pub(crate) fn at_full_speed(&self, span: Duration) -> Duration {
        Duration::from_micros(span.as_micros().saturating_mul(self.pace.planner.speed().into()) / 100)
    }

    /// [`Session::note_frame_time`] at 100 % of the match's speed.
    pub(crate) fn note_frame_of_full_speed(&mut self, span: Duration) {
        self.pace.meter.frame_took(span);
    }
}
