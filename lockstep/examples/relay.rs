//! A relay of one's own: it serves rooms of any games. `cargo run -p testudo-lockstep --features sealed --example relay`
//!
//! It prints its code. Whoever has it opens rooms with `Guest::open`; the arrival has a code for each place. With the argument `once` it opens a
//! room itself and ends, as a test.
#![expect(clippy::disallowed_types, clippy::disallowed_methods, clippy::print_stdout, reason = "a program")]

use std::error::Error;

use testudo_lockstep::service::agreement::Agreement;
use testudo_lockstep::service::guest::Guest;
use testudo_lockstep::service::relay::limits::Limits;
use testudo_lockstep::transport::sealed::{SealedConfig, SealedDialer, SealedRelay, SealedServer, random};
use testudo_lockstep::{Duration, Instant, NoAction, SessionConfig};

fn main() -> Result<(), Box<dyn Error>> {
    let clock = std::time::Instant::now();
    let now = || Instant::from(clock.elapsed());
    let mut limits = Limits::default();
    limits.rooms_max = 50;
    let config = SealedConfig::new().connections_max(50 * 32);
    let server = SealedServer::bind("127.0.0.1:0".parse()?, &config)?;
    let address = server.local_address();
    let mut relay = SealedRelay::new(server, &[address], limits)?;
    println!("relay at {}", relay.code()?);
    let is_test = std::env::args().any(|argument| argument == "once");
    let mut opener = if is_test {
        let agreement = Agreement::new::<NoAction>(&SessionConfig::new(2), b"a game")?;
        Some(Guest::open(SealedDialer::default(), relay.code()?, random()?, agreement, now())?)
    } else {
        None
    };
    loop {
        relay.round(now)?;
        while let Some(codes) = relay.poll_opened() {
            println!("a room was opened; to watch: {}", codes.watchers().ok_or("no code")?);
        }
        if let Some(guest) = &mut opener
            && let Some(arrival) = guest.round(None, now())?
        {
            println!(
                "{:?} in a room of {} players",
                arrival.welcome.place,
                arrival.welcome.agreement.players()
            );
            return Ok(());
        }
        let due = relay.rooms().next_due().map_or(Duration::from_millis(50), |at| at.since(now()));
        relay.server().wait(due.min(Duration::from_millis(50)));
    }
}
