//! What a page needs of the linker: the table of functions, and room in it for the functions of JavaScript that the library calls.
#![expect(clippy::disallowed_methods, reason = "cargo talks through the environment and the output")]

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "wasm32") {
        println!("cargo::rustc-link-arg-cdylib=--export-table");
        println!("cargo::rustc-link-arg-cdylib=--growable-table");
    }
}
