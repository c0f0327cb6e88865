//! The first message of a connection, its answer, what stands in them, and a saved match as a file.

use testudo_lockstep::service::agreement::Agreement;
use testudo_lockstep::service::greeting::{Answer, Greeting, Opened, Refused, Secrets, Welcome};
use testudo_lockstep::service::places::Pass;
use testudo_lockstep::service::save_file::SaveFile;
use testudo_lockstep::{Identity, NoAction, PlayerId, SavedMatch, SessionConfig};

use super::first;
use super::saved::saved_bytes;

/// Of the saves.
const SIM_VERSION: u32 = 4;

/// Any bytes are refused, or read as something that is written as the very same bytes.
pub fn greeting(bytes: &[u8]) {
    let Some((choice, body)) = first(bytes) else { return };
    match choice % 4 {
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
        3 => {
            // The hash would keep damage from everything that is behind it.
            if let Ok(save) = SaveFile::read(&SaveFile::with_hash(body), SIM_VERSION) {
                assert_eq!(SaveFile::read(&save.to_bytes(SIM_VERSION), SIM_VERSION), Ok(save));
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
    let saved = SavedMatch::from_bytes(&saved_bytes(0)).expect("a save of this build");
    let save = SaveFile { agreement: agreement.clone(), state: vec![1; 9], saved }.to_bytes(SIM_VERSION);
    vec![
        tagged(0, Greeting::Come { pass: Pass::from(&[4; 16]) }.to_bytes()),
        tagged(0, open.to_bytes()),
        tagged(1, Answer::Come(welcome.clone()).to_bytes()),
        tagged(1, Answer::Opened(Opened { welcome, secrets }).to_bytes()),
        tagged(1, Answer::Refused(Refused::Version(5)).to_bytes()),
        tagged(2, agreement.to_bytes()),
        tagged(3, save[..save.len() - 32].to_vec()),
    ]
}
