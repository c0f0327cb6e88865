//! SIGINT and SIGTERM end a match in good order; a second signal ends the program at once.

#[cfg(unix)]
mod unix {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Arc, LazyLock};

    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::flag;

    static ASKED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

    pub(crate) fn watch() {
        for signal in [SIGINT, SIGTERM] {
            // In this order, so that the first handler finds the flag unset. On systems without them signals keep their default effect.
            let _ = flag::register_conditional_default(signal, Arc::clone(&ASKED));
            let _ = flag::register(signal, Arc::clone(&ASKED));
        }
    }

    pub(crate) fn is_asked() -> bool {
        ASKED.load(Ordering::Relaxed)
    }
}

/// From now on a signal asks the program to end instead of ending it.
pub(crate) fn watch() {
    #[cfg(unix)]
    unix::watch();
}

/// Whether the program has been asked to end.
pub(crate) fn is_asked() -> bool {
    #[cfg(unix)]
    return unix::is_asked();
    #[cfg(not(unix))]
    return false;
}
