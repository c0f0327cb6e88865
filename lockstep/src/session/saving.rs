//! Saving at an agreed turn, and resuming from there.

use crate::pace::pacing::{Pace, TurnPlan};
use crate::packet::PayloadFormat;
use crate::session::AnySession;
use crate::session::config::{ConfigError, SessionConfig};
use crate::session::event::Event;
use crate::session::saved_match::{SavedMatch, SavedStream, origin_of};
use crate::session::stream::Stream;
use crate::value::bits::BitWriter;
use crate::value::codec::{self, Codec};
use crate::value::entry::{Entry, Extra, Payload};
use crate::value::ids::{PlayerId, Turn};
use crate::value::time::Duration;

/// The state of saving.
#[derive(Clone, Debug, Default)]
pub(super) struct Saving {
    /// Checksum of the state after the turn that ended last; with nothing ahead, and a driver, also of the one before the first turn.
    pub(super) checksum: u64,
    /// The save point has passed; entries that were in flight then are collected as their turns begin.
    collecting: Option<SavedMatch>,
    complete: Option<SavedMatch>,
    /// Turn of the last save point.
    last: Option<u32>,
}

/// Game time from one save point to the next. Otherwise a player that asks in every turn would keep everybody busy with writing states.
const SAVE_EVERY: Duration = Duration::from_secs(2);

impl Saving {
    /// Turn of the last save point.
    pub(super) fn last(&self) -> Option<u32> {
        self.last
    }

    /// In the middle of a running match: the checksum of its state, and its last save point. What was collected of another state is gone.
    pub(super) fn go_on(&mut self, checksum: u64, last: Option<u32>) {
        *self = Self { checksum, last, collecting: None, complete: self.complete.take() };
    }
}

impl AnySession {
    /// Whether the state before the turn that has begun is to be saved. [`crate::Driver`] checks this and calls
    /// [`crate::Simulation::save_point`]; an application without the driver must do so before it applies the turn's actions.
    #[must_use]
    pub fn turn_saves(&self) -> bool {
        let point = self.saving.collecting.as_ref().or(self.saving.complete.as_ref());
        self.common.gate.in_turn
            && point.is_some_and(|point| point.turn.checked_add(1) == Some(self.common.gate.turn))
    }

    /// Takes the saved match once it is complete, which is (turns ahead - 1) turns after its save point. A new save replaces an older one.
    pub fn take_saved(&mut self) -> Option<SavedMatch> {
        self.saving.complete.take()
    }

    /// Whether the state before this turn, the first one of all, may be saved, although no turn has ended before it: with nothing ahead.
    pub(crate) fn may_save_start(&self, turn: Turn) -> bool {
        turn == Turn(0) && self.common.setup.config.turns_ahead == 0
    }

    /// The checksum of the state before the first turn of all.
    pub(crate) fn note_start(&mut self, checksum: u64) {
        self.saving.checksum = checksum;
    }

    /// Whether there is no save at this turn, because the last one was a moment before.
    fn is_soon_after_save(&self, turn: u32) -> bool {
        // By then the former save is collected, too. A peer that has joined since knows the turn of the last save point alone.
        let config = &self.common.setup.config;
        let pause = SAVE_EVERY.as_micros() / config.turn_length().as_micros().max(1);
        let pause = pause.max(config.turns_ahead.into());
        self.saving.last.is_some_and(|last| u64::from(turn.saturating_sub(last)) < pause)
    }

    /// Whether the local player's next entry asks too soon after a save that is complete already: nothing follows.
    pub(super) fn has_just_saved(&self) -> bool {
        let own = self.common.streams.author().map(|own| &self.common.streams[own.index()]);
        self.saving.collecting.is_none() && own.is_some_and(|own| self.is_soon_after_save(own.next()))
    }

    /// Starts a save if a player asked for one at this turn, before anything of the turn takes effect.
    pub(super) fn begin_save(&mut self, turn: Turn) {
        let asks =
            |stream: &Stream| stream.get(turn.0).is_some_and(|entry| entry.extras.contains(&Extra::Save));
        let Some(player) = self.common.streams.iter().position(asks) else { return };
        if self.is_soon_after_save(turn.0) {
            return;
        }
        self.saving.last = Some(turn.0);
        let (plan, speed) = self.pace.planner.to_save();
        let stream = |(player, stream): (PlayerId, &Stream)| SavedStream {
            // A player who comes back later than this is away in the save.
            ended: stream.end_in(turn.0).filter(|(last, _)| *last < turn.0).map(|(_, reason)| reason),
            asked: self.controlled.asked[player.index()],
            entries: Vec::new(),
        };
        self.saving.collecting = Some(SavedMatch {
            settings_hash: self.common.setup.config.saved_hash(self.common.setup.action_bits),
            turn: turn.0,
            checksum: self.saving.checksum,
            origin: origin_of(self.common.setup.config.session_id),
            format: self.common.setup.format,
            paused: self.controlled.paused,
            paused_by: self.controlled.paused_by,
            speed,
            plan,
            players: self.common.streams.by_player().map(stream).collect(),
        });
        self.common.emit(Event::SavePoint { turn, player: PlayerId(player as u8) });
        if self.common.setup.config.turns_ahead == 0 {
            self.finish_save();
        }
    }

    /// The turn's entries belong to the save if they were closed when the save point passed. Nothing follows an end, even where a return after it is
    /// known already.
    pub(super) fn collect_save(&mut self, turn: Turn) {
        let Some(point) = &mut self.saving.collecting else { return };
        for (saved, stream) in point.players.iter_mut().zip(&self.common.streams) {
            let Some(entry) = stream.get(turn.0).filter(|_| !saved.is_over()) else { continue };
            let extras = entry.extras.iter().copied().filter(|extra| extra.is_kept()).collect();
            saved.entries.push(Entry { payload: entry.payload.clone(), extras });
        }
        if turn.0 + 1 >= point.turn.saturating_add(self.common.setup.config.turns_ahead) {
            self.finish_save();
        }
    }

    /// Completes the save. After the last turn nothing else can come or run.
    pub(super) fn finish_save(&mut self) {
        let Some(mut point) = self.saving.collecting.take() else { return };
        for player in &mut point.players {
            while (player.entries.len() as u32) < self.common.setup.config.turns_ahead && !player.is_over() {
                let payload = if self.common.setup.config.input_mode {
                    codec::zeros(self.common.setup.action_bits)
                } else {
                    Payload::none()
                };
                player.entries.push(Entry { payload, ..Entry::default() });
            }
        }
        let turn = Turn(point.turn);
        self.saving.complete = Some(point);
        self.common.emit(Event::Saved { turn });
    }

    /// Resumes the saved match of the settings, if there is one.
    pub(super) fn take_up(&mut self) {
        let Some(saved) = self.common.setup.config.own.resume.clone() else { return };
        self.common.gate.turn = saved.turn;
        self.common.gate.complete = saved.turn;
        let asked = saved.players.iter().map(|player| player.asked);
        self.controlled.go_on(saved.paused, saved.paused_by, asked);
        self.saving.checksum = saved.checksum;
        self.pace.planner.resume(saved.plan, saved.speed);
        self.compared.checksums.resume_at(saved.turn);
        let streams = saved.players.iter().map(|player| Stream::resumed(saved.turn, player));
        self.common.streams.replace(streams);
        if let Some(last) =
            self.common.setup.player().and_then(|player| saved.players[player.index()].entries.last())
        {
            self.local.outbox.hold(&last.payload);
        }
    }
}

/// Whether a session with these settings can resume from here: a saved file is not trusted more than a packet.
pub(super) fn check(
    saved: &SavedMatch,
    config: &SessionConfig,
    codec: &Codec,
    action_bits: u32,
    format: PayloadFormat,
) -> Result<(), ConfigError> {
    if saved.settings_hash != config.saved_hash(action_bits) || saved.format != format {
        return Err(ConfigError::OtherMatch);
    }
    if !plan_is_sound(saved.plan, config) {
        return Err(ConfigError::UnsoundSave);
    }
    let turn_exists = saved.turn <= config.turns.map_or(4_000_000_000, |turns| turns - 1);
    let everybody = saved.players.len() == usize::from(config.players);
    let paused_by_one = is_somebodys_pause(saved.paused, saved.paused_by, config);
    let actions_max = if config.input_mode { 1 } else { config.limits.actions_per_turn_max };
    let mut scratch = BitWriter::new();
    let mut is_sound = |player: &SavedStream| {
        let ends = player.entries.last().is_some_and(|entry| entry.end().is_some());
        let most = config.turns_ahead as usize;
        let count = player.entries.len();
        let complete = if ends { count <= most } else { player.ended.is_some() || count == most };
        let fixed = config.input_mode;
        let returns = player.entries.iter().skip(1).any(|entry| entry.returns().is_some());
        complete
            && !returns
            && player.entries.iter().all(|entry| {
                is_kept_entry(entry, fixed) && !codec.refuses(&entry.payload, actions_max, &mut scratch)
            })
    };
    if turn_exists && everybody && paused_by_one && saved.players.iter().all(&mut is_sound) {
        Ok(())
    } else {
        Err(ConfigError::UnsoundSave)
    }
}

/// Whether a match is paused by one of its players, or not at all. Nobody's pause would have no end.
pub(super) fn is_somebodys_pause(paused: bool, by: Option<PlayerId>, config: &SessionConfig) -> bool {
    by.map_or(!paused, |player| paused && player.0 < config.players)
}

/// Whether the pace of the settings can lead to this shape of turns. A turn without a frame would have no end.
pub(super) fn plan_is_sound(plan: TurnPlan, config: &SessionConfig) -> bool {
    let base = config.first_plan();
    let (frames, rate, pace) = (plan.frames_per_turn, plan.frames_per_second, plan.pace_millihertz);
    let measured = match config.tempo.pace {
        Pace::Fixed => false,
        Pace::Adaptive => {
            rate == base.frames_per_second
                && frames <= rate.clamp(1, 250)
                && (1_000..=base.pace_millihertz).contains(&pace)
        }
        Pace::Article => frames <= 2 * rate && pace == 1_000 * rate,
    };
    frames >= 1 && rate >= 1 && (plan == base || measured)
}

/// Whether a save may hold an entry with these extras and this end.
fn is_kept_entry(entry: &Entry, is_fixed: bool) -> bool {
    let kept = entry.extras.iter().all(|extra| extra.is_kept());
    // As in a packet: in command mode the end of a stream has no action.
    let end_is_empty = entry.end().is_none() || entry.payload.is_none() || is_fixed;
    kept && end_is_empty
}
