//! A client that speaks to a server in the same process over pipes.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Read, Write, pipe};
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};

/// A client and its server.
pub(crate) struct Client {
    to_server: Option<PipeWriter>,
    from_server: BufReader<PipeReader>,
    server: Option<JoinHandle<i32>>,
    requests: i64,
    /// Messages that are not the response that was waited for.
    pub(crate) others: Vec<Value>,
}

impl Client {
    /// Starts a server that is not initialized.
    pub(crate) fn start() -> Self {
        let (server_input, to_server) = pipe().unwrap();
        let (from_server, server_output) = pipe().unwrap();
        let server = thread::spawn(move || lsp::serve(server_input, server_output));
        Self {
            to_server: Some(to_server),
            from_server: BufReader::new(from_server),
            server: Some(server),
            requests: 0,
            others: Vec::new(),
        }
    }

    /// Starts a server for a folder. The client pulls diagnostics.
    pub(crate) fn of_folder(folder: &Path) -> Self {
        let mut client = Self::start();
        let capabilities = json!({
            "textDocument": {"diagnostic": {}, "publishDiagnostics": {"relatedInformation": true}},
            "workspace": {"didChangeWatchedFiles": {"dynamicRegistration": true}},
        });
        client.initialize(folder, &capabilities);
        client
    }

    pub(crate) fn initialize(&mut self, folder: &Path, capabilities: &Value) -> Value {
        let folders = json!([{"uri": uri(folder), "name": "project"}]);
        let result = self.ask(
            "initialize",
            &json!({"processId": null, "rootUri": null, "capabilities": capabilities, "workspaceFolders": folders}),
        );
        self.notify("initialized", &json!({}));
        result.unwrap()
    }

    /// Writes bytes as they are.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.to_server.as_mut().unwrap().write_all(bytes).unwrap();
    }

    pub(crate) fn send(&mut self, message: &Value) {
        let text = message.to_string();
        self.write(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
    }

    pub(crate) fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request without waiting for its response. Returns its id.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> i64 {
        self.requests += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.requests, "method": method, "params": params}));
        self.requests
    }

    /// Returns the next message of the server; `None` at the end.
    pub(crate) fn receive(&mut self) -> Option<Value> {
        let mut length = None;
        loop {
            let mut line = String::new();
            if self.from_server.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            let line = line.trim_end();
            if line.is_empty() {
                break;
            }
            length = line.strip_prefix("Content-Length: ").map(|length| length.parse::<usize>().unwrap());
        }
        let mut body = vec![0; length.unwrap()];
        self.from_server.read_exact(&mut body).unwrap();
        Some(serde_json::from_slice(&body).unwrap())
    }

    /// Waits for the response to a request.
    pub(crate) fn response(&mut self, id: i64) -> Result<Value, Value> {
        loop {
            let message = self.receive().expect("the server went away");
            if message["id"] == id && message.get("method").is_none() {
                return match message.get("error") {
                    Some(error) => Err(error.clone()),
                    None => Ok(message["result"].clone()),
                };
            }
            self.others.push(message);
        }
    }

    /// Sends a request and returns its result, or its error.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Result<Value, Value> {
        let id = self.request(method, params);
        self.response(id)
    }

    /// Sends a request that must fail. Returns the code and the message.
    pub(crate) fn refused(&mut self, method: &str, params: &Value) -> (i64, String) {
        let error = self.ask(method, params).unwrap_err();
        (error["code"].as_i64().unwrap(), error["message"].as_str().unwrap().to_owned())
    }

    pub(crate) fn open(&mut self, uri: &str, text: &str) {
        let document = json!({"uri": uri, "languageId": "harn", "version": 1, "text": text});
        self.notify("textDocument/didOpen", &json!({"textDocument": document}));
    }

    pub(crate) fn change(&mut self, uri: &str, version: i64, changes: &Value) {
        let params = json!({"textDocument": {"uri": uri, "version": version}, "contentChanges": changes});
        self.notify("textDocument/didChange", &params);
    }

    /// Returns the diagnostics of a document.
    pub(crate) fn diagnostics(&mut self, uri: &str) -> Vec<Value> {
        let report = self.ask("textDocument/diagnostic", &json!({"textDocument": {"uri": uri}})).unwrap();
        report["items"].as_array().unwrap().clone()
    }

    /// Returns the codes of the diagnostics of a document.
    pub(crate) fn codes(&mut self, uri: &str) -> Vec<String> {
        self.diagnostics(uri).iter().map(|found| found["code"].as_str().unwrap().to_owned()).collect()
    }

    /// Closes the client's end. Returns the exit code of the server.
    pub(crate) fn hang_up(mut self) -> i32 {
        self.to_server = None;
        while self.receive().is_some() {}
        self.server.take().unwrap().join().unwrap()
    }

    /// Ends the session as the protocol says.
    pub(crate) fn end(mut self) {
        assert_eq!(self.ask("shutdown", &Value::Null), Ok(Value::Null));
        self.send(&json!({"jsonrpc": "2.0", "method": "exit"}));
        assert_eq!(self.hang_up(), 0);
    }
}

pub(crate) fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// Makes an empty folder for a test.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join(".git")).unwrap();
    folder.canonicalize().unwrap()
}
