//! Randomness of the system, and the one secret of a player, which stays on this machine.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use testudo_lockstep::service::machine::MachineSecret;

use crate::app::error::MatchError;
use crate::app::files;

/// Bytes of a player's secret.
const OWN_BYTES: usize = 32;

/// The secret of this process, once it is needed.
static OWN: OnceLock<MachineSecret> = OnceLock::new();

/// Bytes that nobody can guess.
///
/// # Errors
/// The system has none.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], MatchError> {
    let mut bytes = [0; N];
    #[cfg(not(target_arch = "wasm32"))]
    getrandom::fill(&mut bytes).map_err(|error| MatchError::Randomness(error.to_string()))?;
    #[cfg(target_arch = "wasm32")]
    if !crate::app::page::random(&mut bytes) {
        return Err(MatchError::Randomness("this browser has none".into()));
    }
    Ok(bytes)
}

/// A number that nobody can guess.
///
/// # Errors
/// The system has no randomness.
pub(crate) fn random_number() -> Result<u64, MatchError> {
    random().map(u64::from_le_bytes)
}

/// This player's secret, from which all its keys follow. One that cannot be kept is of no use: after a crash the player could only watch.
///
/// # Errors
/// The system has no randomness, or the player's secret can be neither read nor kept.
pub(crate) fn own() -> Result<MachineSecret, MatchError> {
    if let Some(own) = OWN.get() {
        return Ok(*own);
    }
    let fresh = random()?;
    let kept = MachineSecret::new(kept_somewhere(fresh)?);
    Ok(*OWN.get_or_init(|| kept))
}

/// The secret that this machine keeps.
#[cfg(not(target_arch = "wasm32"))]
fn kept_somewhere(fresh: [u8; OWN_BYTES]) -> Result<[u8; OWN_BYTES], MatchError> {
    let path = folder().map(|folder| folder.join("key")).ok_or_else(|| MatchError::Key {
        path: "testudo/key".into(),
        what: "there is no folder for it; set HOME or XDG_STATE_HOME".into(),
    })?;
    kept(&path, fresh).map_err(|what| MatchError::Key { path, what })
}

/// The secret that the browser keeps for this page, which is as random. In a private window it may keep none.
#[cfg(target_arch = "wasm32")]
fn kept_somewhere(fresh: [u8; OWN_BYTES]) -> Result<[u8; OWN_BYTES], MatchError> {
    let mut own = fresh;
    Ok(if crate::app::page::kept_secret(&mut own) { own } else { fresh })
}

/// Where this program keeps what outlives it.
pub(crate) fn folder() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state = folder("XDG_STATE_HOME")
        .or_else(|| folder("LOCALAPPDATA"))
        .or_else(|| Some(folder("HOME")?.join(".local/state")));
    Some(state?.join("testudo"))
}

/// The secret in a file; if there is none yet, this fresh one is put there.
///
/// # Errors
/// The file can be neither read nor written, or holds something else: what is wrong with it.
fn kept(path: &Path, fresh: [u8; OWN_BYTES]) -> Result<[u8; OWN_BYTES], String> {
    let is_there = path.try_exists().map_err(|error| format!("it cannot be read: {error}"))?;
    if !is_there {
        keep(path, &fresh).map_err(|error| {
            format!("it cannot be written: {error}; set XDG_STATE_HOME to a folder that can be written")
        })?;
    }
    let bytes = files::read(path, 4_096).map_err(|error| format!("it cannot be read: {error}"))?;
    bytes.try_into().map_err(|bytes: Vec<u8>| {
        format!(
            "it is damaged: {} bytes instead of {OWN_BYTES}; after its removal a new one is made, which does not open the places of running matches",
            bytes.len()
        )
    })
}

/// Whole or not at all, and never in the place of another one: several programs may start at once.
fn keep(path: &Path, fresh: &[u8; OWN_BYTES]) -> io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
    let draft = path.with_extension(std::process::id().to_string());
    let written = write_private(&draft, fresh).and_then(|()| fs::hard_link(&draft, path));
    let _ = fs::remove_file(&draft);
    written.or_else(|error| if path.exists() { Ok(()) } else { Err(error) })
}

/// Only this user may read it, where the system knows users.
fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_secret_outlives_the_program() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("testudo").join("key");
        assert_eq!(kept(&path, [1; 32]).unwrap(), [1; 32]);
        assert_eq!(kept(&path, [2; 32]).unwrap(), [1; 32], "the first one stays");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "no drafts are left");
    }

    /// It was replaced by a fresh one in silence, and whoever crashed then could only watch.
    #[test]
    fn a_key_that_is_damaged_or_cannot_be_kept_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("testudo").join("key");
        kept(&path, [1; 32]).unwrap();
        fs::write(&path, b"short").unwrap();
        let said = kept(&path, [3; 32]).unwrap_err();
        assert!(said.contains("damaged: 5 bytes"), "{said}");
        assert_eq!(fs::read(&path).unwrap(), b"short", "it stays");
        // A file where the folder should be: also for a user who may write everywhere.
        let said = kept(&path.join("key"), [3; 32]).unwrap_err();
        assert!(said.contains("cannot be"), "{said}");
    }
}
