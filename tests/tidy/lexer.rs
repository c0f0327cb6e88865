//! Rust source cut into tokens, without comments and without the insides of strings.

use std::ops::Range;

use proc_macro2::{Spacing, Span, TokenStream, TokenTree};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name or a keyword; raw names without their `r#`.
    Name,
    /// A number without a fraction; also what follows the dot of a field: `0.1` in `pair.0.1`.
    Integer,
    /// A number with a fraction, an exponent or a float suffix.
    Float,
    /// A string or a character of any kind, its quotes included.
    Text,
    /// One character of anything else, or a lifetime; `::` is two tokens.
    Sign,
}

/// One token and its line, counted from 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind,
    pub(crate) text: &'a str,
    pub(crate) line: usize,
}

impl Token<'_> {
    /// Whether this is the sign given.
    pub(crate) fn is_sign(&self, sign: &str) -> bool {
        self.kind == Kind::Sign && self.text == sign
    }

    /// Whether this is the name or keyword given.
    pub(crate) fn is_name(&self, name: &str) -> bool {
        self.kind == Kind::Name && self.text == name
    }
}

/// Where a token stands in its source.
pub(crate) struct Piece {
    kind: Kind,
    bytes: Range<usize>,
    line: usize,
}

/// Cuts a whole file.
pub(crate) fn pieces(source: &str) -> Vec<Piece> {
    let stream: TokenStream = source.parse().unwrap_or_else(|error| panic!("{error}: {source}"));
    let mut found = Vec::new();
    cut(source, stream, &mut found);
    found
}

/// The tokens that stand at these places.
pub(crate) fn tokens_at<'a>(source: &'a str, pieces: &[Piece]) -> Vec<Token<'a>> {
    let token = |Piece { kind, bytes, line }: &Piece| Token {
        kind: *kind,
        text: &source[bytes.clone()],
        line: *line,
    };
    pieces.iter().map(token).collect()
}

/// The tokens of a short source.
#[cfg(test)]
pub(crate) fn tokens(source: &str) -> Vec<Token<'_>> {
    tokens_at(source, &pieces(source))
}

fn cut(source: &str, stream: TokenStream, found: &mut Vec<Piece>) {
    let mut trees = stream.into_iter();
    while let Some(tree) = trees.next() {
        let (span, mut bytes) = (tree.span(), tree.span().byte_range());
        // Documentation comes as an attribute, every token of which stands where the comment does.
        if ["//", "/*"].iter().any(|comment| source[bytes.clone()].starts_with(comment)) {
            continue;
        }
        let kind = match tree {
            TokenTree::Group(group) => {
                let bracket = |span: Span| Piece {
                    kind: Kind::Sign,
                    bytes: span.byte_range(),
                    line: span.start().line,
                };
                found.push(bracket(group.span_open()));
                cut(source, group.stream(), found);
                found.push(bracket(group.span_close()));
                continue;
            }
            TokenTree::Ident(_) => {
                bytes.start += if source[bytes.clone()].starts_with("r#") { 2 } else { 0 };
                Kind::Name
            }
            TokenTree::Punct(sign) => {
                if sign.as_char() == '\'' && sign.spacing() == Spacing::Joint {
                    bytes.end = trees.next().map_or(bytes.end, |name| name.span().byte_range().end);
                }
                Kind::Sign
            }
            TokenTree::Literal(_) => kind_of(&source[bytes.clone()], is_after_single_dot(source, found)),
        };
        found.push(Piece { kind, bytes, line: span.start().line });
    }
}

/// `pair.0.1` holds no float, `0..1.0` does.
fn is_after_single_dot(source: &str, before: &[Piece]) -> bool {
    let mut signs = before.iter().rev().map(|piece| &source[piece.bytes.clone()] == ".");
    signs.next() == Some(true) && signs.next() != Some(true)
}

fn kind_of(literal: &str, is_field: bool) -> Kind {
    let is_radix = ["0x", "0o", "0b"].iter().any(|radix| literal.starts_with(radix));
    let is_float = || literal.contains(['.', 'e', 'E', 'f']) && !literal.ends_with("size");
    if !literal.starts_with(|first: char| first.is_ascii_digit()) {
        Kind::Text
    } else if is_field || is_radix || !is_float() {
        Kind::Integer
    } else {
        Kind::Float
    }
}

/// First and last token of each `#[cfg(test)] mod name { ... }`.
fn test_modules(tokens: &[Token<'_>]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let head: Vec<&str> = tokens[at..].iter().take(10).map(|token| token.text).collect();
        if head.len() == 10 && head[..8] == ["#", "[", "cfg", "(", "test", ")", "]", "mod"] && head[9] == "{"
        {
            let end = closing(tokens, at + 9);
            found.push((at, end));
            at = end;
        }
        at += 1;
    }
    found
}

/// Lines of unit tests, which do not count as code of the file.
pub(crate) fn test_module_lines(tokens: &[Token<'_>]) -> usize {
    test_modules(tokens).into_iter().map(|(first, last)| tokens[last].line - tokens[first].line + 1).sum()
}

/// The tokens of a file without its unit tests.
pub(crate) fn without_tests<'a>(tokens: &[Token<'a>]) -> Vec<Token<'a>> {
    let modules = test_modules(tokens);
    let is_test = |at: usize| modules.iter().any(|&(first, last)| (first..=last).contains(&at));
    tokens.iter().enumerate().filter(|(at, _)| !is_test(*at)).map(|(_, token)| *token).collect()
}

/// Index of the bracket that closes the one at `open` (the last token if none does).
pub(crate) fn closing(tokens: &[Token<'_>], open: usize) -> usize {
    let mut depth = 0_i32;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        if token.kind == Kind::Sign {
            match token.text {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return at;
            }
        }
    }
    tokens.len() - 1
}

#[cfg(test)]
mod tests {
    use super::{Kind, test_module_lines, tokens};

    fn of_kind(source: &str, kind: Kind) -> Vec<&str> {
        tokens(source).into_iter().filter(|token| token.kind == kind).map(|token| token.text).collect()
    }

    #[test]
    fn comments_and_strings_hide_their_words() {
        let source = "a /* f32 /* f32 */ f32 */ b // f32\n/// f32\n//! é f32\n\"f32 \\\" f32\" c r#\"f32 \" f32\"# d b\"f32\" br##\"f32\"# f32\"## e c\"f32\" f 'é'";
        assert_eq!(of_kind(source, Kind::Name), ["a", "b", "c", "d", "e", "f"]);
        assert_eq!(of_kind(source, Kind::Text).len(), 6);
        assert_eq!(of_kind("&'static f32 'outer: loop", Kind::Name), ["f32", "loop"], "no lifetimes");
    }

    #[test]
    fn floats_are_told_from_fields_ranges_and_methods() {
        let floats = ["1.0", "1.", "2e5", "1E-9", "3f32", "0.5_f64", "1_000.5", "1.5e+3"];
        for float in floats {
            assert_eq!(of_kind(&format!("x = {float} ;"), Kind::Float), [float], "{float}");
        }
        let integers =
            ["pair.0.1", "0..10", "1.max(2)", "0xE5", "0xf32", "0b1", "7usize", "1u64", "a.0 .1", "0..=9"];
        for integer in integers {
            assert_eq!(of_kind(integer, Kind::Float), [""; 0], "{integer}");
        }
        assert_eq!(of_kind("0..1.5", Kind::Float), ["1.5"]);
    }

    #[test]
    fn lines_are_counted_through_comments_and_strings() {
        let found: Vec<(usize, &str)> = tokens("/*\n*/ a\n\"\n\n\" b\nr#type c")
            .into_iter()
            .filter(|token| token.kind == Kind::Name)
            .map(|token| (token.line, token.text))
            .collect();
        assert_eq!(found, [(2, "a"), (5, "b"), (6, "type"), (6, "c")]);
    }

    #[test]
    fn test_modules_are_measured() {
        let source = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\n#[cfg(test)]\nmod other;\n";
        assert_eq!(test_module_lines(&tokens(source)), 4);
    }
}
