//! A host whose connections act for the place that their secret opened.

use testudo_lockstep::service::agreement::Agreement;
use testudo_lockstep::service::code::JoinCode;
use testudo_lockstep::service::greeting::{Answer, Greeting, Refused, Secrets};
use testudo_lockstep::service::guest::Guest;
use testudo_lockstep::service::host::Host;
use testudo_lockstep::service::places::Pass;
use testudo_lockstep::service::relay::limits::Limits;
use testudo_lockstep::transport::sealed::{
    ClientEvent, LostReason, SealedClient, SealedConfig, SealedDialer, SealedEvent, SealedHost, SealedRelay,
    SealedServer,
};
use testudo_lockstep::{
    Duration, Event, Identity, Instant, NoAction, PeerId, PlayerId, Session, SessionConfig, SessionPhase,
};

use crate::people::server;

/// How long a loop waits for an event before it looks again at the others.
const A_MOMENT: Duration = Duration::from_millis(1);
const HOST: PeerId = PeerId(0);
const PLAYER: [u8; 16] = [7; 16];
const WATCHER: [u8; 16] = [9; 16];

fn settings() -> SessionConfig {
    SessionConfig::new(2).simulated().session_id(77).watchers_max(2)
}

/// A host with one place to play and two to watch.
struct Table {
    clock: std::time::Instant,
    session: Session<NoAction>,
    host: SealedHost,
}

impl Table {
    fn new() -> Self {
        Self::on(&SealedConfig::new())
    }

    fn on(config: &SealedConfig) -> Self {
        let server: SealedServer = server(config);
        let agreement = Agreement::new::<NoAction>(&settings(), b"lakes").unwrap();
        let mut session = Session::host(Host::config(&agreement, 77).simulated(), Instant::ZERO).unwrap();
        let secrets = Secrets { players: vec![[1; 16], PLAYER], watchers: WATCHER, referee: [8; 16] };
        let addresses = [server.local_address()];
        let host = SealedHost::new(server, &addresses, &mut session, agreement, secrets).unwrap();
        Self { clock: std::time::Instant::now(), session, host }
    }

    fn now(&self) -> Instant {
        Instant::from(self.clock.elapsed())
    }

    fn client(&self, secret: &[u8; 16]) -> SealedClient {
        let greeting = Greeting::Come { pass: Pass::from(secret) }.to_bytes();
        let server = self.host.server();
        let config = SealedConfig::new();
        SealedClient::connect(&[server.local_address()], server.certificate_hash(), &greeting, &config)
            .unwrap()
    }

    /// Moves everything until this client has an event, at most for two minutes.
    #[track_caller]
    fn next(
        &mut self,
        client: &mut SealedClient,
        mut session: Option<&mut Session<NoAction>>,
    ) -> ClientEvent {
        for _ in 0..crate::ROUNDS_MAX {
            self.round(client, session.as_deref_mut());
            match client.poll() {
                Some(ClientEvent::Packet(bytes)) => {
                    let now = self.now();
                    session.iter_mut().for_each(|session| session.handle_packet(now, HOST, &bytes));
                }
                Some(event) => return event,
                None => {}
            }
            if self.session.phase() == SessionPhase::Running {
                return ClientEvent::Packet(Vec::new());
            }
        }
        panic!("nothing happens");
    }

    fn round(&mut self, client: &mut SealedClient, session: Option<&mut Session<NoAction>>) {
        self.host.server().wait(Duration::from_millis(10));
        let now = self.now();
        self.host.round(&mut self.session, now);
        let Some(session) = session else { return };
        session.handle_timeout(now);
        let mut packet = Vec::new();
        while session.poll_transmit(now, &mut packet).is_some() {
            client.send(&packet);
        }
    }
}

/// With the server as its docs showed it, the code of one place opened every place: a watcher's code played as player 1.
#[test]
fn a_watchers_code_does_not_open_a_players_place() {
    let mut table = Table::new();
    let mut client = table.client(&WATCHER);
    let ClientEvent::Accepted(answer) = table.next(&mut client, None) else { panic!("the code is good") };
    let Some(Answer::Come(welcome)) = Answer::read(&answer) else { panic!("no welcome") };
    assert_eq!((welcome.place, welcome.agreement.game()), (Identity::Watcher, &b"lakes"[..]));
    let mut liar: Session<NoAction> = Session::join(settings(), PlayerId(1), HOST, table.now()).unwrap();
    assert_eq!(table.next(&mut client, Some(&mut liar)), ClientEvent::Lost(LostReason::Closed));
    assert_eq!(table.session.stats().hellos_forged, 1);
    let events: Vec<Event> = core::iter::from_fn(|| table.session.poll_event()).collect();
    let (claimed, bound) = (Identity::Player(PlayerId(1)), Some(Identity::Watcher));
    assert_eq!(events, [Event::Forged { peer: PeerId(16), claimed, bound }]);
    // Whose place it is plays.
    let mut client = table.client(&PLAYER);
    assert!(matches!(table.next(&mut client, None), ClientEvent::Accepted(_)));
    let mut player: Session<NoAction> = Session::join(settings(), PlayerId(1), HOST, table.now()).unwrap();
    table.next(&mut client, Some(&mut player));
    assert_eq!(table.session.phase(), SessionPhase::Running);
}

/// A code that was sent to two programs by mistake: they took the place from each other for ever, each with "the connection is lost".
#[test]
fn who_loses_its_place_to_the_same_code_is_told_why() {
    let mut table = Table::new();
    let mut first = table.client(&PLAYER);
    assert!(matches!(table.next(&mut first, None), ClientEvent::Accepted(_)));
    let mut second = table.client(&PLAYER);
    assert!(matches!(table.next(&mut second, None), ClientEvent::Accepted(_)));
    assert_eq!(table.next(&mut first, None), ClientEvent::Lost(LostReason::Displaced));
    let mut wrong = table.client(&[3; 16]);
    let ClientEvent::Refused(why) = table.next(&mut wrong, None) else { panic!("the code is wrong") };
    assert_eq!(Answer::read(&why), Some(Answer::Refused(Refused::WrongSecret)));
}

/// Without a network: a peer that is bound to nobody comes where that is not forbidden, and nowhere else.
#[test]
fn who_is_bound_to_nobody_comes_only_where_that_is_allowed() {
    let run = |config: SessionConfig, bound: Option<Identity>| {
        let (mut now, guest) = (Instant::ZERO, PeerId(4));
        let mut host: Session<NoAction> = Session::host(config, now).unwrap();
        bound.into_iter().for_each(|identity| host.bind(guest, identity));
        assert_eq!(host.bound(guest), bound);
        let mut player: Session<NoAction> = Session::join(settings(), PlayerId(1), HOST, now).unwrap();
        let mut packet = Vec::new();
        for _ in 0..200 {
            now += Duration::from_millis(10);
            while player.poll_transmit(now, &mut packet).is_some() {
                host.handle_packet(now, guest, &packet);
            }
            while host.poll_transmit(now, &mut packet).is_some() {
                player.handle_packet(now, HOST, &packet);
            }
            host.handle_timeout(now);
            player.handle_timeout(now);
        }
        (host.phase() == SessionPhase::Running, host.stats().hellos_forged > 0)
    };
    let own = Identity::Player(PlayerId(1));
    for (config, bound, comes) in [
        (settings(), None, true),
        (settings(), Some(own), true),
        (settings(), Some(Identity::Watcher), false),
        (settings().bound_peers_only(), None, false),
        (settings().bound_peers_only(), Some(own), true),
        (settings().bound_peers_only(), Some(Identity::Player(PlayerId(0))), false),
    ] {
        assert_eq!(run(config, bound), (comes, !comes), "{bound:?}");
    }
}

/// Strangers had taken all places of a host, and a player who had crashed gave up after a tenth of a second.
#[test]
fn a_side_that_takes_no_more_connections_is_called_again() {
    let mut server: SealedServer = server(&SealedConfig::new().connections_max(1));
    let greeting_at = |server: &mut SealedServer| loop {
        if let Some(SealedEvent::Greeting { peer, bytes, .. }) = server.poll() {
            return (peer, bytes);
        }
        server.wait(A_MOMENT);
    };
    let (address, hash) = (server.local_address(), server.certificate_hash());
    let mut stranger = SealedClient::connect(&[address], hash, b"stranger", &SealedConfig::new()).unwrap();
    let (peer, _) = greeting_at(&mut server);
    server.accept_watcher(peer, b"come in");
    while !matches!(stranger.poll(), Some(ClientEvent::Accepted(_))) {
        stranger.wait(A_MOMENT);
    }
    let code = JoinCode::new(&[address], hash, [1; 16]).unwrap();
    let clock = std::time::Instant::now();
    let now = || Instant::from(clock.elapsed());
    let mut guest = Guest::join(SealedDialer::default(), code, [2; 16], now()).unwrap();
    while guest.delay().is_none() {
        assert_eq!(guest.round(None, now()), Ok(None));
        server.wait(A_MOMENT);
    }
    assert!(guest.delay().is_some_and(|why| why.contains("no more connections")), "{:?}", guest.delay());
    drop(stranger);
    // The second call arrives.
    let pass = Pass { secret: [1; 16], token: [2; 16] };
    loop {
        assert_eq!(guest.round(None, now()), Ok(None));
        if let Some(SealedEvent::Greeting { bytes, .. }) = server.poll() {
            assert_eq!(bytes, Greeting::Come { pass }.to_bytes());
            break;
        }
        server.wait(A_MOMENT);
    }
}

/// A player whose connection had broken came back while the server was full: its former connection still counted, and it was turned away from its own
/// place.
#[test]
fn who_displaces_a_connection_has_its_room() {
    let config = SealedConfig::new().connections_max(2);
    let mut server: SealedServer = server(&config);
    let (address, hash) = (server.local_address(), server.certificate_hash());
    let call = |name: &[u8]| SealedClient::connect(&[address], hash, name, &SealedConfig::new()).unwrap();
    let greeting = |server: &mut SealedServer| loop {
        if let Some(SealedEvent::Greeting { peer, .. }) = server.poll() {
            return peer;
        }
        server.wait(A_MOMENT);
    };
    let first = call(b"first");
    let former = greeting(&mut server);
    server.accept(former, b"come in");
    // Both are at the door while there is room for one.
    let (mut again, mut other) = (call(b"first again"), call(b"other"));
    let peers = [greeting(&mut server), greeting(&mut server)];
    let accepted = |client: &mut SealedClient| loop {
        match client.poll() {
            Some(ClientEvent::Accepted(_)) => return true,
            Some(ClientEvent::Lost(_)) => return false,
            _ => client.wait(A_MOMENT),
        }
    };
    server.accept(peers[0], b"come in");
    server.displace(former);
    server.accept(peers[1], b"come in");
    assert_eq!([accepted(&mut again), accepted(&mut other)], [true; 2]);
    drop(first);
}

/// 256 watchers, the host's players and the referee were more connections than a server takes by default: the last of them was told so until it gave up, and
/// the host waited in vain.
#[test]
fn a_host_has_room_for_all_its_places() {
    let mut table = Table::on(&SealedConfig::new().connections_max(1));
    let mut clients = Vec::new();
    for secret in [WATCHER, WATCHER, [8; 16], PLAYER] {
        let mut client = table.client(&secret);
        assert!(matches!(table.next(&mut client, None), ClientEvent::Accepted(_)), "{}", clients.len());
        clients.push(client);
    }
}

/// A player whose program had crashed was told that there was no room, for as long as the connection of that program counted.
#[test]
fn whoever_comes_back_to_a_full_address_displaces_the_former_connection() {
    let mut table = Table::on(&SealedConfig::new().connections_per_address_max(1));
    let mut former = table.client(&PLAYER);
    assert!(matches!(table.next(&mut former, None), ClientEvent::Accepted(_)));
    // All others are told at once, and come to no place.
    for secret in [WATCHER, [8; 16], [3; 16]] {
        let mut other = table.client(&secret);
        assert_eq!(table.next(&mut other, None), ClientEvent::Lost(LostReason::Full));
    }
    let mut back = table.client(&PLAYER);
    assert!(matches!(table.next(&mut back, None), ClientEvent::Accepted(_)));
    assert_eq!(table.next(&mut former, None), ClientEvent::Lost(LostReason::Displaced));
    assert_eq!(table.host.places().connections().count(), 1);
}

/// Where somebody plays, a server asks what a connection is for before it tells it that there is no room. No room is opened for nobody.
#[test]
fn no_room_is_opened_where_no_connection_has_room() {
    let server = server(&SealedConfig::new().connections_per_address_max(1));
    let address = [server.local_address()];
    let mut relay = SealedRelay::new(server, &address, Limits::default()).unwrap();
    let agreement = Agreement::new::<NoAction>(&settings(), b"").unwrap();
    let Ok(code) = relay.code() else { panic!("one address") };
    let pass = Pass::from(code.secret());
    let greeting = Greeting::Open { pass, agreement: Box::new(agreement) }.to_bytes();
    let mut open = || {
        let hash = relay.server().certificate_hash();
        let mut client = SealedClient::connect(&address, hash, &greeting, &SealedConfig::new()).unwrap();
        let event = (0..crate::ROUNDS_MAX).find_map(|_| {
            relay.server().wait(Duration::from_millis(10));
            relay.round(|| Instant::from_millis(1)).unwrap();
            client.poll()
        });
        (client, event.expect("an answer"), relay.rooms().len())
    };
    let (_first, answer, rooms) = open();
    assert!(matches!(answer, ClientEvent::Accepted(_)) && rooms == 1);
    let (_, answer, rooms) = open();
    assert_eq!((answer, rooms), (ClientEvent::Lost(LostReason::Full), 1));
}

/// Sixteen connections with the public code to watch that each stayed below the limit brought more packets than a host took in a round at few pictures per
/// second. Players' packets waited behind them.
#[test]
fn a_round_takes_all_packets_that_wait() {
    let mut table = Table::new();
    let mut clients = [WATCHER, WATCHER, PLAYER].map(|secret| table.client(&secret));
    for client in &mut clients {
        assert!(matches!(table.next(client, None), ClientEvent::Accepted(_)));
    }
    // Some may be lost, as in any network.
    for _ in 0..400 {
        clients.iter_mut().for_each(|client| client.send(&[15]));
        std::thread::yield_now();
    }
    crate::until("packets come", || {
        clients[0].send(&[15]);
        clients[0].wait(Duration::from_millis(1));
        table.host.server().stats().packets_received >= 800
    });
    let stats = table.host.server().stats();
    table.host.round(&mut table.session, Instant::from(table.clock.elapsed()));
    let taken = table.session.stats().packets_malformed + table.session.stats().packets_unexpected;
    assert!(taken >= stats.packets_received - stats.receive_dropped, "{taken} of {stats:?}");
}
