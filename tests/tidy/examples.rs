//! Examples that people are told to run do run.

use crate::tree::{Finding, Tree, look_at};

/// Where the examples of the engines are, and the manifest of their package.
const EXAMPLES: [(&str, &str); 3] = [
    ("physics/examples/", "physics/Cargo.toml"),
    ("physics/movement/examples/", "physics/movement/Cargo.toml"),
    ("lockstep/examples/", "lockstep/Cargo.toml"),
];

/// CI runs each example, or the test suite runs its tests: a build alone does not show that it panics.
pub(crate) fn examples_are_run(tree: &Tree) -> Vec<Finding> {
    let script = tree.text(".ci/run").unwrap_or_default();
    let list = script
        .lines()
        .find_map(|line| line.strip_prefix("EXAMPLES=(")?.strip_suffix(')'))
        .unwrap_or_default();
    let run: Vec<&str> = list.split_whitespace().collect();
    let mut findings = Vec::new();
    for (folder, manifest) in EXAMPLES {
        let manifest = tree.text(manifest).unwrap_or_default();
        findings.extend(look_at(tree.rust_files(folder), |path, _, report| {
            let name = path[folder.len()..].trim_end_matches(".rs");
            let is_tested = manifest
                .split("[[")
                .any(|part| part.contains(&format!("name = \"{name}\"")) && part.contains("test = true"));
            if !name.contains('/') && !is_tested && !run.contains(&name) {
                let advice = "nobody runs it: write its name into EXAMPLES of .ci/run, or give it a test and `test = true`";
                report(1, advice.into());
            }
        }));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::examples_are_run;
    use crate::tree::{Tree, assert_found};

    #[test]
    fn an_example_that_nobody_runs_is_found() {
        let script = (".ci/run", "EXAMPLES=(door two)\n");
        let manifest = (
            "lockstep/Cargo.toml",
            "[[example]]\nname = \"one\"\ntest = true\n[[example]]\nname = \"three\"\n",
        );
        let clean = [
            script,
            manifest,
            ("lockstep/examples/one.rs", ""),
            ("lockstep/examples/two.rs", ""),
            ("lockstep/examples/toy/part.rs", ""),
            ("physics/examples/door.rs", ""),
        ];
        assert_eq!(examples_are_run(&Tree::planted(&clean)), []);
        let planted = [script, manifest, ("lockstep/examples/three.rs", "")];
        assert_found(&examples_are_run(&Tree::planted(&planted)), planted[2].0, 1, "nobody runs it");
    }
}
