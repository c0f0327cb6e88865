//! A guest whose relay ends the room while it has still some turns to run.

use std::net::{Ipv4Addr, SocketAddr};

use testudo_lockstep::service::agreement::Agreement;
use testudo_lockstep::service::code::JoinCode;
use testudo_lockstep::service::greeting::{Answer, Refused, Welcome};
use testudo_lockstep::service::guest::{Guest, LineEvent, LossKind};
use testudo_lockstep::service::relay::limits::Limits;
use testudo_lockstep::{
    Duration, Identity, Instant, NoAction, PeerId, PlayerId, Session, SessionConfig, SessionPhase,
};

use super::world::{TICK, World, come};
use super::{assert_agreed, gather};
use crate::script::Script;

/// It asked for its place again, was told that the match is over, and gave up with turns that it had.
#[test]
fn who_has_everything_plays_to_the_end_without_its_relay() {
    let mut world = World::new(Limits::default(), 31);
    let mut game = gather(&mut world, 1, 2, 100);
    game.watchers.push(world.come(game.watch));
    let watcher = game.watchers[0];
    let (connection, reply) = world.greet_from(9, &come(game.watch));
    world.rooms.closed(connection, world.now);
    assert!(world.until(60, |world| world.copy(watcher).frames > 120));
    world.kill(watcher);
    assert!(world.until(60, |world| world.session(0).phase() == SessionPhase::Ending));
    world.clients[watcher].is_alive = true;
    assert!(world.until(60, |world| !world.session(watcher).needs_others()));
    assert_eq!(world.session(watcher).phase(), SessionPhase::Running);
    world.kill(watcher);

    let lost = LineEvent::Lost { why: "the room is closed".into(), kind: LossKind::Other };
    let mut script = Script::of([Answer::Refused(Refused::Over)]);
    script.0.push_front(Some([LineEvent::Accepted(reply.answer.to_bytes()), lost].into()));
    let code = JoinCode::unsealed(SocketAddr::from((Ipv4Addr::LOCALHOST, 1)));
    let mut now = world.now;
    let mut guest = Guest::join(script, code, [0; 16], now).unwrap();
    assert!(guest.round(None, now).unwrap().is_some());
    let driver = &mut world.clients[watcher].driver;
    while !driver.session().is_over() {
        now += TICK;
        assert!(now.since(world.now) < Duration::from_secs(60));
        assert!(guest.round(Some(driver.session_mut()), now).unwrap().is_none());
        assert!(!guest.is_calling() && !guest.is_cut_off());
        // It can sleep: nothing stays due that nobody would get.
        assert!(driver.session().poll_timeout().is_none_or(|due| due > now));
        driver.advance(now);
    }
    assert!(world.until(60, |world| world.rooms.is_empty()));
    world.clients[watcher].is_alive = true;
    assert_agreed(&world, &game.clients(), "alone at the end");
}

/// It waited for half a minute, and the others for twenty seconds.
#[test]
fn who_has_no_socket_for_a_moment_tries_again_soon() {
    let place = Welcome {
        place: Identity::Player(PlayerId(1)),
        is_relayed: false,
        session_id: 9,
        agreement: Agreement::new::<NoAction>(&SessionConfig::new(2), b"").unwrap(),
    };
    let accepted = || LineEvent::Accepted(Answer::Come(place.clone()).to_bytes());
    let lost = LineEvent::Lost { why: "the line is cut".into(), kind: LossKind::Other };
    let found = LineEvent::Refused(Answer::Refused(Refused::Over).to_bytes());
    let script = [Some([accepted(), lost].into()), None, None, Some([accepted(), found].into())];
    let start = Instant::from_millis(1_000);
    let code = JoinCode::unsealed(SocketAddr::from((Ipv4Addr::LOCALHOST, 1)));
    let mut guest = Guest::join(Script(script.into()), code, [0; 16], start).unwrap();
    assert!(guest.round(None, start).unwrap().is_some());
    let config = SessionConfig::new(2).simulated().lobby_timeout(Duration::from_secs(600));
    let mut session = Session::<NoAction>::join(config, PlayerId(1), PeerId(0), start).unwrap();
    let mut now = start;
    while guest.round(Some(&mut session), now).is_ok() {
        assert!(session.poll_timeout().is_none_or(|due| due > now), "it cannot sleep");
        now += TICK;
        assert!(now.since(start) < Duration::from_secs(20), "no other attempt was made");
    }
}
