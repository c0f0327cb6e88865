//! What a person has decided for good on this machine: that no more hints are wanted.

#[cfg(not(target_arch = "wasm32"))]
use std::fs;
#[cfg(not(target_arch = "wasm32"))]
use std::path::Path;

#[cfg(not(target_arch = "wasm32"))]
use crate::app::online::keys;

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
        let folder =
            std::env::temp_dir().join(format!("testudo-habits-{}", std::process::id())).join("testudo");
        assert!(!is_kept(&folder));
        keep(&folder);
        keep(&folder);
        assert!(is_kept(&folder));
        fs::remove_dir_all(folder.parent().unwrap()).unwrap();
    }
}
