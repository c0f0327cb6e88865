//! The window in a browser page. A file beside the page has the settings; the log goes to the console.

use std::cell::Cell;
use std::error::Error;

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
            OrderLog::new(Sink::Page).note("stopped", error.to_string());
        }
    });
}

/// Shows what the settings ask for.
async fn show() -> Result<(), Box<dyn Error>> {
    let settings = Settings::read(&load_string(MATCH_FILE).await?)?;
    let mut log = OrderLog::new(Sink::Page);
    if !settings.log.is_empty()
        && let Err(error) = trace::begin(&settings.log)
    {
        log.note("error", error.to_string());
    }
    let (page, stage, told) = (settings.page.clone(), Stage::new(log), Cell::new(None));
    if let Some(code) = &settings.code {
        return online(settings.online(code)?, stage).await;
    }
    if let Some(battle) = &settings.battle {
        viewing::run(settings.course(battle)?, None, stage, &told).await?;
    } else if let Some(count) = settings.cubes {
        cubes::run(CubesSpec::to_play(count, settings.seed), stage, &told).await?;
    } else {
        let (spec, speed) = (settings.skirmish(), settings.speed_percent);
        desk::run(spec, page, speed, stage, |_, _| {}, &told).await?;
    }
    Ok(())
}

/// This tab's client of a match with others, until the person leaves.
async fn online(game: NetworkMatch, stage: Stage) -> Result<(), Box<dyn Error>> {
    let left = network::run(game, stage, |_, _| {}).await;
    let network::Left { game, mut stage, replay, error, .. } = left;
    error.map_or(Ok(()), Err)?;
    let end = game.end()?.map(|outcome| outcome.end).unwrap_or_default();
    if let Some(course) = replay {
        // The person has asked for it, also of a match that ended early.
        viewing::run(course, None, stage, &Cell::new(None)).await?;
        return Ok(());
    }
    if let Some(why) = end.trouble() {
        return Err(why.into());
    }
    // There is nothing to come back to.
    let is_over = end.is_finished || end.is_settled;
    stage.log.note(if is_over { "over" } else { "left" }, true);
    Ok(())
}
