//! A small scene whose bits every machine must give.

use testudo_movement::MOVEMENT_VERSION;

use crate::maps::Kind;
use crate::state::{chase, play, run, scene};

#[test]
fn rocks_with_two_sizes_and_a_swamp() {
    let mut scene = scene(Kind::Rocks, 1);
    let mut text = format!("version {MOVEMENT_VERSION}\n");
    for frame in 0..120 {
        play(frame, &mut scene);
        if frame % 20 == 19 {
            text += &format!("{frame}: {:016x} {:016x}\n", scene.crowd.checksum(), scene.world.checksum());
        }
    }
    insta::assert_snapshot!("rocks", text);
}

/// Those in the open go straight; the others look for paths.
#[test]
fn pursuers_in_the_open_and_around_walls() {
    let mut text = format!("version {MOVEMENT_VERSION}\n");
    for (name, kind) in [("in the open", None), ("rooms", Some(Kind::Rooms)), ("rocks", Some(Kind::Rocks))] {
        let mut scene = chase(kind, 3);
        for frame in 0..120 {
            run(frame, &mut scene);
            if frame % 30 == 29 {
                text += &format!(
                    "{name} {frame}: {:016x} {:016x}\n",
                    scene.crowd.checksum(),
                    scene.world.checksum()
                );
            }
        }
    }
    insta::assert_snapshot!("pursuers", text);
}
