//! [`ReminderEvents`]: the reminders that tools have sent, as events of the type `reminder` (SEP-3415). Clients of the form
//! with sessions get the same reminders as notifications.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base::data::Data;
use runtime::reminder::bridge::RemindPayload;
use runtime::reminder::{Propagate, ReminderField, RoleHint, Surface};
use tokio::sync::watch;

use super::client::McpClient;
use super::fault::McpFault;
use crate::wire::reminder_params;

/// The notification of a reminder, in the form with sessions.
pub(super) const NOTIFICATION: &str = "notifications/reminder";
/// The type of the events.
const EVENT_TYPE: &str = "reminder";
/// The number of events that can be read again.
const KEPT: usize = 256;
/// The number of events in one answer, by default and at most.
const PAGE: i64 = 50;
const MAX_PAGE: i64 = 100;
/// The pause that clients are asked to make between two polls, in milliseconds.
const NEXT_POLL_MS: i64 = 1_000;
/// The pause between two signs of life of a stream.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// The key of the request that a notification belongs to.
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// The reminders that tools have sent, for clients that poll or follow them.
pub(super) struct ReminderEvents {
    /// Distinguishes the cursors of this process from those of an earlier one.
    run: String,
    kept: Mutex<KeptEvents>,
    changed: watch::Sender<u64>,
}

#[derive(Default)]
struct KeptEvents {
    /// The place of the first event in `events`.
    first: u64,
    events: VecDeque<Data>,
}

/// Events after a cursor.
struct EventPage {
    events: Vec<Data>,
    cursor: u64,
    has_more: bool,
    /// Whether events are missing before the first.
    is_truncated: bool,
}

impl ReminderEvents {
    pub(super) fn new() -> ReminderEvents {
        let run = uuid::Uuid::new_v4().simple().to_string()[..8].to_owned();
        ReminderEvents { run, kept: Mutex::default(), changed: watch::Sender::new(0) }
    }

    /// Locks the events. Code that holds this lock does not panic.
    fn lock(&self) -> MutexGuard<'_, KeptEvents> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a reminder.
    pub(super) fn add(&self, payload: &RemindPayload, now_ms: u64) {
        let next = {
            let mut kept = self.lock();
            let place = kept.first + kept.events.len() as u64;
            let event = Data::dict([
                ("eventId", Data::from(format!("{}-{place}", self.run))),
                ("name", EVENT_TYPE.into()),
                ("timestamp", stdlib::rfc3339(now_ms).into()),
                ("data", reminder_params(payload, Surface::Mcp)),
                ("cursor", self.cursor(place + 1)),
            ]);
            kept.events.push_back(event);
            if kept.events.len() > KEPT {
                kept.events.pop_front();
                kept.first += 1;
            }
            place + 1
        };
        self.changed.send_replace(next);
    }

    fn cursor(&self, place: u64) -> Data {
        format!("{}-{place}", self.run).into()
    }

    /// Returns the events after a cursor; nil begins now.
    fn after(&self, cursor: &Data, most: usize) -> Result<EventPage, McpFault> {
        let kept = self.lock();
        let end = kept.first + kept.events.len() as u64;
        let (start, is_truncated) = match cursor {
            Data::Nil => (end, false),
            Data::Str(cursor) => match cursor
                .rsplit_once('-')
                .and_then(|(run, place)| Some((run, place.parse::<u64>().ok()?)))
            {
                Some((run, place)) if run == self.run && place <= end => (place.max(kept.first), place < kept.first),
                // A cursor of an earlier process: what came since then cannot be known.
                Some(_) => (kept.first, true),
                None => return Err(McpFault::params("invalid `cursor`")),
            },
            _ => return Err(McpFault::params("invalid `cursor`: it must be a string")),
        };
        let from = usize::try_from(start - kept.first).unwrap_or(usize::MAX);
        let events: Vec<Data> = kept.events.iter().skip(from).take(most).cloned().collect();
        let cursor = start + events.len() as u64;
        Ok(EventPage { events, cursor, has_more: cursor < end, is_truncated })
    }

    /// Answers `events/list`.
    pub(super) fn list() -> Data {
        let words =
            |words: &[&'static str]| Data::dict([("enum", Data::list(words.iter().map(|word| Data::from(*word))))]);
        let properties = ReminderField::SPEC.map(|field| {
            let schema = match field {
                ReminderField::Propagate => words(Propagate::WORDS),
                ReminderField::RoleHint => words(RoleHint::WORDS),
                ReminderField::Body => Data::dict([("type", Data::from("string"))]),
                _ => Data::empty_dict(),
            };
            (field.name(Surface::Mcp), schema)
        });
        let payload = Data::dict([
            ("type", Data::from("object")),
            ("properties", Data::dict(properties)),
            ("required", Data::list(["body".into()])),
        ]);
        let inputs = Data::dict([("type", Data::from("object")), ("properties", Data::empty_dict())]);
        let event = Data::dict([
            ("name", Data::from(EVENT_TYPE)),
            ("description", "A reminder of a tool for the agent that uses this server.".into()),
            ("delivery", Data::list(["poll".into(), "push".into()])),
            ("inputSchema", inputs),
            ("payloadSchema", payload),
        ]);
        Data::dict([("events", Data::list([event]))])
    }

    fn check_name(params: &Data) -> Result<(), McpFault> {
        match params.get("name").as_str() {
            Some(EVENT_TYPE) => Ok(()),
            _ => Err(McpFault::params("unknown event type: this server has the type `reminder`")),
        }
    }

    /// Answers `events/poll`.
    pub(super) fn poll(&self, params: &Data) -> Result<Data, McpFault> {
        ReminderEvents::check_name(params)?;
        let most = params.get("maxEvents").as_int().unwrap_or(PAGE).clamp(1, MAX_PAGE);
        let page = self.after(params.get("cursor"), usize::try_from(most).unwrap_or(1))?;
        Ok(Data::dict([
            ("events", Data::list(page.events)),
            ("cursor", self.cursor(page.cursor)),
            ("hasMore", page.has_more.into()),
            ("truncated", page.is_truncated.into()),
            ("nextPollMs", NEXT_POLL_MS.into()),
        ]))
    }

    /// Answers `events/stream`: sends events until the client is gone.
    pub(super) async fn stream(&self, params: &Data, client: &McpClient) -> Result<Data, McpFault> {
        ReminderEvents::check_name(params)?;
        let mut changed = self.changed.subscribe();
        let most = usize::try_from(MAX_PAGE).unwrap_or(1);
        let mut page = self.after(params.get("cursor"), most)?;
        let about = |mut params: Data| {
            params.set("_meta", Data::dict([(SUBSCRIPTION, client.request_id.clone())]));
            params
        };
        let mut cursor = params.get("cursor").clone();
        if cursor.is_nil() {
            cursor = self.cursor(page.cursor);
        }
        let active = Data::dict([("cursor", cursor), ("truncated", page.is_truncated.into())]);
        if !client.outbox.send("notifications/events/active", about(active)).await {
            return Err(McpFault::params("`events/stream` needs a response with server-sent events"));
        }
        loop {
            for event in std::mem::take(&mut page.events) {
                if !client.outbox.send("notifications/events/event", about(event)).await {
                    return Ok(Data::empty_dict());
                }
            }
            if !page.has_more {
                let alive = match tokio::time::timeout(HEARTBEAT, changed.changed()).await {
                    Ok(_) => true,
                    Err(_) => {
                        let beat = Data::dict([("cursor", self.cursor(page.cursor))]);
                        client.outbox.send("notifications/events/heartbeat", about(beat)).await
                    }
                };
                if !alive {
                    return Ok(Data::empty_dict());
                }
            }
            page = self.after(&self.cursor(page.cursor), most)?;
        }
    }
}

/// Answers `subscriptions/listen`: the lists of a script do not change, so nothing is ever sent after the first message.
pub(super) async fn listen(client: &McpClient) -> Result<Data, McpFault> {
    let meta = Data::dict([(SUBSCRIPTION, client.request_id.clone())]);
    let first = Data::dict([("notifications", Data::empty_dict()), ("_meta", meta)]);
    if !client.outbox.send("notifications/subscriptions/acknowledged", first).await {
        return Err(McpFault::params("`subscriptions/listen` needs a response with server-sent events"));
    }
    std::future::pending().await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload(body: &str) -> RemindPayload {
        RemindPayload::from_data(&Data::dict([("body", Data::from(body))])).unwrap()
    }

    fn poll(events: &ReminderEvents, cursor: &Data) -> Data {
        let params = Data::dict([("name", Data::from("reminder")), ("cursor", cursor.clone())]);
        events.poll(&params).unwrap()
    }

    #[test]
    fn a_poll_returns_what_came_after_its_cursor() {
        let events = ReminderEvents::new();
        events.add(&payload("before"), 0);
        let begin = poll(&events, &Data::Nil);
        assert_eq!(begin.get("events").as_list().map(<[Data]>::len), Some(0), "it begins now");
        events.add(&payload("one"), 1_000);
        let next = poll(&events, begin.get("cursor"));
        let event = &next.get("events").as_list().unwrap()[0];
        assert_eq!(event.at("data.body").as_str(), Some("one"));
        assert_eq!(event.get("timestamp").as_str(), Some("1970-01-01T00:00:01.000Z"));
        assert_eq!(event.get("cursor"), next.get("cursor"));
        assert_eq!(poll(&events, next.get("cursor")).get("events").as_list().map(<[Data]>::len), Some(0));
        assert!(events.poll(&Data::dict([("name", Data::from("other"))])).is_err());
    }

    #[test]
    fn lost_events_are_reported() {
        let events = ReminderEvents::new();
        let begin = poll(&events, &Data::Nil);
        (0..300).for_each(|n| events.add(&payload(&n.to_string()), n));
        let page = poll(&events, begin.get("cursor"));
        assert_eq!(page.get("truncated").as_bool(), Some(true));
        assert_eq!(
            (page.get("hasMore").as_bool(), page.get("events").as_list().map(<[Data]>::len)),
            (Some(true), Some(50))
        );
        let earlier = poll(&events, &"0123abcd-7".into());
        assert_eq!(earlier.get("truncated").as_bool(), Some(true), "a cursor of an earlier process");
    }
}
