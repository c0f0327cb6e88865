//! Replays as files: written while a client plays, read to be played again.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use testudo_lockstep::PlayerId;
use testudo_lockstep::replay::{Ending, Notice, Recorder, Replay, ReplayHeader, TurnEvents};
use testudo_lockstep::state::{self, Recent};

use crate::app::clock::seconds_since_1970;
use crate::app::error::MatchError;
use crate::app::maps;
use crate::app::terms::{TURNS_MAX, Terms};
use crate::game::{Game, Order, Setup};

/// Largest file: hours of a large battle.
const BYTES_MAX: u64 = 256 << 20;

/// Number of turns between two keyframes: half a minute with turns of 200 ms.
const KEYFRAME_EVERY: u32 = 150;

/// Number of states that are kept until all peers have compared their checksums, which takes a few turns.
const RECENT_TURNS: usize = 64;
const RECENT_BYTES: usize = 64 << 20;

/// Greatest number of matches that begin in one second in one folder.
const FILES_PER_SECOND_MAX: u32 = 1_000;

/// Bytes of the settings in a header: players, units, seed, turns.
const SETTINGS_BYTES: usize = 17;

/// The replay contains its map, because it is not a built-in one.
const OTHER_MAP: u8 = 255;

/// A replay that is being written. It is no [`testudo_lockstep::replay::Recorded`], because it has what only this program wants: a file with a
/// limit, the state right after a divergence, a turn that ends after a planted fault, and the orders of a bot instead of a note that one plays.
pub(crate) struct Recording {
    recorder: Recorder,
    file: BufWriter<File>,
    path: PathBuf,
    state: Vec<u8>,
    /// The states after the last turns; none any more after the peers have disagreed.
    recent: Option<Recent>,
    is_over: bool,
    /// The first error of the disk. The match goes on.
    error: Option<io::Error>,
}

impl Recording {
    /// Creates a file; an existing one is overwritten.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn create(path: &Path, terms: &Terms) -> Result<Self, MatchError> {
        let unwritable = |error| MatchError::Replay { path: path.to_owned(), what: format!("{error}") };
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(unwritable)?;
        }
        Ok(Self::begin(path, File::create(path).map_err(unwritable)?, terms))
    }

    /// Creates a new file in a folder, named after the time.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn create_in(folder: &Path, terms: &Terms) -> Result<Self, MatchError> {
        let unwritable = |error| MatchError::Replay { path: folder.to_owned(), what: format!("{error}") };
        fs::create_dir_all(folder).map_err(unwritable)?;
        let seconds = seconds_since_1970();
        let mut number = 0;
        loop {
            let name =
                if number == 0 { format!("{seconds}.replay") } else { format!("{seconds}-{number}.replay") };
            let path = folder.join(name);
            match File::create_new(&path) {
                Ok(file) => return Ok(Self::begin(&path, file, terms)),
                Err(error)
                    if error.kind() == io::ErrorKind::AlreadyExists && number < FILES_PER_SECOND_MAX =>
                {
                    number += 1
                }
                Err(error) => return Err(unwritable(error)),
            }
        }
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn begin(path: &Path, file: File, terms: &Terms) -> Self {
        let mut recording = Self {
            recorder: Recorder::new(&header(terms)),
            file: BufWriter::new(file),
            path: path.to_owned(),
            state: Vec::new(),
            recent: Some(Recent::new(RECENT_TURNS, RECENT_BYTES)),
            is_over: false,
            error: None,
        };
        recording.store();
        recording
    }

    pub(crate) fn order(&mut self, player: PlayerId, order: &Order) {
        self.recorder.action(player, order);
    }

    pub(crate) fn notice(&mut self, player: PlayerId, notice: Notice) {
        self.recorder.notice(player, notice);
    }

    pub(crate) fn frame(&mut self, frames_per_second: u32) {
        self.recorder.frame(frames_per_second);
    }

    /// The turn is over, with this state.
    pub(crate) fn end_turn(&mut self, game: &mut Game, checksum: u64) {
        if self.is_over {
            return;
        }
        self.recorder.end_turn(checksum);
        if let Some(recent) = &mut self.recent {
            recent.push(self.recorder.turns(), game);
        }
        if self.recorder.turns().is_multiple_of(KEYFRAME_EVERY) {
            state::save(game, &mut self.state);
            self.recorder.keyframe(&self.state);
        }
        if self.recorder.total_bytes() > BYTES_MAX {
            self.end(Ending::Full);
        }
        self.store();
    }

    /// The peers disagree from this turn on. The state right after it is kept as evidence, and a keyframe stores the present state.
    pub(crate) fn diverged(&mut self, game: &mut Game, turn: u32) {
        if !self.is_over {
            self.recorder.desync(turn);
            if let Some(recent) = self.recent.take()
                && let Some(evidence) = recent.get(turn + 1)
            {
                self.recorder.evidence(turn + 1, evidence);
            }
            state::save(game, &mut self.state);
            self.recorder.keyframe(&self.state);
            self.store();
        }
    }

    /// The match is over.
    ///
    /// # Errors
    /// The disk refused a write, so the file is incomplete.
    pub(crate) fn finish(&mut self) -> Result<(), MatchError> {
        self.end(Ending::Over);
        let failed = |error| MatchError::Replay { path: self.path.clone(), what: format!("{error}") };
        match self.error.take() {
            Some(error) => Err(failed(error)),
            None => self.file.flush().map_err(failed),
        }
    }

    /// Removes the file: this peer was not there from the beginning.
    pub(crate) fn discard(self) {
        drop(self.file);
        // If that fails, an empty replay stays.
        let _ = fs::remove_file(&self.path);
    }

    fn end(&mut self, ending: Ending) {
        if !self.is_over {
            self.is_over = true;
            self.recorder.end(ending);
            self.store();
        }
    }

    /// Writes what has been recorded turn by turn, so that a crash of the program costs at most one turn.
    fn store(&mut self) {
        let bytes = self.recorder.take_bytes();
        if self.error.is_none() {
            let written = self.file.write_all(&bytes).and_then(|()| self.file.flush());
            self.error = written.err();
        }
    }
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
    let bytes = fs::read(path)
        .map_err(|error| MatchError::Replay { path: path.to_owned(), what: error.to_string() })?;
    read(path, bytes)
}

/// As [`open`], of the bytes of a file.
///
/// # Errors
/// There is nothing in it that could be played.
pub(crate) fn read(path: &Path, bytes: Vec<u8>) -> Result<(Replay, Terms), MatchError> {
    let refused = |what: String| MatchError::Replay { path: path.to_owned(), what };
    let replay = Replay::read(bytes, Setup::sim_version()).map_err(|error| refused(error.to_string()))?;
    let terms = terms(replay.header()).ok_or_else(|| refused("the match settings are not valid".into()))?;
    let turns = (0..replay.turns()).filter_map(|turn| replay.turn(turn));
    if let Some(rate) = turns.map(|(turn, _)| turn).find_map(impossible_rate) {
        return Err(refused(format!("a turn has {rate} frames per second")));
    }
    Ok((replay, terms))
}

/// A rate that the simulation does not have. The hashes of a file guard against damage, not against people.
fn impossible_rate(turn: TurnEvents<'_>) -> Option<u32> {
    let rates = 1..=testudo_physics::FPS_MAX;
    (turn.frames > 0 && !rates.contains(&turn.frames_per_second)).then_some(turn.frames_per_second)
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

#[cfg(test)]
mod tests {
    use super::*;

    const TERMS: Terms = Terms { setup: Setup { players: 2, units: 5, seed: 9, map: None }, turns: 30 };

    fn written(header: &ReplayHeader, name: &str) -> Result<(Replay, Terms), MatchError> {
        opened(&Recorder::new(header), name)
    }

    fn opened(recorder: &Recorder, name: &str) -> Result<(Replay, Terms), MatchError> {
        let path = std::env::temp_dir().join(format!("testudo-{name}-{}.replay", std::process::id()));
        fs::write(&path, recorder.bytes()).unwrap();
        let opened = open(&path);
        fs::remove_file(path).unwrap();
        opened
    }

    #[test]
    fn the_header_says_what_was_played() {
        let (replay, terms) = written(&header(&TERMS), "sound").unwrap();
        assert_eq!((terms, replay.turns(), replay.is_complete()), (TERMS, 0, false));
    }

    #[test]
    fn a_map_comes_with_the_replay() {
        let ford = maps::named("ford");
        let text = ford.unwrap().text.replace('^', ".");
        let own = maps::keep(&text).unwrap();
        assert_eq!(maps::number_of(own), None);
        for map in [ford, Some(own)] {
            let terms = Terms { setup: Setup { map, ..TERMS.setup }, ..TERMS };
            assert_eq!(written(&header(&terms), "map").unwrap().1, terms);
        }
    }

    #[test]
    fn a_replay_of_other_rules_is_refused_with_a_sentence() {
        let older = ReplayHeader { sim_version: Setup::sim_version() - 1, ..header(&TERMS) };
        let sentence = written(&older, "older").unwrap_err().to_string();
        assert!(sentence.contains("the same orders would lead to another match"), "{sentence}");
        let foreign = ReplayHeader { content_hash: 1, ..header(&TERMS) };
        assert!(written(&foreign, "foreign").unwrap_err().to_string().contains("settings"));
        let cut = ReplayHeader { settings: vec![2], ..header(&TERMS) };
        assert!(written(&cut, "cut").unwrap_err().to_string().contains("settings"));
    }

    #[test]
    fn a_turn_at_a_rate_that_does_not_exist_is_refused() {
        for (rate, is_sound) in [(1, true), (1_000, true), (0, false), (1_001, false)] {
            let mut recorder = Recorder::new(&header(&TERMS));
            recorder.frame(rate);
            recorder.end_turn(0);
            let opened = opened(&recorder, "rate");
            assert_eq!(opened.is_ok(), is_sound, "{rate}: {:?}", opened.err());
        }
    }
}
