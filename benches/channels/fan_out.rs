//! A thousand channels with a connection each to one session.

use std::io::{ErrorKind, Read as _};
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use crate::daemon::Daemon;
use crate::options::Options;

/// Number of channels and connections.
const CONNECTIONS: usize = 1_000;
/// Number of events, each to all.
const EVENTS: usize = 200;
/// Most time until a connection has an event after none had it, for 99 %.
const MOST_MS: f64 = 5.0;
/// Most memory of a connection in bytes.
const MOST_BYTES: usize = 32 << 10;
/// Time between two looks at all connections.
const PAUSE: Duration = Duration::from_micros(100);
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
    /// It has read the event with this number. The times are those of the last look that found nothing on any
    /// connection, and of the read.
    Event(usize, Instant, Instant),
    /// It was closed.
    Closed,
}

/// Returns the 99th percentile of the delay after the first connection in milliseconds, and the memory of a connection.
fn measure() -> (f64, f64) {
    let daemon = Daemon::start(CONNECTIONS);
    let session = daemon.open();
    let before = daemon.resident();
    let (reports, arrivals) = channel();
    let (streams, opened) = channel();
    std::thread::spawn(move || read_all(&opened, &reports));
    for channel in 0..CONNECTIONS {
        streams.send(daemon.events(channel, &session, None)).expect("the reader runs");
        match wait(&arrivals) {
            Some(Report::Ready) => {}
            Some(_) | None => panic!("connection {channel} has no snapshot"),
        }
    }
    let bytes = daemon.resident().saturating_sub(before) as f64 / CONNECTIONS as f64;
    let mut delays = Vec::with_capacity(CONNECTIONS * EVENTS);
    for number in 0..EVENTS {
        daemon.act(&format!(
            r#"{{"actionId": "m{number}", "sessionId": "{session}", "kind": "message", "params": {{"text": "event-{number}."}}}}"#
        ));
        let (mut times, mut began) = (Vec::with_capacity(CONNECTIONS), None);
        while times.len() < CONNECTIONS {
            match wait(&arrivals) {
                Some(Report::Event(seen, quiet, at)) if seen == number => {
                    began.get_or_insert(quiet);
                    times.push(at);
                }
                Some(Report::Closed) => panic!("a connection was closed before event {number}"),
                Some(_) => panic!("an event came twice, or in another order"),
                None => panic!("an event is lost: {} have event {number}", times.len()),
            }
        }
        let began = began.unwrap_or_else(Instant::now);
        delays.extend(times.iter().map(|at| at.duration_since(began).as_secs_f64() * 1e3));
    }
    delays.sort_by(f64::total_cmp);
    (delays[delays.len() * 99 / 100], bytes)
}

/// Waits for a report; `None` if nothing comes in time.
fn wait(arrivals: &Receiver<Report>) -> Option<Report> {
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

/// A connection, and what it has read.
struct Connection {
    stream: TcpStream,
    bytes: Vec<u8>,
    wanted: Vec<u8>,
    /// The number of the event that comes next; `None` until the snapshot has come.
    next: Option<usize>,
    is_closed: bool,
}

/// Reports what arrives on the connections. It looks at all of them in turns: to wait for each would let the daemon wake
/// this thread for every connection, although it is the clients' side that is no part of the measurement.
fn read_all(opened: &Receiver<TcpStream>, reports: &Sender<Report>) {
    let (mut connections, mut buffer) = (Vec::new(), vec![0; 16 << 10]);
    let mut quiet = Instant::now();
    loop {
        for stream in opened.try_iter() {
            stream.set_nonblocking(true).expect("the option is known");
            let wanted = b"\"change\":\"snapshot\"".to_vec();
            connections.push(Connection { stream, bytes: Vec::new(), wanted, next: None, is_closed: false });
        }
        let (began, mut is_quiet) = (Instant::now(), true);
        for connection in connections.iter_mut().filter(|connection| !connection.is_closed) {
            is_quiet &= !connection.look(&mut buffer, quiet, reports);
        }
        if is_quiet {
            quiet = began;
        }
        std::thread::sleep(PAUSE);
    }
}

impl Connection {
    /// Reports what has arrived. Returns whether anything has.
    fn look(&mut self, buffer: &mut [u8], quiet: Instant, reports: &Sender<Report>) -> bool {
        let count = match self.stream.read(buffer) {
            Ok(count) if count > 0 => count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
            _ => {
                self.is_closed = true;
                // The receiver is gone after the measurement.
                let _ = reports.send(Report::Closed);
                return true;
            }
        };
        let now = Instant::now();
        self.bytes.extend_from_slice(&buffer[..count]);
        while let Some(at) = find(&self.bytes, &self.wanted) {
            let report = self.next.map_or(Report::Ready, |number| Report::Event(number, quiet, now));
            let _ = reports.send(report);
            self.bytes.drain(..at + self.wanted.len());
            let next = self.next.map_or(0, |number| number + 1);
            self.next = Some(next);
            self.wanted = format!("\"event-{next}.\"").into_bytes();
        }
        // The beginning of what is looked for may be at the end.
        self.bytes.drain(..self.bytes.len().saturating_sub(32));
        true
    }
}

/// Returns the place of the first occurrence.
fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}
