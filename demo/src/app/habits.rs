//! What a person has tried so far, and has decided for good on this machine: that no more hints are wanted.

#[cfg(not(target_arch = "wasm32"))]
use std::fs;
#[cfg(not(target_arch = "wasm32"))]
use std::path::Path;

#[cfg(not(target_arch = "wasm32"))]
use crate::app::online::keys;

/// What the person has done so far: each step has a hint.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Progress {
    pub(crate) has_chosen: bool,
    pub(crate) has_attacked: bool,
    pub(crate) has_broken_network: bool,
    pub(crate) has_corrupted: bool,
    /// The person wants no hints, or has fought a battle to its end.
    pub(crate) are_over: bool,
}

impl Progress {
    /// At the start of the program.
    pub(crate) fn remembered() -> Self {
        Self { are_over: are_hints_over(), ..Self::default() }
    }

    /// No more hints, now and in later matches, also when the program is started again.
    pub(crate) fn end(&mut self) {
        if !core::mem::replace(&mut self.are_over, true) {
            end_hints();
        }
    }

    /// Number of the current hint; none when all have been followed.
    pub(crate) fn next(self) -> Option<usize> {
        if self.are_over {
            return None;
        }
        [self.has_chosen, self.has_attacked, self.has_broken_network, self.has_corrupted]
            .into_iter()
            .position(|is_done| !is_done)
    }
}

/// Whether hints were put away, now or in an earlier match.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn are_hints_over() -> bool {
    keys::folder().is_some_and(|folder| is_kept(&folder))
}

/// They stay away. A machine that keeps nothing shows them again.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn end_hints() {
    if let Some(folder) = keys::folder() {
        keep(&folder);
    }
}

/// An empty file says so.
#[cfg(not(target_arch = "wasm32"))]
const FILE: &str = "no-hints";

#[cfg(not(target_arch = "wasm32"))]
fn is_kept(folder: &Path) -> bool {
    folder.join(FILE).exists()
}

#[cfg(not(target_arch = "wasm32"))]
fn keep(folder: &Path) {
    let _ = fs::create_dir_all(folder).and_then(|()| fs::write(folder.join(FILE), []));
}

#[cfg(target_arch = "wasm32")]
pub(crate) use crate::app::page::{are_hints_over, end_hints};

#[cfg(test)]
mod tests {
    use super::*;

    /// Hints came back with the next start of the program.
    #[test]
    fn hints_stay_away_for_good() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("testudo");
        assert!(!is_kept(&folder));
        keep(&folder);
        keep(&folder);
        assert!(is_kept(&folder));
    }

    #[test]
    fn each_hint_waits_for_what_it_asks() {
        let mut progress = Progress::default();
        assert_eq!(progress.next(), Some(0));
        progress.has_corrupted = true;
        assert_eq!(progress.next(), Some(0), "the order is kept");
        (progress.has_chosen, progress.has_attacked) = (true, true);
        assert_eq!(progress.next(), Some(2));
        assert_eq!(Progress { are_over: true, ..progress }.next(), None, "put away for good");
        progress.has_broken_network = true;
        assert_eq!(progress.next(), None);
    }
}
