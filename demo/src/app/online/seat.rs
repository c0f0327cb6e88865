//! One process's part of a match over a network, step by step. Nothing here waits; the caller decides what to do between two steps.

mod attendance;
mod evidence;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) mod hosting;
mod leaving;
mod lineup;
mod removing;
mod saving;
mod slowness;
mod span;
pub(crate) mod start;
mod told;
mod votes;

use std::collections::VecDeque;

use testudo_lockstep::service::guest::Guest;
use testudo_lockstep::simnet::SimNetStats;
use testudo_lockstep::{
    ControlError, Driver, Duration, Failure, Identity, Instant, PeerId, PlayerId, Session, SessionPhase,
    Simulation as _, SubmitError, Turn,
};

use crate::app::error::{Fate, InvitationError, MatchError};
use crate::app::online::agreement::Agreement;
use crate::app::online::codes::Codes;
use crate::app::online::name::Name;
use crate::app::online::news::News;
use crate::app::online::profile::{called, name};
use crate::app::online::seat::attendance::Attendance;
use crate::app::online::seat::evidence::Evidence;
use crate::app::online::seat::lineup::Shown;
use crate::app::online::seat::saving::Saving;
use crate::app::online::seat::span::Span;
use crate::app::online::wire::{Dialer, Wire};
use crate::app::terms::Terms;
use crate::app::watch::game_copy::{Fault, GameCopy};
use crate::app::watch::pilot::{Pilot, play_bot};
use crate::app::watch::recording::{Kept, ReplayFile};
use crate::app::watch::telemetry::{Sample, Telemetry};
use testudo_battle::{Order, Teams};
use testudo_render::clock::Clock;

/// Time that a host waits for its guests.
const LOBBY: Duration = Duration::from_secs(300);

/// Number of turns whose checksums are kept until the others' arrive.
const CHECKSUMS_MAX: usize = 256;

/// Turns from one save to the next: 10 s with turns of 200 ms, longer with longer ones; and the first one.
const SAVE_EVERY: u32 = 50;
const SAVE_FIRST: u32 = 9;

/// Longest pause between two rounds: somebody may have typed a command.
const PAUSE: Duration = Duration::from_millis(20);

/// The options of a seat.
#[derive(Clone, Debug, Default)]
pub(crate) struct SeatOptions {
    pub(crate) pilot: Pilot,
    pub(crate) replay: ReplayFile,
    /// A bit to flip in its own copy.
    pub(crate) fault: Option<Fault>,
    pub(crate) name: Name,
    /// Where a page is that takes the others' codes.
    pub(crate) page: Option<String>,
    /// Of a host: the teams with which the lobby begins.
    pub(crate) teams: Teams,
}

/// A copy of the match, its session and its way to the others.
pub(crate) struct Seat {
    terms: Terms,
    agreement: Agreement,
    place: Identity,
    pilot: Pilot,
    clock: Clock,
    wire: Wire,
    driver: Driver<GameCopy>,
    /// The middle of the star, unless it is here.
    middle: Option<PeerId>,
    /// The middle is a relay.
    is_relayed: bool,
    evidence: Evidence,
    news: VecDeque<News>,
    /// Up to this frame it is known what ran.
    told_frame: u32,
    /// Turns played, and this copy's checksum then.
    checksums: VecDeque<(u32, u64)>,
    telemetry: Telemetry,
    /// What the others need to come; none of a guest.
    codes: Option<Codes>,
    shown: Shown,
    /// Why this guest is not taken back, and what has become of the match.
    refused: Option<(String, Fate)>,
    attendance: Attendance,
    saving: Saving,
    span: Span,
}

/// A match may be left at any time; its recording is complete up to then.
impl Drop for Seat {
    fn drop(&mut self) {
        // A full disk cost the rest of the replay when it was full; nobody is here any more to be told.
        self.finish_recording();
    }
}

impl Seat {
    /// Does everything that is due: packets both ways, frames, events. Returns how long the frames took.
    ///
    /// # Errors
    /// The socket broke, or the replay could not be written.
    pub(crate) fn step(&mut self) -> Result<Duration, MatchError> {
        self.pump()?;
        let begun = self.clock.now();
        self.advance();
        let simulated = self.clock.now().since(begun);
        self.pump()?;
        let now = self.clock.now();
        self.take_events();
        self.tell_new_codes();
        self.take_messages(now);
        self.watch_wait(now);
        self.watch_pace(now);
        self.telemetry.observe(now, SimNetStats::default(), core::slice::from_ref(&self.driver));
        self.note_end();
        if self.is_over() {
            self.finish_recording();
        }
        Ok(simulated)
    }

    /// After a round: for how long its frames, and everything else, kept this machine at work.
    pub(crate) fn note_work(&mut self, simulated: Duration, other: Duration) {
        self.driver.note_work(simulated, other);
    }

    /// Ends the replay. The last turns of a player whom the others dropped may have run nowhere else.
    fn finish_recording(&mut self) {
        let is_dropped = self.is_dropped();
        let copy = self.driver.simulation_mut();
        if is_dropped { copy.cut_recording() } else { copy.finish_recording() }
    }

    fn is_dropped(&self) -> bool {
        self.session().phase() == SessionPhase::Failed(Failure::Dropped)
    }

    /// Simulates the frames that are due, at most four.
    fn advance(&mut self) {
        let (saves, mut first) = (self.asks_for_saves(), self.first_order());
        let Self { place, pilot, news, checksums, .. } = self;
        self.driver.advance_with(self.clock.now(), |turn, copy, session| {
            news.push_back(News::Turn(turn.0));
            if checksums.len() == CHECKSUMS_MAX {
                checksums.pop_front();
            }
            checksums.push_back((turn.0, copy.game().checksum()));
            if let Some(order) = first.take_if(|_| turn == Turn(0)) {
                let submitted = session.submit(&order);
                debug_assert!(submitted.is_ok(), "{submitted:?}");
            }
            if saves && turn.0 % SAVE_EVERY == SAVE_FIRST {
                session.save();
            }
            if let (Some(level), Identity::Player(player)) = (pilot.level(), *place) {
                play_bot(level, copy, player, turn, session);
            }
        });
        let frames = self.told_frame..self.driver.frame().0;
        if frames.is_empty() {
            return;
        }
        self.told_frame = frames.end;
        let trouble = self.driver.simulation_mut().take_trouble();
        self.news.extend(trouble.map(News::DiskTrouble));
        for action in self.driver.simulation().actions_in(frames) {
            if let Some(order) = action.order {
                self.news.push_back(News::Ran { turn: action.turn, player: action.player, order });
            }
        }
    }

    /// Whether this seat asks everybody to save: the middle of the star; at a relay, which has no copy, the first player who is there.
    fn asks_for_saves(&self) -> bool {
        let Identity::Player(own) = self.place else { return false };
        let mut others = (0..own.0).map(PlayerId).filter(|player| self.attendance.is_here(*player));
        self.middle.is_none() || (self.is_relayed && others.next().is_none())
    }

    /// Gives a person's orders, all or none: they are on their way at once and run a few turns later, everywhere. Says in which turn they were given.
    ///
    /// # Errors
    /// None of them runs: the queue has no room for all, or the match is over or has not begun.
    pub(crate) fn order(&mut self, orders: &[Order]) -> Result<Turn, SubmitError> {
        let session = self.driver.session_mut();
        // Before the start nothing leaves the queue, and the teams need a place in it.
        if session.phase() == SessionPhase::Lobby {
            return Err(SubmitError::NotPlaying);
        }
        session.submit_all(orders)?;
        Ok(session.next_turn())
    }

    /// Leaves in good order: a few steps later the session is over.
    pub(crate) fn leave(&mut self) {
        self.wire.leave();
        self.driver.session_mut().leave();
    }

    /// Whether everybody's battle stands, or will because this player has asked for it.
    pub(crate) fn wants_pause(&self) -> bool {
        self.session().pause_asked().unwrap_or(self.session().is_paused())
    }

    /// Asks for a pause, or for its end: everybody's battle stands from the same turn on. Before it does, the request can be taken back.
    ///
    /// # Errors
    /// This player may not pause, or no longer.
    pub(crate) fn toggle_pause(&mut self) -> Result<(), ControlError> {
        let wants_pause = self.wants_pause();
        self.driver.session_mut().pause(!wants_pause)
    }

    /// Hands the player to a person or to a bot.
    pub(crate) fn set_pilot(&mut self, pilot: Pilot) {
        self.pilot = pilot;
    }

    /// Who plays.
    pub(crate) fn pilot(&self) -> Pilot {
        self.pilot
    }

    /// The setup of the match.
    pub(crate) fn terms(&self) -> &Terms {
        &self.terms
    }

    /// The player of this seat; the first one if it only watches.
    pub(crate) fn player(&self) -> PlayerId {
        match self.place {
            Identity::Player(player) => player,
            Identity::Watcher | Identity::Relay => PlayerId(0),
        }
    }

    /// Whether this seat only watches.
    pub(crate) fn is_watching(&self) -> bool {
        self.place == Identity::Watcher
    }

    /// What the others need to come; none of a guest.
    pub(crate) fn codes(&self) -> Option<&Codes> {
        self.codes.as_ref()
    }

    /// A player's name; none if it is unknown or empty.
    pub(crate) fn name(&self, player: PlayerId) -> Option<String> {
        name(self.session(), player)
    }

    /// How a window calls a player: by the name, or the number.
    pub(crate) fn shown_as(&self, player: PlayerId) -> String {
        self.name(player).unwrap_or_else(|| format!("player {}", player.0 + 1))
    }

    /// How a player is called on a terminal.
    pub(crate) fn called(&self, player: PlayerId) -> String {
        called(self.session(), player)
    }

    /// Before the start: whether this player wants to begin, as all do at first.
    pub(crate) fn set_ready(&mut self, is_ready: bool) {
        self.driver.session_mut().set_ready(is_ready);
    }

    /// Whether the connection to the middle of the star is broken and is made again.
    pub(crate) fn is_cut_off(&self) -> bool {
        self.wire.is_cut_off()
    }

    /// The player who hosts; behind a relay, the player who has opened the room.
    pub(crate) fn host_player(&self) -> PlayerId {
        if self.is_relayed { PlayerId(0) } else { self.agreement.host }
    }

    /// Whether the others are connected to this seat.
    pub(crate) fn is_host(&self) -> bool {
        self.middle.is_none()
    }

    /// Time for which this host still waits for guests. How long a relay waits, it does not tell.
    pub(crate) fn patience(&self) -> Option<Duration> {
        self.is_host().then(|| LOBBY - self.clock.elapsed())
    }

    /// This process's copy.
    pub(crate) fn driver(&self) -> &Driver<GameCopy> {
        &self.driver
    }

    /// This peer's copy.
    pub(crate) fn copy(&self) -> &GameCopy {
        self.driver.simulation()
    }

    /// The replay up to now, which is ended by that.
    pub(crate) fn take_replay(&mut self) -> Option<Kept> {
        self.finish_recording();
        self.driver.simulation_mut().take_replay()
    }

    /// Whether all packets pass through a relay.
    pub(crate) fn is_relayed(&self) -> bool {
        self.is_relayed
    }

    /// What all members have agreed on.
    pub(crate) fn agreement(&self) -> Agreement {
        self.agreement
    }

    /// The protocol.
    pub(crate) fn session(&self) -> &Session<Order> {
        self.driver.session()
    }

    /// Frames simulated.
    pub(crate) fn frame(&self) -> u32 {
        self.driver.frame().0
    }

    /// The time, as the driver knows it.
    pub(crate) fn now(&self) -> Instant {
        self.clock.now()
    }

    /// How far the picture is between the last two frames: 0..=65,536.
    pub(crate) fn alpha(&self) -> u32 {
        self.driver.alpha_at(self.clock.now())
    }

    /// Measurements of the last while, oldest first.
    pub(crate) fn samples(&self) -> impl DoubleEndedIterator<Item = &Sample> {
        self.telemetry.samples()
    }

    /// Turns whose checksums all players have exchanged, and this copy's then. None while a state that has arrived is not loaded yet: the
    /// session stands after it already, the game still before.
    pub(crate) fn compared(&self) -> (u32, Option<u64>) {
        let session = self.session();
        let turns = session.compared_turns();
        let kept =
            || self.checksums.iter().find(|(played, _)| *played == turns).map(|(_, checksum)| *checksum);
        let stands_there = !session.is_joining() && session.next_turn() == Turn(turns);
        (turns, if stands_there { Some(self.copy().game().checksum()) } else { kept() })
    }

    /// The number of the match.
    pub(crate) fn session_id(&self) -> u64 {
        self.session().config().session_id
    }

    /// Whether there was a match to be lost from.
    pub(crate) fn has_played(&self) -> bool {
        self.span.has_begun()
    }

    /// The other side does not take this guest back.
    pub(crate) fn note_refusal(&mut self, error: &InvitationError) {
        self.refused = Some((error.to_string(), error.fate()));
    }

    /// Why the session has ended before its time.
    pub(crate) fn failure(&self) -> Option<MatchError> {
        if let Some((why, _)) = &self.refused {
            return Some(MatchError::Invitation(InvitationError::Lost { why: why.clone() }));
        }
        if let Some(error) = self.wire.error() {
            return Some(MatchError::Invitation(error));
        }
        let session = self.driver.session();
        let error = MatchError::of_state(session.phase(), session.next_turn().0)?;
        Some(if self.is_relayed { error.by_relay() } else { error })
    }

    /// The session has ended because somebody left or was lost, but the battle had been decided before: nothing is missing.
    pub(crate) fn is_settled(&self) -> bool {
        let is_alone = matches!(
            self.failure(),
            Some(
                MatchError::RoomClosed { .. }
                    | MatchError::Failed { failure: Failure::PeerLeft(_) | Failure::ConnectionLost(_), .. }
            )
        );
        is_alone && self.copy().game().result().is_some()
    }

    /// The session has ended, one way or another.
    pub(crate) fn is_over(&self) -> bool {
        // The guest of a seat without a wire has asked for another one.
        let has_failed = self.wire.error().is_some() || matches!(self.wire, Wire::None);
        self.driver.session().is_over() || has_failed
    }

    /// Events since the last call.
    pub(crate) fn poll_news(&mut self) -> Option<News> {
        self.news.pop_front()
    }

    /// Waits until something is due, or a packet has come. Nobody waits for a watcher, who reads many packets at once.
    pub(crate) fn wait(&self) {
        let now = self.clock.now();
        let due = self.driver.poll_timeout().map_or(PAUSE, |at| at.since(now).min(PAUSE));
        if self.is_watching() {
            std::thread::sleep(std::time::Duration::from_micros(due.as_micros()));
        } else {
            self.wire.wait(due);
        }
    }

    fn pump(&mut self) -> Result<(), MatchError> {
        let now = self.clock.now();
        self.wire.round(self.driver.session_mut(), now)
    }

    /// A guest that asks for its place again: the others went on without it.
    pub(super) fn take_calling_guest(&mut self) -> Option<Box<Guest<Dialer>>> {
        if !self.wire.is_calling() {
            return None;
        }
        match core::mem::replace(&mut self.wire, Wire::None) {
            Wire::Guest(guest) => Some(guest),
            other => {
                self.wire = other;
                None
            }
        }
    }
}
