//! Lines that are typed on the terminal while a match is played.

use std::io::{BufRead, Read as _};
use std::sync::mpsc::{self, Receiver};

/// Lines that wait to be read by the match.
const LINES_MAX: usize = 16;

/// Longest line that means something, bytes. The input may be a file without lines.
const LINE_BYTES_MAX: u64 = 1_024;

/// Stands for a longer one: half of it could mean something else.
const TOO_LONG: &str = "?";

/// The lines of the input, from now on.
pub(crate) fn typed() -> Receiver<String> {
    let (sender, receiver) = mpsc::sync_channel(LINES_MAX);
    // It ends with the input, or with the program.
    let _ = std::thread::Builder::new().name("input".into()).spawn(move || {
        let mut input = std::io::stdin().lock();
        loop {
            #[cfg(target_os = "linux")]
            terminal::wait_for_a_line();
            if next_line(&mut input).is_none_or(|line| sender.send(line).is_err()) {
                return;
            }
        }
    });
    receiver
}

/// The next line, with a sign in place of what is no UTF-8, as Alt with a key may be; none at the end of the input.
fn next_line(input: &mut impl BufRead) -> Option<String> {
    let mut line = Vec::new();
    input.take(LINE_BYTES_MAX).read_until(b'\n', &mut line).ok().filter(|read| *read > 0)?;
    if line.len() as u64 == LINE_BYTES_MAX && !line.ends_with(b"\n") {
        input.skip_until(b'\n').ok()?;
        return Some(TOO_LONG.into());
    }
    Some(String::from_utf8_lossy(&line).into_owned())
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

#[cfg(test)]
mod tests {
    use super::*;

    /// It was kept whole, and a file without an end took all memory.
    #[test]
    fn a_line_of_any_length_is_one_short_line() {
        let long = std::io::repeat(b'x').take(1 << 22).chain(&b" vote 2\nready\r\n\xff\nwho"[..]);
        let mut input = std::io::BufReader::new(long);
        let lines: Vec<String> = std::iter::from_fn(|| next_line(&mut input)).collect();
        assert_eq!(lines, [TOO_LONG, "ready\r\n", "\u{fffd}\n", "who"]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_background_is_told_from_the_foreground() {
        use super::terminal::is_behind;

        assert_eq!(is_behind("12 (a b) c) S 1 12 3 34816 12 4194304 0"), Some(false));
        assert_eq!(is_behind("12 (testudo) S 1 12 3 34816 3 4194304 0"), Some(true));
        assert_eq!(is_behind("12 (testudo) S 1 12 3 0 -1 4194304 0"), Some(false));
        assert_eq!(is_behind("12 (testudo) S 1"), None);
    }
}
