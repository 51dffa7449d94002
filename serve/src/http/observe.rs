//! [`RequestLog`]: the duration of requests as a metric, and a line of the log for each.

use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::Error;
use axum::body::{Body, Bytes, HttpBody};
use axum::http::request::Parts;
use axum::http::{Method, Response, StatusCode};
use hyper::body::{Frame, SizeHint};
use tracing::Span;

use super::listener::HttpConnection;
use crate::metrics::{Exposition, Histogram};

/// The label of paths, methods and statuses without a label of their own.
const OTHER: &str = "other";

/// The statuses with a series of their own. There are few, so that the number of series does not depend on clients.
const STATUSES: [u16; 19] =
    [101, 200, 202, 204, 304, 400, 401, 403, 404, 405, 406, 408, 409, 413, 415, 426, 429, DISCONNECTED, 503];

/// The status of a request whose connection ended before the response. HTTP does not define one.
const DISCONNECTED: u16 = 499;

/// The upper bounds of the buckets in milliseconds, those of OpenTelemetry for `http.server.request.duration`.
static BOUNDS_MS: [u64; 14] = [5, 10, 25, 50, 75, 100, 250, 500, 750, 1_000, 2_500, 5_000, 7_500, 10_000];

/// The time for which lines of requests beyond a rate are not repeated.
const MINUTE: Duration = Duration::from_secs(60);

/// The requests of a server, by route and status.
pub(crate) struct RequestLog {
    routes: Vec<RouteDurations>,
    /// All other paths.
    other: RouteDurations,
    limited: Mutex<LimitedRequests>,
}

struct RouteDurations {
    label: &'static str,
    /// By status; the last one is that of all others.
    durations: [OnceLock<Box<Histogram>>; STATUSES.len() + 1],
}

/// The requests beyond a rate, which have a line once a minute.
#[derive(Default)]
struct LimitedRequests {
    written: Option<Instant>,
    /// The number of requests since then.
    repeated: u64,
}

impl LimitedRequests {
    /// Counts a request. Returns the number of those without a line before it, if it gets one.
    fn count(&mut self, now: Instant) -> Option<u64> {
        if self.written.is_some_and(|written| now.duration_since(written) < MINUTE) {
            self.repeated += 1;
            return None;
        }
        self.written = Some(now);
        Some(std::mem::take(&mut self.repeated))
    }
}

/// A request that is being answered.
pub(super) struct ObservedRequest<'a> {
    log: &'a RequestLog,
    route: &'a RouteDurations,
    begin: Instant,
    method: &'static str,
    client: Option<IpAddr>,
    is_answered: bool,
}

impl RequestLog {
    pub(super) fn new(labels: impl Iterator<Item = &'static str>) -> RequestLog {
        let route = |label| RouteDurations { label, durations: Default::default() };
        RequestLog { routes: labels.map(route).collect(), other: route(OTHER), limited: Mutex::default() }
    }

    /// Begins a request of the route with this number.
    pub(super) fn begin(&self, route: usize, head: &Parts) -> ObservedRequest<'_> {
        let client = head.extensions.get::<HttpConnection>().and_then(HttpConnection::client);
        let route = self.routes.get(route).unwrap_or(&self.other);
        let method = known(&head.method);
        ObservedRequest { log: self, route, begin: Instant::now(), method, client, is_answered: false }
    }

    /// Writes the durations.
    pub(crate) fn expose(&self, to: &mut Exposition) {
        let help = "Duration of HTTP requests until the head of the response, in seconds.";
        let mut rows = Vec::new();
        for route in self.routes.iter().chain([&self.other]) {
            for (status, slot) in route.durations.iter().enumerate() {
                let Some(histogram) = slot.get() else { continue };
                let status = STATUSES.get(status).map_or_else(|| OTHER.to_owned(), ToString::to_string);
                rows.push((format!("route=\"{}\",status=\"{status}\"", route.label), &**histogram));
            }
        }
        to.histograms("harn_http_request_duration_seconds", help, &rows);
    }
}

impl ObservedRequest<'_> {
    /// Returns the span of the request.
    pub(super) fn span(&self) -> Span {
        tracing::debug_span!("http_request", method = self.method, route = self.route.label)
    }

    /// Counts the response, and logs it once its body is sent.
    pub(super) fn end(mut self, response: Response<Body>) -> Response<Body> {
        self.is_answered = true;
        let Some(line) = self.count(response.status().as_u16()) else { return response };
        match response.size_hint().exact() {
            Some(bytes) => {
                line.write(bytes);
                response
            }
            None => response.map(|body| Body::new(LoggedBody { body, bytes: 0, line })),
        }
    }

    /// Counts the request. Returns its line, if it gets one.
    fn count(&self, status: u16) -> Option<AccessLine> {
        let slot = STATUSES.iter().position(|known| *known == status).unwrap_or(STATUSES.len());
        let durations = self.route.durations[slot].get_or_init(|| Box::new(Histogram::new(&BOUNDS_MS)));
        durations.observe(self.begin.elapsed());
        if !tracing::enabled!(target: "serve::http::access", tracing::Level::DEBUG) {
            return None;
        }
        let mut repeated = 0;
        if status == StatusCode::TOO_MANY_REQUESTS.as_u16() {
            let mut limited = self.log.limited.lock().unwrap_or_else(PoisonError::into_inner);
            repeated = limited.count(Instant::now())?;
        }
        let (method, route, client) = (self.method, self.route.label, class(self.client));
        Some(AccessLine { method, route, status, begin: self.begin, client, repeated })
    }
}

impl Drop for ObservedRequest<'_> {
    fn drop(&mut self) {
        if !self.is_answered
            && let Some(line) = self.count(DISCONNECTED)
        {
            line.write(0);
        }
    }
}

/// The line of a request. It has nothing that a client chose but the path's pattern.
struct AccessLine {
    method: &'static str,
    route: &'static str,
    status: u16,
    begin: Instant,
    client: &'static str,
    /// The number of requests beyond the rate before it.
    repeated: u64,
}

impl AccessLine {
    fn write(&self, bytes: u64) {
        let AccessLine { method, route, status, begin, client, repeated } = self;
        let ms = u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX);
        tracing::debug!(
            target: "serve::http::access",
            method, route, status, ms, bytes, client, repeated = (*repeated > 0).then_some(*repeated), "request"
        );
    }
}

/// A body whose line is written when it ends, or when its client disconnects.
struct LoggedBody {
    body: Body,
    bytes: u64,
    line: AccessLine,
}

impl HttpBody for LoggedBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        if let Poll::Ready(Some(Ok(frame))) = &frame {
            self.bytes += frame.data_ref().map_or(0, |data| data.len() as u64);
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for LoggedBody {
    fn drop(&mut self) {
        self.line.write(self.bytes);
    }
}

/// Returns the name of a method; those that clients invent are one.
fn known(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        Method::PATCH => "PATCH",
        Method::OPTIONS => "OPTIONS",
        _ => OTHER,
    }
}

/// Returns the kind of a client's address.
fn class(client: Option<IpAddr>) -> &'static str {
    match client.map(|address| address.to_canonical()) {
        None => "unknown",
        Some(address) if address.is_loopback() => "loopback",
        Some(IpAddr::V4(address)) if address.is_private() || address.is_link_local() => "private",
        Some(IpAddr::V6(address)) if address.is_unique_local() || address.is_unicast_link_local() => "private",
        Some(_) => "public",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(log: &RequestLog) -> String {
        let mut to = Exposition::default();
        log.expose(&mut to);
        to.into_text()
    }

    fn answered(log: &RequestLog, route: usize, status: u16) {
        let (head, ()) = axum::http::Request::new(()).into_parts();
        let response = super::super::response::empty(StatusCode::from_u16(status).unwrap());
        log.begin(route, &head).end(response);
    }

    #[test]
    fn requests_are_counted_by_route_and_status() {
        let log = RequestLog::new(["/", "/tasks/*"].into_iter());
        assert_eq!(text(&log).lines().count(), 2, "no series before a request");
        for (route, status) in [(0, 200), (0, 200), (0, 401), (1, 418), (2, 404)] {
            answered(&log, route, status);
        }
        // Its client disconnects.
        let (head, ()) = axum::http::Request::new(()).into_parts();
        drop(log.begin(0, &head));
        let text = text(&log);
        for line in [
            "# TYPE harn_http_request_duration_seconds histogram",
            "harn_http_request_duration_seconds_bucket{route=\"/\",status=\"200\",le=\"+Inf\"} 2",
            "harn_http_request_duration_seconds_count{route=\"/\",status=\"200\"} 2",
            "harn_http_request_duration_seconds_count{route=\"/\",status=\"401\"} 1",
            "harn_http_request_duration_seconds_count{route=\"/\",status=\"499\"} 1",
            "harn_http_request_duration_seconds_count{route=\"/tasks/*\",status=\"other\"} 1",
            "harn_http_request_duration_seconds_count{route=\"other\",status=\"404\"} 1",
        ] {
            assert!(text.lines().any(|known| known == line), "{line} is not in\n{text}");
        }
    }

    #[test]
    fn requests_beyond_a_rate_have_one_line_a_minute() {
        let mut limited = LimitedRequests::default();
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        assert_eq!(limited.count(begin), Some(0));
        assert_eq!((limited.count(at(1)), limited.count(at(59))), (None, None));
        assert_eq!(limited.count(at(60)), Some(2));
        assert_eq!(limited.count(at(119)), None);
    }

    #[test]
    fn an_address_has_a_class() {
        for (address, expected) in [
            ("127.0.0.1", "loopback"),
            ("::ffff:127.0.0.1", "loopback"),
            ("10.1.2.3", "private"),
            ("fe80::1", "private"),
            ("192.0.2.1", "public"),
            ("2001:db8::1", "public"),
        ] {
            assert_eq!(class(address.parse().ok()), expected, "{address}");
        }
    }
}
