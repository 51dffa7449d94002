//! Errors out of what a server or the network did. Each message says which server, what it did, and what to do.

use std::time::{Duration, SystemTime};

use reqwest::StatusCode;
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, DATE, HeaderMap, LOCATION, RETRY_AFTER};
use runtime::model::{ModelError, ModelErrorKind};

use super::client::ClientError;
use super::endpoint::Endpoint;

/// The maximum length of a body's excerpt in a message, in characters.
const EXCERPT: usize = 200;

/// Status codes that are worth another try, beside 429.
const TRANSIENT: &[u16] = &[500, 502, 503, 504, 529];

fn error(endpoint: &Endpoint, kind: ModelErrorKind, message: String) -> ModelError {
    ModelError { provider: Some(endpoint.provider.into()), ..ModelError::new(kind, message) }
}

fn who(endpoint: &Endpoint) -> String {
    format!("{} at {}", endpoint.provider, endpoint.shown)
}

/// Returns the error for a client that could not be created.
pub(crate) fn of_client(endpoint: &Endpoint, cause: &ClientError) -> ModelError {
    let message = format!("cannot send a request to {}: {cause}", who(endpoint));
    ModelError { retryable: false, ..error(endpoint, ModelErrorKind::Connection, message) }
}

/// Returns the error for an answer that did not arrive or broke off.
pub(crate) fn of_network(endpoint: &Endpoint, cause: &reqwest::Error, timeout_ms: u64) -> ModelError {
    let (who, variable) = (who(endpoint), &endpoint.base_variable);
    let reason = endpoint.redact(&root_cause(cause));
    let (kind, message) = if cause.is_connect() {
        let hint = format!("check that the server is running and that {variable} is correct");
        (ModelErrorKind::Connection, format!("cannot connect to {who}: {reason}; {hint}"))
    } else if cause.is_timeout() {
        let hint = "raise `timeout_ms`, or check the server";
        (ModelErrorKind::Timeout, format!("{who} timed out after {timeout_ms} ms; {hint}"))
    } else if cause.is_body() || cause.is_decode() {
        let hint = "check the server, or try again";
        (
            ModelErrorKind::Connection,
            format!(
                "{who} closed the connection in the middle of its response: {reason}; \
            {hint}"
            ),
        )
    } else if cause.is_builder() {
        (ModelErrorKind::BadRequest, format!("cannot send a request to {who}: {reason}"))
    } else {
        let hint = "check the server, or try again";
        (ModelErrorKind::Connection, format!("{who} closed the connection without a response: {reason}; {hint}"))
    };
    error(endpoint, kind, message)
}

/// The innermost reason of an error: the outer ones only say that a request failed.
pub(crate) fn root_cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

/// The stream ended before the answer did.
pub(crate) fn unfinished(endpoint: &Endpoint) -> ModelError {
    let message =
        format!("{} ended its stream before the response was complete; check the server, or try again", who(endpoint));
    error(endpoint, ModelErrorKind::Connection, message)
}

/// The stream went silent.
pub(crate) fn stalled(endpoint: &Endpoint, silence: Duration) -> ModelError {
    let message = format!(
        "{} sent nothing for {} s in the middle of its response; check the server, or raise `timeout_ms`",
        who(endpoint),
        silence.as_secs()
    );
    error(endpoint, ModelErrorKind::Timeout, message)
}

/// One event of a stream is longer than is read.
pub(crate) fn event_too_long(endpoint: &Endpoint, limit: usize) -> ModelError {
    let (limit, variable) = (limit >> 20, &endpoint.base_variable);
    let message = format!("{} streamed more than {limit} MiB in one event; check {variable}", who(endpoint));
    ModelError { retryable: false, ..error(endpoint, ModelErrorKind::BadResponse, message) }
}

/// Returns the error for a stream that is not UTF-8.
pub(crate) fn not_utf8(endpoint: &Endpoint) -> ModelError {
    let variable = &endpoint.base_variable;
    let message = format!("{} streamed bytes that are not UTF-8; check the server and {variable}", who(endpoint));
    error(endpoint, ModelErrorKind::BadResponse, message)
}

/// Returns the error for an event that is not JSON.
pub(crate) fn bad_event(endpoint: &Endpoint, data: &[u8], cause: &serde_json::Error) -> ModelError {
    let (who, variable) = (who(endpoint), &endpoint.base_variable);
    let shown = endpoint.redact(&body_excerpt(data));
    let message = if data.trim_ascii_start().first() == Some(&b'<') {
        format!("{who} streamed a web page instead of JSON: {shown}; check {variable}")
    } else if cause.is_eof() {
        format!("{who} streamed an event with incomplete JSON: {shown}; check the server, or try again")
    } else {
        format!("{who} streamed an event that is not JSON: {shown}; check the server, or try again")
    };
    error(endpoint, ModelErrorKind::BadResponse, message)
}

/// The server said in the middle of its stream that it failed. The status was sent long before, so its words must do.
pub(crate) fn of_event(endpoint: &Endpoint, event: &serde_json::Value) -> ModelError {
    let said = ErrorBody::of(event).unwrap_or_else(|| ErrorBody::plain(excerpt(&event.to_string())));
    of_words(endpoint, &said, "aborted its response with an error")
}

/// Returns the error that a document reports despite a status of success, or `None` if it reports
/// none.
pub(crate) fn of_document(endpoint: &Endpoint, document: &serde_json::Value) -> Option<ModelError> {
    document.get("error").filter(|error| !error.is_null())?;
    let said = ErrorBody::of(document)?;
    Some(of_words(endpoint, &said, "answered with an error"))
}

/// An error without a status of its own.
fn of_words(endpoint: &Endpoint, said: &ErrorBody, what: &str) -> ModelError {
    let kind = kind_of_words(said);
    let retry_after_ms = said.retry_after_ms;
    let text = endpoint.redact(&said.message);
    let mut message = format!("{} {what}: {}", who(endpoint), text.trim_end_matches('.'));
    if let Some(hint) = hint(endpoint, kind, 0) {
        message.push_str(&format!("; {hint}"));
    }
    ModelError { retry_after_ms, ..error(endpoint, kind, message) }
}

/// The server answered with an error.
pub(crate) fn of_status(endpoint: &Endpoint, status: StatusCode, headers: &HeaderMap, body: &[u8]) -> ModelError {
    let code = status.as_u16();
    let said = ErrorBody::read(body);
    let kind = kind_of(code, &said);
    let name = status.canonical_reason().map(|reason| format!(" {reason}")).unwrap_or_default();
    let mut message = format!("{} answered {code}{name}", who(endpoint));
    let text = endpoint.redact(&said.message);
    if !text.is_empty() {
        message.push_str(&format!(": {}", text.trim_end_matches('.')));
    }
    if status.is_redirection()
        && let Some(to) = headers.get(LOCATION).and_then(|value| value.to_str().ok())
    {
        message.push_str(&format!(" (to {})", excerpt(to)));
    }
    if said.is_about_money() {
        message.push_str("; check the plan and its billing");
    } else if let Some(hint) = hint(endpoint, kind, code) {
        message.push_str(&format!("; {hint}"));
    }
    ModelError {
        status: Some(code),
        retry_after_ms: retry_after_ms(headers).or(said.retry_after_ms),
        retryable: (code == 429 && !said.is_about_money()) || TRANSIENT.contains(&code),
        ..error(endpoint, kind, message)
    }
}

fn kind_of(code: u16, said: &ErrorBody) -> ModelErrorKind {
    match code {
        401 | 403 => ModelErrorKind::Auth,
        408 => ModelErrorKind::Timeout,
        429 => ModelErrorKind::RateLimit,
        503 | 529 => ModelErrorKind::Overloaded,
        // Gemini's word for a wrong key.
        400 if said.message.contains("API key not valid") => ModelErrorKind::Auth,
        400 | 413 | 422 | 500 if said.is_about_the_context() => ModelErrorKind::ContextWindow,
        413 => ModelErrorKind::ContextWindow,
        400..500 => ModelErrorKind::BadRequest,
        500.. => ModelErrorKind::Server,
        _ => ModelErrorKind::BadResponse,
    }
}

/// Returns whether a message says that a server refused the signature of a thought.
pub(crate) fn is_about_a_signature(message: &str) -> bool {
    message.contains("`signature` in `thinking` block")
        || message.contains("block is bound to a different conversation")
}

fn hint(endpoint: &Endpoint, kind: ModelErrorKind, code: u16) -> Option<String> {
    Some(match kind {
        ModelErrorKind::Auth => format!("check {}", endpoint.key_variable),
        ModelErrorKind::RateLimit => "wait, or send fewer requests".to_owned(),
        ModelErrorKind::Overloaded | ModelErrorKind::Server => "try again later, or raise `llm_retries`".to_owned(),
        ModelErrorKind::ContextWindow => "shorten the transcript (`transcript_compact`, `auto_compact`)".to_owned(),
        ModelErrorKind::BadRequest if code == 404 => format!("check the model's name and {}", endpoint.base_variable),
        ModelErrorKind::BadResponse => format!("check {}", endpoint.base_variable),
        _ => return None,
    })
}

/// The category of an error that has no status.
fn kind_of_words(said: &ErrorBody) -> ModelErrorKind {
    use ModelErrorKind as K;
    if said.is_about_the_context() {
        return K::ContextWindow;
    }
    // The event itself may contain a status.
    if let Ok(status @ 400..=599) = said.code.parse() {
        return kind_of(status, said);
    }
    let has = |words: &[&str]| words.iter().any(|word| said.code.contains(word) || said.error_type.contains(word));
    if has(&["overloaded", "unavailable", "UNAVAILABLE"]) {
        K::Overloaded
    } else if has(&["rate_limit", "quota", "RESOURCE_EXHAUSTED"]) {
        K::RateLimit
    } else if has(&["authentication", "permission", "invalid_api_key", "UNAUTHENTICATED", "PERMISSION_DENIED"]) {
        K::Auth
    } else if has(&["invalid_request", "invalid_prompt", "not_found", "INVALID_ARGUMENT", "NOT_FOUND"]) {
        K::BadRequest
    } else {
        K::Server
    }
}

/// The codes and types of errors that say that a request does not fit the context window.
const CONTEXT_CODES: [&str; 4] = [
    "context_length_exceeded",
    "exceed_context_size_error",
    "context_window_exceeded",
    "model_max_prompt_tokens_exceeded",
];

/// Phrases of servers for a request that does not fit the context window, in small letters, with a server that writes it.
pub(crate) const CONTEXT_PHRASES: &[(&str, &str)] = &[
    ("prompt is too long", "Anthropic"),
    ("context length", "OpenAI, vLLM, Mistral, SGLang"),
    ("context window", "OpenAI Responses, LM Studio"),
    ("context limit", "Anthropic"),
    ("context size", "llama.cpp"),
    ("maximum number of tokens", "Gemini"),
    ("maximum prompt length", "xAI"),
    ("prompt token count", "GitHub Copilot"),
    ("exceeded model token limit", "Moonshot"),
    ("prompt exceeds max length", "Z.ai"),
    ("input is too long", "Amazon Bedrock"),
    ("`inputs` tokens + `max_new_tokens`", "TGI"),
    ("exceeds the maximum size", "Anthropic, for a body that is too large"),
    ("request_too_large", "Anthropic, for a body that is too large"),
    ("too many tokens:", "Cohere"),
    ("input length exceeds", "Ollama"),
    ("token limit exceeded", "Groq, DeepSeek"),
    ("reduce the length of the messages", "OpenAI, Groq"),
    ("range of input length should be", "Alibaba"),
];

/// The content of an error body.
struct ErrorBody {
    message: String,
    /// A word or a number, as text.
    code: String,
    /// The vendor's name for this kind of error.
    error_type: String,
    /// The wait that the body asks for.
    retry_after_ms: Option<u64>,
}

impl ErrorBody {
    fn read(body: &[u8]) -> ErrorBody {
        let json: serde_json::Value = json::from_slice(body).unwrap_or_default();
        let plain = || ErrorBody::plain(body_excerpt(body));
        ErrorBody::of(&json).unwrap_or_else(|| ErrorBody { message: plain().message, ..ErrorBody::codes(&json) })
    }

    fn plain(message: String) -> ErrorBody {
        ErrorBody { message, code: String::new(), error_type: String::new(), retry_after_ms: None }
    }

    /// `{"error": {"message", "type", "code"}}` of most vendors, `{"error": "…"}`, `{"message": "…"}`; nothing where none of
    /// them says anything.
    fn of(json: &serde_json::Value) -> Option<ErrorBody> {
        // Gemini puts the errors of a stream into a list.
        let json = json.get(0).unwrap_or(json);
        let texts = ["/error/message", "/error", "/response/error/message", "/message", "/detail"];
        let message = texts.iter().find_map(|path| json.pointer(path).and_then(serde_json::Value::as_str));
        let message = message.filter(|message| !message.trim().is_empty())?;
        Some(ErrorBody { message: excerpt(message), ..ErrorBody::codes(json) })
    }

    fn codes(json: &serde_json::Value) -> ErrorBody {
        let json = json.get(0).unwrap_or(json);
        let word = |paths: &[&str]| {
            let found =
                paths.iter().find_map(|path| json.pointer(path).filter(|word| word.is_string() || word.is_number()));
            found.map(|word| word.as_str().map_or_else(|| word.to_string(), str::to_owned)).unwrap_or_default()
        };
        ErrorBody {
            message: String::new(),
            code: word(&["/error/code", "/response/error/code", "/code"]),
            error_type: word(&["/error/type", "/error/status"]),
            retry_after_ms: ErrorBody::retry_info_ms(json),
        }
    }

    /// Google's `RetryInfo` among the details: `"3.5s"`. It sends no header that says so.
    fn retry_info_ms(json: &serde_json::Value) -> Option<u64> {
        let details = json.pointer("/error/details")?.as_array()?;
        let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
        milliseconds(delay.strip_suffix('s')?.parse::<f64>().ok()? * 1000.0)
    }

    /// Returns whether the account's quota is used up: the status is 429, but waiting does not
    /// help.
    fn is_about_money(&self) -> bool {
        self.code == "insufficient_quota"
    }

    fn is_about_the_context(&self) -> bool {
        let message = self.message.to_lowercase();
        CONTEXT_CODES.contains(&self.code.as_str())
            || CONTEXT_CODES.contains(&self.error_type.as_str())
            || CONTEXT_PHRASES.iter().any(|(phrase, _)| message.contains(phrase))
    }
}

/// Returns the wait that the server asks for: `retry-after-ms`, else `retry-after` in seconds or as
/// a date.
pub(crate) fn retry_after_ms(headers: &HeaderMap) -> Option<u64> {
    let number = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse::<f64>().ok();
    let asked = |name: &str, unit: f64| number(name).and_then(|number| milliseconds(number * unit));
    asked("retry-after-ms", 1.0).or_else(|| asked("retry-after", 1000.0)).or_else(|| until_date_ms(headers))
}

/// A time that a server names, unless it is none.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // finite, not negative, and `as` saturates
fn milliseconds(ms: f64) -> Option<u64> {
    (ms.is_finite() && ms >= 0.0).then(|| ms.ceil() as u64)
}

/// The time from now until the date in `retry-after`, in milliseconds. Now is what the server says it is, where it does:
/// its clock and ours may differ.
fn until_date_ms(headers: &HeaderMap) -> Option<u64> {
    let date = |name| httpdate::parse_http_date(headers.get(name)?.to_str().ok()?.trim()).ok();
    let now = date(DATE).unwrap_or_else(SystemTime::now);
    let wait = date(RETRY_AFTER)?.duration_since(now).unwrap_or_default();
    u64::try_from(wait.as_millis()).ok()
}

/// The answer is longer than is read.
pub(crate) fn too_long(endpoint: &Endpoint, limit: usize) -> ModelError {
    let message =
        format!("{} sent a response of more than {} MiB; check {}", who(endpoint), limit >> 20, endpoint.base_variable);
    ModelError { retryable: false, ..error(endpoint, ModelErrorKind::BadResponse, message) }
}

/// The answer holds more values than any reply needs.
pub(crate) fn too_many_values(endpoint: &Endpoint, limit: usize) -> ModelError {
    let variable = &endpoint.base_variable;
    let message =
        format!("{} sent a response with more than {limit} values in one document; check {variable}", who(endpoint));
    ModelError { retryable: false, ..error(endpoint, ModelErrorKind::BadResponse, message) }
}

/// The answer is JSON, but no object.
pub(crate) fn not_an_object(endpoint: &Endpoint, got: &serde_json::Value) -> ModelError {
    let (got, variable) = (endpoint.redact(&excerpt(&got.to_string())), &endpoint.base_variable);
    let message = format!("{} answered with JSON that is not an object: {got}; check {variable}", who(endpoint));
    error(endpoint, ModelErrorKind::BadResponse, message)
}

/// The answer is an object that lacks what the wire format demands.
pub(crate) fn wrong_shape(endpoint: &Endpoint, problem: &str) -> ModelError {
    let variable = &endpoint.base_variable;
    let message = format!("{} sent an invalid response: {problem}; check {variable}", who(endpoint));
    error(endpoint, ModelErrorKind::BadResponse, message)
}

/// Returns the error for an answer that is not JSON.
pub(crate) fn not_json(endpoint: &Endpoint, headers: &HeaderMap, body: &[u8], cause: &serde_json::Error) -> ModelError {
    let (who, variable) = (who(endpoint), &endpoint.base_variable);
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("none");
    let start = body.trim_ascii_start();
    let shown = endpoint.redact(&body_excerpt(body));
    let packed = headers.get(CONTENT_ENCODING).and_then(|value| value.to_str().ok()).filter(|how| *how != "identity");
    let message = if let Some(how) = packed {
        let how = excerpt(how);
        format!("{who} sent a compressed response (content-encoding {how}) that was not requested; check {variable}")
    } else if start.is_empty() {
        format!("{who} sent an empty response; check the server and {variable}")
    } else if start.first() == Some(&b'<') {
        format!("{who} answered with a web page instead of JSON: {shown}; check {variable}")
    } else if start.starts_with(b"data:") || start.starts_with(b"event:") {
        format!("{who} streamed its response although no stream was requested; check {variable}")
    } else if cause.is_eof() {
        format!("{who} sent incomplete JSON: {shown}; check the server, or try again")
    } else {
        format!("{who} sent a response that is not JSON (content type {content_type}): {shown}; check {variable}")
    };
    error(endpoint, ModelErrorKind::BadResponse, message)
}

/// The beginning of a body on one line.
fn body_excerpt(body: &[u8]) -> String {
    // Four bytes for a character at most, and a little for those that are left out.
    excerpt(&String::from_utf8_lossy(&body[..body.len().min(8 * EXCERPT)]))
}

fn excerpt(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let line = words.collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(EXCERPT) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
