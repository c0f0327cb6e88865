//! What this seat knows of the others' copies, and for whom it waits.

use testudo_lockstep::{
    Desync as Difference, Duration, Identity, Instant, MatchResult, Outlier, PlayerId, To, Turn,
};

use crate::app::online::news::News;
use crate::app::online::remark::{Remark, Remarks};
use crate::app::online::remote::Search;
use crate::app::online::seat::Seat;
use crate::app::watch::diagnosis::{Desync, Diagnosis};
use crate::app::watch::outcome::Doubts;

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
    pub(super) search: Option<Search>,
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
        let client = self.driver.simulation();
        // A relay has no copy, so nobody keeps moments there.
        if let Some(inquiry) = client.inquiry() {
            self.evidence.search = Some(Search::begin(other, inquiry, client.deeds()));
        }
        self.evidence.difference = Some(difference);
        self.news.push_back(News::Differs(turn));
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
        let Some(search) = &self.evidence.search else {
            return Some(if self.is_relayed { Diagnosis::Relayed } else { Diagnosis::Unknown });
        };
        let Some(finding) = search.finding() else {
            return Some(if search.is_over() { Diagnosis::Unknown } else { Diagnosis::Asking });
        };
        if finding.frame.is_none() {
            return Some(Diagnosis::Elsewhere);
        }
        let is_host = self.middle.is_none();
        let is_reproduced = search.is_reproduced();
        let desync = Desync::of_finding(turn, self.outlier(), finding, is_host);
        Some(desync.map_or(Diagnosis::Unknown, |desync| Diagnosis::Found { desync, is_host, is_reproduced }))
    }
}

fn add(players: &mut Vec<PlayerId>, player: PlayerId) {
    if let Err(place) = players.binary_search(&player) {
        players.insert(place, player);
    }
}
