//! Commands of the application: what the local player wants, and what only the application knows.

use crate::session::AnySession;
use crate::session::SessionPhase;
use crate::session::controls::{self, ControlError};
use crate::session::lobby::StartPhase;
use crate::session::outbox::SubmitError;
use crate::session::stream::Stream;
use crate::session::votes::{VoteError, may_vote};
use crate::value::entry::EndReason;
use crate::value::entry::SPEED_PERCENT_MAX;
use crate::value::entry::SPEED_PERCENT_MIN;
use crate::value::ids::Identity;
use crate::value::ids::PeerId;
use crate::value::ids::PlayerId;
use crate::value::ids::PlayerSet;
use crate::value::time::Duration;

/// What plays on for a player who resigns ([`Session::resign`](crate::AnySession::resign)).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Successor {
    /// What [`SessionConfig::bots_take_over`](crate::SessionConfig::bots_take_over) says for players who leave or are dropped.
    #[default]
    AsConfigured,
    /// Nobody: the player has lost, and cannot come back.
    Nobody,
    /// A bot, whatever the settings say.
    Bot,
}

impl AnySession {
    /// Votes a player out, or takes the vote back. When more than half of the other players in the match vote against a player, and at least two, the
    /// player is dropped, as after a silence, and cannot come back while they do. In a mesh it takes more than half of all players in the match, the one
    /// voted against among them, and where nobody is dropped nobody votes; when members have acted on a vote it stands. The vote travels with the next
    /// entry, and every peer is told of it by [`Event::Vote`](crate::Event::Vote). In a star the middle counts, and a host who plays cannot be voted out:
    /// leave the match instead.
    ///
    /// # Errors
    /// Why the vote does not count, as [`AnySession::may_vote_out`] says.
    pub fn vote_out(&mut self, player: PlayerId, out: bool) -> Result<(), VoteError> {
        self.may_vote_out(player)?;
        self.ballots.vote(player, out);
        Ok(())
    }

    /// Whether a vote against this player would count now.
    ///
    /// # Errors
    /// Why not: see [`VoteError`].
    pub fn may_vote_out(&self, player: PlayerId) -> Result<(), VoteError> {
        may_vote(&self.common, player)
    }

    /// Whom the local player votes out.
    #[must_use]
    pub fn votes_out(&self) -> PlayerSet {
        PlayerSet::from_bits(self.ballots.own)
    }

    /// Asks for a pause, or for its end, with the next entry. The simulation of every peer pauses from the same turn on
    /// ([`Event::Paused`](crate::Event::Paused)). Turns go on, and actions are accepted and applied. If [`Controls::Majority`](crate::Controls::Majority)
    /// decides, this is the player's vote. Whoever asks for what is on its way already ([`Session::pause_asked`](crate::AnySession::pause_asked)) asks once.
    /// In the lobby: [`Session::save`](crate::AnySession::save) says when it is forgotten.
    ///
    /// # Errors
    /// The match goes on as before: the player may not ask, or has used up [`SessionConfig::pauses_max()`](crate::SessionConfig::pauses_max) or
    /// [`SessionConfig::pause_max()`](crate::SessionConfig::pause_max).
    pub fn pause(&mut self, paused: bool) -> Result<(), ControlError> {
        if self.local.ending.is_some() {
            return Err(ControlError::NotPlaying);
        }
        if self.pause_asked() == Some(paused) {
            return Ok(());
        }
        self.controlled.may_pause(&self.common, paused)?;
        self.local.pause = Some(paused);
        Ok(())
    }

    /// What the local player has asked for with [`Session::pause`](crate::AnySession::pause) in the turns that have yet to run: true for a pause, false for
    /// its end. A button that pauses and goes on does the opposite of this, or if there is none, of
    /// [`Session::is_paused`](crate::AnySession::is_paused).
    #[must_use]
    pub fn pause_asked(&self) -> Option<bool> {
        self.local.pause.or_else(|| controls::pause_on_its_way(&self.common))
    }

    /// Asks for another speed with the next entry, percent of real time, 10..=250. Frames of every peer pass faster or slower
    /// from the same turn on ([`Event::Speed`](crate::Event::Speed)). The simulation's step stays the same, and so does the course of the game. If
    /// [`Controls::Majority`](crate::Controls::Majority) decides, this is the player's vote. In the lobby: [`Session::save`](crate::AnySession::save) says when
    /// it is forgotten.
    ///
    /// # Errors
    /// The speed stays: it is out of range, the player may not ask, or has used up
    /// [`SessionConfig::speed_changes_max()`](crate::SessionConfig::speed_changes_max).
    pub fn set_speed(&mut self, percent: u8) -> Result<(), ControlError> {
        if self.local.ending.is_some() {
            return Err(ControlError::NotPlaying);
        }
        if !(SPEED_PERCENT_MIN..=SPEED_PERCENT_MAX).contains(&percent) {
            return Err(ControlError::OutOfRange { min: SPEED_PERCENT_MIN, max: SPEED_PERCENT_MAX });
        }
        self.controlled.may_set_speed(&self.common)?;
        self.local.speed = Some(percent);
        Ok(())
    }

    /// Whether the local player may submit an action now, for the match and the phase; its queue may be full all the same.
    ///
    /// # Errors
    /// Why not: see [`SubmitError`].
    pub fn may_submit(&self) -> Result<(), SubmitError> {
        let is_on = matches!(self.common.phase, SessionPhase::Lobby | SessionPhase::Running);
        let playing = self.common.setup.player().filter(|_| is_on);
        let stream = playing.map(|player| &self.common.streams[player.index()]);
        // The middle makes the entries before the own ones of a player who comes back. What is queued meanwhile would wait in front of all that follows.
        let makes_next = |stream: &Stream| {
            stream.next() <= self.common.gate.turn.saturating_add(self.common.config().turns_ahead)
        };
        let plays = stream.is_some_and(|stream| stream.end().is_none() && makes_next(stream));
        if !plays || self.local.ending.is_some() || self.common.streams.author().is_none() {
            return Err(SubmitError::NotPlaying);
        }
        // The smallest action there is.
        self.local.outbox.check_end(1, self.common.room_before_end())
    }

    /// Number of the local player's actions that wait for their turn.
    #[must_use]
    pub fn queued_actions(&self) -> u32 {
        self.local.outbox.len()
    }

    /// Asks for a save with the next entry: every peer saves the state before the same turn. A request within two seconds of game time after that turn
    /// joins that save. Returns whether [`Event::Saved`](crate::Event::Saved) follows: not on a peer that does not play, where the match ends before, or
    /// within these two seconds once that save is complete. What is asked for before a peer knows that the match runs already is forgotten, and no event
    /// says so; the same holds for [`Session::pause`](crate::AnySession::pause) and [`Session::set_speed`](crate::AnySession::set_speed).
    pub fn save(&mut self) -> bool {
        let is_on = matches!(self.common.phase, SessionPhase::Lobby | SessionPhase::Running);
        let plays = is_on && self.common.streams.author().is_some() && !self.common.player_ended();
        let has_room = self.common.room_before_end().is_none_or(|(entries, _)| entries > 0);
        self.local.save = plays && has_room && self.local.ending.is_none() && !self.has_just_saved();
        self.local.save
    }

    /// The local player gives no more actions from the next entry on. This peer goes on as a watcher, and forwards packets if it is the host. Waiting actions
    /// are cancelled; returns their number, which [`Event::Cancelled`](crate::Event::Cancelled) tells, too (not in input mode). Before the start, the player's
    /// first entry is its last one. A session that comes back after a lost connection knows nothing of it: it resigns again.
    ///
    /// | The player | call | then |
    /// |---|---|---|
    /// | gives up and watches | `resign(Successor::AsConfigured)` | a bot, if [`bots_take_over`](crate::SessionConfig::bots_take_over) says so |
    /// | has lost, and watches | `resign(Successor::Nobody)` | its side is out ([`crate::Simulation::player_surrendered`]) |
    /// | lets a bot play, and watches | `resign(Successor::Bot)` | a bot plays on ([`crate::Simulation::player_taken_over`]) |
    /// | goes away | [`Session::leave`](crate::AnySession::leave), after one of the above or alone | the session ends |
    pub fn resign(&mut self, successor: Successor) -> u32 {
        self.end_own_stream(match successor {
            Successor::AsConfigured => EndReason::Left,
            Successor::Nobody => EndReason::Surrendered,
            Successor::Bot => EndReason::HandedOver,
        })
    }

    fn end_own_stream(&mut self, reason: EndReason) -> u32 {
        let cancelled = self.local.outbox.cancel();
        // Not every caller has the returned number: those of other languages get events alone.
        self.tell_cancelled(cancelled);
        let has_yet_to_begin = self.common.phase == SessionPhase::Lobby && !self.common.player_ended();
        if has_yet_to_begin || self.transfers.joiner.is_active() {
            // The first entry, of the match or after the return, is the last one, too. The first word counts, as it does while the match runs.
            self.local.ending.get_or_insert(reason);
        } else if self.common.phase == SessionPhase::Running && !self.common.player_ended() {
            self.local.ending.get_or_insert(reason);
            self.close_entry(false);
        }
        cancelled
    }

    /// Leaves in good order: like [`Session::resign`](crate::AnySession::resign), and the session is over as soon as the others have the last entry. If the
    /// host leaves, the match ends for all. After the last turn it ends as without this call, because others may still need this peer's entries to finish.
    /// Returns the number of cancelled actions.
    pub fn leave(&mut self) -> u32 {
        let cancelled = self.resign(Successor::AsConfigured);
        self.local.leaving.get_or_insert(self.common.now);
        let plays = self.common.streams.author().is_some();
        match self.common.phase {
            SessionPhase::Running if plays => {}
            SessionPhase::Ending if plays || self.common.setup.forwards() => self.check_finished(),
            _ => self.depart(),
        }
        cancelled
    }

    /// Drops a player at once, for any reason that the application has. Everybody goes on without the player from the same turn on, as
    /// after a silence. Before the start the place is free again, and shows nothing. Only the middle of a star can do this. Returns whether it was done.
    ///
    /// A guest with a join code takes a kick for a bad line and comes back. To remove such a player for good: `SealedHost::remove`, or behind a relay
    /// [`Removal::ask`](crate::service::removal::Removal::ask) of whoever has opened the room.
    pub fn kick(&mut self, player: PlayerId) -> bool {
        let others = self.common.streams.live() & !self.common.own();
        let can = self.common.setup.forwards() && player.0 < self.common.setup.config.players;
        if !can || others & (1 << player.0) == 0 {
            return false;
        }
        match self.common.phase {
            SessionPhase::Lobby => self.free_place(player),
            SessionPhase::Running => {
                self.end_streams(1 << player.0);
                true
            }
            _ => false,
        }
    }

    /// Before the start: whether the local player wants to begin. True at first. The match begins when all players are here and ready; from
    /// then on this has no effect.
    pub fn set_ready(&mut self, is_ready: bool) {
        self.lobby.is_ready = is_ready;
    }

    /// Before the start: whether this player wants to begin, as far as this peer knows. In a star the others know it from the middle.
    #[must_use]
    pub fn is_ready(&self, player: PlayerId) -> bool {
        let identity = Identity::Player(player);
        let link =
            self.common.links.values().find(|link| link.is_connected() && link.identity == Some(identity));
        if identity == self.common.setup.identity {
            self.lobby.is_ready
        } else {
            link.is_some_and(|link| link.lobby.ready) || self.is_told_ready(player)
        }
    }

    /// Before the start, on the coordinator: the match begins up to `period` later than it could, when what the players send in their first
    /// frame is expected here `phase` after a multiple of `period` of this session's time. With the length of a frame as `period`, the middle
    /// of many matches spreads their packets with it; they stay where they are while the players' clocks keep pace with this peer's.
    pub fn set_start_phase(&mut self, period: Duration, phase: Duration) {
        self.lobby.start_phase = Some(StartPhase { period, phase });
    }

    /// From now on this link is that of this identity, which the transport has proved: for example by a secret that opens one place, on a
    /// sealed connection. A hello with another identity on this link is refused ([`Event::Forged`](crate::Event::Forged), [`crate::Stats::hellos_forged`]). The
    /// transport should close such a connection.
    ///
    /// Without a binding a peer is who it claims to be. With [`crate::SessionConfig::bound_peers_only()`] it is refused. Memory is kept for
    /// each bound link until [`Session::unbind`](crate::AnySession::unbind).
    pub fn bind(&mut self, peer: PeerId, identity: Identity) {
        self.common.links.bound.insert(peer, identity);
    }

    /// Forgets whose link it is. A link that was already made goes on.
    pub fn unbind(&mut self, peer: PeerId) {
        self.common.links.bound.swap_remove(&peer);
    }

    /// The identity that a link is bound to.
    #[must_use]
    pub fn bound(&self, peer: PeerId) -> Option<Identity> {
        self.common.links.bound.get(&peer).copied()
    }

    /// The simulation finds that the match is decided, at the end of the turn that has begun; `value` is the result. [`crate::Driver`]
    /// calls this with [`crate::Simulation::result`] before [`Session::end_turn`](crate::AnySession::end_turn). Only the first call counts.
    pub fn report_result(&mut self, value: u32) {
        self.results.report(&self.common, value);
    }

    /// Ends the match with the turn that has begun (or with the next one to begin). All peers must call this in the same turn; it is meant
    /// for a simulation that finds that the game is decided.
    pub fn end_match(&mut self) {
        let turn = if self.common.gate.in_turn { self.common.gate.turn - 1 } else { self.common.gate.turn };
        if self.common.phase == SessionPhase::Running
            && self.common.gate.last_turn.is_none_or(|last| last > turn)
        {
            self.common.gate.last_turn = Some(turn);
            self.compared.checksums.set_last_turn(turn);
        }
    }
}
