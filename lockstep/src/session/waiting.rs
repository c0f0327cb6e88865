//! Waiting: for whom, for how long, and which players have delayed the game so far.

use crate::pace::pacing::Pace;
use crate::session::event::Event;
use crate::session::{AnySession, players_in};
use crate::value::ids::{Identity, PLAYERS_MAX, PlayerId, Turn};
use crate::value::time::{Duration, Instant};

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
    /// as far as it is more than that of any other player. A player who owes three times the drop time is dropped.
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

/// The wait for the next turn, and all waits before it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waiting {
    /// Since when the next turn is due and cannot begin.
    pub(super) since: Option<Instant>,
    pub(super) reported: bool,
    /// Bit n: the blocked turn lacks player n.
    pub(super) missing: u16,
    pub(super) turns: [u32; PLAYERS_MAX as usize],
    pub(super) time: [Duration; PLAYERS_MAX as usize],
    /// The slowest stream's next entry: while it advances, nobody is stuck.
    pub(super) position: u32,
}

impl Waiting {
    /// The wait is over: it counts against the players who were missing at its end.
    pub(super) fn end(&mut self, now: Instant) {
        let missing = core::mem::take(&mut self.missing);
        let Some(since) = self.since.take() else { return };
        let span = now.since(since);
        for player in players_in(missing) {
            self.turns[player.index()] += 1;
            self.time[player.index()] = self.time[player.index()] + span;
        }
    }
}

impl AnySession {
    pub(super) fn waiting_notice(&mut self) {
        // A spectator waits whenever turns get longer, and that is nobody's fault.
        let watches = self.setup.player().is_none();
        let long =
            self.waiting.since.is_some_and(|at| self.now.since(at) >= self.setup.config.waiting_notice);
        let long = long && !watches;
        if !long || self.waiting.reported {
            return;
        }
        self.waiting.reported = true;
        let players = self.missing_players();
        let drop_in =
            self.setup.config.drop_after.map(|drop_after| drop_after - self.setup.config.waiting_notice);
        tracing::info!(turn = self.gate.turn, ?players, ?drop_in, "waiting");
        self.emit(Event::WaitingFor { turn: Turn(self.gate.turn), players, drop_in });
    }

    /// Players for whom the next turn waits: their entry is missing, or (strict gate) they have not confirmed ours.
    #[must_use]
    pub fn missing_players(&self) -> Vec<PlayerId> {
        players_in(self.waits_for()).collect()
    }

    /// Time until the players who are waited for are dropped. None if nobody is waited for, or if nobody is ever dropped.
    #[must_use]
    pub fn drop_in(&self) -> Option<Duration> {
        let drop_at = self.waits_since()? + self.setup.config.drop_after?;
        Some(drop_at.since(self.now))
    }

    /// What this peer knows about a player's delays.
    #[must_use]
    pub fn player_report(&self, player: PlayerId) -> PlayerReport {
        if player.0 >= self.setup.config.players {
            return PlayerReport::default();
        }
        let (network_ms, runtime_ms) = self.pace.planner.averages(player);
        let (delayed_turns, delayed) =
            (self.waiting.turns[player.index()], self.waiting.time[player.index()]);
        let slack_tenths = self.pace.alignment.slack_of(player);
        let too_slow = u32::from(runtime_ms) * self.setup.config.frames_per_second > 1_000;
        let blame = match (too_slow, delayed_turns) {
            (true, _) => Some(Blame::Processor),
            (false, 0) => None,
            (false, _) => Some(Blame::Network),
        };
        let links = self.links.values().filter(|link| link.identity == Some(Identity::Player(player)));
        let looked_first_permille = links.map(|link| link.looked_first.permille()).max().unwrap_or(0);
        let owed = self.owed_by(player);
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

    /// Notes how long a frame took, drawing included. The slowest frame of a turn counts for the runtime average.
    pub fn note_frame_time(&mut self, span: Duration) {
        self.pace.meter.frame_took(span);
    }

    /// Players for whom the next turn waits, bit n for player n.
    pub(super) fn waits_for(&self) -> u16 {
        self.missing() | self.unconfirming()
    }

    /// Players whose entry for the next turn is missing, bit n for player n. Not the local one, if it makes its own: that entry closes in
    /// time.
    pub(super) fn missing(&self) -> u16 {
        let own = self.author();
        (0_u8..).zip(&self.streams).fold(0, |missing, (player, stream)| {
            let here = stream.has(self.gate.turn) || own == Some(PlayerId(player));
            missing | (u16::from(!here) << player)
        })
    }

    /// How long the match has waited for the next turn; zero if it does not wait.
    pub(super) fn waited(&self) -> Duration {
        self.waits_since().map_or(Duration::ZERO, |since| self.now.since(since))
    }

    /// From when on the match waits for the next turn, perhaps not yet. A relay sees that somebody is a turn behind as soon as the first player
    /// begins a turn, and that player waits when the turn is over.
    pub(super) fn waits_since(&self) -> Option<Instant> {
        let turn = if self.setup.is_relay() { self.pace.planner.turn() } else { Duration::ZERO };
        self.waiting.since.map(|since| since + turn)
    }

    /// The strict gate of the article: players who have not confirmed our own entry for the next turn, bit n for player n. Players behind
    /// the middle of a star count as its bit (behind the relay: as player 0's).
    pub(super) fn unconfirming(&self) -> u16 {
        let implied = self.gate.turn < self.setup.config.first_entry();
        let is_author = self.author().is_some() && !self.player_ended();
        if self.setup.config.pace != Pace::Article || implied || !is_author {
            return 0;
        }
        let lacking = self.confirming_links().filter(|link| link.confirmed <= self.gate.turn);
        lacking.fold(0, |mask, link| match link.identity {
            Some(Identity::Player(player)) => mask | (1 << player.0),
            _ => mask | 1,
        })
    }

    pub(super) fn note_missing(&mut self) {
        self.waiting.missing = self.waits_for();
    }
}
