//! One unit of a crowd.

use testudo_physics::{BodyId, Fx, Vec2};

use crate::crowd::def::MoverDef;
use crate::crowd::progress::Progress;
use crate::flow::{ALONE, FlowId, Flows, NO_FIELD, ONLY_FIELD};
use crate::ground::{Ground, SizeClass};

/// A unit: what it can do, where it goes, and how long it has been held up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mover {
    pub(crate) def: MoverDef,
    pub(crate) size: SizeClass,
    /// Its body's rank (dominance) while it does not push, and whether it pushes.
    pub(crate) rank: i8,
    pub(crate) pushes: bool,
    pub(crate) task: Task,
    /// Whether its arrival on this order was told.
    pub(crate) is_told: bool,
    /// Where it stands, or wants to stand.
    pub(crate) post: Vec2,
    /// Whether nobody planned its path yet, or the ground has changed since.
    pub(crate) is_new: bool,
    /// Whether no path leads to its goal.
    // not state: computed whenever it thinks, before it is read
    pub(crate) is_closed: bool,
    /// Where it goes straight now.
    pub(crate) aim: Option<Vec2>,
    /// Whether it took the straight way to its aim when it thought last.
    pub(crate) is_straight: bool,
    /// Length of the path from `aim` to the goal, units.
    pub(crate) beyond: Fx,
    /// From the goal of its field to its post, units.
    // not state: follows from both
    pub(crate) beside: Fx,
    /// How far it goes straight now, raw units.
    // not state: computed whenever it thinks, before it is read
    pub(crate) straight: i64,
    /// Whether it sees its goal, but not its post.
    // not state: as above
    pub(crate) is_around: bool,
    /// Length of its path to its post in this frame, units.
    // not state: computed whenever it thinks, before it is read
    pub(crate) to_go: Fx,
    /// How near it came so far.
    pub(crate) progress: Progress,
    /// How often it asked another unit on this order to trade posts.
    pub(crate) trades: u8,
    /// How long it has been off its post while it stands, ms.
    pub(crate) off_ms: u32,
    /// How long it keeps to its right, ms.
    // not state: between two steps as the others see it
    pub(crate) right_ms: u16,
}

/// What a unit does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// It stands at its post; it came there on this errand.
    Stand(Option<Errand>),
    /// It goes to its post.
    Go(Errand),
    /// It goes at a body; if it has an aim, around what is between them.
    Pursue(Pursuit),
}

/// Whom a unit pursues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pursuit {
    pub(crate) prey: BodyId,
    /// So far from the prey's surface it stands, units.
    pub(crate) reach: Fx,
    /// Whether the last search for a way around obstacles found none.
    pub(crate) has_failed: bool,
    /// After such a search: how long it does not look for one again, ms.
    pub(crate) waits_ms: u16,
}

/// A unit's part in an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Errand {
    pub(crate) flow: FlowId,
    /// Units of one order.
    pub(crate) group: u32,
    /// Its speed on this order, units per second.
    pub(crate) pace: Fx,
    /// Whether the order is to stand in rows: then the place itself matters, and not only a place nearby.
    pub(crate) in_rows: bool,
}

impl Mover {
    /// Whether it is on its way.
    pub(crate) fn is_going(&self) -> bool {
        matches!(self.task, Task::Go(_))
    }

    /// Whether it follows a path, and not what it pursues.
    pub(crate) fn is_led(&self) -> bool {
        self.is_going() || self.is_moving() && self.aim.is_some()
    }

    /// What it looks for, if it looks for a path: in which turn, to which goal or prey, and for which size. Those that pursue come after the others, and those
    /// that found no way last.
    pub(crate) fn seeks(&self) -> (u8, u32, SizeClass) {
        match self.task {
            Task::Stand(_) => (0, 0, SizeClass(0)),
            Task::Go(Errand { flow, .. }) => (0, flow.goal, flow.size),
            Task::Pursue(Pursuit { prey, has_failed, waits_ms, .. }) => {
                (1 + u8::from(has_failed && waits_ms == 0), prey.index(), self.size)
            }
        }
    }

    /// Whether it may move of its own will.
    pub(crate) fn is_moving(&self) -> bool {
        !matches!(self.task, Task::Stand(_))
    }

    /// Whether it goes to its post itself, and not to an aim on the way there.
    pub(crate) fn goes_to_post(&self) -> bool {
        self.aim.is_none_or(|aim| aim == self.post)
    }

    /// Whether there is a field to its goal.
    pub(crate) fn has_field(&self, flows: &Flows) -> bool {
        matches!(self.task, Task::Go(errand) if flows.is_live(errand.flow))
    }

    /// Whether it keeps to anchors beside obstacles, because it may hang at a corner.
    pub(crate) fn is_careful(&self) -> bool {
        self.progress.spans() % 2 == 1
    }

    /// Whether its post is a place in rows.
    pub(crate) fn is_in_rows(&self) -> bool {
        matches!(self.task, Task::Stand(Some(errand)) | Task::Go(errand) if errand.in_rows)
    }

    /// How long it has not come nearer, as others see it, ms.
    pub(crate) fn stalled_ms(&self) -> u16 {
        self.progress.stalled_ms.min(u16::MAX.into()) as u16
    }

    /// It stands from now on, done with an errand or without one.
    pub(crate) fn stand(&mut self, at: Vec2, done: Option<Errand>) {
        self.task = Task::Stand(done);
        self.post = at;
        self.forget();
    }

    /// The ground has changed: it looks for its way again. How long it has been held up still counts, unless its way becomes another one.
    pub(crate) fn look_again(&mut self, has_field: bool) {
        self.drop_aim(has_field);
        (self.is_new, self.progress.is_old) = (true, true);
        if !self.is_going() {
            self.progress.best = Fx::MAX;
        }
        if let Task::Go(Errand { flow: FlowId { index, .. }, .. }) = &mut self.task
            && *index == ONLY_FIELD
        {
            *index = NO_FIELD;
        }
        self.pause(0);
    }

    /// If the cell of its goal is closed now, it goes to the open one beside that: another field leads there.
    pub(crate) fn leave_closed_goal(&mut self, ground: &Ground) {
        if let Task::Go(Errand { flow: FlowId { index, goal, size }, .. }) = &mut self.task
            && *index != ALONE
            && ground.steps(*goal, *size) == 0
        {
            *index = NO_FIELD;
        }
    }

    /// One that pursues looks for no way around obstacles for so long, ms.
    pub(crate) fn pause(&mut self, ms: u16) {
        if let Task::Pursue(pursuit) = &mut self.task {
            pursuit.waits_ms = ms;
        }
    }

    /// Its aim may be wrong. One without a field keeps it until it has another one, because paths are looked for one after the other.
    pub(crate) fn drop_aim(&mut self, has_field: bool) {
        if has_field {
            self.aim = None;
        } else {
            self.is_new = true;
        }
    }

    /// Another unit has the same goal: it does not go alone.
    pub(crate) fn shares_goal(&mut self) {
        if let Task::Go(Errand { flow: FlowId { index, .. }, .. }) = &mut self.task
            && *index == ALONE
        {
            *index = NO_FIELD;
            self.aim = None;
        }
    }

    /// Forgets what it knows of its way.
    pub(crate) fn forget(&mut self) {
        (self.aim, self.is_new, self.beyond, self.is_straight) = (None, true, Fx::ZERO, false);
        (self.progress, self.off_ms) = (Progress::NONE, 0);
    }
}
