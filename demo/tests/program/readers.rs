//! The reader of the output may go away: a closed pipe, a full disk. The program plays on and ends with one of its exit codes.

use std::process::Stdio;

use crate::run::program;

/// Each panicked, and the exit code was 101.
#[test]
fn a_reader_that_goes_ends_nobody() {
    for (arguments, code) in [("headless --turns 20 --units 5", 0), ("headless --players 99", 2)] {
        let mut child = program(arguments);
        let mut child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        drop((child.stdout.take(), child.stderr.take()));
        assert_eq!(child.wait().expect("it ends").code(), Some(code), "{arguments}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_result_that_cannot_be_written_is_an_error() {
    let full = || std::fs::File::options().write(true).open("/dev/full").expect("the device");
    let ended = program("headless --turns 20 --units 5 --json").stdout(full()).output().expect("it ends");
    assert_eq!(ended.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&ended.stderr).contains("could not be written"), "{ended:?}");
    // It was no error if the help was lost.
    let ended = program("verify --help").stdout(full()).output().expect("it ends");
    assert_eq!(ended.status.code(), Some(1), "{ended:?}");
    let ended = program("headless --turns 20 --units 5").stderr(full()).output().expect("it ends");
    assert_eq!(ended.status.code(), Some(0));
}

#[cfg(target_os = "linux")]
#[test]
fn input_without_end_is_refused() {
    for arguments in ["join @/dev/zero", "join @", "verdict /dev/zero", "headless --report no/such/folder"] {
        let ended = program(arguments).output().expect("it ends");
        assert_eq!(ended.status.code(), Some(2), "{arguments}: {ended:?}");
    }
}

#[cfg(unix)]
#[test]
fn arguments_that_are_no_text_are_refused() {
    use std::os::unix::ffi::OsStrExt as _;
    let text = std::ffi::OsStr::from_bytes(b"\xff");
    let ended = program("--json").arg(text).output().expect("it ends");
    assert_eq!(ended.status.code(), Some(2), "{ended:?}");
    assert!(ended.stdout.starts_with(b"{\"error\""), "{ended:?}");
}

/// A relay with a pipe that nobody reads printed its counters on it, and one signal did not end it.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_ends_a_relay_whose_reader_stands_still() {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::os::fd::AsRawFd as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    /// The system's flag for a file that never makes anybody wait.
    const NONBLOCK: i32 = 0o4000;
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let again = format!("/proc/self/fd/{}", writer.as_raw_fd());
    let mut filler =
        std::fs::File::options().write(true).custom_flags(NONBLOCK).open(again).expect("the pipe");
    while filler.write(&[b' '; 4_096]).is_ok() {}
    while filler.write(b" ").is_ok() {}

    let mut child =
        program("relay --bind 127.0.0.1:0").stdout(writer).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut line = String::new();
    BufReader::new(child.stderr.take().expect("piped")).read_line(&mut line).expect("a line");
    assert!(line.starts_with("relay at "), "{line}");
    crate::network::signal(child.id(), "-TERM");
    assert_eq!(child.wait().expect("it ends").code(), Some(1));
    drop(reader);
}
