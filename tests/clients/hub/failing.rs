//! Failures of a hub itself: a line on standard error at the default level, and a metric.

use crate::harn::scratch;
use crate::wait::LIMIT;
use hub::proto::a2a::{Message, Part, part};
use hub::proto::agenthub::agent_hub_client::AgentHubClient;
use hub::proto::agenthub::{AgentEventMetadata, PublishMessageRequest};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;

/// A hub that was started by a shell with limits of its own.
struct LimitedHub {
    child: Child,
    grpc: String,
    http: String,
    log: Receiver<String>,
}

impl LimitedHub {
    fn start(folder: &Path, limits: &str, store: &str) -> LimitedHub {
        let command = format!("{limits}; exec \"$0\" serve hub --listen 0 --http 0 --store {store}");
        let mut child = Command::new("bash")
            .args(["-c", &command, env!("CARGO_BIN_EXE_harn")])
            .current_dir(folder)
            .env_remove("HARN_LOG")
            .env_remove("RUST_LOG")
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (lines, log) = mpsc::channel();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        // It ends with the hub.
        thread::spawn(move || stderr.lines().map_while(Result::ok).try_for_each(|line| lines.send(line)));
        let line = log.recv_timeout(LIMIT).expect("the hub says where it listens");
        let mut words = line.split([' ', ',']).filter_map(|word| word.strip_prefix("http://"));
        let mut address = || words.next().unwrap_or_else(|| panic!("{line}")).trim().trim_end_matches('/').to_owned();
        let (grpc, http) = (address(), address());
        LimitedHub { child, grpc, http, log }
    }

    /// Returns the next line of the log.
    fn line(&self) -> String {
        self.log.recv_timeout(LIMIT).expect("a line of the log")
    }

    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.http).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    fn counted(&self, operation: &str) -> u64 {
        let metrics = self.get("/metrics");
        let name = format!("harn_failures_total{{operation=\"{operation}\"}} ");
        let count = metrics.lines().find_map(|line| line.strip_prefix(name.as_str()));
        count.unwrap_or_else(|| panic!("{metrics}")).parse().unwrap()
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[tokio::test]
async fn a_full_store_is_a_line_and_a_metric() {
    let folder = scratch("hub-full");
    // A write beyond the size fails, as on a full disk.
    let hub = LimitedHub::start(&folder, "trap '' XFSZ; ulimit -f 1024", "sqlite:hub.db");
    assert_eq!(hub.counted("write"), 0);
    let mut client = AgentHubClient::connect(format!("http://{}", hub.grpc)).await.unwrap();
    let mut refused = None;
    for number in 0..64 {
        let text = Part { part: Some(part::Part::Text("x".repeat(256 << 10))), metadata: None };
        let metadata = [("queue", "q")].map(|(key, value)| (key.to_owned(), value.to_owned().into()));
        let message = Message {
            task_id: format!("t{number}"),
            content: vec![text],
            metadata: Some(prost_types::Struct { fields: metadata.into() }),
            ..Message::default()
        };
        let routing = AgentEventMetadata { from_agent_id: "boss".to_owned(), ..AgentEventMetadata::default() };
        let request = PublishMessageRequest { message: Some(message), routing: Some(routing) };
        if let Err(status) = client.publish_message(request).await {
            refused = Some(status);
            break;
        }
    }
    let refused = refused.expect("the store becomes full");
    assert_eq!(refused.code(), tonic::Code::ResourceExhausted);
    assert_eq!(
        refused.message(),
        "the hub cannot write to its store (its log has the reason); try again when it is ready"
    );
    let log = hub.line();
    assert!(log.starts_with("harn: the event log `hub.db` cannot be written: "), "{log}");
    assert!(log.contains("free up disk space") && log.contains("operation=\"write\""), "{log}");
    assert!(hub.counted("write") >= 1);
    assert!(hub.get("/readyz").starts_with("HTTP/1.1 503 "));
    hub.kill();
}

#[test]
fn a_connection_that_cannot_be_accepted_is_a_line_and_a_metric() {
    let folder = scratch("hub-files");
    // A hub holds some files, and each connection is one.
    let mut hub = LimitedHub::start(&folder, "ulimit -n 40", "memory");
    let open: Vec<TcpStream> = (0..60).map(|_| TcpStream::connect(&hub.http).unwrap()).collect();
    let line = hub.line();
    assert!(line.starts_with("harn: cannot accept an HTTP connection: "), "{line}");
    assert!(line.contains("operation=\"accept\""), "{line}");
    drop(open);
    assert!(hub.counted("accept") >= 1);
    // Others are served again, and what failed meanwhile has no further lines.
    assert!(hub.get("/healthz").ends_with("ok\n"));
    hub.child.kill().unwrap();
    let rest: Vec<String> = hub.log.iter().collect();
    assert!(!rest.iter().any(|line| line.contains("cannot accept")), "{rest:?}");
    hub.child.wait().unwrap();
}

#[test]
fn a_hub_on_a_file_that_is_gone_says_so() {
    let folder = scratch("hub-gone");
    let hub = LimitedHub::start(&folder, "true", "sqlite:hub.db");
    fs::remove_file(folder.join("hub.db")).unwrap();
    let script = format!(
        "hub.connect(\"http://{}\", {{agent: \"a\", timeout_ms: 10_000}}).publish(\"x\", {{queue: \"q\"}})\n",
        hub.grpc
    );
    fs::write(folder.join("send.harn"), script).unwrap();
    let run =
        Command::new(env!("CARGO_BIN_EXE_harn")).args(["run", "send.harn"]).current_dir(&folder).output().unwrap();
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(
        !run.status.success() && said.contains("the hub cannot write to its store (its log has the reason)"),
        "{said}"
    );
    assert!(!said.contains("hub.db"), "{said}");
    let line = hub.line();
    assert!(line.contains("was deleted or replaced while it was written"), "{line}");
    hub.kill();
}
