//! What a referee says of a match that it has simulated: signed, kept as a file, and checked by anybody who has the replay next to it.

use std::fs;
use std::path::{Path, PathBuf};

use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use testudo_lockstep::replay::{Replay, ReplayPlayer};
use testudo_lockstep::{Conviction, Desync, Simulation as _, fold_checksum};

use crate::app::error::MatchError;
use crate::app::online::testimony::{Testimony, array, hex};
use crate::app::terms::Terms;
use crate::app::watch::recording;
use crate::game::Game;

/// What a signature covers begins with this, so that it means nothing elsewhere.
const DOMAIN: &[u8] = b"testudo judgement 2\n";

/// Largest file that is read.
const BYTES_MAX: u64 = 1 << 16;

/// What happened in a match.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Judgement {
    /// Number of the match, 16 hexadecimal digits.
    pub(crate) session: String,
    pub(crate) players: u8,
    /// Turns that the referee has simulated.
    pub(crate) turns: u32,
    /// Checksum of its copy after them; none if the match ended early.
    pub(crate) checksum: Option<String>,
    /// The player who has won, if the match was decided.
    pub(crate) winner: Option<u8>,
    /// None: all checksums were equal.
    pub(crate) difference: Option<Difference>,
    /// What the players have signed after the difference. None: there was none, or nobody has signed anything before the end.
    pub(crate) testimony: Option<Testimony>,
    /// The referee was not there from the first turn: it got a state before this one. If more than one player played, most players had signed what it
    /// led to.
    pub(crate) since: Option<u32>,
    /// None: the referee was not there from the first turn.
    pub(crate) replay: Option<Archived>,
}

/// The first turn after which a player's checksum differed from the referee's. Values are folded to 32 bits, 8 hexadecimal digits.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Difference {
    pub(crate) turn: u32,
    /// The referee's.
    pub(crate) referee: String,
    /// What each player has sent.
    pub(crate) values: Vec<(u8, String)>,
    /// The players whose copies were wrong.
    pub(crate) at_fault: Vec<u8>,
}

/// A replay next to the judgement.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Archived {
    pub(crate) file: String,
    pub(crate) sha256: String,
}

/// A judgement with the referee's signature.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Signed {
    pub(crate) judgement: Judgement,
    /// The referee's public key, 64 hexadecimal digits.
    pub(crate) key: String,
    pub(crate) signature: String,
}

/// Why a judgement is not to be trusted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Doubt {
    /// The signature is not that of the key.
    Signature,
    /// It is signed with another key than the expected one.
    OtherKey,
    /// The replay is gone, or is another one.
    Replay(String),
    /// Simulated again, the match comes to something else.
    Simulation(String),
    /// What the players are said to have signed is not signed by them.
    Testimony(String),
}

/// What holds without any trust in the referee.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Found {
    /// The match was simulated again.
    pub(crate) is_simulated: bool,
    /// The match was resumed before this turn, and simulated again from the state with which the replay begins.
    pub(crate) resumed_at: Option<u32>,
    /// What the players' own signatures show.
    pub(crate) shown: Conviction,
}

impl Difference {
    /// None if the referee has no value of its own, which does not happen to a watcher that simulates.
    pub(crate) fn of(desync: &Desync) -> Option<Self> {
        let own = desync.own?;
        let at_fault = desync.values.iter().filter(|(_, value)| *value != own).map(|(player, _)| player.0);
        Some(Self {
            turn: desync.turn.0,
            referee: format!("{own:08x}"),
            values: desync.values.iter().map(|(player, value)| (player.0, format!("{value:08x}"))).collect(),
            at_fault: at_fault.collect(),
        })
    }

    /// Whether those at fault are those whose values differ.
    fn is_consistent(&self) -> bool {
        let differ =
            self.values.iter().filter(|(_, value)| *value != self.referee).map(|(player, _)| *player);
        differ.eq(self.at_fault.iter().copied()) && !self.at_fault.is_empty()
    }
}

impl Archived {
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn of(path: &Path) -> Result<Self, MatchError> {
        let failed =
            |error: std::io::Error| MatchError::Replay { path: path.into(), what: error.to_string() };
        let bytes = fs::read(path).map_err(failed)?;
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { file, sha256: hex(&Sha256::digest(bytes)) })
    }
}

impl Signed {
    pub(crate) fn new(judgement: Judgement, secret: [u8; 32]) -> Self {
        let key = SigningKey::from_bytes(&secret);
        let signature = key.sign(&covered(&judgement));
        Self { judgement, key: hex(key.verifying_key().as_bytes()), signature: hex(&signature.to_bytes()) }
    }

    /// Writes a file.
    ///
    /// # Errors
    /// The disk is full, or the folder is gone.
    pub(crate) fn store(&self, path: &Path) -> Result<(), MatchError> {
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        let failed =
            |error: std::io::Error| MatchError::Replay { path: path.into(), what: error.to_string() };
        fs::write(path, text + "\n").map_err(failed)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// There is none, or it is no judgement.
    pub(crate) fn open(path: &Path) -> Result<Self, MatchError> {
        let failed = |what: String| MatchError::Replay { path: path.into(), what };
        let length = fs::metadata(path).map_err(|error| failed(error.to_string()))?.len();
        if length > BYTES_MAX {
            return Err(failed("this is not a judgement".into()));
        }
        let text = fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
        serde_json::from_str(&text).map_err(|error| failed(format!("this is not a judgement: {error}")))
    }

    /// Checks all that can be checked without trusting the referee: the signature, that the replay in this folder is the one that was judged, and that the
    /// match comes to the same when it is simulated again, which also shows whose signed checksums are wrong. Without a replay only the signature is checked.
    ///
    /// # Errors
    /// What does not hold.
    pub(crate) fn check(&self, folder: &Path, expected_key: Option<&str>) -> Result<Found, Doubt> {
        if expected_key.is_some_and(|expected| !expected.eq_ignore_ascii_case(&self.key)) {
            return Err(Doubt::OtherKey);
        }
        let key = array(&self.key).and_then(|bytes| VerifyingKey::from_bytes(&bytes).ok());
        let signature = array(&self.signature).map(|bytes| Signature::from_bytes(&bytes));
        let (Some(key), Some(signature)) = (key, signature) else { return Err(Doubt::Signature) };
        key.verify_strict(&covered(&self.judgement), &signature).map_err(|_| Doubt::Signature)?;
        if self.judgement.difference.as_ref().is_some_and(|difference| !difference.is_consistent()) {
            return Err(Doubt::Simulation("those at fault are not those who differ".into()));
        }
        match &self.judgement.replay {
            Some(archived) => self.judgement.simulate_again(archived, folder),
            None => Ok(Found::default()),
        }
    }
}

impl Judgement {
    fn simulate_again(&self, archived: &Archived, folder: &Path) -> Result<Found, Doubt> {
        // A name and no path, so that nobody is led elsewhere.
        let name = Path::new(&archived.file).file_name().unwrap_or_default();
        let path: PathBuf = folder.join(name);
        let unusable = |error: MatchError| Doubt::Replay(error.to_string());
        if Archived::of(&path).map_err(unusable)?.sha256 != archived.sha256 {
            return Err(Doubt::Replay(format!("{}: this is another replay", path.display())));
        }
        let (replay, terms) = recording::open(&path).map_err(unusable)?;
        self.compare(replay, terms)
    }

    fn compare(&self, replay: Replay, terms: Terms) -> Result<Found, Doubt> {
        let wrong = |what: &str| Err(Doubt::Simulation(what.into()));
        let resumed_at = replay.start().map(|(turn, _)| turn);
        let first = resumed_at.unwrap_or(0);
        if first > terms.turns || first + replay.turns() < self.turns || terms.setup.players != self.players {
            return wrong("the replay is of another match, or shorter");
        }
        if self.difference.as_ref().is_some_and(|difference| !(first..self.turns).contains(&difference.turn))
        {
            return wrong("the turn of the difference is none of those that are in the replay");
        }
        let game = Game::new(terms.setup).map_err(|error| Doubt::Replay(error.to_string()))?;
        let mut player = ReplayPlayer::new(replay, game);
        // Of the turns before a match was resumed, no statement says anything.
        let (mut shown, mut sums) = (Conviction::default(), vec![0; first as usize + 1]);
        while first + player.turn() < self.turns && player.step_turn() {
            let turn = first + player.turn();
            sums.push(fold_checksum(player.simulation().checksum()));
            if let Some(testimony) = self.testimony.as_ref().filter(|said| said.turn == turn) {
                shown = testimony.convicts(&self.session, &sums).map_err(Doubt::Testimony)?;
            }
            if let Some(difference) = &self.difference
                && turn.checked_sub(1) == Some(difference.turn)
                && format!("{:08x}", fold_checksum(player.simulation().checksum())) != difference.referee
            {
                return wrong("the referee's own checksum in the turn of the difference is wrong");
            }
        }
        if first + player.turn() != self.turns || player.divergence().is_some() {
            return wrong("the replay does not come to its own checksums");
        }
        let checksum = format!("{:016x}", player.simulation().checksum());
        if self.checksum.as_ref().is_some_and(|told| *told != checksum) {
            return wrong("the final checksum is wrong");
        }
        let winner = player.simulation().result().and_then(|code| u8::try_from(code).ok());
        if self.checksum.is_some() && self.winner != winner {
            return wrong("somebody else has won");
        }
        let at_fault = self.difference.as_ref().map_or(&[][..], |difference| &difference.at_fault);
        let named = [shown.convicted, shown.accused, shown.misled];
        if named.iter().flat_map(|players| players.iter()).any(|player| !at_fault.contains(&player.0)) {
            return wrong("somebody who is not said to be at fault has signed a wrong checksum");
        }
        Ok(Found { is_simulated: true, resumed_at, shown })
    }
}

impl core::fmt::Display for Doubt {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Signature => {
                write!(f, "the signature is not that of the key: the judgement was changed or made up")
            }
            Self::OtherKey => write!(f, "it is signed with another key than the expected one"),
            Self::Replay(what) | Self::Simulation(what) | Self::Testimony(what) => f.write_str(what),
        }
    }
}

/// The bytes that are signed: the members in their order, as JSON without spaces.
fn covered(judgement: &Judgement) -> Vec<u8> {
    [DOMAIN, &serde_json::to_vec(judgement).unwrap_or_default()].concat()
}

#[cfg(test)]
mod tests {
    use testudo_lockstep::{PlayerId, Turn};

    use super::*;
    use crate::app::watch::client::Client;
    use crate::app::watch::recording::Recording;
    use crate::game::Setup;

    /// A judgement of 30 turns, of whose seventh player 1 has said something else, in a folder with its replay.
    fn judged(name: &str) -> (Signed, PathBuf) {
        judged_from(name, 0)
    }

    /// The same of a match that was resumed before this turn, with its own numbers of turns: the eighth turn after that differs.
    fn judged_from(name: &str, first: u32) -> (Signed, PathBuf) {
        let folder = std::env::temp_dir().join(format!("testudo-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let turns = first + 30;
        let terms = Terms { setup: Setup { players: 2, units: 8, seed: 3, map: None }, turns };
        let path = folder.join("a.replay");
        let mut client = Client::new(Game::new(terms.setup).unwrap(), None, false);
        let play = |client: &mut Client, turn: u32| {
            client.turn_started(Turn(turn), 4);
            (0..2).for_each(|player| client.play_for(PlayerId(player), Turn(turn)));
            (0..4).for_each(|_| client.step(20));
            let checksum = client.checksum();
            client.turn_ended(Turn(turn), checksum);
            checksum
        };
        for turn in 0..first {
            play(&mut client, turn);
        }
        let resumed_at = (first > 0).then_some(Turn(first));
        client.record_from(Recording::create(&path, &terms).unwrap(), resumed_at);
        let mut seventh = 0;
        for turn in first..turns {
            let checksum = play(&mut client, turn);
            if turn == first + 7 {
                seventh = fold_checksum(checksum);
            }
        }
        client.finish_recording().unwrap();
        let difference = Difference {
            turn: first + 7,
            referee: format!("{seventh:08x}"),
            values: vec![(0, format!("{seventh:08x}")), (1, format!("{:08x}", seventh ^ 1))],
            at_fault: vec![1],
        };
        let judgement = Judgement {
            session: format!("{:016x}", 5),
            players: 2,
            turns,
            checksum: Some(format!("{:016x}", client.game().checksum())),
            winner: None,
            difference: Some(difference),
            testimony: None,
            since: None,
            replay: Some(Archived::of(&path).unwrap()),
        };
        (Signed::new(judgement, [7; 32]), folder)
    }

    #[test]
    fn a_judgement_is_read_as_it_was_written_and_holds() {
        let (signed, folder) = judged("judged");
        let path = folder.join("a.json");
        signed.store(&path).unwrap();
        assert_eq!(Signed::open(&path).unwrap(), signed);
        let found = Found { is_simulated: true, ..Found::default() };
        assert_eq!(signed.check(&folder, None), Ok(found.clone()));
        assert_eq!(signed.check(&folder, Some(&signed.key)), Ok(found));
        assert_eq!(signed.check(&folder, Some(&"0".repeat(64))), Err(Doubt::OtherKey));
        fs::remove_dir_all(folder).unwrap();
    }

    /// The turns of the replay were counted from 0, those of the judgement from the start of the match, so no judgement of a resumed match held.
    #[test]
    fn a_judgement_of_a_resumed_match_holds() {
        let (signed, folder) = judged_from("resumed", 20);
        let found = Found { is_simulated: true, resumed_at: Some(20), ..Found::default() };
        assert_eq!(signed.check(&folder, None), Ok(found));
        // A turn that is not in the replay was never compared, so any checksum in it held.
        for (turns, turn) in [(30, 27), (51, 27), (50, 26), (50, 7), (50, 50), (50, u32::MAX)] {
            let mut judgement = Judgement { turns, ..signed.judgement.clone() };
            judgement.difference.as_mut().unwrap().turn = turn;
            let found = Signed::new(judgement, [7; 32]).check(&folder, None);
            assert!(matches!(found, Err(Doubt::Simulation(_))), "{turns} {turn}: {found:?}");
        }
        fs::remove_dir_all(folder).unwrap();
    }

    /// Whoever changes it has no signature; a referee that lies is found by simulating again.
    #[test]
    fn what_was_changed_or_is_not_true_does_not_hold() {
        let (signed, folder) = judged("lies");
        let change = |change: &dyn Fn(&mut Judgement)| {
            let mut judgement = signed.judgement.clone();
            change(&mut judgement);
            (Signed { judgement: judgement.clone(), ..signed.clone() }, Signed::new(judgement, [7; 32]))
        };
        let blame = |judgement: &mut Judgement| {
            let difference = judgement.difference.as_mut().unwrap();
            difference.referee = difference.values[1].1.clone();
            difference.at_fault = vec![0];
        };
        let nobody = |judgement: &mut Judgement| judgement.difference.as_mut().unwrap().at_fault.clear();
        let end = |judgement: &mut Judgement| judgement.checksum = Some("0".repeat(16));
        let longer = |judgement: &mut Judgement| judgement.turns = 31;
        let won = |judgement: &mut Judgement| judgement.winner = Some(1);
        for lie in [&blame as &dyn Fn(&mut Judgement), &nobody, &end, &longer, &won] {
            let (forged, lied) = change(lie);
            assert_eq!(forged.check(&folder, None), Err(Doubt::Signature));
            let found = lied.check(&folder, None);
            assert!(matches!(found, Err(Doubt::Simulation(_))), "{found:?}: {:?}", lied.judgement);
        }
        fs::write(folder.join("a.replay"), b"another").unwrap();
        assert!(matches!(signed.check(&folder, None), Err(Doubt::Replay(_))));
        fs::remove_dir_all(folder).unwrap();
    }
}
