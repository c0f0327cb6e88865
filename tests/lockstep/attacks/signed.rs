//! Matches in which every player has a key: a peer that shows different matches to different players, or that lies about them, is named
//! with proof, and nobody else is.

use super::{bare, config, deliver, entries_of, hearers, slow};
use crate::play::{Play as _, accuses, assert_unharmed, assert_untold, match_at};
use crate::toy::{Toy, key_of, latency, terrible, toy_match};
use testudo_lockstep::packet::{Packet, Segment, Signed, SignedEnd, TurnsPacket};

use testudo_lockstep::{
    Contradiction, EndReason, Entry, Event, Extra, Identity, Instant, Outlier, Payload, PlayerId, Proof,
    Roster, SessionConfig, SessionPhase, Statement, Successor, Topology, Turn, Verdict, VirtualMatch,
};

pub(super) const TOPOLOGIES: [Topology; 3] = [Topology::Host, Topology::Relay, Topology::Mesh];

fn player(number: u8) -> Identity {
    Identity::Player(PlayerId(number))
}

pub(super) fn signed(players: u8, topology: Topology) -> SessionConfig {
    config(players, topology).signed()
}

/// The contradictions that a node was told of. Checks that a third person, who has only the bytes, reaches the same verdict.
fn contradictions(game: &mut VirtualMatch<Toy>, node: usize) -> Vec<Contradiction> {
    let roster = game.session(node).roster().unwrap().to_bytes();
    let roster = Roster::from_bytes(&roster).unwrap();
    let all = game.events(node).into_iter().filter_map(|event| match event {
        Event::Contradiction(contradiction) => Some(*contradiction),
        _ => None,
    });
    let all: Vec<Contradiction> = all.collect();
    for contradiction in &all {
        let proof = Proof::from_bytes(&contradiction.proof.to_bytes()).unwrap();
        assert_eq!(proof.verify(&roster), Ok(contradiction.verdict));
    }
    all
}

/// The next turns of a player, as the one behind `from` tells them to a victim before the author does.
pub(super) fn forge(
    game: &mut VirtualMatch<Toy>,
    victim: usize,
    from: u32,
    author: u8,
    end: Option<EndReason>,
) {
    let next = game.session(victim).next_turn().0;
    let players = game.session(victim).config().players;
    let entries = (0..4).map(|number| {
        let payload = if end.is_some() { Payload::none() } else { Payload::new(&[0, 1, 0], 17) };
        let mut entry = Entry { payload, ..Entry::default() };
        entry.extras.extend(end.filter(|_| number == 3).map(Extra::End));
        entry
    });
    let rest = TurnsPacket { base: next + 4, ..bare(next, players) };
    deliver(game, victim, from, &entries_of(author, next, entries.collect(), rest));
}

#[test]
fn a_middle_that_shows_different_matches_is_named_within_two_seconds() {
    for topology in [Topology::Host, Topology::Relay] {
        let (middle, node) = if topology == Topology::Host { (player(0), 0) } else { (Identity::Relay, 4) };
        for forged_at in [4_000, 4_130, 4_370, 4_610, 4_990] {
            let mut game = match_at(&signed(4, topology), slow(), forged_at);
            forge(&mut game, 2, node, 1, None);
            game.play(forged_at + 2_000);
            let told = contradictions(&mut game, 2);
            // Every pair of statements leaves several suspects; only the middle is among all of them.
            assert!(told.iter().all(|one| one.suspects.contains(&middle)), "{topology:?} {told:?}");
            let authors: Vec<PlayerId> = told.iter().map(|one| one.proof.first.author).collect();
            let others = (0..4).map(PlayerId).filter(|author| author.0 != 2);
            assert!(others.clone().all(|author| authors.contains(&author)), "{topology:?} {authors:?}");
            if topology == Topology::Host {
                assert!(
                    told.iter().any(|one| one.suspects == [middle]),
                    "its own statement is another match"
                );
            }
            for honest in [1, 3] {
                let told = contradictions(&mut game, honest);
                assert!(
                    !told.is_empty() && told.iter().all(|one| one.suspects.contains(&middle)),
                    "{told:?}"
                );
            }
        }
    }
}

#[test]
fn who_tells_the_peers_of_a_mesh_different_orders_is_named_within_two_seconds() {
    for forged_at in [4_000, 4_470, 4_930] {
        let mut game = match_at(&signed(4, Topology::Mesh), slow(), forged_at);
        forge(&mut game, 0, 2, 2, None);
        game.play(forged_at + 2_000);
        let told = contradictions(&mut game, 0);
        let forged = Verdict::Forged { author: PlayerId(2), receiver: PlayerId(0) };
        assert!(told.iter().any(|one| one.verdict == forged && one.suspects == [player(2)]), "{told:?}");
        assert!(told.iter().all(|one| one.suspects.is_empty() || one.suspects == [player(2)]), "{told:?}");
        // The others see that there are two matches, but cannot know who made them.
        for honest in [1, 3] {
            let told = contradictions(&mut game, honest);
            assert!(!told.is_empty() && told.iter().all(|one| one.suspects.is_empty()), "{told:?}");
        }
    }
}

/// While player 2 cannot be heard, player 1 passes on false entries of it, to player 0 itself or through player 3. Player 2 was the only suspect if it stated a
/// turn before these entries; else players 1 and 2 were, or players 2 and 3.
#[test]
fn nobody_in_a_mesh_is_suspected_for_what_another_has_passed_on() {
    for forged_at in (4_000..5_000).step_by(130) {
        for (victim, quiet) in [(0, 420), (3, 900)] {
            let mut game = match_at(&signed(4, Topology::Mesh), slow(), forged_at);
            game.net_mut().set_partition(&[2]);
            game.play(forged_at + 400);
            forge(&mut game, victim, 1, 2, None);
            game.play(forged_at + quiet);
            game.net_mut().set_partition(&[]);
            game.play(forged_at + 3_000);
            let told = [0, 2, 3].map(|honest| contradictions(&mut game, honest));
            let forged = Verdict::Forged { author: PlayerId(2), receiver: PlayerId(0) };
            assert!(told[0].iter().any(|one| one.verdict == forged), "{forged_at} {told:?}");
            let mut suspects = told.iter().flatten().flat_map(|one| &one.suspects);
            assert_eq!(suspects.next(), None, "{forged_at} {told:?}");
        }
    }
}

/// A statement about each of the next turns, under the author's own key.
fn lie(game: &mut VirtualMatch<Toy>, victim: usize, author: u8) {
    let next = game.session(victim).next_turn().0;
    (next..next + 8).for_each(|turn| state(game, victim, author, Turn(turn), author));
}

/// What nobody says of a turn, without a signature.
fn made_up(author: u8, turn: Turn, live: u16) -> Statement {
    Statement {
        author: PlayerId(author),
        turn,
        live,
        own: [1; 8],
        all: [2; 12],
        checksum: 3,
        agreed: [0; 8],
        since: None,
        signature: [0; 64],
    }
}

/// An invented statement of a turn, signed by somebody and sent by that one.
fn state(game: &mut VirtualMatch<Toy>, victim: usize, author: u8, turn: Turn, signer: u8) {
    let session = game.session(victim);
    let (roster, next, players) =
        (session.roster().unwrap().clone(), session.next_turn().0, session.config().players);
    let mut statement = made_up(author, turn, (1 << players) - 1);
    statement.sign(&roster, &key_of(signer));
    let signed = Signed { statements: [statement].into_iter().collect(), ..Signed::default() };
    let packet = TurnsPacket { signed, ..bare(next, players) };
    deliver(game, victim, u32::from(signer), &Packet::Turns(Box::new(packet)));
}

#[test]
fn who_signs_two_accounts_of_one_match_is_proven_to_lie() {
    // In a star the middle has seen both; in a mesh those to whom they were given show them to each other.
    for (topology, victim, witnesses) in [(Topology::Host, 0, 0..1), (Topology::Mesh, 0, 0..2)] {
        let mut game = match_at(&signed(3, topology), slow(), 4_000);
        lie(&mut game, victim, 2);
        game.play(6_000);
        for witness in witnesses {
            let told = contradictions(&mut game, witness);
            assert!(
                told.iter().any(|one| one.verdict == Verdict::Liar(PlayerId(2))),
                "{topology:?} {told:?}"
            );
            for one in &told {
                assert!(one.suspects.is_empty() || one.suspects == [player(2)], "{topology:?} {one:?}");
            }
        }
    }
}

/// A host that leaves a guest out of the statement for that guest has made no statement to it.
#[test]
fn a_word_on_a_match_without_the_receiver_is_none() {
    let mut game = match_at(&signed(3, Topology::Host), slow(), 3_000);
    // From now on only the test speaks in the host's name.
    game.put_to_sleep(0, Instant::from_millis(2_000_000));
    let roster = game.session(1).roster().unwrap().clone();
    for until in (3_000..9_000).step_by(10) {
        game.play(until);
        let turn = game.session(1).next_turn().0;
        let (next, first) = (turn + 2, turn.saturating_sub(2));
        let segments = [0, 2].map(|player| Segment {
            player: PlayerId(player),
            first,
            entries: u32::from(player) * 2..u32::from(player) * 2 + 4,
        });
        let (segments, entries) = (segments.into_iter().collect(), vec![Entry::default(); 8]);
        let mut packet = TurnsPacket { segments, entries, ..bare(next, 3) };
        for turn in (turn.saturating_sub(1)..turn + 2).map(Turn) {
            let mut statement = made_up(0, turn, 5);
            statement.sign(&roster, &key_of(0));
            packet.signed.statements.push(statement);
        }
        deliver(&mut game, 1, 0, &Packet::Turns(Box::new(packet)));
    }
    let told = game.events(1);
    for author in [0, 2] {
        let missing =
            |event: &&Event| matches!(event, Event::StatementMissing { player, .. } if player.0 == author);
        assert_eq!(told.iter().filter(missing).count(), 1, "{author}: {told:?}");
    }
    assert!(game.session(1).next_turn() > Turn(30));
}

/// Verifying a signature costs more than inventing one.
#[test]
fn made_up_signatures_cost_little() {
    for topology in TOPOLOGIES {
        let mut game = match_at(&signed(3, topology), slow(), 4_000);
        let receiver = if topology == Topology::Relay { 3 } else { 0 };
        for number in 0..1_000_u32 {
            let turn = Turn(game.session(0).next_turn().0);
            let signature = [number as u8; 64];
            let statement =
                |checksum| Statement { checksum: checksum + 4 * number, signature, ..made_up(2, turn, 7) };
            let signed = Signed { statements: (0..4).map(statement).collect(), ..Signed::default() };
            let packet = TurnsPacket { signed, ..bare(turn.0, 3) };
            deliver(&mut game, receiver, 2, &Packet::Turns(Box::new(packet)));
        }
        let checked = game.session(receiver).stats().statements_invalid;
        assert!((1..=32).contains(&checked), "{checked}");
        assert_unharmed(&mut game, &format!("{topology:?}"));
    }
}

/// Of whom a node was told that they show it another match.
pub(super) fn shown(game: &mut VirtualMatch<Toy>, node: usize) -> Vec<u8> {
    let told = game.events(node).into_iter().filter_map(|event| match event {
        Event::ShownAnother { player, .. } => Some(player.0),
        _ => None,
    });
    told.collect()
}

/// A watcher signs nothing, and notices when it was shown a match that no player signed.
#[test]
fn who_watches_is_told_what_it_was_shown() {
    for (topology, middle) in [(Topology::Host, 0), (Topology::Relay, 3)] {
        let mut game = toy_match(&signed(3, topology), 2, 1, slow());
        let watcher = game.drivers().len() - 1;
        game.play(4_000);
        forge(&mut game, watcher, middle, 1, None);
        game.play(6_000);
        assert_eq!(shown(&mut game, watcher), [0, 1, 2], "{topology:?}");
        assert_eq!(shown(&mut game, watcher - 1), [0; 0], "{topology:?}: the other one watches in peace");
    }
}

#[test]
fn nobody_states_anything_for_somebody_else() {
    for topology in TOPOLOGIES {
        let mut game = match_at(&signed(3, topology), slow(), 4_000);
        let receiver = if topology == Topology::Relay { 3 } else { 0 };
        let next = game.session(0).next_turn();
        // Player 2 signs in the name of player 1.
        state(&mut game, receiver, 1, next, 2);
        assert_eq!(game.session(receiver).stats().statements_invalid, 1);
        assert_unharmed(&mut game, &format!("{topology:?}"));
    }
}

/// Neither the host nor a member of a mesh can remove a player by saying that it has left.
#[test]
fn nobody_but_the_player_ends_its_stream() {
    for (topology, from) in [(Topology::Host, 0), (Topology::Relay, 4), (Topology::Mesh, 0)] {
        for reason in [EndReason::Left, EndReason::Surrendered, EndReason::HandedOver] {
            let mut game = match_at(&signed(4, topology), slow(), 4_000);
            if topology == Topology::Mesh {
                // Only entries of silent players are accepted from others.
                game.net_mut().set_partition(&[1]);
                game.play(4_700);
                assert!(game.session(2).missing_players().contains(&PlayerId(1)));
            }
            for _ in 0..10 {
                game.play_for(30);
                forge(&mut game, 2, from, 1, Some(reason));
            }
            game.net_mut().set_partition(&[]);
            assert!(game.session(2).stats().entries_invalid > 0);
            assert_unharmed(&mut game, &format!("{topology:?} {reason:?}"));
        }
    }
}

/// It plays, but neither signs anything nor sends a checksum.
#[test]
fn who_states_nothing_and_gives_no_checksums_is_told_of() {
    for topology in TOPOLOGIES {
        let mut game = toy_match(&signed(3, topology), 1 - u32::from(topology == Topology::Mesh), 1, slow());
        game.play(3_000);
        game.put_to_sleep(2, Instant::from_millis(2_000_000));
        for until in (3_000..7_500).step_by(10) {
            game.play(until);
            for receiver in hearers(game.session(0).config(), 2) {
                let turn = game.session(0).next_turn().0;
                let packet = entries_of(2, turn - 2, vec![Entry::default(); 4], bare(turn + 2, 3));
                deliver(&mut game, receiver, 2, &packet);
            }
        }
        for node in [0, 1] {
            let told = game.events(node);
            let missing =
                |event: &&Event| matches!(event, Event::StatementMissing { player, .. } if player.0 == 2);
            let silent =
                |event: &&Event| matches!(event, Event::ChecksumMissing { player, .. } if player.0 == 2);
            assert_eq!(told.iter().filter(missing).count(), 1, "{topology:?} {told:?}");
            assert_eq!(told.iter().filter(silent).count(), 1, "{topology:?} {told:?}");
            let names = |event: &&Event| matches!(event, Event::Contradiction(_) | Event::Outlier(_));
            assert_eq!(told.iter().find(names), None, "{topology:?}");
        }
    }
}

#[test]
fn an_outlier_is_whom_most_have_signed_against() {
    for topology in TOPOLOGIES {
        for players in [2, 3, 5] {
            let mut game = toy_match(&signed(players, topology), 0, 1, slow());
            game.toy_mut(1).corrupt_at = Some(90);
            game.play(9_000);
            for node in
                (0..usize::from(players)).chain((topology == Topology::Relay).then_some(usize::from(players)))
            {
                let told = game.events(node);
                let is_relay = node == usize::from(players);
                let desync = told.iter().find_map(|event| match event {
                    Event::Desync(desync) => Some(desync),
                    _ => None,
                });
                assert_eq!(desync.unwrap().outlier(), None, "values alone prove nothing");
                let outliers: Vec<&Outlier> = told
                    .iter()
                    .filter_map(|event| match event {
                        Event::Outlier(outlier) => Some(&**outlier),
                        _ => None,
                    })
                    .collect();
                if players == 2 || is_relay {
                    assert!(outliers.is_empty(), "one against one");
                    continue;
                }
                assert_eq!(outliers.len(), 1, "{topology:?} {players} {node}");
                assert_eq!(outliers[0].player, PlayerId(1));
                assert!(outliers[0].statements.len() > usize::from(players) / 2);
                let roster = game.session(node).roster().unwrap();
                assert!(outliers[0].statements.iter().all(|statement| statement.is_signed(roster)));
            }
        }
    }
}

/// With the right checksums in its entries and wrong ones under its signature, one player of two was not noticed.
#[test]
fn a_checksum_that_is_wrong_only_where_it_is_signed_is_a_difference() {
    let mut game = toy_match(&signed(2, Topology::Host), 0, 1, slow());
    let mut last = Turn(0);
    for until in (3_000..9_000).step_by(10) {
        game.play(until);
        let said = game.session(1).statements().filter(|said| said.author.0 == 1).last();
        let Some(said) = said.filter(|said| said.turn > last) else { continue };
        last = said.turn;
        // It is there before the true one.
        let mut forged = Statement { checksum: said.checksum ^ 1, ..said.clone() };
        forged.sign(game.session(0).roster().unwrap(), &key_of(1));
        let next = game.session(0).next_turn().0;
        let signed = Signed { statements: [forged].into_iter().collect(), ..Signed::default() };
        let acks = [next; 2].into_iter().collect();
        let packet = TurnsPacket { base: next, acks, signed, ..TurnsPacket::default() };
        deliver(&mut game, 0, 1, &Packet::Turns(Box::new(packet)));
    }
    let told = game.events(0);
    let differences: Vec<&Event> = told.iter().filter(|event| matches!(event, Event::Desync(_))).collect();
    let [Event::Desync(desync)] = differences[..] else { panic!("{told:?}") };
    assert_eq!((desync.values.len(), desync.values[0].1 ^ desync.values[1].1), (2, 1));
    assert!(game.events(1).iter().all(|event| !matches!(event, Event::Desync(_))), "nobody lied there");
}

/// Leaving, surrender, bots, drops, pauses, very bad networks: nobody is accused.
#[test]
fn the_honest_are_never_accused_whatever_happens() {
    for seed in 0..24 {
        let topology = TOPOLOGIES[seed as usize % 3];
        let config = signed(5, topology).turns(80).bots_take_over(seed % 2 == 0).session_id(seed);
        let watchers = if topology == Topology::Mesh { 0 } else { 1 };
        let mut game = toy_match(&config, watchers, seed, terrible());
        game.play(4_000 + seed * 130);
        match seed % 4 {
            0 => game.session_mut(3).leave(),
            1 => game.session_mut(2).resign(Successor::Nobody),
            2 => game.session_mut(1).resign(Successor::Bot),
            _ => 0,
        };
        game.play(6_000 + seed * 130);
        game.net_mut().set_partition(&[4]);
        let until = 6_200 + seed * 411;
        game.play(until);
        game.net_mut().set_partition(&[]);
        assert!(game.play(600_000), "seed {seed}");
        let is_bad = |event: &Event| accuses(event) || matches!(event, Event::ChecksumMissing { .. });
        assert_untold(&mut game, is_bad, &format!("seed {seed} {topology:?}"));
        assert_eq!(game.session(0).phase(), SessionPhase::Finished, "seed {seed}");
    }
}

/// Each signature of an end was checked, also where nothing would be taken of the entries.
#[test]
fn made_up_signatures_of_ends_cost_little() {
    let reason = EndReason::Left;
    for (topology, receiver) in [(Topology::Host, 0), (Topology::Relay, 3), (Topology::Mesh, 0)] {
        let mut game = match_at(&signed(3, topology), slow(), 4_000);
        for round in 0..1_000_u32 {
            let next = game.session(0).next_turn().0;
            let first = next + round % 8;
            let end =
                SignedEnd { player: PlayerId(2), number: first, reason: 0, signature: [round as u8; 64] };
            let entry = Entry { extras: [Extra::End(reason)].into_iter().collect(), ..Entry::default() };
            let signed = Signed { ends: [end].into_iter().collect(), ..Signed::default() };
            // It acknowledges what it has for certain.
            let rest = TurnsPacket { signed, ..bare(next - 4, 3) };
            deliver(&mut game, receiver, 2, &entries_of(2, first, vec![entry], rest));
        }
        let checked = game.session(receiver).stats().ends_invalid;
        assert!((1..=32).contains(&checked), "{topology:?}: {checked}");
        assert_unharmed(&mut game, &format!("{topology:?}"));
    }
}

/// With nothing ahead a turn's own entry closes when the turn begins. The author signed the turn before, so its watchers were told that it had shown
/// them another match.
#[test]
fn a_player_alone_with_nothing_ahead_signs_what_its_watchers_get() {
    for ahead in [0, 1] {
        let config = signed(1, Topology::Host).turns_ahead(ahead).turns(60).watchers_min(1);
        let mut game = toy_match(&config, 1, 1, slow());
        assert!(game.run(Instant::from_millis(60_000), |_, turn, _, session| {
            if session.player().is_some() {
                crate::toy::give(session, &crate::toy::Order::Shout(turn.0));
            }
        }));
        let told = game.events(1);
        let blamed = told.iter().any(|event| matches!(event, Event::ShownAnother { .. }));
        assert!(!blamed && told.contains(&Event::Finished), "{ahead} ahead: {told:?}");
        assert!(game.session(1).statements().count() > 0, "nothing is signed");
    }
}

/// Four statements fit into a packet, and one packet went out per frame, so that with many players and few frames some came too late.
#[test]
fn with_many_players_and_few_frames_nobody_is_said_to_sign_nothing() {
    for (players, frames, topology) in
        [(16, 1, Topology::Host), (16, 3, Topology::Relay), (8, 1, Topology::Relay)]
    {
        let config = signed(players, topology).frames_per_second(frames).frames_per_turn(1).turns(60);
        let link = latency(20);
        let mut game = toy_match(&config, 0, 1, link);
        assert!(game.idle(400_000), "{players} players");
        let is_missing = |event: &Event| matches!(event, Event::StatementMissing { .. });
        assert_untold(&mut game, is_missing, &format!("{players} players, {frames} frames per second"));
    }
}
