use std::io::{Cursor, Result as Io};
use std::sync::{Condvar, Mutex};

use super::*;

/// The written output, and whether the other side reads.
#[derive(Default)]
struct Screen {
    text: Mutex<String>,
    closed: Mutex<bool>,
    opened: Condvar,
}

struct ScreenWriter(Arc<Screen>);

impl Write for ScreenWriter {
    fn write(&mut self, bytes: &[u8]) -> Io<usize> {
        let closed = self.0.closed.lock().unwrap();
        drop(self.0.opened.wait_while(closed, |closed| *closed).unwrap());
        self.0.text.lock().unwrap().push_str(std::str::from_utf8(bytes).unwrap());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Io<()> {
        Ok(())
    }
}

impl Screen {
    fn new(reads: bool) -> Arc<Screen> {
        Arc::new(Screen { closed: Mutex::new(!reads), ..Screen::default() })
    }

    fn reads_on(&self) {
        *self.closed.lock().unwrap() = false;
        self.opened.notify_all();
    }

    /// Returns the error codes of the lines; all lines must be JSON.
    fn codes(&self) -> Vec<i64> {
        let text = self.text.lock().unwrap();
        let line = |line: &str| serde_json::from_str::<Value>(line).unwrap()["error"]["code"].as_i64().unwrap();
        text.lines().map(line).collect()
    }
}

/// A reader of many lines that reports how many were read.
struct ManyLines {
    line: &'static [u8],
    left: usize,
}

impl Read for ManyLines {
    fn read(&mut self, into: &mut [u8]) -> Io<usize> {
        if self.left == 0 {
            return Ok(0);
        }
        self.left -= 1;
        into[..self.line.len()].copy_from_slice(self.line);
        Ok(self.line.len())
    }
}

fn run<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let value = runtime.block_on(test);
    runtime.shutdown_background();
    value
}

fn start(
    input: impl Read + Send + 'static,
    page: &Arc<Screen>,
    bounds: TransportLimits,
) -> (Arc<OutputGauge>, Messages) {
    let streams = LineStreams { input: Box::new(input), output: Box::new(ScreenWriter(page.clone())), ended: None };
    carry(Transport::new(streams, bounds))
}

/// The messages that are read; the end of the input ends them.
type Messages = tokio::sync::mpsc::UnboundedReceiver<Message<Value>>;

fn carry(transport: Transport) -> (Arc<OutputGauge>, Messages) {
    let gauge = transport.gauge().clone();
    let (taken, messages) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(transport.read(move |message| taken.send(message).unwrap()));
    (gauge, messages)
}

#[test]
fn a_bad_line_is_answered_and_the_next_one_is_taken() {
    let input = b"{\"jsonrpc\":\"2.0\",\"method\":\"one\"}\nno json\n\r\n[1]\n{\"a\": \"\xff\"}\n\
        xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n\
        {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"two\"}\r\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"half\"";
    let page = Screen::new(true);
    let methods = run(async {
        let (gauge, mut messages) =
            start(Cursor::new(input), &page, TransportLimits { line: 64, ..TransportLimits::default() });
        let mut methods = Vec::new();
        while let Some(message) = messages.recv().await {
            match message {
                Message::Request(it) => methods.push(it.method),
                Message::Answer(_) => panic!("no answer was sent"),
            }
        }
        gauge.all_taken().await;
        methods
    });
    assert_eq!(methods, ["one", "two"]);
    // The line of invalid UTF-8 is also invalid JSON.
    assert_eq!(page.codes(), [-32700, -32600, -32700, -32600, -32700]);
}

#[test]
fn with_a_client_that_never_reads_what_waits_is_bounded_and_then_nothing_is_lost() {
    const LINES: usize = 2_000;
    let page = Screen::new(false);
    run(async {
        let room = OutputLimits { frames: 8, bytes: 1 << 20 };
        let input = ManyLines { line: b"bad\n", left: LINES };
        let (gauge, _messages) = start(input, &page, TransportLimits { room, ..TransportLimits::default() });
        while gauge.waiting().0 < 8 {
            tokio::task::yield_now().await;
        }
        for _ in 0..10_000 {
            assert!(gauge.waiting().0 <= 8, "{:?}", gauge.waiting());
            tokio::task::yield_now().await;
        }
        page.reads_on();
        while page.text.lock().unwrap().lines().count() < LINES {
            tokio::task::yield_now().await;
        }
    });
    assert_eq!(page.codes(), [-32700; LINES]);
}

#[test]
fn the_end_of_the_input_is_seen_though_the_client_reads_nothing() {
    let page = Screen::new(false);
    run(async {
        let room = OutputLimits { frames: 4, bytes: 1 << 20 };
        let input = ManyLines { line: b"bad\n", left: 40 };
        let (gauge, mut messages) = start(input, &page, TransportLimits { room, ..TransportLimits::default() });
        assert!(messages.recv().await.is_none());
        assert_eq!(gauge.waiting().0, 40);
    });
}

#[test]
fn an_end_that_is_told_of_lets_all_be_read_that_was_written_before() {
    const LINES: usize = 2_000;
    let page = Screen::new(false);
    run(async {
        let room = OutputLimits { frames: 4, bytes: 1 << 20 };
        let (close, closed) = std::sync::mpsc::channel::<()>();
        let streams = LineStreams {
            input: Box::new(ManyLines { line: b"bad\n", left: LINES }),
            output: Box::new(ScreenWriter(page.clone())),
            ended: Some(Box::new(move || _ = closed.recv())),
        };
        let (gauge, mut messages) =
            carry(Transport::new(streams, TransportLimits { room, ..TransportLimits::default() }));
        while gauge.waiting().0 < 4 {
            tokio::task::yield_now().await;
        }
        drop(close);
        assert!(messages.recv().await.is_none());
        assert_eq!(gauge.waiting().0, LINES);
    });
}

#[test]
fn bytes_that_wait_are_counted_and_given_back() {
    let page = Screen::new(true);
    run(async {
        let input = Box::new(Cursor::new(b""));
        let streams = LineStreams { input, output: Box::new(ScreenWriter(page.clone())), ended: None };
        let transport = Transport::new(streams, TransportLimits::default());
        let (gauge, writer) = (transport.gauge(), transport.writer());
        for _ in 0..100 {
            gauge.frame();
            writer.put(jsonrpc::notification("session/update", &serde_json::json!({"a": "b"})));
        }
        gauge.all_taken().await;
        assert_eq!(gauge.waiting(), (0, 0));
    });
    assert_eq!(page.text.lock().unwrap().lines().count(), 100);
}

#[test]
fn a_client_that_is_gone_holds_nobody_up() {
    struct GoneWriter;
    impl Write for GoneWriter {
        fn write(&mut self, _: &[u8]) -> Io<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> Io<()> {
            Ok(())
        }
    }
    run(async {
        let room = OutputLimits { frames: 2, bytes: 1 << 20 };
        let input = ManyLines { line: b"bad\n", left: 500 };
        let streams = LineStreams { input: Box::new(input), output: Box::new(GoneWriter), ended: None };
        let (gauge, mut messages) =
            carry(Transport::new(streams, TransportLimits { room, ..TransportLimits::default() }));
        gauge.gone().await;
        assert!(messages.recv().await.is_none());
        gauge.room().await;
    });
}
