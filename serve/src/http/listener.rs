//! [`HttpListener`]: connections, with limits.

use std::convert::Infallible;
use std::io::Write as _;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::Response;
use base::failures::{FailedOperation, report};
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::{Notify, watch};
use tokio_rustls::TlsAcceptor;

use super::batched_stream::{BatchSwitch, BatchedStream, WriteBatch};
use super::bind::HttpPort;
use super::refusal::RefusalBody;
use super::stream::HttpStream;
use super::tls::ServerTls;
use super::write_timeout::WriteTimeout;
use crate::count_limit::{CountLimit, CountPermit};
use crate::spawn::spawn;
use crate::when_woken::WhenWoken;

/// The timeout for a TLS handshake, for the head of a request, and for an idle connection.
const HEAD: Duration = Duration::from_secs(10);

/// The timeout for a connection whose client reads nothing.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// The maximum size of a request's head, and of the write buffer for a client that does not read, in bytes.
const BUFFER: usize = 32 * 1024;

/// The delay after the system refuses a connection: others must end first.
const EXHAUSTED: Duration = Duration::from_millis(50);

/// A connection with its limits.
type ClientStream = WriteTimeout<BatchedStream>;

/// Answers a request. It is boxed, so that hyper's connection is compiled once and not for each server.
type Answer = Arc<dyn Fn(Request<Incoming>) -> PendingAnswer + Send + Sync>;

type PendingAnswer = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

/// Accepts connections.
pub(super) struct HttpListener {
    port: HttpPort,
    /// Accepts connections with TLS.
    acceptor: Option<TlsAcceptor>,
    permits: CountLimit,
    batch: Arc<WriteBatch>,
    /// Whether shutdown has begun.
    ending: watch::Sender<bool>,
    /// The response to a connection beyond the limit.
    full: Vec<u8>,
}

/// The connection of a request. Each request has it as an extension.
#[derive(Debug, Clone, Default)]
pub(crate) struct HttpConnection {
    closing: Arc<Notify>,
    batched: BatchSwitch,
    client: Option<IpAddr>,
}

impl HttpConnection {
    /// Closes the connection, also if its client does not read.
    pub(crate) fn close(&self) {
        self.closing.notify_one();
    }

    /// Returns the address of the client.
    pub(crate) fn client(&self) -> Option<IpAddr> {
        self.client
    }

    /// Writes small pieces together with those of other connections, until the next request: for events that go to many
    /// connections.
    pub(crate) fn batch_writes(&self) {
        self.batched.set(true);
    }

    /// Completes when the connection must be closed.
    fn closed(&self) -> WhenWoken<()> {
        WhenWoken::new(self.closing.clone().notified_owned())
    }
}

impl HttpListener {
    /// Creates a listener that accepts at most `connections` connections at one time. Further ones get the body that
    /// `full` returns for the limit.
    pub(super) fn new(port: HttpPort, connections: u32, full: impl FnOnce(usize) -> RefusalBody) -> HttpListener {
        let permits = CountLimit::new(connections);
        let full = unavailable(&full(permits.most()));
        let acceptor = port.tls.as_ref().map(ServerTls::acceptor);
        HttpListener { port, acceptor, permits, batch: Arc::default(), ending: watch::Sender::new(false), full }
    }

    /// Accepts connections, forever.
    pub(super) async fn take_all<F>(
        &self,
        answer: impl Fn(Request<Incoming>) -> F + Send + Sync + 'static,
    ) -> Infallible
    where
        F: Future<Output = Result<Response<Body>, Infallible>> + Send + 'static,
    {
        let answer: Answer = Arc::new(move |request| -> PendingAnswer { Box::pin(answer(request)) });
        self.take_each(&answer).await
    }

    async fn take_each(&self, answer: &Answer) -> Infallible {
        loop {
            match self.port.listener.accept().await {
                Ok((stream, client)) => self.take(stream, client.ip(), answer),
                Err(error) => {
                    let cause = error.kind().to_string();
                    report(FailedOperation::Accept, &cause, format_args!("cannot accept an HTTP connection: {error}"));
                    tokio::time::sleep(EXHAUSTED).await;
                }
            }
        }
    }

    fn take(&self, stream: TcpStream, client: IpAddr, answer: &Answer) {
        let Some(permit) = self.permits.take() else {
            let most = self.permits.most();
            let message = format_args!("refused an HTTP connection: {most} are open, which is the limit");
            report(FailedOperation::Accept, "connection limit", message);
            // It fits into the buffer of a new connection, so this does not wait. A client with TLS could not read it.
            if self.acceptor.is_none() {
                let _ = stream.into_std().and_then(|mut stream| stream.write(&self.full));
            }
            return;
        };
        let _ = stream.set_nodelay(true);
        let connection = HttpConnection { client: Some(client), ..HttpConnection::default() };
        let stream = BatchedStream::new(stream, self.batch.clone(), connection.batched.clone());
        let stream = WriteTimeout::new(stream, WRITE_TIMEOUT);
        spawn(carry(stream, self.acceptor.clone(), connection, answer.clone(), permit, self.ending.subscribe()));
    }

    /// Stops accepting connections, and further requests on the open ones.
    pub(super) fn close(self) -> OpenConnections {
        self.ending.send_replace(true);
        OpenConnections(self.permits)
    }
}

/// The connections that are still open.
pub(crate) struct OpenConnections(CountLimit);

impl OpenConnections {
    /// Waits until all responses are written.
    pub(crate) async fn all_written(&self) {
        self.0.all_free().await;
    }
}

/// Serves requests on a connection until the client closes it, or until both sides do so during shutdown.
async fn carry(
    stream: ClientStream,
    acceptor: Option<TlsAcceptor>,
    connection: HttpConnection,
    answer: Answer,
    permit: CountPermit,
    ending: watch::Receiver<bool>,
) {
    let (mut closed, mut ends) = (connection.closed(), ends(ending));
    let stream = match acceptor {
        None => HttpStream::Plain(stream),
        // It is boxed, so that connections without TLS stay small.
        Some(acceptor) => match Box::pin(shake_hands(acceptor, stream, &mut ends)).await {
            Some(stream) => stream,
            None => return,
        },
    };
    let answer = move |mut request: Request<Incoming>| {
        connection.batched.set(false);
        request.extensions_mut().insert(connection.clone());
        answer(request)
    };
    let mut served = pin!(bounded().serve_connection(TokioIo::new(stream), service_fn(answer)).with_upgrades());
    let is_over = tokio::select! {
        biased;
        _ = served.as_mut() => true,
        () = &mut closed => true,
        () = &mut ends => false,
    };
    if !is_over {
        served.as_mut().graceful_shutdown();
        // Errors of a connection matter only to its client.
        tokio::select! {
            biased;
            _ = served => {}
            () = closed => {}
        }
    }
    drop(permit);
}

/// Begins TLS on a connection, unless the client fails to, or shutdown begins.
async fn shake_hands(
    acceptor: TlsAcceptor,
    stream: ClientStream,
    ends: &mut WhenWoken<()>,
) -> Option<HttpStream<ClientStream>> {
    let shaken = tokio::select! {
        biased;
        shaken = tokio::time::timeout(HEAD, acceptor.accept(stream)) => shaken,
        () = ends => return None,
    };
    match shaken {
        Ok(Ok(stream)) => return Some(HttpStream::Tls(Box::new(stream))),
        // The text is that of the library, and has nothing that the client chose.
        Ok(Err(error)) => tracing::debug!("closed a connection: TLS handshake failed: {error}"),
        Err(_) => tracing::debug!("closed a connection: no TLS handshake within {} s", HEAD.as_secs()),
    }
    None
}

/// Completes when shutdown begins.
fn ends(mut ending: watch::Receiver<bool>) -> WhenWoken<()> {
    WhenWoken::new(async move {
        // An error means that the listener is gone.
        let _ = ending.wait_for(|ending| *ending).await;
    })
}

/// Returns an HTTP configuration with limits on heads.
fn bounded() -> http1::Builder {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(BUFFER);
    http
}

/// Returns a response with the status 503.
fn unavailable(body: &RefusalBody) -> Vec<u8> {
    let RefusalBody { media_type, text } = body;
    let head = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close";
    format!("{head}\r\nContent-Type: {media_type}\r\nContent-Length: {}\r\n\r\n{text}", text.len()).into_bytes()
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex, split};
    use tokio::time::{Instant, sleep};

    use super::*;

    /// Returns how long a connection lasts if the client sends these pieces, each after such a pause.
    async fn lasts(pieces: &[&str], pause: Duration) -> Duration {
        let (ours, theirs) = duplex(4096);
        let answers = service_fn(async |_| Ok::<_, Infallible>(Response::new(Body::empty())));
        tokio::spawn(async move { bounded().serve_connection(TokioIo::new(ours), answers).await });
        let (mut reads, mut writes) = split(theirs);
        let began = Instant::now();
        let says = async {
            for piece in pieces {
                if writes.write_all(piece.as_bytes()).await.is_err() {
                    break;
                }
                sleep(pause).await;
            }
            // The client does not hang up.
            std::future::pending::<()>().await;
        };
        let mut read = Vec::new();
        tokio::select! {
            biased;
            _ = reads.read_to_end(&mut read) => began.elapsed(),
            () = says => Duration::MAX,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_has_ten_seconds_however_it_comes() {
        let head = "GET / HTTP/1.1\r\nHost: localhost\r\nX: yyyyyyyyyyyyyy";
        let drips: Vec<&str> = (0..head.len()).map(|at| &head[at..=at]).collect();
        for (pieces, pause) in
            [(&[][..], HEAD), (&["GET / HTTP/1.1\r\nHo"], HEAD), (&drips, Duration::from_secs(1)), (&drips, HEAD / 4)]
        {
            let lasted = lasts(pieces, pause).await;
            assert_eq!(lasted.as_secs(), 10, "{lasted:?} with pauses of {pause:?}");
        }
    }

    #[tokio::test]
    async fn a_request_writes_without_the_batch_until_it_asks_for_it() {
        let port = HttpPort::open("127.0.0.1:0".parse().unwrap(), false, None).unwrap();
        let mut client = TcpStream::connect(port.address).await.unwrap();
        let listener = HttpListener::new(port, 1, |_| RefusalBody::plain(String::new()));
        // Each response says whether the batch was on before the request asked for it, and after it did.
        let answer = async |request: Request<Incoming>| {
            let connection = request.extensions().get::<HttpConnection>().unwrap();
            let before = connection.batched.is_on();
            connection.batch_writes();
            let header = format!("{before} {}", connection.batched.is_on());
            let response = Response::builder().header("x-batch", header).body(Body::empty()).unwrap();
            Ok::<_, Infallible>(response)
        };
        let talk = async {
            let mut read = Vec::new();
            for last in ["", "Connection: close\r\n"] {
                client.write_all(format!("GET / HTTP/1.1\r\nHost: localhost\r\n{last}\r\n").as_bytes()).await.unwrap();
            }
            client.read_to_end(&mut read).await.unwrap();
            String::from_utf8(read).unwrap()
        };
        let read = tokio::select! {
            never = listener.take_all(answer) => match never {},
            read = talk => read,
        };
        let batched: Vec<_> = read.lines().filter_map(|line| line.strip_prefix("x-batch: ")).collect();
        assert_eq!(batched, ["false true"; 2], "{read}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_handshake_has_ten_seconds_and_counts_among_the_connections() {
        let files = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/tls");
        let tls = ServerTls::read(&files.join("server.pem"), &files.join("server.key")).unwrap();
        let port = HttpPort::open("127.0.0.1:0".parse().unwrap(), false, Some(tls)).unwrap();
        assert!(port.url().starts_with("https://127.0.0.1:"));
        let address = port.address;
        let listener = HttpListener::new(port, 1, |_| RefusalBody::plain(String::new()));
        let answer = async |_| Ok::<_, Infallible>(Response::new(Body::empty()));
        let began = Instant::now();
        let silent = async {
            let mut first = TcpStream::connect(address).await.unwrap();
            let mut second = TcpStream::connect(address).await.unwrap();
            let mut read = Vec::new();
            let _ = second.read_to_end(&mut read).await;
            assert_eq!((began.elapsed(), read.len()), (Duration::ZERO, 0), "the only place is taken");
            let _ = first.read_to_end(&mut read).await;
            read.len()
        };
        let read = tokio::select! {
            never = listener.take_all(answer) => match never {},
            read = silent => read,
        };
        assert_eq!((began.elapsed().as_secs(), read), (10, 0));
    }
}
