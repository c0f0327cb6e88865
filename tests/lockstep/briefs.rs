//! The brief form of a replay plays the same match, and anything else is refused.

use testudo_lockstep::replay::{Divergence, Ending, Recorder, Replay, ReplayError, ReplayHeader};
use testudo_lockstep::{Action, BitReader, BitWriter, DecodeError, PlayerId, Simulation};
use testudo_tests::scenes::Generator;
use xxhash_rust::xxh3::xxh3_64;

use crate::replays::{self, SIM_VERSION, TURNS, header};
use crate::toy::{Order, Toy};

fn whole() -> Replay {
    Replay::read(replays::whole().0, SIM_VERSION).unwrap()
}

fn brief() -> Vec<u8> {
    whole().brief::<Order>().unwrap()
}

fn read(bytes: &[u8]) -> Result<Replay, ReplayError> {
    Replay::read_brief::<Order>(bytes, SIM_VERSION)
}

/// A brief form with these bytes at its end, and a valid hash.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let hash = xxh3_64(&bytes);
    bytes.extend_from_slice(&hash.to_le_bytes());
    bytes
}

#[test]
fn it_plays_the_same_match_and_ends_in_the_same_checksum() {
    let (file, brief) = (whole(), brief());
    let replay = read(&brief).unwrap();
    assert_eq!((replay.header(), replay.turns(), replay.is_brief()), (&header(), TURNS, true));
    assert_eq!(replay.byte_count(), brief.len());
    assert!(brief.len() * 5 < file.byte_count(), "{} of {} bytes", brief.len(), file.byte_count());
    for turn in 0..TURNS {
        let (mut short, mut long) = (replay.turn(turn).unwrap(), file.turn(turn).unwrap());
        assert_eq!(short.1, long.1.filter(|_| turn == TURNS - 1));
        assert_eq!((short.0.frames, short.0.frames_per_second), (long.0.frames, long.0.frames_per_second));
        while let Some(event) = long.0.next_event::<Order>().unwrap() {
            assert_eq!(short.0.next_event::<Order>(), Ok(Some(event)), "turn {turn}");
        }
        assert_eq!(short.0.next_event::<Order>(), Ok(None));
    }
    assert_eq!(replay.brief::<Order>(), Some(brief), "it can be passed on");
    let verification = replay.verify(Toy::default());
    assert!(verification.is_sound() && verification.is_brief, "{verification}");
    assert_eq!(verification.to_string(), format!("{TURNS} turns, the last checksum reproduced"));
}

/// Two bits; what it reads may be more than it can write.
struct Disc<const ADDED: u8>(u8);

impl<const ADDED: u8> Action for Disc<ADDED> {
    const MAX_BITS: u32 = 2;
    fn encode(&self, out: &mut BitWriter) {
        out.write_bits(self.0.into(), 2);
    }
    fn decode(input: &mut BitReader<'_>) -> Result<Self, DecodeError> {
        Ok(Self(input.read_bits(2)? as u8 + ADDED))
    }
}

/// Such a link stopped the program of whoever opened it.
#[test]
fn an_action_that_cannot_be_written_again_is_refused() {
    let mut recorder = Recorder::new(&header());
    recorder.action(PlayerId(0), &Disc::<0>(3));
    recorder.end_turn(1);
    recorder.end(Ending::Over);
    let replay = Replay::read(recorder.take_bytes(), SIM_VERSION).unwrap();
    let brief = replay.brief::<Disc<0>>().unwrap();
    assert!(Replay::read_brief::<Disc<0>>(&brief, SIM_VERSION).is_ok());
    assert_eq!(Replay::read_brief::<Disc<1>>(&brief, SIM_VERSION), Err(ReplayError::Brief));
    assert_eq!(replay.brief::<Disc<1>>(), None);
}

#[test]
fn another_last_checksum_is_a_divergence_of_the_last_turn() {
    let mut toy = Toy::default();
    let mut recorder = Recorder::new(&header());
    for turn in 0..3 {
        recorder.action(PlayerId(turn), &Order::Push(5));
        toy.apply(PlayerId(turn), &Order::Push(5));
        recorder.end_turn(if turn == 2 { 1 } else { toy.checksum() });
    }
    recorder.end(Ending::Over);
    let file = Replay::read(recorder.take_bytes(), SIM_VERSION).unwrap();
    let verification = read(&file.brief::<Order>().unwrap()).unwrap().verify(Toy::default());
    assert!(matches!(verification.divergence, Some(Divergence::Checksum { turn: 2, recorded: 1, .. })));
}

#[test]
fn what_would_be_another_match_has_no_brief_form() {
    let made = |change: fn(&mut Recorder)| {
        let mut recorder = Recorder::new(&header());
        change(&mut recorder);
        Replay::read(recorder.take_bytes(), SIM_VERSION).unwrap().brief::<Order>()
    };
    let play = |recorder: &mut Recorder| recorder.end_turn(7);
    assert!(made(|recorder| (recorder.end_turn(7), recorder.end(Ending::Over)).1).is_some());
    assert!(made(play).is_none(), "cut off");
    let full = |recorder: &mut Recorder| {
        recorder.end_turn(7);
        recorder.end(Ending::Full);
    };
    assert!(made(full).is_none(), "the match went on");
    assert!(made(|recorder| recorder.end(Ending::Over)).is_none(), "no turn");
    let started = |recorder: &mut Recorder| {
        recorder.start(9, &[1, 2]);
        recorder.end_turn(7);
        recorder.end(Ending::Over);
    };
    assert!(made(started).is_none(), "what led to the start is unknown");
    let diverged = |recorder: &mut Recorder| {
        recorder.end_turn(7);
        recorder.desync(0);
        recorder.end(Ending::Over);
    };
    assert!(made(diverged).is_none(), "the peers disagreed");
    let stranger = |recorder: &mut Recorder| {
        recorder.action(PlayerId(3), &Order::Push(1));
        recorder.end_turn(7);
        recorder.end(Ending::Over);
    };
    assert!(made(stranger).is_none(), "there are three players");
}

#[test]
fn whatever_is_changed_or_cut_off_is_refused() {
    let brief = brief();
    for length in 0..brief.len() {
        assert!(read(&brief[..length]).is_err(), "{length} bytes");
    }
    for bit in 0..brief.len() * 8 {
        let mut changed = brief.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert!(read(&changed).is_err(), "bit {bit}");
    }
    assert!(read(&[brief.as_slice(), &[0]].concat()).is_err());
}

#[test]
fn other_versions_are_named() {
    let error = Replay::read_brief::<Order>(&brief(), SIM_VERSION + 1).unwrap_err();
    assert_eq!(error, ReplayError::SimVersion { found: SIM_VERSION, own: SIM_VERSION + 1 });
    let mut later = brief();
    later[2] += 1;
    assert!(matches!(read(&later), Err(ReplayError::Version { .. })));
    assert_eq!(
        read(b"PNG").unwrap_err().to_string(),
        "the replay is damaged or cut off, so nothing can be played"
    );
}

/// A turn that has the shape of one, mostly.
fn any_turn(random: &mut Generator, out: &mut BitWriter) {
    let is_quiet = random.between(0, 1) == 0;
    out.write_bits(is_quiet.into(), 1);
    if is_quiet {
        return;
    }
    let is_same = random.between(0, 1) == 0;
    out.write_bits(is_same.into(), 1);
    if !is_same {
        let frames = random.between(0, 2) as u32;
        out.write_golomb(frames, 2);
        if frames > 0 {
            out.write_bits(random.between(0, 60) as u64, 16);
        }
    }
    let events = random.between(0, 2) as u32;
    out.write_golomb(events, 0);
    for _ in 0..events {
        out.write_bits(random.between(0, 3) as u64, 2);
        let is_notice = random.between(0, 1) == 0;
        out.write_bits(is_notice.into(), 1);
        match is_notice {
            true => out.write_bits(random.between(0, 5) as u64, 3),
            false => Order::Push(random.next_u32() as i16).encode(out),
        }
    }
}

/// Bytes with a valid hash are no more trusted: they are refused, or they are what this code writes. They cannot ask for much memory.
#[test]
fn any_bytes_with_a_valid_hash_are_refused_or_canonical() {
    let header = ReplayHeader { settings: Vec::new(), ..header() };
    let mut recorder = Recorder::new(&header);
    recorder.end_turn(7);
    recorder.end(Ending::Over);
    let smallest = Replay::read(recorder.take_bytes(), SIM_VERSION).unwrap().brief::<Order>().unwrap();
    let length = 2 + usize::from(u16::from_le_bytes(*smallest.first_chunk().unwrap()));
    let mut random = Generator::new(5);
    let mut read_again = 0;
    for _ in 0..20_000 {
        let mut bytes = smallest[..length].to_vec();
        let (turns, mut out) = (random.between(1, 5) as u32, BitWriter::new());
        out.write_golomb(turns - 1, 8);
        (0..turns).for_each(|_| any_turn(&mut random, &mut out));
        out.write_bits(random.next_u32().into(), 64);
        bytes.extend_from_slice(out.bytes());
        if random.between(0, 3) == 0 {
            let place = random.between(length as i32, bytes.len() as i32 - 1) as usize;
            bytes[place] ^= 1 << random.between(0, 7);
        }
        let bytes = sealed(bytes);
        if let Ok(replay) = read(&bytes) {
            read_again += 1;
            assert!(replay.turns() <= bytes.len() as u32 * 8 && replay.is_complete());
            assert_eq!(replay.brief::<Order>(), Some(bytes));
        }
    }
    assert!((2_000..19_000).contains(&read_again), "{read_again}");
}
