//! Pauses and changes of speed have a budget, or are votes, or the host's. A member that pays no heed changes nothing for the others.

use super::{bare, deliver, entries_of, hearers, slow};
use crate::joining;
use crate::play::{Play as _, assert_agreed, assert_agreed_by, match_at};
use crate::toy::Toy;
use testudo_lockstep::packet::TurnsPacket;
use testudo_lockstep::{
    ControlError, Controls, Duration, Entry, Event, Extra, Instant, SessionConfig, Topology, VirtualMatch,
};

const LIAR: u8 = 2;

fn config(topology: Topology) -> SessionConfig {
    let config = SessionConfig::new(3).simulated().turns(150).topology(topology);
    config.pauses_max(3).pause_max(Duration::from_secs(2)).speed_changes_max(4)
}

/// Each of its entries asks for a pause and a tenth of the speed.
fn send_entries(game: &mut VirtualMatch<Toy>) {
    let next = game.session(0).next_turn().0;
    let extras: Vec<Extra> = vec![Extra::Pause(true), Extra::Speed(10)];
    let entry = Entry { extras: extras.into_iter().collect(), ..Entry::default() };
    let first = next.saturating_sub(1).max(2);
    let rest = TurnsPacket { base: next + 4, ..bare(next + 2, 3) };
    let packet = entries_of(LIAR, first, vec![entry; 4], rest);
    let hearers = hearers(game.session(0).config(), LIAR);
    hearers.into_iter().for_each(|to| deliver(game, to, LIAR.into(), &packet));
}

#[test]
fn pauses_and_speeds_beyond_the_budget_are_ignored_by_everybody() {
    for topology in [Topology::Host, Topology::Relay, Topology::Mesh] {
        let mut game = match_at(&config(topology), slow(), 4_000);
        game.put_to_sleep(usize::from(LIAR), Instant::from_millis(9_000_000));
        while !(0..2).all(|node| game.session(node).is_over()) {
            assert!(game.now() < Instant::from_millis(150_000), "{topology:?}: it stands for ever");
            send_entries(&mut game);
            game.play_for(50);
            // Player 1 wants the usual speed. Four times the same budget would be enough for each of them.
            let session = game.session_mut(1);
            if session.plan().pace_millihertz < 20_000 {
                let _ = session.set_speed(100);
            }
        }
        // Two seconds of pause, some of them at a tenth of the speed: a turn then takes two seconds.
        let frames = game.toy(0).frames;
        assert!(frames >= 4 * (150 - 13), "{topology:?} {frames}");
        let mut accepted = (0, 0);
        while let Some(event) = game.session_mut(0).poll_event() {
            match event {
                Event::Paused { player, paused: true, .. } => accepted.0 += u32::from(player.0 == LIAR),
                Event::Speed { player, .. } => accepted.1 += u32::from(player.0 == LIAR),
                Event::Desync(desync) => panic!("{topology:?} {desync:?}"),
                _ => {}
            }
        }
        assert_eq!(accepted, (3, 4), "{topology:?}: as many as its budget has");
        assert_agreed_by(&mut game, [0, 1], &format!("{topology:?}"));
    }
}

#[test]
fn what_the_settings_do_not_allow_is_refused_to_the_player() {
    let longer = config(Topology::Host).pause_max(Duration::from_secs(60));
    let mut game = match_at(&longer, slow(), 3_000);
    for round in 0..3 {
        let session = game.session_mut(1);
        assert_eq!(
            (session.pause(true), session.pause(true)),
            (Ok(()), Ok(())),
            "the next entry has room for one"
        );
        game.play(4_000 + round * 1_500);
        assert!(game.session(0).is_paused(), "round {round}");
        assert_eq!(game.session_mut(0).pause(false), Ok(()));
        game.play(4_700 + round * 1_500);
        assert!(!game.session(1).is_paused(), "round {round}");
    }
    let session = game.session_mut(1);
    assert_eq!(session.pause(true), Err(ControlError::UsedUp { max: 3 }));
    assert_eq!(session.pause(false), Ok(()), "going on costs nothing");
    for nonsense in [0, 9, 251, 255] {
        let refused = game.session_mut(1).set_speed(nonsense);
        assert_eq!(
            refused,
            Err(ControlError::OutOfRange { min: 10, max: 250 }),
            "{nonsense} uses nothing up"
        );
    }
    // Two entries are on their way, and count.
    let mut asked = 0;
    for until in 0..20 {
        asked += u32::from(game.session_mut(1).set_speed(100).is_ok());
        game.play(9_000 + until * 210);
    }
    assert_eq!(asked, 4);
    assert_eq!(game.session_mut(1).set_speed(50), Err(ControlError::UsedUp { max: 4 }));
    for percent in [10, 250, 100] {
        assert_eq!(game.session_mut(2).set_speed(percent), Ok(()), "each has a budget");
    }
    assert!(game.play(300_000));
    assert_eq!(game.session_mut(2).pause(true), Err(ControlError::NotPlaying));

    let config = config(Topology::Relay).controls(Controls::HostPlayer);
    let mut game = match_at(&config, slow(), 3_000);
    assert_eq!(game.session_mut(1).pause(true), Err(ControlError::HostOnly));
    assert_eq!(game.session_mut(0).pause(true), Ok(()));
    game.play(4_500);
    assert!(game.session(1).is_paused());
    game.play(7_500);
    assert!(!game.session(2).is_paused(), "it has lasted for two seconds");
}

/// The pause comes some turns later. Meanwhile a button that was pressed again asked for a second one, and the budget was used up.
#[test]
fn a_pause_that_is_on_its_way_can_be_taken_back_and_is_asked_for_once() {
    let config = config(Topology::Host).pauses_max(2).pause_max(Duration::from_secs(60));
    let mut game = match_at(&config, slow(), 3_000);
    let own = |game: &mut VirtualMatch<Toy>, paused: bool| {
        let session = game.session_mut(1);
        let before = session.pause_asked();
        (before, session.pause(paused), session.is_paused())
    };
    assert_eq!(own(&mut game, true), (None, Ok(()), false));
    assert_eq!(own(&mut game, true), (Some(true), Ok(()), false), "it waits for the next entry");
    // A turn takes 200 ms, and an entry runs two turns after it was closed.
    game.play(3_250);
    assert_eq!(own(&mut game, true), (Some(true), Ok(()), false), "the entry is on its way");
    game.play(3_500);
    assert_eq!(own(&mut game, false), (Some(true), Ok(()), false));
    assert_eq!(own(&mut game, false), (Some(false), Ok(()), false));
    game.play(5_000);
    assert!(!game.session(0).is_paused(), "it was taken back");
    assert_eq!(own(&mut game, true), (None, Ok(()), false), "one of two pauses is left");
    game.play(6_500);
    assert_eq!(own(&mut game, false), (None, Ok(()), true));
    game.play(8_000);
    assert_eq!(own(&mut game, true), (None, Err(ControlError::UsedUp { max: 2 }), false));
}

/// The budget and the votes are a part of the session's state, which a joining peer gets.
#[test]
fn a_majority_pauses_also_for_who_has_come_back_meanwhile() {
    for topology in [Topology::Host, Topology::Relay] {
        let config = joining::config(3, topology).controls(Controls::Majority);
        let mut game = joining::start(&config, 0, 1, slow());
        game.play(5_000);
        assert_eq!(game.session_mut(1).pause(true), Ok(()));
        game.play(6_500);
        assert!(!game.session(0).is_paused(), "{topology:?}: one of three");
        joining::come_back(&mut game, &config, 2);
        game.play(14_000);
        assert_eq!(game.toy(0).returned.len(), 1, "{topology:?}");
        game.session_mut(0).pause(true).unwrap();
        game.play(15_500);
        let stands = |game: &VirtualMatch<Toy>| [0, 1, 2].map(|node| game.session(node).is_paused());
        assert_eq!(stands(&game), [true; 3], "{topology:?}: two of three, the joining peer knows both votes");
        for player in [2, 1] {
            game.session_mut(player).pause(false).unwrap();
        }
        game.play(300_000);
        assert_eq!(stands(&game), [false; 3], "{topology:?}");
        assert_agreed(&mut game, &format!("{topology:?}"));
    }
}
