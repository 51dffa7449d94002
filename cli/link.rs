//! Links the command at a fixed address where that is known to work. A script runs for less time than the 54,000 pointers of the
//! program take to be moved, so a start takes two thirds of the time; `docs/security.md` says what is given up.

fn main() {
    println!("cargo::rerun-if-changed=cli/link.rs");
    let target = |what: &str| std::env::var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        println!("cargo::rustc-link-arg-bin=harn=-no-pie");
    }
}
