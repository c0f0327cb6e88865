//! Values that come in and go out by pointer. None needs alignment: JavaScript and C# may put structures anywhere.

use std::ffi::{CStr, c_char};

use crate::failure::{Failure, Outcome, TESTUDO_OUT_OF_RANGE};

/// A truth value: 0 or 1. Any other number counts as 1.
pub type TestudoBool = u8;

/// Values of which any bits will do: numbers, and structures of such.
///
/// # Safety
/// No bit pattern is invalid: no `bool`, enum or reference is in it.
pub(crate) unsafe trait Plain: Copy {}

/// `plain!(A, B)`: [`Plain`] for these types.
macro_rules! plain {
    ($($name:ty),* $(,)?) => {
        // SAFETY: all their fields are numbers, or structures in such a list.
        $(unsafe impl $crate::pointer::Plain for $name {})*
    };
}
pub(crate) use plain;

plain!(u8, u32, u64, i64);

/// What is at a pointer that may not be NULL.
///
/// # Safety
/// `pointer` is NULL or can be read.
pub(crate) unsafe fn read<T: Plain>(pointer: *const T, name: &str) -> Outcome<T> {
    // SAFETY: the caller's promise.
    unsafe { read_if(pointer) }.ok_or_else(|| Failure::null(name))
}

/// What is at a pointer; `None` for NULL.
///
/// # Safety
/// As [`read`].
pub(crate) unsafe fn read_if<T: Plain>(pointer: *const T) -> Option<T> {
    // SAFETY: the caller's promise; any bits are a value.
    (!pointer.is_null()).then(|| unsafe { pointer.read_unaligned() })
}

/// Puts a value where a pointer that may not be NULL says.
///
/// # Safety
/// `pointer` is NULL or can be written.
pub(crate) unsafe fn write<T: Copy>(pointer: *mut T, value: T, name: &str) -> Outcome<()> {
    if pointer.is_null() {
        return Err(Failure::null(name));
    }
    // SAFETY: the caller's promise.
    unsafe { pointer.write_unaligned(value) };
    Ok(())
}

/// Bytes of the caller. NULL stands for none, if the length is 0.
///
/// # Safety
/// `data` is NULL or `length` bytes can be read there while `'a` lasts, and nobody changes them.
pub(crate) unsafe fn bytes<'a>(data: *const u8, length: usize) -> Outcome<&'a [u8]> {
    match (data.is_null(), length) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(Failure::null("data")),
        (false, _) if isize::try_from(length).is_err() => Err(Failure::new(
            TESTUDO_OUT_OF_RANGE,
            format!("length must be at most {}, not {length}", isize::MAX),
        )),
        // SAFETY: the caller's promise; the length is one of memory.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(data, length) }),
    }
}

/// A text of the caller.
///
/// # Safety
/// `pointer` is NULL or points to a text that ends with 0, as long as the result is used.
pub(crate) unsafe fn text<'a>(pointer: *const c_char, name: &str) -> Outcome<&'a str> {
    if pointer.is_null() {
        return Err(Failure::null(name));
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map_err(|_| Failure::new(TESTUDO_OUT_OF_RANGE, format!("{name} is not UTF-8")))
}

/// A copy of `count` values, at most `max`. NULL stands for none, if `count` is 0.
///
/// # Safety
/// `pointer` is NULL or `count` values can be read there.
pub(crate) unsafe fn list<T: Plain>(pointer: *const T, count: u32, max: u32, name: &str) -> Outcome<Vec<T>> {
    if count > max {
        return Err(Failure::new(
            TESTUDO_OUT_OF_RANGE,
            format!("{name}: at most {max} are allowed, not {count}"),
        ));
    }
    if pointer.is_null() && count > 0 {
        return Err(Failure::null(name));
    }
    // SAFETY: the caller's promise; any bits are a value.
    Ok((0..count as usize).map(|at| unsafe { pointer.add(at).read_unaligned() }).collect())
}

/// Writes as many of these as there is room for. Returns how many there are.
///
/// # Safety
/// `out` is NULL or `capacity` values can be written there.
pub(crate) unsafe fn fill<T: Copy>(
    out: *mut T,
    capacity: u32,
    items: impl Iterator<Item = T>,
) -> Outcome<usize> {
    if out.is_null() && capacity > 0 {
        return Err(Failure::null("out"));
    }
    let mut count = 0;
    for item in items {
        if count < capacity as usize {
            // SAFETY: the caller's promise; there is room.
            unsafe { out.add(count).write_unaligned(item) };
        }
        count += 1;
    }
    Ok(count)
}
