//! The role of a peer that joins a running match: gets the state, checks it, catches up.

use crate::session::checksum::Desync;
use crate::session::common::Common;
use crate::session::stream::Stream;
use crate::session::transfer::header::Header;
use crate::value::entry::Entry;
use crate::value::ids::{PeerId, PlayerId, Turn};
use crate::value::time::{Duration, Instant};

/// Number of parts of a state after which progress is reported.
const PROGRESS_PARTS: u32 = 20;

/// So long after the last new chunk of a state another one may take its place.
const QUIET: Duration = Duration::from_secs(1);

/// Number of due turns, a second or more each, within which most players' statements must confirm a state.
const ALONE_MAX: u8 = 4;

/// How far this peer has come; empty on a peer that does not join, or is back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Joiner(Option<Joining>);

/// The progress of joining.
#[derive(Clone, Debug)]
struct Joining {
    /// The middle of the star.
    peer: PeerId,
    since: Instant,
    stage: JoinStage,
    /// A state that was not valid, until another one is announced.
    refused: Option<u32>,
    /// The part that was reported to the application.
    told: u32,
    /// The middle has said that the match runs.
    runs: bool,
    /// The greatest number of chunks that were here. A damaged block reduces the number of those that are.
    most: u32,
    source: PlayerId,
    /// The turn before which the state was taken.
    turn: u32,
    /// What the others' checksums of the turn before must be, as they cross the network.
    value: u32,
    trust: Trust,
    /// Players who have signed what this peer has seen, of turns that ran from the state, and nothing else since. Bit n for player n.
    agree: u16,
    /// Players who contradict it without being most players, bit n for player n: they may lie instead of the source.
    doubters: u16,
    /// When its bytes were here.
    got: Instant,
    /// When the manifest of the state that comes was here, or its last new chunk.
    came: Instant,
    /// Number of due turns in a row without most players' statements, and the last of them.
    alone: (u8, u32),
}

/// What the others say of the state that was loaded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Trust {
    /// Nothing yet.
    Open,
    Confirmed,
    Contradicted,
}

/// How far this peer is on its way into a running match. `ArrivalStage` is what the middle knows of it.
#[derive(Clone, Debug)]
enum JoinStage {
    /// Waits for a state, or for more of it.
    Getting,
    /// Its bytes are here; waits until the others' checksums confirm them.
    Checking(Box<Header>, Vec<u8>),
    /// The others' checksums confirm it; the simulation must load it.
    Loading(Box<Header>),
    CatchingUp,
    /// Has run every turn that the middle has; a player waits for the turn of its return.
    Ready,
}

/// What the players in the match at a turn have signed of it. Bit n for player n.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::session) struct Votes {
    pub(in crate::session) turn: u32,
    /// Players in the match.
    pub(in crate::session) live: u16,
    /// Players who say what this peer has seen.
    pub(in crate::session) same: u16,
    /// Players who say something else.
    pub(in crate::session) other: u16,
}

/// What is due after some time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::session) enum Due {
    Nothing,
    /// Most players contradict the state.
    Contradicted,
    /// The entries that follow the state do not come.
    Unconfirmed {
        turn: u32,
    },
    /// Joining takes too long.
    Late,
    /// Everything that is here has run.
    CaughtUp,
}

impl Joiner {
    /// The middle asks this peer to wait: the match runs.
    pub(in crate::session) fn begin(&mut self, peer: PeerId, now: Instant) {
        let start = || Joining {
            peer,
            since: now,
            stage: JoinStage::Getting,
            refused: None,
            told: 0,
            runs: false,
            most: 0,
            source: PlayerId(0),
            turn: 0,
            value: 0,
            trust: Trust::Open,
            agree: 0,
            doubters: 0,
            got: now,
            came: now,
            alone: (0, 0),
        };
        self.0.get_or_insert_with(start);
    }

    /// This peer has joined: it watches, or its player is back.
    pub(in crate::session) fn end(&mut self) {
        self.0 = None;
    }

    /// Whether this peer joins, up to the return of its player.
    pub(in crate::session) fn is_active(&self) -> bool {
        self.0.is_some()
    }

    /// The middle of the star, if this peer joins.
    pub(super) fn peer(&self) -> Option<PeerId> {
        self.0.as_ref().map(|joining| joining.peer)
    }

    /// Whether this peer joins and has no state yet.
    pub(in crate::session) fn lacks_state(&self) -> bool {
        let waits = |joining: &Joining| !matches!(joining.stage, JoinStage::CatchingUp | JoinStage::Ready);
        self.0.as_ref().is_some_and(waits)
    }

    pub(in crate::session) fn is_getting(&self) -> bool {
        self.0.as_ref().is_some_and(|joining| matches!(joining.stage, JoinStage::Getting))
    }

    pub(in crate::session) fn is_catching_up(&self) -> bool {
        self.0.as_ref().is_some_and(|joining| matches!(joining.stage, JoinStage::CatchingUp))
    }

    pub(super) fn is_ready(&self) -> bool {
        self.0.as_ref().is_some_and(|joining| matches!(joining.stage, JoinStage::Ready))
    }

    /// The turn of a state that was not valid, until another one is announced.
    pub(super) fn refused(&self) -> Option<u32> {
        self.0.as_ref().and_then(|joining| joining.refused)
    }

    /// Whether this peer runs turns from a state that most players have not confirmed yet, in a signed match by their signatures. Until then
    /// it names nobody, and does not play.
    pub(in crate::session) fn is_unverified(&self) -> bool {
        self.0.as_ref().is_some_and(|joining| joining.trust != Trust::Confirmed)
    }

    /// The turn before which the state was taken, its source, and the players who contradict it without being most players.
    pub(in crate::session) fn state(&self) -> Option<(u32, PlayerId, u16)> {
        self.0.as_ref().map(|joining| (joining.turn, joining.source, joining.doubters))
    }

    // ---- getting

    /// Whether a state before this turn that is announced now is of use.
    pub(in crate::session) fn can_use(&self, turn: u32) -> bool {
        self.is_getting() && self.refused() != Some(turn)
    }

    /// Whether something of the state that was announced has come lately.
    pub(in crate::session) fn gets_on(&self, now: Instant) -> bool {
        self.0.as_ref().is_some_and(|joining| now.since(joining.came) < QUIET)
    }

    /// A state of this source is expected now.
    pub(in crate::session) fn expect(&mut self, source: PlayerId, now: Instant) {
        if let Some(joining) = &mut self.0 {
            (joining.refused, joining.told, joining.source, joining.came) = (None, 0, source, now);
        }
    }

    /// A new chunk of it is here.
    pub(in crate::session) fn note_new_chunk(&mut self, now: Instant) {
        self.0.iter_mut().for_each(|joining| joining.came = now);
    }

    /// So many of so many chunks are here. Returns whether to report it.
    pub(in crate::session) fn note_chunks(&mut self, received: u32, all: u32) -> bool {
        let Some(joining) = &mut self.0 else { return false };
        let part = (u64::from(received) * u64::from(PROGRESS_PARTS) / u64::from(all)) as u32;
        core::mem::replace(&mut joining.told, part) != part
    }

    /// The match runs, says the middle.
    pub(in crate::session) fn note_running(&mut self) {
        self.0.iter_mut().for_each(|joining| joining.runs = true);
    }

    /// In the lobby of a resumed match nobody waits for turns, and several may share a slow uplink: the time for joining begins again with each
    /// new chunk of the save.
    pub(in crate::session) fn renew(&mut self, received: u32, now: Instant) {
        if let Some(joining) = self.0.as_mut().filter(|joining| !joining.runs && received > joining.most) {
            (joining.most, joining.since) = (received, now);
        }
    }

    /// The whole state of this turn is here.
    pub(in crate::session) fn note_turn(&mut self, turn: u32) {
        self.0.iter_mut().for_each(|joining| joining.turn = turn);
    }

    /// The state is here, and the session stands where it was taken. The checksums of the turn before have this value on the network if it is right.
    pub(in crate::session) fn check(&mut self, header: Header, value: u32, state: Vec<u8>, now: Instant) {
        if let Some(joining) = &mut self.0 {
            joining.value = value;
            (joining.turn, joining.got, joining.alone, joining.doubters) = (header.turn, now, (0, 0), 0);
            joining.stage = JoinStage::Checking(Box::new(header), state);
            (joining.trust, joining.agree) = (Trust::Open, 0);
        }
    }

    /// The state before this turn is of no use.
    pub(in crate::session) fn refuse(&mut self, turn: u32) {
        if let Some(joining) = &mut self.0 {
            (joining.stage, joining.refused, joining.trust) = (JoinStage::Getting, Some(turn), Trust::Open);
        }
    }

    // ---- loading

    /// Whether the state agrees with most of the players who say something of the turn before it; also true if nobody says anything, because nobody plays any
    /// more. None: some answers have not arrived yet, or there is no state.
    pub(in crate::session) fn confirm(&mut self, common: &Common) -> Option<bool> {
        let joining = self.0.as_mut()?;
        let JoinStage::Checking(header, _) = &joining.stage else { return None };
        let number = header.turn.saturating_add(common.config().turns_ahead);
        let own = joining.value;
        let (mut same, mut others) = (0, 0_u16);
        for (player, stream) in common.streams.by_player() {
            if !stream.has(number) {
                return None;
            }
            match stream.get(number).and_then(Entry::checksum) {
                Some(value) if value == own => same += 1,
                Some(_) => others |= 1 << player.0,
                None => {}
            }
        }
        // Who says that nobody plays any more may be the one who has changed the state. The middle knows it, and gives no horizon to a peer that acknowledges
        // the end of a stream which goes on.
        let plays = |stream: &Stream| stream.end().is_none();
        if !common.streams.iter().any(plays) && common.gate.horizon <= Some(header.turn) {
            return None;
        }
        let other = others.count_ones();
        joining.doubters = if other > same { 0 } else { others };
        Some(same > other || same + other == 0)
    }

    /// The state that the simulation must load now: the turn, the frame, its bytes.
    pub(in crate::session) fn load(&mut self) -> Option<(u32, u32, Vec<u8>)> {
        let joining = self.0.as_mut()?;
        let JoinStage::Checking(header, bytes) = core::mem::replace(&mut joining.stage, JoinStage::Getting)
        else {
            return None;
        };
        let (turn, frame) = (header.turn, header.frame);
        joining.stage = JoinStage::Loading(header);
        Some((turn, frame, bytes))
    }

    /// The simulation has loaded the state and has this checksum, if it could load it. Returns whether it is the right one; none if there
    /// was no state to load.
    pub(in crate::session) fn loaded(&mut self, checksum: Option<u64>) -> Option<bool> {
        let joining = self.0.as_mut()?;
        let JoinStage::Loading(header) = &joining.stage else { return None };
        let is_right = checksum == Some(header.checksum);
        if is_right {
            joining.stage = JoinStage::CatchingUp;
        }
        Some(is_right)
    }

    // ---- trust

    fn open(&mut self) -> Option<&mut Joining> {
        self.0.as_mut().filter(|joining| joining.trust == Trust::Open)
    }

    /// Compares the state that was loaded, as it has gone on, with what the players have signed of a turn. One turn's statements rarely come all: players
    /// who agree in different turns confirm the state together, as each turn follows from the one before it.
    pub(in crate::session) fn verify(&mut self, votes: Votes) {
        let Some(joining) = self.open() else { return };
        let [live, same, other] = [votes.live, votes.same, votes.other].map(u16::count_ones);
        let most = live / 2;
        // Before any turn has run from it, the state is only what it says of itself.
        let has_run = votes.turn > joining.turn;
        if has_run {
            joining.agree = (joining.agree | votes.same) & !votes.other;
        }
        if has_run && ((joining.agree & votes.live).count_ones() > most || live == 0) {
            joining.trust = Trust::Confirmed;
        } else if other > most || (other > 0 && same + other == live) {
            // Most contradict it, or all have spoken.
            joining.trust = Trust::Contradicted;
            joining.doubters = if other > most { 0 } else { votes.other };
        }
    }

    /// Statements are due in the same turns everywhere. `signed` of the `live` players have signed one about a turn in which none was due
    /// here: if these are most, the state has brought another rhythm with it.
    pub(in crate::session) fn verify_rhythm(&mut self, common: &Common, turn: u32, signed: u32) {
        let Some(joining) = self.open() else { return };
        let has_run = (joining.turn..common.gate.turn).contains(&turn);
        if has_run && signed * 2 > common.streams.live_in(turn).count_ones() {
            joining.trust = Trust::Contradicted;
        }
    }

    /// A peer that keeps up with the others gets their statements. If most of them are missing for several due turns that all others have begun,
    /// they are signed with other keys than those that came with the state, or withheld. If some of the `live` players confirm it, the others may
    /// withhold theirs. `turn` is due. (A peer runs the turns that came with a state at once; the others may need seconds for them.)
    pub(in crate::session) fn lose_patience(&mut self, common: &Common, turn: u32, live: u16, confirm: u16) {
        let Some(joining) = self.open() else { return };
        let ahead = common.setup.config.turns_ahead;
        joining.alone = match joining.alone {
            _ if common.turns_ready() > ahead.max(1) => (0, turn),
            (due, _) if due <= ALONE_MAX => (due + 1, turn),
            enough => enough,
        };
        // Whoever begins a turn closes its entry for the one that is `turns_ahead` later.
        let have_begun = common.streams.slowest_next() > joining.alone.1.saturating_add(ahead);
        if joining.alone.0 > ALONE_MAX && have_begun {
            tracing::warn!(turn = joining.turn, "too few confirm the state");
            joining.trust = Trust::Contradicted;
            joining.doubters = if confirm == 0 { 0 } else { live & !confirm };
        }
    }

    /// Entries of a player's stream have come. If one of them is of the turn before which the state was taken, and is no return, the player was
    /// in the match, whatever the state says.
    pub(in crate::session) fn compare_end(&mut self, stream: &Stream, first: u32, entries: &[Entry]) {
        let Some(joining) = self.0.as_mut().filter(|joining| !matches!(joining.stage, JoinStage::Getting))
        else {
            return;
        };
        let entry = joining.turn.checked_sub(first).and_then(|index| entries.get(index as usize));
        if entry.is_some_and(|entry| entry.returns().is_none()) && stream.ended_before(joining.turn).is_some()
        {
            tracing::warn!(turn = joining.turn, "the state says that a player was gone, which it was not");
            (joining.trust, joining.doubters) = (Trust::Contradicted, 0);
        }
    }

    /// All checksums of a turn are here and equal. Without signatures this confirms the state from which the turn has run.
    pub(in crate::session) fn confirm_by(&mut self, turn: Turn, is_signed: bool) {
        if let Some(joining) = self.open()
            && !is_signed
            && matches!(joining.stage, JoinStage::CatchingUp)
            && turn.0 >= joining.turn
        {
            joining.trust = Trust::Confirmed;
        }
    }

    /// Whether a difference shows that the state from which this peer catches up is wrong.
    pub(in crate::session) fn is_contradicted_by(&mut self, desync: &Desync, is_signed: bool) -> bool {
        if !self.is_catching_up() {
            return false;
        }
        let same = desync.values.iter().filter(|(_, value)| Some(*value) == desync.own).count();
        let is_wrong = same * 2 < desync.values.len() || (same == 0 && !desync.values.is_empty());
        if let Some(joining) = self.0.as_mut().filter(|_| is_wrong) {
            joining.trust = Trust::Contradicted;
        } else {
            self.confirm_by(desync.turn, is_signed);
        }
        is_wrong
    }

    // ---- time

    /// The length of a turn, as far as this peer knows it. `usual` is that of the settings, or of the state that was loaded.
    fn turn(&self, usual: Duration) -> Duration {
        match self.0.as_ref().map(|joining| &joining.stage) {
            Some(JoinStage::Checking(header, _)) => {
                Duration::from_micros(header.plan.at_speed(header.speed).turn_ns() / 1_000)
            }
            _ => usual,
        }
    }

    /// How long the entries that follow the state may take. If its turns are long, they take long; but only the state says that they are. Its source has begun
    /// its turn with the entries of all who play, so these come at once: a player whose entry does not come is gone, whatever the state says.
    fn checking_time(&self, common: &Common, turn: Duration) -> Duration {
        let has_turn = |joining: &Joining| common.streams.iter().all(|stream| stream.has(joining.turn));
        let turn = if self.0.as_ref().is_some_and(has_turn) { turn } else { Duration::ZERO };
        common.config().checking_time_at(turn)
    }

    /// What is due now. `is_behind`: turns that have not run are here, or at the middle. `turn` as in [`Joiner::deadline`].
    pub(in crate::session) fn due(&self, common: &Common, is_behind: bool, turn: Duration) -> Due {
        let Some(joining) = &self.0 else { return Due::Nothing };
        if matches!(joining.stage, JoinStage::Ready) {
            return Due::Nothing;
        }
        if joining.trust == Trust::Contradicted {
            return Due::Contradicted;
        }
        let (now, config, turn) = (common.now, common.config(), self.turn(turn));
        // The state may be wrong about who is away since when; then the entries that follow do not fit, and nobody can confirm it.
        let checks = matches!(joining.stage, JoinStage::Checking(..));
        if checks && now.since(joining.got) >= self.checking_time(common, turn) {
            return Due::Unconfirmed { turn: joining.turn };
        }
        if now.since(joining.since) >= config.join_time_at(turn) {
            return Due::Late;
        }
        let runs = common.phase == crate::session::SessionPhase::Running;
        if runs && self.is_catching_up() && !is_behind && !self.is_unverified() {
            return Due::CaughtUp;
        }
        Due::Nothing
    }

    /// Everything that is here has run. A player waits for the turn of its return; nothing is left to do for a peer that watches.
    pub(in crate::session) fn note_caught_up(&mut self, plays: bool) {
        if let Some(joining) = self.0.as_mut().filter(|_| plays) {
            joining.stage = JoinStage::Ready;
        } else {
            self.0 = None;
        }
    }

    /// When joining is given up. `turn`: the length of a turn by the settings, or by the state that was loaded.
    pub(in crate::session) fn deadline(&self, common: &Common, turn: Duration) -> Option<Instant> {
        let joining = self.0.as_ref().filter(|joining| !matches!(joining.stage, JoinStage::Ready))?;
        let turn = self.turn(turn);
        let end = joining.since + common.config().join_time_at(turn);
        let checks = matches!(joining.stage, JoinStage::Checking(..));
        Some(if checks { end.min(joining.got + self.checking_time(common, turn)) } else { end })
    }

    /// The machine was suspended; this does not count against the other peers.
    pub(in crate::session) fn shift(&mut self, jump: Duration, now: Instant) {
        if let Some(joining) = &mut self.0 {
            joining.since = (joining.since + jump).min(now);
            joining.got = (joining.got + jump).min(now);
            joining.came = (joining.came + jump).min(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A watcher refused a good state, and named its honest source: one player had signed turn 10 before its machine slept, the other one the turns after it.
    #[test]
    fn players_who_sign_different_turns_confirm_a_state_together() {
        let mut joiner = Joiner::default();
        joiner.begin(PeerId(0), Instant::from_micros(0));
        joiner.note_turn(6);
        let votes = |turn, same, other| Votes { turn, live: 0b11, same, other };
        joiner.verify(votes(6, 0b11, 0));
        assert!(joiner.is_unverified(), "no turn has run from it");
        joiner.verify(votes(9, 0b10, 0));
        joiner.verify(votes(10, 0, 0b10));
        joiner.verify(votes(11, 0b01, 0));
        assert!(joiner.is_unverified(), "player 1 has contradicted it since");
        joiner.verify(votes(12, 0b10, 0));
        assert!(!joiner.is_unverified());
    }
}
