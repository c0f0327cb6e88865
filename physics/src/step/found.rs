//! What becomes of hits: contacts in batches, overlaps of sensors, or pairs that need a closer test.

use crate::body::record::flag;
use crate::body::working_index::WorkingPair;
use crate::collide::narrow_phase::{Hit, Hits};
use crate::contact::sensors::SensorOverlaps;
use crate::contact::setup::Solving;
use crate::contact::share::share_with_locks;
use crate::math::axes::both;
use crate::math::num::isqrt_u64;
use crate::solve::batches::Batches;
use crate::solve::colors::{BatchLayout, Colors};
use crate::solve::contact_place::{BatchIndex, ContactPlace, WindowPlace};
use crate::solve::friction::FrictionContact;
use crate::solve::step_contacts::StepContacts;
use crate::step::fast::FastMovers;
use crate::step::input::ContactInput;

/// The places that contacts take in batches.
#[derive(Clone, Debug, Default)]
pub(crate) struct Coloring {
    pub(crate) colors: Colors,
    layout: BatchLayout,
}

impl Coloring {
    /// The first batch of the window that is being filled.
    fn first_batch(&self, batches: &Batches) -> BatchIndex {
        BatchIndex::new(batches.as_slice().len() - self.colors.batches as usize)
    }

    /// Ends a window whose contacts were added one by one.
    pub(crate) fn end_window(&mut self, pairs: &[WorkingPair], batches: &mut Batches) {
        let first = self.first_batch(batches);
        self.colors.end_window(pairs, &mut self.layout);
        batches.window(first).empty(&self.layout.ends);
    }
}

/// Where the search for contacts writes.
pub(crate) struct Found<'a> {
    pub(crate) contacts: &'a mut StepContacts,
    pub(crate) coloring: &'a mut Coloring,
    pub(crate) fast: &'a mut FastMovers,
    pub(crate) sensors: &'a mut SensorOverlaps,
}

impl Found<'_> {
    /// Contacts of one window's hits.
    pub(crate) fn add_hits(&mut self, pairs: &[WorkingPair], hits: &mut Hits, input: &ContactInput<'_>) {
        self.fast.set_aside(pairs, hits, input);
        let ContactInput { phase, path, working, .. } = *input;
        if working.any_flags & flag::SPECIAL != 0 || phase.scene.has_ignored_pairs() {
            hits.iter().for_each(|hit| self.add_special(&hit, input));
            return self.coloring.end_window(&hits.pairs[..hits.len], &mut self.contacts.batches);
        }
        let dummy = input.dummy();
        let shells = (working.some_fixed || pairs.last().is_some_and(|pair| pair[1] >= dummy))
            .then_some(&working.shells[..]);
        let Coloring { colors, layout } = &mut *self.coloring;
        path.take_places(colors, hits, shells, layout);
        hits.end(dummy);
        let StepContacts { batches, notes, stiff, .. } = &mut *self.contacts;
        let mut to = batches.add(layout.batches);
        path.fill_window(&input.setup(stiff), hits, layout, &mut to, notes);
    }

    /// Makes the contact of a pair, unless neither body can be moved.
    fn add_contact(&mut self, hit: &Hit, solving: Solving, input: &ContactInput<'_>) -> Option<ContactPlace> {
        let StepContacts { batches, notes, stiff, .. } = &mut *self.contacts;
        let first = self.coloring.first_batch(batches);
        let (pair, colors) = ([hit.a, hit.b], &mut self.coloring.colors);
        let place = colors.take_place(pair, both(pair, |body| input.working.shells[body].mass != 0));
        if place == WindowPlace::NOWHERE {
            return None;
        }
        batches.extend_to(first.behind(colors.batches));
        Some(input.setup(stiff).fill(hit, solving, place, &mut batches.window(first), notes))
    }

    /// Filters, sensors, locked axes and contact friction.
    pub(crate) fn add_special(&mut self, hit: &Hit, input: &ContactInput<'_>) {
        let scene = input.phase.scene;
        let [a, b] = [hit.a, hit.b].map(|index| input.working.shells[index].slot);
        if !scene.interact(a, b) {
            return;
        }
        let [body_a, body_b] = both([a, b], |slot| &scene.bodies[slot]);
        if (body_a.flags | body_b.flags) & flag::SENSOR == 0 {
            self.add_solid(hit, input);
        } else if hit.gap <= 0 {
            self.sensors.push(a, b);
        } else {
            self.fast.sensors.push([hit.a, hit.b]);
        }
    }

    /// The contact of two bodies that are not sensors and do not ignore each other.
    pub(crate) fn add_solid(&mut self, hit: &Hit, input: &ContactInput<'_>) {
        let (phase, shells) = (input.phase, &input.working.shells);
        let (a, b) = (shells[hit.a], shells[hit.b]);
        let [extra_a, extra_b] = both([a, b], |shell| &phase.extras[shell.slot]);
        let ranks = [extra_a.dominance, extra_b.dominance];
        let Some(share_a) = share_with_locks(phase.scene.bodies, &a, &b, hit.normal, ranks) else {
            // The bodies touch, but neither can yield along the normal.
            self.add_contact(hit, Solving::No, input);
            return;
        };
        let friction = combined_friction(extra_a.friction, extra_b.friction);
        if let Some(place) = self.add_contact(hit, Solving::Shared(share_a), input)
            && friction > 0
        {
            let StepContacts { batches, frictions, .. } = &mut *self.contacts;
            let slide = phase.contacts.slide(batches.origin(place).cached);
            frictions.push(FrictionContact::new(place, friction, slide));
        }
    }
}

/// Geometric mean of two coefficients of contact friction, as in Box2D.
fn combined_friction(a: i32, b: i32) -> i32 {
    isqrt_u64(a as u64 * b as u64) as i32
}
