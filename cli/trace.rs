//! `harn trace LOG`: what became of every reminder and of every task of a hub, from the event log alone.
//!
//! - `source`: reading a log, SQLite or JSON lines; `output`: the file that a page is written to.
//! - `names`: ids and texts as people see them.
//! - `timeline`, `text`: the life of each session, turn by turn.
//! - `pending`: what was pending at a point.
//! - `tasks`: the tasks of a hub. `peer_tasks`: the linked tasks of peers.
//! - `document`: the same as one JSON document.
//! - `page`: the same as an HTML page. `picture`: its lanes as one SVG picture. `lane`: the lanes of both.
//! - `export`: the spans of the runs, sent to a collector.

#[cfg(feature = "otel")]
use crate::otel::destination;
use crate::report::{Format, show, visible, wants_color};
use crate::stdout;
use base::data::Data;
use eventlog::Record;
use names::ShortNames;
use runtime::lifecycle::rebuild::{RebuildNote, Rebuilt, SessionLife};
use serve::channels::PeerTaskLinks;
use std::io::{BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use stdlib::Diagnostic;
use stdlib::output::Terminal;
#[cfg(feature = "otel")]
use telemetry::Destination;

mod document;
#[cfg(feature = "otel")]
mod export;
mod lane;
mod names;
mod output;
mod page;
mod paint;
mod peer_tasks;
mod pending;
mod picture;
mod source;
mod tasks;
mod text;
mod timeline;

#[derive(clap::Args)]
pub(crate) struct TraceArgs {
    /// SQLite file of an event log, or a file with one JSON record per line
    log: PathBuf,
    /// Show the reminders that were pending and the tasks that were unfinished after this cursor; with --json, --html, --svg or --records, show
    /// everything up to it
    #[arg(long, value_name = "CURSOR")]
    at: Option<u64>,
    /// Show only this session, without tasks of a hub; the last characters of its id are enough
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Print one JSON document
    #[arg(long, group = "form")]
    json: bool,
    /// Print every record as a line of JSON
    #[arg(long, group = "form")]
    records: bool,
    /// Write a self-contained HTML page
    #[arg(long, value_name = "FILE", group = "form")]
    html: Option<PathBuf>,
    /// Write the life of each reminder as an SVG picture
    #[arg(long, value_name = "FILE", group = "form")]
    svg: Option<PathBuf>,
    /// Send the spans of all runs over OTLP/HTTP to this collector, or without URL to the one in
    /// OTEL_EXPORTER_OTLP_ENDPOINT
    #[cfg(feature = "otel")]
    #[arg(
        long,
        value_name = "URL",
        num_args = 0..=1,
        default_missing_value = "",
        value_parser = destination,
        group = "form",
        conflicts_with = "session"
    )]
    otel: Option<Destination>,
    /// Also show providers without a result, and every pass that charged reminders
    #[arg(long, short)]
    verbose: bool,
}

pub(crate) fn run(args: &TraceArgs) -> i32 {
    match trace(args) {
        Ok(()) => 0,
        Err(Failure::Message(code, message, help)) => {
            eprintln!("error: {}\n  help: {}", visible(&message), visible(&help));
            code
        }
        Err(Failure::Diagnostic(diagnostic)) => {
            show(&Terminal, &[*diagnostic], Format::Text);
            1
        }
    }
}

enum Failure {
    /// The request does not fit the log, or the output cannot be written: exit code, sentence,
    /// help.
    Message(i32, String, String),
    /// The log cannot be read.
    Diagnostic(Box<Diagnostic>),
}

/// A log that was read.
struct Trace {
    rebuilt: Rebuilt,
    hub: tasks::HubTasks,
    links: PeerTaskLinks,
    told: source::LogReading,
    names: ShortNames,
    /// The whole id of the one session that is wanted.
    only: Option<String>,
}

impl Trace {
    /// The sessions that are wanted.
    fn sessions(&self) -> impl Iterator<Item = &SessionLife> {
        let wanted = |id: &str| self.only.as_deref().is_none_or(|only| only == id);
        self.rebuilt.sessions().filter(move |session| wanted(&session.id))
    }

    /// Returns which of several runs a session belongs to, in words; `None` if there was only one.
    fn run_of(&self, session: &SessionLife) -> Option<String> {
        let runs = self.rebuilt.runs(&session.id);
        (runs > 1).then(|| format!("run {} of {runs}", session.run))
    }

    /// Returns a sentence about the reminders that an earlier run left pending: a session lives in
    /// memory.
    fn left_of(&self, session: &SessionLife) -> Option<String> {
        let left = session.pending().count();
        (session.run < self.rebuilt.runs(&session.id) && left > 0).then(|| {
            format!("{} pending at the last record of this run; a later run starts over", names::grouped(left as u64))
        })
    }

    /// Notes of the sessions that are wanted.
    fn notes(&self) -> impl Iterator<Item = &RebuildNote> {
        let wanted = |id: Option<&str>| self.only.is_none() || id == self.only.as_deref();
        self.rebuilt.notes.iter().filter(move |note| wanted(note.session_id.as_deref()))
    }
}

fn trace(args: &TraceArgs) -> Result<(), Failure> {
    if args.records {
        return records(args);
    }
    let upto = args.at.unwrap_or(u64::MAX);
    #[cfg(feature = "otel")]
    if let Some(to) = &args.otel {
        let told = export::export(&args.log, upto, to)?;
        show(&Terminal, &told.warnings, Format::Text);
        return check_cursor(args, told.last_cursor);
    }
    let (mut rebuilt, mut hub, mut links) = (Rebuilt::default(), tasks::HubTasks::default(), PeerTaskLinks::default());
    let told = source::read(&args.log, |record| {
        if record.cursor <= upto {
            rebuilt.take(record);
            hub.take(record);
            links.take(record);
        }
    })
    .map_err(Failure::Diagnostic)?;
    show(&Terminal, &told.warnings, Format::Text);
    check_cursor(args, told.last_cursor)?;
    let names = ShortNames::of(&rebuilt);
    let only = args.session.as_deref().map(|wanted| find_session(&rebuilt, &names, wanted)).transpose()?;
    if only.is_some() {
        // Tasks belong to no session.
        hub = tasks::HubTasks::default();
    }
    if let Some(only) = &only {
        links.retain(|link| link.session_id.as_deref() == Some(only));
    }
    rebuilt.notes.extend(hub.take_notes());
    rebuilt.notes.sort_by_key(|note| note.cursor);
    let trace = Trace { rebuilt, hub, links, told, names, only };
    if let Some(file) = &args.html {
        let name = args.log.file_name().map_or_else(|| "log".to_owned(), |name| name.to_string_lossy().into_owned());
        return write_file(&trace, args, file, &page::page(&trace, &name));
    }
    if let Some(file) = &args.svg {
        return write_file(&trace, args, file, &picture::picture(&trace));
    }
    let text = match args.at {
        _ if args.json => document::document(&trace, args.at),
        Some(cursor) => pending::pending(&trace, cursor, paint::Paint::of(&std::io::stdout())),
        None => text::text(&trace, args.verbose, paint::Paint::of(&std::io::stdout())),
    };
    stdout::print(&text).map_err(|error| not_printed(&error))
}

fn not_printed(error: &std::io::Error) -> Failure {
    let help = "the output is incomplete; free up disk space, or write to another location";
    Failure::Message(1, format!("cannot write to standard output: {error}"), help.to_owned())
}

fn check_cursor(args: &TraceArgs, last: u64) -> Result<(), Failure> {
    match args.at {
        Some(cursor) if cursor > last => {
            let message = format!("cursor {cursor} is after the end of the log; its last record has cursor {last}");
            Err(Failure::Message(
                2,
                message,
                format!(
                    "`--at` takes a cursor from 0 to {last}; `--records` lists \
                them"
                ),
            ))
        }
        _ => Ok(()),
    }
}

fn find_session(rebuilt: &Rebuilt, names: &ShortNames, wanted: &str) -> Result<String, Failure> {
    let end = wanted.strip_prefix('#').unwrap_or(wanted);
    let exact = rebuilt.sessions().find(|session| session.id.as_ref() == wanted);
    // One that several runs had is one session here.
    let ends_so = |session: &&SessionLife| session.run == 1 && !end.is_empty() && session.id.ends_with(end);
    let mut ending = rebuilt.sessions().filter(ends_so);
    let found = exact.or_else(|| ending.next().filter(|_| ending.next().is_none()));
    found.map(|session| session.id.to_string()).ok_or_else(|| {
        let ids: Vec<String> = rebuilt.sessions().take(8).map(|session| names.short(&session.id)).collect();
        let near = base::words::nearest(wanted, rebuilt.sessions().map(|session| session.id.as_ref()));
        let help = match near {
            Some(near) => format!("did you mean `{}`?", names::clean(near)),
            None if ids.is_empty() => "the log does not contain any sessions".to_owned(),
            None => format!("the sessions are {}", ids.join(", ")),
        };
        Failure::Message(2, format!("`{}` does not match exactly one session", names::clean(wanted)), help)
    })
}

/// The records themselves, as they are read: a log may be larger than memory.
fn records(args: &TraceArgs) -> Result<(), Failure> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    let upto = args.at.unwrap_or(u64::MAX);
    let mut written = Ok(());
    let told = source::read(&args.log, |record| {
        if written.is_ok() && record.cursor <= upto && is_of(record, args.session.as_deref()) {
            written = writeln!(out, "{}", record.to_data().to_json());
        }
    })
    .map_err(Failure::Diagnostic)?;
    let written = written.and_then(|()| out.flush());
    stdout::forgive(written).map_err(|error| not_printed(&error))?;
    show(&Terminal, &told.warnings, Format::Text);
    check_cursor(args, told.last_cursor)
}

fn is_of(record: &Record, session: Option<&str>) -> bool {
    let Some(wanted) = session else { return true };
    let id = match record.payload.get("session_id") {
        Data::Str(id) => id.as_ref(),
        _ => return false,
    };
    id == wanted || id.ends_with(wanted.strip_prefix('#').unwrap_or(wanted))
}

fn write_file(trace: &Trace, args: &TraceArgs, file: &Path, text: &str) -> Result<(), Failure> {
    output::write_whole(file, text, &args.log).map_err(|error| {
        let message = format!("cannot write `{}`: {error}", file.display());
        let help = "use a file in an existing, writable folder; the previous file was not changed";
        Failure::Message(1, message, help.to_owned())
    })?;
    let lives: usize = trace.sessions().map(|session| session.reminders.len()).sum();
    let sessions = names::count(trace.sessions().count(), "session");
    let tasks = match trace.hub.len() {
        0 => String::new(),
        tasks => format!(" and {}", names::count(tasks, "task")),
    };
    let written = format!("{} of {sessions}{tasks} in {}\n", names::count(lives, "reminder"), file.display());
    stdout::print(&written).map_err(|error| not_printed(&error))
}

/// Returns the maximum width of text, in columns.
fn columns() -> usize {
    let wide = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    wide.filter(|columns| *columns >= 40).unwrap_or(if std::io::stdout().is_terminal() { 100 } else { 120 })
}

/// Whether a stream takes colour.
fn is_colourful(to: &impl IsTerminal) -> bool {
    wants_color(to)
}
