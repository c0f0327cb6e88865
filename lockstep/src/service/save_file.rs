//! A match that can be resumed, as one string of bytes: what was agreed on, the game's state, and the session's part.

use core::fmt;

use sha2::{Digest as _, Sha256};

use crate::service::agreement::Agreement;
use crate::session::saved_match::{SavedMatch, SavedMatchError};

/// First bytes of a file.
const MAGIC: [u8; 8] = *b"TESTSAVE";

/// Version of the file.
const VERSION: u16 = 3;

/// Bytes of the hash at the end of a file.
const HASH_BYTES: usize = 32;

/// A match before one of its turns.
///
/// ```
/// # use testudo_lockstep::{NoAction, SavedMatch, SessionConfig};
/// # use testudo_lockstep::service::agreement::Agreement;
/// use testudo_lockstep::service::save_file::{SaveFile, SaveFileError};
/// # fn store(agreement: Agreement, saved: SavedMatch, state: Vec<u8>) -> Result<(), SaveFileError> {
/// let save = SaveFile { agreement, state, saved };
/// let bytes = save.to_bytes(4);
/// assert_eq!(SaveFile::read(&bytes, 4)?, save);
/// assert_eq!(SaveFile::read(&bytes, 5), Err(SaveFileError::SimVersion { found: 4, expected: 5 }));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SaveFile {
    /// What all members had agreed on.
    pub agreement: Agreement,
    /// The game's state.
    pub state: Vec<u8>,
    /// The session's part.
    pub saved: SavedMatch,
}

/// Why bytes are not a match that can be resumed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SaveFileError {
    /// They do not begin as a saved match does.
    NotASave,
    /// They have this version, which this program does not read.
    Version {
        /// The version.
        found: u16,
    },
    /// The match was saved with another simulation.
    SimVersion {
        /// The version of the simulation in the file.
        found: u32,
        /// This program's.
        expected: u32,
    },
    /// They are cut off or have changed.
    Damaged,
    /// The session's part is not one.
    Saved(SavedMatchError),
}

impl fmt::Display for SaveFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotASave => write!(f, "this is not a saved match"),
            Self::Version { found } => {
                write!(
                    f,
                    "it was saved by another version of this program (file version {found}, not {VERSION})"
                )
            }
            Self::SimVersion { found, expected } => write!(
                f,
                "it was saved by another version of this program (simulation {found}, not {expected})"
            ),
            Self::Damaged => write!(f, "it is cut off or damaged"),
            Self::Saved(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SaveFileError {}

impl SaveFile {
    /// Mark, version, version of the simulation, length of the agreement, the agreement, length of the state, the state, the session's part,
    /// SHA-256 of all that. Little-endian.
    #[must_use]
    pub fn to_bytes(&self, sim_version: u32) -> Vec<u8> {
        let length = u32::try_from(self.state.len()).unwrap_or(u32::MAX);
        let agreement = self.agreement.to_bytes();
        Self::with_hash(
            &[
                &MAGIC[..],
                &VERSION.to_le_bytes(),
                &sim_version.to_le_bytes(),
                &(agreement.len() as u16).to_le_bytes(),
                &agreement,
                &length.to_le_bytes(),
                &self.state,
                &self.saved.to_bytes(),
            ]
            .concat(),
        )
    }

    /// The bytes of a file without its hash, and the hash. For tests that damage files as somebody who means harm does.
    #[doc(hidden)]
    #[must_use]
    pub fn with_hash(body: &[u8]) -> Vec<u8> {
        [body, &Sha256::digest(body)[..]].concat()
    }

    /// Reads what [`SaveFile::to_bytes`] wrote. Total: any bytes give a save or an error. Whether the state is the one that was saved shows when it is
    /// loaded: the simulation's checksum must be [`SavedMatch::checksum`].
    ///
    /// # Errors
    /// Another version, or damage.
    pub fn read(bytes: &[u8], sim_version: u32) -> Result<Self, SaveFileError> {
        const DAMAGED: SaveFileError = SaveFileError::Damaged;
        let mark = bytes.strip_prefix(&MAGIC).ok_or(SaveFileError::NotASave)?;
        let (version, _) = mark.split_first_chunk().ok_or(DAMAGED)?;
        let found = u16::from_le_bytes(*version);
        if found != VERSION {
            return Err(SaveFileError::Version { found });
        }
        let (body, hash) = bytes.split_last_chunk::<HASH_BYTES>().ok_or(DAMAGED)?;
        if Sha256::digest(body)[..] != hash[..] {
            return Err(DAMAGED);
        }
        let rest = body.get(MAGIC.len() + version.len()..).ok_or(DAMAGED)?;
        let (found, rest) = rest.split_first_chunk().ok_or(DAMAGED)?;
        let found = u32::from_le_bytes(*found);
        if found != sim_version {
            return Err(SaveFileError::SimVersion { found, expected: sim_version });
        }
        let (length, rest) = rest.split_first_chunk().ok_or(DAMAGED)?;
        let (told, rest) = rest.split_at_checked(u16::from_le_bytes(*length).into()).ok_or(DAMAGED)?;
        let agreement = Agreement::read(told).map_err(|_| DAMAGED)?;
        let (length, rest) = rest.split_first_chunk().ok_or(DAMAGED)?;
        let length = usize::try_from(u32::from_le_bytes(*length)).map_err(|_| DAMAGED)?;
        let (state, saved) = rest.split_at_checked(length).ok_or(DAMAGED)?;
        let saved = SavedMatch::from_bytes(saved).map_err(SaveFileError::Saved)?;
        Ok(Self { agreement, state: state.to_vec(), saved })
    }
}
