//! What the honest peers have recorded, judged as `verdict` judges it, and all that was said of anybody.

use std::collections::{BTreeMap, BTreeSet};

use testudo_lockstep::{
    Conviction, Event, Identity, PlayerId, Proof, Roster, SessionPhase, Statement, Topology, Verdict,
};
use testudo_tests::scenes::Generator;

use super::world::{Peer, World};
use crate::attacks::forgers::below;
use crate::toy::{key_of, middle_of};

/// Below so many matches chance decides how many lies are noticed.
const FEW: u64 = 60;

/// From so many matches on, everything happens often enough to be counted.
const MANY: u64 = 1_000;

/// Something that a liar brings about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Effect {
    /// An honest peer was told that something is wrong.
    Told,
    /// A liar was convicted, or accused.
    Convicted,
    Accused,
    /// A state was refused.
    Refused,
    /// A proof was accepted that names a single liar.
    Proven,
    /// Somebody who came back or came late has caught up.
    Joined,
}

/// What can happen less often than that somebody is told.
const RARE: [Effect; 5] =
    [Effect::Convicted, Effect::Accused, Effect::Refused, Effect::Proven, Effect::Joined];

/// In how many matches something happened.
pub(super) type Counts = BTreeMap<Effect, u64>;

/// Whether the liars of so many drawn matches have done what they are there for.
///
/// A match has one to three of thirteen lies, and more than half of the lies are noticed by whoever is lied to. A certain lie is told in one match of
/// seven. The rarest thing is a proof that names a single liar: it takes one certain lie, told to one peer only, by a player, and that the two versions
/// meet at one honest peer: (1/7) (1/2) (3/4) (1/4), or one match of 75. Half a percent of many matches is well below all of these.
pub(super) fn is_enough(counts: &Counts, matches: u64) -> bool {
    let count = |of: &Effect| counts.get(of).copied().unwrap_or_default();
    let is_told = matches < FEW || count(&Effect::Told) * 4 > matches;
    is_told && (matches < MANY || RARE.iter().all(|effect| count(effect) * 200 >= matches))
}

/// Whether everything has happened.
pub(super) fn is_complete(counts: &Counts) -> bool {
    counts.len() == RARE.len() + 1
}

/// What has happened in a match.
type Found = BTreeSet<Effect>;

/// Everything that can be said of a match.
struct Court<'a> {
    liar: Identity,
    /// The liar is the middle of a star.
    is_middle: bool,
    what: &'a str,
}

/// Nobody honest is convicted or named.
pub(super) fn judge(world: &World, dice: &mut Generator, what: &str) -> Found {
    let (&node, _) = world.liars.first_key_value().expect("a liar");
    let is_star = world.config.topology != Topology::Mesh;
    let court = Court {
        liar: world.peers[node].identity,
        is_middle: is_star && node as u32 == middle_of(&world.config),
        what,
    };
    let mut found = Found::new();
    let honest: Vec<&Peer> =
        world.peers.iter().enumerate().filter(|(at, _)| *at != node).map(|(_, peer)| peer).collect();
    for peer in &honest {
        assert!(peer.driver.session().is_over(), "{what}: {:?} is not done", peer.identity);
        // The keys on which all have agreed at the start. A wrong state can bring others, which nobody else has (seed 100446).
        let whole = [*peer].into_iter().chain(honest.iter().copied()).find(|one| one.record.is_whole);
        let Some(roster) = whole.unwrap_or(peer).record.roster.as_ref() else { continue };
        for event in &peer.record.events {
            court.hear(event, roster, &mut found, dice);
        }
        court.weigh(peer, roster, &mut found, dice);
    }
    court.compare(&honest);
    found
}

impl Court<'_> {
    fn is_liar(&self, player: PlayerId) -> bool {
        self.liar == Identity::Player(player)
    }

    /// Whoever an honest peer is told about is the liar.
    fn hear(&self, event: &Event, roster: &Roster, found: &mut Found, dice: &mut Generator) {
        let what = self.what;
        let is_named = |suspects: &[Identity]| suspects.is_empty() || suspects.contains(&self.liar);
        match event {
            Event::Contradiction(told) => {
                assert!(is_named(&told.suspects), "{what}: {told:?}");
                assert_eq!(told.proof.verify(roster), Ok(told.verdict), "{what}");
                self.accept(&told.proof, roster, found);
                self.flip(&told.proof, roster, found, dice);
                found.insert(Effect::Told);
            }
            Event::Outlier(told) => {
                assert!(self.is_liar(told.player), "{what}: {told:?}");
                found.insert(Effect::Told);
            }
            Event::WrongState { suspects, .. } => {
                assert!(suspects.contains(&self.liar), "{what}: {suspects:?}");
                found.extend([Effect::Told, Effect::Refused]);
            }
            Event::TooFarAhead { player } => {
                assert!(self.is_liar(*player), "{what}: {player} too far ahead");
                found.insert(Effect::Told);
            }
            // A player who came back may have been given a wrong state by a player who was there.
            Event::ShownAnother { player, since, .. } => {
                let is_misled = since.is_some() && matches!(self.liar, Identity::Player(_));
                let is_right = self.is_liar(*player) || self.is_middle || is_misled;
                assert!(is_right, "{what}: {player} has shown another");
                found.insert(Effect::Told);
            }
            Event::Desync(desync) => {
                assert_eq!(desync.outlier(), None, "{what}");
                found.insert(Effect::Told);
            }
            Event::StateRefused { .. } => _ = found.insert(Effect::Refused),
            Event::StatementMissing { .. } | Event::ChecksumMissing { .. } => _ = found.insert(Effect::Told),
            Event::CaughtUp { .. } => _ = found.insert(Effect::Joined),
            _ => {}
        }
    }

    /// A proof that names a single liar names a real one.
    fn accept(&self, proof: &Proof, roster: &Roster, found: &mut Found) {
        let verdict = proof.verify(roster);
        if let Ok(Verdict::Liar(player)) = verdict {
            assert!(self.is_liar(player), "{}: {proof:?}", self.what);
            found.insert(Effect::Proven);
        }
    }

    /// Flipped bits, and other statements and openings in the place of the true ones.
    fn flip(&self, proof: &Proof, roster: &Roster, found: &mut Found, dice: &mut Generator) {
        let bytes = proof.to_bytes();
        for _ in 0..8 {
            let mut flipped = bytes.clone();
            for _ in 0..=below(dice, 2) {
                let bit = below(dice, 8 * bytes.len() as u32) as usize;
                flipped[bit / 8] ^= 1 << (bit % 8);
            }
            if let Ok(forged) = Proof::from_bytes(&flipped) {
                self.accept(&forged, roster, found);
            }
        }
        let Proof { first, second, opening } = proof.clone();
        let turned = Proof { first: second, second: first, opening };
        self.accept(&turned, roster, found);
        self.accept(&Proof { opening: None, ..turned }, roster, found);
    }

    /// What a referee's judgement would come to with this peer's copy and what it has heard the players sign.
    fn weigh(&self, peer: &Peer, roster: &Roster, found: &mut Found, dice: &mut Generator) {
        let said = &peer.record.statements;
        for one in said {
            for other in said.iter().filter(|other| other.turn == one.turn && *other != one) {
                let proof = Proof { first: one.clone(), second: other.clone(), opening: None };
                self.accept(&proof, roster, found);
            }
        }
        if !peer.record.is_whole || !simulates(peer) {
            return;
        }
        let sums = peer.record.course();
        let judged = Conviction::of(roster, said, &sums, 1);
        let judged = judged.unwrap_or_else(|player| panic!("{}: player {player} has not signed", self.what));
        // The course of the match is the honest peer's own, so whoever is accused by it is a liar, too.
        for player in judged.convicted.iter().chain(judged.accused.iter()) {
            assert!(self.is_liar(player), "{}: {:?} judges {judged:?}", self.what, peer.identity);
        }
        found.extend((!judged.convicted.is_empty()).then_some(Effect::Convicted));
        found.extend((!judged.accused.is_empty()).then_some(Effect::Accused));
        self.collude(said, roster, &sums, dice);
    }

    /// A referee makes up a course of the match, and the liar signs what follows from it, with the orders of an honest player.
    fn collude(&self, said: &[Statement], roster: &Roster, sums: &[u32], dice: &mut Generator) {
        let Identity::Player(liar) = self.liar else { return };
        if said.is_empty() {
            return;
        }
        let victim = &said[below(dice, said.len() as u32) as usize];
        let mut forged = Statement { author: liar, checksum: victim.checksum ^ 1, ..victim.clone() };
        forged.sign(roster, &key_of(liar.0));
        let mut sums = sums.to_vec();
        let Some(sum) = sums.get_mut(victim.turn.0 as usize) else { return };
        *sum = forged.checksum;
        let statements: Vec<Statement> = said.iter().cloned().chain([forged]).collect();
        let judged = Conviction::of(roster, &statements, &sums, 1).expect("all of them are signed");
        let honest = judged.convicted.iter().find(|player| !self.is_liar(*player));
        assert_eq!(honest, None, "{}: a referee and player {liar} convict", self.what);
    }

    /// Honest players who have come to the end and were told of nothing have run the same orders.
    fn compare(&self, honest: &[&Peer]) {
        let is_done = |peer: &&&Peer| {
            let alarms = peer.record.events.iter().any(|event| {
                matches!(
                    event,
                    Event::Contradiction(_)
                        | Event::Outlier(_)
                        | Event::Desync(_)
                        | Event::ShownAnother { .. }
                        | Event::StatementMissing { .. }
                )
            });
            let plays = matches!(peer.identity, Identity::Player(_));
            plays && !alarms && peer.driver.session().phase() == SessionPhase::Finished
        };
        let ends: Vec<u64> =
            honest.iter().filter(is_done).map(|peer| peer.driver.simulation().history).collect();
        assert!(ends.windows(2).all(|pair| pair[0] == pair[1]), "{}: {ends:?}", self.what);
    }
}

fn simulates(peer: &Peer) -> bool {
    peer.identity != Identity::Relay
}
