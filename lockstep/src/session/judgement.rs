//! Compares statements with what this peer has seen, and with each other.

use crate::session::checksum::Desync;
use crate::session::common::Common;
use crate::session::event::Event;
use crate::session::evidence::{Contradiction, Outlier};
use crate::session::players_in;
use crate::session::signing::{Parts, Signing, View};
use crate::session::transfer::joiner::Votes;
use crate::signed::proof::{Proof, Verdict};
use crate::signed::statement::Statement;
use crate::value::ids::{Identity, PlayerId, Turn};

impl Signing {
    /// Compares all statements about a turn that has begun here and that were not compared yet.
    pub(super) fn judge(&mut self, parts: &mut Parts<'_>, turn: u32) {
        let Some(view) = self.view(turn).cloned() else {
            parts.joiner.verify_rhythm(parts.common, turn, self.count_of(parts.common, turn));
            return;
        };
        parts.joiner.verify(self.votes_on(&view));
        if parts.joiner.is_unverified() {
            return;
        }
        for player in players_in(view.live & !parts.mesh.ran_another(parts.common, turn)) {
            let author = &self.authors[player.index()];
            let is_new = author.judged.is_none_or(|judged| judged < turn);
            let Some(statement) = author.at(turn).filter(|_| is_new).cloned() else { continue };
            let fits = (statement.live, statement.all) == (view.live, view.all)
                && view.opening.own(player.index()) == Some(statement.own);
            if fits {
                let author = &mut self.authors[player.index()];
                author.judged = Some(turn);
                // Later entries are not compared yet.
                author.passed = author.passed.filter(|newest| *newest > turn);
            } else if let Some(proof) = proof_of(self, &view, &statement, parts.common.setup.player()) {
                self.authors[player.index()].judged = Some(turn);
                self.report_lie(parts.common, player, proof);
            } else if parts.common.setup.player().is_none() {
                // A peer that signs nothing has no statement of its own for a contradiction.
                if !core::mem::replace(&mut self.authors[player.index()].told_other, true) {
                    // Most players confirmed its state, but those may have been one player that lies.
                    let since = statement.since.map(|since| since.turn);
                    parts.common.emit(Event::ShownAnother { player, turn: Turn(turn), since });
                }
            }
        }
        self.report_outliers(parts.common, &view);
        self.report_signed_difference(parts);
    }

    /// Number of players in the match at this turn that have signed something about it.
    pub(super) fn count_of(&self, common: &Common, turn: u32) -> u32 {
        let has_signed = |player: &PlayerId| self.authors[player.index()].at(turn).is_some();
        players_in(common.streams.live_in(turn)).filter(has_signed).count() as u32
    }

    /// Which players say what this peer has seen, and which say something else.
    pub(super) fn votes_on(&self, view: &View) -> Votes {
        let own = (view.live, view.all, view.checksum, view.agreed);
        let mut votes = Votes { turn: view.turn, live: view.live, same: 0, other: 0 };
        let said = |player: PlayerId| self.authors[player.index()].at(view.turn);
        for statement in players_in(view.live).filter_map(said) {
            let told = (statement.live, statement.all, statement.checksum, statement.agreed);
            *(if told == own { &mut votes.same } else { &mut votes.other }) |= 1 << statement.author.0;
        }
        votes
    }

    /// Reports a contradiction, once for each player.
    pub(super) fn report_lie(&mut self, common: &mut Common, player: PlayerId, proof: Proof) {
        let Ok(verdict) = proof.verdict(common.setup.config.players) else { return };
        if common.setup.is_mesh() {
            self.alarm.get_or_insert(proof.first.turn.0);
        }
        let author = &mut self.authors[player.index()];
        // A proof of a lie is reported even if the player was reported as one of several suspects before.
        let is_told = author.told_lie && !matches!(verdict, Verdict::Liar(_));
        if is_told || author.told_liar {
            return;
        }
        author.told_lie = true;
        author.told_liar = matches!(verdict, Verdict::Liar(_));
        let suspects = Self::suspects(common, verdict, author.passed.is_some());
        tracing::error!(%verdict, ?suspects, turn = proof.first.turn.0, "contradiction");
        common.emit(Event::Contradiction(Box::new(Contradiction { proof, verdict, suspects })));
    }

    /// The possible liars, as far as this peer knows.
    fn suspects(common: &Common, verdict: Verdict, is_passed: bool) -> Vec<Identity> {
        let own = common.setup.identity;
        let mut suspects: Vec<Identity> = match verdict {
            Verdict::Liar(player) => return vec![Identity::Player(player)],
            // In a mesh any third player may have passed on a false stream, and an honest one may have passed that on. Only the receiver knows that it has
            // the stream from the author itself.
            Verdict::Forged { receiver, .. }
                if common.setup.is_mesh() && (is_passed || own != Identity::Player(receiver)) =>
            {
                return Vec::new();
            }
            Verdict::Divided(_) if common.setup.is_mesh() => return Vec::new(),
            Verdict::Forged { author, receiver } => [author, receiver].map(Identity::Player).to_vec(),
            Verdict::Divided(players) => players.map(Identity::Player).to_vec(),
        };
        if !common.setup.is_mesh() {
            suspects.push(common.setup.coordinator());
        }
        suspects.retain(|suspect| *suspect != own);
        suspects.sort_unstable();
        suspects.dedup();
        suspects
    }

    /// Reports statements with different checksums of a turn in which everybody sent the same one: somebody sends one number and signs another.
    fn report_signed_difference(&self, parts: &mut Parts<'_>) {
        if parts.compared.desync.is_some() {
            return;
        }
        let interval = parts.common.setup.config.limits.checksum_interval;
        let settled = parts.compared.checksums.settled();
        let all = |view: &View| {
            let stated =
                players_in(view.live).filter_map(|player| self.authors[player.index()].at(view.turn));
            let same = stated.filter(|other| (other.live, other.all) == (view.live, view.all));
            same.map(|other| (other.author, other.checksum)).collect::<Vec<_>>()
        };
        // The values of later turns may still show where it began.
        let views = self.views.iter().filter(|view| view.turn <= settled);
        let mut stated = views.map(|view| (view.turn, all(view)));
        let found = stated.find(|(_, values)| values.windows(2).any(|pair| pair[0].1 != pair[1].1));
        let Some((turn, values)) = found else { return };
        let turn = Turn((turn / interval * interval).saturating_sub(1));
        let own = parts.common.setup.player();
        let own = values.iter().find(|(player, _)| own == Some(*player)).map(|(_, value)| *value);
        tracing::error!(turn = turn.0, ?values, "signed checksums differ");
        parts.compared.desync = Some(turn);
        let values = values.into_iter().map(|(player, value)| (player, u64::from(value))).collect();
        let own = own.map(u64::from);
        parts.common.emit(Event::Desync(Desync { turn, values, own, signed: true }));
    }

    /// Reports players whose checksum differs from that of more than half of the active players, with the same orders.
    fn report_outliers(&mut self, common: &mut Common, view: &View) {
        let same = |statement: &&Statement| (statement.live, statement.all) == (view.live, view.all);
        let stated: Vec<&Statement> = players_in(view.live)
            .filter_map(|player| self.authors[player.index()].at(view.turn))
            .filter(same)
            .collect();
        let agree = |checksum: u32| stated.iter().filter(move |other| other.checksum == checksum);
        let most = stated.iter().map(|statement| statement.checksum);
        let most = most.max_by_key(|checksum| agree(*checksum).count());
        let Some(most) = most.filter(|most| agree(*most).count() as u32 * 2 > view.live.count_ones()) else {
            return;
        };
        let of_the_most: Vec<Statement> = agree(most).map(|statement| (*statement).clone()).collect();
        let others: Vec<Statement> =
            stated.iter().filter(|other| other.checksum != most).map(|other| (*other).clone()).collect();
        for other in others {
            let player = other.author;
            if core::mem::replace(&mut self.authors[player.index()].told_outlier, true) {
                continue;
            }
            let statements = of_the_most.iter().cloned().chain([other]).collect();
            common.emit(Event::Outlier(Box::new(Outlier { turn: Turn(view.turn), player, statements })));
        }
    }
}

/// The statement, and one that it contradicts: this peer's own, or (on a peer that signs nothing) another player's.
fn proof_of(signing: &Signing, view: &View, statement: &Statement, own: Option<PlayerId>) -> Option<Proof> {
    let others = (0_u8..).zip(&signing.authors).filter(|(player, _)| *player != statement.author.0);
    let others = others.filter_map(|(_, author)| author.at(view.turn));
    let mut others = others.filter(|other| other.compares_with(statement));
    // The opening of the hash of all streams is known if it is this peer's own.
    let as_seen = |other: &Statement| (other.live, other.all) == (view.live, view.all);
    let mine = own.and_then(|own| signing.authors[own.index()].at(view.turn));
    if mine.is_some_and(|mine| !mine.compares_with(statement)) {
        return None;
    }
    let partner = mine.cloned().or_else(|| others.find(|other| as_seen(other)).cloned())?;
    let opening = as_seen(&partner).then(|| view.opening.clone());
    Some(Proof { first: statement.clone(), second: partner, opening })
}
