//! The frames that the agent may send, by the JSON Schemas of npm `@agentclientprotocol/sdk`, read
//! strictly: there a response may be anything, since extensions may be, and unknown keys are
//! allowed. Here a response must be that of its method, and outside of `_meta` only keys of the
//! schema are allowed.

use super::ours;
use crate::packages::node;
use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::fs;
use std::sync::OnceLock;

/// The package that the schemas and the Node client come from.
pub(super) const SDK: [&str; 2] = ["@agentclientprotocol/sdk@2.4.0", "zod@4.6.7"];

/// The definitions of the answers by method.
const RESPONSES: [(&str, &str); 10] = [
    ("initialize", "InitializeResponse"),
    ("authenticate", "AuthenticateResponse"),
    ("session/new", "NewSessionResponse"),
    ("session/load", "LoadSessionResponse"),
    ("session/list", "ListSessionsResponse"),
    ("session/resume", "ResumeSessionResponse"),
    ("session/close", "CloseSessionResponse"),
    ("session/set_mode", "SetSessionModeResponse"),
    ("session/prompt", "PromptResponse"),
    ("session/request_permission", "RequestPermissionResponse"),
];

const NAME: &str = "http://acp/strict.json";

/// The compiled schemas.
pub(super) struct Protocol {
    schemas: Schemas,
    compiled: HashMap<String, SchemaIndex>,
}

/// The one of the process, made when it is first wanted.
pub(super) fn protocol() -> &'static Protocol {
    static ONE: OnceLock<Protocol> = OnceLock::new();
    ONE.get_or_init(Protocol::read)
}

impl Protocol {
    fn read() -> Protocol {
        let file = node("acp-node", &SDK).join("@agentclientprotocol/sdk/schema/v1/schema.json");
        let mut schema: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
        ours::extend(&mut schema["$defs"]);
        let strict = json!({"$schema": schema["$schema"], "$defs": strict(&schema["$defs"])});
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        compiler.add_resource(NAME, strict.clone()).unwrap();
        let mut compiled = HashMap::new();
        for name in strict["$defs"].as_object().unwrap().keys().filter(|name| !name.ends_with(".open")) {
            let index = compiler.compile(&format!("{NAME}#/$defs/{name}"), &mut schemas);
            compiled.insert(name.clone(), index.unwrap_or_else(|error| panic!("{name}: {error}")));
        }
        Protocol { schemas, compiled }
    }

    /// Returns the problem of a frame of the agent; `method` is the one that the frame answers, if
    /// it is an answer.
    pub(super) fn problem(&self, frame: &Value, method: Option<&str>) -> Option<String> {
        self.check(frame, method).err().map(|problem| {
            let mut shown = frame.to_string();
            if shown.len() > 2000 {
                let end = (0..2000).rev().find(|at| shown.is_char_boundary(*at)).unwrap_or(0);
                shown.truncate(end);
            }
            format!("{problem}\n  in {shown}")
        })
    }

    fn check(&self, frame: &Value, answered: Option<&str>) -> Result<(), String> {
        let fields = frame.as_object().ok_or("a frame is an object")?;
        if fields.get("jsonrpc") != Some(&json!("2.0")) {
            return Err("`jsonrpc` is not \"2.0\"".to_owned());
        }
        let keys: Vec<&str> = fields.keys().map(String::as_str).filter(|key| *key != "jsonrpc").collect();
        let has = |wanted: &[&str]| keys.len() == wanted.len() && wanted.iter().all(|key| keys.contains(key));
        let method = fields.get("method").and_then(Value::as_str);
        if has(&["id", "error"]) {
            self.valid("RequestId", &frame["id"])?;
            self.valid("Error", &frame["error"])?;
            self.valid("harn.Error", &frame["error"])?;
            return ours::error(&frame["error"]);
        }
        if has(&["id", "result"]) {
            self.valid("RequestId", &frame["id"])?;
            let method = answered.ok_or("nobody has asked for this answer")?;
            let method = method.strip_prefix('_').filter(|_| !method.starts_with("__")).unwrap_or(method);
            let definition = RESPONSES.iter().chain(&ours::RESPONSES).find(|(of, _)| *of == method);
            let (_, definition) = definition.ok_or_else(|| format!("`{method}` has no answer that is known"))?;
            return self.valid(definition, &frame["result"]);
        }
        match method {
            Some("session/update") if has(&["method", "params"]) => self.valid("SessionNotification", &frame["params"]),
            Some("session/request_permission") if has(&["id", "method", "params"]) => {
                self.valid("RequestId", &frame["id"])?;
                self.valid("RequestPermissionRequest", &frame["params"])
            }
            Some("$/cancel_request") if has(&["method", "params"]) => {
                self.valid("CancelRequestNotification", &frame["params"])
            }
            Some(method) => Err(format!("`{method}` is no notification of the agent")),
            _ => Err(format!("neither an answer nor a notification nor a question: {keys:?}")),
        }
    }

    /// Whether a value is what a definition says.
    fn valid(&self, definition: &str, value: &Value) -> Result<(), String> {
        let index = self.compiled.get(definition).ok_or_else(|| format!("no definition `{definition}`"))?;
        self.schemas.validate(value, *index).map_err(|error| format!("no {definition}: {error:#}"))
    }
}

/// Each definition twice: closed, and as `NAME.open` for where it is one of several that describe the same value.
fn strict(definitions: &Value) -> Value {
    let all = definitions.as_object().unwrap();
    let mut strict = Map::new();
    for (name, definition) in all {
        strict.insert(name.clone(), rewritten(definition, true, all));
        strict.insert(format!("{name}.open"), rewritten(definition, false, all));
    }
    Value::Object(strict)
}

/// A schema in which nothing is let through that is not named; `closed` is whether it is the whole of what is said of its value.
fn rewritten(schema: &Value, closed: bool, all: &Map<String, Value>) -> Value {
    let Value::Object(fields) = schema else { return schema.clone() };
    let mut strict = Map::new();
    for (key, value) in fields {
        let value = match (key.as_str(), value) {
            ("properties", Value::Object(of)) => {
                of.iter().map(|(name, of)| (name.clone(), rewritten(of, true, all))).collect()
            }
            ("items" | "additionalProperties", of) => rewritten(of, true, all),
            ("allOf" | "anyOf" | "oneOf", Value::Array(of)) => {
                of.iter().map(|of| rewritten(of, false, all)).collect::<Vec<_>>().into()
            }
            ("$ref", Value::String(to)) => format!("{to}.open").into(),
            _ => value.clone(),
        };
        strict.insert(key.clone(), value);
    }
    if closed && !fields.contains_key("additionalProperties") && names_properties(schema, all, 0) {
        strict.insert("unevaluatedProperties".to_owned(), false.into());
    }
    Value::Object(strict)
}

fn names_properties(schema: &Value, all: &Map<String, Value>, depth: usize) -> bool {
    let of = |key: &str| schema[key].as_array().map(Vec::as_slice).unwrap_or_default();
    depth < 32
        && (schema.get("properties").is_some()
            || ["allOf", "anyOf", "oneOf"]
                .iter()
                .any(|key| of(key).iter().any(|of| names_properties(of, all, depth + 1)))
            || schema["$ref"]
                .as_str()
                .and_then(|to| all.get(to.trim_start_matches("#/$defs/")))
                .is_some_and(|to| names_properties(to, all, depth + 1)))
}
