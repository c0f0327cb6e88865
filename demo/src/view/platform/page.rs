//! The window in a browser page. A file beside the page has the settings; the log goes to the console.

use std::cell::Cell;

use macroquad::file::load_string;
use macroquad::miniquad::conf::LinuxBackend;

use crate::app::settings::Settings;
use crate::app::{NetworkMatch, trace};
use crate::pair::CubesSpec;
use crate::view::command::order_log::{OrderLog, Sink};
use crate::view::hud::stage::Stage;
use crate::view::platform::conf::conf;
use crate::view::screens::{cubes, desk, network, viewing};

/// The file beside the page.
const MATCH_FILE: &str = "match.json";

/// Draws on the page's canvas from now on.
pub(crate) fn open_page() {
    macroquad::Window::from_config(conf(LinuxBackend::default()), async {
        if let Err(error) = show().await {
            OrderLog::new(Sink::Page).note("stopped", error);
        }
    });
}

/// Shows what the settings ask for.
async fn show() -> Result<(), String> {
    let text = load_string(MATCH_FILE).await.map_err(|error| error.to_string())?;
    let settings = Settings::read(&text)?;
    let mut log = OrderLog::new(Sink::Page);
    if !settings.log.is_empty()
        && let Err(error) = trace::begin(&settings.log)
    {
        log.note("error", error.to_string());
    }
    let (page, stage) = (settings.page.clone(), Stage::new(log));
    if let Some(code) = &settings.code {
        online(settings.online(code)?, stage).await
    } else if let Some(battle) = &settings.battle {
        let course = settings.course(battle).map_err(|error| error.to_string())?;
        let shown = viewing::run(course, None, stage, &Cell::new(None)).await;
        shown.map(|_| ()).map_err(|error| error.to_string())
    } else if let Some(count) = settings.cubes {
        let shown = cubes::run(CubesSpec::to_play(count, settings.seed), stage, &Cell::new(None)).await;
        shown.map(|_| ()).map_err(|error| error.to_string())
    } else {
        let (spec, speed, told) = (settings.skirmish(), settings.speed_percent, Cell::new(None));
        let shown = desk::run(spec, page, speed, stage, |_, _| {}, &told).await;
        shown.map(|_| ()).map_err(|error| error.to_string())
    }
}

/// This tab's client of a match with others, until the person leaves.
async fn online(game: NetworkMatch, stage: Stage) -> Result<(), String> {
    let left = network::run(game, stage, |_, _| {}).await;
    let network::Left { game, mut stage, replay, error, .. } = left;
    error.map_or(Ok(()), |error| Err(error.to_string()))?;
    let end = game.end().map_err(|error| error.to_string())?.map(|outcome| outcome.end).unwrap_or_default();
    if let Some(course) = replay {
        // The person has asked for it, also of a match that ended early.
        let shown = viewing::run(course, None, stage, &Cell::new(None)).await;
        return shown.map(|_| ()).map_err(|error| error.to_string());
    }
    if let Some(why) = end.trouble() {
        return Err(why.to_owned());
    }
    // There is nothing to come back to.
    let is_over = end.is_finished || end.is_settled;
    stage.log.note(if is_over { "over" } else { "left" }, true);
    Ok(())
}
