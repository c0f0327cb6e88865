//! A referee's judgements as files, next to the replays.

use std::fs;
use std::path::Path;

use testudo_lockstep::judgement::{Archived, Doubt, Found, JSON_BYTES_MAX, Signed};

use crate::app::error::MatchError;
use crate::app::files;
use crate::app::watch::recording;
use testudo_battle::Game;

fn failed(path: &Path, what: &dyn ToString) -> MatchError {
    MatchError::Replay { path: path.into(), what: what.to_string() }
}

/// A replay next to the judgement.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn archived(path: &Path) -> Result<Archived, MatchError> {
    let bytes = files::read(path, recording::READ_MAX).map_err(|error| failed(path, &error))?;
    Ok(Archived::new(path.file_name().unwrap_or_default().to_string_lossy(), &bytes))
}

/// Writes a file.
///
/// # Errors
/// The disk is full, or the folder is gone.
pub(crate) fn store(signed: &Signed, path: &Path) -> Result<(), MatchError> {
    fs::write(path, signed.to_json()).map_err(|error| failed(path, &error))
}

/// Reads a file.
///
/// # Errors
/// There is none, or it is no judgement.
pub(crate) fn open(path: &Path) -> Result<Signed, MatchError> {
    let bytes = files::read(path, JSON_BYTES_MAX as u64).map_err(|error| failed(path, &error))?;
    let none = || failed(path, &"this is not a judgement");
    let text = String::from_utf8(bytes).map_err(|_| none())?;
    let signed = Signed::from_json(&text).map_err(|error| failed(path, &error))?;
    // Whoever shows the winner names a player; other games may have other results.
    let winner = signed.judgement.winner;
    if winner.is_some_and(|winner| winner >= signed.judgement.players) { Err(none()) } else { Ok(signed) }
}

/// Checks all that can be checked without trusting the referee: the signature, that the replay in this folder is the one that was judged, and that the
/// match comes to the same when it is simulated again, which also shows whose signed checksums are wrong. Without a replay only the signature is checked.
///
/// # Errors
/// What does not hold.
pub(crate) fn check(signed: &Signed, folder: &Path, expected_key: Option<&str>) -> Result<Found, Doubt> {
    signed.verify(expected_key)?;
    let Some(archived) = &signed.judgement.replay else { return Ok(Found::default()) };
    // A name and no path, so that nobody is led elsewhere.
    let path = folder.join(Path::new(&archived.file).file_name().unwrap_or_default());
    let unusable = |what: &dyn ToString| Doubt::Replay(what.to_string());
    let bytes = files::read(&path, recording::READ_MAX).map_err(|error| unusable(&failed(&path, &error)))?;
    if !archived.has(&bytes) {
        return Err(Doubt::Replay(format!("{}: this is another replay", path.display())));
    }
    let (replay, terms) = recording::read(&path, bytes).map_err(|error| unusable(&error))?;
    let game = Game::new(terms.setup).map_err(|error| unusable(&error))?;
    signed.judgement.simulate(replay, game)
}

#[cfg(test)]
mod tests {
    use testudo_lockstep::judgement::Judgement;
    use testudo_lockstep::{PlayerId, PlayerKey, Simulation as _, Turn};

    use super::*;
    use crate::app::terms::Terms;
    use crate::app::watch::game_copy::GameCopy;
    use crate::app::watch::recording::Recording;
    use testudo_battle::Setup;

    #[test]
    fn a_judgement_of_a_battle_holds_as_long_as_its_replay_is_there() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path();
        let terms = Terms { setup: Setup { players: 2, units: 8, seed: 3, map: None }, turns: 30 };
        let path = folder.join("a.replay");
        let mut copy = GameCopy::new(Game::new(terms.setup).unwrap(), None, false);
        copy.record_from(Recording::create(&path, &terms).unwrap(), None);
        for turn in 0..terms.turns {
            copy.turn_started(Turn(turn), 4);
            (0..2).for_each(|player| copy.play_for(PlayerId(player), Turn(turn)));
            (0..4).for_each(|_| copy.step(20));
            let checksum = copy.checksum();
            copy.turn_ended(Turn(turn), checksum);
        }
        copy.finish_recording();
        let mut judgement = Judgement::new(5, 2, terms.turns);
        judgement.checksum = Some(format!("{:016x}", copy.game().checksum()));
        judgement.replay = Some(archived(&path).unwrap());
        let signed = Signed::new(judgement, &PlayerKey::from_secret([7; 32]));
        store(&signed, &folder.join("a.json")).unwrap();
        assert_eq!(open(&folder.join("a.json")).unwrap(), signed);
        let mut nobody = signed.clone();
        nobody.judgement.winner = Some(255);
        store(&nobody, &folder.join("nobody.json")).unwrap();
        assert!(open(&folder.join("nobody.json")).is_err(), "player 256 has won");
        assert!(check(&signed, folder, None).unwrap().is_simulated);
        fs::write(&path, b"another").unwrap();
        assert!(matches!(check(&signed, folder, None), Err(Doubt::Replay(_))));
    }
}
