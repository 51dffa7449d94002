//! Codes of served scripts.

use lang::diagnostic::Severity::Error;
use lang::diagnostic::code::Code;

/// A script that takes no prompts.
pub(crate) const UNSERVABLE: &str = "HARN-SRV-001";

pub(crate) static CODES: &[Code] = &[Code {
    code: UNSERVABLE,
    severity: Error,
    title: "a script that takes no prompts",
    meaning: "`harn serve` runs the top level of a script once for each session, and its pipeline for each prompt. A script \
              without a pipeline (in Rhai: without `fn main`), or one whose top level returns before its end, answers \
              nothing. `harn run` runs it as it is.",
    fails: "",
    mended: "",
}];
