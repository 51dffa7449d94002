//! Servers as processes, and small clients of them over HTTP and pipes.

use crate::harn::environment;
use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::Duration;

/// A process that ends with the test.
pub(crate) struct Running(pub(crate) Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(crate) fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_harn"));
    command.env_clear().envs(environment()).current_dir(folder).args(args);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Starts a server, and returns it with the addresses that it tells on standard error.
pub(crate) fn serve(folder: &Path, args: &[&str], addresses: usize) -> (Running, Vec<String>) {
    let mut server = Running(command(folder, args).stderr(Stdio::piped()).spawn().unwrap());
    let mut lines = BufReader::new(server.0.stderr.take().unwrap()).lines();
    let mut found = Vec::new();
    while found.len() < addresses {
        let line = lines.next().unwrap_or_else(|| panic!("{args:?} does not listen")).unwrap();
        let ports = line.split("127.0.0.1:").skip(1).map(|rest| rest.chars().take_while(char::is_ascii_digit));
        found.extend(ports.map(|port| format!("127.0.0.1:{}", port.collect::<String>())));
    }
    thread::spawn(move || lines.for_each(drop));
    (server, found)
}

/// Sends a request over HTTP, and returns its head and its body.
pub(crate) fn http(address: &str, method: &str, path: &str, headers: &str, body: &str) -> (String, String) {
    let answer = try_http(address, method, path, headers, body);
    answer.unwrap_or_else(|error| panic!("{method} {path}: {error}"))
}

/// Sends a request over HTTP like [`http`], to a server that may end before it has answered.
pub(crate) fn try_http(
    address: &str,
    method: &str,
    path: &str,
    headers: &str,
    body: &str,
) -> io::Result<(String, String)> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n{headers}\r\n{body}"
    )?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    let length = |head: &str| {
        let line = head
            .lines()
            .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
        line.unwrap_or(0_usize)
    };
    match text.split_once("\r\n\r\n") {
        // A body without a length ends with the connection.
        Some((head, body)) if body.len() >= length(head) => Ok((head.to_owned(), body.to_owned())),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// A server with JSON-RPC on standard input and output, a message in a line or behind its length.
pub(crate) struct Piped {
    _server: Running,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    has_length: bool,
    last: u64,
}

impl Piped {
    pub(crate) fn start(folder: &Path, args: &[&str], has_length: bool) -> (Piped, u32) {
        let mut server = Running(command(folder, args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap());
        let (input, output) = (server.0.stdin.take().unwrap(), BufReader::new(server.0.stdout.take().unwrap()));
        let id = server.0.id();
        (Piped { _server: server, input, output, has_length, last: 0 }, id)
    }

    fn tell(&mut self, message: &Value) -> io::Result<()> {
        let text = message.to_string();
        match self.has_length {
            true => write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len())?,
            false => writeln!(self.input, "{text}")?,
        }
        self.input.flush()
    }

    pub(crate) fn notify(&mut self, method: &str, params: &Value) {
        self.tell(&json!({"jsonrpc": "2.0", "method": method, "params": params})).unwrap();
    }

    /// Reads a message; an error if the server has ended, perhaps in the middle of it.
    fn read(&mut self) -> io::Result<Value> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        let Some(length) = line.strip_prefix("Content-Length: ") else { return Ok(serde_json::from_str(&line)?) };
        let mut body = vec![0; length.trim().parse::<usize>().unwrap()];
        self.output.read_line(&mut String::new())?;
        self.output.read_exact(&mut body)?;
        Ok(serde_json::from_slice(&body)?)
    }

    /// Sends a request, and returns its result.
    pub(crate) fn call(&mut self, method: &str, params: &Value) -> Value {
        let result = self.try_call(method, params, &mut |_| ());
        result.unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// Sends a request to a server that may end before it has answered, and shows the notifications before the answer.
    pub(crate) fn try_call(&mut self, method: &str, params: &Value, seen: &mut dyn FnMut(&Value)) -> io::Result<Value> {
        self.last += 1;
        self.tell(&json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}))?;
        loop {
            let mut message = self.read()?;
            if message["id"] == self.last && message["method"].is_null() {
                assert!(message["error"].is_null(), "{method}: {message}");
                return Ok(message["result"].take());
            }
            match message.get("id").cloned() {
                // What the server asks for itself.
                Some(id) if message["method"].is_string() => {
                    self.tell(&json!({"jsonrpc": "2.0", "id": id, "result": null}))?;
                }
                _ => seen(&message),
            }
        }
    }
}
