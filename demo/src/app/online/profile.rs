//! What a player shows to the others before and during a match: its team, its name, and the teams that the host has planned.

use testudo_lockstep::{PlayerId, Session, SessionPhase};

use crate::app::online::name::Name;
use testudo_battle::{ARMIES_MAX, Order, TEAMS_MAX, Teams};

/// On the wire: the player has not chosen a team, and the host's plan counts.
const UNCHOSEN: u8 = u8::MAX;

/// On the wire: ends the name. No name contains it.
const END: u8 = 0;

/// The profile of a player.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Profile {
    /// 0: none. Not chosen: what the host has planned.
    pub(crate) team: Option<u8>,
    pub(crate) name: Name,
    /// The host's alone: the teams of those who do not choose. (It is not written into their own profiles: there it could come after their choice
    /// and replace it.)
    pub(crate) plan: Teams,
}

impl Profile {
    /// As a player shows it; what makes no sense is left out.
    pub(crate) fn of(session: &Session<Order>, player: PlayerId) -> Self {
        let Some((team, rest)) = session.profile(player).split_first() else { return Self::default() };
        let team = Some(*team).filter(|team| *team <= TEAMS_MAX);
        let mut parts = rest.splitn(2, |byte| *byte == END);
        let name = parts.next().and_then(Name::read).unwrap_or_default();
        Self { team, name, plan: parts.next().and_then(Teams::new).unwrap_or_default() }
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = [&[self.team.unwrap_or(UNCHOSEN)], self.name.as_str().as_bytes()].concat();
        if self.plan.are_any() {
            bytes.push(END);
            bytes.extend((0..ARMIES_MAX).map(|army| self.plan.of(army)));
        }
        bytes
    }

    /// The name; none if it is unknown or empty.
    pub(crate) fn name(&self) -> Option<&str> {
        Some(self.name.as_str()).filter(|name| !name.is_empty())
    }
}

/// A player's name; none if it is unknown or empty. Before the start a place whose player is gone, or was removed, is free for somebody else.
pub(crate) fn name(session: &Session<Order>, player: PlayerId) -> Option<String> {
    let is_lobby = session.phase() == SessionPhase::Lobby && !session.is_joining();
    if is_lobby && !session.is_here(player) {
        return None;
    }
    Profile::of(session, player).name().map(str::to_owned)
}

/// How a player is called on a terminal, counted from 1.
pub(crate) fn called(session: &Session<Order>, player: PlayerId) -> String {
    match name(session, player) {
        Some(name) => format!("player {} ({name})", player.0 + 1),
        None => format!("player {}", player.0 + 1),
    }
}

#[cfg(test)]
mod tests {
    use testudo_lockstep::{Instant, SessionConfig};

    use super::*;

    #[test]
    fn whatever_a_player_shows_is_a_profile() {
        let mut session = Session::<Order>::host(SessionConfig::new(2).simulated(), Instant::ZERO).unwrap();
        let mut shown = |bytes: &[u8]| {
            session.set_profile(PlayerId(0), bytes).unwrap();
            Profile::of(&session, PlayerId(0))
        };
        let ada = Profile { team: Some(2), name: Name::cleaned("Ada"), ..Profile::default() };
        assert_eq!(shown(&ada.to_bytes()), ada);
        let unchosen = Profile { team: None, ..ada.clone() };
        assert_eq!(shown(&unchosen.to_bytes()), unchosen);
        assert_eq!(shown(&[TEAMS_MAX + 1, b'A']).team, None);
        let planned = Profile { plan: Teams::new(&[1, 2, 0, 2]).unwrap(), ..unchosen };
        assert_eq!(shown(&planned.to_bytes()), planned);
        assert_eq!(shown(&[1, 0xff]), Profile { team: Some(1), ..Profile::default() });
        assert_eq!(shown(&[1, b'A', END, TEAMS_MAX + 1]).plan, Teams::default());
        assert_eq!(shown(&[&[1, END], &[1; 17][..]].concat()).plan, Teams::default());
        assert_eq!(shown(&[]), Profile::default());
        assert_eq!(called(&session, PlayerId(1)), "player 2");
        // The lobby showed the name of whoever was removed.
        session.set_profile(PlayerId(0), &ada.to_bytes()).unwrap();
        session.set_profile(PlayerId(1), &ada.to_bytes()).unwrap();
        assert_eq!(called(&session, PlayerId(0)), "player 1 (Ada)");
        assert_eq!(called(&session, PlayerId(1)), "player 2", "nobody is there");
    }
}
