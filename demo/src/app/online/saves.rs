//! Matches that can be resumed, as files.

use std::path::Path;
use std::{fs, io};

use testudo_lockstep::SavedMatch;
use testudo_lockstep::service::agreement::AgreementError;
use testudo_lockstep::service::save_file::SaveFile;

use crate::app::error::MatchError;
use crate::app::files;
use crate::app::online::agreement::Agreement;
use crate::app::watch::game_copy::GameCopy;
use testudo_battle::Setup;

/// Largest file that is read and written: a battle of some 200,000 units.
const BYTES_MAX: usize = 64 << 20;

/// A match before one of its turns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Save {
    pub(crate) agreement: Agreement,
    /// The game's state.
    pub(crate) state: Vec<u8>,
    /// The session's part.
    pub(crate) saved: SavedMatch,
}

impl Save {
    /// The bytes of a file.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, AgreementError> {
        let agreement = self.agreement.told()?;
        let file = SaveFile { agreement, state: self.state.clone(), saved: self.saved.clone() };
        Ok(file.to_bytes(Setup::sim_version()))
    }

    /// Reads what [`Save::to_bytes`] wrote. Total: any bytes give a save or a sentence.
    ///
    /// # Errors
    /// Another version, another program, or damage.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, String> {
        let file = SaveFile::read(bytes, Setup::sim_version()).map_err(|error| error.to_string())?;
        let agreement = Agreement::of(&file.agreement).ok_or("it is no battle of this program")?;
        Ok(Self { agreement, state: file.state, saved: file.saved })
    }

    /// Reads a file.
    ///
    /// # Errors
    /// There is none, or it is no save that can be resumed.
    pub(crate) fn open(path: &Path) -> Result<Self, MatchError> {
        let failed = |what: String| MatchError::Replay { path: path.to_owned(), what };
        let bytes = files::read(path, BYTES_MAX as u64).map_err(|error| failed(error.to_string()))?;
        Self::read(&bytes).map_err(failed)
    }

    /// Puts its state into a copy of the match. False: it is not the state that was saved. The copy computes its checksum from what it has
    /// loaded.
    pub(crate) fn load_into(&self, copy: &mut GameCopy) -> bool {
        copy.resume(&self.state) && copy.game().checksum() == self.saved.checksum()
    }

    /// Puts it in the place of an older one, which stays whole until then.
    ///
    /// # Errors
    /// The disk is full, the folder is gone, or nobody could go on with so large a save.
    pub(crate) fn store(&self, path: &Path) -> io::Result<()> {
        self.store_within(path, BYTES_MAX)
    }

    fn store_within(&self, path: &Path, bytes_max: usize) -> io::Result<()> {
        let draft = path.with_extension("save-draft");
        let bytes = self.to_bytes().map_err(io::Error::other)?;
        if bytes.len() > bytes_max {
            let what = format!("the save has {} bytes, {bytes_max} are possible", bytes.len());
            return Err(io::Error::other(what));
        }
        let stored = fs::write(&draft, bytes).and_then(|()| fs::rename(&draft, path));
        if stored.is_err() {
            // Half of it is of no use, and takes room on a full disk.
            let _ = fs::remove_file(draft);
        }
        stored
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use testudo_lockstep::{Driver, Duration, Instant, Pace, PlayerId, Session, state};

    use super::*;
    use crate::app::online::keys;
    use crate::app::terms::Terms;
    use testudo_battle::{Dice, Game, Order};

    fn save() -> Save {
        save_of(9)
    }

    /// A save of a match of one player.
    pub(crate) fn save_of(session_id: u64) -> Save {
        let terms = Terms { setup: Setup { players: 1, units: 8, seed: 3, map: None }, turns: 60 };
        let agreement = Agreement::new(&terms, Pace::Fixed, true);
        let config = agreement.config().simulated().session_id(session_id);
        let config = config.player_key(keys::own().unwrap().player_key(9, PlayerId(0)));
        let session = Session::host(config, Instant::ZERO).unwrap();
        let mut driver = Driver::new(GameCopy::new(Game::new(terms.setup).unwrap(), None, false), session);
        driver.session_mut().save();
        let mut now = Instant::ZERO;
        loop {
            driver.advance(now);
            now += Duration::from_millis(20);
            assert!(now < Instant::from_millis(20_000), "no save");
            if let Some(saved) = driver.session_mut().take_saved() {
                let state = driver.simulation().state_before(saved.turn().0).unwrap().to_vec();
                return Save { agreement, state, saved };
            }
        }
    }

    /// On a full disk half a draft stayed beside the save.
    #[test]
    fn a_save_that_cannot_be_stored_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        // A folder in the place of the save: the draft is written, and cannot take its place.
        let path = folder.path().join("match.save");
        fs::create_dir_all(path.join("in the way")).unwrap();
        assert!(save().store(&path).is_err());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }

    /// It was recommended, and then "it has more bytes".
    #[test]
    fn a_save_that_could_not_be_read_is_not_stored() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("match.save");
        let (save, length) = (save(), save().to_bytes().unwrap().len());
        save.store_within(&path, length).unwrap();
        assert_eq!(Save::open(&path).unwrap(), save);
        let larger = Save { state: vec![0; save.state.len() + 1], ..save.clone() };
        let said = larger.store_within(&path, length).unwrap_err().to_string();
        assert_eq!(said, format!("the save has {} bytes, {length} are possible", length + 1));
        assert_eq!(Save::open(&path).unwrap(), save, "the one before stays");
    }

    #[test]
    fn a_save_is_read_as_it_was_written_or_refused() {
        let save = save();
        let bytes = save.to_bytes().unwrap();
        assert_eq!(Save::read(&bytes), Ok(save));
        for length in (0..bytes.len()).step_by(7) {
            assert!(Save::read(&bytes[..length]).is_err(), "{length}");
        }
        for at in 0..10 {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert!(Save::read(&changed).is_err(), "{at}");
        }
    }

    /// Bytes of the hash at the end of a file.
    const HASH_BYTES: usize = 32;

    /// Flipped bits, cuts, blocks that change places, bytes put in. Every second one has the right hash of the file again, as from somebody
    /// who means harm; then the hashes of state and session must find it.
    #[test]
    fn no_damaged_save_is_taken() {
        let save = save();
        let (bytes, agreement) = (save.to_bytes().unwrap(), save.agreement);
        let terms = agreement.terms().unwrap();
        let start = Game::new(terms.setup).unwrap();
        let key = keys::own().unwrap().player_key(9, PlayerId(0));
        let mut dice = Dice::new(0x5a7e);
        let mut count = 0;
        while count < 10_000 {
            let mut damaged = bytes.clone();
            damage(&mut damaged, &mut dice);
            let body = damaged.len().saturating_sub(HASH_BYTES);
            if count % 2 == 1 && damaged.len() > HASH_BYTES {
                damaged = SaveFile::with_hash(&damaged[..body]);
            }
            if damaged == bytes {
                continue;
            }
            count += 1;
            let Ok(read) = Save::read(&damaged) else { continue };
            assert!(count % 2 == 0, "damage {count} was read");
            let mut copy = GameCopy::new(start.clone(), None, false);
            let config = read.agreement.config().simulated().session_id(9).player_key(key.clone());
            let fits = read.agreement == agreement
                && Session::<Order>::host(config.resume(read.saved.clone()), Instant::ZERO).is_ok();
            if fits && read.load_into(&mut copy) {
                // Another way to write the same battle: any number but 0 is "yes".
                let mut again = Vec::new();
                state::save(&mut copy.game().clone(), &mut again);
                assert!(again == save.state && read.saved == save.saved, "damage {count} was taken");
            }
        }
    }

    fn damage(bytes: &mut Vec<u8>, dice: &mut Dice) {
        let mut below = |most: usize| dice.between(0, most as i32 - 1) as usize;
        let length = bytes.len();
        match below(4) {
            0 => {
                for _ in 0..=below(3) {
                    bytes[below(length)] ^= 1 << below(8);
                }
            }
            1 => bytes.truncate(below(length)),
            2 => {
                let size = 1 + below(64);
                let (one, other) = (below(length - 2 * size), below(size));
                let from = one + size + other;
                (0..size.min(length - from)).for_each(|at| bytes.swap(one + at, from + at));
            }
            _ => {
                let at = below(length);
                (0..=below(8)).for_each(|_| bytes.insert(at, below(256) as u8));
            }
        }
    }

    #[test]
    fn a_save_of_the_version_before_is_refused_with_that_reason() {
        let mut bytes = save().to_bytes().unwrap();
        bytes[8..10].copy_from_slice(&1_u16.to_le_bytes());
        bytes.truncate(bytes.len() - HASH_BYTES);
        let said = Save::read(&bytes).unwrap_err();
        assert!(said.starts_with("it was saved by another version of this program"), "{said}");
    }
}
