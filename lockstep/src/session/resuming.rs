//! A resumed match in its lobby: the middle of the star gives the save to whoever comes without it, as it gives a running match's state to
//! whoever comes late: paced, in chunks, and only what is missing is sent again.

use crate::packet::Hello;
use crate::session::event::Event;
use crate::session::link::Link;
use crate::session::saved_match::SavedMatch;
use crate::session::transfer::arrival::ArrivalStage;
use crate::session::transfer::blob::Blob;
use crate::session::transfer::resuming::Resuming;
use crate::session::transfer::sender::Sender;
use crate::session::{AnySession, SessionPhase, saving};
use crate::value::ids::Turn;

/// The first two bytes of a state that is a save: the length of a header that there is not.
const NO_HEADER: [u8; 2] = [0; 2];

impl AnySession {
    // ---- the middle

    /// Whether a peer may come without the save.
    pub(super) fn gives_save_to(&self, hello: &Hello) -> bool {
        let config = &self.common.setup.config;
        self.common.setup.forwards()
            && config.own.resume.is_some()
            && config.arrivals.state_bytes_max > 0
            && hello.config_hash == config.settings_hash(self.common.setup.action_bits)
    }

    /// A peer has come to the lobby: it gets the save if it has none.
    pub(super) fn saver_comes(&mut self, index: usize, hello: &Hello) {
        if self.common.phase == SessionPhase::Lobby && hello.config_hash != self.common.setup.config_hash {
            self.arrival_in_lobby(index);
        }
    }

    /// Whether the state with which a resumed match begins is wanted, for peers that came without the save. [`crate::Driver`] checks this in
    /// the lobby and calls [`crate::Simulation::save_state`]; an application without the driver passes the bytes to [`AnySession::give_save`].
    #[must_use]
    pub fn wants_save(&self) -> bool {
        self.common.phase == SessionPhase::Lobby
            && self.common.setup.forwards()
            && self.transfers.blob.is_none()
            && self.common.setup.config.own.resume.is_some()
            && self.common.links.values().any(Link::lacks_state)
    }

    /// Passes in the state with which the resumed match begins. None: the simulation cannot be saved, and those peers are sent away.
    pub fn give_save(&mut self, state: Option<&[u8]>) {
        if !self.wants_save() {
            return;
        }
        let Some(saved) = self.common.setup.config.own.resume.as_ref() else { return };
        let (turn, bytes) = (saved.turn, saved.to_bytes());
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let all = state.map(|state| [&NO_HEADER[..], &length.to_le_bytes(), &bytes, state].concat());
        let fits = |bytes: &Vec<u8>| {
            bytes.len() as u64 <= u64::from(self.common.setup.config.arrivals.state_bytes_max)
        };
        let source = self.common.setup.player().unwrap_or_default();
        self.transfers.blob = all.filter(fits).and_then(|all| Blob::whole(turn, source, &all));
        if self.transfers.blob.is_none() {
            for index in 0..self.common.links.len() {
                self.common.send_away(index);
            }
        }
    }

    /// Sends the save to everybody who lacks it.
    pub(super) fn serve_lobby(&mut self) {
        let (rate, now) = (self.common.setup.config.arrivals.state_rate, self.common.now);
        if !self.common.links.values().any(Link::lacks_state) {
            self.transfers.blob = None;
        } else if self.transfers.blob.is_some() {
            let savers =
                self.common.links.values_mut().filter(|link| link.lacks_state() && link.sender.is_none());
            savers.for_each(|link| link.sender = Some(Box::new(Sender::new(rate, now))));
        }
    }

    /// A guest has the save.
    pub(super) fn saver_is_here(&mut self, index: usize) {
        let link = &mut self.common.links[index];
        if link.arrival.as_ref().is_some_and(|arrival| arrival.stage == ArrivalStage::InLobby) {
            (link.arrival, link.sender) = (None, None);
        }
    }

    /// The match starts: a guest that has no save yet gets the state of the running match.
    pub(super) fn end_serving_lobby(&mut self) {
        self.transfers.resuming = Resuming::None;
        if !self.common.setup.forwards() {
            return;
        }
        for index in 0..self.common.links.len() {
            if self.common.links[index].lacks_state() {
                // In the lobby it had time for each part, from now on it has time for all.
                let now = self.common.now;
                if let Some(arrival) = &mut self.common.links[index].arrival {
                    arrival.since = now;
                }
                self.common.links.wait_for_state(index, &self.common.streams);
            }
        }
        self.transfers.blob = None;
    }

    // ---- a guest

    /// The save from which the match goes on, once it is here. Whoever has kept one of the same match can compare them
    /// ([`SavedMatch::contradicts`]).
    #[must_use]
    pub fn resumed(&self) -> Option<&SavedMatch> {
        self.common.setup.config.own.resume.as_deref()
    }

    /// Whether a state is a save, as far as its first bytes are here.
    pub(super) fn is_save(blob: &Blob) -> bool {
        blob.starts_with(&NO_HEADER)
    }

    /// Takes a save as the start of the match. Returns whether it is sound.
    pub(super) fn take_save(&mut self, turn: u32, bytes: &[u8]) -> bool {
        let Some((saved, state)) = Self::read_save(bytes) else { return false };
        let setup = &mut self.common.setup;
        let is_sound = saved.turn == turn
            && self.common.phase == SessionPhase::Lobby
            // Whoever brings a save plays that one.
            && setup.config.own.resume.as_deref().is_none_or(|own| *own == saved)
            && saving::check(&saved, &setup.config, &setup.codec, setup.action_bits, setup.format).is_ok();
        if !is_sound {
            return false;
        }
        setup.config.own.resume = Some(Box::new(saved));
        setup.config_hash = setup.config.hash(setup.action_bits);
        self.take_up();
        let (first, now) = (self.common.setup.config.first_entry(), self.common.now);
        self.common.links.values_mut().for_each(|link| link.begin_at(first, now));
        self.transfers.resuming = Resuming::Here(state.to_vec());
        true
    }

    fn read_save(bytes: &[u8]) -> Option<(SavedMatch, &[u8])> {
        let (length, rest) = bytes.strip_prefix(&NO_HEADER)?.split_first_chunk()?;
        let (saved, state) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        Some((SavedMatch::from_bytes(saved).ok()?, state))
    }

    /// The state of a save, which the simulation must load.
    pub(super) fn saved_state(&mut self) -> Option<(Turn, Vec<u8>)> {
        let Resuming::Here(bytes) = &mut self.transfers.resuming else { return None };
        let bytes = core::mem::take(bytes);
        self.transfers.resuming = Resuming::Loading;
        Some((Turn(self.common.gate.turn), bytes))
    }

    /// The simulation has loaded a save's state and has this checksum. Returns none if it has loaded something else.
    pub(super) fn save_taken(&mut self, checksum: Option<u64>) -> Option<bool> {
        if !matches!(self.transfers.resuming, Resuming::Loading) {
            return None;
        }
        let is_right = checksum == Some(self.saving.checksum);
        self.transfers.resuming = if is_right { Resuming::Done } else { Resuming::None };
        if is_right {
            self.transfers.joiner.end();
            self.common.streams.set_author(self.common.setup.player());
            self.common.emit(Event::Joined { turn: Turn(self.common.gate.turn) });
        }
        Some(is_right)
    }
}
