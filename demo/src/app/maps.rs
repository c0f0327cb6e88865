//! The maps that this program knows. A [`Map`] is kept until the program ends, so that a [`Setup`] is a plain value.
//!
//! [`Setup`]: testudo_battle::Setup

use std::sync::{Mutex, PoisonError};

use testudo_battle::{MAP_NAMES, Map, MapError};

/// Maps from files and replays.
static KEPT: Mutex<Vec<&'static Map>> = Mutex::new(Vec::new());

/// One of [`MAP_NAMES`].
pub(crate) fn named(name: &str) -> Option<&'static Map> {
    Map::named(name)
}

/// Number `number` of the built-in maps.
pub(crate) fn numbered(number: usize) -> Option<&'static Map> {
    Map::numbered(number)
}

fn own() -> impl Iterator<Item = &'static Map> {
    (0..MAP_NAMES.len()).filter_map(Map::numbered)
}

/// The index of a map in [`MAP_NAMES`], if it is built in.
pub(crate) fn number_of(map: &Map) -> Option<usize> {
    own().position(|own| own.hash == map.hash)
}

/// The map with this hash, if it is built in or was read before.
pub(crate) fn with_hash(hash: u64) -> Option<&'static Map> {
    let kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    own().chain(kept.iter().copied()).find(|map| map.hash == hash)
}

/// Reads a map and stores it, unless the same map was read before.
///
/// # Errors
/// The text is not a map.
pub(crate) fn keep(text: &str) -> Result<&'static Map, MapError> {
    let map = Map::parse(text)?;
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let known = own().chain(kept.iter().copied()).find(|known| known.text == map.text);
    Ok(known.unwrap_or_else(|| {
        let map: &'static Map = Box::leak(Box::new(map));
        kept.push(map);
        map
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_is_kept_once_and_found_by_its_hash() {
        let own = named("pass").unwrap();
        assert_eq!((number_of(own), with_hash(own.hash)), (Some(1), Some(own)));
        let text = own.text.replace('^', ".");
        let other = keep(&text).unwrap();
        assert_eq!((number_of(other), with_hash(other.hash)), (None, Some(other)));
        assert!(core::ptr::eq(other, keep(&text).unwrap()));
        assert!(core::ptr::eq(own, keep(&own.text).unwrap()));
        assert_eq!((named("moon"), with_hash(1)), (None, None));
    }
}
