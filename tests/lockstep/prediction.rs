//! Prediction: it never touches the truth, and it comes true as far as anybody can know.

use crate::foreseen::Foreseen;
use crate::play::{Play as _, alone, assert_agreed, give_order};
use crate::toy::{Order, Toy, bot, game_match, give, latency, terrible, toy_match, toy_match_from};
use testudo_lockstep::predict::Predictor;
use testudo_lockstep::replay::{Ending, Recorded, Replay, ReplayHeader};
use testudo_lockstep::{
    Driver, Event, Identity, Instant, Pace, PlayerId, Session, SessionConfig, SessionPhase, Successor,
    Topology, Turn, VirtualMatch,
};
use testudo_tests::cases::cases;
use testudo_tests::scenes::Generator;

/// Orders with their frames and players.
type Log = Vec<(u32, u8, Order)>;

/// Every order of the second list is in the first one, in the same frame and in this order. Returns how many are only in the first.
fn missing_in(confirmed: &[(u32, u8, Order)], predicted: &[(u32, u8, Order)]) -> usize {
    let mut rest = confirmed.iter();
    for order in predicted {
        assert!(rest.any(|other| other == order), "{order:?} did not come true: {confirmed:?}");
    }
    confirmed.len() - predicted.len()
}

/// Nobody else gives orders, and so each prediction must come true but for orders that were given later. Orders come at any time within turns of
/// different lengths.
#[test]
fn what_is_predicted_comes_true_unless_something_new_is_said() {
    for seed in 0..60 {
        let mut chance = Generator::new(seed);
        let [turn, per_turn] = [5, 3].map(|most| chance.between(1, most) as u32);
        let config =
            SessionConfig::new(2).simulated().turns(150).frames_per_turn(turn).actions_per_turn_max(per_turn);
        let game = toy_match(&config, 0, seed, latency(30));
        let mut match_ = Foreseen::new(game, |peer| peer == 0);
        let mut predicted: Vec<(u32, Log, usize)> = Vec::new();
        let (mut given, mut compared, mut later) = (0, 0, 0);
        let mut frame = 0;
        while !match_.game.is_over() {
            match_.game.step(&mut |_, _, _, _| {});
            if chance.between(0, 9) == 0 && match_.order(0, &Order::Push(given as i16 + 1)) {
                given += 1;
            }
            let followed = match_.follow(0, |_| {});
            if followed.corrected {
                let frame = match_.predicted(0).frames;
                predicted.retain(|(at, ..)| *at != frame);
            }
            let here = match_.confirmed(0);
            if here.frames > frame {
                frame = here.frames;
                if let Some(at) = predicted.iter().position(|(at, ..)| *at == frame) {
                    let (_, log, known) = predicted.remove(at);
                    let missing = missing_in(&here.log, &log);
                    assert!(missing <= given - known, "seed {seed}, frame {frame}: {missing}");
                    (compared, later) = (compared + 1, later + missing);
                }
            }
            let ahead = match_.predicted(0);
            if !followed.is_behind && predicted.iter().all(|(at, ..)| *at != ahead.frames) {
                predicted.push((ahead.frames, ahead.log.clone(), given));
            }
        }
        let toy = match_.confirmed(0);
        assert_eq!(toy.log.len(), given, "seed {seed}: every order ran");
        assert_eq!(match_.predicted(0).log, toy.log, "seed {seed}: nothing is left to predict");
        assert!(given > 20 && compared > 300.min(120 * turn as usize), "seed {seed}: {given}, {compared}");
        assert!(later <= given * turn as usize, "seed {seed}: {later}");
    }
}

/// What a player sees: the order is carried out in the next frame, and not two turns later. That holds with a budget that leaves corrections for
/// later, too. If the frames of a call are just enough to complete a correction, the order is seen in the next call. Within one frame a correction has nearly
/// always been completed before; not if two frames pass shortly after each other because the match has stood (one of 290 orders, in turns of 2).
#[test]
fn the_own_order_is_seen_in_the_next_frame() {
    let budgets = [(1, 64), (2, 64), (4, 64), (7, 64), (2, 2), (4, 2), (7, 3)];
    let mut postponed = 0;
    for ((turn, budget), seed) in
        budgets.into_iter().flat_map(|of| cases(0..6_u32).map(move |seed| (of, seed.into())))
    {
        let what = format!("turns of {turn}, budget {budget}, seed {seed}");
        let config =
            SessionConfig::new(2).simulated().turns(400).frames_per_turn(turn).actions_per_turn_max(9);
        let mut match_ = Foreseen::new(toy_match(&config, 0, seed, terrible()), |_| true);
        match_.budget = budget;
        // Both give orders at their leisure.
        let mut chance = Generator::new(u64::from(turn));
        let (mut given, mut waited, mut was_postponed) = ([0_i16; 2], [None::<u32>; 2], [false; 2]);
        let (mut seen, mut delay) = (0, 0);
        while !match_.game.is_over() {
            match_.game.step(&mut |_, _, _, _| {});
            for peer in 0..2 {
                let followed = match_.follow(peer, |_| {});
                let frame = match_.confirmed(peer).frames;
                let has = |toy: &Toy| {
                    let own = |entry: &&(u32, u8, Order)| usize::from(entry.1) == peer;
                    toy.log.iter().filter(own).count() == given[peer] as usize
                };
                if let Some(since) = waited[peer] {
                    if frame > since {
                        let is_seen = has(match_.predicted(peer));
                        let had_no_time = followed.corrected && followed.frames == budget;
                        let may_be_postponed = had_no_time && !was_postponed[peer];
                        assert!(is_seen || may_be_postponed, "{what}, peer {peer}, frame {frame}");
                        was_postponed[peer] = !is_seen;
                        postponed += u32::from(!is_seen);
                        seen += 1;
                    }
                    if has(match_.confirmed(peer)) {
                        delay += frame - since;
                        waited[peer] = None;
                    }
                } else if frame > 3 * turn && chance.between(0, 30) == 0 {
                    given[peer] += 1;
                    if match_.order(peer, &Order::Push(given[peer])) {
                        waited[peer] = Some(frame);
                    } else {
                        given[peer] -= 1;
                    }
                }
            }
        }
        let orders = u32::from(given[0].unsigned_abs() + given[1].unsigned_abs());
        assert!(seen > 40 && orders > 10, "{seen}, {orders}");
        assert!(delay > orders * 2 * turn - 2 * turn, "orders run two turns later: {delay} for {orders}");
    }
    assert!(postponed < 20, "{postponed}");
}

fn checksums(game: &VirtualMatch<Toy>) -> Vec<(u64, u32, usize)> {
    let simulate = |d: &&Driver<Toy>| d.session().identity() != Identity::Relay;
    let drivers = game.drivers().iter().filter(simulate);
    drivers.map(|d| (d.simulation().checksum(), d.simulation().frames, d.simulation().log.len())).collect()
}

/// The same matches with and without prediction, at any peers, with any budget: every state, every packet is the same.
#[test]
fn prediction_changes_nothing_in_the_match() {
    for seed in 0..24 {
        let mut chance = Generator::new(seed);
        let topology = [Topology::Host, Topology::Relay, Topology::Mesh][seed as usize % 3];
        let pace = [Pace::Fixed, Pace::Adaptive, Pace::Article][chance.between(0, 2) as usize];
        let players = chance.between(1, 4) as u8;
        let config = SessionConfig::new(players)
            .simulated()
            .turns(120)
            .topology(topology)
            .pace(pace)
            .actions_per_turn_max(3)
            .rotate_players(chance.between(0, 1) == 1)
            .session_id(seed);
        let link = if chance.between(0, 2) > 0 { terrible() } else { latency(50) };
        let which = chance.between(1, 255);
        let budget = [1, 2, 3, 64][chance.between(0, 3) as usize];
        let mut at_turn = |_: usize, turn: Turn, _: &Toy, session: &mut Session<Order>| {
            let own = session.player().and_then(|player| bot(seed, turn.0, player.0));
            own.into_iter().for_each(|order| give(session, &order));
            if (turn.0, session.player()) == (40, Some(PlayerId(0))) {
                session.pause(true).unwrap();
            }
            if (turn.0, session.player()) == (45, Some(PlayerId(0))) {
                session.pause(false).unwrap();
            }
        };
        let mut plain = toy_match(&config, 0, seed, link);
        let over = plain.run(Instant::from_millis(2_000_000), &mut at_turn);
        let mut match_ = Foreseen::new(toy_match(&config, 0, seed, link), |peer| which >> peer & 1 == 1);
        match_.budget = budget;
        match_.run(&mut at_turn);
        assert!(over, "seed {seed}");
        assert_eq!(checksums(&match_.game), checksums(&plain), "seed {seed}");
        assert_eq!(match_.game.net().stats(), plain.net().stats(), "seed {seed}");
        for peer in 0..match_.predictors.len() {
            let identity = match_.game.session(peer).identity();
            if match_.predictors[peer].is_some() && identity != Identity::Relay {
                // Nothing is left to predict.
                for _ in 0..200 {
                    match_.follow(peer, |_| {});
                }
                assert_eq!(
                    match_.predicted(peer).checksum(),
                    match_.confirmed(peer).checksum(),
                    "seed {seed}"
                );
            }
        }
    }
}

/// Every recording is verified as that of any other match, and is byte by byte that of the same match without prediction: orders, notices and
/// the checksum of each turn.
#[test]
fn a_predicted_match_verifies_like_any_other() {
    for seed in 0..12 {
        let mut chance = Generator::new(seed);
        let players = chance.between(2, 4) as u8;
        let topology = [Topology::Host, Topology::Relay, Topology::Mesh][seed as usize % 3];
        let config = SessionConfig::new(players)
            .simulated()
            .turns(150)
            .topology(topology)
            .frames_per_turn(3)
            .session_id(seed);
        let frames = [1, 2, 5, 64][chance.between(0, 3) as usize];
        let seers = chance.between(1, (1 << players) - 1);
        let [plain, (foreseen, corrections)] =
            [0, seers].map(|seers| recorded(&config, seed, frames, &|peer| seers >> peer & 1 == 1));
        assert_eq!(foreseen, plain.0, "seed {seed}: the same bytes");
        assert!(corrections > 20, "seed {seed}: {corrections} corrections");
        assert_eq!(foreseen.len(), usize::from(players), "seed {seed}");
        for bytes in foreseen {
            let replay = Replay::read(bytes, 7).unwrap();
            assert_eq!(replay.keyframe_before(149).map(|(turn, _)| turn), Some(147), "seed {seed}");
            let verification = replay.verify(Toy::default());
            assert!(verification.is_sound() && verification.turns == 150, "seed {seed}: {verification}");
        }
    }
}

/// The recordings of all players, and how many corrections there were.
fn recorded(
    config: &SessionConfig,
    seed: u64,
    frames: u32,
    predicts: &dyn Fn(usize) -> bool,
) -> (Vec<Vec<u8>>, u64) {
    let header = ReplayHeader { sim_version: 7, content_hash: 9, players: config.players, settings: vec![1] };
    let start = Recorded::new(Toy::default(), &header).keyframe_every(21);
    let mut game = game_match(config, &start, 0, seed, terrible());
    let players = 0..usize::from(config.players);
    let confirmed = |game: &VirtualMatch<Recorded<Toy>>, peer: usize| game.toy(peer).game().clone();
    let mut predictors: Vec<_> =
        players.clone().map(|peer| predicts(peer).then(|| Predictor::new(&confirmed(&game, peer)))).collect();
    while !game.is_over() {
        game.step(&mut |_, turn: Turn, _: &Recorded<Toy>, session: &mut Session<Order>| {
            let own = session.player().and_then(|player| bot(seed, turn.0, player.0));
            own.into_iter().for_each(|order| give(session, &order));
        });
        for (driver, predictor) in game.drivers().iter().zip(&mut predictors) {
            if let Some(predictor) = predictor {
                predictor.follow(driver, driver.simulation().game(), game.now(), frames);
            }
        }
    }
    let files = players.map(|peer| {
        let recorded = game.toy_mut(peer);
        recorded.finish(Ending::Over);
        recorded.take_bytes()
    });
    (files.collect(), predictors.iter().flatten().map(|predictor| predictor.stats().corrections).sum())
}

/// What a peer's orders are guessed to be has no influence on what they are.
#[test]
fn wrong_guesses_are_put_right() {
    let config = SessionConfig::new(2).simulated().turns(200);
    let prophet = Toy { guesses: true, ..Toy::default() };
    let mut match_ = Foreseen::new(toy_match_from(&config, &prophet, 0, 3, latency(80)), |_| true);
    // Player 0 only watches.
    match_.run(|peer, turn, _, session| {
        if peer == 1 {
            give_order(turn, session)
        }
    });
    assert_eq!(match_.confirmed(1).log, match_.confirmed(0).log);
    for peer in 0..2 {
        assert_eq!(match_.predicted(peer).log, match_.confirmed(0).log);
    }
    let stats = match_.predictors[0].as_ref().unwrap().stats();
    assert!(stats.turns_right > 80 && stats.turns_wrong > 80 && stats.corrections > 80, "{stats:?}");
}

/// If nobody gives an order, nothing is ever simulated twice.
#[test]
fn a_right_prediction_costs_one_frame_per_frame() {
    let config = SessionConfig::new(2).simulated().turns(100);
    let mut match_ = Foreseen::new(toy_match(&config, 0, 1, terrible()), |_| true);
    while !match_.game.is_over() {
        match_.step(&mut |_, _, _, _| {}, |_, _| panic!("nothing to correct"));
    }
    for peer in 0..2 {
        let stats = match_.predictors[peer].as_ref().unwrap().stats();
        // The first frame has run before anything can be predicted.
        assert_eq!((stats.frames, stats.corrections, stats.turns_wrong), (399, 0, 0), "{stats:?}");
        assert_eq!((stats.turns_right, stats.copies), (99, 2), "{stats:?}");
    }
}

/// With less time than corrections need, the prediction reaches less far, and what is shown goes on moving.
#[test]
fn with_little_time_the_depth_is_reduced() {
    let config = SessionConfig::new(2).simulated().turns(300);
    let depth_at_end = |budget: u32| {
        let mut match_ = Foreseen::new(toy_match(&config, 0, 1, latency(40)), |peer| peer == 0);
        match_.budget = budget;
        let (mut depth, mut behind) = (Vec::new(), 0);
        let mut frame = 0;
        while !match_.game.is_over() {
            match_.game.step(&mut |_, turn, _, session: &mut Session<_>| give_order(turn, session));
            // One picture for each frame.
            if match_.confirmed(0).frames > frame {
                frame = match_.confirmed(0).frames;
                let followed = match_.follow(0, |_| {});
                depth.push(followed.depth);
                behind += u32::from(followed.is_behind);
            }
        }
        let tail = &depth[depth.len() - 400..depth.len() - 50];
        (tail.iter().sum::<u32>() / tail.len() as u32, behind)
    };
    let (ample, narrow, least) = (depth_at_end(64), depth_at_end(3), depth_at_end(1));
    assert_eq!(ample, (11, 0), "three turns of four frames, less one");
    assert!(narrow.0 < 11 && narrow.0 >= 2 && narrow.1 > 100, "{narrow:?}");
    assert!(least.0 < narrow.0, "{least:?}, {narrow:?}");
}

#[derive(Clone, Copy, Debug)]
enum Trouble {
    Dropped,
    Surrenders,
    HandsOver,
    ComesBack,
}

/// Players who leave, bots that take over, players who come back, and one who comes into the running match and predicts at once.
#[test]
fn leaving_bots_and_returns_are_followed() {
    use crate::joining::{come_back, config, start};
    for trouble in [Trouble::Dropped, Trouble::Surrenders, Trouble::HandsOver, Trouble::ComesBack] {
        for seed in 0..3 {
            let config = config(3, Topology::Host).turns(260);
            let game = start(&config, 0, seed, terrible());
            let mut match_ = Foreseen::new(game, |_| true);
            let mut is_done = false;
            while !match_.game.is_over() {
                let now = match_.game.now();
                assert!(now < Instant::from_millis(3_000_000), "{trouble:?}");
                if !is_done && now >= Instant::from_millis(6_000) {
                    is_done = true;
                    let session = match_.game.session_mut(2);
                    match trouble {
                        Trouble::Surrenders => drop(session.resign(Successor::Nobody)),
                        Trouble::HandsOver => drop(session.resign(Successor::Bot)),
                        Trouble::Dropped => drop(session.leave()),
                        Trouble::ComesBack => {
                            come_back(&mut match_.game, &config, 2);
                            match_.predictors[2] = Some(Predictor::new(match_.confirmed(2)));
                        }
                    }
                }
                match_.step(&mut |_, turn, _, session: &mut Session<_>| give_order(turn, session), |_, _| {});
            }
            for peer in 0..3 {
                let has_all = match_.game.session(peer).phase() == SessionPhase::Finished;
                for _ in 0..20 {
                    match_.follow(peer, |_| {});
                }
                let both = [match_.predicted(peer).checksum(), match_.confirmed(peer).checksum()];
                assert!(!has_all || both[0] == both[1], "{trouble:?}, seed {seed}, peer {peer}");
            }
            if !matches!(trouble, Trouble::Dropped) {
                assert_agreed(&mut match_.game, &format!("{trouble:?}"));
            }
        }
    }
}

/// A match is saved and resumed while everybody predicts: the same course as without.
#[test]
fn a_saved_match_is_resumed_with_prediction() {
    let config = SessionConfig::new(2).simulated().turns(120);
    let mut at_turn = |_: usize, turn: Turn, _: &Toy, session: &mut Session<Order>| {
        give_order(turn, session);
        if (turn.0, session.player()) == (50, Some(PlayerId(1))) {
            session.save();
        }
    };
    let mut first = Foreseen::new(toy_match(&config, 0, 1, terrible()), |_| true);
    let mut saved = None;
    while !first.game.is_over() {
        first.step(&mut at_turn, |_, _| {});
        saved = saved.or(first.game.session_mut(0).take_saved());
    }
    let saved = saved.expect("a save");
    let (turn, state) = first.confirmed(0).saved.clone().expect("a save point");
    assert_eq!(saved.turn().0, turn);
    let game = toy_match_from(&config.resume(saved), &state, 0, 2, terrible());
    let mut second = Foreseen::new(game, |_| true);
    second.run(&mut at_turn);
    for peer in 0..2 {
        assert_eq!(second.confirmed(peer).log, first.confirmed(0).log);
        assert_eq!(second.predicted(peer).log, first.confirmed(0).log);
    }
    while let Some(event) = second.game.poll_event(0) {
        assert!(!matches!(event, Event::Desync(_)), "{event:?}");
    }
}

/// Match A ended in the middle of a correction. The lobby of a match that is resumed at a later turn showed the rest of it, and subtracted positions of two
/// matches.
#[test]
fn a_lobby_shows_nothing_of_a_match_before_it() {
    let config = SessionConfig::new(1).simulated();
    let mut later = alone(config.clone().turns(160));
    let mut now = Instant::ZERO;
    while later.session().next_turn() < Turn(150) {
        later.session_mut().save();
        now += later.session().config().turn_length();
        later.advance(now);
    }
    let saved = later.session_mut().take_saved().expect("a save");
    let (turn, state) = later.simulation().saved.clone().expect("a save point");
    assert_eq!(saved.turn().0, turn);

    let pair = SessionConfig::new(2).simulated().turns(120).actions_per_turn_max(9);
    let mut first = Foreseen::new(toy_match(&pair, 0, 1, latency(30)), |peer| peer == 0);
    // Two frames per frame: a correction takes several calls.
    first.budget = 2;
    let mut at_turn = |_: usize, turn: Turn, _: &Toy, session: &mut Session<Order>| give_order(turn, session);
    let mut frame = 0;
    loop {
        assert!(!first.game.is_over(), "no correction took longer than a call");
        first.game.step(&mut at_turn);
        let before = core::mem::replace(&mut frame, first.confirmed(0).frames);
        if frame > before && first.follow(0, |_| {}).is_behind && frame > 100 {
            break;
        }
    }
    let mut predictor = first.predictors.swap_remove(0).expect("it predicts");

    let config = config.turns(160).watchers_min(1).resume(saved);
    let lobby = Driver::new(*state, Session::host(config, now).unwrap());
    assert_eq!(lobby.session().phase(), SessionPhase::Lobby);
    for _ in 0..50 {
        predictor.follow(&lobby, lobby.simulation(), now, 1);
        assert_eq!(predictor.simulation().checksum(), lobby.simulation().checksum());
    }
}
