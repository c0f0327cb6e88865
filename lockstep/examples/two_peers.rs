//! Two peers in one process: every step of a session by hand, without the driver.
//! `cargo run -p testudo-lockstep --example two_peers`

use testudo_lockstep::transport::memory::MemoryHub;
use testudo_lockstep::{Duration, Instant, PeerId, PlayerId, Session, SessionConfig, TurnStatus};

#[path = "toy/add.rs"]
mod add;
use add::Add;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut now = Instant::ZERO;
    let config = SessionConfig::new(2).simulated().turns(20);
    let host = Session::<Add>::host(config.clone(), now)?;
    let guest = Session::<Add>::join(config, PlayerId(1), PeerId(0), now)?;
    let mut peers = [(host, 0_u64), (guest, 0_u64)];
    let (mut hub, mut packet) = (MemoryHub::new(2), Vec::new());

    while !peers.iter().all(|(session, _)| session.is_over()) {
        for (me, (session, sum)) in (0_u32..).zip(&mut peers) {
            // 1. Receive packets.  2. Pass the time.
            while let Some((from, bytes)) = hub.receive(me) {
                session.handle_packet(now, PeerId(from), &bytes);
            }
            session.handle_timeout(now);
            // 3. Run the turn when it is due (every 200 ms) and everybody's actions for it are here.
            if now.as_micros().is_multiple_of(200_000) {
                if let TurnStatus::Ready(turn) = session.turn_status()
                    && turn.0 < 10
                {
                    session.submit(&Add(10 * me as u8 + turn.0 as u8))?;
                }
                if let TurnStatus::Ready(turn) = session.begin_turn(now) {
                    for (player, Add(number)) in session.turn_actions() {
                        *sum = *sum * 3 + u64::from(number);
                        println!("peer {me} turn {turn}: player {player} adds {number}, sum {sum}");
                    }
                    session.end_turn(now, *sum);
                }
            }
            // 4. Send packets.  5. Handle events.
            while let Some(peer) = session.poll_transmit(now, &mut packet) {
                hub.send(me, peer.0, &packet);
            }
            while let Some(event) = session.poll_event() {
                println!("peer {me}: {event:?}");
            }
        }
        now += Duration::from_millis(10);
    }
    assert_eq!(peers[0].1, peers[1].1);
    Ok(())
}
