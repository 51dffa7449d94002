//! The vendors of many conversations on one port. The first part of a path names the conversation.

use super::answers::{Dice, End, answer};
use super::memory::Memory;
use super::{APIS, Api, TEMPLATE, Wire, rules};
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// The outcome of a request.
#[derive(Debug, Clone)]
pub enum Exchange {
    /// It was answered.
    Answered(End),
    /// It was refused for an order of roles that only the server's own template knows; clients learn it once.
    Taught,
    /// It was refused with these words; the body.
    Refused(String, Value),
}

/// A conversation, as its vendors see it.
struct Conversation {
    memory: Memory,
    dice: Dice,
    /// The ends of its next answers, if they are given.
    ends: VecDeque<End>,
    exchanges: Vec<Exchange>,
}

/// A running server; it ends with the process.
#[derive(Clone)]
pub struct Vendors {
    port: u16,
    conversations: Arc<Mutex<HashMap<String, Conversation>>>,
}

impl Vendors {
    pub fn start() -> Vendors {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let vendors = Vendors { port: listener.local_addr().unwrap().port(), conversations: Arc::default() };
        let shared = vendors.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let vendors = shared.clone();
                thread::spawn(move || while vendors.serve_next(&stream).is_some() {});
            }
        });
        vendors
    }

    /// Opens a conversation; its answers follow from the seed.
    pub fn open(&self, name: &str, seed: u64) {
        let conversation = Conversation {
            memory: Memory::default(),
            dice: Dice::new(seed),
            ends: VecDeque::new(),
            exchanges: Vec::new(),
        };
        self.conversations.lock().unwrap().insert(name.to_owned(), conversation);
    }

    /// Ends a conversation; returns what happened in it.
    pub fn close(&self, name: &str) -> Vec<Exchange> {
        self.conversations.lock().unwrap().remove(name).map(|it| it.exchanges).unwrap_or_default()
    }

    /// Returns how much has happened in a conversation, and the last of it.
    pub fn last(&self, name: &str) -> (usize, Option<Exchange>) {
        let conversations = self.conversations.lock().unwrap();
        let exchanges = &conversations[name].exchanges;
        (exchanges.len(), exchanges.last().cloned())
    }

    /// The base URL of a conversation.
    pub fn url(&self, name: &str) -> String {
        format!("http://127.0.0.1:{}/{name}", self.port)
    }

    /// The settings that lead all providers to a conversation, as TOML.
    pub fn providers(&self, name: &str) -> String {
        let base = self.url(name);
        let rows = ["anthropic", "openai", "openai_compatible", "gemini", "ollama"];
        rows.iter().map(|provider| format!("[providers.{provider}]\nbase_url = \"{base}\"\n")).collect()
    }

    /// Opens a conversation with these answers, one after another.
    pub fn open_with(&self, name: &str, ends: &[End]) {
        self.open(name, 1);
        self.conversations.lock().unwrap().get_mut(name).unwrap().ends = ends.iter().copied().collect();
    }

    /// Serves one request of a connection; `None` at its end.
    fn serve_next(&self, stream: &TcpStream) -> Option<()> {
        let request = read_request(stream)?;
        let path = request.path.trim_start_matches('/');
        let (name, rest) = path.split_once('/')?;
        let (name, rest) = (name.to_owned(), format!("/{rest}"));
        let (status, body) = self.serve(&name, &HttpRequest { path: rest, ..request });
        respond(stream, status, &body)
    }

    /// Answers a request of a conversation: the status and the body.
    pub fn serve(&self, name: &str, request: &HttpRequest) -> (u16, String) {
        let body = serde_json::from_slice(&request.body).unwrap();
        let (status, answer) = self.ask(name, request.path.trim_start_matches('/'), body);
        (status, answer.to_string())
    }

    fn ask(&self, name: &str, path: &str, body: Value) -> (u16, Value) {
        let mut conversations = self.conversations.lock().unwrap();
        let Some(conversation) = conversations.get_mut(name) else { return (404, json!({"error": "no conversation"})) };
        let Conversation { memory, dice, ends, exchanges } = conversation;
        let api = api_of(path, &body).unwrap_or_else(|| panic!("no API at {path}: {body}"));
        let broken = rules::broken(api, &body);
        if let Some(rule) = broken
            && *api == TEMPLATE
            && rule.is_taught
        {
            exchanges.push(Exchange::Taught);
            return (400, json!({"error": {"type": "BadRequestError", "message": rule.words}}));
        }
        let broken = broken.map(|rule| rule.words.to_owned());
        if let Some(words) = broken.or_else(|| memory.refuses(api, &body)) {
            let refusal = json!({"error": {"type": "invalid_request_error", "message": words}});
            exchanges.push(Exchange::Refused(format!("{}: {words}", api.name), body));
            return (400, refusal);
        }
        let made = answer(api, exchanges.len(), &body, memory, dice, ends.pop_front());
        exchanges.push(Exchange::Answered(made.end));
        (made.status, made.body)
    }
}

fn api_of(path: &str, body: &Value) -> Option<&'static Api> {
    let of_path = |model: &str| APIS.iter().find(|api| api.model == model);
    match path.split_once(":generateContent") {
        Some((path, _)) => of_path(path.rsplit('/').next()?),
        None => of_path(body["model"].as_str()?).filter(|api| match api.wire {
            Wire::Anthropic => path == "v1/messages",
            Wire::Chat => path.ends_with("chat/completions"),
            Wire::Responses => path.ends_with("responses"),
            Wire::Ollama => path == "api/chat",
            Wire::Gemini => false,
        }),
    }
}

/// A request as it came.
pub struct HttpRequest {
    pub path: String,
    /// Names are in small letters.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// Reads the next request of a connection; `None` at its end.
pub fn read_request(stream: &TcpStream) -> Option<HttpRequest> {
    let mut reader = BufReader::new(stream);
    let (mut path, mut headers, mut line) = (String::new(), Vec::new(), String::new());
    loop {
        line.clear();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return None;
        }
        if path.is_empty() {
            line.split(' ').nth(1)?.clone_into(&mut path);
        } else if let Some((name, value)) = line.split_once(':') {
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        } else if line == "\r\n" {
            let length = headers.iter().find(|(name, _)| name == "content-length")?.1.parse().ok()?;
            let mut body = vec![0; length];
            reader.read_exact(&mut body).ok()?;
            return Some(HttpRequest { path, headers, body });
        }
    }
}

/// Answers a request; `None` if the other side is gone.
pub fn respond(mut stream: &TcpStream, status: u16, body: &str) -> Option<()> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n");
    stream.write_all(format!("{head}{body}").as_bytes()).ok()
}
