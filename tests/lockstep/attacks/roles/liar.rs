//! A changed client in any role: it runs an honest session and changes what that sends.

use testudo_lockstep::packet::{Manifest, Packet, Segment, Transfer, TurnsPacket, Want};
use testudo_lockstep::{
    Duration, Entry, Extra, Instant, Payload, PeerId, PlayerId, PlayerKey, Roster, Session, Since, Statement,
    Turn,
};
use testudo_tests::scenes::Generator;

use crate::attacks::forgers::below;
use crate::attacks::{FORMAT, sealed};
use crate::toy::Order;

/// The ways to lie. Those with a copy or a state of the game are in [`crate::toy::Toy`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Lie {
    /// Random packets: entries, ends, statements, votes, farewells, keys of anybody.
    Forge,
    /// Many entries of its own at once, ahead of everybody.
    Ahead,
    /// All packets come late.
    Late,
    /// Checksums in entries are wrong: its own, or as the middle anybody's.
    Checksum,
    /// Something in what it signs is wrong.
    Signed,
    /// One peer is shown other entries than the others.
    Another,
    /// Statements are left out: its own, or as the middle anybody's.
    Withhold,
    /// Checksums are left out.
    Silent,
    /// It acknowledges nothing any more.
    NoAcks,
    /// Statements go on as those of somebody else, or of another turn.
    Relabel,
    /// A bit of the states that it gives or forwards is wrong: of the session's part or of the game's, with right hashes around it.
    State,
    /// A bit of the game's state is wrong where it is taken.
    Game,
    /// Its copy of the game becomes wrong.
    Copy,
}

impl Lie {
    pub(super) const ALL: [Self; 13] = [
        Self::Forge,
        Self::Ahead,
        Self::Late,
        Self::Checksum,
        Self::Signed,
        Self::Another,
        Self::Withhold,
        Self::Silent,
        Self::NoAcks,
        Self::Relabel,
        Self::State,
        Self::Game,
        Self::Copy,
    ];
}

/// What a liar needs to remember.
pub(super) struct Liar {
    pub(super) lies: Vec<Lie>,
    /// The player whose entries, checksums and statements it changes.
    target: PlayerId,
    /// The peer that is shown something else.
    victim: u32,
    key: Option<(PlayerId, PlayerKey)>,
    /// The turn from which it lies.
    from: u32,
    /// A drawn number: what exactly is wrong.
    number: u32,
    delay: Duration,
    has_run_ahead: bool,
    acks: Option<TurnsPacket>,
    waiting: Vec<(Instant, PeerId, Vec<u8>)>,
    /// The announcement of the state in transfer, and its bytes once they are known.
    promised: Option<Manifest>,
    state: Option<(u32, Vec<u8>)>,
}

impl Liar {
    /// `own`: the player whose place it has. A middle has everybody's entries in its hand.
    pub(super) fn new(
        dice: &mut Generator,
        lies: Vec<Lie>,
        own: Option<(PlayerId, PlayerKey)>,
        is_middle: bool,
        players: u8,
        nodes: u32,
    ) -> Self {
        let anybody = PlayerId(below(dice, players.into()) as u8);
        let target = own.as_ref().filter(|_| !is_middle).map_or(anybody, |own| own.0);
        Self {
            lies,
            target,
            victim: below(dice, nodes),
            key: own,
            from: 8 + below(dice, 30),
            number: dice.next_u32(),
            delay: Duration::from_millis(u64::from(below(dice, 2_500))),
            has_run_ahead: false,
            acks: None,
            waiting: Vec::new(),
            promised: None,
            state: None,
        }
    }

    fn tells(&self, lie: Lie) -> bool {
        self.lies.contains(&lie)
    }

    /// What leaves now instead of a packet of the honest session.
    pub(super) fn change(
        &mut self,
        session: &mut Session<Order>,
        to: PeerId,
        bytes: &[u8],
        now: Instant,
    ) -> Vec<Vec<u8>> {
        let key = session.packet_key(to).unwrap_or(0);
        let changed = match Packet::decode(bytes, key, FORMAT) {
            Ok(Packet::Turns(mut turns)) => {
                self.change_turns(&mut turns, to, session.roster());
                vec![sealed(&Packet::Turns(turns), key)]
            }
            Ok(Packet::Transfer(transfer)) if self.tells(Lie::State) => {
                let transfers = self.change_transfer(session, to, transfer, now);
                let encode = |transfer| sealed(&Packet::Transfer(transfer), key);
                transfers.into_iter().map(encode).collect()
            }
            _ => vec![bytes.to_vec()],
        };
        if self.tells(Lie::Late) && session.next_turn().0 > self.from {
            self.waiting.extend(changed.into_iter().map(|packet| (now + self.delay, to, packet)));
            return Vec::new();
        }
        changed
    }

    /// What was held back long enough.
    pub(super) fn take_due(&mut self, now: Instant) -> Vec<(PeerId, Vec<u8>)> {
        let due = self.waiting.extract_if(.., |(at, _, _)| *at <= now);
        due.map(|(_, to, packet)| (to, packet)).collect()
    }

    fn change_turns(&mut self, turns: &mut TurnsPacket, to: PeerId, roster: Option<&Roster>) {
        let lies = self.lies.clone();
        for lie in lies {
            match lie {
                Lie::Ahead => self.run_ahead(turns),
                Lie::Checksum => self.change_checksums(turns, |value| Some(value ^ 1)),
                Lie::Silent => self.change_checksums(turns, |_| None),
                // To one peer only, or to all.
                Lie::Signed if self.number & 8 == 0 || to.0 == self.victim => {
                    self.sign_something_else(turns, roster);
                }
                Lie::Another if to.0 == self.victim => self.show_another(turns),
                Lie::Withhold => {
                    turns
                        .signed
                        .statements
                        .retain(|said| said.author != self.target || said.turn.0 < self.from);
                }
                Lie::NoAcks if turns.base > self.from => {
                    turns.acks = self.acks.get_or_insert_with(|| turns.clone()).acks.clone();
                }
                Lie::Relabel => self.relabel(turns),
                _ => {}
            }
        }
    }

    /// Appends empty entries, once.
    fn run_ahead(&mut self, turns: &mut TurnsPacket) {
        let [segment] = &mut turns.segments[..] else { return };
        if self.has_run_ahead || segment.player != self.target || segment.first < self.from {
            return;
        }
        self.has_run_ahead = true;
        let count = 1 + self.number % 600;
        turns.entries.extend((0..count).map(|_| Entry::default()));
        segment.entries.end += count;
        turns.base += count;
        turns.signed.statements.clear();
    }

    /// The entries of the target from the turn on from which it lies.
    fn targets<'a>(&self, turns: &'a mut TurnsPacket) -> impl Iterator<Item = (u32, &'a mut Entry)> {
        let (target, from) = (self.target, self.from);
        let segment = turns.segments.iter().find(|segment| segment.player == target);
        let Segment { first, entries, .. } =
            segment.cloned().unwrap_or(Segment { player: target, first: 0, entries: 0..0 });
        let entries = &mut turns.entries[entries.start as usize..entries.end as usize];
        (first..).zip(entries).filter(move |(number, _)| *number >= from)
    }

    fn change_checksums(&self, turns: &mut TurnsPacket, change: impl Fn(u32) -> Option<u32>) {
        for (_, entry) in self.targets(turns) {
            let extras = entry.extras.iter().filter_map(|extra| match *extra {
                Extra::Checksum(value) => change(value).map(Extra::Checksum),
                extra => Some(extra),
            });
            entry.extras = extras.collect();
        }
    }

    fn show_another(&self, turns: &mut TurnsPacket) {
        for (number, entry) in self.targets(turns).filter(|(_, entry)| entry.end().is_none()) {
            entry.payload = Payload::new(&[number as u8 & 0xfe, 3, 0], 17);
        }
    }

    fn sign_something_else(&self, turns: &mut TurnsPacket, roster: Option<&Roster>) {
        let (Some((own, key)), Some(roster)) = (&self.key, roster) else { return };
        let said = turns.signed.statements.iter_mut();
        for statement in said.filter(|said| said.author == *own && said.turn.0 >= self.from) {
            match self.number % 7 {
                0 => statement.checksum ^= 1,
                1 => statement.all[0] ^= 1,
                2 => statement.own[0] ^= 1,
                3 => statement.live = 1 << own.0,
                4 => statement.agreed[0] ^= 1,
                5 => statement.since = Some(Since { turn: Turn(self.from), checksum: self.number }),
                _ => (statement.checksum, statement.agreed[1]) = (self.number, 0),
            }
            statement.sign(roster, key);
        }
    }

    fn relabel(&self, turns: &mut TurnsPacket) {
        let Some(Statement { author, turn, live, .. }) = turns.signed.statements.first_mut() else { return };
        match self.number % 3 {
            0 if *live & (1 << self.target.0) != 0 => *author = self.target,
            1 => turn.0 += 1,
            _ => turn.0 = turn.0.saturating_sub(6),
        }
    }

    /// The hashes come before the bytes, so the liar makes its own session believe that somebody wants the bytes, and announces what it makes of them.
    fn change_transfer(
        &mut self,
        session: &mut Session<Order>,
        to: PeerId,
        transfer: Transfer,
        now: Instant,
    ) -> Vec<Transfer> {
        match transfer {
            Transfer::Manifest(manifest) if manifest.blocks.len() == 1 && manifest.total <= 1_024 => {
                let turn = manifest.turn;
                self.promised = Some(manifest);
                if self.state.as_ref().is_none_or(|state| state.0 != turn) {
                    let want =
                        Want { turn, next: 0, received: 0, echo_ms: 0, held_ms: 0, have: Default::default() };
                    let key = session.packet_key(to).unwrap_or(0);
                    let want = sealed(&Packet::Transfer(Transfer::Want(want)), key);
                    session.handle_packet(now, to, &want);
                    return Vec::new();
                }
                self.wrong_manifest().into_iter().collect()
            }
            Transfer::Chunk(mut chunk)
                if self.promised.as_ref().is_some_and(|one| one.turn == chunk.turn) =>
            {
                let mut bytes = chunk.bytes.clone();
                let bit = self.number as usize % (bytes.len() * 8);
                bytes[bit / 8] ^= 1 << (bit % 8);
                self.state = Some((chunk.turn, bytes.clone()));
                chunk.bytes = bytes;
                self.wrong_manifest().into_iter().chain([Transfer::Chunk(chunk)]).collect()
            }
            other => vec![other],
        }
    }

    fn wrong_manifest(&self) -> Option<Transfer> {
        let (_, bytes) = self.state.as_ref()?;
        let hash = xxhash_rust::xxh3::xxh3_64(bytes);
        let manifest = self.promised.clone()?;
        Some(Transfer::Manifest(Manifest { hash, blocks: vec![hash as u32], ..manifest }))
    }
}
