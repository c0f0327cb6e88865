//! Standard output and standard error. Their readers may go (`| head`, a closed terminal, a full disk): a match goes on without them.

use std::fmt::Arguments;
use std::io::{self, Write as _};
use std::sync::OnceLock;

/// The first error of the standard output.
static LOST: OnceLock<io::Error> = OnceLock::new();

/// Prints on standard output. [`lost`] keeps an error.
pub(crate) fn print(text: Arguments<'_>) {
    if let Err(error) = io::stdout().lock().write_fmt(text) {
        let _ = LOST.set(error);
    }
}

/// Prints on standard error. There is nowhere to report an error.
pub(crate) fn print_error(text: Arguments<'_>) {
    let _ = io::stderr().lock().write_fmt(text);
}

/// Why the standard output lacks something. A reader that has seen enough and has closed the pipe is no error.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn lost() -> Option<&'static io::Error> {
    if let Err(error) = io::stdout().lock().flush() {
        let _ = LOST.set(error);
    }
    LOST.get().filter(|error| error.kind() != io::ErrorKind::BrokenPipe)
}

/// `print!` that does not panic.
macro_rules! out {
    ($($text:tt)*) => { $crate::console::print(format_args!($($text)*)) };
}

/// `println!` that does not panic.
macro_rules! outln {
    () => { $crate::console::print(format_args!("\n")) };
    ($($text:tt)*) => { $crate::console::print(format_args!("{}\n", format_args!($($text)*))) };
}

/// `eprintln!` that does not panic.
macro_rules! errln {
    ($($text:tt)*) => { $crate::console::print_error(format_args!("{}\n", format_args!($($text)*))) };
}

pub(crate) use {errln, out, outln};
