//! Handles: objects that C holds by pointer.
#![expect(clippy::disallowed_types, reason = "a second call is refused, from whatever thread")]

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::failure::{Failure, Outcome, TESTUDO_BUSY, TESTUDO_PANICKED, value};
use crate::pointer::write;

/// Nobody uses it.
const FREE: u8 = 0;
/// A call runs.
const USED: u8 = 1;
/// A call panicked: what is inside may be anything.
const BROKEN: u8 = 2;
/// As free, but the caller of this library cannot free it.
const LENT: u8 = 3;

/// An object behind a pointer, for one call at a time. So neither callbacks nor threads can reach into a call that runs.
#[derive(Debug)]
pub(crate) struct Handle<T> {
    state: AtomicU8,
    inside: UnsafeCell<T>,
}

// SAFETY: `open` gives `inside` to one call at a time.
unsafe impl<T: Send> Sync for Handle<T> {}

/// A type whose pointers C holds: a tuple structure around a [`Handle`].
pub(crate) trait Opaque: Sized {
    /// It goes to whatever thread calls.
    type Inside: Send;
    /// For words: "world".
    const NAME: &'static str;
    fn around(handle: Handle<Self::Inside>) -> Self;
    fn handle(&self) -> &Handle<Self::Inside>;
}

/// `opaque!(TestudoWorld, World, "world")`: the type that C sees, and what is in it.
macro_rules! opaque {
    ($(#[$docs:meta])* $name:ident, $inside:ty, $word:literal) => {
        impl $crate::handle::Opaque for $name {
            type Inside = $inside;
            const NAME: &'static str = $word;
            fn around(handle: $crate::handle::Handle<$inside>) -> Self {
                Self(handle)
            }
            fn handle(&self) -> &$crate::handle::Handle<$inside> {
                &self.0
            }
        }
    };
}
pub(crate) use opaque;

/// The time in which a call uses a handle.
struct Use<'a> {
    state: &'a AtomicU8,
    /// What the handle was.
    before: u8,
    /// What the handle is afterwards.
    then: u8,
}

impl Drop for Use<'_> {
    fn drop(&mut self) {
        self.state.store(self.then, Ordering::Release);
    }
}

impl<T> Handle<T> {
    fn open(&self, name: &str) -> Outcome<Use<'_>> {
        let unused = |state| matches!(state, FREE | LENT).then_some(USED);
        match self.state.fetch_update(Ordering::Acquire, Ordering::Relaxed, unused) {
            // Until the call has ended well.
            Ok(before) => Ok(Use { state: &self.state, before, then: BROKEN }),
            Err(BROKEN) => Err(Failure::new(
                TESTUDO_PANICKED,
                format!("the {name} is broken since a fault of this library"),
            )),
            Err(_) => Err(Failure::new(TESTUDO_BUSY, format!("the {name} is in use by another call"))),
        }
    }
}

/// A new object for C to hold.
pub(crate) fn hold<O: Opaque>(inside: O::Inside) -> *mut O {
    let handle = Handle { state: AtomicU8::new(FREE), inside: UnsafeCell::new(inside) };
    Box::into_raw(Box::new(O::around(handle)))
}

/// Lends an object to a function of the caller, and takes it back: it can be used meanwhile, and not be freed. Returns the function's answer, and
/// what is in the object then; a failure if a call has broken it, or another thread still uses it.
pub(crate) fn lend<O: Opaque<Inside: Default>, T>(
    inside: O::Inside,
    call: impl FnOnce(*mut O) -> T,
) -> (T, Outcome<O::Inside>) {
    let lent = hold::<O>(inside);
    // SAFETY: it was made just now, and nobody can free it.
    let state = unsafe { &(*lent).handle().state };
    state.store(LENT, Ordering::Relaxed);
    let answer = call(lent);
    // SAFETY: as above.
    let inside = unsafe { with(lent, |inside| Ok(std::mem::take(inside))) };
    // From another thread that uses it still it is not taken away.
    let _ = state.compare_exchange(LENT, FREE, Ordering::Relaxed, Ordering::Relaxed);
    // SAFETY: as above; the loan is over.
    unsafe { free(lent) };
    (answer, inside)
}

/// [`hold`], by way of a pointer for the result, which gets NULL first: so a failure leaves nothing there that could be taken for a handle. All that can fail
/// is within `make`. Nothing is made if the pointer is NULL.
///
/// # Safety
/// `out` is NULL or may be written.
pub(crate) unsafe fn give<O: Opaque>(
    out: *mut *mut O,
    make: impl FnOnce() -> Outcome<O::Inside>,
) -> Outcome<()> {
    if out.is_null() {
        return Err(Failure::null("out"));
    }
    // SAFETY: the caller's promise.
    unsafe { write(out, std::ptr::null_mut(), "out") }?;
    let held = hold(make()?);
    // SAFETY: as above.
    unsafe { write(out, held, "out") }
}

/// Opens a handle for the length of a call.
///
/// # Safety
/// `pointer` is NULL or came from [`hold`] and was not freed.
pub(crate) unsafe fn with<O: Opaque, T>(
    pointer: *const O,
    call: impl FnOnce(&mut O::Inside) -> Outcome<T>,
) -> Outcome<T> {
    // SAFETY: the caller's promise.
    let object = unsafe { pointer.as_ref() }.ok_or_else(|| Failure::null(O::NAME))?;
    let handle = object.handle();
    let mut using = handle.open(O::NAME)?;
    // SAFETY: the handle is open, so no other call has this reference.
    let outcome = call(unsafe { &mut *handle.inside.get() });
    using.then = using.before;
    outcome
}

/// [`with`], for what cannot fail and returns nothing.
///
/// # Safety
/// As [`with`].
pub(crate) unsafe fn change<O: Opaque>(pointer: *const O, call: impl FnOnce(&mut O::Inside)) -> Outcome<()> {
    let change = |inside: &mut O::Inside| {
        call(inside);
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { with(pointer, change) }
}

/// Frees a handle, unless a call uses it, or it is only lent: then it stays, and `testudo_error()` says so.
///
/// # Safety
/// As [`with`]; the pointer is of no use afterwards.
pub(crate) unsafe fn free<O: Opaque>(pointer: *mut O) {
    value((), || {
        // SAFETY: the caller's promise.
        let Some(object) = (unsafe { pointer.as_ref() }) else { return Ok(()) };
        match object.handle().open(O::NAME) {
            Err(failure) if failure.status == TESTUDO_BUSY => return Err(failure),
            Ok(mut using) if using.before == LENT => {
                using.then = LENT;
                let words = format!("the {} is only lent, and is freed by the library", O::NAME);
                return Err(Failure::new(TESTUDO_BUSY, words));
            }
            // It is not given to anybody again.
            Ok(using) => std::mem::forget(using),
            Err(_) => {}
        }
        // SAFETY: it came from `hold`, and no call uses it.
        drop(unsafe { Box::from_raw(pointer) });
        Ok(())
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::{TESTUDO_NULL, TESTUDO_OK, status};

    struct Thing(Handle<u32>);
    opaque!(Thing, u32, "thing");

    /// What a call says, with what is in the thing.
    fn call(thing: *const Thing, inner: impl FnOnce(&mut u32) -> Outcome<()>) -> i32 {
        // SAFETY: the things of these tests live until `free`.
        status(|| unsafe { with(thing, inner) })
    }

    #[test]
    fn a_call_within_a_call_is_refused_and_nothing_is_freed_under_it() {
        let thing = hold::<Thing>(1);
        let outer = call(thing, |number| {
            assert_eq!(call(thing, |_| Ok(())), TESTUDO_BUSY);
            // SAFETY: it is in use, so it stays.
            unsafe { free(thing) };
            *number += 1;
            Ok(())
        });
        assert_eq!(outer, TESTUDO_OK);
        let seen = call(thing, |number| if *number == 2 { Ok(()) } else { Err(Failure::null("number")) });
        assert_eq!(seen, TESTUDO_OK);
        // SAFETY: nobody uses it any more.
        unsafe { free(thing) };
        assert_eq!(call(std::ptr::null(), |_| Ok(())), TESTUDO_NULL);
    }

    #[test]
    fn what_is_lent_takes_calls_and_cannot_be_freed() {
        let (answer, inside) = lend(1, |thing: *mut Thing| {
            // SAFETY: it is lent, so it stays.
            unsafe { free(thing) };
            let change = |number: &mut u32| {
                *number += 1;
                Ok(())
            };
            let once = call(thing, change);
            // SAFETY: as above.
            unsafe { free(thing) };
            [once, call(thing, change)]
        });
        assert_eq!((answer, inside.ok()), ([TESTUDO_OK; 2], Some(3)));
        let (answer, inside) = lend(1, |thing: *mut Thing| call(thing, |_| panic!("in a call")));
        assert_eq!((answer, inside.is_err()), (TESTUDO_PANICKED, true));
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "what another thread is told is the subject")]
    fn another_thread_is_refused_while_a_call_runs() {
        let thing = hold::<Thing>(0);
        // SAFETY: it lives until the end of the test.
        let shared = unsafe { &*thing };
        let outer = call(thing, |_| {
            std::thread::scope(|scope| {
                let other = scope.spawn(|| call(shared, |_| Ok(())));
                assert_eq!(other.join().expect("no panic"), TESTUDO_BUSY);
            });
            Ok(())
        });
        assert_eq!(outer, TESTUDO_OK);
        // SAFETY: nobody uses it any more.
        unsafe { free(thing) };
    }

    #[test]
    fn a_panic_stays_inside_and_breaks_the_handle() {
        let thing = hold::<Thing>(0);
        assert_eq!(call(thing, |number| panic!("number {number}")), TESTUDO_PANICKED);
        assert_eq!(call(thing, |_| Ok(())), TESTUDO_PANICKED);
        // SAFETY: nobody uses it any more; it can be freed all the same.
        unsafe { free(thing) };
    }
}
