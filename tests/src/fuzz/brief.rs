//! Brief replays, as they come in a link from anybody.

use testudo_lockstep::replay::{Ending, Recorder, Replay, ReplayHeader};
use testudo_lockstep::{PlayerId, Simulation as _};
use xxhash_rust::xxh3::xxh3_64;

use super::first;
use super::toy::{Act, Game};

const SIM_VERSION: u32 = 1;

/// A match that this build writes, and the length of what stands before its turns.
fn written(players: u8) -> (Vec<u8>, usize) {
    let header = ReplayHeader { sim_version: SIM_VERSION, content_hash: 0, players, settings: vec![players] };
    let (mut recorder, mut game) = (Recorder::new(&header), Game::default());
    for turn in 0..12_u8 {
        let frames = if turn == 5 { 0 } else { 4 + u32::from(turn / 8) };
        let (player, act) = (PlayerId(turn % players), Act::Number(turn.into()));
        if turn % 3 == 0 {
            recorder.action(player, &act);
            game.apply(player, &act);
        }
        for _ in 0..frames {
            recorder.frame(20);
            game.step(20);
        }
        recorder.end_turn(game.checksum());
    }
    recorder.end(Ending::Over);
    let replay = Replay::read(recorder.take_bytes(), SIM_VERSION).expect("it was just written");
    let bytes = replay.brief::<Act>().expect("it is whole");
    let length = 2 + usize::from(u16::from_le_bytes([bytes[0], bytes[1]]));
    (bytes, length)
}

/// Any bytes are refused, or read as a match that writes the same bytes.
pub fn brief(bytes: &[u8]) {
    let Some((choice, body)) = first(bytes) else { return };
    let _ = Replay::read_brief::<Act>(body, SIM_VERSION);
    let (mut bytes, length) = written(1 + choice % 16);
    bytes.truncate(length);
    bytes.extend_from_slice(body);
    bytes.extend_from_slice(&xxh3_64(&bytes).to_le_bytes());
    let Ok(replay) = Replay::read_brief::<Act>(&bytes, SIM_VERSION) else { return };
    assert!(replay.is_complete() && replay.turns() as usize <= bytes.len() * 8);
    assert_eq!(replay.brief::<Act>().as_ref(), Some(&bytes));
    for (mut events, _) in (0..replay.turns()).filter_map(|turn| replay.turn(turn)) {
        while events.next_event::<Act>().expect("only what decodes was accepted").is_some() {}
    }
}

/// Matches of few and many players.
pub(super) fn brief_seeds() -> Vec<Vec<u8>> {
    let body = |choice: u8| {
        let (bytes, length) = written(1 + choice % 16);
        [&[choice], &bytes[length..bytes.len() - 8]].concat()
    };
    [0, 1, 2, 15].map(body).to_vec()
}
