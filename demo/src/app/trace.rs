//! What the engines say of themselves (`tracing`), for whoever looks for a fault. Nothing is said unless it is asked for.

use tracing_subscriber::filter::{ParseError, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// The variable that holds the filter of a program.
#[cfg(not(target_arch = "wasm32"))]
const VARIABLE: &str = "TESTUDO_LOG";

/// Begins to say what the variable `TESTUDO_LOG` lets through; nothing without it.
///
/// # Errors
/// The variable is no filter.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn begin_if_asked() -> Result<(), String> {
    match std::env::var(VARIABLE) {
        Ok(filter) if !filter.is_empty() => {
            begin(&filter).map_err(|error| format!("{VARIABLE}={filter}: {error}"))
        }
        _ => Ok(()),
    }
}

/// Begins to say what a filter lets through: a level (`info`, `debug`) or levels of modules (`testudo_lockstep=debug,quinn=warn`). A program
/// says it on standard error, a page on its console.
///
/// # Errors
/// This is no filter.
pub(crate) fn begin(filter: &str) -> Result<(), ParseError> {
    let filter: Targets = filter.parse()?;
    #[cfg(not(target_arch = "wasm32"))]
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .log_internal_errors(false)
        .with_writer(std::io::stderr);
    // A page has no clock of the system; the console has its own.
    #[cfg(target_arch = "wasm32")]
    let lines =
        tracing_subscriber::fmt::layer().with_ansi(false).without_time().with_writer(|| console::Line);
    // It is begun once; a second time changes nothing.
    let _ = tracing_subscriber::registry().with(lines).with(filter).try_init();
    Ok(())
}

#[cfg(target_arch = "wasm32")]
mod console {
    use std::io;

    /// Writes whole lines, as the subscriber hands them over.
    pub(super) struct Line;

    impl io::Write for Line {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            macroquad::miniquad::debug!("{}", String::from_utf8_lossy(bytes).trim_end());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
}
