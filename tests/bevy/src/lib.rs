//! Testudo in Bevy: one lockstep match as a plugin, to be copied and changed. `examples/duel.rs` uses it.
//!
//! - Orders go in as messages ([`Give`]), events of the session come out as messages ([`Told`]).
//! - Each body of the physics has an entity with [`Mirror`] and [`Position`]. Systems that draw read these; they change nothing.
//! - The plugin runs in `Update`. `FixedUpdate` would be a second rhythm beside that of the match.

use std::collections::BTreeMap;

use bevy_app::{App, Update};
use bevy_ecs::prelude::*;
use testudo_lockstep::transport::udp::UdpTransport;
use testudo_lockstep::{AnySession, Driver, Duration, Event as SessionEvent, Instant, Simulation, SubmitError};
use testudo_physics::{BodyId, World as Physics};

/// A simulation whose bodies are mirrored.
pub trait Game: Simulation<Action: Send + Sync + 'static> + Send + Sync + 'static {
    /// Its physics.
    fn physics(&self) -> &Physics;
}

/// What carries the packets of a session.
pub trait Link: Send + Sync + 'static {
    /// Hands over what has arrived, and sends what waits.
    fn pump(&mut self, session: &mut AnySession, now: Instant);
}

impl Link for UdpTransport {
    fn pump(&mut self, session: &mut AnySession, now: Instant) {
        let _ = Self::pump(self, session, now);
    }
}

/// The match of this app.
#[derive(Resource)]
pub struct Match<G: Game> {
    /// The game and its session.
    pub driver: Driver<G>,
    link: Box<dyn Link>,
    drawn: Vec<(BodyId, [f32; 2])>,
    /// None of its bodies has an entity yet.
    is_new: bool,
}

impl<G: Game> Match<G> {
    /// A match that has not begun.
    pub fn new(driver: Driver<G>, link: impl Link) -> Self {
        Self { driver, link: Box::new(link), drawn: Vec::new(), is_new: true }
    }
}

/// The time, from any start. Set it in `First`, for example from `Time<Real>::elapsed`; tests count.
#[derive(Resource, Default)]
pub struct Now(pub Instant);

/// How long the last round kept this machine at work. Measure it with your clock, from a system before [`LockstepSystems`] to one after it and to
/// the end of the picture, so that the others slow down for a machine that cannot keep up. Zero, as at first, says that it can.
#[derive(Resource, Default)]
pub struct Work {
    /// The match.
    pub simulated: Duration,
    /// Everything else, but no wait for the screen.
    pub drawn: Duration,
}

/// An order of the local player. It runs some turns later, on every machine.
#[derive(Message)]
pub struct Give<A: Send + Sync + 'static>(pub A);

/// An order that does not run, and why.
#[derive(Message)]
pub struct Refused(pub SubmitError);

/// Something that the session tells: a player is waited for, gone or back, a desync, the end.
#[derive(Message)]
pub struct Told(pub SessionEvent);

/// The entity shows this body. It is gone when the body is.
#[derive(Component, Clone, Copy, PartialEq, Debug)]
pub struct Mirror(pub BodyId);

/// Where it is between the last two frames. In a game this is the `Transform`.
#[derive(Component, Clone, Copy, PartialEq, Debug)]
pub struct Position(pub [f32; 2]);

/// Systems that give orders run before this, those that read positions after it.
#[derive(SystemSet, Clone, PartialEq, Eq, Hash, Debug)]
pub struct LockstepSystems;

/// The plugin: `app.add_plugins(lockstep::<MyGame>)`. It runs the [`Match`] from when this is inserted as a resource. Another one takes its place.
pub fn lockstep<G: Game>(app: &mut App) {
    app.init_resource::<Now>()
        .init_resource::<Work>()
        .add_message::<Give<G::Action>>()
        .add_message::<Refused>()
        .add_message::<Told>();
    let systems = (advance::<G>, mirror::<G>).chain().in_set(LockstepSystems);
    app.add_systems(Update, systems.run_if(resource_exists::<Match<G>>));
}

/// One round: what the last one cost, packets in, orders in, the frames that are due, packets out, events.
fn advance<G: Game>(
    mut game: ResMut<Match<G>>,
    now: Res<Now>,
    work: Res<Work>,
    mut orders: MessageReader<Give<G::Action>>,
    mut refused: MessageWriter<Refused>,
    mut told: MessageWriter<Told>,
) {
    let Match { driver, link, .. } = &mut *game;
    driver.note_work(work.simulated, work.drawn);
    link.pump(driver.session_mut(), now.0);
    for Give(order) in orders.read() {
        if let Err(error) = driver.session_mut().submit(order) {
            refused.write(Refused(error));
        }
    }
    driver.advance(now.0);
    link.pump(driver.session_mut(), now.0);
    while let Some(event) = driver.session_mut().poll_event() {
        told.write(Told(event));
    }
}

/// An entity for every body, and no other. Another match has other bodies, whose numbers are the same.
fn mirror<G: Game>(
    mut game: ResMut<Match<G>>,
    now: Res<Now>,
    mut entities: Local<BTreeMap<BodyId, Entity>>,
    mut positions: Query<&mut Position>,
    mut commands: Commands,
) {
    let Match { driver, drawn, is_new, .. } = &mut *game;
    if core::mem::take(is_new) {
        core::mem::take(&mut *entities).into_values().for_each(|entity| commands.entity(entity).despawn());
    }
    let physics = driver.simulation().physics();
    physics.interpolated_positions(driver.alpha_at(now.0), drawn);
    for (body, at) in drawn.iter() {
        match entities.get(body) {
            Some(entity) => {
                if let Ok(mut position) = positions.get_mut(*entity) {
                    position.set_if_neq(Position(*at));
                }
            }
            None => drop(entities.insert(*body, commands.spawn((Mirror(*body), Position(*at))).id())),
        }
    }
    for (_, entity) in entities.extract_if(.., |body, _| physics.body(*body).is_none()) {
        commands.entity(entity).despawn();
    }
}
