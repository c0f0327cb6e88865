//! A match in which every peer's packets can be changed on their way out, and everything that a peer was told and could see is kept.

use crate::play::give_order;
use std::collections::{BTreeMap, BTreeSet};

use testudo_lockstep::simnet::{LinkConfig, SimNet};
use testudo_lockstep::{
    Driver, Duration, Event, Identity, Instant, PeerId, Roster, SessionConfig, Statement, fold_checksum,
};
use testudo_tests::scenes::Generator;

use super::liar::{Liar, Lie};
use crate::attacks::forgers::{below, packet};
use crate::attacks::sealed;
use crate::joining::secret;
use crate::toy::{Toy, network, peer};

/// Virtual time between two rounds.
const TICK: Duration = Duration::from_millis(10);

/// Rounds between two looks at what the others have signed: they sign once per second.
const LOOK_EVERY: u64 = 40;

/// What a peer knows at the end.
#[derive(Default)]
pub(super) struct Record {
    /// Of its own copy: the folded checksum before each turn.
    pub(super) sums: BTreeMap<u32, u32>,
    pub(super) statements: Vec<Statement>,
    seen: BTreeSet<[u8; 64]>,
    pub(super) events: Vec<Event>,
    pub(super) roster: Option<Roster>,
    /// Its copy has run from the first turn of the match.
    pub(super) is_whole: bool,
}

pub(super) struct Peer {
    pub(super) driver: Driver<Toy>,
    pub(super) record: Record,
    pub(super) identity: Identity,
    /// Its program does not run.
    pub(super) is_off: bool,
}

pub(super) struct World {
    pub(super) config: SessionConfig,
    pub(super) peers: Vec<Peer>,
    pub(super) liars: BTreeMap<usize, Liar>,
    net: SimNet,
    now: Instant,
    round: u64,
}

impl World {
    /// Nobody is here yet.
    pub(super) fn new(config: SessionConfig, seed: u64, link: LinkConfig) -> Self {
        let net = network(seed, link);
        let (peers, liars) = (Vec::new(), BTreeMap::new());
        Self { config, peers, liars, net, now: Instant::ZERO, round: 0 }
    }

    /// Starts a program at the next free node.
    pub(super) fn add(&mut self, identity: Identity, toy: Toy) -> usize {
        let node = self.peers.len();
        let driver = self.driver(identity, toy);
        let record = Record { is_whole: self.now == Instant::ZERO, ..Record::default() };
        self.peers.push(Peer { driver, record, identity, is_off: false });
        node
    }

    /// Starts the program of a node anew. What it knew is kept, but for its copy.
    pub(super) fn restart(&mut self, node: usize, toy: Toy) {
        let driver = self.driver(self.peers[node].identity, toy);
        let peer = &mut self.peers[node];
        (peer.driver, peer.is_off) = (driver, false);
        (peer.record.sums, peer.record.is_whole) = (BTreeMap::new(), false);
    }

    fn driver(&self, identity: Identity, toy: Toy) -> Driver<Toy> {
        let config = match identity {
            Identity::Player(player) => self.config.clone().place_secret(secret(player.0)),
            _ => self.config.clone(),
        };
        peer(&config, identity, toy, self.now)
    }

    /// Virtual time in ms.
    pub(super) fn now_ms(&self) -> u64 {
        self.now.as_micros() / 1_000
    }

    /// Plays up to this time, or until every honest peer is done.
    pub(super) fn run(&mut self, until_ms: u64, dice: &mut Generator) {
        while self.now_ms() < until_ms && !self.is_over() {
            self.tick(dice);
        }
    }

    /// Whether every honest peer is done.
    pub(super) fn is_over(&self) -> bool {
        let honest = self.peers.iter().enumerate().filter(|(node, _)| !self.liars.contains_key(node));
        honest.into_iter().all(|(_, peer)| peer.is_off || peer.driver.session().is_over())
    }

    fn tick(&mut self, dice: &mut Generator) {
        self.now += TICK;
        self.round += 1;
        while let Some(packet) = self.net.receive(self.now) {
            let peer = self.peers.get_mut(packet.to as usize).filter(|peer| !peer.is_off);
            if let Some(peer) = peer {
                peer.driver.session_mut().handle_packet(self.now, PeerId(packet.from), &packet.bytes);
            }
        }
        for node in 0..self.peers.len() {
            if !self.peers[node].is_off {
                self.peers[node].play(self.now);
                self.send(node);
                self.forge(node, dice);
                self.peers[node].note(self.round.is_multiple_of(LOOK_EVERY));
            }
        }
    }

    fn send(&mut self, node: usize) {
        let session = self.peers[node].driver.session_mut();
        let mut bytes = Vec::new();
        while let Some(to) = session.poll_transmit(self.now, &mut bytes) {
            match self.liars.get_mut(&node) {
                None => self.net.send(self.now, node as u32, to.0, &bytes),
                Some(liar) => {
                    for changed in liar.change(session, to, &bytes, self.now) {
                        self.net.send(self.now, node as u32, to.0, &changed);
                    }
                }
            }
        }
        let late = self.liars.get_mut(&node).map(|liar| liar.take_due(self.now));
        for (to, bytes) in late.into_iter().flatten() {
            self.net.send(self.now, node as u32, to.0, &bytes);
        }
    }

    /// A random packet to somebody, now and then.
    fn forge(&mut self, node: usize, dice: &mut Generator) {
        let is_forger = self.liars.get(&node).is_some_and(|liar| liar.lies.contains(&Lie::Forge));
        if !is_forger || below(dice, 16) > 0 || self.now_ms() < 1_500 {
            return;
        }
        let to = PeerId(below(dice, self.peers.len() as u32));
        let session = self.peers[node].driver.session();
        let Some(key) = session.packet_key(to) else { return };
        let own = session.player().map(|player| player.0);
        let forged = packet(dice, session.next_turn().0, own, session.roster());
        self.net.send(self.now, node as u32, to.0, &sealed(&forged, key));
    }
}

impl Peer {
    fn play(&mut self, now: Instant) {
        let sums = &mut self.record.sums;
        self.driver.advance_with(now, |turn, toy, session| {
            sums.insert(turn.0, fold_checksum(toy.checksum()));
            give_order(turn, session);
        });
    }

    fn note(&mut self, is_time: bool) {
        let Self { driver, record, .. } = self;
        record.events.extend(std::iter::from_fn(|| driver.session_mut().poll_event()));
        if is_time || driver.session().is_over() {
            record.roster = driver.session().roster().cloned().or(record.roster.take());
            let said = driver.session().statements();
            record.statements.extend(said.filter(|said| record.seen.insert(said.signature)).cloned());
        }
    }
}

impl Record {
    /// What a statement about each turn has to say.
    pub(super) fn course(&self) -> Vec<u32> {
        let first = self.sums.keys().next().copied().unwrap_or(0);
        let turns = self.sums.keys().next_back().map_or(0, |last| last + 1);
        // Before the first turn there is no checksum, and a match that is resumed has none of the turns before.
        (0..turns)
            .map(|turn| if turn <= first { 0 } else { self.sums.get(&turn).copied().unwrap_or(0) })
            .collect()
    }
}
