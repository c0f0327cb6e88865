//! What may import what: an order in physics, no cycles in lockstep.

use std::collections::BTreeSet;

use crate::paths::{module_of_file, paths};
use crate::rooms::{edges, exports, no_cycles_at};
use crate::tree::{Finding, Tree, look_at};

/// The folders of physics (and the files beside them), lowest first. One may import what stands above it here, so there are no cycles.
pub(crate) const PHYSICS_ORDER: &[&str] = &[
    "math",
    "body",
    "tree",
    "world_def",
    "collide",
    "solve",
    "contact",
    "motion",
    "simd",
    "step",
    "world",
    "query",
    "state",
    "draw",
    "conformance",
];

/// Names of the top modules of the crate in `src`.
fn modules<'a>(tree: &'a Tree, src: &str) -> BTreeSet<&'a str> {
    tree.rust_files(src).filter_map(|(path, _)| module_of_file(&path[src.len()..]).first().copied()).collect()
}

/// Names that come from the crate's root, which does not say where it has them from. The root itself may import everything.
fn through_the_root(tree: &Tree, src: &str) -> Vec<Finding> {
    let (known, exports) = (modules(tree, src), exports(tree, src));
    look_at(tree.rust_files(src), |path, _, report| {
        let module = module_of_file(&path[src.len()..]);
        let paths = paths(&tree.tokens(path));
        for used in paths.iter().filter(|used| !module.is_empty() && used.segments.len() > 1) {
            let Some(target) = used.inside_crate(&module) else { continue };
            let name = target.first().copied().unwrap_or("*");
            if !known.contains(name) && !exports.contains_key(&[name][..]) {
                let message = format!(
                    "`crate::{name}` goes through the crate's root and hides where it comes from; name the module that \
                     defines it (`crate::<module>::...`, a file or folder of {src})"
                );
                report(used.line, message);
            }
        }
    })
}

/// Physics imports upward in `order` only, and every module stands in it.
pub(crate) fn physics_order(tree: &Tree, order: &[&str]) -> Vec<Finding> {
    let src = "physics/src/";
    let place = |module: &str| order.iter().position(|listed| *listed == module);
    let mut findings = Vec::new();
    let known = modules(tree, src);
    for module in known.iter().filter(|module| place(module).is_none()) {
        findings.push(Finding {
            path: format!("{src}{module}.rs"),
            line: 1,
            message: format!(
                "module `{module}` has no place in the import order; add it to PHYSICS_ORDER in \
                 tests/tidy/imports.rs, below everything that it imports"
            ),
        });
    }
    findings.extend(through_the_root(tree, src));
    for (from, imported) in edges(tree, src, 1) {
        for (to, (path, line)) in imported.into_iter().filter(|(to, _)| place(&from) < place(to)) {
            let message = format!(
                "`{from}` imports `{to}`, which stands after it in PHYSICS_ORDER (tests/tidy/imports.rs); move the shared \
                 part down into a lower module, or pass it in as an argument"
            );
            findings.extend(place(&from).map(|_| Finding { path, line, message }));
        }
    }
    findings
}

/// Names in `order` that no file has any more.
pub(crate) fn physics_order_is_current(tree: &Tree, order: &[&str]) -> Vec<Finding> {
    let present = modules(tree, "physics/src/");
    let gone = order.iter().filter(|module| !present.contains(**module));
    gone.map(|module| Finding {
        path: "tests/tidy/imports.rs".into(),
        line: 1,
        message: format!("PHYSICS_ORDER names `{module}`, which is no module of physics; take it out"),
    })
    .collect()
}

/// Imports of a crate name the module that they mean, and its top modules import each other without a cycle.
pub(crate) fn no_cycles(tree: &Tree, src: &str) -> Vec<Finding> {
    [through_the_root(tree, src), no_cycles_at(tree, src, 1)].concat()
}

#[cfg(test)]
mod tests {
    use super::{no_cycles, physics_order, physics_order_is_current};
    use crate::tree::{Tree, assert_found};

    const ORDER: [&str; 3] = ["low", "mid", "top"];

    #[test]
    fn order_allows_downward_imports_only() {
        let clean = [
            ("physics/src/lib.rs", "mod low; pub use crate::top::Top; use top::Other;"),
            ("physics/src/low.rs", "//! see crate::top\nuse core::fmt; mod tests { use super::*; }"),
            ("physics/src/mid.rs", "use crate::low::{A, B}; fn f() { crate::low::g(); }"),
            ("physics/src/top/mod.rs", "mod part; use crate::{low, mid::C};"),
            ("physics/src/top/part.rs", "use super::Top; use crate::mid::C; use super::super::low::A;"),
        ];
        assert_eq!(physics_order(&Tree::planted(&clean), &ORDER), []);
        let planted = [
            "use crate::top::Top;",
            "fn f() { crate::top::g() }",
            "use super::{top::Top};",
            "use crate::Top;",
        ];
        for planted in planted {
            let mut broken = clean;
            let text = format!("use crate::low::A;\n{planted}");
            broken[2].1 = &text;
            assert_found(
                &physics_order(&Tree::planted(&broken), &ORDER),
                "physics/src/mid.rs",
                2,
                "`mid` imports `top`",
            );
        }
    }

    #[test]
    fn order_refuses_the_way_round_through_the_root() {
        for planted in ["use crate::Lost;", "use crate::*;", "use super::Lost;", "use super::*;"] {
            let tree = Tree::planted(&[("physics/src/low.rs", planted)]);
            assert_found(&physics_order(&tree, &ORDER), "physics/src/low.rs", 1, "name the module");
        }
    }

    #[test]
    fn order_knows_every_module_and_no_other() {
        let tree = Tree::planted(&[("physics/src/low.rs", ""), ("physics/src/odd/a.rs", "")]);
        assert_found(&physics_order(&tree, &ORDER), "physics/src/odd.rs", 1, "add it to PHYSICS_ORDER");
        let gone = physics_order_is_current(&tree, &["low", "odd", "top"]);
        assert_found(&gone, "tests/tidy/imports.rs", 1, "`top`, which is no module");
    }

    #[test]
    fn cycles_are_found() {
        let clean = [
            ("lockstep/src/lib.rs", "pub use session::Session;"),
            ("lockstep/src/turn.rs", "use crate::time::Turn;"),
            ("lockstep/src/time.rs", "use std::fmt;"),
            ("lockstep/src/session.rs", "use crate::{turn::TurnBuffer, time::Turn};"),
        ];
        assert_eq!(no_cycles(&Tree::planted(&clean), "lockstep/src/"), []);
        let mut broken = clean;
        broken[2].1 = "use std::fmt;\nfn f() { crate::session::g() }";
        let findings = no_cycles(&Tree::planted(&broken), "lockstep/src/");
        assert_found(
            &findings,
            "lockstep/src/session.rs",
            1,
            "`time` imports `session` at lockstep/src/time.rs:2",
        );
        broken[2].1 = "use crate::Session;";
        let findings = no_cycles(&Tree::planted(&broken), "lockstep/src/");
        assert_found(&findings, "lockstep/src/session.rs", 1, "`time` imports `session`");
        broken[2].1 = "use crate::Lost;";
        let findings = no_cycles(&Tree::planted(&broken), "lockstep/src/");
        assert_found(&findings, "lockstep/src/time.rs", 1, "name the module");
    }
}
