//! The programme by which others ask whether their build computes the same bits.

use testudo_physics::{CONFORMANCE, conformance};

use crate::levels::forced;

/// A new value belongs to a new version of the simulation: see CONTRIBUTING.md.
#[test]
fn every_instruction_set_computes_the_published_value() {
    for (simd, name) in forced() {
        let found = conformance(simd);
        assert_eq!(found, CONFORMANCE, "{name} computes {found:#018x}");
    }
}
