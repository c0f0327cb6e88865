//! Units of one order trade their posts where both gain by it.

use crate::crowd::progress::PATIENCE_MS;
use crate::crowd::state::CHANGED;
use crate::crowd::{Crowd, Errand, Task};
use crate::steer::Sight;
use crate::steer::raw::dot;

/// A unit that has not come nearer for this long trades its post with one that stands in its way, ms.
const TRADE_MS: u32 = 300;

/// A unit asks others that go for a trade so often on one order, and those that stand until it has asked twice as often in all: two units could
/// trade to and fro for ever, and each trade looks like progress.
const TRADES_MAX: u8 = 8;

impl Crowd {
    /// Two units of one order that are near each other trade their posts if both get nearer by it: so nobody has to pass one that goes the other way, or
    /// one that stands already.
    pub(super) fn trade_posts(&mut self, number: usize, other: usize) {
        let Task::Go(errand) = self.movers[number].task else { return };
        let posts = (self.movers[number].post, self.movers[other].post);
        (self.movers[other].post, self.movers[number].post) = posts;
        self.movers[number].trades += 1;
        if !self.movers[other].is_going() {
            // It has not waited for its new post yet, and the other one has to leave it.
            self.movers[number].progress.stalled_ms = 0;
            self.movers[other].forget();
            self.movers[other].task = Task::Go(Errand { pace: self.movers[other].def.speed, ..errand });
            self.movers[other].right_ms = 0;
            // One that has just arrived still goes in the eyes of the others.
            let sight = &mut self.walkers[other].sight;
            sight.right_ms = if sight.is_going { sight.right_ms } else { 0 };
        }
        for (at, old) in [(number, posts.0), (other, posts.1)] {
            let mover = &mut self.movers[at];
            mover.aim.take_if(|aim| *aim == old);
            mover.progress.best = mover.post.distance(self.walkers[at].place());
            if let Task::Go(errand) = mover.task {
                mover.beside = mover.post.distance(self.ground.anchor(errand.flow.goal));
            }
        }
        self.hashes[other] = CHANGED;
        // The other one looks for its new way in the next frame, and so does this one: it has the way to its old post.
        [number, other].iter().for_each(|&at| self.walkers[at].thinks = self.clock.next());
    }

    /// Whether a unit that goes gains by trading its post with another one of its order.
    pub(super) fn gains_by_trade(&self, number: usize, them: &Sight) -> bool {
        let (mine, theirs) = (&self.movers[number], &self.movers[them.unit as usize]);
        let (Task::Go(errand), Task::Go(other_errand) | Task::Stand(Some(other_errand))) =
            (mine.task, theirs.task)
        else {
            return false;
        };
        let me = &self.walkers[number].sight;
        let apart = [0, 1].map(|axis| i64::from(me.position[axis]) - i64::from(them.position[axis]));
        let may_ask = match (mine.goes_to_post(), theirs.is_going()) {
            (true, true) => mine.trades < TRADES_MAX,
            (true, false) => mine.trades < 2 * TRADES_MAX && mine.progress.stalled_ms >= TRADE_MS,
            (false, true) => false,
            // One stands behind a door, and the others cannot get in.
            (false, false) => {
                let faces = dot(me.wish.map(i64::from), apart) < 0;
                mine.trades < 2 * TRADES_MAX && mine.progress.stalled_ms >= PATIENCE_MS && faces
            }
        };
        if !may_ask || errand.group != other_errand.group || mine.size != theirs.size {
            return false;
        }
        let touch = i64::from(me.radius) * 2 + i64::from(them.radius);
        let posts = mine.post - theirs.post;
        let posts = [posts.x, posts.y].map(|part| part.to_bits() >> 8);
        // Less squared distance in all: paths that do not meet.
        dot(apart, apart) < touch * touch && dot(apart, posts) < 0
    }
}
