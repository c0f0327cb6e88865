//! Calls with a NULL: what they return, and that no function is left out.

/// A call with a NULL: name, what it returned, what it should.
pub(crate) type Call = (&'static str, i64, i64);

macro_rules! calls {
    ($expected:expr; $($name:ident($($argument:expr),*);)*) => {
        // SAFETY: NULL is allowed by the contract, as all pointers here are NULL or there.
        vec![$((stringify!($name), unsafe { $name($($argument),*) } as i64, $expected as i64)),*]
    };
}
pub(crate) use calls;

/// Each returned what it should, and all functions of the sources are among them, except for some.
pub(crate) fn assert_tried(all: &[Call], sources: &[&str], is_apart: impl Fn(&str) -> bool) {
    for (name, got, expected) in all {
        assert_eq!(got, expected, "{name}");
    }
    for source in sources {
        for declared in source.split("extern \"C\" fn ").skip(1) {
            let name = declared.split('(').next().expect("a name").trim();
            let is_tried = all.iter().any(|(tried, ..)| *tried == name);
            assert!(is_tried || is_apart(name), "{name} is not tried");
        }
    }
}
