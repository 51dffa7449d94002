//! A connection that reads 100,000 events from the log.

use std::io::Read as _;
use std::time::{Duration, Instant};

use crate::daemon::Daemon;
use crate::options::Options;

/// Number of events.
const EVENTS: usize = 100_000;
/// Most time in seconds.
const MOST_S: f64 = 1.0;

/// Measures the time until a connection has all events.
pub(crate) fn run(options: &Options) -> bool {
    let daemon = Daemon::start(1);
    let session = daemon.open();
    let fill = format!(
        r#"{{"actionId": "fill", "sessionId": "{session}", "kind": "prompt", "params": {{"text": "{EVENTS}"}}}}"#
    );
    // A repeated action returns its result. A connection beside the turn would be cut off: it is slower than the turn.
    let until = Instant::now() + Duration::from_secs(120);
    while !daemon.act(&fill).contains(r#""status":"done""#) {
        assert!(Instant::now() < until, "the turn does not end");
        std::thread::sleep(Duration::from_millis(50));
    }
    let times = (0..options.runs.clamp(1, 10)).map(|_| read(&daemon, &session)).collect();
    let time = crate::median(times);
    crate::say(time <= MOST_S, &format!("{EVENTS} events after a resume in {time:.2} s, at most {MOST_S}"))
}

/// Reads all events of the session, and returns the time in seconds.
fn read(daemon: &Daemon, session: &str) -> f64 {
    let began = Instant::now();
    let mut stream = daemon.events(0, session, Some(0));
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("the option is known");
    let mut buffer = vec![0; 256 << 10];
    let (mut count, mut rest) = (0, Vec::new());
    let wanted = b"event: artifact.changed\n";
    let last = b"event: turn.completed\n";
    loop {
        let read = stream.read(&mut buffer).expect("the daemon sends events");
        assert!(read > 0, "the stream ended after {count} events");
        rest.extend_from_slice(&buffer[..read]);
        count += rest.windows(wanted.len()).filter(|window| window == wanted).count();
        let is_over = rest.windows(last.len()).any(|window| window == last);
        if is_over {
            assert_eq!(count, EVENTS, "events are lost or come twice");
            return began.elapsed().as_secs_f64();
        }
        // The beginning of a text that is looked for may be at its end.
        let keep = rest.len().saturating_sub(wanted.len() - 1);
        rest.drain(..keep);
    }
}
