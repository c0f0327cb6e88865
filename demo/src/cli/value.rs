//! Values of options: how they are written, and which are accepted.

use std::fs::File;
use std::io::Read as _;
use std::net::SocketAddr;

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use testudo_lockstep::Pace;

use crate::app::online::name::NAME_BYTES_MAX;
use crate::app::{Pilot, maps};
use testudo_battle::bots::Level;
use testudo_battle::{BodyField, MAP_BYTES_MAX, MAP_NAMES, Map, TEAMS_MAX, Teams};

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum PaceArg {
    Fixed,
    Adaptive,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum TopologyArg {
    Star,
    Mesh,
}

impl From<PaceArg> for Pace {
    fn from(pace: PaceArg) -> Self {
        match pace {
            PaceArg::Fixed => Self::Fixed,
            PaceArg::Adaptive => Self::Adaptive,
        }
    }
}

/// A body field, by the name that reports use.
pub(crate) fn field() -> impl TypedValueParser<Value = BodyField> {
    let named = |name: String| BodyField::ALL.into_iter().find(|field| field.name() == name);
    PossibleValuesParser::new(BodyField::ALL.map(BodyField::name))
        .try_map(move |name| named(name).ok_or("there is no such field"))
}

/// A name that the others see as it is. (Only signs that would hide something are left out of it.)
pub(crate) fn name(text: &str) -> Result<String, String> {
    let bytes = text.trim().len();
    if bytes > NAME_BYTES_MAX {
        return Err(format!("{bytes} bytes, {NAME_BYTES_MAX} are allowed"));
    }
    Ok(text.into())
}

/// The map of a match; none: an open field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ground(pub(crate) Option<&'static Map>);

pub(crate) fn ground(text: &str) -> Result<Ground, String> {
    if text == "open" {
        return Ok(Ground(None));
    }
    if let Some(map) = maps::named(text) {
        return Ok(Ground(Some(map)));
    }
    let names = MAP_NAMES.join(", ");
    let content =
        read_map(text).map_err(|error| format!("neither open, {names}, nor a readable file ({error})"))?;
    maps::keep(&content).map(|map| Ground(Some(map))).map_err(|error| format!("not a map: {error}"))
}

/// Reads a map file, up to one byte more than the maximum.
fn read_map(path: &str) -> std::io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(MAP_BYTES_MAX as u64 + 1).read_to_string(&mut text)?;
    Ok(text)
}

pub(crate) fn bot(text: &str) -> Result<Pilot, String> {
    match text {
        "easy" => Ok(Pilot::Bot(Level::Easy)),
        "normal" => Ok(Pilot::Bot(Level::Normal)),
        "hard" => Ok(Pilot::Bot(Level::Hard)),
        "clumsy" => Ok(Pilot::Bot(Level::Clumsy)),
        "idle" => Ok(Pilot::Person),
        _ => Err("easy, normal, hard, clumsy or idle is needed".into()),
    }
}

/// The teams of a match, and how many players were named.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TeamsArg {
    pub(crate) teams: Teams,
    pub(crate) count: usize,
}

pub(crate) fn teams(text: &str) -> Result<TeamsArg, String> {
    let numbers = text.split(',').map(|number| number.trim().parse().ok()).collect::<Option<Vec<u8>>>();
    let found = numbers.and_then(|list| Some(TeamsArg { teams: Teams::new(&list)?, count: list.len() }));
    found.ok_or_else(|| format!("a number from 0 to {TEAMS_MAX} for each player is needed, as in 1,1,2,2"))
}

pub(crate) fn speed(text: &str) -> Result<f64, String> {
    let speed = text.parse().ok().filter(|speed| (0.25..=16.0).contains(speed));
    speed.ok_or_else(|| "a speed from 0.25 to 16 is needed".to_owned())
}

pub(crate) fn socket(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "an address and a port are needed, as in 0.0.0.0:7777".into())
}

/// An address that others can reach.
pub(crate) fn public(text: &str) -> Result<SocketAddr, String> {
    let address = socket(text)?;
    if address.port() == 0 || address.ip().is_unspecified() {
        return Err("others need the address and the port of one machine, as in 203.0.113.5:7777".into());
    }
    Ok(address)
}

/// The address of a page, without what follows a #.
pub(crate) fn page(text: &str) -> Result<String, String> {
    let is_page = (text.starts_with("http://") || text.starts_with("https://")) && !text.contains('#');
    if is_page { Ok(text.into()) } else { Err("an address is needed, as in http://127.0.0.1:8080/".into()) }
}

pub(crate) fn turn_and_body(text: &str) -> Result<(u32, u32), String> {
    let numbers =
        text.split_once(',').and_then(|(turn, body)| Some((turn.parse().ok()?, body.parse().ok()?)));
    numbers.ok_or_else(|| "two numbers are needed: a turn and a body, as in 20,5".to_owned())
}

/// A probability in parts per million.
pub(crate) fn probability(text: &str) -> Result<u32, String> {
    match text.parse::<f64>() {
        Ok(p) if (0.0..=1.0).contains(&p) => Ok((p * 1e6).round() as u32),
        _ => Err("a probability is a number from 0 to 1".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_parts_per_million() {
        assert_eq!(probability("0.2"), Ok(200_000));
        assert_eq!(probability("1"), Ok(1_000_000));
        assert_eq!(probability("0.0000014"), Ok(1));
        for wrong in ["1.5", "-0.1", "NaN", "inf", "", "much"] {
            assert!(probability(wrong).is_err(), "{wrong}");
        }
    }
}
