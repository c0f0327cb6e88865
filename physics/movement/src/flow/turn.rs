//! Who is first where not all can be served.

/// Knuth's number for hashes (2^32 by the golden ratio): the high bits of its multiples are spread evenly.
pub(crate) const SCATTER: u32 = 2_654_435_769;

/// Which field is searched next.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Turn {
    /// The one that was searched last.
    pub(crate) place: u16,
    /// Whether it was first after a change of the ground.
    pub(crate) was_first: bool,
    /// Whether the ground has changed since.
    pub(crate) has_changed: bool,
}

impl Turn {
    /// Where the searches of a frame begin: where the last budget ended. After a change of the ground that field is first once, and after the next change
    /// another one: so each has all cells between two changes in its turn, though none may be found to its end.
    pub(crate) fn first(&mut self) -> usize {
        let moves_on = self.has_changed && self.was_first;
        self.was_first ^= self.has_changed;
        self.has_changed = false;
        usize::from(self.place) + usize::from(moves_on)
    }

    /// A field was searched.
    pub(crate) fn note(&mut self, place: usize) {
        self.was_first &= usize::from(self.place) == place;
        self.place = place as u16;
    }
}
