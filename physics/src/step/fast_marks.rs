//! Which bodies of a step are fast.

use alloc::vec::Vec;

use crate::body::working_index::WorkingIndex;
use crate::math::axes::both;
use crate::math::boxes::RawBox;

/// The marks of a step's fast bodies. Scratch.
#[derive(Clone, Debug, Default)]
pub(crate) struct FastMarks {
    /// Frames per second of this step.
    // not state: the world's, during a step
    fps: u32,
    /// By working index; empty if there are none.
    marks: Vec<bool>,
}

impl FastMarks {
    pub(crate) fn begin(&mut self, fps: u32) {
        self.fps = fps;
        self.marks.clear();
    }

    /// A body that is faster, per second and axis, than this many times the growth of its box (at most 8 units) moves too far in this frame for
    /// ordinary contacts.
    pub(crate) fn growths(&self) -> i32 {
        2 * self.fps as i32
    }

    /// Notes a fast body and returns the box around its whole path.
    #[cold]
    pub(crate) fn note(&mut self, index: WorkingIndex, start: &RawBox, velocity: [i32; 2]) -> RawBox {
        let step = self.displacement(velocity);
        let moved = |corner: [i32; 2]| [corner[0] + step[0], corner[1] + step[1]];
        self.marks.resize(self.marks.len().max(index.at() + 1), false);
        self.marks[index.at()] = true;
        start.union(&RawBox { min: moved(start.min), max: moved(start.max) })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    pub(crate) fn contains(&self, index: WorkingIndex) -> bool {
        self.marks.get(index.at()).is_some_and(|&fast| fast)
    }

    /// The speed at which a body moves by `distance` in this frame.
    pub(crate) fn speed(&self, distance: i32) -> i32 {
        distance * self.fps as i32
    }

    /// The distance of a velocity in this frame, raw units, toward zero.
    pub(crate) fn displacement(&self, velocity: [i32; 2]) -> [i32; 2] {
        both(velocity, |v| v / self.fps as i32)
    }

    /// The distance of `b` in this frame, relative to `a`.
    pub(crate) fn motion(&self, a: [i32; 2], b: [i32; 2]) -> [i32; 2] {
        self.displacement([b[0].wrapping_sub(a[0]), b[1].wrapping_sub(a[1])])
    }
}
