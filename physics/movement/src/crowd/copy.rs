//! Copies of a crowd: a prediction makes one in every picture, so what is the same already is not copied.

use crate::crowd::Crowd;

impl Clone for Crowd {
    fn clone(&self) -> Self {
        Self {
            ground: self.ground.clone(),
            flows: self.flows.clone(),
            paths: Default::default(),
            paths_left: 0,
            pack: Default::default(),
            clock: self.clock,
            paths_debt: self.paths_debt,
            settings: self.settings,
            is_surveyed: self.is_surveyed,
            walkers: self.walkers.clone(),
            movers: self.movers.clone(),
            hashes: self.hashes.clone(),
            gone: self.gone,
            replaced: self.replaced.clone(),
            finder: self.finder.clone(),
            orders: self.orders,
            events: self.events.clone(),
            squares: self.squares.clone(),
            active: Default::default(),
        }
    }

    /// Costs little more than the units if both have the same ground: fields that are searched as far as their copies stay.
    fn clone_from(&mut self, source: &Self) {
        let Self {
            ground,
            flows,
            clock,
            paths_debt,
            settings,
            is_surveyed,
            walkers,
            movers,
            hashes,
            gone,
            replaced,
            finder,
            orders,
            events,
            ..
        } = source;
        if self.ground == *ground {
            self.flows.copy_fields(flows);
        } else {
            self.ground.clone_from(ground);
            self.flows.clone_from(flows);
        }
        (self.settings, self.is_surveyed, self.orders) = (*settings, *is_surveyed, *orders);
        (self.gone, self.clock, self.paths_debt) = (*gone, *clock, *paths_debt);
        self.replaced.clone_from(replaced);
        self.finder.clone_from(finder);
        self.walkers.clone_from(walkers);
        self.movers.clone_from(movers);
        self.hashes.clone_from(hashes);
        self.events.clone_from(events);
    }
}
