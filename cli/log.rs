//! The log of the process on standard error: as text or as JSON, filtered by `HARN_LOG`, else
//! `RUST_LOG`.
//!
//! Standard error may have no reader, so no caller waits for it: lines pass a bounded queue to a
//! thread of their own, and lines that do not fit are counted.

use std::env::VarError;
use std::fmt;
use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use tracing::level_filters::LevelFilter;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields, MakeWriter};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::{LookupSpan, Scope};
use tracing_subscriber::util::SubscriberInitExt as _;

/// The variables that hold the filter; the first one that is set counts.
const VARIABLES: [&str; 2] = ["HARN_LOG", "RUST_LOG"];

/// The crates of the workspace, which a filter without a target is about. Libraries may log what is sent, so they must be
/// named.
const CRATES: [&str; 18] = [
    "a2a",
    "base",
    "cli",
    "eventlog",
    "fmt",
    "harn",
    "hub",
    "json",
    "jsonrpc",
    "lang",
    "lsp",
    "mcp",
    "providers",
    "runtime",
    "serve",
    "stdlib",
    "telemetry",
    "testing",
];

/// The maximum number of waiting lines; more are dropped and counted.
const WAITING: usize = 1024;

/// The maximum length of a line of text, in characters.
const LONGEST: usize = 8000;

/// The time that the end of the process waits for unwritten lines.
const LAST_LINES: Duration = Duration::from_millis(500);

/// The format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LogFormat {
    /// Readable text
    Text,
    /// One JSON object per line
    Json,
}

/// Writes what is still waiting when it is dropped.
pub(crate) struct LogGuard(());

impl Drop for LogGuard {
    fn drop(&mut self) {
        flush();
    }
}

/// Starts logging. Without a filter in the environment, lines of `level` and above are written; `None` means that nothing is
/// logged then, unless `format` is given.
///
/// # Errors
/// A sentence about a filter in `HARN_LOG` that cannot be read.
pub(crate) fn start(format: Option<LogFormat>, level: Option<LevelFilter>) -> Result<Option<LogGuard>, String> {
    let level = level.or(format.map(|_| LevelFilter::INFO));
    let Some(filter) = of_environment(|name| std::env::var(name))?.or(level.map(of_level)) else { return Ok(None) };
    let layer = tracing_subscriber::fmt::layer().with_writer(Queue);
    let started = match format.unwrap_or(LogFormat::Text) {
        LogFormat::Text => {
            let layer = layer.with_ansi(false).event_format(Text).with_filter(filter);
            tracing_subscriber::registry().with(layer).try_init()
        }
        LogFormat::Json => {
            let layer = layer.json().flatten_event(true).with_current_span(false).with_filter(filter);
            tracing_subscriber::registry().with(layer).try_init()
        }
    };
    // It fails only where a subscriber is there already, which then has the lines.
    Ok(started.is_ok().then_some(LogGuard(())))
}

/// Reports a filter that cannot be read, and returns the exit code of wrong usage.
pub(crate) fn refuse(why: &str) -> i32 {
    eprintln!("error: {}", crate::report::visible(why));
    eprintln!("  help: a filter is a level (error, warn, info, debug, trace) or a list such as `info,runtime=debug`");
    2
}

/// Returns the filter that the environment names, if it names one.
fn of_environment(read: impl Fn(&str) -> Result<String, VarError>) -> Result<Option<Targets>, String> {
    for name in VARIABLES {
        let Some(text) = read(name).ok().filter(|text| !text.trim().is_empty()) else { continue };
        match text.parse::<Targets>() {
            Ok(targets) => return Ok(Some(of_ours(&targets))),
            // It is meant for other programs too, whose filters say more.
            Err(_) if name != VARIABLES[0] => return Ok(None),
            Err(error) => return Err(format!("invalid filter in `{name}`: {error}")),
        }
    }
    Ok(None)
}

fn of_level(level: LevelFilter) -> Targets {
    Targets::new().with_targets(CRATES.map(|name| (name, level)))
}

/// Gives a level without a target to our crates alone.
fn of_ours(targets: &Targets) -> Targets {
    let level = targets.default_level().unwrap_or(LevelFilter::OFF);
    of_level(level).with_targets(targets.iter().map(|(target, level)| (target.to_owned(), level)))
}

/// A line for people: `harn: message key=value (session session_id=… turn turn=…)`.
struct Text;

impl<S, N> FormatEvent<S, N> for Text
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, cx: &FmtContext<'_, S, N>, mut to: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let mut line = String::new();
        cx.field_format().format_fields(Writer::new(&mut line), event)?;
        for span in cx.event_scope().into_iter().flat_map(Scope::from_root) {
            line.push_str(&format!(" {}", span.name()));
            if let Some(fields) = span.extensions().get::<FormattedFields<N>>().filter(|fields| !fields.is_empty()) {
                line.push_str(&format!("{{{fields}}}"));
            }
        }
        let prefix = match *event.metadata().level() {
            Level::TRACE => "harn: trace: ",
            Level::DEBUG => "harn: debug: ",
            _ => "harn: ",
        };
        let shown: String = line.chars().filter(|c| *c == '\n' || !c.is_control()).take(LONGEST).collect();
        // What comes from outside cannot begin a line of its own.
        writeln!(to, "{prefix}{}", shown.trim_end().replace('\n', "\n  "))
    }
}

/// The queue of lines for the thread that writes them.
struct Queue;

impl MakeWriter<'_> for Queue {
    type Writer = LogLine;

    fn make_writer(&self) -> LogLine {
        LogLine(Vec::new())
    }
}

/// A line, which goes into the queue whole.
struct LogLine(Vec<u8>);

impl Write for LogLine {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for LogLine {
    fn drop(&mut self) {
        if !self.0.is_empty() && queue().try_send(QueueItem::Line(std::mem::take(&mut self.0))).is_err() {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Lines that found no room and are not reported yet.
static DROPPED: AtomicU64 = AtomicU64::new(0);

enum QueueItem {
    Line(Vec<u8>),
    /// All lines before it are written.
    Mark(SyncSender<()>),
}

fn queue() -> &'static SyncSender<QueueItem> {
    static QUEUE: OnceLock<SyncSender<QueueItem>> = OnceLock::new();
    QUEUE.get_or_init(|| {
        let (queue, items) = sync_channel(WAITING);
        // Without a thread the receiver is gone and every line counts as dropped.
        let _ = std::thread::Builder::new().name("log".to_owned()).spawn(move || write_all(&items));
        queue
    })
}

fn write_all(items: &Receiver<QueueItem>) {
    for item in items {
        // There is nobody to report it to when standard error is gone.
        match item {
            QueueItem::Line(line) => drop(io::stderr().write_all(&line)),
            QueueItem::Mark(written) => drop(written.send(())),
        }
        let dropped = DROPPED.swap(0, Ordering::Relaxed);
        if dropped > 0 {
            let _ = writeln!(io::stderr(), "harn: {dropped} log lines were dropped: standard error is not read");
        }
    }
}

/// Waits a moment for lines that are not written.
fn flush() {
    let (written, is_written) = sync_channel(1);
    if queue().try_send(QueueItem::Mark(written)).is_ok() {
        let _ = is_written.recv_timeout(LAST_LINES);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(harn: Option<&str>, rust: Option<&str>) -> Result<Option<Targets>, String> {
        of_environment(|name| {
            let found = if name == "HARN_LOG" { harn } else { rust };
            found.map(str::to_owned).ok_or(VarError::NotPresent)
        })
    }

    #[test]
    fn a_level_without_a_target_is_about_our_crates() {
        let found = filter(Some("debug,hyper=warn"), None).unwrap().unwrap();
        assert!(found.would_enable("runtime::agent_loop", &Level::DEBUG));
        assert!(!found.would_enable("agent_client_protocol", &Level::ERROR));
        assert!(found.would_enable("hyper::proto", &Level::WARN));
        assert!(!found.would_enable("hyper::proto", &Level::INFO));
    }

    #[test]
    fn the_logged_crates_are_those_of_the_workspace() {
        let manifest = include_str!("../Cargo.toml");
        let members = manifest.lines().find_map(|line| line.strip_prefix("members = [")).expect("the members");
        let mut members: Vec<&str> = members.split('"').skip(1).step_by(2).chain(["harn"]).collect();
        members.sort_unstable();
        assert_eq!(CRATES.to_vec(), members);
        let usual = of_level(LevelFilter::INFO);
        for name in members {
            assert!(usual.would_enable(&format!("{name}::module"), &Level::ERROR), "{name}");
        }
    }

    #[test]
    fn harn_log_counts_before_rust_log() {
        let found = filter(Some("error"), Some("trace")).unwrap().unwrap();
        assert!(!found.would_enable("serve", &Level::WARN));
        let found = filter(Some(" "), Some("serve=trace")).unwrap().unwrap();
        assert!(found.would_enable("serve", &Level::TRACE) && !found.would_enable("runtime", &Level::ERROR));
        assert_eq!(filter(None, None), Ok(None));
    }

    #[test]
    fn an_invalid_filter_is_reported_where_it_is_ours() {
        assert!(filter(Some("loud=very"), None).unwrap_err().starts_with("invalid filter in `HARN_LOG`: "));
        assert_eq!(filter(None, Some("loud=very")), Ok(None));
    }
}
