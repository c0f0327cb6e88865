//! SIGINT and SIGTERM end a match in good order; the same signal a second time ends the program at once.

#[cfg(unix)]
mod unix {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Arc, LazyLock};

    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::flag;

    static ASKED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

    pub(crate) fn watch() {
        for signal in [SIGINT, SIGTERM] {
            // In this order: the first one finds the flag unset. Where neither can be had, signals do what they always did.
            let _ = flag::register_conditional_default(signal, Arc::clone(&ASKED));
            let _ = flag::register(signal, Arc::clone(&ASKED));
        }
    }

    pub(crate) fn is_asked() -> bool {
        ASKED.load(Ordering::Relaxed)
    }
}

/// From now on a signal does not end the program, but asks it to end.
pub(crate) fn watch() {
    #[cfg(unix)]
    unix::watch();
}

/// The program has been asked to end.
pub(crate) fn is_asked() -> bool {
    #[cfg(unix)]
    return unix::is_asked();
    #[cfg(not(unix))]
    return false;
}
