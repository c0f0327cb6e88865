//! A game over the internet: host or join by a code, come back after a crash, watch late, go on from a save.
//!
//! `cargo run -p testudo-lockstep --features sealed --example internet_game -- host` prints a code for each place; `... -- join CODE` takes one.
//! Without arguments one process plays all parts. `docs/first-game.md` walks through it.
#![expect(clippy::disallowed_types, clippy::disallowed_methods, clippy::print_stdout, reason = "a program")]

mod toy;

use testudo_lockstep::service::agreement::Agreement;
use testudo_lockstep::service::code::JoinCode;
use testudo_lockstep::service::greeting::Secrets;
use testudo_lockstep::service::guest::Guest;
use testudo_lockstep::service::host::Host;
use testudo_lockstep::transport::sealed::{SealedDialer, SealedHost, SealedServer, random};
use testudo_lockstep::{
    AnySession, Driver, Duration, Event, Instant, PlayerId, SavedMatch, Session, SessionConfig, state,
};

use toy::{Add, Game};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

enum Edge {
    Host(Box<SealedHost>),
    Guest(Box<Guest<SealedDialer>>),
}

/// One program's part. A guest has a driver as soon as it has a place.
struct Peer {
    edge: Edge,
    driver: Option<Driver<Game>>,
}

impl Peer {
    fn host(saved: Option<(SavedMatch, Vec<u8>)>, now: Instant) -> Result<Self> {
        // Two players, turns of 50 ms, 10 s. Everybody gets these settings from the host.
        let config = SessionConfig::new(2).frames_per_turn(1).turns(200).late_watchers(true);
        let agreement = Agreement::new::<Add>(&config.bots_take_over(true), b"no map")?;
        let mut config = Host::config(&agreement, u64::from_le_bytes(random()?)).entropy(random()?);
        let mut game = Game::default();
        if let Some((saved, state)) = saved {
            state::load(&mut game, &state)?;
            if state::digest(&mut game) != saved.checksum() {
                return Err("the state is not the one that was saved".into());
            }
            config = config.resume(saved);
        }
        let mut session = Session::host(config, now)?;
        session.set_profile(PlayerId(0), b"Ada")?;
        let server = SealedServer::bind("127.0.0.1:0".parse()?, &Default::default())?;
        let (address, mut secret) = (server.local_address(), || random().expect("the system has randomness"));
        let secrets = Secrets::draw(2, &mut secret);
        let host = SealedHost::new(server, &[address], &mut session, agreement, secrets)?;
        Ok(Self { edge: Edge::Host(Box::new(host)), driver: Some(Driver::new(game, session)) })
    }

    fn join(token: [u8; 16], code: JoinCode, now: Instant) -> Result<Self> {
        let guest = Guest::join(SealedDialer::default(), code, token, now)?;
        Ok(Self { edge: Edge::Guest(Box::new(guest)), driver: None })
    }

    /// Packets in and out. Whenever a guest gets a place, it begins anew there: in a running match it gets the state from the others.
    fn pump(&mut self, now: Instant) -> Result<()> {
        let session = self.driver.as_mut().map(|driver| -> &mut AnySession { driver.session_mut() });
        match (&mut self.edge, session) {
            (Edge::Host(host), session) => {
                host.round(session.ok_or("a host has a session")?, now);
                // Nobody can come any more when the socket is lost.
                host.server().check()?;
            }
            (Edge::Guest(guest), session) => {
                if let Some(arrival) = guest.round(session, now)? {
                    let session = arrival.session(arrival.config().entropy(random()?), now)?;
                    self.driver = Some(Driver::new(Game::default(), session));
                }
            }
        }
        Ok(())
    }

    /// One round of the program's loop: packets in, turns, packets out, events.
    fn round(&mut self, now: Instant) -> Result<()> {
        self.pump(now)?;
        if let Some(driver) = &mut self.driver {
            driver.advance_with(now, |turn, _, session| {
                // Refused by the session of a watcher, and where the match ends before it would run.
                let _ = session.submit(&Add(turn.0 as u8));
            });
        }
        self.pump(now)?;
        let Some(driver) = &mut self.driver else { return Ok(()) };
        while let Some(event) = driver.session_mut().poll_event() {
            match event {
                Event::Desync(_) | Event::Failed(_) => return Err(format!("{event:?}").into()),
                Event::PlayerReturned { .. } | Event::Joined { .. } => println!("{event:?}"),
                _ => {}
            }
        }
        Ok(())
    }

    /// Sleeps until something is due or has come, and not for long: what a guest is to do before it has a place is in no `poll_timeout`.
    fn wait(&self, now: Instant, most: Duration) {
        let due = self.driver.as_ref().and_then(|driver| driver.poll_timeout());
        let time = due.map_or(most, |at| at.since(now).min(most));
        match &self.edge {
            Edge::Host(host) => host.server().wait(time),
            Edge::Guest(guest) if guest.wait(time) => {}
            Edge::Guest(_) => std::thread::sleep(time.into()),
        }
    }

    fn turn(&self) -> u32 {
        self.driver.as_ref().map_or(0, |driver| driver.session().next_turn().0)
    }
    fn is_over(&self) -> bool {
        self.driver.as_ref().is_some_and(|driver| driver.session().is_over())
    }
    fn codes(&self) -> Result<[JoinCode; 2]> {
        let Edge::Host(host) = &self.edge else { return Err("a guest has no codes".into()) };
        let codes = host.codes();
        Ok([codes.player(PlayerId(1)).ok_or("no place")?, codes.watchers().ok_or("no place")?])
    }
}

/// Tells this machine from others that have the same code. It is kept, because a relay lets nobody else back. One for each server: two of them cannot find out
/// that the same player came to both.
fn token(code: &JoinCode) -> Result<[u8; 16]> {
    let server = u64::from_le_bytes(*code.certificate_hash().first_chunk().ok_or("no hash")?);
    let file = std::env::temp_dir().join(format!("testudo-internet-game.{server:016x}"));
    let draw = || random::<16>().and_then(|new| std::fs::write(&file, new).map(|()| new.to_vec()));
    let kept = std::fs::read(&file).or_else(|_| draw())?;
    Ok(kept.try_into().map_err(|_| "the file of the token is damaged")?)
}

fn main() -> Result<()> {
    let clock = std::time::Instant::now();
    let now = || Instant::from(clock.elapsed());
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut peers = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["join", code] => {
            let code = code.parse()?;
            vec![Peer::join(token(&code)?, code, now())?]
        }
        _ => vec![Peer::host(None, now())?],
    };
    let until = |peers: &mut Vec<Peer>, is_done: &dyn Fn(&[Peer]) -> bool| -> Result<()> {
        while !is_done(peers) {
            // Whoever waits for the packets of one peer is late for those of the others.
            peers[0].wait(now(), Duration::from_millis(if peers.len() == 1 { 50 } else { 2 }));
            peers.iter_mut().try_for_each(|peer| peer.round(now()))?;
        }
        // The last word, so that nobody waits for it.
        peers.iter_mut().try_for_each(|peer| peer.pump(now()))
    };
    if !arguments.is_empty() {
        // Only a host has codes.
        peers[0].codes().into_iter().flatten().for_each(|code| println!("{code}"));
        return until(&mut peers, &|peers| peers[0].is_over());
    }
    // A guest comes, crashes, and comes back; somebody watches.
    let ([code, watch], token) = (peers[0].codes()?, random()?);
    peers.push(Peer::join(token, code.clone(), now())?);
    until(&mut peers, &|peers| peers[1].turn() > 20)?;
    peers[1] = Peer::join(token, code, now())?;
    peers.push(Peer::join(random()?, watch, now())?);
    until(&mut peers, &|peers| peers[1..].iter().all(|peer| peer.turn() > 60))?;
    // The match is saved, all programs end, and it goes on with new codes. Only the host has the save.
    peers[0].driver.as_mut().ok_or("no driver")?.session_mut().save();
    until(&mut peers, &|peers| peers[0].turn() > 80)?;
    let driver = peers[0].driver.as_mut().ok_or("no driver")?;
    let saved = driver.session_mut().take_saved().ok_or("no save")?;
    println!("saved before turn {}", saved.turn());
    peers = vec![Peer::host(Some((saved, driver.simulation().kept.clone())), now())?];
    let [code, _] = peers[0].codes()?;
    peers.push(Peer::join(token, code, now())?);
    until(&mut peers, &|peers| peers.iter().all(Peer::is_over))?;
    let sums: Vec<u64> = peers.iter().flat_map(|peer| &peer.driver).map(|d| d.simulation().sum).collect();
    assert_eq!(sums[0], sums[1]);
    println!("both played to turn {} and have {}", peers[1].turn(), sums[1]);
    Ok(())
}
