//! The hash of everything that must be equal on all peers; the handshake compares it.

use twox_hash::XxHash3_64;

use crate::packet::PROTOCOL_VERSION;
use crate::session::config::{SessionConfig, Topology};
use crate::value::ids::PlayerId;

impl SessionConfig {
    /// The hash that the handshake compares: the settings, and the saved match if one is resumed.
    pub(crate) fn hash(&self, action_bits: u32) -> u64 {
        let settings = self.settings_hash(action_bits);
        let Some(saved) = &self.own.resume else { return settings };
        let mut bytes = saved.to_bytes();
        bytes.extend_from_slice(&settings.to_le_bytes());
        XxHash3_64::oneshot(&bytes)
    }

    /// Hash of the settings with which a saved match can be resumed: all that must be equal but the links. So a match that was played through a
    /// relay can be resumed by one of its players as the host.
    pub(crate) fn saved_hash(&self, action_bits: u32) -> u64 {
        let hosted = self.clone().topology(Topology::Host).host_player(PlayerId(0));
        hosted.settings_hash(action_bits)
    }

    /// Hash of the settings that must be equal on all peers, with the size of the game's actions.
    pub(crate) fn settings_hash(&self, action_bits: u32) -> u64 {
        let numbers: [u64; 20] = [
            u64::from(PROTOCOL_VERSION),
            u64::from(self.players),
            self.topology as u64 | u64::from(self.sides.host_player) << 8,
            self.content(),
            u64::from(self.frames_per_second),
            u64::from(self.frames_per_turn),
            u64::from(self.turns_ahead),
            u64::from(self.turns.unwrap_or(0)),
            u64::from(self.input_mode),
            u64::from(self.limits.actions_per_turn_max),
            u64::from(self.limits.turn_bytes_max),
            u64::from(self.limits.checksum_interval),
            u64::from(action_bits),
            self.tempo.pace as u64,
            u64::from(self.rotate_players),
            u64::from(self.sides.bots_take_over),
            self.control.controls as u64,
            u64::from(self.control.pauses_max) << 32 | u64::from(self.control.speed_changes_max),
            self.control.pause_max.as_millis(),
            self.sides.teams.iter().fold(0, |teams, team| teams << 4 | u64::from(*team)),
        ];
        let mut bytes = [0; 20 * 8];
        for (chunk, number) in bytes.chunks_exact_mut(8).zip(numbers) {
            chunk.copy_from_slice(&number.to_le_bytes());
        }
        XxHash3_64::oneshot_with_seed(u64::from(self.signed), &bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_tells_settings_apart() {
        let base = SessionConfig::new(2);
        let others = [
            base.clone().content_hash(1),
            base.clone().engine_version(base.content.engine_version + 1),
            base.clone().frames_per_turn(5),
            base.clone().turns(9),
            base.clone().teams(&[1, 1]),
            base.clone().host_player(PlayerId(1)),
            base.clone().bots_take_over(true),
            base.clone().signed(),
            SessionConfig::new(3),
        ];
        for other in others {
            assert_ne!(base.hash(8), other.hash(8));
        }
        assert_ne!(base.hash(8), base.hash(9));
        let relayed = base.clone().topology(Topology::Relay);
        assert_ne!(base.hash(8), relayed.hash(8));
        assert_eq!(base.saved_hash(8), relayed.saved_hash(8), "a save of one can be resumed as the other");
        let other_host = base.clone().host_player(PlayerId(1));
        assert_eq!(base.saved_hash(8), other_host.saved_hash(8), "and by any of its players");
        assert_ne!(base.saved_hash(8), base.clone().turns(9).saved_hash(8));
        assert_eq!(base.hash(8), base.clone().queue_max(9).hash(8), "local limits are not compared");
    }
}
