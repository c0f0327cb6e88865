//! Sizes of functions and structures: a function fits a screen, a structure is one noun.

use crate::lexer::{Kind, Token, closing, without_tests};
use crate::tree::{Finding, Tree, look_at};

/// Longest function, from its name to its last bracket.
const LINES_MAX: usize = 60;

/// Most arguments of a function, `self` not counted.
const ARGUMENTS_MAX: usize = 6;

/// Most fields of a structure.
const FIELDS_MAX: usize = 20;

/// The sources that are measured.
pub(crate) const PRODUCT: [&str; 8] = [
    "physics/src/",
    "physics/movement/src/",
    "lockstep/src/",
    "demo/src/",
    "demo/battle/src/",
    "demo/cubes/src/",
    "demo/render/src/",
    "demo/bench/src/",
];

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    Lines,
    Arguments,
    Fields,
}

impl Size {
    fn limit(self) -> usize {
        match self {
            Self::Lines => LINES_MAX,
            Self::Arguments => ARGUMENTS_MAX,
            Self::Fields => FIELDS_MAX,
        }
    }

    fn advice(self) -> &'static str {
        match self {
            Self::Lines => "lines; give a part of it a name of its own",
            Self::Arguments => "arguments; some of them belong together: make them a structure",
            Self::Fields => {
                "fields; some of them belong together: make them a structure with methods of its own"
            }
        }
    }
}

/// What may be larger: the file, the function or structure, what of it, how large, why. The list may only shrink: nothing may be added, and what is
/// small enough comes off.
pub(crate) type Exception = (&'static str, &'static str, Size, usize, &'static str);

/// A game on the internet, with a lobby, codes, coming back, watchers and a save: lines of code, without comments and empty ones.
const INTERNET_GAME: (&str, usize) = ("lockstep/examples/internet_game.rs", 150);

/// What documents promise of an example.
pub(crate) fn a_game_on_the_internet_is_short(tree: &Tree) -> Vec<Finding> {
    let (path, most) = INTERNET_GAME;
    let lines = tree.text(path).unwrap_or_default().lines().map(str::trim);
    let code = lines.filter(|line| !line.is_empty() && !line.starts_with("//")).count();
    let message = format!("has {code} lines of code; docs/first-game.md promises at most {most}");
    (!(1..=most).contains(&code))
        .then(|| Finding { path: path.into(), line: 1, message })
        .into_iter()
        .collect()
}

/// Functions fit a screen and need few things; structures are one noun.
pub(crate) fn functions_and_structures_are_small(tree: &Tree, exceptions: &[Exception]) -> Vec<Finding> {
    let mut needed = vec![false; exceptions.len()];
    let files = PRODUCT.into_iter().flat_map(|src| tree.product_files(src));
    let mut findings = look_at(files, |path, _, report| {
        for item in items(&without_tests(&tree.tokens(path))) {
            if item.measured <= item.size.limit() {
                continue;
            }
            let excused = exceptions.iter().position(|&(file, name, size, most, _)| {
                (file, name, size, most) == (path, item.name, item.size, item.measured)
            });
            match excused {
                Some(at) => needed[at] = true,
                None => {
                    let (limit, advice) = (item.size.limit(), item.size.advice());
                    report(
                        item.line,
                        format!("`{}` has {} of at most {limit} {advice}", item.name, item.measured),
                    );
                }
            }
        }
    });
    let idle = exceptions.iter().zip(needed).filter(|(_, needed)| !needed);
    findings.extend(idle.map(|((path, name, size, ..), _)| Finding {
        path: "tests/tidy/exceptions.rs".into(),
        line: 1,
        message: format!(
            "take the exception for `{name}` in {path} ({size:?}) out: it is not needed, or not enough"
        ),
    }));
    findings
}

/// Something measured in a file.
struct Item<'a> {
    name: &'a str,
    line: usize,
    size: Size,
    measured: usize,
}

fn items<'a>(tokens: &[Token<'a>]) -> Vec<Item<'a>> {
    let mut found = Vec::new();
    for (at, pair) in tokens.windows(2).enumerate() {
        let (name, line) = (pair[1].text, pair[1].line);
        if pair[1].kind != Kind::Name {
            continue;
        }
        if pair[0].is_name("fn") {
            let Some(open) = after_generics(tokens, at + 2).filter(|&open| tokens[open].is_sign("(")) else {
                continue;
            };
            let close = closing(tokens, open);
            found.push(Item { name, line, size: Size::Arguments, measured: arguments(tokens, open, close) });
            let end = (close..tokens.len()).find(|&at| tokens[at].is_sign("{") || tokens[at].is_sign(";"));
            if let Some(body) = end.filter(|&at| tokens[at].is_sign("{")) {
                let last = tokens[closing(tokens, body)].line;
                found.push(Item { name, line, size: Size::Lines, measured: last - line + 1 });
            }
        } else if pair[0].is_name("struct") {
            let open = (at..tokens.len())
                .find(|&at| ["{", ";", "("].iter().any(|sign| tokens[at].is_sign(sign)))
                .filter(|&open| tokens[open].is_sign("{"));
            if let Some(open) = open {
                let measured = fields(&tokens[open + 1..closing(tokens, open)]);
                found.push(Item { name, line, size: Size::Fields, measured });
            }
        }
    }
    found
}

/// The token after `<...>`, if there is one at `at`.
pub(crate) fn after_generics(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    let mut depth = 0_i32;
    for (here, token) in tokens.iter().enumerate().skip(at) {
        let is_arrow = here > 0 && tokens[here - 1].is_sign("-");
        match token.text {
            "<" => depth += 1,
            ">" if !is_arrow => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(if token.is_sign(">") { here + 1 } else { here });
        }
    }
    None
}

/// Names that a single `:` follows, outside of brackets within: arguments without `self`, or fields.
fn names(tokens: &[Token<'_>]) -> usize {
    let (mut depth, mut count) = (0_i32, 0);
    for (at, token) in tokens.iter().enumerate() {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            ":" if depth == 0 => {
                let beside =
                    |at: Option<usize>| at.and_then(|at| tokens.get(at)).is_some_and(|t| t.is_sign(":"));
                count += usize::from(!beside(at.checked_sub(1)) && !beside(Some(at + 1)));
            }
            _ => {}
        }
    }
    count
}

fn arguments(tokens: &[Token<'_>], open: usize, close: usize) -> usize {
    names(&tokens[open + 1..close])
}

fn fields(tokens: &[Token<'_>]) -> usize {
    names(tokens)
}

#[cfg(test)]
mod tests {
    use super::{
        ARGUMENTS_MAX, FIELDS_MAX, INTERNET_GAME, LINES_MAX, Size, a_game_on_the_internet_is_short,
        functions_and_structures_are_small,
    };
    use crate::tree::{Tree, assert_found};

    fn list(count: usize, of: &str) -> String {
        (0..count).map(|at| format!("a{at}: {of}, ")).collect()
    }

    #[test]
    fn sizes_are_measured() {
        let full = [
            format!("fn f() {{\n{}}}\n", "// line\n".repeat(LINES_MAX - 2)),
            format!("fn g<'a, T: Fn(u8) -> u8>(&mut self, {}) -> i8 {{}}", list(ARGUMENTS_MAX, "[u8; 3]")),
            format!("struct S {{ {} }}", list(FIELDS_MAX, "Vec<(u8, fn(b: u8))>")),
            "struct T; struct U(u8); fn h(x: &str);".into(),
            format!("#[cfg(test)]\nmod tests {{ fn f() {{\n{}}} }}", "// line\n".repeat(99)),
        ];
        let clean = full.concat();
        let path = "physics/src/world.rs";
        assert_eq!(functions_and_structures_are_small(&Tree::planted(&[(path, &clean)]), &[]), []);
        let elsewhere = full[0].replace("// line\n", "// two\n// lines\n");
        let elsewhere = Tree::planted(&[("tests/physics/main.rs", &elsewhere)]);
        assert_eq!(functions_and_structures_are_small(&elsewhere, &[]), []);
        let longer = [
            ("61 of at most 60 lines", full[0].replace("{\n", "{\n// one more\n")),
            ("7 of at most 6 arguments", full[1].replace("a0", "more: std::vec::Vec<u8>, a0")),
            ("21 of at most 20 fields", full[2].replace("a0", "#[x] pub(crate) more: u8, a0")),
        ];
        for path in [path, "physics/movement/src/crowd/mover.rs"] {
            for (message, text) in &longer {
                let tree = Tree::planted(&[(path, text)]);
                assert_found(&functions_and_structures_are_small(&tree, &[]), path, 1, message);
            }
        }
    }

    #[test]
    fn a_long_game_on_the_internet_is_found() {
        let (path, most) = INTERNET_GAME;
        let found = |lines| {
            let text = "//! A game.\n\n".to_owned() + &"    // Why.\n    play();\n".repeat(lines);
            a_game_on_the_internet_is_short(&Tree::planted(&[(path, &text)]))
        };
        assert_eq!((found(most).len(), found(0).len()), (0, 1));
        assert_found(&found(most + 1), path, 1, "has 151 lines of code");
    }

    #[test]
    fn exceptions_hold_no_more_than_they_say_and_only_as_long_as_they_are_needed() {
        let text = format!("struct S {{ {} }}", list(FIELDS_MAX + 2, "u8"));
        let tree = Tree::planted(&[("demo/src/main.rs", &text)]);
        let exception = |most| ("demo/src/main.rs", "S", Size::Fields, most, "a reason");
        assert_eq!(functions_and_structures_are_small(&tree, &[exception(FIELDS_MAX + 2)]), []);
        assert_eq!(functions_and_structures_are_small(&tree, &[exception(FIELDS_MAX + 1)]).len(), 2);
        let small = Tree::planted(&[("demo/src/main.rs", "struct S { a: u8 }")]);
        let findings = functions_and_structures_are_small(&small, &[exception(FIELDS_MAX + 2)]);
        assert_found(&findings, "tests/tidy/exceptions.rs", 1, "take the exception for `S`");
    }
}
