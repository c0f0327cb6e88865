//! What becomes of the liar's honest packets on their way out.

use std::collections::VecDeque;

use testudo_lockstep::BitWriter;
use testudo_lockstep::packet::{Packet, PayloadFormat, Segment, TurnsPacket};
use testudo_lockstep::{
    Duration, Entry, Extra, Identity, Instant, PlayerId, PlayerKey, Roster, SessionConfig,
};

use crate::lie::Lie;

/// The first turn of a lie that comes once, or of a silence.
const FROM: u32 = 20;

/// Changes packets.
pub(crate) struct Twist {
    lie: Lie,
    own: PlayerId,
    key: PlayerKey,
    format: PayloadFormat,
    /// When each of this player's entries was ready, from `known` on backwards.
    ready: VecDeque<(u32, Instant)>,
    known: u32,
    /// The last acknowledgements that it gives.
    acks: Option<smallvec::SmallVec<[u32; 16]>>,
    writer: BitWriter,
}

impl Twist {
    pub(crate) fn new(lie: Lie, own: PlayerId, key: PlayerKey, config: &SessionConfig) -> Self {
        // Commands have a variable size, whatever the size of the largest one.
        let format = config.payload_format(1);
        let (ready, writer) = (VecDeque::new(), BitWriter::new());
        Self { lie, own, key, format, ready, known: 0, acks: None, writer }
    }

    /// How often each packet is sent.
    pub(crate) fn copies(&self) -> u32 {
        if let Lie::Copies(copies) = self.lie { copies } else { 1 }
    }

    /// The packet as it is sent. `link_key` is known after the hello.
    pub(crate) fn of(
        &mut self,
        bytes: Vec<u8>,
        link_key: Option<u64>,
        roster: Option<&Roster>,
        now: Instant,
    ) -> Vec<u8> {
        if let (Lie::Identity(player), Ok(Packet::Hello(mut hello))) =
            (self.lie, Packet::decode(&bytes, 0, self.format))
        {
            hello.identity = Identity::Player(PlayerId(player));
            return self.encoded(&Packet::Hello(hello), 0);
        }
        let Some(key) = link_key else { return bytes };
        let Ok(Packet::Turns(mut turns)) = Packet::decode(&bytes, key, self.format) else { return bytes };
        match self.lie {
            Lie::Ahead(count) => self.run_ahead(&mut turns, count),
            Lie::Signed => {
                let own = turns.signed.statements.iter_mut().filter(|said| said.author == self.own);
                own.filter(|said| said.turn.0 > FROM).for_each(|said| {
                    said.checksum ^= 1;
                    roster.into_iter().for_each(|roster| said.sign(roster, &self.key));
                });
            }
            Lie::Silent => {
                turns.signed.statements.retain(|said| said.author != self.own);
                for entry in &mut turns.entries {
                    entry.extras.retain(|extra| !matches!(extra, Extra::Checksum(_)));
                }
            }
            Lie::Late(ms) => self.hold_back(&mut turns, Duration::from_millis(ms.into()), now),
            Lie::NoAcks if turns.base > FROM => {
                turns.acks = self.acks.get_or_insert_with(|| turns.acks.clone()).clone();
            }
            _ => return bytes,
        }
        self.encoded(&Packet::Turns(turns), key)
    }

    fn encoded(&mut self, packet: &Packet, key: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        packet.encode(key, self.format, &mut self.writer, &mut bytes);
        bytes
    }

    /// Appends empty entries.
    fn run_ahead(&self, turns: &mut TurnsPacket, count: u32) {
        let [segment] = &mut turns.segments[..] else { return };
        if segment.player != self.own || segment.first < FROM {
            return;
        }
        turns.entries.extend((0..count).map(|_| Entry::default()));
        segment.entries.end += count;
        turns.base += count;
        turns.signed.statements.clear();
    }

    /// Leaves out what was not ready long enough ago.
    fn hold_back(&mut self, turns: &mut TurnsPacket, delay: Duration, now: Instant) {
        let Some(segment) = turns.segments.first().filter(|segment| segment.player == self.own).cloned()
        else {
            return;
        };
        let next = segment.first + segment.entries.len() as u32;
        for number in self.known.max(segment.first)..next {
            self.ready.push_back((number, now));
        }
        self.known = self.known.max(next);
        while self.ready.front().is_some_and(|(number, _)| *number < segment.first) {
            self.ready.pop_front();
        }
        // The first turns are on time, so that the match begins.
        let due = |(number, ready): &&(u32, Instant)| *number < FROM || *ready + delay <= now;
        let count = self.ready.iter().filter(due).count() as u32;
        turns.entries.truncate(count as usize);
        turns.base = turns.base.min(segment.first + count);
        turns.segments.clear();
        if count > 0 {
            turns.segments.push(Segment { entries: 0..count, ..segment });
        }
    }
}
