//! Bodies of requests: text, bytes, JSON, forms, and forms with files.

use super::query::query_of;
use crate::options::{FormPart, HttpOptions};
use lang::builtins::json_text;
use lang::value::{Value, article};
use lang::vm::{Cx, Raise, RunCode};
use std::borrow::Cow;

/// A body and its type.
type TypedBody = (Vec<u8>, Cow<'static, str>);

fn typed(body: Vec<u8>, kind: &'static str) -> TypedBody {
    (body, Cow::Borrowed(kind))
}

/// Returns the body of an argument, or of an option in another argument.
pub(crate) fn body_of(
    cx: &Cx<'_>,
    argument: Option<(usize, &Value)>,
    (at, options): (usize, &HttpOptions),
) -> Result<Option<TypedBody>, Box<Raise>> {
    let json = |value: &Value, at: usize| -> Result<TypedBody, Box<Raise>> {
        let json = json_text(value).map_err(|raise| raise.about(at, "this value cannot be sent as a body"))?;
        Ok(typed(json.into_bytes(), "application/json"))
    };
    let mut bodies = Vec::new();
    match argument {
        None | Some((_, Value::Nil)) => {}
        Some((_, Value::Str(text))) => bodies.push(typed(text.as_bytes().to_vec(), "text/plain; charset=utf-8")),
        Some((_, Value::Bytes(bytes))) => bodies.push(typed(bytes.to_vec(), "application/octet-stream")),
        Some((at, value)) => bodies.push(json(value, at)?),
    }
    match &options.form {
        None => {}
        Some(Value::Dict(values)) => {
            let form = query_of(cx, at, &values.dict)?;
            bodies.push(typed(form.into_bytes(), "application/x-www-form-urlencoded"));
        }
        Some(other) => {
            let message = format!("`form` must be a dict, found {}", article(other.type_name()));
            return Err(Raise::error(RunCode::Type, message).about(at, "invalid `form`"));
        }
    }
    if let Some(value) = &options.json {
        bodies.push(json(value, at)?);
    }
    if let Some(parts) = &options.multipart {
        bodies.push(multipart(cx, parts)?);
    }
    if bodies.len() > 1 {
        let message = "a request has one body: pass the argument, `form`, `json` or `multipart`";
        return Err(Raise::error(RunCode::Value, message).about(at, ""));
    }
    Ok(bodies.pop())
}

/// Writes a form as RFC 7578 says.
fn multipart(cx: &Cx<'_>, parts: &[FormPart]) -> Result<TypedBody, Box<Raise>> {
    let host = cx.isolate.host();
    let boundary = format!("harn-{:016x}{:016x}", host.random(), host.random());
    let length: usize = parts.iter().map(|part| part.content.len() + part.name.len() + 256).sum();
    cx.charge(length, 8);
    cx.check_copy(length)?;
    let mut body = Vec::with_capacity(length);
    for part in parts {
        let mut head = format!("--{boundary}\r\ncontent-disposition: form-data; name=\"{}\"", quoted(&part.name));
        if let Some(filename) = &part.filename {
            head.push_str(&format!("; filename=\"{}\"", quoted(filename)));
        }
        if let Some(kind) = &part.kind {
            head.push_str(&format!("\r\ncontent-type: {kind}"));
        }
        head.push_str("\r\n\r\n");
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(&part.content);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    Ok((body, Cow::Owned(format!("multipart/form-data; boundary={boundary}"))))
}

/// Returns a name as browsers write it.
fn quoted(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}
