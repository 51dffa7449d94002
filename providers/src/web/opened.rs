//! The answer of a peer, read as it comes.

use super::{Failure, FailureKind, of_network, too_large, too_slow};
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::{Stream, unfold};
use sse_stream::SseByteStream;
use std::cell::Cell;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;
use tokio::time::{Instant, timeout, timeout_at};

/// An answer whose head has come. Dropping it ends the question.
pub struct Opened {
    pub(super) response: reqwest::Response,
    pub(super) host: String,
    pub(super) until: Instant,
    pub(super) timeout_ms: u64,
}

impl Opened {
    /// 200, 404 …
    #[must_use]
    pub fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// A header; nothing where there is none.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<String> {
        self.response.headers().get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
    }

    /// Returns all values of a header, which may come several times.
    #[must_use]
    pub fn headers(&self, name: &str) -> Vec<String> {
        let values = self.response.headers().get_all(name).iter();
        values.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).collect()
    }

    /// Returns all headers, their names in small letters.
    #[must_use]
    pub fn all_headers(&self) -> Vec<(String, String)> {
        let text = |value: &reqwest::header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        self.response.headers().iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect()
    }

    /// Returns the next bytes of the body; `None` at its end. They come within the timeout of the question each time.
    ///
    /// # Errors
    /// Nothing came in time, or the connection broke off.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Failure> {
        let next = timeout(Duration::from_millis(self.timeout_ms), self.response.chunk()).await;
        let next = next.map_err(|_| too_slow(&self.host, self.timeout_ms))?;
        next.map_err(|error| of_network(&self.host, &error, self.timeout_ms))
    }

    /// Returns the URL of the answer, after redirects.
    #[must_use]
    pub fn url(&self) -> &str {
        self.response.url().as_str()
    }

    /// The whole body.
    ///
    /// # Errors
    /// It has more bytes than `most`, did not come in time, or broke off.
    pub async fn body(mut self, most: usize) -> Result<Vec<u8>, Failure> {
        let mut body = Vec::new();
        loop {
            let next = timeout_at(self.until, self.response.chunk()).await;
            let next = next.map_err(|_| too_slow(&self.host, self.timeout_ms))?;
            match next.map_err(|error| of_network(&self.host, &error, self.timeout_ms))? {
                Some(chunk) if body.len() + chunk.len() > most => return Err(too_large(&self.host, most)),
                Some(chunk) => body.extend_from_slice(&chunk),
                None => return Ok(body),
            }
        }
    }

    /// The body as server-sent events. Nothing at all may come for `silence`, comments and empty lines count as something; one
    /// event may have `most` bytes.
    #[must_use]
    pub fn events(self, silence: Duration, most: usize) -> ResponseEvents {
        let host = self.host;
        let since = Rc::new(Cell::new(0));
        let reader =
            ResponseReader { response: self.response, host: host.clone(), silence, most, since: since.clone() };
        let chunks: ResponseChunks = Box::pin(unfold(reader, |mut reader| async {
            let next = reader.next().await.transpose()?;
            Some((next, reader))
        }));
        ResponseEvents { stream: Box::pin(SseByteStream::new(chunks)), since, host, last_id: None, retry: None }
    }
}

type ResponseChunks = Pin<Box<dyn Stream<Item = Result<Bytes, Stopped>>>>;

/// The reason why there are no more bytes, passed through the reader of events.
#[derive(Debug)]
struct Stopped(Failure);

impl std::fmt::Display for Stopped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Stopped {}

struct ResponseReader {
    response: reqwest::Response,
    host: String,
    silence: Duration,
    most: usize,
    /// Bytes since the last event.
    since: Rc<Cell<usize>>,
}

impl ResponseReader {
    async fn next(&mut self) -> Result<Option<Bytes>, Stopped> {
        let silent = |_| {
            let message = format!("{} sent nothing for {} ms", self.host, self.silence.as_millis());
            Stopped(Failure { kind: FailureKind::Timeout, message })
        };
        let chunk = timeout(self.silence, self.response.chunk()).await.map_err(silent)?;
        let chunk = chunk.map_err(|error| Stopped(of_network(&self.host, &error, 0)))?;
        let since = self.since.get() + chunk.as_ref().map_or(0, Bytes::len);
        self.since.set(since);
        if since > self.most {
            let message = format!("an event of {} is larger than {} MiB", self.host, self.most >> 20);
            return Err(Stopped(Failure { kind: FailureKind::TooLarge, message }));
        }
        Ok(chunk)
    }
}

/// The events of an answer. Dropping it closes the connection.
pub struct ResponseEvents {
    stream: Pin<Box<SseByteStream<ResponseChunks>>>,
    since: Rc<Cell<usize>>,
    host: String,
    last_id: Option<String>,
    retry: Option<Duration>,
}

impl ResponseEvents {
    /// Returns the id of the last event that has one, also if it has no data.
    #[must_use]
    pub fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// Returns the pause after which the server expects the client again if it has closed the stream.
    #[must_use]
    pub fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// Returns the data of the next event, never blank; `None` at the end. An event that the end
    /// cuts short is dropped.
    ///
    /// # Errors
    /// The bytes did not come, are too many, or no text.
    pub async fn next(&mut self) -> Result<Option<String>, Failure> {
        loop {
            let Some(event) = self.stream.next().await else { return Ok(None) };
            let event = event.map_err(|error| self.failed(error))?;
            self.since.set(0);
            // An empty id takes back the last one.
            if let Some(id) = event.id {
                self.last_id = Some(id).filter(|id| !id.is_empty());
            }
            self.retry = event.retry.map(Duration::from_millis).or(self.retry);
            if let Some(data) = event.data.filter(|data| !data.trim().is_empty()) {
                return Ok(Some(data));
            }
        }
    }

    fn failed(&self, error: sse_stream::Error) -> Failure {
        if let sse_stream::Error::Body(cause) = error
            && let Ok(stopped) = cause.downcast::<Stopped>()
        {
            return stopped.0;
        }
        Failure { kind: FailureKind::NotText, message: format!("an event of {} is not UTF-8 text", self.host) }
    }
}
