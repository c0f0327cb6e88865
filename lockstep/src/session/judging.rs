//! Compares statements with what this peer has seen, and with each other.

use crate::session::checksum::Desync;
use crate::session::event::Event;
use crate::session::signing::{Contradiction, Outlier, Signing, View};
use crate::session::{AnySession, players_in};
use crate::signed::proof::{Proof, Verdict};
use crate::signed::statement::Statement;
use crate::value::ids::{Identity, PlayerId, Turn};

impl AnySession {
    /// Compares all statements about a turn that has begun here and that were not compared yet.
    pub(super) fn judge_statements(&mut self, signing: &mut Signing, turn: u32) {
        let Some(view) = signing.view(turn).cloned() else {
            self.verify_rhythm(signing, turn);
            return;
        };
        self.verify_state(signing, &view);
        if self.is_unverified() {
            return;
        }
        for player in players_in(view.live) {
            let author = &signing.authors[player.index()];
            let is_new = author.judged.is_none_or(|judged| judged < turn);
            let Some(statement) = author.at(turn).filter(|_| is_new).cloned() else { continue };
            let fits = (statement.live, statement.all) == (view.live, view.all)
                && view.opening.own(player.index()) == Some(statement.own);
            if fits {
                let author = &mut signing.authors[player.index()];
                (author.judged, author.passed) = (Some(turn), 0);
            } else if let Some(proof) = proof_of(signing, &view, &statement, self.setup.player()) {
                signing.authors[player.index()].judged = Some(turn);
                self.report_lie(signing, player, proof);
            } else if self.setup.player().is_none() {
                // A peer that signs nothing has no statement of its own for a contradiction.
                if !core::mem::replace(&mut signing.authors[player.index()].told_other, true) {
                    self.emit(Event::ShownAnother { player, turn: Turn(turn) });
                }
            }
        }
        self.report_outliers(signing, &view);
        self.report_signed_difference(signing);
    }

    /// Reports a contradiction, once for each player.
    pub(super) fn report_lie(&mut self, signing: &mut Signing, player: PlayerId, proof: Proof) {
        let Ok(verdict) = proof.verdict(self.setup.config.players) else { return };
        if self.setup.is_mesh() {
            signing.alarm.get_or_insert(proof.first.turn.0);
        }
        let author = &mut signing.authors[player.index()];
        // A proof of a lie is reported even if the player was reported as one of several suspects before.
        let is_told = author.told_lie && !matches!(verdict, Verdict::Liar(_));
        if is_told || author.told_liar {
            return;
        }
        author.told_lie = true;
        author.told_liar = matches!(verdict, Verdict::Liar(_));
        let passed = author.passed;
        let suspects = self.suspects(verdict, passed);
        tracing::error!(%verdict, ?suspects, turn = proof.first.turn.0, "contradiction");
        self.emit(Event::Contradiction(Box::new(Contradiction { proof, verdict, suspects })));
    }

    /// The possible liars, as far as this peer knows.
    fn suspects(&self, verdict: Verdict, passed: u16) -> Vec<Identity> {
        let own = self.setup.identity;
        let mut suspects: Vec<Identity> = match verdict {
            Verdict::Liar(player) => return vec![Identity::Player(player)],
            Verdict::Forged { author, receiver } => {
                // In a mesh only the receiver knows who has passed on the stream.
                let passed = if own == Identity::Player(receiver) { passed } else { 0 };
                let passed = players_in(passed).map(Identity::Player);
                [author, receiver].map(Identity::Player).into_iter().chain(passed).collect()
            }
            // In a mesh the two players may have got different streams from any third player.
            Verdict::Divided(_) if self.setup.is_mesh() => return Vec::new(),
            Verdict::Divided(players) => players.map(Identity::Player).to_vec(),
        };
        if !self.setup.is_mesh() {
            suspects.push(self.setup.coordinator());
        }
        suspects.retain(|suspect| *suspect != own);
        suspects.sort_unstable();
        suspects.dedup();
        suspects
    }

    /// Reports statements with different checksums of a turn in which everybody sent the same one: somebody sends one number and signs another.
    fn report_signed_difference(&mut self, signing: &Signing) {
        if self.compared.desync_reported {
            return;
        }
        let interval = self.setup.config.checksum_interval;
        let settled = self.compared.checksums.settled();
        let all = |view: &View| {
            let stated =
                players_in(view.live).filter_map(|player| signing.authors[player.index()].at(view.turn));
            let same = stated.filter(|other| (other.live, other.all) == (view.live, view.all));
            same.map(|other| (other.author, other.checksum)).collect::<Vec<_>>()
        };
        // The values of later turns may still show where it began.
        let views = signing.views.iter().filter(|view| view.turn <= settled);
        let mut stated = views.map(|view| (view.turn, all(view)));
        let found = stated.find(|(_, values)| values.windows(2).any(|pair| pair[0].1 != pair[1].1));
        let Some((turn, values)) = found else { return };
        let turn = Turn((turn / interval * interval).saturating_sub(1));
        let own = self.setup.player();
        let own = values.iter().find(|(player, _)| own == Some(*player)).map(|(_, value)| *value);
        tracing::error!(turn = turn.0, ?values, "signed checksums differ");
        self.compared.desync_reported = true;
        self.emit(Event::Desync(Desync { turn, values, own, signed: true }));
    }

    /// Reports players whose checksum differs from that of more than half of the active players, with the same orders.
    fn report_outliers(&mut self, signing: &mut Signing, view: &View) {
        let same = |statement: &&Statement| (statement.live, statement.all) == (view.live, view.all);
        let stated: Vec<&Statement> = players_in(view.live)
            .filter_map(|player| signing.authors[player.index()].at(view.turn))
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
            if core::mem::replace(&mut signing.authors[player.index()].told_outlier, true) {
                continue;
            }
            let statements = of_the_most.iter().cloned().chain([other]).collect();
            self.emit(Event::Outlier(Box::new(Outlier { turn: Turn(view.turn), player, statements })));
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
