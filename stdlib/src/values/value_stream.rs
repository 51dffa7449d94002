//! A model's answer as values of a type while it arrives: each is what has come so far, and of the type already.

use super::partial_json::PartialJson;
use super::text_stream::{Pieces, TextSource};
use crate::answer::AnswerType;
use lang::builtins::parse_json;
use lang::value::{HostBox, HostObject, Value, equal};
use lang::vm::{Next, Raise, RunCode, StreamSource};
use std::any::Any;
use std::future::poll_fn;

/// The text of an answer, and what was made of it.
struct ValueSource {
    text: TextSource,
    /// All of the text.
    whole: String,
    partial: PartialJson,
    ty: AnswerType,
    /// The last value that was read.
    last: Option<Value>,
    ended: bool,
}

impl ValueSource {
    /// The next value that differs from the last one; `None` after the whole answer.
    async fn next(&mut self) -> Result<Option<Value>, Box<Raise>> {
        while !self.ended {
            let Some(piece) = poll_fn(|cx| self.text.poll_next(cx)).await? else {
                self.ended = true;
                let value = self.ty.read(&self.whole).await?;
                return Ok(self.changed(value));
            };
            self.whole.push_str(&piece);
            if self.partial.take_in(&piece)
                && let Some(text) = self.partial.complete()
                && let Ok(data) = parse_json(&text)
            {
                match self.ty.decode(data).await {
                    Ok(value) => {
                        if let Some(value) = self.changed(value) {
                            return Ok(Some(value));
                        }
                    }
                    // A required field may not have come yet. What is wrong for good is raised with the whole answer.
                    Err(raise) if raise.code == RunCode::Decode => {}
                    Err(raise) => return Err(raise),
                }
            }
        }
        Ok(None)
    }

    fn changed(&mut self, value: Value) -> Option<Value> {
        if self.last.as_ref().is_some_and(|last| equal(last, &value)) {
            return None;
        }
        self.last = Some(value.clone());
        Some(value)
    }
}

/// A stream of values of one type. The request starts with the first read, and is cancelled when the stream is dropped.
pub(crate) struct ValueStream {
    source: StreamSource<ValueSource>,
}

impl ValueStream {
    /// Returns the stream as a value; `request` writes arriving text to `pieces`.
    pub(crate) fn value(
        pieces: Pieces,
        ty: AnswerType,
        request: impl Future<Output = Result<(), Box<Raise>>> + 'static,
    ) -> Value {
        let source = ValueSource {
            text: TextSource::new(pieces, request),
            whole: String::new(),
            partial: PartialJson::default(),
            ty,
            last: None,
            ended: false,
        };
        HostBox::value(Self { source: StreamSource::new(source) })
    }
}

impl HostObject for ValueStream {
    fn type_name(&self) -> &'static str {
        "stream"
    }

    fn next(&self) -> Option<Next> {
        Some(Next::Later(self.source.wait(ValueSource::next)))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
