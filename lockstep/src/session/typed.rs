//! A session of one game: the type of the actions, and nothing else.

use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};

use crate::session::AnySession;
use crate::session::config::{ConfigError, SessionConfig, Topology};
use crate::session::outbox::SubmitError;
use crate::value::action::{Action, AnyAction};
use crate::value::action_format::ActionFormat;
use crate::value::codec::Codec;
use crate::value::ids::{Identity, PeerId, PlayerId};
use crate::value::time::Instant;

/// One peer's part of a lockstep match, as a state machine. The application moves the bytes and passes the time in.
///
/// There are four kinds of methods:
/// - `handle_*` methods take input: a packet ([`Session::handle_packet`](crate::AnySession::handle_packet)) or the time
///   ([`Session::handle_timeout`](crate::AnySession::handle_timeout)). They never fail. [`Session::stats`](crate::AnySession::stats) counts the packets that
///   they cannot use.
/// - `poll_*` methods return output: packets ([`Session::poll_transmit`](crate::AnySession::poll_transmit)), events
///   ([`Session::poll_event`](crate::AnySession::poll_event)), and the time of the next call ([`Session::poll_timeout`](crate::AnySession::poll_timeout)).
/// - Commands express what the local player wants: [`Session::submit`], [`Session::pause`](crate::AnySession::pause),
///   [`Session::leave`](crate::AnySession::leave) and others. They take effect with the player's next entry, in the same turn on every peer. What stands beside
///   the match, as a message or a peer that is bound to an identity, takes effect at once.
/// - Turns: [`Session::begin_turn`](crate::AnySession::begin_turn), then the actions of the turn, then [`Session::end_turn`](crate::AnySession::end_turn).
///   [`crate::Driver`] makes these calls.
///
/// Call these in every round of the application's loop, in this order:
/// 1. [`Session::handle_packet`](crate::AnySession::handle_packet) with every packet that has arrived;
/// 2. [`Session::handle_timeout`](crate::AnySession::handle_timeout) with the time;
/// 3. the turns that are due;
/// 4. [`Session::poll_transmit`](crate::AnySession::poll_transmit) until it returns `None`;
/// 5. [`Session::poll_event`](crate::AnySession::poll_event) until it returns `None`;
/// 6. sleep until [`Session::poll_timeout`](crate::AnySession::poll_timeout) or the next packet.
///
/// [`Session::phase`](crate::AnySession::phase) returns the phase. A session that is over ([`Session::is_over`](crate::AnySession::is_over)) still has bye
/// packets to send: repeat step 4 for a moment.
///
/// What needs the type of the actions is here. All other methods are those of [`AnySession`].
#[derive(Debug)]
pub struct Session<A> {
    any: AnySession,
    action: PhantomData<fn() -> A>,
}

impl<A> Deref for Session<A> {
    type Target = AnySession;

    fn deref(&self) -> &AnySession {
        &self.any
    }
}

impl<A> DerefMut for Session<A> {
    fn deref_mut(&mut self) -> &mut AnySession {
        &mut self.any
    }
}

impl Session<AnyAction> {
    /// The relay of a match of any game: it forwards actions without reading them. `action_bits` is [`Action::MAX_BITS`] of the game.
    ///
    /// What a game's own peers cannot decode runs as "no action" on all of them. (A relay of type `Session<A>`, by [`Session::new`] with
    /// [`Identity::Relay`], refuses such actions at once.)
    ///
    /// # Errors
    /// A setting out of range.
    pub fn relay(config: SessionConfig, action_bits: u32, now: Instant) -> Result<Self, ConfigError> {
        Self::with_action_bits(config.topology(Topology::Relay), Identity::Relay, action_bits, now)
    }

    /// The session of a peer that knows only at run time how long actions are: the rules of its game are in another language or in a script. The other peers
    /// may have actions of a type of their own. Then [`AnySession::connect`] to the host or relay follows for a guest.
    ///
    /// ```
    /// use testudo_lockstep::{ActionFormat, AnyAction, Identity, Instant, PlayerId, Session, SessionConfig, SubmitError};
    /// let config = SessionConfig::new(2).session_id(7).entropy([1; 16]);
    /// let format = ActionFormat::fixed(12);
    /// let mut host = Session::of_format(config, Identity::Player(PlayerId(0)), format, Instant::ZERO)?;
    /// let action = |bits| AnyAction::new(&[0xff, 0x0f], bits).expect("two bytes hold so many bits");
    /// assert_eq!(host.submit(&action(12)), Ok(()));
    /// assert_eq!(host.submit(&action(13)), Err(SubmitError::WrongSize { bits: 13, max: 12 }));
    /// assert_eq!(host.submit(&action(11)), Err(SubmitError::NotCanonical));
    /// # Ok::<(), testudo_lockstep::ConfigError>(())
    /// ```
    ///
    /// # Errors
    /// A setting out of range, or a player number that the match does not have.
    pub fn of_format(
        config: SessionConfig,
        identity: Identity,
        format: ActionFormat,
        now: Instant,
    ) -> Result<Self, ConfigError> {
        let action_bits = format.bits_max();
        let any = AnySession::new(config, identity, Codec::of_format(format), action_bits, now)?;
        Ok(Self { any, action: PhantomData })
    }
}

impl<A: Action> Session<A> {
    /// A session of one peer. Most callers use [`Session::host`], [`Session::join`] or [`Session::single`].
    ///
    /// # Errors
    /// A setting out of range, or a player number that the match does not have.
    pub fn new(config: SessionConfig, identity: Identity, now: Instant) -> Result<Self, ConfigError> {
        Self::with_action_bits(config, identity, A::MAX_BITS, now)
    }

    fn with_action_bits(
        config: SessionConfig,
        identity: Identity,
        action_bits: u32,
        now: Instant,
    ) -> Result<Self, ConfigError> {
        let any = AnySession::new(config, identity, Codec::of::<A>(), action_bits, now)?;
        Ok(Self { any, action: PhantomData })
    }

    /// The session of the host, player [`SessionConfig::host_player`]. It waits for the others, [`SessionConfig::lobby_timeout()`] at most.
    ///
    /// # Errors
    /// A setting out of range.
    pub fn host(config: SessionConfig, now: Instant) -> Result<Self, ConfigError> {
        let host = PlayerId(config.sides.host_player);
        Self::new(config, Identity::Player(host), now)
    }

    /// A player who joins the host (or relay) over the link `host`.
    ///
    /// # Errors
    /// A setting out of range, or a player number that the match does not have.
    pub fn join(
        config: SessionConfig,
        player: PlayerId,
        host: PeerId,
        now: Instant,
    ) -> Result<Self, ConfigError> {
        let mut session = Self::new(config, Identity::Player(player), now)?;
        session.connect(host);
        Ok(session)
    }

    /// One player without a network, on the same code path.
    ///
    /// # Errors
    /// A setting out of range, or settings for another number of players than one: who is to play for the others?
    pub fn single(config: SessionConfig, now: Instant) -> Result<Self, ConfigError> {
        if config.players != 1 {
            return Err(ConfigError::NotSingle { players: config.players });
        }
        let config = config.without_network();
        Self::new(config, Identity::Player(PlayerId(0)), now)
    }

    /// Submits an action of the local player. It is encoded now and travels with the next entry that closes and has room.
    ///
    /// # Errors
    /// The action was not accepted and runs nowhere: the queue is full, the encoding is not what the action's type promises, the match ends
    /// before the action could run, or this peer does not play: a peer that joins a running match does not until it is back.
    pub fn submit(&mut self, action: &A) -> Result<(), SubmitError> {
        self.any.may_submit()?;
        let room = self.any.common.room_before_end();
        self.any.local.outbox.submit(action, &self.any.common.setup.codec, room)
    }

    /// Submits actions that are of use only together, in this order: all of them, or none. They need not come into the same turn.
    ///
    /// # Errors
    /// Not all of them were accepted, and none of them runs: see [`Session::submit`].
    pub fn submit_all(&mut self, actions: &[A]) -> Result<(), SubmitError> {
        let waiting = self.any.queued_actions();
        let submitted = actions.iter().try_for_each(|action| self.submit(action));
        submitted.inspect_err(|_| self.any.local.outbox.take_back(waiting))
    }

    /// The actions of the turn that has begun: players in order, each player's actions in the order in which they were submitted.
    ///
    /// The driver uses [`AnySession::turn_order`] instead, because it also calls [`crate::Simulation::play_for`].
    pub fn turn_actions(&self) -> impl Iterator<Item = (PlayerId, A)> + '_ {
        self.turn_order().flat_map(move |player| self.actions_of(player).map(move |action| (player, action)))
    }

    /// A player's actions in the turn that has begun, in the order in which they were submitted. (None for a player that the match does not
    /// have.)
    pub(crate) fn actions_of(&self, player: PlayerId) -> impl Iterator<Item = A> + '_ {
        let payload = self.any.payload_of(player);
        payload.into_iter().flat_map(|payload| self.any.codec().actions(payload))
    }
}
