//! Arrays that take one kind of index and no other.

/// Lets slices and vectors of what has the trait take this index, which has `at`.
macro_rules! indexed_by {
    ($index:ty, $trait:ident) => {
        impl<T: $trait> core::ops::Index<$index> for [T] {
            type Output = T;

            #[inline(always)]
            #[track_caller]
            fn index(&self, index: $index) -> &T {
                &self[index.at()]
            }
        }

        impl<T: $trait> core::ops::IndexMut<$index> for [T] {
            #[inline(always)]
            #[track_caller]
            fn index_mut(&mut self, index: $index) -> &mut T {
                &mut self[index.at()]
            }
        }

        impl<T: $trait> core::ops::Index<$index> for alloc::vec::Vec<T> {
            type Output = T;

            #[inline(always)]
            #[track_caller]
            fn index(&self, index: $index) -> &T {
                &self.as_slice()[index]
            }
        }

        impl<T: $trait> core::ops::IndexMut<$index> for alloc::vec::Vec<T> {
            #[inline(always)]
            #[track_caller]
            fn index_mut(&mut self, index: $index) -> &mut T {
                &mut self.as_mut_slice()[index]
            }
        }
    };
}

pub(crate) use indexed_by;
