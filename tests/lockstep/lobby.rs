//! Before the start, at a host that lets in whoever has the secret of a place.

use crate::toy::Order;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg32;
use testudo_lockstep::service::agreement::Agreement;
use testudo_lockstep::service::greeting::{Answer, Greeting, Secrets};
use testudo_lockstep::service::host::Host;
use testudo_lockstep::service::places::Pass;
use testudo_lockstep::{
    Duration, Event, Failure, Instant, PeerId, PlayerId, Session, SessionConfig, SessionPhase, Topology,
    TurnStatus,
};
use testudo_tests::cases::cases;

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
        let settings = SessionConfig::new(players).turns(100_000).actions_per_turn_max(1);
        let agreement = Agreement::new::<Order>(&settings, b"").unwrap();
        let mut drawn = 0;
        let secrets = Secrets::draw(players, || {
            drawn += 1;
            [drawn; 16]
        });
        let now = Instant::from_millis(1);
        let config = Host::config(&agreement, 77).entropy([9; 16]);
        let mut session = Session::host(config, now).unwrap();
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
        if let Some(former) = reply.former {
            self.guests[(former.0 - FIRST) as usize] = None;
        }
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

/// It was ten seconds: the lobby was over before a friend had pasted the code.
#[test]
fn a_host_waits_ten_minutes_for_people() {
    let (mut evening, _) = Evening::new(2);
    evening.session.handle_timeout(evening.now + Duration::from_secs(599));
    assert_eq!(evening.session.phase(), SessionPhase::Lobby);
    evening.session.handle_timeout(evening.now + Duration::from_secs(601));
    assert!(matches!(evening.session.phase(), SessionPhase::Failed(Failure::PlayersMissing { .. })));
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

/// Whoever came instead, and had set no name, had that of the player who was removed.
#[test]
fn a_place_shows_nothing_of_a_player_who_was_removed() {
    let (mut evening, _) = Evening::new(3);
    let former = evening.guests[0].as_mut().unwrap();
    former.set_profile(PlayerId(1), b"former").unwrap();
    evening.pass(1_000);
    let shown = |evening: &Evening, guest: usize| {
        let guest = evening.guests[guest].as_ref().unwrap();
        [evening.session.profile(PlayerId(1)).to_vec(), guest.profile(PlayerId(1)).to_vec()]
    };
    assert_eq!(shown(&evening, 1), [b"former", b"former"]);
    evening.remove(1, [99; 16]);
    evening.pass(1_000);
    assert_eq!(shown(&evening, 1), [b"", b""]);
    assert!(evening.come(PlayerId(1), [99; 16]));
    evening.pass(1_000);
    assert!(evening.session.is_here(PlayerId(1)));
    assert_eq!(shown(&evening, 2), [b"", b""]);
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

/// Guests come, go, crash, come back and are removed at random; all say ready and not ready. In the end everybody is there, and all play. Whenever the match
/// begins before, it does not stand still.
#[test]
fn a_lobby_in_which_everybody_comes_and_goes_ends_in_a_match() {
    const PLAYERS: u8 = 4;
    let (mut early, mut late) = (0, 0);
    for seed in cases(0..64) {
        let (mut evening, mut secrets) = Evening::new(PLAYERS);
        let mut dice = Pcg32::seed_from_u64(seed);
        // The guest of each place.
        let mut here: [Option<usize>; PLAYERS as usize] = [None, Some(0), Some(1), Some(2)];
        let come = |evening: &mut Evening, secrets: &Secrets, player: usize| {
            let is_welcome = evening.come(PlayerId(player as u8), secrets.players[player]);
            is_welcome.then(|| evening.guests.len() - 1)
        };
        for step in 0..60_u8 {
            evening.pass(u64::from(10 + dice.next_u32() % 600));
            if evening.session.phase() != SessionPhase::Lobby {
                break;
            }
            let player = 1 + dice.next_u32() as usize % 3;
            let guest = here[player].and_then(|guest| evening.guests[guest].as_mut());
            match (dice.next_u32() % 8, guest) {
                (0, Some(_)) => {
                    let secret = [100 + step; 16];
                    evening.remove(player as u8, secret);
                    (secrets.players[player], here[player]) = (secret, None);
                }
                // A program crashes; its connection ends at once, or is replaced.
                (1, Some(_)) => {
                    let guest = here[player].take().unwrap();
                    evening.guests[guest] = None;
                    if dice.next_u32().is_multiple_of(2) {
                        evening.host.closed(PeerId(FIRST + guest as u32));
                    }
                }
                (2, Some(guest)) => {
                    guest.leave();
                    evening.pass(50);
                    let guest = here[player].take().unwrap();
                    evening.guests[guest] = None;
                    evening.host.closed(PeerId(FIRST + guest as u32));
                }
                (3, Some(guest)) => guest.set_ready(dice.next_u32().is_multiple_of(2)),
                (4, _) => evening.session.set_ready(dice.next_u32().is_multiple_of(4)),
                (_, None) => here[player] = come(&mut evening, &secrets, player),
                _ => {}
            }
        }
        // For three seconds whoever has crashed counts as here.
        evening.pass(4_000);
        let is_early = evening.session.phase() != SessionPhase::Lobby;
        if is_early {
            early += 1
        } else {
            late += 1
        }
        evening.session.set_ready(true);
        for player in 1..usize::from(PLAYERS) {
            match here[player].and_then(|guest| evening.guests[guest].as_mut()) {
                Some(guest) => guest.set_ready(true),
                None if !is_early => {
                    // Who came too often in a short time has to wait.
                    let mut comes = (0..60).filter_map(|_| {
                        evening.pass(1_000);
                        come(&mut evening, &secrets, player)
                    });
                    here[player] = comes.next();
                }
                None => {}
            }
        }
        // A crash when the start was fixed is a silence.
        evening.pass(25_000);
        let turns = evening.turns;
        evening.pass(2_000);
        let what = format!("seed {seed}, early: {is_early}");
        assert_eq!(evening.session.phase(), SessionPhase::Running, "{what}");
        assert!(evening.turns >= turns + 8, "{what}: {} turns in two seconds", evening.turns - turns);
        let phases = here.iter().flatten().map(|guest| evening.guests[*guest].as_ref().unwrap().phase());
        let phases: Vec<SessionPhase> = phases.collect();
        // Whoever takes the place of a crashed program just before the start waits for a state, which these sessions do not give.
        let waits = |phase: &&SessionPhase| is_early && **phase == SessionPhase::Lobby;
        let waiting = phases.iter().filter(waits).count();
        let playing = phases.iter().filter(|phase| **phase == SessionPhase::Running).count();
        assert!(waiting <= 1 && waiting + playing == phases.len(), "{what}: {phases:?}");
    }
    println!("{early} began early, {late} late");
    assert!(early > 0 && late > 2, "{early} began early, {late} late");
}
