//! Which players are here.

use testudo_lockstep::PlayerId;

/// Which players are gone just now, and how many were lost and came back. It outlives a broken connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Attendance {
    lost: u32,
    back: u32,
    /// Bit n for player n.
    away: u16,
}

impl Attendance {
    pub(super) fn note_gone(&mut self, player: PlayerId) {
        self.lost += 1;
        self.away |= 1 << player.0;
    }

    pub(super) fn note_back(&mut self, player: PlayerId) {
        self.back += 1;
        self.away &= !(1 << player.0);
    }

    pub(super) fn is_here(&self, player: PlayerId) -> bool {
        self.away & (1 << player.0) == 0
    }

    /// How many players were lost, and how many came back.
    pub(super) fn lost_and_back(&self) -> (u32, u32) {
        (self.lost, self.back)
    }
}
