//! The menu of the main screen, and how the next battle begins.

use crate::app::Pilot;
use crate::view::hud::friends::FriendsAction;
use crate::view::hud::menu::{Menu, MenuAction};
use crate::view::screens::desk::Desk;
use crate::view::screens::desk::finale::Want;
use testudo_battle::bots::Level;

impl Desk {
    pub(super) fn toggle_menu(&mut self) {
        self.stage.shows_help = false;
        self.menu = match self.menu {
            Some(_) => None,
            None => {
                let has_replay = self.newest_replay().is_some();
                let level = self.spec.pilots.get(1).and_then(|pilot| pilot.level());
                Some(Menu::new(self.spec.terms.setup, level, self.is_watched(), has_replay))
            }
        };
        self.stage.log.note("menu", self.menu.is_some());
    }

    /// Whether a bot plays the first army.
    fn is_watched(&self) -> bool {
        self.spec.pilots.first().is_some_and(|pilot| pilot.level().is_some())
    }

    /// How well bots play here.
    pub(super) fn level(&self) -> Level {
        self.spec.pilots.iter().find_map(|pilot| pilot.level()).unwrap_or_default()
    }

    /// Another battle, as chosen in the menu.
    fn start(&mut self, chosen: Menu) {
        self.spec.terms.setup = chosen.setup;
        if let Some(first) = self.spec.pilots.first_mut() {
            *first =
                if chosen.is_watched { Pilot::Bot(chosen.level.unwrap_or_default()) } else { Pilot::Person };
        }
        for pilot in self.spec.pilots.iter_mut().skip(1) {
            *pilot = chosen.level.map_or(Pilot::Person, Pilot::Bot);
        }
        // Otherwise a network that was made terrible would stay so in the next battle, and nothing would say so.
        self.skirmish.set_link(self.spec.link);
        self.restart(None);
        self.stage.log.started(&self.spec.terms.setup, &self.spec.link);
        self.stage.log.note("bot", chosen.level.map_or("Idle".into(), |level| format!("{level:?}")));
    }

    pub(super) fn draw_menu(&mut self) {
        let around = self.board.eye.layout.around();
        let Some(menu) = &mut self.menu else { return };
        let Some(action) = menu.draw(&mut self.stage.ui, around) else { return };
        self.act_on(action);
    }

    /// Reads the keys of one picture if a code is being typed, which are no commands then.
    pub(super) fn reads_code(&mut self) -> bool {
        let Some(friends) = self.menu.as_mut().and_then(|menu| menu.friends.as_mut()) else { return false };
        if friends.read_keys() {
            self.act_on(MenuAction::Online(FriendsAction::Join));
        }
        true
    }

    fn act_on(&mut self, action: MenuAction) {
        let Some(chosen) = self.menu.clone() else { return };
        if let MenuAction::Online(way) = action {
            match self.reach(way, &chosen) {
                Ok(game) => {
                    // A page that is loaded again comes back with it.
                    game.code().into_iter().for_each(|code| self.stage.log.note("joins", code));
                    self.wants = Some(Want::Online(Box::new(game)));
                }
                Err(why) => {
                    self.stage.log.note("refused", why.clone());
                    self.menu.iter_mut().flat_map(|menu| &mut menu.friends).for_each(|page| page.say(&why));
                    return;
                }
            }
        }
        self.toggle_menu();
        match action {
            MenuAction::Start => self.start(chosen),
            MenuAction::Cubes => self.wants = Some(Want::Cubes),
            MenuAction::LastReplay => self.wants = Some(Want::Replay),
            MenuAction::LookBack => self.wants = Some(Want::LookBack),
            MenuAction::Close | MenuAction::Online(_) => {}
        }
    }
}
