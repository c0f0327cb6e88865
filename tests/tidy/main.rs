//! House rules as tests: what a reviewer would otherwise have to say again and again.
//!
//! A rule is a function from a [`tree::Tree`] to findings; each finding says what to do instead. Here the rules run on
//! this repository. Beside each rule a self-test plants a violation in a made-up tree, so a rule that went blind shows. Bans of types and
//! functions are clippy's (`clippy.toml`); `bans` tries each of them in a planted package.

mod bans;
mod determinism;
mod documents;
mod exceptions;
mod imports;
mod layout;
mod lexer;
mod page;
mod paths;
mod prose;
mod rooms;
mod sizes;
mod test_code;
mod tree;

use exceptions::LARGE;
use tree::{Tree, assert_clean};

#[test]
fn physics_imports_in_order() {
    let (tree, order) = (Tree::of_repository(), imports::PHYSICS_ORDER);
    assert_clean("physics imports only what stands above", &imports::physics_order(&tree, order));
    assert_clean("the import order names what exists", &imports::physics_order_is_current(&tree, order));
}

#[test]
fn movement_has_no_import_cycles() {
    let findings = imports::no_cycles(&Tree::of_repository(), "physics/movement/src/");
    assert_clean("movement's modules import each other without a cycle", &findings);
}

#[test]
fn lockstep_has_no_import_cycles() {
    let findings = imports::no_cycles(&Tree::of_repository(), "lockstep/src/");
    assert_clean("lockstep's modules import each other without a cycle", &findings);
}

#[test]
fn files_have_no_import_cycles() {
    let tree = Tree::of_repository();
    for src in ["physics/src/", "lockstep/src/"] {
        let findings = rooms::no_cycles_at(&tree, src, rooms::DEEPEST);
        assert_clean("files import each other without a cycle", &findings);
    }
}

#[test]
fn functions_and_structures_are_small() {
    let findings = sizes::functions_and_structures_are_small(&Tree::of_repository(), LARGE);
    assert_clean("a function fits a screen, and a structure is one noun", &findings);
}

#[test]
fn demo_has_no_import_cycles() {
    let findings = rooms::demo_has_no_cycles(&Tree::of_repository());
    assert_clean("the demo's folders, rooms and files import each other without a cycle", &findings);
}

#[test]
fn the_page_repeats_the_programs_constants() {
    let findings = page::the_page_repeats_the_programs_constants(&Tree::of_repository());
    assert_clean("the page's script and the program have the same constants", &findings);
}

#[test]
fn game_stands_alone() {
    let findings = imports::game_stands_alone(&Tree::of_repository());
    assert_clean("the game knows neither window, clock nor command line", &findings);
}

#[test]
fn simulation_has_no_float_literals() {
    let findings = determinism::simulation_has_no_float_literals(&Tree::of_repository());
    assert_clean("no float reaches the simulation", &findings);
}

#[test]
fn dependencies_are_deterministic() {
    let findings = determinism::dependencies_are_deterministic(&Tree::of_repository());
    assert_clean("no crate brings in what differs from run to run", &findings);
}

#[test]
fn bans_are_lifted_at_edges_only() {
    let findings = bans::bans_are_lifted_at_edges_only(&Tree::of_repository());
    assert_clean("what clippy.toml bans is lifted at the edges only", &findings);
}

#[test]
fn state_has_fixed_widths() {
    let findings = determinism::state_has_fixed_widths(&Tree::of_repository());
    assert_clean("state has the same width on every machine", &findings);
}

#[test]
fn tests_are_repeatable() {
    let findings = test_code::tests_are_repeatable(&Tree::of_repository());
    assert_clean("a test has the same outcome everywhere and always", &findings);
}

#[test]
fn files_are_short() {
    assert_clean("a file is one noun", &layout::files_are_short(&Tree::of_repository()));
}

#[test]
fn lines_have_one_width() {
    assert_clean("prose has one width", &prose::lines_have_one_width(&Tree::of_repository()));
}

#[test]
fn lockstep_has_one_word_for_one_thing() {
    let findings = prose::lockstep_has_one_word_for_one_thing(&Tree::of_repository());
    assert_clean("one word for one thing", &findings);
}

#[test]
fn nothing_is_unfinished() {
    assert_clean("what is here is finished", &layout::nothing_is_unfinished(&Tree::of_repository()));
}

#[test]
fn programs_live_in_the_demo() {
    let findings = layout::programs_live_in_the_demo(&Tree::of_repository());
    assert_clean("programs live in the demo package", &findings);
}

#[test]
fn members_share_lints() {
    assert_clean("one set of lints", &layout::members_share_lints(&Tree::of_repository()));
}

#[test]
fn packages_know_only_what_they_need() {
    let findings = layout::packages_know_only_what_they_need(&Tree::of_repository());
    assert_clean("the engines do not know each other", &findings);
}

#[test]
fn bans_hold() {
    assert_clean("what physics denies stays denied", &layout::bans_hold(&Tree::of_repository()));
}

#[test]
fn documents_name_files_that_exist() {
    let findings = documents::named_files_exist(&Tree::of_repository());
    assert_clean("documents name what exists", &findings);
}

#[test]
fn promises_name_tests_that_exist() {
    let findings = documents::named_tests_exist(&Tree::of_repository());
    assert_clean("a promise has its test", &findings);
}

#[test]
fn test_command_is_one() {
    let findings = documents::test_command_is_one(&Tree::of_repository());
    assert_clean("people and CI run the same tests", &findings);
}

#[test]
fn versions_have_reasons() {
    let findings = documents::versions_have_reasons(&Tree::of_repository());
    assert_clean("a new version of behaviour has a reason in the changelog", &findings);
}

#[test]
fn snapshots_have_owners() {
    let findings = documents::snapshots_have_owners(&Tree::of_repository());
    assert_clean("a golden file has a test", &findings);
}
