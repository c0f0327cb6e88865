//! `include/testudo.h` is what cbindgen makes of the sources.
//!
//! ```text
//! TESTUDO_UPDATE=1 cargo test --manifest-path lockstep/c/Cargo.toml --test header   writes it anew
//! ```
#![expect(clippy::disallowed_methods, reason = "it reads and makes files, and starts programs")]

use std::path::Path;

use cbindgen::{Builder, Config};

#[test]
fn the_header_is_that_of_the_sources() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = Config::from_file(package.join("cbindgen.toml")).expect("settings that can be read");
    let bindings = Builder::new().with_config(config).with_src(package.join("src/lib.rs")).generate();
    let mut made = Vec::new();
    bindings.expect("sources that can be read").write(&mut made);
    let made = String::from_utf8(made).expect("text");
    let file = package.join("include/testudo.h");
    if std::env::var_os("TESTUDO_UPDATE").is_some() {
        std::fs::write(&file, &made).expect("a header that can be written");
    }
    let kept = std::fs::read_to_string(&file).expect("a header");
    let differs = kept.lines().zip(made.lines()).position(|(kept, made)| kept != made);
    assert!(
        kept == made,
        "include/testudo.h is not that of the sources, from line {} on; TESTUDO_UPDATE=1 writes it anew",
        differs.unwrap_or_default() + 1
    );
}

/// Each compares its own number with the library's, so all of them must be raised together. (`testudo.hpp` has that of the header.)
#[test]
fn the_other_languages_are_for_the_interface_of_this_library() {
    let version = testudo::TESTUDO_INTERFACE_VERSION;
    let csharp = include_str!("../csharp/Testudo.cs");
    assert!(csharp.contains(&format!("public const uint Interface = {version};")), "csharp/Testudo.cs");
    let js = include_str!("../js/testudo.mjs");
    assert!(js.contains(&format!("const INTERFACE = {version};")), "js/testudo.mjs");
}
