//! One player's side in a window: the selection, the meaning of the next click, and how a command becomes orders.

use macroquad::math::Vec2;
use testudo_lockstep::SubmitError;

use crate::view::command::order_log::OrderLog;
use testudo_battle::{Command, Order};
use testudo_render::battle::effects::Effects;
use testudo_render::battle::selection::{Chosen, KEYS, Own};
use testudo_render::sound::Cue;

/// The meaning of the next left click.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Aim {
    Attack,
    Patrol,
}

impl Aim {
    /// What to do next, for the line above the view.
    pub(crate) fn hint(self) -> &'static str {
        match self {
            Self::Attack => "click where to attack",
            Self::Patrol => "click where to patrol",
        }
    }
}

/// A command for the selected units, and its destination on the field, if it has one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Told {
    pub(crate) command: Command,
    pub(crate) at: Option<Vec2>,
    /// After what they have to do already.
    pub(crate) is_queued: bool,
}

impl Told {
    /// A command that leads nowhere and runs at once.
    pub(crate) fn here(command: Command) -> Self {
        Self { command, at: None, is_queued: false }
    }
}

/// A line that is being drawn for units to stand on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct DrawnLine {
    /// Where the right button went down.
    pub(crate) from: Vec2,
    /// Shift was held then.
    pub(crate) is_queued: bool,
    /// A was pressed before: they attack on the way.
    pub(crate) attacks: bool,
}

/// One player's side.
#[derive(Default)]
pub(crate) struct Side {
    pub(crate) chosen: Chosen,
    pub(crate) effects: Effects,
    pub(crate) aim: Option<Aim>,
    /// The left button, or a finger, went down as an answer to that: it does not move the camera, and held it gives no other order.
    pub(crate) is_aimed: bool,
    /// The position on the field where a box began.
    pub(crate) drag: Option<Vec2>,
    /// A line is drawn, since the right button went down.
    pub(crate) line: Option<DrawnLine>,
    /// The unit that was clicked last, the digit that was pressed last, and when, seconds: twice means more.
    pub(crate) last_click: Option<(u32, f64)>,
    pub(crate) last_digit: Option<(usize, f64)>,
    /// How many belong to each number key, and when that was counted, seconds.
    sizes: Option<([usize; KEYS], f32)>,
    /// The next digit makes a group.
    pub(crate) names_group: bool,
    /// Units were ordered to attack, so that hint is done.
    pub(crate) has_attacked: bool,
    /// What is heard of the last order, until somebody listens.
    pub(crate) answer: Option<Cue>,
    /// Why the last order was refused, until somebody says so.
    pub(crate) refused: Option<String>,
}

impl Side {
    /// How many living units belong to each number key; counted now and then.
    pub(crate) fn group_sizes(&mut self, own: &[Own], now: f32) -> [usize; KEYS] {
        const EVERY: f32 = 0.3;
        match self.sizes {
            Some((sizes, at)) if (at..at + EVERY).contains(&now) => sizes,
            _ => {
                let sizes = core::array::from_fn(|key| self.chosen.members(key, own).count());
                self.sizes = Some((sizes, now));
                sizes
            }
        }
    }

    /// Cancels what was begun.
    pub(crate) fn let_go(&mut self) {
        (self.aim, self.drag, self.line, self.names_group) = (None, None, None, false);
    }

    /// Gives the selected units of a player a command and shows its destination at once. `submit` submits an order and returns the turn in
    /// which it was accepted.
    pub(crate) fn tell(
        &mut self,
        player: u8,
        own: &[Own],
        told: Told,
        log: &mut OrderLog,
        mut submit: impl FnMut(&Order) -> Result<u32, SubmitError>,
    ) {
        self.chosen.keep(own);
        // Scattered units are gathered first. An order that would reach some of them is not given.
        let orders = self.chosen.orders(own, told.command, told.is_queued);
        let given = orders.iter().try_fold(None, |_, order| submit(order).map(|turn| Some((turn, order))));
        if let Ok(Some((turn, order))) = given {
            log.order(player, turn, order, self.chosen.len());
        }
        let is_given = matches!(given, Ok(Some(_)));
        self.refused = given.err().map(|error| format!("This order does not run: {error}"));
        use Command::{Attack, Line, Strike};
        let attacks = matches!(told.command, Attack(_) | Strike(_) | Line { attacks: true, .. });
        if is_given && !matches!(told.command, Command::Assign(_)) {
            self.answer = Some(if attacks { Cue::Attack } else { Cue::Order });
        }
        if let (Some(at), true) = (told.at, is_given) {
            self.effects.mark(at, player, attacks);
            self.has_attacked |= attacks;
        }
    }
}

#[cfg(test)]
mod tests {
    use testudo_lockstep::Turn;
    use testudo_physics::BodyId;

    use super::*;
    use crate::view::command::order_log::Sink;
    use testudo_battle::{Point, Stance};

    /// A mark stood where nobody went, and nothing said why.
    #[test]
    fn an_order_that_is_refused_says_so() {
        let at = |index: u32| Point { x: (index % 10) as i32 * 65_536, y: (index / 10) as i32 * 65_536 };
        let body = |index: u32| BodyId::from_bits(u64::from(index));
        let own =
            |index| Own { index, body: body(index), place: at(index), groups: 0, stance: Stance::Defend };
        let own: Vec<Own> = (0..100).map(own).collect();
        let told = Told { at: Some(Vec2::ZERO), ..Told::here(Command::Stop) };
        // The number of orders that are accepted; every third unit needs three.
        let said = |accepted: u32| {
            let (mut side, mut given) = (Side::default(), 0..accepted);
            side.chosen.choose(own.iter().step_by(3).map(Own::member), false);
            side.tell(0, &own, told, &mut OrderLog::new(Sink::Nowhere), |_| {
                given.next().ok_or(SubmitError::TooLate { last_turn: Turn(9) })
            });
            (side.answer, side.refused.unwrap_or_default())
        };
        assert_eq!(said(3), (Some(Cue::Order), String::new()));
        // Who was gathered for it was told nothing.
        let (answer, _) = said(2);
        assert_eq!(answer, None);
        let (answer, refused) = said(0);
        assert!(answer.is_none() && refused.starts_with("This order does not run"), "{refused}");
        assert!(refused.contains("the match ends with turn 9"), "{refused}");
    }
}
