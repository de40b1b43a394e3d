#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fastlbp_fuzz::run("ranks", bytes));
