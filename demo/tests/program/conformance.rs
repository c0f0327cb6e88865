//! `conformance`: this build computes what its version has published.

use crate::run::{run, run_json};

/// Where the value has moved with a version: `PUBLISHED` in `demo/src/app/local/conformance.rs`.
#[test]
fn this_build_computes_the_published_bits() {
    let report = run_json("conformance", 0);
    let keys: Vec<&str> = report.as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(keys, ["chain", "equal", "published"]);
    let chain = report["chain"].as_str().expect("a string");
    assert!(chain.len() == 16 && u64::from_str_radix(chain, 16).is_ok(), "{report}");
    assert_eq!((&report["published"], &report["equal"]), (&report["chain"], &true.into()));
    let told = run("conformance");
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.stdout.contains(chain) && told.stdout.contains("equal      yes"), "{told:?}");
}
