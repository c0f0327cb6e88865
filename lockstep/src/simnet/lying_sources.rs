//! Sources that lie about anything in the state that they give to a peer that joins: of the simulation's part, and of the session's.

use super::*;
use crate::drive::driver::Driver;
use crate::drive::simulation::Simulation;
use crate::pace::pacing::{Pace, Votes};
use crate::session::config::{SessionConfig, Topology};
use crate::session::event::Event;
use crate::session::failure::Failure;
use crate::session::{Header, Session, SessionPhase};
use crate::signed::key::PlayerKey;
use crate::signed::signed_before::SignedBefore;
use crate::simnet::virtual_match::VirtualMatch;
use crate::state::{self, State, StateError, Visit};
use crate::value::action::NoAction;
use crate::value::entry::EndReason;
use crate::value::ids::{Identity, PeerId, PlayerId, Turn};
use crate::value::time::Duration;

/// Every frame depends on all before it, and on how long a turn is.
#[derive(Clone, Debug, Default)]
struct Clockwork {
    frames: u32,
    history: u64,
    /// Returns the checksum that it has loaded, as no game should, until it computes the next.
    stored: Option<u64>,
    stores: bool,
    /// Whether this copy goes wrong after a second.
    is_broken: bool,
    /// Number of states that it has loaded, and how often it was told since the last that copies differ.
    loads: u32,
    told: u32,
}

impl Simulation for Clockwork {
    type Action = NoAction;

    fn apply(&mut self, _: PlayerId, _: &NoAction) {}

    fn step(&mut self, frames_per_second: u32) {
        self.stored = None;
        self.frames += 1;
        self.history =
            (self.history ^ u64::from(frames_per_second)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(7);
        self.history ^= u64::from(self.is_broken && self.frames == 20);
    }

    fn desync_found(&mut self, _: Turn) {
        self.told += 1;
    }

    fn checksum(&mut self) -> u64 {
        self.stored.unwrap_or_else(|| state::digest(self))
    }

    fn save_state(&mut self, out: &mut Vec<u8>) -> bool {
        state::save(self, out);
        if self.stores {
            out.extend_from_slice(&state::digest(self).to_le_bytes());
        }
        true
    }

    fn load_state(&mut self, bytes: &[u8]) -> bool {
        (self.loads, self.told) = (self.loads + 1, 0);
        if !self.stores {
            return state::load(self, bytes).is_ok();
        }
        let Some((bytes, sum)) = bytes.split_last_chunk() else { return false };
        self.stored = Some(u64::from_le_bytes(*sum));
        state::load(self, bytes).is_ok()
    }
}

impl State for Clockwork {
    fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
        v.number("frames", &mut self.frames)?;
        v.number("history", &mut self.history)
    }
}

const PLAYERS: u8 = 4;

/// What a source says of the session instead of the truth.
type Change = fn(&mut Header);

/// A lie, and to whom.
#[derive(Clone, Copy, Debug, Default)]
struct Lie {
    /// The match has no keys.
    is_unsigned: bool,
    /// The game believes the checksum that comes with a state.
    stores: bool,
    /// Player 0 is not the middle of the star.
    is_relayed: bool,
    /// A watcher comes late, instead of player 3 who comes back.
    watches: bool,
    /// Player 3 knows what it has signed before it was gone.
    remembers: bool,
    /// The copy of player 3 differs from all others.
    has_outlier: bool,
    from_end: bool,
    /// The wrong bit.
    bit: usize,
    /// Instead of a wrong bit: what it changes in the session's part.
    header: Option<Change>,
}

impl Lie {
    fn config(self) -> SessionConfig {
        let topology = if self.is_relayed { Topology::Relay } else { Topology::Host };
        let config = SessionConfig::new(PLAYERS)
            .simulated()
            .turns(400)
            .drop_after(Duration::from_secs(2))
            .topology(topology);
        let config = config
            .pace(Pace::Adaptive)
            .state_bytes_max(1 << 16)
            .join_timeout(Duration::from_secs(20))
            .late_watchers(true);
        if self.is_unsigned { config } else { config.signed() }
    }

    fn session(self, identity: Identity, now: Instant, signed: Option<SignedBefore>) -> Session<NoAction> {
        let mut config = signed.into_iter().fold(self.config(), SessionConfig::signed_before);
        if let Identity::Player(player) = identity {
            config = config.place_secret([player.0 + 1; 16]);
            if !self.is_unsigned {
                config = config.player_key(PlayerKey::from_secret([player.0 + 1; 32]));
            }
        }
        let mut session = Session::new(config, identity, now).unwrap();
        let middle = if self.is_relayed { Identity::Relay } else { Identity::Player(PlayerId(0)) };
        if identity != middle {
            session.connect(PeerId(if self.is_relayed { PLAYERS.into() } else { 0 }));
        }
        session
    }

    /// Players, the relay if there is one, the watcher if there is one.
    fn identities(self) -> Vec<Identity> {
        let players = (0..PLAYERS).map(|player| Identity::Player(PlayerId(player)));
        players.chain(self.is_relayed.then_some(Identity::Relay)).collect()
    }

    /// The node that comes, and the match to its end.
    fn play(self) -> (usize, VirtualMatch<Clockwork>) {
        let game = Clockwork { stores: self.stores, ..Clockwork::default() };
        let driver = |identity, now, signed| Driver::new(game.clone(), self.session(identity, now, signed));
        let identities = self.identities().into_iter();
        let mut drivers: Vec<_> = identities.map(|identity| driver(identity, Instant::ZERO, None)).collect();
        let (node, identity) = match self.watches {
            true => (drivers.len(), Identity::Watcher),
            false => (3, Identity::Player(PlayerId(3))),
        };
        if self.watches {
            // Its program is started later.
            let config = SessionConfig::new(1).simulated().turns(1);
            drivers.push(Driver::new(game.clone(), Session::single(config, Instant::ZERO).unwrap()));
        }
        drivers[3].simulation_mut().is_broken = self.has_outlier;
        let mut battle = VirtualMatch::new(drivers, SimNet::new(7));
        battle.net_mut().set_default(LinkConfig::new().latency(Duration::from_millis(20)));
        run(&mut battle, 4_000);
        if !self.watches {
            battle.net_mut().set_partition(&[node as u32]);
            run(&mut battle, 9_000);
            battle.net_mut().set_partition(&[]);
        }
        let source = battle.drivers_mut()[0].session_mut();
        match self.header {
            Some(lie) => source.lie_about_header(lie),
            None => source.lie_about_state(self.from_end, self.bit),
        }
        let now = battle.now();
        let signed = battle.drivers()[node].session().signed_before().filter(|_| self.remembers);
        battle.drivers_mut()[node] = driver(identity, now, signed);
        for until_ms in (now.as_micros() / 1_000..).step_by(40).take(500) {
            run(&mut battle, until_ms);
            let roster = |node: usize| battle.drivers()[node].session().signed_before().map(|it| it.roster);
            assert!(roster(node).is_none() || roster(node) == roster(0), "{self:?}: of a match that is none");
        }
        run(&mut battle, 400_000);
        (node, battle)
    }

    /// Nobody ends with another state, and nobody honest is named. Returns what the joining peer was told.
    fn check(self) -> Vec<Event> {
        let (joiner, mut game) = self.play();
        let source = game.drivers()[0].session();
        let told = (self.header.is_some() && source.has_lied_about_header()).then_some((0, 0, 0));
        let Some((bit, header, all)) = source.lied().or(told) else {
            panic!("{self:?}: no state was asked for")
        };
        let what = format!("bit {bit} of {header} and {all}, {self:?}");
        let mut told = Vec::new();
        for node in 0..game.drivers().len() {
            while let Some(event) = game.poll_event(node) {
                let names = matches!(
                    event,
                    Event::Desync(_)
                        | Event::Contradiction(_)
                        | Event::Outlier(_)
                        | Event::ShownAnother { .. }
                );
                assert!(!names, "{what}: {node} was told {event:?}");
                if let Event::WrongState { suspects, .. } = &event {
                    let honest = |suspect: &Identity| {
                        ![Identity::Player(PlayerId(0)), Identity::Relay].contains(suspect)
                    };
                    assert!(!suspects.is_empty() && !suspects.iter().any(honest), "{what}: {suspects:?}");
                }
                if node == joiner {
                    told.push(event);
                }
            }
        }
        let phases: Vec<_> = game.drivers().iter().map(|driver| driver.session().phase()).collect();
        // The players' keys are the end of the header. A player that does not find its own there does not come in, unless it knows which match it has signed.
        let keys = usize::from(PLAYERS) * (1 + 256 + 64) + 5 + 7;
        if (header.saturating_sub(keys)..header).contains(&bit)
            && !self.remembers
            && phases[joiner] == SessionPhase::Failed(Failure::OtherKey)
        {
            return told;
        }
        assert!(phases.iter().all(|phase| *phase == SessionPhase::Finished), "{what}: {phases:?} {told:?}");
        let simulate = |driver: &&Driver<Clockwork>| driver.session().identity() != Identity::Relay;
        let ends = game.drivers().iter().filter(simulate).map(|driver| {
            let Clockwork { frames, history, .. } = *driver.simulation();
            (frames, history, driver.frame().0, driver.session().plan())
        });
        let ends: Vec<_> = ends.collect();
        assert!(ends.iter().all(|end| *end == ends[0]), "{what}: {ends:?}");
        told
    }
}

fn run(game: &mut VirtualMatch<Clockwork>, until_ms: u64) -> bool {
    game.run(Instant::from_millis(until_ms), |_, _, _, _| {})
}

/// In each bit of the state and of the header: pace, votes, speed, pause, frames, hashes of entries, keys. More: `FORGED_STATES=3000`.
#[test]
fn no_state_is_believed_that_differs_in_one_bit() {
    #[expect(clippy::disallowed_methods, reason = "the number of cases of a test, not of a session")]
    let asked = std::env::var("FORGED_STATES").ok().map_or(80, |asked| asked.parse().expect("a number"));
    let found = |number: &usize| {
        let (is_relayed, watches) = (number % 2 == 1, number / 2 % 2 == 1);
        let remembers = !watches && number / 4 % 2 == 1;
        let told = Lie { is_relayed, watches, remembers, bit: number * 7_919, ..Lie::default() }.check();
        let is_found =
            |event: &Event| matches!(event, Event::StateRefused { .. } | Event::Failed(Failure::OtherKey));
        told.iter().any(is_found)
    };
    // A number that the match overwrites before anybody has signed it, as it does now and then with the calm time, was no lie in the end.
    let count = (0..asked).filter(found).count();
    assert!(count * 20 > asked * 19, "{count} of {asked}");
}

/// The same without keys: the checksums of the turn before speak of the header, too.
#[test]
fn no_state_is_believed_without_keys_that_differs_in_one_bit() {
    for number in 0..40 {
        let (is_relayed, watches) = (number % 2 == 1, number / 2 % 2 == 1);
        let lie = Lie { is_unsigned: true, is_relayed, watches, bit: number * 7_919, ..Lie::default() };
        let told = lie.check();
        assert!(told.iter().any(|event| matches!(event, Event::StateRefused { .. })), "{lie:?}: {told:?}");
    }
}

/// Fields of the header one by one, whatever is drawn above.
#[test]
fn a_header_that_lies_about_the_session_is_found_before_the_joiner_plays() {
    let fields: [(&str, Change); 7] = [
        ("frame", |header| header.frame ^= 1),
        // The number of frames passed its end.
        ("last frame", |header| header.frame = u32::MAX),
        ("speed", |header| header.speed ^= 8),
        ("pace", |header| header.plan.pace_millihertz ^= 32),
        ("frames of a turn", |header| header.plan.frames_per_turn += 1),
        ("network vote of player 0", |header| header.players[0].votes.network_ms ^= 32),
        ("runtime vote of player 0", |header| header.players[0].votes.runtime_ms ^= 32),
    ];
    for (name, lie) in fields {
        let told = Lie { header: Some(lie), ..Lie::default() }.check();
        assert!(told.iter().any(|event| matches!(event, Event::StateRefused { .. })), "{name}: {told:?}");
    }
}

/// Without keys nothing contradicted such a header but a number that no match comes to. Whoever came back played at a tenth of the speed, and the others blamed
/// it; or it refused a pause that all others accepted, and its copy differed.
#[test]
fn a_header_that_lies_in_a_match_without_keys_is_found_before_the_joiner_loads_it() {
    let fields: [(&str, Change); 11] = [
        ("frame", |header| header.frame ^= 1),
        ("speed", |header| header.speed = 10),
        ("pace", |header| header.plan.pace_millihertz ^= 32),
        ("calm", |header| header.calm.1 ^= 1),
        ("a pause", |header| (header.paused, header.paused_by) = (true, Some(PlayerId(1)))),
        ("pauses", |header| header.players[1].asked.pauses = 16),
        ("time of pauses", |header| header.players[2].asked.paused_ns = 1 << 50),
        ("a wish", |header| header.players[1].asked.wants_pause = Some(true)),
        ("vote", |header| header.players[0].votes.excess_ms ^= 1),
        ("save", |header| header.saved = Some(header.turn - 1)),
        ("result", |header| header.result = Some((header.turn - 1, 3))),
    ];
    for (number, (name, lie)) in fields.into_iter().flat_map(|lie| [lie; 4]).enumerate() {
        let (is_relayed, watches) = (number % 2 == 1, number / 2 % 2 == 1);
        let lie = Lie { is_unsigned: true, is_relayed, watches, header: Some(lie), ..Lie::default() };
        let told = lie.check();
        let is_refused = |event: &Event| matches!(event, Event::StateRefused { .. });
        assert!(told.iter().any(is_refused), "{name}, {lie:?}: {told:?}");
        let loads = told.iter().position(|event| matches!(event, Event::Joined { .. }));
        assert!(loads > told.iter().position(is_refused), "{name}, {lie:?}: {told:?}");
    }
}

/// Numbers that no match comes to: the joining peer was caught in a turn without end, or its counters passed their end.
#[test]
fn a_header_that_no_match_comes_to_costs_the_joiner_another_state_and_no_more() {
    let lies: [(&str, Change); 3] = [
        ("turns without frames", |header| {
            header.plan.frames_per_turn = 0;
            header.players.iter_mut().for_each(|player| player.votes = Votes::default());
        }),
        ("calm turns", |header| {
            header.calm = (u32::MAX, 0);
            header.plan.frames_per_turn = 20;
            for player in &mut header.players {
                player.votes = Votes { network_ms: 1, ..Votes::default() };
            }
        }),
        ("time since the last statement", |header| {
            header.signing.as_mut().unwrap().elapsed = u64::MAX;
        }),
    ];
    for (number, (name, lie)) in lies.into_iter().flat_map(|lie| [lie; 4]).enumerate() {
        let (is_relayed, watches) = (number % 2 == 1, number / 2 % 2 == 1);
        // Only statements have a rhythm.
        let is_unsigned = !name.contains("statement");
        let lie = Lie { is_unsigned, is_relayed, watches, header: Some(lie), ..Lie::default() };
        let told = lie.check();
        let is_refused = |event: &Event| matches!(event, Event::StateRefused { .. });
        assert!(told.iter().any(is_refused), "{name}, {lie:?}: {told:?}");
    }
}

/// These players (bit n for player n) had gone so many turns before, it says.
fn gone<const PLAYERS: u16, const BEFORE: u32>(header: &mut Header) {
    for (player, place) in header.players.iter_mut().zip(0..) {
        if PLAYERS >> place & 1 == 1 {
            player.ended.get_or_insert((header.turn - BEFORE, EndReason::Dropped));
        }
    }
}

/// The second state began a recording of its own, and nothing said in it that copies differ, because the first had been told.
#[test]
fn who_loads_a_second_state_is_told_again_that_copies_differ() {
    let rhythm: Change = |header| header.signing.as_mut().unwrap().elapsed ^= 1 << 19;
    for is_relayed in [false, true] {
        let lie =
            Lie { is_relayed, watches: true, has_outlier: true, header: Some(rhythm), ..Lie::default() };
        let (joiner, game) = lie.play();
        let Clockwork { loads, told, .. } = game.drivers()[joiner].simulation();
        assert_eq!((*loads, *told), (2, 1), "{lie:?}");
    }
}

/// Where nobody plays any more, nobody can confirm a state. A source that said so was believed: the joining peer was told nothing, and played alone.
#[test]
fn a_source_that_says_that_others_are_gone_is_not_believed() {
    // Everybody, or all but the source; just now, or some turns ago.
    let lies: [Change; 4] = [gone::<0b1111, 1>, gone::<0b1110, 1>, gone::<0b1111, 4>, gone::<0b1110, 4>];
    for number in 0..32 {
        let (is_relayed, watches, is_unsigned) = (number % 2 == 1, number / 2 % 2 == 1, number / 4 % 2 == 1);
        let lie = Lie { is_relayed, watches, is_unsigned, header: Some(lies[number / 8]), ..Lie::default() };
        let told = lie.check();
        assert!(told.iter().any(|event| matches!(event, Event::StateRefused { .. })), "{lie:?}: {told:?}");
    }
}

/// The turns are as long as turns get, it says, and player 3, who is gone, plays on.
fn slow_and_nobody_gone(header: &mut Header) {
    (header.plan.frames_per_turn, header.plan.pace_millihertz, header.speed) = (20, 1_000, 10);
    header.players.iter_mut().for_each(|player| player.ended = None);
}

/// The entries of a player who is gone never come. They were waited for in turns of the length that the state says, which nobody has confirmed: where turns
/// follow measurements the time for joining was over first.
#[test]
fn a_source_that_says_that_turns_are_long_does_not_use_up_the_time_for_joining() {
    for number in 0..4 {
        let (is_relayed, is_unsigned) = (number % 2 == 1, number / 2 % 2 == 1);
        let lie = Lie { is_relayed, is_unsigned, header: Some(slow_and_nobody_gone), ..Lie::default() };
        let told = lie.check();
        assert!(told.iter().any(|event| matches!(event, Event::StateRefused { .. })), "{lie:?}: {told:?}");
        let is_back = |event: &Event| matches!(event, Event::PlayerReturned { player: PlayerId(3), .. });
        assert!(told.iter().any(is_back), "{lie:?}: {told:?}");
    }
}

/// The last line: a game returns the checksum that came with the state, and the difference shows as soon as turns run.
#[test]
fn a_wrong_state_is_found_even_if_the_game_returns_the_checksum_that_came_with_it() {
    for number in 0..8 {
        let (is_unsigned, is_relayed, watches) = (number % 2 == 1, number / 2 % 2 == 1, number / 4 == 1);
        // A bit of the history, before the checksum that came with it.
        let lie = Lie {
            is_unsigned,
            is_relayed,
            watches,
            stores: true,
            from_end: true,
            bit: 64 + 10,
            ..Lie::default()
        };
        let told = lie.check();
        assert!(told.iter().any(|event| matches!(event, Event::WrongState { .. })), "{lie:?}: {told:?}");
        let is_in = |event: &Event| matches!(event, Event::PlayerReturned { .. } | Event::CaughtUp { .. });
        assert!(told.iter().any(is_in), "{told:?}");
    }
}
