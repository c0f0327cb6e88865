//! What the documents claim: files that exist, commands that CI runs, versions that have a reason, snapshots with owners.

use crate::lexer::Kind;
use crate::tree::{Finding, Tree, look_at};

/// The one command that tests everything: the README names it and `.ci/run` runs it.
const TEST_COMMAND: &str = "cargo test --workspace";

/// Endings that make a word in backticks the name of a file.
const FILE_ENDINGS: [&str; 7] = [".rs", ".md", ".toml", ".sh", ".mjs", ".snap", ".lock"];

/// Versions of behaviour: file and name of the constant.
const VERSIONS: [(&str, &str); 2] = [("physics/src/", "SIM_VERSION"), ("lockstep/src/", "PROTOCOL_VERSION")];

/// Every link, folder and file that a document names exists.
pub(crate) fn named_files_exist(tree: &Tree) -> Vec<Finding> {
    look_at(tree.documents(), |document, text, report| {
        let folder = document.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut fenced = false;
        for (place, line) in text.lines().enumerate() {
            if line.trim_start().starts_with("```") {
                fenced = !fenced;
            }
            let names = if fenced { Vec::new() } else { [links(line), file_names(line)].concat() };
            for name in names {
                let bare_file_name = !name.contains('/') && tree.has_file_named(name);
                let beside = tree.exists(&format!("{folder}/{name}"));
                if !tree.exists(name) && !beside && !bare_file_name {
                    let message = format!(
                        "names `{name}`, which does not exist; write the path from the root of the repository or from \
                         this folder, or take it out if it is gone"
                    );
                    report(place + 1, message);
                }
            }
        }
    })
}

/// Targets of `[text](target)` that lead into the repository.
fn links(line: &str) -> Vec<&str> {
    line.split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .map(|target| target.split('#').next().unwrap_or_default())
        .filter(|target| !target.is_empty() && !target.contains("://"))
        .collect()
}

/// What introduces the output of an example in a document.
const RUN_EXAMPLE: &str = "$ cargo run -p testudo-lockstep --example ";

/// The lines that a block quotes if it begins so, by the path of their file.
fn source_of_quotation(first: &str) -> Option<String> {
    if let Some(name) = first.strip_prefix(RUN_EXAMPLE) {
        return Some(format!("lockstep/examples/{name}.rs"));
    }
    first.strip_prefix("// ").filter(|path| path.ends_with(".rs") && !path.contains(' ')).map(Into::into)
}

/// A block of code whose first line is a comment with a path shows lines of that file, or of its documentation, in their order; `// ...` stands for
/// what is left out. What an example prints stands in its test.
pub(crate) fn quoted_code_is_in_its_file(tree: &Tree) -> Vec<Finding> {
    look_at(tree.documents(), |_, text, report| {
        // Where the block is quoted from, and the lines of that file that have not been passed.
        let (mut quoted, mut fenced) = (None, false);
        let mut lines = text.lines().enumerate().peekable();
        while let Some((place, line)) = lines.next() {
            if line.trim_start().starts_with("```") {
                fenced = !fenced;
                let first = lines.peek().filter(|_| fenced).map(|(_, first)| *first);
                quoted = first.and_then(source_of_quotation).map(|path| {
                    let left = tree.text(&path).unwrap_or_default().lines();
                    (path, first.is_some_and(|first| first.starts_with(RUN_EXAMPLE)), left)
                });
                lines.next_if(|_| quoted.is_some());
                continue;
            }
            let Some((path, printed, left)) = quoted.as_mut().filter(|_| fenced) else { continue };
            let (wanted, literal) = (line.trim(), format!("\"{line}\""));
            let is_it = |line: &str| {
                if *printed {
                    line.contains(&literal)
                } else {
                    line.trim().trim_start_matches("/// ").trim() == wanted
                }
            };
            if !wanted.is_empty() && wanted != "// ..." && !left.any(is_it) {
                report(place + 1, format!("quotes `{path}`, which has no such line there; copy it again"));
                quoted = None;
            }
        }
    })
}

/// Words in backticks that look like a file or a folder.
fn file_names(line: &str) -> Vec<&str> {
    let looks_like_path = |word: &&str| {
        let plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c));
        let named = word.contains('/') || FILE_ENDINGS.iter().any(|ending| word.ends_with(ending));
        plain && named && !word.starts_with(['/', '-']) && word.len() > 1 && !FILE_ENDINGS.contains(word)
    };
    line.split('`').skip(1).step_by(2).filter(looks_like_path).collect()
}

/// Whether a test has this name: `some_test`, or `file::some_test` as test programs print it.
fn is_test(tree: &Tree, name: &str) -> bool {
    let mut parts = name.rsplit("::");
    let function = format!("fn {}(", parts.next().unwrap_or_default());
    let modules: Vec<&str> = parts.filter(|part| *part != "tests").collect();
    tree.rust_files("").any(|(path, text)| {
        let is_module = |module: &&str| path.trim_end_matches(".rs").split('/').any(|part| part == *module);
        modules.iter().all(is_module) && text.match_indices(&function).any(|(at, _)| is_marked(&text[..at]))
    })
}

/// Whether the attributes and comments directly above a function make it a test; `before` is the text up to `fn`.
fn is_marked(before: &str) -> bool {
    let above = before.rsplit_once('\n').map_or("", |(above, _)| above);
    let marks = above.lines().rev().map(str::trim_start);
    marks.take_while(|line| line.starts_with("#[") || line.starts_with("//")).any(|line| line == "#[test]")
}

/// Tables whose last column is "test" name tests: a change of one of them changes the promise. So do those of breakages ("caught by"), whose
/// tests have their file in front: `file::some_test`.
pub(crate) fn named_tests_exist(tree: &Tree) -> Vec<Finding> {
    look_at(tree.documents(), |_, text, report| {
        // The heading of the last column.
        let mut heading = "";
        for (place, line) in text.lines().enumerate() {
            let last = line.trim().trim_matches('|').rsplit('|').next().unwrap_or_default().trim();
            if !line.starts_with('|') {
                heading = "";
            } else if heading.is_empty() {
                heading = last;
            }
            let is_test_name =
                |name: &&str| heading == "test" || (heading == "caught by" && name.contains("::"));
            let names = last.split('`').skip(1).step_by(2).filter(is_test_name);
            for name in names.filter(|name| !is_test(tree, name)) {
                report(place + 1, format!("promises what the test `{name}` shows, which does not exist"));
            }
        }
    })
}

/// The README's test command is the one that CI runs.
pub(crate) fn test_command_is_one(tree: &Tree) -> Vec<Finding> {
    let files = ["README.md", ".ci/run"].map(|path| (path, tree.text(path).unwrap_or_default()));
    look_at(files.into_iter(), |_, text, report| {
        let command = |line: &str| line.split(" #").next().unwrap_or_default().trim() == TEST_COMMAND;
        if !text.lines().any(command) {
            let message = format!(
                "has no line `{TEST_COMMAND}`: what people are told to run and what CI runs must be one"
            );
            report(1, message);
        }
    })
}

/// The changelog explains the versions that the code carries.
pub(crate) fn versions_have_reasons(tree: &Tree) -> Vec<Finding> {
    let changelog = tree.text("CHANGELOG.md").unwrap_or_default();
    let mut findings = Vec::new();
    for (src, name) in VERSIONS {
        findings.extend(look_at(tree.rust_files(src), |path, _, report| {
            let tokens = tree.tokens(path);
            let declared = tokens.windows(6).find(|window| {
                window[0].is_name("const") && window[1].is_name(name) && window[5].kind == Kind::Integer
            });
            let Some(declared) = declared else { return };
            let version = format!("`{name}` {}", declared[5].text);
            if !changelog.lines().any(|line| ends_word(line, &version)) {
                let message = format!(
                    "CHANGELOG.md says nothing about {version}; write there what changed and why (a line with \
                     \"{version}\")"
                );
                report(declared[0].line, message);
            }
        }));
    }
    findings
}

/// Whether the line contains the text and no digit follows it.
fn ends_word(line: &str, text: &str) -> bool {
    line.match_indices(text).any(|(at, _)| !line[at + text.len()..].starts_with(|c: char| c.is_ascii_digit()))
}

/// Every golden file belongs to a test that is still there.
pub(crate) fn snapshots_have_owners(tree: &Tree) -> Vec<Finding> {
    look_at(tree.texts().filter(|(path, _)| path.ends_with(".snap")), |path, text, report| {
        let header = |key: &str| {
            text.lines()
                .take(8)
                .find_map(|line| line.strip_prefix(key))
                .map(|value| value.trim().trim_matches('"'))
        };
        let owner = header("source:").unwrap_or_default();
        let name = path.rsplit('/').next().unwrap_or_default().trim_end_matches(".snap");
        let name = name.rsplit("__").next().unwrap_or_default();
        // Several unnamed snapshots of one test are numbered: `name-2`.
        let unnumbered = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('-');
        let source = tree.text(owner).unwrap_or_default();
        if source.is_empty() || ![name, unnumbered].iter().any(|name| source.contains(name)) {
            let message = format!(
                "no test owns this golden file: {owner:?} does not mention {name:?}; delete it, or name it in the test \
                 that compares it"
            );
            report(1, message);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::{
        TEST_COMMAND, named_files_exist, named_tests_exist, quoted_code_is_in_its_file,
        snapshots_have_owners, test_command_is_one, versions_have_reasons,
    };
    use crate::tree::{Tree, assert_found};

    #[test]
    fn names_without_a_file_are_found() {
        let clean =
            "[code](physics/src/num.rs#sqrt), `physics/`, `num.rs`, [web](https://example.org/x), `a + b`
`--json`, `cargo test`, `/dev/null`
```bash
cat gone/file.rs
```";
        let files =
            [("README.md", clean), ("physics/src/num.rs", ""), ("physics/README.md", "`src/num.rs`, `src/`")];
        assert_eq!(named_files_exist(&Tree::planted(&files)), []);
        for planted in ["[x](gone.md)", "`physics/src/gone.rs`", "`gone.rs`", "`lockstep/`"] {
            let text = format!("# Title\nsee {planted}");
            let tree = Tree::planted(&[("ARCHITECTURE.md", &text), files[1]]);
            assert_found(&named_files_exist(&tree), "ARCHITECTURE.md", 2, "does not exist");
        }
    }

    #[test]
    fn quotations_that_went_stale_are_found() {
        let code = ("lockstep/examples/a.rs", "///   shown();\nfn a() {\n    one();\n    two();\n}\n");
        let guide = |lines: &str| {
            format!("```rust\n// lockstep/examples/a.rs\n{lines}\n```\nprose\n```rust\nthree();\n```")
        };
        let found =
            |lines: &str| quoted_code_is_in_its_file(&Tree::planted(&[("docs/g.md", &guide(lines)), code]));
        for lines in
            ["fn a() {\n    one();\n    two();\n}", "one();\n\n// ...\n}", "shown();", "fn a() {\n// ...\n}"]
        {
            assert_eq!(found(lines), []);
        }
        for lines in ["one();\nthree();", "two();\none();", "// another comment\n"] {
            assert_eq!(found(lines).len(), 1, "{lines}");
        }
        assert_found(&found("one();\nthree();"), "docs/g.md", 4, "no such line");
        let printed = |line: &str| format!("```text\n{}a\n{line}\n```", super::RUN_EXAMPLE);
        let code = ("lockstep/examples/a.rs", "assert_eq!(said, \"3 units\");");
        let found = |line| quoted_code_is_in_its_file(&Tree::planted(&[("docs/g.md", &printed(line)), code]));
        assert_eq!(found("3 units"), []);
        assert_found(&found("4 units"), "docs/g.md", 3, "no such line");
        let moved = Tree::planted(&[("docs/g.md", &guide("one();"))]);
        assert_found(&quoted_code_is_in_its_file(&moved), "docs/g.md", 3, "no such line");
    }

    #[test]
    fn promises_without_a_test_are_found() {
        let promise =
            "| who | what | test |\n|---|---|---|\n| a liar | is named | `liars_are_named` |\n\n`other`";
        let tests = ("tests/lies.rs", "#[test]\nfn liars_are_named() {}");
        assert_eq!(named_tests_exist(&Tree::planted(&[("WIRE.md", promise), tests])), []);
        let gone = ("tests/lies.rs", "#[test]\nfn liars_are_named_and_shamed() {}");
        let tree = Tree::planted(&[("WIRE.md", promise), gone]);
        assert_found(&named_tests_exist(&tree), "WIRE.md", 3, "`liars_are_named`");
        let helper = ("tests/lies.rs", "#[test]\nfn lies() {}\n\nfn liars_are_named() {}");
        let tree = Tree::planted(&[("WIRE.md", promise), helper]);
        assert_found(&named_tests_exist(&tree), "WIRE.md", 3, "`liars_are_named`");
        // A test that has moved to another file.
        let row =
            |file| format!("| broken | caught by |\n|---|---|\n| the law | `{file}::liars_are_named` |");
        assert_eq!(named_tests_exist(&Tree::planted(&[("B.md", &row("lies")), tests])), []);
        let moved = row("truths");
        let tree = Tree::planted(&[("B.md", &moved), tests]);
        assert_found(&named_tests_exist(&tree), "B.md", 3, "`truths::liars_are_named`");
    }

    #[test]
    fn another_test_command_is_found() {
        let readme = format!("```\n{TEST_COMMAND}   # everything\n```");
        let clean = [("README.md", readme.as_str()), (".ci/run", TEST_COMMAND)];
        assert_eq!(test_command_is_one(&Tree::planted(&clean)), []);
        let broken = [clean[0], (".ci/run", "cargo test --workspace --exclude demo")];
        assert_found(&test_command_is_one(&Tree::planted(&broken)), ".ci/run", 1, "must be one");
    }

    #[test]
    fn versions_without_a_reason_are_found() {
        let code = ("physics/src/world.rs", "\npub const SIM_VERSION: u32 = 2;");
        let told = Tree::planted(&[code, ("CHANGELOG.md", "- `SIM_VERSION` 2: contacts are sorted")]);
        assert_eq!(versions_have_reasons(&told), []);
        let untold = Tree::planted(&[code, ("CHANGELOG.md", "- `SIM_VERSION` 1, `SIM_VERSION` 20")]);
        assert_found(&versions_have_reasons(&untold), "physics/src/world.rs", 2, "`SIM_VERSION` 2");
    }

    #[test]
    fn snapshots_without_an_owner_are_found() {
        let snap = |name: &'static str| (name, "---\nsource: tests/physics/golden.rs\nexpression: x\n---\n1");
        let test = ("tests/physics/golden.rs", "#[test] fn billiards() {} // insta: \"pyramid\"");
        let clean = [
            snap("tests/physics/snapshots/physics__golden__billiards.snap"),
            snap("tests/physics/snapshots/physics__golden__billiards-2.snap"),
            snap("tests/physics/snapshots/physics__golden__pyramid.snap"),
            test,
        ];
        assert_eq!(snapshots_have_owners(&Tree::planted(&clean)), []);
        let orphan = snap("tests/physics/snapshots/physics__golden__gone.snap");
        assert_found(&snapshots_have_owners(&Tree::planted(&[orphan, test])), orphan.0, 1, "no test owns");
        assert_found(&snapshots_have_owners(&Tree::planted(&[clean[0]])), clean[0].0, 1, "no test owns");
    }
}
