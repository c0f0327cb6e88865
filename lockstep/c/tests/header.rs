//! `include/testudo.h` is what cbindgen makes of the sources.
//!
//! ```text
//! TESTUDO_UPDATE=1 cargo test --manifest-path lockstep/c/Cargo.toml --test header   writes it anew
//! ```
#![expect(clippy::disallowed_methods, reason = "it reads and makes files, and starts programs")]

use std::collections::BTreeSet;
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

/// What the lines export: constants, functions, classes, and members of classes as `World.step`.
fn exported(text: &str) -> BTreeSet<String> {
    let word =
        |text: &str| -> String { text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect() };
    let (mut names, mut class) = (BTreeSet::new(), None);
    for line in text.lines() {
        if let Some((_, rest)) = line.split_once("export ").filter(|(before, _)| before.is_empty()) {
            let rest = rest.trim_start_matches("async ");
            let kinds = ["class ", "function ", "const "];
            let name = kinds.iter().find_map(|kind| rest.strip_prefix(kind)).map(word);
            class = name.clone().filter(|_| rest.starts_with("class "));
            names.extend(name);
        } else if line == "}" {
            class = None;
        } else if let (Some(class), Some(member)) = (&class, line.strip_prefix("  ")) {
            let kinds = ["private ", "static ", "readonly ", "get "];
            let name = word(kinds.iter().fold(member, |rest, kind| rest.trim_start_matches(kind)));
            if !["", "constructor"].contains(&name.as_str()) {
                names.insert(format!("{class}.{name}"));
            }
        }
    }
    names
}

#[test]
fn the_types_of_javascript_are_those_of_its_files() {
    let (world, start) = (include_str!("../js/world.mjs"), include_str!("../js/testudo.mjs"));
    let files = [world, include_str!("../js/crowd.mjs"), include_str!("../js/match.mjs")].concat();
    // What a game sees of them.
    let lists = start.lines().filter_map(|line| line.strip_prefix("export {")?.split_once('}'));
    let named = lists.flat_map(|(list, _)| list.split(',')).filter_map(|name| name.split_whitespace().last());
    let mut made: BTreeSet<String> = named.map(Into::into).chain(exported(start)).collect();
    // Of a buffer's own use.
    let is_told = |name: &String| {
        name.split_once('.').is_some_and(|(class, _)| made.contains(class)) && name != "Buffer.of"
    };
    let members: Vec<String> = exported(&files).into_iter().filter(is_told).collect();
    made.extend(members);
    // Methods that a loop makes, and a field that a constructor does.
    let (_, setters) = world.split_once("const setters = [").expect("a list");
    for setter in setters.split(']').next().into_iter().flat_map(|list| list.split('"').skip(1).step_by(2)) {
        let mut words = setter.split('_');
        let first = words.next().unwrap_or_default().to_owned();
        let name = words.fold(first, |name, word| name + &word[..1].to_uppercase() + &word[1..]);
        made.insert(format!("World.{name}"));
    }
    made.insert("TestudoError.status".into());
    let typed = exported(include_str!("../js/testudo.d.ts"));
    let lacking =
        |of: &BTreeSet<String>, has: &BTreeSet<String>| of.difference(has).cloned().collect::<Vec<_>>();
    assert!(
        made.contains("World.setLockedAxes") && made.contains("Match.isOver") && made.len() > 150,
        "{made:?}"
    );
    assert_eq!(lacking(&made, &typed), [""; 0], "testudo.d.ts lacks these");
    assert_eq!(lacking(&typed, &made), [""; 0], "testudo.d.ts has these, and no file does");
}

/// What a list of public items has of a type behind these words: `gravity` of `pub fn testudo_physics::WorldDef::gravity(self, ...)`.
fn items(list: &'static str, of: &str, takes: &str) -> BTreeSet<&'static str> {
    let names = list.lines().filter_map(|line| {
        let (_, rest) = line.split_once(of)?;
        Some(rest.split_once(takes).map_or(rest, |(name, _)| name))
    });
    names.filter(|name| name.chars().all(|c| c.is_alphanumeric() || c == '_')).collect()
}

/// Events of matches with keys, which C does not have.
const SIGNED: [&str; 5] = ["Contradiction", "Outlier", "Roster", "ShownAnother", "StatementMissing"];

/// A new setting, field or event compiled everywhere, and was out of reach in C.
#[test]
fn what_games_set_and_what_happens_is_in_the_header() {
    let header = include_str!("../include/testudo.h");
    let [physics, movement, lockstep] = [
        include_str!("../../../tests/surface/physics.txt"),
        include_str!("../../../tests/surface/movement.txt"),
        include_str!("../../../tests/surface/lockstep.txt"),
    ];
    let parts = |names: &[&str]| {
        let body = |name: &&str| header.split_once(&format!("typedef struct {name} {{"))?.1.split('}').next();
        names.iter().filter_map(body).collect::<String>()
    };
    let terrain = parts(&["TestudoTerrainDef"]);
    let mut lacking = Vec::new();
    for (list, of, fields) in [
        (physics, "::WorldDef::", parts(&["TestudoWorldDef"])),
        (physics, "::BodyDef::", parts(&["TestudoBodyDef", "TestudoMaterial"])),
        (physics, "::ChainDef::", terrain.clone()),
        (physics, "::PolygonDef::", terrain),
        (movement, "::CrowdDef::", parts(&["TestudoCrowdDef"])),
    ] {
        let methods = items(list, of, "(self, ");
        assert!(methods.len() > 3, "{of} {methods:?}");
        let is_there = |name: &&str| {
            let field = match *name {
                "locked_axes" => "lock_x",
                // Of terrain its parts count.
                "material" if !fields.contains(" material;") => "friction",
                name => name,
            };
            fields.contains(&format!(" {field};"))
        };
        lacking.extend(methods.into_iter().filter(|name| !is_there(name)).map(|name| format!("{of}{name}")));
    }
    for (list, of, start) in
        [(physics, "::World::set_", "testudo_world_set_"), (movement, "::Crowd::set_", "testudo_crowd_set_")]
    {
        let is_lacking = |name: &&str| !header.contains(&format!(" {start}{name}("));
        let setters = items(list, of, "(&mut self, ").into_iter().filter(is_lacking);
        lacking.extend(setters.map(|name| format!("{start}{name}")));
    }
    let events = items(lockstep, "pub testudo_lockstep::Event::", "(");
    assert!(events.len() > 30, "{events:?}");
    for event in events.into_iter().filter(|event| !SIGNED.contains(event)) {
        let capital = |c: char| if c.is_uppercase() { format!("_{c}") } else { c.to_uppercase().to_string() };
        let name = if event == "MatchResult" { "Result" } else { event };
        let name = format!("TESTUDO_EVENT{}", name.chars().map(capital).collect::<String>());
        if !header.contains(&format!("{name} ")) {
            lacking.push(name);
        }
    }
    assert_eq!(lacking, [""; 0], "the header lacks these: `lockstep/c/src/`");
}

/// C# has every function, and JavaScript every call that sets something in a world.
#[test]
fn the_other_languages_have_the_functions_of_the_header() {
    let (csharp, js) = (include_str!("../csharp/Functions.cs"), include_str!("../js/world.mjs"));
    let words =
        include_str!("../include/testudo.h").split_inclusive(|c: char| !c.is_alphanumeric() && c != '_');
    let calls: BTreeSet<&str> =
        words.filter(|word| word.starts_with("testudo_") && word.ends_with('(')).collect();
    assert!(calls.len() > 200, "{calls:?}");
    let lacking: Vec<_> = calls.iter().filter(|call| !csharp.contains(&format!(" {call}"))).collect();
    assert_eq!(lacking, [&""; 0], "csharp/Functions.cs lacks these");
    let in_js = |call: &str| {
        let name = call.trim_start_matches("testudo_world_").trim_end_matches('(');
        js.contains(&format!(".{call}")) || js.contains(&format!("\"{name}\""))
    };
    let setters = calls.iter().filter(|call| call.starts_with("testudo_world_set_"));
    let lacking: Vec<_> = setters.filter(|call| !in_js(call)).collect();
    assert_eq!(lacking, [&""; 0], "js/world.mjs lacks these");
}
