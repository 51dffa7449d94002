//! `fuzz::run` on whatever comes.

#![no_main]

// The limit of memory holds only where it is counted.
#[global_allocator]
static ALLOCATOR: stdlib::Counted = stdlib::Counted;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::run(bytes));
