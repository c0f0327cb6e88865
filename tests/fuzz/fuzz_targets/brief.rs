#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| testudo_tests::fuzz::brief(bytes));
