//! [`TraceContext`]: a position in a trace, as W3C Trace Context writes it.
//!
//! The ids of a run's trace and its spans are digests of the run's id, so that a live run, its log, and the messages that
//! it sends agree on them.

use sha2::{Digest, Sha256};

/// The id of a trace.
pub type TraceId = [u8; 16];

/// The id of a span.
pub type SpanId = [u8; 8];

/// A position in a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceContext {
    /// The trace.
    pub trace_id: TraceId,
    /// The span.
    pub span_id: SpanId,
}

impl TraceContext {
    /// Returns the context with ids in hexadecimal digits; `None` if they are not valid ids.
    #[must_use]
    pub fn from_hex(trace_id: &str, span_id: &str) -> Option<TraceContext> {
        Some(TraceContext { trace_id: id_of(trace_id)?, span_id: id_of(span_id)? })
    }

    /// Parses the header `traceparent` of W3C Trace Context; `None` if it is invalid.
    #[must_use]
    pub fn parse(traceparent: &str) -> Option<TraceContext> {
        let mut parts = traceparent.split('-');
        let (version, trace_id, span_id, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let context = TraceContext::from_hex(trace_id, span_id)?;
        let is_valid = is_hex(version, 2) && version != "ff" && is_hex(flags, 2);
        // Only later versions have more parts.
        (is_valid && (version != "00" || parts.next().is_none())).then_some(context)
    }

    /// Returns the header `traceparent`.
    #[must_use]
    pub fn traceparent(&self) -> String {
        format!("00-{}-{}-01", self.trace_hex(), self.span_hex())
    }

    /// Returns the id of the trace in hexadecimal digits.
    #[must_use]
    pub fn trace_hex(&self) -> String {
        hex(&self.trace_id)
    }

    /// Returns the id of the span in hexadecimal digits.
    #[must_use]
    pub fn span_hex(&self) -> String {
        hex(&self.span_id)
    }
}

/// Returns the id of the trace of a run.
#[must_use]
pub fn trace_id_of(run: &str) -> TraceId {
    digest(&[b"trace", run.as_bytes()])
}

/// Returns the id of a span by its number within the run; 0 is the run itself.
#[must_use]
pub fn span_id_of(run_trace: TraceId, number: u64) -> SpanId {
    digest(&[b"span", &run_trace, &number.to_be_bytes()])
}

/// Returns the first bytes of a digest.
#[must_use]
pub fn digest<const N: usize>(parts: &[&[u8]]) -> [u8; N] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    let whole = hash.finalize();
    let mut first = [0; N];
    first.copy_from_slice(&whole[..N]);
    first
}

fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// Reads an id, which is not all zeros.
fn id_of<const N: usize>(text: &str) -> Option<[u8; N]> {
    if !is_hex(text, 2 * N) {
        return None;
    }
    let mut id = [0; N];
    for (i, byte) in id.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * i..2 * i + 2)?, 16).ok()?;
    }
    id.iter().any(|byte| *byte != 0).then_some(id)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const SPAN: &str = "00f067aa0ba902b7";

    #[test]
    fn a_valid_traceparent_is_read_and_written() {
        for text in [format!("00-{TRACE}-{SPAN}-01"), format!("01-{TRACE}-{SPAN}-01-more")] {
            let context = TraceContext::parse(&text).unwrap();
            assert_eq!((context.trace_hex(), context.span_hex()), (TRACE.to_owned(), SPAN.to_owned()));
            assert_eq!(context.traceparent(), format!("00-{TRACE}-{SPAN}-01"));
        }
    }

    #[test]
    fn an_invalid_traceparent_is_ignored() {
        let zero = "0".repeat(32);
        for text in [
            String::new(),
            "00".to_owned(),
            format!("00-{TRACE}-{SPAN}"),
            format!("ff-{TRACE}-{SPAN}-01"),
            format!("00-{TRACE}-{SPAN}-01-more"),
            format!("00-{}-{SPAN}-01", TRACE.to_uppercase()),
            format!("00-{zero}-{SPAN}-01"),
            format!("00-{TRACE}-0000000000000000-01"),
            format!("00-{}é-{SPAN}-01", "a".repeat(30)),
        ] {
            assert_eq!(TraceContext::parse(&text), None, "{text}");
        }
    }
}
