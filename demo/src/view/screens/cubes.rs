//! The window of the cubes: left a scene that a person plays, right the same one, later, from nothing but the keys.

mod field;
mod keycaps;
mod panel;

use std::cell::Cell;

use macroquad::input::{KeyCode, is_key_down, is_key_pressed, mouse_wheel};
use macroquad::math::Rect;
use macroquad::miniquad::window::order_quit;
use macroquad::shapes::draw_rectangle;
use macroquad::time::get_frame_time;
use macroquad::window::next_frame;
use testudo_lockstep::Duration;

use crate::app::interrupt;
use crate::cubes::{Autopilot, FRAMES_PER_SECOND, Input};
use crate::pair::{CubesError, CubesSpec, LiveCubes};
use crate::view::command::order_log::OrderLog;
use crate::view::hud::help;
use crate::view::hud::panel::Wish;
use crate::view::paint::batch::Batch;
use crate::view::paint::palette::{BAD, GOOD, PANEL, PANEL_RAISED, SELECTION, TEXT, TEXT_DIM, WARN, army};
use crate::view::paint::pen::{Align, Pen, SIZE, SMALL};
use crate::view::paint::{screen, viewport};
use crate::view::screens::layout::Layout;
use crate::view::screens::picture::{PICTURE_MAX, Pictures};
use crate::view::widgets::bar::TopBar;
use crate::view::widgets::keys;
use crate::view::widgets::ui::Ui;
use field::Look;

/// Number of cubes that a person who comes from a battle sees.
const CUBES: u32 = 900;

/// Real time that simulating may take per picture.
const BUDGET: Duration = Duration::from_millis(40);

/// 1 shows the whole field.
const ZOOM_MAX: f32 = 6.0;

/// Everything that the window shows.
struct CubesDesk {
    spec: CubesSpec,
    live: LiveCubes,
    layout: Layout<2>,
    ui: Ui,
    pen: Pen,
    batch: Batch,
    log: OrderLog,
    is_paused: bool,
    wants_step: bool,
    shows_help: bool,
    /// The scenes in `f32` instead of those in fixed point.
    shows_floats: bool,
    zoom: f32,
    /// Plays instead of the person.
    autopilot: Option<Autopilot>,
    /// The person has pressed a key: the hint has done its work.
    has_pressed: bool,
    /// The keys of each side that the log has heard of.
    noted: [Input; 2],
    /// There is a battle to go back to, and the person wants to.
    has_way_back: bool,
    wants_back: bool,
    is_over: bool,
    /// What went wrong, if the scene has ended early.
    error: Option<String>,
}

/// Runs picture by picture. `told` has the verdict so far, because a window may be closed at any time.
pub(crate) async fn run(
    spec: CubesSpec,
    log: OrderLog,
    told: &Cell<Option<Result<bool, CubesError>>>,
) -> Result<bool, CubesError> {
    let desk = show(CubesDesk::new(spec, log)?, told).await;
    Ok(desk.agrees())
}

/// The articles' scene, with a button that leads back to a battle.
pub(crate) async fn visit(log: OrderLog) -> Result<OrderLog, CubesError> {
    let mut desk = CubesDesk::new(CubesSpec::to_play(CUBES, 1), log)?;
    desk.has_way_back = true;
    let mut desk = show(desk, &Cell::new(None)).await;
    desk.note_end();
    Ok(desk.log)
}

/// Picture after picture, until the person wants to go back.
async fn show(mut desk: CubesDesk, told: &Cell<Option<Result<bool, CubesError>>>) -> CubesDesk {
    let mut pictures = Pictures::default();
    while !desk.wants_back {
        let seconds = get_frame_time().min(PICTURE_MAX);
        pictures.begin(&desk.pen, &mut desk.log);
        desk.layout = Layout::new(screen::size());
        desk.ui.begin();
        desk.read_keys();
        desk.advance(seconds);
        desk.draw();
        told.set(Some(Ok(desk.agrees())));
        pictures.save_on_key(&desk.pen, &mut desk.log);
        if keys::wants_to_quit() || interrupt::is_asked() {
            desk.note_end();
            order_quit();
        }
        next_frame().await;
    }
    desk
}

/// The keys that a person holds. One that was pressed and let go since the last picture counts, too.
fn held_keys() -> Input {
    let is_held = |key: KeyCode| is_key_down(key) || is_key_pressed(key);
    Input {
        left: is_held(KeyCode::Left),
        right: is_held(KeyCode::Right),
        up: is_held(KeyCode::Up),
        down: is_held(KeyCode::Down),
        space: is_held(KeyCode::Space),
        z: is_held(KeyCode::Z),
    }
}

impl CubesDesk {
    fn new(spec: CubesSpec, log: OrderLog) -> Result<Self, CubesError> {
        Ok(Self {
            live: LiveCubes::new(&spec)?,
            spec,
            layout: Layout::new(screen::size()),
            ui: Ui::new(),
            pen: Pen::new(),
            batch: Batch::new(),
            log,
            is_paused: false,
            wants_step: false,
            shows_help: false,
            shows_floats: false,
            zoom: 1.0,
            autopilot: None,
            has_pressed: false,
            noted: [Input::default(); 2],
            has_way_back: false,
            wants_back: false,
            is_over: false,
            error: None,
        })
    }

    /// Whether the sides have been equal all the time.
    fn agrees(&self) -> bool {
        self.live.first_difference().is_none() && self.error.is_none()
    }

    fn read_keys(&mut self) {
        if is_key_pressed(KeyCode::F1) {
            self.toggle_help();
        }
        if is_key_pressed(KeyCode::P) || is_key_pressed(KeyCode::Escape) {
            if self.shows_help {
                self.toggle_help();
            } else {
                self.toggle_pause();
            }
        }
        if is_key_pressed(KeyCode::N) {
            self.wants_step = true;
        }
        if is_key_pressed(KeyCode::F) {
            self.toggle_floats();
        }
        if is_key_pressed(KeyCode::A) {
            self.toggle_autopilot();
        }
        if is_key_pressed(KeyCode::R) {
            self.restart();
        }
        let (_, wheel) = mouse_wheel();
        self.zoom = (self.zoom * 1.2_f32.powf(wheel.clamp(-1.0, 1.0))).clamp(1.0, ZOOM_MAX);
        if is_key_pressed(KeyCode::Home) {
            self.zoom = 1.0;
        }
    }

    /// Lets the scene run for the time of one picture.
    fn advance(&mut self, real: f32) {
        let person = held_keys();
        self.has_pressed |= person != Input::default();
        let span = Duration::from_micros((real * 1e6) as u64);
        let Self { live, autopilot, .. } = self;
        let keys = || autopilot.as_mut().map_or(person, Autopilot::next);
        let result = if self.error.is_some() {
            Ok(())
        } else if core::mem::take(&mut self.wants_step) {
            self.is_paused = true;
            live.step_frame(keys)
        } else if self.is_paused {
            Ok(())
        } else {
            live.advance(span, BUDGET, keys)
        };
        if let Err(error) = result {
            self.error = Some(error.to_string());
        }
        self.note_keys();
        if !self.is_over && self.live.is_over() {
            self.is_over = true;
            self.note_end();
        }
    }

    /// Tells the log where the cube is whenever a side's keys have changed.
    fn note_keys(&mut self) {
        for side in 0..2 {
            let held = self.live.held(side);
            if held != self.noted[usize::from(side)] {
                self.noted[usize::from(side)] = held;
                let place = self.live.scene(side).bodies().next().map(|cube| cube.centre);
                let place = place.map_or([0; 2], |place| [place.x.to_bits(), place.y.to_bits()]);
                self.log.keys(side, self.live.frame(side), held, place);
            }
        }
    }

    /// The last words to the log.
    fn note_end(&mut self) {
        let checksums = self.live.checksums().map(|sum| format!("{sum:016x}"));
        self.log.end(self.live.moments().len() as u32, &checksums, self.agrees());
    }

    fn toggle_help(&mut self) {
        self.shows_help = !self.shows_help;
        self.log.note("help", self.shows_help);
    }

    fn toggle_pause(&mut self) {
        self.is_paused = !self.is_paused;
        self.log.note("paused", self.is_paused);
    }

    fn toggle_floats(&mut self) {
        self.shows_floats = !self.shows_floats;
        self.log.note("floats", self.shows_floats);
    }

    fn toggle_autopilot(&mut self) {
        self.autopilot = match self.autopilot {
            Some(_) => None,
            None => Some(Autopilot::new(self.spec.setup.seed)),
        };
        self.log.note("autopilot", self.autopilot.is_some());
    }

    /// The scene from its start, over the present network.
    fn restart(&mut self) {
        self.spec.link = self.live.link();
        match LiveCubes::new(&self.spec) {
            Ok(live) => {
                self.live = live;
                (self.error, self.is_over, self.is_paused) = (None, false, false);
            }
            Err(error) => self.error = Some(error.to_string()),
        }
        self.log.note("restart", true);
    }

    /// Draws one picture and asks its widgets.
    fn draw(&mut self) {
        for side in 0..2_u8 {
            let rect = self.layout.views[usize::from(side)];
            viewport::enter(rect);
            let look = Look { rect, zoom: self.zoom, floats: self.shows_floats };
            field::draw(&mut self.batch, &self.live, side, &look);
            self.batch.draw();
            viewport::leave();
            let caption = if side == 0 { "keys now" } else { "keys that have arrived" };
            keycaps::draw(&mut self.batch, &self.pen, rect, self.live.held(side), caption);
        }
        self.draw_headers();
        self.draw_top();
        let bottom = self.layout.bottom;
        match panel::draw(&mut self.batch, &self.pen, &mut self.ui, bottom, &self.live) {
            Some(Wish::Network(link)) => {
                self.live.set_link(link);
                self.log.network(&link);
            }
            Some(Wish::Corrupt) => {
                self.live.corrupt_one_bit();
                self.log.note("corrupt", true);
            }
            None => {}
        }
        let views = self.layout.views;
        let around = Rect { w: views[1].x + views[1].w - views[0].x, ..views[0] };
        self.draw_ending(Rect { h: 36.0, ..around });
        if self.shows_help {
            help::draw(&self.pen, around, &help::CUBES);
        }
        self.ui.end();
        let fixed = [("view 1", views[0]), ("view 2", views[1])];
        self.log.places(self.ui.places().iter().map(|(name, rect)| (*name, *rect)).chain(fixed));
    }

    /// Why nothing moves any more.
    fn draw_ending(&self, bar: Rect) {
        let (text, color) = match &self.error {
            Some(error) => (format!("{error}. R: start again"), BAD),
            None if self.is_over => {
                let sums = self.live.checksums().map(|sum| format!("{sum:016x}")).join(", ");
                let text = format!("Over after {} frames: {sums}. R: again", self.live.moments().len());
                (text, if self.agrees() { GOOD } else { BAD })
            }
            None => return,
        };
        draw_rectangle(bar.x, bar.y, bar.w, bar.h, PANEL);
        self.pen.label(&text, bar, Align::Middle, SIZE, color);
    }

    fn draw_headers(&mut self) {
        for side in 0..2_u8 {
            let rect = self.layout.headers[usize::from(side)];
            draw_rectangle(rect.x, rect.y, rect.w, rect.h, PANEL_RAISED);
            draw_rectangle(rect.x, rect.y, 6.0, rect.h, army(side));
            let base = rect.y + 20.0;
            let frame = self.live.frame(side);
            let seconds = frame / FRAMES_PER_SECOND;
            let counter = format!("frame {frame}   {}:{:02}", seconds / 60, seconds % 60);
            self.pen.label(&counter, Rect { w: rect.w - 10.0, ..rect }, Align::Right, SMALL, TEXT);
            if side == 1 {
                let x = self.pen.strong("The copy", rect.x + 16.0, base, SIZE, army(1)) + 14.0;
                let (told, color) = if self.shows_floats {
                    ("f32, its contacts shuffled in every frame", WARN)
                } else {
                    ("gets only the keys, late and with gaps", TEXT_DIM)
                };
                self.pen.text(told, x, base, SMALL, color);
                continue;
            }
            let x = self.pen.strong("Your cube", rect.x + 16.0, base, SIZE, army(0)) + 14.0;
            let (text, hint) = match (&self.autopilot, self.has_pressed) {
                (Some(_), _) => ("Autopilot", ""),
                (None, false) => ("You play", "arrows push, Space lifts and blows, Z gathers"),
                (None, true) => ("You play", ""),
            };
            let button = Rect::new(x, rect.y + 3.0, 92.0, rect.h - 6.0);
            if self.ui.button(&self.pen, "autopilot", button, text, self.autopilot.is_none()) {
                self.toggle_autopilot();
            }
            self.pen.text(hint, button.x + button.w + 14.0, base, SMALL, SELECTION);
        }
    }

    fn draw_top(&mut self) {
        let mut bar = TopBar::new(&mut self.ui, self.layout.top);
        let [help, again, step, pause, floats] =
            [74.0, 92.0, 92.0, 84.0, 184.0].map(|width| bar.place(width));
        if self.has_way_back
            && self.ui.button(&self.pen, "back to battle", bar.place(94.0), "New battle", false)
        {
            self.wants_back = true;
        }
        bar.title(&self.pen, "Testudo", "one scene twice, six keys in between", bar.end());
        if self.ui.button(&self.pen, "help", help, "F1 help", self.shows_help) {
            self.toggle_help();
        }
        if self.ui.button(&self.pen, "again", again, "R again", false) {
            self.restart();
        }
        if self.ui.button(&self.pen, "step", step, "N one frame", false) {
            self.wants_step = true;
        }
        let word = if self.is_paused { "P go on" } else { "P pause" };
        if self.ui.button(&self.pen, "pause", pause, word, self.is_paused) {
            self.toggle_pause();
        }
        let shown = if self.shows_floats { "F shown: f32" } else { "F shown: fixed point" };
        if self.ui.button(&self.pen, "floats", floats, shown, self.shows_floats) {
            self.toggle_floats();
        }
    }
}
