//! A running `@copilotkit/aimock`, installed under `target/` when it is first needed.

use crate::harn::scratch;
use crate::packages::node;
use crate::wait::{LIMIT, until};
use serde_json::Value;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const PACKAGE: &str = "@copilotkit/aimock@1.43.0";

/// A running server. It ends with the test.
pub(super) struct MockServer {
    child: Child,
    pub(super) port: u16,
    log: PathBuf,
}

impl MockServer {
    pub(super) fn start(fixtures: &Path, name: &str) -> MockServer {
        let packages = node("aimock", &[PACKAGE]);
        let command = packages.join(".bin/llmock");
        // Another process may take a free port before it is used.
        for _ in 0..5 {
            if let Some(server) = MockServer::try_start(&command, fixtures, name) {
                return server;
            }
        }
        panic!("aimock did not start; it said:\n{}", fs::read_to_string(log_of(name)).unwrap_or_default());
    }

    fn try_start(command: &Path, fixtures: &Path, name: &str) -> Option<MockServer> {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        scratch(name);
        let log = log_of(name);
        let (out, err) = (File::create(&log).unwrap(), File::options().append(true).open(&log).unwrap());
        let child = Command::new(command)
            .args(["-p", &port.to_string(), "-f", fixtures.to_str().unwrap()])
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(err)
            .spawn()
            .unwrap();
        let mut server = MockServer { child, port, log };
        let mut is_over = false;
        until("aimock answers", || {
            is_over = server.child.try_wait().unwrap().is_some();
            is_over || server.get("/__aimock/journal").is_some()
        });
        (!is_over).then_some(server)
    }

    /// Every request that it received, oldest first.
    pub(super) fn journal(&self) -> Vec<Value> {
        let said = || fs::read_to_string(&self.log).unwrap_or_default();
        let journal = self.get("/__aimock/journal").unwrap_or_else(|| panic!("no journal; aimock said:\n{}", said()));
        serde_json::from_str(&journal).unwrap_or_else(|error| panic!("{error} in the journal:\n{journal}"))
    }

    /// The body of an answer, if one came. HTTP/1.0, so that it comes in one piece.
    fn get(&self, path: &str) -> Option<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        stream.set_read_timeout(Some(LIMIT)).ok()?;
        write!(stream, "GET {path} HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n").ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let (head, body) = answer.split_once("\r\n\r\n")?;
        head.lines().next()?.contains(" 200 ").then(|| body.to_owned())
    }
}

impl Drop for MockServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn log_of(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name).join("aimock.log")
}
