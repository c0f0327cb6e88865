//! What the players themselves have signed about a match in which copies differ. With it, nobody has to believe the referee: whoever has signed
//! another checksum than the orders lead to, with the same orders as somebody who has signed the right one, has a wrong copy.

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use serde::{Deserialize, Serialize};

use crate::judgement::doubt::Doubt;
use crate::session::AnySession;
use crate::session::config::limits::CHECKSUM_INTERVAL_MAX;
use crate::signed::conviction::Conviction;
use crate::signed::roster::Roster;
use crate::signed::statement::{Since, Statement};
use crate::value::ids::{PlayerId, Turn};

/// The statements of one turn.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Testimony {
    /// The players' keys ([`Roster::to_bytes`]) in hexadecimal digits.
    pub roster: String,
    /// The statements are about the match up to the start of this turn.
    pub turn: u32,
    /// Turns from one exchanged checksum to the next ([`crate::SessionConfig::checksum_interval`]). The text leaves it out where it is 1.
    #[serde(default = "every_turn", skip_serializing_if = "is_every_turn")]
    pub interval: u32,
    /// One of each player who has said something.
    pub statements: Vec<Said>,
}

/// A player's [`Statement`]; hashes and signature in hexadecimal digits.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Said {
    player: u8,
    live: u16,
    own: String,
    all: String,
    /// Its newest folded checksum of those that are exchanged.
    checksum: u32,
    agreed: String,
    /// A player who has come back: the turn before which the state was taken that it was given, and its folded checksum.
    since: Option<(u32, u32)>,
    signature: String,
}

impl Testimony {
    /// What is known of the first turn after this one about which most players have said something. None: nobody has. It may be one that the
    /// referee's own copy has not run: leave it out of the judgement then, whose testimony is about one of its turns.
    #[must_use]
    pub fn of(session: &AnySession, after: u32) -> Option<Self> {
        let roster = session.roster()?;
        let said: Vec<&Statement> =
            session.statements().filter(|statement| statement.turn.0 > after).collect();
        let about = |turn: Turn| said.iter().filter(move |statement| statement.turn == turn);
        let most = |turn: &Turn| (about(*turn).count(), core::cmp::Reverse(turn.0));
        let turn = said.iter().map(|statement| statement.turn).max_by_key(most)?;
        let statements = about(turn).map(|statement| Said::of(statement)).collect();
        let interval = session.config().limits.checksum_interval;
        Some(Self { roster: hex(&roster.to_bytes()), turn: turn.0, interval, statements })
    }

    /// What the players' own signatures show. `sums` is what the orders lead to: the folded checksum before each turn, up to the turn of the
    /// statements. The interval is the referee's word; with another one a liar could be a witness, so that honest players are accused, not convicted.
    ///
    /// # Errors
    /// [`Doubt::Testimony`]: these are not statements of players of the match with this number.
    pub fn convicts(&self, session: &str, sums: &[u32]) -> Result<Conviction, Doubt> {
        if sums.len() <= self.turn as usize {
            return Err(Doubt::Testimony("the match has no such turn".into()));
        }
        let damaged = || Doubt::Testimony("the players' keys are damaged".into());
        let roster = unhex(&self.roster).and_then(|bytes| Roster::from_bytes(&bytes).ok());
        let roster = roster.ok_or_else(damaged)?;
        if format!("{:016x}", roster.session_id()) != session {
            return Err(Doubt::Testimony("the players' keys are those of another match".into()));
        }
        let unsigned = |player: u8| Doubt::Testimony(format!("player {player} has not signed this"));
        let read = |said: &Said| said.to_statement(self.turn).ok_or_else(|| unsigned(said.player));
        let statements = self.statements.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        Conviction::of(&roster, &statements, sums, self.interval).map_err(|player| unsigned(player.0))
    }

    /// Whether all its numbers are digits, and its players are players of such a match. Whether they have signed it is another question.
    pub(super) fn is_well_formed(&self, players: u8) -> bool {
        is_hex(&self.roster, self.roster.len())
            && (1..=CHECKSUM_INTERVAL_MAX).contains(&self.interval)
            && self.statements.iter().all(|said| said.player < players && said.is_well_formed())
    }

    /// The short form of the keys that the players' programs showed at the start.
    #[must_use]
    pub fn fingerprint(&self) -> Option<String> {
        let roster = Roster::from_bytes(&unhex(&self.roster)?).ok()?;
        Some(roster.fingerprint().to_string())
    }
}

fn every_turn() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it")]
fn is_every_turn(interval: &u32) -> bool {
    *interval == 1
}

impl Said {
    fn of(statement: &Statement) -> Self {
        Self {
            player: statement.author.0,
            live: statement.live,
            own: hex(&statement.own),
            all: hex(&statement.all),
            checksum: statement.checksum,
            agreed: hex(&statement.agreed),
            since: statement.since.map(|since| (since.turn.0, since.checksum)),
            signature: hex(&statement.signature),
        }
    }

    fn is_well_formed(&self) -> bool {
        let Self { own, all, agreed, signature, .. } = self;
        [(own, 16), (all, 24), (agreed, 16), (signature, 128)]
            .iter()
            .all(|(text, digits)| is_hex(text, *digits))
    }

    fn to_statement(&self, turn: u32) -> Option<Statement> {
        Some(Statement {
            author: PlayerId(self.player),
            turn: Turn(turn),
            live: self.live,
            own: array(&self.own)?,
            all: array(&self.all)?,
            checksum: self.checksum,
            agreed: array(&self.agreed)?,
            since: self.since.map(|(turn, checksum)| Since { turn: Turn(turn), checksum }),
            signature: array(&self.signature)?,
        })
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    HEXLOWER.encode(bytes)
}

/// Whether it is a number of so many hexadecimal digits.
pub(super) fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The bytes of hexadecimal digits.
fn unhex(text: &str) -> Option<Vec<u8>> {
    HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok()
}

/// So many bytes, no more and no fewer.
pub(super) fn array<const N: usize>(text: &str) -> Option<[u8; N]> {
    unhex(text)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signed::key::PlayerKey;
    use crate::signed::roster::Seat;

    const RIGHT: u32 = 77;

    /// Three players; the last one's copy is wrong.
    fn testimony() -> (Testimony, Vec<PlayerKey>, Roster) {
        let keys: Vec<PlayerKey> = (1..=3).map(|secret| PlayerKey::from_secret([secret; 32])).collect();
        let seat = |key: &PlayerKey| Some(Seat { key: key.public().to_bytes(), salt: 5 });
        let seats: Vec<Option<Seat>> = keys.iter().map(seat).collect();
        let roster = Roster::new(0x1234, &seats).unwrap();
        let said =
            (0..3).map(|player| said(player, RIGHT + u32::from(player == 2), &keys, &roster)).collect();
        (Testimony { roster: hex(&roster.to_bytes()), turn: 9, interval: 1, statements: said }, keys, roster)
    }

    fn said(player: u8, checksum: u32, keys: &[PlayerKey], roster: &Roster) -> Said {
        let mut statement = Statement {
            author: PlayerId(player),
            turn: Turn(9),
            live: 7,
            own: [player; 8],
            all: [8; 12],
            checksum,
            agreed: [9; 8],
            since: None,
            signature: [0; 64],
        };
        statement.sign(roster, &keys[usize::from(player)]);
        Said::of(&statement)
    }

    const SESSION: &str = "0000000000001234";

    /// The match comes to this checksum before turn 9.
    fn sums(right: u32) -> Vec<u32> {
        vec![0, 1, 2, 3, 44, 5, 6, 7, 8, right]
    }

    #[test]
    fn a_player_who_has_signed_another_checksum_is_convicted() {
        let (testimony, _, roster) = testimony();
        let found = testimony.convicts(SESSION, &sums(RIGHT)).unwrap();
        assert_eq!(found.convicted.iter().collect::<Vec<_>>(), [PlayerId(2)]);
        assert!(testimony.convicts(SESSION, &sums(1)).unwrap().is_empty());
        assert_eq!(testimony.fingerprint(), Some(roster.fingerprint().to_string()));
        assert!(testimony.convicts(SESSION, &sums(RIGHT)[..9]).is_err(), "a match that ends before");
    }

    #[test]
    fn what_was_changed_convicts_nobody() {
        let (testimony, ..) = testimony();
        assert!(testimony.convicts("0000000000001235", &sums(RIGHT)).is_err());
        let changes: [&dyn Fn(&mut Testimony); 5] = [
            &|changed| changed.statements[0].checksum = 1,
            &|changed| changed.statements[2].player = 0,
            &|changed| changed.turn = 8,
            &|changed| changed.roster.truncate(20),
            &|changed| changed.statements[1].signature.push('0'),
        ];
        for change in changes {
            let mut changed = testimony.clone();
            change(&mut changed);
            assert!(changed.convicts(SESSION, &sums(RIGHT)).is_err(), "{changed:?}");
        }
    }
}
