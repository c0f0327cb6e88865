//! A running battle is looked at as a replay, and another one goes on from there.

use testudo_lockstep::simnet::LinkConfig;
use testudo_lockstep::{Duration, Pace};

use crate::app::local::skirmish::{Skirmish, SkirmishSpec};
use crate::app::playback::{Budget, Course};
use crate::app::terms::Terms;
use crate::app::watch::pilot::Pilot;
use crate::app::watch::recording::{Kept, ReplayFile};
use testudo_battle::Setup;
use testudo_battle::bots::Level;

/// To see what had gone wrong, a player had to leave the battle.
#[test]
fn a_battle_so_far_is_a_replay_and_another_one_goes_on_from_any_of_its_frames() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.replay");
    let spec = |replay| SkirmishSpec {
        terms: Terms { setup: Setup { players: 2, units: 30, seed: 9, map: None }, turns: 1_000 },
        link: LinkConfig::new().latency(Duration::from_millis(40)),
        pace: Pace::Fixed,
        pilots: vec![Pilot::Bot(Level::Normal); 2],
        replay,
    };
    let run = |skirmish: &mut Skirmish, seconds| {
        skirmish.advance(Duration::from_secs(seconds), Duration::from_secs(600)).unwrap();
        assert_eq!(skirmish.desync(), None);
    };
    let mut running = Skirmish::new(spec(ReplayFile::At(path))).unwrap();
    run(&mut running, 40);
    let open = |kept: Option<Kept>| kept.unwrap().open().unwrap();
    let (replay, terms) = open(running.replay_so_far());
    assert!(!replay.is_complete() && replay.turns() > 150, "{} turns", replay.turns());
    let mut course = Course::new(replay, terms).unwrap();
    course.spend_on_check(&mut Budget::frames(2_000));
    assert!(course.is_checked());
    assert_eq!(course.divergence(), None);
    // In the middle of a turn.
    course.seek(402);
    course.spend(&mut Budget::frames(2_000));
    assert_eq!(course.frame(), 402);
    let here = course.game().clone();
    let (frame, checksum) = (running.frame(0), here.checksum());
    run(&mut running, 2);
    assert!(running.frame(0) > frame + 20, "the running battle goes on");

    let mut other = Skirmish::going_on(spec(ReplayFile::Memory), Some(here)).unwrap();
    run(&mut other, 30);
    assert!(other.copy(0).game().world().frame() > 402 + 400);
    let (replay, terms) = open(other.take_replay());
    assert!(replay.is_complete() && replay.start().is_some(), "its replay is whole");
    let mut course = Course::new(replay, terms).unwrap();
    assert_eq!(course.checksum(), checksum, "it begins where the other one was left");
    course.spend_on_check(&mut Budget::frames(2_000));
    assert!(course.is_checked());
    assert_eq!(course.divergence(), None);
}
