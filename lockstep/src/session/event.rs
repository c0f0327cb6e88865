//! Events of a session.

use crate::pace::pacing::TurnPlan;
use crate::packet::Refusal;
use crate::session::checksum::Desync;
use crate::session::evidence::{Contradiction, Outlier};
use crate::session::failure::Failure;
use crate::session::match_result::MatchResult;
use crate::signed::roster::Roster;
use crate::value::entry::EndReason;
use crate::value::ids::{Identity, PeerId, PlayerId, PlayerSet, Turn};
use crate::value::time::Duration;

/// Something that the application may want to show or react to. [`Session::poll_event`](crate::AnySession::poll_event) returns events.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Event {
    /// The application did not take events for too long, and some were lost. Events that an application needs are never lost: the start, a
    /// desync, players who are gone, results, cancelled actions, the end.
    Lost {
        /// Number of lost events.
        events: u64,
    },
    /// The handshake with a peer is complete.
    Connected {
        /// The link.
        peer: PeerId,
        /// Who is at its other end.
        identity: Identity,
    },
    /// A peer was refused at the handshake.
    Refused {
        /// The link.
        peer: PeerId,
        /// Why.
        refusal: Refusal,
    },
    /// A hello claims another identity than the one that its link is bound to ([`Session::bind`](crate::AnySession::bind)). It is not answered; the transport
    /// should close the connection.
    Forged {
        /// The link.
        peer: PeerId,
        /// Who the hello claims to be from.
        claimed: Identity,
        /// Whose link it is; none if it is bound to nobody and only bound peers may come.
        bound: Option<Identity>,
    },
    /// A player has changed its profile ([`crate::AnySession::profile`]).
    Profile {
        /// The player.
        player: PlayerId,
    },
    /// A message of this peer has not reached these players: they are not connected, or have taken nothing for long. When a link breaks, nobody knows whether
    /// the last messages over it arrived; they count as not delivered.
    Undelivered {
        /// The players.
        players: PlayerSet,
    },
    /// All peers are here; turn 0 may begin.
    Started,
    /// The turn cannot begin: these players' entries are missing. Reported once per stall, and again after [`Event::CutOff`]. Not on a watcher, which waits
    /// whenever turns get longer.
    WaitingFor {
        /// The turn that cannot begin.
        turn: Turn,
        /// The players whose entries are missing.
        players: Vec<PlayerId>,
        /// Time until they are dropped, if players are dropped at all ([`Session::drop_in`](crate::AnySession::drop_in) counts down).
        drop_in: Option<Duration>,
    },
    /// The turn cannot begin, and nothing has come from the host or relay since the match began to wait, or for a second. Either the host or relay is gone, or
    /// the connection of this machine. Nobody knows which player is late, and nobody can be dropped meanwhile. [`Event::WaitingFor`] may follow when something
    /// comes. Not in a mesh.
    CutOff {
        /// The turn that cannot begin.
        turn: Turn,
    },
    /// The delayed turn has begun.
    WaitingOver {
        /// The turn.
        turn: Turn,
    },
    /// The others have waited for a player again and again: for the drop time in all, before the present wait, of which [`Event::WaitingFor`] tells. Reported
    /// once for each player. The application can show it; the middle of a star can [`Session::kick`](crate::AnySession::kick) the player.
    OftenLate {
        /// The turn that waits.
        turn: Turn,
        /// The late player.
        player: PlayerId,
        /// After this much more waiting, in several waits, the player is dropped ([`crate::PlayerReport::owed`] says which waits count). A single wait of the
        /// drop time is enough, too.
        drop_in: Duration,
    },
    /// A player has sent entries for turns that are further ahead than an honest player can be. They were refused. Reported once for each player, by the peers
    /// that get entries from the player itself: the middle of a star, and the peers of a mesh.
    TooFarAhead {
        /// The player.
        player: PlayerId,
    },
    /// A player votes another one out, or no longer does ([`Session::vote_out`](crate::AnySession::vote_out)). [`Event::PlayerGone`] follows if enough do.
    Vote {
        /// The turn.
        turn: Turn,
        /// Who votes.
        voter: PlayerId,
        /// The player in question.
        player: PlayerId,
        /// Whether the voter wants the player out.
        out: bool,
    },
    /// From `turn` on frames pass at another speed, because a player asked for it; at 100 percent again when nobody is left who may change it, after
    /// [`Event::PlayerGone`].
    Speed {
        /// The turn.
        turn: Turn,
        /// The player who asked for it; the host player ([`SessionConfig::host_player()`](crate::SessionConfig::host_player)), if nobody is left.
        player: PlayerId,
        /// Percent of real time.
        percent: u8,
    },
    /// Checksums of a turn differ. Only the first such turn is reported. The session goes on; the application decides what to do.
    Desync(Desync),
    /// The match is signed, and all players agree on these keys. If players compare [`Roster::fingerprint`] over another channel, they know
    /// that nobody in between has exchanged the keys.
    Roster(Box<Roster>),
    /// Two statements of the players cannot both be true: somebody has shown different matches to different players, or lies about it. The
    /// match goes on; the application decides what to do.
    Contradiction(Box<Contradiction>),
    /// This watcher got another match than the player has signed, and no player has signed what the watcher got. Either the player
    /// lies, or the peer that forwards (which it must be if this is reported for several players). A player that has come back may be
    /// honest: the player that gave it the state may have lied instead.
    ShownAnother {
        /// The player that signed something else.
        player: PlayerId,
        /// Up to the start of this turn.
        turn: Turn,
        /// The player has come back with a state of this turn, as it says itself. None: it has run the match from its start.
        since: Option<Turn>,
    },
    /// A player's simulation reached another state than most, with the same orders; statements prove it.
    Outlier(Box<Outlier>),
    /// No signed statement of the player has come for two seconds of the game. Reported again after one has come. (The peer that forwards may withhold it, and
    /// a bad network may lose several. This proves nothing.)
    StatementMissing {
        /// The player.
        player: PlayerId,
        /// The turn without a statement.
        turn: Turn,
    },
    /// A player has sent no checksum of this turn. Reported once for each player.
    ChecksumMissing {
        /// The player.
        player: PlayerId,
        /// The turn.
        turn: Turn,
    },
    /// From `turn` on a player gives no more actions.
    PlayerGone {
        /// The player.
        player: PlayerId,
        /// Why.
        reason: EndReason,
        /// The first turn without the player.
        turn: Turn,
    },
    /// From `turn` on the game plays for a player who is gone ([`crate::Simulation::play_for`]).
    TakenOver {
        /// The player.
        player: PlayerId,
        /// The first turn.
        turn: Turn,
    },
    /// From `turn` on no member of the team is in the match any more, and no bot plays for it. No event takes it back: a member who crashed or was dropped may
    /// come back ([`Event::PlayerReturned`]), and then the team plays on. Who is beaten is for the rules to say ([`crate::Simulation::result`]).
    TeamOut {
        /// The team.
        team: u8,
        /// The first turn without it.
        turn: Turn,
    },
    /// The players have reported the result of the match ([`crate::Simulation::result`]).
    MatchResult(MatchResult),
    /// From `turn` on the simulation is paused, or runs again: because a player asked for it, its time is used up, or nobody is left who could end the pause
    /// (after [`Event::PlayerGone`]).
    Paused {
        /// The turn.
        turn: Turn,
        /// The player who asked for it; whose pause it was, if it ends by itself.
        player: PlayerId,
        /// Whether it is paused.
        paused: bool,
    },
    /// A player asked for a save: keep the state before `turn` ([`crate::Simulation::save_point`] was called with it).
    SavePoint {
        /// The turn that runs first when the match is resumed.
        turn: Turn,
        /// The player who asked for it.
        player: PlayerId,
    },
    /// The saved match is complete; [`Session::take_saved`](crate::AnySession::take_saved) returns it.
    Saved {
        /// The turn of its save point.
        turn: Turn,
    },
    /// Turns have another shape from `turn` on.
    Plan {
        /// The turn.
        turn: Turn,
        /// The new shape.
        plan: TurnPlan,
    },
    /// The local player's part ends, or its session, and this many accepted actions may run nowhere: they were waiting, or the others had not confirmed
    /// them. There may be one event for each of the two; no action is counted twice. Not in input mode, where an input that is held no longer is no loss.
    Cancelled {
        /// Number of actions.
        actions: u32,
    },
    /// A watcher is gone.
    WatcherGone(PeerId),
    /// This peer joins a running match, and this much of its state has arrived. Of each source it is reported at most 21 times: at
    /// first, and after each twentieth.
    StateProgress {
        /// Number of bytes received.
        received: u32,
        /// Number of bytes of the whole state.
        total: u32,
    },
    /// The state was damaged, or the other players' checksums contradict it. Another source will be asked.
    StateRefused {
        /// The turn before which it was taken.
        turn: Turn,
    },
    /// The state was complete, but no more than half of the players confirm it: its checksum, or the course of the match from it on. Another source will be
    /// asked ([`Event::StateRefused`] follows). If nobody but the source plays, nobody can contradict it.
    WrongState {
        /// The turn before which it was taken.
        turn: Turn,
        /// Who can have changed it: the player whose state it is, and the peer that forwards. If those who contradict it are not most players, one of
        /// them may lie instead, and they are among the suspects.
        suspects: Vec<Identity>,
    },
    /// This peer has the state of the running match and catches up, or in the lobby the save of a match that is resumed.
    Joined {
        /// The turn that it runs first.
        turn: Turn,
    },
    /// This peer has run every turn that it has, and a player lacks none of the middle's. A player then gets its place back: [`Event::PlayerReturned`] follows.
    CaughtUp {
        /// The next turn.
        turn: Turn,
    },
    /// From `turn` on a player is back and gives actions again.
    PlayerReturned {
        /// The player.
        player: PlayerId,
        /// The turn.
        turn: Turn,
    },
    /// A peer that joined the running match did not finish joining: it was too slow, no source had a state that it accepted, or
    /// the others have voted it out meanwhile.
    JoinFailed(PeerId),
    /// All turns have run, and every peer has every entry and every checksum (or was silent for the linger time).
    Finished,
    /// The session ended early. The session of a guest reports this only if the guest does not ask for the place again.
    Failed(Failure),
}
