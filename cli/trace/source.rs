//! The source of the records: a log in a SQLite file, or a file of JSON lines. The kind is detected
//! by content, not by name.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use base::data::Data;
use eventlog::{LogCode, LogError, LogFile, Record, RecordFilter};
use stdlib::{Diagnostic, Severity, from_core};

/// The first bytes of a SQLite file.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// The maximum length of a record's line, in bytes: the log accepts nothing larger.
const LONGEST_LINE: u64 = 80 << 20;

/// The nesting depth of a record around its payload.
const FRAME: usize = 1;

/// The number of records of a SQLite file that are read at a time.
const PAGE: usize = 4096;

/// The result of reading, without the records themselves.
#[derive(Default)]
pub(crate) struct LogReading {
    /// The number of records.
    pub(crate) records: u64,
    /// The cursor of the last.
    pub(crate) last_cursor: u64,
    /// Warnings for lines that are not records.
    pub(crate) warnings: Vec<Diagnostic>,
}

/// Reads a log from its beginning to its present end, oldest record first.
///
/// # Errors
/// Fails if the file does not exist, cannot be read, or has no line that is a record.
pub(crate) fn read(path: &Path, mut take: impl FnMut(&Record)) -> Result<LogReading, Box<Diagnostic>> {
    // As `--event-log` writes it.
    let home = path.to_str().and_then(|text| text.strip_prefix("sqlite:")).filter(|_| !path.exists());
    let path = home.map_or(path, Path::new);
    let cannot = |why: String| of_log(&LogError::CannotOpen { path: path.into(), why });
    if path.is_dir() {
        return Err(cannot("it is a folder".to_owned()));
    }
    let mut file = File::open(path).map_err(|error| {
        let missing = error.kind() == std::io::ErrorKind::NotFound;
        cannot(if missing { "the file does not exist".to_owned() } else { error.to_string() })
    })?;
    let mut start = Vec::new();
    (&mut file).take(SQLITE.len() as u64).read_to_end(&mut start).map_err(|error| cannot(error.to_string()))?;
    if start == SQLITE {
        return sqlite(path, &mut take).map_err(|error| of_log(&error));
    }
    let whole = BufReader::new(std::io::Cursor::new(start).chain(file));
    json_lines(path, whole, &mut take)
}

fn sqlite(path: &Path, take: &mut dyn FnMut(&Record)) -> Result<LogReading, LogError> {
    let log = LogFile::open(path)?;
    let (mut told, mut filter) = (LogReading::default(), RecordFilter::default());
    loop {
        let page = match log.read(&filter, PAGE) {
            // Another process deletes old records during the read: the remaining ones are shown,
            // with a warning.
            Err(LogError::Lagged { lost, resume_from }) => {
                told.warnings.push(of_lag(lost, resume_from));
                filter.after = resume_from;
                continue;
            }
            page => page?,
        };
        let Some(last) = page.last() else { return Ok(told) };
        filter.after = last.cursor;
        told.last_cursor = last.cursor;
        told.records += page.len() as u64;
        page.iter().for_each(|record| take(record));
    }
}

fn json_lines(
    path: &Path,
    mut from: impl BufRead,
    take: &mut dyn FnMut(&Record),
) -> Result<LogReading, Box<Diagnostic>> {
    let (mut told, mut line, mut number) = (LogReading::default(), Vec::new(), 0_u64);
    loop {
        line.clear();
        let read = (&mut from).take(LONGEST_LINE).read_until(b'\n', &mut line);
        let read = read.map_err(|error| of_log(&LogError::CannotOpen { path: path.into(), why: error.to_string() }))?;
        if read == 0 {
            break;
        }
        number += 1;
        let is_whole = line.ends_with(b"\n");
        match record_of(&line, told.last_cursor + 1) {
            Ok(None) => {}
            Ok(Some(record)) => {
                told.records += 1;
                told.last_cursor = record.cursor;
                take(&record);
            }
            Err(_) if !is_whole && told.records > 0 => {
                let message = format!("line {number} of `{}` is incomplete and was skipped", path.display());
                told.warnings.push(warning(message, "another process may still be writing the log"));
            }
            Err(why) => {
                // A file that begins like this is not an event log, and would only produce
                // thousands of warnings.
                if told.records == 0 {
                    let what = format!("line {number} is not a record: {why}");
                    return Err(of_log(&LogError::Foreign { path: path.into(), what }));
                }
                let message = format!("line {number} of `{}` is not a record and was skipped: {why}", path.display());
                told.warnings.push(warning(message, "`harn trace LOG --records` writes lines that can be read"));
            }
        }
    }
    Ok(told)
}

/// The record of a line; nothing for a blank one.
fn record_of(line: &[u8], cursor: u64) -> Result<Option<Record>, String> {
    let text = std::str::from_utf8(line).map_err(|error| format!("byte {} is not UTF-8", error.valid_up_to() + 1))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).trim();
    if text.is_empty() {
        return Ok(None);
    }
    let data = Data::from_nested_json(text, Data::MAX_DEPTH + FRAME)
        .map_err(|e| format!("not valid JSON: {} in column {}", e.message, e.column))?;
    Record::from_data(&data, cursor).map(Some)
}

fn of_lag(lost: u64, resume_from: u64) -> Diagnostic {
    let message = format!("{lost} records before cursor {resume_from} are no longer in the log");
    warning(message, "reminders that were created there are shown without their creation")
}

fn warning(message: String, help: &str) -> Diagnostic {
    Diagnostic::new(from_core(LogCode::Damaged), message).with_severity(Severity::Warning).help(help)
}

/// A failure of the log as a diagnostic.
pub(crate) fn of_log(error: &LogError) -> Box<Diagnostic> {
    let help = match error {
        LogError::CannotOpen { .. } => {
            "use a file that `--event-log sqlite:FILE` wrote, or a JSON Lines file".to_owned()
        }
        LogError::Foreign { .. } => {
            "a log is a SQLite file that `--event-log sqlite:FILE` wrote, or a file with one JSON record per line"
                .to_owned()
        }
        other => other.help(),
    };
    Box::new(Diagnostic::new(from_core(error.code()), error.to_string()).help(help))
}
