//! `harn log`: maintains event logs in files.

use crate::report::{Format, show};
use base::moment::from_rfc3339;
use serve::trim::{KeptUnits, RemovedUnits, TrimError, TrimOptions, TrimReport, trim};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use stdlib::limits::parse_time;
use stdlib::output::Terminal;
use stdlib::{Diagnostic, from_core, rfc3339};

#[derive(clap::Subcommand)]
pub(crate) enum LogCommand {
    /// Remove old records that no server, session or task needs, and make the file smaller
    Trim(TrimArgs),
}

#[derive(clap::Args)]
pub(crate) struct TrimArgs {
    /// SQLite file of an event log
    log: PathBuf,
    /// Remove what was last used before this time: a duration before now, such as 30d, a date, or a time in RFC 3339
    #[arg(long, value_name = "WHEN", value_parser = before)]
    before: u64,
    /// Also remove the old records of a topic of scripts; can be repeated
    #[arg(long, value_name = "TOPIC")]
    topic: Vec<String>,
    /// Print what would be removed, and change nothing
    #[arg(long)]
    dry_run: bool,
}

/// Returns the time that `--before` means, in milliseconds since 1970-01-01 UTC.
fn before(written: &str) -> Result<u64, String> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let ms = |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    if let Ok(ago) = parse_time(written) {
        return Ok(ms(now.saturating_sub(ago)));
    }
    let midnight = || from_rfc3339(&format!("{written}T00:00:00Z"));
    match from_rfc3339(written).or_else(midnight) {
        Some(at) if at > ms(now) => Err(format!("`{written}` is in the future")),
        Some(at) => Ok(at),
        None => Err(format!(
            "`{written}` is neither a duration nor a time; use, for example, `30d`, `2026-01-31` or \
             `2026-01-31T12:00:00Z`"
        )),
    }
}

pub(crate) fn run(command: LogCommand) -> i32 {
    let LogCommand::Trim(args) = command;
    // As `--event-log` takes it.
    let named = args.log.to_str().and_then(|text| text.strip_prefix("sqlite:")).filter(|_| !args.log.exists());
    let path = named.map_or(&*args.log, Path::new);
    let topics = args.topic.iter().map(|topic| Arc::from(topic.as_str())).collect();
    let options = TrimOptions { before_ms: args.before, topics, dry_run: args.dry_run };
    match trim(path, &options) {
        Ok(report) => {
            // A reader that closed the pipe is not an error.
            let _ = std::io::stdout().write_all(text_of(&report, &options).as_bytes());
            match &report.not_given_back {
                None => 0,
                Some(why) => {
                    let message = format!("the records were removed, but the file keeps its size: {why}");
                    let help =
                        format!("{}; the space is used for new records, and the next trim tries again", why.help());
                    show(&Terminal, &[Diagnostic::new(from_core(why.code()), message).help(help)], Format::Text);
                    1
                }
            }
        }
        Err(error) => {
            show(&Terminal, &[diagnostic(&error)], Format::Text);
            1
        }
    }
}

fn diagnostic(error: &TrimError) -> Diagnostic {
    Diagnostic::new(error.code(), error.to_string()).help(error.help())
}

fn text_of(report: &TrimReport, options: &TrimOptions) -> String {
    let RemovedUnits { records, sessions, tasks, runs, channel_records, script_records } = report.removed;
    let kept = report.kept;
    let mut text = String::new();
    let all = records + kept.records;
    let word = if options.dry_run { "would remove" } else { "removed" };
    // Writing to a string does not fail.
    let _ = writeln!(text, "{word} {records} of {} older than {}", counted(all, "record"), rfc3339(options.before_ms));
    let removed = [
        counted(sessions, "session"),
        counted(tasks, "finished task"),
        counted(runs, "run"),
        counted(channel_records, "record") + " about channels",
        counted(script_records, "record") + " of scripts",
    ];
    let _ = writeln!(text, "  {word}: {}", removed.join(", "));
    let _ = writeln!(text, "  {}: {}", if options.dry_run { "would keep" } else { "kept" }, kept_text(&kept));
    if let Some((before, after)) = report.size {
        let _ = writeln!(text, "  size of the file: {before} bytes before, {after} bytes now");
    }
    text
}

fn kept_text(kept: &KeptUnits) -> String {
    let KeptUnits { sessions, waiting_sessions, tasks, unfinished_tasks, runs, channels, links, .. } = *kept;
    let parts = [
        format!("{} ({waiting_sessions} old, with something pending)", counted(sessions, "session")),
        format!("{} ({unfinished_tasks} unfinished)", counted(tasks, "task")),
        counted(runs, "run"),
        counted(channels, "channel"),
        counted(links, "link") + " to tasks of peers",
        counted(kept.hub_records, "record") + " of a hub",
        counted(kept.script_records, "record") + " of scripts",
    ];
    parts.join(", ")
}

/// Returns a number with its noun.
fn counted(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_duration_before_now_a_date_or_a_timestamp() {
        assert_eq!(before("2026-01-31"), Ok(from_rfc3339("2026-01-31T00:00:00Z").unwrap()));
        assert_eq!(before("2026-01-31T12:00:00+02:00"), Ok(from_rfc3339("2026-01-31T10:00:00Z").unwrap()));
        let day_ago = before("1d").unwrap();
        assert!(day_ago < before("1h").unwrap());
        for wrong in ["", "0s", "x", "30", "-1d", "2026-02-30", "2026-1-1", "9999999999999999999d"] {
            assert!(before(wrong).unwrap_err().contains("is neither a duration nor a time"), "{wrong}");
        }
        assert_eq!(before("2999-01-01"), Err("`2999-01-01` is in the future".to_owned()));
    }
}
