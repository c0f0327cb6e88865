//! Items that are forbidden in simulation code because they differ between two machines or two runs, and that clippy cannot find.

use crate::lexer::{Kind, Token, closing};
use crate::tree::{Finding, Tree, look_at};

/// Code that must give the same bits on every machine, its unit tests included. What else may not stand there is banned by `clippy.toml`.
const SIMULATION: [&str; 5] =
    ["physics/src/", "physics/movement/src/", "lockstep/src/", "demo/battle/src/", "demo/cubes/src/"];

/// Files of the simulation that show or compare it in floats.
const FLOATS: [&str; 2] = ["physics/src/draw/interpolate.rs", "demo/cubes/src/float.rs"];

/// Code whose structures are hashed and snapshotted.
const STATE: [&str; 4] = ["physics/src/", "physics/movement/src/", "demo/battle/src/", "demo/cubes/src/"];

fn in_scope(path: &str, scope: &[&str]) -> bool {
    scope.iter().any(|prefix| path.starts_with(prefix))
}

/// No literal of a float: clippy bans the names of the types and their arithmetic, but has no lint for `Fx::from_num(0.5)`.
pub(crate) fn simulation_has_no_float_literals(tree: &Tree) -> Vec<Finding> {
    let files = tree.rust_files("").filter(|(path, _)| in_scope(path, &SIMULATION) && !FLOATS.contains(path));
    look_at(files, |path, _, report| {
        for token in tree.tokens(path).iter().filter(|token| token.kind == Kind::Float) {
            let message =
                format!("`{}` in simulation code; write a fraction of integers: `Fx::ONE / 2`", token.text);
            report(token.line, message);
        }
    })
}

/// Crates that would bring in what differs from run to run. The engines do not depend on them, so no path can name them.
const STRANGE_CRATES: [&str; 14] = [
    "rand",
    "fastrand",
    "getrandom",
    "hashbrown",
    "ahash",
    "rustc-hash",
    "fxhash",
    "rayon",
    "crossbeam",
    "parking_lot",
    "tokio",
    "chrono",
    "time",
    "libm",
];

/// The engines, and the demo with its game, depend on no crate of randomness, clocks, threads or unordered tables.
pub(crate) fn dependencies_are_deterministic(tree: &Tree) -> Vec<Finding> {
    let manifests = [
        "physics/Cargo.toml",
        "physics/movement/Cargo.toml",
        "lockstep/Cargo.toml",
        "demo/battle/Cargo.toml",
        "demo/cubes/Cargo.toml",
        "demo/render/Cargo.toml",
        "demo/bench/Cargo.toml",
        "demo/Cargo.toml",
    ];
    look_at(manifests.into_iter().flat_map(|path| tree.file(path)), |manifest, text, report| {
        for (at, line) in text.lines().enumerate() {
            let name = line.split(['=', '.', ' ']).next().unwrap_or_default();
            // Pools that a game may lend; the engine starts no threads.
            let lent = name == "rayon" && line.contains("optional = true");
            // A feature may have such a name: what it brings stands among the dependencies.
            let is_feature = line.contains("= [");
            // The runtime of the sealed transport, of the program's servers and of its sounds, and the source of keys and join codes: edges.
            let is_optional = line.contains("optional = true");
            let edge = match manifest {
                "demo/Cargo.toml" => ["tokio", "getrandom"].contains(&name),
                "demo/render/Cargo.toml" => name == "tokio",
                _ => is_optional && ["tokio", "getrandom"].contains(&name),
            };
            if STRANGE_CRATES.contains(&name) && !is_feature && !lent && !edge {
                let message = format!(
                    "take `{name}` out: randomness is seeded (`rand_pcg`), time is an argument, tables are ordered, threads belong to the game"
                );
                report(at + 1, message);
            }
        }
    })
}

/// Marks a structure or a field that is neither hashed nor snapshotted.
const NOT_STATE: &str = "not state:";

/// Structures of the state hold no `usize`, pointer or reference-counted box.
pub(crate) fn state_has_fixed_widths(tree: &Tree) -> Vec<Finding> {
    look_at(tree.rust_files("").filter(|(path, _)| in_scope(path, &STATE)), |path, text, report| {
        let lines: Vec<&str> = text.lines().collect();
        let tokens = tree.tokens(path);
        for at in 0..tokens.len() {
            let declares = tokens[at].is_name("struct") || tokens[at].is_name("enum");
            if !declares || !tokens.get(at + 1).is_some_and(|name| name.kind == Kind::Name) {
                continue;
            }
            let Some(fields) = fields_of(&tokens, at) else { continue };
            for place in fields {
                let field = &tokens[place];
                let marked = is_marked(&lines, tokens[at].line) || is_marked(&lines, field.line);
                if !marked && has_machine_width(&tokens, place) {
                    let message = format!(
                        "`{}` in a field of `{}`: its width or value differs between machines; use u32 or u64. If it is \
                         scratch that is never hashed or snapshotted, say so above it: `// {NOT_STATE} <why>`",
                        field.text,
                        tokens[at + 1].text
                    );
                    report(field.line, message);
                }
            }
        }
    })
}

/// Indices of the tokens inside the body of the `struct` or `enum` at `at`.
fn fields_of(tokens: &[Token<'_>], at: usize) -> Option<std::ops::Range<usize>> {
    let mut angle = 0_i32;
    for (place, token) in tokens.iter().enumerate().skip(at) {
        match token.text {
            "<" => angle += 1,
            ">" => angle -= 1,
            ";" if angle == 0 => return None,
            "{" | "(" if angle == 0 => return Some(place + 1..closing(tokens, place)),
            _ => {}
        }
    }
    None
}

fn has_machine_width(tokens: &[Token<'_>], place: usize) -> bool {
    let token = &tokens[place];
    let name = token.kind == Kind::Name
        && matches!(
            token.text,
            "usize" | "isize" | "Rc" | "Arc" | "NonNull" | "NonZeroUsize" | "AtomicUsize"
        )
        && !tokens[place - 1].is_name("as");
    let pointer = token.is_sign("*")
        && tokens.get(place + 1).is_some_and(|next| next.is_name("const") || next.is_name("mut"));
    name || pointer
}

/// Whether a line, or the comment and attributes right above it, carries the mark.
fn is_marked(lines: &[&str], line: usize) -> bool {
    let above = lines[..line - 1]
        .iter()
        .rev()
        .take_while(|text| text.trim_start().starts_with("//") || text.trim_start().starts_with('#'));
    lines[line - 1].contains(NOT_STATE) || above.into_iter().any(|text| text.contains(NOT_STATE))
}

#[cfg(test)]
mod tests {
    use super::{dependencies_are_deterministic, simulation_has_no_float_literals, state_has_fixed_widths};
    use crate::tree::{Tree, assert_found};

    #[test]
    fn float_literals_are_found() {
        let planted = "//! 0.5 is a word here\n#[cfg(test)]\nmod tests { const A: Fx = Fx::from_num(0.5); }";
        for path in [
            "physics/src/world.rs",
            "lockstep/src/simnet/link.rs",
            "demo/battle/src/unit.rs",
            "demo/battle/src/bots/mod.rs",
        ] {
            let findings = simulation_has_no_float_literals(&Tree::planted(&[(path, planted)]));
            assert_found(&findings, path, 3, "a fraction of integers");
        }
        let alike =
            "fn f(pair: (u32, u32)) { let text = \"1.5\"; pair.0.max(0x1F); for _ in 0..10 {} } // 1.5";
        assert_eq!(simulation_has_no_float_literals(&Tree::planted(&[("lockstep/src/turn.rs", alike)])), []);
        for path in ["demo/src/view/mod.rs", "demo/cubes/src/float.rs", "tests/physics/oracle.rs"] {
            assert_eq!(simulation_has_no_float_literals(&Tree::planted(&[(path, planted)])), []);
        }
    }

    #[test]
    fn strange_crates_are_found() {
        let clean = "[package]\nrust-version = 1\n[dependencies]\nrand_pcg.workspace = true\nindexmap = \"2\"\nrayon = { version = \"1\", optional = true }";
        assert_eq!(dependencies_are_deterministic(&Tree::planted(&[("lockstep/Cargo.toml", clean)])), []);
        for line in ["rand = \"0.9\"", "hashbrown.workspace = true", "rayon={ version = \"1\" }"] {
            let text = format!("[dependencies]\n{line}");
            let findings = dependencies_are_deterministic(&Tree::planted(&[("lockstep/Cargo.toml", &text)]));
            assert_found(&findings, "lockstep/Cargo.toml", 2, "take `");
        }
    }

    #[test]
    fn machine_widths_are_found_in_fields() {
        let path = "physics/src/body.rs";
        let clean = "struct A { x: [u8; N as usize] } enum E { B(u32) } struct C<const N: usize>(u8);
            impl A { fn f(&self, n: usize) -> usize { n } }
            /// Scratch.
            // not state: lengths of the last step only
            #[derive(Default)]
            struct S { n: usize }
            struct T {
                n: u32, // plain
                m: usize, // not state: capacity, rebuilt on restore
            }";
        assert_eq!(state_has_fixed_widths(&Tree::planted(&[(path, clean)])), []);
        let planted = [
            "struct A { x: u32, y: Vec<usize> }",
            "struct A(u32, isize);",
            "enum A { B { c: *const u8 } }",
            "struct A<T> where T: Copy { a: T, b: Arc<T> }",
        ];
        for text in planted {
            let findings = state_has_fixed_widths(&Tree::planted(&[(path, text)]));
            assert_found(&findings, path, 1, "a field of `A`");
        }
        let outside = Tree::planted(&[("lockstep/src/bits.rs", planted[0])]);
        assert_eq!(state_has_fixed_widths(&outside), []);
    }
}
