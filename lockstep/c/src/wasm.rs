//! Memory for JavaScript, which has no other way to put bytes where the library can read them. Only in a page; not in the header.

use std::alloc::{Layout, alloc, dealloc};

fn layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes.max(1), 16).ok()
}

/// So many bytes, at an address that any structure of the header may have. NULL if there is no memory.
#[unsafe(no_mangle)]
pub extern "C" fn testudo_alloc(bytes: usize) -> *mut u8 {
    // SAFETY: the size is not 0.
    layout(bytes).map_or(std::ptr::null_mut(), |layout| unsafe { alloc(layout) })
}

/// Frees what `testudo_alloc` gave for the same number of bytes. NULL is nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_dealloc(pointer: *mut u8, bytes: usize) {
    if let (false, Some(layout)) = (pointer.is_null(), layout(bytes)) {
        // SAFETY: the caller's promise.
        unsafe { dealloc(pointer, layout) };
    }
}
