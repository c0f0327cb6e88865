//! Runs every input that the fuzzer in `tests/fuzz` started from or found, and neighbours of each, on any toolchain.
//!
//! TESTUDO_UPDATE=1 cargo test -p testudo-tests --test corpus seeds   makes the seeds anew

use std::fs;
use std::path::PathBuf;

use testudo_tests::fuzz::TARGETS;
use testudo_tests::scenes::Generator;

/// Number of neighbours of each input.
const NEIGHBOURS: u32 = 20;

fn folder(target: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target)
}

/// File names and contents, in order.
fn inputs(target: &str) -> Vec<(String, Vec<u8>)> {
    let entries =
        fs::read_dir(folder(target)).unwrap_or_else(|error| panic!("no corpus of {target}: {error}"));
    let mut inputs: Vec<_> = entries
        .map(|entry| entry.expect("a readable folder entry"))
        .map(|entry| {
            let bytes = fs::read(entry.path()).expect("a readable file");
            (entry.file_name().to_string_lossy().into_owned(), bytes)
        })
        .collect();
    inputs.sort();
    inputs
}

/// The bytes with some changed, inserted or removed.
fn neighbour(bytes: &[u8], generator: &mut Generator) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..generator.between(1, 4) {
        let place = generator.between(0, bytes.len() as i32) as usize;
        let byte = generator.next_u32() as u8;
        match generator.between(0, 3) {
            0 if place < bytes.len() => bytes[place] = byte,
            1 if place < bytes.len() => bytes[place] ^= 1 << (byte % 8),
            2 if place < bytes.len() => drop(bytes.remove(place)),
            _ => bytes.insert(place, byte),
        }
    }
    bytes
}

#[test]
fn nothing_in_the_corpus_breaks_a_rule() {
    for (target, function, seeds) in TARGETS {
        let mut inputs = inputs(target);
        assert!(!inputs.is_empty(), "{target}: no inputs");
        inputs.extend(seeds().into_iter().map(|seed| ("of this build".into(), seed)));
        for (seed, (name, bytes)) in (0..).zip(&inputs) {
            println!("{target}/{name}");
            function(bytes);
            let mut generator = Generator::new(seed);
            for number in 0..NEIGHBOURS {
                println!("{target}/{name}, neighbour {number} of seed {seed}");
                function(&neighbour(bytes, &mut generator));
            }
        }
    }
}

/// Seeds of an older version are refused at once, and a search from them reaches little. Those of sessions are recordings, which move with less than a version.
#[test]
fn the_seeds_are_those_of_this_version() {
    for (target, _, seeds) in TARGETS {
        let name = |number| format!("seed-{number}");
        let mut seeds: Vec<_> =
            seeds().into_iter().enumerate().map(|(number, seed)| (name(number), seed)).collect();
        if std::env::var_os("TESTUDO_UPDATE").is_some() {
            for (name, seed) in &seeds {
                fs::write(folder(target).join(name), seed).expect("the seeds can be written");
            }
        }
        seeds.sort();
        let mut kept = inputs(target);
        kept.retain(|(name, _)| name.starts_with("seed-"));
        let is_equal = kept == seeds || target == "session";
        assert!(is_equal, "the seeds of {target} are of an older version: TESTUDO_UPDATE=1 makes them anew");
    }
}
