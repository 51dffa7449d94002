//! Build script of the command: on Linux with glibc, links it at a fixed address, and puts together what a start uses.
//!
//! - A position-independent command has 54,000 pointers adjusted at every start, which takes a third of the time of an empty
//!   script. `docs/security.md` says what the fixed address costs.
//! - The kernel maps code and constants in blocks of at least 64 KiB. In the order of the object files, the functions that an
//!   empty script executes are spread over 125 of them; with `start.ld` they are in 37. `docs/performance.md` has the figures.
//!   The order is for optimized builds; GNU ld takes ten times as long with it, so it is for LLD alone, which rustc selects on
//!   x86-64. `HARN_LINK_ORDER=0` leaves it out.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=cli/link.rs");
    println!("cargo::rerun-if-changed=cli/start.ld");
    println!("cargo::rerun-if-env-changed=HARN_LINK_ORDER");
    if target("OS") != "linux" || target("ENV") != "gnu" {
        return;
    }
    println!("cargo::rustc-link-arg-bin=harn=-no-pie");
    if takes_order() {
        println!("cargo::rustc-link-arg-bin=harn=-T{}/cli/start.ld", variable("CARGO_MANIFEST_DIR"));
    }
}

/// Whether the build is optimized and linked by LLD.
fn takes_order() -> bool {
    let selects_linker =
        ["-fuse-ld", "--ld-path", "linker=", "linker-flavor", "linker-features", "link-self-contained"];
    let flags = variable("CARGO_ENCODED_RUSTFLAGS");
    target("ARCH") == "x86_64"
        && variable("OPT_LEVEL") != "0"
        && variable("HARN_LINK_ORDER") != "0"
        && variable("RUSTC_LINKER").is_empty()
        && !selects_linker.iter().any(|option| flags.contains(option))
        && brings_lld().unwrap_or(false)
}

/// Whether the compiler comes with LLD. If a distribution leaves it out, the compiler uses the linker of the system.
fn brings_lld() -> Option<bool> {
    let output = Command::new(env::var_os("RUSTC")?).args(["--print", "sysroot"]).output().ok()?;
    let sysroot = String::from_utf8(output.stdout).ok()?;
    let folder = Path::new(sysroot.trim()).join("lib/rustlib").join(variable("HOST")).join("bin/gcc-ld");
    Some(folder.join("ld.lld").exists())
}

fn target(what: &str) -> String {
    variable(&format!("CARGO_CFG_TARGET_{what}"))
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}
