//! Instruction counts of Testudo's step, phase by phase: see `benches/step.rs`.
//!
//! On a busy machine instructions say more about a change than seconds.
//!
//! ```sh
//! cargo install gungraun-runner --version 0.20.0
//! cargo bench                            # in this folder; needs valgrind (a distribution package)
//! cargo bench -- --save-baseline=before  # ... change something ...
//! cargo bench -- --baseline=before
//! ```
