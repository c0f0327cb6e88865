//! Code that resembles banned code but is allowed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

struct Instant(u64);
struct HashMap;

/// A `HashMap` of `f32`, read at `SystemTime::now()`.
fn alike(pair: (u32, u32)) -> [u8; 4] {
    let text = "1.5 f64 std::fs::read";
    let table = BTreeMap::from([(pair.0.max(0x1F), HashMap)]);
    for frame in 0..10 {}
    let now = Instant(Duration::from_millis(1).as_millis() as u64);
    Arc::new(now.0 as u32).to_le_bytes()
}
