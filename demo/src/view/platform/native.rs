//! The window of an operating system, if it has a display.

use std::cell::Cell;
use std::fs::File;
use std::panic::{self, AssertUnwindSafe};
use std::pin::Pin;
use std::rc::Rc;

use macroquad::miniquad::conf::LinuxBackend;

use crate::app::display::{self, Display};
use crate::app::interrupt;
use crate::app::playback::Course;
use crate::app::{MatchError, NetworkMatch, News, Outcome, SkirmishSpec};
use crate::pair::CubesSpec;
use crate::view::command::order_log::{OrderLog, Sink};
use crate::view::hud::stage::Stage;
use crate::view::platform::conf::conf;
use crate::view::screens::viewing::Told;
use crate::view::screens::{cubes, desk, network, viewing};

/// The speed at which the match begins, percent.
const REAL_TIME: u32 = 100;

/// How a window is opened.
#[derive(Debug, Default)]
pub(crate) struct WindowOptions {
    /// Where accepted orders and the position of everything go.
    pub(crate) log: Option<File>,
    /// At most so many pictures per second.
    pub(crate) fps_max: Option<u32>,
}

/// Opens a window with both clients of a match and runs until it is closed; links lead to `page`. `tell` hears what
/// happens in matches with others. Tells whether the copies were equal all the
/// time.
///
/// # Errors
/// No display, or settings of the match out of range.
pub(crate) fn open(
    spec: SkirmishSpec,
    page: Option<String>,
    options: WindowOptions,
    tell: impl Fn(&NetworkMatch, &News) + 'static,
) -> Result<bool, MatchError> {
    show(async move |told| desk::run(spec, page, REAL_TIME, stage(options), tell, &told).await)
}

/// Opens a window with the cubes and runs until it is closed. Tells whether both sides were equal all the time.
///
/// # Errors
/// No display, or settings out of range.
pub(crate) fn open_cubes(spec: CubesSpec, options: WindowOptions) -> Result<bool, MatchError> {
    show(async move |told| cubes::run(spec, stage(options), &told).await)
}

/// Opens a window with this process's client of a match over the network, and runs until it is closed. `tell` hears what happens.
/// Returns the outcome, if the match had begun.
///
/// # Errors
/// No display, a match that cannot begin, or one that has ended before its time.
pub(crate) fn open_network(
    start: impl FnOnce() -> Result<NetworkMatch, MatchError>,
    options: WindowOptions,
    tell: impl Fn(&NetworkMatch, &News) + 'static,
) -> Result<Option<Outcome>, MatchError> {
    // Nobody is to be invited to a match that cannot be shown.
    display::find().map_err(MatchError::NoDisplay)?;
    let game = start()?;
    let outcome: Rc<Cell<Option<Outcome>>> = Rc::default();
    let left = Rc::clone(&outcome);
    show(async move |told| {
        let network::Left { game, stage, replay, error, .. } = network::run(game, stage(options), tell).await;
        error.map_or(Ok(()), Err)?;
        left.set(game.end()?);
        match replay {
            Some(course) => viewing::run(course, None, stage, &told).await,
            None => Ok(true),
        }
    })?;
    Ok(outcome.take())
}

/// Opens a window with a replay, at the start of a turn or playing, and runs until it is closed. Tells whether everything that was compared
/// until then is as it was recorded, and the recording is whole.
///
/// # Errors
/// No display.
pub(crate) fn open_replay(
    course: Course,
    turn: Option<u32>,
    options: WindowOptions,
) -> Result<bool, MatchError> {
    show(async move |told| viewing::run(course, turn, stage(options), &told).await)
}

fn stage(options: WindowOptions) -> Stage {
    let mut stage = Stage::new(OrderLog::new(options.log.map_or(Sink::Nowhere, Sink::File)));
    stage.fps_max = options.fps_max;
    stage
}

/// Opens a window and shows pictures until it is closed. The last report is the result.
/// The future is in a box, because the library is compiled for each type of it.
fn show(
    pictures: impl AsyncFnOnce(Rc<Told>) -> Result<bool, MatchError> + 'static,
) -> Result<bool, MatchError> {
    let display = display::find().map_err(MatchError::NoDisplay)?;
    interrupt::watch();
    let backend = match display {
        Display::Usual => LinuxBackend::X11Only,
        Display::Wayland => LinuxBackend::WaylandOnly,
    };
    let result: Rc<Told> = Rc::default();
    let told = Rc::clone(&result);
    let started = Rc::new(Cell::new(false));
    let has_started = Rc::clone(&started);
    // The library panics where the display has no way to draw; after the first picture a panic is a fault of this program.
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let future: Pin<Box<dyn Future<Output = ()>>> = Box::pin(async move {
        panic::set_hook(hook);
        has_started.set(true);
        told.set(Some(pictures(Rc::clone(&told)).await));
    });
    let entered =
        panic::catch_unwind(AssertUnwindSafe(|| macroquad::Window::from_config(conf(backend), future)));
    match (entered, started.get()) {
        (Err(cause), true) => panic::resume_unwind(cause),
        (Err(_), false) => {
            drop(panic::take_hook());
            Err(MatchError::NoDisplay("the display cannot draw with OpenGL".into()))
        }
        (Ok(()), _) => result.take().unwrap_or(Ok(true)),
    }
}
