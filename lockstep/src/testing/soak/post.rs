//! The harness's own account of what players say to each other: each message arrives once, in order, at whom it is for, or its author is told.

use crate::session::AnySession;
use crate::session::talk::To;
use crate::value::ids::{PlayerId, PlayerSet};

/// A message that a session accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Sent {
    /// None: everybody.
    to: Option<u8>,
    /// The turn that began.
    turn: u32,
}

/// A player's messages.
#[derive(Clone, Debug, Default)]
struct Author {
    sent: Vec<Sent>,
    /// Whom something did not reach, as the author was told; bit n for player n.
    told: u16,
}

/// Everything that was said and heard.
#[derive(Clone, Debug)]
pub(super) struct Post {
    players: u8,
    authors: Vec<Author>,
    /// By node and author: the numbers of the messages that came, in order.
    heard: Vec<Vec<Vec<u32>>>,
    findings: Vec<String>,
}

impl Post {
    pub(super) fn new(players: u8, nodes: u32) -> Self {
        let authors = vec![Author::default(); usize::from(players)];
        let heard = vec![vec![Vec::new(); usize::from(players)]; nodes as usize];
        Self { players, authors, heard, findings: Vec::new() }
    }

    /// A player says something to all, and the next time to another player.
    pub(super) fn say(&mut self, player: u8, turn: u32, session: &mut AnySession) {
        let number = self.authors[usize::from(player)].sent.len() as u32;
        let other = (u32::from(player) + 1 + turn % (u32::from(self.players) - 1)) % u32::from(self.players);
        let to = (!number.is_multiple_of(2)).then_some(other as u8);
        let address = to.map_or(To::Everybody, |to| To::Player(PlayerId(to)));
        let mut bytes = number.to_le_bytes().to_vec();
        // Some fill a packet. If all did, the queues of a bad network would not be empty at the end.
        bytes.resize(if turn.is_multiple_of(16) { 1_000 } else { 4 + turn as usize % 60 }, player);
        if session.send_message(address, &bytes).is_ok() {
            self.authors[usize::from(player)].sent.push(Sent { to, turn });
        }
    }

    /// A player is told whom something did not reach.
    pub(super) fn undelivered(&mut self, player: u8, players: PlayerSet) {
        self.authors[usize::from(player)].told |= players.iter().fold(0, |set, player| set | 1 << player.0);
    }

    /// A message came to a node, which may be that of a watcher.
    pub(super) fn hear(&mut self, node: u32, author: u8, bytes: &[u8], may_hear: bool) {
        let number = bytes.first_chunk().map_or(u32::MAX, |number| u32::from_le_bytes(*number));
        let sent = self.authors.get(usize::from(author)).and_then(|author| author.sent.get(number as usize));
        let is_whole = bytes.iter().skip(4).all(|byte| *byte == author);
        let is_for = sent.is_some_and(|sent| sent.to.is_none_or(|to| u32::from(to) == node));
        if !is_whole || !is_for || !may_hear {
            self.findings
                .push(format!("node {node} heard message {number} of player {author}, not meant for it"));
            return;
        }
        let heard = &mut self.heard[node as usize][usize::from(author)];
        if heard.last().is_some_and(|last| *last >= number) {
            let last = heard.last();
            self.findings
                .push(format!("node {node} heard message {number} of player {author} after {last:?}"));
        }
        heard.push(number);
    }

    /// Number of messages that came.
    pub(super) fn heard(&self) -> u64 {
        self.heard.iter().flatten().map(|heard| heard.len() as u64).sum()
    }

    /// What is wrong. Players who stayed are owed what they said to each other before this turn.
    pub(super) fn findings(&self, before: u32, stayed: impl Fn(u8) -> bool) -> Vec<String> {
        let mut findings = self.findings.clone();
        for (author, said) in (0_u8..).zip(&self.authors).filter(|(author, _)| stayed(*author)) {
            for listener in (0..self.players).filter(|listener| *listener != author && stayed(*listener)) {
                let heard = &self.heard[usize::from(listener)][usize::from(author)];
                let is_told = said.told & 1 << listener != 0;
                let is_due = |sent: &Sent| sent.turn < before && sent.to.is_none_or(|to| to == listener);
                let lost =
                    (0..).zip(&said.sent).find(|(number, sent)| is_due(sent) && !heard.contains(number));
                if let Some((number, sent)) = lost.filter(|_| !is_told) {
                    let turn = sent.turn;
                    findings.push(format!(
                        "player {listener} did not hear message {number} of player {author} in turn {turn}"
                    ));
                }
            }
        }
        findings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Player 0 has said something to all, then something to player 1.
    fn post() -> Post {
        let mut post = Post::new(3, 4);
        post.authors[0].sent = vec![Sent { to: None, turn: 3 }, Sent { to: Some(1), turn: 9 }];
        post
    }

    fn words(number: u8) -> [u8; 6] {
        [number, 0, 0, 0, 0, 0]
    }

    fn findings(change: impl Fn(&mut Post)) -> Vec<String> {
        let mut post = post();
        for (node, number) in [(1, 0), (2, 0), (3, 0), (1, 1)] {
            post.hear(node, 0, &words(number), true);
        }
        change(&mut post);
        post.findings(20, |_| true)
    }

    #[test]
    fn what_everybody_heard_is_good() {
        assert_eq!(findings(|_| {}), Vec::<String>::new());
    }

    #[test]
    fn lost_doubled_and_strange_messages_are_found() {
        let found = |change: &dyn Fn(&mut Post)| findings(change).len();
        assert_eq!(found(&|post| post.heard[2][0].clear()), 1, "lost");
        assert_eq!(found(&|post| post.hear(2, 0, &words(0), true)), 1, "doubled");
        assert_eq!(found(&|post| post.hear(2, 0, &words(1), true)), 1, "for another player");
        assert_eq!(found(&|post| post.hear(3, 0, &words(2), true)), 1, "never said");
        assert_eq!(found(&|post| post.hear(3, 1, &words(0), true)), 1, "in the name of another");
        assert_eq!(found(&|post| post.hear(1, 0, &[1, 0, 0, 0, 7], true)), 1, "changed");
    }

    #[test]
    fn a_watcher_that_hears_too_early_is_found() {
        let mut post = post();
        post.hear(3, 0, &words(0), false);
        assert_eq!(post.findings(0, |_| true).len(), 1);
    }

    #[test]
    fn what_the_author_was_told_or_nobody_is_owed_is_no_fault() {
        let told = |set: u16| {
            findings(|post| {
                post.heard[2][0].clear();
                post.undelivered(0, PlayerSet::from_bits(set));
            })
        };
        assert_eq!((told(1 << 2).len(), told(1 << 1).len()), (0, 1));
        let post = post();
        assert_eq!((post.findings(3, |_| true).len(), post.findings(4, |_| true).len()), (0, 2));
        assert_eq!(post.findings(20, |player| player == 0), Vec::<String>::new());
    }
}
