//! A replay to look at. Whatever is asked for, a picture simulates a bounded amount; a long way takes several pictures.

mod controls;
mod frame;
mod playhead;
mod timeline;

use std::cell::Cell;

use macroquad::math::Vec2;
use macroquad::window::next_frame;
use testudo_lockstep::Duration;

use crate::app::playback::{Budget, Course};
use crate::app::share;
use crate::app::{Kept, MatchError};
use crate::view::command::steering::WASD;
use crate::view::hud::pace::Pace;
use crate::view::hud::stage::{Screen, Stage, show_picture};
use crate::view::screens::board::Board;
use crate::view::screens::clients::Replayed;
use crate::view::screens::eye::Eye;
use crate::view::screens::layout::{Layout, Views};
use crate::view::screens::viewing::playhead::Playhead;
use testudo_battle::{Command, Foe, Game};
use testudo_render::battle::scene;
use testudo_render::paint::camera::place;
use testudo_render::paint::screen;

/// Shares of the time between two pictures that may be spent on simulation: to reach the requested frame, to compare during that, and to
/// compare while standing still. So the comparison progresses on slow screens, too, and makes no picture slow.
const WORK: f32 = 0.5;
const CHECK: f32 = 0.2;
const CHECK_STANDING: f32 = 0.5;

/// Least and greatest length of a share, seconds, and greatest number of frames, whatever their time.
const SHARE: (f32, f32) = (0.004, 0.03);
const FRAMES_MAX: u32 = 2_000;

/// A jump of more frames than this between two pictures clears the memory of the picture before.
const JUMP: u64 = 40;

/// Turns before the present one at which a look back begins: ten seconds with turns of 200 ms.
const LOOK_BACK_TURNS: u32 = 50;

/// Percent.
const REAL_TIME: u32 = 100;

/// Speed at which the camera approaches the followed army: the part of the distance that is left after a second.
const FOLLOW_LEFT: f32 = 0.05;

/// Everything that the window shows.
struct Viewing {
    course: Course,
    /// Nobody is chosen in it.
    board: Board,
    stage: Stage,
    is_playing: bool,
    pace: Pace,
    /// The moment that is shown.
    playhead: Playhead,
    followed: Option<u8>,
    /// A link to this match, if it is short enough.
    link: Option<String>,
    /// Where the button leads that leads away, and what the person wants.
    way_back: Option<Back>,
    wants: Option<Back>,
    /// A frame was requested, and the log does not know yet that it was reached.
    is_going: bool,
    /// Pictures since then.
    seeking_pictures: u32,
    /// The replay was playing when the person took hold of the timeline.
    played_before_drag: Option<bool>,
    /// Each player's last order as text.
    last_orders: Vec<String>,
    /// The first number that was recorded differently, once that position has been reached.
    difference: Option<Shown>,
    has_told_divergence: bool,
    has_told_end: bool,
}

/// Away from a replay: to another battle; to one that waits; to the one whose beginning it is; into that one as it was at this frame.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Back {
    New,
    Old,
    Running,
    Here,
}

/// The verdict so far, for a window that may be closed at any time.
pub(crate) type Told = Cell<Option<Result<bool, MatchError>>>;

/// A difference as text, and the body that it is in.
struct Shown {
    text: String,
    body: Option<u32>,
}

/// The replay that a match has left.
///
/// # Errors
/// The file is gone, or nothing in it can be played.
pub(crate) fn course(kept: Kept) -> Result<Course, MatchError> {
    let (replay, terms) = kept.open()?;
    Course::new(replay, terms)
}

/// Runs picture by picture, until the window is closed. `told` has the verdict so far, because that may happen at any time.
pub(crate) async fn run(
    course: Course,
    turn: Option<u32>,
    stage: Stage,
    told: &Told,
) -> Result<bool, MatchError> {
    let viewing = view(Viewing::new(course, stage), turn, told).await;
    Ok(viewing.is_good())
}

/// As [`run`], with a button that leads back to a battle, and no verdict: a battle that is not over is not complete, which is no reason for
/// another exit code. The battle so far shows its last seconds first; if it shall go on from a frame, it comes as it was there.
pub(crate) async fn visit(course: Course, stage: Stage, way_back: Back) -> (Stage, Option<Game>) {
    let turn = course.timetable().turns().saturating_sub(LOOK_BACK_TURNS);
    let viewing = Viewing { way_back: Some(way_back), ..Viewing::new(course, stage) };
    let Viewing { stage, course, wants, .. } =
        view(viewing, (way_back == Back::Running).then_some(turn), &Cell::new(None)).await;
    (stage, (wants == Some(Back::Here)).then(|| course.game().clone()))
}

/// Picture after picture, until the person wants to go back.
async fn view(mut viewing: Viewing, turn: Option<u32>, told: &Told) -> Viewing {
    if let Some(turn) = turn {
        viewing.is_playing = false;
        viewing.go(viewing.course.timetable().start_of(turn));
    }
    while !is_gone(viewing.wants, &viewing.course) {
        show_picture(&mut viewing);
        told.set(Some(Ok(viewing.is_good())));
        next_frame().await;
    }
    viewing
}

/// Whether the person leaves now. A battle goes on from the frame that was asked for, and reaching that may take several pictures.
fn is_gone(wants: Option<Back>, course: &Course) -> bool {
    wants.is_some_and(|back| back != Back::Here || !course.is_seeking())
}

impl Screen for Viewing {
    fn stage(&mut self) -> &mut Stage {
        &mut self.stage
    }

    /// As long as the person has not moved it, the picture shows all armies in windows of any size.
    fn lay_out(&mut self) {
        let (game, layout) = (self.course.game(), layout(&self.course));
        // The small map is given as a cover, or it would lie over a barracks.
        self.board.eye.lay_out(layout, game, None, &[layout.maps[0]]);
    }

    fn read(&mut self, seconds: f32) {
        self.read_all(seconds);
    }

    /// Plays for the time of one picture, or seeks, and compares a little.
    fn advance(&mut self, real: f32) {
        if self.is_playing && !self.is_going && !self.course.is_seeking() {
            self.play(real);
        }
        self.course.spend(&mut share(real, WORK));
        if self.is_playing && !self.is_going && self.course.is_seeking() {
            // It is slower than it should be, so time passes more slowly.
            let here = self.course.frame();
            self.course.seek(here);
            self.playhead.stand();
        }
        let stands = !self.is_playing && !self.course.is_seeking();
        self.course.spend_on_check(&mut share(real, if stands { CHECK_STANDING } else { CHECK }));
        // The comparison may have moved the shown state.
        self.is_going |= self.course.is_seeking();
        self.seeking_pictures = if self.course.is_seeking() { self.seeking_pictures + 1 } else { 0 };
        self.remember(real);
        if self.is_going && !self.course.is_seeking() {
            self.is_going = false;
            self.stage.log.stands(self.course.frame(), self.course.turn(), self.course.checksum());
        }
        self.tell_what_was_found();
        self.follow_army(real);
    }

    /// Draws one picture and asks its widgets.
    fn draw(&mut self) {
        let (table, frame) = (self.course.timetable(), self.course.frame());
        let part = if self.is_playing { self.playhead.part(table, frame) } else { 1.0 };
        let wrong_since = self.course.divergence().map(|found| found.turn() + 1);
        let is_wrong = wrong_since.is_some_and(|turn| self.course.turn() >= turn);
        let body = self.difference.as_ref().and_then(|shown| shown.body).filter(|_| is_wrong);
        let marks = self.stage.accusing(body);
        let alpha = (part * 65_536.0) as u32;
        let clients = Replayed { course: &self.course, followed: self.followed, alpha };
        self.board.draw(&mut self.stage, &clients, marks);
        self.draw_frame();
    }
}

impl Viewing {
    fn new(course: Course, stage: Stage) -> Self {
        let board = Board::new(Eye::new(layout(&course)), WASD);
        let last_orders = vec![String::new(); usize::from(course.terms().setup.players)];
        Self {
            link: share::link(course.replay(), course.page()),
            course,
            board,
            stage,
            is_playing: true,
            pace: Pace::new(REAL_TIME),
            playhead: Playhead::default(),
            followed: None,
            way_back: None,
            wants: None,
            is_going: false,
            seeking_pictures: 0,
            played_before_drag: None,
            last_orders,
            difference: None,
            has_told_divergence: false,
            has_told_end: false,
        }
    }

    /// Whether nothing differs from the recording so far, and the recording is complete.
    fn is_good(&self) -> bool {
        let replay = self.course.replay();
        self.course.divergence().is_none() && replay.is_complete() && replay.desync().is_none()
    }

    /// Requests the frame that is due after this many seconds.
    fn play(&mut self, real: f32) {
        let table = self.course.timetable();
        let micros = f64::from(real) * 1e6 * f64::from(self.pace.percent()) / 100.0;
        let frame = self.playhead.play(table, self.course.frame(), micros);
        if frame == table.frames() {
            (self.is_playing, self.is_going) = (false, true);
            self.playhead.stand();
        }
        self.course.seek(frame);
    }

    /// Data kept between pictures: blows, fallen units, destinations of orders.
    fn remember(&mut self, real: f32) {
        let frame = self.course.frame();
        let shown = self.playhead.shown();
        let is_jump = frame < shown || frame - shown > JUMP;
        let passed = self.playhead.show(self.course.timetable(), frame);
        let passed = if is_jump { 0.0 } else { passed };
        if is_jump {
            (self.board.sides, self.board.score) = Default::default();
            self.last_orders.iter_mut().for_each(String::clear);
        }
        let clients = Replayed { course: &self.course, followed: self.followed, alpha: 0 };
        self.board.see(&mut self.stage, &clients, passed, real);
        if !is_jump {
            for turn in self.course.timetable().begun(shown..frame) {
                self.show_orders(turn);
            }
        }
    }

    /// Marks the destinations of a turn's orders: those of the followed player, or of all.
    fn show_orders(&mut self, turn: u32) {
        let course = &self.course;
        for (player, order) in course.orders(turn) {
            if let Some(words) = self.last_orders.get_mut(usize::from(player)).filter(|_| !order.gathers()) {
                *words = order.in_words();
            }
            let is_shown = self.followed.is_none_or(|followed| followed == player);
            if let Some(at) = goal(course.game(), order.command).filter(|_| is_shown) {
                self.board.sides[0].effects.mark(at, player, order.command.attacks());
            }
        }
    }

    /// Reports to the log; shows the first number that differs as soon as that position is reached.
    fn tell_what_was_found(&mut self) {
        if let (Some(found), false) = (self.course.divergence(), self.has_told_divergence) {
            self.has_told_divergence = true;
            self.stage.log.note("diverged", found.turn());
        }
        if self.course.is_checked() && !self.has_told_end {
            self.has_told_end = true;
            let divergent = self.course.divergence().map(|found| found.turn());
            self.stage.log.checked(self.course.turns_checked(), divergent);
        }
        if self.difference.is_none()
            && !self.is_playing
            && !self.course.is_seeking()
            && let Some((turn, difference)) = self.course.difference()
        {
            let leaf = difference.here.or(difference.there);
            let body = leaf.filter(|leaf| leaf.kind == "body").map(|leaf| leaf.index);
            let text = format!("After turn {turn}, recorded and simulated: {difference}");
            self.stage.log.note("difference", text.clone());
            self.difference = Some(Shown { text, body });
            self.look_at(body);
        }
    }

    /// Shows the wrong body from near.
    fn look_at(&mut self, body: Option<u32>) {
        let game = self.course.game();
        let body = body.and_then(|slot| game.world().body_in_slot(slot));
        if let Some(at) = body.and_then(|body| scene::position(game, body, 65_536)) {
            let camera = &mut self.board.eye.camera;
            (camera.scale, camera.centre) = (camera.scale.max(20.0), at);
            self.followed = None;
        }
    }

    /// Moves the camera towards the followed army.
    fn follow_army(&mut self, real: f32) {
        let middle = self.followed.and_then(|player| self.course.game().middle(player));
        if let Some((_, middle)) = middle {
            let centre = &mut self.board.eye.camera.centre;
            *centre += (place(middle) - *centre) * (1.0 - FOLLOW_LEFT.powf(real));
        }
        self.board.eye.hold();
    }

    /// Requests a frame; beyond the end it is the last one.
    fn go(&mut self, frame: u64) {
        self.course.seek(frame);
        self.is_going = true;
        self.playhead.stand();
        // It was asked for at another frame.
        self.wants.take_if(|back| *back == Back::Here);
        self.stage.log.note("seek", self.course.target());
    }

    /// Moves this many frames forwards or backwards, and stops there.
    fn step(&mut self, frames: i64) {
        self.pause(true);
        self.go(self.course.target().saturating_add_signed(frames));
    }

    /// Moves this much time forwards or backwards.
    fn leap(&mut self, millis: i64) {
        let table = self.course.timetable();
        let now = table.time_of(self.course.target()).as_millis();
        self.go(table.frame_at(Duration::from_millis(now.saturating_add_signed(millis))));
    }

    fn go_to_divergence(&mut self) {
        if let Some(found) = self.course.divergence() {
            self.pause(true);
            self.go(self.course.timetable().start_of(found.turn() + 1));
        }
    }

    /// The frame that is held on the timeline; none after its release.
    fn drag(&mut self, wanted: Option<u64>) {
        let Some(frame) = wanted else {
            self.is_playing = self.played_before_drag.take().unwrap_or(self.is_playing);
            return;
        };
        let begins = self.played_before_drag.is_none();
        if begins {
            self.played_before_drag = Some(core::mem::replace(&mut self.is_playing, false));
        }
        if begins || frame != self.course.target() {
            self.go(frame);
        }
    }

    fn toggle_play(&mut self) {
        self.pause(self.is_playing);
        if self.is_playing && self.course.target() == self.course.timetable().frames() {
            self.go(0);
        }
    }

    fn pause(&mut self, is_paused: bool) {
        if self.is_playing == is_paused {
            self.is_playing = !is_paused;
            self.playhead.stand();
            self.stage.log.note("playing", self.is_playing);
            if is_paused {
                self.is_going = true;
            }
        }
    }

    fn follow(&mut self, player: Option<u8>) {
        if self.followed != player {
            self.followed = player;
            self.stage.log.note("follow", player);
        }
    }
}

/// Height of the panel below the view, also in a window that is lower than this, as a phone that lies on its side, pixels.
const BOTTOM: f32 = 150.0;
const BOTTOM_LOW: f32 = 108.0;
const LOW: f32 = 480.0;

fn layout(course: &Course) -> Layout {
    let bottom = if screen::size().y < LOW { BOTTOM_LOW } else { BOTTOM };
    Layout::new(screen::size(), Views::One, 0.0, bottom).of_field(place(course.game().field_half()))
}

/// The simulation budget for a part of the time between two pictures.
fn share(real: f32, part: f32) -> Budget {
    let seconds = (real * part).clamp(SHARE.0, SHARE.1);
    Budget::within(FRAMES_MAX, Duration::from_micros((seconds * 1e6) as u64))
}

/// A command's destination on the field.
fn goal(game: &Game, command: Command) -> Option<Vec2> {
    match command {
        Command::Strike(Foe::Building(number)) => {
            let building = game.building_looks().find(|look| look.number == number)?;
            Some(place(building.centre))
        }
        Command::Strike(Foe::Unit(number)) => {
            let look = game.unit_looks().find(|look| look.number == number)?;
            scene::position(game, look.body, 65_536)
        }
        Command::Line { from, to, .. } => Some((place(from.point()) + place(to.point())) / 2.0),
        other => other.goal().map(|to| place(to.point())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::playback::tests;

    /// The battle went on from wherever the seek had come to.
    #[test]
    fn playing_on_waits_for_the_frame_that_was_asked_for() {
        let mut course = tests::course(20);
        course.seek(60);
        let gone = |course: &Course| {
            [None, Some(Back::Running), Some(Back::Here)].map(|wants| is_gone(wants, course))
        };
        assert_eq!(gone(&course), [false, true, false]);
        while course.is_seeking() {
            course.spend(&mut Budget::frames(7));
        }
        assert_eq!((gone(&course), course.frame()), ([false, true, true], 60));
    }
}
