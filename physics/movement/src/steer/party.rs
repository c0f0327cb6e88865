//! Who is in a square, and whether a unit has to look at them.

use crate::steer::near::Sight;

/// Who is in a square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Party {
    /// The least and the greatest of their groups.
    groups: [u32; 2],
    /// The longest time for which one of them keeps to its right, ms.
    right_ms: u16,
    /// The shortest time for which one of them has not come nearer to its place, ms.
    stalled_ms: u16,
    /// Whether all of them are on their way.
    all_go: bool,
}

impl Party {
    /// Nobody.
    pub(super) const NONE: Self =
        Self { groups: [u32::MAX, 0], right_ms: 0, stalled_ms: u16::MAX, all_go: true };

    /// One more is in the square; for so long it has not come nearer to its place, ms.
    #[inline(always)]
    pub(super) fn add(&mut self, sight: &Sight, stalled_ms: u16) {
        self.groups = [self.groups[0].min(sight.group), self.groups[1].max(sight.group)];
        self.right_ms = self.right_ms.max(sight.right_ms);
        self.stalled_ms = self.stalled_ms.min(stalled_ms);
        self.all_go &= sight.is_going;
    }

    /// Whether those that are not close to a unit do not matter to it: all of them go, none has waited for less than matters, and they go with it and do not
    /// keep to their right for longer, or it has met others already that go elsewhere.
    #[inline(always)]
    pub(crate) fn is_plain(self, plain: Plain, has_met: bool) -> bool {
        let goes_along = (self.groups == [plain.group; 2]) & (self.right_ms <= plain.right_ms);
        self.all_go & (self.stalled_ms >= plain.stalled_ms) & (has_met | goes_along)
    }
}

/// Neighbours that do not matter to a unit unless they are close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plain {
    /// Its own group.
    pub(crate) group: u32,
    /// Neighbours that keep to its right for at most so long, ms.
    pub(crate) right_ms: u16,
    /// Neighbours that have waited for at least so long, ms.
    pub(crate) stalled_ms: u16,
}

#[cfg(test)]
mod tests {
    use super::{Party, Plain, Sight};

    #[test]
    fn who_stands_or_belongs_to_others_is_not_plain() {
        let limit = |group| Plain { group, right_ms: u16::MAX, stalled_ms: 0 };
        let unit = |group, is_going| Sight { group, is_going, ..Sight::default() };
        let mut party = Party::NONE;
        assert!(!party.is_plain(limit(1), false), "nobody is of no group");
        party.add(&unit(1, true), 0);
        assert!(party.is_plain(limit(1), false) && !party.is_plain(limit(2), false));
        party.add(&unit(2, true), 0);
        assert!(!party.is_plain(limit(1), false) && !party.is_plain(limit(2), false), "two groups");
        assert!(party.is_plain(limit(1), true), "it has met others");
        let mut party = Party::NONE;
        party.add(&unit(1, false), 0);
        assert!(!party.is_plain(limit(1), false) && !party.is_plain(limit(1), true), "one that stands");
    }
}
