//! The turn gate: when a turn begins, what runs in it, and what closes at its end.

use crate::session::checksum::fold_checksum;
use crate::session::controls;
use crate::session::event::Event;
use crate::session::gate::TurnStatus;
use crate::session::signing::Parts;
use crate::session::signing::Signing;
use crate::session::waiting::Told;
use crate::session::{AnySession, SessionPhase};
use crate::value::entry::Payload;
use crate::value::entry::{EndReason, Extra, SPEED_PERCENT_USUAL};
use crate::value::ids::{PlayerId, Turn};
use crate::value::time::Instant;

/// What has ended by itself when a turn began.
struct Passed {
    /// Whether somebody is left who may pause the match and set its speed.
    is_led: bool,
    /// Whose pause is over.
    pause_of: Option<PlayerId>,
    /// In whose name the speed is the usual one again.
    speed_of: Option<PlayerId>,
}

impl AnySession {
    /// Whether the next turn can begin.
    #[must_use]
    pub fn turn_status(&self) -> TurnStatus {
        match self.common.phase {
            SessionPhase::Lobby => TurnStatus::Waiting,
            SessionPhase::Running if self.is_joining() => TurnStatus::Waiting,
            SessionPhase::Running if self.local.leaving.is_some() && self.common.player_ended() => {
                TurnStatus::Over
            }
            SessionPhase::Running if self.common.gate.in_turn || self.common.setup.is_relay() => {
                TurnStatus::Waiting
            }
            SessionPhase::Running if self.common.waits_for() == 0 && self.common.is_within_horizon() => {
                TurnStatus::Ready(Turn(self.common.gate.turn))
            }
            SessionPhase::Running => TurnStatus::Waiting,
            SessionPhase::Ending | SessionPhase::Finished | SessionPhase::Left | SessionPhase::Failed(_) => {
                TurnStatus::Over
            }
        }
    }

    /// Number of turns, from the next one on, whose entries are all here.
    #[must_use]
    pub fn turns_ready(&self) -> u32 {
        self.common.turns_ready()
    }

    /// Begins the next turn if it is ready. The local player's entry for the turn `turns_ahead` later closes now; submit actions before
    /// this call to include them.
    #[must_use]
    pub fn begin_turn(&mut self, now: Instant) -> TurnStatus {
        self.pass_to(now);
        let status = self.turn_status();
        if let TurnStatus::Ready(turn) = status {
            if self.waiting.has_told() {
                self.common.emit(Event::WaitingOver { turn });
            }
            if self.common.setup.config.tempo.aligns {
                self.pace.alignment.turn_begins(turn.0, self.waiting.since.unwrap_or(self.common.now));
            }
            let waited = self.waiting.waited(&self.common);
            self.pace.meter.turn_begins(waited, self.common.now);
            self.waiting.end(self.common.now);
            self.waiting.told = Told::default();
            self.common.gate.turn += 1;
            self.common.gate.in_turn = true;
            self.common.stats.turns_begun += 1;
            // The middle of the star makes the first entries after a return.
            let is_made = |player: PlayerId| {
                self.common.streams[player.index()].next()
                    > turn.0.saturating_add(self.common.setup.config.turns_ahead)
            };
            let is_made = self.common.streams.author().is_some_and(is_made);
            self.begin_state(turn);
            // Before the turn is signed: with no turns ahead this is the turn's own entry.
            if !is_made {
                self.close_entry(false);
            }
            self.state_turn(turn);
            self.apply_extras(turn);
        } else if self.common.phase == SessionPhase::Running
            && status == TurnStatus::Waiting
            && !self.common.gate.in_turn
            && !self.is_joining()
        {
            self.waiting.since.get_or_insert(self.common.now);
            self.waiting.missing = self.common.waits_for();
        }
        status
    }

    /// The order of players in the turn that has begun: by number, or rotated if the settings say so.
    pub fn turn_order(&self) -> impl Iterator<Item = PlayerId> + use<> {
        self.order_in(self.common.gate.turn.wrapping_sub(1))
    }

    /// The order of players in a turn.
    pub(crate) fn order_in(&self, turn: u32) -> impl Iterator<Item = PlayerId> + use<> {
        let config = self.common.config();
        let players = config.players;
        let first = if config.rotate_players { (turn % u32::from(players)) as u8 } else { 0 };
        (0..players).map(move |place| PlayerId((first + place) % players))
    }

    /// A player's encoded actions in the turn that has begun.
    pub(super) fn payload_of(&self, player: PlayerId) -> Option<&Payload> {
        self.entry_actions(player, self.common.gate.turn.wrapping_sub(1))
    }

    /// Players who give no more actions from the turn that has begun on, with the reason.
    pub fn turn_gone(&self) -> impl Iterator<Item = (PlayerId, EndReason)> + '_ {
        let turn = self.common.gate.turn.wrapping_sub(1);
        let gone = move |(player, stream): (u8, &crate::session::stream::Stream)| {
            stream
                .end_in(turn)
                .filter(|(last, _)| *last == turn)
                .map(|(_, reason)| (PlayerId(player), reason))
        };
        (0_u8..).zip(&self.common.streams).filter_map(gone)
    }

    /// Players who are back from the turn that has begun on.
    pub fn turn_returned(&self) -> impl Iterator<Item = PlayerId> + '_ {
        let turn = self.common.gate.turn.wrapping_sub(1);
        let is_back = move |stream: &crate::session::stream::Stream| {
            stream.get(turn).is_some_and(|entry| entry.returns().is_some())
        };
        let streams = (0_u8..).map(PlayerId).zip(&self.common.streams);
        streams.filter(move |(_, stream)| is_back(stream)).map(|(player, _)| player)
    }

    /// Whether the game plays for this player in the turn that has begun.
    #[must_use]
    pub fn is_taken_over(&self, player: PlayerId) -> bool {
        let turn = self.common.gate.turn.wrapping_sub(1);
        let end = self.common.streams.get(player.index()).and_then(|stream| stream.end_in(turn));
        end.is_some_and(|(_, reason)| self.common.setup.config.is_played_on(reason))
    }

    /// A player gives no more actions from this turn on. If nobody is left in the player's team, the team is out.
    fn note_gone(&mut self, player: PlayerId, reason: EndReason, turn: Turn) {
        self.common.emit(Event::PlayerGone { player, reason, turn });
        if self.common.setup.config.is_played_on(reason) {
            self.common.emit(Event::TakenOver { player, turn });
            return;
        }
        // In player order: if several leave in the same turn, the last one takes the team out.
        let is_out = |member: PlayerId| {
            self.common.streams[member.index()].end_in(turn.0).is_some_and(|(last, reason)| {
                (last < turn.0 || (last == turn.0 && member <= player))
                    && !self.common.setup.config.is_played_on(reason)
            })
        };
        let team = self.common.setup.config.team_of(player);
        let mut players = (0..self.common.setup.config.players).map(PlayerId);
        if players.all(|member| self.common.setup.config.team_of(member) != team || is_out(member)) {
            self.common.emit(Event::TeamOut { team, turn });
        }
    }

    /// Ends the turn that has begun. `checksum` is the hash of the state after the turn's last frame.
    pub fn end_turn(&mut self, now: Instant, checksum: u64) {
        self.pass_to(now);
        let Some(turn) = self.common.gate.turn.checked_sub(1).filter(|_| self.common.gate.in_turn) else {
            return;
        };
        self.common.gate.in_turn = false;
        if !self.controlled.paused {
            self.common.gate.frames =
                self.common.gate.frames.wrapping_add(self.pace.planner.plan().frames_per_turn);
        }
        self.pace.meter.turn_ended();
        self.common.gate.ended_checksum = None;
        if self.compared.checksums.covers(turn) {
            let folded = fold_checksum(checksum);
            let header = self.header(turn.saturating_add(1), None);
            let mark = header.mark(self.common.config(), &mut self.buffers.recoded);
            self.common.gate.ended_checksum = Some(folded ^ mark);
            self.compared.checksums.note_own(turn, folded ^ mark, mark, self.common.setup.player());
            if let Some(signing) = &mut self.signing {
                signing.checksum = folded;
            }
            self.settle_checksums();
        }
        self.saving.checksum = checksum;
        if self.common.gate.last_turn == Some(turn) {
            self.finish_save();
            self.common.phase = SessionPhase::Ending;
            self.close_entry(true);
        }
        self.results.compare(&mut self.common);
        if self.common.phase == SessionPhase::Ending {
            self.check_finished();
        } else if self.common.phase == SessionPhase::Running {
            self.check_rest();
        }
        self.forget_old();
    }

    /// Applies the extras of the entries of the turn that begins, in player order.
    fn apply_extras(&mut self, turn: Turn) {
        let plan = self.pace.planner.plan();
        self.begin_save(turn);
        let mut passed = self.pass_controls(turn.0);
        if passed.is_led {
            self.tell_passed(turn, &passed);
        }
        for player in (0..self.common.setup.config.players).map(PlayerId) {
            let Some(entry) = self.common.streams[player.index()].get(turn.0) else { continue };
            for extra in entry.extras.clone() {
                let was_paused = self.controlled.paused;
                if matches!(extra, Extra::Pause(_) | Extra::Speed(_))
                    && !self.controlled.take(&self.common, turn.0, player, extra)
                {
                    continue;
                }
                self.pace.planner.take(player, &extra);
                match extra {
                    Extra::Checksum(_) | Extra::Save | Extra::Result(_) | Extra::Pace { .. } => {}
                    Extra::Votes(players) => self.ballots.note(&mut self.common, turn, player, players),
                    Extra::Return(_) => {
                        self.ballots.forget_told(player);
                        self.controlled.forget_wishes(player);
                        self.common.emit(Event::PlayerReturned { player, turn });
                    }
                    // This peer knows its own value better.
                    Extra::Slack(_) if self.common.setup.player() == Some(player) => {}
                    Extra::Slack(slack) => self.pace.alignment.note(player, Some(slack)),
                    Extra::End(reason) => {
                        self.pace.alignment.note(player, None);
                        self.note_gone(player, reason, turn);
                    }
                    // An order in this very turn is what counts.
                    Extra::Speed(percent) => {
                        passed.speed_of = None;
                        self.common.emit(Event::Speed { turn, player, percent });
                    }
                    Extra::Pause(paused) if paused || was_paused => {
                        passed.pause_of = None;
                        self.common.emit(Event::Paused { turn, player, paused });
                    }
                    // The end of no pause is no event.
                    Extra::Pause(_) => {}
                }
            }
        }
        // Who could have ended it has gone first.
        if !passed.is_led {
            self.tell_passed(turn, &passed);
        }
        self.collect_save(turn);
        self.pace.planner.begin_turn();
        self.common.gate.note_length(turn.0, self.pace.planner.turn());
        let new_plan = self.pace.planner.plan();
        if new_plan != plan {
            self.common.emit(Event::Plan { turn, plan: new_plan });
        }
        self.log_turn(turn);
    }

    /// A relay begins no turns. It makes the plans of the turns that have become complete from the same entries as the players.
    pub(super) fn follow_plan(&mut self, complete: u32) {
        // If nobody plays, every turn is complete.
        let complete = complete.min(self.common.front());
        for turn in self.common.gate.complete..complete {
            self.pass_controls(turn);
            for player in (0..self.common.setup.config.players).map(PlayerId) {
                let Some(entry) = self.common.streams[player.index()].get(turn) else { continue };
                for extra in entry.extras.clone() {
                    if matches!(extra, Extra::Return(_)) {
                        self.controlled.forget_wishes(player);
                    }
                    let controls = matches!(extra, Extra::Pause(_) | Extra::Speed(_));
                    if !controls || self.controlled.take(&self.common, turn, player, extra) {
                        self.pace.planner.take(player, &extra);
                    }
                }
            }
            self.pace.planner.begin_turn();
            self.common.gate.note_length(turn, self.pace.planner.turn());
        }
    }

    /// The performance log: one line per turn, with the players who set the pace.
    fn log_turn(&self, turn: Turn) {
        let plan = self.pace.planner.plan();
        let (network_by, runtime_by) = self.pace.planner.slowest();
        tracing::debug!(
            turn = turn.0,
            frames = plan.frames_per_turn,
            frames_per_second = plan.frames_per_second,
            pace_millihertz = plan.pace_millihertz,
            network_ms = self.pace.planner.averages(network_by).0,
            network_by = network_by.0,
            runtime_ms = self.pace.planner.averages(runtime_by).1,
            runtime_by = runtime_by.0,
            stalled_frames = self.common.stats.stalled_frames,
            "turn"
        );
    }

    /// A turn begins: a pause that has lasted long enough is over, and a pause and a speed that nobody is left to change.
    fn pass_controls(&mut self, turn: u32) -> Passed {
        let config = self.common.config();
        let is_led = controls::is_led(config, self.common.streams.live_in(turn));
        let pause_of = self.controlled.pass(config, self.pace.planner.turn_ns(), is_led);
        let had_speed = !is_led && self.pace.planner.end_speed();
        Passed { is_led, pause_of, speed_of: had_speed.then_some(PlayerId(config.sides.host_player)) }
    }

    fn tell_passed(&mut self, turn: Turn, passed: &Passed) {
        if let Some(player) = passed.pause_of {
            self.common.emit(Event::Paused { turn, player, paused: false });
        }
        if let Some(player) = passed.speed_of {
            self.common.emit(Event::Speed { turn, player, percent: SPEED_PERCENT_USUAL });
        }
    }

    /// Compares the results and checksums of all turns that are complete.
    pub(super) fn settle_checksums(&mut self) {
        self.results.compare(&mut self.common);
        self.compared.settle(&mut self.common, &mut self.transfers.joiner, &self.mesh);
    }

    /// A turn begins with everybody's entries: signs a statement about the match if one is due.
    fn state_turn(&mut self, turn: Turn) {
        let plan = self.pace.planner.plan();
        let Some(signing) = &mut self.signing else { return };
        if signing.begin_turn(&self.common, turn.0, plan, &mut self.buffers.recoded) {
            let agreed = self.header(turn.0, self.signing.as_deref()).agreed();
            self.with_signing(|signing, parts| signing.note_view(parts, turn.0, agreed));
        } else {
            let signed = signing.count_of(&self.common, turn.0);
            self.transfers.joiner.verify_rhythm(&self.common, turn.0, signed);
        }
    }

    /// Passes the parts that statements have to do with, if the match is signed.
    pub(super) fn with_signing(&mut self, call: impl FnOnce(&mut Signing, &mut Parts<'_>)) {
        let Some(signing) = &mut self.signing else { return };
        let mut parts = Parts {
            common: &mut self.common,
            joiner: &mut self.transfers.joiner,
            compared: &mut self.compared,
            delayed: &mut self.delayed,
            mesh: &self.mesh,
        };
        call(signing, &mut parts);
    }
}
