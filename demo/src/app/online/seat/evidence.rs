//! What this seat knows of the others' copies, and for whom it waits.

use testudo_lockstep::{
    Desync as Reported, Duration, Identity, Instant, Message, MessageError, Outlier, PlayerId, Search,
    SessionPhase, To, Turn,
};

use crate::app::online::news::News;
use crate::app::online::remark::{Remark, Remarks};
use crate::app::online::seat::Seat;
use crate::app::online::seat::slowness::Slowness;
use crate::app::watch::diagnosis::{Again, Desync, Diagnosis, repeat};
use crate::app::watch::game_copy::PastAction;
use crate::app::watch::outcome::Doubts;
use testudo_battle::Game;

/// First byte of the message that tells whether the orders lead to the sender's copy again, and its second byte.
const AGAIN: u8 = 2;
const FOLLOWS: u8 = 1;
const DAMAGED: u8 = 0;

/// A wait of this length is worth a line; shorter ones happen on every bad network.
const LONG_WAIT: Duration = Duration::from_secs(1);

/// A turn that cannot begin.
pub(super) struct Wait {
    turn: Turn,
    /// Whose orders are missing; none if nothing comes from the middle of the star, through which all packets pass, so that nobody knows.
    players: Vec<PlayerId>,
    since: Instant,
    /// Whether it was remarked.
    is_told: bool,
}

/// What is known.
#[derive(Default)]
pub(crate) struct Evidence {
    /// The first turn in which checksums differed, and everybody's checksums then.
    difference: Option<Reported>,
    /// Players whose copies are wrong, as most players have signed another state.
    outliers: Vec<PlayerId>,
    /// Players who have sent no checksum of some turn.
    silent: Vec<PlayerId>,
    /// Players that have sent nothing signed lately.
    unsigned: Vec<PlayerId>,
    pub(super) wait: Option<Wait>,
    remarks: Remarks,
    /// Whose machine is slow.
    pub(super) slowness: Slowness,
    /// Finds the number that differs.
    search: Search<Game>,
    /// What ran in the frames that are kept.
    past_actions: Vec<PastAction>,
    /// Whether the orders lead to this copy's state in the frame of the finding again; none if that is unknown.
    is_reproduced: Option<bool>,
    /// Whom this peer compares its copy with.
    other: Option<(To, PlayerId)>,
    /// The same of the other's copy, as its program says. A changed program can only say something false about its own copy.
    is_theirs_reproduced: Option<bool>,
    /// The other one has still to be told.
    is_untold: bool,
}

impl Seat {
    /// Tells of something that the engine has noticed, unless there were too many like it.
    pub(super) fn remark(&mut self, remark: Remark) {
        if let Some(left_out) = self.evidence.remarks.admit(&remark, self.clock.now()) {
            self.news.push_back(News::Remark { remark, left_out });
        }
    }

    /// The match stands. Nobody is named if nothing comes from the middle of the star.
    pub(super) fn note_wait(&mut self, turn: Turn, players: Vec<PlayerId>) {
        let now = self.clock.now();
        if !players.is_empty() {
            self.news.push_back(News::WaitingFor(players.clone()));
        }
        let wait = Wait { turn, players, since: now, is_told: false };
        let before = self.evidence.wait.take();
        let goes_on =
            |before: &Wait| before.turn == turn && before.players.is_empty() == wait.players.is_empty();
        self.evidence.wait = Some(match before.filter(goes_on) {
            Some(before) => Wait { players: wait.players, ..before },
            None => wait,
        });
    }

    /// How long nothing has come from the middle of the star, if the match waits for it.
    pub(crate) fn silence(&self) -> Option<Duration> {
        let is_running = self.session().phase() == SessionPhase::Running;
        let wait = self.evidence.wait.as_ref().filter(|wait| is_running && wait.players.is_empty())?;
        Some(self.now().since(wait.since))
    }

    /// The players who are there; in the lobby and after the end all who belong to the match.
    pub(crate) fn computers(&self) -> u8 {
        let session = self.session();
        let is_running = session.phase() == SessionPhase::Running;
        let all = (0..self.terms.setup.players).map(PlayerId);
        all.filter(|player| !is_running || session.is_here(*player)).count() as u8
    }

    /// Remarks on a wait that has become long, or on the silence behind it.
    pub(super) fn watch_wait(&mut self, now: Instant) {
        let drop_in = self.session().drop_in();
        let is_long = |wait: &&mut Wait| !wait.is_told && now.since(wait.since) >= LONG_WAIT;
        let Some(wait) = self.evidence.wait.as_mut().filter(is_long) else { return };
        wait.is_told = true;
        let players = wait.players.clone();
        let is_relayed = self.is_relayed;
        self.remark(if players.is_empty() {
            Remark::Silent { is_relayed }
        } else {
            Remark::Waits { players, drop_in }
        });
    }

    /// Checksums differ for the first time.
    pub(super) fn note_difference(&mut self, difference: Reported) {
        let turn = difference.turn.0;
        self.driver.simulation_mut().note_divergence(turn);
        let other = self.other_copy(&difference);
        self.evidence.other = other;
        let other = other.map(|(to, player)| (to, Identity::Player(player)));
        // A relay has no copy, so nobody keeps moments there.
        if let Some(inquiry) = self.driver.simulation().inquiry() {
            self.evidence.search.begin(other, inquiry);
            self.evidence.past_actions = self.driver.simulation().past_actions();
        }
        self.evidence.difference = Some(difference);
        self.news.push_back(News::Differs(turn));
    }

    /// What members say: questions after a difference, and answers.
    pub(super) fn take_messages(&mut self, now: Instant) {
        let evidence = &mut self.evidence;
        let was_found = evidence.search.finding().is_some();
        while let Some(message) = self.driver.session_mut().poll_message() {
            evidence.hear_again(&message);
            evidence.search.hear(message, now);
        }
        evidence.search.advance(self.driver.session_mut(), now);
        if let Some(frame) = evidence.search.finding().and_then(|found| found.frame).filter(|_| !was_found) {
            evidence.is_reproduced = evidence.play_again(frame);
            evidence.is_untold = evidence.is_reproduced.is_some();
        }
        if let (true, Some((to, _)), Some(follows)) =
            (evidence.is_untold, evidence.other, evidence.is_reproduced)
        {
            let told = [AGAIN, if follows { FOLLOWS } else { DAMAGED }];
            let sent = self.driver.session_mut().send_message(to, &told);
            evidence.is_untold = matches!(sent, Err(MessageError::TooOften | MessageError::Full));
        }
    }

    /// Whom to ask: a guest the host; the host a guest whose checksum is another.
    fn other_copy(&self, difference: &Reported) -> Option<(To, PlayerId)> {
        if self.middle.is_some() {
            return Some((To::Middle, self.agreement.host));
        }
        let differs = |(player, value): &&(PlayerId, _)| {
            Some(*value) != difference.own && self.session().is_here(*player) && *player != self.player()
        };
        let (player, _) = difference.values.iter().find(differs)?;
        Some((To::Player(*player), *player))
    }

    /// Most players have signed another state than this one.
    pub(super) fn note_outlier(&mut self, outlier: &Outlier) {
        let player = outlier.player;
        add(&mut self.evidence.outliers, player);
        self.remark(Remark::Outlier { player, turn: outlier.turn.0.saturating_sub(1) });
    }

    /// A player's copy cannot be compared.
    pub(super) fn note_silent(&mut self, player: PlayerId, turn: Turn) {
        add(&mut self.evidence.silent, player);
        self.remark(Remark::ChecksumMissing { player, turn: turn.0 });
    }

    pub(super) fn note_unsigned(&mut self, player: PlayerId, turn: Turn) {
        add(&mut self.evidence.unsigned, player);
        self.remark(Remark::StatementMissing { player, turn: turn.0 });
    }

    /// The turn that cannot begin, and whose orders are missing: of nobody if nothing comes from the middle of the star.
    pub(crate) fn waiting(&self) -> Option<(Turn, &[PlayerId])> {
        self.evidence.wait.as_ref().map(|wait| (wait.turn, &wait.players[..]))
    }

    /// The first turn in which checksums differed.
    pub(crate) fn divergent_turn(&self) -> Option<u32> {
        self.evidence.difference.as_ref().map(|difference| difference.turn.0)
    }

    /// Everybody's checksums in the first turn in which they differed.
    pub(crate) fn difference(&self) -> Option<&Reported> {
        self.evidence.difference.as_ref()
    }

    /// Whose copies are wrong, and whose cannot be compared.
    pub(crate) fn doubts(&self) -> Doubts {
        let numbers = |players: &[PlayerId]| players.iter().map(|player| player.0).collect();
        let Evidence { outliers, silent, unsigned, difference, .. } = &self.evidence;
        Doubts {
            outliers: numbers(outliers),
            silent: numbers(silent),
            unsigned: numbers(unsigned),
            values: difference.iter().flat_map(|difference| difference.values.clone()).collect(),
            diagnosis: self.diagnosis(),
        }
    }

    /// Whether somebody's copy cannot be compared, or is known to be wrong.
    pub(crate) fn is_doubtful(&self) -> bool {
        !(self.evidence.silent.is_empty() && self.evidence.outliers.is_empty())
    }

    /// The only player whose copy is known to be wrong.
    fn outlier(&self) -> Option<u8> {
        match self.evidence.outliers[..] {
            [player] => Some(player.0),
            _ => None,
        }
    }

    /// The known facts about the difference; none without a difference.
    pub(crate) fn diagnosis(&self) -> Option<Diagnosis> {
        let turn = self.divergent_turn()?;
        let Evidence { search, is_reproduced, .. } = &self.evidence;
        if !search.has_begun() {
            return Some(if self.is_relayed { Diagnosis::Relayed } else { Diagnosis::Unknown });
        }
        let Some(finding) = search.finding() else {
            return Some(if search.is_over() { Diagnosis::Unknown } else { Diagnosis::Asking });
        };
        if finding.frame.is_none() {
            return Some(Diagnosis::Elsewhere);
        }
        let is_host = self.middle.is_none();
        let is_reproduced = *is_reproduced;
        let desync = Desync::of_finding(turn, self.outlier(), finding, is_host);
        let again = |player: PlayerId, is_reproduced| Again { player: player.0, is_reproduced };
        let theirs = self.evidence.other.map(|(_, player)| again(player, self.evidence.is_theirs_reproduced));
        let mut known: Vec<Again> = theirs.into_iter().collect();
        if !self.is_watching() {
            known.push(again(self.player(), is_reproduced));
        }
        known.sort_by_key(|again| again.player);
        Some(desync.map_or(Diagnosis::Unknown, |desync| Diagnosis::Found {
            desync: desync.judge(known),
            is_host,
            is_reproduced,
        }))
    }
}

impl Evidence {
    /// Plays one frame of this copy again.
    fn play_again(&mut self, frame: u32) -> Option<bool> {
        let past_actions: Vec<PastAction> =
            self.past_actions.iter().filter(|action| action.frame == frame).cloned().collect();
        let mut is_repeated = false;
        let inquiry = self.search.inquiry_mut()?;
        let is_reproduced = inquiry.is_reproduced(frame, |game| is_repeated = repeat(game, &past_actions));
        is_reproduced.filter(|_| is_repeated)
    }

    /// What the other side says about its own copy.
    fn hear_again(&mut self, message: &Message) {
        let is_theirs = self.other.is_some_and(|(_, player)| message.from == Identity::Player(player));
        if let (true, [AGAIN, told @ (FOLLOWS | DAMAGED)]) = (is_theirs, &message.bytes[..]) {
            self.is_theirs_reproduced = Some(*told == FOLLOWS);
        }
    }
}

fn add(players: &mut Vec<PlayerId>, player: PlayerId) {
    if let Err(at) = players.binary_search(&player) {
        players.insert(at, player);
    }
}
