//! Two apps play a match, without a window and in counted time. Each player has ten discs; those that meet die.

use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};

use bevy_app::{App, Update};
use bevy_ecs::prelude::*;
use testudo_bevy::{Game, Give, Link, LockstepSystems, Match, Mirror, Now, Position, Told, lockstep};
use testudo_lockstep::state::{self, State, StateError, Visit};
use testudo_lockstep::transport::memory::MemoryHub;
use testudo_lockstep::{
    Action, AnySession, BitReader, BitWriter, DecodeError, Driver, Event as SessionEvent, Instant, PeerId,
    PlayerId, Session, SessionConfig, Simulation,
};
use testudo_physics::{BodyDef, BodyId, Fx, Shape, Vec2, World as Physics, WorldDef};

const DISCS: u8 = 10;

/// This disc charges.
struct Charge(u8);

impl Action for Charge {
    const MAX_BITS: u32 = 4;

    fn encode(&self, out: &mut BitWriter) {
        out.write_bits(self.0.into(), 4);
    }

    fn decode(input: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        Ok(Self(input.read_max(4, u64::from(DISCS) - 1)? as u8))
    }
}

struct Duel {
    physics: Physics,
    discs: Vec<Option<BodyId>>, // player 0's, then player 1's; none if dead
}

impl Duel {
    fn new() -> Result<Self, Box<dyn Error>> {
        let (mut physics, mut discs) = (Physics::new(WorldDef::default())?, Vec::new());
        for number in 0..2 * i32::from(DISCS) {
            let (side, row) = (number / i32::from(DISCS) * 2 - 1, number % i32::from(DISCS));
            let at = Vec2::from_ints(side * 12, 3 * row - 15);
            discs.push(Some(physics.create_body(&BodyDef::dynamic(Shape::circle(Fx::ONE)).position(at))?));
        }
        Ok(Self { physics, discs })
    }
}

impl Simulation for Duel {
    type Action = Charge;

    fn apply(&mut self, player: PlayerId, charge: &Charge) {
        if let Some(disc) = self.discs[usize::from(player.0 * DISCS + charge.0)] {
            let velocity = Vec2::from_ints(15 - 30 * i32::from(player.0), 0);
            self.physics.set_velocity(disc, velocity).expect("it lives");
        }
    }

    fn step(&mut self, frames_per_second: u32) {
        self.physics.step(frames_per_second).expect("the rate is in range");
        let met: Vec<BodyId> = self.physics.contacts_began().iter().flat_map(|hit| [hit.a, hit.b]).collect();
        for disc in &mut self.discs {
            if let Some(dead) = disc.take_if(|disc| met.contains(disc)) {
                self.physics.remove_body(dead).expect("it lived");
            }
        }
    }

    fn checksum(&mut self) -> u64 {
        state::digest(self)
    }
}

impl State for Duel {
    fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
        for (index, disc) in (0..).zip(&mut self.discs) {
            v.object("disc", index);
            let mut lives = disc.is_some();
            v.number("lives", &mut lives)?;
            *disc = lives.then_some(disc.unwrap_or(BodyId::from_bits(0)));
            disc.as_mut().map_or(Ok(()), |body| v.number("body", body))?;
        }
        v.part(&mut self.physics)
    }
}

impl Game for Duel {
    fn physics(&self) -> &Physics {
        &self.physics
    }
}

/// Packets within this process.
struct Wire(Arc<Mutex<MemoryHub>>, u32);

impl Link for Wire {
    fn pump(&mut self, session: &mut AnySession, now: Instant) {
        let mut hub = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some((from, bytes)) = hub.receive(self.1) {
            session.handle_packet(now, PeerId(from), &bytes);
        }
        let mut packet = Vec::new();
        while let Some(to) = session.poll_transmit(now, &mut packet) {
            hub.send(self.1, to.0, &packet);
        }
    }
}

/// Stands for mouse and keys: one disc after the other charges, half of them in all.
fn play(now: Res<Now>, mut orders: MessageWriter<Give<Charge>>) {
    let picture = now.0.as_micros() / 20_000;
    if picture.is_multiple_of(10) {
        orders.write(Give(Charge((picture / 10 % u64::from(DISCS / 2)) as u8)));
    }
}

#[derive(Resource, Default)]
struct Seen(usize, bool); // positions drawn; whether the match is over

fn draw(moved: Query<&Position, Changed<Position>>, mut told: MessageReader<Told>, mut seen: ResMut<Seen>) {
    seen.0 += moved.iter().count();
    for Told(event) in told.read() {
        assert!(!matches!(event, SessionEvent::Desync(_) | SessionEvent::Failed(_)), "{event:?}");
        seen.1 |= matches!(event, SessionEvent::Finished);
    }
}

fn app(session: Session<Charge>, wire: Wire) -> Result<App, Box<dyn Error>> {
    let mut app = App::new();
    app.add_plugins(lockstep::<Duel>)
        .insert_resource(Match::new(Driver::new(Duel::new()?, session), wire))
        .init_resource::<Seen>()
        .add_systems(Update, (play.before(LockstepSystems), draw.after(LockstepSystems)));
    Ok(app)
}

fn main() -> Result<(), Box<dyn Error>> {
    // In the memory of one process there is nobody from whom to hide.
    let config = SessionConfig::new(2).session_id(1).entropy([0; 16]).turns(60).frames_per_second(20).frames_per_turn(2);
    let hub = Arc::new(Mutex::new(MemoryHub::new(2)));
    let host = Session::host(config.clone(), Instant::ZERO)?;
    let guest = Session::join(config, PlayerId(1), PeerId(0), Instant::ZERO)?;
    let mut apps = [app(host, Wire(Arc::clone(&hub), 0))?, app(guest, Wire(hub, 1))?];
    for now in (0..600).map(|picture| Instant::from_millis(picture * 20)) {
        for app in &mut apps {
            app.insert_resource(Now(now));
            app.update();
        }
    }
    let [here, there] = apps.each_mut().map(|app| {
        let entities = app.world_mut().query::<&Mirror>().iter(app.world()).count();
        let Seen(drawn, is_over) = *app.world().resource::<Seen>();
        let duel = app.world_mut().resource_mut::<Match<Duel>>().into_inner().driver.simulation_mut();
        let discs = duel.physics.bodies().count();
        println!(
            "{discs} of {} discs are left and have {entities} entities; {drawn} positions drawn",
            2 * DISCS
        );
        // Ten discs moved for 0.7 s, 50 pictures per second.
        assert!(is_over && entities == discs && discs == usize::from(DISCS) && drawn > 300);
        duel.checksum()
    });
    assert_eq!(here, there, "both machines have the same state");
    play_again(&mut apps[0])
}

/// Another match takes the place of the first, of which nothing stays on the screen.
fn play_again(app: &mut App) -> Result<(), Box<dyn Error>> {
    let alone = Session::host(SessionConfig::new(1).session_id(2).entropy([0; 16]).turns(1), Instant::ZERO)?;
    let wire = Wire(Arc::new(Mutex::new(MemoryHub::new(1))), 0);
    let entities = |app: &mut App| {
        app.world_mut().query_filtered::<Entity, With<Mirror>>().iter(app.world()).collect::<Vec<_>>()
    };
    let former = entities(app);
    app.insert_resource(Match::new(Driver::new(Duel::new()?, alone), wire));
    app.update();
    app.update();
    let present = entities(app);
    assert_eq!(present.len(), 2 * usize::from(DISCS), "every disc of the new match");
    assert!(present.iter().all(|entity| !former.contains(entity)), "and none of the former one");
    Ok(())
}
