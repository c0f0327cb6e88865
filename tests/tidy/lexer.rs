//! Rust source cut into tokens, without comments and without the insides of strings.
//!
//! Just enough of the language's lexical rules that a rule never trips over a word in a comment or a string, and never
//! misses one because of an odd literal.

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name or a keyword; raw names without their `r#`.
    Name,
    /// A number without a fraction.
    Integer,
    /// A number with a fraction, an exponent or a float suffix.
    Float,
    /// A string of any kind, its quotes included.
    Text,
    /// A character or byte in single quotes.
    Character,
    /// A lifetime or a label.
    Lifetime,
    /// One character of anything else; `::` is two tokens.
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

/// Cuts a whole file.
pub(crate) fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut lexer = Lexer { source, at: 0, line: 1, tokens: Vec::new() };
    while lexer.step() {}
    lexer.tokens
}

struct Lexer<'a> {
    source: &'a str,
    at: usize,
    line: usize,
    tokens: Vec<Token<'a>>,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.source[self.at..]
    }

    fn peek(&self, ahead: usize) -> char {
        self.rest().chars().nth(ahead).unwrap_or('\0')
    }

    /// Takes one token or one stretch of space or comment; false at the end.
    fn step(&mut self) -> bool {
        let first = self.peek(0);
        if self.at >= self.source.len() {
            return false;
        }
        if first.is_whitespace() {
            self.skip(first.len_utf8());
        } else if self.rest().starts_with("//") {
            let length = self.rest().find('\n').unwrap_or(self.rest().len());
            self.skip(length);
        } else if self.rest().starts_with("/*") {
            let length = block_comment_length(self.rest());
            self.skip(length);
        } else if let Some(length) = text_length(self.rest()) {
            self.push(Kind::Text, length);
        } else if let Some((kind, length)) = quote(self.rest()) {
            self.push(kind, length);
        } else if first.is_ascii_digit() {
            let after_field_dot = self.follows_single_dot();
            let (kind, length) = number(self.rest(), after_field_dot);
            self.push(kind, length);
        } else if is_name_character(first) {
            if self.rest().starts_with("r#") && is_name_character(self.peek(2)) {
                self.skip(2);
            }
            let length = self.rest().find(|c| !is_name_character(c)).unwrap_or(self.rest().len());
            self.push(Kind::Name, length);
        } else {
            self.push(Kind::Sign, first.len_utf8());
        }
        true
    }

    fn skip(&mut self, length: usize) {
        self.line += self.rest()[..length].matches('\n').count();
        self.at += length;
    }

    fn push(&mut self, kind: Kind, length: usize) {
        let text = &self.source[self.at..self.at + length];
        self.tokens.push(Token { kind, text, line: self.line });
        self.skip(length);
    }

    /// `pair.0.1` holds no float, `0..1.0` does.
    fn follows_single_dot(&self) -> bool {
        let mut before = self.tokens.iter().rev();
        before.next().is_some_and(|token| token.is_sign("."))
            && !before.next().is_some_and(|token| token.is_sign("."))
    }
}

fn is_name_character(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

fn block_comment_length(rest: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

/// Length of a string literal of any kind at the start of `rest`.
fn text_length(rest: &str) -> Option<usize> {
    let prefix = ["br", "cr", "b", "c", "r", ""].into_iter().find(|prefix| {
        rest.strip_prefix(prefix).is_some_and(|after| {
            after.starts_with('"')
                || (prefix.ends_with('r') && after.trim_start_matches('#').starts_with('"'))
        })
    })?;
    let body = &rest[prefix.len()..];
    if prefix.ends_with('r') {
        let hashes = body.len() - body.trim_start_matches('#').len();
        let end = format!("\"{}", "#".repeat(hashes));
        let inside = &body[hashes + 1..];
        let length = inside.find(&end).map_or(inside.len(), |at| at + end.len());
        return Some(prefix.len() + hashes + 1 + length);
    }
    Some(prefix.len() + 1 + quoted_length(&body[1..], '"'))
}

/// Length up to and with the closing quote, escapes respected.
fn quoted_length(inside: &str, close: char) -> usize {
    let mut escaped = false;
    for (at, c) in inside.char_indices() {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == close {
            return at + c.len_utf8();
        }
    }
    inside.len()
}

/// A character literal or a lifetime.
fn quote(rest: &str) -> Option<(Kind, usize)> {
    let prefix = usize::from(rest.starts_with("b'"));
    let inside = rest[prefix..].strip_prefix('\'')?;
    let mut characters = inside.chars();
    let first = characters.next()?;
    if first == '\\' || characters.next() == Some('\'') {
        return Some((Kind::Character, prefix + 1 + quoted_length(inside, '\'')));
    }
    let length = inside.find(|c| !is_name_character(c)).unwrap_or(inside.len());
    Some((Kind::Lifetime, 1 + length))
}

fn number(rest: &str, after_field_dot: bool) -> (Kind, usize) {
    let digits =
        |from: usize| from + rest[from..].find(|c: char| !is_name_character(c)).unwrap_or(rest.len() - from);
    if after_field_dot {
        let length = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        return (Kind::Integer, length);
    }
    let mut end = digits(0);
    if ["0x", "0o", "0b"].iter().any(|radix| rest.starts_with(radix)) {
        return (Kind::Integer, end);
    }
    let mut float = rest[..end].contains(['e', 'E', 'f']) && !rest[..end].ends_with("size");
    let after = rest[end..].strip_prefix('.').map(|after| after.chars().next().unwrap_or(' '));
    if let Some(next) =
        after.filter(|&next| next != '.' && (next.is_ascii_digit() || !is_name_character(next)))
    {
        float = true;
        end += 1;
        if next.is_ascii_digit() {
            end = digits(end);
        }
    }
    if float && rest[..end].ends_with(['e', 'E']) && rest[end..].starts_with(['+', '-']) {
        end = digits(end + 1);
    }
    (if float { Kind::Float } else { Kind::Integer }, end)
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
        let source = "a /* f32 /* f32 */ f32 */ b // f32\n\"f32 \\\" f32\" c r#\"f32 \" f32\"# d b\"f32\" br##\"f32\"# f32\"## e c\"f32\" f";
        assert_eq!(of_kind(source, Kind::Name), ["a", "b", "c", "d", "e", "f"]);
        assert_eq!(of_kind(source, Kind::Text).len(), 5);
    }

    #[test]
    fn quotes_are_characters_or_lifetimes() {
        let source = "'a' '\\'' '\"' b'\\n' '\\u{1F600}' 'é' &'static f32 'outer: loop 'x";
        assert_eq!(
            of_kind(source, Kind::Character),
            ["'a'", "'\\''", "'\"'", "b'\\n'", "'\\u{1F600}'", "'é'"]
        );
        assert_eq!(of_kind(source, Kind::Lifetime), ["'static", "'outer", "'x"]);
        assert_eq!(of_kind(source, Kind::Name), ["f32", "loop"]);
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
