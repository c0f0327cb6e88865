//! Where a match is saved.

use std::path::{Path, PathBuf};

use crate::app::online::saves::Save;

/// The file of the last save. It outlives a broken connection.
#[derive(Clone, Debug)]
pub(super) struct Saving {
    /// None: nothing is saved.
    path: Option<PathBuf>,
    /// A save has been written.
    is_there: bool,
    /// The last save could not be written, which was told.
    is_unsaved: bool,
}

/// The file of the save that belongs to a replay: `a.replay.save` beside `a.replay`. It keeps the whole name, as `a` and `a.replay` are two replays.
pub(super) fn beside(replay: &Path) -> PathBuf {
    let mut name = replay.as_os_str().to_owned();
    name.push(".save");
    name.into()
}

impl Saving {
    pub(super) fn at(path: Option<PathBuf>) -> Self {
        Self { path, is_there: false, is_unsaved: false }
    }

    /// Writes a save in place of the one before. Returns what went wrong, once for several saves in a row. `replay`: the one that is recorded now; the first
    /// save goes beside it, because a recording that begins in the middle of a match has moved to another file by then.
    pub(super) fn keep(&mut self, save: &Save, replay: Option<&Path>) -> Option<String> {
        let path = self.path.as_mut()?;
        if let Some(replay) = replay.filter(|_| !self.is_there) {
            *path = beside(replay);
        }
        match save.store(path) {
            Ok(()) => {
                (self.is_there, self.is_unsaved) = (true, false);
                None
            }
            Err(_) if self.is_unsaved => None,
            Err(error) => {
                self.is_unsaved = true;
                Some(format!("{}: {error}", path.display()))
            }
        }
    }

    /// The file that holds the last save.
    pub(super) fn file(&self) -> Option<&PathBuf> {
        self.path.as_ref().filter(|_| self.is_there)
    }

    /// Removes the last save: there is nothing to go on with.
    pub(super) fn remove(&mut self) {
        if let Some(path) = self.path.take_if(|_| self.is_there) {
            let _ = std::fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Those of `a` and `a.replay` wrote `a.save`, and each took the other's for its own.
    #[test]
    fn replays_that_differ_in_the_ending_have_a_save_each() {
        let saves = ["x/a", "x/a.replay", "x/a.one"].map(|name| beside(Path::new(name)));
        assert_eq!(saves, ["x/a.save", "x/a.replay.save", "x/a.one.save"].map(PathBuf::from));
    }
}
