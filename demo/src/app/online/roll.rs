//! Who is here, by name. The middle of the star tells everybody, from time to time, in a datagram of its own.

use testudo_lockstep::{Duration, Instant, PLAYERS_MAX, PeerId, PlayerId};

use crate::app::online::name::{NAME_BYTES_MAX, Name};
use crate::app::online::wire::MIDDLE;
use crate::game::TEAMS_MAX;

/// First bytes of the datagram.
const MARK: [u8; 8] = *b"TESTROLL";

/// What is said of a player.
const HERE: u8 = 1;
const READY: u8 = 2;

/// The team is in the bits above them.
const TEAM_SHIFT: u32 = 4;

/// Mark and number of the match.
const HEAD: usize = 16;

/// Time between two datagrams before the start, and during the match. They may be lost.
const EVERY: Duration = Duration::from_millis(500);
const EVERY_LATER: Duration = Duration::from_secs(5);

/// The players of a match.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Roll {
    players: Vec<Entry>,
    due: Instant,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Entry {
    is_here: bool,
    /// Before the start: wants to begin.
    is_ready: bool,
    /// 0: none.
    team: u8,
    name: Name,
}

impl Roll {
    pub(crate) fn new(players: u8) -> Self {
        Self { players: vec![Entry::default(); usize::from(players)], due: Instant::ZERO }
    }

    /// Whether the player is connected to the middle.
    pub(crate) fn is_here(&self, player: PlayerId) -> bool {
        self.players.get(player.index()).is_some_and(|entry| entry.is_here)
    }

    /// Whether the player wants to begin.
    pub(crate) fn is_ready(&self, player: PlayerId) -> bool {
        self.players.get(player.index()).is_some_and(|entry| entry.is_ready)
    }

    /// The player's team before the start; 0: none.
    pub(crate) fn team(&self, player: PlayerId) -> u8 {
        self.players.get(player.index()).map_or(0, |entry| entry.team)
    }

    /// The player's name; none if it is unknown or empty.
    pub(crate) fn name(&self, player: PlayerId) -> Option<&str> {
        let name = self.players.get(player.index())?.name.as_str();
        (!name.is_empty()).then_some(name)
    }

    /// How a player is called: with the number that lines on a terminal use, counted from 0.
    pub(crate) fn called(&self, player: PlayerId) -> String {
        match self.name(player) {
            Some(name) => format!("player {player} ({name})"),
            None => format!("player {player}"),
        }
    }

    /// The middle: whether it is time to tell everybody. Asked once per datagram.
    pub(crate) fn is_due(&mut self, now: Instant, has_begun: bool) -> bool {
        let is_due = now >= self.due;
        if is_due {
            self.due = now + if has_begun { EVERY_LATER } else { EVERY };
        }
        is_due
    }

    /// The middle: everybody is to be told soon, because something has changed.
    pub(crate) fn hurry(&mut self, now: Instant) {
        self.due = self.due.min(now + EVERY);
    }

    /// The middle: notes who is here and wants to begin. A name stays when its player is away.
    pub(crate) fn note(&mut self, player: PlayerId, is_here: bool, is_ready: bool, name: Option<&Name>) {
        if let Some(entry) = self.players.get_mut(player.index()) {
            (entry.is_here, entry.is_ready) = (is_here, is_here && is_ready);
            name.into_iter().for_each(|name| entry.name.clone_from(name));
        }
    }

    /// The middle: notes a player's team, at most [`TEAMS_MAX`].
    pub(crate) fn set_team(&mut self, player: PlayerId, team: u8) {
        if let Some(entry) = self.players.get_mut(player.index()).filter(|_| team <= TEAMS_MAX) {
            entry.team = team;
        }
    }

    /// Mark, match, number of players; for each player [`HERE`], [`READY`] and the team, the length of the name, the name.
    pub(crate) fn to_bytes(&self, session_id: u64) -> Vec<u8> {
        let mut bytes = [&MARK[..], &session_id.to_le_bytes(), &[self.players.len() as u8]].concat();
        for entry in &self.players {
            let name = entry.name.as_str().as_bytes();
            let flags = u8::from(entry.is_here) * HERE + u8::from(entry.is_ready) * READY;
            let flags = flags | entry.team << TEAM_SHIFT;
            bytes.extend_from_slice(&[flags, name.len() as u8]);
            bytes.extend_from_slice(name);
        }
        bytes
    }

    /// A guest: whether a datagram is a roll. It counts if it comes from the middle.
    pub(crate) fn hear(&mut self, session_id: u64, from: Option<PeerId>, bytes: &[u8]) -> bool {
        let Some((head, rest)) = bytes.split_at_checked(HEAD) else { return false };
        if head[..8] != MARK || head[8..] != session_id.to_le_bytes() {
            return false;
        }
        if from == Some(MIDDLE)
            && let Some(players) = read(rest).filter(|players| players.len() == self.players.len())
        {
            self.players = players;
        }
        true
    }
}

/// Total: any bytes give entries or none.
fn read(bytes: &[u8]) -> Option<Vec<Entry>> {
    let (&count, mut rest) = bytes.split_first()?;
    let mut players = Vec::new();
    for _ in 0..count.min(PLAYERS_MAX) {
        let (&[flags, length], after) = rest.split_first_chunk()?;
        let (name, after) = after.split_at_checked(length.into())?;
        let (team, flags) = (flags >> TEAM_SHIFT, flags & ((1 << TEAM_SHIFT) - 1));
        let in_range = [0, HERE, HERE + READY].contains(&flags) && team <= TEAMS_MAX;
        if !in_range || name.len() > NAME_BYTES_MAX {
            return None;
        }
        let (is_here, is_ready) = (flags & HERE != 0, flags & READY != 0);
        players.push(Entry { is_here, is_ready, team, name: Name::read(name)? });
        rest = after;
    }
    (rest.is_empty() && players.len() == usize::from(count)).then_some(players)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roll() -> Roll {
        let mut roll = Roll::new(3);
        roll.note(PlayerId(0), true, true, Some(&Name::cleaned("Ada")));
        roll.note(PlayerId(2), true, true, Some(&Name::cleaned("Bob")));
        roll.note(PlayerId(2), false, true, None);
        roll.set_team(PlayerId(0), 1);
        roll.set_team(PlayerId(1), TEAMS_MAX);
        roll.set_team(PlayerId(2), TEAMS_MAX + 1);
        roll
    }

    #[test]
    fn everybody_hears_from_the_middle_who_is_here() {
        let told = roll();
        let mut heard = Roll::new(3);
        let bytes = told.to_bytes(5);
        assert!(!heard.hear(6, Some(MIDDLE), &bytes), "another match");
        assert!(heard.hear(5, None, &bytes) && heard.hear(5, Some(PeerId(1)), &bytes));
        assert_eq!(heard, Roll::new(3), "a stranger says so");
        assert!(heard.hear(5, Some(MIDDLE), &bytes));
        let players = [0, 1, 2].map(PlayerId);
        assert_eq!(players.map(|player| heard.is_here(player)), [true, false, false]);
        assert_eq!(players.map(|player| heard.is_ready(player)), [true, false, false]);
        assert_eq!(players.map(|player| heard.team(player)), [1, TEAMS_MAX, 0]);
        assert_eq!(players.map(|player| heard.name(player)), [Some("Ada"), None, Some("Bob")]);
        assert_eq!(heard.called(PlayerId(2)), "player 2 (Bob)");
        assert_eq!(heard.called(PlayerId(1)), "player 1");
    }

    #[test]
    fn whatever_arrives_changes_all_or_nothing() {
        let bytes = roll().to_bytes(5);
        for length in HEAD..bytes.len() {
            assert_eq!(read(&bytes[HEAD..length]), None, "{length}");
        }
        for (at, value) in [(0, 2), (0, 4), (0, 255), (1, 2), (1, 4), (1, 0x90), (2, 200), (3, 7), (3, 0xff)]
        {
            let mut changed = bytes[HEAD..].to_vec();
            changed[at] = value;
            assert_eq!(read(&changed), None, "byte {at} = {value}");
        }
        assert_eq!(read(&[&bytes[HEAD..], &[0]].concat()), None);
        let most =
            vec![Entry { is_here: true, is_ready: true, team: 8, name: Name::cleaned(&"x".repeat(24)) }; 16];
        let most = Roll { players: most, due: Instant::ZERO };
        assert!(most.to_bytes(5).len() < testudo_lockstep::PACKET_BYTES_MAX);
    }
}
