//! What a test may not do: wait, race for a port, or try other values each time. Below tests/, `tests/clippy.toml` bans most of it.

use crate::lexer::Kind;
use crate::paths::paths;
use crate::tree::{Finding, Tree, look_at};

/// Where tests of more than one part live. The benchmark measures time and is no test.
const TESTS: [&str; 2] = ["tests/", "demo/tests/"];
const NO_TESTS: [&str; 3] = ["tests/peers/", "tests/instructions/", "tests/tidy/"];

/// Randomness that nobody can repeat.
const UNSEEDED: [&str; 5] = ["thread_rng", "ThreadRng", "OsRng", "SysRng", "from_os_rng"];

/// Tests have the same outcome on a slow machine, beside another copy of themselves, and tomorrow.
pub(crate) fn tests_are_repeatable(tree: &Tree) -> Vec<Finding> {
    let is_test = |path: &str| {
        TESTS.iter().any(|p| path.starts_with(p)) && !NO_TESTS.iter().any(|p| path.starts_with(p))
    };
    look_at(tree.rust_files("").filter(|(path, _)| is_test(path)), |path, _, report| {
        let tokens = tree.tokens(path);
        // Where clippy's bans are lifted.
        let is_edge = path.starts_with("demo/tests/");
        for used in paths(&tokens).into_iter().filter(|_| is_edge) {
            if used.starts_with(&["std", "thread", "sleep"]) || used.starts_with(&["thread", "sleep"]) {
                report(
                    used.line,
                    "`sleep` in a test; advance virtual time, or wait for what is to happen".into(),
                );
            }
            if used.starts_with(&["std", "time", "SystemTime"]) || used.starts_with(&["rand", "random"]) {
                let what = used.segments.join("::");
                report(
                    used.line,
                    format!("`{what}` in a test; write a seed into the test and print it on failure"),
                );
            }
        }
        for token in &tokens {
            if is_edge && token.kind == Kind::Name && UNSEEDED.contains(&token.text) {
                let message =
                    format!("`{}` in a test; write a seed into the test and print it on failure", token.text);
                report(token.line, message);
            }
            if token.kind == Kind::Text && has_fixed_port(token.text) {
                report(token.line, "a fixed port; bind port 0 and ask the socket for its address".into());
            }
        }
    })
}

/// A unit test of physics that steps a world builds the whole engine a second time: 47 s of processor time instead of 22.
pub(crate) fn unit_tests_step_no_world(tree: &Tree) -> Vec<Finding> {
    look_at(tree.rust_files("physics/src/"), |path, text, report| {
        let is_attribute = |line: &&str| line.starts_with("#[cfg(") && line.contains("test");
        let before = if path.ends_with("/tests.rs") {
            0
        } else {
            text.lines().take_while(|l| !is_attribute(l)).count()
        };
        for (at, line) in text.lines().enumerate().skip(before) {
            if [".step(", ".step_on("].iter().any(|call| line.contains(call)) {
                report(at + 1, "a unit test steps a world; move it to tests/physics/".into());
            }
        }
    })
}

fn has_fixed_port(text: &str) -> bool {
    ["127.0.0.1:", "[::1]:", "0.0.0.0:", "localhost:"].iter().any(|host| {
        text.match_indices(host).any(|(at, _)| {
            let port = text[at + host.len()..].chars().next();
            port.is_some_and(|digit| digit.is_ascii_digit() && digit != '0')
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{tests_are_repeatable, unit_tests_step_no_world};
    use crate::tree::{Tree, assert_found};

    #[test]
    fn what_cannot_be_repeated_is_found() {
        let clean =
            "// thread::sleep\nfn f() { bind(\"127.0.0.1:0\"); put_to_sleep(1); let text = \"sleep\"; }";
        assert_eq!(tests_are_repeatable(&Tree::planted(&[("tests/lockstep/udp.rs", clean)])), []);
        let planted = [
            ("fn f() { std::thread::sleep(d); }", "virtual time"),
            ("use std::thread::{self, sleep};", "virtual time"),
            ("fn f() { thread::sleep(d); }", "virtual time"),
            ("fn f() { bind(\"127.0.0.1:7000\"); }", "bind port 0"),
            ("fn f() { let rng = rand::random(); }", "a seed"),
            ("fn f() { let rng = OsRng; }", "a seed"),
        ];
        for (line, message) in planted {
            let path = "demo/tests/match.rs";
            assert_found(&tests_are_repeatable(&Tree::planted(&[(path, line)])), path, 1, message);
            assert_eq!(tests_are_repeatable(&Tree::planted(&[("tests/peers/src/main.rs", line)])), []);
        }
        let port = ("tests/lockstep/udp.rs", "fn f() { bind(\"127.0.0.1:7000\"); }");
        assert_found(&tests_are_repeatable(&Tree::planted(&[port])), port.0, 1, "bind port 0");
    }

    #[test]
    fn a_unit_test_that_steps_is_found() {
        let clean = "/// world.step(60)\nfn f() { world.step(60); }\n#[cfg(test)]\nmod tests { fn g() { next_step(1); } }";
        let file = "physics/src/world.rs";
        assert_eq!(unit_tests_step_no_world(&Tree::planted(&[(file, clean)])), []);
        for attribute in ["#[cfg(test)]", "#[cfg(all(test, feature = \"rayon\"))]"] {
            let planted = format!("{attribute}\nmod tests {{\n    fn f() {{ world.step(60); }}\n}}\n");
            let tree = Tree::planted(&[(file, &planted)]);
            assert_found(&unit_tests_step_no_world(&tree), file, 3, "tests/physics/");
        }
        let whole = ("physics/src/simd/tests.rs", "fn f() { world.step_on(60, &pool); }");
        assert_found(&unit_tests_step_no_world(&Tree::planted(&[whole])), whole.0, 1, "tests/physics/");
    }
}
