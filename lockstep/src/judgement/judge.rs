//! What a referee says of a match, and how it is checked.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::drive::simulation::Simulation;
use crate::judgement::doubt::Doubt;
use crate::judgement::testimony::{Testimony, array, hex, is_hex};
use crate::replay::{Replay, ReplayPlayer};
use crate::session::checksum::{Desync, fold_checksum};
use crate::signed::conviction::Conviction;
use crate::signed::key::{PlayerKey, PublicKey};
use crate::state::State;
use crate::value::ids::PLAYERS_MAX;

/// What a signature covers begins with this, so that it means nothing elsewhere.
const DOMAIN: &[u8] = b"testudo judgement 2\n";

/// Longest text that is read, in bytes.
pub const JSON_BYTES_MAX: usize = 1 << 16;

/// The turn before which a replay begins must not be a later one: checksums of all turns before it are kept in memory. More than a month with turns of 200 ms.
const FIRST_TURN_MAX: u32 = 1 << 24;

/// What happened in a match. Numbers of 64 bits are 16 hexadecimal digits.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Judgement {
    /// Number of the match.
    pub session: String,
    /// Number of players.
    pub players: u8,
    /// Turns that the referee has simulated.
    pub turns: u32,
    /// Checksum of its copy after them; none if the match ended early.
    pub checksum: Option<String>,
    /// The result of the match ([`Simulation::result`]), such as the player who has won, if the match was decided. None if it ended early.
    pub winner: Option<u8>,
    /// None: all checksums were equal.
    pub difference: Option<DesyncReport>,
    /// What the players have signed after the difference. None: there was none, or nobody has signed anything before the end.
    pub testimony: Option<Testimony>,
    /// The referee was not there from the first turn: it got a state before this one. If more than one player played, most players had signed what it
    /// led to.
    pub since: Option<u32>,
    /// None: the referee was not there from the first turn.
    pub replay: Option<Archived>,
}

/// The first turn after which a player's checksum differed from the referee's. Values are folded to 32 bits, 8 hexadecimal digits.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct DesyncReport {
    /// The turn.
    pub turn: u32,
    /// The referee's.
    pub referee: String,
    /// What each player has sent.
    pub values: Vec<(u8, String)>,
    /// The players whose copies were wrong.
    pub at_fault: Vec<u8>,
}

/// A replay that is kept next to the judgement.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Archived {
    /// Its name. Whoever opens it must take a name only, and no path.
    pub file: String,
    /// SHA-256 of its bytes in hexadecimal digits.
    pub sha256: String,
}

/// A judgement with the referee's signature.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Signed {
    /// What is signed.
    pub judgement: Judgement,
    /// The referee's public key, 64 hexadecimal digits.
    pub key: String,
    /// The signature of the judgement, 128 hexadecimal digits.
    pub signature: String,
}

/// What holds without any trust in the referee.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Found {
    /// The match was simulated again.
    pub is_simulated: bool,
    /// The match was resumed before this turn, and simulated again from the state with which the replay begins.
    pub resumed_at: Option<u32>,
    /// What the players' own signatures show.
    pub shown: Conviction,
}

impl DesyncReport {
    /// None if the referee has no value of its own, which does not happen to a watcher that simulates.
    #[must_use]
    pub fn of(desync: &Desync) -> Option<Self> {
        let own = desync.own?;
        let at_fault = desync.values.iter().filter(|(_, value)| *value != own).map(|(player, _)| player.0);
        Some(Self {
            turn: desync.turn.0,
            referee: format!("{own:08x}"),
            values: desync.values.iter().map(|(player, value)| (player.0, format!("{value:08x}"))).collect(),
            at_fault: at_fault.collect(),
        })
    }

    /// Whether its players are players of such a match, and its values are values.
    fn is_well_formed(&self, players: u8) -> bool {
        let is_value = |(player, value): &(u8, String)| *player < players && is_hex(value, 8);
        is_hex(&self.referee, 8)
            && self.values.iter().all(is_value)
            && self.at_fault.iter().all(|player| *player < players)
    }

    /// Whether those at fault are those whose values differ.
    fn is_consistent(&self) -> bool {
        let differ =
            self.values.iter().filter(|(_, value)| *value != self.referee).map(|(player, _)| *player);
        differ.eq(self.at_fault.iter().copied()) && !self.at_fault.is_empty()
    }
}

impl Archived {
    /// The replay with these bytes, in a file with this name.
    #[must_use]
    pub fn new(file: impl Into<String>, bytes: &[u8]) -> Self {
        Self { file: file.into(), sha256: hex(&Sha256::digest(bytes)) }
    }

    /// Whether these are its bytes.
    #[must_use]
    pub fn has(&self, bytes: &[u8]) -> bool {
        hex(&Sha256::digest(bytes)) == self.sha256
    }
}

impl Signed {
    /// Signs a judgement with the referee's key.
    #[must_use]
    pub fn new(judgement: Judgement, key: &PlayerKey) -> Self {
        let signature = key.sign(&covered(&judgement));
        Self { judgement, key: hex(&key.public().to_bytes()), signature: hex(&signature) }
    }

    /// The text of a file.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Reads what [`Signed::to_json`] wrote. Total: any text gives a judgement or an error.
    ///
    /// # Errors
    /// [`Doubt::Malformed`]: it is longer than [`JSON_BYTES_MAX`], or something else. What is read is safe to show, and so is the error: numbers are
    /// digits, and the replay's name has no control characters, no marks of direction and no spaces without width.
    pub fn from_json(text: &str) -> Result<Self, Doubt> {
        if text.len() > JSON_BYTES_MAX {
            return Err(Doubt::Malformed("it is too long".into()));
        }
        // The reader's own words repeat what is in the text, such as the name of a member that nobody knows.
        let place = |error: serde_json::Error| format!("line {}, column {}", error.line(), error.column());
        let read: Self = serde_json::from_str(text).map_err(|error| Doubt::Malformed(place(error)))?;
        if !read.is_well_formed() {
            return Err(Doubt::Malformed("a number, a player or a name in it is none".into()));
        }
        Ok(read)
    }

    fn is_well_formed(&self) -> bool {
        is_hex(&self.key, 64) && is_hex(&self.signature, 128) && self.judgement.is_well_formed()
    }

    /// Checks what can be checked without the replay: the signature, and that the judgement does not contradict itself.
    ///
    /// # Errors
    /// What does not hold.
    pub fn verify(&self, expected_key: Option<&str>) -> Result<(), Doubt> {
        if expected_key.is_some_and(|expected| !expected.eq_ignore_ascii_case(&self.key)) {
            return Err(Doubt::OtherKey);
        }
        let key = array(&self.key).and_then(PublicKey::from_bytes);
        let (Some(key), Some(signature)) = (key, array(&self.signature)) else {
            return Err(Doubt::Signature);
        };
        if !key.has_signed(&covered(&self.judgement), &signature) {
            return Err(Doubt::Signature);
        }
        if self.judgement.difference.as_ref().is_some_and(|difference| !difference.is_consistent()) {
            return Err(Doubt::Simulation(
                "the players named at fault are not those whose copies differ".into(),
            ));
        }
        Ok(())
    }
}

impl Judgement {
    /// A match with this number in which all checksums were equal, and of which nothing more is known. The other members are set afterwards.
    #[must_use]
    pub fn new(session_id: u64, players: u8, turns: u32) -> Self {
        Self {
            session: format!("{session_id:016x}"),
            players,
            turns,
            checksum: None,
            winner: None,
            difference: None,
            testimony: None,
            since: None,
            replay: None,
        }
    }

    /// Somebody else may have written it to be shown on a terminal.
    fn is_well_formed(&self) -> bool {
        let is_file = |archived: &Archived| is_hex(&archived.sha256, 64) && is_shown(&archived.file);
        is_hex(&self.session, 16)
            && (1..=PLAYERS_MAX).contains(&self.players)
            && self.checksum.as_ref().is_none_or(|checksum| is_hex(checksum, 16))
            && self.difference.as_ref().is_none_or(|difference| difference.is_well_formed(self.players))
            && self.testimony.as_ref().is_none_or(|testimony| testimony.is_well_formed(self.players))
            && self.replay.as_ref().is_none_or(is_file)
    }

    /// Plays the replay again and compares. `game` is the game in its state before the first turn, created from the replay's header. First check that the
    /// replay is the one that was judged ([`Archived::has`]), and the signature ([`Signed::verify`]).
    ///
    /// # Errors
    /// What does not hold.
    pub fn simulate<S: Simulation + State>(&self, replay: Replay, game: S) -> Result<Found, Doubt> {
        let resumed_at = replay.start().map(|(turn, _)| turn);
        let first = resumed_at.unwrap_or(0);
        let has_turns = first.checked_add(replay.turns()).is_some_and(|turns| turns >= self.turns);
        if first > FIRST_TURN_MAX || !has_turns || replay.header().players != self.players {
            return wrong("the replay is of another match, or shorter");
        }
        if self.difference.as_ref().is_some_and(|difference| !(first..self.turns).contains(&difference.turn))
        {
            return wrong("the turn of the difference is none of those that are in the replay");
        }
        if self.testimony.as_ref().is_some_and(|said| said.turn <= first || said.turn > self.turns) {
            return Err(Doubt::Testimony(
                "what the players have signed is about a turn that is not in the replay".into(),
            ));
        }
        let mut player = ReplayPlayer::new(replay, game);
        // Of the turns before a match was resumed, no statement says anything.
        let (mut shown, mut sums) = (Conviction::default(), vec![0; first as usize + 1]);
        while first + player.turn() < self.turns && player.step_turn() {
            let (turn, sum) = (first + player.turn(), fold_checksum(player.checksum()));
            sums.push(sum);
            if let Some(testimony) = self.testimony.as_ref().filter(|said| said.turn == turn) {
                shown = testimony.convicts(&self.session, &sums)?;
            }
            if let Some(difference) = &self.difference
                && turn.checked_sub(1) == Some(difference.turn)
                && format!("{sum:08x}") != difference.referee
            {
                return wrong("the referee's own checksum in the turn of the difference is wrong");
            }
        }
        if first + player.turn() != self.turns || player.divergence().is_some() {
            return wrong("the replay does not come to its own checksums");
        }
        self.compare_end(player.checksum(), player.simulation().result(), &shown)?;
        Ok(Found { is_simulated: true, resumed_at, shown })
    }

    /// Compares the end of the match, and those who are named.
    fn compare_end(&self, checksum: u64, result: Option<u32>, shown: &Conviction) -> Result<(), Doubt> {
        if self.checksum.as_ref().is_some_and(|told| *told != format!("{checksum:016x}")) {
            return wrong("the final checksum is wrong");
        }
        // A match that ended early has neither; what is said must be true.
        let is_told = self.checksum.is_some() || self.winner.is_some();
        if is_told && self.winner != result.and_then(|code| u8::try_from(code).ok()) {
            return wrong("somebody else has won");
        }
        let at_fault = self.difference.as_ref().map_or(&[][..], |difference| &difference.at_fault);
        let named = [shown.convicted, shown.accused, shown.misled];
        if named.iter().flat_map(|players| players.iter()).any(|player| !at_fault.contains(&player.0)) {
            return wrong("a player who is not named at fault has signed a wrong checksum");
        }
        Ok(())
    }
}

/// Whether a terminal shows a name as it is. Control characters move it about; marks of direction and spaces without width make it look like another.
fn is_shown(name: &str) -> bool {
    let is_hidden = |c: char| matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    !name.chars().any(|c| c.is_control() || is_hidden(c))
}

fn wrong<T>(what: &str) -> Result<T, Doubt> {
    Err(Doubt::Simulation(what.into()))
}

/// The bytes that are signed: the members in their order, as JSON without spaces.
pub(super) fn covered(judgement: &Judgement) -> Vec<u8> {
    [DOMAIN, &serde_json::to_vec(judgement).unwrap_or_default()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes that are signed must stay, or no judgement of before holds.
    #[test]
    fn the_signed_bytes_are_golden() {
        let covered = covered(&Judgement::new(0x1234, 2, 600));
        let text = r#"{"session":"0000000000001234","players":2,"turns":600,"checksum":null,"winner":null,"difference":null,"testimony":null,"since":null,"replay":null}"#;
        assert_eq!(covered, [b"testudo judgement 2\n", text.as_bytes()].concat());
    }
}
