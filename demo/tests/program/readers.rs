//! Who reads the output may go: a closed pipe, a full disk. The program plays on and ends with one of its exit codes.

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
