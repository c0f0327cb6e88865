//! The first message of a connection, its answer, and what stands in them.

use testudo_lockstep::service::agreement::Agreement;
use testudo_lockstep::service::greeting::{Answer, Greeting, Opened, Refused, Secrets, Welcome};
use testudo_lockstep::service::places::Pass;
use testudo_lockstep::{Identity, NoAction, PlayerId, SessionConfig};

use super::first;

/// Any bytes are refused, or read as something that is written as the very same bytes.
pub fn greeting(bytes: &[u8]) {
    let Some((choice, body)) = first(bytes) else { return };
    match choice % 3 {
        0 => {
            if let Ok(greeting) = Greeting::read(body) {
                assert_eq!(greeting.to_bytes(), body);
            }
        }
        1 => {
            if let Some(answer) = Answer::read(body) {
                assert_eq!(answer.to_bytes(), body);
            }
        }
        _ => {
            if let Ok(agreement) = Agreement::read(body) {
                assert_eq!(agreement.to_bytes(), body);
            }
        }
    }
}

/// One of each.
pub(super) fn greeting_seeds() -> Vec<Vec<u8>> {
    let config = SessionConfig::new(3).turns(500).teams(&[1, 1, 2]).signed();
    let agreement = Agreement::new::<NoAction>(&config, b"lakes").expect("settings in range");
    let place = Identity::Player(PlayerId(1));
    let welcome = Welcome { place, is_relayed: true, session_id: 9, agreement: agreement.clone() };
    let secrets = Secrets { players: vec![[1; 16]; 3], watchers: [2; 16], referee: [3; 16] };
    let open = Greeting::Open {
        pass: Pass { secret: [5; 16], token: [6; 16] },
        agreement: Box::new(agreement.clone()),
    };
    let tagged = |choice: u8, bytes: Vec<u8>| [&[choice], &bytes[..]].concat();
    vec![
        tagged(0, Greeting::Come { pass: Pass::from(&[4; 16]) }.to_bytes()),
        tagged(0, open.to_bytes()),
        tagged(1, Answer::Come(welcome.clone()).to_bytes()),
        tagged(1, Answer::Opened(Opened { welcome, secrets }).to_bytes()),
        tagged(1, Answer::Refused(Refused::Version(5)).to_bytes()),
        tagged(2, agreement.to_bytes()),
    ]
}
