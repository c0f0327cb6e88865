//! The command line: what the user asked for, and how the program ends.

mod args;
mod bench;
mod conformance;
mod cubes;
mod desync;
mod headless;
mod netbench;
mod network;
mod plot;
mod referee;
mod relay;
mod replay;
mod report;
mod skirmish;
mod soak;
mod typed;
mod value;

use std::fs::File;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread::Builder;

use clap::Parser;
use clap::error::ErrorKind;

use crate::app::{MatchError, trace};
use crate::cli::args::{Arguments, Command, SkirmishArgs};
use crate::cli::report::Report;
use crate::console;
use crate::console::{errln, out, outln};
use crate::view::WindowOptions;

/// The reason why there is no result: one sentence and the exit code.
#[derive(Debug)]
struct Failed {
    code: u8,
    sentence: String,
}

impl Failed {
    /// Bad usage or unreadable input.
    fn usage(sentence: impl Into<String>) -> Self {
        Self { code: 2, sentence: sentence.into() }
    }
}

impl From<MatchError> for Failed {
    fn from(error: MatchError) -> Self {
        Self { code: if error.is_usage() { 2 } else { 1 }, sentence: error.to_string() }
    }
}

/// Windows gives the first thread one MiB, and a window that is not optimised needs more.
const STACK: usize = 8 << 20;

/// Runs the program, on a thread with room where the first one has little.
pub(crate) fn run() -> ExitCode {
    let thread = cfg!(windows).then(|| Builder::new().stack_size(STACK).spawn(run_here));
    match thread {
        Some(Ok(thread)) => thread.join().unwrap_or(ExitCode::FAILURE),
        _ => run_here(),
    }
}

/// Reads the arguments, runs the command and reports the result.
fn run_here() -> ExitCode {
    // Errors of the parser itself must know this, too.
    let json = std::env::args_os().any(|argument| argument == "--json");
    let result = match Arguments::try_parse() {
        Ok(arguments) => trace::begin_if_asked().map_err(Failed::usage).and_then(|()| execute(&arguments)),
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            // A reader that has seen enough may close the pipe.
            match error.print() {
                Err(why) if why.kind() != io::ErrorKind::BrokenPipe => Err(unwritten(&why)),
                _ => return ExitCode::SUCCESS,
            }
        }
        Err(error) => Err(Failed::usage(
            one_line(&error.to_string())
                + &hint(std::env::args_os().map(|argument| argument.to_string_lossy().into_owned())),
        )),
    };
    let lost = console::lost().filter(|_| result.is_ok()).map(unwritten);
    match lost.map_or(result, Err) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(failed) => {
            if json {
                outln!("{}", serde_json::json!({ "error": failed.sentence }));
            }
            errln!("testudo: {}", failed.sentence);
            ExitCode::from(failed.code)
        }
    }
}

fn unwritten(error: &io::Error) -> Failed {
    let sentence = format!("the result could not be written on standard output: {error}");
    Failed { code: 1, sentence }
}

/// Returns whether everything agreed.
fn execute(arguments: &Arguments) -> Result<bool, Failed> {
    let json = arguments.json;
    match &arguments.command {
        None => skirmish::skirmish(&SkirmishArgs::default(), json),
        Some(Command::Skirmish(options)) => skirmish::skirmish(options, json),
        Some(Command::Headless(options)) => headless::headless(options, json),
        Some(Command::Cubes(options)) => cubes::cubes(options, json),
        Some(Command::Host(options)) => network::run_host(options, json),
        Some(Command::Join(options)) => network::run_join(options, json),
        Some(Command::Relay(options)) => relay::run_relay(options, json),
        Some(Command::Referee(options)) => referee::run_referee(options, json),
        Some(Command::Verdict(options)) => referee::run_verdict(options, json),
        Some(Command::RelayLoad(options)) => relay::run_load(options),
        Some(Command::Bench(options)) => bench::bench(options, json),
        Some(Command::Netbench(options)) => netbench::netbench(options, json),
        Some(Command::Conformance) => conformance::conformance(json),
        Some(Command::Soak(options)) => soak::run_soak(options, json),
        Some(Command::Verify(options)) => replay::verify(options, json),
        Some(Command::Replay(options)) => replay::replay(options, json),
        Some(Command::Link(options)) => replay::link(options, json),
        Some(Command::Desync(options)) => desync::desync(options, json),
        Some(Command::Other(words)) => {
            let name = words.first().map_or("", String::as_str);
            Err(Failed::usage(format!("unknown command '{name}'; see --help")))
        }
    }
}

/// Prints the result on standard output. `network` describes the network of the match.
fn print(report: &Report, json: bool, network: &str) {
    if json {
        print_json(report);
    } else {
        out!("{}", report.summary(network));
    }
}

/// Prints a line of the standard error on the standard output, too, for scripts: not beside a JSON object, and not twice on one terminal.
fn tell_script(line: &str, json: bool) {
    if !json && !std::io::stdout().is_terminal() {
        outln!("{line}");
    }
}

/// What the options say of a window; its log file is created.
fn window(options: &args::WindowArgs) -> Result<WindowOptions, Failed> {
    let create = |path: &PathBuf| {
        let refused = |error| Failed::usage(format!("cannot write {}: {error}", path.display()));
        File::create(path).map_err(refused)
    };
    Ok(WindowOptions { log: options.log_orders.as_ref().map(create).transpose()?, fps_max: options.fps_max })
}

/// Options that only a window has are refused beside one that asks for none.
fn needs_window(options: &args::WindowArgs, without: &str) -> Result<(), Failed> {
    if options.is_asked() {
        let why = format!("--log-orders and --fps-max need the window: leave out {without}");
        return Err(Failed::usage(why));
    }
    Ok(())
}

/// Says what happens where there is no display.
fn tell_no_window(why: &str, instead: &str, options: &args::WindowArgs) {
    let lost = if options.is_asked() { "; --log-orders and --fps-max do nothing" } else { "" };
    errln!("There is no window ({why}): {instead}{lost}.");
}

/// Where a path leads, however it is written; of a file that is not there yet, where it will be. None of what is no file: a device may stand for several.
fn file_at(path: &Path) -> Option<PathBuf> {
    if path.metadata().is_ok_and(|about| !about.is_file()) {
        return None;
    }
    let is_here = |path: &Path| path.as_os_str().is_empty();
    path.ancestors().find_map(|start| {
        let found = if is_here(start) { Path::new(".").canonicalize() } else { start.canonicalize() };
        let rest = path.strip_prefix(start).ok()?;
        found.ok().map(|found| if is_here(rest) { found } else { found.join(rest) })
    })
}

/// Files that options name are different ones, and none has the name of the save beside the replay.
fn check_files(files: &[(&str, Option<&Path>)]) -> Result<(), Failed> {
    let given: Vec<(&str, &Path)> =
        files.iter().filter_map(|(option, path)| Some((*option, (*path)?))).collect();
    let is_same = |a: &Path, b: &Path| a == b || file_at(a).is_some_and(|file| file_at(b) == Some(file));
    for (at, (option, path)) in given.iter().enumerate() {
        if let Some((other, _)) = given[..at].iter().find(|(_, other)| is_same(other, path)) {
            return Err(Failed::usage(format!("{other} and {option} name the same file")));
        }
        if *option == "--replay" && path.extension().is_some_and(|extension| extension == "save") {
            return Err(Failed::usage(
                "--replay ends in .save, the name of the save that is kept beside a replay",
            ));
        }
    }
    Ok(())
}

/// A code has room for so many addresses; one that it left out would be one that somebody waits at.
fn check_public(given: usize, most: usize) -> Result<(), Failed> {
    if given > most {
        return Err(Failed::usage(format!("--public is given {given} times, {most} are possible")));
    }
    Ok(())
}

/// Whether the file of the desync report can be written: one that is not there yet is made, and removed again.
fn check_report(path: Option<&Path>) -> Result<(), Failed> {
    let Some(path) = path else { return Ok(()) };
    let is_there = path.exists();
    let opened = File::options().append(true).create(true).open(path).map(drop);
    let checked = if is_there { opened } else { opened.and_then(|()| std::fs::remove_file(path)) };
    checked.map_err(|error| Failed::usage(format!("cannot write {}: {error}", path.display())))
}

/// Writes the desync report, if there is a desync and a file for the report. A failure is told on standard error: the result has been printed.
fn save_difference(report: &Report, path: Option<&Path>, replay: Option<&Path>) {
    let Some(path) = path else { return };
    if let Err(error) = report.save_difference(path, replay) {
        errln!("testudo: cannot write {}: {error}", path.display());
    }
}

/// Says what went wrong besides. Whether everything agreed, and nothing did.
fn told(report: &Report) -> Result<bool, Failed> {
    if let Some(error) = &report.error {
        errln!("testudo: {error}{}", report.how_to_resume());
    }
    Ok(report.checksums_agree && report.error.is_none())
}

fn print_json(report: &impl serde::Serialize) {
    match serde_json::to_string_pretty(report) {
        Ok(text) => outln!("{text}"),
        Err(error) => outln!("{}", serde_json::json!({ "error": error.to_string() })),
    }
}

/// The parser's message is long; its first paragraph names the error.
fn one_line(message: &str) -> String {
    let paragraph = message.lines().map(str::trim).take_while(|line| !line.is_empty());
    let line = paragraph.collect::<Vec<_>>().join(" ");
    line.trim_start_matches("error: ").to_owned()
}

/// What to type instead, if options stand where a command should, as in `testudo --units 50`.
fn hint(arguments: impl Iterator<Item = String>) -> String {
    let given: Vec<String> = arguments.skip(1).collect();
    if !given.first().is_some_and(|first| first.starts_with("--")) {
        return String::new();
    }
    let fits = |command: &&&str| {
        let words = ["testudo", command].into_iter().chain(given.iter().map(String::as_str));
        Arguments::try_parse_from(words).is_ok()
    };
    match ["skirmish", "headless", "host"].iter().find(fits) {
        Some(command) => format!("; try: testudo {command} {}", given.join(" ")),
        None => "; options follow a command: testudo COMMAND --help".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_forgets_the_command_is_told_what_to_type() {
        let said = |line: &str| hint(line.split(' ').map(str::to_owned));
        assert_eq!(said("testudo --units 50"), "; try: testudo skirmish --units 50");
        assert_eq!(said("testudo --players 3 --turns 9"), "; try: testudo headless --players 3 --turns 9");
        assert_eq!(said("testudo --nonsense"), "; options follow a command: testudo COMMAND --help");
        assert_eq!(said("testudo skirmish --unit 50"), "", "the parser knows better");
        assert_eq!(said("testudo nonsense"), "");
    }

    #[test]
    fn errors_of_the_parser_become_one_line() {
        for arguments in
            [&["testudo", "join"][..], &["testudo", "headless", "--players", "0"], &["testudo", "--x"]]
        {
            let error = Arguments::try_parse_from(arguments).unwrap_err();
            let line = one_line(&error.to_string());
            assert!(line.len() > 20 && !line.contains('\n') && !line.contains("Usage"), "{line}");
        }
    }
}
