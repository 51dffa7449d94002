//! `fuzz::parse` on whatever comes.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::parse(bytes));
