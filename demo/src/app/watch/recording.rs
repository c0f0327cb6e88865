//! Replays: written while a client plays, into a file or into memory, and read to be played again.

#[cfg(test)]
mod tests;

use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Seek as _, Write};
use std::path::{Path, PathBuf};

use testudo_lockstep::Simulation;
use testudo_lockstep::replay::{RECORD_BYTES_MAX, Recorded, Replay, ReplayHeader};
use testudo_lockstep::state::State;

use crate::app::error::MatchError;
use crate::app::files;
use crate::app::maps;
use crate::app::terms::{FRAMES_PER_TURN_MAX, TURNS_MAX, Terms};
use testudo_battle::Setup;

/// A recording ends with the turn after which its file has more bytes: hours of a large battle.
const BYTES_MAX: u64 = 256 << 20;

/// Largest file that is read.
pub(crate) const READ_MAX: u64 = read_max(BYTES_MAX);

/// Largest replay in memory: an hour of an ordinary battle.
const MEMORY_MAX: u64 = 64 << 20;

/// Number of turns between two keyframes: half a minute with turns of 200 ms.
const KEYFRAME_EVERY: u32 = 150;

/// Number of states that are kept until all peers have compared their checksums, which takes a few turns.
const RECENT_TURNS: usize = 64;
const RECENT_BYTES: usize = 64 << 20;

/// Greatest number of names that are tried for a new file.
const NAMES_MAX: u32 = 1_000;

/// Bytes of the settings in a header: players, units, seed, turns.
const SETTINGS_BYTES: usize = 17;

/// The replay contains its map, because it is not a built-in one.
const OTHER_MAP: u8 = 255;

/// Where a replay is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum ReplayFile {
    #[default]
    None,
    /// In this file; if that is impossible, the match is not played.
    At(PathBuf),
    /// In a new file in this folder, if that is possible.
    In(PathBuf),
    /// In a new file beside this one, which has what came before, if that is possible.
    Beside(PathBuf),
    /// In memory: a browser page has no files.
    #[cfg_attr(not(target_arch = "wasm32"), allow(dead_code))]
    Memory,
}

impl ReplayFile {
    /// Where a player records who comes back to a match: what was recorded before stays.
    pub(crate) fn later(&self) -> Self {
        match self {
            Self::At(path) => Self::Beside(path.clone()),
            other => other.clone(),
        }
    }

    /// The newest replay in this folder beside the one that is being written. Another program's is empty while that waits for its players.
    pub(crate) fn newest(&self, own: Option<&Path>) -> Option<PathBuf> {
        let Self::In(folder) = self else { return None };
        let files = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
        let is_replay = |path: &PathBuf| path.extension().is_some_and(|name| name == "replay");
        let files = files.filter(|path| is_replay(path) && own != Some(path.as_path()));
        let files =
            files.filter_map(|path| path.metadata().ok().filter(|about| about.len() > 0).zip(Some(path)));
        files.max_by_key(|(about, _)| about.modified().ok()).map(|(_, path)| path)
    }
}

/// A replay that is complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    File(PathBuf),
    Memory(Vec<u8>),
}

impl Kept {
    /// Reads it, with the setup of its match.
    ///
    /// # Errors
    /// The file is gone, or nothing in it can be played.
    pub(crate) fn open(self) -> Result<(Replay, Terms), MatchError> {
        match self {
            Self::File(path) => open(&path),
            Self::Memory(bytes) => read(Path::new("the replay of this match"), bytes),
        }
    }
}

/// Where the bytes go.
enum Store {
    File(Target),
    Memory(Vec<u8>),
}

/// A file that is written. What was there stays until there is something to write: this peer may come late, or not at all.
struct Target {
    path: PathBuf,
    file: BufWriter<File>,
    /// Nothing was there before.
    is_new: bool,
    has_begun: bool,
}

impl Target {
    fn new(path: PathBuf, file: File, is_new: bool) -> Self {
        Self { path, file: BufWriter::new(file), is_new, has_begun: false }
    }

    /// A new file that has the first of these names that is free.
    fn create_new(name: impl Fn(u32) -> PathBuf) -> io::Result<Self> {
        let mut number = 0;
        loop {
            let path = name(number);
            match File::create_new(&path) {
                Ok(file) => return Ok(Self::new(path, file, true)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < NAMES_MAX => {
                    number += 1
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// `a-2.replay` beside `a.replay`, or the next number.
    fn beside(path: &Path) -> io::Result<Self> {
        Self::create_new(|number| {
            let mut name = path.file_stem().unwrap_or_default().to_owned();
            name.push(format!("-{}", number + 2));
            if let Some(ending) = path.extension() {
                name.push(".");
                name.push(ending);
            }
            path.with_file_name(name)
        })
    }

    /// A device has no length, and holds nothing.
    fn is_file(&self) -> io::Result<bool> {
        Ok(self.file.get_ref().metadata()?.is_file())
    }

    fn begin_anew(&mut self) -> io::Result<()> {
        if !self.is_new && !self.has_begun && self.is_file()? {
            *self = Self::beside(&self.path)?;
        }
        self.is_new |= core::mem::take(&mut self.has_begun);
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let is_first = !core::mem::replace(&mut self.has_begun, true);
        if is_first && self.is_file()? {
            self.file.get_ref().set_len(0)?;
            self.file.rewind()?;
        }
        self.file.write_all(bytes)?;
        self.file.flush()
    }
}

/// Where a [`Recorded`] game's replay is kept.
pub(crate) struct Recording {
    store: Store,
    header: ReplayHeader,
    /// The first error of the disk. The match goes on.
    error: Option<io::Error>,
    /// The error was handed out.
    is_told: bool,
}

impl Recording {
    /// Creates a file. An existing one is overwritten with the first bytes.
    ///
    /// # Errors
    /// It cannot be written, or another program writes it.
    pub(crate) fn create(path: &Path, terms: &Terms) -> Result<Self, MatchError> {
        let unwritable = |error| MatchError::Replay { path: path.to_owned(), what: format!("{error}") };
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(unwritable)?;
        }
        let is_new = !path.exists();
        let file = File::options().write(true).create(true).truncate(false).open(path).map_err(unwritable)?;
        if is_taken(&file) {
            let what = "another program writes this file".into();
            return Err(MatchError::Replay { path: path.to_owned(), what });
        }
        Ok(Self::begin(Store::File(Target::new(path.to_owned(), file, is_new)), terms))
    }

    /// Creates a new file in a folder, named after the time.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn create_in(folder: &Path, terms: &Terms) -> Result<Self, MatchError> {
        let seconds = seconds_since_1970();
        let name = |number| match number {
            0 => folder.join(format!("{seconds}.replay")),
            number => folder.join(format!("{seconds}-{number}.replay")),
        };
        let target = fs::create_dir_all(folder).and_then(|()| Target::create_new(name));
        Self::in_new_file(folder, target, terms)
    }

    fn in_new_file(at: &Path, target: io::Result<Target>, terms: &Terms) -> Result<Self, MatchError> {
        let unwritable = |error| MatchError::Replay { path: at.to_owned(), what: format!("{error}") };
        Ok(Self::begin(Store::File(target.map_err(unwritable)?), terms))
    }

    /// Writes into memory.
    pub(crate) fn in_memory(terms: &Terms) -> Self {
        Self::begin(Store::Memory(Vec::new()), terms)
    }

    /// As a person wants it.
    ///
    /// # Errors
    /// It cannot be written there.
    pub(crate) fn wanted(file: &ReplayFile, terms: &Terms) -> Result<Option<Self>, MatchError> {
        match file {
            ReplayFile::None => Ok(None),
            ReplayFile::At(path) => Self::create(path, terms).map(Some),
            ReplayFile::In(folder) => Self::create_in(folder, terms).map(Some),
            ReplayFile::Beside(path) => Self::in_new_file(path, Target::beside(path), terms).map(Some),
            ReplayFile::Memory => Ok(Some(Self::in_memory(terms))),
        }
    }

    /// The file, if it is one.
    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.store {
            Store::File(target) => Some(&target.path),
            Store::Memory(_) => None,
        }
    }

    /// Whether something has been stored.
    pub(crate) fn has_begun(&self) -> bool {
        match &self.store {
            Store::File(target) => target.has_begun,
            Store::Memory(bytes) => !bytes.is_empty(),
        }
    }

    /// What has been stored up to now. Recording goes on.
    pub(crate) fn so_far(&self) -> Kept {
        match &self.store {
            Store::Memory(bytes) => Kept::Memory(bytes.clone()),
            Store::File(target) if target.has_begun => Kept::File(target.path.clone()),
            Store::File(_) => Kept::Memory(Vec::new()),
        }
    }

    fn begin(store: Store, terms: &Terms) -> Self {
        Self { store, header: header(terms), error: None, is_told: false }
    }

    /// The battle, recorded from its first turn on.
    pub(crate) fn recorded<S: Simulation + State>(&self, game: S) -> Recorded<S> {
        self.recorded_up_to(game, if self.path().is_some() { BYTES_MAX } else { MEMORY_MAX })
    }

    fn recorded_up_to<S: Simulation + State>(&self, game: S, bytes_max: u64) -> Recorded<S> {
        Recorded::new(game, &self.header)
            .keyframe_every(KEYFRAME_EVERY)
            .bytes_max(bytes_max)
            .keep_recent(RECENT_TURNS, RECENT_BYTES)
    }

    /// Why the file ends here, if the disk has refused a write since the last call.
    pub(crate) fn take_trouble(&mut self) -> Option<String> {
        let error = self.error.as_ref().filter(|_| !core::mem::replace(&mut self.is_told, true))?;
        Some(format!("{}: {error}", self.path()?.display()))
    }

    /// The last bytes are stored.
    ///
    /// # Errors
    /// The disk refused a write, so the file is incomplete.
    pub(crate) fn finish(self) -> Result<Kept, MatchError> {
        match self.store {
            Store::Memory(bytes) => Ok(Kept::Memory(bytes)),
            Store::File(target) => match self.error {
                None => Ok(Kept::File(target.path)),
                Some(error) => Err(MatchError::Replay { path: target.path, what: error.to_string() }),
            },
        }
    }

    /// A recording begins anew, in the middle of a match. It overwrites none of before: that may be of this match up to a crash.
    pub(crate) fn begin_anew(&mut self) {
        match &mut self.store {
            Store::Memory(bytes) => bytes.clear(),
            Store::File(target) => {
                if let Err(error) = target.begin_anew() {
                    self.error.get_or_insert(error);
                }
            }
        }
    }

    /// Nothing was recorded: a new file is removed, one of before stays.
    pub(crate) fn discard(self) {
        if let Store::File(Target { path, file, is_new, .. }) = self.store {
            // A device is nobody's to remove.
            let is_file = file.get_ref().metadata().is_ok_and(|about| about.is_file());
            drop(file);
            if is_file && is_new {
                // If that fails, an empty replay stays.
                let _ = fs::remove_file(path);
            }
        }
    }

    /// The next bytes of the replay.
    pub(crate) fn store(&mut self, bytes: &[u8]) {
        match &mut self.store {
            Store::Memory(all) => all.extend_from_slice(bytes),
            Store::File(target) if self.error.is_none() => self.error = target.write(bytes).err(),
            // The disk has refused what comes before.
            Store::File(_) => {}
        }
    }
}

/// Whether another program writes the file; from now on this one does, until the file is closed. A file system without locks refuses nobody, and on
/// Windows a lock would keep the file from being read, too.
fn is_taken(file: &File) -> bool {
    cfg!(unix) && matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

/// The first record of the replays of a match.
pub(crate) fn header(terms: &Terms) -> ReplayHeader {
    let Setup { players, units, seed, map } = terms.setup;
    let mut settings = vec![players];
    settings.extend_from_slice(&units.to_le_bytes());
    settings.extend_from_slice(&seed.to_le_bytes());
    settings.extend_from_slice(&terms.turns.to_le_bytes());
    // A map of the program by its number, another one as a whole, so that the file can be played anywhere.
    if let Some(map) = map {
        match maps::number_of(map) {
            Some(number) => settings.push(number as u8),
            None => {
                settings.push(OTHER_MAP);
                settings.extend_from_slice(map.text.as_bytes());
            }
        }
    }
    ReplayHeader {
        sim_version: Setup::sim_version(),
        content_hash: terms.setup.content_hash(),
        players,
        settings,
    }
}

/// Reads a replay file as far as possible, with the setup of its match.
///
/// # Errors
/// There is no such file, or nothing in it can be played.
pub(crate) fn open(path: &Path) -> Result<(Replay, Terms), MatchError> {
    open_up_to(path, READ_MAX)
}

/// What a recording with this limit may have: after the turn that passes it there is a keyframe, and perhaps a state as evidence.
const fn read_max(bytes_max: u64) -> u64 {
    bytes_max + 2 * RECORD_BYTES_MAX as u64
}

fn open_up_to(path: &Path, bytes_max: u64) -> Result<(Replay, Terms), MatchError> {
    let bytes = files::read(path, bytes_max)
        .map_err(|error| MatchError::Replay { path: path.to_owned(), what: error.to_string() })?;
    read(path, bytes)
}

/// As [`open`], of the bytes of a file.
///
/// # Errors
/// There is nothing in it that could be played.
pub(crate) fn read(path: &Path, bytes: Vec<u8>) -> Result<(Replay, Terms), MatchError> {
    let refused = |what: String| MatchError::Replay { path: path.to_owned(), what };
    checked(path, Replay::read(bytes, Setup::sim_version()).map_err(|error| refused(error.to_string()))?)
}

/// A replay of whatever origin, if its settings are of this game, and its turns as long as they can be in a match: a link of a hundred characters
/// could keep whoever opens it busy for hours.
///
/// # Errors
/// They are not.
pub(crate) fn checked(path: &Path, replay: Replay) -> Result<(Replay, Terms), MatchError> {
    let refused = |what: String| MatchError::Replay { path: path.to_owned(), what };
    let terms = terms(replay.header()).ok_or_else(|| refused("the match settings are not valid".into()))?;
    let frames = |turn| replay.turn(turn).map_or(0, |(events, _)| events.frames);
    if let Some(turn) = (0..replay.turns()).find(|turn| frames(*turn) > FRAMES_PER_TURN_MAX) {
        return Err(refused(format!(
            "turn {turn} has {} frames, and no match has such a turn",
            frames(turn)
        )));
    }
    Ok((replay, terms))
}

/// For file names. A page writes no files.
fn seconds_since_1970() -> u64 {
    #[cfg(not(target_arch = "wasm32"))]
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    #[cfg(not(target_arch = "wasm32"))]
    return since.map_or(0, |since| since.as_secs());
    #[cfg(target_arch = "wasm32")]
    0
}

fn terms(header: &ReplayHeader) -> Option<Terms> {
    let (settings, map) = header.settings.split_first_chunk::<SETTINGS_BYTES>()?;
    let map = match map {
        [] => None,
        [OTHER_MAP, text @ ..] => Some(maps::keep(core::str::from_utf8(text).ok()?).ok()?),
        [number] => Some(maps::numbered(usize::from(*number))?),
        _ => return None,
    };
    let number = |at: usize| settings[at..].first_chunk().map(|four| u32::from_le_bytes(*four));
    let seed = settings[5..].first_chunk().map(|eight| u64::from_le_bytes(*eight))?;
    let setup = Setup { players: settings[0], units: number(1)?, seed, map };
    let terms = Terms { setup, turns: number(13)? };
    let is_valid = setup.check().is_ok()
        && setup.content_hash() == header.content_hash
        && setup.players == header.players
        && (1..=TURNS_MAX).contains(&terms.turns);
    is_valid.then_some(terms)
}
