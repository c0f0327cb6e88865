//! What may not stand in simulation code, because it differs between two machines or two runs.

use crate::lexer::{Kind, Token, closing, tokens};
use crate::paths::paths;
use crate::tree::{Finding, Tree};

/// Code that must give the same bits on every machine, its unit tests included.
const SIMULATION: [&str; 6] = [
    "physics/src/",
    "lockstep/src/",
    "demo/src/game/",
    "demo/src/game.rs",
    "demo/src/bots",
    "demo/src/cubes/",
];

/// Code whose structures are hashed and snapshotted.
const STATE: [&str; 4] = ["physics/src/", "demo/src/game/", "demo/src/game.rs", "demo/src/cubes/"];

/// A family of forbidden things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ban {
    Float,
    Clock,
    Random,
    Unordered,
    Thread,
    System,
    NativeBytes,
}

/// Where a family is allowed all the same, and why. Keep it short: every line is a place to look at by hand.
const ALLOWED: &[(&str, Ban, &str)] = &[
    ("lockstep/src/transport/", Ban::Clock, "sockets live here and are driven in real time"),
    ("lockstep/src/transport/", Ban::System, "sockets live here"),
    (
        "physics/src/draw/interpolate.rs",
        Ban::Float,
        "converts to f32 for drawing, after interpolating in integers",
    ),
    (
        "demo/src/cubes/float.rs",
        Ban::Float,
        "shows what becomes of the same scene in floats, beside the simulation and never in it",
    ),
];

impl Ban {
    const ALL: [Ban; 7] =
        [Ban::Float, Ban::Clock, Ban::Random, Ban::Unordered, Ban::Thread, Ban::System, Ban::NativeBytes];

    /// Names that are forbidden wherever they stand.
    fn names(self) -> &'static [&'static str] {
        match self {
            Ban::Float => &["f16", "f32", "f64", "f128"],
            Ban::Clock => &["SystemTime", "UNIX_EPOCH"],
            Ban::Random => &["thread_rng", "ThreadRng", "OsRng", "SysRng", "getrandom", "StdRng", "SmallRng"],
            Ban::Unordered => &[
                "HashMap",
                "HashSet",
                "hash_map",
                "hash_set",
                "hashbrown",
                "AHashMap",
                "FxHashMap",
                "FxHashSet",
            ],
            Ban::Thread => &["thread_local", "rayon", "crossbeam"],
            Ban::System => &["UdpSocket", "TcpStream", "TcpListener", "println", "eprintln"],
            Ban::NativeBytes => {
                &["to_ne_bytes", "from_ne_bytes", "DefaultHasher", "RandomState", "transmute", "type_name"]
            }
        }
    }

    /// Paths of the standard library that are forbidden with everything below them.
    fn paths(self) -> &'static [&'static [&'static str]] {
        match self {
            Ban::Clock => &[&["std", "time", "Instant"], &["std", "time", "*"], &["std", "time", "self"]],
            Ban::Random => &[&["rand"], &["fastrand"]],
            Ban::Thread => &[&["std", "thread"], &["std", "sync"]],
            Ban::System => &[&["std", "fs"], &["std", "env"], &["std", "process"], &["std", "io"]],
            Ban::Float | Ban::Unordered | Ban::NativeBytes => &[],
        }
    }

    fn advice(self) -> &'static str {
        match self {
            Ban::Float => {
                "use `Fx` or integers with a documented unit; f32 belongs to views, reports and test oracles"
            }
            Ban::Clock => {
                "take the time as an argument; clocks are read in demo/src/app and in lockstep's transports"
            }
            Ban::Random => {
                "use the seeded generator that is part of the state, or take the randomness as an argument"
            }
            Ban::Unordered => {
                "iterate in a defined order: a vector, `BTreeMap`, `IndexMap` or the `ordered` store"
            }
            Ban::Thread => {
                "the result may not depend on threads; keep simulation and protocol single-threaded"
            }
            Ban::System => {
                "hand bytes, time and settings in and out; files, sockets and printing live at the edge"
            }
            Ban::NativeBytes => {
                "write little-endian bytes with `to_le_bytes` and hash those, so that every machine agrees"
            }
        }
    }

    fn is_allowed_in(self, path: &str) -> bool {
        ALLOWED.iter().any(|(prefix, ban, _)| *ban == self && path.starts_with(prefix))
    }

    fn is_broken_by(self, token: &Token<'_>) -> bool {
        let literal = self == Ban::Float && token.kind == Kind::Float;
        literal || (token.kind == Kind::Name && self.names().contains(&token.text))
    }
}

fn in_scope(path: &str, scope: &[&str]) -> bool {
    scope.iter().any(|prefix| path.starts_with(prefix))
}

/// No floats, clocks, system randomness, unordered collections, threads, system calls or native byte order.
pub(crate) fn simulation_is_deterministic(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.rust_files("").filter(|(path, _)| in_scope(path, &SIMULATION)) {
        let tokens = tokens(text);
        let paths = paths(&tokens);
        for ban in Ban::ALL.into_iter().filter(|ban| !ban.is_allowed_in(path)) {
            let mut broken: Vec<(usize, String)> = tokens
                .iter()
                .filter(|token| ban.is_broken_by(token))
                .map(|token| (token.line, token.text.to_string()))
                .collect();
            for used in &paths {
                let whole_module = ban == Ban::Clock && matches!(used.segments[..], ["std" | "core", "time"]);
                if whole_module || ban.paths().iter().any(|banned| used.starts_with(banned)) {
                    broken.push((used.line, used.segments.join("::")));
                }
            }
            findings.extend(broken.into_iter().map(|(line, what)| Finding {
                path: path.to_string(),
                line,
                message: format!("`{what}` in simulation code; {}", ban.advice()),
            }));
        }
    }
    findings
}

/// Marks a structure or a field that is neither hashed nor snapshotted.
const NOT_STATE: &str = "not state:";

/// Structures of the state hold no `usize`, pointer or reference-counted box.
pub(crate) fn state_has_fixed_widths(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.rust_files("").filter(|(path, _)| in_scope(path, &STATE)) {
        let lines: Vec<&str> = text.lines().collect();
        let tokens = tokens(text);
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
                    findings.push(Finding {
                        path: path.to_string(),
                        line: field.line,
                        message: format!(
                            "`{}` in a field of `{}`: its width or value differs between machines; use u32 or u64. \
                             If it is scratch that is never hashed or snapshotted, say so above it: \
                             `// {NOT_STATE} <why>`",
                            field.text,
                            tokens[at + 1].text
                        ),
                    });
                }
            }
        }
    }
    findings
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
    use super::{ALLOWED, simulation_is_deterministic, state_has_fixed_widths};
    use crate::tree::{Tree, assert_found};

    #[test]
    fn every_ban_can_fail() {
        let planted = [
            ("fn f(x: f32) {}", "use `Fx`"),
            ("const A: Fx = Fx::from_num(0.5);", "use `Fx`"),
            ("use std::time::Instant;", "take the time as an argument"),
            ("use std::{fmt, time::{Duration, Instant}};", "take the time as an argument"),
            ("use std::time; ", "take the time as an argument"),
            ("fn f() { std::time::Instant::now(); }", "take the time as an argument"),
            ("fn f() { SystemTime::now(); }", "take the time as an argument"),
            ("fn f() { rand::random(); }", "seeded generator"),
            ("use std::collections::HashMap;", "defined order"),
            ("use std::collections::{BTreeMap, HashSet};", "defined order"),
            ("fn f() { hashbrown::raw(); }", "defined order"),
            ("fn f() { std::thread::spawn(g); }", "threads"),
            ("use core::sync::atomic::AtomicU32;", "threads"),
            ("use std::fs::File;", "at the edge"),
            ("fn f() { println!(); }", "at the edge"),
            ("fn f(x: u32) { x.to_ne_bytes(); }", "little-endian"),
        ];
        for file in ["physics/src/world.rs", "lockstep/src/simnet/link.rs", "demo/src/game/unit.rs"] {
            for (line, advice) in planted {
                let text =
                    format!("//! f32 and HashMap are words here\n#[cfg(test)]\nmod tests {{ {line} }}");
                let findings = simulation_is_deterministic(&Tree::planted(&[(file, &text)]));
                assert_found(&findings, file, 3, advice);
            }
        }
    }

    #[test]
    fn what_looks_alike_is_allowed() {
        let text = "use crate::time::Instant; use core::time::Duration; use core::fmt; use std::collections::BTreeMap;
            // a HashMap of f32 read at SystemTime::now()
            fn f(pair: (u32, u32)) { let text = \"1.5 f64 HashMap\"; pair.0.max(0x1F); for _ in 0..10 {} }";
        assert_eq!(simulation_is_deterministic(&Tree::planted(&[("lockstep/src/turn.rs", text)])), []);
    }

    #[test]
    fn bans_end_where_the_edge_begins() {
        let text = "use std::time::Instant; use std::net::UdpSocket; use std::io; fn f(x: f32) {}";
        for path in ["demo/src/view/mod.rs", "demo/src/app.rs", "tests/physics/oracle.rs"] {
            assert_eq!(simulation_is_deterministic(&Tree::planted(&[(path, text)])), []);
        }
        let findings =
            simulation_is_deterministic(&Tree::planted(&[("lockstep/src/transport/udp.rs", text)]));
        assert_found(&findings, "lockstep/src/transport/udp.rs", 1, "`f32`");
        let floats = |path| simulation_is_deterministic(&Tree::planted(&[(path, "fn f(x: f32) {}")]));
        assert_eq!(floats("demo/src/cubes/float.rs"), []);
        assert_found(&floats("demo/src/cubes/scene.rs"), "demo/src/cubes/scene.rs", 1, "`f32`");
        assert!(ALLOWED.iter().all(|(_, _, reason)| reason.len() > 10), "each exception gives its reason");
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
