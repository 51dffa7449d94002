//! An agent that does as a test says, and remembers what it was asked.

use crate::wait::until;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A request.
#[derive(Debug, Clone)]
pub(crate) struct PeerRequest {
    pub(crate) verb: String,
    pub(crate) path: String,
    /// Names in small letters.
    pub(crate) headers: BTreeMap<String, String>,
    /// The body; null if it is not JSON.
    pub(crate) body: Value,
}

impl PeerRequest {
    /// The method of JSON-RPC.
    pub(crate) fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

/// The answer to a request.
pub(crate) struct Reply {
    bytes: Vec<u8>,
    /// Bytes that are sent repeatedly after the answer, until the other end has gone.
    endless: Vec<u8>,
    /// Whether the connection is held open and silent.
    holds: bool,
}

impl Reply {
    pub(crate) fn whole(status: u16, headers: &str, body: &str) -> Reply {
        let length = body.len();
        let text =
            format!("HTTP/1.1 {status} X\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}");
        Reply { bytes: text.into_bytes(), endless: Vec::new(), holds: false }
    }

    pub(crate) fn json(status: u16, body: &str) -> Reply {
        Reply::whole(status, "Content-Type: application/json\r\n", body)
    }

    pub(crate) fn text(status: u16, body: &str) -> Reply {
        Reply::whole(status, "Content-Type: text/plain\r\n", body)
    }

    /// The end of the connection, and nothing before it.
    pub(crate) fn nothing() -> Reply {
        Reply { bytes: Vec::new(), endless: Vec::new(), holds: false }
    }

    /// Returns a reply that sends nothing and keeps the connection open.
    pub(crate) fn silence() -> Reply {
        Reply::nothing().held()
    }

    /// A head that does not say how long its body is.
    pub(crate) fn open_end() -> Reply {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n";
        Reply { bytes: head.as_bytes().to_vec(), ..Reply::nothing() }
    }

    /// Events, and the end of the connection.
    pub(crate) fn events(events: &[String]) -> Reply {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n".to_owned();
        let body = events.iter().fold(head, |all, event| all + "data: " + event.as_str() + "\r\n\r\n");
        Reply { bytes: body.into_bytes(), endless: Vec::new(), holds: false }
    }

    /// Returns the reply followed by silence.
    pub(crate) fn held(self) -> Reply {
        Reply { holds: true, ..self }
    }

    /// Returns the reply followed by `more`, repeated without end.
    pub(crate) fn endless(self, more: &[u8]) -> Reply {
        Reply { endless: more.to_vec(), ..self }
    }
}

/// A running agent; it ends with the process of the tests.
pub(crate) struct Peer {
    pub(crate) url: String,
    pub(crate) port: u16,
    asked: Arc<Mutex<Vec<PeerRequest>>>,
    /// The number of held connections that the other end has closed.
    gone: Arc<Mutex<usize>>,
}

impl Peer {
    /// Starts one.
    pub(crate) fn start(answer: impl Fn(&PeerRequest, u16) -> Reply + Send + Sync + 'static) -> Peer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (asked, gone) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(0)));
        let peer = Peer { url: format!("http://127.0.0.1:{port}"), port, asked: asked.clone(), gone: gone.clone() };
        let answer = Arc::new(answer);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (asked, gone, answer) = (asked.clone(), gone.clone(), answer.clone());
                thread::spawn(move || {
                    let Some(request) = read(&stream) else { return };
                    asked.lock().unwrap().push(request.clone());
                    serve(stream, &answer(&request, port), &gone);
                });
            }
        });
        peer
    }

    /// Returns the requests so far.
    pub(crate) fn asked(&self) -> Vec<PeerRequest> {
        self.asked.lock().unwrap().clone()
    }

    /// The calls among it.
    pub(crate) fn calls(&self) -> Vec<PeerRequest> {
        self.asked().into_iter().filter(|asked| asked.verb == "POST").collect()
    }

    /// Waits until so many held connections were closed by the other end.
    pub(crate) fn waits_until_gone(&self, count: usize) {
        until("the connection is closed", || *self.gone.lock().unwrap() >= count);
    }
}

fn serve(mut stream: TcpStream, reply: &Reply, gone: &Mutex<usize>) {
    let _ = stream.write_all(&reply.bytes).and_then(|()| stream.flush());
    while !reply.endless.is_empty() {
        if stream.write_all(&reply.endless).is_err() {
            *gone.lock().unwrap() += 1;
            return;
        }
    }
    if reply.holds {
        // It ends when the other one has closed.
        let _ = stream.read(&mut [0]);
        *gone.lock().unwrap() += 1;
    }
}

/// Reads a request to its end, for who closes with unread bytes resets the connection.
fn read(stream: &TcpStream) -> Option<PeerRequest> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (verb, path) = (words.next()?, words.next()?);
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(PeerRequest { verb, path, headers, body: serde_json::from_slice(&body).unwrap_or(Value::Null) })
}
