//! Soak tests: random matches that check themselves.
//!
//! A match is a pure function of its seed. The [`Plan`] says who plays, with which settings, over which network, and what goes wrong when: loss
//! and corruption of packets, partitions, suspended machines, pauses, players who leave, are dropped or voted out, crash and come back, late
//! players and watchers. The speed changes; the majority or the host may have to ask for that, and for pauses; watchers may see the match later; players
//! talk; a save is resumed in a second match, which is checked in the same way. With the feature `signed` a third of the matches is signed. [`play`] plays
//! it in virtual time. Then what each peer really ran is compared with a ledger that the harness keeps itself: every order that a session accepted ran on
//! every peer in the same turn, once, in order; every checksum is equal; everybody who should have finished has; every message arrived once, in order, or
//! its author was told; no watcher saw anything too early; nobody is accused of anything, as all are honest. Nothing here trusts the checksums that the
//! sessions exchange.
//!
//! ```
//! use testudo_lockstep::state::{self, State, StateError, Visit};
//! use testudo_lockstep::testing::soak::{Plan, SoakGame, assert_soak};
//! use testudo_lockstep::{Action, BitReader, BitWriter, DecodeError, PlayerId, Simulation, Turn};
//!
//! #[derive(Clone, PartialEq, Debug)]
//! struct Dig(u8);
//!
//! impl Action for Dig {
//!     const MAX_BITS: u32 = 8;
//!     fn encode(&self, out: &mut BitWriter) { out.write_bits(self.0.into(), 8); }
//!     fn decode(input: &mut BitReader<'_>) -> Result<Self, DecodeError> { Ok(Self(input.read_bits(8)? as u8)) }
//! }
//!
//! #[derive(Default)]
//! struct Mine { gold: u64 }
//!
//! impl Simulation for Mine {
//!     type Action = Dig;
//!     fn apply(&mut self, player: PlayerId, dig: &Dig) {
//!         self.gold = self.gold.wrapping_mul(31) + u64::from(dig.0) * (1 + u64::from(player.0));
//!     }
//!     fn step(&mut self, _: u32) { self.gold += 1; }
//!     fn checksum(&mut self) -> u64 { state::digest(self) }
//!     fn save_state(&mut self, out: &mut Vec<u8>) -> bool { state::save(self, out); true }
//!     fn load_state(&mut self, bytes: &[u8]) -> bool { state::load(self, bytes).is_ok() }
//! }
//!
//! impl State for Mine {
//!     fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> { v.number("gold", &mut self.gold) }
//! }
//!
//! struct Bots;
//!
//! impl SoakGame for Bots {
//!     type Game = Mine;
//!     fn start(&self) -> Mine { Mine::default() }
//!     fn order(&self, _: &Mine, player: PlayerId, turn: Turn) -> Option<Dig> { Some(Dig(turn.0 as u8 ^ player.0)) }
//!     fn events(&self, game: &Mine) -> u64 { game.gold }
//! }
//!
//! // In a test; a thousand matches at night.
//! assert_soak(7..10, |_plan: &Plan| Bots);
//! ```

mod asks;
mod besides;
mod dice;
mod faults;
mod judge;
mod ledger;
mod modes;
mod nodes;
mod plan;
mod post;
mod resumed;
mod running;
mod shown;
mod sight;
mod summary;
mod trace;

use core::fmt::{self, Write as _};
use core::ops::Range;

use crate::drive::driver::Driver;
use crate::drive::simulation::Simulation;
use crate::replay::{Recorded, ReplayHeader};
use crate::session::config::Topology;
use crate::state::State;
use crate::value::ids::{PlayerId, Turn};
use crate::value::time::{Duration, Instant};
pub use judge::Finding;
pub use plan::Plan;

/// A game and its bots, for random matches.
pub trait SoakGame {
    /// The game. It must save and load its state ([`Simulation::save_state`]), as peers come late and come back.
    type Game: Simulation<Action: Clone + PartialEq + fmt::Debug> + State;

    /// The game before the first turn; equal whenever it is called.
    fn start(&self) -> Self::Game;

    /// A bot's order for a player. It must depend on these arguments alone.
    fn order(
        &self,
        game: &Self::Game,
        player: PlayerId,
        turn: Turn,
    ) -> Option<<Self::Game as Simulation>::Action>;

    /// How much has happened in the match, in the game's own measure, for example blows or contacts. A match in which nothing happened proves
    /// nothing ([`Finding::Void`]). So count what also happens where all others are dropped at once: orders, not only finished rounds.
    fn events(&self, game: &Self::Game) -> u64;

    /// The header of the recordings of a match that failed. Its content hash is that of the sessions.
    fn header(&self, plan: &Plan) -> ReplayHeader {
        ReplayHeader { sim_version: 0, content_hash: 0, players: plan.players(), settings: Vec::new() }
    }
}

/// What went wrong in a match because it was meant to: numbers of packets; of partitions, players, pauses and watchers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Faults {
    /// Packets lost.
    pub loss: u64,
    /// Packets that arrived twice.
    pub duplicate: u64,
    /// Packets that were overtaken.
    pub reorder: u64,
    /// Packets with flipped bits.
    pub corruption: u64,
    /// Partitions of the network.
    pub partition: u64,
    /// Players dropped.
    pub drop: u64,
    /// ... of them by a vote.
    pub votes: u64,
    /// Players who came back.
    pub rejoin: u64,
    /// Pauses.
    pub pause: u64,
    /// Players who took the place of another one.
    pub late_joins: u64,
    /// Watchers who joined the running match.
    pub watchers: u64,
}

/// How much a match used of what is drawn besides faults.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Uses {
    /// Peers that knew the keys of all players.
    pub keys: u64,
    /// Changes of speed.
    pub speeds: u64,
    /// Turns that watchers saw later than the players did.
    pub delayed: u64,
    /// Messages that reached a player or watcher.
    pub messages: u64,
    /// Second matches, which went on from a save of the first one.
    pub resumed: u64,
}

/// The result of a match.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct SoakReport {
    /// Its seed.
    pub seed: u64,
    /// Number of players.
    pub players: u8,
    /// Who was connected with whom.
    pub topology: Topology,
    /// Number of turns that the survivors ran.
    pub turns: u32,
    /// [`SoakGame::events`] of one survivor's copy.
    pub events: u64,
    /// What went wrong.
    pub faults: Faults,
    /// What it used.
    pub uses: Uses,
    /// Number of checksums of turns that were compared.
    pub compared: u64,
    /// Orders that had to run, and did, in one survivor's copy.
    pub orders: u64,
    /// Frames in which a peer waited.
    pub stalled_frames: u64,
    /// What is wrong; empty if all is well.
    pub findings: Vec<Finding>,
    /// If something is wrong: the name of each peer, and its replay.
    pub replays: Vec<(String, Vec<u8>)>,
    /// Virtual time until the last survivor had run the last turn.
    pub simulated: Duration,
}

impl SoakReport {
    /// Of a match in which nothing has happened.
    fn empty(plan: &Plan) -> Self {
        Self {
            seed: plan.seed(),
            players: plan.players(),
            topology: plan.topology(),
            turns: 0,
            events: 0,
            faults: Faults::default(),
            uses: Uses::default(),
            compared: 0,
            orders: 0,
            stalled_frames: 0,
            findings: Vec::new(),
            replays: Vec::new(),
            simulated: Duration::ZERO,
        }
    }
}

/// Plays the match of a plan to its end, or until it is stuck for good, and checks it.
pub fn play<G: SoakGame>(plan: &Plan, game: &G) -> SoakReport {
    running::play(plan, game, &mut |_, _, _| {})
}

/// Like [`play`]. `watch` gets each peer's number and driver whenever something may have happened, for example to predict with it.
pub fn play_watched<G: SoakGame>(
    plan: &Plan,
    game: &G,
    mut watch: impl FnMut(Instant, u32, &Driver<Recorded<G::Game>>),
) -> SoakReport {
    running::play(plan, game, &mut watch)
}

/// Plays the matches of these seeds, for use in a test. `new` makes the game of a plan.
///
/// # Panics
/// If a match fails; the message has its seed, and what is wrong.
#[track_caller]
pub fn assert_soak<G: SoakGame>(seeds: Range<u64>, new: impl Fn(&Plan) -> G) {
    assert_soak_of(seeds.map(Plan::of), new);
}

/// Like [`assert_soak`], with plans of your own: those of a game that takes few players, or a choice.
///
/// ```
/// # use testudo_lockstep::state::{self, State, StateError, Visit};
/// # use testudo_lockstep::testing::soak::{Plan, SoakGame, assert_soak_of};
/// # use testudo_lockstep::{Action, BitReader, BitWriter, DecodeError, PlayerId, Simulation, Turn};
/// # #[derive(Clone, PartialEq, Debug)]
/// # struct Dig(u8);
/// # impl Action for Dig {
/// #     const MAX_BITS: u32 = 1;
/// #     fn encode(&self, out: &mut BitWriter) { out.write_bits(self.0.into(), 1); }
/// #     fn decode(input: &mut BitReader<'_>) -> Result<Self, DecodeError> { Ok(Self(input.read_bits(1)? as u8)) }
/// # }
/// #[derive(Default)]
/// struct Duel { gold: [u32; 2] }
/// # impl Simulation for Duel {
/// #     type Action = Dig;
/// #     fn apply(&mut self, player: PlayerId, _: &Dig) { self.gold[usize::from(player.0)] += 1; }
/// #     fn step(&mut self, _: u32) {}
/// #     fn checksum(&mut self) -> u64 { state::digest(self) }
/// #     fn save_state(&mut self, out: &mut Vec<u8>) -> bool { state::save(self, out); true }
/// #     fn load_state(&mut self, bytes: &[u8]) -> bool { state::load(self, bytes).is_ok() }
/// # }
/// # impl State for Duel {
/// #     fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
/// #         let [one, other] = &mut self.gold;
/// #         v.number("one", one)?;
/// #         v.number("other", other)
/// #     }
/// # }
/// # struct Bots;
/// # impl SoakGame for Bots {
/// #     type Game = Duel;
/// #     fn start(&self) -> Duel { Duel::default() }
/// #     fn order(&self, _: &Duel, _: PlayerId, _: Turn) -> Option<Dig> { Some(Dig(1)) }
/// #     fn events(&self, game: &Duel) -> u64 { game.gold[0].into() }
/// # }
///
/// assert_soak_of((7..10).map(|seed| Plan::of_players(seed, 2..=2)), |_plan: &Plan| Bots);
/// ```
///
/// # Panics
/// As [`assert_soak`].
#[track_caller]
pub fn assert_soak_of<G: SoakGame>(plans: impl IntoIterator<Item = Plan>, new: impl Fn(&Plan) -> G) {
    let mut failed = String::new();
    for plan in plans {
        let seed = plan.seed();
        for finding in play(&plan, &new(&plan)).findings {
            // Writing to a string cannot fail.
            let _ = writeln!(failed, "seed {seed}: {finding}");
        }
    }
    assert!(failed.is_empty(), "{failed}");
}
