//! Battles that somebody else has saved: whatever their numbers are, they go on.

use super::*;

/// An army whose units all live, and are all among the fallen: one more was one too many for whoever loaded what was saved then, and debug builds stopped.
#[test]
fn a_battle_with_too_many_fallen_goes_on_and_can_be_saved() {
    let mut battle = game(2, 20);
    attack_centre(&mut battle);
    for (first, army) in [0, 20].into_iter().zip(&mut battle.armies) {
        army.fallen = (0..20).map(|unit| first + unit / 2).collect();
    }
    let around = battle.world.body_count() as usize - 40;
    let mut bytes = Vec::new();
    state::save(&mut battle, &mut bytes);
    let mut loaded = game(2, 20);
    state::load(&mut loaded, &bytes).unwrap();
    run(&mut loaded, 600);
    assert!(loaded.armies.iter().any(|army| army.losses > 0), "nobody fell");
    let razed = loaded.buildings.iter().filter(|building| !building.stands()).count();
    let living = loaded.units.iter().filter(|unit| unit.is_alive()).count();
    assert_eq!(loaded.world.body_count() as usize, around - razed + living, "bodies of nobody");
    state::save(&mut loaded, &mut bytes);
    assert_eq!(state::load(&mut game(2, 20), &bytes), Ok(()));
}
