//! Every row of the catalogue is true: the failing script fails with that code alone, the fixed one
//! without any.

use crate::harn::{harn, harn_in, harn_with_input, scratch};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Rows whose failure no script alone can show, and why.
const WITHOUT_SCRIPT: &[(&str, &str)] = &[
    ("HARN-A2A-001", "needs a peer; in `a2a`"),
    ("HARN-A2A-002", "needs a peer; in `a2a`"),
    ("HARN-A2A-003", "needs a peer; in `a2a`"),
    ("HARN-A2A-004", "needs a peer; in `a2a`"),
    ("HARN-A2A-005", "needs a peer; in `a2a`"),
    ("HARN-A2A-006", "needs a peer; in `a2a`"),
    ("HARN-A2A-007", "needs a peer; in `a2a`"),
    ("HARN-A2A-008", "needs a peer; in `a2a`"),
    ("HARN-A2A-009", "needs a peer; in `a2a`"),
    ("HARN-A2A-010", "needs a peer; in `a2a`"),
    ("HARN-A2A-011", "needs a peer; in `a2a`"),
    ("HARN-A2A-012", "needs a peer; in `a2a`"),
    ("HARN-A2A-013", "needs a fault of our own"),
    ("HARN-A2A-014", "needs a peer; in `a2a`"),
    ("HARN-A2A-015", "needs an option of the command; in `a2a`"),
    ("HARN-A2A-016", "needs an option of the command; in `a2a`"),
    ("HARN-A2A-017", "needs an option of the command; in `a2a`"),
    ("HARN-A2A-018", "needs a peer; in `a2a`"),
    ("HARN-A2A-019", "needs a peer; in `channels/peer_agents`"),
    ("HARN-A2A-020", "needs a file of an option; in `tls`"),
    ("HARN-A2A-101", "needs a peer; in `a2a`"),
    ("HARN-A2A-102", "needs a peer; in `a2a`"),
    ("HARN-A2A-103", "needs a peer; in `a2a`"),
    ("HARN-A2A-104", "needs a peer; in `a2a`"),
    ("HARN-A2A-105", "needs a peer; in `a2a`"),
    ("HARN-A2A-106", "needs a peer; in `a2a`"),
    ("HARN-A2A-107", "needs a peer; in `a2a`"),
    ("HARN-A2A-108", "needs a peer; in `a2a`"),
    ("HARN-A2A-109", "needs a peer; in `a2a`"),
    ("HARN-A2A-110", "a page asks no servers; in `a2a`"),
    ("HARN-A2A-111", "needs a peer; in `a2a`"),
    ("HARN-A2A-112", "needs a peer; in `a2a`"),
    ("HARN-ACP-001", "needs a client; in `acp`"),
    ("HARN-ACP-002", "needs a client; in `acp`"),
    ("HARN-ACP-003", "needs a client; in `acp`"),
    ("HARN-ACP-004", "needs a client; in `acp`"),
    ("HARN-ACP-005", "needs a client; in `acp`"),
    ("HARN-ACP-006", "needs a client; in `acp`"),
    ("HARN-ACP-007", "needs a client; in `acp`"),
    ("HARN-ACP-008", "needs a client; in `acp`"),
    ("HARN-ACP-009", "needs a fault of our own"),
    ("HARN-ACP-011", "needs an option of the command; in `acp`"),
    ("HARN-ACP-012", "needs an option of the command; in `acp`"),
    ("HARN-ACP-013", "needs an option of the command; in `acp`"),
    ("HARN-CFG-001", "needs a `harn.toml`; in `tests/diagnostics`"),
    ("HARN-CFG-002", "needs a `harn.toml`; in `tests/diagnostics`"),
    ("HARN-CFG-003", "needs a `harn.toml`; in `tests/diagnostics`"),
    ("HARN-CFG-004", "needs a `harn.toml`; in `project`"),
    ("HARN-CFG-005", "needs a `harn.toml`; in `tests/diagnostics`"),
    ("HARN-CFG-006", "needs a `harn.toml`; in `trust`"),
    ("HARN-CFG-007", "needs a folder of settings; in `trust`"),
    ("HARN-CFG-008", "needs a folder of settings; in `trust`"),
    ("HARN-CHN-001", "needs an option of the command; in `channels`"),
    ("HARN-CHN-002", "needs an option of the command; in `channels`"),
    ("HARN-CHN-003", "needs an option of the command; in `channels`"),
    ("HARN-CHN-004", "needs an option of the command; in `channels`"),
    ("HARN-CHN-005", "needs an option of the command; in `channels`"),
    ("HARN-CHN-006", "needs a fault of our own"),
    ("HARN-CHN-007", "needs a file of an option; in `tls`"),
    ("HARN-CHN-102", "needs a daemon; in `channels/in_process`"),
    ("HARN-CHN-103", "needs a daemon; in `channels/in_process`"),
    ("HARN-CMP-002", "the script would fill a book"),
    ("HARN-CMP-004", "needs a fault of our own"),
    ("HARN-FACT-007", "needs a file that was tampered with; in `facts`"),
    ("HARN-FACT-008", "the script would fill a page; in `tests/reminders/facts`"),
    ("HARN-HUB-001", "needs an option of the command; in `hub`"),
    ("HARN-HUB-002", "needs an option of the command; in `hub`"),
    ("HARN-HUB-003", "needs an option of the command; in `hub`"),
    ("HARN-HUB-004", "needs an option of the command; in `hub`"),
    ("HARN-HUB-005", "needs an option of the command; in `hub`"),
    ("HARN-HUB-006", "needs a fault of our own"),
    ("HARN-HUB-101", "needs a server; in `hub`"),
    ("HARN-HUB-103", "needs a lease that ends; in `hub`"),
    ("HARN-HUB-104", "needs a server; in `hub`"),
    ("HARN-HUB-105", "needs a worker that takes long; in `hub`"),
    ("HARN-IMP-002", "needs a second file; in `tests/diagnostics`"),
    ("HARN-IMP-003", "needs a second file; in `tests/diagnostics`"),
    ("HARN-IMP-004", "needs a second file; in `tests/diagnostics`"),
    ("HARN-IMP-005", "needs two more files; in `tests/diagnostics`"),
    ("HARN-IMP-008", "needs thousands of files; in `lang/tests/run`"),
    ("HARN-IMP-009", "needs a host that refuses; in `lang/tests/run`"),
    ("HARN-IO-002", "a page runs no programs; in `tests/lang/system`"),
    ("HARN-IO-003", "needs a program that writes without an end; in `system`"),
    ("HARN-IO-004", "needs standard input; in `system`"),
    ("HARN-IO-005", "a page runs no programs; in `tests/lang/system`"),
    ("HARN-IO-006", "a page runs no programs; in `tests/lang/system`"),
    ("HARN-LIM-001", "needs `--max-memory`; in `limits`"),
    ("HARN-LIM-002", "needs `--timeout`; in `tests/lang/safety`"),
    ("HARN-LLM-002", "needs a server that answers oddly"),
    ("HARN-LOG-001", "needs an option of the command; in `event_log`"),
    ("HARN-LOG-002", "needs a file that cannot be opened; in `event_log`"),
    ("HARN-LOG-003", "needs a file that is something else; in `event_log`"),
    ("HARN-LOG-004", "needs a file from a newer version; in `event_log`"),
    ("HARN-LOG-005", "needs a process that holds the file; in `event_log`"),
    ("HARN-LOG-006", "needs a full disk; in `event_log`"),
    ("HARN-LOG-007", "needs somebody who deletes the file; in `event_log`"),
    ("HARN-LOG-008", "needs a log that keeps little; in `event_log`"),
    ("HARN-LOG-009", "needs a damaged file; in `runtime`"),
    ("HARN-LOG-010", "needs a record of 64 MiB; in `event_log`"),
    ("HARN-LOG-011", "needs a client of a served script; in `serve`"),
    ("HARN-LOG-012", "needs two processes that serve one log; in `acp_store`"),
    ("HARN-LOG-013", "needs a log that somebody has changed; in `serve`"),
    ("HARN-LOG-014", "needs a client of a served script; in `serve`"),
    ("HARN-LOG-015", "needs a client of a served script; in `serve`"),
    ("HARN-LOG-016", "needs a folder without rights; in `serve`"),
    ("HARN-LOG-017", "needs a process that is killed; in `serve`"),
    ("HARN-LOG-018", "needs two servers of one log; in `channels`"),
    ("HARN-LOG-019", "needs a log that is trimmed; in `event_log::trim`"),
    ("HARN-LOG-020", "needs a disk that does not respond; in `eventlog`"),
    ("HARN-MCP-103", "starts a program; in `mcp`"),
    ("HARN-MCP-104", "needs a server; in `mcp`"),
    ("HARN-MCP-105", "needs a server; in `mcp`"),
    ("HARN-MCP-106", "needs a server; in `mcp`"),
    ("HARN-MCP-107", "needs a server; in `mcp`"),
    ("HARN-MCP-108", "needs a server; in `mcp`"),
    ("HARN-MCP-109", "needs a server; in `mcp`"),
    ("HARN-MCP-110", "needs a server; in `mcp`"),
    ("HARN-MCP-111", "needs a server; in `mcp`"),
    ("HARN-MCP-112", "needs a server; in `mcp`"),
    ("HARN-MCP-113", "needs a server; in `mcp`"),
    ("HARN-MCP-114", "needs a folder that cannot be written; in `mcp`"),
    ("HARN-MCP-115", "needs a server; in `mcp`"),
    ("HARN-MCP-116", "needs a server; in `mcp`"),
    ("HARN-MCP-117", "needs a server; in `mcp`"),
    ("HARN-MCP-201", "needs an address that is taken; in `mcp`"),
    ("HARN-MCP-202", "needs a server; in `mcp`"),
    ("HARN-MCP-203", "needs a server; in `mcp`"),
    ("HARN-MCP-204", "needs a system without resources"),
    ("HARN-MCP-205", "needs a file of an option; in `tls`"),
    ("HARN-NET-001", "a page asks no servers; in `tests/lang/system`"),
    ("HARN-NET-002", "a page asks no servers; in `tests/lang/system`"),
    ("HARN-NET-003", "needs a server that is slow; in `system`"),
    ("HARN-NET-004", "needs a server that says too much; in `system`"),
    ("HARN-NET-005", "a page asks no servers; in `tests/lang/system`"),
    ("HARN-PAR-015", "the script would fill a page; in `lang/tests/parse`"),
    ("HARN-PCK-002", "needs a pack; in `rhai_packs`"),
    ("HARN-PCK-003", "needs a pack; in `rhai_packs`"),
    ("HARN-PCK-004", "needs a pack; in `rhai_packs`"),
    ("HARN-REC-001", "needs a recording; in `recording`"),
    ("HARN-REC-002", "needs a recording; in `recording`"),
    ("HARN-REC-003", "needs a recording; in `recording`"),
    ("HARN-REC-004", "needs a recording; in `recording`"),
    ("HARN-REC-005", "needs a recording; in `recording`"),
    ("HARN-REC-006", "needs an option of the command; in `recording`"),
    ("HARN-RHAI-001", "needs a file in Rhai; in `tests/diagnostics/rhai`"),
    ("HARN-RHAI-002", "needs a file in Rhai; in `tests/diagnostics/rhai`"),
    ("HARN-RHAI-003", "needs a file in Rhai; in `tests/diagnostics/rhai`"),
    ("HARN-RMF-001", "needs a reminder file; in `reminder_files`"),
    ("HARN-RMF-002", "needs a folder that is not trusted; in `reminder_files`"),
    ("HARN-RMF-003", "needs a reminder file that changes; in `reminder_files`"),
    ("HARN-RMF-004", "needs many reminder files; in `reminder_files`"),
    ("HARN-RUN-011", "needs `--fuel`; in `bad_input`"),
    ("HARN-RUN-015", "needs somebody who cancels"),
    ("HARN-SRC-001", "needs a file that cannot be read; in `bad_input`"),
    ("HARN-SRC-002", "needs a file that is no text; in `bad_input`"),
    ("HARN-SRV-001", "needs somebody who serves it; in `serve`"),
    ("HARN-SRV-002", "needs somebody who serves it; in `mcp`"),
    ("HARN-SRV-003", "needs somebody who serves it; in `mcp`"),
    ("HARN-TST-004", "needs `harn test`; in `test_command`"),
    ("HARN-TST-005", "needs `harn test`; in `test_command`"),
    ("HARN-TST-006", "needs `harn test`; in `test_command`"),
    ("HARN-TST-007", "needs `harn test`; in `test_command`"),
    ("HARN-TST-008", "needs `harn test`; in `test_command`"),
    ("HARN-TST-009", "needs `harn eval`; in `eval`"),
    ("HARN-TST-010", "needs a right; in `tests/lang/system`"),
    ("HARN-TYP-030", "the script would fill a book; in `check_bounds`"),
];

/// Rows whose scripts need something that is not built yet. One that has come to hold must leave this list.
const WAITING: &[(&str, &str)] = &[];

fn json(args: &[&str]) -> Value {
    let outcome = harn(args);
    assert_eq!(outcome.code, Some(0), "{}", outcome.err);
    serde_json::from_str(&outcome.out).unwrap()
}

/// Returns everything that checking and running the script in a folder draws.
fn drawn(dir: &Path) -> String {
    let run: &[&str] = if dir.ends_with("HARN-RUN-014-fails") { &["--deny", "process"] } else { &[] };
    let checked = harn_in(dir, &["check", "script.harn"], b"", &[]).err;
    checked + harn_in(dir, &[&["run", "--seed", "1", "script.harn"], run].concat(), b"", &[]).err.as_str()
}

/// The codes of all diagnostics that were drawn.
fn codes(drawn: &str) -> BTreeSet<String> {
    let heads = ["error[", "warning[", "info["];
    let code = |line: &str| {
        heads.iter().find_map(|head| line.strip_prefix(head)?.split_once(']').map(|(code, _)| code.to_owned()))
    };
    drawn.lines().filter_map(code).collect()
}

/// Returns the problem of a row, if any.
fn fault(row: &Value, dir: &Path) -> Option<String> {
    let code = row["code"].as_str().unwrap();
    let write = |name: &str| {
        let folder = dir.join(format!("{code}-{name}"));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("script.harn"), row[name].as_str().unwrap()).unwrap();
        folder
    };
    let drawn_of = |name: &str| drawn(&write(name));
    let drawn = drawn_of("fails");
    let failing = codes(&drawn);
    if !failing.iter().eq([code]) {
        return Some(format!("{code}: the failing script gives {failing:?}"));
    }
    let picture = row["picture"].as_str().unwrap();
    // A script that is not in a file is also checked, but without the packs beside it.
    let is_said = |line: &str| {
        let starts = ["error[", "warning[", "info[", "  help: ", "  note: "];
        !starts.iter().any(|start| line.starts_with(start)) || drawn.lines().any(|other| other == line)
    };
    if !picture.contains(code) || !picture.lines().all(is_said) {
        return Some(format!("{code}: `harn explain` draws another picture than the command:\n{picture}\n{drawn}"));
    }
    let mended = codes(&drawn_of("mended"));
    (!mended.is_empty()).then(|| format!("{code}: the mended script gives {mended:?}"))
}

#[test]
fn every_row_fails_and_is_mended_as_it_says() {
    let dir = scratch("explain");
    let mut faults = Vec::new();
    let mut without = Vec::new();
    for summary in json(&["explain", "--json"]).as_array().unwrap() {
        let code = summary["code"].as_str().unwrap();
        let row = json(&["explain", code, "--json"]);
        if row["fails"].is_null() {
            without.push(code.to_owned());
        } else {
            match (fault(&row, &dir), WAITING.iter().find(|(waits, _)| *waits == code)) {
                (Some(fault), None) => faults.push(fault),
                (None, Some((_, what))) => faults.push(format!("{code} holds and need not wait for {what}")),
                _ => {}
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let listed: Vec<&str> = WITHOUT_SCRIPT.iter().map(|(code, _)| *code).collect();
    assert_eq!(without, listed, "rows without a script must be listed here with the reason");
}

#[test]
fn a_row_that_lies_is_seen() {
    let dir = scratch("explain-lies");
    let row = |fails: &str, mended: &str| {
        let picture = "error[HARN-NAM-001]: unknown name `a`";
        serde_json::json!({ "code": "HARN-NAM-001", "fails": fails, "mended": mended, "picture": picture })
    };
    assert_eq!(fault(&row("println(a)\n", "println(1)\n"), &dir), None);
    assert!(fault(&row("println(1)\n", "println(1)\n"), &dir).unwrap().contains("the failing script"));
    assert!(fault(&row("println(a)\nlet b = 1\nlet b = 2\n", "println(1)\n"), &dir).is_some());
    assert!(fault(&row("println(a)\n", "println(b)\n"), &dir).unwrap().contains("the mended script"));
    assert!(fault(&row("println(b)\n", "println(1)\n"), &dir).unwrap().contains("another picture"));
}

#[test]
fn a_page_shows_meaning_picture_and_mended_script() {
    let page = harn(&["explain", "harn-rmd-005"]).out;
    for part in [
        "HARN-RMD-005 (error)",
        "Fails",
        "propagate: \"children\"",
        "error[HARN-RMD-005]",
        "╭─[",
        "Fixed",
        "propagate: \"all\"",
    ] {
        assert!(page.contains(part), "{part} in:\n{page}");
    }
    assert!(!page.contains('\u{1b}'), "no colours in a pipe");
}

#[test]
fn the_list_has_every_reminder_code_and_an_unknown_one_gets_the_nearest() {
    let list = harn(&["explain"]).out;
    for n in 1..=8 {
        assert!(list.contains(&format!("HARN-RMD-00{n}")), "{list}");
    }
    let outcome = harn(&["explain", "HARN-RMD-050"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (Some(2), ""));
    let lines: Vec<&str> = outcome.err.lines().collect();
    assert_eq!(lines[..2], ["error: unknown code `HARN-RMD-050`", "  help: the nearest codes are"], "{}", outcome.err);
    assert!(lines[2].starts_with("    HARN-RMD-00") && lines.len() == 5, "{}", outcome.err);
}

#[test]
fn several_codes_are_explained_at_once() {
    let page = harn(&["explain", "HARN-RMD-005", "nam-001"]);
    let (first, second) = (page.out.find("HARN-RMD-005 (error)"), page.out.find("HARN-NAM-001 (error)"));
    assert!(page.code == Some(0) && first.is_some() && first < second, "{}{}", page.out, page.err);
    assert_eq!(json(&["explain", "--json", "HARN-RMD-005", "nam-001"]).as_array().unwrap().len(), 2);
    let outcome = harn(&["explain", "HARN-RMD-005", "HARN-RMD-999"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (Some(2), ""), "{}", outcome.err);
}

#[test]
fn words_find_rows_in_the_order_of_their_rank() {
    let found = harn(&["explain", "ttl", "turns"]);
    assert!(found.code == Some(0) && found.out.starts_with("HARN-RMD-"), "{}", found.out);
    let found = harn(&["explain", "HARN-RMD"]);
    assert_eq!((found.code, found.out.matches("HARN-RMD-").count()), (Some(0), 8), "{}", found.out);
    let found = harn(&["explain", "propagte"]);
    assert!(found.code == Some(2) && found.err.contains("did you mean `propagate`?"), "{}", found.err);
}

#[test]
fn each_code_of_a_piped_log_is_explained_once() {
    let script = "println(totl)\nprintln(othr)\nlet x: int = \"a\"\n";
    let failed = harn_with_input(&["check", "-"], script.as_bytes(), &[]);
    assert_eq!(failed.code, Some(1));
    let codes: BTreeSet<&str> = failed.err.split(['[', ']']).filter(|part| part.starts_with("HARN-")).collect();
    assert!(codes.len() > 1, "{}", failed.err);
    for log in [failed.err.clone(), harn_with_input(&["check", "--format", "json", "-"], script.as_bytes(), &[]).out] {
        let explained = harn_with_input(&["explain", "-"], log.as_bytes(), &[]);
        assert_eq!((explained.code, explained.err.as_str()), (Some(0), ""), "{}", explained.out);
        for code in &codes {
            let head = format!("{code} occurs {} time", log.matches(code).count());
            assert_eq!(explained.out.matches(&head).count(), 1, "{head}:\n{}", explained.out);
            assert_eq!(explained.out.matches(&format!("{code} (error)")).count(), 1, "{}", explained.out);
        }
    }
    let rows = harn_with_input(&["explain", "--json", "-"], failed.err.as_bytes(), &[]);
    let rows: Value = serde_json::from_str(&rows.out).unwrap();
    assert_eq!(rows.as_array().unwrap().len(), codes.len());
    assert!(rows[0]["occurrences"].as_u64().unwrap() > 0 && rows[0]["meaning"].is_string());
}

#[test]
fn a_log_without_known_codes_is_an_error() {
    let outcome = harn_with_input(&["explain", "-"], b"all is well\n", &[]);
    assert_eq!((outcome.code, outcome.out.as_str()), (Some(1), ""));
    assert!(outcome.err.contains("contains no diagnostic code"), "{}", outcome.err);
    let outcome = harn_with_input(&["explain", "-"], b"error[HARN-XYZ-001]\n", &[]);
    assert_eq!((outcome.code, outcome.out.as_str()), (Some(1), ""));
    assert!(outcome.err.contains("unknown code `HARN-XYZ-001`"), "{}", outcome.err);
    let outcome = harn_with_input(&["explain", "-"], b"error[HARN-XYZ-001]\nerror[HARN-NAM-001]", &[]);
    assert!(outcome.code == Some(0) && outcome.err.contains("HARN-XYZ-001"), "{}", outcome.err);
}

#[test]
fn what_is_asked_for_is_shown_without_what_a_terminal_would_obey() {
    let outcome = harn(&["explain", "HARN-\u{1b}[31mRMD\u{202e}-05"]);
    assert_eq!(outcome.code, Some(2));
    assert!(!outcome.err.contains('\u{1b}') && !outcome.err.contains('\u{202e}'), "{}", outcome.err);
    assert!(outcome.err.contains("RMD"), "{}", outcome.err);
}
