//! Over how many files the methods of one type are spread: a type that many files add to is several types.

use std::collections::BTreeMap;

use crate::lexer::{Kind, Token, without_tests};
use crate::sizes::{PRODUCT, after_generics};
use crate::tree::{Finding, Tree};

/// Most files with methods of one type; traits that it implements do not count.
const FILES_MAX: usize = 6;

/// What may be spread further: the crate, the type, over how many files, why. The list may only shrink.
pub(crate) type Spread = (&'static str, &'static str, usize, &'static str);

/// The methods of a type are in few files.
pub(crate) fn types_are_in_few_files(tree: &Tree, exceptions: &[Spread]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut needed = vec![false; exceptions.len()];
    for src in PRODUCT {
        // The files of a type, and the line where the first block of each begins.
        let mut types = BTreeMap::<&str, Vec<(&str, usize)>>::new();
        for (path, _) in tree.product_files(src) {
            for (name, line) in blocks(&without_tests(&tree.tokens(path))) {
                let files = types.entry(name).or_default();
                if files.last().is_none_or(|&(last, _)| last != path) {
                    files.push((path, line));
                }
            }
        }
        for (name, files) in types.iter().filter(|(_, files)| files.len() > FILES_MAX) {
            let excused = exceptions
                .iter()
                .position(|&(of, what, most, _)| (of, what, most) == (src, name, files.len()));
            match (excused, files.last()) {
                (Some(at), _) => needed[at] = true,
                (None, Some(&(path, line))) => findings.push(Finding {
                    path: path.to_string(),
                    line,
                    message: format!(
                        "`{name}` has methods in {} of at most {FILES_MAX} files; give a part of it fields and methods of its own, or \
                         bring together what belongs together",
                        files.len()
                    ),
                }),
                (None, None) => {}
            }
        }
    }
    let idle = exceptions.iter().zip(needed).filter(|(_, needed)| !needed);
    findings.extend(idle.map(|((src, name, ..), _)| Finding {
        path: "tests/tidy/exceptions.rs".into(),
        line: 1,
        message: format!("take the exception for `{name}` in {src} out: it is not needed, or not enough"),
    }));
    findings
}

/// The types of the blocks `impl Type { .. }`, with their lines.
fn blocks<'a>(tokens: &[Token<'a>]) -> Vec<(&'a str, usize)> {
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.is_name("impl")) {
        // Not `-> impl Trait` and the like: a block stands at the beginning of an item.
        let begins = ["}", ";", "]", "{"].iter().any(|sign| at > 0 && tokens[at - 1].is_sign(sign));
        let Some(start) = after_generics(tokens, at + 1).filter(|_| at == 0 || begins) else { continue };
        let path_end = (start..tokens.len()).find(|&at| {
            !(tokens[at].is_sign(":") || tokens[at].kind == Kind::Name && !is_keyword(&tokens[at]))
        });
        let Some(path_end) = path_end.filter(|&end| end > start) else { continue };
        let Some(end) = after_generics(tokens, path_end) else { continue };
        let of_a_trait = tokens.get(end).is_some_and(|token| token.is_name("for"));
        if !of_a_trait {
            found.push((tokens[path_end - 1].text, token.line));
        }
    }
    found
}

fn is_keyword(token: &Token<'_>) -> bool {
    token.is_name("for") || token.is_name("where")
}

#[cfg(test)]
mod tests {
    use super::{FILES_MAX, types_are_in_few_files};
    use crate::tree::{Tree, assert_found};

    fn planted(files: usize, text: &str) -> Tree {
        let paths: Vec<String> = (0..files).map(|at| format!("lockstep/src/session/part_{at}.rs")).collect();
        Tree::planted(&paths.iter().map(|path| (path.as_str(), text)).collect::<Vec<_>>())
    }

    #[test]
    fn methods_of_a_type_in_many_files_are_found() {
        let blocks = [
            "impl Big {}",
            "#[rare]\nimpl<'a, T: Into<Vec<u8>>> Big<'a, T> where T: Copy {}",
            "impl a::Big {}",
        ];
        let last = format!("lockstep/src/session/part_{FILES_MAX}.rs");
        for block in blocks {
            // Two blocks in one file are one file.
            let text = format!("use a::b;\n{block}\n{block}");
            assert_eq!(types_are_in_few_files(&planted(FILES_MAX, &text), &[]), []);
            let line = 2 + block.lines().count() - 1;
            let findings = types_are_in_few_files(&planted(FILES_MAX + 1, &text), &[]);
            assert_found(&findings, &last, line, "`Big` has methods in 7 of at most 6 files");
            let excused = |files| [("lockstep/src/", "Big", files, "a reason")];
            assert_eq!(types_are_in_few_files(&planted(FILES_MAX + 1, &text), &excused(FILES_MAX + 1)), []);
            assert_eq!(
                types_are_in_few_files(&planted(FILES_MAX + 1, &text), &excused(FILES_MAX + 2)).len(),
                2
            );
        }
    }

    #[test]
    fn traits_and_tests_do_not_count() {
        let text = "struct Big;\nimpl Trait for Big {}\nimpl<T> From<T> for Big where T: Copy {}\nfn f() -> impl Fn() {}\n\
                    #[cfg(test)]\nmod tests { impl Big {} }";
        assert_eq!(types_are_in_few_files(&planted(FILES_MAX + 3, text), &[]), []);
    }
}
