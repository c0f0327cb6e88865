//! Numbers of things in sentences.

/// A number of things as text: "1 army", "2 armies".
pub(crate) fn count(number: impl Into<u64>, thing: &str) -> String {
    let number = number.into();
    match thing.strip_suffix('y') {
        _ if number == 1 => format!("{number} {thing}"),
        Some(stem) => format!("{number} {stem}ies"),
        None => format!("{number} {thing}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_not_told_as_many() {
        let told = [0_u32, 1, 2].map(|number| count(number, "turn"));
        assert_eq!(told, ["0 turns", "1 turn", "2 turns"]);
        assert_eq!([1_u8, 3].map(|number| count(number, "army")), ["1 army", "3 armies"]);
    }
}
