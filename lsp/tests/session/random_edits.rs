//! Random edits of two documents, one of which imports the other: no request panics, and the state after them is that of a server
//! which has never seen another text.

use crate::client::{Client, folder, uri};
use serde_json::{Value, json};
use std::path::Path;

/// The edits of a test run. `LSP_EDITS` sets another number.
const EDITS: u64 = 1_000;
/// The edits after which the state is compared.
const COMPARED: u64 = 50;
/// The size above which a text is only cut.
const LARGE: usize = 3_000;

/// Pieces of text that are inserted.
const PIECES: &[&str] = &[
    "a",
    " ",
    "\n",
    "\r\n",
    "\r",
    "👍",
    "é",
    "\u{301}",
    "名前",
    "\u{202e}",
    "\0",
    "\t",
    "\"",
    "\"\"\"",
    "${",
    "}",
    "{",
    "(",
    ")",
    "[",
    "]",
    "//",
    "/*",
    "*/",
    "///",
    "r\"",
    "\\",
    ".",
    "..",
    "...",
    "->",
    "|>",
    "?",
    "??",
    "=",
    "==",
    "1",
    "0x",
    "1e",
    "5s",
    "1_",
    "_",
    "let x = ",
    "var y = [1, 2, 3]\n",
    "fn f(a, b = 2) { return a + b }\n",
    "pub fn shared(x) { return x }\n",
    "pub fn shared(x, y) {\n  return [x, y]\n}\n",
    "pub fn shared(x: int) -> Point {\n  return Point {x}\n}\n",
    "pub fn shared(x) -> list<string> { return [\"a\"] }\n",
    "import {shared} from \"lib\"\n",
    "let v = shared(1)\n",
    "for one in shared(1) { println(one.x, shared(2).) }\n",
    "import \"lib\"\n",
    "import {main} from \"main\"\n",
    "struct Point { x: int, y: float = 0.0 }\n",
    "enum Shape { Circle(r: float), Nothing }\n",
    "impl Point { fn far(self) { return self.x } }\n",
    "interface Sized { fn area(self) -> float }\n",
    "type Both = Point | nil\n",
    "match v {\n  Shape.Circle(r) -> r\n  _ -> 0\n}\n",
    "if a { b } else { c }\n",
    "for i in 1 to 10 { println(i) }\n",
    "try { throw 1 } catch (e) { }\n",
    "xs.map({ x -> x * 2 })",
    "pipeline default(task, context) { return task }\n",
    "tool t(a: string) -> string { return a }\n",
    "@test\nfn t() { assert_eq(1, 1) }\n",
    "agent_loop(task, \"system\", {provider: \"mock\", reminders: {",
    "register_session_hook(\"post_turn\", { e -> nil })\n",
    "shared(1)\n",
];

/// A generator of numbers that is the same on every machine.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % (end.max(1) as u64)).unwrap()
    }
}

/// A document as the client sees it.
struct Document {
    uri: String,
    text: String,
    version: i64,
    /// Earlier texts, for undo.
    earlier: Vec<String>,
    /// The tokens that the server sent last, with their name.
    tokens: Tokens,
}

/// Semantic tokens as numbers, with the name that the server gave them.
#[derive(Default)]
struct Tokens {
    result_id: String,
    data: Vec<Value>,
}

impl Tokens {
    /// Reads all tokens, or applies the edits of a delta.
    fn apply(&mut self, answer: &Value) {
        self.result_id = answer["resultId"].as_str().unwrap().to_owned();
        if let Some(data) = answer["data"].as_array() {
            self.data.clone_from(data);
        }
        for edit in answer["edits"].as_array().into_iter().flatten() {
            let number = |key: &str| usize::try_from(edit[key].as_u64().unwrap()).unwrap();
            let (start, end) = (number("start"), number("start") + number("deleteCount"));
            self.data.splice(start..end, edit["data"].as_array().cloned().unwrap_or_default());
        }
    }
}

impl Document {
    /// Returns a random offset that a position can name: not inside of a character, nor between `\r` and `\n`.
    fn offset(&self, numbers: &mut Numbers) -> usize {
        let mut at = numbers.below(self.text.len() + 1);
        while !self.text.is_char_boundary(at) || self.text[..at].ends_with('\r') && self.text[at..].starts_with('\n') {
            at -= 1;
        }
        at
    }

    /// Returns the position of an offset, counted in UTF-16 from the start of the text.
    fn position(&self, offset: usize) -> Value {
        let (mut line, mut character) = (0, 0);
        let mut letters = self.text[..offset].chars().peekable();
        while let Some(letter) = letters.next() {
            match letter {
                '\r' if letters.peek() == Some(&'\n') => {}
                '\r' | '\n' => (line, character) = (line + 1, 0),
                letter => character += letter.len_utf16(),
            }
        }
        json!({"line": line, "character": character})
    }

    /// Replaces some bytes. Returns the change.
    fn replace(&mut self, start: usize, end: usize, new: &str) -> Value {
        let change = json!({"range": {"start": self.position(start), "end": self.position(end)}, "text": new});
        self.text.replace_range(start..end, new);
        change
    }

    /// Makes a random edit. Returns its change.
    fn edit(&mut self, numbers: &mut Numbers) -> Value {
        let kind = if self.text.len() > LARGE { 5 } else { numbers.below(10) };
        let (a, b) = (self.offset(numbers), self.offset(numbers));
        let (start, end) = (a.min(b), a.max(b));
        match kind {
            0..=4 => self.replace(a, a, PIECES[numbers.below(PIECES.len())]),
            5 | 6 => {
                // Most deletions are short.
                let short = self.text[start..].char_indices().nth(numbers.below(12)).map_or(end, |(at, _)| start + at);
                let end = if kind == 5 && self.text.len() > LARGE { end } else { short };
                let splits = self.text[..end].ends_with('\r') && self.text[end..].starts_with('\n');
                self.replace(start, if splits { start } else { end }, "")
            }
            7 => {
                let copied = self.text[start..end].chars().take(200).collect::<String>();
                let at = self.offset(numbers);
                self.replace(at, at, &copied)
            }
            8 if !self.earlier.is_empty() => {
                let steps = numbers.below(self.earlier.len());
                self.text = self.earlier[steps].clone();
                json!({"text": self.text})
            }
            _ => self.replace(a, a, PIECES[numbers.below(3)]),
        }
    }

    fn keep(&mut self) {
        self.earlier.push(self.text.clone());
        if self.earlier.len() > 8 {
            self.earlier.remove(0);
        }
    }
}

/// The requests about a whole document.
const OF_DOCUMENT: &[&str] = &[
    "textDocument/diagnostic",
    "textDocument/documentSymbol",
    "textDocument/semanticTokens/full",
    "textDocument/foldingRange",
    "textDocument/formatting",
    "textDocument/codeLens",
    "textDocument/inlayHint",
];

/// The requests about a position.
const OF_POSITION: &[&str] = &[
    "textDocument/completion",
    "textDocument/hover",
    "textDocument/signatureHelp",
    "textDocument/definition",
    "textDocument/typeDefinition",
    "textDocument/references",
    "textDocument/documentHighlight",
    "textDocument/prepareRename",
    "textDocument/prepareCallHierarchy",
];

/// Returns what a server answers about a document. A method that it does not have is an error on both sides.
fn state(client: &mut Client, document: &Document, offset: usize) -> Vec<(String, Result<Value, Value>)> {
    let of_document = json!({
        "textDocument": {"uri": document.uri},
        "options": {"tabSize": 2, "insertSpaces": true},
        "range": {"start": {"line": 0, "character": 0}, "end": document.position(document.text.len())},
    });
    let position = document.position(offset);
    let of_position = json!({
        "textDocument": {"uri": document.uri},
        "position": position,
        "positions": [position],
        "context": {"includeDeclaration": true, "diagnostics": [], "only": ["quickfix"]},
        "range": {"start": position, "end": position},
    });
    let mut answers: Vec<_> =
        OF_DOCUMENT.iter().map(|method| ((*method).to_owned(), client.ask(method, &of_document))).collect();
    let others = ["textDocument/selectionRange", "textDocument/codeAction"];
    answers.extend(
        OF_POSITION.iter().chain(&others).map(|method| ((*method).to_owned(), client.ask(method, &of_position))),
    );
    for (method, answer) in &answers {
        let internal = answer.as_ref().err().is_some_and(|error| error["code"] == -32603);
        assert!(!internal, "{method} panicked at {position} of:\n{}", document.text);
    }
    answers
}

#[test]
fn the_state_after_random_edits_is_that_of_a_fresh_start() {
    let edits = std::env::var("LSP_EDITS").ok().and_then(|edits| edits.parse().ok()).unwrap_or(EDITS);
    let folder = folder("lsp-random-edits");
    let mut client = Client::of_folder(&folder);
    let document = |name: &str| Document {
        uri: uri(&folder.join(name)),
        text: String::new(),
        version: 1,
        earlier: Vec::new(),
        tokens: Tokens::default(),
    };
    let mut documents = [document("main.harn"), document("lib.harn")];
    documents.iter().for_each(|document| client.open(&document.uri, ""));
    let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15);
    for number in 1..=edits {
        let document = &mut documents[numbers.below(3) / 2];
        document.keep();
        let changes: Vec<Value> = (0..=numbers.below(3) / 2).map(|_| document.edit(&mut numbers)).collect();
        document.version += 1;
        client.change(&document.uri, document.version, &json!(changes));
        if number % COMPARED == 0 {
            compare(&mut client, &folder, &mut documents, &mut numbers, number);
        }
    }
    client.end();
}

fn compare(client: &mut Client, folder: &Path, documents: &mut [Document], numbers: &mut Numbers, number: u64) {
    let offsets: Vec<usize> = documents.iter().map(|document| document.offset(numbers)).collect();
    let mut fresh = Client::of_folder(folder);
    documents.iter().for_each(|document| fresh.open(&document.uri, &document.text));
    for (document, offset) in documents.iter_mut().zip(offsets) {
        let delta = json!({"textDocument": {"uri": document.uri}, "previousResultId": document.tokens.result_id});
        let answer = client.ask("textDocument/semanticTokens/full/delta", &delta).unwrap();
        assert_eq!(answer["edits"].is_array(), !document.tokens.result_id.is_empty());
        document.tokens.apply(&answer);
        let whole = json!({"textDocument": {"uri": document.uri}});
        let wanted = fresh.ask("textDocument/semanticTokens/full", &whole).unwrap();
        assert_eq!(wanted["data"], json!(document.tokens.data), "after {number} edits of:\n{}", document.text);
        let (known, wanted) = (state(client, document, offset), state(&mut fresh, document, offset));
        for ((method, known), (_, wanted)) in known.into_iter().zip(wanted) {
            if method == "textDocument/semanticTokens/full" {
                document.tokens.apply(known.as_ref().unwrap());
            }
            assert_eq!(versionless(known), versionless(wanted), "{method} after {number} edits of:\n{}", document.text);
        }
    }
    fresh.end();
}

/// Removes the versions of documents and the names of tokens, which differ.
fn versionless(answer: Result<Value, Value>) -> Result<Value, Value> {
    fn remove(value: &mut Value) {
        match value {
            Value::Object(members) => {
                members.remove("version");
                members.remove("resultId");
                members.values_mut().for_each(remove);
            }
            Value::Array(items) => items.iter_mut().for_each(remove),
            _ => {}
        }
    }
    answer.map(|mut value| {
        remove(&mut value);
        value
    })
}
