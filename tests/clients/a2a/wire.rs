//! The checks of an answer: an exchange of a request and its answer is taken apart, and each value
//! in it is checked against its type. Clients in Python and Node keep their exchanges in the same
//! form, a line of JSON for each.

use super::http::{HttpResponse, Request};
use super::ours::ours;
use super::strict::Types;
use serde_json::{Value, json};

/// The extension for reminders.
pub(super) const EXTENSION: &str = "urn:harn:ext:reminders:1";

/// The extension with which a caller requests to be notified of reminders.
pub(super) const NOTIFICATIONS_URI: &str = "urn:harn:ext:reminders:1#notifications";

/// Methods with their names in both versions, and the types of their results in 1.0 and 0.3.
const METHODS: [(&[&str], [&str; 2]); 7] = [
    (&["SendMessage", "message/send", "tasks/send"], ["SendMessageResponse", "Task"]),
    (&["SendStreamingMessage", "message/stream", "tasks/sendSubscribe"], ["StreamResponse", "Stream"]),
    (&["SubscribeToTask", "tasks/resubscribe"], ["StreamResponse", "Stream"]),
    (&["GetTask", "tasks/get"], ["Task", "Task"]),
    (&["CancelTask", "tasks/cancel"], ["Task", "Task"]),
    (&["ListTasks", "tasks/list"], ["ListTasksResponse", PAGE]),
    (&["GetExtendedAgentCard", "agent/getAuthenticatedExtendedCard"], ["AgentCard", "AgentCard"]),
];

/// A page of tasks in version 0.3, which has no type for it.
const PAGE: &str = "TaskPage";

/// Methods of ours, and the types of their results in all versions.
const OURS: [(&str, &str); 4] = [
    ("tasks/inject_reminder", "InjectReminderResponse"),
    ("tasks/pending_injections", "PendingInjectionsResponse"),
    ("tasks/revoke_reminder", "RevokeReminderResponse"),
    ("tasks/clear_reminders", "ClearRemindersResponse"),
];

/// Notifications of reminders in streams.
const NOTIFICATIONS: [(&str, &str); 3] = [
    ("tasks/reminderEmitted", "ReminderEmittedNotification"),
    ("tasks/reminderDeduped", "ReminderDedupedNotification"),
    ("tasks/reminderExpired", "ReminderExpiredNotification"),
];

/// Keys of cards that only one version knows.
const OF_1_0: [&str; 2] = ["supportedInterfaces", "securityRequirements"];
const OF_0_3: [&str; 6] = [
    "url",
    "preferredTransport",
    "protocolVersion",
    "additionalInterfaces",
    "security",
    "supportsAuthenticatedExtendedCard",
];

/// The version of the protocol that is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WireVersion {
    V1,
    V03,
}

/// An exchange, as it is kept.
pub(super) fn exchange(request: &Request, answer: &HttpResponse) -> Value {
    let headers = |of: &[(String, String)]| -> Value {
        of.iter()
            .map(|(name, value)| (name.to_ascii_lowercase(), json!(value)))
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    json!({
        "request": {"method": request.line.0, "path": request.line.1, "headers": headers(&request.headers), "body": text(&request.body)},
        "response": {"status": answer.status, "headers": headers(&answer.headers), "body": text(&answer.body)},
    })
}

/// Fails if an answer is invalid; returns the number of values that were checked.
pub(super) fn assert_fits(exchange: &Value) -> usize {
    match check(exchange) {
        Ok(count) => count,
        Err(problem) => {
            let mut shown = exchange.to_string();
            let end = (0..=4000.min(shown.len())).rev().find(|at| shown.is_char_boundary(*at)).unwrap_or(0);
            shown.truncate(end);
            panic!("{problem}\n  in {shown}")
        }
    }
}

/// Returns the problem of an answer, or the number of values that were checked.
pub(super) fn check(exchange: &Value) -> Result<usize, String> {
    let (request, response) = (&exchange["request"], &exchange["response"]);
    let path = request["path"].as_str().unwrap_or_default();
    let body = response["body"].as_str().unwrap_or_default();
    let status = response["status"].as_u64().unwrap_or_default();
    let kind = response["headers"]["content-type"].as_str().unwrap_or_default();
    if path.starts_with("/.well-known/") && status == 200 {
        return card(request, &parsed(body)?);
    }
    let asked = RequestSummary::read(exchange);
    if kind.starts_with("text/event-stream") {
        return asked.stream(body);
    }
    if kind.starts_with("application/json") {
        let answer = parsed(body)?;
        let is_error = answer.get("error").is_some();
        if status != 200 && !is_error {
            return Err(format!("HTTP {status} with a result"));
        }
        return asked.answer(&answer).map(|()| 1);
    }
    // Refused before anybody has looked at the body: nothing to be read by a program.
    if status == 200 || body.len() > 1000 { Err(format!("HTTP {status} with {kind:?}: {body}")) } else { Ok(0) }
}

fn parsed(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("no JSON: {error}"))
}

/// A card by the version that was asked for; one for all by each without what only the other knows.
fn card(request: &Value, card: &Value) -> Result<usize, String> {
    let extensions = [&request["headers"]["a2a-extensions"], &request["headers"]["x-a2a-extensions"]];
    let asked = extensions.iter().any(|header| header.as_str().is_some_and(|header| header.contains(EXTENSION)));
    let mut card = card.clone();
    let reminders = card["capabilities"].as_object_mut().and_then(|of| of.remove("reminders"));
    if let Some(reminders) = &reminders {
        expect(ours().problem("RemindersCapability", reminders))?;
    }
    let before = card["capabilities"].as_object_mut().and_then(|of| of.remove("_meta"));
    if before != reminders.as_ref().map(|reminders| json!({"harn": {"reminders": reminders}})) {
        return Err(format!("`capabilities._meta` is not `capabilities.reminders`: {before:?}"));
    }
    let expected = asked || request["headers"]["a2a-version"].is_null();
    if reminders.is_some() != expected && request["headers"]["x-card"] != "rfc" {
        return Err(format!("`capabilities.reminders` expected: {expected}, there: {}", reminders.is_some()));
    }
    let declared = card["capabilities"]["extensions"].as_array().into_iter().flatten();
    let declared = declared.filter(|extension| extension["uri"] == EXTENSION).collect::<Vec<_>>();
    let [extension] = declared.as_slice() else { return Err("the extension is not declared".to_owned()) };
    expect(ours().problem("RemindersCapability", &extension["params"]))?;
    match request["headers"]["a2a-version"].as_str() {
        Some(version) if version.starts_with('1') => expect(Types::V1.problem("AgentCard", &card))?,
        Some(version) if version.starts_with("0.3") => expect(Types::V03.problem("AgentCard", &card))?,
        _ => {
            let mut newer = without(&card, &OF_0_3);
            newer["capabilities"] = without(&newer["capabilities"], &["stateTransitionHistory"]);
            let mut older = without(&card, &OF_1_0);
            older["capabilities"] = without(&older["capabilities"], &["extendedAgentCard"]);
            keep_schemes(&mut newer, true);
            keep_schemes(&mut older, false);
            expect(Types::V1.problem("AgentCard", &newer))?;
            expect(Types::V03.problem("AgentCard", &older))?;
        }
    }
    Ok(1)
}

/// Leaves of each way of showing who one is what version 1.0 knows, or what the others do.
fn keep_schemes(card: &mut Value, newer: bool) {
    let schemes = card.get_mut("securitySchemes").and_then(Value::as_object_mut);
    for scheme in schemes.into_iter().flat_map(|schemes| schemes.values_mut()) {
        if let Some(fields) = scheme.as_object_mut() {
            fields.retain(|key, _| key.ends_with("SecurityScheme") == newer);
        }
    }
}

fn without(card: &Value, keys: &[&str]) -> Value {
    let mut card = card.clone();
    card.as_object_mut().unwrap().retain(|key, _| !keys.contains(&key.as_str()));
    card
}

fn expect(problem: Option<String>) -> Result<(), String> {
    problem.map_or(Ok(()), Err)
}

/// The part of a request that its answer depends on.
struct RequestSummary {
    spoken: WireVersion,
    method: String,
    /// The request's id; `None` if the request cannot be parsed here, such as one that is nested
    /// too deeply.
    id: Option<Value>,
    /// Whether the caller wants notifications of reminders.
    notices: bool,
}

impl RequestSummary {
    fn read(exchange: &Value) -> RequestSummary {
        let (headers, body) = (&exchange["request"]["headers"], exchange["request"]["body"].as_str());
        let read: Option<Value> = body.and_then(|body| serde_json::from_str(body).ok());
        let id = read.as_ref().map(|request| &request["id"]);
        let id = id.map(|id| if id.is_string() || id.is_number() { id.clone() } else { Value::Null });
        let request = read.unwrap_or_default();
        let method = request["method"].as_str().unwrap_or_default().to_owned();
        let spoken = match headers["a2a-version"].as_str() {
            // Versions that are not spoken are refused in the shape of the nearest one.
            Some(version) if version.starts_with("0.") => WireVersion::V03,
            Some(_) => WireVersion::V1,
            None => WireVersion::V03,
        };
        let extensions = [&headers["a2a-extensions"], &headers["x-a2a-extensions"]];
        let names = |uri: &str| {
            let mut lists = extensions.iter().filter_map(|header| header.as_str());
            lists.any(|list| list.split(',').any(|named| named.trim() == uri))
        };
        let notices = names(NOTIFICATIONS_URI) || method == "tasks/sendSubscribe" && names(EXTENSION);
        RequestSummary { spoken, method, id, notices }
    }

    /// Checks a stream: the task, then its updates. The client may have left before the end.
    fn stream(&self, body: &str) -> Result<usize, String> {
        let events = body.split("\n\n").filter_map(|event| event.lines().find_map(|line| line.strip_prefix("data:")));
        let mut frames = Vec::new();
        // What came last may have been cut off where the client has left.
        let whole = body.matches("\n\n").count();
        for event in events.take(whole) {
            frames.push(parsed(event)?);
        }
        for (at, frame) in frames.iter().enumerate() {
            if frame.get("method").is_some() {
                self.notification(frame)?;
                continue;
            }
            self.answer(frame)?;
            let result = &frame["result"];
            let is_task = match self.spoken {
                WireVersion::V1 => result["task"].is_object(),
                WireVersion::V03 => result["kind"] == "task",
            };
            let is_message = result["message"].is_object() || result["kind"] == "message";
            if is_message && frames.len() > 1 {
                return Err(format!("a message is not alone in its stream: {frame}"));
            }
            if at == 0 && frame.get("error").is_none() && !is_task && !is_message {
                return Err(format!("the first frame is no task: {frame}"));
            }
            if at > 0 && is_task {
                return Err(format!("the task comes a second time: {frame}"));
            }
            let later = frames[at + 1..].iter().any(|frame| frame.get("method").is_none());
            if result["final"] == true && later {
                return Err(format!("something comes behind the last frame {frame}"));
            }
        }
        Ok(frames.len())
    }

    fn notification(&self, frame: &Value) -> Result<(), String> {
        if !self.notices {
            return Err(format!("a notification for somebody who has not asked for any: {frame}"));
        }
        has(frame, &["jsonrpc", "method", "params"])?;
        if frame["jsonrpc"] != "2.0" {
            return Err("`jsonrpc` is not \"2.0\"".to_owned());
        }
        let definition = NOTIFICATIONS.iter().find(|(method, _)| frame["method"] == *method);
        let (_, definition) = definition.ok_or_else(|| format!("no notification of ours: {frame}"))?;
        expect(ours().problem(definition, &frame["params"]))
    }

    /// An answer, or a frame of a stream that is one.
    fn answer(&self, answer: &Value) -> Result<(), String> {
        if answer["jsonrpc"] != "2.0" {
            return Err("`jsonrpc` is not \"2.0\"".to_owned());
        }
        let is_error = answer.get("error").is_some();
        has(answer, &["jsonrpc", "id", if is_error { "error" } else { "result" }])?;
        let is_its = self.id.as_ref().is_none_or(|id| answer["id"] == *id);
        if !(is_its || is_error && answer["id"].is_null()) {
            return Err(format!("the id is {}, not {:?}", answer["id"], self.id));
        }
        if is_error { self.error(&answer["error"]) } else { self.result(&answer["result"]) }
    }

    fn result(&self, result: &Value) -> Result<(), String> {
        if let Some((_, definition)) = OURS.iter().find(|(method, _)| *method == self.method) {
            return expect(ours().problem(definition, result));
        }
        let method = METHODS.iter().find(|(names, _)| names.contains(&self.method.as_str()));
        let (_, types) = method.ok_or_else(|| format!("`{}` has a result", self.method))?;
        match self.spoken {
            WireVersion::V1 => expect(Types::V1.problem(types[0], result))?,
            WireVersion::V03 if types[1] == PAGE => page(result)?,
            // What is sent may be answered with a message in place of a task.
            WireVersion::V03 if types[0] == "SendMessageResponse" && result["kind"] == "message" => {
                expect(Types::V03.problem("Message", result))?;
            }
            WireVersion::V03 => expect(Types::V03.problem(types[1], result))?,
        }
        // What a caller has said in its own metadata is given back as it was; this is ours.
        let update = match self.spoken {
            WireVersion::V1 => result.get("statusUpdate"),
            WireVersion::V03 => Some(result).filter(|result| result["kind"] == "status-update"),
        };
        match update.and_then(|update| update.get("metadata")) {
            Some(metadata) => expect(ours().problem("Metadata", metadata)),
            None => Ok(()),
        }
    }

    fn is_ours(&self) -> bool {
        OURS.iter().any(|(method, _)| *method == self.method)
    }

    fn error(&self, error: &Value) -> Result<(), String> {
        expect(ours().problem("Error", error))?;
        let message = error["message"].as_str().unwrap_or_default();
        if message.trim() != message || message.is_empty() || message.contains('\n') {
            return Err(format!("`message` is no sentence: {message:?}"));
        }
        match (&error["data"], self.spoken) {
            // Those of the extension have details in all versions, as its draft does.
            (Value::Array(details), spoken) if spoken == WireVersion::V1 || self.is_ours() => {
                for detail in details {
                    expect(ours().problem("ErrorInfo", detail))?;
                    expect(Types::V1.problem("ErrorInfo", &without(detail, &["@type"])))?;
                }
                Ok(())
            }
            (data, WireVersion::V1) => Err(format!("`data` is no list of details: {data}")),
            (data, _) => {
                let answer = json!({"jsonrpc": "2.0", "id": 1, "error": error});
                expect(Types::V03.problem("JSONRPCErrorResponse", &answer))?;
                expect(ours().problem("ErrorData", data))
            }
        }
    }
}

/// A page of tasks in version 0.3, which has no such method by itself.
fn page(result: &Value) -> Result<(), String> {
    for task in result["tasks"].as_array().into_iter().flatten() {
        expect(Types::V03.problem("Task", task))?;
    }
    expect(ours().problem(PAGE, result))
}

fn has(frame: &Value, keys: &[&str]) -> Result<(), String> {
    let there = frame.as_object().ok_or("a frame is an object")?;
    let fits = there.len() == keys.len() && keys.iter().all(|key| there.contains_key(*key));
    if fits { Ok(()) } else { Err(format!("its keys are not {keys:?}: {frame}")) }
}
