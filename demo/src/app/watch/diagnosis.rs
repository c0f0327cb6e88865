//! Compares all clients' copies turn by turn: the turn, the number and the client of the first difference.

use testudo_lockstep::state::inquiry::Finding;
use testudo_lockstep::state::{self, Leaf};

use testudo_lockstep::Simulation as _;

use crate::app::watch::game_copy::PastAction;
use crate::app::watch::turn_record::{FrameRecord, TurnRecord};
use testudo_battle::Game;

/// The rate of every match of the demo.
pub(crate) const FRAMES_PER_SECOND: u32 = 20;

/// The first difference between the copies of a match.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Desync {
    pub(crate) turn: u32,
    /// Number of the frame over the whole match.
    pub(crate) frame: u32,
    /// The number that differs; none if the numbers of all copies are equal and only the checksum is not.
    pub(crate) number: Option<NumberDifference>,
    /// The client whose copy differs from what all others agree on, or the only one whose copy does not follow from the orders.
    pub(crate) outlier: Option<u8>,
    /// What came of simulating that frame again, for the players for which it is known.
    pub(crate) again: Vec<Again>,
}

/// Whether simulating a frame again, from the last state that was equal everywhere and the orders, comes to a player's copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Again {
    pub(crate) player: u8,
    /// None: it could not be simulated again, or the player's program has not told.
    pub(crate) is_reproduced: Option<bool>,
}

/// The first number, in the order of the walk over the state, that is not equal in all copies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct NumberDifference {
    /// The kind of object that it belongs to: "body", "unit", "army".
    pub(crate) kind: &'static str,
    /// The index of the object.
    pub(crate) index: u32,
    /// Its name.
    pub(crate) field: &'static str,
    /// Raw value in each client's copy; none if another number is in its place.
    pub(crate) values: Vec<Option<i128>>,
}

/// What a seat knows of a difference between the copies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Diagnosis {
    /// The other side is being asked.
    Asking,
    /// The other side has not answered, or no number differs any more.
    Unknown,
    /// Through a relay nobody can be asked, as it has no copy.
    Relayed,
    /// The host's copy is equal to this one, so the other one is that of a third player.
    Elsewhere,
    Found {
        /// The first value is the host's, the second the guest's.
        desync: Desync,
        /// Whether this is the host.
        is_host: bool,
        /// Whether the orders lead to this copy's state again; none if that cannot be told.
        is_reproduced: Option<bool>,
    },
}

impl Diagnosis {
    /// Why no number is named; none if one is.
    pub(crate) fn why_unknown(&self) -> Option<&'static str> {
        Some(match self {
            Self::Found { .. } => return None,
            Self::Asking => "the other side has not answered yet",
            Self::Unknown => "the other side has not answered",
            Self::Relayed => {
                "a relay has no copy to compare; testudo desync A B compares two players' replays"
            }
            Self::Elsewhere => {
                "the host's copy is equal to this one; the host and the player who differs know more"
            }
        })
    }
}

impl Desync {
    /// From the answers of the other side: the first value is the host's, the second the guest's.
    pub(crate) fn of_finding(
        turn: u32,
        outlier: Option<u8>,
        finding: &Finding,
        is_host: bool,
    ) -> Option<Self> {
        let (frame, here) = (finding.frame?, finding.here?);
        let mut values = vec![finding.there, Some(here.value)];
        if is_host {
            values.reverse();
        }
        let number = NumberDifference { kind: here.kind, index: here.index, field: here.name, values };
        Some(Self { turn, frame, number: Some(number), outlier, again: Vec::new() })
    }

    /// Notes what simulating again has shown. If only one copy does not follow from the orders, it is the outlier.
    pub(crate) fn judge(mut self, again: Vec<Again>) -> Self {
        self.again = again;
        if let (None, [player]) = (self.outlier, &self.damaged()[..]) {
            self.outlier = Some(*player);
        }
        self
    }

    /// The players whose copies do not follow from the orders.
    fn damaged(&self) -> Vec<u8> {
        let damaged = self.again.iter().filter(|again| again.is_reproduced == Some(false));
        damaged.map(|again| again.player).collect()
    }

    /// Whose copy is wrong: how that is known, and what is known. Every peer that knows the same says the same.
    pub(crate) fn verdict(&self) -> Option<(&'static str, String)> {
        const AGAIN: &str = "simulated again from the orders:";
        let whose = |player: &u8| format!("player {}'s", player + 1);
        let damaged = self.damaged();
        if let [_, ..] = damaged[..] {
            let whose: Vec<String> = damaged.iter().map(whose).collect();
            return Some((AGAIN, format!("{} memory was damaged", whose.join(" and "))));
        }
        let follows = |again: &Again| again.is_reproduced == Some(true);
        match self.outlier {
            Some(player) => Some(("compared with all others:", format!("{} copy is wrong", whose(&player)))),
            None if !self.again.is_empty() && self.again.iter().all(follows) => {
                Some((AGAIN, "each comes to its own state, so the programs differ".into()))
            }
            None => None,
        }
    }

    /// Names and values of a report for people. `copies`: the owners of the first two values.
    pub(crate) fn report(&self, copies: [&'static str; 2]) -> Vec<(&'static str, String)> {
        let mut lines = vec![("first frame", format!("{} of the match", self.frame))];
        if let Some(number) = &self.number {
            let object = format!("{} {}", number.kind, number.index);
            match self.body() {
                Some(slot) => lines.push(("first body", format!("{slot}, ringed in the picture"))),
                None => lines.push(("first in", object)),
            }
            lines.push(("field", number.field.into()));
            for (player, value) in number.values.iter().enumerate() {
                let copy = copies.get(player).copied().unwrap_or("another");
                lines.push((
                    copy,
                    value.map_or("has no such number".into(), |raw| in_words(number.field, raw)),
                ));
            }
            if let [Some(a), Some(b), ..] = number.values[..] {
                let bits = (a ^ b).count_ones();
                let text = if bits == 1 {
                    "1 bit of that number".into()
                } else {
                    format!("{bits} bits of that number")
                };
                lines.push(("difference", text));
            }
        }
        match self.verdict() {
            Some((how, what)) => lines.extend([("verdict", how.into()), (" ", what)]),
            None => lines.push(("verdict", "unknown: there is no majority".into())),
        }
        lines
    }

    /// The body that differs, by the index of its slot.
    pub(crate) fn body(&self) -> Option<u32> {
        self.number.as_ref().filter(|number| number.kind == "body").map(|number| number.index)
    }
}

/// Compares the clients' records of one turn. `first_frame` is the number of the turn's first frame, `any` any copy of the match.
pub(crate) fn compare(records: &[TurnRecord], turn: u32, first_frame: u32, any: &Game) -> Option<Desync> {
    let first = records.first()?;
    if records.iter().all(|record| record.checksum == first.checksum) {
        return None;
    }
    let checksums: Vec<u64> = records.iter().map(|record| record.checksum).collect();
    let checksum = |record: &TurnRecord, frame: usize| record.frames.get(frame).map(|frame| frame.checksum);
    let differs =
        |frame: &usize| records.iter().any(|record| checksum(record, *frame) != checksum(first, *frame));
    let frames = first.frames.len();
    let frame = (0..frames).find(differs).unwrap_or(frames.saturating_sub(1));
    let copies: Vec<&FrameRecord> = records.iter().filter_map(|record| record.frames.get(frame)).collect();
    Some(Desync {
        turn,
        frame: first_frame + frame as u32,
        number: number_difference(&copies, any),
        outlier: outlier(&checksums),
        again: Vec::new(),
    })
}

/// Simulates a frame again and compares it with all copies, by player. `before`: the state before it; `any`: any copy of the match; `past_actions`:
/// what was done before the frame.
pub(crate) fn simulate_again(
    any: &Game,
    before: &FrameRecord,
    past_actions: &[PastAction],
    copies: &[&FrameRecord],
) -> Vec<Again> {
    let mut game = any.clone();
    let is_done = game.load_state(&before.state) && repeat(&mut game, past_actions);
    let again = is_done.then(|| FrameRecord::of(&mut game));
    let is_reproduced = |copy: &&FrameRecord| again.as_ref().map(|again| again == *copy);
    let players = (0..).zip(copies);
    players.map(|(player, copy)| Again { player, is_reproduced: is_reproduced(copy) }).collect()
}

/// Does what was done, and simulates a frame. Returns false if something other than orders was done: nothing has changed then.
pub(crate) fn repeat(game: &mut Game, past_actions: &[PastAction]) -> bool {
    let are_orders = past_actions.iter().all(|action| action.order.is_some());
    if are_orders {
        for action in past_actions {
            action.order.iter().for_each(|order| game.apply(action.player, order));
        }
        game.step(FRAMES_PER_SECOND);
    }
    are_orders
}

/// The first number that is not equal in all of these states.
fn number_difference(copies: &[&FrameRecord], any: &Game) -> Option<NumberDifference> {
    let mut walks: Vec<Vec<Leaf>> = Vec::new();
    for copy in copies {
        // To restore a battle is dear, and most copies are equal.
        let same = copies[..walks.len()].iter().position(|other| other == copy);
        walks.push(same.map_or_else(|| leaves(copy, any), |same| walks[same].clone()));
    }
    let longest = walks.iter().map(Vec::len).max()?;
    let index =
        (0..longest).find(|index| walks.iter().any(|walk| walk.get(*index) != walks[0].get(*index)))?;
    // A fault in the number of an object itself gives it another one; most copies know which it was.
    let there: Vec<&Leaf> = walks.iter().filter_map(|walk| walk.get(index)).collect();
    let votes = |leaf: &&&Leaf| there.iter().filter(|other| other.is_same_number(leaf)).count();
    let named = there.iter().rev().max_by_key(votes)?;
    let value =
        |walk: &Vec<Leaf>| walk.get(index).filter(|leaf| leaf.is_same_number(named)).map(|leaf| leaf.value);
    Some(NumberDifference {
        kind: named.kind,
        index: named.index,
        field: named.name,
        values: walks.iter().map(value).collect(),
    })
}

/// All numbers of a state; none if it cannot be restored.
fn leaves(copy: &FrameRecord, any: &Game) -> Vec<Leaf> {
    let (mut game, mut leaves) = (any.clone(), Vec::new());
    if game.load_state(&copy.state) {
        state::leaves(&mut game, &mut |leaf| leaves.push(leaf));
    }
    leaves
}

/// The only client that differs from all others; with two clients nobody can tell.
fn outlier(checksums: &[u64]) -> Option<u8> {
    let alone = |(player, checksum): (usize, &u64)| {
        let others = checksums.iter().enumerate().filter(|(other, _)| *other != player).map(|(_, sum)| sum);
        let voices: Vec<&u64> = others.collect();
        let agree = voices.len() > 1 && voices.iter().all(|voice| *voice == voices[0]);
        (agree && voices[0] != checksum).then_some(player as u8)
    };
    checksums.iter().enumerate().find_map(alone)
}

/// A raw number; positions and speeds have 16 fraction bits, shown exactly and in units.
fn in_words(field: &str, raw: i128) -> String {
    if field.starts_with("position") || field.starts_with("velocity") {
        format!("{raw} = {:.5} units", raw as f64 / 65_536.0)
    } else {
        raw.to_string()
    }
}

#[cfg(test)]
mod tests {
    use testudo_lockstep::{PlayerId, Simulation, Turn};

    use super::*;
    use testudo_battle::bots;
    use testudo_battle::{Dice, Setup};

    /// A running battle, with its states frame by frame in the previous turns.
    fn battle(turns: u32) -> Game {
        let mut game = Game::new(Setup { players: 2, units: 20, seed: 5, map: None }).unwrap();
        play(&mut game, 0..turns);
        game
    }

    fn play(game: &mut Game, turns: core::ops::Range<u32>) {
        for turn in turns {
            bots::lead(game, Turn(turn));
            (0..4).for_each(|_| game.step(20));
        }
    }

    /// The record of one turn of four frames; `fault` changes the copy after one of them.
    fn turn(game: &mut Game, turn: u32, mut fault: impl FnMut(u32, &mut Game)) -> TurnRecord {
        bots::lead(game, Turn(turn));
        let mut record = TurnRecord::default();
        for frame in 0..4 {
            game.step(20);
            fault(frame, game);
            record.frames.push(FrameRecord::of(game));
        }
        record.checksum = game.checksum();
        record
    }

    #[test]
    fn equal_copies_have_nothing_to_report() {
        let mut game = battle(10);
        let same = turn(&mut game.clone(), 10, |_, _| {});
        let again = turn(&mut game, 10, |_, _| {});
        assert_eq!(compare(&[same, again], 10, 40, &game), None);
        assert_eq!(compare(&[], 10, 40, &game), None);
    }

    /// Any turn, frame, client, number and bit. Prints how often each field was hit.
    fn faults(count: u32, seed: u64) {
        let mut dice = Dice::new(seed);
        let mut hits = std::collections::BTreeMap::new();
        let (mut injected, mut refused) = (0, 0);
        let mut at = 0;
        let mut game = battle(at);
        while injected < count {
            if injected % (count / 40) == 0 && at < 400 {
                play(&mut game, at..at + 7);
                at += 7;
            }
            let (broken, frame) = (dice.between(0, 2) as usize, dice.between(0, 3) as u32);
            let pick = (dice.between(0, i32::MAX), dice.between(0, 63) as u32);
            let mut fault = None;
            let damaged = turn(&mut game.clone(), at, |now, game| {
                if now == frame {
                    fault = flip(game, pick);
                }
            });
            let Some(leaf) = fault else {
                refused += 1;
                continue;
            };
            // The two whole copies are one: that they play alike is for other tests.
            let whole = turn(&mut game.clone(), at, |_, _| {});
            let records = [0, 1, 2].map(|client| if client == broken { &damaged } else { &whole }.clone());
            injected += 1;
            *hits.entry((leaf.kind, leaf.name)).or_insert(0_u32) += 1;
            let seen = compare(&records, at, 4 * at, &game).unwrap_or_else(|| panic!("{leaf:?} is missed"));
            let number = seen.number.clone().unwrap_or_else(|| panic!("{leaf:?}: {seen:?}"));
            assert_eq!((seen.turn, seen.frame), (at, 4 * at + frame), "{leaf:?} {seen:?}");
            assert_eq!(seen.outlier, Some(broken as u8), "{leaf:?} {seen:?}");
            assert_eq!((number.kind, number.index, number.field), (leaf.kind, leaf.index, leaf.name));
            assert_ne!(number.values[broken], number.values[(broken + 1) % 3], "{leaf:?}");
        }
        println!(
            "{injected} faults found, {refused} flips that no state can have; {} fields: {hits:?}",
            hits.len()
        );
    }

    /// Flips a bit of any number that a fault can reach.
    fn flip(game: &mut Game, (number, bit): (i32, u32)) -> Option<Leaf> {
        let mut leaves = Vec::new();
        state::leaves(game, &mut |leaf| {
            if leaf.bits > 0 {
                leaves.push(leaf);
            }
        });
        let leaf = leaves[number as usize % leaves.len()];
        state::flip_bit(game, &leaf, bit % leaf.bits).ok().map(|()| leaf)
    }

    #[test]
    fn injected_faults_are_found_at_their_turn_frame_object_and_field() {
        faults(testudo_tests::cases::share(1_000) as u32, 2);
    }

    #[test]
    fn two_against_two_have_no_outlier() {
        assert_eq!(outlier(&[1, 1, 2, 2]), None);
        assert_eq!(outlier(&[1, 1, 2]), Some(2));
        assert_eq!(outlier(&[1, 2, 2, 2]), Some(0));
        assert_eq!(outlier(&[1, 2, 3]), None);
        assert_eq!(outlier(&[1, 2]), None);
    }

    /// With two players the outlier was found by an undamaged copy that the damaged client had kept, which no real match has.
    #[test]
    fn between_two_the_orders_tell_whose_memory_was_damaged() {
        let game = battle(10);
        let told = |again: [Option<bool>; 2]| {
            let again =
                (0..).zip(again).map(|(player, is_reproduced)| Again { player, is_reproduced }).collect();
            let desync = Desync { turn: 1, frame: 4, number: None, outlier: None, again: Vec::new() };
            let desync = desync.judge(again);
            (desync.outlier, desync.verdict().map(|(_, what)| what))
        };
        for broken in 0..2 {
            let mut copies = [0, 1].map(|_| game.clone());
            bots::lead(&mut copies[0], Turn(10));
            let past_actions: Vec<PastAction> = (0..2)
                .map(PlayerId)
                .filter_map(|player| {
                    let order = Some(bots::order(&game, player, Turn(10))?);
                    Some(PastAction { frame: 0, turn: 10, player, order })
                })
                .collect();
            copies[1] = copies[0].clone();
            copies.iter_mut().for_each(|copy| copy.step(FRAMES_PER_SECOND));
            (0..).find_map(|number| flip(&mut copies[broken], (number, 3))).expect("a number");
            let records = copies.each_mut().map(FrameRecord::of);
            let before = FrameRecord::of(&mut game.clone());
            let again = simulate_again(&game, &before, &past_actions, &records.each_ref());
            let [first, second] = [0, 1].map(|player| again[player].is_reproduced);
            assert_eq!((first, second), (Some(broken != 0), Some(broken != 1)));
            let (outlier, what) = told([first, second]);
            assert_eq!(outlier, Some(broken as u8));
            assert_eq!(what, Some(format!("player {}'s memory was damaged", broken + 1)));
            let odd = [PastAction { frame: 0, turn: 10, player: PlayerId(0), order: None }];
            assert_eq!(simulate_again(&game, &before, &odd, &records.each_ref())[0].is_reproduced, None);
        }
        assert_eq!(told([None, None]), (None, None));
        assert_eq!(told([Some(true), None]), (None, None), "the other one has not told");
        assert!(told([Some(true), Some(true)]).1.is_some_and(|what| what.contains("the programs differ")));
    }

    #[test]
    fn the_report_names_body_field_values_and_the_broken_copy() {
        let values = vec![Some(65_536), Some(65_536 + 2_048)];
        let number = NumberDifference { kind: "body", index: 7, field: "position.x", values };
        let again = [(0, true), (1, false)];
        let again = again.map(|(player, is)| Again { player, is_reproduced: Some(is) }).to_vec();
        let desync = Desync { turn: 3, frame: 15, number: Some(number), outlier: None, again: Vec::new() }
            .judge(again);
        let text = format!("{:?}", desync.report(["player 1", "player 2"]));
        for part in [
            "15 of",
            "7, ringed",
            "position.x",
            "1.00000 units",
            "1.03125 units",
            "1 bit",
            "simulated again",
            "player 2's memory was damaged",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}
