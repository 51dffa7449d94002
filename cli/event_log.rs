//! `harn log`: maintains event logs in files.

use crate::report::{Format, show, visible};
use crate::whole_file::write_whole_with;
use base::data::Data;
use base::moment::from_rfc3339;
use eventlog::{LogCode, LogDefect, LogError, LogFile};
use lang::vm::RunCode;
use serve::log_file::{ExportError, ExportOptions, LogStats, RecordStats, export, stats};
use serve::trim::{KeptUnits, RemovedUnits, TrimError, TrimOptions, TrimReport, trim};
use std::fmt::Write as _;
use std::io::{ErrorKind, Write as _};
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
    /// Print what a log contains: records, bytes, topics, sessions, tasks and runs
    Stats(StatsArgs),
    /// Write records as JSON Lines
    Export(ExportArgs),
    /// Read the whole file and report what is damaged
    Verify(VerifyArgs),
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

#[derive(clap::Args)]
pub(crate) struct StatsArgs {
    /// SQLite file of an event log
    log: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
pub(crate) struct ExportArgs {
    /// SQLite file of an event log
    log: PathBuf,
    /// Only the records of this session, task or run
    #[arg(long, value_name = "ID")]
    run: Option<String>,
    /// Only records from this time on: a duration before now, such as 30d, a date, or a time in RFC 3339
    #[arg(long, value_name = "WHEN", value_parser = before)]
    since: Option<u64>,
    /// File to write, as a whole or not at all [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(clap::Args)]
pub(crate) struct VerifyArgs {
    /// SQLite file of an event log
    log: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Returns the time that `--before` and `--since` mean, in milliseconds since 1970-01-01 UTC.
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
    let done = match command {
        LogCommand::Trim(args) => return run_trim(&args),
        LogCommand::Stats(args) => run_stats(&args),
        LogCommand::Export(args) => run_export(&args),
        LogCommand::Verify(args) => run_verify(&args),
    };
    done.unwrap_or_else(|diagnostic| {
        show(&Terminal, &[*diagnostic], Format::Text);
        1
    })
}

/// Returns the file that an argument names, as `--event-log` takes it.
fn file_of(log: &Path) -> &Path {
    let named = log.to_str().and_then(|text| text.strip_prefix("sqlite:")).filter(|_| !log.exists());
    named.map_or(log, Path::new)
}

/// Prints a text. A reader that closed the pipe is not an error.
fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

fn unreadable(error: &LogError) -> Box<Diagnostic> {
    let help = match error {
        LogError::CannotOpen { .. } => "use a file that `--event-log sqlite:FILE` wrote".to_owned(),
        error => error.help(),
    };
    Box::new(Diagnostic::new(from_core(error.code()), error.to_string()).help(help))
}

fn run_stats(args: &StatsArgs) -> Result<i32, Box<Diagnostic>> {
    let stats = stats(file_of(&args.log)).map_err(|error| unreadable(&error))?;
    print(&if args.json { stats.to_data().to_json() + "\n" } else { text_of_stats(&stats) });
    Ok(0)
}

fn run_export(args: &ExportArgs) -> Result<i32, Box<Diagnostic>> {
    let log = file_of(&args.log);
    let options = ExportOptions { run: args.run.as_deref().map(Arc::from), since_ms: args.since.unwrap_or(0) };
    let written = match &args.output {
        None => {
            let mut to = std::io::BufWriter::new(std::io::stdout().lock());
            export(log, &options, &mut to).and_then(|count| Ok(to.flush().map(|()| count)?))
        }
        Some(output) => {
            let same = |path: &Path| std::fs::canonicalize(path).ok();
            if same(log).is_some_and(|log| same(output) == Some(log)) {
                let message = "cannot write the records to the log itself";
                return Err(Box::new(Diagnostic::new(RunCode::Outside, message).help("choose another file")));
            }
            write_whole_with(output, |file| {
                let mut to = std::io::BufWriter::new(file);
                export(log, &options, &mut to).and_then(|count| Ok(to.flush().map(|()| count)?))
            })
        }
    };
    match written {
        Ok(count) => {
            if args.output.is_some() {
                print(&format!("wrote {}\n", counted(count, "record")));
            }
            Ok(0)
        }
        // A reader that closed the pipe has what it wanted.
        Err(ExportError::Write(error)) if args.output.is_none() && error.kind() == ErrorKind::BrokenPipe => Ok(0),
        Err(ExportError::Log(error)) => Err(unreadable(&error)),
        Err(error @ ExportError::UnknownRun(_)) => {
            let help = "`harn log stats` prints how many runs there are; the `headers` of records name them";
            Err(Box::new(Diagnostic::new(RunCode::Outside, error.to_string()).help(help)))
        }
        Err(error @ ExportError::Write(_)) => {
            let help = "use a path in an existing, writable folder with enough space";
            Err(Box::new(Diagnostic::new(RunCode::Outside, error.to_string()).help(help)))
        }
    }
}

/// Maximum number of defects that are printed.
const MOST_DEFECTS: usize = 100;

fn run_verify(args: &VerifyArgs) -> Result<i32, Box<Diagnostic>> {
    let path = file_of(&args.log);
    let (mut defects, mut count) = (Vec::new(), 0_u64);
    let mut found = |defect: LogDefect| {
        count += 1;
        if defects.len() < MOST_DEFECTS {
            defects.push(defect.to_string());
        }
    };
    let records = LogFile::open(path).and_then(|file| file.verify(&mut found)).map_err(|error| unreadable(&error))?;
    if args.json {
        let defects: Data = defects.iter().map(|defect| Data::from(defect.as_str())).collect();
        let fields = [("records", Data::from(records)), ("defect_count", count.into()), ("defects", defects)];
        print(&(Data::dict(fields).to_json() + "\n"));
    } else if count == 0 {
        print(&format!("verified {}: no defects\n", counted(records, "record")));
    } else {
        for defect in &defects {
            print(&format!("{}\n", visible(defect)));
        }
    }
    if count == 0 {
        return Ok(0);
    }
    let message = format!("the event log has {} in {}", counted(count, "defect"), counted(records, "record"));
    let help = "stop the servers of the log and copy the file; `harn log export` of single runs, or `sqlite3 FILE \
                .recover`, may save what can be read; use a new file for the log";
    Err(Box::new(Diagnostic::new(from_core(LogCode::Damaged), message).help(help)))
}

fn text_of_stats(stats: &LogStats) -> String {
    let numbers = |of: &RecordStats| {
        let times = of.times.map(|(oldest, newest)| format!(", {} to {}", rfc3339(oldest), rfc3339(newest)));
        format!("{}, {}{}", counted(of.records, "record"), counted(of.bytes, "byte"), times.unwrap_or_default())
    };
    let LogStats { sessions, tasks, runs, .. } = stats;
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = writeln!(text, "{}", numbers(&stats.all));
    let _ = writeln!(text, "  size of the file: {} bytes, {} of them used", stats.file_bytes, stats.used_bytes);
    for (of, noun) in [(sessions, "session"), (tasks, "task")] {
        let (open, ended) = (of.open, of.count - of.open);
        let _ = writeln!(text, "  {} ({open} open, {ended} ended): {}", counted(of.count, noun), numbers(&of.records));
    }
    let _ = writeln!(text, "  {} of scripts: {}", counted(runs.count, "run"), numbers(&runs.records));
    let _ = writeln!(text, "  of no run: {}", numbers(&stats.other));
    let _ = writeln!(text, "{}", counted(stats.topics.len() as u64, "topic"));
    for (name, of) in &stats.topics {
        let _ = writeln!(text, "  {}: {}", visible(name), numbers(of));
    }
    text
}

fn run_trim(args: &TrimArgs) -> i32 {
    let path = file_of(&args.log);
    let topics = args.topic.iter().map(|topic| Arc::from(topic.as_str())).collect();
    let options = TrimOptions { before_ms: args.before, topics, dry_run: args.dry_run };
    match trim(path, &options) {
        Ok(report) => {
            print(&text_of(&report, &options));
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
