//! `verify` and `replay`.

use std::path::Path;

use serde::Serialize;
use testudo_lockstep::replay::{Ending, Replay, ReplayPlayer};

use crate::app::playback::Course;
use crate::app::words::count;
use crate::app::{MatchError, Terms, open_replay, share};
use crate::cli::args::{LinkArgs, ReplayArgs, VerifyArgs};
use crate::cli::headless::progress_bar;
use crate::cli::{Failed, check_files, needs_window, print_json, tell_no_window, window};
use crate::console::{out, outln};
use crate::view;
use testudo_battle::Game;
use testudo_render::clock::Clock;

/// What is known about a replay file.
#[derive(Debug, Serialize)]
struct About {
    players: u8,
    units: u32,
    seed: u64,
    /// The turn of the match with which the recording begins.
    first_turn: u32,
    turns: u32,
    frames: u64,
    /// At the speed of the match, without pauses.
    seconds: f64,
    /// The file has its end and no damage.
    complete: bool,
    /// The file had reached its largest size.
    full: bool,
    /// Where and why it stops being readable.
    #[serde(skip_serializing_if = "Option::is_none")]
    damage: Option<String>,
    /// The first turn in which the peers disagreed, if the recording noticed it.
    diverged_turn: Option<u32>,
    bytes: usize,
    bytes_per_minute: f64,
}

#[derive(Debug, Serialize)]
struct Verified {
    #[serde(flatten)]
    about: About,
    /// Every checksum and every keyframe is reproduced.
    equal: bool,
    first_bad_turn: Option<u32>,
    /// The difference as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<String>,
    /// Speed of the verification as a multiple of real time.
    times_real_time: f64,
}

#[derive(Debug, Serialize)]
struct Moment {
    #[serde(flatten)]
    about: About,
    turn: u32,
    checksum: String,
    /// Living units by army.
    living: Vec<u32>,
    kills: Vec<u32>,
    /// Time of the jump from the last turn, ms.
    seek_ms: f64,
    /// Where the recording differs from what its orders lead to. The values above are those of the orders.
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<String>,
}

pub(crate) fn verify(options: &VerifyArgs, json: bool) -> Result<bool, Failed> {
    let (mut player, terms) = open(&options.file)?;
    let clock = Clock::start();
    compare(&mut player, true);
    let seconds = clock.elapsed().as_micros() as f64 / 1e6;
    let about = about(player.replay(), &terms);
    let found = player.divergence();
    let verified = Verified {
        equal: found.is_none(),
        first_bad_turn: found.map(|found| found.turn()),
        difference: found.map(|found| found.to_string()),
        times_real_time: about.seconds / seconds.max(1e-6),
        about,
    };
    let is_good = verified.equal && verified.about.complete && verified.about.diverged_turn.is_none();
    if json {
        print_json(&verified);
    } else {
        out!("{}", verified.about.in_words());
        match &verified.difference {
            None if player.replay().is_brief() => {
                outln!("last checksum   equal, {:.0} times real time", verified.times_real_time);
            }
            None => outln!("every checksum  equal, {:.0} times real time", verified.times_real_time),
            Some(difference) => outln!("DIVERGES        {difference}"),
        }
        if !verified.about.complete {
            outln!("NOT COMPLETE    everything before that point is sound");
        }
    }
    Ok(is_good)
}

/// Plays to the end, or up to the first difference, and compares everything.
fn compare(player: &mut ReplayPlayer<Game>, stops_at_difference: bool) {
    let bar = progress_bar("turn", player.replay().turns().into());
    loop {
        player.check_keyframe();
        if !player.step_turn() || (stops_at_difference && player.divergence().is_some()) {
            break;
        }
        bar.set_position(player.turn().into());
    }
    bar.finish_and_clear();
}

/// Prints a link.
pub(crate) fn link(options: &LinkArgs, json: bool) -> Result<bool, Failed> {
    let (replay, _) = open_replay(&options.file)?;
    let Some(link) = share::link(&replay, options.page.as_deref()) else {
        let why = "this battle has no link: it is too long, begins in the middle, was cut off or too large to be recorded whole, or its computers disagreed; send the file";
        return Err(Failed::usage(why));
    };
    if json {
        print_json(&serde_json::json!({ "link": link, "characters": link.len() }));
    } else {
        outln!("{link}");
    }
    Ok(true)
}

/// Opens a window, if there is a display and no option asks for text.
pub(crate) fn replay(options: &ReplayArgs, json: bool) -> Result<bool, Failed> {
    check_files(&[("FILE", Some(&options.file)), ("--log-orders", options.window.log_orders.as_deref())])?;
    if json {
        needs_window(&options.window, "--json")?;
    }
    if json || options.headless || options.speed.is_some() {
        return tell(options, json);
    }
    let (replay, terms) = open_replay(&options.file)?;
    if let Some(turn) = options.turn.filter(|turn| *turn > replay.turns()) {
        return Err(Failed::usage(format!("turn {turn}: the replay has {}", count(replay.turns(), "turn"))));
    }
    match view::open_replay(Course::new(replay, terms)?, options.turn, window(&options.window)?) {
        Err(MatchError::NoDisplay(why)) => {
            tell_no_window(&why, "the replay is printed as text", &options.window);
            tell(options, json)
        }
        shown => Ok(shown?),
    }
}

fn tell(options: &ReplayArgs, json: bool) -> Result<bool, Failed> {
    let (mut player, terms) = open(&options.file)?;
    let turns = player.replay().turns();
    let turn = options.turn.unwrap_or(if options.speed.is_some() { 0 } else { turns });
    if turn <= turns {
        // What a recording says of itself may be wrong: the state that is told is the one to which the orders lead.
        compare(&mut player, false);
    }
    // From the end, so that it is a jump backwards, as a viewer would make it.
    let clock = Clock::start();
    player.seek(turn).map_err(|error| Failed::usage(error.to_string()))?;
    let seek_ms = clock.elapsed().as_micros() as f64 / 1e3;
    if let Some(speed) = options.speed {
        watch(&mut player, &terms, speed);
    }
    let (game, turn) = (player.simulation(), player.turn());
    let armies = 0..terms.setup.players;
    let moment = Moment {
        about: about(player.replay(), &terms),
        turn,
        checksum: format!("{:016x}", game.checksum()),
        living: armies.clone().map(|army| game.middle(army).map_or(0, |(living, _)| living)).collect(),
        kills: armies.map(|army| game.score(army).0).collect(),
        seek_ms,
        difference: player.divergence().map(|found| found.to_string()),
    };
    if json {
        print_json(&moment);
    } else {
        out!("{}", moment.about.in_words());
        outln!(
            "at turn {turn:<7} checksum {}, living {:?}, kills {:?}",
            moment.checksum,
            moment.living,
            moment.kills
        );
        outln!("                the jump back from the end took {seek_ms:.1} ms");
        if let Some(difference) = &moment.difference {
            outln!("DIVERGES        {difference}; what stands above is where its orders lead");
        }
    }
    Ok(moment.about.complete && moment.about.diverged_turn.is_none() && moment.difference.is_none())
}

/// Plays to the end at a speed and shows turn and armies.
fn watch(player: &mut ReplayPlayer<Game>, terms: &Terms, speed: f64) {
    let bar = progress_bar("turn", player.replay().turns().into());
    let (clock, mut due) = (Clock::start(), 0.0);
    while let Some((events, _)) = player.replay().turn(player.turn()) {
        // A paused turn takes no time here.
        if events.frames > 0 {
            due += 1.0 / (f64::from(events.frames_per_second.max(1)) * speed);
        }
        let early = due - clock.elapsed().as_micros() as f64 / 1e6;
        if early > 0.0 {
            std::thread::sleep(std::time::Duration::from_secs_f64(early));
        }
        player.step_frame();
        let game = player.simulation();
        let living = (0..terms.setup.players).map(|army| game.middle(army).map_or(0, |(count, _)| count));
        bar.set_position(player.turn().into());
        bar.set_message(format!("living {:?}", living.collect::<Vec<_>>()));
    }
    bar.finish_and_clear();
}

fn open(path: &Path) -> Result<(ReplayPlayer<Game>, Terms), Failed> {
    let (replay, terms) = open_replay(path)?;
    let game = Game::new(terms.setup).map_err(MatchError::from)?;
    Ok((ReplayPlayer::new(replay, game), terms))
}

fn about(replay: &Replay, terms: &Terms) -> About {
    let turns = replay.turns();
    let (mut frames, mut seconds) = (0, 0.0);
    for (events, _) in (0..turns).filter_map(|turn| replay.turn(turn)) {
        frames += u64::from(events.frames);
        seconds += f64::from(events.frames) / f64::from(events.frames_per_second.max(1));
    }
    About {
        players: terms.setup.players,
        units: terms.setup.units,
        seed: terms.setup.seed,
        first_turn: replay.start().map_or(0, |(turn, _)| turn),
        turns,
        frames,
        seconds,
        complete: replay.is_complete(),
        full: replay.ending() == Some(Ending::Full),
        damage: replay.damage().map(|damage| damage.to_string()),
        diverged_turn: replay.desync(),
        bytes: replay.byte_count(),
        bytes_per_minute: if frames == 0 { 0.0 } else { replay.byte_count() as f64 / (seconds / 60.0) },
    }
}

impl About {
    fn in_words(&self) -> String {
        let mut text = format!(
            "battle          {} of {}, seed {}\nlength          {}, {}\nsize            {}, {:.0} per minute\n",
            count(self.players, "army"),
            count(self.units, "unit"),
            self.seed,
            count(self.turns, "turn"),
            count(self.frames, "frame"),
            count(self.bytes as u64, "byte"),
            self.bytes_per_minute
        );
        if self.first_turn > 0 {
            let first = self.first_turn;
            text.push_str(&format!(
                "begins          with turn {first} of the match; turns count from there\n"
            ));
        }
        if let Some(turn) = self.diverged_turn {
            text.push_str(&format!("peers disagreed from turn {turn} on\n"));
        }
        if self.full {
            text.push_str("the file had reached its largest size; the match went on\n");
        }
        if let Some(damage) = &self.damage {
            text.push_str(&format!("damaged         {damage}\n"));
        } else if !self.complete {
            text.push_str("cut off         the recording has no end\n");
        }
        text
    }
}
