//! HTTP/1.1 byte by byte: a request is what it is written as, however wrong, and an answer is read as far as it comes.

use super::server::LIMIT;
use serde_json::Value;
use std::fmt::Write as _;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};

/// A request, not necessarily a right one.
#[derive(Clone)]
pub(super) struct Request {
    /// Its method and its path.
    pub(super) line: (String, String),
    /// Its headers, in order.
    pub(super) headers: Vec<(String, String)>,
    /// Its body, to be sent with its length unless a header says how long it is.
    pub(super) body: Vec<u8>,
}

impl Request {
    /// A request of JSON-RPC to that host.
    pub(super) fn post(host: &str, body: impl Into<Vec<u8>>) -> Request {
        Request { line: ("POST".to_owned(), "/".to_owned()), headers: Vec::new(), body: body.into() }
            .header("Host", host)
            .header("Content-Type", "application/json")
    }

    /// Asks for a page.
    pub(super) fn get(host: &str, path: &str) -> Request {
        let line = ("GET".to_owned(), path.to_owned());
        Request { line, headers: Vec::new(), body: Vec::new() }.header("Host", host)
    }

    /// Sets another method and path.
    pub(super) fn to(mut self, method: &str, path: &str) -> Request {
        self.line = (method.to_owned(), path.to_owned());
        self
    }

    /// Sets a header, in place of those with the same name.
    pub(super) fn header(mut self, name: &str, value: &str) -> Request {
        self = self.without(name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Removes a header.
    pub(super) fn without(mut self, name: &str) -> Request {
        self.headers.retain(|(there, _)| !there.eq_ignore_ascii_case(name));
        self
    }

    /// Its bytes up to the body.
    pub(super) fn head(&self) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.line.0, self.line.1);
        let sized =
            |name: &str| name.eq_ignore_ascii_case("content-length") || name.eq_ignore_ascii_case("transfer-encoding");
        for (name, value) in &self.headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        if self.line.0 == "POST" && !self.headers.iter().any(|(name, _)| sized(name)) {
            let _ = write!(head, "Content-Length: {}\r\n", self.body.len());
        }
        head.push_str("\r\n");
        head.into_bytes()
    }

    /// Its bytes.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.head();
        bytes.extend_from_slice(&self.body);
        bytes
    }
}

/// An answer, as far as it came.
#[derive(Debug, Clone)]
pub(super) struct HttpResponse {
    /// The status code.
    pub(super) status: u16,
    /// Headers by name in small letters.
    pub(super) headers: Vec<(String, String)>,
    /// The body.
    pub(super) body: Vec<u8>,
}

impl HttpResponse {
    /// A header.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(there, _)| there == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON.
    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {} {:?}", self.status, String::from_utf8_lossy(&self.body)))
    }

    fn is_chunked(&self) -> bool {
        self.header("transfer-encoding").is_some_and(|encoding| encoding.eq_ignore_ascii_case("chunked"))
    }
}

/// A connection.
pub(super) struct Connection {
    stream: TcpStream,
    /// Bytes that were received and not yet read.
    rest: Vec<u8>,
}

impl Connection {
    /// Connects.
    pub(super) fn open(address: &str) -> Connection {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        stream.set_write_timeout(Some(LIMIT)).unwrap();
        stream.set_nodelay(true).unwrap();
        Connection { stream, rest: Vec::new() }
    }

    /// Sends a request.
    pub(super) fn send(&mut self, request: &Request) {
        assert!(self.try_send(&request.bytes()), "the server has hung up");
    }

    /// Sends bytes; whether they were taken.
    pub(super) fn try_send(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).and_then(|()| self.stream.flush()).is_ok()
    }

    /// Says that nothing more comes from here.
    pub(super) fn half_close(&self) {
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    /// The whole answer to one request.
    pub(super) fn answer(&mut self) -> HttpResponse {
        self.try_answer().expect("the server has hung up without an answer")
    }

    /// Returns the answer like [`Self::answer`], or `None` if the server hangs up.
    pub(super) fn try_answer(&mut self) -> Option<HttpResponse> {
        let mut answer = self.try_head()?;
        if answer.is_chunked() {
            while let Some(mut chunk) = self.chunk() {
                answer.body.append(&mut chunk);
            }
        } else if let Some(length) = answer.header("content-length") {
            let length = length.parse().unwrap();
            self.fill(length);
            answer.body = self.rest.drain(..length.min(self.rest.len())).collect();
        }
        Some(answer)
    }

    /// The status and the headers of an answer.
    pub(super) fn head(&mut self) -> HttpResponse {
        self.try_head().expect("the server has hung up without an answer")
    }

    fn try_head(&mut self) -> Option<HttpResponse> {
        let end = loop {
            if let Some(end) = find(&self.rest, b"\r\n\r\n") {
                break end;
            }
            if !self.more() {
                return None;
            }
        };
        let head: Vec<u8> = self.rest.drain(..end + 4).collect();
        let head = String::from_utf8(head).unwrap();
        let mut lines = head.split("\r\n");
        let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
        let headers = lines.filter_map(|line| line.split_once(": "));
        let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
        Some(HttpResponse { status, headers, body: Vec::new() })
    }

    /// The next piece of a body in pieces; nothing at its end.
    pub(super) fn chunk(&mut self) -> Option<Vec<u8>> {
        let end = loop {
            if let Some(end) = find(&self.rest, b"\r\n") {
                break end;
            }
            if !self.more() {
                return None;
            }
        };
        let line: Vec<u8> = self.rest.drain(..end + 2).collect();
        let size = usize::from_str_radix(std::str::from_utf8(&line[..end]).unwrap().trim(), 16).unwrap();
        self.fill(size + 2);
        let mut chunk: Vec<u8> = self.rest.drain(..(size + 2).min(self.rest.len())).collect();
        chunk.truncate(size);
        (size > 0).then_some(chunk)
    }

    /// The next event of a stream, whose head was read; nothing at its end. Comments are left out.
    pub(super) fn event(&mut self, pending: &mut Vec<u8>) -> Option<Value> {
        loop {
            while let Some(end) = find(pending, b"\n\n") {
                let event: Vec<u8> = pending.drain(..end + 2).collect();
                let event = String::from_utf8(event).unwrap();
                if let Some(data) = event.lines().find_map(|line| line.strip_prefix("data:")) {
                    return Some(serde_json::from_str(data).unwrap());
                }
            }
            pending.append(&mut self.chunk()?);
        }
    }

    /// Whether the server has hung up; waits until it says something.
    pub(super) fn is_over(&mut self) -> bool {
        self.rest.is_empty() && !self.more()
    }

    fn fill(&mut self, length: usize) {
        while self.rest.len() < length && self.more() {}
    }

    fn more(&mut self) -> bool {
        let mut piece = [0; 8192];
        match self.stream.read(&mut piece) {
            Ok(read) => {
                self.rest.extend_from_slice(&piece[..read]);
                read > 0
            }
            Err(error) => {
                let hangs = matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
                assert!(!hangs, "nothing comes: {error}");
                false
            }
        }
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|there| there == wanted)
}
