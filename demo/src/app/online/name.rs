//! Names of players, as they may be shown.

use core::fmt;

/// Greatest length of a name in bytes of UTF-8.
pub(crate) const NAME_BYTES_MAX: usize = 24;

/// A name without anything that could disturb a line of text: no control characters, no marks that change its direction, nothing invisible.
/// It may be empty.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Name(String);

impl Name {
    /// What is left of a text.
    pub(crate) fn cleaned(text: &str) -> Self {
        let mut name = String::new();
        for word in text.split(|c: char| c.is_whitespace() || c.is_control()) {
            let visible: String = word.chars().filter(|c| !is_hidden(*c)).collect();
            if !visible.is_empty() && !name.is_empty() {
                name.push(' ');
            }
            name.push_str(&visible);
        }
        while name.len() > NAME_BYTES_MAX || name.ends_with(' ') {
            name.pop();
        }
        Self(name)
    }

    /// A name from the network; none if it is not clean.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let text = core::str::from_utf8(bytes).ok()?;
        let name = Self::cleaned(text);
        (name.0 == text).then_some(name)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Marks of direction, joiners, and other characters without width. Not a complete list of what looks alike.
fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{fffe}'..='\u{ffff}' | '\u{13430}'..='\u{1345f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d159}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_one_short_line_and_hide_nothing() {
        let cases = [
            ("Ada", "Ada"),
            ("  Ada \t Lovelace\n", "Ada Lovelace"),
            ("a\u{202e}b\u{200b}c\u{7}", "abc"),
            ("\u{202e}", ""),
            ("\u{2800}\u{1d173}\u{13430}\u{ffff}", ""),
            ("x\u{1b}[31my", "x [31my"),
            ("äöü äöü äöü äöü äöü", "äöü äöü äöü ä"),
            ("123456789012345678901234567890", "123456789012345678901234"),
        ];
        for (text, clean) in cases {
            let name = Name::cleaned(text);
            assert_eq!(name.as_str(), clean);
            assert_eq!(Name::cleaned(name.as_str()), name, "clean already");
            assert_eq!(Name::read(name.as_str().as_bytes()), Some(name));
        }
        assert_eq!(Name::read("a\u{202e}".as_bytes()), None);
        assert_eq!(Name::read(&[0xff]), None);
        assert_eq!(Name::read(&[b'a'; 25]), None);
    }
}
