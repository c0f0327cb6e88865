//! A judge that is no engine: discs that follow the velocity they want and are held apart by springs, with steps so small that nothing is
//! left to a solver.
//!
//! A unit whose velocity is written in every frame has no momentum; what frictionless contacts leave of its velocity is the nearest velocity
//! that lets nobody enter another (Maury and Venel, "A discrete contact model for crowd motion", 2011). Springs that push with `stiffness`
//! times the overlap compute the same as they grow stiff: `dx/dt = wish + stiffness * overlap * normal`.

/// Discs of radius 1/2 before two walls.
pub struct Judge {
    discs: Vec<[f64; 2]>,
    posts: [[f64; 2]; 2],
    half: [f64; 2],
    stiffness: f64,
    /// Steps in a frame, and the length of one, seconds.
    steps: u32,
    step: f64,
    /// Pairs that may touch within the frame.
    pairs: Vec<[usize; 2]>,
    moves: Vec<[f64; 2]>,
}

/// Diameter of a disc.
const DIAMETER: f64 = 1.0;

/// Two units get at most so much closer in a frame, units.
const REACH: f64 = 0.1;

impl Judge {
    /// Frames per second: how often units choose where to go.
    pub const RATE: u32 = 100;

    /// Discs at their first places, and two boxes.
    pub fn new(
        discs: Vec<[f64; 2]>,
        posts: [[f64; 2]; 2],
        half: [f64; 2],
        stiffness: f64,
        rate: u32,
    ) -> Self {
        // A disc has six neighbours at most, each of which takes part in the move: a step of 1/10 of the springs' time is stable.
        let steps = (10.0 * stiffness / f64::from(rate)).ceil() as u32;
        let step = 1.0 / f64::from(rate) / f64::from(steps);
        let moves = vec![[0.0; 2]; discs.len()];
        Self { discs, posts, half, stiffness, steps, step, pairs: Vec::new(), moves }
    }

    /// Centres of the discs.
    pub fn discs(&self) -> &[[f64; 2]] {
        &self.discs
    }

    /// One frame.
    pub fn move_on(&mut self, wishes: &[[f64; 2]]) {
        self.pairs.clear();
        for (i, a) in self.discs.iter().enumerate() {
            let near =
                |j: &usize| (a[0] - self.discs[*j][0]).hypot(a[1] - self.discs[*j][1]) < DIAMETER + REACH;
            self.pairs.extend((0..i).filter(near).map(|j| [i, j]));
        }
        for _ in 0..self.steps {
            self.moves.copy_from_slice(wishes);
            for &[i, j] in &self.pairs {
                let push = self.push([0, 1].map(|x| self.discs[i][x] - self.discs[j][x]), DIAMETER);
                for x in 0..2 {
                    self.moves[i][x] += push[x];
                    self.moves[j][x] -= push[x];
                }
            }
            for (i, disc) in self.discs.iter().enumerate() {
                if disc[0].abs() > self.half[0] + DIAMETER {
                    continue;
                }
                for post in self.posts {
                    let nearest =
                        [0, 1].map(|x| disc[x].clamp(post[x] - self.half[x], post[x] + self.half[x]));
                    // A wall does not give way: it pushes as two discs together.
                    let push = self.push([0, 1].map(|x| disc[x] - nearest[x]), DIAMETER / 2.0);
                    (0..2).for_each(|x| self.moves[i][x] += 2.0 * push[x]);
                }
            }
            for (disc, way) in self.discs.iter_mut().zip(&self.moves) {
                (0..2).for_each(|x| disc[x] += way[x] * self.step);
            }
        }
    }

    /// The speed that a spring gives to a body at `offset` from what it overlaps.
    fn push(&self, offset: [f64; 2], clear: f64) -> [f64; 2] {
        let squared = offset[0] * offset[0] + offset[1] * offset[1];
        if squared >= clear * clear || squared == 0.0 {
            return [0.0; 2];
        }
        let distance = squared.sqrt();
        offset.map(|part| self.stiffness * (clear - distance) * part / distance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two that push against each other stand, as deep as the springs say: each is pushed back at its own speed.
    #[test]
    fn two_that_push_against_each_other_stand() {
        let far = [[0.0, 100.0]; 2];
        let mut judge = Judge::new(vec![[-2.0, 0.0], [2.0, 0.0]], far, [1.0; 2], 400.0, Judge::RATE);
        for _ in 0..3 * Judge::RATE {
            judge.move_on(&[[3.0, 0.0], [-3.0, 0.0]]);
        }
        let [a, b] = [judge.discs()[0], judge.discs()[1]];
        assert!((b[0] - a[0] - (1.0 - 3.0 / 400.0)).abs() < 1e-6, "{a:?} {b:?}");
    }

    /// A disc that wants to go into a wall stays before it and slides along.
    #[test]
    fn a_wall_lets_nobody_in_and_slides() {
        let posts = [[0.0, 10.0], [0.0, -10.0]];
        let mut judge = Judge::new(vec![[-2.0, 5.0]], posts, [0.5, 9.0], 1_600.0, Judge::RATE);
        for _ in 0..Judge::RATE {
            judge.move_on(&[[3.0, 2.0]]);
        }
        let [x, y] = judge.discs()[0];
        assert!((x + 1.0).abs() < 0.01 && (y - 7.0).abs() < 1e-6, "{x} {y}");
    }
}
