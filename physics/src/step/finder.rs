//! From overlapping boxes to contacts in batches, window by window: broad phase, narrow phase and contact set-up.

use alloc::vec::Vec;

use crate::body::working_index::WorkingPair;
use crate::collide::narrow_phase::{Hit, Hits};
use crate::math::boxes::LANES;
use crate::step::broad_phase::{Join, WINDOW};
use crate::step::crew::Crew;
use crate::step::found::Found;
use crate::step::input::ContactInput;
use crate::step::passages::add_passages;
use crate::step::pile_up::PileUp;
use crate::step::seams::Seams;
use crate::step::terrain::TerrainPairs;
use crate::step::windows::Windows;

/// Finds the contacts of a step. Its lists are kept between steps so that a steady step does not allocate.
#[derive(Clone, Debug, Default)]
pub(crate) struct Finder {
    join: Join,
    windows: Windows,
    pile_up: PileUp,
    seams: Seams,
    terrain: TerrainPairs,
    /// Moving bodies with bodies at rest.
    pairs: Vec<WorkingPair>,
    /// When the pairs with a fast body meet, and how.
    met: Vec<(u64, Hit)>,
}

impl Finder {
    /// Finds the contacts of the step.
    #[inline(never)]
    pub(crate) fn find(&mut self, input: &ContactInput<'_>, found: &mut Found<'_>, crew: &mut Crew<'_>) {
        let dummy = input.dummy();
        assert!(dummy.at() < input.working.shells.len());
        found.contacts.begin(dummy, input.phase.settings.is_soft());
        found.coloring.colors.begin(input.working.shells.len());
        found.fast.find_stops(input);
        self.find_between_movers(input, found, crew);
        // All contacts between moving bodies come before those with walls, which have the last word in each pass.
        add_passages(input, found, &mut self.met);
        found.contacts.batches.end_movers();
        self.find_at_rest(input, found);
        self.terrain.add(input, found);
        add_passages(input, found, &mut self.met);
    }

    /// Contacts between moving bodies.
    fn find_between_movers(&mut self, input: &ContactInput<'_>, found: &mut Found<'_>, crew: &mut Crew<'_>) {
        let movers = &input.working.shells[..input.dummy().at()];
        let blocks = self.join.within(input.tree, input.path);
        found.fast.in_pile_up = self.pile_up.begin(blocks.len(), movers);
        if found.fast.in_pile_up {
            self.pile_up.find(blocks, self.windows.first(), input, found);
        } else {
            self.windows.find(blocks, input, found, crew);
        }
    }

    /// Contacts with bodies at rest, those with terrain left out.
    fn find_at_rest(&mut self, input: &ContactInput<'_>, found: &mut Found<'_>) {
        let Self { windows, seams, terrain, pairs, .. } = self;
        let hits: &mut Hits = &mut windows.first().hits;
        terrain.clear();
        let mut rest = input.near.pairs();
        while !rest.is_empty() {
            // The bodies near one moving body stay together, for the seams.
            let last = rest[rest.len().min(LANES * WINDOW) - 1].lane;
            let (window, later) = rest.split_at(rest.partition_point(|pair| pair.lane <= last));
            rest = later;
            pairs.clear();
            pairs.extend(window.iter().map(|pair| [pair.lane, input.near.index(pair.slot)]));
            terrain.take_from(pairs, input);
            input.path.narrow(pairs, &input.working.shells, input.phase.settings.margin, hits);
            seams.drop_from(hits, input);
            found.add_hits(pairs, hits, input);
        }
    }
}
