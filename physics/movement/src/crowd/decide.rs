//! What a unit does among others, and what becomes of its order.

use testudo_physics::{Fx, World};

use crate::crowd::clock::MS;
use crate::crowd::progress::PATIENCE_MS;
use crate::crowd::step::{Company, THINK_MS};
use crate::crowd::{Crowd, GIVE_UP_MS, MoveEvent, Task, Walker};
use crate::flow::ONLY_FIELD;
use crate::steer::raw::{Raw, dot, length, raw, resized};
use crate::steer::{Party, Plain, Sight, Yielding};

/// Of the units that lost their patience, one in this many has a higher rank, in turns of so many ms. Those of lower rank cannot hold it, and there are
/// few enough of them that they do not hold each other.
const RANK_EVERY: u64 = 4;
const RANK_MS: u64 = 500;

/// A unit this near to its post, in radii, stays where it is after [`PATIENCE_MS`]; after each further span it accepts as much again. In rows only half a
/// radius is near at first: others press, and accept the rest one span later.
pub(super) const CONTENT: i64 = 3;

/// A unit that was pushed back by more than this, in radii, counts its progress from there; so often on one order.
const PUSHED_BACK: i64 = 8;
const SETBACKS_MAX: u8 = 8;

/// Further than this from its post, in radii, a unit that waits behind others is as patient as they.
const QUEUE: i64 = 12;

/// A unit that stands goes back if it was moved by more than so many radii, after this time in ms: in a great crowd those that go back are in the way of those
/// that still come. In rows half a radius is enough, and then it goes until it is half as near.
const OFF_RADII: i64 = 2;
const OFF_PART: i64 = 2;
const OFF_MS: u32 = 1_000;

/// What a unit chooses among its neighbours, raw units.
struct Choice {
    velocity: Raw,
    right_ms: u16,
    /// The speed that it would like.
    speed: i64,
    /// Whether somebody is in its way.
    is_bounded: bool,
    /// Whether all of those in its way go where it goes.
    is_queued: bool,
    /// Whether somebody may come in its way.
    company: Company,
}

/// Those of its group around a unit.
pub(super) struct Ahead {
    /// How long it and those that go first have waited at least, ms, if it waits for others.
    pub(super) least_stalled: Option<u16>,
    /// With whom it trades its post.
    partner: Option<u32>,
    /// Whether it goes first, and those that come after it are beside it.
    leads: bool,
}

/// A unit that looks at its neighbours, one after the other.
struct Look<'a> {
    me: &'a Sight,
    /// Whom it goes straight at.
    prey: Option<u32>,
    yielding: Yielding<'a>,
    ahead: Ahead,
    /// Whether somebody is in its way, or may come there.
    meets: bool,
}

impl Look<'_> {
    #[inline(always)]
    fn see(&mut self, Walker { sight: other, stalled_ms, .. }: &Walker) {
        if self.prey == Some(other.unit) {
            return;
        }
        self.yielding.mind(other);
        let goes_first = (other.group == self.me.group) & other.is_going & (other.left < self.me.left);
        if let Some(least) = &mut self.ahead.least_stalled {
            *least = (*least).min(if goes_first { *stalled_ms } else { u16::MAX });
        }
        self.meets = self.meets || self.yielding.is_bounded() || self.me.may_meet(other, 2 * THINK_MS);
    }

    /// What does not matter to it unless it is close.
    fn plain(&self) -> Plain {
        Plain { stalled_ms: self.ahead.least_stalled.unwrap_or(0), ..self.yielding.plain() }
    }

    /// Whether further units that go and are not close change nothing: it knows that it meets another unit, and keeps to its right as long as it can, or never.
    #[inline(always)]
    fn has_met(&self) -> bool {
        self.meets & (self.prey.is_some() | self.yielding.keeps_right())
    }
}

impl Crowd {
    /// Decides the velocity that a unit takes until it thinks again, and what becomes of its order.
    pub(super) fn decide(&mut self, world: &mut World, number: usize, largest: i32, rate: u32) {
        let clock = self.clock;
        let walker = &mut self.walkers[number];
        self.movers[number].right_ms = walker.sight.right_ms;
        if !walker.thinks_before(clock.next()) {
            // Another one has traded posts with it: what it knows of its way leads to its old one.
            return;
        }
        let elapsed = clock.now().wrapping_sub(walker.thought) / MS;
        walker.thought = clock.now();
        if let Task::Pursue(pursuit) = &mut self.movers[number].task {
            pursuit.waits_ms = pursuit.waits_ms.saturating_sub(elapsed.min(u16::MAX.into()) as u16);
        }
        if !walker.sight.is_going {
            return self.rest(world, number, elapsed, rate);
        }
        let mover = &self.movers[number];
        if let Task::Pursue(_) = mover.task {
            return self.chase(world, number, largest, elapsed);
        }
        let body = walker.body;
        let to_post = raw(mover.post - walker.place(), (1 << 31) - 1);
        let (at_post, radius) = (dot(to_post, to_post), i64::from(walker.sight.radius));
        let is_within = |part: i64| at_post <= part.saturating_mul(part);
        if mover.is_closed {
            return self.end(world, number, MoveEvent::Unreachable(body));
        }
        if is_within(radius / 4) && walker.is_slow() {
            return self.end(world, number, MoveEvent::Arrived(body));
        }
        let queues = !is_within(radius * QUEUE);
        let ahead = self.look_around(number, largest, elapsed, queues);
        if let Some(other) = ahead.partner {
            return self.trade_posts(number, other as usize);
        }
        if let Some(event) = self.note_progress(number, elapsed, ahead.least_stalled) {
            return self.end(world, number, event);
        }
        let mover = &mut self.movers[number];
        let spans = mover.progress.spans();
        if spans > 0 {
            // It may hang at an edge beside its line. (To look for a path without a field is dear: it does so once in each span.)
            let has_field = mover.has_field(&self.flows);
            if has_field || mover.progress.stalled_ms.saturating_sub(elapsed) / PATIENCE_MS < spans {
                mover.drop_aim(has_field);
            }
        }
        // A unit that has just been told to go, or turns, is not held up by anybody.
        let is_held_up = mover.progress.stalled_ms > 0 && self.walkers[number].is_held_up();
        let makes_way = ahead.leads && queues && is_held_up;
        let pushes = makes_way || spans > 0 && self.is_its_turn(number);
        self.set_rank(world, number, pushes);
    }

    /// What a unit decides that goes nowhere: it stands, or has whom it pursues within reach.
    fn rest(&mut self, world: &mut World, number: usize, elapsed: u32, rate: u32) {
        self.walkers[number].takes = [0; 2];
        self.set_rank(world, number, false);
        let pursues = matches!(self.movers[number].task, Task::Pursue(_));
        if !pursues {
            self.stay(number, elapsed, rate);
        }
        let now = self.clock.now();
        let walker = &mut self.walkers[number];
        // It looks whether it was moved, and more often while whom it pursues may leave its reach, or while it goes back.
        let company = match (walker.takes == [0; 2], pursues) {
            (true, false) => Company::Alone,
            (true, true) => Company::Near,
            (false, _) => Company::HeldUp,
        };
        walker.thinks = now.wrapping_add(Self::pause(0, 0, company));
    }

    /// Whether a unit that has lost its patience presses now.
    pub(super) fn is_its_turn(&self, number: usize) -> bool {
        let turn = self.clock.now / (RANK_MS * u64::from(MS));
        turn.wrapping_add(self.walkers[number].body.index().into()).is_multiple_of(RANK_EVERY)
    }

    /// Gives way to the neighbours.
    pub(super) fn look_around(&mut self, number: usize, largest: i32, elapsed: u32, queues: bool) -> Ahead {
        let (choice, ahead) = self.choose(number, largest, elapsed, queues);
        let (mover, walker) = (&mut self.movers[number], &mut self.walkers[number]);
        walker.takes = choice.velocity.map(|part| part as i32);
        mover.right_ms = choice.right_ms;
        mover.is_straight = walker.takes == walker.sight.wish;
        let waits_for_path = walker.sight.left == i64::MAX;
        let company = if waits_for_path {
            // The search may find it in this frame.
            Company::HeldUp
        } else if choice.is_bounded {
            // Near its place each moment counts, and where nobody gets on. Far from there, or among those who fight, little changes soon, and in a queue less.
            let waits = !mover.is_going() || queues && mover.progress.stalled_ms < PATIENCE_MS;
            match (waits, choice.is_queued) {
                (true, true) => Company::Queue(elapsed),
                (true, false) => Company::Near,
                (false, _) => Company::HeldUp,
            }
        } else {
            choice.company
        };
        let pause = Self::pause(mover.straight, choice.speed, company);
        let waits_for_turn = waits_for_path && !mover.has_field(&self.flows);
        let pause = if waits_for_turn { self.clock.until_turn(walker.body.index(), pause) } else { pause };
        walker.thinks = self.clock.now().wrapping_add(pause);
        ahead
    }

    /// The velocity that a unit chooses among its neighbours.
    fn choose(&self, number: usize, largest: i32, elapsed: u32, queues: bool) -> (Choice, Ahead) {
        let (mover, mut me) = (&self.movers[number], self.walkers[number].sight);
        me.right_ms = me.right_ms.saturating_sub(elapsed.min(u16::MAX.into()) as u16);
        let me = &me;
        let prey = match mover.task {
            Task::Pursue(pursuit) if !mover.is_led() => self.place_of(pursuit.prey).map(|at| at as u32),
            _ => None,
        };
        // A unit that comes nearer has not waited, however long the others have; and nobody has waited for less than no time.
        let waits = queues && mover.progress.stalled_ms > 0 && !self.comes_nearer(number);
        let ahead = Ahead { least_stalled: waits.then(|| mover.stalled_ms()), partner: None, leads: false };
        // A unit that pushes because it goes first still goes around those that stand.
        let yielding = Yielding::new(me, mover.pushes && mover.progress.stalled_ms >= PATIENCE_MS);
        let close = yielding.close(largest);
        let mut look = Look { me, prey, yielding, ahead, meets: false };
        let trades = mover.is_going() && mover.progress.stalled_ms > 0;
        self.squares.around(
            me.position,
            0..=close,
            &mut look,
            |_, _| true,
            |look, other| {
                let other = &self.walkers[other as usize];
                look.see(other);
                if trades && other.sight.group == me.group {
                    self.note_partner(&mut look.ahead, number, &other.sight);
                }
            },
        );
        let reach = look.yielding.reach(largest);
        if reach > close {
            let plain = look.plain();
            let matters = |look: &Look<'_>, party: Party| !party.is_plain(plain, look.has_met());
            self.squares.around(me.position, close + 1..=reach, &mut look, matters, |look, other| {
                look.see(&self.walkers[other as usize]);
            });
        }
        let Look { mut yielding, mut ahead, meets, .. } = look;
        ahead.leads = yielding.leads();
        if !mover.is_led() {
            yielding.keep_straight();
        }
        let (is_bounded, is_queued, speed) = (yielding.is_bounded(), yielding.is_queued(), yielding.speed());
        let is_held = !is_bounded && !mover.pushes && self.walkers[number].is_held_up();
        if is_held && !self.ground.is_clear(me.place(), mover.size) {
            // An obstacle is in its way, and it waits for nobody: those that go first may be behind that.
            ahead.least_stalled = None;
        }
        let (velocity, right_ms) = yielding.decide();
        let company = if meets { Company::Near } else { Company::Alone };
        (Choice { velocity, right_ms, speed, is_bounded, is_queued, company }, ahead)
    }

    /// Notes a neighbour of the same group, if the unit gains by trading its post with it.
    fn note_partner(&self, ahead: &mut Ahead, number: usize, other: &Sight) {
        if ahead.partner.is_none_or(|partner| other.unit < partner) && self.gains_by_trade(number, other) {
            ahead.partner = Some(other.unit);
        }
    }

    /// Notes whether a unit comes nearer to its post, and whether it is content or gives up.
    fn note_progress(
        &mut self,
        number: usize,
        elapsed: u32,
        least_stalled: Option<u16>,
    ) -> Option<MoveEvent> {
        let (mover, walker) = (&mut self.movers[number], &self.walkers[number]);
        let radius = Fx::from_bits(walker.sight.radius.into());
        // While its path is looked for, or waits for its turn, nobody loses patience.
        let has_failed = matches!(mover.task, Task::Go(errand) if errand.flow.index == ONLY_FIELD);
        let counts = walker.sight.left != i64::MAX || has_failed;
        // A unit that was pushed back has another try, but not for ever.
        let from = mover.to_go - radius * PUSHED_BACK;
        let progress = &mut mover.progress;
        let is_old = counts && core::mem::take(&mut progress.is_old);
        if progress.best < from && is_old {
            // The ground has changed, and its way is longer now.
            progress.is_back = false;
            progress.counts_from(mover.to_go);
        } else if progress.best < from && progress.setbacks < SETBACKS_MAX {
            (progress.best, progress.is_back) = (from, true);
        }
        let comes_nearer = self.comes_nearer(number);
        let mover = &mut self.movers[number];
        if comes_nearer {
            let progress = &mut mover.progress;
            let is_back = core::mem::take(&mut progress.is_back);
            progress.setbacks = progress.setbacks.saturating_add(is_back.into());
            progress.counts_from(mover.to_go);
        } else if counts {
            mover.progress.waits(elapsed, least_stalled);
        }
        let (stalled_ms, place, body) = (mover.progress.stalled_ms, walker.place(), walker.body);
        let spans = mover.progress.spans();
        if spans == 0 {
            return None;
        }
        if self.is_content(number, spans) {
            let mover = &mut self.movers[number];
            // In rows it goes back to a place that nobody else has when there is room.
            if !mover.is_in_rows() || place.distance(mover.post) > radius {
                mover.post = place;
            }
            return Some(MoveEvent::Arrived(body));
        }
        (stalled_ms >= GIVE_UP_MS).then_some(MoveEvent::GaveUp(body))
    }

    /// Whether a unit that has lost its patience for the `spans`th time is near enough to its post.
    fn is_content(&self, number: usize, spans: u32) -> bool {
        let (mover, place) = (&self.movers[number], self.walkers[number].place());
        let radius = Fx::from_bits(self.walkers[number].sight.radius.into());
        let near = if mover.is_in_rows() {
            radius / 2 + radius * CONTENT * i64::from(spans.min(5) - 1)
        } else {
            radius * CONTENT * i64::from(spans.min(4))
        };
        // Around the post, or around the goal if the post is behind a corner.
        let middle = match mover.task {
            Task::Go(errand) if !mover.goes_to_post() || mover.is_around => {
                self.ground.anchor(errand.flow.goal)
            }
            _ => mover.post,
        };
        place.distance(middle) <= near && self.walkers[number].is_slow()
    }

    /// Gives a body its higher rank, or takes it away.
    pub(super) fn set_rank(&mut self, world: &mut World, number: usize, pushes: bool) {
        let mover = &mut self.movers[number];
        if core::mem::replace(&mut mover.pushes, pushes) != pushes {
            // The body exists: `look` has removed the others.
            let rank = mover.rank.saturating_add(i8::from(pushes));
            let _ = world.set_dominance(self.walkers[number].body, rank);
        }
    }

    fn end(&mut self, world: &mut World, number: usize, event: MoveEvent) {
        self.set_rank(world, number, false);
        let (mover, walker) = (&mut self.movers[number], &mut self.walkers[number]);
        match (event, mover.task) {
            (MoveEvent::Arrived(_), Task::Go(errand)) => mover.stand(mover.post, Some(errand)),
            _ => mover.stand(walker.place(), None),
        }
        (walker.takes, mover.right_ms) = ([0; 2], 0);
        if !core::mem::replace(&mut mover.is_told, true) {
            self.events.push(event);
        }
    }

    /// A unit that stands brakes. If it was moved away it waits, and then goes back as far as nothing is in the way.
    fn stay(&mut self, number: usize, elapsed: u32, rate: u32) {
        let (mover, walker) = (&mut self.movers[number], &mut self.walkers[number]);
        let away = raw(mover.post - walker.place(), (1 << 31) - 1);
        let far = length(away);
        let radius = i64::from(walker.sight.radius);
        let near = match (mover.is_in_rows(), mover.off_ms >= OFF_MS) {
            (false, _) => radius * OFF_RADII,
            (true, false) => radius / OFF_PART,
            (true, true) => radius / (2 * OFF_PART),
        };
        if far <= near {
            mover.off_ms = 0;
            return;
        }
        mover.off_ms = mover.off_ms.saturating_add(elapsed);
        if mover.off_ms < OFF_MS {
            return;
        }
        // A ground that was never surveyed shows no walls; after a load it does.
        let sees_post = self.is_surveyed && self.ground.sees(walker.place(), mover.post, mover.size);
        if mover.off_ms >= 5 * OFF_MS || !sees_post {
            // Somebody else stands there.
            mover.stand(walker.place(), None);
            return;
        }
        let speed = mover.def.speed.to_bits().min(walker.approach(far, rate));
        walker.takes = resized(away, far, speed).map(|part| part as i32);
    }
}
