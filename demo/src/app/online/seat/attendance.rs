//! Which players are here.

use testudo_lockstep::service::code::JoinCode;
use testudo_lockstep::{PLAYERS_MAX, PlayerId};

/// Which players are gone just now, and how many were lost and came back. It outlives a broken connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Attendance {
    lost: u32,
    back: u32,
    /// Bit n for player n.
    away: u16,
    /// Players whom the relay was asked to remove before the start, and the codes that open their places then.
    asked_to_go: Vec<(PlayerId, JoinCode)>,
}

impl Attendance {
    pub(super) fn note_gone(&mut self, player: PlayerId) {
        self.lost += 1;
        self.away |= 1 << player.0;
    }

    pub(super) fn note_back(&mut self, player: PlayerId) {
        self.back += 1;
        self.away &= !(1 << player.0);
    }

    /// This peer comes into a running match: nothing is told of those who went before.
    pub(super) fn note_here(&mut self, is_here: impl Fn(PlayerId) -> bool) {
        self.away =
            (0..PLAYERS_MAX).filter(|player| !is_here(PlayerId(*player))).map(|player| 1 << player).sum();
    }

    /// The relay was asked to remove a player. The code of the last time counts.
    pub(super) fn note_asked_to_go(&mut self, player: PlayerId, code: JoinCode) {
        self.asked_to_go.retain(|(asked, _)| *asked != player);
        self.asked_to_go.push((player, code));
    }

    /// Those of them who are gone.
    pub(super) fn take_gone(&mut self, is_gone: impl Fn(PlayerId) -> bool) -> Vec<(PlayerId, JoinCode)> {
        self.asked_to_go.extract_if(.., |(player, _)| is_gone(*player)).collect()
    }

    pub(super) fn is_here(&self, player: PlayerId) -> bool {
        self.away & (1 << player.0) == 0
    }

    /// Whose deed is told: nobody's if it is that of somebody who has gone.
    pub(super) fn who(&self, player: PlayerId) -> Option<PlayerId> {
        self.is_here(player).then_some(player)
    }

    /// How many players were lost, and how many came back.
    pub(super) fn lost_and_back(&self) -> (u32, u32) {
        (self.lost, self.back)
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, SocketAddr};

    use super::*;
    use crate::app::online::remark::Remark;

    /// The new code was told at once. The match had begun when the relay read the question, and the code led nowhere.
    #[test]
    fn who_was_asked_to_go_twice_goes_once_and_by_the_last_code() {
        let code = |port| JoinCode::unsealed(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        let mut attendance = Attendance::default();
        let asked = [(1, 7), (2, 8), (1, 9)];
        asked.iter().for_each(|(player, port)| attendance.note_asked_to_go(PlayerId(*player), code(*port)));
        let gone = |attendance: &mut Attendance, gone: u8| attendance.take_gone(|player| player.0 == gone);
        assert_eq!(gone(&mut attendance, 3), []);
        assert_eq!(gone(&mut attendance, 1), [(PlayerId(1), code(9))]);
        assert_eq!(gone(&mut attendance, 1), []);
        assert_eq!(gone(&mut attendance, 2), [(PlayerId(2), code(8))]);
    }

    /// "Ada has left", and a moment later "Ada sets the speed to 100 %": the engine ends what nobody is left to end in the name of the host's player.
    #[test]
    fn who_has_gone_does_nothing_any_more() {
        let ada = PlayerId(0);
        let mut attendance = Attendance::default();
        let told = |attendance: &Attendance| {
            let player = attendance.who(ada);
            [Remark::Speed { player, percent: 100 }, Remark::Paused { player, paused: false }]
                .map(|remark| remark.sentence(|_| "Ada".into()))
        };
        assert_eq!(told(&attendance), ["Ada sets the speed to 100 %", "Ada continues the match"]);
        attendance.note_gone(ada);
        assert_eq!(told(&attendance), ["the speed is 100 % now", "the match continues"]);
        attendance.note_back(ada);
        assert!(told(&attendance).iter().all(|sentence| sentence.starts_with("Ada")));
    }
}
