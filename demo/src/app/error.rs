//! Why a match was not played to its end, or did not begin.

use core::fmt;
use std::net::SocketAddr;

use testudo_lockstep::testing::HeavyError;
use testudo_lockstep::{ConfigError, Duration, Failure, PROTOCOL_VERSION, Refusal, SessionPhase};

use crate::app::words::count;
use testudo_battle::{FaultError, SetupError};

/// Why a match was not played to its end.
#[derive(Debug)]
pub(crate) enum MatchError {
    /// The settings are out of range.
    Setup(SetupError),
    /// The session's settings are out of range.
    Config(ConfigError),
    /// The settings are not those of any match.
    Agreement(testudo_lockstep::service::agreement::AgreementError),
    /// The bit to flip does not exist or must not be flipped.
    Fault(FaultError),
    /// A session ended early, after this many turns.
    Failed { failure: Failure, turns: u32 },
    /// The relay has closed the room, after this many turns: it is about to end, or the match did not begin in time.
    RoomClosed { turns: u32 },
    /// The network delivered too little: the match was given up after this much virtual time.
    TooSlow { after: Duration, turns: u32 },
    /// A frame came to something else when it was simulated from the saved state.
    Heavy(Box<HeavyError>),
    /// The prediction of this player's client was not the truth when nothing was left to predict.
    NotForeseen { player: u8 },
    /// No host let us in.
    Invitation(InvitationError),
    /// The socket could not be opened.
    Bind { address: SocketAddr, error: std::io::Error },
    /// The folder of the browser page has none.
    NoPage(std::path::PathBuf),
    /// The socket broke.
    Socket(std::io::Error),
    /// The system gives no random numbers.
    Randomness(String),
    /// The secret of this machine's player can be neither read nor kept.
    Key { path: std::path::PathBuf, what: String },
    /// The scene of cubes is out of range.
    Scene(String),
    /// The scene of cubes ended early.
    Cubes(String),
    /// There is no display; why.
    NoDisplay(String),
    /// A replay file cannot be written or played.
    Replay { path: std::path::PathBuf, what: String },
}

impl MatchError {
    /// The error in a session that is over, unless it has finished.
    pub(crate) fn of_state(state: SessionPhase, turns: u32) -> Option<Self> {
        match state {
            SessionPhase::Failed(failure) => Some(Self::Failed { failure, turns }),
            _ => None,
        }
    }

    /// The same in a room of a relay: whatever ends there was ended by the relay, and not by a host.
    pub(crate) fn by_relay(self) -> Self {
        match self {
            Self::Failed { failure: Failure::NeverBegan(_) | Failure::PeerLeft(_), turns } => {
                Self::RoomClosed { turns }
            }
            other => other,
        }
    }

    /// Whether the user asked for something that does not exist, as opposed to a match that went wrong.
    pub(crate) fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Setup(_)
                | Self::Config(_)
                | Self::Agreement(_)
                | Self::Fault(_)
                | Self::Scene(_)
                | Self::NoDisplay(_)
                | Self::NoPage(_)
                | Self::Key { .. }
                | Self::Replay { .. }
        )
    }
}

impl MatchError {
    /// What has happened, as a title, and what to do about it.
    pub(crate) fn advice(&self) -> (&'static str, &'static str) {
        match self {
            Self::Failed { failure, .. } => of_failure(*failure),
            Self::RoomClosed { turns: 0 } => (
                "The relay has closed the room",
                "Open a new room: here if the others were late, at another relay if this one is ending.",
            ),
            Self::RoomClosed { .. } => (
                "The relay has closed the room",
                "Whoever has a save can host the match again, at another relay if this one is ending.",
            ),
            Self::Invitation(InvitationError::Removed) => (
                "You were removed",
                "The host plays without you. Ask the host for a new code if that was a mistake.",
            ),
            Self::Invitation(InvitationError::OpensNoRoom) => (
                "You could not open a room",
                "A code of a player or a watcher leads to a match: join with it.",
            ),
            Self::Invitation(InvitationError::GoingAway) => (
                "The relay is ending",
                "Open rooms at another relay, or ask whoever runs this one for its new code. A match that was here goes on from a save.",
            ),
            Self::Invitation(_) => (
                "You could not join the match",
                "Ask the host for a new code. The host must be there, and its firewall and router must let UDP through.",
            ),
            Self::Socket(_) => ("The network failed", "Check that this computer is still connected."),
            Self::Replay { .. } => ("The replay cannot be written", "Check whether the disk is full."),
            _ => ("The match cannot be played", "testudo host --help lists the options."),
        }
    }
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
        Failure::Refused(Refusal::VotedOut) => ("You were voted out", "The others play on without you."),
        Failure::Refused(_) => ("The host has refused", "Ask the host for a new code."),
        Failure::ConnectionLost(_) => (
            "The connection is lost",
            "Nothing arrived for too long. Whoever has a save of the match can host it again.",
        ),
        Failure::Dropped => ("The others went on without you", "Your orders arrived too late for too long."),
        Failure::PeerLeft(_) => {
            ("The host has ended the match", "Whoever has a save of the match can host it again.")
        }
        _ => ("The match has ended", "Host again."),
    }
}

impl fmt::Display for MatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setup(error) => write!(f, "{error}"),
            Self::Config(error) => write!(f, "{error}"),
            Self::Agreement(error) => write!(f, "{error}"),
            Self::Fault(error) => write!(f, "{error}"),
            Self::Failed { failure, turns } => f.write_str(&failed(failure, *turns)),
            Self::RoomClosed { turns } => write!(f, "{}", room_closed(*turns)),
            Self::TooSlow { after, turns } => write!(
                f,
                "the network delivers too little: it played only {} in {} s of virtual time",
                count(*turns, "turn"),
                after.as_millis() / 1_000
            ),
            Self::Heavy(error) => write!(f, "{error}"),
            Self::NotForeseen { player } => {
                write!(f, "the prediction of player {}'s client did not come true", player + 1)
            }
            Self::Invitation(error) => write!(f, "{error}"),
            Self::Bind { address, error } if error.kind() == std::io::ErrorKind::AddrInUse => {
                write!(
                    f,
                    "cannot listen on {address}: another program has this port; choose another one, or 0"
                )
            }
            Self::Bind { address, error } if address.is_ipv6() => {
                write!(f, "cannot listen on {address}: {error}; without IPv6 use 0.0.0.0:0")
            }
            Self::Bind { address, error } if error.kind() == std::io::ErrorKind::AddrNotAvailable => {
                write!(
                    f,
                    "cannot listen on {address}: this machine does not have this address; 0.0.0.0:{} listens on all that it has",
                    address.port()
                )
            }
            Self::Bind { address, error } => write!(f, "cannot listen on {address}: {error}"),
            Self::NoPage(folder) => {
                write!(f, "there is no page in {}: demo/web/build.sh makes one", folder.display())
            }
            Self::Socket(error) => write!(f, "the network failed: {error}"),
            Self::Randomness(what) => write!(f, "the system gives no random numbers: {what}"),
            Self::Key { path, what } => write!(f, "the player's key, {}: {what}", path.display()),
            Self::Scene(what) | Self::Cubes(what) => f.write_str(what),
            Self::NoDisplay(why) => write!(f, "there is no window ({why}): use --bot --headless"),
            Self::Replay { path, what } => write!(f, "{}: {what}", path.display()),
        }
    }
}

impl std::error::Error for MatchError {}

/// Why a match failed, as a sentence.
fn failed(failure: &Failure, turns: u32) -> String {
    match (failure, turns) {
        (Failure::OtherKey, _) => {
            "this player began the match with another key: come back from the same machine, as the same user"
                .into()
        }
        (Failure::NoState, _) => {
            "the match has ended, or nobody who is there has a state of it that this player can use".into()
        }
        (Failure::Refused(Refusal::VotedOut), _) => "the others have voted you out of the match".into(),
        (failure, 0) => format!("the match did not start: {}", in_words(failure)),
        (failure, turns) => format!("the match ended early, in turn {turns}: {}", in_words(failure)),
    }
}

/// Why a relay ends a room. It does not say which it was.
fn room_closed(turns: u32) -> String {
    let (when, who) = match turns {
        0 => ("before the match began".into(), "not everybody came in time"),
        _ => (format!("in turn {turns}"), "the others are gone"),
    };
    format!("the relay has closed the room {when}: it is about to end, or {who}")
}

/// The sentence for people, who count players from 1; the library counts them from 0.
fn in_words(failure: &Failure) -> String {
    match failure {
        Failure::PlayersMissing { players, watchers } if players.iter().next().is_some() || *watchers > 0 => {
            let missing = players.iter().map(|player| format!("player {}", player.0 + 1));
            let unseen = (*watchers > 0).then(|| count(*watchers, "watcher"));
            format!("did not connect in time: {}", missing.chain(unseen).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

impl From<SetupError> for MatchError {
    fn from(error: SetupError) -> Self {
        Self::Setup(error)
    }
}

impl From<ConfigError> for MatchError {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

impl From<FaultError> for MatchError {
    fn from(error: FaultError) -> Self {
        Self::Fault(error)
    }
}

/// Why nobody lets us in.
#[derive(Debug)]
pub(crate) enum InvitationError {
    /// There is no connection, or no place any more, for this reason.
    Lost { why: String },
    /// The match has more units than the guest grants memory for.
    TooLarge { units: u32, units_max: u32 },
    /// The other side speaks another protocol version.
    Version { theirs: u16 },
    /// The match is on a map that this program does not have.
    Map,
    /// The match has other rules.
    Content,
    /// The code opens no place.
    WrongSecret,
    /// A room was wanted, and the code opens none.
    OpensNoRoom,
    /// The player was removed by the host.
    Removed,
    /// Another program plays at the place.
    OtherProgram,
    /// The match is over.
    Over,
    /// The relay has as many rooms as it may have.
    TooManyRooms,
    /// The relay lets nobody in any more.
    GoingAway,
    /// The answer makes no sense.
    NotUnderstood,
    /// The code opens a place to play, and not to watch.
    NotForWatching,
    /// The save from which the match goes on cannot be used, for this reason.
    Save { what: String },
    /// The host's save is another one than the one in this file, of the same match and turn.
    ChangedSave { path: std::path::PathBuf },
    /// The socket broke.
    Socket(std::io::Error),
}

/// What has become of a match that this program is out of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Fate {
    /// It has ended before its time, as far as is known.
    #[default]
    Broken,
    /// It is over: it may have been played to its end, or nobody was there any more.
    MayBeOver,
    /// The others play on.
    GoesOn,
}

impl InvitationError {
    /// What has become of a match to which a player is not let back for this reason.
    pub(crate) fn fate(&self) -> Fate {
        match self {
            Self::Over => Fate::MayBeOver,
            // A place is lost to another program, or to the host's will.
            Self::Lost { .. } | Self::Removed | Self::OtherProgram => Fate::GoesOn,
            _ => Fate::Broken,
        }
    }
}

impl fmt::Display for InvitationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost { why } => f.write_str(why),
            Self::TooLarge { units, units_max } => {
                // A page has no options.
                let option = if cfg!(target_arch = "wasm32") { "" } else { " (--units-max)" };
                let units = count(*units, "unit");
                write!(f, "the match has {units}, this player takes {units_max} at most{option}")
            }
            Self::Version { theirs } => {
                write!(
                    f,
                    "the other side speaks protocol version {theirs}, this program speaks {PROTOCOL_VERSION}: use the same version"
                )
            }
            Self::Map => write!(f, "the match is on a map of its own: join with the same file, --map FILE"),
            Self::Content => {
                write!(f, "the other side plays by other rules: use the same version of this program")
            }
            Self::WrongSecret => write!(
                f,
                "this code opens no place there: it is a relay's own code, which opens rooms, or of another match; ask the host for the code that it shows now"
            ),
            Self::OpensNoRoom => {
                write!(f, "this code opens no room there: the one is needed that the relay has printed")
            }
            Self::Removed => write!(f, "the host has removed this player"),
            Self::OtherProgram => write!(
                f,
                "the code is used by another program, which began the match: come back from the same machine, as the same user"
            ),
            Self::Over => write!(f, "the match is over"),
            Self::TooManyRooms => {
                write!(f, "the relay has no free room: try again later, or use another relay")
            }
            Self::GoingAway => write!(
                f,
                "the relay is about to end, or to get a new code, and opens no more rooms: use another relay, or ask for the new code"
            ),
            Self::NotUnderstood => {
                write!(
                    f,
                    "the answer was not understood: use the same version of this program; if you do, do not trust this host or relay"
                )
            }
            Self::NotForWatching => {
                write!(f, "this code is a player's: to watch, ask for the code after \"watch:\"")
            }
            Self::Save { what } => write!(f, "the saved match cannot be resumed: {what}"),
            Self::ChangedSave { path } => write!(
                f,
                "the host's save is not the one that this program has kept of the same turn ({}): the host, or whoever gave it the save, has changed it",
                path.display()
            ),
            Self::Socket(error) => write!(f, "the network failed: {error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use testudo_lockstep::{PlayerId, PlayerSet};

    use super::*;

    #[test]
    fn people_count_players_from_1() {
        let players = PlayerSet::from_iter([PlayerId(1), PlayerId(2)]);
        let failure = Failure::PlayersMissing { players, watchers: 0 };
        let told = MatchError::Failed { failure, turns: 0 }.to_string();
        assert_eq!(told, "the match did not start: did not connect in time: player 2, player 3");
    }

    /// It said that the match did not start, and to ask the host for a new code.
    #[test]
    fn who_is_voted_out_is_told_so() {
        let error = MatchError::Failed { failure: Failure::Refused(Refusal::VotedOut), turns: 0 };
        assert_eq!(error.to_string(), "the others have voted you out of the match");
        assert_eq!(error.advice().0, "You were voted out");
    }

    /// Whoever waited in a room of a relay that was about to end was told that the host gave up.
    #[test]
    fn a_relay_that_ends_is_named() {
        let failed = SessionPhase::Failed(Failure::NeverBegan(testudo_lockstep::PeerId(0)));
        let hosted = || MatchError::of_state(failed, 0).expect("it failed");
        assert_eq!(hosted().advice().0, "The host gave up before the match began");
        let relayed = hosted().by_relay();
        assert!(relayed.to_string().starts_with("the relay has closed the room"), "{relayed}");
        assert_eq!(relayed.advice().0, "The relay has closed the room");
    }

    /// The match had just ended, and the sentence said that it did not start.
    #[test]
    fn a_match_without_a_state_may_be_over() {
        let told = MatchError::Failed { failure: Failure::NoState, turns: 0 }.to_string();
        assert_eq!(
            told,
            "the match has ended, or nobody who is there has a state of it that this player can use"
        );
    }
}
