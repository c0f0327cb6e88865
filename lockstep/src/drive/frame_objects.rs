//! Objects that are called every frame until they are finished: path followers, timers, effects.

use indexmap::IndexMap;

use crate::state::{State, StateError, Visit};

/// Something that acts once per frame.
///
/// It is simulation state and must be in the game's checksum and snapshots ([`FrameObjects`] implements `State`). `C` is the context that
/// it acts on.
///
/// Amounts per second need care in integers: 10 per second at 20 frames per second is 0 per frame by plain division. Carry the remainder
/// (the physics package's `Rate` does).
pub trait FrameObject<C: ?Sized> {
    /// Acts for one frame of `1 / frames_per_second` seconds. Returns whether it has finished; then it is removed and not called again.
    fn frame(&mut self, context: &mut C, frames_per_second: u32) -> bool;
}

/// Identifies an object in [`FrameObjects`]. Numbers are not reused within a match.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FrameObjectId(u32);

impl FrameObjectId {
    /// The number, for storing it in a state.
    #[must_use]
    pub fn number(self) -> u32 {
        self.0
    }

    /// The id with this [`FrameObjectId::number`].
    #[must_use]
    pub fn from_number(number: u32) -> Self {
        Self(number)
    }
}

/// Greatest number of objects in a restored state.
const OBJECTS_MAX: i64 = 1 << 20;

/// Objects in the order in which they were added. Finished ones are removed after the frame, and the others keep their order. An object can
/// be removed by its id before it finishes.
///
/// Keep them below 1,048,576: nobody loads a state with more, so peers could not join, and saves not be loaded.
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
/// let snooze = timers.add(Timer(1));
/// timers.remove(snooze);
/// timers.run(&mut log, 20);
/// assert!(log.is_empty());
/// timers.run(&mut log, 20);
/// assert_eq!((log, timers.len()), (vec!["ring"], 0));
/// ```
#[derive(Clone, Debug)]
pub struct FrameObjects<T> {
    /// In the order in which they were added, which is that of their numbers. No order depends on the map's hash. None: removed, so that the objects behind
    /// it need not move.
    objects: IndexMap<u32, Option<T>, Numbers>,
    /// How many places are empty.
    // not state: when they are closed affects what a call costs, not what it returns
    empty: u32,
    /// The number of the next object.
    next: u32,
}

/// Hashes numbers in the same way in every process.
type Numbers = core::hash::BuildHasherDefault<twox_hash::XxHash3_64>;

impl<T> Default for FrameObjects<T> {
    fn default() -> Self {
        Self { objects: IndexMap::default(), empty: 0, next: 0 }
    }
}

impl<T: PartialEq> PartialEq for FrameObjects<T> {
    fn eq(&self, other: &Self) -> bool {
        self.next == other.next && self.iter().eq(other.iter())
    }
}

impl<T: Eq> Eq for FrameObjects<T> {}

impl<T> FrameObjects<T> {
    /// No objects.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an object after all others. Its first call is in the next [`FrameObjects::run`]. It does not check how many there are: see [`FrameObjects`].
    pub fn add(&mut self, object: T) -> FrameObjectId {
        let number = self.next;
        self.next = self.next.wrapping_add(1);
        // In a state from elsewhere numbers may come again; their objects are new, and stand last.
        if matches!(self.objects.get(&number), Some(None)) {
            self.close_up();
        }
        self.objects.insert(number, Some(object));
        FrameObjectId(number)
    }

    /// Removes an object before it has finished; none if it does not exist any more. The others keep their order. On average over many calls this takes
    /// constant time.
    pub fn remove(&mut self, id: FrameObjectId) -> Option<T> {
        let removed = self.objects.get_mut(&id.0)?.take()?;
        self.empty += 1;
        if self.empty > self.len() {
            self.close_up();
        }
        Some(removed)
    }

    fn close_up(&mut self) {
        self.objects.retain(|_, object| object.is_some());
        self.empty = 0;
    }

    /// The object, if it has not finished.
    #[must_use]
    pub fn get(&self, id: FrameObjectId) -> Option<&T> {
        self.objects.get(&id.0)?.as_ref()
    }

    /// The object, mutable.
    pub fn get_mut(&mut self, id: FrameObjectId) -> Option<&mut T> {
        self.objects.get_mut(&id.0)?.as_mut()
    }

    /// Calls every object in order, then removes the finished ones.
    pub fn run<C: ?Sized>(&mut self, context: &mut C, frames_per_second: u32)
    where
        T: FrameObject<C>,
    {
        self.retain(|_, object| !object.frame(context, frames_per_second));
    }

    /// Removes the objects for which `keep` returns false; the others keep their order.
    pub fn retain(&mut self, mut keep: impl FnMut(FrameObjectId, &mut T) -> bool) {
        self.objects.retain(|number, object| {
            object.as_mut().is_some_and(|object| keep(FrameObjectId(*number), object))
        });
        self.empty = 0;
    }

    /// The objects in order, for drawing.
    pub fn iter(&self) -> impl Iterator<Item = (FrameObjectId, &T)> {
        self.objects.iter().filter_map(|(number, object)| Some((FrameObjectId(*number), object.as_ref()?)))
    }

    /// Number of objects.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.objects.len() as u32 - self.empty
    }

    /// Whether there are no objects.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Shows the number of objects, then each object with its id as object index. An object's own walk shows only its numbers, without
/// [`Visit::object`].
impl<T: State + Default> State for FrameObjects<T> {
    fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
        v.object("frame objects", 0);
        v.number("next", &mut self.next)?;
        self.close_up();
        let mut count = self.len();
        v.number_in("count", &mut count, 0..=OBJECTS_MAX)?;
        self.objects.truncate(count as usize);
        let mut numbers: Vec<u32> = self.objects.keys().copied().collect();
        numbers.resize(count as usize, u32::MAX);
        v.object("frame object ids", 0);
        for number in &mut numbers {
            v.number("id", number)?;
        }
        // After a restore the same positions may have other ids.
        if !numbers.iter().eq(self.objects.keys()) {
            let mut sorted = numbers.clone();
            sorted.sort_unstable();
            if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
                return Err(StateError::Part { what: "two frame objects have the same id" });
            }
            let mut kept = core::mem::take(&mut self.objects).into_values();
            self.objects.extend(
                numbers.into_iter().map(|number| (number, Some(kept.next().flatten().unwrap_or_default()))),
            );
        }
        for (number, object) in &mut self.objects {
            v.object("frame object", *number);
            object.get_or_insert_default().visit(v)?;
        }
        Ok(())
    }
}
