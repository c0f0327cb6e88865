//! SIGINT, SIGTERM and SIGHUP end a match in good order; a second SIGINT or SIGTERM ends the program at once.

#[cfg(unix)]
mod unix {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Arc, LazyLock, Once};

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::flag;

    static ASKED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

    /// With handlers twice, the second pair would take the first signal for a second one.
    static ONCE: Once = Once::new();

    pub(crate) fn watch() {
        ONCE.call_once(register);
    }

    fn register() {
        for signal in [SIGINT, SIGTERM] {
            // In this order, so that the first handler finds the flag unset. On systems without them signals keep their default effect.
            let _ = flag::register_conditional_default(signal, Arc::clone(&ASKED));
            let _ = flag::register(signal, Arc::clone(&ASKED));
        }
        // A terminal that is closed sends this one twice: the system does, and the shell.
        if takes_hangup() {
            let _ = flag::register(SIGHUP, Arc::clone(&ASKED));
        }
    }

    /// Whether SIGHUP would end the program: started with `nohup` it ignores the signal, and goes on doing so. Linux says which signals are ignored;
    /// elsewhere the signal keeps its effect.
    pub(super) fn takes_hangup() -> bool {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 0)
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

#[cfg(all(test, unix))]
mod tests {
    use std::process::Command;

    use signal_hook::consts::{SIGHUP, SIGTERM};
    use signal_hook::low_level::raise;

    use super::unix::takes_hangup;
    use super::{is_asked, watch};

    /// Set in the process that gets the signals: all tests of this process would see that they came.
    const SIGNALS: &str = "TESTUDO_TEST_SIGNALS";

    /// A window watches after the command that opens it did: the first SIGTERM ended the program at once.
    #[test]
    fn one_signal_asks_however_often_it_is_watched() {
        if let Ok(signals) = std::env::var(SIGNALS) {
            watch();
            watch();
            signals.split(' ').for_each(|signal| raise(signal.parse().unwrap()).unwrap());
            assert!(is_asked());
            return;
        }
        let ended = |signals: &[i32]| {
            let signals: Vec<String> = signals.iter().map(ToString::to_string).collect();
            let mut child = Command::new(std::env::current_exe().unwrap());
            child.args(["--exact", "app::interrupt::tests::one_signal_asks_however_often_it_is_watched"]);
            let output = child.env(SIGNALS, signals.join(" ")).output().unwrap();
            let is_one = String::from_utf8_lossy(&output.stdout).contains("1 passed");
            output.status.success() && is_one
        };
        assert!(ended(&[SIGTERM]));
        assert!(!ended(&[SIGTERM, SIGTERM]), "the second one ends the program");
        // Tests that were started with `nohup` ignore it, and so do their children.
        let takes_hangup = takes_hangup();
        assert_eq!(ended(&[SIGHUP, SIGHUP]), takes_hangup, "a terminal that closes sends two");
        assert!(!takes_hangup || !ended(&[SIGHUP, SIGTERM]));
    }
}
