//! Checks from outside that everybody ran the same, by comparing what the clients remember.

use core::fmt;
use core::ops::Range;

use crate::session::SessionPhase;
use crate::testing::soak::ledger::Ledger;
use crate::testing::soak::summary::EventSummary;
use crate::testing::soak::trace::{Ran, Trace};

/// What is left of a client after the match.
#[derive(Clone, Debug)]
pub(super) struct ClientRecord<A> {
    pub(super) name: String,
    pub(super) state: SessionPhase,
    /// Nothing happened to it that could excuse an early end.
    pub(super) has_to_finish: bool,
    pub(super) summary: EventSummary,
    pub(super) trace: Trace<A>,
    /// Its recording.
    pub(super) replay: Vec<u8>,
    /// How much happened in the match, as its copy counted it.
    pub(super) events: u64,
}

/// What is wrong with a match.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Finding {
    /// Peers differ, an order was lost or ran twice, or a drop was not agreed.
    Mismatch(String),
    /// A peer that should have finished did not.
    Unrecovered(String),
    /// The match proves nothing: [`crate::testing::soak::SoakGame::events`] says that nothing happened.
    Void,
}

#[derive(Clone, Debug)]
pub(super) struct Judged {
    /// The client with which the others were compared: the first one that finished.
    pub(super) reference: Option<usize>,
    pub(super) findings: Vec<Finding>,
    /// Checksums that were compared.
    pub(super) compared: u64,
    /// Orders that the reference had to run.
    pub(super) orders: u64,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mismatch(text) => write!(f, "mismatch: {text}"),
            Self::Unrecovered(text) => write!(f, "not recovered: {text}"),
            Self::Void => write!(f, "nothing happened: `SoakGame::events` is 0 after this match"),
        }
    }
}

/// Checks a match with this many turns.
pub(super) fn judge<A: Clone + PartialEq + fmt::Debug>(
    clients: &[ClientRecord<A>],
    ledger: &Ledger<A>,
    turns: u32,
) -> Judged {
    let mut findings: Vec<Finding> =
        clients.iter().flat_map(|client| blames(&client.name, &client.summary)).collect();
    for client in clients.iter().filter(|client| client.has_to_finish) {
        let ran = client.trace.turns();
        if client.state != SessionPhase::Finished || ran != turns {
            let text = format!("{} ran {ran} of {turns} turns and is {:?}", client.name, client.state);
            findings.push(Finding::Unrecovered(text));
        }
    }
    let finished = |client: &ClientRecord<A>| client.state == SessionPhase::Finished;
    // A client that joined later has not seen everything.
    let is_whole = |client: &ClientRecord<A>| finished(client) && client.trace.first == ledger.first;
    let Some(reference) = clients.iter().position(is_whole) else {
        findings.push(Finding::Unrecovered("nobody finished".into()));
        return Judged { reference: None, findings, compared: 0, orders: 0 };
    };
    let whole = &clients[reference].trace;
    let expected = ledger.expected(&whole.gone, &whole.back);
    let mut compared = 0;
    for client in clients {
        let limit = comparable(client, whole, &mut findings);
        let first = client.trace.first;
        compared += u64::from(limit.saturating_sub(first));
        let whole = whole.checksums.iter().skip(first.saturating_sub(ledger.first) as usize);
        let mut here = client.trace.checksums.iter().zip(whole).take(limit.saturating_sub(first) as usize);
        if let Some(turn) = here.position(|(a, b)| a != b) {
            let turn = first as usize + turn;
            findings.push(Finding::Mismatch(format!("{} differs from turn {turn} on", client.name)));
        }
        compare_orders(client, &expected, first..limit, &mut findings);
        compare_keys(client, &clients[reference], &mut findings);
        compare_controls(client, &clients[reference].summary, first..limit, &mut findings);
        compare_profiles(client, &clients[reference], &mut findings);
        if client.summary.desync && finished(client) {
            findings.push(Finding::Mismatch(format!("{} was told of a desync", client.name)));
        }
    }
    Judged { reference: Some(reference), findings, compared, orders: expected.len() as u64 }
}

/// All peers are honest: nobody accuses another one, and nobody sends what is invalid.
pub(super) fn blames(name: &str, summary: &EventSummary) -> Vec<Finding> {
    let mut said: Vec<String> =
        summary.accused.iter().map(|accused| format!("{name} was told {accused}")).collect();
    if summary.invalid > 0 {
        said.push(format!(
            "{name} got {} entries, signatures or messages that are not valid",
            summary.invalid
        ));
    }
    said.into_iter().map(Finding::Mismatch).collect()
}

/// All players of a signed match agree on its keys.
fn compare_keys<A>(client: &ClientRecord<A>, reference: &ClientRecord<A>, findings: &mut Vec<Finding>) {
    let [here, there] = [client, reference].map(|client| client.summary.keys);
    if here != there && (here.is_some() || client.state == SessionPhase::Finished) {
        findings.push(Finding::Mismatch(format!("{} has the keys {here:?}, others {there:?}", client.name)));
    }
}

/// Pauses and speeds change in the same turns for all.
fn compare_controls<A>(
    client: &ClientRecord<A>,
    whole: &EventSummary,
    turns: Range<u32>,
    findings: &mut Vec<Finding>,
) {
    let within = |summary: &EventSummary| {
        let paused: Vec<_> = summary.paused.iter().copied().filter(|at| turns.contains(&at.0)).collect();
        let speeds: Vec<_> = summary.speeds.iter().copied().filter(|at| turns.contains(&at.0)).collect();
        (paused, speeds)
    };
    let (here, there) = (within(&client.summary), within(whole));
    if here != there {
        findings
            .push(Finding::Mismatch(format!("{} has the controls {here:?}, others {there:?}", client.name)));
    }
}

/// In the end all show the same of each player who stayed, but for what was on its way when a short match ended. What others show may have reached some only.
fn compare_profiles<A>(client: &ClientRecord<A>, whole: &ClientRecord<A>, findings: &mut Vec<Finding>) {
    let is_late = |player: u8| {
        let lacks = |client: &ClientRecord<A>| {
            let EventSummary { profiles, profiles_late, .. } = &client.summary;
            profiles_late & 1 << player != 0 && profiles.get(usize::from(player)).is_some_and(Vec::is_empty)
        };
        lacks(client) || lacks(whole)
    };
    let stayed = |(player, _): &(u8, &Vec<u8>)| {
        !whole.trace.gone.iter().any(|(gone, _)| gone == player) && !is_late(*player)
    };
    let [here, there] = [client, whole]
        .map(|client| (0..).zip(&client.summary.profiles).filter(stayed).collect::<Vec<(u8, &Vec<u8>)>>());
    if client.has_to_finish && here != there {
        findings
            .push(Finding::Mismatch(format!("{} has the profiles {here:?}, others {there:?}", client.name)));
    }
}

/// The turns of a client that must equal the reference's. All of them, except that a dropped client may have run turns in which the
/// survivors went on without it or its companions.
fn comparable<A>(client: &ClientRecord<A>, whole: &Trace<A>, findings: &mut Vec<Finding>) -> u32 {
    let trace = &client.trace;
    let gone = &trace.gone;
    let ran = trace.turns().min(whole.turns());
    let unknown = |here: &[(u8, u32)], there: &[(u8, u32)]| {
        here.iter().copied().filter(|gone| !there.contains(gone)).collect::<Vec<_>>()
    };
    // It cannot know who left or returned before it joined.
    let seen = |all: &[(u8, u32)]| all.iter().copied().filter(|at| at.1 >= trace.first).collect::<Vec<_>>();
    let (more, fewer) = (unknown(gone, &whole.gone), unknown(&seen(&whole.gone), gone));
    let returns = (unknown(&trace.back, &whole.back), unknown(&seen(&whole.back), &trace.back));
    let is_survivor = client.state == SessionPhase::Finished;
    // A program that was stopped within a turn has been told what its recording does not have.
    let has_run = |at: &(u8, u32)| is_survivor || at.1 < trace.turns();
    let told = client.summary.dropped.iter().chain(&client.summary.left);
    let reported: Vec<(u8, u32)> = told.copied().filter(has_run).collect();
    let told_back: Vec<(u8, u32)> = client.summary.back.iter().copied().filter(has_run).collect();
    if !returns.0.is_empty() || (is_survivor && !returns.1.is_empty()) || trace.back != told_back {
        let (here, reported) = (&trace.back, &told_back);
        let text = format!(
            "{} knows {here:?} to be back and was told {reported:?}, others {:?}",
            client.name, whole.back
        );
        findings.push(Finding::Mismatch(text));
    }
    if !more.is_empty() || (is_survivor && !fewer.is_empty()) {
        let text = format!("{} knows {gone:?} to be gone, others {:?}", client.name, whole.gone);
        findings.push(Finding::Mismatch(text));
    }
    if !unknown(&reported, gone).is_empty() || !unknown(gone, &reported).is_empty() {
        let text = format!("{} was told {reported:?} and ran {gone:?}", client.name);
        findings.push(Finding::Mismatch(text));
    }
    if is_survivor {
        return ran;
    }
    fewer.iter().chain(&returns.1).map(|(_, turn)| *turn).min().unwrap_or(ran).min(ran)
}

/// Checks that no order is lost, runs twice, or runs in another turn or order.
fn compare_orders<A: PartialEq + fmt::Debug>(
    client: &ClientRecord<A>,
    expected: &[Ran<A>],
    turns: Range<u32>,
    findings: &mut Vec<Finding>,
) {
    let mut ran = client.trace.orders.iter().filter(|ran| turns.contains(&ran.turn));
    let mut due = expected.iter().filter(|ran| turns.contains(&ran.turn));
    loop {
        let text = match (ran.next(), due.next()) {
            (None, None) => return,
            (Some(ran), Some(due)) if ran == due => continue,
            (Some(ran), Some(due)) => format!("ran {ran:?} where {due:?} was due"),
            (Some(ran), None) => format!("ran {ran:?}, which was not due"),
            (None, Some(due)) => format!("did not run {due:?}"),
        };
        findings.push(Finding::Mismatch(format!("{} {text}", client.name)));
        return;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::failure::Failure;
    use crate::value::ids::PeerId;

    const TURNS: u32 = 6;

    /// An order is a number here.
    fn order(number: u8) -> u8 {
        number
    }

    /// Two players give an order in each turn.
    fn ledger() -> Ledger<u8> {
        let mut ledger = Ledger::new(3, TURNS, 2, 1);
        for turn in 0..TURNS {
            for player in 0..2 {
                ledger.accept(player, order(turn as u8));
                ledger.begin(player, turn);
            }
        }
        ledger
    }

    /// Three clients that ran everything correctly.
    fn clients() -> Vec<ClientRecord<u8>> {
        let trace = Trace {
            checksums: (0..u64::from(TURNS)).map(|turn| turn * 77).collect(),
            orders: ledger().expected(&[], &[]),
            gone: Vec::new(),
            first: 0,
            back: Vec::new(),
        };
        let client = |player| ClientRecord {
            name: format!("player {player}"),
            state: SessionPhase::Finished,
            has_to_finish: true,
            summary: EventSummary::default(),
            trace: trace.clone(),
            replay: Vec::new(),
            events: 3,
        };
        (0..3).map(client).collect()
    }

    fn lose(client: &mut ClientRecord<u8>, order: usize) {
        client.trace.orders.remove(order);
    }

    fn findings(change: impl Fn(&mut Vec<ClientRecord<u8>>)) -> Vec<String> {
        let mut clients = clients();
        change(&mut clients);
        judge(&clients, &ledger(), TURNS).findings.iter().map(Finding::to_string).collect()
    }

    fn is_found(change: impl Fn(&mut Vec<ClientRecord<u8>>), word: &str) {
        let found = findings(change);
        assert!(found.iter().any(|finding| finding.contains(word)), "'{word}' not in {found:?}");
    }

    #[test]
    fn a_good_match_is_good() {
        let judged = judge(&clients(), &ledger(), TURNS);
        assert_eq!((judged.findings, judged.reference), (vec![], Some(0)));
        assert_eq!((judged.compared, judged.orders), (18, 8));
    }

    #[test]
    fn a_different_turn_is_found_in_any_client() {
        for client in 0..3 {
            is_found(|clients| clients[client].trace.checksums[4] ^= 1, "differs from turn 4 on");
        }
    }

    #[test]
    fn lost_doubled_and_moved_orders_are_found() {
        is_found(|clients| lose(&mut clients[1], 2), "was due");
        is_found(|clients| lose(&mut clients[1], 7), "did not run");
        is_found(
            |clients| {
                let again = clients[2].trace.orders[7].clone();
                clients[2].trace.orders.push(again);
            },
            "was not due",
        );
        is_found(|clients| clients[0].trace.orders[0].turn += 1, "was due");
        is_found(|clients| clients[0].trace.orders.swap(0, 1), "was due");
        // Lost in the same way everywhere: only the ledger notices.
        is_found(|clients| clients.iter_mut().for_each(|client| lose(client, 3)), "was due");
    }

    #[test]
    fn drops_that_are_not_agreed_are_found() {
        let gone = |client: &mut ClientRecord<u8>, turn| {
            client.trace.gone.push((2, turn));
            client.summary.dropped.push((2, turn));
        };
        let agreed = findings(|clients| clients.iter_mut().for_each(|client| gone(client, 4)));
        assert_eq!(agreed, Vec::<String>::new());
        is_found(|clients| gone(&mut clients[1], 4), "to be gone");
        is_found(
            |clients| {
                gone(&mut clients[0], 4);
                gone(&mut clients[1], 5);
                gone(&mut clients[2], 4);
            },
            "to be gone",
        );
        is_found(|clients| clients[1].summary.dropped.push((2, 4)), "was told");
    }

    #[test]
    fn whoever_was_dropped_may_differ_after_the_drop_only() {
        let dropped_at = |turn, different: usize| {
            findings(|clients| {
                for client in &mut clients[..2] {
                    client.trace.gone.push((2, turn));
                    client.summary.dropped.push((2, turn));
                }
                clients[2].state = SessionPhase::Failed(Failure::ConnectionLost(PeerId(0)));
                clients[2].has_to_finish = false;
                clients[2].trace.checksums[different] ^= 1;
            })
        };
        assert_eq!(dropped_at(4, 4), Vec::<String>::new());
        assert_eq!(dropped_at(4, 3).len(), 1);
    }

    #[test]
    fn a_late_peer_is_compared_from_its_first_turn_on() {
        let late = |client: &mut ClientRecord<u8>, first: u32| {
            client.trace.first = first;
            client.trace.checksums.drain(..first as usize);
            client.trace.orders.retain(|ran| ran.turn >= first);
        };
        assert_eq!(findings(|clients| late(&mut clients[1], 3)), Vec::<String>::new());
        is_found(
            |clients| {
                late(&mut clients[1], 3);
                clients[1].trace.checksums[1] ^= 1;
            },
            "differs from turn 4 on",
        );
        is_found(
            |clients| {
                late(&mut clients[1], 3);
                lose(&mut clients[1], 0);
            },
            "was due",
        );
        is_found(|clients| clients[1].trace.back.push((2, 4)), "to be back");
    }

    #[test]
    fn a_peer_that_does_not_finish_is_found() {
        is_found(|clients| clients[2].state = SessionPhase::Failed(Failure::Dropped), "not recovered");
        is_found(|clients| clients[2].state = SessionPhase::Running, "not recovered");
        is_found(
            |clients| clients.iter_mut().for_each(|c| c.state = SessionPhase::Ending),
            "nobody finished",
        );
        is_found(|clients| clients[1].summary.desync = true, "desync");
    }

    #[test]
    fn a_peer_that_is_accused_is_found() {
        is_found(|clients| clients[1].summary.accused.push("Outlier".into()), "was told Outlier");
        is_found(|clients| clients[2].summary.invalid = 1, "not valid");
    }

    #[test]
    fn other_controls_and_profiles_are_found() {
        is_found(|clients| clients[1].summary.speeds.push((3, 0, 50)), "has the controls");
        is_found(|clients| clients[0].summary.paused.push((3, 0, true)), "has the controls");
        is_found(|clients| clients[2].summary.profiles = vec![vec![7]], "has the profiles");
        let agreed = findings(|clients| {
            clients.iter_mut().for_each(|client| client.summary.speeds.push((3, 0, 50)));
            // It came later, or has not run the turn.
            clients[1].summary.speeds.push((TURNS, 0, 70));
        });
        assert_eq!(agreed, Vec::<String>::new());
    }

    /// Seed 2026334510398: a match went on from a save for a second, and all copies of a profile were lost until its end.
    #[test]
    fn a_profile_that_was_on_its_way_at_the_end_is_no_fault() {
        let found = |late: u16, here: &[u8]| {
            findings(|clients| {
                clients.iter_mut().for_each(|client| client.summary.profiles = vec![vec![7], vec![8]]);
                let summary = &mut clients[2].summary;
                (summary.profiles_late, summary.profiles[0]) = (late, here.to_vec());
            })
            .len()
        };
        assert_eq!((found(1, &[]), found(1, &[9])), (0, 1), "another one is no missing one");
        assert_eq!((found(0, &[]), found(2, &[])), (1, 1), "nobody sends it any more");
        // Those who have it are compared with one who has not.
        let first = findings(|clients| {
            clients.iter_mut().for_each(|client| client.summary.profiles = vec![vec![7]]);
            (clients[0].summary.profiles_late, clients[0].summary.profiles[0]) = (1, Vec::new());
        });
        assert_eq!(first, Vec::<String>::new());
    }

    #[cfg(feature = "signed")]
    #[test]
    fn other_keys_are_found() {
        let roster = |key: u8| {
            let key = crate::PlayerKey::from_secret([key; 32]).public().to_bytes();
            crate::Roster::new(7, &[Some(crate::Seat { key, salt: 3 })]).map(|roster| roster.fingerprint())
        };
        let keyed = |last: u8| {
            findings(|clients| {
                clients
                    .iter_mut()
                    .zip([1, 1, last])
                    .for_each(|(client, key)| client.summary.keys = roster(key));
            })
        };
        assert_eq!((keyed(1).len(), keyed(2).len()), (0, 1));
        is_found(|clients| clients[0].summary.keys = roster(1), "has the keys");
    }
}
