//! Removing players: a host does it itself, the opener of a relay's room asks the relay.

use testudo_lockstep::service::code::JoinCode;
use testudo_lockstep::service::removal::Removal;
use testudo_lockstep::{Identity, PlayerId};

use crate::app::online::keys;
use crate::app::online::news::News;
use crate::app::online::seat::Seat;
use crate::app::online::wire::Wire;

impl Seat {
    /// Whether this seat may remove players: it is the host's, or it opened the room at a relay (also after it came back).
    pub(crate) fn may_kick(&self) -> bool {
        self.is_host() || (self.is_relayed && self.place == Identity::Player(PlayerId(0)))
    }

    /// Removes a player for good.
    ///
    /// # Errors
    /// Why that is not possible.
    pub(crate) fn kick(&mut self, player: PlayerId) -> Result<(), String> {
        if !self.may_kick() {
            return Err("only the host can remove another player".into());
        }
        if player == self.player() {
            return Err("nobody removes themselves: leave the match instead".into());
        }
        if !self.is_host() {
            return self.ask_for_removal(player);
        }
        let session = self.driver.session_mut();
        let code = match &mut self.wire {
            #[cfg(not(target_arch = "wasm32"))]
            Wire::Host(host) => {
                let secret = keys::random().map_err(|error| error.to_string())?;
                host.remove(session, player, secret, self.clock.now())
            }
            // Without a seal a place has no code that could be closed.
            _ if !session.kick(player) => return Err("there is nobody to be removed".into()),
            _ => None,
        };
        code.into_iter().for_each(|code| self.renew_code(player, &code));
        Ok(())
    }

    /// The relay does it, soon.
    fn ask_for_removal(&mut self, player: PlayerId) -> Result<(), String> {
        let secret = keys::random().map_err(|error| error.to_string())?;
        let removal = Removal { player, secret };
        removal
            .ask(self.driver.session_mut())
            .map_err(|error| format!("the relay cannot be asked: {error}"))?;
        let code = match &self.wire {
            Wire::Guest(guest) => {
                let code = guest.code();
                JoinCode::new(code.addresses(), code.certificate_hash(), secret).ok()
            }
            _ => None,
        };
        let is_before = !self.session().start_is_fixed();
        code.filter(|_| is_before)
            .into_iter()
            .for_each(|code| self.attendance.note_asked_to_go(player, code));
        Ok(())
    }

    /// The relay has removed a player before the start was fixed. A question that it reads later opens the place to nobody.
    pub(super) fn tell_new_codes(&mut self) {
        let session = self.driver.session();
        let is_before = !session.start_is_fixed();
        for (player, code) in self.attendance.take_gone(|player| !is_before || !session.is_here(player)) {
            if is_before {
                self.renew_code(player, &code);
            }
        }
    }

    /// Before the start somebody else may come instead, with a new code.
    fn renew_code(&mut self, player: PlayerId, code: &JoinCode) {
        self.codes.iter_mut().for_each(|codes| codes.renew(player, code));
        let code = code.to_string();
        let link = self.codes.as_ref().and_then(|codes| codes.link(&code));
        self.news.push_back(News::NewCode { player, code, link });
    }
}
