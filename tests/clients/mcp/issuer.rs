//! [`Issuer`]: an MCP server over HTTP that wants tokens, and the authorization server that issues them, in one. It can
//! misbehave as a hostile one would.

use base::data::Data;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

/// The behaviour of an issuer that differs from the simplest one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Flaw {
    None,
    /// Metadata below the path of the issuer, as OpenID Connect has it.
    OpenId,
    /// Its metadata names another issuer.
    WrongIssuer,
    /// The token endpoint would be asked without encryption.
    PlainTokenEndpoint,
    /// The login is not a page.
    ScriptAsPage,
    /// The answer to the login comes from another issuer.
    MixUp,
    /// The answer does not name its issuer, although it promised to.
    NoIssuer,
    /// It does not know proof keys.
    NoProofKey,
    /// The metadata of the server is that of another one.
    OtherResource,
    /// The token endpoint redirects to another server.
    Redirects,
    /// Its metadata is larger than anyone needs.
    Huge,
    /// Another page sends the browser to the client first, with a code of its own.
    Forges,
    /// The user declines.
    Denies,
    /// Its tokens are not bearer tokens.
    OddToken,
    /// Its tokens would add a header.
    Injects,
    /// Its tokens expire at once.
    ShortLived,
    /// It no longer renews tokens.
    Forgets,
    /// It registers no clients.
    NoRegistration,
}

/// The state of an issuer.
#[derive(Default)]
struct State {
    /// Requests, with what matters in them.
    seen: Vec<String>,
    /// The parameters of the login, by code.
    codes: BTreeMap<String, BTreeMap<String, String>>,
    /// Scopes of the tokens that are valid.
    tokens: BTreeMap<String, String>,
    /// Scopes of the refresh tokens that are valid.
    refresh: BTreeMap<String, String>,
    count: usize,
}

/// A running server. Its threads end with the process of the tests.
#[derive(Clone)]
pub(super) struct Issuer {
    pub(super) base: String,
    /// A server of another origin, which nothing may reach.
    pub(super) elsewhere: String,
    flaw: Flaw,
    state: Arc<Mutex<State>>,
    reached: Arc<Mutex<Vec<String>>>,
}

/// A request.
pub(super) struct Incoming {
    pub(super) method: String,
    path: String,
    query: BTreeMap<String, String>,
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: String,
}

struct Outgoing {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
}

fn reply(status: u16, body: impl Into<String>) -> Outgoing {
    Outgoing { status, headers: vec![("content-type".to_owned(), "application/json".to_owned())], body: body.into() }
}

impl Issuer {
    pub(super) fn start(flaw: Flaw) -> Issuer {
        let reached = Arc::<Mutex<Vec<String>>>::default();
        let found = reached.clone();
        let elsewhere = serve(move |request| {
            found.lock().unwrap().push(format!("{} {} {}", request.method, request.path, request.body));
            reply(200, "{}")
        });
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let issuer = Issuer { base, elsewhere, flaw, state: Arc::default(), reached };
        let own = issuer.clone();
        accept(listener, move |request| own.answer(request));
        issuer
    }

    /// The URL of the MCP server.
    pub(super) fn url(&self) -> String {
        format!("{}/mcp", self.base)
    }

    /// The identifier of the authorization server.
    fn id(&self) -> String {
        if self.flaw == Flaw::OpenId { format!("{}/tenant", self.base) } else { self.base.clone() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Returns the requests that begin with a text.
    pub(super) fn seen(&self, start: &str) -> Vec<String> {
        self.state().seen.iter().filter(|line| line.starts_with(start)).cloned().collect()
    }

    /// Returns the requests that reached the other server.
    pub(super) fn reached(&self) -> Vec<String> {
        self.reached.lock().unwrap().clone()
    }

    /// Makes all access tokens invalid, and the refresh tokens too if asked to.
    pub(super) fn revoke(&self, with_refresh: bool) {
        let mut state = self.state();
        state.tokens.clear();
        if with_refresh {
            state.refresh.clear();
        }
    }

    fn answer(&self, request: &Incoming) -> Outgoing {
        match (request.method.as_str(), request.path.as_str()) {
            ("POST", "/mcp") => self.mcp(request),
            ("GET" | "DELETE", "/mcp") => reply(405, ""),
            ("GET", "/.well-known/oauth-protected-resource/mcp") => {
                let resource = match self.flaw {
                    Flaw::OtherResource => format!("{}/mcp", self.elsewhere),
                    _ => self.url(),
                };
                let id = self.id();
                reply(
                    200,
                    format!(
                        r#"{{"resource":"{resource}","authorization_servers":["{id}"],"scopes_supported":["read"]}}"#
                    ),
                )
            }
            ("GET", "/.well-known/oauth-authorization-server") if self.flaw != Flaw::OpenId => self.metadata(),
            ("GET", "/tenant/.well-known/openid-configuration") if self.flaw == Flaw::OpenId => self.metadata(),
            ("POST", "/register") => {
                self.state().seen.push(format!("register {}", request.body));
                reply(201, r#"{"client_id":"c1"}"#)
            }
            ("GET", "/authorize") => self.authorize(request),
            ("POST", "/token") => self.token(request),
            ("POST", "/revoke") => {
                self.state().seen.push(format!("revoke {}", request.body));
                reply(200, "")
            }
            _ => reply(404, ""),
        }
    }

    fn metadata(&self) -> Outgoing {
        let base = &self.base;
        let issuer = if self.flaw == Flaw::WrongIssuer { self.elsewhere.clone() } else { self.id() };
        let token = match self.flaw {
            Flaw::PlainTokenEndpoint => "http://token.example.com/token".to_owned(),
            _ => format!("{base}/token"),
        };
        let page = match self.flaw {
            Flaw::ScriptAsPage => "javascript:alert(1)".to_owned(),
            _ => format!("{base}/authorize"),
        };
        let methods =
            if self.flaw == Flaw::NoProofKey { "" } else { r#","code_challenge_methods_supported":["S256"]"# };
        let register = match self.flaw {
            Flaw::NoRegistration => String::new(),
            _ => format!(r#","registration_endpoint":"{base}/register""#),
        };
        let filler = if self.flaw == Flaw::Huge { "x".repeat(8 << 20) } else { String::new() };
        reply(
            200,
            format!(
                r#"{{"issuer":"{issuer}","token_endpoint":"{token}","authorization_endpoint":"{page}","revocation_endpoint":"{base}/revoke","authorization_response_iss_parameter_supported":true,"filler":"{filler}"{methods}{register}}}"#
            ),
        )
    }

    fn authorize(&self, request: &Incoming) -> Outgoing {
        let get = |key: &str| request.query.get(key).cloned().unwrap_or_default();
        let (redirect, state_of_client) = (get("redirect_uri"), get("state"));
        let code = {
            let mut state = self.state();
            state.count += 1;
            let code = format!("code{}", state.count);
            state.codes.insert(code.clone(), request.query.clone());
            let line = format!(
                "authorize {} {} {} {}",
                get("response_type"),
                get("code_challenge_method"),
                get("resource"),
                get("scope")
            );
            state.seen.push(line);
            code
        };
        if self.flaw == Flaw::Forges {
            let status = get_status(&format!("{redirect}?code=evil&state=guessed"));
            self.state().seen.push(format!("forged {status}"));
        }
        let id = self.id();
        let issuer = match self.flaw {
            Flaw::MixUp => format!("&iss={}", self.elsewhere),
            Flaw::NoIssuer => String::new(),
            _ => format!("&iss={id}"),
        };
        let result = if self.flaw == Flaw::Denies { "error=access_denied".to_owned() } else { format!("code={code}") };
        let target = format!("{redirect}?{result}&state={state_of_client}{issuer}");
        Outgoing { status: 302, headers: vec![("location".to_owned(), target)], body: String::new() }
    }

    fn token(&self, request: &Incoming) -> Outgoing {
        if self.flaw == Flaw::Redirects {
            let target = format!("{}/token", self.elsewhere);
            return Outgoing { status: 307, headers: vec![("location".to_owned(), target)], body: String::new() };
        }
        let form = pairs(&request.body);
        let get = |key: &str| form.get(key).map(String::as_str).unwrap_or_default();
        let mut state = self.state();
        state.seen.push(format!("token {} {} {}", get("grant_type"), get("resource"), get("scope")));
        let refused = |error: &str| reply(400, format!(r#"{{"error":"{error}"}}"#));
        if get("resource") != self.url() {
            return refused("invalid_target");
        }
        let scope = match get("grant_type") {
            "authorization_code" => {
                let Some(asked) = state.codes.remove(get("code")) else { return refused("invalid_grant") };
                let proof = URL_SAFE_NO_PAD.encode(Sha256::digest(get("code_verifier")));
                let fits = asked.get("code_challenge") == Some(&proof)
                    && asked.get("redirect_uri").map(String::as_str) == Some(get("redirect_uri"))
                    && asked.get("client_id").map(String::as_str) == Some(get("client_id"));
                if !fits {
                    return refused("invalid_grant");
                }
                asked.get("scope").cloned().unwrap_or_default()
            }
            "refresh_token" if self.flaw != Flaw::Forgets => match state.refresh.remove(get("refresh_token")) {
                Some(scope) => scope,
                None => return refused("invalid_grant"),
            },
            "client_credentials" => {
                let proof = format!("Basic {}", STANDARD.encode("service:a%26b"));
                if request.headers.get("authorization") != Some(&proof) {
                    return reply(401, r#"{"error":"invalid_client"}"#);
                }
                get("scope").to_owned()
            }
            _ => return refused("invalid_grant"),
        };
        state.count += 1;
        let (token, renewal) = (format!("secret-token-{}", state.count), format!("secret-refresh-{}", state.count));
        state.tokens.insert(token.clone(), scope.clone());
        state.refresh.insert(renewal.clone(), scope.clone());
        let kind = if self.flaw == Flaw::OddToken { "mac" } else { "bearer" };
        let token = if self.flaw == Flaw::Injects { format!("{token}\\r\\nx-evil: 1") } else { token };
        let lifetime = if self.flaw == Flaw::ShortLived { 1 } else { 3600 };
        reply(
            200,
            format!(
                r#"{{"access_token":"{token}","token_type":"{kind}","expires_in":{lifetime},"refresh_token":"{renewal}","scope":"{scope}"}}"#
            ),
        )
    }

    /// The MCP server, in the form with sessions.
    fn mcp(&self, request: &Incoming) -> Outgoing {
        let token = request.headers.get("authorization").and_then(|value| value.strip_prefix("Bearer "));
        let scope = token.and_then(|token| self.state().tokens.get(token).cloned());
        let metadata = format!("resource_metadata=\"{}/.well-known/oauth-protected-resource/mcp\"", self.base);
        let Some(scope) = scope else {
            let mut refused = reply(401, "");
            refused.headers.push(("www-authenticate".to_owned(), format!("Bearer {metadata}")));
            return refused;
        };
        let message = Data::from_json(&request.body).unwrap_or_default();
        let id = message.get("id").to_json();
        let result = match message.get("method").as_str().unwrap_or_default() {
            "initialize" => {
                r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}"#
            }
            "tools/list" => {
                r#"{"tools":[{"name":"read","inputSchema":{"type":"object"}},{"name":"admin","inputSchema":{"type":"object"}}]}"#
            }
            "tools/call" if message.get("params").get("name").as_str() == Some("admin") => {
                if !scope.split(' ').any(|scope| scope == "admin") {
                    let mut refused = reply(403, "");
                    let value = format!("Bearer error=\"insufficient_scope\", scope=\"admin\", {metadata}");
                    refused.headers.push(("www-authenticate".to_owned(), value));
                    return refused;
                }
                r#"{"content":[{"type":"text","text":"admin done"}]}"#
            }
            "tools/call" => r#"{"content":[{"type":"text","text":"read done"}]}"#,
            method if method.starts_with("notifications/") => return reply(202, ""),
            _ => {
                return reply(
                    200,
                    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"unknown"}}}}"#),
                );
            }
        };
        reply(200, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#))
    }
}

/// Starts a server and returns its origin.
fn serve(answer: impl Fn(&Incoming) -> Outgoing + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    accept(listener, answer);
    base
}

fn accept(listener: TcpListener, answer: impl Fn(&Incoming) -> Outgoing + Send + Sync + 'static) {
    accept_raw(listener, move |request, stream| {
        let out = answer(request);
        let mut head =
            format!("HTTP/1.1 {} X\r\ncontent-length: {}\r\nconnection: close\r\n", out.status, out.body.len());
        for (name, value) in &out.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        let _ = stream.write_all(format!("{head}\r\n{}", out.body).as_bytes());
    });
}

/// Lets a function write the whole response to each request.
pub(super) fn accept_raw(listener: TcpListener, answer: impl Fn(&Incoming, &mut TcpStream) + Send + Sync + 'static) {
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = answer.clone();
            thread::spawn(move || {
                let mut stream = stream;
                if let Some(request) = incoming(&mut stream) {
                    answer(&request, &mut stream);
                }
            });
        }
    });
}

fn incoming(stream: &mut TcpStream) -> Option<Incoming> {
    let mut bytes = Vec::new();
    let mut part = [0; 4096];
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|end| end == b"\r\n\r\n") {
            break end;
        }
        let read = stream.read(&mut part).ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&part[..read]);
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.lines();
    let mut words = lines.next()?.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length: usize = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = bytes[end + 4..].to_vec();
    while body.len() < length {
        let read = stream.read(&mut part).ok().filter(|read| *read > 0)?;
        body.extend_from_slice(&part[..read]);
    }
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let body = String::from_utf8_lossy(&body).into_owned();
    Some(Incoming { method, path: path.to_owned(), query: pairs(query), headers, body })
}

fn pairs(text: &str) -> BTreeMap<String, String> {
    let url = providers::web::Url::parse(&format!("http://x/?{text}")).unwrap();
    url.query_pairs().map(|(key, value)| (key.into_owned(), value.into_owned())).collect()
}

/// Gets a URL, and returns the status.
fn get_status(url: &str) -> String {
    let url = providers::web::Url::parse(url).unwrap();
    let mut stream = TcpStream::connect(("127.0.0.1", url.port().unwrap())).unwrap();
    let target = format!("{}?{}", url.path(), url.query().unwrap_or_default());
    stream.write_all(format!("GET {target} HTTP/1.1\r\nhost: x\r\n\r\n").as_bytes()).unwrap();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    answer.split(' ').nth(1).unwrap_or_default().to_owned()
}
