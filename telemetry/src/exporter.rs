//! [`Exporter`]: sends spans to a collector, over OTLP/HTTP with protobuf.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use opentelemetry::trace::{Event, SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState};
use opentelemetry::{Array, InstrumentationScope, KeyValue, StringValue};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanExporter as _, SpanLinks};

use crate::destination::Destination;
use crate::span::{Attribute, Span, Value};

/// An exporter of spans to a collector. It needs a tokio runtime.
pub struct Exporter {
    exporter: SpanExporter,
    scope: InstrumentationScope,
}

/// The reason spans could not be exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The client for the URL could not be created.
    #[error("could not set up the client: {0}")]
    Client(String),
    /// The collector rejected them.
    #[error("{0}")]
    Refused(String),
}

impl Exporter {
    /// Prepares to send; nothing is sent yet.
    ///
    /// # Errors
    /// Fails if the URL or a variable of OpenTelemetry is invalid.
    pub fn new(to: &Destination) -> Result<Exporter, ExportError> {
        let read = |name: &str| std::env::var(name).ok();
        let url = to.url(read);
        let client = providers::http_client(&url).map_err(ExportError::Client)?;
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(client)
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(url)
            .build()
            .map_err(|error| ExportError::Client(error.to_string()))?;
        let mut exporter = exporter;
        let is_named = read("OTEL_SERVICE_NAME").is_some_and(|name| !name.trim().is_empty())
            || read("OTEL_RESOURCE_ATTRIBUTES").is_some_and(|all| all.contains("service.name="));
        let resource = Resource::builder();
        let resource = if is_named { resource } else { resource.with_service_name("harn") };
        let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
        exporter.set_resource(&resource.with_attribute(version).build());
        let scope = InstrumentationScope::builder("harn").with_version(env!("CARGO_PKG_VERSION")).build();
        Ok(Exporter { exporter, scope })
    }

    /// Sends spans, and waits until the collector has them.
    ///
    /// # Errors
    /// Fails if the collector cannot be reached, or rejects them.
    pub async fn export(&self, spans: Vec<Span>) -> Result<(), ExportError> {
        if spans.is_empty() {
            return Ok(());
        }
        let batch = spans.into_iter().map(|span| self.data(span)).collect();
        self.exporter.export(batch).await.map_err(|error| ExportError::Refused(error.to_string()))
    }

    fn data(&self, span: Span) -> SpanData {
        let (trace_id, id) = (TraceId::from_bytes(span.trace_id), SpanId::from_bytes(span.id));
        let mut events = SpanEvents::default();
        events.dropped_count = span.dropped_events;
        events.events = span
            .events
            .into_iter()
            .map(|event| Event::new(event.name, time(event.at_ms), attributes(event.attributes), 0))
            .collect();
        SpanData {
            span_context: SpanContext::new(trace_id, id, TraceFlags::SAMPLED, false, TraceState::NONE),
            parent_span_id: span.parent.map_or(SpanId::INVALID, SpanId::from_bytes),
            parent_span_is_remote: false,
            span_kind: match span.kind {
                crate::SpanKind::Internal => SpanKind::Internal,
                crate::SpanKind::Client => SpanKind::Client,
                crate::SpanKind::Server => SpanKind::Server,
                crate::SpanKind::Consumer => SpanKind::Consumer,
            },
            name: span.name.into(),
            start_time: time(span.start_ms),
            end_time: time(span.end_ms),
            attributes: attributes(span.attributes),
            dropped_attributes_count: 0,
            events,
            links: SpanLinks::default(),
            status: if span.failed { Status::error("") } else { Status::Unset },
            instrumentation_scope: self.scope.clone(),
        }
    }
}

fn time(ms: u64) -> SystemTime {
    UNIX_EPOCH.checked_add(Duration::from_millis(ms)).unwrap_or(UNIX_EPOCH)
}

fn attributes(all: Vec<Attribute>) -> Vec<KeyValue> {
    all.into_iter()
        .map(|(name, value)| {
            let value = match value {
                Value::Text(text) => opentelemetry::Value::String(StringValue::from(text)),
                Value::Int(number) => opentelemetry::Value::I64(number),
                Value::Bool(is) => opentelemetry::Value::Bool(is),
                Value::Texts(texts) => {
                    opentelemetry::Value::Array(Array::String(texts.into_iter().map(StringValue::from).collect()))
                }
            };
            KeyValue::new(name, value)
        })
        .collect()
}
