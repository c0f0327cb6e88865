//! Before the start, at a host that lets in whoever has the secret of a place.

use crate::toy::Order;
use testudo_lockstep::service::agreement::Agreement;
use testudo_lockstep::service::greeting::{Answer, Greeting, Secrets};
use testudo_lockstep::service::host::Host;
use testudo_lockstep::service::places::Pass;
use testudo_lockstep::{
    Duration, Event, Instant, PeerId, PlayerId, Session, SessionConfig, SessionPhase, Topology, TurnStatus,
};

/// The connection of a guest.
const FIRST: u32 = 100;

struct Evening {
    now: Instant,
    session: Session<Order>,
    host: Host,
    agreement: Agreement,
    /// By connection.
    guests: Vec<Option<Session<Order>>>,
    /// Turns that the host has run.
    turns: u32,
}

impl Evening {
    /// A host that is not ready, and a guest in each other place.
    fn new(players: u8) -> (Self, Secrets) {
        let settings = SessionConfig::new(players).turns(1_000).actions_per_turn_max(1);
        let agreement = Agreement::new::<Order>(&settings, b"").unwrap();
        let mut drawn = 0;
        let secrets = Secrets::draw(players, || {
            drawn += 1;
            [drawn; 16]
        });
        let now = Instant::from_millis(1);
        let mut session = Session::host(Host::config(&agreement, 77).entropy([9; 16]), now).unwrap();
        session.set_ready(false);
        let host = Host::new(&mut session, agreement.clone(), &secrets);
        let mut evening = Self { now, session, host, agreement, guests: Vec::new(), turns: 0 };
        for player in 1..players {
            let secret = secrets.players[usize::from(player)];
            assert!(evening.come(PlayerId(player), secret));
        }
        (evening, secrets)
    }

    fn come(&mut self, player: PlayerId, secret: [u8; 16]) -> bool {
        let connection = PeerId(FIRST + self.guests.len() as u32);
        let greeting = Greeting::Come { pass: Pass::from(&secret) }.to_bytes();
        let reply = self.host.greet(&self.session, connection, &greeting, self.now);
        let config = self.agreement.config().topology(Topology::Host).session_id(77);
        let config = config.entropy([connection.0 as u8; 16]).place_secret(secret);
        self.guests.push(Some(Session::join(config, player, PeerId(0), self.now).unwrap()));
        matches!(reply.answer, Answer::Come(_))
    }

    fn pass(&mut self, ms: u64) {
        let mut packet = Vec::new();
        for _ in 0..ms / 10 {
            self.now += Duration::from_millis(10);
            self.turns += u32::from(play(&mut self.session, self.now));
            self.session.handle_timeout(self.now);
            while let Some(link) = self.session.poll_transmit(self.now, &mut packet) {
                let Some(connection) = self.host.connection(link) else { continue };
                if let Some(guest) = &mut self.guests[(connection.0 - FIRST) as usize] {
                    guest.handle_packet(self.now, PeerId(0), &packet);
                }
            }
            for (connection, guest) in (FIRST..).map(PeerId).zip(&mut self.guests) {
                let Some(guest) = guest else { continue };
                play(guest, self.now);
                guest.handle_timeout(self.now);
                while guest.poll_transmit(self.now, &mut packet).is_some() {
                    self.host.receive(&mut self.session, connection, &packet, self.now);
                }
            }
        }
    }

    fn remove(&mut self, player: u8, secret: [u8; 16]) {
        let closed = self.host.remove(&mut self.session, PlayerId(player), &secret).expect("it was here");
        self.guests[(closed.0 - FIRST) as usize] = None;
    }
}

/// Runs the next turn, if its entries are here. All turns have one checksum.
fn play(session: &mut Session<Order>, now: Instant) -> bool {
    let is_ready = matches!(session.begin_turn(now), TurnStatus::Ready(_));
    if is_ready {
        session.end_turn(now, 7);
    }
    is_ready
}

/// A removed player counted as here and ready for three seconds: the match began without anybody in its place, and who came to it found it running.
#[test]
fn a_player_who_was_removed_is_not_here_and_another_one_plays() {
    let (mut evening, _) = Evening::new(3);
    evening.pass(2_000);
    assert!(evening.session.is_here(PlayerId(1)) && evening.session.is_ready(PlayerId(1)));
    evening.remove(1, [99; 16]);
    assert!(!evening.session.is_here(PlayerId(1)) && evening.session.is_here(PlayerId(2)));
    evening.session.set_ready(true);
    evening.pass(5_000);
    assert_eq!(evening.session.phase(), SessionPhase::Lobby);
    assert!(evening.come(PlayerId(1), [99; 16]));
    evening.pass(5_000);
    assert_eq!(evening.session.phase(), SessionPhase::Running);
    let guests: Vec<_> = evening.guests.iter().flatten().map(|guest| guest.phase()).collect();
    assert_eq!(guests, [SessionPhase::Running, SessionPhase::Running]);
}

/// Whoever goes when the start is fixed is not waited for: its place is empty from the first turn on.
#[test]
fn nobody_waits_for_a_player_who_was_removed_when_the_start_was_fixed() {
    let (mut evening, _) = Evening::new(3);
    evening.pass(2_000);
    evening.session.set_ready(true);
    evening.pass(20);
    assert_eq!(evening.session.phase(), SessionPhase::Lobby, "the start is some time after it was fixed");
    evening.remove(1, [99; 16]);
    evening.pass(500);
    assert_eq!(evening.session.phase(), SessionPhase::Running);
    let gone = |event| matches!(event, Event::PlayerGone { player: PlayerId(1), .. });
    evening.pass(1_500);
    assert!(evening.turns > 5, "{} turns", evening.turns);
    assert!(std::iter::from_fn(|| evening.session.poll_event()).any(gone));
}
