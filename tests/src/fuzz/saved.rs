//! Saved matches from a file of unknown origin, and matches that are resumed from them.

use testudo_lockstep::simnet::{LinkConfig, SimNet};
use testudo_lockstep::{
    Duration, Instant, Pace, PeerId, PlayerId, SavedMatch, Session, SessionConfig, VirtualMatch,
};
use xxhash_rust::xxh3::xxh3_64;

use super::first;
use super::toy::{Act, peer};

/// Version and hash of the settings, in front.
const HEAD: usize = 2 + 8;

/// Turns of a long match that are played.
const TURNS_MAX: u32 = 30;

/// Virtual time of a resumed match: more than the longest turn, which is twenty frames of a second each at a tenth of their speed.
const TIME_MAX: Instant = Instant::from_millis(300_000);

/// Settings by the first byte: four kinds, for a short match and for the longest.
fn config(choice: u8) -> SessionConfig {
    let pace = [Pace::Fixed, Pace::Adaptive, Pace::Article, Pace::Fixed][usize::from(choice % 4)];
    let base = if choice % 4 == 3 {
        SessionConfig::input(2, 20).simulated()
    } else {
        SessionConfig::new(2).simulated()
    };
    let turns = if is_short(choice) { 12 } else { 4_000_000_000 };
    base.turns(turns).pace(pace).frames_per_second(20).drop_after(Duration::from_secs(2))
}

fn is_short(choice: u8) -> bool {
    choice % 8 < 4
}

fn play(config: &SessionConfig, save: bool) -> VirtualMatch<super::toy::Game> {
    let now = Instant::ZERO;
    let host = Session::<Act>::host(config.clone(), now).expect("checked before");
    let guest = Session::join(config.clone(), PlayerId(1), PeerId(0), now).expect("checked before");
    let mut net = SimNet::new(1);
    net.set_default(LinkConfig::new().latency(Duration::from_millis(20)));
    let mut game = VirtualMatch::new(vec![peer(host), peer(guest)], net);
    while !game.is_over() && game.now() < TIME_MAX && game.drivers()[0].simulation().turns() < TURNS_MAX {
        game.step(&mut |_, turn, _, session: &mut Session<Act>| {
            let _ = session.submit(&Act::Number(turn.0 as u16));
            if save && turn.0 == 3 {
                session.save();
            }
        });
    }
    game
}

/// The bytes of a save that this build makes.
pub(super) fn saved_bytes(choice: u8) -> Vec<u8> {
    let mut game = play(&config(choice), true);
    game.drivers_mut()[0].session_mut().take_saved().expect("it was asked for").to_bytes()
}

/// Any bytes are refused, or read as what writes the same bytes; a match that is resumed from them goes on.
pub fn saved_match(bytes: &[u8]) {
    let Some((choice, body)) = first(bytes) else { return };
    let _ = SavedMatch::from_bytes(body);
    let (Some(body), config) = (body.get(HEAD..), config(choice)) else { return };
    let mut bytes = saved_bytes(choice);
    bytes.truncate(HEAD);
    bytes.extend_from_slice(body);
    bytes.extend_from_slice(&xxh3_64(&bytes).to_le_bytes());
    let Ok(saved) = SavedMatch::from_bytes(&bytes) else { return };
    assert_eq!(saved.to_bytes(), bytes);
    let everybody_left = (0..2).all(|player| saved.ended(PlayerId(player)).is_some());
    let resumed = config.resume(saved);
    if Session::<Act>::host(resumed.clone(), Instant::ZERO).is_err() {
        return;
    }
    let game = play(&resumed, false);
    let goes_on = game.is_over() || game.drivers()[0].simulation().turns() > 0;
    assert!(goes_on || everybody_left, "the match stands: {:?}", game.drivers()[0].session().phase());
}

/// A save of each kind.
pub(super) fn saved_seeds() -> Vec<Vec<u8>> {
    let body = |choice| {
        let bytes = saved_bytes(choice);
        [&[choice], &bytes[..bytes.len() - 8]].concat()
    };
    (0..8).map(body).collect()
}
