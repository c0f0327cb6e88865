//! How many of its drawn cases a test goes through: the first eighth, or all of them where the environment has `TESTUDO_CASES=all`, as `.ci/run` does.

const ALL: &str = "TESTUDO_CASES";

/// The first eighth of these cases, at least one, or all.
///
/// # Panics
/// If the number of cases is not known before, or if the variable has another value than `all` or `few`.
pub fn cases<I: IntoIterator>(all: I) -> impl Iterator<Item = I::Item> {
    let all = all.into_iter();
    let (least, most) = all.size_hint();
    assert_eq!(Some(least), most, "the number of cases is not known");
    all.take(share(least as u64) as usize)
}

/// Likewise of a number: of how many cases there are, or of what all of them have to show. Rounded up.
///
/// # Panics
/// If the variable has another value than `all` or `few`.
pub fn share(all: u64) -> u64 {
    share_of(all, std::env::var(ALL).ok().as_deref())
}

fn share_of(all: u64, asked: Option<&str>) -> u64 {
    match asked {
        None | Some("few") => all.div_ceil(8),
        Some("all") => all,
        Some(other) => panic!("{ALL} is `all` or `few`, not `{other}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_cases_are_for_who_asks() {
        assert_eq!([0, 1, 7, 8, 9, 200].map(|all| share_of(all, None)), [0, 1, 1, 1, 2, 25]);
        assert_eq!([0, 1, 5].map(|all| share_of(all, Some("all"))), [0, 1, 5]);
        assert_eq!(cases(10..18).count() as u64, share(8));
        assert_eq!(cases(10..18).next(), Some(10));
    }

    #[test]
    #[should_panic(expected = "TESTUDO_CASES is `all` or `few`, not `many`")]
    fn another_word_is_refused() {
        share_of(1, Some("many"));
    }
}
