//! The REST binding of version 1.0 of the Agent2Agent protocol: paths and queries as requests, and errors as statuses.

use axum::http::{Method, StatusCode};
use base::data::Data;
use percent_encoding::percent_decode_str;

use crate::a2a::{A2aCode, A2aMethod, RpcError, code};

/// A request by its path.
#[derive(Debug, PartialEq)]
pub(super) struct RestRequest {
    pub(super) method: A2aMethod,
    /// The parameters in the path and the query; nil if they are the body.
    pub(super) params: Data,
    /// Whether the body has the parameters.
    pub(super) has_body: bool,
}

/// The paths of the binding.
pub(super) const PATHS: [&str; 5] = ["/message:send", "/message:stream", "/tasks", "/extendedAgentCard", "/tasks/*"];

/// Returns whether a path belongs to the binding.
pub(super) fn is_path(path: &str) -> bool {
    PATHS.contains(&path) || path.starts_with("/tasks/")
}

/// Reads the path and the query of a request.
///
/// # Errors
/// The methods that the path allows, or the error of an invalid path or query.
pub(super) fn read(method: &Method, path: &str, query: Option<&str>) -> Result<RestRequest, RestError> {
    let (get, post) = (*method == Method::GET, *method == Method::POST);
    let body = |method| Ok(RestRequest { method, params: Data::Nil, has_body: true });
    let plain = |method, params| Ok(RestRequest { method, params, has_body: false });
    let allow = |allowed| Err(RestError::Method(allowed));
    match path {
        "/message:send" if post => return body(A2aMethod::Send),
        "/message:stream" if post => return body(A2aMethod::Stream),
        "/message:send" | "/message:stream" => return allow("POST"),
        "/tasks" if get => return plain(A2aMethod::List, parameters(query, Data::empty_dict())?),
        "/extendedAgentCard" if get => return plain(A2aMethod::ExtendedCard, Data::Nil),
        "/tasks" | "/extendedAgentCard" => return allow("GET"),
        _ => {}
    }
    let rest = path.strip_prefix("/tasks/").unwrap_or_default();
    if rest.contains('/') {
        // Only push notifications have such paths.
        return plain(A2aMethod::Push, Data::Nil);
    }
    let (id, action) = rest.rsplit_once(':').map_or((rest, ""), |(id, action)| (id, action));
    let id =
        percent_decode_str(id).decode_utf8().map_err(|_| RestError::Invalid(invalid("id", "the id is not UTF-8")))?;
    let named = Data::dict([("id", Data::from(id.as_ref()))]);
    match action {
        "" if get => plain(A2aMethod::Get, parameters(query, named)?),
        "" => allow("GET"),
        "cancel" if post => plain(A2aMethod::Cancel, named),
        "cancel" => allow("POST"),
        "subscribe" if get || post => plain(A2aMethod::Subscribe, named),
        "subscribe" => allow("GET, POST"),
        _ => Err(RestError::Unknown),
    }
}

/// The reason that a request has no meaning.
#[derive(Debug, PartialEq)]
pub(super) enum RestError {
    /// Unknown path.
    Unknown,
    /// Another method; these are allowed.
    Method(&'static str),
    /// Invalid path or query.
    Invalid(RpcError),
}

/// Adds the parameters of a query. Numbers and truth values are read as such.
fn parameters(query: Option<&str>, mut params: Data) -> Result<Data, RestError> {
    for pair in query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let value = value.replace('+', " ");
        let value = percent_decode_str(&value).decode_utf8();
        let value = value.map_err(|_| RestError::Invalid(invalid(name, "the value is not UTF-8")))?;
        let data = match name {
            "historyLength" | "pageSize" => {
                let number = value.parse::<i64>();
                Data::from(number.map_err(|_| RestError::Invalid(invalid(name, "the value is not a number")))?)
            }
            "includeArtifacts" => match value.as_ref() {
                "true" => Data::from(true),
                "false" => Data::from(false),
                _ => return Err(RestError::Invalid(invalid(name, "the value is not `true` or `false`"))),
            },
            "contextId" | "status" | "pageToken" | "statusTimestampAfter" => Data::from(value.as_ref()),
            // That of the version, and those of later versions.
            _ => continue,
        };
        params.set(name, data);
    }
    Ok(params)
}

fn invalid(field: &str, why: &str) -> RpcError {
    let field = crate::a2a::shortened(field);
    RpcError::new(code::PARAMS, A2aCode::Params, format!("invalid query parameter `{field}`: {why}")).field(&field)
}

/// Returns an error as a status and the JSON of `google.rpc.Status`, as version 1.0 requires.
pub(super) fn refused(fault: &RpcError) -> (StatusCode, String) {
    let (status, word) = match fault.rpc() {
        code::UNKNOWN_TASK | code::METHOD => (StatusCode::NOT_FOUND, "NOT_FOUND"),
        code::NOT_CANCELABLE => (StatusCode::CONFLICT, "FAILED_PRECONDITION"),
        code::UNSUPPORTED
        | code::NO_PUSH
        | code::NO_EXTENDED_CARD
        | code::VERSION
        | code::REQUEST
        | code::NOT_JSON
        | code::PARAMS => (StatusCode::BAD_REQUEST, "INVALID_ARGUMENT"),
        code::CONTENT_TYPE => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "INVALID_ARGUMENT"),
        code::SERVER => match fault.word() {
            "unauthenticated" => (StatusCode::UNAUTHORIZED, "UNAUTHENTICATED"),
            "permission_denied" => (StatusCode::FORBIDDEN, "PERMISSION_DENIED"),
            "unavailable" => (StatusCode::SERVICE_UNAVAILABLE, "UNAVAILABLE"),
            _ => (StatusCode::TOO_MANY_REQUESTS, "RESOURCE_EXHAUSTED"),
        },
        _ => (StatusCode::INTERNAL_SERVER_ERROR, "INTERNAL"),
    };
    (status, status_of(status, word, fault))
}

/// Returns the JSON of `google.rpc.Status` for a body that could not be read.
pub(super) fn unread(status: StatusCode, fault: &RpcError) -> String {
    let word = match status {
        StatusCode::PAYLOAD_TOO_LARGE => "RESOURCE_EXHAUSTED",
        StatusCode::REQUEST_TIMEOUT => "DEADLINE_EXCEEDED",
        _ => "INVALID_ARGUMENT",
    };
    status_of(status, word, fault)
}

fn status_of(status: StatusCode, word: &str, fault: &RpcError) -> String {
    let data = fault.to_data(a2a::Version::V1_0);
    let error = Data::dict([
        ("code", Data::from(i64::from(status.as_u16()))),
        ("status", word.into()),
        ("message", data.get("message").clone()),
        ("details", data.get("data").clone()),
    ]);
    Data::dict([("error", error)]).to_json()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Data {
        Data::from_json(text).unwrap()
    }

    #[test]
    fn paths_are_methods() {
        let read = |method: Method, path: &str, query: Option<&str>| read(&method, path, query);
        for (method, path, expected) in
            [(Method::POST, "/message:send", A2aMethod::Send), (Method::POST, "/message:stream", A2aMethod::Stream)]
        {
            assert_eq!(
                read(method, path, None).unwrap(),
                RestRequest { method: expected, params: Data::Nil, has_body: true }
            );
        }
        let query = Some("historyLength=2&A2A-Version=1.0&unknown=x");
        let get = read(Method::GET, "/tasks/t%2F1", query).unwrap();
        assert_eq!((get.method, get.params), (A2aMethod::Get, json(r#"{"id": "t/1", "historyLength": 2}"#)));
        let cancel = read(Method::POST, "/tasks/a:b:cancel", None).unwrap();
        assert_eq!((cancel.method, cancel.params), (A2aMethod::Cancel, json(r#"{"id": "a:b"}"#)));
        let query = Some("contextId=a+b&pageSize=3&includeArtifacts=true&status=TASK_STATE_WORKING");
        let list = read(Method::GET, "/tasks", query).unwrap();
        let expected =
            json(r#"{"contextId": "a b", "pageSize": 3, "includeArtifacts": true, "status": "TASK_STATE_WORKING"}"#);
        assert_eq!((list.method, list.params), (A2aMethod::List, expected));
    }

    #[test]
    fn other_paths_and_methods_are_refused() {
        for (method, path, expected) in [
            (Method::GET, "/message:send", RestError::Method("POST")),
            (Method::DELETE, "/tasks/t", RestError::Method("GET")),
            (Method::GET, "/tasks/t:cancel", RestError::Method("POST")),
            (Method::GET, "/tasks/t:frobnicate", RestError::Unknown),
        ] {
            assert_eq!(read(&method, path, None), Err(expected), "{path}");
        }
        for query in ["pageSize=x", "includeArtifacts=1", "contextId=%ff"] {
            assert!(matches!(read(&Method::GET, "/tasks", Some(query)), Err(RestError::Invalid(_))), "{query}");
        }
    }

    #[test]
    fn an_error_has_the_status_of_its_code() {
        let (status, text) = refused(&RpcError::new(code::UNKNOWN_TASK, A2aCode::UnknownTask, "task not found: `t`"));
        let error = json(&text);
        assert_eq!((status, error.at("error.status").as_str()), (StatusCode::NOT_FOUND, Some("NOT_FOUND")));
        assert_eq!(error.at("error.code").as_int(), Some(404));
        let details = error.at("error.details").as_list().unwrap();
        assert_eq!(details[0].get("reason").as_str(), Some("TASK_NOT_FOUND"), "{text}");
    }
}
