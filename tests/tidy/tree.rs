//! The files of the repository as values, so that a rule can be tried on a tree that never was on disk.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, OnceLock};

use crate::lexer::{Piece, Token, pieces, tokens_at};

/// Every file of the repository by its path from the root (with `/`), with its text where it is text.
#[derive(Default)]
pub(crate) struct Tree {
    texts: BTreeMap<String, Text>,
    paths: BTreeSet<String>,
}

/// A text, and where its tokens are, once they are asked for.
struct Text {
    text: String,
    pieces: OnceLock<Vec<Piece>>,
}

impl Text {
    fn new(text: String) -> Self {
        Self { text, pieces: OnceLock::new() }
    }
}

/// One broken rule: its place, the problem, and what to do instead.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    pub(crate) path: String,
    pub(crate) line: usize,
    pub(crate) message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// Folders that hold no work of ours.
const SKIPPED_FOLDERS: [&str; 3] = [".git", "target", "node_modules"];
/// Endings of files that are read as text; everything else only counts as "it exists".
const TEXT_ENDINGS: [&str; 9] = ["rs", "toml", "md", "snap", "sh", "js", "mjs", "html", "yml"];

impl Tree {
    /// The repository that this test program was built in, read once.
    pub(crate) fn of_repository() -> &'static Tree {
        static TREE: LazyLock<Tree> = LazyLock::new(Tree::read_repository);
        &TREE
    }

    fn read_repository() -> Tree {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut tree = Tree::default();
        tree.walk(&root, "");
        assert!(
            tree.text("Cargo.toml").is_some_and(|text| text.contains("[workspace]")),
            "{} is not the root of the workspace",
            root.display()
        );
        tree
    }

    /// A tree for a self-test.
    pub(crate) fn planted(files: &[(&str, &str)]) -> Tree {
        let mut tree = Tree::default();
        for (path, text) in files {
            tree.paths.insert((*path).to_string());
            tree.texts.insert((*path).to_string(), Text::new((*text).to_string()));
        }
        tree
    }

    fn walk(&mut self, folder: &Path, prefix: &str) {
        let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for entry in entries {
            let entry = entry.expect("a readable folder entry");
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{prefix}{name}");
            let kind = entry.file_type().expect("a known file type");
            if kind.is_dir() {
                if !SKIPPED_FOLDERS.contains(&name.as_str()) {
                    self.walk(&entry.path(), &format!("{path}/"));
                }
            } else if kind.is_file() {
                self.read(&entry.path(), path);
            }
        }
    }

    fn read(&mut self, file: &Path, path: String) {
        let ending = path.rsplit('.').next().unwrap_or_default();
        if TEXT_ENDINGS.contains(&ending) || path.starts_with(".ci/") {
            let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{path}: {error}"));
            self.texts.insert(path.clone(), Text::new(text));
        }
        self.paths.insert(path);
    }

    /// Text of one file.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.texts.get(path).map(|text| text.text.as_str())
    }

    /// One file, if it is there.
    pub(crate) fn file<'a>(&'a self, path: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.text(path).map(|text| (path, text)).into_iter()
    }

    /// The tokens of a Rust file; none if there is no such file.
    pub(crate) fn tokens(&self, path: &str) -> Vec<Token<'_>> {
        self.texts.get(path).map_or_else(Vec::new, |Text { text, pieces: places }| {
            tokens_at(text, places.get_or_init(|| pieces(text)))
        })
    }

    /// All text files, in the order of their paths.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts.iter().map(|(path, text)| (path.as_str(), text.text.as_str()))
    }

    /// Rust files below a prefix.
    pub(crate) fn rust_files(&self, prefix: &str) -> impl Iterator<Item = (&str, &str)> {
        self.texts().filter(move |(path, _)| path.starts_with(prefix) && path.ends_with(".rs"))
    }

    /// Rust files below a prefix that are no tests as a whole.
    pub(crate) fn product_files(&self, prefix: &str) -> impl Iterator<Item = (&str, &str)> {
        self.rust_files(prefix).filter(|(path, _)| !path.contains("/tests/") && !path.ends_with("/tests.rs"))
    }

    /// Documents.
    pub(crate) fn documents(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts().filter(|(path, _)| path.ends_with(".md"))
    }

    /// Whether a file or a folder has this path; `.` and `..` are followed.
    pub(crate) fn exists(&self, path: &str) -> bool {
        let mut steps = Vec::new();
        for step in path.split('/') {
            match step {
                "" | "." => {}
                ".." if steps.pop().is_none() => return false,
                ".." => {}
                name => steps.push(name),
            }
        }
        let path = steps.join("/");
        let folder = format!("{path}/");
        path.is_empty()
            || self.paths.contains(&path)
            || self.paths.range(folder.clone()..).next().is_some_and(|next| next.starts_with(&folder))
    }

    /// Whether any file in the tree has this name.
    pub(crate) fn has_file_named(&self, name: &str) -> bool {
        self.paths.iter().any(|path| path.rsplit('/').next() == Some(name))
    }
}

/// Every file in turn. `look` gets its path and text, and reports the lines that break a rule.
pub(crate) fn look_at<'a>(
    files: impl Iterator<Item = (&'a str, &'a str)>,
    mut look: impl FnMut(&'a str, &'a str, &mut dyn FnMut(usize, String)),
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in files {
        look(path, text, &mut |line, message| {
            findings.push(Finding { path: path.into(), line, message });
        });
    }
    findings
}

/// Fails with every finding on a line of its own.
#[track_caller]
pub(crate) fn assert_clean(rule: &str, findings: &[Finding]) {
    let lines: Vec<String> = findings.iter().map(|finding| format!("  {finding}")).collect();
    assert!(findings.is_empty(), "house rule broken: {rule}\n{}\n", lines.join("\n"));
}

/// For self-tests: the rule found exactly one thing, in this file, and its message says this.
#[track_caller]
pub(crate) fn assert_found(findings: &[Finding], path: &str, line: usize, message_part: &str) {
    assert_eq!(findings.len(), 1, "expected one finding: {findings:#?}");
    let finding = &findings[0];
    assert_eq!((finding.path.as_str(), finding.line), (path, line), "{finding}");
    assert!(finding.message.contains(message_part), "{finding} does not say {message_part:?}");
}

#[test]
fn folders_exist_through_their_files() {
    let tree = Tree::planted(&[("a/b/c.rs", ""), ("a/b-d.rs", "")]);
    assert!(tree.exists("a/") && tree.exists("a/b") && tree.exists("./a/b/c.rs") && tree.exists("a/b-d.rs"));
    assert!(tree.exists("a/b/../b-d.rs") && !tree.exists("../a") && !tree.exists("a/../c.rs"));
    assert!(!tree.exists("a/b/c") && !tree.exists("b") && !tree.exists("a/b/d.rs"));
    assert!(tree.has_file_named("c.rs") && !tree.has_file_named("b"));
}
