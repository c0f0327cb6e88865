//! The files of a crate import each other without a cycle, and so do its folders.

use std::collections::{BTreeMap, BTreeSet};

use crate::paths::{module_of_file, paths};
use crate::tree::{Finding, Tree};

/// A module, as its path from the crate's root: `view::hud::panel`.
pub(crate) type Module<'a> = Vec<&'a str>;

/// Where `lib.rs` and each `mod.rs` in `src` say that a name comes from, for `crate::app::Terms` instead of `crate::app::terms::Terms`.
pub(crate) fn exports<'a>(tree: &'a Tree, src: &str) -> BTreeMap<Module<'a>, Module<'a>> {
    let mut exports = BTreeMap::new();
    let is_door = |path: &str| path.ends_with("/mod.rs") || path.ends_with("/lib.rs");
    for (path, _) in tree.rust_files(src).filter(|(path, _)| is_door(path)) {
        let folder = module_of_file(&path[src.len()..]);
        for used in paths(&tree.tokens(path)) {
            // `use terms::Terms` or `use self::terms::Terms`, not what comes from elsewhere.
            let inside = used
                .inside_crate(&folder)
                .unwrap_or_else(|| folder.iter().copied().chain(used.segments.iter().copied()).collect());
            if inside.len() > folder.len() + 1
                && inside.starts_with(&folder)
                && let Some(name) = inside.last()
            {
                let door: Module<'_> = folder.iter().copied().chain([*name]).collect();
                exports.entry(door).or_insert(inside);
            }
        }
    }
    exports
}

/// Where a name that a folder hands on comes from; what follows the name stays.
fn handed_on<'a>(target: &[&'a str], exports: &BTreeMap<Module<'a>, Module<'a>>) -> Option<Module<'a>> {
    let door = (1..=target.len()).rev().find(|length| exports.contains_key(&target[..*length]))?;
    let from = exports.get(&target[..door]).filter(|from| !target.starts_with(from))?;
    Some(from.iter().chain(&target[door..]).copied().collect())
}

/// From which module to which, with the first place where that is.
pub(crate) type Edges = BTreeMap<String, BTreeMap<String, (String, usize)>>;

/// The imports between the files of `src`; modules are cut to `depth` names. A `mod.rs` may import what is in its folder, and what is in its
/// folder may import what it defines, so these do not count.
pub(crate) fn edges(tree: &Tree, src: &str, depth: usize) -> Edges {
    let known: BTreeSet<Module<'_>> =
        tree.rust_files(src).map(|(path, _)| module_of_file(&path[src.len()..])).collect();
    let exports = exports(tree, src);
    let mut edges = Edges::new();
    for (path, _) in tree.rust_files(src) {
        let file = module_of_file(&path[src.len()..]);
        let cut = |module: &[&str]| module[..module.len().min(depth)].join("::");
        for used in paths(&tree.tokens(path)) {
            let Some(mut target) = used.inside_crate(&file).filter(|target| !target.is_empty()) else {
                continue;
            };
            // A name that a folder hands on comes from the file that it hands on from; each folder of a path hands on once.
            for _ in 0..DEEPEST {
                let Some(from) = handed_on(&target, &exports) else { break };
                target = from;
            }
            let longest = (1..=target.len()).rev().find(|length| known.contains(&target[..*length]));
            let Some(module) = longest.map(|length| &target[..length]) else { continue };
            // Tests share their setup; that is not part of the program.
            if module.contains(&"tests") {
                continue;
            }
            let is_family = module.starts_with(&file) || file.starts_with(module);
            let (from, to) = (cut(&file), cut(module));
            let is_inside =
                from == to || from.starts_with(&format!("{to}::")) || to.starts_with(&format!("{from}::"));
            if !is_family && !is_inside && !from.is_empty() {
                edges.entry(from).or_default().entry(to).or_insert((path.to_string(), used.line));
            }
        }
    }
    edges
}

/// No file of `src` imports, directly or through others, a file that imports it; modules are cut to `depth` names.
pub(crate) fn no_cycles_at(tree: &Tree, src: &str, depth: usize) -> Vec<Finding> {
    no_cycles_in(&edges(tree, src, depth))
}

fn no_cycles_in(edges: &Edges) -> Vec<Finding> {
    let Some(cycle) = find_cycle(edges) else { return Vec::new() };
    let step = |pair: &[String]| {
        let (path, line) = &edges[&pair[0]][&pair[1]];
        format!("`{}` imports `{}` at {path}:{line}", pair[0], pair[1])
    };
    let steps: Vec<String> = cycle.windows(2).map(step).collect();
    let (path, line) = edges[&cycle[0]][&cycle[1]].clone();
    let message = format!(
        "import cycle: {}; move what both need into a module below both, or pass it in as an argument",
        steps.join(", ")
    );
    vec![Finding { path, line, message }]
}

/// A cycle as a list that begins and ends with the same module.
fn find_cycle(edges: &Edges) -> Option<Vec<String>> {
    // Whoever imports nothing of those who are left is in no cycle.
    let mut left: BTreeSet<&String> = edges.keys().collect();
    let is_end = |module: &String, left: &BTreeSet<_>| !edges[module].keys().any(|to| left.contains(to));
    while let Some(end) = left.iter().find(|module| is_end(module, &left)).copied() {
        left.remove(end);
    }
    let mut trail = vec![left.first().copied()?];
    loop {
        let next = edges[trail[trail.len() - 1]].keys().find(|to| left.contains(to))?;
        let start = trail.iter().position(|module| *module == next);
        trail.push(next);
        if let Some(start) = start {
            return Some(trail[start..].iter().copied().cloned().collect());
        }
    }
}

/// How many names the path of the deepest file has.
pub(crate) const DEEPEST: usize = 4;

/// The folders of the demo, its rooms within them, and its files.
pub(crate) fn demo_has_no_cycles(tree: &Tree) -> Vec<Finding> {
    (1..=DEEPEST)
        .map(|depth| no_cycles_at(tree, "demo/src/", depth))
        .find(|found| !found.is_empty())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{DEEPEST, demo_has_no_cycles, no_cycles_at};
    use crate::tree::{Tree, assert_found};

    const CLEAN: [(&str, &str); 6] = [
        ("demo/src/main.rs", "mod app; mod view; use crate::view::run;"),
        (
            "demo/src/app/mod.rs",
            "mod client; mod terms; pub(crate) use client::Client; pub(crate) const MAX: u32 = 1;",
        ),
        ("demo/src/app/client.rs", "use crate::app::MAX; use crate::app::terms::Terms;"),
        ("demo/src/app/terms.rs", "use std::fmt;"),
        ("demo/src/view/hud/panel.rs", "use crate::view::paint::pen::Pen; use crate::app::Client;"),
        ("demo/src/view/paint/pen.rs", "use std::fmt;"),
    ];

    #[test]
    fn a_folder_and_what_is_in_it_are_no_cycle() {
        assert_eq!(demo_has_no_cycles(&Tree::planted(&CLEAN)), []);
    }

    #[test]
    fn two_files_of_a_folder_that_import_each_other_are_found() {
        for planted in [
            "use crate::app::client::Client;",
            "use super::client::Client;",
            "fn f() { crate::app::client::g() }",
        ] {
            let mut broken = CLEAN;
            broken[3].1 = planted;
            let findings = demo_has_no_cycles(&Tree::planted(&broken));
            assert_found(&findings, "demo/src/app/client.rs", 1, "`app::terms` imports `app::client`");
        }
    }

    #[test]
    fn the_way_through_the_folders_door_is_seen() {
        let mut broken = CLEAN;
        broken[3].1 = "use crate::app::Client;";
        let findings = demo_has_no_cycles(&Tree::planted(&broken));
        assert_found(&findings, "demo/src/app/client.rs", 1, "`app::terms` imports `app::client`");
    }

    #[test]
    fn the_way_through_the_crates_door_is_seen() {
        let tree = Tree::planted(&[
            ("demo/battle/src/lib.rs", "mod order; mod unit; pub use unit::Foe;"),
            ("demo/battle/src/order.rs", "fn f() { crate::Foe::Unit(1) }"),
            ("demo/battle/src/unit.rs", "use crate::order::Order;"),
        ]);
        let findings = no_cycles_at(&tree, "demo/battle/src/", DEEPEST);
        assert_found(&findings, "demo/battle/src/order.rs", 1, "`order` imports `unit`");
    }

    /// Two names that seem to come from each other: no search without end.
    #[test]
    fn names_that_hand_each_other_on_end() {
        let tree = Tree::planted(&[
            ("demo/battle/src/lib.rs", "fn f() { Unit::foe(foe::Unit) }"),
            ("demo/battle/src/order.rs", "fn f() { crate::foe() }"),
        ]);
        assert_eq!(no_cycles_at(&tree, "demo/battle/src/", DEEPEST), []);
    }

    #[test]
    fn rooms_that_import_each_other_are_found_even_if_their_files_do_not() {
        let tree = Tree::planted(&[
            ("demo/src/view/hud/panel.rs", "use crate::view::paint::pen::Pen;"),
            ("demo/src/view/hud/card.rs", ""),
            ("demo/src/view/paint/atlas.rs", "use crate::view::hud::card::Card;"),
            ("demo/src/view/paint/pen.rs", ""),
        ]);
        assert_eq!(no_cycles_at(&tree, "demo/src/", 3), []);
        let findings = no_cycles_at(&tree, "demo/src/", 2);
        assert_found(&findings, "demo/src/view/hud/panel.rs", 1, "`view::paint` imports `view::hud`");
    }

    #[test]
    fn files_of_one_folder_are_found() {
        let planted = [
            ("lockstep/src/session/link.rs", "use crate::session::guests::Guest;"),
            ("lockstep/src/session/guests.rs", "use super::source::Source;"),
            ("lockstep/src/session/source.rs", "use std::fmt;"),
        ];
        let src = "lockstep/src/";
        assert_eq!(no_cycles_at(&Tree::planted(&planted), src, DEEPEST), []);
        let mut broken = planted;
        broken[2].1 = "use crate::session::link::Link;";
        let findings = no_cycles_at(&Tree::planted(&broken), src, DEEPEST);
        assert_found(&findings, broken[1].0, 1, "`session::link` imports `session::guests`");
    }
}
