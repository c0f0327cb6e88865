//! Things that get a call every frame until they are finished: path followers, timers, effects.

/// Something that acts once per frame.
///
/// It is simulation state: it belongs into the game's checksum and snapshots. `C` is what it acts on.
///
/// Amounts per second need care in integers: 10 per second at 20 frames per second is 0 per frame if it is simply divided. Carry the remainder
/// (the physics package's per-second rate does).
pub trait FrameObject<C: ?Sized> {
    /// Acts for one frame of `1 / frames_per_second` seconds. Returns whether it has finished; then it is not called again.
    fn frame(&mut self, context: &mut C, frames_per_second: u32) -> bool;
}

/// Objects in the order in which they were added. Finished ones are removed after the frame, in that order, and the others keep theirs.
///
/// ```
/// use testudo_lockstep::{FrameObject, FrameObjects};
/// struct Timer(u32);
/// impl FrameObject<Vec<&'static str>> for Timer {
///     fn frame(&mut self, log: &mut Vec<&'static str>, _: u32) -> bool {
///         self.0 -= 1;
///         if self.0 == 0 { log.push("ring") }
///         self.0 == 0
///     }
/// }
/// let (mut timers, mut log) = (FrameObjects::new(), Vec::new());
/// timers.add(Timer(2));
/// timers.run(&mut log, 20);
/// assert!(log.is_empty());
/// timers.run(&mut log, 20);
/// assert_eq!((log, timers.len()), (vec!["ring"], 0));
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FrameObjects<T> {
    objects: Vec<T>,
}

impl<T> Default for FrameObjects<T> {
    fn default() -> Self {
        Self { objects: Vec::new() }
    }
}

impl<T> FrameObjects<T> {
    /// No objects.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an object after all others. Its first call is in the next [`FrameObjects::run`].
    pub fn add(&mut self, object: T) {
        self.objects.push(object);
    }

    /// Calls every object in order, then removes the finished ones.
    pub fn run<C: ?Sized>(&mut self, context: &mut C, frames_per_second: u32)
    where
        T: FrameObject<C>,
    {
        self.objects.retain_mut(|object| !object.frame(context, frames_per_second));
    }

    /// The objects in order, for the checksum and for drawing.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.objects.iter()
    }

    /// How many there are.
    pub fn len(&self) -> u32 {
        self.objects.len() as u32
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Follower {
        name: u8,
        frames: u32,
    }

    impl FrameObject<Vec<u8>> for Follower {
        fn frame(&mut self, log: &mut Vec<u8>, frames_per_second: u32) -> bool {
            assert_eq!(frames_per_second, 20);
            log.push(self.name);
            self.frames -= 1;
            self.frames == 0
        }
    }

    #[test]
    fn removal_keeps_the_order() {
        let mut followers = FrameObjects::new();
        for (name, frames) in [(0, 3), (1, 1), (2, 2), (3, 1), (4, 3)] {
            followers.add(Follower { name, frames });
        }
        let mut log = Vec::new();
        for _ in 0..3 {
            followers.run(&mut log, 20);
            log.push(9);
        }
        assert_eq!(log, [0, 1, 2, 3, 4, 9, 0, 2, 4, 9, 0, 4, 9]);
        assert!(followers.is_empty());
    }
}
