//! See the library.

fn main() -> std::process::ExitCode {
    testudo_liar::run()
}
