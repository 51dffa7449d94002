//! The editor's end of a session.

use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A session with a server in a process of its own.
pub(crate) struct EditorSession {
    server: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    requests: u64,
    version: u64,
    capabilities: Value,
}

impl EditorSession {
    /// Starts the server for a folder, by a program that runs it if one is given.
    pub(crate) fn start(by: &[&str], folder: &Path) -> Self {
        let line = [by, &[env!("CARGO_BIN_EXE_harn"), "lsp"]].concat();
        let mut server = Command::new(line[0])
            .args(&line[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(if by.is_empty() { Stdio::inherit() } else { Stdio::piped() })
            .spawn()
            .unwrap();
        let (input, output) = (server.stdin.take(), BufReader::new(server.stdout.take().unwrap()));
        let mut session = Self { server, input, output, requests: 0, version: 1, capabilities: Value::Null };
        let folders = json!([{"uri": format!("file://{}", folder.display()), "name": "project"}]);
        let capabilities = json!({
            "textDocument": {"diagnostic": {}},
            "workspace": {"didChangeWatchedFiles": {"dynamicRegistration": true}},
        });
        let result = session.ask(
            "initialize",
            &json!({"processId": null, "rootUri": null, "capabilities": capabilities, "workspaceFolders": folders}),
        );
        session.capabilities = result["capabilities"].clone();
        session.notify("initialized", &json!({}));
        session
    }

    /// Returns whether the server announces a capability.
    pub(crate) fn offers(&self, capability: &str) -> bool {
        !self.capabilities[capability].is_null()
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        let input = self.input.as_mut().unwrap();
        write!(input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        input.flush().unwrap();
    }

    fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request and waits for its result.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.requests += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.requests, "method": method, "params": params}));
        loop {
            let message = self.receive();
            if message["id"] == self.requests && message.get("method").is_none() {
                assert!(message.get("error").is_none(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
        }
    }

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the server went away");
            match line.trim_end().strip_prefix("Content-Length: ") {
                Some(written) => length = written.parse().unwrap(),
                None if line.trim_end().is_empty() => break,
                None => {}
            }
        }
        let mut body = vec![0; length];
        self.output.read_exact(&mut body).unwrap();
        serde_json::from_slice(&body).unwrap()
    }

    pub(crate) fn open(&mut self, uri: &str, text: &str) {
        let document = json!({"uri": uri, "languageId": "harn", "version": 1, "text": text});
        self.notify("textDocument/didOpen", &json!({"textDocument": document}));
    }

    /// Types a letter after a name, or deletes it again.
    pub(crate) fn type_letter(&mut self, uri: &str, (line, column): (usize, usize), number: usize) {
        let start = json!({"line": line, "character": column});
        let change = if number.is_multiple_of(2) {
            json!({"range": {"start": start, "end": start}, "text": "s"})
        } else {
            json!({"range": {"start": start, "end": {"line": line, "character": column + 1}}, "text": ""})
        };
        self.version += 1;
        let document = json!({"uri": uri, "version": self.version});
        self.notify("textDocument/didChange", &json!({"textDocument": document, "contentChanges": [change]}));
    }

    /// Returns the largest memory that the process has had.
    pub(crate) fn peak_memory_kib(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.server.id())).unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        peak.trim().trim_end_matches(" kB").parse().unwrap()
    }

    /// Ends the session. Returns what the program wrote to standard error, if it is not the server itself.
    pub(crate) fn end(mut self) -> String {
        self.ask("shutdown", &Value::Null);
        self.notify("exit", &Value::Null);
        self.input = None;
        let mut said = String::new();
        if let Some(mut stderr) = self.server.stderr.take() {
            stderr.read_to_string(&mut said).unwrap();
        }
        assert!(self.server.wait().unwrap().success());
        said
    }
}

/// Asks for the diagnostics of a document.
pub(crate) fn diagnostics(session: &mut EditorSession, uri: &str) {
    let report = session.ask("textDocument/diagnostic", &json!({"textDocument": {"uri": uri}}));
    assert_eq!(report["kind"], "full");
}

/// Asks for completion after a position.
pub(crate) fn completion(session: &mut EditorSession, uri: &str, (line, column): (usize, usize)) {
    let params = json!({"textDocument": {"uri": uri}, "position": {"line": line, "character": column}});
    session.ask("textDocument/completion", &params);
}
