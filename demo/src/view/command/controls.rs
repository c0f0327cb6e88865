//! Turns mouse and keys into selections and commands.

use macroquad::input::{KeyCode, is_key_down};
use macroquad::math::Vec2;
use macroquad::miniquad::{KeyMods, date};
use macroquad::time::get_frame_time;

use crate::view::command::order_log::OrderLog;
use crate::view::command::side::{Aim, DrawnLine, Side, Told};
use crate::view::command::sight::Sight;
use crate::view::command::touch::Finger;
use crate::view::widgets::pointer::Button;
use crate::view::widgets::ui::Ui;
use testudo_battle::{Command, OrderPoint};
use testudo_render::battle::selection::Own;
use testudo_render::paint::camera::{self, Camera};

/// The digit keys, by their digits: those above the letters, and those of the number pad. On X11 the library knows the former by what they write without
/// shift, which is no digit on a French or Czech keyboard.
const DIGITS: [[KeyCode; 2]; 10] = {
    use KeyCode::*;
    [
        [Key0, Kp0],
        [Key1, Kp1],
        [Key2, Kp2],
        [Key3, Kp3],
        [Key4, Kp4],
        [Key5, Kp5],
        [Key6, Kp6],
        [Key7, Kp7],
        [Key8, Kp8],
        [Key9, Kp9],
    ]
};

/// The digits whose keys go down in this picture, with their keys.
pub(crate) fn digits(is_pressed: impl Fn(KeyCode) -> bool) -> impl Iterator<Item = (usize, KeyCode)> {
    let all = DIGITS.into_iter().enumerate().flat_map(|(digit, keys)| keys.map(|key| (digit, key)));
    all.filter(move |(_, key)| is_pressed(*key))
}

/// The mouse in one picture, as far as it applies to the field.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mouse {
    pub(crate) at: Vec2,
    pub(crate) left: Button,
    pub(crate) right: Button,
    /// Shift is held.
    pub(crate) is_shifted: bool,
    /// Nothing covers the field there.
    pub(crate) is_free: bool,
    /// The help or the menu covers all of the field.
    pub(crate) is_covered: bool,
    pub(crate) finger: Finger,
}

impl Mouse {
    pub(crate) fn new(ui: &Ui, is_covered: bool, finger: Finger) -> Self {
        let is_free = !ui.has_taken_mouse() && !is_covered;
        Self {
            at: ui.mouse,
            left: ui.left(),
            right: ui.right(),
            is_shifted: shift(),
            is_free,
            is_covered,
            finger,
        }
    }
}

pub(crate) fn shift() -> bool {
    is_key_down(KeyCode::LeftShift) || is_key_down(KeyCode::RightShift)
}

/// Two presses within this time count as a double press, seconds; where pictures are slow, within three of them.
fn twice() -> f64 {
    const TWICE: f64 = 0.4;
    TWICE.max(3.0 * f64::from(get_frame_time()))
}

/// Reads a key for a side that a person plays, and what was held with it. It may have waited for a picture: by now other keys are held.
pub(crate) fn key(
    side: &mut Side,
    sight: &Sight<'_>,
    (key, held): (KeyCode, KeyMods),
    camera: &mut Camera,
    log: &mut OrderLog,
) -> Option<Told> {
    let has_units = !side.chosen.is_empty();
    match key {
        KeyCode::A if held.ctrl => {
            side.chosen.choose(sight.own().iter().map(Own::member), false);
            log.selection(sight.player, side.chosen.len());
        }
        KeyCode::A if has_units => side.aim = Some(Aim::Attack),
        KeyCode::P if has_units => side.aim = Some(Aim::Patrol),
        KeyCode::S if !held.ctrl => return Some(Told::here(Command::Stop)),
        KeyCode::H if has_units => {
            return Some(Told::here(Command::Stand(side.chosen.next_stance(&sight.own()))));
        }
        // Browsers keep Ctrl with digits for themselves.
        KeyCode::G => side.names_group = true,
        _ => {
            let (digit, _) = digits(|digit| digit == key).next()?;
            if core::mem::take(&mut side.names_group) || held.ctrl {
                side.chosen.assign(digit);
                return Some(Told::here(Command::Assign(digit as u8)));
            }
            recall(side, digit, &sight.own(), held.shift, camera);
            log.selection(sight.player, side.chosen.len());
        }
    }
    None
}

/// Selects a group, in addition to others with `add`; pressed twice, the camera goes there.
pub(crate) fn recall(side: &mut Side, key: usize, own: &[Own], add: bool, camera: &mut Camera) {
    let now = date::now();
    side.chosen.recall(key, own, add);
    let is_double = side.last_digit.is_some_and(|(last, at)| last == key && now - at < twice());
    side.last_digit = Some((key, now));
    if let (true, Some(middle)) = (is_double, side.chosen.middle(own)) {
        camera.centre = camera::place(middle);
    }
}

/// Reads the mouse over a side; `is_person`: a person plays it. A click on the minimap moves the camera, or says where to attack or patrol.
pub(crate) fn mouse(
    side: &mut Side,
    sight: &Sight<'_>,
    mouse: Mouse,
    is_person: bool,
    camera: &mut Camera,
    log: &mut OrderLog,
) -> Option<Told> {
    let Mouse { at, left, right, is_shifted, is_free, is_covered, finger } = mouse;
    if is_covered {
        // What was begun would end as an order to a place that nobody sees.
        side.let_go();
        return None;
    }
    side.is_aimed &= left.is_down;
    let goes = is_free && (right.is_pressed || finger.has_held && !side.is_aimed);
    if sight.map.contains(at) && side.drag.is_none() && side.line.is_none() {
        return on_map(side, sight, mouse, (is_person, goes), camera);
    }
    let mut told = None;
    if sight.view.rect.contains(at) && is_free && is_person {
        if left.is_pressed {
            if let Some(aim) = side.aim.take() {
                side.is_aimed = true;
                told = Some(send(side, sight, sight.in_view(at), (Some(aim), is_shifted)));
            } else {
                side.drag = Some(sight.in_view(at));
            }
        }
        if goes {
            let attacks = side.aim.take() == Some(Aim::Attack);
            side.line = Some(DrawnLine { from: sight.in_view(at), is_queued: is_shifted, attacks });
        }
    }
    let is_taken_away = !left.is_held() && !left.is_released;
    side.drag = side.drag.filter(|_| !finger.has_held && !finger.is_pinching && !is_taken_away);
    if !right.is_down
        && let Some(DrawnLine { from, is_queued, attacks }) = side.line.take()
    {
        let to = if finger.has_held { from } else { sight.in_view(at) };
        told = Some(if sight.is_click(from, at) || finger.has_held || side.chosen.is_empty() {
            send(side, sight, from, (None, is_queued))
        } else {
            let [from, to] = [from, to].map(|place| OrderPoint::near(camera::raw(place)));
            Told { command: Command::Line { from, to, attacks }, at: Some(sight.in_view(at)), is_queued }
        });
    }
    if left.is_released
        && let Some(from) = side.drag.take()
    {
        choose(side, sight, from, at);
        log.selection(sight.player, side.chosen.len());
    }
    told
}

/// As [`mouse`], on the small map, where nothing is drawn; `goes`: a right click, or what a finger means by one.
fn on_map(
    side: &mut Side,
    sight: &Sight<'_>,
    mouse: Mouse,
    (is_person, goes): (bool, bool),
    camera: &mut Camera,
) -> Option<Told> {
    let Mouse { at, left, is_shifted, is_free, .. } = mouse;
    let at = sight.on_map(at);
    if is_person
        && is_free
        && left.is_pressed
        && let Some(aim) = side.aim.take()
    {
        side.is_aimed = true;
        return Some(send(side, sight, at, (Some(aim), is_shifted)));
    }
    if is_free && left.is_held() && !side.is_aimed {
        camera.centre = at;
    }
    if !(goes && is_person) {
        return None;
    }
    side.aim = None;
    Some(send(side, sight, at, (None, is_shifted)))
}

/// Selects the units in a box, or the clicked unit; a double click selects all units of its kind in the view.
fn choose(side: &mut Side, sight: &Sight<'_>, from: Vec2, mouse: Vec2) {
    let units = sight.units_in(from, mouse);
    let clicked = units.first().map(|unit| unit.0).filter(|_| sight.is_click(from, mouse));
    let now = date::now();
    let is_double = clicked
        .is_some_and(|unit| side.last_click.is_some_and(|(last, at)| last == unit && now - at < twice()));
    side.last_click = clicked.map(|unit| (unit, now));
    match clicked.filter(|_| is_double) {
        Some(unit) => side.chosen.choose(sight.same_kind(unit), false),
        None => side.chosen.choose(units, shift()),
    }
}

/// Sends the selected units somewhere; a right click on an enemy means to go for that one. Without a selection it sets the rally point.
fn send(side: &Side, sight: &Sight<'_>, at: Vec2, (aim, is_queued): (Option<Aim>, bool)) -> Told {
    let target = OrderPoint::near(camera::raw(at));
    let command = match (aim, sight.enemy_at(at)) {
        (Some(Aim::Patrol), _) => Command::Patrol(target),
        // Also on an enemy: units that strike only that one would walk past those that strike them.
        (Some(Aim::Attack), _) => Command::Attack(target),
        (None, Some(foe)) => Command::Strike(foe),
        (None, None) if side.chosen.is_empty() => Command::Rally(target),
        (None, None) => Command::Move(target),
    };
    Told { command, at: Some(at), is_queued }
}

#[cfg(test)]
mod tests {
    use macroquad::math::{Rect, vec2};

    use super::*;
    use crate::view::command::order_log::Sink;
    use testudo_battle::{Game, Setup};
    use testudo_render::battle::shown::Shown;
    use testudo_render::battle::view::View;

    const UP: Button = Button { is_down: false, is_pressed: false, is_released: false };
    const DOWN: Button = Button { is_down: true, ..UP };
    const PRESSED: Button = Button { is_pressed: true, ..DOWN };
    const RELEASED: Button = Button { is_released: true, ..UP };

    /// A place in the field, and one on the small map in its corner.
    const FIELD: Vec2 = vec2(500.0, 300.0);
    const MAP: Vec2 = vec2(700.0, 100.0);

    /// The mouse at a place that nothing covers.
    fn free(at: Vec2, [left, right]: [Button; 2]) -> Mouse {
        let finger = Finger::default();
        Mouse { at, left, right, is_shifted: false, is_free: true, is_covered: false, finger }
    }

    /// What comes of something that a person does with a side of eight units, of which the first three are selected.
    fn played<T>(
        side: &mut Side,
        act: impl FnOnce(&mut Side, &Sight<'_>, &mut Camera, &mut OrderLog) -> T,
    ) -> T {
        let game = Game::new(Setup { players: 2, units: 8, seed: 1, map: None }).unwrap();
        let rect = Rect::new(0.0, 0.0, 800.0, 600.0);
        let view = View { rect, camera: Camera::new(Vec2::ZERO, 10.0) };
        let map = Rect::new(600.0, 0.0, 200.0, 200.0);
        let sight = Sight { player: 0, shown: Shown::plain(&game, 65_536), view, map };
        side.chosen.choose(sight.own().iter().take(3).map(Own::member), false);
        let mut camera = view.camera;
        act(side, &sight, &mut camera, &mut OrderLog::new(Sink::Nowhere))
    }

    /// What comes of the mouse.
    fn moved(side: &mut Side, mouse: Mouse) -> Option<Told> {
        played(side, |side, sight, camera, log| super::mouse(side, sight, mouse, true, camera, log))
    }

    fn drawing() -> Side {
        let mut side = Side::default();
        side.line = Some(DrawnLine { from: Vec2::ZERO, is_queued: false, attacks: false });
        side
    }

    fn aiming() -> Side {
        let mut side = Side::default();
        side.aim = Some(Aim::Attack);
        side
    }

    /// With a French keyboard nobody could make a group.
    #[test]
    fn the_number_pad_has_digits_too() {
        let held = [KeyCode::Kp7, KeyCode::Key0, KeyCode::A];
        let all: Vec<_> = digits(|key| held.contains(&key)).collect();
        assert_eq!(all, [(0, KeyCode::Key0), (7, KeyCode::Kp7)]);
    }

    /// A key that had waited for a click replaced the selection, because shift was up again, or made a group, because Ctrl was down by then.
    #[test]
    fn a_key_counts_with_what_was_held_with_it() {
        let press = |held: KeyMods| {
            let mut side = Side::default();
            let told = played(&mut side, |side, sight, camera, log| {
                let own = sight.own();
                side.chosen.choose([own[3].member()], false);
                side.chosen.assign(2);
                side.chosen.choose([own[0].member()], false);
                key(side, sight, (KeyCode::Key2, held), camera, log)
            });
            (told.map(|told| told.command), side.chosen.len())
        };
        let nothing = KeyMods::default();
        assert_eq!(press(nothing), (None, 1));
        assert_eq!(press(KeyMods { shift: true, ..nothing }), (None, 2));
        assert_eq!(press(KeyMods { ctrl: true, ..nothing }), (Some(Command::Assign(2)), 1));
    }

    /// The order was given by whatever the mouse did next outside of the small map.
    #[test]
    fn a_line_that_ends_on_the_small_map_is_ordered_there_and_then() {
        for end in [FIELD, MAP] {
            let mut side = drawing();
            let told = moved(&mut side, free(end, [UP, RELEASED]));
            assert!(matches!(told, Some(Told { command: Command::Line { .. }, .. })), "{end}: {told:?}");
            assert_eq!(side.line, None, "{end}");
        }
    }

    /// The right button went down, F10 opened the menu, and the line was ordered to a place below it.
    #[test]
    fn a_line_over_which_the_menu_opens_is_no_order() {
        for buttons in [[UP, DOWN], [UP, RELEASED]] {
            let mut side = drawing();
            let covered = Mouse { is_free: false, is_covered: true, ..free(FIELD, buttons) };
            assert_eq!((moved(&mut side, covered), side.line), (None, None), "{buttons:?}");
        }
    }

    /// A finger that tapped where to attack and stayed for half a second sent its units there without fighting.
    #[test]
    fn a_finger_that_has_said_where_to_attack_says_nothing_more() {
        for at in [FIELD, MAP] {
            let mut side = aiming();
            let told = moved(&mut side, free(at, [PRESSED, UP]));
            assert!(matches!(told, Some(Told { command: Command::Attack(_), .. })), "{at}: {told:?}");
            let held = |left| {
                let finger = Finger { has_held: true, ..Finger::default() };
                Mouse { finger, ..free(at, [left, UP]) }
            };
            assert_eq!(moved(&mut side, held(DOWN)), None, "{at}");
            assert_eq!(moved(&mut side, free(at, [RELEASED, UP])), None, "{at}");
            // The next one means something again.
            moved(&mut side, free(at, [PRESSED, UP]));
            let told = moved(&mut side, held(DOWN));
            assert!(matches!(told, Some(Told { command: Command::Move(_), .. })), "{at}: {told:?}");
        }
    }

    /// The next click, which was to select a unit, sent all others there to attack.
    #[test]
    fn a_right_click_takes_the_place_of_an_aim() {
        for at in [FIELD, MAP] {
            let mut side = aiming();
            let told = [PRESSED, RELEASED].map(|right| moved(&mut side, free(at, [UP, right])));
            let told = told.into_iter().flatten().next();
            assert!(matches!(told, Some(Told { command: Command::Move(_), .. })), "{at}: {told:?}");
            assert_eq!(side.aim, None, "{at}");
        }
    }

    #[test]
    fn a_box_whose_finger_was_taken_away_chooses_nobody() {
        let mut side = Side::default();
        side.drag = Some(vec2(-30.0, -20.0));
        assert_eq!(moved(&mut side, free(FIELD, [UP; 2])), None);
        assert_eq!((side.drag, side.chosen.len()), (None, 3));
    }
}
