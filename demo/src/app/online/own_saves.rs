//! The saves that this program has kept, and the one that a host gives: nobody else can tell whether the host has changed the battle.

use std::cmp::Reverse;
use std::fs;
use std::path::PathBuf;

use testudo_lockstep::SavedMatch;

use crate::app::online::agreement::Agreement;
use crate::app::online::saves::Save;
use crate::app::watch::recording::ReplayFile;

/// Saves that are looked at, the newest ones.
const FILES_MAX: usize = 32;

/// What a comparison with this machine's saves has shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Compared {
    /// There is none of this match and turn.
    Unknown,
    /// It is the one in this file.
    Equal(PathBuf),
    /// The one in this file is of the same match and turn, and not equal.
    Changed(PathBuf),
}

/// Compares a save with those in the folder in which this program keeps them, and the state that was loaded, unless the match has moved on from it. (The
/// save has the state's checksum.)
pub(crate) fn compare(
    given: &SavedMatch,
    state: Option<&[u8]>,
    agreement: Agreement,
    replay: &ReplayFile,
) -> Compared {
    let folder = match replay {
        ReplayFile::At(path) | ReplayFile::Beside(path) => path.parent().map(PathBuf::from),
        ReplayFile::In(folder) => Some(folder.clone()),
        ReplayFile::None | ReplayFile::Memory => None,
    };
    let folder = folder.map(|folder| if folder.as_os_str().is_empty() { ".".into() } else { folder });
    let entries = folder.and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.path());
    let mut files: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|ending| ending == "save")).collect();
    files.sort_by_cached_key(|path| Reverse(fs::metadata(path).and_then(|about| about.modified()).ok()));
    for path in files.into_iter().take(FILES_MAX) {
        let Ok(kept) = Save::open(&path) else { continue };
        if kept.saved.contradicts(given) {
            return Compared::Changed(path);
        }
        if kept.saved == *given {
            // Everybody's save names its own player as the host.
            let agreed = Agreement { host: agreement.host, ..kept.agreement };
            let is_equal = agreed == agreement && state.is_none_or(|state| kept.state == state);
            return if is_equal { Compared::Equal(path) } else { Compared::Changed(path) };
        }
    }
    Compared::Unknown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::online::saves::tests::save_of;

    /// The guests believed whatever the host gave them.
    #[test]
    fn a_save_that_the_host_has_changed_is_told_from_the_own_one() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path();
        let (own, other) = (save_of(7), save_of(8));
        let path = folder.join("match.save");
        own.store(&path).unwrap();
        other.store(&folder.join("other.save")).unwrap();
        fs::write(folder.join("damaged.save"), b"TESTSAVE").unwrap();
        let compare = |save: &Save, replay: &ReplayFile| {
            compare(&save.saved, Some(&save.state), save.agreement, replay)
        };
        let mut wounded = own.clone();
        *wounded.state.last_mut().unwrap() ^= 1;
        let mut longer = own.clone();
        longer.agreement.turns += 1;
        let mut others = own.clone();
        others.agreement.host = testudo_lockstep::PlayerId(3);
        for replay in [ReplayFile::In(folder.into()), ReplayFile::At(folder.join("match.replay"))] {
            assert_eq!(compare(&own, &replay), Compared::Equal(path.clone()));
            assert_eq!(compare(&others, &replay), Compared::Equal(path.clone()), "kept by another player");
            assert_eq!(compare(&wounded, &replay), Compared::Changed(path.clone()));
            let later = super::compare(&own.saved, None, own.agreement, &replay);
            assert_eq!(later, Compared::Equal(path.clone()), "the battle has moved on");
            assert_eq!(compare(&longer, &replay), Compared::Changed(path.clone()));
            assert_eq!(compare(&save_of(9), &replay), Compared::Unknown, "of another match");
        }
        assert_eq!(compare(&own, &ReplayFile::None), Compared::Unknown);
    }
}
