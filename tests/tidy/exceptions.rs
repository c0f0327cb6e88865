//! What breaks a rule of size all the same, with the reason. This list may only shrink: the rule names what is not needed any more.

use crate::sizes::{Exception, Size};
use crate::spread::Spread;

/// Functions and structures that are larger than the rule.
pub(crate) const LARGE: &[Exception] = &[
    ("demo/src/load/mod.rs", "run", Size::Lines, 76, "a report, line by line"),
    ("demo/src/cli/report.rs", "Report", Size::Fields, 35, "what a report prints, field by field"),
    (
        "physics/src/contact/setup.rs",
        "fill_batch",
        Size::Arguments,
        7,
        "a kernel: what would be a structure is in registers",
    ),
    (
        "physics/src/motion/working_arrays.rs",
        "gather",
        Size::Arguments,
        7,
        "a kernel: what would be a structure is in registers",
    ),
    ("physics/src/motion/ordinary.rs", "four", Size::Lines, 82, "a kernel: its parts share registers"),
];

/// Types whose methods are in more files than the rule.
pub(crate) const WIDE: &[Spread] = &[
    ("physics/src/", "World", 20, "what users call, by subject: setters, queries, snapshots, drawing"),
    (
        "physics/movement/src/",
        "Crowd",
        13,
        "a unit's decision, step by step: each reads what many parts know of it",
    ),
    (
        "lockstep/src/",
        "AnySession",
        18,
        "what users call, by subject, and what needs many of its parts at once",
    ),
    ("lockstep/src/", "SessionConfig", 11, "settings by subject, and the checks of each beside them"),
    ("demo/src/", "Seat", 10, "one player's place in a match, by subject: hosting, leaving, votes"),
    ("demo/src/", "Desk", 7, "one screen, by what is on it"),
    ("demo/battle/src/", "Game", 10, "a frame's phases, a file each"),
];
