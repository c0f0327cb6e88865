//! What can be heard.

/// Something that can be heard.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Cue {
    /// Units obey an order that is not an attack.
    Order,
    /// Units obey an order to attack.
    Attack,
    /// A weapon hits.
    Blow,
    /// An arrow flies.
    Arrow,
    /// A unit falls.
    Fall,
    /// A building falls.
    Crash,
    /// The armies meet, or one of the own buildings is attacked.
    Horn,
    Victory,
    Defeat,
}

/// In the order of their declaration: name for the log; least time from one to the next, seconds, so that a battle of thousands is not louder
/// than one of hundreds; number of waves, so that blow after blow does not sound the same.
const TABLE: [(Cue, &str, f32, u32); 9] = [
    (Cue::Order, "order", 0.08, 1),
    (Cue::Attack, "attack", 0.08, 1),
    (Cue::Blow, "blow", 0.045, 4),
    (Cue::Arrow, "arrow", 0.11, 3),
    (Cue::Fall, "fall", 0.09, 3),
    (Cue::Crash, "crash", 0.4, 1),
    (Cue::Horn, "horn", 15.0, 1),
    (Cue::Victory, "victory", 4.0, 1),
    (Cue::Defeat, "defeat", 4.0, 1),
];

/// How many there are.
pub const CUES: usize = TABLE.len();

impl Cue {
    pub fn gap(self) -> f32 {
        TABLE[self as usize].2
    }

    pub fn variants(self) -> u32 {
        TABLE[self as usize].3
    }

    pub fn name(self) -> &'static str {
        TABLE[self as usize].1
    }
}

/// Number of waves of all cues.
pub fn waves() -> impl Iterator<Item = (Cue, u32)> {
    TABLE.into_iter().flat_map(|(cue, .., waves)| (0..waves).map(move |variant| (cue, variant)))
}

/// Where a cue's wave stands in [`waves`].
pub fn index(cue: Cue, variant: u32) -> usize {
    let before: u32 = TABLE[..cue as usize].iter().map(|(.., waves)| waves).sum();
    (before + variant % cue.variants()) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wave_is_found() {
        assert!(TABLE.iter().enumerate().all(|(place, (cue, ..))| *cue as usize == place));
        for (place, (cue, variant)) in waves().enumerate() {
            assert_eq!(index(cue, variant), place, "{cue:?} {variant}");
        }
        assert_eq!(index(Cue::Blow, 4), index(Cue::Blow, 0));
    }
}
