//! Chronic lateness: limits how often a player may make the others wait, even if each wait is shorter than the drop time.

use crate::session::clock::CLOCK_JUMP;
use crate::session::event::Event;
use crate::session::{Session, SessionPhase, players_in};
use crate::value::action::Action;
use crate::value::ids::{Identity, PLAYERS_MAX, PlayerId, Turn};
use crate::value::time::{Duration, Instant};

/// Debt shrinks by one part in this many of the time in which nobody waits for the player.
const FORGIVING: u64 = 4;

/// Greatest debt of a player, as a multiple of the drop time.
const DEBT_MAX: u64 = 3;

/// The first part of each wait does not count, because a bad network makes everybody wait a little in every turn. One part in this many of
/// the drop time.
const FREE: u64 = 8;

/// If several players are missing, those from whom nothing has come for this long count.
const SILENCE: Duration = Duration::from_secs(1);

/// How long the others have waited for each player, less the forgiven part.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lateness {
    debt: [Duration; PLAYERS_MAX as usize],
    /// The same including the first part of each wait; this is reported.
    delay: [Duration; PLAYERS_MAX as usize],
    /// Bit n: the application knows that player n is often late.
    told: u16,
    checked: Instant,
}

impl Lateness {
    pub(super) fn of(&self, player: PlayerId) -> Duration {
        self.debt[player.index()]
    }
}

impl<A: Action> Session<A> {
    /// Adds the time since the last call to the debts of the players for whom the match waits.
    pub(super) fn note_lateness(&mut self) {
        let span = self.now.since(core::mem::replace(&mut self.lateness.checked, self.now));
        if span > CLOCK_JUMP || self.phase != SessionPhase::Running {
            return;
        }
        let waited = self.waited();
        let late = if waited > Duration::ZERO { self.late() } else { 0 };
        let Some(drop_after) = self.setup.config.drop_after else { return };
        let free = Duration::from_micros(drop_after.as_micros() / FREE);
        let is_long = waited > free;
        let change = |owed: Duration, grows: bool| match grows {
            true => owed + span,
            false => owed - Duration::from_micros(span.as_micros() / FORGIVING),
        };
        for player in (0..self.setup.config.players).map(PlayerId) {
            let (debt, delay) =
                (&mut self.lateness.debt[player.index()], &mut self.lateness.delay[player.index()]);
            let is_late = late & (1 << player.0) != 0;
            *debt = change(*debt, is_late && is_long);
            *delay = change(*delay, is_late);
        }
        for player in players_in(late & !self.lateness.told) {
            let delay = self.lateness.delay[player.index()];
            if delay >= drop_after {
                self.lateness.told |= 1 << player.0;
                tracing::info!(player = player.0, ?delay, "often late");
                let drop_in = drop_after.times(DEBT_MAX) - self.lateness.of(player);
                let turn = Turn(self.gate.turn);
                self.emit(Event::OftenLate { turn, player, drop_in });
            }
        }
    }

    /// Those of the missing players who are to blame, bit n for player n.
    fn late(&self) -> u16 {
        let missing = if self.setup.is_relay() { self.blocking() } else { self.missing() };
        match missing & !self.heard_within(SILENCE) {
            0 => missing,
            silent => silent,
        }
    }

    /// Players whose debt exceeds the limit, bit n for player n.
    pub(super) fn overdrawn(&self) -> u16 {
        let Some(drop_after) = self.setup.config.drop_after else { return 0 };
        let over = |player: &PlayerId| self.lateness.of(*player) >= drop_after.times(DEBT_MAX);
        let players = (0..self.setup.config.players).map(PlayerId).filter(over);
        players.fold(0, |mask, player| mask | (1 << player.0))
    }

    /// Players from whom something has come within this time, and the local one; bit n for player n.
    pub(super) fn heard_within(&self, span: Duration) -> u16 {
        let own = self.setup.player().map_or(0, |own| 1 << own.0);
        let heard = self
            .links
            .values()
            .filter(|link| link.is_connected() && (link.finished || self.now.since(link.last_heard) < span));
        heard.fold(own, |mask, link| match link.identity {
            Some(Identity::Player(player)) => mask | (1 << player.0),
            _ => mask,
        })
    }
}
