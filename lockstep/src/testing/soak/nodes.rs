//! Who is behind the number of a node, its session, and the orders that its bot submits.

use crate::replay::ReplayHeader;
use crate::session::Session;
use crate::session::config::{ConfigError, SessionConfig, Topology};
use crate::session::saved_match::SavedMatch;
#[cfg(feature = "signed")]
use crate::signed::key::PlayerKey;
use crate::signed::signed_before::SignedBefore;
use crate::testing::soak::ledger::Ledger;
use crate::testing::soak::plan::Plan;
use crate::value::action::Action;
use crate::value::ids::{Identity, PeerId, PlayerId, Turn};
use crate::value::time::Instant;

/// Orders that a player sometimes submits at once.
const BURST: u32 = 5;

/// Players first, then the relay, then watchers.
pub(super) fn identity(plan: &Plan, node: u32) -> Identity {
    match u8::try_from(node) {
        Ok(player) if player < plan.players => Identity::Player(PlayerId(player)),
        _ if plan.topology == Topology::Relay && node == plan.centre() => Identity::Relay,
        _ => Identity::Watcher,
    }
}

pub(super) fn name_of(plan: &Plan, node: u32) -> String {
    match identity(plan, node) {
        Identity::Player(player) => format!("player {player}"),
        Identity::Watcher => format!("watcher {node}"),
        Identity::Relay => "relay".into(),
    }
}

/// The secret by which the middle of the star recognises a node's player.
pub(super) fn secret_of(node: u32) -> u8 {
    node as u8 + 1
}

/// What a program has when it starts.
#[derive(Clone, Debug, Default)]
pub(super) struct Brings {
    /// That of its player's place.
    pub(super) secret: u8,
    pub(super) signed_before: Option<SignedBefore>,
    pub(super) saved: Option<SavedMatch>,
}

pub(super) fn session<A: Action>(
    plan: &Plan,
    header: &ReplayHeader,
    node: u32,
    start: Instant,
    brings: Brings,
) -> Result<Session<A>, ConfigError> {
    let config = plan.config().content_hash(header.content_hash).place_secret([brings.secret; 16]);
    let config =
        brings.signed_before.into_iter().fold(with_key(config, plan, node), SessionConfig::signed_before);
    let config = brings.saved.into_iter().fold(config, SessionConfig::resume);
    let mut session = Session::new(config, identity(plan, node), start)?;
    if let Some(player) = session.player() {
        // Whoever takes a place shows something else than the player before. There is room and time for it.
        let _ = session.set_profile(player, &[player.0, brings.secret]);
    }
    match plan.topology {
        Topology::Mesh => (0..node).for_each(|other| session.connect(PeerId(other))),
        Topology::Host | Topology::Relay if node != plan.centre() => session.connect(PeerId(plan.centre())),
        Topology::Host | Topology::Relay => {}
    }
    Ok(session)
}

/// A player has the same key whenever it comes, also on another machine.
#[cfg(feature = "signed")]
fn with_key(config: SessionConfig, plan: &Plan, node: u32) -> SessionConfig {
    match (plan.modes.signed, identity(plan, node)) {
        (None, _) => config,
        (Some(_), Identity::Player(player)) => config.player_key(PlayerKey::from_secret([player.0 + 1; 32])),
        (Some(_), _) => config.signed(),
    }
}

#[cfg(not(feature = "signed"))]
fn with_key(config: SessionConfig, _: &Plan, _: u32) -> SessionConfig {
    config
}

/// Before a turn begins: submits the bot's order, and sometimes several at once. The ledger notes what the session accepted.
pub(super) fn submit_orders<A: Action + Clone>(
    plan: &Plan,
    ledger: &mut Ledger<A>,
    player: PlayerId,
    turn: Turn,
    session: &mut Session<A>,
    order: impl Fn(Turn) -> Option<A>,
) {
    let is_burst = (turn.0 + u32::from(player.0)).is_multiple_of(plan.burst_every);
    for extra in 0..if is_burst { BURST } else { 1 } {
        // The order that the bot would give in another turn, in the present situation.
        if let Some(order) = order(Turn(turn.0 + extra * plan.turns))
            && session.submit(&order).is_ok()
        {
            ledger.accept(player.0, order);
        }
    }
}
