//! Chronic lateness: limits how often a player may make the others wait, even if each wait is shorter than the drop time.

use smallvec::SmallVec;

use crate::session::backoff::Costs;
use crate::session::common::Common;
use crate::session::event::Event;
use crate::session::players_in;
use crate::value::ids::{PLAYERS_MAX, PlayerId, Turn};
use crate::value::time::{Duration, Instant};

/// Debt shrinks by one part in this many of the time in which nobody waits for the player.
const FORGIVING: u64 = 4;

/// Greatest debt of a player, as a multiple of the drop time.
const DEBT_MAX: u64 = 3;

/// The same for the share of the time that short waits took, so that it is forgotten in the end.
const SHARE_MAX: u64 = 6;

/// The first part of each wait does not count, because a bad network makes everybody wait a little in every turn. One part in this many of
/// the drop time.
const FREE: u64 = 8;

/// The short waits of a player count as far as they are longer than those of half of the others: one second of waiting outweighs this many without. A player
/// that makes the others wait for more than a third of the time, which slows the match by half, owes more and more. What half of the players owe is the
/// settings' fault, or the network's in the middle.
const SHARE_FORGIVING: u64 = 2;

/// How long the others have waited for each player, less the forgiven part.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lateness {
    debt: [Duration; PLAYERS_MAX as usize],
    /// The same including the first part of each wait, with [`SHARE_FORGIVING`].
    share: [Duration; PLAYERS_MAX as usize],
    /// What the places owe for drops and returns.
    pub(super) costs: Costs,
    /// The debt including the first part of each wait; this is reported.
    delay: [Duration; PLAYERS_MAX as usize],
    /// Bit n: the application knows that player n is often late.
    told: u16,
    checked: Instant,
}

impl Lateness {
    pub(super) fn of(&self, player: PlayerId) -> Duration {
        self.debt[player.index()]
    }

    /// The time that has passed since the last call.
    pub(super) fn pass(&mut self, now: Instant) -> Duration {
        now.since(core::mem::replace(&mut self.checked, now))
    }

    /// The match has waited for this long now, for the players `late`. Adds the time that has passed since the last call to their debts.
    pub(super) fn note(&mut self, common: &mut Common, span: Duration, waited: Duration, late: u16) {
        let Some(drop_after) = common.config().waits.drop_after else { return };
        let free = Duration::from_micros(drop_after.as_micros() / FREE);
        let is_long = waited > free;
        let change = |owed: Duration, grows: bool, forgiving: u64| match grows {
            true => owed + span,
            false => owed - Duration::from_micros(span.as_micros() / forgiving),
        };
        for player in (0..common.config().players).map(PlayerId) {
            let Self { debt, share, delay, .. } = self;
            let is_late = late & (1 << player.0) != 0;
            let place = player.index();
            debt[place] = change(debt[place], is_late && is_long, FORGIVING);
            delay[place] = change(delay[place], is_late, FORGIVING);
            share[place] = change(share[place], is_late, SHARE_FORGIVING).min(drop_after.times(SHARE_MAX));
        }
        for player in players_in(late & !self.told) {
            // The present wait has an end and an event of its own.
            let delay = self.delay[player.index()] - waited;
            if delay >= drop_after {
                self.told |= 1 << player.0;
                tracing::info!(player = player.0, ?delay, "often late");
                let drop_in = drop_after.times(DEBT_MAX) - self.owed_by(common, player);
                let turn = Turn(common.gate.turn);
                common.emit(Event::OftenLate { turn, player, drop_in });
            }
        }
    }

    /// What counts against a player: its long waits, or its share of the time in which the match stood. The share is compared with that of the
    /// other players for whom this peer can wait: with their median, the greater one of two. Where one of them has a much better line than all others,
    /// the others are not to blame.
    pub(super) fn owed_by(&self, common: &Common, player: PlayerId) -> Duration {
        let own = common.setup.player().map_or(0, |own| 1 << own.0);
        let others = players_in(common.streams.live() & !own & !(1 << player.0));
        let mut shares: SmallVec<[Duration; PLAYERS_MAX as usize]> =
            others.map(|other| self.share[other.index()]).collect();
        shares.sort_unstable();
        let usual = shares.get(shares.len() / 2);
        let share = usual.map_or(Duration::ZERO, |usual| self.share[player.index()] - *usual);
        share.max(self.of(player))
    }

    /// Players whose debt exceeds the limit, bit n for player n.
    pub(super) fn overdrawn(&self, common: &Common) -> u16 {
        let Some(drop_after) = common.setup.config.waits.drop_after else { return 0 };
        let over = |player: &PlayerId| self.owed_by(common, *player) >= drop_after.times(DEBT_MAX);
        let players = (0..common.setup.config.players).map(PlayerId).filter(over);
        players.fold(0, |mask, player| mask | (1 << player.0))
    }
}
