//! One family of matches for all that signatures promise: attackers are drawn in every role, with every lie that is known here, and afterwards what the
//! honest peers have recorded is judged as a referee's judgement is. Nobody honest is convicted, and every proof that is accepted names a liar.
//!
//! A liar runs an honest session and changes what that sends ([`liar`]), so it lies in the middle of whatever happens: while somebody is away, comes back,
//! watches late, or goes on from a save.

mod judges;
mod liar;
mod world;

use crate::play::Play as _;
use testudo_lockstep::simnet::LinkConfig;
use testudo_lockstep::{Duration, Event, Identity, PlayerId, SavedMatch, SessionConfig, Topology, Turn};
use testudo_tests::cases::share;
use testudo_tests::scenes::Generator;

use super::forgers::below;
use super::slow;
use crate::toy::{Toy, key_of, terrible, toy_match};
use judges::{Counts, is_complete, is_enough, judge};
use liar::{Liar, Lie};
use world::World;

/// Matches of `.ci/run`; half of them otherwise. `FORGED_ROLES=3000 cargo test -p testudo-tests --test lockstep roles` plays more.
const MATCHES: u64 = 120;

/// Where the liar sits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    /// A player, not in the middle.
    Player,
    /// The host, or the relay.
    Middle,
    /// The player whom the middle asks first for a state, for players who come back and for a referee that comes late.
    Source,
    /// A player who crashes and comes back.
    Returning,
    Watcher,
    /// The host, who has changed the save from which all go on.
    Giver,
}

/// A drawn match.
struct Case {
    topology: Topology,
    players: u8,
    role: Role,
    /// A player who crashes and comes back.
    returning: Option<usize>,
    /// A referee comes in the middle of the match.
    comes_late: bool,
    link: LinkConfig,
}

impl Case {
    fn draw(dice: &mut Generator) -> Self {
        let topology = [Topology::Host, Topology::Relay, Topology::Host, Topology::Relay, Topology::Mesh]
            [below(dice, 5) as usize];
        let players = 2 + below(dice, 3) as u8;
        let roles = [Role::Player, Role::Middle, Role::Source, Role::Returning, Role::Watcher, Role::Giver];
        let role = match (topology, roles[below(dice, 6) as usize]) {
            (Topology::Mesh, _) => Role::Player,
            // Behind a relay the middle does not play.
            (Topology::Relay, Role::Giver) => Role::Middle,
            (_, role) => role,
        };
        let is_star = topology != Topology::Mesh;
        // The last player is never the host, and never asked first.
        let last = usize::from(players) - 1;
        let returns = is_star && (role == Role::Returning || below(dice, 2) == 0);
        let link = if below(dice, 4) == 0 { terrible() } else { slow() };
        Self {
            topology,
            players,
            role,
            returning: returns.then_some(last),
            comes_late: is_star && below(dice, 2) == 0,
            link,
        }
    }

    /// The node of the liar, if it is a player or the relay.
    fn liar(&self) -> Option<usize> {
        let last = usize::from(self.players) - 1;
        Some(match (self.role, self.topology) {
            (Role::Watcher, _) => return None,
            (Role::Middle, Topology::Relay) => usize::from(self.players),
            (Role::Middle | Role::Source | Role::Giver, _) => 0,
            // The one who returns is honest then.
            (Role::Player, _) if self.returning.is_some() => {
                last.saturating_sub(1).max(usize::from(last > 1))
            }
            (Role::Player | Role::Returning, _) => last,
        })
    }

    fn config(&self) -> SessionConfig {
        SessionConfig::new(self.players)
            .simulated()
            .topology(self.topology)
            .turns(if self.returning.is_some() || self.comes_late || self.role == Role::Giver {
                130
            } else {
                60
            })
            .drop_after(Duration::from_secs(2))
            .silence_timeout(Duration::from_secs(5))
            .join_timeout(Duration::from_secs(20))
            .bots_take_over(true)
            .late_watchers(true)
            .signed()
    }
}

/// Two or three lies, or one.
fn draw_lies(dice: &mut Generator, role: Role) -> Vec<Lie> {
    let mut lies: Vec<Lie> = (0..1 + below(dice, 3)).map(|_| Lie::ALL[below(dice, 13) as usize]).collect();
    if matches!(role, Role::Source | Role::Middle) && below(dice, 2) == 0 {
        lies.push(Lie::State);
    }
    lies.sort_unstable_by_key(|lie| *lie as u8);
    lies.dedup();
    lies
}

/// A save of an honest match, changed by whoever gives it to the others: the battle is another one, and the hashes are right.
fn changed_save(config: &SessionConfig, bit: u32) -> (SavedMatch, Toy) {
    let mut game = toy_match(config, 0, 1, slow());
    game.run(testudo_lockstep::Instant::from_millis(60_000), |_, turn, _, session| {
        if turn.0 == 10 {
            session.save();
        }
    });
    let saved = game.session_mut(0).take_saved().expect("a save");
    let (_, mut toy) = game.toy(0).saved.clone().expect("its state");
    toy.values[0] ^= 1 << (bit % 40);
    let mut bytes = saved.to_bytes();
    // Version, settings, turn; then the checksum.
    bytes[14..22].copy_from_slice(&toy.checksum().to_le_bytes());
    let body = bytes.len() - 8;
    let hash = xxhash_rust::xxh3::xxh3_64(&bytes[..body]);
    bytes[body..].copy_from_slice(&hash.to_le_bytes());
    (SavedMatch::from_bytes(&bytes).expect("a save"), *toy)
}

fn play(seed: u64) -> (World, String) {
    let mut dice = Generator::new(seed);
    let case = Case::draw(&mut dice);
    let lies = draw_lies(&mut dice, case.role);
    let what = format!(
        "seed {seed}: {:?}, {} players, {:?} tells {lies:?}, returning {:?}, late referee {}",
        case.topology, case.players, case.role, case.returning, case.comes_late
    );
    let (mut config, mut toy) = (case.config(), Toy { gives_state: true, ..Toy::default() });
    if case.role == Role::Giver {
        let (saved, changed) = changed_save(&config, dice.next_u32());
        toy = Toy { gives_state: true, saved: None, ..changed };
        config = config.resume(saved);
    }
    let mut world = World::new(config, seed, case.link);
    for player in 0..case.players {
        world.add(Identity::Player(PlayerId(player)), toy.clone());
    }
    if case.topology == Topology::Relay {
        world.add(Identity::Relay, toy.clone());
    }
    if case.topology != Topology::Mesh {
        world.add(Identity::Watcher, toy.clone());
    }
    let liar = case.liar().unwrap_or_else(|| world.add(Identity::Watcher, toy.clone()));
    let copy = world.peers[liar].driver.simulation_mut();
    if lies.contains(&Lie::Copy) {
        copy.corrupt_at = Some(copy.frames + 40 + below(&mut dice, 120));
    }
    if lies.contains(&Lie::Game) {
        copy.lie = Some(1 << below(&mut dice, 8));
    }
    let own = (liar < usize::from(case.players)).then(|| (PlayerId(liar as u8), key_of(liar as u8)));
    let nodes = world.peers.len() as u32;
    let is_middle = liar as u32 == crate::toy::middle_of(&world.config) && case.topology != Topology::Mesh;
    world.liars.insert(liar, Liar::new(&mut dice, lies, own, is_middle, case.players, nodes));
    go_on(&mut world, &case, &toy, &mut dice);
    (world, what)
}

/// What happens in the match besides the lies.
fn go_on(world: &mut World, case: &Case, toy: &Toy, dice: &mut Generator) {
    world.run(4_000 + u64::from(below(dice, 3_000)), dice);
    if let Some(node) = case.returning {
        world.peers[node].is_off = true;
        let back_at = world.now_ms() + 3_500;
        world.run(back_at, dice);
        let lie = world.peers[node].driver.simulation().lie;
        world.restart(node, Toy { lie, ..toy.clone() });
    }
    if case.comes_late {
        let later = world.now_ms() + 1_000;
        world.run(later, dice);
        world.add(Identity::Watcher, toy.clone());
    }
    world.run(120_000, dice);
    // Whoever lies is silent in the end, or nobody would ever be done with a liar in the middle.
    let liars: Vec<usize> = world.liars.keys().copied().collect();
    liars.into_iter().for_each(|node| world.peers[node].is_off = true);
    world.run(400_000, dice);
}

/// In any role, with any lie.
#[test]
fn nobody_honest_is_convicted_and_every_accepted_proof_names_a_liar() {
    let asked = std::env::var("FORGED_ROLES").ok();
    let matches =
        asked.map_or(share(MATCHES).max(60), |asked| asked.parse().expect("FORGED_ROLES is a number"));
    let first = std::env::var("FORGED_FIRST").ok();
    let first: u64 = first.map_or(0, |first| first.parse().expect("FORGED_FIRST is a number"));
    let mut all = Counts::new();
    for seed in first..first + matches {
        let (world, what) = play(seed);
        for effect in judge(&world, &mut Generator::new(seed ^ 0x006a_7564_6765), &what) {
            *all.entry(effect).or_default() += 1;
        }
    }
    println!("{all:?} of {matches} matches from seed {first}");
    assert!(is_enough(&all, matches), "the liars do nothing: {all:?} of {matches}");
    // The seeds of a test run are always the same, so chance is no excuse.
    assert!((first, matches) != (0, MATCHES) || is_complete(&all), "something never happens: {all:?}");
}

/// The liar was alone in the match, so its state was what most players said. A watcher who had seen the right match named the victim.
#[test]
fn a_player_who_was_misled_is_not_named_alone() {
    let seed = 11_529;
    let (world, what) = play(seed);
    judge(&world, &mut Generator::new(seed), &what);
    let victim = PlayerId(1);
    let named = world.peers.iter().flat_map(|peer| &peer.record.events).find_map(|event| match event {
        Event::ShownAnother { player, since, .. } if *player == victim => Some(*since),
        _ => None,
    });
    assert_eq!(named, Some(Some(Turn(37))), "{what}");
}
