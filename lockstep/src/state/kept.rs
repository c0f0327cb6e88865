//! Lists of objects that change seldom.

use core::ops::{Deref, Index, IndexMut};
use core::slice::{self, SliceIndex};

use crate::state::StateError;
use crate::state::hashing::Hashing;

/// In the place of a hash: the object may have changed since.
const CHANGED: u64 = 0;

/// A list of objects with a hash of each one's numbers, which is computed again only after somebody could have changed the object. A state shows it by
/// [`Visit::kept`](crate::state::Visit::kept).
///
/// As with any list, show the length first, unless it follows from the setup: the list does not do it by itself.
///
/// A checksum of 5,000 units in every frame reads 5,000 hashes then, and the numbers of those that have changed. Whoever borrows an object to write has changed
/// it, so compare before you write what is mostly the same. What an object shows has to follow from it alone: nothing behind a
/// [`Cell`](core::cell::Cell) or an `Rc`, where it changes without a borrow to write.
///
/// ```
/// use testudo_lockstep::state::{self, Kept, State, StateError, Visit};
///
/// /// Hit points of all units.
/// struct Game(Kept<i32>);
///
/// impl State for Game {
///     fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
///         v.kept("unit", &mut self.0, |v, hit_points| v.number("hit_points", hit_points))
///     }
/// }
///
/// let mut game = Game(Kept::from(vec![100, 90]));
/// let before = state::digest(&mut game);
/// game.0[1] -= 1;
/// assert_ne!(state::digest(&mut game), before);
/// game.0[1] += 1;
/// assert_eq!(state::digest(&mut game), before);
/// ```
#[derive(Debug)]
pub struct Kept<T> {
    objects: Vec<T>,
    // not state: follows from the objects; those that are missing at the end are not known
    hashes: Vec<u64>,
}

impl<T> Kept<T> {
    /// The list itself, to add and to remove: all objects count as changed.
    pub fn as_mut_vec(&mut self) -> &mut Vec<T> {
        self.hashes.clear();
        &mut self.objects
    }

    /// Calls `each` with the hash of every object.
    #[inline(always)]
    pub(super) fn each_hash(
        &mut self,
        v: &mut Hashing,
        numbers: &mut impl FnMut(&mut Hashing, &mut T) -> Result<(), StateError>,
        each: impl Fn(&mut Hashing, u64),
    ) -> Result<(), StateError> {
        self.hashes.resize(self.objects.len(), CHANGED);
        for (hash, object) in self.hashes.iter_mut().zip(&mut self.objects) {
            if *hash == CHANGED {
                v.begin_object();
                let shown = numbers(v, object);
                let new = v.end_object();
                shown?;
                *hash = new.max(CHANGED + 1);
            }
            each(v, *hash);
        }
        Ok(())
    }

    /// All objects, for a visitor; it says whether it writes.
    pub(super) fn visited(&mut self, writes: bool) -> &mut [T] {
        if writes {
            self.hashes.clear();
        }
        &mut self.objects
    }
}

impl<T> From<Vec<T>> for Kept<T> {
    fn from(objects: Vec<T>) -> Self {
        Self { objects, hashes: Vec::new() }
    }
}

impl<T> Deref for Kept<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.objects
    }
}

impl<'a, T> IntoIterator for &'a Kept<T> {
    type Item = &'a T;
    type IntoIter = slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.objects.iter()
    }
}

impl<T, I: SliceIndex<[T]>> Index<I> for Kept<T> {
    type Output = I::Output;

    fn index(&self, at: I) -> &I::Output {
        &self.objects[at]
    }
}

impl<T> IndexMut<usize> for Kept<T> {
    fn index_mut(&mut self, at: usize) -> &mut T {
        if let Some(hash) = self.hashes.get_mut(at) {
            *hash = CHANGED;
        }
        &mut self.objects[at]
    }
}

impl<T: Clone> Clone for Kept<T> {
    fn clone(&self) -> Self {
        Self { objects: self.objects.clone(), hashes: self.hashes.clone() }
    }

    fn clone_from(&mut self, source: &Self) {
        self.objects.clone_from(&source.objects);
        self.hashes.clone_from(&source.hashes);
    }
}

impl<T: PartialEq> PartialEq for Kept<T> {
    fn eq(&self, other: &Self) -> bool {
        self.objects == other.objects
    }
}

impl<T: Eq> Eq for Kept<T> {}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Vec::new().into()
    }
}
