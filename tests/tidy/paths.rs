//! Every path a file names (`use` trees flattened, and paths inside code), resolved against the file's own module.

use crate::lexer::{Kind, Token};

/// A path as the file writes it, and the inline module it stands in.
#[derive(Debug)]
pub(crate) struct Path<'a> {
    pub(crate) line: usize,
    pub(crate) segments: Vec<&'a str>,
    inline_module: Vec<&'a str>,
}

impl<'a> Path<'a> {
    /// The path from the root of its own crate, if it begins with `crate`, `super` or `self`.
    pub(crate) fn inside_crate(&self, file_module: &[&'a str]) -> Option<Vec<&'a str>> {
        let mut absolute = match self.segments.first()? {
            &"crate" => Vec::new(),
            &"super" | &"self" => file_module.iter().chain(&self.inline_module).copied().collect(),
            _ => return None,
        };
        for segment in &self.segments {
            match *segment {
                "crate" | "self" => {}
                "super" => {
                    absolute.pop();
                }
                name => absolute.push(name),
            }
        }
        Some(absolute)
    }

    /// Whether the path starts with these segments; `std`, `core` and `alloc` count as one.
    pub(crate) fn starts_with(&self, prefix: &[&str]) -> bool {
        let standard = |name: &str| matches!(name, "std" | "core" | "alloc");
        self.segments.len() >= prefix.len()
            && self
                .segments
                .iter()
                .zip(prefix)
                .enumerate()
                .all(|(place, (have, want))| have == want || (place == 0 && standard(have) && standard(want)))
    }
}

/// Module path of a file below its `src` folder: `world/step.rs` is `[world, step]`, `lib.rs` the root.
pub(crate) fn module_of_file(path_in_src: &str) -> Vec<&str> {
    let mut module: Vec<&str> = path_in_src.trim_end_matches(".rs").split('/').collect();
    if matches!(module.last(), Some(&"lib" | &"main" | &"mod")) {
        module.pop();
    }
    module
}

/// All paths of a file in the order of its text. A path of one segment is a path too.
pub(crate) fn paths<'a>(tokens: &[Token<'a>]) -> Vec<Path<'a>> {
    let mut found = Vec::new();
    // Open inline modules with the brace depth they close at.
    let mut modules: Vec<(&str, usize)> = Vec::new();
    let mut depth = 0;
    let mut at = 0;
    while at < tokens.len() {
        let token = &tokens[at];
        let inline_module: Vec<&str> = modules.iter().map(|(name, _)| *name).collect();
        if token.is_sign("{") {
            depth += 1;
        } else if token.is_sign("}") {
            depth = usize::saturating_sub(depth, 1);
            if modules.last().is_some_and(|(_, open)| *open == depth) {
                modules.pop();
            }
        } else if token.is_name("mod") && tokens.get(at + 2).is_some_and(|brace| brace.is_sign("{")) {
            modules.push((tokens[at + 1].text, depth));
            at += 1;
        } else if token.is_name("use") && !tokens.get(at + 1).is_some_and(|next| next.is_sign("<")) {
            at = use_tree(tokens, at + 1, &[], &inline_module, &mut found);
            continue;
        } else if token.kind == Kind::Name {
            let (segments, next) = plain_path(tokens, at);
            found.push(Path { line: token.line, segments, inline_module });
            at = next;
            continue;
        }
        at += 1;
    }
    found
}

fn is_double_colon(tokens: &[Token<'_>], at: usize) -> bool {
    tokens.get(at).is_some_and(|token| token.is_sign(":"))
        && tokens.get(at + 1).is_some_and(|token| token.is_sign(":"))
}

/// `a::b::c` from a name on; returns the segments and the index after them.
fn plain_path<'a>(tokens: &[Token<'a>], start: usize) -> (Vec<&'a str>, usize) {
    let mut segments = vec![tokens[start].text];
    let mut at = start + 1;
    while is_double_colon(tokens, at) && tokens.get(at + 2).is_some_and(|token| token.kind == Kind::Name) {
        segments.push(tokens[at + 2].text);
        at += 3;
    }
    (segments, at)
}

/// One branch of a `use` tree; returns the index of the `,`, `}` or `;` that ends it.
fn use_tree<'a>(
    tokens: &[Token<'a>],
    mut at: usize,
    prefix: &[&'a str],
    inline_module: &[&'a str],
    found: &mut Vec<Path<'a>>,
) -> usize {
    let mut segments = prefix.to_vec();
    while let Some(token) = tokens.get(at) {
        if token.is_sign("{") {
            at += 1;
            while tokens.get(at).is_some_and(|token| !token.is_sign("}")) {
                at = use_tree(tokens, at, &segments, inline_module, found);
                at += usize::from(tokens.get(at).is_some_and(|token| token.is_sign(",")));
            }
            return at + 1;
        }
        if token.is_sign(",") || token.is_sign("}") || token.is_sign(";") {
            break;
        }
        if token.is_name("as") {
            at += 2;
        } else {
            if token.kind == Kind::Name || token.is_sign("*") {
                segments.push(token.text);
            }
            at += 1;
        }
    }
    if segments.len() > prefix.len() {
        let line = tokens[at.min(tokens.len()) - 1].line;
        found.push(Path { line, segments, inline_module: inline_module.to_vec() });
    }
    at
}

#[cfg(test)]
mod tests {
    use super::{module_of_file, paths};
    use crate::lexer::tokens;

    fn joined(source: &str) -> Vec<String> {
        paths(&tokens(source)).iter().map(|path| path.segments.join("::")).collect()
    }

    #[test]
    fn use_trees_are_flattened() {
        assert_eq!(
            joined("use a::{b, c::{d as e, *}, self}; pub use ::f::g; x"),
            ["a::b", "a::c::d", "a::c::*", "a::self", "pub", "f::g", "x"]
        );
        assert_eq!(joined("fn f() -> impl Fn() + use<'a, T> {}").last().map(String::as_str), Some("T"));
        assert_eq!(joined("{ a::b::<c::d>::e() }"), ["a::b", "c::d", "e"]);
    }

    #[test]
    fn paths_are_resolved_from_the_module_they_stand_in() {
        let source = "use super::a; mod tests { use super::b; use super::super::c; } fn f() { self::d(); crate::e::g(); h::i(); }";
        let tokens = tokens(source);
        let resolved: Vec<String> = paths(&tokens)
            .iter()
            .filter_map(|path| path.inside_crate(&["world", "step"]))
            .map(|path| path.join("::"))
            .collect();
        assert_eq!(resolved, ["world::a", "world::step::b", "world::c", "world::step::d", "e::g"]);
    }

    #[test]
    fn files_are_modules() {
        assert_eq!(module_of_file("lib.rs"), [""; 0]);
        assert_eq!(module_of_file("world.rs"), ["world"]);
        assert_eq!(module_of_file("world/mod.rs"), ["world"]);
        assert_eq!(module_of_file("world/step.rs"), ["world", "step"]);
    }

    #[test]
    fn core_counts_as_std() {
        let tokens = tokens("use core::time::Duration;");
        let path = &paths(&tokens)[0];
        assert!(path.starts_with(&["std", "time"]) && !path.starts_with(&["std", "thread"]));
    }
}
