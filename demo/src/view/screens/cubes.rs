//! The window of the cubes: left a scene that a person plays, right the same one, later, from nothing but the keys.

mod field;
mod keycaps;
mod panel;

use std::cell::Cell;

use macroquad::input::{KeyCode, is_key_down, is_key_pressed, mouse_wheel};
use macroquad::math::Rect;
use macroquad::miniquad::window::order_quit;
use macroquad::window::next_frame;
use testudo_lockstep::Duration;

use crate::app::MatchError;
use crate::app::words::count;
use crate::pair::{CubesSpec, LiveCubes};
use crate::view::hud::help;
use crate::view::hud::pace::Pace;
use crate::view::hud::panel::PanelAction;
use crate::view::hud::stage::{Screen, Stage, show_picture};
use crate::view::screens::layout::{Layout, Views};
use crate::view::screens::viewing::Told;
use crate::view::widgets::bar::TopBar;
use crate::view::widgets::keys::Act;
use field::Look;
use testudo_cubes::{Autopilot, FRAMES_PER_SECOND, Input};
use testudo_render::paint::palette::{BAD, GOOD, OUTSIDE, PANEL, SELECTION, TEXT, TEXT_DIM, WARN, army};
use testudo_render::paint::pen::{Align, SIZE, SMALL};
use testudo_render::paint::{screen, viewport};

/// Number of cubes that a person who comes from a battle sees.
const CUBES: u32 = 900;

/// Real time that simulating may take per picture.
const BUDGET: Duration = Duration::from_millis(40);

/// From this width on there is room for every button of the top bar, pixels.
const WIDE: f32 = 720.0;

/// 1 shows the whole field.
const ZOOM_MAX: f32 = 6.0;

/// Everything that the window shows.
struct CubesDesk {
    spec: CubesSpec,
    live: LiveCubes,
    layout: Layout,
    stage: Stage,
    pace: Pace,
    /// The scenes in `f32` instead of those in fixed point.
    shows_floats: bool,
    zoom: f32,
    /// Plays instead of the person.
    autopilot: Option<Autopilot>,
    /// Keys in the picture that the mouse or a finger holds.
    tapped: Input,
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
pub(crate) async fn run(spec: CubesSpec, stage: Stage, told: &Told) -> Result<bool, MatchError> {
    let desk = show(CubesDesk::new(spec, stage)?, told).await;
    Ok(desk.agrees())
}

/// The articles' scene, with a button that leads back to a battle.
pub(crate) async fn visit(stage: Stage) -> Result<Stage, MatchError> {
    let desk = CubesDesk { has_way_back: true, ..CubesDesk::new(CubesSpec::to_play(CUBES, 1), stage)? };
    let mut desk = show(desk, &Cell::new(None)).await;
    desk.note_end();
    Ok(desk.stage)
}

/// Picture after picture, until the person wants to go back.
async fn show(mut desk: CubesDesk, told: &Told) -> CubesDesk {
    while !desk.wants_back {
        show_picture(&mut desk);
        told.set(Some(Ok(desk.agrees())));
        next_frame().await;
    }
    desk
}

fn layout() -> Layout {
    let size = screen::size();
    Layout::new(size, Views::Split, 0.0, panel::height(size))
}

/// The keys that a person holds, on the keyboard or in the picture. One that was pressed and let go since the last picture counts, too.
fn held_keys(tapped: Input) -> Input {
    let is_held = |key: KeyCode| is_key_down(key) || is_key_pressed(key);
    Input {
        left: tapped.left || is_held(KeyCode::Left),
        right: tapped.right || is_held(KeyCode::Right),
        up: tapped.up || is_held(KeyCode::Up),
        down: tapped.down || is_held(KeyCode::Down),
        space: tapped.space || is_held(KeyCode::Space),
        z: tapped.z || is_held(KeyCode::Z),
    }
}

impl Screen for CubesDesk {
    fn stage(&mut self) -> &mut Stage {
        &mut self.stage
    }

    fn lay_out(&mut self) {
        self.layout = layout();
    }

    fn read(&mut self, _: f32) {
        self.stage.read_keys();
        if is_key_pressed(KeyCode::P) || is_key_pressed(KeyCode::Escape) {
            if self.stage.shows_help {
                self.stage.toggle_help();
            } else {
                self.pace.toggle_pause(&mut self.stage.log);
            }
        }
        self.pace.wants_step |= is_key_pressed(KeyCode::N);
        let keys: [(KeyCode, Act<Self>); 3] = [
            (KeyCode::F, Self::toggle_floats),
            (KeyCode::A, Self::toggle_autopilot),
            (KeyCode::R, Self::restart),
        ];
        keys.into_iter().filter(|(key, _)| is_key_pressed(*key)).for_each(|(_, act)| act(self));
        let (_, wheel) = mouse_wheel();
        self.zoom = (self.zoom * 1.2_f32.powf(wheel.clamp(-1.0, 1.0))).clamp(1.0, ZOOM_MAX);
        if is_key_pressed(KeyCode::Home) {
            self.zoom = 1.0;
        }
    }

    /// Lets the scene run for the time of one picture.
    fn advance(&mut self, real: f32) {
        let person = held_keys(self.tapped);
        self.has_pressed |= person != Input::default();
        let span = Duration::from_micros((real * 1e6) as u64);
        let Self { live, autopilot, .. } = self;
        let keys = || autopilot.as_mut().map_or(person, Autopilot::press);
        let result = if self.error.is_some() {
            Ok(())
        } else if core::mem::take(&mut self.pace.wants_step) {
            self.pace.is_paused = true;
            live.step_frame(keys)
        } else if self.pace.is_paused {
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

    /// Draws one picture and asks its widgets.
    fn draw(&mut self) {
        for side in 0..2_u8 {
            let rect = self.layout.views[usize::from(side)];
            viewport::enter(rect);
            let rest = keycaps::beside(&self.stage.ui, rect);
            self.stage.ui.batch.block(rect, OUTSIDE);
            let look = Look { rect: rest, zoom: self.zoom, floats: self.shows_floats };
            field::draw(&mut self.stage.ui.batch, &self.live, side, &look);
            self.stage.ui.batch.draw();
            viewport::leave();
            let caption = if side == 0 { "keys now" } else { "keys that have arrived" };
            let held = keycaps::draw(&mut self.stage.ui, rect, self.live.side(side).held, caption, side == 0);
            if side == 0 {
                self.tapped = held;
            }
        }
        self.draw_headers();
        self.draw_top();
        let bottom = self.layout.panel;
        match panel::draw(&mut self.stage.ui, bottom, &self.live) {
            Some(PanelAction::Network(link)) => {
                self.live.set_link(link);
                self.stage.log.network(&link);
            }
            Some(PanelAction::Corrupt) => {
                self.live.corrupt_one_bit();
                self.stage.log.note("corrupt", true);
            }
            None => {}
        }
        let views = self.layout.views;
        let around = Rect { w: views[1].x + views[1].w - views[0].x, ..views[0] };
        self.draw_ending(Rect { h: 36.0, ..around });
        self.stage.end(around, &help::CUBES, &[("view 1", views[0]), ("view 2", views[1])]);
    }

    fn close(&mut self) {
        self.note_end();
        order_quit();
    }
}

impl CubesDesk {
    fn new(spec: CubesSpec, stage: Stage) -> Result<Self, MatchError> {
        Ok(Self {
            live: LiveCubes::new(&spec)?,
            spec,
            layout: layout(),
            stage,
            pace: Pace::new(100),
            shows_floats: false,
            zoom: 1.0,
            autopilot: None,
            tapped: Input::default(),
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

    /// Tells the log where the cube is whenever a side's keys have changed.
    fn note_keys(&mut self) {
        for side in 0..2 {
            let held = self.live.side(side).held;
            if held != self.noted[usize::from(side)] {
                self.noted[usize::from(side)] = held;
                let place = self.live.side(side).fixed.bodies().next().map(|cube| cube.centre);
                let place = place.map_or([0; 2], |place| [place.x.to_bits(), place.y.to_bits()]);
                self.stage.log.keys(side, self.live.frame(side), held, place);
            }
        }
    }

    /// The last words to the log.
    fn note_end(&mut self) {
        let checksums = self.live.checksums().map(|sum| format!("{sum:016x}"));
        self.stage.log.end(self.live.moments().len() as u32, &checksums, self.agrees());
    }

    fn toggle_floats(&mut self) {
        self.shows_floats = !self.shows_floats;
        self.stage.log.note("floats", self.shows_floats);
    }

    fn toggle_autopilot(&mut self) {
        self.autopilot = match self.autopilot {
            Some(_) => None,
            None => Some(Autopilot::new(self.spec.setup.seed)),
        };
        self.stage.log.note("autopilot", self.autopilot.is_some());
    }

    /// The scene from its start, over the present network.
    fn restart(&mut self) {
        self.spec.link = self.live.spec().link;
        match LiveCubes::new(&self.spec) {
            Ok(live) => {
                self.live = live;
                (self.error, self.is_over, self.pace.is_paused) = (None, false, false);
            }
            Err(error) => self.error = Some(error.to_string()),
        }
        self.stage.log.note("restart", true);
    }

    /// Why nothing moves any more.
    fn draw_ending(&self, bar: Rect) {
        let (text, color) = match &self.error {
            Some(error) => (format!("{error}. R: start again"), BAD),
            None if self.is_over => {
                let sums = self.live.checksums().map(|sum| format!("{sum:016x}")).join(", ");
                let text = format!(
                    "Over after {}: {sums}. R: again",
                    count(self.live.moments().len() as u64, "frame")
                );
                (text, if self.agrees() { GOOD } else { BAD })
            }
            None => return,
        };
        self.stage.ui.pen.plate(&text, bar, SIZE, color, PANEL);
    }

    fn draw_headers(&mut self) {
        for side in 0..2_u8 {
            let rect = self.layout.headers[usize::from(side)];
            self.stage.ui.strip(rect, army(side));
            let base = rect.y + 20.0;
            let frame = self.live.frame(side);
            let seconds = frame / FRAMES_PER_SECOND;
            let counter = format!("frame {frame}   {}:{:02}", seconds / 60, seconds % 60);
            let counter_at = Rect { w: rect.w - 10.0, ..rect };
            self.stage.ui.pen.label(&counter, counter_at, Align::Right, SMALL, TEXT);
            // Between the name and the counter, as far as there is room.
            let end = counter_at.right() - self.stage.ui.pen.width(&counter, SMALL) - 14.0;
            let between = |x: f32| Rect { x, w: end - x, ..rect };
            if side == 1 {
                let x = self.stage.ui.pen.strong("The copy", rect.x + 16.0, base, SIZE, army(1)) + 14.0;
                let (told, color) = if self.shows_floats {
                    (["f32, its contacts shuffled in every frame", "f32, shuffled", "f32"], WARN)
                } else {
                    (["gets only the keys, late and with gaps", "gets only the keys", ""], TEXT_DIM)
                };
                self.stage.ui.pen.fit(told, between(x), Align::Left, SMALL, color);
                continue;
            }
            let x = self.stage.ui.pen.strong("Your cube", rect.x + 16.0, base, SIZE, army(0)) + 14.0;
            let hints: &[&str] = match (&self.autopilot, self.has_pressed) {
                (None, false) => &["arrows push, Space lifts and blows, Z gathers", "arrows, Space, Z"],
                _ => &[],
            };
            let text = if self.autopilot.is_some() { "Autopilot" } else { "You play" };
            let button = Rect::new(x, rect.y + 3.0, 92.0, rect.h - 6.0);
            if self.stage.ui.button("autopilot", button, text, self.autopilot.is_none()) {
                self.toggle_autopilot();
            }
            self.stage.ui.pen.fit(hints, between(button.right() + 14.0), Align::Left, SMALL, SELECTION);
        }
    }

    fn draw_top(&mut self) {
        let mut bar = TopBar::new(&mut self.stage.ui, self.layout.top);
        // In a narrow window the key N is enough for single frames.
        let is_wide = self.layout.top.w >= WIDE;
        let [help, short, shown_at] = if is_wide { [74.0, 92.0, 184.0] } else { [50.0, 64.0, 84.0] };
        self.stage.draw_help_button(bar.place(help));
        let ui = &mut self.stage.ui;
        let again = bar.button(ui, "again", short, "R again", false);
        self.pace.wants_step |= is_wide && bar.button(ui, "step", 92.0, "N one frame", false);
        let word = if self.pace.is_paused { "P go on" } else { "P pause" };
        let pauses = bar.button(ui, "pause", short, word, self.pace.is_paused);
        let shown = match (self.shows_floats, is_wide) {
            (true, true) => "F shown: f32",
            (false, true) => "F shown: fixed point",
            (true, false) => "F f32",
            (false, false) => "F fixed",
        };
        let floats = bar.button(ui, "floats", shown_at, shown, self.shows_floats);
        self.wants_back |= self.has_way_back && bar.button(ui, "back to battle", 84.0, "New battle", false);
        bar.title(&ui.pen, "Testudo", "one scene twice, six keys in between", bar.end());
        if again {
            self.restart();
        }
        if pauses {
            self.pace.toggle_pause(&mut self.stage.log);
        }
        if floats {
            self.toggle_floats();
        }
    }
}
