//! Bytes that the library writes and the caller reads.

use crate::failure::{Failure, Outcome, TESTUDO_OUT_OF_RANGE, TestudoStatus, count, status, value};
use crate::handle::{Handle, Opaque, change, free, hold, opaque, with};
use crate::pointer::bytes;

/// Bytes that the library writes: saved states, packets, words. It grows as needed.
#[derive(Debug)]
pub struct TestudoBuffer(Handle<Vec<u8>>);
opaque!(TestudoBuffer, Vec<u8>, "buffer");

/// A new, empty buffer; free it with `testudo_buffer_free`.
#[unsafe(no_mangle)]
pub extern "C" fn testudo_buffer_new() -> *mut TestudoBuffer {
    hold(Vec::new())
}

/// Frees a buffer. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_buffer_free(buffer: *mut TestudoBuffer) {
    // SAFETY: the contract of pointers.
    unsafe { free(buffer) }
}

/// Makes the buffer empty. It keeps its memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_buffer_clear(buffer: *mut TestudoBuffer) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { change(buffer, Vec::clear) })
}

/// Adds bytes at the end. `data` may be NULL if `length` is 0; it may not point into the same buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_buffer_append(
    buffer: *mut TestudoBuffer,
    data: *const u8,
    length: usize,
) -> TestudoStatus {
    status(|| {
        // SAFETY: the contract of pointers.
        let data = unsafe { bytes(data, length) }?;
        let append = |bytes: &mut Vec<u8>| {
            make_room(bytes, data.len())?;
            bytes.extend_from_slice(data);
            Ok(())
        };
        // SAFETY: as above.
        unsafe { with(buffer, append) }
    })
}

/// Gives the buffer this length: it loses bytes at the end, or gets zeros there. Whoever cannot pass pointers of its own writes
/// into `testudo_buffer_data` then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_buffer_resize(buffer: *mut TestudoBuffer, length: usize) -> TestudoStatus {
    let resize = |bytes: &mut Vec<u8>| {
        make_room(bytes, length.saturating_sub(bytes.len()))?;
        bytes.resize(length, 0);
        Ok(())
    };
    // SAFETY: the contract of pointers.
    status(|| unsafe { with(buffer, resize) })
}

/// The bytes, `testudo_buffer_length` of them, to read and to write; valid until the next call that gets this buffer to write into, or
/// frees it. NULL for NULL; if the buffer is empty, any pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_buffer_data(buffer: *mut TestudoBuffer) -> *mut u8 {
    // SAFETY: the contract of pointers.
    value(std::ptr::null_mut(), || unsafe { with(buffer, |bytes| Ok(bytes.as_mut_ptr())) })
}

/// Number of bytes. 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_buffer_length(buffer: *const TestudoBuffer) -> usize {
    // SAFETY: the contract of pointers.
    value(0, || unsafe { with(buffer, |bytes| Ok(bytes.len())) })
}

/// Memory for so many bytes more: the caller's number may be any.
fn make_room(bytes: &mut Vec<u8>, more: usize) -> Outcome<()> {
    let refusal = |_| Failure::new(TESTUDO_OUT_OF_RANGE, format!("there is no memory for {more} bytes more"));
    bytes.try_reserve(more).map_err(refusal)
}

/// Whether two objects of a kind differ: 0 or 1. If they do, and `words` is not NULL, it gets where.
///
/// # Safety
/// The contract of pointers.
pub(crate) unsafe fn difference<O: Opaque, D: std::fmt::Display>(
    (here, there): (*const O, *const O),
    words: *mut TestudoBuffer,
    find: impl FnOnce(&O::Inside, &O::Inside) -> Option<D>,
) -> i32 {
    let compare = |here: &mut O::Inside| {
        // SAFETY: the caller's promise.
        unsafe { with(there, |there| Ok(find(here, there))) }
    };
    count(|| {
        let same = std::ptr::eq(here, there);
        // SAFETY: as above.
        let difference = unsafe { with(here, |here| if same { Ok(None) } else { compare(here) }) }?;
        let Some(difference) = difference else { return Ok(0) };
        if !words.is_null() {
            // SAFETY: as above.
            unsafe { put(words, difference) }?;
        }
        Ok(1)
    })
}

/// Puts a text with a 0 at its end into a buffer.
///
/// # Safety
/// As [`change`].
pub(crate) unsafe fn put(out: *mut TestudoBuffer, text: impl std::fmt::Display) -> Outcome<()> {
    // SAFETY: the caller's promise.
    unsafe { change(out, |bytes| *bytes = format!("{text}\0").into_bytes()) }
}
