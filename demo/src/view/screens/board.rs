//! What every screen on which a battle is played does: it shows clients, hears them, and gives them a person's orders.

use std::ops::Range;

use macroquad::input::is_key_pressed;
use macroquad::math::{Rect, Vec2};
use testudo_lockstep::Simulation as _;

use crate::app::playback::Score;
use crate::view::command::controls::{self, Mouse};
use crate::view::command::side::{Side, Told};
use crate::view::command::sight::Sight;
use crate::view::command::steering::{Keys, steer};
use crate::view::command::touch::Touches;
use crate::view::hud::header::{Header, HeaderAction};
use crate::view::hud::result::{Ended, Next};
use crate::view::hud::stage::Stage;
use crate::view::hud::status::StatusAction;
use crate::view::hud::{commands, orders};
use crate::view::screens::clients::Clients;
use crate::view::screens::eye::Eye;
use testudo_render::battle::scene::Marks;

/// Frames of a match per second.
const FRAMES_PER_SECOND: u32 = 20;

/// The views of a battle, and what the person does in them.
pub(crate) struct Board {
    pub(crate) eye: Eye,
    pub(crate) sides: [Side; 2],
    pub(crate) score: Score,
    keys: Keys,
    touches: Touches,
    /// The view that the keys command.
    pub(crate) active: u8,
}

impl Board {
    pub(crate) fn new(eye: Eye, keys: Keys) -> Self {
        let (sides, score, touches) = Default::default();
        Self { eye, sides, score, keys, touches, active: 0 }
    }

    /// Another battle begins.
    pub(crate) fn begin_again(&mut self, stage: &mut Stage) {
        (self.sides, self.score) = Default::default();
        stage.hearing.start_again();
        self.eye.show_all();
    }

    /// A client as the window shows it.
    pub(crate) fn sight<'a>(&self, clients: &'a impl Clients, view: u8) -> Option<Sight<'a>> {
        let map = self.eye.layout.maps[usize::from(view)];
        let shown = clients.shown(view)?;
        Some(Sight { player: clients.player(view), shown, view: self.eye.view(view), map })
    }

    // ---- mouse and keys

    /// Reads what moves the camera and commands units; nothing reaches the field if it `is_covered`, and what was begun there is let go. True if the
    /// camera was moved; zooming does not count.
    pub(crate) fn read(
        &mut self,
        stage: &mut Stage,
        clients: &mut impl Clients,
        is_covered: bool,
        seconds: f32,
    ) -> bool {
        if clients.game(0).is_none() {
            return false;
        }
        let (at, is_dragging) = (stage.ui.mouse, self.is_dragging());
        let under = self.view_under(at);
        let view = self.eye.layout.views[usize::from(under.unwrap_or(0))];
        let camera = &mut self.eye.camera;
        let is_moved = steer(self.keys, camera, at, under.map(|_| view), (!is_dragging, seconds));
        let wants_all = is_key_pressed(self.keys.all);
        if wants_all {
            self.eye.show_all();
        }
        if let (Some(view), false) = (under, is_dragging) {
            self.active = view;
        }
        let finger = self.touches.read(&mut self.eye.camera, view);
        let mouse = Mouse::new(&stage.ui, is_covered, finger);
        for view in self.shown() {
            self.read_view(stage, clients, (view, is_covered), mouse);
        }
        // Whoever has moved it: keys, wheel, fingers, the small map, a group.
        self.eye.hold();
        let is_on_map =
            mouse.is_free && mouse.left.is_held() && self.eye.layout.maps.iter().any(|map| map.contains(at));
        is_moved || wants_all || is_on_map || finger.is_pinching
    }

    /// Reads the person's commands for the units of one view; no keys while it is covered.
    fn read_view(
        &mut self,
        stage: &mut Stage,
        clients: &mut impl Clients,
        (view, is_covered): (u8, bool),
        mouse: Mouse,
    ) {
        let is_person = clients.has_person(view);
        let (has_keys, others_box) = (self.commanded(clients) == view, self.is_dragging());
        if has_keys && is_person && !is_covered {
            for key in stage.ui.keys() {
                // The next key may select others.
                let told = self.sight(clients, view).and_then(|sight| {
                    let (side, camera) = (&mut self.sides[usize::from(view)], &mut self.eye.camera);
                    side.chosen.keep(&sight.own());
                    controls::key(side, &sight, key, camera, &mut stage.log)
                });
                told.into_iter().for_each(|told| self.tell(stage, clients, view, told));
            }
        }
        let told = self.sight(clients, view).and_then(|sight| {
            let (side, camera) = (&mut self.sides[usize::from(view)], &mut self.eye.camera);
            if has_keys && is_person && !is_covered {
                side.chosen.keep(&sight.own());
            }
            if others_box && side.drag.is_none() {
                return None;
            }
            controls::mouse(side, &sight, mouse, is_person, camera, &mut stage.log)
        });
        told.into_iter().for_each(|told| self.tell(stage, clients, view, told));
    }

    fn tell(&mut self, stage: &mut Stage, clients: &mut impl Clients, view: u8, told: Told) {
        let Some(own) = self.sight(clients, view).map(|sight| sight.own()) else { return };
        let player = clients.player(view);
        let side = &mut self.sides[usize::from(view)];
        side.tell(player, &own, told, &mut stage.log, |orders| clients.order(view, orders));
    }

    /// Why an order was refused, once.
    pub(crate) fn take_refusal(&mut self) -> Option<String> {
        self.sides.iter_mut().find_map(|side| side.refused.take())
    }

    /// Shows own orders at once, or when they run.
    pub(crate) fn toggle_prediction(&self, stage: &mut Stage, clients: &mut impl Clients, view: u8) {
        let predicts = !clients.predicts(view);
        if !predicts {
            self.note_foreseen(stage, clients, view);
        }
        clients.set_prediction(view, predicts);
        stage.log.note("prediction", [view, u8::from(predicts)].to_vec());
    }

    /// Tells the log how a client's predictions came out.
    pub(crate) fn note_foreseen(&self, stage: &mut Stage, clients: &impl Clients, view: u8) {
        let foresight = clients.shown(view).and_then(|shown| shown.foresight());
        foresight.into_iter().for_each(|foresight| stage.log.foreseen(clients.player(view), foresight));
    }

    /// The view that contains a point of the screen, or whose strip does.
    fn view_under(&self, at: Vec2) -> Option<u8> {
        let layout = &self.eye.layout;
        let has =
            |view: &u8| [layout.headers, layout.views].iter().any(|of| of[usize::from(*view)].contains(at));
        self.shown().find(has)
    }

    /// The views that are more than an inset.
    fn shown(&self) -> Range<u8> {
        if self.eye.is_split { 0..2 } else { 0..1 }
    }

    /// The view that the keys command: where the mouse was last, unless only the other one has a person.
    fn commanded(&self, clients: &impl Clients) -> u8 {
        let is_person = |view: &u8| clients.has_person(*view);
        Some(self.active).filter(is_person).or_else(|| self.shown().find(is_person)).unwrap_or(self.active)
    }

    /// A box is being drawn.
    fn is_dragging(&self) -> bool {
        self.sides.iter().any(|side| side.drag.is_some())
    }

    // ---- pictures

    /// Looks at what the clients show now and listens to it, `passed` seconds of the match and `real` ones later.
    pub(crate) fn see(&mut self, stage: &mut Stage, clients: &impl Clients, passed: f32, real: f32) {
        for (view, side) in (0..).zip(&mut self.sides) {
            if let Some(shown) = clients.shown(view) {
                side.effects.observe(shown, clients.frame(view), passed, real);
            }
        }
        let Some(game) = clients.game(0) else { return };
        let Stage { hearing, log, .. } = stage;
        hearing.listen(&mut self.sides[0], &self.eye.view(0), clients.player(0), real, log);
        if self.score.follow(clients.frame(0), game, real)
            && let Some(result) = game.result()
        {
            let winner = u8::try_from(result).ok();
            log.note("result", winner);
            let has_won =
                |view| winner.is_some_and(|winner| game.teams().are_friends(winner, clients.player(view)));
            let loses = |view| clients.has_person(view) && clients.game(view).is_some() && !has_won(view);
            hearing.end(!(0..2).any(loses), log);
        }
    }

    /// Draws the battle in every view.
    pub(crate) fn draw(&self, stage: &mut Stage, clients: &impl Clients, marks: Marks<'_>) {
        let Stage { ui, layers, .. } = stage;
        for (view, side) in (0..).zip(&self.sides) {
            if let Some(sight) = self.sight(clients, view) {
                sight.draw(&mut ui.batch, side, *layers, ui.mouse, marks);
            }
        }
    }

    /// Draws the strip above a view. True: the person wants to hand over to a bot, or to take over.
    pub(crate) fn draw_header(
        &self,
        stage: &mut Stage,
        clients: &mut impl Clients,
        (view, widget): (u8, &'static str),
    ) -> bool {
        let Some(game) = clients.game(view) else { return false };
        let (player, rect) = (clients.player(view), self.eye.layout.headers[usize::from(view)]);
        let (is_person, predicts) = (clients.has_person(view), clients.predicts(view));
        let is_watching = clients.is_watching();
        let header = Header { rect, player, widget, is_person, is_watching, predicts };
        let side = &self.sides[usize::from(view)];
        let pressed = header.draw(&mut stage.ui, side, game, |player| clients.called(player));
        if pressed == Some(HeaderAction::Predict) {
            self.toggle_prediction(stage, clients, view);
        }
        pressed == Some(HeaderAction::Pilot)
    }

    /// Draws the line about the match, with the button that opens the panel. True: the person wants one view instead of two, or two.
    pub(crate) fn draw_status(&mut self, stage: &mut Stage, clients: &impl Clients, has_inset: bool) -> bool {
        let (Some(status), eye) = (clients.status(), &mut self.eye) else { return false };
        let is_split = has_inset.then_some(eye.is_split);
        let action = status.draw(&mut stage.ui, eye.layout.status, eye.is_unfolded, is_split);
        if action == Some(StatusAction::Unfold) {
            eye.is_unfolded = !eye.is_unfolded;
            stage.log.note("unfolded", eye.is_unfolded);
        }
        action == Some(StatusAction::Split)
    }

    /// Draws the card about the end.
    pub(crate) fn draw_result(
        &self,
        stage: &mut Stage,
        clients: &impl Clients,
        around: Rect,
        choices: &[Option<Next>],
        link: Option<&str>,
    ) -> Option<Next> {
        let (game, status) = clients.game(0).zip(clients.status())?;
        let ended = Ended {
            game,
            names: (0..game.setup().players).map(|player| clients.called(player)).collect(),
            person: (0..2).find(|view| clients.has_person(*view)).map(|view| clients.player(view)),
            rival: clients.rival(),
            seconds: clients.frame(0) / FRAMES_PER_SECOND,
            score: &self.score,
            turns: status.turns,
            is_identical: status.divergent_turn.is_none() && !status.is_doubtful,
            choices,
            link,
        };
        ended.draw(&mut stage.ui, around)
    }

    /// Draws the buttons for the units of the large view.
    pub(crate) fn draw_orders(&mut self, stage: &mut Stage, clients: &mut impl Clients) {
        // In a lower view they would lie over the header.
        if self.eye.layout.views[0].h < commands::LOWEST_VIEW || !clients.has_person(0) {
            return;
        }
        let Some(sight) = self.sight(clients, 0) else { return };
        if let Some(told) = orders::draw(stage, &mut self.eye.camera, &mut self.sides[0], &sight) {
            self.tell(stage, clients, 0, told);
        }
    }
}
