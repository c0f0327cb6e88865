//! Refuses to build a comparison that would be unfair to Box2D.

fn main() {
    println!("cargo:rerun-if-env-changed=CFLAGS");
    let flags = std::env::var("CFLAGS").unwrap_or_default();
    let has = |wanted: &str| flags.split_whitespace().any(|flag| flag == wanted);
    assert!(
        has("-O3") && has("-DNDEBUG"),
        "Box2D would be compiled with CFLAGS=\"{flags}\". Run cargo inside tests/peers, where \
         .cargo/config.toml sets CFLAGS=\"-O3 -DNDEBUG\", or set it yourself."
    );
    println!("cargo:rustc-env=PEERS_CFLAGS={flags}");
}
