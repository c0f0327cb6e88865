//! Copies that reuse the memory of what they replace.

/// Implements [`Clone`] for a structure with a default value, such that `clone_from` copies field by field into the memory that is there.
/// Fields after `not` are scratch, which the copy keeps as it is. Every field must be named, so a new one cannot be forgotten.
macro_rules! clone_in_place {
    ($type:ident: $($field:ident),+ $(; not $($scratch:ident),+)?) => {
        impl Clone for $type {
            fn clone(&self) -> Self {
                let mut copy = Self::default();
                copy.clone_from(self);
                copy
            }

            fn clone_from(&mut self, source: &Self) {
                let Self { $($field,)+ $($($scratch: _,)+)? } = source;
                $(self.$field.clone_from($field);)+
            }
        }
    };
}

pub(crate) use clone_in_place;
