//! Lines that are typed on the terminal while a match is played.

use std::sync::mpsc::{self, Receiver};

/// Lines that wait to be read by the match.
const LINES_MAX: usize = 16;

/// The lines of the input, from now on.
pub(crate) fn typed() -> Receiver<String> {
    let (sender, receiver) = mpsc::sync_channel(LINES_MAX);
    // It ends with the input, or with the program.
    let _ = std::thread::Builder::new().name("input".into()).spawn(move || {
        let mut lines = std::io::stdin().lines();
        loop {
            #[cfg(target_os = "linux")]
            terminal::wait_for_a_line();
            if !lines.next().is_some_and(|line| line.is_ok_and(|line| sender.send(line).is_ok())) {
                return;
            }
        }
    });
    receiver
}

/// Whoever reads from a terminal in its background is stopped by the system (SIGTTIN), with all threads: a host that was sent there stopped everybody's
/// match. To ask whether there is something to read stops nobody.
#[cfg(target_os = "linux")]
mod terminal {
    use std::io::{self, IsTerminal as _, stdin};

    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;
    use tokio::runtime::Builder;

    /// From one look to the next, while the terminal has something that is for others.
    const PAUSE: std::time::Duration = std::time::Duration::from_millis(500);

    /// Waits until this program may read a line that is there. Returns at once where the input is no terminal.
    pub(super) fn wait_for_a_line() {
        while stdin().is_terminal() && wait_for_bytes().is_ok() && is_in_background() {
            std::thread::park_timeout(PAUSE);
        }
    }

    fn wait_for_bytes() -> io::Result<()> {
        let runtime = Builder::new_current_thread().enable_io().build()?;
        runtime.block_on(async {
            #[expect(
                deprecated,
                reason = "the other one is unsafe: the file has to stay open, as the standard input does"
            )]
            let input = AsyncFd::with_interest(stdin(), Interest::READABLE)?;
            input.readable().await.map(drop)
        })
    }

    fn is_in_background() -> bool {
        std::fs::read_to_string("/proc/self/stat").is_ok_and(|stat| is_behind(&stat).unwrap_or(false))
    }

    /// Whether another group of processes has the terminal. By what the system says: the number, the name in brackets, the state, the parent, the own group,
    /// the session, the terminal, and the group in its foreground; -1 where there is no terminal.
    pub(super) fn is_behind(stat: &str) -> Option<bool> {
        let (_, rest) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let (own, foreground) = (*fields.get(2)?, *fields.get(5)?);
        Some(foreground != "-1" && own != foreground)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::terminal::is_behind;

    #[test]
    fn the_background_is_told_from_the_foreground() {
        assert_eq!(is_behind("12 (a b) c) S 1 12 3 34816 12 4194304 0"), Some(false));
        assert_eq!(is_behind("12 (testudo) S 1 12 3 34816 3 4194304 0"), Some(true));
        assert_eq!(is_behind("12 (testudo) S 1 12 3 0 -1 4194304 0"), Some(false));
        assert_eq!(is_behind("12 (testudo) S 1"), None);
    }
}
