//! [`A2aHttp`]: the paths of a server, and how it words refusals.

use axum::body::Body;
use axum::http::Response;
use axum::http::request::Parts;
use base::words::nearest;

use super::refusal::refusal_body;
use super::service::{A2aService, CARDS, RPC};
use crate::a2a::A2aCode;
use crate::a2a::error::{RpcError, code, shortened};
use crate::a2a::rpc::read;
use crate::http::{CorsHeaders, HttpProtocol, HttpRefusal, HttpRequest, RefusalBody, Route, RouteMethods, Token};
use crate::metrics::Exposition;
use crate::probe::Probed;

/// The protocol on a port of its own.
pub(in crate::a2a) struct A2aHttp {
    pub(in crate::a2a) service: A2aService,
    pub(in crate::a2a) token: Option<Token>,
    /// The maximum size of a body in bytes.
    pub(in crate::a2a) body: usize,
}

/// The target of a route.
#[derive(Debug, Clone, Copy)]
pub(in crate::a2a) enum A2aEndpoint {
    Card,
    Rpc,
}

impl HttpProtocol for A2aHttp {
    type Caller = ();
    type Endpoint = A2aEndpoint;
    const CORS: Option<CorsHeaders> = Some(CorsHeaders {
        methods: "GET, HEAD, POST",
        headers: "Authorization, Content-Type, A2A-Version, A2A-Extensions, X-A2A-Extensions",
        exposed: Some("A2A-Extensions, ETag, WWW-Authenticate"),
    });

    fn routes(&self) -> Vec<Route<A2aEndpoint>> {
        let requests = RPC.map(|path| Route::new(path, RouteMethods::Post, A2aEndpoint::Rpc));
        requests
            .into_iter()
            .chain(CARDS.map(|path| Route::public(path, RouteMethods::Read, A2aEndpoint::Card)))
            .collect()
    }

    fn max_body(&self) -> usize {
        self.body
    }

    async fn caller(&self, head: &Parts) -> Result<(), HttpRefusal> {
        self.token.as_ref().map_or(Ok(()), |token| Ok(token.admit(&head.headers)?))
    }

    fn refuse(&self, head: Option<&Parts>, refusal: &HttpRefusal) -> RefusalBody {
        let (path, method) = head.map_or(("", ""), |head| (head.uri.path(), head.method.as_str()));
        let own = |message: String, reason| RpcError::new(code::REQUEST, A2aCode::NotFound, message).reason(reason);
        match refusal {
            HttpRefusal::NotFound => {
                let mut message = format!(
                    "`{}` not found: send requests to `{}`; the agent card is at `{}`",
                    shortened(path),
                    RPC[0],
                    CARDS[0]
                );
                if let Some(near) = nearest(path, CARDS) {
                    message.push_str(&format!("; did you mean `{near}`?"));
                }
                refusal_body(head, &own(message, "path_not_found"))
            }
            HttpRefusal::Method(_) => {
                let help = match path {
                    _ if RPC.contains(&path) => {
                        format!("send JSON-RPC requests with POST; the agent card is at `{}`", CARDS[0])
                    }
                    _ if CARDS.contains(&path) => {
                        format!("read the agent card with GET; send requests to `{}`", RPC[0])
                    }
                    _ => "use GET".to_owned(),
                };
                let message = format!("method `{}` not allowed: {help}", shortened(method));
                refusal_body(head, &own(message, "method_not_allowed"))
            }
            refusal => refusal_body(head, &super::fault_of(refusal)),
        }
    }

    async fn answer(
        &self,
        endpoint: A2aEndpoint,
        _caller: Option<()>,
        request: &mut HttpRequest,
    ) -> Result<Response<Body>, HttpRefusal> {
        let service = &self.service;
        match endpoint {
            A2aEndpoint::Card => Ok(service.get_card(&request.head)),
            A2aEndpoint::Rpc => {
                let body = request.json().await?;
                Ok(service.respond(&service.manager, &request.head, read(&body)).await)
            }
        }
    }
}

impl Probed for A2aHttp {
    fn readiness(&self) -> Result<(), &'static str> {
        self.service.manager.load().readiness()?;
        self.service.manager.writes().map_err(|_| "the event log cannot be written")
    }

    fn expose(&self, to: &mut Exposition) {
        self.service.manager.expose(to);
        let permits = &self.service.streams.permits;
        to.value("harn_a2a_streams_open", "gauge", "Open streams.", permits.taken());
        to.value("harn_a2a_streams_open_limit", "gauge", "Maximum number of open streams.", permits.most());
    }
}

#[cfg(test)]
mod tests {
    /// Returns the responses of a server with a token to these requests, each on its own connection.
    fn answers(requests: &'static [&'static str]) -> Vec<String> {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

        let settings = crate::a2a::A2aSettings {
            listen: "127.0.0.1:0".parse().unwrap(),
            token: Some(crate::http::Token::new("a-token-that-is-hard-to-guess").unwrap()),
            tls: None,
            bounds: crate::a2a::A2aLimits::default(),
            mode: None,
            agent: stdlib::Agent::default(),
            origins: Vec::new(),
            rfc_card: false,
            strict_card: false,
            drain: std::time::Duration::ZERO,
        };
        let served = crate::host::testing::served("test.harn", "pipeline default(task) { return task }", 1, None);
        let (url, read) = (std::cell::OnceCell::new(), std::cell::RefCell::new(Vec::new()));
        let ended = crate::a2a::serve(served, settings, &|listening| url.set(listening.url.clone()).unwrap(), &|| {
            Box::pin(async {
                let address = url.get().unwrap().trim_start_matches("http://").trim_end_matches('/');
                for request in requests {
                    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
                    let request = format!("{request}\r\nHost: localhost\r\nConnection: close\r\n\r\n");
                    stream.write_all(request.as_bytes()).await.unwrap();
                    let mut text = String::new();
                    stream.read_to_string(&mut text).await.unwrap();
                    read.borrow_mut().push(text);
                }
                7
            })
        });
        assert_eq!(ended.unwrap_or_else(|found| panic!("{found:?}")), 7);
        read.into_inner()
    }

    #[test]
    fn health_needs_no_token_and_metrics_do() {
        let answers = answers(&[
            "GET /healthz HTTP/1.1",
            "GET /readyz HTTP/1.1",
            "GET /metrics HTTP/1.1",
            "GET /metrics HTTP/1.1\r\nAuthorization: Bearer a-token-that-is-hard-to-guess",
            "POST /metrics HTTP/1.1",
        ]);
        let starts_and_ends = [
            ("HTTP/1.1 200 ", "\r\n\r\nok\n"),
            ("HTTP/1.1 200 ", "\r\n\r\nready\n"),
            ("HTTP/1.1 401 ", "}"),
            ("HTTP/1.1 200 ", "\nharn_a2a_streams_open_limit 2048\n"),
            ("HTTP/1.1 405 ", "}"),
        ];
        assert_eq!(answers.len(), starts_and_ends.len());
        for (answer, (start, end)) in answers.iter().zip(starts_and_ends) {
            assert!(answer.starts_with(start) && answer.ends_with(end), "{answer}");
        }
        assert!(answers[2].contains("www-authenticate: Bearer"), "{}", answers[2]);
        assert!(answers[3].contains("content-type: text/plain; version=0.0.4"), "{}", answers[3]);
    }
}
