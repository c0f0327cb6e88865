//! What can be heard.

/// Something that can be heard.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Cue {
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

/// In the order of their declaration.
pub(crate) const CUES: [Cue; 9] = [
    Cue::Order,
    Cue::Attack,
    Cue::Blow,
    Cue::Arrow,
    Cue::Fall,
    Cue::Crash,
    Cue::Horn,
    Cue::Victory,
    Cue::Defeat,
];

impl Cue {
    /// Least time from one to the next, seconds: a battle of thousands is not louder than one of hundreds.
    pub(crate) fn gap(self) -> f32 {
        match self {
            Self::Order | Self::Attack => 0.08,
            Self::Blow => 0.045,
            Self::Arrow => 0.11,
            Self::Fall => 0.09,
            Self::Crash => 0.4,
            Self::Horn => 15.0,
            Self::Victory | Self::Defeat => 4.0,
        }
    }

    /// Number of waves that it has, so that blow after blow does not sound the same.
    pub(crate) fn variants(self) -> u32 {
        match self {
            Self::Blow => 4,
            Self::Arrow | Self::Fall => 3,
            _ => 1,
        }
    }

    /// For the log.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Order => "order",
            Self::Attack => "attack",
            Self::Blow => "blow",
            Self::Arrow => "arrow",
            Self::Fall => "fall",
            Self::Crash => "crash",
            Self::Horn => "horn",
            Self::Victory => "victory",
            Self::Defeat => "defeat",
        }
    }
}

/// Number of waves of all cues.
pub(crate) fn waves() -> impl Iterator<Item = (Cue, u32)> {
    CUES.into_iter().flat_map(|cue| (0..cue.variants()).map(move |variant| (cue, variant)))
}

/// Where a cue's wave stands in [`waves`].
pub(crate) fn index(cue: Cue, variant: u32) -> usize {
    let before: u32 = CUES[..cue as usize].iter().map(|cue| cue.variants()).sum();
    (before + variant % cue.variants()) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wave_is_found() {
        for (place, (cue, variant)) in waves().enumerate() {
            assert_eq!(index(cue, variant), place, "{cue:?} {variant}");
        }
        assert_eq!(index(Cue::Blow, 4), index(Cue::Blow, 0));
    }
}
