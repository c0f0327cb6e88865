//! Who is here, and for how long.

use testudo_lockstep::PlayerId;

use crate::app::Seat;

/// A player who has come can be removed after this time, seconds: until then another button was there, which somebody may be about to press.
const SETTLED: f32 = 1.0;

/// Since when each player has been here, seconds.
#[derive(Default)]
pub(crate) struct Presence {
    since: [Option<f32>; 16],
    now: f32,
}

impl Presence {
    /// Notes who is here now.
    pub(crate) fn see(&mut self, is_here: impl Fn(PlayerId) -> bool, now: f32) {
        self.now = now;
        for (player, since) in (0..).map(PlayerId).zip(&mut self.since) {
            *since = is_here(player).then(|| since.unwrap_or(now));
        }
    }

    /// Whether the person of this seat is offered to remove this player.
    pub(crate) fn may_remove(&self, seat: &Seat, player: PlayerId) -> bool {
        seat.may_kick() && player != seat.player() && self.has_settled(player)
    }

    /// Whether a player has been here for some time.
    fn has_settled(&self, player: PlayerId) -> bool {
        self.since[usize::from(player.0)].is_some_and(|since| self.now - since >= SETTLED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A click on "Copy" that came a moment too late removed whoever had just come.
    #[test]
    fn who_has_just_come_cannot_be_removed_at_once() {
        let (mut presence, guest) = (Presence::default(), PlayerId(15));
        let mut removable = |is_here, now| {
            presence.see(|player| is_here && player == guest, now);
            [PlayerId(0), guest].map(|player| presence.has_settled(player))
        };
        assert_eq!([5.0, 5.9].map(|now| removable(true, now)), [[false; 2]; 2]);
        assert_eq!(removable(true, 6.0), [false, true]);
        assert_eq!(removable(false, 6.1), [false; 2]);
        assert_eq!(removable(true, 6.2), [false; 2], "it has come again");
    }
}
