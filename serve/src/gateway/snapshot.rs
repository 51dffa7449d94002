//! Snapshots: the state of a session at a cursor, from which the events after the cursor continue.

use std::sync::Arc;

use base::data::Data;
use eventlog::{Query, Record};
use runtime::event_log::Topic;

use super::Gateway;
use super::log;
use super::window::{ChannelFrame, FrameOrigin};
use super::{ActionError, EventEnvelope, EventType, frame};

/// The maximum number of events in a snapshot. Earlier ones are read with `after=0`.
const MAX_EVENTS: usize = 1_000;

/// The topics of the records that [`SessionSnapshot::take`] reads.
const TOPICS: [Topic; 2] = [Topic::Life, Topic::Shown];

/// A snapshot.
pub(crate) struct TakenSnapshot {
    pub(crate) frame: Arc<ChannelFrame>,
    pub(crate) cursor: u64,
}

/// The state of a session as its records tell it.
#[derive(Default)]
struct SessionSnapshot {
    title: Data,
    mode: Data,
    cwd: Data,
    /// `closed`, `idle`, `running` or `asking`.
    state: &'static str,
    /// The events that a client shows: messages, tool calls and their ends, plans, questions, artifacts.
    events: Vec<Data>,
    omitted: usize,
}

impl SessionSnapshot {
    fn take(&mut self, record: &Record) {
        let payload = &*record.payload;
        let topic = Topic::named(&record.topic);
        match topic {
            Some(Topic::Life) => {
                (self.title, self.mode, self.cwd) =
                    (payload.get("title").clone(), payload.get("mode").clone(), payload.get("cwd").clone());
                self.state = match Topic::Life.word_of(&record.kind) {
                    Some("prompted") => "running",
                    Some("answered") if payload.get("stop").as_str() == Some("asked") => "asking",
                    Some("closed") => "closed",
                    Some("opened" | "loaded" | "answered") => "idle",
                    _ => self.state,
                };
            }
            Some(Topic::Shown) => {
                if let Some(envelope) = EventEnvelope::of(record) {
                    self.events.push(Data::dict([
                        ("type", Data::from(envelope.r#type.as_str())),
                        ("sequence", record.cursor.into()),
                        ("payload", envelope.payload),
                    ]));
                }
            }
            _ => {}
        }
        if self.events.len() >= 2 * MAX_EVENTS {
            self.trim();
        }
    }

    fn trim(&mut self) {
        let beyond = self.events.len().saturating_sub(MAX_EVENTS);
        self.events.drain(..beyond);
        self.omitted += beyond;
    }
}

/// Takes a snapshot of a session.
pub(crate) async fn take(gateway: &Arc<Gateway>, session_id: &Arc<str>) -> Result<TakenSnapshot, ActionError> {
    // Other records, such as that of each connection, are not decoded.
    let topics = TOPICS.map(Topic::into).to_vec();
    let query = Query { subject: Some(session_id.clone()), topics, ..Query::default() };
    let mut snapshot = SessionSnapshot { state: "idle", ..SessionSnapshot::default() };
    let cursor = log::each(&*gateway.core().log, query, |record| snapshot.take(record)).await?;
    snapshot.trim();
    let payload = Data::dict_of_present([
        ("change", Data::from("snapshot")),
        ("title", snapshot.title),
        ("mode", snapshot.mode),
        ("cwd", snapshot.cwd),
        ("state", snapshot.state.into()),
        ("events", Data::list(snapshot.events)),
        ("omitted", snapshot.omitted.into()),
        ("pendingPermissions", gateway.core().permissions.pending(session_id)),
    ]);
    let snapshot = EventEnvelope::transient(EventType::SessionUpdated, session_id, payload, crate::a2a::now_ms());
    let snapshot = EventEnvelope { sequence: Some(cursor), ..snapshot };
    let sse = frame::of_envelope(&snapshot);
    Ok(TakenSnapshot {
        frame: Arc::new(ChannelFrame { cursor: Some(cursor), sse, origin: FrameOrigin::Stream }),
        cursor,
    })
}
