//! Sessions with the language server: requests with wrong fields, documents that change, frames with a wrong length.
//!
//! The corpus is what the steps of `tests/clients/lsp` send. Each mutant is a session of its own.

use crate::corpus::paths;
use crate::data;
use crate::harn::{root, scratch};
use crate::random::Random;
use crate::rpc::{Answers, answers};
use crate::subject::{Mutant, Mutator, Subject, Target, Verdict};
use crate::text;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Read, Write, pipe};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};

const LONGEST: usize = 40_000;

pub(crate) const LSP: Subject = Subject { name: "lsp", cases: 250, balance: 20, mutator, target };

/// The place of the project in a mutant, which the worker replaces by that of its copy.
const PLACE: &str = "file:///PROJECT";

/// The first piece of a mutant whose session is opened before it.
const OPENED: &[u8] = b"opened";

fn mutator() -> Mutator {
    let mut sessions: Vec<Vec<Value>> = Vec::new();
    for path in paths("tests/clients/lsp", "json") {
        if !path.to_string_lossy().ends_with(".out.json") {
            let steps: Vec<Value> = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            sessions.push(messages(&steps));
        }
    }
    assert!(sessions.len() > 20, "found {} sessions", sessions.len());
    let scripts = crate::corpus::files("tests/lang", "harn");
    Box::new(move |random| {
        let session = random.one_of(&sessions).expect("at least one");
        let other = random.one_of(&sessions).expect("at least one");
        mutant(random, session, other, &scripts)
    })
}

/// Turns the steps of a test into messages.
fn messages(steps: &[Value]) -> Vec<Value> {
    let mut texts: HashMap<String, String> = HashMap::new();
    let text_of = |texts: &HashMap<String, String>, file: &str| {
        let path = root().join("tests/clients/lsp/project").join(file);
        texts.get(file).cloned().unwrap_or_else(|| fs::read_to_string(path).unwrap_or_default())
    };
    let uri = |file: &str| if file.contains(':') { file.to_owned() } else { format!("{PLACE}/{file}") };
    let mut sent = Vec::new();
    for step in steps {
        let name = |key: &str| step[key].as_str().map(str::to_owned);
        if let Some(file) = name("open") {
            let text = name("text").unwrap_or_else(|| text_of(&texts, &file));
            let document = json!({"uri": uri(&file), "languageId": "harn", "version": 1, "text": text});
            texts.insert(file, text);
            sent.push(
                json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": document}}),
            );
        } else if let (Some(file), Some(old), Some(new)) = (name("change"), name("replace"), name("with")) {
            let text = text_of(&texts, &file);
            let at = text.find(&old).unwrap_or(0);
            let range = json!({"start": position(&text, at), "end": position(&text, at + old.len())});
            let params = json!({"textDocument": {"uri": uri(&file), "version": sent.len() + 2},
                "contentChanges": [{"range": range, "text": new}]});
            texts.insert(file, text.replacen(&old, &new, 1));
            sent.push(json!({"jsonrpc": "2.0", "method": "textDocument/didChange", "params": params}));
        } else if let Some(file) = name("close") {
            let params = json!({"textDocument": {"uri": uri(&file)}});
            sent.push(json!({"jsonrpc": "2.0", "method": "textDocument/didClose", "params": params}));
        } else if let Some(file) = name("write") {
            let params = json!({"changes": [{"uri": uri(&file), "type": 2}]});
            sent.push(json!({"jsonrpc": "2.0", "method": "workspace/didChangeWatchedFiles", "params": params}));
        } else if let Some(method) = name("ask") {
            let file = name("file").unwrap_or_else(|| "main.harn".to_owned());
            let text = text_of(&texts, &file);
            let at = |marked: &Value| {
                let (before, after) = marked.as_str().and_then(|text| text.split_once('|')).unwrap_or_default();
                position(&text, text.find(&format!("{before}{after}")).unwrap_or(0) + before.len())
            };
            let mut params = if step["params"].is_object() { step["params"].clone() } else { json!({}) };
            params["textDocument"] = json!({"uri": uri(&file)});
            if step["at"].is_string() {
                params["position"] = at(&step["at"]);
            }
            if step["range"].is_array() {
                params["range"] = json!({"start": at(&step["range"][0]), "end": at(&step["range"][1])});
            }
            sent.push(json!({"jsonrpc": "2.0", "id": sent.len() + 1, "method": method, "params": params}));
        }
    }
    sent
}

fn position(text: &str, at: usize) -> Value {
    let before = &text[..at];
    let line = &before[before.rfind('\n').map_or(0, |end| end + 1)..];
    json!({"line": before.matches('\n').count(), "character": line.encode_utf16().count()})
}

/// Changes messages, their order, the texts in them, or the bytes of a frame.
fn mutant(random: &mut Random, session: &[Value], other: &[Value], scripts: &[Vec<u8>]) -> Mutant {
    let first = random.below(session.len().saturating_sub(12) + 1);
    let opening = session.first().cloned();
    let mut session: Vec<Value> = session.iter().skip(first).take(12).cloned().collect();
    if first > 0 {
        session.splice(0..0, opening);
    }
    let mut frames = Vec::new();
    for _ in 0..=random.below(4) {
        let at = random.below(session.len() + 1);
        let donor = random.one_of(other).cloned().unwrap_or_default();
        match random.below(8) {
            0 => session.insert(at, donor),
            1 if at < session.len() => drop(session.remove(at)),
            2 if at < session.len() => session.swap(at, 0),
            3 if !session.is_empty() => edited(random, &mut session, scripts),
            _ if at < session.len() => data::changed(random, &mut session[at], &donor),
            _ => {}
        }
    }
    let is_opened = !random.one_in(8);
    if is_opened {
        frames.push(OPENED.to_vec());
    } else {
        let mut initialize = initialize();
        data::changed(random, &mut initialize, &session.first().cloned().unwrap_or_default());
        frames.push(frame(&initialize));
    }
    frames.extend(session.iter().map(frame));
    if random.one_in(6) {
        let at = random.below(frames.len());
        let donors = frames.clone();
        if frames[at] != OPENED {
            frames[at] = text::mutant(random, &frames[at], &donors, LONGEST);
        }
    }
    Mutant { pieces: frames }
}

/// Changes the text of a document that is opened, or makes an edit of it.
fn edited(random: &mut Random, session: &mut Vec<Value>, scripts: &[Vec<u8>]) {
    let Some(at) = session.iter().position(|message| message["method"] == "textDocument/didOpen") else { return };
    let document = session[at]["params"]["textDocument"].clone();
    let text = document["text"].as_str().unwrap_or_default();
    let changed = text::mutant(random, text.as_bytes(), scripts, LONGEST);
    let changed = String::from_utf8_lossy(&changed);
    if random.one_in(2) {
        if let Some(text) = session[at].pointer_mut("/params/textDocument/text") {
            *text = json!(changed);
        }
        return;
    }
    let mut place = || json!({"line": random.below(40), "character": random.below(60)});
    let range = json!({"start": place(), "end": place()});
    let inserted: String = changed.chars().take(200).collect();
    let params = json!({"textDocument": {"uri": document["uri"], "version": 9},
        "contentChanges": [{"range": range, "text": inserted}]});
    let change = json!({"jsonrpc": "2.0", "method": "textDocument/didChange", "params": params});
    session.insert(at + 1, change);
}

fn initialize() -> Value {
    let capabilities = json!({
        "textDocument": {"diagnostic": {}, "documentSymbol": {"hierarchicalDocumentSymbolSupport": true}},
        "workspace": {"workspaceEdit": {"documentChanges": true}},
    });
    let folders = json!([{"uri": PLACE, "name": "project"}]);
    let params = json!({"processId": null, "rootUri": null, "capabilities": capabilities, "workspaceFolders": folders});
    json!({"jsonrpc": "2.0", "id": "start", "method": "initialize", "params": params})
}

fn frame(message: &Value) -> Vec<u8> {
    let text = message.to_string();
    format!("Content-Length: {}\r\n\r\n{text}", text.len()).into_bytes()
}

fn target() -> Box<dyn Target> {
    let folder = scratch("mutants-lsp-project");
    fs::create_dir_all(folder.join(".git")).unwrap();
    copy(&root().join("tests/clients/lsp/project"), &folder);
    Box::new(Editor { place: format!("file://{}", folder.display()) })
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &to);
        } else {
            fs::copy(path, to).unwrap();
        }
    }
}

struct Editor {
    place: String,
}

impl Editor {
    /// Puts the place of the project into a frame, whose length is corrected if it was right.
    fn placed(&self, frame: &[u8]) -> Vec<u8> {
        let Ok(text) = std::str::from_utf8(frame) else { return frame.to_vec() };
        if !text.contains(PLACE) {
            return frame.to_vec();
        }
        let length = length(frame);
        let placed = text.replace(PLACE, &self.place);
        match (length, placed.split_once("\r\n\r\n")) {
            (Some(_), Some((_, body))) => format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes(),
            _ => placed.into_bytes(),
        }
    }
}

/// Returns the length of the body of a frame; `None` if it is not the one that the header says.
fn length(frame: &[u8]) -> Option<usize> {
    let head = frame.windows(4).position(|bytes| bytes == b"\r\n\r\n")?;
    let said = std::str::from_utf8(&frame[..head]).ok()?.strip_prefix("Content-Length: ")?.parse().ok()?;
    (frame.len() - head - 4 == said).then_some(said)
}

impl Target for Editor {
    fn feed(&mut self, mutant: &Mutant) -> Result<Verdict, String> {
        let mut session = EditorSession::start();
        let is_whole = mutant.pieces.iter().all(|piece| piece == OPENED || length(piece).is_some());
        for piece in &mutant.pieces {
            if piece == OPENED {
                session.send(&self.placed(&frame(&initialize())));
                session.send(&frame(&json!({"jsonrpc": "2.0", "method": "initialized", "params": {}})));
            } else {
                session.send(&self.placed(piece));
            }
        }
        let is_opened = mutant.pieces.first().is_some_and(|piece| piece == OPENED);
        let says_end = |piece: &Vec<u8>| piece.windows(6).any(|bytes| bytes == b"\"exit\"" || bytes == b"shutdo");
        let goes_on = is_whole && !mutant.pieces.iter().any(says_end);
        if goes_on {
            let uri = format!("{}/asked.harn", self.place);
            let document = json!({"uri": uri, "languageId": "harn", "version": 1, "text": "let asked = 1\n"});
            session.send(&frame(
                &json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": document}}),
            ));
            session.send(&frame(&json!({"jsonrpc": "2.0", "id": "asked", "method": "textDocument/documentSymbol",
                "params": {"textDocument": {"uri": uri}}})));
        }
        let (messages, code) = session.end()?;
        let Answers { errors, results } = answers(&messages)?;
        if goes_on {
            let answer = messages.iter().find(|message| message["id"] == "asked" && message.get("method").is_none());
            match answer {
                Some(answer) if answer["result"][0]["name"] == "asked" => {}
                // The mutant may be the client that did not start the session.
                Some(answer) if !is_opened && answer["error"]["code"] == -32002 => {}
                _ => return Err(format!("the server does not go on: exit code {code}, {answer:?}")),
            }
        }
        Ok(if errors == 0 && results > 0 { Verdict::Accepted } else { Verdict::Rejected })
    }
}

/// A running server.
struct EditorSession {
    to_server: PipeWriter,
    messages: Receiver<Result<Value, String>>,
    server: JoinHandle<i32>,
}

impl EditorSession {
    fn start() -> EditorSession {
        let (server_input, to_server) = pipe().unwrap();
        let (from_server, server_output) = pipe().unwrap();
        // The stack of the command's main thread.
        let work = move || lsp::serve(server_input, server_output);
        let server = thread::Builder::new().stack_size(8 << 20).spawn(work).unwrap();
        let (sender, messages) = channel();
        thread::spawn(move || {
            let mut from_server = BufReader::new(from_server);
            while let Some(message) = receive(&mut from_server) {
                let _ = sender.send(message);
            }
        });
        EditorSession { to_server, messages, server }
    }

    /// A server that has ended reads no more.
    fn send(&mut self, bytes: &[u8]) {
        let _ = self.to_server.write_all(bytes);
    }

    /// Hangs up. Returns what the server has sent, and its exit code.
    fn end(self) -> Result<(Vec<Value>, i32), String> {
        drop(self.to_server);
        let messages = self.messages.iter().collect::<Result<_, _>>()?;
        let code = self.server.join().map_err(|_| "the server panicked")?;
        Ok((messages, code))
    }
}

/// Reads a message; `None` at the end.
fn receive(from_server: &mut BufReader<PipeReader>) -> Option<Result<Value, String>> {
    let mut head = String::new();
    if from_server.read_line(&mut head).ok()? == 0 {
        return None;
    }
    let mut body = vec![0; head.trim_end().strip_prefix("Content-Length: ").and_then(|it| it.parse().ok())?];
    from_server.read_line(&mut head).ok()?;
    from_server.read_exact(&mut body).ok()?;
    Some(serde_json::from_slice(&body).map_err(|error| format!("{error}: {}", String::from_utf8_lossy(&body))))
}
