//! What C sees of failures: a status, and words.

use std::borrow::Cow;
use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a call came to: 0, or the kind of failure. `testudo_error()` has the words. Numbers never change their meaning.
pub type TestudoStatus = i32;

/// Done.
pub const TESTUDO_OK: TestudoStatus = 0;
/// A pointer is NULL that may not be.
pub const TESTUDO_NULL: TestudoStatus = 1;
/// A number, a length, a text or an enumerator is out of its range.
pub const TESTUDO_OUT_OF_RANGE: TestudoStatus = 2;
/// The body is not in this world (any more), or no unit of this crowd.
pub const TESTUDO_STALE: TestudoStatus = 3;
/// This cannot be done now, or not with this object.
pub const TESTUDO_REFUSED: TestudoStatus = 4;
/// A limit is reached: a queue or a table is full.
pub const TESTUDO_FULL: TestudoStatus = 5;
/// Bytes are not what they should be.
pub const TESTUDO_DAMAGED: TestudoStatus = 6;
/// Bytes were written by another version.
pub const TESTUDO_VERSION: TestudoStatus = 7;
/// The handle is in use: by the call that called back, or by another thread.
pub const TESTUDO_BUSY: TestudoStatus = 8;
/// A fault of this library. The handle takes no further calls but `_free`.
pub const TESTUDO_PANICKED: TestudoStatus = 9;
/// The system refused: a socket, its randomness.
pub const TESTUDO_IO: TestudoStatus = 10;
/// A callback of the game said that it failed.
pub const TESTUDO_GAME_FAILED: TestudoStatus = 11;

const NAMES: [&std::ffi::CStr; 12] = [
    c"TESTUDO_OK",
    c"TESTUDO_NULL",
    c"TESTUDO_OUT_OF_RANGE",
    c"TESTUDO_STALE",
    c"TESTUDO_REFUSED",
    c"TESTUDO_FULL",
    c"TESTUDO_DAMAGED",
    c"TESTUDO_VERSION",
    c"TESTUDO_BUSY",
    c"TESTUDO_PANICKED",
    c"TESTUDO_IO",
    c"TESTUDO_GAME_FAILED",
];

/// Why a call failed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: TestudoStatus,
    pub(crate) words: Cow<'static, str>,
}

impl Failure {
    pub(crate) fn new(status: TestudoStatus, words: impl Into<Cow<'static, str>>) -> Self {
        Self { status, words: words.into() }
    }

    /// A pointer that may not be NULL is.
    pub(crate) fn null(name: &str) -> Self {
        Self::new(TESTUDO_NULL, format!("{name} is NULL"))
    }

    /// A number that names nothing.
    pub(crate) fn enumerator(name: &str, given: u32, max: u32) -> Self {
        Self::new(TESTUDO_OUT_OF_RANGE, format!("{name} must be 0..={max}, not {given}"))
    }
}

/// The result of what a function does.
pub(crate) type Outcome<T> = Result<T, Failure>;

std::thread_local! {
    /// The words of this thread's last failure.
    static WORDS: RefCell<CString> = RefCell::default();
}

fn keep_words(words: &str) {
    let words = CString::new(words.replace('\0', " ")).unwrap_or_default();
    // A thread that ends has no place for them any more.
    let _ = WORDS.try_with(|place| place.replace(words));
}

/// Runs what a function does; neither panics nor failures leave as such.
fn caught<T>(body: impl FnOnce() -> Outcome<T>) -> Result<T, TestudoStatus> {
    // Handles take no calls after a panic (`handle`), and nothing else outlives one.
    let failure = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(value)) => return Ok(value),
        Ok(Err(failure)) => failure,
        Err(panic) => {
            let text = panic.downcast_ref::<&str>().copied();
            let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
            Failure::new(TESTUDO_PANICKED, format!("a fault of this library: {}", text.unwrap_or("no words")))
        }
    };
    keep_words(&failure.words);
    Err(failure.status)
}

/// For functions that can only be done, or fail.
pub(crate) fn status(body: impl FnOnce() -> Outcome<()>) -> TestudoStatus {
    caught(body).err().unwrap_or(TESTUDO_OK)
}

/// For functions that say how many there are: negative if they fail.
pub(crate) fn count(body: impl FnOnce() -> Outcome<usize>) -> i32 {
    match caught(body) {
        Ok(count) => i32::try_from(count).unwrap_or(i32::MAX),
        Err(status) => -status,
    }
}

/// For functions that fail for bad handles only, and return something else then.
pub(crate) fn value<T>(otherwise: T, body: impl FnOnce() -> Outcome<T>) -> T {
    caught(body).unwrap_or(otherwise)
}

/// The words of this thread's last failure (UTF-8), for a person to read; "" if there was none. Valid until the thread's next
/// failure or its end. Calls that succeed leave them alone, so ask the status first.
#[unsafe(no_mangle)]
pub extern "C" fn testudo_error() -> *const c_char {
    // A thread that ends has none any more.
    WORDS.try_with(|words| words.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

/// The name of a status, as `TESTUDO_STALE`; "unknown" for other numbers.
#[unsafe(no_mangle)]
pub extern "C" fn testudo_status_name(status: TestudoStatus) -> *const c_char {
    let name = usize::try_from(status).ok().and_then(|at| NAMES.get(at));
    name.unwrap_or(&c"unknown").as_ptr()
}
