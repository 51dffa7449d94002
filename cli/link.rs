//! Build script of the command: on Linux with glibc, links it at a fixed address.
//!
//! A position-independent command has 54,000 pointers adjusted at every start; `docs/performance.md` has the figures. The cost of
//! the fixed address: the command's own code is at the same place in every process. Its stack, its heap and its libraries are
//! still at random addresses, and scripts cannot read or write memory.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=cli/link.rs");
    let is = |name: &str, value: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).is_ok_and(|it| it == value);
    if is("OS", "linux") && is("ENV", "gnu") {
        println!("cargo::rustc-link-arg-bin=harn=-no-pie");
    }
}
