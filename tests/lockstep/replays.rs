//! Replays: recordings play again, damage is found, and nothing else is accepted as a replay.

use core::ops::Range;

use crate::toy::{Order, Toy, bot};
use testudo_lockstep::replay::{
    Divergence, Ending, Notice, REPLAY_VERSION, Recorded, Recorder, Replay, ReplayError, ReplayHeader,
    ReplayPlayer, SeekError,
};
use testudo_lockstep::state::{self, State, StateError, Visit};
use testudo_lockstep::{BitWriter, PlayerId, SessionConfig, Simulation, Turn};
use testudo_tests::scenes::Generator;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

pub(crate) const SIM_VERSION: u32 = 7;
pub(crate) const TURNS: u32 = 60;
const KEYFRAME_EVERY: u32 = 16;

impl State for Toy {
    fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
        v.object("toy", 0);
        v.number("frames", &mut self.frames)?;
        v.number("history", &mut self.history)?;
        for (index, value) in (0..).zip(&mut self.values) {
            v.object("value", index);
            v.number("value", value)?;
        }
        Ok(())
    }
}

pub(crate) fn header() -> ReplayHeader {
    ReplayHeader {
        sim_version: SIM_VERSION,
        content_hash: 0x1122_3344_5566_7788,
        players: 3,
        settings: vec![5, 6],
    }
}

/// A recording of three bots for a test. By default it has every kind of event.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) turns: u32,
    /// The match is paused for these turns.
    pub(crate) paused: Range<u32>,
    /// Turn and player.
    pub(crate) notices: Vec<(u32, u8, Notice)>,
    /// The turn after which a bit of the recorded copy is flipped.
    pub(crate) broken: Option<u32>,
    /// Turns between keyframes; 0: there are none.
    pub(crate) keyframe_every: u32,
}

impl Default for Plan {
    fn default() -> Self {
        let played = (21..25).map(|turn| (turn, 1, Notice::PlayedFor));
        let notices = [(9, 2, Notice::Surrendered), (20, 1, Notice::TakenOver), (25, 1, Notice::Gone)];
        let notices = notices.into_iter().chain(played).chain([(28, 1, Notice::Returned)]).collect();
        Self { turns: TURNS, paused: 30..33, notices, broken: None, keyframe_every: KEYFRAME_EVERY }
    }
}

/// The bytes of a recording, and the ends of all records.
pub(crate) fn record(plan: &Plan) -> (Vec<u8>, Vec<usize>) {
    let mut toy = Toy::default();
    let mut recorder = Recorder::new(&header());
    let mut ends = vec![recorder.bytes().len()];
    for turn in 0..plan.turns {
        if plan.keyframe_every > 0 && turn % plan.keyframe_every == 0 {
            let mut bytes = Vec::new();
            state::save(&mut toy, &mut bytes);
            recorder.keyframe(&bytes);
            ends.push(recorder.bytes().len());
        }
        for &(_, player, notice) in plan.notices.iter().filter(|(at, ..)| *at == turn) {
            let player = PlayerId(player);
            recorder.notice(player, notice);
            match notice {
                Notice::Gone => toy.player_gone(player, Turn(turn)),
                Notice::Surrendered => toy.player_surrendered(player, Turn(turn)),
                Notice::TakenOver => toy.player_taken_over(player, Turn(turn)),
                Notice::PlayedFor => toy.play_for(player, Turn(turn)),
                Notice::Returned => toy.player_returned(player, Turn(turn)),
                other => panic!("the toy does not know {other:?}"),
            }
        }
        for player in (0..3).map(PlayerId) {
            if let Some(order) = bot(1, turn, player.0) {
                recorder.action(player, &order);
                toy.apply(player, &order);
            }
        }
        let frames = if plan.paused.contains(&turn) { 0 } else { 4 };
        for _ in 0..frames {
            recorder.frame(20);
            toy.step(20);
        }
        if plan.broken == Some(turn) {
            toy.values[1] ^= 1 << 11;
        }
        recorder.end_turn(toy.checksum());
        ends.push(recorder.bytes().len());
    }
    recorder.end(Ending::Over);
    ends.push(recorder.bytes().len());
    assert_eq!(recorder.total_bytes(), recorder.bytes().len() as u64);
    (recorder.take_bytes(), ends)
}

pub(crate) fn whole() -> (Vec<u8>, Vec<usize>) {
    record(&Plan::default())
}

/// What a copy that went wrong in this turn has recorded.
fn broken_in(turn: u32) -> Vec<u8> {
    record(&Plan { broken: Some(turn), ..Plan::default() }).0
}

/// Plays all of it and compares keyframes; returns the player at its end.
fn play(replay: Replay) -> ReplayPlayer<Toy> {
    let mut player = ReplayPlayer::new(replay, Toy::default());
    loop {
        player.check_keyframe();
        if !player.step_turn() {
            return player;
        }
    }
}

#[test]
fn a_match_is_played_again_bit_by_bit() {
    let (bytes, _) = whole();
    let replay = Replay::read(bytes.clone(), SIM_VERSION).unwrap();
    assert_eq!(replay.header(), &header());
    assert!(replay.is_complete());
    assert_eq!((replay.turns(), replay.ending(), replay.desync()), (TURNS, Some(Ending::Over), None));
    assert_eq!(replay.byte_count(), bytes.len());
    let player = play(replay);
    assert_eq!((player.turn(), player.divergence()), (TURNS, None));
    assert_eq!(player.simulation().frames, 4 * (TURNS - 3));
    // Small: a turn costs its checksum, its orders, and the record around it.
    let keyframes = TURNS.div_ceil(KEYFRAME_EVERY) as usize * (17 + 12 + 16 * 8);
    let per_turn = (bytes.len() - keyframes) / TURNS as usize;
    assert!(per_turn <= 40, "{per_turn} bytes per turn");
}

#[test]
fn any_turn_can_be_reached_from_any_other() {
    let sums = sums_of_the_orders();
    let mut player = ReplayPlayer::new(Replay::read(whole().0, SIM_VERSION).unwrap(), Toy::default());
    for from in [0, 1, 15, 16, 17, 31, 40, TURNS] {
        for to in 0..=TURNS {
            player.seek(from).unwrap();
            if from % 2 == 0 {
                player.step_frame();
            }
            player.seek(to).unwrap();
            assert_eq!((player.turn(), player.frame()), (to, 0), "from {from}");
            assert_eq!(player.simulation().checksum(), sums[to as usize], "{from} to {to}");
        }
    }
    assert_eq!(player.divergence(), None);
    assert_eq!(player.seek(TURNS + 1), Err(SeekError::Beyond { turns: TURNS }));
}

/// Appends a record, with the hash that follows from it and from the one before it, at the end of the file.
fn append(file: &mut Vec<u8>, record: &[u8]) {
    let before = u64::from_le_bytes(*file.last_chunk().unwrap());
    file.extend_from_slice(record);
    file.extend_from_slice(&xxh3_64_with_seed(record, before).to_le_bytes());
}

/// The same replay with one bit of one keyframe's state flipped, by a hand that knows how to compute the hashes.
fn with_changed_keyframe(bytes: &[u8], ends: &[usize], keyframe: usize, bit: usize) -> Replay {
    let mut file = bytes[..ends[0]].to_vec();
    let mut keyframes = 0;
    for pair in ends.windows(2) {
        let mut record = bytes[pair[0]..pair[1] - 8].to_vec();
        if record[4] == 3 {
            if keyframes == keyframe {
                // Length, kind and turn come before the state.
                record[9 + bit / 8] ^= 1 << (bit % 8);
            }
            keyframes += 1;
        }
        append(&mut file, &record);
    }
    let replay = Replay::read(file, SIM_VERSION).unwrap();
    assert!(replay.is_complete());
    replay
}

/// The checksums before every turn and after the last one, of what the orders lead to.
fn sums_of_the_orders() -> Vec<u64> {
    let mut player = ReplayPlayer::new(Replay::read(whole().0, SIM_VERSION).unwrap(), Toy::default());
    let mut sums = vec![player.checksum()];
    while player.step_turn() {
        sums.push(player.checksum());
    }
    sums
}

/// A jump loaded a keyframe and compared it with nothing: it showed a state that the orders do not lead to, without a word.
#[test]
fn a_changed_keyframe_is_noted_and_passed_over() {
    let ((bytes, ends), sums) = (whole(), sums_of_the_orders());
    let state_bits = {
        let replay = Replay::read(bytes.clone(), SIM_VERSION).unwrap();
        replay.keyframe(KEYFRAME_EVERY).unwrap().len() * 8
    };
    let bits = (0..state_bits).step_by(5).collect::<Vec<_>>();
    for keyframe in [1, 2, 3] {
        let at = keyframe * KEYFRAME_EVERY;
        for bit in &bits {
            let what = format!("keyframe of turn {at}, bit {bit}");
            let replay = with_changed_keyframe(&bytes, &ends, keyframe as usize, *bit);
            let mut player = ReplayPlayer::new(replay, Toy::default());
            for turn in [at, TURNS, at + 3, at - 1, at + 1] {
                player.seek(turn).unwrap();
                assert_eq!((player.turn(), player.frame()), (turn, 0), "{what}");
                assert_eq!(player.checksum(), sums[turn as usize], "{what}, turn {turn}");
            }
            assert_eq!(player.divergence(), Some(Divergence::Keyframe { turn: at }), "{what}");
        }
    }
}

/// A recording that went wrong in an early turn, as its later checksums and keyframes did. What a jump left out is not compared; once it is, no
/// keyframe from beyond it is used.
#[test]
fn keyframes_beyond_a_divergence_or_a_disagreement_are_not_used() {
    let (sums, broken) = (sums_of_the_orders(), 5);
    let bytes = broken_in(broken);
    let mut player = ReplayPlayer::new(Replay::read(bytes.clone(), SIM_VERSION).unwrap(), Toy::default());
    player.seek(TURNS).unwrap();
    assert_ne!(player.checksum(), sums[TURNS as usize], "the test needs a keyframe that went wrong, too");
    player.seek(broken + 1).unwrap();
    assert_eq!(player.divergence().map(|found| found.turn()), Some(broken));
    for turn in [TURNS, 20, 50, broken, 17] {
        player.seek(turn).unwrap();
        assert_eq!(player.checksum(), sums[turn as usize], "turn {turn}");
    }
    // A file that says itself from where on the peers disagreed.
    let mut marked = bytes[..bytes.len() - 18].to_vec();
    append(&mut marked, &[&4_u32.to_le_bytes(), &[4_u8][..], &broken.to_le_bytes()].concat());
    append(&mut marked, &bytes[bytes.len() - 18..bytes.len() - 8]);
    let replay = Replay::read(marked, SIM_VERSION).unwrap();
    assert_eq!((replay.desync(), replay.is_complete()), (Some(broken), true));
    let mut player = ReplayPlayer::new(replay, Toy::default());
    player.seek(TURNS).unwrap();
    assert_eq!(player.checksum(), sums[TURNS as usize]);
}

#[test]
fn a_saved_state_is_a_place_to_come_back_to() {
    let (bytes, _) = whole();
    let replay = std::sync::Arc::new(Replay::read(bytes, SIM_VERSION).unwrap());
    let (mut first, mut second) =
        (ReplayPlayer::new(replay.clone(), Toy::default()), ReplayPlayer::new(replay, Toy::default()));
    first.seek(23).unwrap();
    let (mut state, there) = (Vec::new(), first.simulation().checksum());
    first.save(&mut state);
    while first.step_turn() {}
    for player in [&mut first, &mut second] {
        player.restore(23, &state).unwrap();
        assert_eq!((player.turn(), player.frame(), player.simulation().checksum()), (23, 0, there));
        while player.step_turn() {}
        assert_eq!(player.divergence(), None);
    }
    assert_eq!(second.restore(TURNS + 1, &state), Err(SeekError::Beyond { turns: TURNS }));
    let refused = second.restore(9, &state[1..]);
    assert!(matches!(refused, Err(SeekError::Keyframe { turn: 9, .. })), "{refused:?}");
    assert_eq!((second.turn(), second.simulation().checksum()), (0, Toy::default().checksum()));
}

#[test]
fn a_divergence_is_named_by_its_first_turn() {
    for turn in [0, 5, 31, TURNS - 1] {
        let player = play(Replay::read(broken_in(turn), SIM_VERSION).unwrap());
        let found = player.divergence().unwrap();
        assert_eq!(found.turn(), turn, "{found}");
        assert!(matches!(found, Divergence::Checksum { .. }), "{found}");
    }
}

#[test]
fn a_replay_that_is_cut_off_is_played_up_to_there_and_is_not_complete() {
    let (bytes, ends) = whole();
    for length in 0..bytes.len() {
        match Replay::read(bytes[..length].to_vec(), SIM_VERSION) {
            Err(error) => {
                assert!(length < ends[0], "{length}: {error}");
                assert!(matches!(error, ReplayError::NotAReplay | ReplayError::Header), "{length}: {error}");
            }
            Ok(replay) => {
                assert!(!replay.is_complete(), "{length}");
                let records = ends.iter().filter(|end| **end <= length).count();
                let is_whole = ends.contains(&length);
                assert_eq!(replay.damage().is_none(), is_whole, "{length}");
                if let Some(damage) = replay.damage() {
                    assert_eq!(damage.at, ends[records - 1], "{length}: {damage}");
                }
                // Every fourth replay that can be read is also played.
                if is_whole && records % 4 == 0 {
                    let player = play(replay);
                    assert_eq!(player.divergence(), None, "{length}");
                }
            }
        }
    }
    assert!(Replay::read(bytes, SIM_VERSION).unwrap().is_complete());
}

/// 10,000 positions and every end of a record: never a panic, never "complete".
#[test]
fn a_flipped_bit_is_always_seen() {
    let (bytes, ends) = whole();
    let mut random = Generator::new(9);
    let at_ends = ends.iter().flat_map(|end| [end - 1, *end]).filter(|at| *at < bytes.len());
    let places = (0..10_000).map(|_| random.next_u32() as usize % bytes.len());
    let (mut refused, mut recovered) = (0, 0);
    for at in at_ends.chain(places.collect::<Vec<_>>()) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        match Replay::read(damaged, SIM_VERSION) {
            Err(_) => refused += 1,
            Ok(replay) => {
                recovered += 1;
                assert!(!replay.is_complete(), "byte {at}");
                let damage = replay.damage().expect("it says where");
                assert!(damage.at <= at && ends.contains(&damage.at), "byte {at}: {damage}");
            }
        }
    }
    assert!(refused > 50 && recovered > 5_000, "{refused} {recovered}");
}

#[test]
fn records_cannot_be_left_out_or_exchanged() {
    let (bytes, ends) = whole();
    for pair in ends.windows(3).step_by(5) {
        let left_out = [&bytes[..pair[0]], &bytes[pair[1]..]].concat();
        let exchanged =
            [&bytes[..pair[0]], &bytes[pair[1]..pair[2]], &bytes[pair[0]..pair[1]], &bytes[pair[2]..]]
                .concat();
        for changed in [left_out, exchanged] {
            let replay = Replay::read(changed, SIM_VERSION).unwrap();
            assert_eq!(replay.damage().map(|damage| damage.at), Some(pair[0]));
        }
    }
    let twice = [bytes.as_slice(), &bytes[ends[0]..ends[1]]].concat();
    assert!(!Replay::read(twice, SIM_VERSION).unwrap().is_complete());
}

#[test]
fn other_versions_are_refused_with_a_sentence() {
    let (bytes, _) = whole();
    let error = Replay::read(bytes.clone(), SIM_VERSION + 1).unwrap_err();
    assert_eq!(error, ReplayError::SimVersion { found: SIM_VERSION, own: SIM_VERSION + 1 });
    assert!(error.to_string().contains("version 7 of the simulation, this is version 8"), "{error}");
    // A later format is named, not misread; its first record is valid as far as a reader can tell.
    let mut later = bytes[..8].to_vec();
    let payload = [(REPLAY_VERSION + 1).to_le_bytes().as_slice(), &[9; 40]].concat();
    let record = [&(payload.len() as u32).to_le_bytes(), &[1][..], &payload].concat();
    let hash = xxh3_64_with_seed(&record, 0);
    later.extend_from_slice(&record);
    later.extend_from_slice(&hash.to_le_bytes());
    let error = Replay::read(later, SIM_VERSION).unwrap_err();
    assert_eq!(error, ReplayError::Version { found: REPLAY_VERSION + 1 });
    assert_eq!(Replay::read(b"PNG".to_vec(), SIM_VERSION), Err(ReplayError::NotAReplay));
}

#[test]
fn what_was_noticed_is_in_the_file() {
    let mut recorder = Recorder::new(&header());
    let mut toy = Toy::default();
    recorder.action(PlayerId(1), &Order::Shout(77));
    toy.apply(PlayerId(1), &Order::Shout(77));
    recorder.end_turn(toy.checksum());
    recorder.desync(0);
    recorder.end(Ending::Full);
    let replay = Replay::read(recorder.bytes().to_vec(), SIM_VERSION).unwrap();
    assert_eq!((replay.desync(), replay.ending()), (Some(0), Some(Ending::Full)));
    assert!(replay.is_complete());
}

/// A turn that has the shape of one, mostly.
fn any_turn(random: &mut Generator) -> Vec<u8> {
    let mut out = BitWriter::new();
    let frames = random.between(0, 3) as u32;
    out.write_golomb(frames, 2);
    if frames > 0 {
        out.write_bits(random.between(0, 60) as u64, 16);
    }
    let events = random.between(0, 2) as u32;
    out.write_golomb(events, 0);
    for _ in 0..events {
        let kind = random.between(0, 5) as u64;
        out.write_bits(kind, 3);
        out.write_bits(random.between(0, 15) as u64, 4);
        if kind == 0 {
            let bits = random.between(0, 40) as u32;
            out.write_bits(bits.into(), 13);
            out.write_bits(u64::from(random.next_u32()) & ((1 << bits.min(32)) - 1), bits.min(32));
            out.write_bits(0, bits.saturating_sub(32));
        }
    }
    out.write_bits(random.next_u32().into(), 64);
    out.bytes().to_vec()
}

/// Records with arbitrary content and valid hashes: nothing panics, and everything that is read can be played.
#[test]
fn any_records_are_read_or_refused() {
    let (bytes, ends) = whole();
    let mut random = Generator::new(11);
    let mut read = 0;
    for _ in 0..3_000 {
        let mut file = bytes[..ends[0]].to_vec();
        for _ in 0..random.between(1, 4) {
            let kind = random.between(0, 7) as u8;
            let mut payload: Vec<u8> = (0..random.between(0, 24)).map(|_| random.next_u32() as u8).collect();
            if (kind == 3 || kind == 6) && random.between(0, 1) == 0 {
                payload = [0_u32.to_le_bytes().as_slice(), &payload].concat();
            }
            if kind == 2 && random.between(0, 3) > 0 {
                payload = any_turn(&mut random);
            }
            append(&mut file, &[&(payload.len() as u32).to_le_bytes(), &[kind][..], &payload].concat());
        }
        let replay = Replay::read(file, SIM_VERSION).unwrap();
        read += replay.turns();
        // A turn of 65,536 frames is one, too.
        let frames: u32 = (0..replay.turns()).map(|turn| replay.turn(turn).unwrap().0.frames).sum();
        if frames < 10_000
            && (0..replay.turns()).all(|turn| replay.turn(turn).unwrap().0.frames_per_second > 0)
        {
            play(replay);
        }
    }
    assert!(read > 50, "{read} turns were read: the test is not interesting");
}

#[test]
fn the_state_right_after_a_divergence_is_in_the_file() {
    let mut recorder = Recorder::new(&header());
    (0..3).for_each(|turn| recorder.end_turn(turn));
    recorder.desync(1);
    let before = recorder.bytes().len();
    recorder.evidence(4, &[7]);
    assert_eq!(recorder.bytes().len(), before, "a turn that has not come has no state");
    recorder.evidence(2, &[9, 8]);
    assert_eq!(recorder.bytes()[before..][..11], [6, 0, 0, 0, 6, 2, 0, 0, 0, 9, 8]);
    recorder.evidence(3, &[5]);
    recorder.end_turn(3);
    recorder.end(Ending::Over);
    let replay = Replay::read(recorder.bytes().to_vec(), SIM_VERSION).unwrap();
    assert_eq!((replay.damage(), replay.turns(), replay.desync()), (None, 4, Some(1)));
    assert_eq!(replay.evidence(), Some((2, &[9, 8][..])), "the first one counts");
    assert_eq!(replay.keyframe(2), None, "it is no place to jump to");
}

/// It counted its turns from 0 and brought no state along, so it differed from its first turn on.
#[test]
fn the_replay_of_a_resumed_match_verifies() {
    const FIRST: u32 = 42;
    let mut saved = Toy::default();
    (0..FIRST).for_each(|turn| {
        saved.play_for(PlayerId(1), Turn(turn));
        saved.step(20);
    });
    let mut resumed = Recorded::new(saved, &header()).starting_at(Turn(FIRST));
    for turn in FIRST..FIRST + 30 {
        // The toy remembers in which turn of the match somebody has gone.
        if turn == FIRST + 9 {
            resumed.player_gone(PlayerId(2), Turn(turn));
        }
        if let Some(order) = bot(3, turn, 0) {
            resumed.apply(PlayerId(0), &order);
        }
        (0..4).for_each(|_| resumed.step(20));
        let checksum = resumed.checksum();
        resumed.turn_ended(Turn(turn), checksum);
    }
    resumed.finish(Ending::Over);
    let bytes = resumed.take_bytes();
    let replay = Replay::read(bytes.clone(), SIM_VERSION).unwrap();
    assert_eq!(replay.start().map(|(turn, _)| turn), Some(FIRST));
    let verification = replay.clone().verify(Toy::default());
    assert!(verification.is_sound(), "{verification}");
    assert_eq!((verification.turns, verification.start), (30, Some(FIRST)));
    assert_eq!(
        verification.to_string(),
        "30 turns, every checksum reproduced; it begins with a state before turn 42"
    );
    let mut player = ReplayPlayer::new(replay, Toy::default());
    while player.step_turn() {}
    assert_eq!(player.simulation().gone, [(2, FIRST + 9)]);
    let end = player.simulation().history;
    assert_eq!(player.seek(5), Ok(()));
    while player.step_turn() {}
    assert_eq!((player.simulation().history, player.divergence()), (end, None));
    // A start that the game refuses is a divergence, and a second one is damage.
    let mut broken = Recorder::new(&header());
    broken.start(1, &[1, 2, 3]);
    broken.end(Ending::Over);
    let replay = Replay::read(broken.bytes().to_vec(), SIM_VERSION).unwrap();
    assert_eq!(replay.verify(Toy::default()).divergence, Some(Divergence::Keyframe { turn: 0 }));
    let mut twice = Recorder::new(&header());
    (0..2).for_each(|_| twice.start(1, &[]));
    let replay = Replay::read(twice.bytes().to_vec(), SIM_VERSION).unwrap();
    assert_eq!(replay.damage().map(|damage| damage.what), Some("the start is not at the start"));
}

/// These bytes tie `REPLAY.md` and the code together.
#[test]
fn golden_bytes() {
    let mut recorder = Recorder::new(&header());
    recorder.keyframe(&[1, 2, 3]);
    recorder.notice(PlayerId(2), Notice::Gone);
    recorder.action(PlayerId(1), &Order::Push(-2));
    (0..4).for_each(|_| recorder.frame(20));
    recorder.end_turn(0x0102_0304_0506_0708);
    recorder.desync(0);
    recorder.end(Ending::Over);
    let hex: Vec<String> = recorder
        .bytes()
        .chunks(16)
        .map(|row| row.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" "))
        .collect();
    insta::assert_snapshot!(hex.join("\n"));
}

/// Peers that joined a running match had no replay.
#[test]
fn a_replay_begins_anew_with_the_state_of_a_running_match() {
    let mut here = Toy { gives_state: true, ..Toy::default() };
    let mut state = Vec::new();
    let mut guest = Recorded::new(Toy::default(), &header()).keyframe_every(4);
    for number in 0..40 {
        if number == 17 {
            assert!(here.save_state(&mut state));
            assert!(!guest.load_state(&state[..9]) && guest.is_recording() && guest.file_index() == 0);
            assert!(guest.load_state(&state) && !guest.is_recording());
            assert_eq!(guest.file_index(), 1);
        }
        let order = bot(9, number, 1).unwrap_or(Order::Push(3));
        if number >= 17 {
            guest.turn_started(Turn(number), 2);
            guest.apply(PlayerId(1), &order);
            (0..2).for_each(|_| guest.step(20));
            let checksum = guest.checksum();
            guest.turn_ended(Turn(number), checksum);
        }
        here.apply(PlayerId(1), &order);
        (0..2).for_each(|_| here.step(20));
    }
    assert_eq!(guest.checksum(), here.checksum());
    guest.finish(Ending::Over);
    assert!(!guest.is_recording());
    let replay = Replay::read(guest.take_bytes(), SIM_VERSION).unwrap();
    assert_eq!((replay.start().map(|(turn, _)| turn), replay.turns()), (Some(17), 23));
    let verification = replay.verify(Toy::default());
    assert!(verification.is_sound(), "{verification}");
}

#[test]
fn a_recorded_game_keeps_the_state_in_which_the_peers_disagreed() {
    for (at, within_a_turn) in [(9, false), (9, true)] {
        let mut game = Recorded::new(Toy::default(), &header()).keyframe_every(0).keep_recent(8, 1 << 20);
        let mut states = Vec::new();
        for number in 0..20 {
            game.turn_started(Turn(number), 2);
            game.step(20);
            if within_a_turn && number == at + 3 {
                game.diverged(Turn(at));
            }
            game.step(20);
            game.turn_ended(Turn(number), u64::from(number));
            let mut state = Vec::new();
            state::save(game.game_mut(), &mut state);
            states.push(state);
            if !within_a_turn && number == at + 2 {
                game.diverged(Turn(at));
            }
        }
        game.finish(Ending::Over);
        let replay = Replay::read(game.take_bytes(), SIM_VERSION).unwrap();
        assert_eq!((replay.desync(), replay.damage(), replay.turns()), (Some(at), None, 20));
        assert_eq!(replay.evidence(), Some((at + 1, &states[at as usize][..])));
        let keyframe = at + 3 + u32::from(within_a_turn);
        assert_eq!(replay.keyframe(keyframe), Some(&states[keyframe as usize - 1][..]));
    }
}

#[test]
fn a_recording_ends_at_its_size() {
    let mut game = Recorded::new(Toy::default(), &header()).keyframe_every(0).bytes_max(500);
    for number in 0..100 {
        game.step(20);
        game.turn_ended(Turn(number), 1);
    }
    assert!(!game.is_recording());
    let bytes = game.take_bytes();
    assert!((500..560).contains(&bytes.len()), "{}", bytes.len());
    let replay = Replay::read(bytes, SIM_VERSION).unwrap();
    assert_eq!((replay.ending(), replay.is_complete()), (Some(Ending::Full), true));
    let mut silent = Recorded::unrecorded(Toy::default());
    silent.step(20);
    silent.turn_ended(Turn(0), 1);
    assert_eq!((silent.take_bytes(), silent.game().frames), (Vec::new(), 1));
}

/// Games index by player and divide by the rate. Anybody can write such a file: its hashes are no signature.
#[test]
fn players_and_rates_that_no_match_has_are_damage() {
    let read = |players: u8, player: u8, rate: u32| {
        let mut recorder = Recorder::new(&ReplayHeader { players, ..header() });
        recorder.notice(PlayerId(player), Notice::Gone);
        recorder.frame(rate);
        recorder.end_turn(0);
        recorder.end(Ending::Over);
        Replay::read(recorder.take_bytes(), SIM_VERSION).unwrap()
    };
    for (player, rate) in [(2, 1), (0, 1_000), (2, 20)] {
        assert!(read(3, player, rate).is_complete(), "{player} {rate}");
    }
    for (player, rate) in [(3, 20), (9, 20), (0, 0), (0, 1_001), (0, 65_535)] {
        let replay = read(3, player, rate);
        assert!(replay.damage().is_some() && replay.turns() == 0, "{player} {rate}");
    }

    let brief = read(3, 2, 20).brief::<Order>().unwrap();
    let mut accepted = 0;
    for bit in 0..(brief.len() - 8) * 8 {
        let mut bytes = brief.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let at = bytes.len() - 8;
        let hash = xxh3_64(&bytes[..at]);
        bytes[at..].copy_from_slice(&hash.to_le_bytes());
        let Ok(replay) = Replay::read_brief::<Order>(&bytes, SIM_VERSION) else { continue };
        accepted += 1;
        for (events, _) in (0..replay.turns()).filter_map(|turn| replay.turn(turn)) {
            let rate = events.frames_per_second;
            assert!(events.frames == 0 || (1..=1_000).contains(&rate), "bit {bit}: {rate} frames per second");
        }
    }
    assert!(accepted > 5, "{accepted} of {} bits", brief.len() * 8);
}

/// "This record is not a turn": the user looked for a broken disk.
#[test]
fn a_player_whom_the_header_does_not_count_is_named() {
    let mut recorder = Recorder::new(&ReplayHeader { players: 2, ..header() });
    for player in [1, 2] {
        recorder.action(PlayerId(player), &Order::Push(1));
        recorder.frame(20);
        recorder.end_turn(0);
    }
    let replay = Replay::read(recorder.take_bytes(), SIM_VERSION).unwrap();
    assert_eq!(replay.turns(), 1);
    let what = replay.damage().unwrap().to_string();
    assert!(what.contains("more players than its header counts"), "{what}");
}

/// Nothing of such a recording could be read.
#[test]
fn a_header_counts_as_many_players_as_a_match_can_have() {
    for (players, counted) in [(0, 1), (1, 1), (16, 16), (17, 16), (255, 16)] {
        let mut recorder = Recorder::new(&ReplayHeader { players, ..header() });
        recorder.notice(PlayerId(0), Notice::Gone);
        recorder.end_turn(0);
        let replay = Replay::read(recorder.take_bytes(), SIM_VERSION);
        let replay = replay.unwrap_or_else(|error| panic!("{players} players: {error}"));
        assert_eq!((replay.header().players, replay.turns()), (counted, 1), "{players}");
    }
}

#[test]
fn the_header_of_a_match_counts_its_players() {
    let config = SessionConfig::new(5).content_hash(77);
    let header = ReplayHeader { settings: vec![4], ..ReplayHeader::of(&config, 9) };
    let expected = ReplayHeader { sim_version: 9, content_hash: 77, players: 5, settings: vec![4] };
    assert_eq!(header, expected);
}

/// Its bytes had the whole state, and no head.
#[test]
fn who_records_nothing_has_no_bytes_at_any_start() {
    let mut unrecorded = Recorded::unrecorded(Toy::default()).starting_at(Turn(7));
    unrecorded.turn_started(Turn(7), 1);
    unrecorded.step(20);
    unrecorded.turn_ended(Turn(7), 0);
    unrecorded.finish(Ending::Over);
    assert!(unrecorded.take_bytes().is_empty());
}
