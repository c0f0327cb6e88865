//! Is there a display? Asked before the window library is entered, because that one panics on a display that is gone.

/// Which way to the screen works.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Display {
    /// The usual one: X11, or that of Windows, macOS or the browser.
    Usual,
    Wayland,
}

/// Finds a display by connecting to it.
///
/// # Errors
/// Why there is none, in words that go on after "no display:".
#[cfg(all(unix, not(target_os = "macos")))]
pub(crate) fn find() -> Result<Display, String> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let (x11, wayland) = (variable("DISPLAY"), variable("WAYLAND_DISPLAY"));
    if x11.as_deref().is_some_and(unix::x11_answers) {
        return Ok(Display::Usual);
    }
    if wayland.as_deref().is_some_and(unix::wayland_answers) {
        return Ok(Display::Wayland);
    }
    Err(match (x11, wayland) {
        (Some(name), _) => format!("nothing answers at DISPLAY={name}"),
        (None, Some(name)) => format!("nothing answers at WAYLAND_DISPLAY={name}"),
        (None, None) => "neither DISPLAY nor WAYLAND_DISPLAY is set".into(),
    })
}

/// Finds a display: these systems always have one.
#[cfg(not(all(unix, not(target_os = "macos"))))]
pub(crate) fn find() -> Result<Display, String> {
    Ok(Display::Usual)
}

#[cfg(all(unix, not(target_os = "macos")))]
mod unix {
    use std::env;
    use std::net::{TcpStream, ToSocketAddrs};
    use std::os::unix::net::UnixStream;
    use std::path::PathBuf;
    use std::time::Duration;

    /// A display on another machine answers within this time, or counts as gone.
    const PATIENCE: Duration = Duration::from_secs(2);

    /// First TCP port of X displays.
    const X11_PORT: u16 = 6_000;

    /// `[host]:number[.screen]`, or the path of a socket.
    pub(super) fn x11_answers(name: &str) -> bool {
        if name.starts_with('/') && UnixStream::connect(name).is_ok() {
            return true;
        }
        let Some((host, number)) = split(name) else { return false };
        if host.is_empty() || host == "unix" {
            return UnixStream::connect(format!("/tmp/.X11-unix/X{number}")).is_ok()
                || abstract_answers(number);
        }
        let addresses = (host, X11_PORT.saturating_add(number)).to_socket_addrs();
        addresses.into_iter().flatten().any(|address| TcpStream::connect_timeout(&address, PATIENCE).is_ok())
    }

    /// Host and number of a display.
    pub(super) fn split(name: &str) -> Option<(&str, u16)> {
        let (host, display) = name.rsplit_once(':')?;
        let number = display.split('.').next()?.parse().ok()?;
        Some((host.trim_end_matches(':'), number))
    }

    #[cfg(target_os = "linux")]
    fn abstract_answers(number: u16) -> bool {
        use std::os::linux::net::SocketAddrExt;
        use std::os::unix::net::SocketAddr;
        let address = SocketAddr::from_abstract_name(format!("/tmp/.X11-unix/X{number}"));
        address.is_ok_and(|address| UnixStream::connect_addr(&address).is_ok())
    }

    #[cfg(not(target_os = "linux"))]
    fn abstract_answers(_: u16) -> bool {
        false
    }

    pub(super) fn wayland_answers(name: &str) -> bool {
        let folder = env::var("XDG_RUNTIME_DIR").unwrap_or_default();
        UnixStream::connect(PathBuf::from(folder).join(name)).is_ok()
    }
}

#[cfg(all(test, unix, not(target_os = "macos")))]
mod tests {
    use super::unix::{split, x11_answers};

    #[test]
    fn names_of_displays_are_understood() {
        assert_eq!(split(":99"), Some(("", 99)));
        assert_eq!(split("unix:1.0"), Some(("unix", 1)));
        assert_eq!(split("far.example:10.2"), Some(("far.example", 10)));
        for wrong in ["", "99", ":", ":x", "host:"] {
            assert_eq!(split(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_display_that_is_gone_does_not_answer() {
        for name in [":64321", "unix:64321.0", "nonsense", "/nowhere/at/all:0"] {
            assert!(!x11_answers(name), "{name}");
        }
    }
}
