//! How text is written: one width, and one word for one thing.

use crate::tree::{Finding, Tree, look_at};

/// Widest line of prose, in characters: of a document outside tables and code, and of a comment.
const WIDTH_MAX: usize = 160;

/// Words that lockstep does not use, and those that it does: the table of words in `lockstep/README.md`.
const WORDS: [(&str, &str); 2] = [("spectator", "watcher"), ("newcomer", "guest, or joining peer")];

/// Prose has one width. Tables, code and what a program fills in have their own.
pub(crate) fn lines_have_one_width(tree: &Tree) -> Vec<Finding> {
    look_at(tree.documents().chain(tree.rust_files("")), |path, text, report| {
        let is_document = path.ends_with(".md");
        let (mut fenced, mut filled) = (false, false);
        for (place, line) in text.lines().enumerate() {
            let start = line.trim_start();
            fenced ^= is_document && start.starts_with("```");
            if line.starts_with("<!-- ") {
                filled = !line.starts_with("<!-- end of ");
            }
            let is_prose = match is_document {
                true => !fenced && !filled && !start.starts_with('|'),
                false => start.starts_with("//"),
            };
            let width = line.chars().count();
            if is_prose && width > WIDTH_MAX {
                report(place + 1, format!("{width} characters, {WIDTH_MAX} are allowed; wrap the paragraph"));
            }
        }
    })
}

/// Lockstep has one word for one thing.
pub(crate) fn lockstep_has_one_word_for_one_thing(tree: &Tree) -> Vec<Finding> {
    look_at(tree.texts().filter(|(path, _)| path.starts_with("lockstep/")), |_, text, report| {
        for (place, line) in text.lines().enumerate() {
            for (word, instead) in WORDS.iter().filter(|(word, _)| line.to_lowercase().contains(word)) {
                report(place + 1, format!("`{word}` is not a word of lockstep; write {instead}"));
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::{WIDTH_MAX, lines_have_one_width, lockstep_has_one_word_for_one_thing};
    use crate::tree::{Tree, assert_found};

    #[test]
    fn wide_lines_are_found_but_not_in_tables_and_code() {
        let wide = "w".repeat(WIDTH_MAX + 1);
        let fine = &wide[1..];
        let clean =
            format!("{fine}\n| {wide} |\n```\n{wide}\n```\n<!-- table -->\n{wide}\n<!-- end of table -->\n");
        assert_eq!(lines_have_one_width(&Tree::planted(&[("README.md", &clean)])), []);
        let findings = lines_have_one_width(&Tree::planted(&[("README.md", &format!("{clean}{wide}"))]));
        assert_found(&findings, "README.md", 9, "161 characters");
        let code = format!("let a = \"{wide}\";\n    //! {wide}");
        assert_found(&lines_have_one_width(&Tree::planted(&[("a.rs", &code)])), "a.rs", 2, "wrap");
    }

    #[test]
    fn second_words_are_found_in_lockstep() {
        let text = "/// The watchers.\n/// A Newcomer.";
        let findings = lockstep_has_one_word_for_one_thing(&Tree::planted(&[("lockstep/src/a.rs", text)]));
        assert_found(&findings, "lockstep/src/a.rs", 2, "joining peer");
        assert_eq!(lockstep_has_one_word_for_one_thing(&Tree::planted(&[("tests/a.rs", text)])), []);
    }
}
