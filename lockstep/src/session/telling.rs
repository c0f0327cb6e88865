//! Events as sentences, for a log or a line on the screen.

use core::fmt;

use crate::session::event::Event;
use crate::value::entry::EndReason;
use crate::value::ids::{Identity, PlayerId};

/// One plain sentence without a full stop. Players have their numbers; a game that knows their names writes its own.
///
/// ```
/// use testudo_lockstep::{Event, PlayerId, Turn};
/// let event = Event::PlayerReturned { player: PlayerId(1), turn: Turn(40) };
/// assert_eq!(event.to_string(), "turn 40: player 1 is back");
/// ```
impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost { events } => write!(f, "{events} events were not taken in time and are lost"),
            Self::Started => write!(f, "the match begins"),
            Self::Speed { turn, player, percent } => {
                write!(f, "turn {turn}: the match runs at {percent} % of real time, as player {player} asked")
            }
            Self::Desync(desync) => write!(f, "{desync}"),
            Self::MatchResult(result) => write!(f, "{result}"),
            Self::Paused { turn, player, paused: true } => {
                write!(f, "turn {turn}: player {player} pauses the match")
            }
            Self::Paused { turn, player, paused: false } => {
                write!(f, "turn {turn}: the match runs again, as player {player} asked")
            }
            Self::SavePoint { turn, player } => write!(f, "turn {turn}: player {player} saves the match"),
            Self::Saved { turn } => write!(f, "the match up to turn {turn} is saved"),
            Self::Plan { turn, plan } => {
                let (frames, per_second) = (plan.frames_per_turn, plan.frames_per_second);
                write!(f, "turn {turn}: turns have {frames} frames of 1/{per_second} s from now on")
            }
            Self::Cancelled { actions } => {
                write!(f, "this peer plays no more, and {actions} accepted actions may run nowhere")
            }
            Self::Finished => write!(f, "the match is over"),
            Self::Failed(failure) => write!(f, "the session ended early: {failure}"),
            _ => self.tell_peers(f),
        }
    }
}

impl Event {
    /// Who is there, and who is not.
    fn tell_peers(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connected { peer, identity } => write!(f, "{} is connected (peer {peer})", Who(*identity)),
            Self::Refused { peer, refusal } => write!(f, "peer {peer} is refused and told: {refusal}"),
            Self::Forged { peer, claimed, bound: Some(bound) } => {
                write!(f, "peer {peer} claims to be {}, but is {}", Who(*claimed), Who(*bound))
            }
            Self::Forged { peer, claimed, bound: None } => {
                write!(f, "peer {peer} claims to be {}, but its link is bound to nobody", Who(*claimed))
            }
            Self::Profile { player } => write!(f, "player {player} has changed its profile"),
            Self::Undelivered { players } => {
                write!(f, "a message has not reached {}", players_named(players.iter()))
            }
            Self::PlayerGone { player, reason, turn } => {
                let what = match reason {
                    EndReason::Left => "has left",
                    EndReason::Dropped => "was dropped",
                    EndReason::Surrendered => "has surrendered",
                    EndReason::HandedOver => "has handed over to a bot",
                };
                write!(f, "turn {turn}: player {player} {what}")
            }
            Self::TakenOver { player, turn } => write!(f, "turn {turn}: the game plays for player {player}"),
            Self::TeamOut { team, turn } => write!(f, "turn {turn}: nobody of team {team} is in the match"),
            Self::PlayerReturned { player, turn } => write!(f, "turn {turn}: player {player} is back"),
            Self::WatcherGone(peer) => write!(f, "the watcher at peer {peer} is gone"),
            Self::JoinFailed(peer) => write!(f, "peer {peer} did not finish joining"),
            Self::Joined { turn } => write!(f, "the state is here, and turn {turn} runs first"),
            Self::CaughtUp { turn } => write!(f, "all turns before turn {turn} have run"),
            Self::StateProgress { received, total } => {
                write!(f, "{received} of {total} bytes of the state are here")
            }
            Self::StateRefused { turn } => write!(f, "the state before turn {turn} is refused"),
            Self::WrongState { turn, suspects } => write!(
                f,
                "most players do not confirm the state before turn {turn}; it may have been changed by {}",
                listed(suspects.iter().map(|&who| Who(who).to_string()))
            ),
            _ => self.tell_trouble(f),
        }
    }

    /// Who is late, and who lies.
    fn tell_trouble(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WaitingFor { turn, players, drop_in } => {
                write!(f, "turn {turn} waits for {}", players_named(players.iter().copied()))?;
                drop_in.map_or(Ok(()), |time| write!(f, ", to be dropped in {} ms", time.as_millis()))
            }
            Self::CutOff { turn } => write!(f, "turn {turn} waits: nothing comes from the host or relay"),
            Self::WaitingOver { turn } => write!(f, "turn {turn} has begun after a wait"),
            Self::OftenLate { turn, player, drop_in } => {
                let left = drop_in.as_millis();
                write!(
                    f,
                    "turn {turn} waits once more for player {player}, to be dropped after {left} ms more"
                )
            }
            Self::TooFarAhead { player } => {
                write!(f, "player {player} sends entries for turns too far ahead, and they are refused")
            }
            Self::Vote { turn, voter, player, out: true } => {
                write!(f, "turn {turn}: player {voter} votes against player {player}")
            }
            Self::Vote { turn, voter, player, out: false } => {
                write!(f, "turn {turn}: player {voter} no longer votes against player {player}")
            }
            Self::Roster(roster) => {
                write!(f, "the players agree on their keys, with the fingerprint {}", roster.fingerprint())
            }
            Self::Contradiction(found) => {
                write!(f, "{}", found.verdict)?;
                if found.suspects.is_empty() {
                    return Ok(());
                }
                write!(f, "; suspected: {}", listed(found.suspects.iter().map(|&who| Who(who).to_string())))
            }
            Self::ShownAnother { player, turn, since } => {
                write!(
                    f,
                    "up to turn {turn} player {player} has signed another match than this watcher got"
                )?;
                since.map_or(Ok(()), |since| write!(f, "; the player came with a state of turn {since}"))
            }
            Self::Outlier(found) => write!(
                f,
                "turn {}: player {} has another state than most players, as signed statements prove",
                found.turn, found.player
            ),
            Self::StatementMissing { player, turn } => {
                write!(f, "player {player} has sent no signed statement for turn {turn}")
            }
            Self::ChecksumMissing { player, turn } => {
                write!(f, "player {player} has sent no checksum of turn {turn}")
            }
            _ => self.tell_nothing(),
        }
    }

    /// These have their sentences above. Without a wildcard, so that the compiler asks for the sentence of a new event.
    fn tell_nothing(&self) -> fmt::Result {
        match self {
            Self::Started
            | Self::Roster(_)
            | Self::Desync(_)
            | Self::Contradiction(_)
            | Self::Outlier(_)
            | Self::PlayerGone { .. }
            | Self::TakenOver { .. }
            | Self::PlayerReturned { .. }
            | Self::Joined { .. }
            | Self::WrongState { .. }
            | Self::TeamOut { .. }
            | Self::MatchResult(_)
            | Self::Cancelled { .. }
            | Self::Finished
            | Self::Failed(_)
            | Self::Lost { .. }
            | Self::Connected { .. }
            | Self::Refused { .. }
            | Self::Forged { .. }
            | Self::Profile { .. }
            | Self::Undelivered { .. }
            | Self::WaitingFor { .. }
            | Self::CutOff { .. }
            | Self::WaitingOver { .. }
            | Self::OftenLate { .. }
            | Self::TooFarAhead { .. }
            | Self::Vote { .. }
            | Self::Speed { .. }
            | Self::ShownAnother { .. }
            | Self::StatementMissing { .. }
            | Self::ChecksumMissing { .. }
            | Self::Paused { .. }
            | Self::SavePoint { .. }
            | Self::Saved { .. }
            | Self::Plan { .. }
            | Self::WatcherGone(_)
            | Self::StateProgress { .. }
            | Self::StateRefused { .. }
            | Self::CaughtUp { .. }
            | Self::JoinFailed(_) => Ok(()),
        }
    }
}

/// An identity as a part of a sentence.
struct Who(Identity);

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Identity::Player(player) => write!(f, "player {player}"),
            Identity::Watcher => write!(f, "a watcher"),
            Identity::Relay => write!(f, "the relay"),
        }
    }
}

fn players_named(players: impl Iterator<Item = PlayerId>) -> String {
    listed(players.map(|player| format!("player {player}")))
}

/// "a", "a and b", "a, b and c"; nothing is "nobody".
fn listed(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.collect();
    match names.split_last() {
        None => "nobody".into(),
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Refusal;
    use crate::session::checksum::Desync;
    use crate::session::failure::Failure;
    use crate::session::match_result::MatchResult;
    use crate::value::ids::{PeerId, Turn};
    use crate::value::time::Duration;

    const TURN: Turn = Turn(12);
    const PLAYER: PlayerId = PlayerId(1);

    #[test]
    fn events_are_sentences() {
        let waiting = |players: &[u8], drop_in| Event::WaitingFor {
            turn: TURN,
            players: players.iter().copied().map(PlayerId).collect(),
            drop_in,
        };
        let told = |event: Event, text: &str| assert_eq!(event.to_string(), text, "{event:?}");
        told(waiting(&[1], None), "turn 12 waits for player 1");
        let soon = Some(Duration::from_millis(2_500));
        told(
            waiting(&[0, 1, 3], soon),
            "turn 12 waits for player 0, player 1 and player 3, to be dropped in 2500 ms",
        );
        let refusal = Refusal::Config { expected: 0xff };
        told(
            Event::Refused { peer: PeerId(7), refusal },
            "peer 7 is refused and told: the other side has other settings: SessionConfig or the size of actions differs (hash 00000000000000ff)",
        );
        told(
            Event::Connected { peer: PeerId(7), identity: Identity::Watcher },
            "a watcher is connected (peer 7)",
        );
        told(
            Event::PlayerGone { player: PLAYER, reason: EndReason::Dropped, turn: TURN },
            "turn 12: player 1 was dropped",
        );
        told(
            Event::WrongState { turn: TURN, suspects: vec![Identity::Player(PLAYER), Identity::Relay] },
            "most players do not confirm the state before turn 12; it may have been changed by player 1 and the relay",
        );
        told(
            Event::Failed(Failure::Dropped),
            "the session ended early: the others went on without this player",
        );
    }

    #[test]
    fn values_are_hexadecimal() {
        let values = vec![(PlayerId(0), 0xa0), (PLAYER, 0xa0), (PlayerId(2), 0xffff_fff0)];
        let desync = Desync { turn: TURN, values, own: Some(0xa0), signed: false };
        assert_eq!(
            Event::Desync(desync.clone()).to_string(),
            "the checksums of turn 12 differ: player 0 has 000000a0, player 1 has 000000a0, player 2 has fffffff0; here it is 000000a0; \
             player 2 differs from all others"
        );
        let quiet = Desync { signed: true, own: None, ..desync };
        assert!(quiet.to_string().ends_with("player 2 has fffffff0"), "{quiet}");
        let values = vec![(PlayerId(0), Some(0x1f)), (PLAYER, None)];
        let mut result = MatchResult { turn: TURN, values, own: Some(0x1f), agreed: false };
        assert_eq!(
            Event::MatchResult(result.clone()).to_string(),
            "the results of turn 12 differ: player 0 has 0000001f, player 1 has none; here it is 0000001f"
        );
        (result.agreed, result.values) = (true, vec![(PlayerId(0), Some(0x1f)), (PLAYER, Some(0x1f))]);
        assert_eq!(result.to_string(), "the match is decided in turn 12, with the result 0000001f");
    }
}
