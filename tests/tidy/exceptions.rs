//! What breaks a rule of size all the same, with the reason. This list may only shrink: the rule names what is not needed any more.

use crate::sizes::{Exception, Size};

/// Functions and structures that are larger than the rule.
pub(crate) const LARGE: &[Exception] = &[
    ("demo/src/load/mod.rs", "run", Size::Lines, 76, "a report, line by line"),
    ("demo/src/cli/netbench.rs", "svg", Size::Lines, 81, "a drawing, line by line"),
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
