//! Cards for network matches that end early or fail: what happened, and what to do.

use testudo_lockstep::{Failure, Refusal};

use crate::app::{Diagnosis, MatchError, Seat};
use crate::view::hud::alarm;

/// Lines of a card.
type Lines = Vec<(&'static str, String)>;

/// What has happened, as a title, and what to do about it.
pub(crate) fn of_error(error: &MatchError) -> (&'static str, Lines) {
    let (title, advice) = match error {
        MatchError::Failed { failure, .. } => of_failure(*failure),
        MatchError::Invitation(_) => (
            "You could not join the match",
            "Ask the host for a new code. The host must be there, and its firewall and router must let UDP through.",
        ),
        MatchError::Socket(_) => ("The network failed", "Check that this computer is still connected."),
        MatchError::Replay { .. } => ("The replay cannot be written", "Check whether the disk is full."),
        _ => ("The match cannot be played", "testudo host --help lists the options."),
    };
    let told = told(&error.to_string());
    (title, vec![("", format!("{told}.")), ("", advice.into())])
}

/// A sentence as it begins.
pub(crate) fn told(sentence: &str) -> String {
    let mut told = sentence.to_owned();
    if let Some(first) = told.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    told
}

fn of_failure(failure: Failure) -> (&'static str, &'static str) {
    match failure {
        Failure::ConnectTimeout => {
            ("Nobody answered", "Check that the code is the one that the host shows now.")
        }
        Failure::PlayersMissing { .. } => {
            ("Not everybody came in time", "Host again, and send the others the command sooner.")
        }
        Failure::NeverBegan(_) => ("The host gave up before the match began", "Ask for another match."),
        Failure::Refused(Refusal::Version { .. } | Refusal::Config { .. }) => {
            ("The host has refused", "Everybody needs the same version of this program.")
        }
        Failure::Refused(_) => ("The host has refused", "Ask the host for a new code."),
        Failure::ConnectionLost(_) => (
            "The connection is lost",
            "Nothing arrived for 20 s. Check that both computers are still connected, and host again.",
        ),
        Failure::Dropped => ("The others went on without you", "Your orders arrived too late for too long."),
        Failure::PeerLeft(_) => (
            "The host has ended the match",
            "Next to your replay is a save, from which the match can go on: testudo host --resume FILE.",
        ),
        _ => ("The match has ended", "Host again."),
    }
}

/// A card about the others' copies: which differ, and which cannot be compared. None: all is well.
pub(crate) fn of_copies(seat: &Seat) -> Option<(String, Lines)> {
    let doubts = seat.doubts();
    let wrong = whose(&doubts.outliers);
    let verdict = wrong.map(|whose| ("wrong", format!("{whose}: most players have signed another state")));
    if let Some(diagnosis) = seat.diagnosis() {
        let mut lines = of_difference(&diagnosis);
        lines.extend(verdict);
        let turn = seat.divergent_turn().unwrap_or_default();
        return Some((format!("\u{2260}  The copies differ from turn {turn} on"), lines));
    }
    let silent = whose(&doubts.silent);
    let silent = silent.map(|whose| ("not compared", format!("{whose}: checksums do not come")));
    let lines: Lines = verdict.into_iter().chain(silent).collect();
    let title = "\u{2260}  Not all copies are known to be equal";
    (!lines.is_empty()).then(|| (title.into(), lines))
}

/// "player 2's, player 4's"; none of nobody.
fn whose(players: &[u8]) -> Option<String> {
    let names: Vec<String> = players.iter().map(|player| format!("player {}'s", player + 1)).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// What is known about a desync.
fn of_difference(diagnosis: &Diagnosis) -> Lines {
    let text = match diagnosis {
        Diagnosis::Asking => "Asking the other side for the first number that differs...",
        Diagnosis::Unknown => "The number that differs could not be found.",
        Diagnosis::Relayed => {
            "A relay has no copy to compare. Two players' replays show the number: testudo desync A B."
        }
        Diagnosis::Elsewhere => "The host's copy is equal to this one. Another player's differs.",
        Diagnosis::Found { desync, is_host, .. } => {
            let copies = if *is_host { ["here", "the guest"] } else { ["the host", "here"] };
            return alarm::report(desync, copies);
        }
    };
    vec![
        ("", text.into()),
        ("", "The match goes on, but from here on each computer has a different battle.".into()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_ends_a_match_is_told_in_sentences() {
        let failures = [
            Failure::ConnectTimeout,
            Failure::Refused(Refusal::Taken),
            Failure::ConnectionLost(testudo_lockstep::PeerId(1)),
            Failure::PeerLeft(testudo_lockstep::PeerId(1)),
        ];
        for failure in failures {
            let (title, lines) = of_error(&MatchError::Failed { failure, turns: 3 });
            assert!(!title.is_empty() && lines.len() == 2, "{failure:?}");
            for (_, line) in lines {
                assert!(line.ends_with('.') && line.starts_with(|c: char| !c.is_lowercase()), "{line}");
            }
        }
    }
}
