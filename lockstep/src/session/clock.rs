//! The session's time: the last time that was passed in, and the next deadline.

use crate::session::outflow::GAP_MIN;
use crate::session::{AnySession, SessionPhase};
use crate::value::time::{Duration, Instant};

/// If a call comes this long after a deadline, the caller was suspended: many times the longest frame.
pub(super) const CLOCK_JUMP: Duration = Duration::from_secs(2);

/// So many jumps in a row are not counted against the others. After that it is no machine that was suspended, but a program whose rounds are
/// this slow, and without a limit everybody would wait for its players for ever.
const JUMPS_MAX: u8 = 3;

/// Jumps of the clock.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Jumps {
    /// Those in a row.
    count: u8,
    /// Time that has passed without a jump since the last one.
    awake: Duration,
}

impl Jumps {
    /// Time passes, or jumps. Whether the jump is excused.
    fn pass(&mut self, span: Duration, is_jump: bool) -> bool {
        if is_jump {
            (self.count, self.awake) = (self.count.saturating_add(1), Duration::ZERO);
            return self.count <= JUMPS_MAX;
        }
        self.awake = self.awake + span;
        if self.awake >= CLOCK_JUMP {
            self.count = 0;
        }
        false
    }
}

impl AnySession {
    /// When [`Session::handle_timeout`](crate::AnySession::handle_timeout) or [`Session::poll_transmit`](crate::AnySession::poll_transmit) has something to do,
    /// unless a packet arrives before.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let mut at = self.common.links.values().filter_map(|link| self.link_due_at(link)).min();
        if !self.lobby.replies.is_empty() {
            at = Some(self.common.now);
        }
        let of_states = self.transfers.due_at(&self.common, &self.delayed);
        at = [at, of_states, self.messages_due_at(), self.delayed.due_at(&self.common)]
            .into_iter()
            .flatten()
            .min();
        // Overdue deadlines have been handled as far as possible; the next packet or tick tries again.
        let mut consider = |candidate: Instant| {
            if candidate > self.common.now {
                at = Some(at.map_or(candidate, |at| at.min(candidate)));
            }
        };
        if let Some(at) = self.transfers.joiner.deadline(&self.common, self.pace.planner.turn()) {
            consider(at);
        }
        match self.common.phase {
            SessionPhase::Lobby => {
                if let Some(at) = self.lobby.start_at.or(self.lobby_deadline()) {
                    consider(at);
                }
                for link in self.common.links.values().filter(|link| link.is_connected()) {
                    consider(link.last_heard + self.lobby_patience());
                }
            }
            SessionPhase::Running | SessionPhase::Ending => {
                let is_complete = self.common.is_complete();
                for link in self.common.links.values().filter(|link| self.common.is_awaited(link)) {
                    let silence = if is_complete {
                        self.common.patience(link)
                    } else {
                        self.common.setup.config.waits.silence_timeout
                    };
                    consider(link.last_heard + silence);
                }
                if let Some(since) = self.ending.since {
                    consider(since + self.common.ending_deadline());
                }
                if let Some(since) = self.waiting.since {
                    self.waiting.notice_at(&self.common, since).into_iter().for_each(&mut consider);
                }
                let drop_after = self.common.setup.config.waits.drop_after;
                if let (Some(since), Some(drop_after)) = (self.waiting.waits_since(&self.common), drop_after)
                {
                    consider(since + drop_after);
                }
            }
            SessionPhase::Finished | SessionPhase::Left | SessionPhase::Failed(_) => {}
        }
        at.map(|at| at.max(self.common.now))
    }

    /// Takes the current time. A jump of the clock (the machine was suspended) is not counted against the others: it shifts their
    /// deadlines, unless jump follows jump.
    pub(super) fn pass_to(&mut self, now: Instant) {
        let jump = now.since(self.common.now);
        // A caller that sleeps until the next deadline wakes up in time.
        let overslept = || self.poll_timeout().is_some_and(|due| now.since(due) > CLOCK_JUMP);
        let is_jump = jump > CLOCK_JUMP && overslept();
        if self.common.jumps.pass(jump, is_jump) {
            for link in self.common.links.values_mut() {
                link.shift(jump, now);
            }
            self.waiting.since = self.waiting.since.map(|since| (since + jump).min(now));
            self.waiting.position_since = (self.waiting.position_since + jump).min(now);
            self.ending.since = self.ending.since.map(|since| (since + jump).min(now));
            self.lobby.since = (self.lobby.since + jump).min(now);
            self.local.leaving = self.local.leaving.map(|since| (since + jump).min(now));
            self.transfers.joiner.shift(jump, now);
        }
        self.common.now = self.common.now.max(now);
    }

    /// Time between two packets to a peer if there is nothing new.
    pub(super) fn tick(&self) -> Duration {
        match self.common.phase {
            SessionPhase::Lobby => Duration::from_millis(50),
            // A frame that closes an entry sends it, and the tick then has nothing to do. That holds for frames that alignment makes longer, by up to
            // a 32nd, and for those that an application runs a little late.
            _ => {
                let frame = self.common.setup.config.frame_length();
                let tick = frame + Duration::from_micros(frame.as_micros() / 16 + 1);
                // A relay serves many matches, whoever has chosen their frames; what makes a turn complete goes at once in any case.
                if self.common.setup.is_relay() { tick.max(GAP_MIN) } else { tick }
            }
        }
    }
}
