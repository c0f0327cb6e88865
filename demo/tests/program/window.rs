//! Where there is no display, the window's match runs without one.

use crate::run::program;

/// The summary of a match, and what was said first.
fn skirmish(display: Option<&str>) -> (String, String) {
    let mut command = program("skirmish --units 20");
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
fn without_a_display_one_line_says_so_and_the_match_runs_headless() {
    // The second one is set, and nothing answers there.
    for (display, reason) in
        [(None, "neither DISPLAY nor WAYLAND_DISPLAY is set"), (Some(":64321"), ":64321")]
    {
        let (told, warned) = skirmish(display);
        assert_eq!(warned.lines().count(), 1, "{warned}");
        assert!(warned.contains("no window") && warned.contains(reason), "{warned}");
        assert!(told.contains("all 2 clients agreed in every turn"), "{told}");
    }
}

#[test]
fn the_log_of_orders_has_to_be_writable() {
    let output = program("skirmish --log-orders .").output().expect("the program starts");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stderr).lines().count(), 1, "{output:?}");
}
