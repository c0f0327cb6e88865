//! What a picture of a large battle costs the processor, measured without a window: everything up to the vertices that would be given to
//! the graphics library.

use macroquad::math::Rect;
use serde::Serialize;
use testudo_lockstep::{Simulation as _, Turn};

use super::quality::quantile;
use testudo_battle::bots;
use testudo_battle::{Game, Setup, SetupError};
use testudo_render::battle::effects::Effects;
use testudo_render::battle::minimap;
use testudo_render::battle::opening;
use testudo_render::battle::scene::{self, Extras, Marks};
use testudo_render::battle::selection::Chosen;
use testudo_render::battle::shown::Shown;
use testudo_render::battle::view::View;
use testudo_render::clock::ThreadClock;
use testudo_render::paint::batch::Batch;

/// Two armies; about 5,000 of the units are alive on average over the measured pictures.
const SETUP: Setup = Setup { players: 2, units: 2_700, seed: 1, map: None };

/// Turns of four frames, in which the armies meet.
const TURNS: u32 = 400;
const FRAMES_PER_TURN: u32 = 4;

/// Pictures from one frame to the next, as a screen of 60 Hz shows a battle of 20.
const PICTURES: u32 = 3;

/// The window's view, in which units are dots with a rim, and that of a large screen, in which they have shadows and signs.
const VIEWS: [(&str, Rect); 2] = [
    ("window", Rect { x: 0.0, y: 0.0, w: 1_360.0, h: 572.0 }),
    ("large screen", Rect { x: 0.0, y: 0.0, w: 3_840.0, h: 2_160.0 }),
];

/// Microseconds of processor time for one view; the names of the fields are the keys of `--json`.
#[derive(Clone, Debug, Serialize)]
pub struct DrawingResult {
    pub view: &'static str,
    /// Units on the picture, mean.
    pub units: f64,
    /// Shapes of two triangles each, mean.
    pub shapes: f64,
    /// The scene and the small map of one picture.
    pub picture_us_median: u64,
    pub picture_us_p99: u64,
    /// Update of the data kept between pictures (wounded and fallen units); most of it once per frame.
    pub memory_us_median: u64,
    pub memory_us_p99: u64,
}

/// Plays the battle once for each view and measures its pictures.
///
/// # Errors
/// Never, with these settings.
pub fn measure() -> Result<Vec<DrawingResult>, SetupError> {
    VIEWS.into_iter().map(|(name, rect)| measure_view(name, rect)).collect()
}

fn measure_view(name: &'static str, rect: Rect) -> Result<DrawingResult, SetupError> {
    let mut game = Game::new(SETUP)?;
    let mut batch = Batch::blind();
    let mut effects = Effects::default();
    let mut chosen = Chosen::default();
    let own = game.unit_looks().filter(|look| look.army == 0);
    chosen.choose(own.map(|look| (look.index, look.body)), false);
    let camera = opening::camera(&game, rect, None, &[]);
    let map = Rect { w: 132.0, h: 132.0, ..rect };
    let (mut pictures, mut memories, mut units) = (Vec::new(), Vec::new(), 0);
    for frame in 0..TURNS * FRAMES_PER_TURN {
        if frame % FRAMES_PER_TURN == 0 {
            bots::lead(&mut game, Turn(frame / FRAMES_PER_TURN));
        }
        game.step(20);
        // At first they only walk.
        if frame < TURNS * FRAMES_PER_TURN / 4 {
            continue;
        }
        for picture in 0..PICTURES {
            let clock = ThreadClock::start();
            effects.observe(Shown::plain(&game, 0), frame, 1.0 / 60.0, 1.0 / 60.0);
            memories.push(clock.elapsed_micros() as f64);
            let alpha = (picture + 1) * 65_536 / PICTURES;
            let extras = Extras { player: 0, chosen: &chosen, effects: &effects, marks: Marks::default() };
            let clock = ThreadClock::start();
            let view = View { rect, camera };
            scene::draw(&mut batch, Shown::plain(&game, alpha), &view, &extras);
            minimap::draw(&mut batch, &game, map, camera.seen(rect));
            batch.draw();
            pictures.push(clock.elapsed_micros() as f64);
            units += game.unit_slots().count();
        }
    }
    let count = pictures.len();
    Ok(DrawingResult {
        view: name,
        units: units as f64 / count as f64,
        shapes: batch.shapes() as f64 / count as f64,
        picture_us_median: quantile(&mut pictures, 0.5) as u64,
        picture_us_p99: quantile(&mut pictures, 0.99) as u64,
        memory_us_median: quantile(&mut memories, 0.5) as u64,
        memory_us_p99: quantile(&mut memories, 0.99) as u64,
    })
}
