//! URLs and their queries.

use crate::http::{append_query, query_of, query_pairs, shown_name};
use crate::options::{OptionSet, UrlParts};
use lang::builtins::args;
use lang::value::Value;
use lang::vm::{Cx, Meter, Raise, RunCode, Stopped};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use url::Url;

lang::builtins! { "" =>
    /// Takes a URL apart: `{scheme, host, port, path, query, fragment, username, password}`. `query` is a dict, in which a name that
    /// occurs several times has a list. A missing part is nil, or empty.
    ///
    /// ```harn
    /// let u = url_parse("https://example.com:8080/a%20b?q=x&tag=1&tag=2#top")
    /// [u.scheme, u.host, u.port, u.path, u.fragment] // => ["https", "example.com", 8080, "/a%20b", "top"]
    /// u.query // => {q: "x", tag: ["1", "2"]}
    /// url_parse("example.com") // => error: cannot parse "example.com" as a URL: relative URL without a base
    /// ```
    plain "url_parse(url: string) -> {scheme: string, host: string?, port: int?, path: string, query: dict, fragment: string?, username: string, password: string?}" url_parse;
    /// Builds a URL of the parts that `url_parse` returns, or changes an address: `base` with `path`, `query` and `fragment`. The
    /// query of a base is kept.
    ///
    /// ```harn
    /// url_build({scheme: "https", host: "example.com", path: "/search", query: {q: "a b"}}) // => "https://example.com/search?q=a+b"
    /// url_build({base: "https://example.com/v1/", path: "items", query: {page: 2}}) // => "https://example.com/v1/items?page=2"
    /// ```
    plain "url_build(parts: {base?: string, scheme?: string, host?: string, port?: int, path?: string, query?: dict, fragment?: string, username?: string, password?: string}) -> string" url_build;
    /// Joins an address with a relative one, as a browser follows a link.
    ///
    /// ```harn
    /// url_join("https://example.com/docs/a.html", "../img/b.png") // => "https://example.com/img/b.png"
    /// ```
    plain "url_join(base: string, url: string) -> string" url_join;
    /// Encodes text for a part of a URL: all but letters, digits and `-_.~` become `%` and their bytes.
    ///
    /// ```harn
    /// url_encode("a b/ü") // => "a%20b%2F%C3%BC"
    /// ```
    plain "url_encode(text: string) -> string" url_encode;
    /// Decodes the text of a part of a URL. In a query, `+` stands for a space: `query_parse` decodes it.
    ///
    /// ```harn
    /// url_decode("a%20b%2F%C3%BC") // => "a b/ü"
    /// ```
    plain "url_decode(text: string) -> string" url_decode;
    /// Writes a dict as the query of a URL. A list is written once for each element, and nil is omitted.
    ///
    /// ```harn
    /// query_encode({q: "a b&c", tag: [1, 2], none: nil}) // => "q=a+b%26c&tag=1&tag=2"
    /// ```
    plain "query_encode(values: dict) -> string" query_encode;
    /// Parses the query of a URL. A name that occurs several times has a list.
    ///
    /// ```harn
    /// query_parse("?q=a+b&tag=1&tag=2") // => {q: "a b", tag: ["1", "2"]}
    /// ```
    plain "query_parse(text: string) -> dict" query_parse;
}

/// Characters that RFC 3986 reserves or does not allow.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Bytes of the longest URL.
const LONGEST: usize = 1 << 20;

fn invalid(argument: usize, message: String) -> Box<Raise> {
    Raise::error(RunCode::Value, message).about(argument, "")
}

fn parsed(cx: &Cx<'_>, argument: usize, text: &str) -> Result<Url, Box<Raise>> {
    cx.charge(text.len(), 2);
    if text.len() > LONGEST {
        return Err(invalid(argument, format!("a URL has at most {LONGEST} bytes")));
    }
    Url::parse(text).map_err(|error| {
        invalid(argument, format!("cannot parse {} as a URL: {error}", shown_name(text)))
            .help("write the full URL: `https://example.com/path`")
    })
}

fn url_parse(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let url = parsed(cx, 0, args::str(args, 0)?)?;
    let text = |text: Option<&str>| text.map_or(Value::Nil, Value::str);
    Ok(Value::record([
        ("scheme", Value::str(url.scheme())),
        ("host", text(url.host_str())),
        ("port", url.port().map_or(Value::Nil, |port| Value::Int(port.into()))),
        ("path", Value::str(url.path())),
        ("query", values_of(cx, url.query().unwrap_or(""))?),
        ("fragment", text(url.fragment())),
        ("username", Value::str(url.username())),
        ("password", text(url.password())),
    ]))
}

fn values_of(cx: &Cx<'_>, query: &str) -> Result<Value, Box<Raise>> {
    // Values are larger than their texts.
    cx.check_room(query.len().saturating_mul(4))?;
    cx.charge(query.len(), 2);
    let mut meter = Meter::start();
    query_pairs(query, || meter.step().map_err(Stopped::raise))
}

fn query_encode(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    query_of(cx, 0, args::dict(args, 0)?).map(Value::from)
}

fn query_parse(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let text = args::str(args, 0)?;
    values_of(cx, text.strip_prefix('?').unwrap_or(text))
}

fn url_build(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    args::dict(args, 0)?;
    let parts = UrlParts::read(cx, args, 0)?;
    let mut url = match &parts.base {
        Some(base) => parsed(cx, 0, base)?,
        None => {
            let scheme = parts.scheme.as_deref().unwrap_or("https");
            let host = parts.host.as_deref().ok_or_else(|| invalid(0, "missing `host` or `base`".to_owned()))?;
            parsed(cx, 0, &format!("{scheme}://{host}"))?
        }
    };
    let unfit = |part: &str| invalid(0, format!("this URL cannot have a `{part}`"));
    if let Some(scheme) = &parts.scheme {
        url.set_scheme(scheme).map_err(|()| unfit("scheme"))?;
    }
    if let Some(host) = &parts.host {
        url.set_host(Some(host)).map_err(|error| invalid(0, format!("invalid host {}: {error}", shown_name(host))))?;
    }
    if let Some(port) = parts.port {
        url.set_port(Some(port)).map_err(|()| unfit("port"))?;
    }
    if let Some(name) = &parts.username {
        url.set_username(name).map_err(|()| unfit("username"))?;
    }
    if let Some(password) = &parts.password {
        url.set_password(Some(password)).map_err(|()| unfit("password"))?;
    }
    if let Some(path) = &parts.path {
        cx.check_size(path.len().checked_mul(3))?;
        // A relative path follows the one of the base, as a folder.
        match path.strip_prefix('/') {
            Some(_) => url.set_path(path),
            None => url.set_path(&format!("{}/{path}", url.path().trim_end_matches('/'))),
        }
    }
    if let Some(values) = &parts.query {
        let values = values.as_dict().ok_or_else(|| invalid(0, "`query` must be a dict".to_owned()))?;
        let mut query = url.query().unwrap_or("").to_owned();
        append_query(cx, 0, values, &mut query)?;
        url.set_query(Some(&query).filter(|query| !query.is_empty()).map(String::as_str));
    }
    if let Some(fragment) = &parts.fragment {
        cx.check_size(fragment.len().checked_mul(3))?;
        url.set_fragment(Some(fragment));
    }
    Ok(Value::from(String::from(url)))
}

fn url_join(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let base = parsed(cx, 0, args::str(args, 0)?)?;
    let url = args::str(args, 1)?;
    cx.charge(url.len(), 2);
    if url.len() > LONGEST {
        return Err(invalid(1, format!("a URL has at most {LONGEST} bytes")));
    }
    let joined = base.join(url).map_err(|error| invalid(1, format!("cannot join {}: {error}", shown_name(url))))?;
    Ok(Value::from(String::from(joined)))
}

fn url_encode(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let text = args::str(args, 0)?;
    cx.charge(text.len(), 1);
    cx.check_size(text.len().checked_mul(3))?;
    Ok(Value::from(utf8_percent_encode(text, ENCODED).to_string()))
}

fn url_decode(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let text = args::str(args, 0)?;
    cx.charge(text.len(), 1);
    cx.check_copy(text.len())?;
    let decoded = percent_decode_str(text).decode_utf8();
    let decoded = decoded.map_err(|_| invalid(0, format!("{} is not UTF-8 after decoding", shown_name(text))))?;
    Ok(Value::str(&decoded))
}
