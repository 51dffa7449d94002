//! Build script of the command: on Linux with glibc, links it at a fixed address.
//!
//! A position-independent command has 54,000 pointers adjusted at every start, which takes as long as the rest of it:
//! `docs/performance.md` has the figures. What it costs: the addresses of the command's own code are known to everybody. Those of
//! its stack, its heap and its libraries are random as before, and scripts cannot read or write memory.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=cli/link.rs");
    let is = |name: &str, value: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).is_ok_and(|it| it == value);
    if is("OS", "linux") && is("ENV", "gnu") {
        println!("cargo::rustc-link-arg-bin=harn=-no-pie");
    }
}
