//! A host and a guest in one process, over loopback.

use std::collections::BTreeMap;
use std::path::Path;
use std::slice;

use testudo_lockstep::{EndReason, Pace, PlayerId};

use super::*;
use crate::app::Terms;
use crate::app::error::Fate;
use crate::app::online::name::Name;
use crate::app::online::remark::Remedy;
use crate::app::online::saves::Save;
use crate::app::{Remark, ReplayFile};
use testudo_battle::{Command, Order, Selection, Setup};

/// This much real time is a failure, not a slow machine.
const PATIENCE: Duration = Duration::from_secs(120);

fn options() -> SeatOptions {
    SeatOptions { name: Name::cleaned("Ada"), ..SeatOptions::default() }
}

/// Between two looks at what comes: without a pause, both would take a core from all else that is tested.
fn take_a_break() {
    std::thread::park_timeout(std::time::Duration::from_millis(1));
}

/// A host and a guest in one process, over loopback.
struct Pair {
    games: [NetworkMatch; 2],
    news: [Vec<News>; 2],
    clock: Clock,
}

impl Pair {
    fn new(is_sealed: bool) -> Self {
        Self::with(is_sealed, &options())
    }

    fn with(is_sealed: bool, of_guest: &SeatOptions) -> Self {
        let terms = Terms { setup: Setup { players: 2, units: 5, seed: 3, map: None }, turns: 1_000 };
        let bind = SocketAddr::from(([127, 0, 0, 1], 0));
        let agreement = Agreement::new(&terms, Pace::Adaptive, true);
        let hosting = Hosting { agreement, bind, public: Vec::new(), is_sealed, save: None };
        let host = NetworkMatch::host(&hosting, options()).unwrap();
        let codes = host.seat().and_then(Seat::codes).unwrap();
        let code = &codes.players[0].1;
        let reached = if is_sealed {
            HostAddress::Sealed(code.parse().unwrap())
        } else {
            HostAddress::Plain(codes.address)
        };
        let request = JoinRequest { units_max: 1_000, ..JoinRequest::place(reached) };
        let guest = NetworkMatch::join(request, of_guest.clone()).unwrap();
        Self { games: [host, guest], news: [Vec::new(), Vec::new()], clock: Clock::start() }
    }

    fn until(&mut self, what: &str, is_done: impl Fn(&Self) -> bool) {
        while !is_done(self) {
            assert!(self.clock.elapsed() < PATIENCE, "{what}: {:?}", self.news);
            for (game, news) in self.games.iter_mut().zip(&mut self.news) {
                game.step().unwrap();
                news.extend(std::iter::from_fn(|| game.poll_news()));
            }
            take_a_break();
        }
    }

    fn seat(&mut self, player: usize) -> &mut Seat {
        self.games[player].seat_mut().unwrap()
    }

    fn has_heard(&self, player: usize, is_it: impl Fn(&News) -> bool) -> bool {
        self.news[player].iter().any(is_it)
    }
}

/// A page that had opened a room and was loaded again could invite nobody any more. What it keeps between is text.
#[test]
fn who_comes_back_to_a_room_can_still_invite() {
    let mut pair = Pair::new(true);
    let codes = pair.games[0].seat().and_then(Seat::codes).unwrap().clone().back_by("0abc".into());
    let text = serde_json::to_string(&codes.by_page(Some("https://example.org/".into()))).unwrap();
    let codes: Codes = serde_json::from_str(&text).unwrap();
    assert_eq!(codes.link("0abc").as_deref(), Some("https://example.org/#0abc"));
    let [host, guest] = pair.games;
    pair.games = [host, guest.with_codes(Some(codes.clone()))];
    let told = News::Listening(codes.clone());
    pair.until("the codes", |pair| pair.has_heard(1, |news| *news == told));
    assert_eq!(pair.seat(1).codes(), Some(&codes));
}

/// They filled the queue, and the order that settles the teams had no place in it.
#[test]
fn orders_before_the_start_do_not_cost_the_teams() {
    let mut pair = Pair::new(false);
    for player in 0..2 {
        assert!(pair.seat(0).set_team(PlayerId(player), player + 1));
    }
    let order = Order::new(Selection::All, Command::Stop);
    let refused = (0..100).filter(|_| pair.seat(0).order(slice::from_ref(&order)).is_err()).count();
    pair.until("the first turns", |pair| pair.games[0].seat().is_some_and(|seat| seat.frame() > 20));
    assert_eq!([0, 1].map(|player| pair.seat(0).team_of(PlayerId(player))), [1, 2]);
    assert_eq!(refused, 100);
}

#[test]
fn two_persons_play_pause_and_part_in_good_order() {
    [true, false].into_iter().for_each(play_pause_and_part);
}

fn play_pause_and_part(is_sealed: bool) {
    let mut pair = Pair::new(is_sealed);
    let address = pair.games[0].seat().and_then(Seat::codes).map(|codes| codes.address);
    assert_eq!(pair.games[1].asked(), address);
    pair.until("everybody is here", |pair| {
        (0..2).all(|player| pair.has_heard(player, |news| *news == News::Started))
    });
    let order = Order::new(Selection::All, Command::Stop);
    let given = pair.seat(1).order(slice::from_ref(&order)).unwrap().0;
    let ran = |news: &News| matches!(news, News::Ran { player, .. } if player.0 == 1);
    pair.until("the order runs", |pair| (0..2).all(|player| pair.has_heard(player, ran)));
    let orders = [0, 1].map(|player: usize| pair.news[player].iter().find(|news| ran(news)).cloned());
    assert_eq!(orders[0], orders[1], "in the same turn everywhere");
    let Some(News::Ran { turn, .. }) = orders[0] else { unreachable!() };
    assert!(turn > given, "given in turn {given}, run in turn {turn}");

    pair.seat(0).toggle_pause().unwrap();
    let stands = |pair: &Pair| {
        pair.games.iter().all(|game| game.seat().is_some_and(|seat| seat.session().is_paused()))
    };
    pair.until("a pause for all", stands);
    let frames = [0, 1].map(|player| pair.seat(player).frame());
    assert_eq!(frames[0], frames[1], "they stand at the same frame");
    pair.seat(1).toggle_pause().unwrap();
    pair.until("its end", |pair| {
        pair.games.iter().all(|game| game.seat().is_some_and(|seat| seat.frame() > frames[0]))
    });

    let named = |game: &NetworkMatch| {
        let is_named = |seat: &Seat, player| seat.name(PlayerId(player)).as_deref() == Some("Ada");
        game.seat().is_some_and(|seat| [0, 1].iter().all(|player| is_named(seat, *player)))
    };
    pair.until("everybody knows the names", |pair| pair.games.iter().all(named));
    let is_it = |news: &&News| matches!(news, News::Fingerprint(_));
    let fingerprints = [0, 1].map(|player: usize| pair.news[player].iter().find(is_it).cloned());
    assert_eq!(fingerprints[0], fingerprints[1], "the same keys everywhere");
    assert!(fingerprints[0].is_some());

    pair.seat(1).leave();
    pair.until("the guest is gone", |pair| {
        let is_gone =
            |news: &News| matches!(news, News::Gone { player, reason: EndReason::Left, is_taken_over: true } if player.0 == 1);
        pair.games[1].seat().is_some_and(Seat::is_over) && pair.has_heard(0, is_gone)
    });
    assert_eq!(pair.seat(1).session().phase(), SessionPhase::Left);
    assert_eq!(pair.seat(0).session().phase(), SessionPhase::Running);
    let [host, guest] = pair.games;
    let (host, guest) = (host.end().unwrap().unwrap(), guest.end().unwrap().unwrap());
    assert!(guest.terms.turns <= host.terms.turns && guest.divergent_turn.is_none(), "{guest:?}");
}

/// A full disk was told at the end of the match, when the rest of the replay was lost.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_while_the_match_runs() {
    let options = SeatOptions { replay: ReplayFile::At("/dev/full".into()), ..options() };
    let mut pair = Pair::with(false, &options);
    let is_it = |news: &News| matches!(news, News::DiskTrouble(why) if why.starts_with("/dev/full: "));
    pair.until("the disk is full", |pair| pair.has_heard(1, is_it));
    let frame = pair.seat(1).frame();
    assert!(frame <= 20, "told in frame {frame}, with the first turns");
    pair.until("the match goes on", |pair| {
        pair.games.iter().all(|game| game.seat().is_some_and(|seat| seat.frame() > frame + 20))
    });
    assert_eq!(pair.seat(1).session().phase(), SessionPhase::Running);
    assert_eq!(pair.news[1].iter().filter(|news| is_it(news)).count(), 1, "once");
    assert!(!pair.has_heard(0, |news| matches!(news, News::DiskTrouble(_))), "the other disk has room");
}

/// Everything passes through the host: guests named whoever else they waited for, and counted down to a drop that never came.
#[test]
fn a_guest_whose_host_is_gone_blames_nobody() {
    let mut pair = Pair::new(false);
    let has_played = |game: &NetworkMatch| game.seat().is_some_and(|seat| seat.compared().0 > 0);
    pair.until("a turn", |pair| pair.games.iter().all(has_played));
    assert_eq!(pair.seat(0).computers(), 2);
    pair.news[1].clear();
    let is_silent = |news: &News| matches!(news, News::Remark { remark: Remark::Silent { .. }, .. });
    while !pair.has_heard(1, is_silent) {
        assert!(pair.clock.elapsed() < PATIENCE, "{:?}", pair.news[1]);
        let guest = &mut pair.games[1];
        guest.step().unwrap();
        pair.news[1].extend(std::iter::from_fn(|| guest.poll_news()));
        take_a_break();
    }
    assert!(pair.seat(1).silence().is_some());
    let blames = |news: &News| matches!(news, News::Remark { remark: Remark::Waits { .. }, .. });
    assert!(!pair.has_heard(1, blames), "{:?}", pair.news[1]);
}

/// The panel of a window alone showed it.
#[test]
fn whose_machine_is_slow_is_told_once_on_every_screen() {
    let mut pair = Pair::new(false);
    let slow = |news: &&News| matches!(news, News::Remark { remark: Remark::Slow { .. }, .. });
    let has_started =
        |pair: &Pair| (0..2).all(|player| pair.has_heard(player, |news| *news == News::Started));
    pair.until("everybody is here", has_started);
    let told_in = |pair: &Pair| pair.news.iter().map(|news| news.iter().filter(slow).count()).min();
    let mut turns = u32::MAX;
    // Some turns after the line, it has not been said again.
    while pair.seat(0).compared().0 < turns {
        pair.seat(1).note_frame_time(Duration::from_millis(100));
        let begun = Clock::start();
        pair.until("a moment", |_| begun.elapsed() > Duration::from_millis(5));
        if turns == u32::MAX && told_in(&pair) == Some(1) {
            turns = pair.seat(0).compared().0 + 10;
        }
    }
    let told = |player: usize| pair.news[player].iter().filter(slow).cloned().collect::<Vec<News>>();
    let remedies = [0, 1].map(|player| match &told(player)[..] {
        [News::Remark { remark: Remark::Slow { player: PlayerId(1), percent: 50..=60, remedy }, .. }] => {
            *remedy
        }
        other => panic!("{other:?}"),
    });
    assert_eq!(remedies, [Remedy::Host, Remedy::Own]);
}

#[test]
fn who_leaves_before_the_first_turn_has_nothing_to_tell() {
    let mut pair = Pair::new(false);
    let [host, _] = &mut pair.games;
    host.step().unwrap();
    host.seat_mut().unwrap().leave();
    let [host, guest] = pair.games;
    assert!(host.seat().is_some_and(Seat::is_over));
    assert!(host.end().unwrap().is_none() && guest.end().unwrap().is_none());
}

/// Its last turns ran nowhere else, and its replay counted as complete.
#[test]
fn the_replay_of_who_was_dropped_is_not_complete() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.replay");
    let mut pair = Pair::with(false, &SeatOptions { replay: ReplayFile::At(path.clone()), ..options() });
    let has_played = |pair: &Pair| pair.games[1].seat().is_some_and(|seat| seat.compared().0 > 5);
    pair.until("turns", has_played);
    assert_eq!(pair.seat(0).kick(PlayerId(1)), Ok(()));
    pair.until("the guest is dropped", |pair| pair.has_heard(1, |news| *news == News::ComingBack));
    let [_, guest] = pair.games;
    let outcome = guest.end().unwrap().unwrap();
    let (replay, _) = Kept::File(path.clone()).open().unwrap();
    assert!(!replay.is_complete() && outcome.end.early.is_some(), "{outcome:?}");
    let turns = outcome.terms.turns;
    assert!((6..=replay.turns()).contains(&turns), "{turns} of {}", replay.turns());
}

/// A save of a match of two, made by the guest beside this replay.
fn save_beside(replay: &Path) -> Save {
    let mut pair = Pair::with(false, &SeatOptions { replay: ReplayFile::At(replay.into()), ..options() });
    pair.until("a save", |pair| pair.games[1].seat().is_some_and(|seat| seat.resumable().is_some()));
    let path = pair.games[1].seat().and_then(Seat::resumable).unwrap();
    let save = Save::open(path).unwrap();
    std::fs::remove_file(path).unwrap();
    let agreement = Agreement { host: PlayerId(0), ..save.agreement };
    Save { agreement, ..save }
}

/// A host that began in the moment in which its save had come was believed: the guest compared before the start or never.
#[test]
fn a_changed_save_is_found_after_a_start_in_the_same_moment() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    let save = save_beside(&folder.join("a.replay"));
    for is_changed in [true, false] {
        let mut kept = save.clone();
        // The host has given the match some turns more.
        kept.agreement.turns += u32::from(is_changed);
        kept.store(&folder.join("match.save")).unwrap();
        let (bind, agreement) = (SocketAddr::from(([127, 0, 0, 1], 0)), save.agreement);
        let save = Some(save.clone());
        let hosting = Hosting { agreement, bind, public: Vec::new(), is_sealed: false, save };
        let mut host = NetworkMatch::host(&hosting, options()).unwrap();
        let seat = host.seat_mut().unwrap();
        seat.set_ready(false);
        let place = JoinRequest::place(HostAddress::Plain(seat.codes().unwrap().address));
        let options = SeatOptions { replay: ReplayFile::In(folder.into()), ..options() };
        let mut guest = NetworkMatch::join(place, options).unwrap();
        let clock = Clock::start();
        while guest.seat().is_none_or(|seat| seat.session().phase() == SessionPhase::Lobby) {
            assert!(clock.elapsed() < PATIENCE, "{:?}", guest.seat().map(|seat| seat.session().phase()));
            // Of a guest with a place only the seat goes on: the save comes and the match begins, and nobody has compared yet.
            match guest.seat_mut() {
                None => guest.step().unwrap(),
                Some(seat) => {
                    seat.step().unwrap();
                    let is_here = seat.session().resumed().is_some() && !seat.session().is_joining();
                    host.seat_mut().unwrap().set_ready(is_here);
                }
            }
            host.step().unwrap();
            take_a_break();
        }
        let session = guest.seat().unwrap().session();
        assert!(session.resumed().is_some() && !session.is_joining(), "{:?}", session.phase());
        let stepped = guest.step();
        if is_changed {
            let why = stepped.unwrap_err();
            let is_it = matches!(why, MatchError::Invitation(InvitationError::ChangedSave { .. }));
            assert!(is_it, "{why}");
        } else {
            stepped.unwrap();
            let told: Vec<News> = std::iter::from_fn(|| guest.poll_news()).collect();
            assert!(told.contains(&News::Resumes { is_own: true }), "{told:?}");
        }
    }
}

/// It would have been resumed as player 0, whose player got no code then.
#[test]
fn a_watcher_keeps_no_save() {
    let folder = tempfile::tempdir().unwrap();
    let mut pair = Pair::new(false);
    let address = pair.games[0].seat().and_then(Seat::codes).map(|codes| codes.address).unwrap();
    let place = JoinRequest::place(HostAddress::Plain(address));
    let request = JoinRequest { watches: true, units_max: 1_000, ..place };
    let of_watcher = SeatOptions { replay: ReplayFile::At(folder.path().join("w.replay")), ..options() };
    let mut watcher = NetworkMatch::join(request, of_watcher).unwrap();
    let is_saved = |game: &NetworkMatch| game.seat().is_some_and(|seat| seat.session().next_turn().0 > 15);
    while !is_saved(&watcher) {
        assert!(pair.clock.elapsed() < PATIENCE);
        pair.games.iter_mut().for_each(|game| game.step().unwrap());
        watcher.step().unwrap();
        take_a_break();
    }
    let files = std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().file_name());
    let files: Vec<_> = files.collect();
    assert_eq!(files, ["w.replay"]);
    assert_eq!(watcher.seat().unwrap().resumable(), None);
}

/// The place is lost, and the match is not: the others play on.
#[test]
fn nobody_resumes_a_match_that_goes_on() {
    let lost = || InvitationError::Lost { why: "another program has the place".into() };
    assert_eq!([lost().fate(), InvitationError::Removed.fate()], [Fate::GoesOn; 2]);
    assert_eq!(InvitationError::Over.fate(), Fate::MayBeOver);
    assert_eq!(InvitationError::WrongSecret.fate(), Fate::Broken);
}

/// A session stands after the state that it has received before the game has loaded it. What a page told of its checksum in between was
/// that of an earlier turn.
#[test]
fn who_joins_by_state_tells_the_checksums_of_the_others() {
    let mut pair = Pair::new(false);
    let address = pair.games[0].seat().and_then(Seat::codes).map(|codes| codes.address).unwrap();
    let turns = |game: &NetworkMatch| game.seat().map_or(0, |seat| seat.compared().0);
    for round in 1..=2 {
        let begin = round * 10;
        pair.until("turns", |pair| turns(&pair.games[0]) >= begin);
        let request = JoinRequest {
            watches: true,
            units_max: 1_000,
            ..JoinRequest::place(HostAddress::Plain(address))
        };
        let mut watcher = NetworkMatch::join(request, options()).unwrap();
        let mut told = [BTreeMap::new(), BTreeMap::new()];
        let both = |[host, joined]: &[BTreeMap<u32, u64>; 2]| {
            joined
                .iter()
                .filter(|(turns, _)| **turns > 0)
                .filter_map(|(turns, sum)| Some((*turns, *sum, *host.get(turns)?)))
                .collect::<Vec<_>>()
        };
        while both(&told).len() < 5 {
            assert!(pair.clock.elapsed() < PATIENCE, "a watcher: {told:?}");
            pair.games.iter_mut().for_each(|game| game.step().unwrap());
            watcher.step().unwrap();
            for (told, game) in told.iter_mut().zip([&pair.games[0], &watcher]) {
                if let Some((turns, Some(checksum))) = game.seat().map(Seat::compared) {
                    told.entry(turns).or_insert(checksum);
                }
            }
            take_a_break();
        }
        for (turns, joined, host) in both(&told) {
            assert_eq!(joined, host, "after {turns} turns");
        }
    }
}
