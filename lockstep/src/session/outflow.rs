//! What goes out over one link, and when the next packet is due.

use crate::packet::Bye;
use crate::value::ids::{PLAYERS_MAX, PlayerId};
use crate::value::time::{Duration, Instant};

/// Shortest time between two packets to one peer when new entries of others arrive in small lots.
pub(crate) const GAP_MIN: Duration = Duration::from_millis(10);

/// Greatest number of packets to one peer at one time, if what it lacks does not fit into one.
const PACKETS_AT_ONCE_MAX: u8 = 4;

/// Number of copies of a bye packet, because nobody confirms it.
const BYE_COPIES: u8 = 3;

/// What has been sent over a link, and what must be.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outflow {
    last_sent: Option<Instant>,
    /// There is something new for the remote: send as soon as possible, not at the next tick.
    fresh: bool,
    /// Our own entry of a new turn has closed: send at once.
    urgent: bool,
    packets_at_once_left: u8,
    /// Where the next packet at the same time continues in each stream, if not everything fits into one.
    cursor: [u32; PLAYERS_MAX as usize],
    /// Others' entries below this have been sent at least once.
    pub(crate) carried: [u32; PLAYERS_MAX as usize],
    /// When everything unconfirmed was last sent.
    pub(crate) repeated_at: Instant,
    /// A welcome must be sent.
    pub(crate) owes_welcome: bool,
    /// The bye to send, and how many copies are left.
    last_word: Option<(Bye, u8)>,
}

impl Outflow {
    /// Entries of others have arrived that this remote lacks.
    pub(crate) fn mark_fresh(&mut self) {
        self.fresh = true;
    }

    /// Our own entry has closed.
    pub(crate) fn mark_urgent(&mut self) {
        self.urgent = true;
    }

    /// Sends a bye with this link's next packets.
    pub(crate) fn owe_bye(&mut self, bye: Bye) {
        self.last_word = Some((bye, BYE_COPIES));
    }

    /// Sends one more bye, unless one is due anyway.
    pub(crate) fn repeat_bye(&mut self, bye: Bye) {
        self.last_word.get_or_insert((bye, 1));
    }

    /// Whether a bye must still be sent.
    pub(crate) fn owes_bye(&self) -> bool {
        self.last_word.is_some()
    }

    /// One copy of the bye.
    pub(crate) fn take_bye(&mut self) -> Option<Bye> {
        let (bye, copies) = self.last_word?;
        self.last_word = if copies > 1 { Some((bye, copies - 1)) } else { None };
        Some(bye)
    }

    /// Whether the next packet continues where the one before, at the same time, had no more room.
    pub(crate) fn continues(&self) -> bool {
        self.packets_at_once_left > 0
    }

    /// Notes up to where a packet carries a stream.
    pub(crate) fn note_carried(&mut self, player: PlayerId, next: u32) {
        self.cursor[player.index()] = next;
    }

    /// Notes that a packet goes out; `more` means that not everything fitted.
    pub(crate) fn note_sent(&mut self, now: Instant, more: bool) {
        let continues = self.packets_at_once_left > 0;
        self.packets_at_once_left = match (more, continues) {
            (false, _) => 0,
            (true, true) => self.packets_at_once_left - 1,
            (true, false) => PACKETS_AT_ONCE_MAX - 1,
        };
        self.last_sent = Some(now);
        self.fresh = false;
        self.urgent = false;
    }

    /// When the next packet is due, if packets go out every `tick`. A closed link sends only byes. At the end of time nothing is due any more.
    pub(crate) fn due_at(&self, tick: Duration, is_closed: bool) -> Option<Instant> {
        if self.owes_bye() {
            return Some(Instant::ZERO);
        }
        if is_closed {
            return None;
        }
        let Some(last) = self.last_sent else { return Some(Instant::ZERO) };
        if self.urgent || self.packets_at_once_left > 0 || self.owes_welcome {
            return Some(last);
        }
        let at = last + if self.fresh { tick.min(GAP_MIN) } else { tick };
        (at > last).then_some(at)
    }

    /// The first entry of a stream that the next packet carries to a remote that lacks it from `acked` on.
    pub(crate) fn first_to_send(&self, player: PlayerId, acked: u32) -> u32 {
        if self.packets_at_once_left > 0 { self.cursor[player.index()].max(acked) } else { acked }
    }
}
