//! Judgements of a toy match: a true one holds, a forged or untrue one does not.

use serde_json::{Value, json};
use testudo_lockstep::judgement::{Archived, Doubt, Found, JSON_BYTES_MAX, Judgement, Signed};
use testudo_lockstep::replay::{Ending, Recorded, Replay, ReplayHeader};
use testudo_lockstep::state::{self, State, StateError, Visit};
use testudo_lockstep::{Conviction, NoAction, PlayerId, PlayerKey, Simulation, Turn, fold_checksum};

/// Counts its frames, and wins for player 1 in the end.
#[derive(Clone, Debug, Default)]
struct Toy {
    frames: u32,
    hash: u64,
}

impl State for Toy {
    fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
        v.number("frames", &mut self.frames)?;
        v.number("hash", &mut self.hash)
    }
}

impl Simulation for Toy {
    type Action = NoAction;

    fn apply(&mut self, _: PlayerId, _: &NoAction) {}

    fn step(&mut self, _: u32) {
        self.frames += 1;
        self.hash = (self.hash ^ u64::from(self.frames)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn checksum(&mut self) -> u64 {
        state::digest(self)
    }
}

fn key() -> PlayerKey {
    PlayerKey::from_secret([7; 32])
}

/// A match of 30 turns, before which `first` others were played: the judgement, in whose eighth turn player 1 has said something else, and the replay.
fn judged(first: u32) -> (Signed, Vec<u8>) {
    let header = ReplayHeader { sim_version: 4, content_hash: 9, players: 2, settings: vec![1] };
    let mut game = Toy::default();
    (0..4 * first).for_each(|_| game.step(20));
    let mut recorded = Recorded::new(game, &header);
    if first > 0 {
        recorded = recorded.starting_at(Turn(first));
    }
    let (mut eighth, mut last) = (0, 0);
    for turn in first..first + 30 {
        recorded.turn_started(Turn(turn), 4);
        (0..4).for_each(|_| recorded.step(20));
        last = recorded.checksum();
        recorded.turn_ended(Turn(turn), last);
        if turn == first + 7 {
            eighth = fold_checksum(last);
        }
    }
    recorded.finish(Ending::Over);
    let bytes = recorded.take_bytes();
    let mut judgement = Judgement::new(5, 2, first + 30);
    judgement.checksum = Some(format!("{last:016x}"));
    let (turn, referee, other) = (first + 7, format!("{eighth:08x}"), format!("{:08x}", eighth ^ 1));
    let values = [(0, &referee), (1, &other)];
    let text = json!({"turn": turn, "referee": referee, "values": values, "at_fault": [1]});
    judgement.difference = Some(serde_json::from_value(text).unwrap());
    judgement.replay = Some(Archived::new("a.replay", &bytes));
    (Signed::new(judgement, &key()), bytes)
}

/// What anybody with the text and the replay finds.
fn check(signed: &Signed, replay: &[u8]) -> Result<Found, Doubt> {
    signed.verify(None)?;
    let replay = Replay::read(replay.to_vec(), 4).map_err(|error| Doubt::Replay(error.to_string()))?;
    signed.judgement.simulate(replay, Toy::default())
}

/// Whether it was simulated again, and nothing else was shown.
fn holds(found: &Found, resumed_at: Option<u32>) -> bool {
    found.is_simulated && found.resumed_at == resumed_at && found.shown == Conviction::default()
}

#[test]
fn a_judgement_is_read_as_it_was_written_and_holds() {
    let (signed, replay) = judged(0);
    assert_eq!(Signed::from_json(&signed.to_json()).as_ref(), Ok(&signed));
    assert!(holds(&check(&signed, &replay).unwrap(), None));
    assert_eq!(signed.verify(Some(&signed.key.to_uppercase())), Ok(()));
    assert_eq!(signed.verify(Some(&"0".repeat(64))), Err(Doubt::OtherKey));
    let archived = signed.judgement.replay.as_ref().unwrap();
    assert!(archived.has(&replay) && !archived.has(b"another"));
}

/// The turns of the replay were counted from 0, those of the judgement from the start of the match, so no judgement of a resumed match held.
#[test]
fn a_judgement_of_a_resumed_match_holds() {
    let (signed, replay) = judged(20);
    assert!(holds(&check(&signed, &replay).unwrap(), Some(20)));
    // A turn that is not in the replay was never compared, so any checksum in it held.
    for (turns, turn) in [(30, 27), (51, 27), (50, 26), (50, 7), (50, 50), (50, u32::MAX)] {
        let mut judgement = signed.judgement.clone();
        judgement.turns = turns;
        judgement.difference.as_mut().unwrap().turn = turn;
        let found = check(&Signed::new(judgement, &key()), &replay);
        assert!(matches!(found, Err(Doubt::Simulation(_))), "{turns} {turn}: {found:?}");
    }
}

/// A testimony about a turn that nobody simulates was never looked at, and the judgement held.
#[test]
fn a_testimony_of_a_turn_that_is_not_in_the_replay_does_not_hold() {
    for (first, turn) in [(0, 0), (0, 31), (20, 20), (20, 51), (20, u32::MAX)] {
        let (signed, replay) = judged(first);
        let mut judgement = signed.judgement;
        let testimony = json!({"roster": "00ff", "turn": turn, "statements": []});
        judgement.testimony = Some(serde_json::from_value(testimony).unwrap());
        let found = check(&Signed::new(judgement, &key()), &replay);
        assert!(matches!(found, Err(Doubt::Testimony(_))), "{first} {turn}: {found:?}");
    }
}

/// Whoever changes it has no signature; a referee that lies is found by simulating again.
#[test]
fn what_was_changed_or_is_not_true_does_not_hold() {
    let (signed, replay) = judged(0);
    let blame = |judgement: &mut Judgement| {
        let difference = judgement.difference.as_mut().unwrap();
        difference.referee = difference.values[1].1.clone();
        difference.at_fault = vec![0];
    };
    let nobody = |judgement: &mut Judgement| judgement.difference.as_mut().unwrap().at_fault.clear();
    let end = |judgement: &mut Judgement| judgement.checksum = Some("0".repeat(16));
    let longer = |judgement: &mut Judgement| judgement.turns = 31;
    let more = |judgement: &mut Judgement| judgement.players = 3;
    let won = |judgement: &mut Judgement| judgement.winner = Some(1);
    // Without the checksum nothing compared the winner.
    let won_early = |judgement: &mut Judgement| (judgement.checksum, judgement.winner) = (None, Some(1));
    for lie in [&blame as &dyn Fn(&mut Judgement), &nobody, &end, &longer, &more, &won, &won_early] {
        let mut judgement = signed.judgement.clone();
        lie(&mut judgement);
        let mut forged = signed.clone();
        forged.judgement = judgement.clone();
        assert_eq!(forged.verify(None), Err(Doubt::Signature));
        let found = check(&Signed::new(judgement, &key()), &replay);
        assert!(matches!(found, Err(Doubt::Simulation(_))), "{found:?}");
    }
}

/// A judgement from elsewhere wrote "holds" on the terminal of whoever checked it, and hid what followed. The number of a player was added to beyond 255.
#[test]
fn nothing_but_numbers_and_players_is_read_from_a_judgement() {
    let (signed, _) = judged(0);
    let escape = "1\u{1b}[8m\nholds";
    let read = |lie: &dyn Fn(&mut Signed)| {
        let mut changed = signed.clone();
        lie(&mut changed);
        Signed::from_json(&changed.to_json())
    };
    assert!(read(&|_| {}).is_ok());
    let lies: [&dyn Fn(&mut Signed); 13] = [
        &|signed| signed.key = escape.into(),
        &|signed| signed.signature = escape.into(),
        &|signed| signed.judgement.session = escape.into(),
        &|signed| signed.judgement.session.push('0'),
        &|signed| signed.judgement.players = 0,
        &|signed| signed.judgement.players = 17,
        &|signed| signed.judgement.checksum = Some(escape.into()),
        &|signed| signed.judgement.replay.as_mut().unwrap().file = escape.into(),
        &|signed| signed.judgement.replay.as_mut().unwrap().file = "a\u{202e}txt.replay".into(),
        &|signed| signed.judgement.replay.as_mut().unwrap().sha256 = escape.into(),
        &|signed| signed.judgement.difference.as_mut().unwrap().referee = escape.into(),
        &|signed| signed.judgement.difference.as_mut().unwrap().values[1].0 = 2,
        &|signed| signed.judgement.difference.as_mut().unwrap().at_fault = vec![255],
    ];
    for (number, lie) in lies.into_iter().enumerate() {
        assert!(matches!(read(lie), Err(Doubt::Malformed(_))), "lie {number}");
    }
}

/// What the players have signed was read as any text.
#[test]
fn nothing_but_numbers_and_players_is_read_from_a_testimony() {
    let (signed, _) = judged(0);
    let read = |member: &str, value: Value| {
        let said = json!({"player": 1, "live": 3, "own": "0".repeat(16), "all": "0".repeat(24), "checksum": 1,
            "agreed": "0".repeat(16), "since": [8, 1], "signature": "0".repeat(128)});
        let mut testimony = json!({"roster": "00ff", "turn": 9, "statements": [said]});
        let is_its_own = matches!(member, "roster" | "interval");
        let holder = if is_its_own { &mut testimony } else { &mut testimony["statements"][0] };
        holder[member] = value;
        let mut changed = signed.clone();
        changed.judgement.testimony = Some(serde_json::from_value(testimony).unwrap());
        Signed::from_json(&changed.to_json())
    };
    assert!(read("player", json!(0)).is_ok());
    for member in ["roster", "own", "all", "agreed", "signature"] {
        for lie in
            ["1\u{1b}[8m", "1\u{202e}", "1"].into_iter().filter(|lie| (*lie, member) != ("1", "roster"))
        {
            assert!(matches!(read(member, json!(lie)), Err(Doubt::Malformed(_))), "{member} {lie:?}");
        }
    }
    assert!(matches!(read("player", json!(2)), Err(Doubt::Malformed(_))));
    for interval in [0, 601] {
        assert!(matches!(read("interval", json!(interval)), Err(Doubt::Malformed(_))), "{interval}");
    }
    // Where every turn has a checksum, the text is as it was before there was the member.
    let every = read("interval", json!(1)).unwrap();
    assert_eq!(read("roster", json!("00ff")), Ok(every.clone()));
    assert!(!every.to_json().contains("interval"));
    let rarely = read("interval", json!(30)).unwrap();
    assert!(
        Signed::from_json(&rarely.to_json()) == Ok(rarely.clone()) && rarely.to_json().contains("interval")
    );
}

/// The error repeated the name of a member that nobody knows, with what a terminal makes of it.
#[test]
fn an_error_repeats_nothing_of_the_text() {
    for name in ["\u{1b}[8mholds", "\u{202e}sdloh"] {
        let mut text = serde_json::to_value(judged(0).0).unwrap();
        text["judgement"][name] = json!(1);
        let why = Signed::from_json(&text.to_string()).unwrap_err().to_string();
        assert!(why.is_ascii() && !why.contains(char::is_control) && why.contains("line 1"), "{why:?}");
    }
}

/// Any bit of the text may flip: it is no judgement any more, or the signature is wrong, or it says the same (the case of a digit).
#[test]
fn no_flipped_bit_makes_another_judgement() {
    let (signed, _) = judged(0);
    let text = signed.to_json();
    for bit in 0..text.len() * 8 {
        let mut bytes = text.clone().into_bytes();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let Ok(flipped) = String::from_utf8(bytes) else { continue };
        let Ok(read) = Signed::from_json(&flipped) else { continue };
        assert!(read.judgement == signed.judgement || read.verify(None) == Err(Doubt::Signature), "{bit}");
    }
    assert!(matches!(Signed::from_json(&" ".repeat(JSON_BYTES_MAX + 1)), Err(Doubt::Malformed(_))));
}
