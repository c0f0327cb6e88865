//! Players vote out whoever spoils the match, also where nobody who plays is in the middle.

use super::slow;
use crate::joining::{come_back, config, start};
use crate::play::{Play as _, assert_agreed};
use crate::toy::{Toy, middle_of};
use testudo_lockstep::{Event, Failure, PlayerId, Refusal, SessionPhase, Topology, VirtualMatch, VoteError};

#[test]
fn most_of_a_star_can_vote_somebody_out_and_back_in() {
    for topology in [Topology::Host, Topology::Relay] {
        let config = config(4, topology);
        let mut game = start(&config, 0, 1, slow());
        game.play(5_000);
        let vote = |game: &mut VirtualMatch<Toy>, voter: usize, out: bool| {
            game.session_mut(voter).vote_out(PlayerId(3), out)
        };
        let gone = |game: &VirtualMatch<Toy>| game.toy(0).bots.len();
        assert_eq!(vote(&mut game, 3, true), Err(VoteError::Oneself));
        assert_eq!(vote(&mut game, 1, true), Ok(()));
        assert!(game.session(1).votes_out().contains(PlayerId(3)), "{topology:?}");
        game.play(7_000);
        assert_eq!(gone(&game), 0, "{topology:?}: one of three others is too few");
        assert_eq!(vote(&mut game, 2, true), Ok(()));
        game.play(8_500);
        assert_eq!(gone(&game), 1, "{topology:?}: within a second and a half");
        let votes = game.events(0).into_iter().filter_map(|event| match event {
            Event::Vote { voter, player, out, .. } => Some((voter.0, player.0, out)),
            _ => None,
        });
        assert_eq!(votes.collect::<Vec<_>>(), [(1, 3, true), (2, 3, true)], "{topology:?}");

        come_back(&mut game, &config, 3);
        game.play(10_000);
        let refused = SessionPhase::Failed(Failure::Refused(Refusal::VotedOut));
        assert_eq!(game.session(3).phase(), refused, "{topology:?}");

        assert_eq!(vote(&mut game, 2, false), Ok(()));
        assert!(game.session(2).votes_out().is_empty(), "{topology:?}");
        game.play(12_000);
        come_back(&mut game, &config, 3);
        game.play(300_000);
        assert_eq!(game.toy(0).returned.len(), 1, "{topology:?}");
        assert_agreed(&mut game, &format!("{topology:?}"));
    }
}

#[test]
fn no_vote_counts_in_the_lobby_or_in_a_match_of_two() {
    for topology in [Topology::Host, Topology::Relay] {
        for players in 2..=3 {
            let mut game = start(&config(players, topology), 0, 1, slow());
            let own = game.session_mut(0);
            assert_eq!(own.phase(), SessionPhase::Lobby);
            assert_eq!(own.vote_out(PlayerId(1), true), Err(VoteError::NotBegun), "{topology:?}");
            game.play(4_000);
            let counts = game.session_mut(0).vote_out(PlayerId(1), true);
            let expected = if players == 3 { Ok(()) } else { Err(VoteError::OnlyTwo) };
            assert_eq!(counts, expected, "{topology:?}: who is to agree?");
            let nobody = game.session(0).may_vote_out(PlayerId(players));
            assert!(nobody.is_err(), "{topology:?}: there is no such player");
        }
    }
}

#[test]
fn the_host_is_not_voted_out_and_one_player_alone_drops_nobody() {
    for topology in [Topology::Host, Topology::Relay] {
        let config = config(3, topology);
        let mut game = start(&config, 0, 1, slow());
        game.play(4_000);
        let is_relayed = topology == Topology::Relay;
        for voter in [1, 2] {
            let counts = game.session_mut(voter).vote_out(PlayerId(0), true);
            assert_eq!(
                counts,
                if is_relayed { Ok(()) } else { Err(VoteError::Host) },
                "{topology:?}: the player that opened a relay's room is one like others"
            );
        }
        game.play(6_000);
        assert_eq!(game.toy(1).bots.len(), usize::from(is_relayed));
        if is_relayed {
            assert_eq!(game.session_mut(1).vote_out(PlayerId(2), true), Ok(()));
            game.play_until(5, 120_000, |game| game.session(1).phase() != SessionPhase::Running);
            // The last turn has run, and the others have yet to know that.
            assert_eq!(game.session(1).phase(), SessionPhase::Ending);
            assert_eq!(game.session_mut(1).vote_out(PlayerId(2), true), Err(VoteError::Over));
            game.play(300_000);
            let phases = [1, 2, middle_of(&config) as usize].map(|node| game.session(node).phase());
            assert_eq!(phases, [SessionPhase::Finished; 3]);
            let counts = game.session_mut(1).vote_out(PlayerId(2), true);
            assert_eq!(counts, Err(VoteError::Over));
        }
    }
}
