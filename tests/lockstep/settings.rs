//! Settings in a file.

use testudo_lockstep::{Pace, SessionConfig};

#[test]
fn settings_can_be_read_from_a_file() {
    let config = SessionConfig::new(3).turns(100).pace(Pace::Adaptive).bots_take_over(true);
    let text = serde_json::to_string(&config).unwrap();
    assert_eq!(serde_json::from_str::<SessionConfig>(&text).unwrap(), config);
    assert!(text.contains("\"turns\":100"), "{text}");
}
