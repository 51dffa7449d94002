//! A thousand channels with a connection each to one session.

use std::time::{Duration, Instant};

use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio::sync::mpsc;

use crate::daemon::Daemon;
use crate::options::Options;

/// Number of channels and connections.
const CONNECTIONS: usize = 1_000;
/// Number of events, each to all.
const EVENTS: usize = 200;
/// Most time until a connection has an event after the first one has it, for 99 %.
const MOST_MS: f64 = 5.0;
/// Most memory of a connection in bytes.
const MOST_BYTES: usize = 32 << 10;
/// Time for which the reading thread sleeps before it waits. An event is seen later by at most this time.
const PAUSE: Duration = Duration::from_micros(200);
/// The time after which all connections have the events about each other.
const SETTLE: Duration = Duration::from_millis(500);
/// The timeout of a wait.
const LIMIT: Duration = Duration::from_secs(60);

/// Measures the delay and the memory.
pub(crate) fn run(options: &Options) -> bool {
    let (mut delays, mut memory) = (Vec::new(), Vec::new());
    for _ in 0..options.runs.clamp(1, 5) {
        let (delay, bytes) = measure();
        delays.push(delay);
        memory.push(bytes);
    }
    let delay = crate::median(delays);
    let bytes = crate::median(memory);
    let what = format!("99 % of {CONNECTIONS} connections have an event within {delay:.2} ms, at most {MOST_MS}");
    let held = crate::say(delay <= MOST_MS, &what);
    let what = format!("{:.1} KiB for each connection, at most {}", bytes / 1024.0, MOST_BYTES >> 10);
    crate::say(bytes <= MOST_BYTES as f64, &what) && held
}

/// News of a connection.
enum Report {
    /// It has read its snapshot.
    Ready,
    /// It has read the event with this number.
    Event(usize, Instant),
    /// It was closed.
    Closed,
}

/// Returns the 99th percentile of the delay after the first connection in milliseconds, and the memory of a connection.
fn measure() -> (f64, f64) {
    let daemon = Daemon::start(CONNECTIONS);
    let session = daemon.open();
    let before = daemon.resident();
    let (reports, mut arrivals) = mpsc::unbounded_channel();
    let (streams, mut opened) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        // Otherwise the daemon would wake this thread for each connection, at the cost of the next ones.
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.on_thread_park(|| std::thread::sleep(PAUSE));
        let runtime = runtime.enable_all().build().expect("a runtime");
        let local = tokio::task::LocalSet::new();
        local.block_on(&runtime, async {
            while let Some(stream) = opened.recv().await {
                tokio::task::spawn_local(read(stream, reports.clone()));
            }
            std::future::pending::<()>().await;
        });
    });
    for channel in 0..CONNECTIONS {
        streams.send(daemon.events(channel, &session, None)).expect("the reader runs");
        match wait(&mut arrivals) {
            Some(Report::Ready) => {}
            Some(_) | None => panic!("connection {channel} has no snapshot"),
        }
    }
    let bytes = daemon.resident().saturating_sub(before) as f64 / CONNECTIONS as f64;
    // Each connection is an event for the others.
    std::thread::sleep(SETTLE);
    let mut delays = Vec::with_capacity(CONNECTIONS * EVENTS);
    for number in 0..EVENTS {
        daemon.act(&format!(
            r#"{{"actionId": "m{number}", "sessionId": "{session}", "kind": "message", "params": {{"text": "event-{number}."}}}}"#
        ));
        let mut times = Vec::with_capacity(CONNECTIONS);
        while times.len() < CONNECTIONS {
            match wait(&mut arrivals) {
                Some(Report::Event(seen, at)) if seen == number => times.push(at),
                Some(Report::Closed) => panic!("a connection was closed before event {number}"),
                Some(_) => panic!("an event came twice, or in another order"),
                None => panic!("an event is lost: {} have event {number}", times.len()),
            }
        }
        let first = times.iter().min().copied().unwrap_or_else(Instant::now);
        delays.extend(times.iter().map(|at| at.duration_since(first).as_secs_f64() * 1e3));
    }
    delays.sort_by(f64::total_cmp);
    (delays[delays.len() * 99 / 100], bytes)
}

/// Waits for a report; `None` if nothing comes in time.
fn wait(arrivals: &mut mpsc::UnboundedReceiver<Report>) -> Option<Report> {
    let until = Instant::now() + LIMIT;
    loop {
        match arrivals.try_recv() {
            Ok(report) => return Some(report),
            Err(_) if Instant::now() > until => return None,
            // Sleeps, since a busy thread would take the time of the daemon.
            Err(_) => std::thread::sleep(Duration::from_micros(200)),
        }
    }
}

/// Reports what arrives on a connection.
async fn read(stream: std::net::TcpStream, reports: mpsc::UnboundedSender<Report>) {
    stream.set_nonblocking(true).expect("the option is known");
    let mut stream = TcpStream::from_std(stream).expect("the runtime takes the connection");
    let (mut text, mut buffer) = (String::new(), vec![0; 16 << 10]);
    let (mut wanted, mut next) = ("\"change\":\"snapshot\"".to_owned(), 0);
    while let Ok(count) = stream.read(&mut buffer).await
        && count > 0
    {
        let now = Instant::now();
        text.push_str(&String::from_utf8_lossy(&buffer[..count]));
        while let Some(at) = text.find(&wanted) {
            let report = if next == 0 { Report::Ready } else { Report::Event(next - 1, now) };
            let _ = reports.send(report);
            text.drain(..at + wanted.len());
            wanted = format!("\"event-{next}.\"");
            next += 1;
        }
        // The beginning of the text that is looked for may be at its end.
        let keep = text.len().saturating_sub(32);
        if text.is_char_boundary(keep) {
            text.drain(..keep);
        }
    }
    let _ = reports.send(Report::Closed);
}
