//! The command line: what the program was asked for, and how it ends.
//!
//! Exit codes: 0 = done and everything agreed; 1 = a disagreement, or the match or the network failed; 2 = bad usage.

mod args;
mod client;
mod fault;
mod headless;
mod network;
mod report;

use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use args::{Arguments, Command};

/// Why a command did not succeed: one sentence, and the exit code.
#[derive(Debug)]
pub struct Failed {
    code: u8,
    sentence: String,
}

impl Failed {
    /// Bad usage: exit code 2.
    pub fn usage(sentence: impl Into<String>) -> Self {
        Self { code: 2, sentence: sentence.into() }
    }

    /// The run or the network failed: exit code 1.
    pub fn run(sentence: impl Into<String>) -> Self {
        Self { code: 1, sentence: sentence.into() }
    }
}

/// Reads the arguments, runs the command, reports.
pub fn run() -> ExitCode {
    let json = std::env::args().any(|a| a == "--json");
    let result = match Arguments::try_parse() {
        Ok(arguments) => execute(&arguments),
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            // A closed pipe is no reason to fail.
            let _ = error.print();
            return ExitCode::SUCCESS;
        }
        Err(error) => Err(Failed::usage(first_line(&error.to_string()))),
    };
    match result {
        Ok(agreed) => ExitCode::from(if agreed { 0 } else { 1 }),
        Err(failed) => {
            if json {
                println!("{}", serde_json::json!({ "error": failed.sentence }));
            }
            eprintln!("testudo: {}", failed.sentence);
            ExitCode::from(failed.code)
        }
    }
}

/// Runs the command. `Ok(false)` = it completed and found a disagreement.
fn execute(arguments: &Arguments) -> Result<bool, Failed> {
    match &arguments.command {
        None | Some(Command::Skirmish) => headless::skirmish(),
        Some(Command::Headless(options)) => headless::run(options),
        Some(Command::Host(options)) => network::host(options),
        Some(Command::Join(options)) => network::join(options),
        Some(Command::Later(words)) => {
            let name = words.first().map_or("this command", String::as_str);
            Err(Failed::usage(match name {
                "cubes" | "relay" | "replay" | "verify" | "desync" | "soak" | "netbench" | "bench" => {
                    format!("'{name}' does not exist yet in this version; see --help for what does")
                }
                _ => format!("there is no command '{name}'; see --help"),
            }))
        }
    }
}

/// The parser explains at length; one line is enough.
fn first_line(message: &str) -> String {
    let mut lines = message.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or("bad usage").trim_start_matches("error: ");
    let missing: Vec<&str> = if first.ends_with(':') { lines.take(1).collect() } else { Vec::new() };
    format!("{first} {}", missing.join(" ")).trim_end().to_owned()
}
