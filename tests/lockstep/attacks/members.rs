//! A member that speaks for others.

use super::signed::forge;
use super::{bare, config, deliver, entries_of, slow};
use crate::play::{Play as _, assert_agreed_by, assert_unharmed, match_at};
use crate::toy::toy_match;
use testudo_lockstep::packet::{Bye, Packet, Segment, TurnsPacket};
use testudo_lockstep::{
    Duration, EndReason, Entry, Extra, Instant, Payload, PlayerId, SessionConfig, SessionPhase, Topology,
    VoteError,
};

/// In a mesh the author speaks for itself as long as it can be heard, and no other peer ends its stream.
#[test]
fn nobody_in_a_mesh_forges_entries_or_the_end_of_another_player() {
    for end in [None, Some(EndReason::Left), Some(EndReason::Surrendered), Some(EndReason::Dropped)] {
        let mut game = match_at(&config(3, Topology::Mesh), slow(), 4_000);
        for _ in 0..20 {
            game.play_for(37);
            for victim in [0, 1] {
                // Player 2 says what the other one does next.
                let forged = 1 - victim as u8;
                let next = game.session(victim).next_turn().0;
                for first in next..next + 4 {
                    let mut entry = Entry { payload: Payload::none(), ..Entry::default() };
                    entry.extras.extend(end.map(Extra::End));
                    let rest = TurnsPacket { base: first + 1, ..bare(2, 3) };
                    deliver(&mut game, victim, 2, &entries_of(forged, first, vec![entry], rest));
                }
            }
        }
        assert_unharmed(&mut game, &format!("{end:?}"));
    }
}

#[test]
fn most_of_a_mesh_can_vote_somebody_out() {
    let mut game = match_at(&config(5, Topology::Mesh), slow(), 4_000);
    for voter in [0, 4] {
        assert_eq!(game.session_mut(voter).vote_out(PlayerId(3), true), Ok(()));
    }
    assert_eq!(game.session_mut(3).vote_out(PlayerId(3), true), Err(VoteError::Oneself));
    game.play(6_000);
    assert!(
        game.drivers().iter().all(|driver| driver.simulation().gone.is_empty()),
        "two of five are too few"
    );
    // The victim votes, too, which does not help it.
    assert_eq!(game.session_mut(3).vote_out(PlayerId(0), true), Ok(()));
    assert_eq!(game.session_mut(1).vote_out(PlayerId(3), true), Ok(()));
    game.play(7_500);
    let gone = game.toy(0).gone.clone();
    assert_eq!(gone.len(), 1, "within a second and a half");
    assert!(game.idle(300_000));
    assert_agreed_by(&mut game, [0, 1, 2, 4], "the others");
    assert_eq!(game.toy(0).gone, gone);
    assert!(matches!(game.session(3).phase(), SessionPhase::Failed(_)));
}

/// Found by random forgers: a relay ends everybody else's stream, says that it has finished, brings one of them back, and is silent. Whoever had
/// finished was never given up.
#[test]
fn a_middle_that_has_finished_and_goes_on_all_the_same_holds_nobody_up_for_ever() {
    for brings_back in [false, true] {
        let mut game = match_at(&config(3, Topology::Relay).turns(200), slow(), 3_000);
        for player in [0, 1] {
            forge(&mut game, 2, 3, player, Some(EndReason::Dropped));
        }
        let next = game.session(2).next_turn().0;
        let horizon = TurnsPacket { horizon: Some(next + 8), ..bare(next, 3) };
        deliver(&mut game, 2, 3, &Packet::Turns(Box::new(horizon)));
        deliver(&mut game, 2, 3, &Packet::Bye(Bye::Finished));
        if brings_back {
            let entry = Entry { extras: [Extra::Return(0)].into_iter().collect(), ..Entry::default() };
            let segment = Segment { player: PlayerId(0), first: next + 12, entries: 0..1 };
            let (segments, entries) = ([segment].into_iter().collect(), vec![entry]);
            let packet = TurnsPacket { segments, entries, ..bare(next, 3) };
            deliver(&mut game, 2, 3, &Packet::Turns(Box::new(packet)));
        }
        game.put_to_sleep(3, Instant::from_millis(4_000_000));
        game.play(120_000);
        let session = game.session(2);
        assert!(session.is_over(), "{brings_back} {:?} at {:?}", session.phase(), session.next_turn());
    }
}

/// In a match that goes on until the game is decided, a relay does not know the last turn. One farewell, of a player or a watcher, ended
/// such a match for all, forty seconds later.
#[test]
fn who_says_that_everything_is_over_ends_its_own_part_only() {
    const LAST: u32 = 600;
    for (liar, plays_on) in [(2_usize, false), (2, true), (4, false)] {
        let config = SessionConfig::new(3).simulated().topology(Topology::Relay);
        let mut game = toy_match(&config.drop_after(Duration::from_secs(2)), 1, 1, slow());
        game.play(4_000);
        let acked = game.session(liar).next_turn().0;
        deliver(&mut game, 3, liar as u32, &Packet::Bye(Bye::Finished));
        game.put_to_sleep(liar, Instant::from_millis(4_000_000));
        for step in 0..450 {
            game.play(4_000 + 200 * step);
            let next = game.session(0).next_turn().0 + 2;
            if plays_on {
                let rest = TurnsPacket { base: next, ..bare(acked, 3) };
                let said = entries_of(2, next - 4, vec![Entry::default(); 4], rest);
                deliver(&mut game, 3, liar as u32, &said);
            }
        }
        let honest = [0, 1].map(|node| game.session(node).phase());
        assert_eq!(honest, [SessionPhase::Running; 2], "{liar} {plays_on}");
        let begun = game.session(0).next_turn().0;
        assert!((350..LAST).contains(&begun), "{liar} {plays_on}: turn {begun}");
        game.run(Instant::from_millis(400_000), |_, turn, _, session| {
            if turn.0 == LAST {
                session.end_match();
            }
        });
        assert_agreed_by(&mut game, [0, 1, 3], &format!("{liar} {plays_on}"));
    }
}
