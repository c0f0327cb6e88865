//! The documented budget (`docs/movement.md`: "the search covers `cells_per_frame` cells in each frame"), held by whole crowds, whatever the rate.

use testudo_movement::CrowdDef;
use testudo_physics::{BodyId, Vec2};

use crate::scene::{Scene, house, open_world, usual};

const RATES: [u32; 3] = [20, 60, 144];

/// A unit that waits learns within this time that its way is known, ms: it thinks again.
const THINKS_MS: u32 = 125;

/// A ground of this half side, and a wall across it that leaves a gap at both ends.
fn divided(half: i32, def: impl Fn(CrowdDef) -> CrowdDef) -> Scene {
    let mut world = open_world();
    house(&mut world, Vec2::ZERO, Vec2::from_ints(1, half * 4 / 5));
    Scene::of(world, def(usual(half)))
}

/// Two units side by side.
fn pair(scene: &mut Scene, place: Vec2, speed: i32) -> [BodyId; 2] {
    [0, 2].map(|x| scene.add_with(place + Vec2::from_ints(x, 0), speed))
}

fn frames_in(ms: u32, rate: u32) -> u32 {
    (ms * rate).div_ceil(1_000)
}

/// Frames until none of these units waits.
fn wait(scene: &mut Scene, units: &[BodyId], rate: u32) -> u32 {
    let mut frames = 0;
    while scene.waiting(units) > 0 {
        scene.step_at(rate);
        frames += 1;
        assert!(frames < 1_000_000 / THINKS_MS, "they wait for ever");
    }
    frames
}

/// A field was searched only in frames in which a unit thought that waited for it: in each seventh one at 60 frames per second.
#[test]
fn the_far_corner_has_its_way_when_its_cells_are_paid_for_at_any_rate() {
    for rate in RATES {
        let mut scene = divided(256, |def| def);
        let units = pair(&mut scene, Vec2::from_ints(-250, -250), 4);
        scene.go(&units, Vec2::from_ints(250, 250));
        let frames = wait(&mut scene, &units, rate);
        let most = 512 * 512 / 16_384 + frames_in(THINKS_MS, rate) + 2;
        println!("{rate} frames per second: {frames} frames of {most}");
        assert!(frames <= most, "{rate} frames per second: {frames} frames of {most}");
    }
}

/// The field was never found anew before the gate moved again, and nobody was told.
#[test]
fn a_group_far_away_arrives_though_a_gate_at_its_goal_never_rests() {
    for rate in RATES {
        let mut scene = divided(256, |def| def);
        let units = pair(&mut scene, Vec2::from_ints(-250, -250), 16);
        let goal = Vec2::from_ints(250, 250);
        scene.go(&units, goal);
        let (mut gate, mut frame) = (None, 0);
        let start = scene.place(units[0]);
        // Half a second to walk.
        let period = 16 + frames_in(THINKS_MS + 500, rate);
        while scene.arrived.len() < 2 {
            if frame % period == 0 {
                scene.swing(&mut gate, goal - Vec2::from_ints(8, 8), Vec2::from_ints(3, 1));
            }
            scene.step_at(rate);
            frame += 1;
            // 750 units of way, a third of the time to walk.
            let far = scene.place(units[0]).distance(start);
            assert!(frame < 150 * rate, "{rate} frames per second: {far} units after {frame} frames");
        }
        println!("{rate} frames per second: {frame} frames");
        assert_eq!((scene.gave_up.len(), scene.unreachable.len()), (0, 0));
    }
}

/// Each search began with the field in the first place. While houses came and went, the last ones had nothing, for ever.
#[test]
fn each_group_gets_its_field_though_the_ground_changes_before_all_have_theirs() {
    const GROUPS: u32 = 16;
    for rate in [60, 144] {
        // A field takes ten to sixteen frames, all of them more than 160.
        let mut scene = divided(256, |def| def);
        let groups: Vec<_> = (0..GROUPS as i32)
            .map(|n| {
                let group = pair(&mut scene, Vec2::from_ints(-250, -250 + 4 * n), 1);
                scene.go(&group, Vec2::from_ints(248, 210 + 2 * n));
                group
            })
            .collect();
        let (mut gate, mut served) = (None, [0; GROUPS as usize]);
        // A unit that marches notices after half a second at the latest that the ground has changed.
        let period = 32 + frames_in(500 + THINKS_MS, rate);
        for _ in 0..2 * GROUPS {
            scene.swing(&mut gate, Vec2::from_ints(242, 225), Vec2::from_ints(3, 1));
            (0..period).for_each(|_| scene.step_at(rate));
            for (served, group) in served.iter_mut().zip(&groups) {
                *served += u32::from(scene.waiting(group) == 0);
            }
        }
        println!("{rate} frames per second: {served:?}");
        let told = [&scene.arrived, &scene.gave_up, &scene.unreachable].map(Vec::len);
        assert_eq!(told, [0; 3]);
        // Whose turn it is after a change has all cells.
        assert!(
            period < 160 && served.iter().all(|&times| times > 0),
            "{rate} frames per second: {served:?}"
        );
    }
}

/// Units that go alone asked for their paths only in the two frames of an eighth of a second in which all of them thought.
#[test]
fn paths_of_lone_units_use_the_cells_of_each_frame_at_any_rate() {
    let mut all = Vec::new();
    for rate in RATES {
        let mut scene = divided(64, |def| def.cells_per_frame(8_192));
        let mut units = Vec::new();
        for n in 0..120 {
            let [x, y] = [n % 12, n / 12];
            units.push(scene.add_with(Vec2::from_ints(-38 + 3 * x, 20 + 3 * y), 4));
        }
        for (n, &unit) in (0..).zip(&units) {
            let [x, y] = [n % 12, n / 12];
            scene.go(&[unit], Vec2::from_ints(38 - 3 * x, 20 + 3 * y));
        }
        all.push((rate, wait(&mut scene, &units, rate)));
    }
    println!("{all:?}");
    let least = all.iter().map(|&(_, frames)| frames).min().unwrap();
    for (rate, frames) in all {
        assert!(
            frames <= least * 3 / 2 + rate * THINKS_MS / 1_000 + 2,
            "{rate}: {frames} frames, least {least}"
        );
    }
}
