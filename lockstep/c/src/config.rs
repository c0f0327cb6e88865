//! Settings of a match.

use testudo_lockstep::service::agreement::GAME_BYTES_MAX;
use testudo_lockstep::{
    Controls, Duration, PLAYERS_MAX, Pace, PlayerId, SavedMatch, SessionConfig, Topology,
};

use crate::failure::{Failure, Outcome, TESTUDO_OUT_OF_RANGE, TestudoStatus, status};
use crate::pointer::{TestudoBool, bytes, plain, write};

/// Greatest number of players.
pub const TESTUDO_PLAYERS_MAX: u32 = 16;
/// A time that never comes, and what is never done, where the docs allow it.
pub const TESTUDO_NEVER: u32 = u32::MAX;

/// Everybody has one link to the host, which forwards.
pub const TESTUDO_TOPOLOGY_HOST: u32 = 0;
/// Everybody has one link to a relay, which forwards and does not play.
pub const TESTUDO_TOPOLOGY_RELAY: u32 = 1;
/// Everybody has a link to everybody.
pub const TESTUDO_TOPOLOGY_MESH: u32 = 2;

/// Turns and frames stay as set.
pub const TESTUDO_PACE_FIXED: u32 = 0;
/// Turns are as long as the network needs.
pub const TESTUDO_PACE_ADAPTIVE: u32 = 1;
/// As in the articles "Lockstep Implementation in Unity3D".
pub const TESTUDO_PACE_ARTICLE: u32 = 2;

/// Every player may pause and set the speed, within its budget.
pub const TESTUDO_CONTROLS_EVERYBODY: u32 = 0;
/// More than half of the players must ask for the same.
pub const TESTUDO_CONTROLS_MAJORITY: u32 = 1;
/// Only the host's player may.
pub const TESTUDO_CONTROLS_HOST: u32 = 2;

/// The players. All peers agree on them.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TestudoSides {
    /// Number of players, 1..=16, the host included.
    pub players: u32,
    /// The player in the middle of a star of players. Default 0.
    pub host_player: u32,
    /// Teams of the players in order, 0..=15. Default: each player is a team.
    pub teams: [u8; 16],
    /// The game plays on for players who left or were dropped (`TestudoGame.play_for`). Default 0.
    pub bots_take_over: TestudoBool,
    /// Another player's actions run first in each turn. Default 0: player 0 is always first.
    pub rotate_players: TestudoBool,
}

/// Turns. All peers agree on them.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TestudoTurns {
    /// Frames per second, 1..=1,000. Default 20.
    pub frames_per_second: u32,
    /// Frames of a turn at the start, 1..=250. Default 4.
    pub frames_per_turn: u32,
    /// Whole turns between giving an action and running it, 1..=8. Default 2.
    pub turns_ahead: u32,
    /// Number of turns of the match, at most 4,000,000,000. 0, the default: no end but `TestudoGame.is_over`.
    pub count: u32,
    /// How the length of turns is chosen: a `TESTUDO_PACE_...`. Default `TESTUDO_PACE_FIXED`.
    pub pace: u32,
    /// Greatest number of actions of a player in a turn, 1..=255. Default 1. Further ones wait for later turns.
    pub actions_max: u32,
    /// Greatest number of bytes of a player's actions in a turn, 1..=512. Default 256.
    pub bytes_max: u32,
    /// Turns from one exchanged checksum to the next, 1..=600. Default 1.
    pub checksum_interval: u32,
}

/// Pauses and speed. All peers agree on them.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TestudoControls {
    /// Who pauses the match and sets its speed: a `TESTUDO_CONTROLS_...`. Default `TESTUDO_CONTROLS_EVERYBODY`.
    pub who: u32,
    /// Number of pauses that each player may ask for, 0..=65,535. Default 16.
    pub pauses_max: u32,
    /// How long the pauses of each player may last in all, milliseconds, at most a day. Default 600,000.
    pub pause_max_ms: u32,
    /// Number of changes of speed that each player may ask for, 0..=65,535. Default 100.
    pub speed_changes_max: u32,
}

/// Who comes late, and who watches. What the middle of a star has decides; the last three each peer chooses for itself.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TestudoArrivals {
    /// Greatest number of watchers, 0..=256. Default 16.
    pub watchers_max: u32,
    /// Watchers may come to the running match. Default 0.
    pub late_watchers: u32,
    /// Strangers may take the place of a player who has been away for this long, milliseconds. Default `TESTUDO_NEVER`.
    pub late_joins_ms: u32,
    /// How much later than players watchers get everything, milliseconds, at most a day. Default 0.
    pub watch_delay_ms: u32,
    /// Number of watchers that the middle waits for before the start. Default 0.
    pub watchers_min: u32,
    /// Greatest size of a state that it sends or receives, bytes, at most 256 MiB. Default 16 MiB; 0: nobody comes late.
    pub state_bytes_max: u32,
    /// Bytes per second for states, 1,000..=1,000,000,000. Default 500,000.
    pub state_rate: u32,
    /// Time for coming to a running match, milliseconds. 0, the default: a minute, or more where checksums are rare.
    pub join_timeout_ms: u32,
}

/// How long is waited, milliseconds, at most a day. Each peer chooses for itself; of `drop_after_ms` what the middle of a star has decides.
/// 0 stands for the default, but not in `drop_after_ms`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TestudoWaits {
    /// A stall after which missing players are dropped. Default 20,000. `TESTUDO_NEVER`: nobody is ever dropped.
    pub drop_after_ms: u32,
    /// An attempt to connect without an answer. Default 10 s.
    pub connect_timeout_ms: u32,
    /// How long the host waits for the others. Default 10 s; ten minutes for `testudo_host_open`.
    pub lobby_timeout_ms: u32,
    /// Silence of a peer that is connected. Default 20 s; 80 s for guests with a code.
    pub silence_timeout_ms: u32,
    /// A stall after which `TESTUDO_EVENT_WAITING_FOR` comes. Default 500 ms.
    pub waiting_notice_ms: u32,
    /// At the end of the match: silence after which a peer counts as done. Default 2 s.
    pub linger_ms: u32,
}

/// What this peer chooses for itself.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TestudoOwn {
    /// Random bytes, new ones for each match, secret. Zeros, the default: the library draws them, which it can do with its feature `sealed`.
    pub entropy: [u8; 16],
    /// Random bytes that are kept where they survive a crash: by them a player gets its place in the running match back. Zeros, the default: none. A
    /// guest with a code has them already.
    pub place_secret: [u8; 16],
    /// A saved match to go on with: what `testudo_match_take_saved` gave. The game is in the state that was saved. NULL: none.
    pub saved: *const u8,
    /// Number of its bytes.
    pub saved_length: usize,
    /// Number of actions that wait for their turn, 1..=4,096. Default 64.
    pub queue_max: u32,
    /// Frames that one call runs at most to catch up with a running match, 1..=10,000. Default 16.
    pub catch_up_frames: u32,
    /// A watcher shows everything this much later, so that late packets do not freeze its picture, milliseconds, at most 128 turns of the length at
    /// the start. 0, the default: no delay. A delay against watchers who tell players what they see is `arrivals.watch_delay_ms` of the host.
    pub playout_ms: u32,
    /// Keep a replay (`testudo_match_take_replay`). Default 0.
    pub records: TestudoBool,
}

/// Settings of a match. `testudo_config_default` fills in the defaults.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TestudoConfig {
    /// Number of the match, which the host draws at random and tells the others. Default 0, with which nobody comes over a network.
    /// Guests with a code get it with their place.
    pub session_id: u64,
    /// Hash of all that must be equal at the start: map, rules, their version. Default 0. Take `testudo_hash`.
    pub content_hash: u64,
    /// The game's own bytes: map, seed, whatever all must know, at most 512 bytes. Guests with a code get them (`testudo_guest_game_data`), and
    /// replays have them. NULL: none.
    pub game_data: *const u8,
    /// Number of these bytes.
    pub game_length: u32,
    /// Version of the game's rules, for replays. Default 0.
    pub rules_version: u32,
    /// Version of physics and movement, which all peers compare. Default: this library's, which a peer in Rust has with the feature `movement`.
    pub engine_version: u32,
    /// The links: a `TESTUDO_TOPOLOGY_...`. Default `TESTUDO_TOPOLOGY_HOST`.
    pub topology: u32,
    /// The players.
    pub sides: TestudoSides,
    /// Turns.
    pub turns: TestudoTurns,
    /// Pauses and speed.
    pub controls: TestudoControls,
    /// Who comes late, and who watches.
    pub arrivals: TestudoArrivals,
    /// How long is waited.
    pub waits: TestudoWaits,
    /// What this peer chooses for itself.
    pub own: TestudoOwn,
}
plain!(TestudoConfig);

/// Fills in the defaults for a match of so many players.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn testudo_config_default(players: u32, out: *mut TestudoConfig) -> TestudoStatus {
    // SAFETY: the contract of pointers.
    status(|| unsafe { write(out, default(players), "out") })
}

/// What `SessionConfig::new` has.
pub(crate) fn default(players: u32) -> TestudoConfig {
    TestudoConfig {
        session_id: 0,
        content_hash: 0,
        game_data: std::ptr::null(),
        game_length: 0,
        rules_version: 0,
        engine_version: testudo_physics::SIM_VERSION * 1_000 + testudo_movement::MOVEMENT_VERSION,
        topology: TESTUDO_TOPOLOGY_HOST,
        sides: TestudoSides {
            players,
            host_player: 0,
            teams: std::array::from_fn(|player| player as u8),
            bots_take_over: 0,
            rotate_players: 0,
        },
        turns: TestudoTurns {
            frames_per_second: 20,
            frames_per_turn: 4,
            turns_ahead: 2,
            count: 0,
            pace: TESTUDO_PACE_FIXED,
            actions_max: 1,
            bytes_max: 256,
            checksum_interval: 1,
        },
        controls: TestudoControls {
            who: TESTUDO_CONTROLS_EVERYBODY,
            pauses_max: 16,
            pause_max_ms: 600_000,
            speed_changes_max: 100,
        },
        arrivals: TestudoArrivals {
            watchers_max: 16,
            late_watchers: 0,
            late_joins_ms: TESTUDO_NEVER,
            watch_delay_ms: 0,
            watchers_min: 0,
            state_bytes_max: 16 << 20,
            state_rate: 500_000,
            join_timeout_ms: 0,
        },
        waits: TestudoWaits {
            drop_after_ms: 20_000,
            connect_timeout_ms: 0,
            lobby_timeout_ms: 0,
            silence_timeout_ms: 0,
            waiting_notice_ms: 0,
            linger_ms: 0,
        },
        own: TestudoOwn {
            entropy: [0; 16],
            place_secret: [0; 16],
            saved: std::ptr::null(),
            saved_length: 0,
            queue_max: 64,
            catch_up_frames: 16,
            playout_ms: 0,
            records: 0,
        },
    }
}

/// A method that sets a time.
type SetTime = fn(SessionConfig, Duration) -> SessionConfig;

fn millis(ms: u32) -> Duration {
    Duration::from_millis(ms.into())
}

/// A player's number, if a match can have it.
pub(crate) fn player(number: u32) -> Outcome<PlayerId> {
    match u8::try_from(number) {
        Ok(number) if number < PLAYERS_MAX => Ok(PlayerId(number)),
        _ => Err(Failure::enumerator("player", number, u32::from(PLAYERS_MAX) - 1)),
    }
}

impl TestudoConfig {
    /// What all peers agree on. Ranges are checked where a session is made of it.
    pub(crate) fn agreed(&self) -> Outcome<SessionConfig> {
        let (sides, turns, controls) = (&self.sides, &self.turns, &self.controls);
        let players = u8::try_from(sides.players).unwrap_or(u8::MAX);
        let topology = match self.topology {
            TESTUDO_TOPOLOGY_HOST => Topology::Host,
            TESTUDO_TOPOLOGY_RELAY => Topology::Relay,
            TESTUDO_TOPOLOGY_MESH => Topology::Mesh,
            other => return Err(Failure::enumerator("topology", other, TESTUDO_TOPOLOGY_MESH)),
        };
        let pace = match turns.pace {
            TESTUDO_PACE_FIXED => Pace::Fixed,
            TESTUDO_PACE_ADAPTIVE => Pace::Adaptive,
            TESTUDO_PACE_ARTICLE => Pace::Article,
            other => return Err(Failure::enumerator("pace", other, TESTUDO_PACE_ARTICLE)),
        };
        let who = match controls.who {
            TESTUDO_CONTROLS_EVERYBODY => Controls::Everybody,
            TESTUDO_CONTROLS_MAJORITY => Controls::Majority,
            TESTUDO_CONTROLS_HOST => Controls::HostPlayer,
            other => return Err(Failure::enumerator("who", other, TESTUDO_CONTROLS_HOST)),
        };
        let config = SessionConfig::new(players)
            .topology(topology)
            .session_id(self.session_id)
            .content_hash(self.content_hash)
            .engine_version(self.engine_version)
            .host_player(player(sides.host_player)?)
            .teams(&sides.teams)
            .bots_take_over(sides.bots_take_over != 0)
            .rotate_players(sides.rotate_players != 0)
            .frames_per_second(turns.frames_per_second)
            .frames_per_turn(turns.frames_per_turn)
            .turns_ahead(turns.turns_ahead)
            .pace(pace)
            .actions_per_turn_max(turns.actions_max)
            .turn_bytes_max(turns.bytes_max)
            .checksum_interval(turns.checksum_interval)
            .controls(who)
            .pauses_max(controls.pauses_max)
            .pause_max(millis(controls.pause_max_ms))
            .speed_changes_max(controls.speed_changes_max)
            .watchers_max(self.arrivals.watchers_max)
            .late_watchers(self.arrivals.late_watchers != 0);
        let config = match self.arrivals.late_joins_ms {
            TESTUDO_NEVER => config,
            after => config.late_joins(millis(after)),
        };
        let config = match self.waits.drop_after_ms {
            TESTUDO_NEVER => config.without_drops(),
            after => config.drop_after(millis(after)),
        };
        Ok(if turns.count == 0 { config } else { config.turns(turns.count) })
    }

    /// The settings with what this peer chooses for itself.
    ///
    /// # Safety
    /// The contract of the structure's pointers.
    pub(crate) unsafe fn with_own(&self, config: SessionConfig) -> Outcome<SessionConfig> {
        let (arrivals, waits, own) = (&self.arrivals, &self.waits, &self.own);
        let mut config = config
            .watch_delay(millis(arrivals.watch_delay_ms))
            .watchers_min(arrivals.watchers_min)
            .state_bytes_max(arrivals.state_bytes_max)
            .state_rate(arrivals.state_rate)
            .queue_max(own.queue_max)
            .entropy(entropy(own.entropy)?);
        let times: [(u32, SetTime); 6] = [
            (arrivals.join_timeout_ms, SessionConfig::join_timeout),
            (waits.connect_timeout_ms, SessionConfig::connect_timeout),
            (waits.lobby_timeout_ms, SessionConfig::lobby_timeout),
            (waits.silence_timeout_ms, SessionConfig::silence_timeout),
            (waits.waiting_notice_ms, SessionConfig::waiting_notice),
            (waits.linger_ms, SessionConfig::linger),
        ];
        for (ms, set) in times.into_iter().filter(|(ms, _)| *ms != 0) {
            config = set(config, millis(ms));
        }
        if own.place_secret != [0; 16] {
            config = config.place_secret(own.place_secret);
        }
        // SAFETY: the caller's promise.
        let saved = unsafe { bytes(own.saved, own.saved_length) }?;
        Ok(if saved.is_empty() { config } else { config.resume(SavedMatch::from_bytes(saved)?) })
    }

    /// The game's own bytes.
    ///
    /// # Safety
    /// The contract of the structure's pointers.
    pub(crate) unsafe fn game_data<'a>(&self) -> Outcome<&'a [u8]> {
        if self.game_length as usize > GAME_BYTES_MAX {
            let words = format!("game_length must be 0..={GAME_BYTES_MAX}, not {}", self.game_length);
            return Err(Failure::new(TESTUDO_OUT_OF_RANGE, words));
        }
        // SAFETY: the caller's promise.
        unsafe { bytes(self.game_data, self.game_length as usize) }
    }
}

/// The given random bytes, or new ones.
#[cfg(feature = "sealed")]
fn entropy(given: [u8; 16]) -> Outcome<[u8; 16]> {
    Ok(if given == [0; 16] { testudo_lockstep::transport::sealed::random()? } else { given })
}

/// The given random bytes.
#[cfg(not(feature = "sealed"))]
fn entropy(given: [u8; 16]) -> Outcome<[u8; 16]> {
    use crate::failure::TESTUDO_REFUSED;
    let words = "own.entropy is zero, and this library was built without randomness: fill in random bytes";
    if given == [0; 16] { Err(Failure::new(TESTUDO_REFUSED, words)) } else { Ok(given) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_those_of_the_library() {
        for players in 1..=16 {
            let mut config = default(players.into());
            config.own.entropy = [7; 16];
            // SAFETY: its pointers are NULL.
            let made = unsafe { config.with_own(config.agreed().expect("in range")) }.expect("in range");
            assert_eq!(made, SessionConfig::new(players).entropy([7; 16]));
        }
    }
}
