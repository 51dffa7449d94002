//! Build script of the command: on Linux with glibc, links it at a fixed address.
//!
//! A position-independent command has 54,000 pointers adjusted at every start, which takes a third of the time of an empty script.
//! `docs/security.md` says what the fixed address costs.

fn main() {
    println!("cargo::rerun-if-changed=cli/link.rs");
    let target = |what: &str| std::env::var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        println!("cargo::rustc-link-arg-bin=harn=-no-pie");
    }
}
