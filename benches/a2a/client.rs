//! Requests and streams, with as little work of their own as can be.

use serde_json::{Value, json};
use std::net::SocketAddr;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

/// A connection that stays.
pub(crate) struct Client {
    at: SocketAddr,
    stream: BufReader<TcpStream>,
}

impl Client {
    /// Connects.
    pub(crate) async fn connect(at: SocketAddr) -> Client {
        let stream = TcpStream::connect(at).await.expect("it listens");
        stream.set_nodelay(true).expect("a socket");
        Client { at, stream: BufReader::with_capacity(16 * 1024, stream) }
    }

    /// A request and its answer.
    pub(crate) async fn ask(&mut self, method: &str, params: &Value) -> Value {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        let answer = self.post(&body).await;
        serde_json::from_slice(&answer).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&answer)))
    }

    /// A body and the body of its answer.
    pub(crate) async fn post(&mut self, body: &str) -> Vec<u8> {
        self.write(body).await;
        let length = self.head().await.expect("a length");
        let mut answer = vec![0; length];
        self.stream.read_exact(&mut answer).await.expect("the answer");
        answer
    }

    /// Asks for a stream; its events are read one by one, or never.
    pub(crate) async fn follow(mut self, method: &str, params: &Value) -> Events {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        self.write(&body).await;
        Events { client: self, begun: false, text: String::new() }
    }

    async fn write(&mut self, body: &str) {
        let head = format!(
            "POST / HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nA2A-Version: 1.0\r\n\
             A2A-Extensions: urn:harn:ext:reminders:1#notifications\r\nContent-Length: {}\r\n\r\n",
            self.at,
            body.len()
        );
        self.stream.write_all((head + body).as_bytes()).await.expect("it reads");
    }

    /// Reads the head of an answer: how long its body is, nothing for one in chunks.
    async fn head(&mut self) -> Option<usize> {
        let (mut length, mut line) = (None, String::new());
        loop {
            line.clear();
            self.stream.read_line(&mut line).await.expect("a head");
            match line.trim_end() {
                "" => return length,
                field => {
                    if let Some((name, value)) = field.split_once(':')
                        && name.eq_ignore_ascii_case("content-length")
                    {
                        length = value.trim().parse().ok();
                    }
                }
            }
        }
    }
}

/// The events of a stream.
pub(crate) struct Events {
    client: Client,
    begun: bool,
    /// Text that was read and not yet returned.
    text: String,
}

impl Events {
    /// The next message; nothing once the stream has ended.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        if !self.begun {
            self.begun = true;
            let length = self.client.head().await;
            assert_eq!(length, None, "it is a stream");
        }
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let data: String = event.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
                self.text = rest.to_owned();
                if !data.is_empty() {
                    return Some(serde_json::from_str(&data).expect("an event"));
                }
                continue;
            }
            let chunk = self.chunk().await?;
            self.text.push_str(&String::from_utf8(chunk).expect("text"));
        }
    }

    /// The next chunk.
    async fn chunk(&mut self) -> Option<Vec<u8>> {
        let (stream, mut line) = (&mut self.client.stream, String::new());
        stream.read_line(&mut line).await.expect("a chunk");
        let length = usize::from_str_radix(line.trim_end(), 16).expect("its length");
        if length == 0 {
            return None;
        }
        let mut chunk = vec![0; length + 2];
        stream.read_exact(&mut chunk).await.expect("the chunk");
        chunk.truncate(length);
        Some(chunk)
    }
}

/// The parameters of a message.
pub(crate) fn message(text: &str, task_id: Option<&str>) -> Value {
    let id = format!("m-{}", fresh());
    let mut message = json!({"messageId": id, "role": "ROLE_USER", "parts": [{"text": text}]});
    if let Some(task_id) = task_id {
        message["taskId"] = task_id.into();
    }
    json!({"message": message})
}

fn fresh() -> u64 {
    static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}

/// The id of the task that a message became.
pub(crate) fn task_id(answer: &Value) -> String {
    answer["result"]["task"]["id"].as_str().unwrap_or_else(|| panic!("no task: {answer}")).to_owned()
}
