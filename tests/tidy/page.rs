//! The page's script repeats constants of the program. They are the same.

use crate::tree::{Finding, Tree};

const SCRIPT: &str = "demo/web/link.js";

/// A constant of the script, the file that defines it, and what the script adds to it.
const SHARED: [(&str, &str, u64); 6] = [
    ("PACKET_BYTES_MAX", "lockstep/src/packet/mod.rs", 0),
    // The decision comes first.
    ("ANSWER_BYTES_MAX", "lockstep/src/transport/sealed/config.rs", 1),
    ("ACCEPTED", "lockstep/src/transport/sealed/stream.rs", 0),
    ("PACKET", "demo/src/app/page.rs", 0),
    ("ANSWER", "demo/src/app/page.rs", 0),
    ("LOST", "demo/src/app/page.rs", 0),
];

pub(crate) fn the_page_repeats_the_programs_constants(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, path, added) in SHARED {
        let [script, program] = [SCRIPT, path].map(|path| tree.text(path).and_then(|text| value(text, name)));
        let line = script.map_or(1, |(line, _)| line);
        let expected = program.map(|(_, value)| value + added);
        if expected.is_none() || script.map(|(_, value)| value) != expected {
            let message = format!("`{name}` must be {expected:?}, as {path} says, plus {added}");
            findings.push(Finding { path: SCRIPT.into(), line, message });
        }
    }
    findings
}

/// The line on which a constant is defined, and its value: a number or a sum of numbers.
fn value(text: &str, name: &str) -> Option<(usize, u64)> {
    let definition = |line: &str| {
        let line = line.split("//").next()?;
        let start = line.find("const ")? + "const ".len();
        let mut parts = line[start..].split([',', ';']);
        parts.find_map(|part| {
            let (left, sum) = part.split_once('=')?;
            let is_it = left.split(':').next()?.trim() == name;
            let number = |text: &str| text.trim().replace('_', "").parse::<u64>().ok();
            is_it.then(|| sum.split('+').map(number).sum::<Option<u64>>())?
        })
    };
    text.lines().enumerate().find_map(|(at, line)| Some((at + 1, definition(line)?)))
}

#[cfg(test)]
mod tests {
    use super::{SCRIPT, the_page_repeats_the_programs_constants};
    use crate::tree::{Tree, assert_found};

    const CLEAN: [(&str, &str); 5] = [
        (
            SCRIPT,
            "// const LOST = 9;\nconst PACKET_BYTES_MAX = 1150;\nconst ANSWER_BYTES_MAX = 1 + 16384;\nconst PACKET = 0, ANSWER = 1, LOST = 2;\nconst ACCEPTED = 1;",
        ),
        ("lockstep/src/packet/mod.rs", "pub const PACKET_BYTES_MAX: usize = 1_150;"),
        ("lockstep/src/transport/sealed/config.rs", "pub const ANSWER_BYTES_MAX: usize = 16_384;"),
        ("lockstep/src/transport/sealed/stream.rs", "pub(crate) const ACCEPTED: u8 = 1;"),
        ("demo/src/app/page.rs", "const PACKET: u8 = 0;\nconst ANSWER: u8 = 1;\nconst LOST: u8 = 2;"),
    ];

    #[test]
    fn constants_of_the_script_that_differ_are_found() {
        assert_eq!(the_page_repeats_the_programs_constants(&Tree::planted(&CLEAN)), []);
        let mut broken = CLEAN;
        let script = CLEAN[0].1.replace("1150", "1200");
        broken[0].1 = &script;
        let findings = the_page_repeats_the_programs_constants(&Tree::planted(&broken));
        assert_found(&findings, SCRIPT, 2, "`PACKET_BYTES_MAX` must be Some(1150)");
        let mut broken = CLEAN;
        broken[4].1 = "const PACKET: u8 = 0;\nconst ANSWER: u8 = 1;\nconst LOST: u8 = 3;";
        assert_found(&the_page_repeats_the_programs_constants(&Tree::planted(&broken)), SCRIPT, 4, "`LOST`");
        let findings = the_page_repeats_the_programs_constants(&Tree::planted(&CLEAN[..4]));
        assert_eq!(findings.len(), 3, "constants that are gone are not passed over");
    }
}
