//! Signed ends of streams: the middle passes an end on only with the player's signature for it, and without it nobody takes anything of the packet.

use super::signed::{TOPOLOGIES, signed};
use super::{bare, deliver, entries_of, slow};
use crate::joining::{come_back, config, start};
use crate::play::{Play as _, assert_agreed, assert_agreed_by};
use crate::toy::{Toy, key_of, toy_match};
use testudo_lockstep::packet::{Signed, SignedEnd, TurnsPacket};
use testudo_lockstep::{Duration, EndReason, Entry, Extra, Instant, PlayerId, Topology, VirtualMatch};

const PLAYERS: u8 = 4;
const LIAR: u8 = 3;

/// A packet of the liar: so many entries from this number on, of which the last one ends its stream. Its signature may be made up.
fn end_after(
    game: &mut VirtualMatch<Toy>,
    to: usize,
    (first, count): (u32, u32),
    reason: EndReason,
    is_true: bool,
) {
    let mut entries = vec![Entry::default(); count as usize];
    // A former version let every segment that begins with a return past the end of the stream.
    if count > 1 {
        entries[0].extras.push(Extra::Return(1));
    }
    entries[count as usize - 1].extras.push(Extra::End(reason));
    let number = first + count - 1;
    let reason = if reason == EndReason::Left { 0 } else { 2 };
    let mut end = SignedEnd { player: PlayerId(LIAR), number, reason, signature: [1; 64] };
    if is_true {
        end.sign(game.session(0).roster().unwrap(), &key_of(LIAR));
    }
    let signed = Signed { ends: [end].into_iter().collect(), ..Signed::default() };
    let rest = TurnsPacket { signed, ..bare(first, PLAYERS) };
    deliver(game, to, LIAR.into(), &entries_of(LIAR, first, entries, rest));
}

/// A player ended its stream, and then signed sixteen other ends of which nothing was taken. The middle kept those, and forgot the signature of the real one:
/// every other player refused every packet from there on. With a delayed watcher there was time for it.
fn sign_many_ends(topology: Topology, watchers: u32, gap_ms: u64) {
    let what = format!("{topology:?}, {watchers} watchers");
    let delay = Duration::from_secs(if watchers > 0 { 5 } else { 0 });
    let config = signed(PLAYERS, topology).watch_delay(delay);
    let mut game = toy_match(&config, watchers, 1, slow());
    game.play(7_000);
    // From now on this test plays the liar. All others wait for its next entry.
    game.put_to_sleep(LIAR.into(), Instant::from_millis(2_000_000));
    game.play(8_000);
    let next = game.session(0).next_turn().0;
    let hearers: &[usize] = match topology {
        Topology::Host => &[0],
        Topology::Relay => &[4],
        Topology::Mesh => &[0, 1],
    };
    hearers.iter().for_each(|to| end_after(&mut game, *to, (next, 1), EndReason::Surrendered, true));
    for count in 2..18 {
        game.play_for(gap_ms);
        hearers.iter().for_each(|to| end_after(&mut game, *to, (next, count), EndReason::Left, true));
    }
    hearers.iter().for_each(|to| end_after(&mut game, *to, (next, 18), EndReason::Left, false));
    game.play(200_000);
    let honest = (0..game.drivers().len()).filter(|node| *node != usize::from(LIAR));
    for node in honest.clone() {
        let stats = game.session(node).stats();
        assert_eq!(stats.drops, 0, "{what}: {node}");
        assert_eq!(stats.ends_invalid, 0, "{what}: {node} checks what it does not take");
    }
    assert_agreed_by(&mut game, honest, &what);
    assert_eq!(game.toy(0).surrendered, [(LIAR, next)], "{what}");
}

#[test]
fn many_signed_ends_do_not_push_out_the_one_that_counts() {
    TOPOLOGIES.into_iter().for_each(|topology| sign_many_ends(topology, 0, 0));
}

#[test]
fn many_signed_ends_do_not_push_out_the_one_that_a_delayed_watcher_needs() {
    for (topology, gap_ms) in [(Topology::Host, 0), (Topology::Host, 100), (Topology::Relay, 100)] {
        sign_many_ends(topology, 1, gap_ms);
    }
}

/// The same without a lie: the sixteen newest of its true ends were kept.
#[test]
fn who_leaves_and_comes_back_all_the_time_is_believed_by_those_who_watch_later() {
    const ROUNDS: u64 = 24;
    for topology in [Topology::Host, Topology::Relay] {
        let config = config(3, topology).turns(1_400).late_watchers(true).signed();
        let config = config.watch_delay(Duration::from_secs(10 * (ROUNDS + 1)));
        let mut game = start(&config, 1, 3, slow());
        for round in 1..=ROUNDS {
            game.play(10_000 * round);
            game.session_mut(2).leave();
            game.play_for(600);
            come_back(&mut game, &config, 2);
        }
        assert!(game.play(600_000), "{topology:?}: {:?}", game.phases());
        // Some come back too late for the next round.
        let returns = game.toy(0).returned.len();
        assert!(returns >= 17, "{topology:?}: {returns}");
        assert_agreed(&mut game, &format!("{topology:?}"));
    }
}
