//! The streams of all players.

use core::ops::{Deref, DerefMut};

use smallvec::SmallVec;

use crate::session::stream::Stream;
use crate::value::ids::PlayerId;

/// Each player's stream, by number.
#[derive(Clone, Debug)]
pub(crate) struct Streams {
    all: SmallVec<[Stream; 4]>,
    author: Option<PlayerId>,
}

impl Streams {
    /// `author` is the local player, if this peer plays.
    pub(super) fn new(all: impl Iterator<Item = Stream>, author: Option<PlayerId>) -> Self {
        Self { all: all.collect(), author }
    }

    /// The local player, if this peer makes the entries of its stream. A peer that joins a running match does not until its player is back:
    /// the stream is then like any other player's.
    pub(super) fn author(&self) -> Option<PlayerId> {
        self.author
    }

    /// From now on this peer makes the entries of this player's stream, or of none.
    pub(super) fn set_author(&mut self, author: Option<PlayerId>) {
        self.author = author;
    }

    /// Exchanges all streams for those of a running match.
    pub(super) fn replace(&mut self, all: impl Iterator<Item = Stream>) {
        self.all = all.collect();
    }

    /// Every player and its stream.
    pub(super) fn by_player(&self) -> impl Iterator<Item = (PlayerId, &Stream)> {
        (0_u8..).map(PlayerId).zip(&self.all)
    }

    /// Next entry of the slowest stream that has not ended.
    pub(super) fn slowest_next(&self) -> u32 {
        let live = self.all.iter().filter(|stream| stream.end().is_none());
        live.map(Stream::next).min().unwrap_or(u32::MAX)
    }

    /// Whether all entries are here that a peer with the state before this turn needs.
    pub(super) fn serve(&self, turn: u32) -> bool {
        self.all.iter().all(|stream| stream.serves(turn))
    }

    /// Players whose streams have not ended, bit n for player n.
    pub(super) fn live(&self) -> u16 {
        let live = self.by_player().filter(|(_, stream)| stream.end().is_none());
        live.fold(0, |mask, (player, _)| mask | (1 << player.0))
    }

    /// Players who are in the match in this turn, bit n for player n.
    pub(super) fn live_in(&self, turn: u32) -> u16 {
        let live = self.by_player().filter(|(_, stream)| stream.end_in(turn).is_none());
        live.fold(0, |mask, (player, _)| mask | (1 << player.0))
    }
}

impl Deref for Streams {
    type Target = [Stream];

    fn deref(&self) -> &[Stream] {
        &self.all
    }
}

impl DerefMut for Streams {
    fn deref_mut(&mut self) -> &mut [Stream] {
        &mut self.all
    }
}

impl<'a> IntoIterator for &'a Streams {
    type Item = &'a Stream;
    type IntoIter = core::slice::Iter<'a, Stream>;

    fn into_iter(self) -> Self::IntoIter {
        self.all.iter()
    }
}
