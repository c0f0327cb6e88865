//! Replays as files and in memory: what is kept, and what is refused.

use tempfile::{NamedTempFile, tempdir};
use testudo_lockstep::Turn;
use testudo_lockstep::replay::{Ending, Recorder};

use super::*;
use testudo_battle::Game;

const TERMS: Terms = Terms { setup: Setup { players: 2, units: 5, seed: 9, map: None }, turns: 30 };

fn written(header: &ReplayHeader) -> Result<(Replay, Terms), MatchError> {
    opened(Recorder::new(header).bytes())
}

fn opened(bytes: &[u8]) -> Result<(Replay, Terms), MatchError> {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    open(file.path())
}

#[test]
fn the_header_says_what_was_played() {
    let (replay, terms) = written(&header(&TERMS)).unwrap();
    assert_eq!((terms, replay.turns(), replay.is_complete()), (TERMS, 0, false));
}

/// A player who came back with the same command lost the replay of the time before the crash.
#[test]
fn what_was_recorded_before_stays_until_something_is_recorded() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("a.replay");
    fs::write(&path, b"before").unwrap();
    Recording::create(&path, &TERMS).unwrap().discard();
    assert_eq!(fs::read(&path).unwrap(), b"before");
    let mut recording = Recording::create(&path, &TERMS).unwrap();
    assert_eq!(recording.so_far(), Kept::Memory(Vec::new()));
    recording.store(b"now");
    assert_eq!((fs::read(&path).unwrap(), recording.so_far()), (b"now".to_vec(), Kept::File(path.clone())));
    recording.begin_anew();
    recording.store(b"on");
    assert_eq!(fs::read(&path).unwrap(), b"on", "it was its own");
    drop(recording);
    fs::remove_file(&path).unwrap();
    Recording::create(&path, &TERMS).unwrap().discard();
    assert!(!path.exists(), "nothing was there");
}

/// A match that waited for its players in another window kept the newest replay from being shown.
#[test]
fn the_newest_replay_has_something_in_it() {
    let folder = tempdir().unwrap();
    let [old, new, waiting, other] =
        ["1.replay", "2.replay", "3.replay", "4.save"].map(|name| folder.path().join(name));
    for (path, bytes) in [(&old, "old"), (&new, "new"), (&waiting, ""), (&other, "other")] {
        fs::write(path, bytes).unwrap();
    }
    // Written within a moment, all would be equally old.
    let hour = std::time::Duration::from_secs(3_600);
    let before = fs::metadata(&new).unwrap().modified().unwrap() - hour;
    File::options().write(true).open(&old).unwrap().set_modified(before).unwrap();
    let newest = |own| ReplayFile::In(folder.path().into()).newest(own);
    assert_eq!([newest(None), newest(Some(&new))], [Some(new.clone()), Some(old.clone())]);
    fs::remove_dir_all(folder.path()).unwrap();
    assert_eq!(newest(None), None);
}

/// Both wrote into it, said that it is kept, and neither replay could be played.
#[test]
#[cfg(unix)]
fn a_file_that_is_being_written_is_no_second_replay() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("a.replay");
    let mut first = Recording::create(&path, &TERMS).unwrap();
    first.store(b"first");
    let refused = Recording::create(&path, &TERMS).err().map(|error| error.to_string());
    assert_eq!(refused, Some(format!("{}: another program writes this file", path.display())));
    assert_eq!(fs::read(&path).unwrap(), b"first");
    drop(first);
    Recording::create(&path, &TERMS).unwrap().discard();
}

/// A page has no files, and had no replay.
#[test]
fn a_replay_in_memory_is_the_one_in_a_file() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("a.replay");
    let play = |file: &ReplayFile| {
        let mut recording = Recording::wanted(file, &TERMS).unwrap().unwrap();
        let mut game = recording.recorded(Game::new(TERMS.setup).unwrap());
        for turn in 0..3 {
            game.step(20);
            game.turn_ended(Turn(turn), 7);
            recording.store(&game.take_bytes());
        }
        game.finish(Ending::Over);
        recording.store(&game.take_bytes());
        recording.finish().unwrap()
    };
    let (here, there) = (play(&ReplayFile::Memory), play(&ReplayFile::At(path.clone())));
    assert_eq!(there, Kept::File(path.clone()));
    assert_eq!(here, Kept::Memory(fs::read(&path).unwrap()));
    let (replay, terms) = here.open().unwrap();
    assert_eq!((terms, replay.turns(), replay.is_complete()), (TERMS, 3, true));
}

/// The file has more bytes than the limit at which the recording ends, and was refused for that.
#[test]
fn a_replay_that_has_ended_at_its_size_can_be_opened() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("a.replay");
    let mut recording = Recording::create(&path, &TERMS).unwrap();
    let mut game = recording.recorded_up_to(Game::new(TERMS.setup).unwrap(), 500);
    for turn in 0..40 {
        game.step(20);
        game.turn_ended(Turn(turn), 7);
        recording.store(&game.take_bytes());
    }
    recording.finish().unwrap();
    let (replay, _) = open_up_to(&path, read_max(500)).unwrap();
    assert_eq!((replay.ending(), replay.byte_count() > 500), (Some(Ending::Full), true));
}

#[test]
fn turns_are_as_long_as_in_a_match() {
    let with = |frames: u32| {
        let mut game = Recorded::new(Game::new(TERMS.setup).unwrap(), &header(&TERMS));
        for turn in 0..2 {
            (0..if turn == 1 { frames } else { 1 }).for_each(|_| game.step(20));
            game.turn_ended(Turn(turn), 7);
        }
        opened(&game.take_bytes())
    };
    assert_eq!(with(FRAMES_PER_TURN_MAX).unwrap().0.turns(), 2);
    let sentence = with(FRAMES_PER_TURN_MAX + 1).unwrap_err().to_string();
    assert!(sentence.contains("turn 1 has 251 frames"), "{sentence}");
}

#[test]
fn a_map_comes_with_the_replay() {
    let ford = maps::named("ford");
    let text = ford.unwrap().text.replace('^', ".");
    let own = maps::keep(&text).unwrap();
    assert_eq!(maps::number_of(own), None);
    for map in [ford, Some(own)] {
        let terms = Terms { setup: Setup { map, ..TERMS.setup }, ..TERMS };
        assert_eq!(written(&header(&terms)).unwrap().1, terms);
    }
}

#[test]
fn a_replay_of_other_rules_is_refused_with_a_sentence() {
    let older = ReplayHeader { sim_version: Setup::sim_version() - 1, ..header(&TERMS) };
    let sentence = written(&older).unwrap_err().to_string();
    assert!(sentence.contains("the same orders would lead to another match"), "{sentence}");
    let foreign = ReplayHeader { content_hash: 1, ..header(&TERMS) };
    assert!(written(&foreign).unwrap_err().to_string().contains("settings"));
    let cut = ReplayHeader { settings: vec![2], ..header(&TERMS) };
    assert!(written(&cut).unwrap_err().to_string().contains("settings"));
}
