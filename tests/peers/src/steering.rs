//! How units steer to a door at the origin that leads to the right.

use testudo_tests::scenes::UNIT_SPEED;

use crate::field::units;

/// A rule of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steering {
    /// At full speed to the middle of the door, then on.
    Middle,
    /// To the nearest point of the door, a radius from its posts, then on.
    Nearest,
    /// Like [`Steering::Nearest`], but no faster than a unit ahead within [`NEAR`].
    Queue,
    /// Like [`Steering::Nearest`], but a unit waits if another one within [`NEAR`] is nearer to the door.
    GiveWay,
    /// Like [`Steering::Nearest`], and a unit nearer to the door has the higher rank: others do not push it.
    Ranks,
    /// Like [`Steering::Nearest`], and the unit that is blocked for longest within two units has a higher rank for half a second.
    Patience,
    /// Like [`Steering::Nearest`]; each unit stands aside for a half second of every two, at a time of its own.
    Breathe,
}

impl Steering {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Middle, Self::Nearest, Self::Queue, Self::GiveWay, Self::Ranks, Self::Patience, Self::Breathe];
}

/// Units that are closer to each other mind each other.
const NEAR: f64 = 1.15;

/// The highest rank.
const TOP: usize = 100;

/// Seconds that a unit is blocked before it gets a rank, and seconds that it keeps it.
const PATIENCE: f64 = 1.0;
const PUSHING: f64 = 0.5;

/// What all units want.
pub struct Steerer {
    steering: Steering,
    width: f64,
    rate: f64,
    frame: u32,
    /// Where they were in the last frame.
    last: Vec<[f64; 2]>,
    wishes: Vec<[f64; 2]>,
    ranks: Vec<u8>,
    /// Seconds for which each is blocked, and for which it keeps its rank.
    waited: Vec<f64>,
    pushing: Vec<f64>,
}

fn between([x, y]: [f64; 2], [to_x, to_y]: [f64; 2]) -> [f64; 2] {
    [to_x - x, to_y - y]
}

impl Steerer {
    /// For a door of this width, with units at these places.
    pub fn new(steering: Steering, width: f64, rate: u32, places: Vec<[f64; 2]>) -> Self {
        let count = places.len();
        Self {
            steering,
            width,
            rate: f64::from(rate),
            frame: 0,
            last: places,
            wishes: vec![[0.0; 2]; count],
            ranks: vec![0; count],
            waited: vec![0.0; count],
            pushing: vec![0.0; count],
        }
    }

    /// Velocities that the units want, units per second.
    pub fn wishes(&self) -> &[[f64; 2]] {
        &self.wishes
    }

    /// Their ranks; all 0 with most rules.
    pub fn ranks(&self) -> &[u8] {
        &self.ranks
    }

    /// The way of a unit to its target.
    fn way(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let free = (self.width / 2.0 - 0.5).max(0.0);
        let inside = x > -0.6 && y.abs() <= self.width / 2.0;
        let aside = if self.steering == Steering::Middle { 0.0 } else { y.clamp(-free, free) };
        between([x, y], if inside || x > 0.5 { [x + 10.0, y] } else { [-0.5, aside] })
    }

    /// One frame: where everybody wants to go now.
    pub fn steer(&mut self, places: Vec<[f64; 2]>) {
        // How far each still has to go. A unit that is through has nothing before it.
        let left: Vec<_> =
            places.iter().map(|&[x, y]| if x > -0.6 { -x } else { (x + 0.5).hypot(y) }).collect();
        match self.steering {
            Steering::Ranks => self.rank_by_distance(&left),
            Steering::Patience => self.rank_by_patience(&places),
            _ => {}
        }
        for unit in 0..places.len() {
            let way = self.way(places[unit]);
            let length = way[0].hypot(way[1]).max(1e-9);
            let pace =
                if places[unit][0] < -0.6 { self.pace(unit, way, length, &places, &left) } else { full() };
            self.wishes[unit] = way.map(|part| part / length * pace);
        }
        self.last = places;
        self.frame += 1;
    }

    /// The speed of a unit that is still before the door.
    fn pace(&self, unit: usize, way: [f64; 2], length: f64, places: &[[f64; 2]], left: &[f64]) -> f64 {
        let near = |other: &usize| {
            let [x, y] = between(places[unit], places[*other]);
            *other != unit && x * x + y * y < NEAR * NEAR
        };
        match self.steering {
            Steering::Queue => {
                let ahead = |other: &usize| {
                    let [x, y] = between(places[unit], places[*other]);
                    x * way[0] + y * way[1] > 0.5 * x.hypot(y) * length
                };
                let other = (0..places.len()).filter(near).find(ahead);
                other.map_or(full(), |other| full().min(self.speed(other, places) + 0.1))
            }
            Steering::GiveWay if (0..places.len()).filter(near).any(|other| left[other] < left[unit]) => 0.0,
            Steering::Breathe => {
                let phase = (self.frame + 17 * unit as u32) % (2 * self.rate as u32);
                if phase < self.rate as u32 / 2 { -0.3 * full() } else { full() }
            }
            _ => full(),
        }
    }

    /// How fast a unit was in the last frame.
    fn speed(&self, unit: usize, places: &[[f64; 2]]) -> f64 {
        let [x, y] = between(self.last[unit], places[unit]);
        x.hypot(y) * self.rate
    }

    fn rank_by_distance(&mut self, left: &[f64]) {
        let mut order: Vec<_> = (0..left.len()).collect();
        order.sort_by(|&a, &b| left[a].total_cmp(&left[b]));
        for (place, unit) in order.into_iter().filter(|&unit| left[unit] > 0.0).enumerate() {
            self.ranks[unit] = TOP.saturating_sub(place) as u8;
        }
    }

    fn rank_by_patience(&mut self, places: &[[f64; 2]]) {
        for unit in 0..places.len() {
            let blocked = places[unit][0] < -0.6 && self.speed(unit, places) < full() / 4.0;
            self.waited[unit] = if blocked { self.waited[unit] + 1.0 / self.rate } else { 0.0 };
            self.pushing[unit] -= 1.0 / self.rate;
        }
        for unit in 0..places.len() {
            let near = |other: &usize| {
                let [x, y] = between(places[unit], places[*other]);
                *other != unit && x * x + y * y < 4.0
            };
            let waits_longest = |other: usize| {
                self.pushing[other] <= 0.0 && (self.waited[other], other) < (self.waited[unit], unit)
            };
            if self.waited[unit] > PATIENCE && (0..places.len()).filter(near).all(waits_longest) {
                self.pushing[unit] = PUSHING;
                self.waited[unit] = 0.0;
            }
            self.ranks[unit] = if self.pushing[unit] > 0.0 { TOP as u8 } else { 0 };
        }
    }
}

/// Full speed, units per second.
fn full() -> f64 {
    units(UNIT_SPEED)
}
