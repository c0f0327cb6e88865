//! The ways to lie.

/// One of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lie {
    /// None: whatever fails with this one is not the fault of a lie.
    Honest,
    /// So many of its own entries at once, ahead of everybody.
    Ahead(u32),
    /// The state that it gives to others has one bit that is wrong.
    Flip,
    /// Its checksums are wrong, also where it signs them.
    Checksum,
    /// Its checksums are wrong only where it signs them.
    Signed,
    /// It sends neither checksums nor statements.
    Silent,
    /// It pauses or continues in every turn.
    Pause,
    /// It asks for this speed in every turn, percent.
    Speed(u8),
    /// Each of its entries comes so much later, milliseconds.
    Late(u32),
    /// It gives a hundred thousand orders in every turn.
    Orders,
    /// It sends each packet so often.
    Copies(u32),
    /// It acknowledges nothing after the first turns.
    NoAcks,
    /// Its hello says that it is this player.
    Identity(u8),
}

impl Lie {
    /// Reads a name, with a number after a colon where there is one.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (name, number) = text.split_once(':').unwrap_or((text, "0"));
        let number: u32 = number.parse().ok()?;
        Some(match name {
            "honest" => Self::Honest,
            "ahead" => Self::Ahead(number),
            "flip" => Self::Flip,
            "checksum" => Self::Checksum,
            "signed" => Self::Signed,
            "silent" => Self::Silent,
            "pause" => Self::Pause,
            "speed" => Self::Speed(u8::try_from(number).ok()?),
            "late" => Self::Late(number),
            "orders" => Self::Orders,
            "copies" => Self::Copies(number),
            "no-acks" => Self::NoAcks,
            "identity" => Self::Identity(u8::try_from(number).ok()?),
            _ => return None,
        })
    }
}
