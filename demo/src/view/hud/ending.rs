//! Cards for network matches that end early or fail: what happened, and what to do.

use std::path::Path;

use testudo_lockstep::{EndReason, PlayerId};

use crate::app::{Diagnosis, MatchError, Seat};

/// Lines of a card.
type Lines = Vec<(&'static str, String)>;

/// What has happened, and what to do about it. `save`: the file from which the match can go on.
pub(crate) fn of_error(error: &MatchError, save: Option<&Path>) -> (&'static str, Lines) {
    let (title, advice) = error.advice();
    let mut lines = vec![("", format!("{}.", told(&error.to_string()))), ("", advice.into())];
    lines.extend(save.map(|file| ("", format!("You have a save: testudo host --resume {}", file.display()))));
    (title, lines)
}

/// A sentence as it begins.
pub(crate) fn told(sentence: &str) -> String {
    let mut told = sentence.to_owned();
    if let Some(first) = told.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    told
}

/// What becomes of the match if this person leaves it.
pub(crate) fn of_leaving(seat: &Seat) -> Lines {
    let becomes = if seat.is_host() {
        "You host the match: it ends for everybody. What was saved can be resumed."
    } else if seat.session().config().is_played_on(EndReason::Left) {
        "A bot plays on for you. With the same code you can come back."
    } else {
        "Nobody plays on for you. With the same code you can come back."
    };
    vec![("", becomes.into()), ("", "Esc: stay. Ctrl Q again: leave.".into())]
}

/// A card about the others' copies: which differ, and which cannot be compared. None: all is well.
pub(crate) fn of_copies(seat: &Seat) -> Option<(String, Lines)> {
    let doubts = seat.doubts();
    let wrong = whose(seat, &doubts.outliers);
    let verdict = wrong.map(|whose| ("wrong", format!("{whose}: most players have signed another state")));
    if let Some(diagnosis) = seat.diagnosis() {
        let mut lines = of_difference(&diagnosis);
        lines.extend(verdict);
        let turn = seat.divergent_turn().unwrap_or_default();
        return Some((format!("\u{2260}  The copies differ from turn {turn} on"), lines));
    }
    let silent = whose(seat, &doubts.silent);
    let silent = silent.map(|whose| ("not compared", format!("{whose}: checksums do not come")));
    let lines: Lines = verdict.into_iter().chain(silent).collect();
    let title = "\u{2260}  Not all copies are known to be equal";
    (!lines.is_empty()).then(|| (title.into(), lines))
}

/// "player 2's, player 4's"; none of nobody.
fn whose(seat: &Seat, players: &[u8]) -> Option<String> {
    let names: Vec<String> =
        players.iter().map(|player| format!("{}'s", seat.shown_as(PlayerId(*player)))).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// What is known about a desync.
fn of_difference(diagnosis: &Diagnosis) -> Lines {
    if let Diagnosis::Found { desync, is_host, .. } = diagnosis {
        return desync.report(if *is_host { ["here", "the guest"] } else { ["the host", "here"] });
    }
    let why = diagnosis.why_unknown().unwrap_or_default();
    vec![
        ("", format!("No number is named: {why}.")),
        ("", "The match goes on, but from here on each computer has a different battle.".into()),
    ]
}

#[cfg(test)]
mod tests {
    use testudo_lockstep::{Failure, Refusal};

    use super::*;

    /// The card advised to resume from "FILE".
    #[test]
    fn the_save_of_a_match_that_broke_off_is_named() {
        let failure = Failure::ConnectionLost(testudo_lockstep::PeerId(1));
        let file = Path::new("replays/a.save");
        let (_, lines) = of_error(&MatchError::Failed { failure, turns: 30 }, Some(file));
        assert!(lines.iter().any(|(_, line)| line.contains("replays/a.save")), "{lines:?}");
    }

    #[test]
    fn whatever_ends_a_match_is_told_in_sentences() {
        let failures = [
            Failure::ConnectTimeout,
            Failure::Refused(Refusal::Taken),
            Failure::ConnectionLost(testudo_lockstep::PeerId(1)),
            Failure::PeerLeft(testudo_lockstep::PeerId(1)),
        ];
        for failure in failures {
            let (title, lines) = of_error(&MatchError::Failed { failure, turns: 3 }, None);
            assert!(!title.is_empty() && lines.len() == 2, "{failure:?}");
            for (_, line) in lines {
                assert!(line.ends_with('.') && line.starts_with(|c: char| !c.is_lowercase()), "{line}");
            }
        }
    }
}
