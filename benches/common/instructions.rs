//! Instructions, which do not depend on what else the machine does, as `valgrind --tool=callgrind` counts them.

#![allow(dead_code, reason = "no bench uses all of them")]

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

/// The command line that counts the instructions of a program, without the program.
pub(crate) const CALLGRIND: [&str; 3] = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"];

/// Returns whether valgrind is installed; says so if it is not.
pub(crate) fn are_counted() -> bool {
    let asked = Command::new(CALLGRIND[0]).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let installed = asked.is_ok_and(|status| status.success());
    if !installed {
        println!("valgrind is not installed: instructions are not counted.");
    }
    installed
}

/// Counts the instructions of a program that ends successfully.
pub(crate) fn of(program: impl AsRef<OsStr>, args: impl IntoIterator<Item: AsRef<OsStr>>) -> Option<u64> {
    let mut command = Command::new(CALLGRIND[0]);
    let output = command.args(&CALLGRIND[1..]).arg(program).args(args).stdin(Stdio::null()).output().ok()?;
    if !output.status.success() {
        return None;
    }
    collected(&String::from_utf8_lossy(&output.stderr))
}

/// Counts the instructions of this executable with arguments.
pub(crate) fn of_this(args: &[&str]) -> Option<u64> {
    of(std::env::current_exe().ok()?, args)
}

/// Counts the instructions of the built command `harn` with arguments.
pub(crate) fn of_harn(args: impl IntoIterator<Item: AsRef<OsStr>>) -> Option<u64> {
    of(Path::new(env!("CARGO_BIN_EXE_harn")), args)
}

/// Reads the number that callgrind prints at the end.
pub(crate) fn collected(said: &str) -> Option<u64> {
    said.lines().find_map(|line| line.split("Collected :").nth(1))?.trim().parse().ok()
}

/// Judges a count: whether it is at most `most`. A limit is about two per cent above the count when it was set; lower it
/// together with the count.
pub(crate) fn judge(what: &str, count: u64, most: u64) -> bool {
    let held = count <= most;
    println!("{}  {what}: {count} instructions, at most {most}", if held { "held  " } else { "MISSED" });
    held
}
