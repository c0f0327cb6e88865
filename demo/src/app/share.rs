//! A whole match as the end of an address: settings, orders and the last checksum. Everything else follows from them.

use std::path::Path;

use data_encoding::BASE64URL_NOPAD;
use testudo_lockstep::replay::{Replay, ReplayError};

use crate::app::error::MatchError;
use crate::app::terms::Terms;
use crate::app::watch::recording;
use testudo_battle::{Order, Setup};

/// What stands before the match, behind the "#" of an address.
const NAME: &str = "battle=";

/// What stands before that on a command line.
const COMMAND: &str = "testudo replay ";

/// Longest link, in characters: a quarter of an hour against a bot. Browsers take more; a command line of Windows ends at 32,767.
const CHARS_MAX: usize = 30_000;

/// A link to a match, for a page at this address, or else for the command line. None: it would be too long, or the recording is not of a
/// whole match whose peers agreed.
pub(crate) fn link(replay: &Replay, page: Option<&str>) -> Option<String> {
    let text = BASE64URL_NOPAD.encode(&replay.brief::<Order>()?);
    let link = match page {
        Some(page) => format!("{page}#{NAME}{text}"),
        None => format!("{COMMAND}{NAME}{text}"),
    };
    (link.len() <= CHARS_MAX).then_some(link)
}

/// What a button that copies it says: without a page it is a command line, which no browser opens.
pub(crate) fn word(link: &str) -> &'static str {
    if link.contains("://") { "Copy link" } else { "Copy command" }
}

/// Whether this is a link to a match, and not the name of a file. Somebody may have copied the whole command.
fn is_link(text: &str) -> bool {
    let text = text.trim_start();
    text.strip_prefix(COMMAND).unwrap_or(text).starts_with(NAME) || text.contains(&format!("#{NAME}"))
}

/// Reads a link, or what stands behind its "#".
///
/// # Errors
/// It is damaged, or of another version.
pub(crate) fn read(link: &str) -> Result<(Replay, Terms), MatchError> {
    let refused = |what: String| MatchError::Replay { path: "the link".into(), what };
    let damaged = || refused("it is damaged or incomplete: copy the whole link again".into());
    let text = link.rsplit_once(NAME).map_or(link, |(_, text)| text).trim();
    if text.len() > CHARS_MAX {
        return Err(refused(format!("it is longer than {CHARS_MAX} characters")));
    }
    let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).map_err(|_| damaged())?;
    let replay = Replay::read_brief::<Order>(&bytes, Setup::sim_version()).map_err(|error| match error {
        ReplayError::Brief => damaged(),
        other => refused(other.to_string()),
    })?;
    recording::checked("the link".as_ref(), replay)
}

/// Reads a replay file as far as possible, or a link, with the setup of its match.
///
/// # Errors
/// There is no such file, or nothing in it can be played.
pub(crate) fn open(path: &Path) -> Result<(Replay, Terms), MatchError> {
    match path.to_str().filter(|text| is_link(text) && !path.exists()) {
        Some(link) => read(link),
        None => recording::open(path),
    }
}

#[cfg(test)]
mod tests {
    use testudo_lockstep::replay::ReplayPlayer;

    use super::*;
    use crate::app::maps;
    use crate::app::playback::tests::recorded;
    use testudo_battle::Game;

    /// A match of two bots: its replay, and its last checksum.
    fn played(turns: u32) -> (Replay, u64) {
        let setup = Setup { players: 2, units: 30, seed: 3, map: maps::named("pass") };
        let replay = recorded(&Terms { setup, turns }, None, |turn| 4 + turn / 90);
        let checksum = replay.turn(turns - 1).and_then(|(_, checksum)| checksum).unwrap();
        (replay, checksum)
    }

    #[test]
    fn a_link_plays_the_match_and_ends_in_its_checksum() {
        let (replay, checksum) = played(400);
        for page in [None, Some("https://example.org/play/")] {
            let link = link(&replay, page).unwrap();
            println!("{} of {} bytes", link.len(), replay.byte_count());
            let given = link.strip_prefix("testudo replay ").unwrap_or(&link);
            let (again, terms) = open(Path::new(given)).unwrap();
            assert_eq!(terms.setup.map, maps::named("pass"));
            let mut player = ReplayPlayer::new(again, Game::new(terms.setup).unwrap());
            while player.step_turn() {}
            assert_eq!((player.divergence(), player.checksum(), player.turn()), (None, checksum, 400));
        }
    }

    #[test]
    fn a_damaged_link_is_refused_with_a_sentence() {
        let (replay, _) = played(30);
        let whole = link(&replay, None).unwrap();
        let start = whole.find(NAME).unwrap() + NAME.len();
        for end in (start..whole.len()).step_by(7) {
            let told = read(&whole[..end]).unwrap_err().to_string();
            assert!(told.starts_with("the link: "), "{told}");
        }
        for at in start..whole.len() {
            for other in ["A", "_", "!", "\u{e9}"] {
                let changed = [&whole[..at], other, &whole[at + 1..]].concat();
                assert!(changed == whole || read(&changed).is_err(), "character {at}");
            }
        }
        let long = format!("{NAME}{}", "A".repeat(CHARS_MAX + 1));
        assert!(read(&long).unwrap_err().to_string().contains("longer"));
        assert!(!is_link("replays/battle=5.replay"), "that is a file");
        assert!(is_link("testudo replay battle=AAAA"), "what is copied and printed is the whole command");
    }

    #[test]
    fn a_link_of_another_version_says_so() {
        let mut bytes = played(30).0.brief::<Order>().unwrap();
        // Behind the header's length and the format: the version of the rules.
        bytes[4] ^= 1;
        let told = read(&BASE64URL_NOPAD.encode(&bytes)).unwrap_err().to_string();
        assert!(told.contains("the same orders would lead to another match"), "{told}");
    }

    #[test]
    fn a_long_match_has_no_link() {
        let (replay, _) = played(30);
        let page = "x".repeat(CHARS_MAX);
        assert_eq!(link(&replay, Some(&page)), None);
    }
}
