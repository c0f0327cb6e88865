//! A match with others: from the menu, through its own screen, and back to the battle, which waits.

#[cfg(not(target_arch = "wasm32"))]
use testudo_lockstep::Pace;

#[cfg(not(target_arch = "wasm32"))]
use crate::app::online::{agreement::Agreement, seat::hosting::Hosting};
use crate::app::{NetworkMatch, News, Outcome, SeatOptions, Terms};
use crate::view::hud::friends::{Friends, FriendsAction};
use crate::view::hud::menu::Menu;
use crate::view::hud::stage::Screen as _;
use crate::view::screens::desk::Desk;
use crate::view::screens::network::{self, Left};
use crate::view::screens::viewing::{self, Back, Told};

/// Where this window listens: a person who hosts by a button means friends on other computers. Nobody comes in without a code.
#[cfg(not(target_arch = "wasm32"))]
const EVERYWHERE: std::net::SocketAddr =
    std::net::SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED), 0);

impl Desk {
    /// The beginning of the match that the menu asks for, as `host` and `join` begin it; or a sentence about why there is none.
    pub(super) fn reach(&self, action: FriendsAction, menu: &Menu) -> Result<NetworkMatch, String> {
        let (replay, page) = (self.spec.replay.clone(), self.page.clone());
        let options = SeatOptions { replay, page, ..SeatOptions::default() };
        let terms = Terms { setup: menu.setup, ..self.spec.terms };
        #[cfg(not(target_arch = "wasm32"))]
        if action == FriendsAction::Host {
            let agreement = Agreement::new(&terms, Pace::Adaptive, true);
            let hosting =
                Hosting { agreement, bind: EVERYWHERE, public: Vec::new(), is_sealed: true, save: None };
            return NetworkMatch::host(&hosting, options).map_err(|error| error.to_string());
        }
        match menu.friends.as_ref().map_or("", |friends| friends.text().trim()) {
            "" => Err("paste or type a code first".into()),
            code => NetworkMatch::by_code(code, (action == FriendsAction::Room).then_some(&terms), options),
        }
    }

    /// Plays a match with others. The person comes back to the battle as it was; a match that failed is told of in the menu.
    pub(super) async fn play_online(
        mut self,
        game: NetworkMatch,
        tell: impl Fn(&NetworkMatch, &News),
        told: &Told,
    ) -> Self {
        let left = network::run(game, self.stage, tell).await;
        let Left { game, stage, replay, error, quits } = left;
        (self.stage, self.pace.is_paused) = (stage, true);
        let ended = game.end();
        let outcome = ended.as_ref().ok().and_then(Option::as_ref);
        let agrees = outcome.is_none_or(Outcome::agrees);
        let early = outcome.and_then(|outcome| outcome.end.trouble().map(str::to_owned));
        self.has_agreed &= agrees;
        // Whatever comes next, it may be that no other picture is drawn.
        self.tell_verdict(told);
        if quits {
            self.close();
            return self;
        }
        self.stage.log.note("online_over", agrees);
        let failed = error.or(ended.err()).map(|error| error.to_string()).or(early);
        if let Some(course) = replay {
            (self.stage, _) = viewing::visit(course, self.stage, Back::Old).await;
        }
        if let Some(why) = failed {
            self.tell_friends(&why);
        }
        self
    }

    /// Opens the menu's page with the reason why a match has failed.
    fn tell_friends(&mut self, why: &str) {
        if self.menu.is_none() {
            self.toggle_menu();
        }
        if let Some(menu) = &mut self.menu {
            menu.friends.get_or_insert_with(Friends::opened).say(why);
        }
    }
}
