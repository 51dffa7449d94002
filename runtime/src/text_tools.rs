//! Tools for models whose server supports none: the tools are described in the system text, earlier calls and results
//! become plain text, and calls are parsed from the answer's text. Wire formats are not involved.
//!
//! A call is a block of its own, outside of code fences:
//!
//! ```text
//! <tool_call>
//! {"name": "read_file", "arguments": {"path": "src/lib.rs"}}
//! </tool_call>
//! ```

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use base::call::{Answer, Outcome};
use base::data::Data;

use crate::budget::Quote;
use crate::message::Block;
use crate::model::Destination;
use crate::seam::{Model, Turn};

pub use prompt::without_calls;

use crate::model::{Delta, ModelReply, Request};
use scan::{ScannedPiece, Scanner};

mod calls;
mod prompt;
mod scan;
#[cfg(test)]
mod tests;

/// A model with tools in its text.
pub struct TextTools {
    inner: Rc<dyn Model>,
}

impl TextTools {
    /// Wraps a model.
    #[must_use]
    pub fn new(inner: Rc<dyn Model>) -> TextTools {
        TextTools { inner }
    }
}

impl Model for TextTools {
    fn ready(&self, request: &Request) -> Outcome<()> {
        self.inner.ready(request)
    }

    fn destination(&self, request: &Request) -> Destination {
        self.inner.destination(request)
    }

    fn quote(&self, request: &Request) -> Outcome<Quote> {
        self.inner.quote(&prompt::in_text(request))
    }

    fn call<'a>(
        &'a self,
        turn: Turn<'a>,
        request: &'a Request,
        live: &'a dyn Fn(Delta<'_>),
    ) -> Answer<'a, Outcome<ModelReply>> {
        Answer::later(async move {
            let asked = prompt::in_text(request);
            let stream = ToolTextStream { scanner: RefCell::default(), calls: Cell::new(0), live };
            let tell = |delta: Delta<'_>| stream.tell(delta);
            let reply = self.inner.call(turn, &asked, &tell).get().await?;
            stream.end();
            Ok(read(reply))
        })
    }
}

/// The pieces of an answer on their way to observers: text without its calls, calls as calls.
struct ToolTextStream<'a> {
    scanner: RefCell<Scanner>,
    calls: Cell<usize>,
    live: &'a dyn Fn(Delta<'_>),
}

impl ToolTextStream<'_> {
    fn tell(&self, delta: Delta<'_>) {
        match delta {
            Delta::Text(text) => {
                let mut pieces = Vec::new();
                self.scanner.borrow_mut().push(text, &mut pieces);
                self.show(&pieces);
            }
            Delta::Restart { .. } => {
                *self.scanner.borrow_mut() = Scanner::default();
                self.calls.set(0);
                (self.live)(delta);
            }
            other => (self.live)(other),
        }
    }

    fn end(&self) {
        let mut pieces = Vec::new();
        self.scanner.take().finish(&mut pieces);
        self.show(&pieces);
    }

    fn show(&self, pieces: &[ScannedPiece]) {
        for piece in pieces {
            match piece {
                ScannedPiece::Text(text) => (self.live)(Delta::Text(text)),
                ScannedPiece::Call(raw) => {
                    for call in calls::read(raw) {
                        let index = self.calls.replace(self.calls.get() + 1);
                        (self.live)(Delta::ToolCallStart { index, id: &call.id, name: &call.name });
                        (self.live)(Delta::ToolCallArguments { index, json: &call.arguments.to_json() });
                    }
                }
            }
        }
    }
}

/// Returns the answer with its calls taken out of the text. Calls that the server itself returned stay.
fn read(mut reply: ModelReply) -> ModelReply {
    let (mut text, mut found) = take_out(&reply.text);
    if found.is_empty()
        && let Some(inside) = only_a_fence(&reply.text)
    {
        // The whole text is one fence, so the call is not an example.
        let (left, inner) = take_out(inside);
        if !inner.is_empty() {
            (text, found) = (left, inner);
        }
    }
    if found.is_empty() {
        return reply;
    }
    reply.text = text.trim().into();
    let mut shown = false;
    let mut blocks = std::mem::take(&mut reply.blocks);
    // The blocks hold the same text; the rest of them belongs to the vendor.
    blocks.retain_mut(|block| match block {
        Block::Text { text, .. } => {
            *text = reply.text.clone();
            !std::mem::replace(&mut shown, true) && !reply.text.is_empty()
        }
        Block::Other(_) => true,
    });
    reply.blocks = blocks;
    reply.tool_calls.extend(found);
    reply
}

fn take_out(text: &str) -> (String, Vec<crate::message::ToolCall>) {
    let mut pieces = Vec::new();
    let mut scanner = Scanner::default();
    scanner.push(text, &mut pieces);
    scanner.finish(&mut pieces);
    let (mut left, mut found) = (String::new(), Vec::new());
    for piece in &pieces {
        match piece {
            ScannedPiece::Text(text) => left.push_str(text),
            ScannedPiece::Call(raw) => found.extend(calls::read(raw)),
        }
    }
    (left, found)
}

/// Returns the content of a text that consists of a single fence.
fn only_a_fence(text: &str) -> Option<&str> {
    let inside = text.trim().strip_prefix("```")?.strip_suffix("```")?.split_once('\n')?.1;
    (!inside.contains("```")).then_some(inside)
}

/// Returns the schema of a tool's arguments as a model reads it.
fn schema_text(parameters: &Data) -> Arc<str> {
    if parameters.is_nil() { "{}".into() } else { parameters.to_json().into() }
}
