//! What this seat knows of the others' copies, and for whom it waits.

use testudo_lockstep::{
    Desync as Difference, Duration, Identity, Instant, MatchResult, Outlier, PlayerId, Search,
    Simulation as _, To, Turn,
};

use crate::app::online::news::News;
use crate::app::online::remark::{Remark, Remarks};
use crate::app::online::seat::Seat;
use crate::app::watch::client::Deed;
use crate::app::watch::diagnosis::{Desync, Diagnosis};
use crate::app::watch::outcome::Doubts;
use crate::game::Game;

/// The rate of every match of the demo.
const FRAMES_PER_SECOND: u32 = 20;

/// A wait of this length is worth a line; shorter ones happen on every bad network.
const LONG_WAIT: Duration = Duration::from_secs(1);

/// What is known.
#[derive(Default)]
pub(crate) struct Evidence {
    /// The first turn in which checksums differed, and everybody's checksums then.
    difference: Option<Difference>,
    /// Players whose copies are wrong, as most players have signed another state.
    outliers: Vec<PlayerId>,
    /// Players who have sent no checksum of some turn.
    silent: Vec<PlayerId>,
    /// Players of whom nothing signed has come lately.
    unsigned: Vec<PlayerId>,
    /// The turn that cannot begin, and the missing players; since when; whether that was remarked.
    waiting: Option<(Turn, Vec<PlayerId>)>,
    waiting_since: Instant,
    is_wait_told: bool,
    remarks: Remarks,
    /// Finds the number that differs.
    search: Search<Game>,
    /// What ran in the frames that are kept.
    deeds: Vec<Deed>,
    /// Whether the orders lead to this copy's state in the frame of the finding again; none if that is unknown.
    is_reproduced: Option<bool>,
}

impl Seat {
    /// Tells of something that the engine has noticed, unless there were too many like it.
    pub(super) fn remark(&mut self, remark: Remark) {
        if let Some(left_out) = self.evidence.remarks.admit(&remark, self.clock.now()) {
            self.news.push_back(News::Remark { remark, left_out });
        }
    }

    /// The match stands.
    pub(super) fn note_wait(&mut self, turn: Turn, players: Vec<PlayerId>) {
        let evidence = &mut self.evidence;
        if evidence.waiting.as_ref().is_none_or(|(before, _)| *before != turn) {
            (evidence.waiting_since, evidence.is_wait_told) = (self.clock.now(), false);
        }
        evidence.waiting = Some((turn, players.clone()));
        self.news.push_back(News::WaitingFor(players));
    }

    /// The match goes on.
    pub(super) fn note_wait_over(&mut self) {
        self.evidence.waiting = None;
    }

    /// Remarks on a wait that has become long.
    pub(super) fn watch_wait(&mut self, now: Instant) {
        let evidence = &mut self.evidence;
        let Some((_, players)) = &evidence.waiting else { return };
        if !evidence.is_wait_told && now.since(evidence.waiting_since) >= LONG_WAIT {
            evidence.is_wait_told = true;
            let players = players.clone();
            let drop_in = self.session().drop_in();
            self.remark(Remark::Waits { players, drop_in });
        }
    }

    /// Checksums differ for the first time.
    pub(super) fn note_difference(&mut self, difference: Difference) {
        let turn = difference.turn.0;
        self.driver.simulation_mut().note_divergence(turn);
        let other = self.other_copy(&difference);
        // A relay has no copy, so nobody keeps moments there.
        if let Some(inquiry) = self.driver.simulation().inquiry() {
            self.evidence.search.begin(other, inquiry);
            self.evidence.deeds = self.driver.simulation().deeds();
        }
        self.evidence.difference = Some(difference);
        self.news.push_back(News::Differs(turn));
    }

    /// What members say: questions after a difference, and answers.
    pub(super) fn take_messages(&mut self, now: Instant) {
        let evidence = &mut self.evidence;
        let was_found = evidence.search.finding().is_some();
        while let Some(message) = self.driver.session_mut().poll_message() {
            evidence.search.hear(message, now);
        }
        evidence.search.advance(self.driver.session_mut(), now);
        if let Some(frame) = evidence.search.finding().and_then(|found| found.frame).filter(|_| !was_found) {
            evidence.is_reproduced = evidence.play_again(frame);
        }
    }

    /// Whom to ask: a guest the host; the host a guest whose checksum is another.
    fn other_copy(&self, difference: &Difference) -> Option<(To, Identity)> {
        if self.middle.is_some() {
            return Some((To::Middle, Identity::Player(self.agreement.host)));
        }
        let differs = |(player, value): &&(PlayerId, _)| {
            Some(*value) != difference.own && self.session().is_here(*player) && *player != self.player()
        };
        let (player, _) = difference.values.iter().find(differs)?;
        Some((To::Player(*player), Identity::Player(*player)))
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

    pub(super) fn note_result(&mut self, result: &MatchResult) {
        if !result.agreed {
            self.remark(Remark::ResultsDiffer);
        }
    }

    /// The turn that cannot begin, and whose orders are missing.
    pub(crate) fn waiting(&self) -> Option<&(Turn, Vec<PlayerId>)> {
        self.evidence.waiting.as_ref()
    }

    /// The first turn in which checksums differed.
    pub(crate) fn divergent_turn(&self) -> Option<u32> {
        self.evidence.difference.as_ref().map(|difference| difference.turn.0)
    }

    /// Everybody's checksums in the first turn in which they differed.
    pub(crate) fn difference(&self) -> Option<&Difference> {
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
        Some(desync.map_or(Diagnosis::Unknown, |desync| Diagnosis::Found { desync, is_host, is_reproduced }))
    }
}

impl Evidence {
    /// Plays one frame of this copy again.
    fn play_again(&mut self, frame: u32) -> Option<bool> {
        let deeds: Vec<&Deed> = self.deeds.iter().filter(|deed| deed.frame == frame).collect();
        if deeds.iter().any(|deed| deed.order.is_none()) {
            return None;
        }
        self.search.inquiry_mut()?.is_reproduced(frame, |game| {
            for deed in deeds {
                deed.order.iter().for_each(|order| game.apply(deed.player, order));
            }
            game.step(FRAMES_PER_SECOND);
        })
    }
}

fn add(players: &mut Vec<PlayerId>, player: PlayerId) {
    if let Err(place) = players.binary_search(&player) {
        players.insert(place, player);
    }
}
