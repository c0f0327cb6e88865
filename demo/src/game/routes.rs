//! The routes that units share: units that go to the same place over the same ground use the same route.

use testudo_lockstep::state::{StateError, Visit};

use crate::game::point::Point;
use crate::game::route::Route;
use crate::game::terrain::Terrain;

/// Greatest number of routes at a time. Units without a route walk straight.
const ROUTES_MAX: u8 = 64;

/// Greatest number of cells that all searches together process in a frame.
const CELLS_PER_FRAME: u32 = 1_024;

/// An index in the list of routes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct RouteId(u8);

/// All routes in use.
#[derive(PartialEq, Eq, Debug, Default)]
pub(crate) struct Routes {
    /// Never more than [`ROUTES_MAX`].
    routes: Vec<Option<Route>>,
    /// Bit `n`: some unit uses route `n`.
    // not state: counted again in every frame before it is read
    taken: u64,
    /// Bit `n`: some unit stands where the search of route `n` has not come yet.
    // not state: as above
    wanted: u64,
}

impl RouteId {
    /// Shows the index of the route, if any.
    #[inline(always)]
    pub(crate) fn visit<V: Visit>(
        route: &mut Option<Self>,
        v: &mut V,
        name: &'static str,
    ) -> Result<(), StateError> {
        // One more than the number, so that none is 0.
        let mut number = route.map_or(0, |route| route.0 + 1);
        v.number_in(name, &mut number, 0..=i64::from(ROUTES_MAX))?;
        *route = number.checked_sub(1).map(Self);
        Ok(())
    }
}

impl Clone for Routes {
    fn clone(&self) -> Self {
        Self { routes: self.routes.clone(), taken: self.taken, wanted: self.wanted }
    }

    fn clone_from(&mut self, source: &Self) {
        let Self { routes, taken, wanted } = source;
        self.routes.clone_from(routes);
        (self.taken, self.wanted) = (*taken, *wanted);
    }
}

impl Routes {
    /// The route to a place; a new one if no unit goes there yet. None if there are too many.
    pub(crate) fn to(&mut self, goal: Point, standing: u64, terrain: &Terrain) -> Option<RouteId> {
        let leads_there =
            |route: &Option<Route>| route.as_ref().is_some_and(|route| route.leads_to(goal, standing));
        if let Some(known) = self.routes.iter().position(leads_there) {
            // A route requested in the middle of a frame comes after the count of its users, so it must not be dropped at the end of the
            // frame.
            self.count(RouteId(known as u8));
            return Some(RouteId(known as u8));
        }
        let free = self.routes.iter().position(Option::is_none);
        let slot = free.unwrap_or(self.routes.len());
        if slot >= usize::from(ROUTES_MAX) {
            return None;
        }
        if slot == self.routes.len() {
            self.routes.push(None);
        }
        self.routes[slot] = Some(Route::new(goal, standing, terrain));
        self.count(RouteId(slot as u8));
        Some(RouteId(slot as u8))
    }

    pub(crate) fn get(&self, id: RouteId) -> Option<&Route> {
        self.routes.get(usize::from(id.0))?.as_ref()
    }

    /// Starts counting which routes are in use.
    pub(crate) fn begin_count(&mut self) {
        (self.taken, self.wanted) = (0, 0);
    }

    /// A unit uses this route.
    pub(crate) fn count(&mut self, id: RouteId) {
        self.taken |= 1 << (id.0 % ROUTES_MAX);
    }

    /// A unit on this route does not know its path yet.
    pub(crate) fn want(&mut self, id: RouteId) {
        self.wanted |= 1 << (id.0 % ROUTES_MAX);
    }

    /// Removes the routes that no unit has used since the count began.
    pub(crate) fn drop_unused(&mut self) {
        for (number, route) in self.routes.iter_mut().enumerate() {
            if self.taken & 1 << number == 0 {
                *route = None;
            }
        }
    }

    /// Continues the searches that units wait for: at most [`CELLS_PER_FRAME`] cells, routes with low numbers first. A search grows outward
    /// from its goal, so it ends with the farthest unit.
    pub(crate) fn search(&mut self) {
        let mut budget = CELLS_PER_FRAME;
        for (number, route) in self.routes.iter_mut().enumerate() {
            if let Some(route) = route.as_mut().filter(|_| self.wanted & 1 << number != 0) {
                budget -= route.search(budget);
            }
        }
    }

    /// Routes in ascending order of their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Route> {
        self.routes.iter().flatten()
    }

    /// Shows all routes; `ground` gives the terrain while certain buildings stand.
    pub(crate) fn visit<V: Visit>(
        &mut self,
        v: &mut V,
        ground: impl Fn(u64) -> Terrain,
    ) -> Result<(), StateError> {
        let Self { routes, taken: _, wanted: _ } = self;
        let mut length = routes.len() as u32;
        v.number_in("routes", &mut length, 0..=i64::from(ROUTES_MAX))?;
        routes.resize(length as usize, None);
        for (number, route) in (0..).zip(routes) {
            v.object("route", number);
            let mut exists = route.is_some();
            v.number("exists", &mut exists)?;
            if !exists {
                *route = None;
                continue;
            }
            if route.is_none() {
                *route = Some(Route::new(Point::ZERO, 0, &ground(0)));
            }
            if let Some(route) = route {
                route.visit(v, &ground)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::terrain::tests::ground;

    #[test]
    fn who_goes_to_the_same_place_shares_a_route_and_nobody_leaves_none() {
        let terrain = ground(40, &[(0, 0, 2, 9)]);
        let mut routes = Routes::default();
        let [a, b] = [Point::from_units(20, 5), Point::from_units(-30, 5)];
        let first = routes.to(a, 3, &terrain).unwrap();
        assert_eq!(routes.to(a.offset(1, 1), 3, &terrain), Some(first));
        let second = routes.to(b, 3, &terrain).unwrap();
        let other_ground = routes.to(a, 1, &terrain).unwrap();
        assert!(first != second && other_ground != first);
        routes.drop_unused();
        assert_eq!(routes.iter().count(), 3, "asked for since the last count");
        routes.begin_count();
        routes.count(second);
        routes.drop_unused();
        assert_eq!(routes.iter().count(), 1);
        assert!(routes.get(first).is_none() && routes.get(second).is_some());
        assert_eq!(routes.to(Point::ZERO, 0, &terrain), Some(first), "its place is free again");
    }

    #[test]
    fn there_is_a_limit_to_routes_and_to_the_cells_of_a_frame() {
        let terrain = ground(100, &[]);
        let mut routes = Routes::default();
        for number in 0..64 {
            assert!(
                routes.to(Point::from_units(number, 0), u64::from(number.unsigned_abs()), &terrain).is_some()
            );
        }
        assert_eq!(routes.to(Point::from_units(0, 50), 0, &terrain), None);
        let cells = |routes: &Routes| routes.iter().map(Route::cells_taken).sum::<u32>();
        routes.search();
        assert_eq!(cells(&routes), 0, "nobody wants one");
        for number in 10..64 {
            routes.want(RouteId(number));
        }
        routes.search();
        assert_eq!(cells(&routes), CELLS_PER_FRAME);
        routes.search();
        assert_eq!(cells(&routes), 2 * CELLS_PER_FRAME);
    }
}
