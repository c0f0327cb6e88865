//! Who is here, and what the players show of themselves: names, teams, colours, whatever the game puts into 64 bytes.
//!
//! In a star the middle has the only word: players send it their profiles, and it sends everybody all of them, also to the player itself.

use std::collections::VecDeque;

use crate::packet::{self, Frame, PROFILE_BYTES_MAX};
use crate::session::channel::{Budget, Channel};
use crate::session::event::Event;
use crate::session::link::Link;
use crate::session::links::ByPeer;
use crate::session::talk::{Message, MessageError};
use crate::session::{AnySession, SessionPhase};
use crate::value::ids::{Identity, PLAYERS_MAX, PeerId, PlayerId};

/// What a session knows of its members beside the match.
#[derive(Clone, Debug, Default)]
pub(super) struct Membership {
    /// Before the start, what the middle says of the players.
    told: packet::Members,
    profiles: [Vec<u8>; PLAYERS_MAX as usize],
    /// What the local player shows has been set here.
    shows: bool,
    pub(super) channels: ByPeer<Channel>,
    /// Messages over links that have broken, each with whose link it was.
    pub(super) lost: Vec<(Option<Identity>, Frame)>,
    /// Messages for the application, and their bytes.
    pub(super) inbox: VecDeque<Message>,
    pub(super) inbox_bytes: usize,
    /// The application has asked for messages.
    pub(super) takes_messages: bool,
    /// What the local application may send.
    pub(super) budget: Budget,
}

impl AnySession {
    /// Whether a player is connected, as far as this peer knows. In a star everybody knows what the middle says before the start; in the
    /// match a guest takes everybody for present whose actions have not ended.
    #[must_use]
    pub fn is_here(&self, player: PlayerId) -> bool {
        let identity = Identity::Player(player);
        let is_linked =
            || self.common.links.values().any(|link| link.is_connected() && link.identity == Some(identity));
        if identity == self.common.setup.identity || self.common.setup.accepts() {
            return identity == self.common.setup.identity || is_linked();
        }
        match self.common.phase {
            SessionPhase::Lobby => self.members.told.here & bit(player) != 0 || is_linked(),
            _ => self.common.streams.get(player.index()).is_some_and(|stream| stream.end().is_none()),
        }
    }

    /// The middle of the star: the host, or a relay. None in a mesh.
    #[must_use]
    pub fn middle(&self) -> Option<Identity> {
        let setup = &self.common.setup;
        (!setup.is_mesh()).then(|| setup.coordinator())
    }

    /// Whether a watcher is at the other end of this link.
    pub(crate) fn leads_to_watcher(&self, peer: PeerId) -> bool {
        self.connected_link(peer)
            .is_some_and(|index| self.common.links[index].identity == Some(Identity::Watcher))
    }

    /// What a player shows of itself; empty if nothing is known.
    #[must_use]
    pub fn profile(&self, player: PlayerId) -> &[u8] {
        self.members.profiles.get(player.index()).map_or(&[], Vec::as_slice)
    }

    /// Sets what a player shows to everybody: up to 64 bytes whose meaning is the game's business, such as a name, a team and a colour. Every
    /// player may set its own, and the player [`crate::SessionConfig::host_player()`] those of all; in a mesh each its own. Possible until the match starts.
    /// Whoever comes to a running match sets its own once, before it connects. Of two who set the same one, the later at the middle counts: a host that
    /// has defaults for others keeps them in its own profile, or its default may replace what a player has just chosen. What reaches the middle after the
    /// start is not taken, and whoever has set it gets the present one back; in a mesh the last moment may reach some peers only.
    ///
    /// # Errors
    /// Too long, too often, not a player that this peer may set, or the match has begun.
    pub fn set_profile(&mut self, player: PlayerId, bytes: &[u8]) -> Result<(), MessageError> {
        if bytes.len() > PROFILE_BYTES_MAX {
            return Err(MessageError::TooLong { bytes: bytes.len(), max: PROFILE_BYTES_MAX });
        }
        if self.common.phase != SessionPhase::Lobby {
            return Err(MessageError::Begun);
        }
        let frame = Frame::Profile { player, bytes: bytes.to_vec() };
        if player.0 >= self.common.config().players {
            return Err(MessageError::Nobody);
        }
        if !self.may_show(self.common.setup.identity, player) {
            return Err(MessageError::OfAnother);
        }
        let is_own = self.common.setup.player() == Some(player);
        if !is_own && !self.common.links.values().any(Link::is_connected) && !self.common.setup.accepts() {
            return Err(MessageError::Nobody);
        }
        // What a guest of a star knows may be older than what it has said since.
        let has_the_word = self.common.setup.accepts() || self.common.setup.is_mesh();
        if has_the_word && self.profile(player) == bytes {
            return Ok(());
        }
        if !self.members.budget.take(&frame, self.common.now) {
            return Err(MessageError::TooOften);
        }
        self.members.shows |= is_own;
        self.members.profiles[player.index()] = bytes.to_vec();
        self.show_to_all(player);
        Ok(())
    }

    /// Everybody who is connected hears what a player shows.
    fn show_to_all(&mut self, player: PlayerId) {
        let bytes = self.profile(player).to_vec();
        for index in 0..self.common.links.len() {
            if self.common.links[index].is_connected() {
                let _ = self.push_frame(index, Frame::Profile { player, bytes: bytes.clone() });
            }
        }
    }

    /// A removed player's place is for somebody else, who is not to be taken for the former one.
    pub(super) fn forget_profile(&mut self, player: PlayerId) {
        if !self.profile(player).is_empty() {
            self.members.profiles[player.index()].clear();
            self.show_to_all(player);
        }
    }

    /// Whether this identity may set what a player shows.
    fn may_show(&self, who: Identity, player: PlayerId) -> bool {
        let host = Identity::Player(PlayerId(self.common.setup.config.sides.host_player));
        player.0 < self.common.setup.config.players
            && (who == Identity::Player(player) || (who == host && !self.common.setup.is_mesh()))
    }

    /// A link is new: the other end hears what the players show, or what this one shows.
    pub(super) fn show_profiles(&mut self, index: usize) {
        self.forget_channels();
        let own = self.common.setup.player().filter(|_| self.members.shows);
        for player in (0..self.common.setup.config.players).map(PlayerId) {
            let tells = self.common.setup.forwards() || own == Some(player);
            let bytes = self.profile(player).to_vec();
            if tells && !bytes.is_empty() {
                let _ = self.push_frame(index, Frame::Profile { player, bytes });
            }
        }
    }

    /// A link shows what a player shows. Returns whether it may.
    pub(super) fn take_profile(&mut self, index: usize, player: PlayerId, bytes: &[u8]) -> bool {
        let Some(from) = self.common.links[index].identity else { return false };
        let from_middle = self.is_from_middle(index);
        let own = from == Identity::Player(player);
        let is_first = !self.channel(index).has_shown;
        let in_lobby = self.common.phase == SessionPhase::Lobby;
        let may = player.0 < self.common.setup.config.players
            && (from_middle || (self.may_show(from, player) && (in_lobby || (own && is_first))));
        if !may {
            // It came after the start, so whoever has set it shows itself something that nobody else sees.
            if own && self.common.setup.forwards() {
                let bytes = self.profile(player).to_vec();
                let _ = self.push_frame(index, Frame::Profile { player, bytes });
            }
            return false;
        }
        self.channel(index).has_shown |= own;
        if self.profile(player) != bytes {
            self.members.profiles[player.index()] = bytes.to_vec();
            self.common.emit(Event::Profile { player });
        }
        if self.common.setup.forwards() {
            self.show_to_all(player);
        }
        true
    }

    /// What the middle of a star tells in its lobby packets.
    pub(super) fn members_now(&self) -> Option<packet::Members> {
        let players = || (0..self.common.setup.config.players).map(PlayerId);
        let set = |is: &dyn Fn(PlayerId) -> bool| players().filter(|p| is(*p)).fold(0, |set, p| set | bit(p));
        let here = |player| self.is_here(player);
        let ready = |player| self.is_here(player) && self.is_ready(player);
        self.common.setup.forwards().then(|| packet::Members { here: set(&here), ready: set(&ready) })
    }

    /// The middle tells who is here.
    pub(super) fn take_members(&mut self, index: usize, members: Option<packet::Members>) {
        if let Some(members) = members.filter(|_| self.is_from_middle(index)) {
            self.members.told = members;
        }
    }

    /// Before the start: whether the middle says that a player wants to begin.
    pub(super) fn is_told_ready(&self, player: PlayerId) -> bool {
        self.members.told.ready & bit(player) != 0
    }

    /// Whether a peer has not acknowledged what a player shows, so that it is sent again.
    #[cfg(all(feature = "testing", feature = "simnet"))]
    pub(crate) fn sends_profile(&self, peer: PeerId, player: PlayerId) -> bool {
        self.members.channels.get(&peer).is_some_and(|channel| channel.has_profile(player))
    }

    /// The channel of a link, which begins anew with each link.
    pub(super) fn channel(&mut self, index: usize) -> &mut Channel {
        let Link { peer, identity, ref handshake, .. } = self.common.links[index];
        let nonce = handshake.nonce;
        let channel = self.members.channels.entry(peer).or_insert_with(|| Channel::new(nonce));
        if channel.nonce != nonce {
            self.members.lost.extend(channel.begin_again(nonce));
        }
        channel.remote = identity;
        channel
    }

    /// Appends a frame for a link. Returns false if there is no room for it.
    pub(super) fn push_frame(&mut self, index: usize, frame: Frame) -> bool {
        self.channel(index).push(frame)
    }

    /// Channels of links that are gone.
    fn forget_channels(&mut self) {
        if self.members.channels.len() > self.common.links.len() {
            let links = &self.common.links;
            let lost = &mut self.members.lost;
            self.members.channels.retain(|peer, channel| {
                let is_kept = links.contains_key(peer);
                if !is_kept {
                    lost.extend(channel.begin_again(channel.nonce));
                }
                is_kept
            });
        }
    }

    /// The link to a peer, if it is connected.
    pub(super) fn connected_link(&self, peer: PeerId) -> Option<usize> {
        self.common.links.index_of(peer).filter(|index| self.common.links[*index].is_connected())
    }
}

fn bit(player: PlayerId) -> u16 {
    1_u16.checked_shl(player.0.into()).unwrap_or(0)
}
