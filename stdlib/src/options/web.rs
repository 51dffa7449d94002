//! Options of requests over HTTP.

use super::{Count, Headers, Ms, Nested, OptionKind, OptionPlace, Raw, Text, Word};
use crate::cookies::CookieJarValue;
use lang::value::{Dict, Value, article, display};
use lang::vm::{Raise, RunCode};
use providers::web::CookieJar;
use std::cell::RefCell;
use std::rc::Rc;

options! {
    /// Options of all requests over HTTP.
    HttpBaseOptions {
        headers: Headers = {}, "Additional headers.";
        timeout_ms: Ms = 30000, "Timeout of the request, in milliseconds.";
        query: Raw as "dict", "Values that are added to the query of the URL.";
        retries: Count<u32> = 0, "Number of further attempts after a lost connection, a timeout, or a status of 429, 502, 503 or 504.";
        cookies: CookieSource as "dict", "Cookies: a jar of `cookie_jar()`, which keeps those of the responses, or a dict for this request.";
    }

    /// Options of `http_get`, `http_post` and the other methods.
    HttpOptions (base: HttpBaseOptions) {
        form: Raw as "dict", "Values that are sent as a form.";
        json: Raw, "A value that is sent as JSON, also if it is a string.";
        multipart: FormParts, "Values that are sent as a form with files: strings, bytes, and dicts with `content`, `filename` and `type`.";
        stream: Word<BodyForm>, "Whether `body` is a stream that is read as it comes, and of what. Default: all of the body.";
    }

    /// Options of `http_paginate`.
    HttpPageOptions (base: HttpBaseOptions) {
        items: Text, "The field of a page with the items, such as `\"data.items\"`. Default: the page is the list.";
        cursor: Text, "The field of a page with the cursor or the URL of the next page. Default: the `Link` header.";
        cursor_param: Text = "cursor", "The name of the cursor in the query.";
        page: Text, "The name of the page's number in the query. Pages are read until one is empty.";
        first_page: Count = 1, "The number of the first page.";
        max_pages: Count = 1000, "Number of pages after which it is an error that more follow.";
    }

    /// A file in a form.
    FormFile {
        content: Raw as "string | bytes" = required, "The content.";
        filename: Text, "The name of the file.";
        r#type: Text, "The type of the content. Default: `application/octet-stream` if there is a `filename`.";
    }

    /// An answer of the mock of HTTP.
    HttpMockReply {
        status: Count<u16> = 200, "The status.";
        headers: Raw as "dict", "The headers. One with a list comes several times.";
        body: Raw as "string | bytes", "The body. Default: empty.";
        json: Raw, "A value that is the body as JSON.";
        error: Word<MockFailure>, "A failure in place of an answer.";
        delay_ms: Ms = 0, "Delay of the answer, in milliseconds of the run's clock.";
    }
}

option_words! {
    /// Items of a body that is read as it comes.
    BodyForm {
        Lines = "lines",
        Bytes = "bytes",
    }

    /// Failures of a request without an answer.
    MockFailure {
        Connection = "connection",
        Timeout = "timeout",
        TooLarge = "too_large",
    }
}

/// A jar of cookies, or cookies.
pub(crate) struct CookieSource;

/// The cookies of a request.
pub(crate) enum RequestCookies {
    /// The cookies of a jar.
    Jar(Rc<RefCell<CookieJar>>),
    /// The text of their header.
    Header(String),
}

impl RequestCookies {
    /// Returns the jar, or adds the header.
    pub(crate) fn jar_or_header(self, headers: &mut Vec<(String, String)>) -> Option<Rc<RefCell<CookieJar>>> {
        match self {
            Self::Jar(jar) => return Some(jar),
            Self::Header(header) if header.is_empty() => {}
            Self::Header(header) => headers.push(("cookie".to_owned(), header)),
        }
        None
    }
}

impl OptionKind for CookieSource {
    const TYPE: &'static str = "dict | cookie_jar";
    type Out = RequestCookies;

    fn read(at: &OptionPlace<'_, '_>, value: &Value) -> Result<RequestCookies, Box<Raise>> {
        if let Some(jar) = value.as_host::<CookieJarValue>() {
            return Ok(RequestCookies::Jar(jar.jar.clone()));
        }
        let cookies = value.as_dict().ok_or_else(|| at.wrong("a dict or a cookie jar", value))?;
        let pair = |(name, value): (&lang::value::Str, &Value)| match value {
            Value::Str(_) | Value::Int(_) => {
                let value = display(value);
                if name.contains(['=', ';']) || value.contains(';') {
                    let message = format!("the cookie `{}` has a name or value with `;` or `=`", name.as_str());
                    return Err(at.about(Raise::error(RunCode::Value, message)));
                }
                Ok(format!("{}={value}", name.as_str()))
            }
            other => {
                let found = article(other.type_name());
                let message = format!("the cookie `{}` must be a string, not {found}", name.as_str());
                Err(at.about(Raise::error(RunCode::Type, message)))
            }
        };
        let pairs = cookies.iter().map(pair).collect::<Result<Vec<_>, _>>()?;
        Ok(RequestCookies::Header(pairs.join("; ")))
    }
}

/// A part of a form with files.
pub(crate) struct FormPart {
    pub(crate) name: String,
    pub(crate) filename: Option<String>,
    /// The type of the content.
    pub(crate) kind: Option<String>,
    pub(crate) content: Vec<u8>,
}

/// Parts of a form with files.
pub(crate) struct FormParts;

impl OptionKind for FormParts {
    const TYPE: &'static str = "dict";
    type Out = Vec<FormPart>;

    fn read(at: &OptionPlace<'_, '_>, value: &Value) -> Result<Vec<FormPart>, Box<Raise>> {
        let dict: &Dict = value.as_dict().ok_or_else(|| at.wrong("a dict", value))?;
        let mut parts = Vec::new();
        for (name, value) in dict.iter() {
            match value {
                Value::Nil => {}
                Value::List(several) => {
                    for value in &several.items {
                        parts.push(form_part(at, name, value)?);
                    }
                }
                value => parts.push(form_part(at, name, value)?),
            }
        }
        Ok(parts)
    }
}

fn form_part(at: &OptionPlace<'_, '_>, name: &str, value: &Value) -> Result<FormPart, Box<Raise>> {
    let part = |content: &[u8], filename: Option<&str>, kind: Option<&str>| -> Result<FormPart, Box<Raise>> {
        at.cx.check_copy(content.len())?;
        at.cx.charge_part(content.len(), 16);
        let kind = kind.or(filename.map(|_| "application/octet-stream"));
        if kind.is_some_and(|kind| !kind.bytes().all(|byte| (b' '..=b'~').contains(&byte))) {
            return Err(at.about(Raise::error(RunCode::Value, format!("the type of `{name}` is not ASCII text"))));
        }
        Ok(FormPart {
            name: name.to_owned(),
            filename: filename.map(str::to_owned),
            kind: kind.map(str::to_owned),
            content: content.to_vec(),
        })
    };
    match value {
        Value::Str(text) => part(text.as_bytes(), None, None),
        Value::Bytes(bytes) => part(bytes, Some(name), None),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) => part(display(value).as_bytes(), None, None),
        Value::Dict(_) => {
            let within = at.path();
            let place = OptionPlace { cx: at.cx, arg: at.arg, within: &within, key: name };
            let file = Nested::<FormFile>::read(&place, value)?;
            match &file.content {
                Value::Str(text) => part(text.as_bytes(), file.filename.as_deref(), file.r#type.as_deref()),
                Value::Bytes(bytes) => part(bytes, file.filename.as_deref(), file.r#type.as_deref()),
                other => Err(place.wrong("a dict whose `content` is a string or bytes", other)),
            }
        }
        other => {
            let message = format!("cannot send {} in a form", article(other.type_name()));
            Err(at
                .about(Raise::error(RunCode::Type, message))
                .help("make text of it first, such as `json_stringify(x)`"))
        }
    }
}
