//! [`MockReply`]: one scripted answer, read strictly.

use std::sync::Arc;

use base::call::{CallError, CallErrorKind};
use base::data::{Data, Entries};
use base::words::{UnknownWord, nearest};
use globset::{Glob, GlobMatcher};
use runtime::message::ToolCall;
use runtime::model::{ModelError, ModelErrorKind};

/// The reason why a value is not a scripted answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct MockError {
    /// The dotted path of the invalid field; empty means the whole.
    pub field: String,
    /// The problem, and the way to fix it.
    pub message: String,
    /// The word that was probably meant.
    pub suggestion: Option<String>,
}

impl MockError {
    fn new(field: impl Into<String>, message: impl Into<String>) -> MockError {
        MockError { field: field.into(), message: message.into(), suggestion: None }
    }

    fn expected(field: &str, expected: &str, got: &Data) -> MockError {
        MockError::new(field, format!("`{field}` of a mock reply must be {expected}, got {}", got.type_name()))
    }

    fn under(mut self, prefix: &str) -> MockError {
        self.field = if self.field.is_empty() { prefix.to_owned() } else { format!("{prefix}.{}", self.field) };
        self
    }
}

impl CallError for MockError {
    fn kind(&self) -> CallErrorKind {
        CallErrorKind::Invalid
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}

/// One scripted answer.
#[derive(Debug, Clone, Default)]
pub struct MockReply {
    /// The text.
    pub text: Option<Arc<str>>,
    /// The thinking before the text.
    pub reasoning: Option<Arc<str>>,
    /// The calls it asks for. A call without an id is given one.
    pub tool_calls: Vec<ToolCall>,
    /// Tokens of the request; estimated where not given.
    pub input_tokens: Option<u64>,
    /// Tokens of the answer; estimated where not given.
    pub output_tokens: Option<u64>,
    /// The vendor's word for the reason that the answer ends; that of an ordinary end where not given.
    pub stop_reason: Option<Arc<str>>,
    /// The model that seems to answer; the one asked for where not given.
    pub model: Option<Arc<str>>,
    /// The prompts that it answers; `None` means the next one that nothing else matches.
    pub matches: Option<GlobMatcher>,
    /// The failure that takes the answer's place.
    pub error: Option<ModelError>,
    /// The delay of the answer, in milliseconds on the run's clock.
    pub delay_ms: Option<u64>,
}

impl MockReply {
    /// The keys of a scripted answer.
    pub const KEYS: &'static [&'static str] = &[
        "text",
        "reasoning",
        "tool_calls",
        "input_tokens",
        "output_tokens",
        "stop_reason",
        "model",
        "match",
        "error",
        "delay_ms",
    ];
    const ERROR_KEYS: &'static [&'static str] = &["category", "message", "status", "retry_after_ms"];

    /// An answer that only says something.
    pub fn text(text: impl Into<Arc<str>>) -> MockReply {
        MockReply { text: Some(text.into()), ..MockReply::default() }
    }

    /// An answer that asks for tools.
    #[must_use]
    pub fn tools(tool_calls: Vec<ToolCall>) -> MockReply {
        MockReply { tool_calls, ..MockReply::default() }
    }

    /// A failure.
    #[must_use]
    pub fn error(error: ModelError) -> MockReply {
        MockReply { error: Some(error), ..MockReply::default() }
    }

    /// Reads an answer: `{text?, reasoning?, tool_calls?: [{id?, name, arguments?}], input_tokens?, output_tokens?, stop_reason?, model?, match?: glob,
    /// error?: {category, message?, status?, retry_after_ms?}, delay_ms?}`, or a string for its text.
    ///
    /// # Errors
    /// Whatever is not of that shape; the error names the field.
    pub fn from_data(data: &Data) -> Result<MockReply, MockError> {
        let entries = match data {
            Data::Str(text) => return Ok(MockReply::text(text.clone())),
            Data::Dict(entries) => entries,
            other => {
                let message = format!("a mock reply must be a dict or a string, got {}", other.type_name());
                return Err(MockError::new("", message));
            }
        };
        known_keys(entries, "a mock reply", MockReply::KEYS)?;
        Ok(MockReply {
            text: text(data, "text")?,
            reasoning: text(data, "reasoning")?,
            tool_calls: tool_calls(data.get("tool_calls"))?,
            input_tokens: count(data, "input_tokens")?,
            output_tokens: count(data, "output_tokens")?,
            stop_reason: text(data, "stop_reason")?,
            model: text(data, "model")?,
            matches: text(data, "match")?.map(|glob| matcher(&glob)).transpose()?,
            error: error(data.get("error")).map_err(|error| error.under("error"))?,
            delay_ms: count(data, "delay_ms")?,
        })
    }
}

fn known_keys(entries: &Entries, what: &str, known: &[&str]) -> Result<(), MockError> {
    let Some(unknown) = entries.keys().find(|key| !known.contains(&key.as_ref())) else { return Ok(()) };
    let near = nearest(unknown, known.iter().copied());
    let help =
        near.map_or_else(|| format!("known keys: {}", known.join(", ")), |near| format!("did you mean `{near}`?"));
    Err(MockError {
        suggestion: near.map(str::to_owned),
        ..MockError::new(unknown.as_ref(), format!("unknown key `{unknown}` of {what}; {help}"))
    })
}

fn text(data: &Data, field: &str) -> Result<Option<Arc<str>>, MockError> {
    match data.get(field) {
        Data::Nil => Ok(None),
        Data::Str(text) => Ok(Some(text.clone())),
        other => Err(MockError::expected(field, "a string", other)),
    }
}

fn count(data: &Data, field: &str) -> Result<Option<u64>, MockError> {
    let value = data.get(field);
    match value.as_int().map(u64::try_from) {
        Some(Ok(count)) => Ok(Some(count)),
        None if value.is_nil() => Ok(None),
        _ => Err(MockError::expected(field, "an integer of at least 0", value)),
    }
}

fn tool_calls(data: &Data) -> Result<Vec<ToolCall>, MockError> {
    let items = match data {
        Data::Nil => return Ok(Vec::new()),
        Data::List(items) => items,
        other => return Err(MockError::expected("tool_calls", "a list of {id, name, arguments}", other)),
    };
    let read = |(index, item): (usize, &Data)| {
        ToolCall::from_data(item).filter(|call| !call.name.is_empty()).ok_or_else(|| {
            let message = format!("tool call {index} of a mock reply must be {{id, name, arguments}}, got {item}");
            MockError::new(format!("tool_calls.{index}"), message)
        })
    };
    items.iter().enumerate().map(read).collect()
}

fn matcher(glob: &str) -> Result<GlobMatcher, MockError> {
    match Glob::new(glob) {
        Ok(glob) => Ok(glob.compile_matcher()),
        Err(error) => {
            Err(MockError::new("match", format!("invalid glob in `match` of a mock reply: {}", error.kind())))
        }
    }
}

fn error(data: &Data) -> Result<Option<ModelError>, MockError> {
    let entries = match data {
        Data::Nil => return Ok(None),
        Data::Dict(entries) => entries,
        other => {
            return Err(MockError::new(
                "",
                format!("`error` of a mock reply must be a dict, got {}", other.type_name()),
            ));
        }
    };
    known_keys(entries, "the error of a mock reply", MockReply::ERROR_KEYS)?;
    let Some(category) = text(data, "category")? else {
        let all = ModelErrorKind::WORDS.join(", ");
        return Err(MockError::new(
            "category",
            format!(
                "missing `category` in the error of a mock reply: use one of \
            {all}"
            ),
        ));
    };
    let kind: ModelErrorKind = category.parse().map_err(|unknown: UnknownWord| MockError {
        suggestion: unknown.suggestion.map(str::to_owned),
        ..MockError::new("category", format!("`category` of a mock error: {unknown}"))
    })?;
    let message = text(data, "message")?.unwrap_or_else(|| format!("the mock failed with {kind}, as scripted").into());
    let status = match count(data, "status")? {
        None => None,
        Some(status) => Some(u16::try_from(status).map_err(|_| {
            MockError::new("status", format!("`status` of a mock error must be an HTTP status, got {status}"))
        })?),
    };
    Ok(Some(ModelError {
        status,
        retry_after_ms: count(data, "retry_after_ms")?,
        provider: Some("mock".into()),
        ..ModelError::new(kind, message.as_ref())
    }))
}
