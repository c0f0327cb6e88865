//! What happens beside the orders of a match: speeds, messages, watchers whose view is delayed.

use crate::drive::simulation::Simulation;
use crate::session::AnySession;
use crate::session::event::Event;
use crate::session::saved_match::SavedMatch;
use crate::simnet::virtual_match::VirtualMatch;
use crate::testing::soak::asks::Asks;
use crate::testing::soak::nodes::identity;
use crate::testing::soak::plan::Plan;
use crate::testing::soak::post::Post;
use crate::testing::soak::sight::Sight;
use crate::testing::soak::summary::EventSummary;
use crate::value::ids::{Identity, PlayerId, Turn};
use crate::value::time::{Duration, Instant};

/// Players say nothing in so many turns at the start: the relay may still be in the lobby then, where watchers hear everything.
const TALKS_AFTER: u32 = 3;

/// The harness's own account of it.
#[derive(Clone, Debug)]
pub(super) struct Besides {
    asks: Asks,
    speeds_done: usize,
    sight: Sight,
    post: Post,
    /// From this turn on players talk.
    talks_from: u32,
    save_asked: bool,
    /// By node.
    saves: Vec<(u32, SavedMatch)>,
}

impl Besides {
    /// `first` is the first turn of the match.
    pub(super) fn new(plan: &Plan, first: u32) -> Self {
        Self {
            asks: Asks::default(),
            speeds_done: 0,
            sight: Sight::new(plan.modes.watch_delay, plan.turns_ahead, first),
            post: Post::new(plan.players, plan.nodes()),
            talks_from: first + TALKS_AFTER,
            save_asked: false,
            saves: Vec::new(),
        }
    }

    /// A peer begins a turn.
    pub(super) fn turn_begins(
        &mut self,
        plan: &Plan,
        node: u32,
        turn: Turn,
        now: Instant,
        session: &mut AnySession,
    ) {
        match identity(plan, node) {
            Identity::Player(player) => {
                self.sight.player_begins(turn.0, now);
                let is_due = |every: u32| {
                    turn.0 >= self.talks_from && (turn.0 + u32::from(player.0)).is_multiple_of(every)
                };
                if plan.modes.talk_every.is_some_and(is_due) {
                    self.post.say(player.0, turn.0, session);
                }
            }
            // Where nobody plays any more there is nothing to see too early (seed 710053).
            Identity::Watcher if (0..plan.players).any(|player| session.is_here(PlayerId(player))) => {
                self.sight.watcher_begins(node, turn.0, now);
            }
            Identity::Watcher => {}
            Identity::Relay => {}
        }
    }

    /// Players ask for the speeds that are due, `since` the first turn.
    pub(super) fn ask<S: Simulation>(
        &mut self,
        plan: &Plan,
        since: Duration,
        virtual_match: &mut VirtualMatch<S>,
    ) {
        while let Some(speed) = plan.modes.speeds.get(self.speeds_done).filter(|speed| speed.at <= since) {
            self.speeds_done += 1;
            for asker in plan.modes.askers(speed.player, plan.players) {
                let session = virtual_match.drivers_mut()[usize::from(asker)].session_mut();
                if session.set_speed(speed.percent).is_ok() {
                    self.asks.accept(session.next_turn().0, asker, speed.percent);
                }
            }
        }
    }

    /// A player asks for the save, if that is due, `since` the first turn.
    pub(super) fn ask_for_save<S: Simulation>(
        &mut self,
        plan: &Plan,
        since: Duration,
        virtual_match: &mut VirtualMatch<S>,
    ) {
        if let Some((_, player)) = plan.modes.save.filter(|(at, _)| *at <= since && !self.save_asked) {
            self.save_asked = true;
            virtual_match.drivers_mut()[usize::from(player)].session_mut().save();
        }
    }

    /// A save is complete at a node.
    pub(super) fn keep_save<S: Simulation>(&mut self, node: u32, virtual_match: &mut VirtualMatch<S>) {
        self.saves.extend(virtual_match.take_saved(node as usize).map(|saved| (node, saved)));
    }

    /// The save of those who stayed. A player who was dropped may have gone on for a few turns in which the others did without it, and saved these.
    pub(super) fn saved(
        &self,
        plan: &Plan,
        stayed: impl Fn(u8) -> bool,
    ) -> Result<Option<&SavedMatch>, String> {
        let is_whole = |node: u32| node >= u32::from(plan.players) || stayed(node as u8);
        let mut saves = self.saves.iter().filter(|(node, _)| is_whole(*node));
        let Some((_, first)) = saves.next() else { return Ok(None) };
        match saves.find(|(_, other)| other.turn() == first.turn() && other != first) {
            Some((node, _)) => Err(format!("node {node} has another save before turn {}", first.turn().0)),
            None => Ok(Some(first)),
        }
    }

    /// Takes the messages that have come to a node.
    pub(super) fn listen<S: Simulation>(
        &mut self,
        plan: &Plan,
        node: u32,
        virtual_match: &mut VirtualMatch<S>,
    ) {
        let may_hear = match identity(plan, node) {
            Identity::Player(_) => true,
            // What is said may tell of what it is not to see yet.
            Identity::Watcher => plan.modes.watch_delay == Duration::ZERO,
            Identity::Relay => false,
        };
        while let Some(message) = virtual_match.poll_message(node as usize) {
            if let Identity::Player(author) = message.from {
                self.post.hear(node, author.0, &message.bytes, may_hear);
            }
        }
    }

    pub(super) fn note(&mut self, node: u32, event: &Event) {
        if let (Ok(player), Event::Undelivered { players }) = (u8::try_from(node), event) {
            self.post.undelivered(player, *players);
        }
    }

    /// What is wrong. `summary` is that of a peer that saw the whole match, and `stayed` whether a player did.
    pub(super) fn findings(
        &self,
        plan: &Plan,
        summary: &EventSummary,
        stayed: impl Fn(u8) -> bool,
    ) -> Vec<String> {
        // The rest of the match is time enough for messages on their way.
        let said = self.post.findings(plan.turns / 3, &stayed);
        self.sight
            .finding()
            .into_iter()
            .chain(self.asks.lost(plan, &summary.speeds, &stayed))
            .chain(said)
            .collect()
    }

    /// Turns that delayed watchers have seen, and messages that came.
    pub(super) fn seen_and_heard(&self) -> (u64, u64) {
        (self.sight.seen, self.post.heard())
    }
}
