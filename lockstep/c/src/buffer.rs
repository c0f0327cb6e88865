//! Bytes that the library writes and the caller reads.

use crate::failure::{Outcome, TestudoStatus, status, value};
use crate::handle::{Handle, free, hold, opaque, with};
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
    status(|| unsafe { with(buffer, |bytes| Outcome::Ok(bytes.clear())) })
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
        // SAFETY: as above.
        unsafe { with(buffer, |bytes| Outcome::Ok(bytes.extend_from_slice(data))) }
    })
}

/// The bytes, `testudo_buffer_length` of them; valid until the buffer is changed or freed. NULL for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_buffer_data(buffer: *const TestudoBuffer) -> *const u8 {
    // SAFETY: the contract of pointers.
    value(std::ptr::null(), || unsafe { with(buffer, |bytes| Ok(bytes.as_ptr())) })
}

/// Number of bytes. 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_buffer_length(buffer: *const TestudoBuffer) -> usize {
    // SAFETY: the contract of pointers.
    value(0, || unsafe { with(buffer, |bytes| Ok(bytes.len())) })
}
