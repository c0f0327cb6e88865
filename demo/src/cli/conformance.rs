//! `conformance`: whether this build computes the bits of its version.

use crate::app::{PUBLISHED, compute};
use crate::cli::{Failed, print_json};
use crate::console::outln;

pub(crate) fn conformance(json: bool) -> Result<bool, Failed> {
    let computed = compute()?;
    let (chain, published) = (format!("{:016x}", computed.chain), format!("{PUBLISHED:016x}"));
    let equal = computed.chain == PUBLISHED;
    if json {
        print_json(&serde_json::json!({ "chain": chain, "published": published, "equal": equal }));
        return Ok(equal);
    }
    let told = match (equal, computed.is_physics_equal) {
        (true, _) => "yes: this build computes the bits of its version",
        (false, true) => "NO: the physics is right, the matches are not",
        (false, false) => "NO: already the physics computes something else",
    };
    outln!("chain      {chain}\npublished  {published}\nequal      {told}");
    Ok(equal)
}
