//! Settings in a file.

use testudo_lockstep::service::agreement::{Agreement, AgreementError};
use testudo_lockstep::{ConfigError, Instant, NoAction, Pace, Session, SessionConfig, Topology};

#[test]
fn settings_can_be_read_from_a_file() {
    let config = SessionConfig::new(3).turns(100).pace(Pace::Adaptive).bots_take_over(true);
    let text = serde_json::to_string(&config).unwrap();
    assert_eq!(serde_json::from_str::<SessionConfig>(&text).unwrap(), config);
    assert!(text.contains("\"turns\":100"), "{text}");
}

#[test]
fn input_mode_compares_every_thirty_frames() {
    let config = SessionConfig::input(2, 60);
    assert_eq!(config, config.clone().checksum_interval(30));
}

#[test]
fn a_session_without_other_peers_is_for_one_player() {
    let single =
        |players| Session::<NoAction>::single(SessionConfig::new(players).simulated(), Instant::ZERO);
    assert!(single(1).is_ok());
    for players in [0, 2, 16] {
        let refused = single(players).unwrap_err();
        assert_eq!(refused, ConfigError::NotSingle { players });
        let text = format!(
            "a session without other peers is for 1 player, but the settings are for {players} players"
        );
        assert_eq!(refused.to_string(), text);
    }
}

/// A setting from a file overflowed before it was checked.
#[test]
fn more_bytes_in_a_turn_than_there_can_be_bits_are_refused() {
    let config = SessionConfig::new(2).simulated().turn_bytes_max(u32::MAX);
    let made = Session::<NoAction>::host(config, Instant::ZERO);
    assert!(matches!(made, Err(ConfigError::OutOfRange { .. })), "{made:?}");
}

/// It was agreed on without a word, and the match was a star.
#[test]
fn nobody_agrees_on_a_mesh() {
    let config = SessionConfig::new(3);
    assert!(Agreement::new::<NoAction>(&config, b"").is_ok());
    let refused = Agreement::new::<NoAction>(&config.topology(Topology::Mesh), b"").unwrap_err();
    assert_eq!(refused, AgreementError::Mesh);
}
