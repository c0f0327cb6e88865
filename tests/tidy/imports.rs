//! What may import what: an order in physics, no cycles in lockstep.

use std::collections::{BTreeMap, BTreeSet};

use crate::paths::{module_of_file, paths};
use crate::rooms::no_cycles_at;
use crate::tree::{Finding, Tree};

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

/// One import between two modules of a crate.
struct Import {
    path: String,
    line: usize,
    from: String,
    /// The module imported, or `*`, or a name that the root gives away without saying where from.
    to: String,
}

/// Imports between the top modules of the crate in `src`; the root (`lib.rs`, `main.rs`) may import everything.
fn imports(tree: &Tree, src: &str) -> Vec<Import> {
    let known = modules(tree, src);
    let exports = root_exports(tree, src, &known);
    let mut found = Vec::new();
    for (path, _) in tree.rust_files(src) {
        let module = module_of_file(&path[src.len()..]);
        let Some(&from) = module.first() else { continue };
        for used in paths(&tree.tokens(path)) {
            let Some(target) = used.inside_crate(&module) else { continue };
            let bare_keyword = used.segments.len() == 1;
            let name = target.first().copied().unwrap_or("*");
            let to = if known.contains(name) { name } else { exports.get(name).copied().unwrap_or(name) };
            if bare_keyword || to == from {
                continue;
            }
            found.push(Import {
                path: path.to_string(),
                line: used.line,
                from: from.to_string(),
                to: to.to_string(),
            });
        }
    }
    found
}

/// Names of the top modules of the crate in `src`.
fn modules<'a>(tree: &'a Tree, src: &str) -> BTreeSet<&'a str> {
    tree.rust_files(src).filter_map(|(path, _)| module_of_file(&path[src.len()..]).first().copied()).collect()
}

/// Names that the root gives away with `use module::Name`, and the module each comes from.
fn root_exports<'a>(tree: &'a Tree, src: &str, known: &BTreeSet<&'a str>) -> BTreeMap<&'a str, &'a str> {
    let mut exports = BTreeMap::new();
    for root in ["lib.rs", "main.rs"] {
        for used in paths(&tree.tokens(&format!("{src}{root}"))) {
            let inside = used.inside_crate(&[]).unwrap_or(used.segments);
            if let [module, .., name] = inside[..]
                && known.contains(module)
            {
                exports.insert(name, module);
            }
        }
    }
    exports
}

fn through_the_root(import: &Import, src: &str) -> Finding {
    let name = &import.to;
    Finding {
        path: import.path.clone(),
        line: import.line,
        message: format!(
            "`crate::{name}` goes through the crate's root and hides where it comes from; name the module that \
             defines it (`crate::<module>::...`, a file or folder of {src})"
        ),
    }
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
    for import in imports(tree, src) {
        if !known.contains(import.to.as_str()) {
            findings.push(through_the_root(&import, src));
        } else if place(&import.from) < place(&import.to) && place(&import.from).is_some() {
            findings.push(Finding {
                path: import.path,
                line: import.line,
                message: format!(
                    "`{}` imports `{}`, which stands after it in PHYSICS_ORDER (tests/tidy/imports.rs); move the \
                     shared part down into a lower module, or pass it in as an argument",
                    import.from, import.to
                ),
            });
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
    let known = modules(tree, src);
    let lost = imports(tree, src).into_iter().filter(|import| !known.contains(import.to.as_str()));
    lost.map(|import| through_the_root(&import, src)).chain(no_cycles_at(tree, src, 1)).collect()
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
