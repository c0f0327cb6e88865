//! House rules as tests: what a reviewer would otherwise have to say again and again.
//!
//! A rule is a function from a [`tree::Tree`] to findings; each finding says what to do instead. Here the rules run on
//! this repository. Beside each rule a self-test plants a violation in a made-up tree, so a rule that went blind shows. Bans of types and
//! functions are clippy's (`clippy.toml`); `bans` tries each of them in a planted package.

mod bans;
mod determinism;
mod documents;
mod examples;
mod exceptions;
mod imports;
mod layout;
mod lexer;
mod page;
mod paths;
mod prose;
mod rooms;
mod sizes;
mod spread;
mod test_code;
mod tree;

use exceptions::{LARGE, WIDE};
use tree::{Finding, Tree, assert_clean};

/// Each rule is a test: its name, what it says, and what finds the places that break it.
macro_rules! rules {
    ($($name:ident: $says:literal, $finds:expr;)*) => {
        $(#[test]
        fn $name() {
            let finds: fn(&Tree) -> Vec<Finding> = $finds;
            assert_clean($says, &finds(Tree::of_repository()));
        })*
    };
}

rules! {
    physics_imports_in_order: "physics imports only what stands above", |tree| imports::physics_order(tree, imports::PHYSICS_ORDER);
    the_order_of_physics_is_current: "the import order names what exists", |tree| imports::physics_order_is_current(tree, imports::PHYSICS_ORDER);
    movement_has_no_import_cycles: "movement's modules import each other without a cycle", |tree| imports::no_cycles(tree, "physics/movement/src/");
    lockstep_has_no_import_cycles: "lockstep's modules import each other without a cycle", |tree| imports::no_cycles(tree, "lockstep/src/");
    files_of_physics_have_no_import_cycles: "files import each other without a cycle", |tree| rooms::no_cycles_at(tree, "physics/src/", rooms::DEEPEST);
    files_of_movement_have_no_import_cycles: "files import each other without a cycle", |tree| rooms::no_cycles_at(tree, "physics/movement/src/", rooms::DEEPEST);
    files_of_lockstep_have_no_import_cycles: "files import each other without a cycle", |tree| rooms::no_cycles_at(tree, "lockstep/src/", rooms::DEEPEST);
    files_of_the_battle_have_no_import_cycles: "files import each other without a cycle", |tree| rooms::no_cycles_at(tree, "demo/battle/src/", rooms::DEEPEST);
    files_of_the_cubes_have_no_import_cycles: "files import each other without a cycle", |tree| rooms::no_cycles_at(tree, "demo/cubes/src/", rooms::DEEPEST);
    files_of_the_pictures_have_no_import_cycles: "files import each other without a cycle", |tree| rooms::no_cycles_at(tree, "demo/render/src/", rooms::DEEPEST);
    files_of_the_benchmarks_have_no_import_cycles: "files import each other without a cycle", |tree| rooms::no_cycles_at(tree, "demo/bench/src/", rooms::DEEPEST);
    types_are_in_few_files: "a type is one noun, and its methods are near each other", |tree| spread::types_are_in_few_files(tree, WIDE);
    functions_and_structures_are_small: "a function fits a screen, and a structure is one noun", |tree| sizes::functions_and_structures_are_small(tree, LARGE);
    a_game_on_the_internet_is_short: "the library does what every game on the internet needs", sizes::a_game_on_the_internet_is_short;
    demo_has_no_import_cycles: "the demo's folders, rooms and files import each other without a cycle", rooms::demo_has_no_cycles;
    the_page_repeats_the_programs_constants: "the page's script and the program have the same constants", page::the_page_repeats_the_programs_constants;
    simulation_has_no_float_literals: "no float reaches the simulation", determinism::simulation_has_no_float_literals;
    dependencies_are_deterministic: "no crate brings in what differs from run to run", determinism::dependencies_are_deterministic;
    bans_are_lifted_at_edges_only: "what clippy.toml bans is lifted at the edges only", bans::bans_are_lifted_at_edges_only;
    state_has_fixed_widths: "state has the same width on every machine", determinism::state_has_fixed_widths;
    tests_are_repeatable: "a test has the same outcome everywhere and always", test_code::tests_are_repeatable;
    unit_tests_step_no_world: "what steps a world is tested from outside", test_code::unit_tests_step_no_world;
    files_are_short: "a file is one noun", layout::files_are_short;
    lines_have_one_width: "prose has one width", prose::lines_have_one_width;
    lockstep_has_one_word_for_one_thing: "one word for one thing", prose::lockstep_has_one_word_for_one_thing;
    nothing_is_unfinished: "what is here is finished", layout::nothing_is_unfinished;
    programs_live_in_the_demo: "programs live in the demo package", layout::programs_live_in_the_demo;
    members_share_lints: "one set of lints", layout::members_share_lints;
    packages_know_only_what_they_need: "the engines do not know each other", layout::packages_know_only_what_they_need;
    bans_hold: "what physics denies stays denied", layout::bans_hold;
    documents_name_files_that_exist: "documents name what exists", documents::named_files_exist;
    quoted_code_is_in_its_file: "a guide shows what the example has", documents::quoted_code_is_in_its_file;
    promises_name_tests_that_exist: "a promise has its test", documents::named_tests_exist;
    examples_are_run: "an example that people run is run here", examples::examples_are_run;
    test_command_is_one: "people and CI run the same tests", documents::test_command_is_one;
    versions_have_reasons: "a new version of behaviour has a reason in the changelog", documents::versions_have_reasons;
    snapshots_have_owners: "a golden file has a test", documents::snapshots_have_owners;
}
