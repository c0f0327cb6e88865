//! Structures that are plain data: bytes that can be read and written as such.

use bytemuck::Pod;

/// The size of a field that is plain data.
pub(crate) const fn size_of_plain<T, F: Pod>(_: fn(&T) -> &F) -> usize {
    size_of::<F>()
}

/// Marks a structure as plain data ([`Pod`]), given its fields in order. What bytemuck's own derive checks, without the five seconds that a user's build would
/// take for a parser of Rust.
macro_rules! plain_data {
    ($type:ident: $($field:tt),+) => {
        const _: () = {
            let mut end = 0;
            $(
                assert!(core::mem::offset_of!($type, $field) == end, "the field before this one is missing, or the order is another one");
                end += $crate::math::plain::size_of_plain(|value: &$type| &value.$field);
            )+
            assert!(end == size_of::<$type>(), "a field is missing, or there are bytes behind the last one");
        };

        // SAFETY: all fields are plain data, and there are no bytes between or behind them (checked above). Zeros are plain data.
        #[allow(unsafe_code)]
        unsafe impl bytemuck::Zeroable for $type {}
        // SAFETY: as above.
        #[allow(unsafe_code)]
        unsafe impl bytemuck::Pod for $type {}
    };
}
pub(crate) use plain_data;
