//! Settings in a file.

use testudo_lockstep::{ConfigError, Instant, NoAction, Pace, Session, SessionConfig};

#[test]
fn settings_can_be_read_from_a_file() {
    let config = SessionConfig::new(3).turns(100).pace(Pace::Adaptive).bots_take_over(true);
    let text = serde_json::to_string(&config).unwrap();
    assert_eq!(serde_json::from_str::<SessionConfig>(&text).unwrap(), config);
    assert!(text.contains("\"turns\":100"), "{text}");
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
