//! Without a display, the content of a window runs headless.

use crate::run::{program, refused};

/// The summary, and the message before it.
fn told(arguments: &str, display: Option<&str>) -> (String, String) {
    let mut command = program(arguments);
    if let Some(name) = display {
        command.env("DISPLAY", name);
    }
    let output = command.output().expect("the program starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is UTF-8");
    let (told, warned) = (text(output.stdout), text(output.stderr));
    assert_eq!(output.status.code(), Some(0), "{told}{warned}");
    (told, warned)
}

#[test]
fn without_a_display_one_line_says_so_and_the_rest_runs_headless() {
    let windows = [
        ("skirmish --units 20", "all 2 clients agreed in every turn"),
        ("cubes --seconds 2 --cubes 50", "equal in every one of 120 frames"),
        ("replay tests/replays/small.replay --turn 30", "at turn 30"),
    ];
    for (arguments, result) in windows {
        // The second variable is set, but nothing answers there.
        for (display, reason) in
            [(None, "neither DISPLAY nor WAYLAND_DISPLAY is set"), (Some(":64321"), ":64321")]
        {
            let (told, warned) = told(arguments, display);
            assert_eq!(warned.lines().count(), 1, "{warned}");
            assert!(warned.contains("no window") && warned.contains(reason), "{warned}");
            assert!(told.contains(result), "{told}");
        }
    }
}

/// The log stayed empty, and nothing said why.
#[test]
fn without_a_display_the_options_of_the_window_are_said_to_do_nothing() {
    let commands = [
        "skirmish --units 20 --fps-max 20",
        "cubes --seconds 1 --cubes 20 --fps-max 20",
        "replay tests/replays/small.replay --fps-max 20",
    ];
    for arguments in commands {
        let (_, warned) = told(arguments, None);
        assert_eq!(warned.lines().count(), 1, "{warned}");
        assert!(warned.ends_with("; --log-orders and --fps-max do nothing.\n"), "{warned}");
    }
}

#[test]
fn who_wants_no_window_is_not_told_that_there_is_none() {
    let commands = [
        ("cubes --seconds 2 --cubes 50 --headless", "equal in every one of 120 frames"),
        ("replay tests/replays/small.replay --headless", "at turn 60"),
        ("replay tests/replays/small.replay --turn 50 --speed 16", "at turn 60"),
    ];
    for (arguments, result) in commands {
        let (told, warned) = told(arguments, Some(":64321"));
        assert!(told.contains(result) && warned.is_empty(), "{told}{warned}");
    }
}

#[test]
fn a_network_match_without_a_display_says_what_to_do() {
    for command in ["host", "host --bot", "join --plain 127.0.0.1:0", "join --plain 127.0.0.1:0 --bot"] {
        let ended = refused(command, 2, "no window");
        for part in ["neither DISPLAY nor WAYLAND_DISPLAY is set", "--bot --headless"] {
            assert!(ended.stderr.contains(part), "{command}: {ended:?}");
        }
    }
}

#[test]
fn nobody_plays_without_a_window_and_without_a_bot() {
    for command in ["host --headless", "join --plain 127.0.0.1:0 --headless"] {
        refused(command, 2, "--bot --headless");
    }
}

#[test]
fn options_that_only_a_window_has_are_refused_without_one_and_the_log_has_to_be_writable() {
    let commands = [
        "skirmish --log-orders .",
        "cubes --log-orders .",
        "cubes --headless --log-orders log",
        "host --bot --headless --log-orders log",
        "replay tests/replays/small.replay --log-orders .",
        "replay tests/replays/small.replay --headless --log-orders log",
        "replay tests/replays/small.replay --speed 1 --fps-max 20",
        "cubes --headless --fps-max 20",
        "cubes --json --fps-max 20",
        "replay tests/replays/small.replay --json --log-orders log",
        "join --plain 127.0.0.1:0 --bot --headless --fps-max 20",
        "skirmish --fps-max 0",
    ];
    for arguments in commands {
        let output = program(arguments).output().expect("the program starts");
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr).lines().count(), 1, "{output:?}");
    }
}

/// Only a window makes sounds: without one, nobody connects to the sound server.
#[cfg(target_os = "linux")]
#[test]
fn without_a_window_the_sound_server_is_not_asked() {
    use std::os::unix::net::UnixListener;

    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("sound");
    let server = UnixListener::bind(&path).expect("a socket");
    server.set_nonblocking(true).expect("a socket that does not wait");
    let commands = [
        "skirmish --units 20",
        "headless --units 20 --turns 5",
        "replay tests/replays/small.replay --headless",
        "cubes --seconds 1 --cubes 20 --headless",
    ];
    for arguments in commands {
        let mut command = program(arguments);
        command.env("PULSE_SERVER", format!("unix:{}", path.display()));
        let output = command.output().expect("the program starts");
        assert_eq!(output.status.code(), Some(0), "{arguments}: {output:?}");
        let asked = server.accept().map(|_| ()).map_err(|error| error.kind());
        assert_eq!(asked, Err(std::io::ErrorKind::WouldBlock), "{arguments}");
    }
}
