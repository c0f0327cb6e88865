//! An [`Inquiry`] over the messages of a session: after a desync one peer asks another one until the number is found in which their copies differ.

use crate::session::AnySession;
use crate::session::talk::{Message, MessageError, To};
use crate::state::State;
use crate::state::inquiry::{Finding, Inquiry, InquiryError, Step};
use crate::value::ids::Identity;
use crate::value::time::{Duration, Instant};

/// First byte of a question and of an answer.
const ASK: u8 = 0;
const TELL: u8 = 1;

/// An answer that has not come after this time does not come.
const PATIENCE: Duration = Duration::from_secs(10);

/// When a question that was not answered is asked again: the other peer may have had no room for it.
const AGAIN_AFTER: [Duration; 2] = [Duration::from_secs(3), Duration::from_secs(6)];

/// A state is loaded for others this long after the last one. Honest peers need a single one, as all ask for the first frame that differs; a hostile one
/// asks for two in turn, and a load may take as long as several frames. Fifteen players and [`WATCHERS_MAX`] watchers get one each within [`PATIENCE`].
const BETWEEN_LOADS: Duration = Duration::from_millis(400);

/// A peer that has a question of its own asks within this time: all notice a difference within a second or two, and ask again after each answer.
const QUIET: Duration = Duration::from_secs(5);

/// Watchers whose questions wait at the same time. Of each player one question waits, and one answer.
const WATCHERS_MAX: usize = 8;

/// A search for the number that differs. It also answers others' questions. Its messages have the first bytes 0 and 1; a game's own messages
/// beside them begin with other bytes.
///
/// After [`crate::Event::Desync`] the game calls [`Search::begin`] with what it has kept of the last frames, and from then on [`Search::hear`] for each message
/// and [`Search::advance`] once per frame.
pub struct Search<S> {
    /// Questions and answers that wait for [`Search::advance`] and for the own search to begin, oldest first.
    waiting: Vec<Message>,
    run: Option<Run<S>>,
}

struct Run<S> {
    /// Who is asked; none if nobody can be.
    other: Option<(To, Identity)>,
    inquiry: Inquiry<S>,
    /// What is to be said next, and to whom: one question, and one answer for each peer.
    unsaid: Vec<(To, Vec<u8>)>,
    /// The last question.
    question: Vec<u8>,
    /// Since when its answer is awaited.
    asked: Option<Instant>,
    /// How often it was asked again.
    repeats: usize,
    /// The last answer: a question that was asked again may be answered twice.
    answer: Vec<u8>,
    is_in_vain: bool,
    /// When a state was loaded for another peer.
    loaded: Option<Instant>,
    /// When somebody has asked this peer, or when the search began.
    heard: Option<Instant>,
    finding: Option<Finding>,
}

impl<S> Default for Search<S> {
    fn default() -> Self {
        Self { waiting: Vec::new(), run: None }
    }
}

impl<S: State> Search<S> {
    /// Starts the questions. `other` is the peer that is asked: where messages reach it, and who it is; none if nobody can be asked, then this peer only
    /// answers. A second call changes nothing.
    pub fn begin(&mut self, other: Option<(To, Identity)>, mut inquiry: Inquiry<S>) {
        if self.run.is_some() {
            return;
        }
        let question = tagged(ASK, &inquiry.ask());
        let unsaid = other.map(|(to, _)| (to, question.clone())).into_iter().collect();
        self.run = Some(Run {
            other,
            inquiry,
            unsaid,
            question,
            asked: None,
            repeats: 0,
            answer: Vec::new(),
            is_in_vain: false,
            loaded: None,
            heard: None,
            finding: None,
        });
    }

    /// Whether it has begun.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.run.is_some()
    }

    /// The result, once there is one.
    #[must_use]
    pub fn finding(&self) -> Option<&Finding> {
        self.run.as_ref()?.finding.as_ref()
    }

    /// No more answers are expected. Others may still ask this peer ([`Search::may_go`]).
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.run.as_ref().is_some_and(Run::is_over)
    }

    /// Whether a program that stops because of the desync may go: its own search is over, and nobody has asked it for five seconds. A program that goes earlier
    /// leaves the others without its answers; the middle of a star also without those that it passes on.
    #[must_use]
    pub fn may_go(&self, now: Instant) -> bool {
        self.run.as_ref().is_some_and(|run| {
            let is_quiet = run.heard.is_some_and(|heard| now.since(heard) >= QUIET);
            run.is_over() && run.unsaid.is_empty() && is_quiet
        })
    }

    /// What this peer has kept, to play a frame again ([`Inquiry::is_reproduced`]).
    pub fn inquiry_mut(&mut self) -> Option<&mut Inquiry<S>> {
        self.run.as_mut().map(|run| &mut run.inquiry)
    }

    /// Takes a message that is a question or an answer, for [`Search::advance`]; others are left alone. Returns whether it was one. Of each peer a newer one
    /// takes the place of one that waits.
    pub fn hear(&mut self, message: Message, now: Instant) -> bool {
        if !matches!(message.bytes.first(), Some(&(ASK | TELL))) {
            return false;
        }
        match &mut self.run {
            Some(run) if is_question(&message.bytes) => run.heard = Some(now),
            run if run.as_ref().is_some_and(|run| run.awaits(&message)) => {}
            _ if is_question(&message.bytes) => {}
            _ => return true,
        }
        let is_player = |other: &Message| matches!(other.from, Identity::Player(_));
        let is_same = |other: &&mut Message| {
            let is_theirs = other.from == message.from && (is_player(other) || other.link == message.link);
            is_theirs && is_question(&other.bytes) == is_question(&message.bytes)
        };
        if let Some(other) = self.waiting.iter_mut().find(is_same) {
            *other = message;
            return true;
        }
        let watchers = self.waiting.iter().filter(|other| !is_player(other)).count();
        if let Some(first) = self.waiting.iter().position(|other| !is_player(other))
            && watchers >= WATCHERS_MAX
            && !is_player(&message)
        {
            self.waiting.remove(first);
        }
        self.waiting.push(message);
        true
    }

    /// Answers, and says what is to be said, as far as the session takes it now. States are loaded only in here, for others one in 400 ms at most.
    pub fn advance(&mut self, session: &mut AnySession, now: Instant) {
        self.take_waiting(now);
        let Some(run) = &mut self.run else { return };
        run.heard.get_or_insert(now);
        run.unsaid.retain(|(to, bytes)| {
            // A watcher behind another peer is reached by nobody: over this link the answer would come to that peer.
            if matches!(to, To::Link(peer) if !is_question(bytes) && !session.leads_to_watcher(*peer)) {
                return false;
            }
            match session.send_message(*to, bytes) {
                Err(MessageError::TooOften | MessageError::Full) => true,
                // The peer that is asked may come back. Whoever has gone waits for no answer.
                Err(MessageError::Nobody) => is_question(bytes),
                _ => false,
            }
        });
        if run.is_in_vain {
            run.unsaid.retain(|(_, bytes)| !is_question(bytes));
        }
        run.be_patient(now);
    }

    /// Hears what has come. Answers that need a state to be loaded wait for each other: otherwise a hostile peer would have all of them loaded one after the
    /// other, without end.
    fn take_waiting(&mut self, now: Instant) {
        let Some(run) = &mut self.run else { return };
        self.waiting.retain(|message| {
            let loads = is_question(&message.bytes) && run.inquiry.needs_load(&message.bytes[1..]);
            if loads && run.loaded.is_some_and(|last| now.since(last) < BETWEEN_LOADS) {
                return true;
            }
            let waits = !run.hear(message, now);
            if loads && !waits {
                run.loaded = Some(now);
            }
            waits
        });
    }
}

impl<S: State> Run<S> {
    fn is_over(&self) -> bool {
        self.finding.is_some() || self.is_in_vain || self.other.is_none()
    }

    /// Whether a message can be the answer to the question.
    fn awaits(&self, message: &Message) -> bool {
        let is_theirs = self.other.is_some_and(|(_, identity)| message.from == identity);
        is_theirs && !self.is_over()
    }

    /// Returns whether it is done with; it has to wait if the peer has asked too often.
    fn hear(&mut self, message: &Message, now: Instant) -> bool {
        match message.bytes.split_first() {
            Some((&ASK, question)) => return self.answer(message, question, now),
            Some((&TELL, answer)) if self.awaits(message) && *answer != self.answer => {
                answer.clone_into(&mut self.answer);
                match self.inquiry.hear(answer) {
                    Ok(Step::Send(question)) => {
                        (self.asked, self.repeats, self.question) = (None, 0, tagged(ASK, &question));
                        self.unsaid.retain(|(_, bytes)| !is_question(bytes));
                        self.unsaid.extend(self.other.map(|(other, _)| (other, self.question.clone())));
                    }
                    Ok(Step::Found(finding)) => self.finding = Some(finding),
                    // An answer that does not fit the question: the inquiry hears no other one.
                    Err(_) => self.is_in_vain = true,
                }
            }
            _ => {}
        }
        true
    }

    fn answer(&mut self, message: &Message, question: &[u8], now: Instant) -> bool {
        let answer = match self.inquiry.answer(message.link, now, question) {
            Ok(answer) => answer,
            Err(error) => return error != InquiryError::TooOften,
        };
        // Between two guests the middle passes it on. A watcher is reached by its own link only.
        let to = match message.from {
            Identity::Player(player) => To::Player(player),
            Identity::Watcher | Identity::Relay => To::Link(message.link),
        };
        // One for each peer, so that one that takes none keeps none from the others.
        self.unsaid.retain(|(waiting, bytes)| *waiting != to || is_question(bytes));
        self.unsaid.push((to, tagged(TELL, &answer)));
        true
    }

    /// Asks again, and gives up in the end.
    fn be_patient(&mut self, now: Instant) {
        let Some((other, _)) = self.other.filter(|_| !self.is_over()) else { return };
        let waited = now.since(*self.asked.get_or_insert(now));
        self.is_in_vain = waited >= PATIENCE;
        if AGAIN_AFTER.get(self.repeats).is_some_and(|after| waited >= *after) {
            self.repeats += 1;
            if !self.unsaid.iter().any(|(_, bytes)| is_question(bytes)) {
                self.unsaid.push((other, self.question.clone()));
            }
        }
    }
}

fn is_question(bytes: &[u8]) -> bool {
    bytes.first() == Some(&ASK)
}

fn tagged(tag: u8, bytes: &[u8]) -> Vec<u8> {
    [&[tag], bytes].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::inquiry::Moments;
    use crate::state::{StateError, Visit};
    use crate::value::ids::{PeerId, PlayerId};

    #[derive(Clone)]
    struct Numbers([u32; 300]);

    impl State for Numbers {
        fn visit<V: Visit>(&mut self, v: &mut V) -> Result<(), StateError> {
            for (index, number) in (0..).zip(&mut self.0) {
                v.object("number", index);
                v.number("value", number)?;
            }
            Ok(())
        }
    }

    /// Frames 1 to 5; in frame 4 the number at this index becomes wrong.
    fn inquiry(wrong: Option<usize>) -> Inquiry<Numbers> {
        let (mut numbers, mut moments) = (Numbers([7; 300]), Moments::default());
        for frame in 1..=5 {
            if let Some(index) = wrong.filter(|_| frame == 4) {
                numbers.0[index] = 8;
            }
            moments.push(frame, &mut numbers);
        }
        Inquiry::new(moments, numbers)
    }

    fn identity(player: u8) -> Identity {
        Identity::Player(PlayerId(player))
    }

    /// Carries what one peer has to say to the other one.
    fn carry(from: &mut Search<Numbers>, to: &mut Search<Numbers>, player: u8) -> usize {
        let said: Vec<_> = from.run.iter_mut().flat_map(|run| run.unsaid.drain(..)).collect();
        for (_, bytes) in &said {
            let message =
                Message { from: identity(player), link: PeerId(player.into()), bytes: bytes.clone() };
            assert!(to.hear(message, Instant::ZERO));
            to.take_waiting(Instant::ZERO);
        }
        said.len()
    }

    #[test]
    fn two_peers_find_the_number_and_a_question_before_the_own_search_waits() {
        let (mut here, mut there) = (Search::default(), Search::default());
        here.begin(Some((To::Player(PlayerId(1)), identity(1))), inquiry(None));
        assert_eq!(carry(&mut here, &mut there, 0), 1);
        assert!(!there.has_begun() && here.finding().is_none() && !here.is_over());
        there.begin(None, inquiry(Some(123)));
        there.take_waiting(Instant::ZERO);
        for _ in 0..10 {
            carry(&mut there, &mut here, 1);
            carry(&mut here, &mut there, 0);
        }
        let finding = here.finding().expect("it is found").clone();
        assert_eq!((finding.frame, finding.here.map(|leaf| leaf.index)), (Some(4), Some(123)));
        assert!(here.is_over() && there.finding().is_none());
    }

    /// Programs that stopped with their own search left others without answers.
    #[test]
    fn a_program_stays_for_the_questions_of_others() {
        let config = crate::SessionConfig::new(1).simulated();
        let mut session = crate::Session::<crate::NoAction>::single(config, Instant::ZERO).unwrap();
        let mut here = Search::default();
        here.begin(None, inquiry(None));
        let mut may_go = |here: &mut Search<Numbers>, ms| {
            here.advance(&mut session, Instant::from_millis(ms));
            here.may_go(Instant::from_millis(ms))
        };
        assert!(here.is_over() && !may_go(&mut here, 0) && !may_go(&mut here, 4_900));
        let bytes = tagged(ASK, &inquiry(None).ask());
        let asks = Message { from: identity(2), link: PeerId(2), bytes };
        assert!(here.hear(asks, Instant::from_millis(4_900)));
        assert!(!may_go(&mut here, 9_800) && may_go(&mut here, 9_900));
    }

    #[test]
    fn an_answer_that_does_not_fit_ends_the_search_at_once() {
        let mut here = Search::default();
        here.begin(Some((To::Player(PlayerId(1)), identity(1))), inquiry(None));
        let bytes = vec![TELL, 9];
        here.hear(Message { from: identity(1), link: PeerId(1), bytes }, Instant::ZERO);
        here.take_waiting(Instant::ZERO);
        assert!(here.is_over() && here.finding().is_none());
    }

    #[test]
    fn messages_of_the_game_and_of_strangers_are_left_alone() {
        let mut here = Search::default();
        let message = |from, bytes: &[u8]| Message { from, link: PeerId(1), bytes: bytes.to_vec() };
        for bytes in [&[][..], &[2], b"hello"] {
            assert!(!here.hear(message(identity(1), bytes), Instant::ZERO));
        }
        here.begin(Some((To::Player(PlayerId(1)), identity(1))), inquiry(None));
        assert!(
            here.hear(message(identity(2), &[TELL, 0, 0]), Instant::ZERO),
            "from a peer that was not asked"
        );
        assert!(here.finding().is_none() && !here.is_over());
        for _ in 0..100 {
            here.hear(message(identity(2), &[ASK, 9]), Instant::ZERO);
            here.take_waiting(Instant::ZERO);
        }
        let unsaid = |search: &Search<Numbers>| search.run.as_ref().map(|run| run.unsaid.len());
        assert_eq!(unsaid(&here), Some(1), "no answer to what is no question");
        let question = tagged(ASK, &inquiry(None).ask());
        for _ in 0..5 {
            here.hear(message(identity(2), &question), Instant::from_millis(10_000));
            here.take_waiting(Instant::from_millis(10_000));
        }
        assert_eq!(unsaid(&here), Some(2), "one answer waits for each peer");
    }

    /// All answers went to the middle of the star, so nobody else found anything.
    #[test]
    fn who_asks_through_the_middle_is_answered_there() {
        let mut here = Search::default();
        here.begin(Some((To::Player(PlayerId(1)), identity(1))), inquiry(None));
        let question = tagged(ASK, &inquiry(None).ask());
        for from in [identity(1), identity(2), Identity::Watcher, identity(2)] {
            here.hear(Message { from, link: PeerId(9), bytes: question.clone() }, Instant::ZERO);
            here.take_waiting(Instant::ZERO);
        }
        let unsaid = here.run.iter().flat_map(|run| &run.unsaid);
        let said: Vec<(To, u8)> = unsaid.map(|(to, bytes)| (*to, bytes[0])).collect();
        let [one, two] = [1, 2].map(|player| To::Player(PlayerId(player)));
        assert_eq!(said, [(one, ASK), (one, TELL), (To::Link(PeerId(9)), TELL), (two, TELL)]);
    }

    /// A question to a peer that had gone kept the program for as long as the session lasted.
    #[test]
    fn nobody_stays_for_a_question_that_is_in_vain() {
        let config = crate::SessionConfig::new(2).simulated();
        let mut session = crate::Session::<crate::NoAction>::host(config, Instant::ZERO).unwrap();
        let mut here = Search::default();
        here.begin(Some((To::Player(PlayerId(1)), identity(1))), inquiry(None));
        let mut may_go = |ms| {
            here.advance(&mut session, Instant::from_millis(ms));
            here.may_go(Instant::from_millis(ms))
        };
        assert!(!may_go(0) && !may_go(9_000));
        may_go(10_000);
        assert!(may_go(10_010));
    }

    /// A peer that asked for two frames in turn had eight states loaded per second, for as long as it liked. What loads slowly did nothing else.
    #[test]
    fn who_asks_for_one_state_after_the_other_has_few_of_them_loaded() {
        let mut here = Search::default();
        here.begin(None, inquiry(None));
        let mut answered = 0;
        for number in 0..1_000_u16 {
            // Each time another part, so that no answer is known already.
            let [low, high] = number.to_le_bytes();
            let bytes = vec![ASK, 2, 1 + (answered % 2) as u8, 0, 0, 0, low, high, 0, 0, 232, 3, 0, 0];
            let now = Instant::from_millis(10 * u64::from(number));
            here.hear(Message { from: identity(1), link: PeerId(9), bytes }, now);
            here.take_waiting(now);
            answered += u32::from(here.waiting.is_empty());
        }
        assert!((20..=25).contains(&answered), "{answered}");
    }

    /// One peer that asked for one frame after the other had all of them loaded within a call.
    #[test]
    fn one_state_is_loaded_at_a_time_and_the_others_wait() {
        let mut here = Search::default();
        here.begin(None, inquiry(None));
        for (player, frame) in [(1, 1), (2, 2), (3, 3), (4, 4)] {
            let bytes = vec![ASK, 2, frame, 0, 0, 0, 0, 0, 0, 0, 44, 1, 0, 0];
            here.hear(Message { from: identity(player), link: PeerId(9), bytes }, Instant::ZERO);
        }
        for ms in (0..1_600).step_by(100) {
            here.take_waiting(Instant::from_millis(ms));
            let (said, answered) = (here.run.as_ref().map(|run| run.unsaid.len()), 1 + ms as usize / 400);
            assert_eq!((said, here.waiting.len()), (Some(answered), 4 - answered));
        }
    }

    /// It went to the end of the queue, and waited behind hostile ones until it was in vain.
    #[test]
    fn a_question_that_is_asked_again_keeps_its_place() {
        let mut here = Search::<Numbers>::default();
        for (player, byte) in [(1, 0), (2, 0), (3, 0), (1, 1)] {
            let (from, link) = (identity(player), PeerId(9));
            here.hear(Message { from, link, bytes: vec![ASK, byte] }, Instant::ZERO);
        }
        let waiting: Vec<_> = here.waiting.iter().map(|other| (other.from, other.bytes[1])).collect();
        assert_eq!(waiting, [(identity(1), 1), (identity(2), 0), (identity(3), 0)]);
    }

    /// A question that got lost in a crowd of others was never asked again.
    #[test]
    fn a_question_is_asked_again_and_a_second_answer_to_it_is_ignored() {
        let (mut here, mut there) = (Search::default(), Search::default());
        here.begin(Some((To::Player(PlayerId(1)), identity(1))), inquiry(None));
        there.begin(None, inquiry(Some(123)));
        let mut found = 0;
        for _ in 0..8 {
            let run = here.run.as_mut().expect("it has begun");
            let twice = run.unsaid.clone();
            run.unsaid.extend(twice);
            carry(&mut here, &mut there, 0);
            let run = there.run.as_mut().expect("it has begun");
            let twice = run.unsaid.clone();
            run.unsaid.extend(twice);
            found += carry(&mut there, &mut here, 1);
        }
        assert!(here.finding().is_some(), "after {found} answers");
        let mut asks = Search::default();
        asks.begin(Some((To::Player(PlayerId(1)), identity(1))), inquiry(None));
        let run = asks.run.as_mut().expect("it has begun");
        let asked = |run: &mut Run<Numbers>, ms| {
            run.be_patient(Instant::from_millis(ms));
            run.unsaid.drain(..).count()
        };
        let times = [0, 2_900, 3_000, 5_900, 6_000, 9_900].map(|ms| asked(run, ms));
        assert_eq!((times, run.is_in_vain), ([1, 0, 1, 0, 1, 0], false));
        assert_eq!((asked(run, 10_000), run.is_in_vain), (0, true));
    }

    /// Messages of one peer before the search kept the questions of all others out.
    #[test]
    fn everybody_has_room_for_one_question() {
        let mut here = Search::<Numbers>::default();
        let question = tagged(ASK, &inquiry(None).ask());
        let mut hear = |from, link: u32, bytes: &[u8]| {
            here.hear(Message { from, link: PeerId(link), bytes: bytes.to_vec() }, Instant::ZERO);
            here.waiting.len()
        };
        for _ in 0..50 {
            assert_eq!(hear(identity(1), 1, &[ASK]), 1);
        }
        let watchers = (0..50).map(|link| hear(Identity::Watcher, link, &[ASK])).max();
        assert_eq!(watchers, Some(1 + WATCHERS_MAX));
        let players = (2..16).map(|player| hear(identity(player), 1, &question)).max();
        assert_eq!(players, Some(15 + WATCHERS_MAX));
    }
}
