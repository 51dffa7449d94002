use a2a::{Role, Status, StatusUpdate, Task, TaskState};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::*;
use crate::a2a::feed::{Feed, MAX_THINGS};
use crate::count_limit::CountLimit;

fn status(text: &str) -> Status {
    let message = Message::new(Role::Agent, "m", vec![Part::text(text)]);
    Status { state: TaskState::Working, message: Some(message.into()), at_ms: None }
}

fn said(text: &str) -> FeedUpdate {
    let (task_id, context_id) = ("t".into(), "c".into());
    FeedUpdate::Frame(Frame::Status(StatusUpdate {
        task_id,
        context_id,
        status: status(text),
        metadata: base::data::Data::Nil,
    }))
}

/// Returns a stream of a task.
fn frames(feed: &Feed, version: Version) -> TaskEventStream {
    let task = Task {
        id: "t".into(),
        context_id: "c".into(),
        status: status("begun"),
        artifacts: Vec::new(),
        history: Vec::new(),
        metadata: base::data::Data::Nil,
    };
    let followed = feed.follow(Frame::Task(task.into()), false);
    let permit = CountLimit::new(1).take().unwrap();
    let (id, spelling) = (Id::from(7), ReminderFormat::new(false));
    TaskEventStream::new(
        StreamEnvelope::JsonRpc(id),
        version,
        spelling,
        None,
        StreamSource::Subscription(followed),
        FrameCache::default(),
        permit,
    )
}

async fn text(frames: &mut TaskEventStream) -> String {
    String::from_utf8(frames.next().await.unwrap().to_vec()).unwrap()
}

/// Reads the events of a text like any parser of server-sent events: fields by lines, without comments.
fn events(text: &str) -> Vec<Value> {
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|data| serde_json::from_str(data).unwrap()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_may_come_to_a_message_is_kept_alive_until_it_does() {
    for version in [Version::V1_0, Version::V0_3] {
        let begins = async {
            tokio::time::sleep(QUIET * 2 + QUIET / 2).await;
            Ok(Err(Message::new(Role::Agent, "m", vec![Part::text("a, b")])))
        };
        let mut frames = frames(&Feed::default(), version);
        frames.source = StreamSource::Open(Box::pin(begins));
        for _ in 0..2 {
            assert_eq!(text(&mut frames).await, ": still at work\n\n");
        }
        let sent = events(&text(&mut frames).await);
        let [only] = sent.as_slice() else { panic!("{sent:?}") };
        let message = if version == Version::V1_0 { &only["result"]["message"] } else { &only["result"] };
        assert_eq!(message["parts"][0]["text"], "a, b", "{only}");
        assert_eq!(frames.next().await, None);
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_may_come_to_a_message_ends_with_an_error_where_the_server_stops() {
    let mut frames = frames(&Feed::default(), Version::V1_0);
    let stopping = Refusal::Host(crate::host::HostError::Stopping);
    frames.source = StreamSource::Open(Box::pin(std::future::ready(Err(stopping))));
    let sent = events(&text(&mut frames).await);
    assert!(sent.len() == 1 && sent[0]["error"]["message"].is_string(), "{sent:?}");
    assert_eq!(frames.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn a_quiet_stream_has_a_comment_every_fifteen_seconds() {
    let feed = Feed::default();
    let mut frames = frames(&feed, Version::V1_0);
    text(&mut frames).await;
    let began = Instant::now();
    for n in 1..=3 {
        assert_eq!(text(&mut frames).await, ": still at work\n\n");
        assert_eq!(began.elapsed().as_secs(), n * 15);
    }
    // An update restarts the interval.
    tokio::time::sleep(QUIET / 2).await;
    feed.tell(&said("on"), false);
    assert_eq!(events(&text(&mut frames).await).len(), 1);
    let before = Instant::now();
    assert_eq!(text(&mut frames).await, ": still at work\n\n");
    assert_eq!(before.elapsed(), QUIET);
}

#[tokio::test(start_paused = true)]
async fn a_comment_is_no_event_between_two() {
    let feed = Feed::default();
    let mut frames = frames(&feed, Version::V0_3);
    let mut whole = text(&mut frames).await;
    whole += &text(&mut frames).await;
    feed.tell(&said("end"), true);
    whole += &text(&mut frames).await;
    assert!(frames.next().await.is_none());
    assert_eq!(whole.matches(": still at work\n\n").count(), 1);
    let kinds: Vec<_> = events(&whole).iter().map(|event| event["result"]["kind"].clone()).collect();
    assert_eq!(kinds, ["task", "status-update"]);
}

#[tokio::test]
async fn who_reads_too_slowly_is_told_so_in_each_version_and_nothing_more() {
    for version in [Version::V1_0, Version::V0_3] {
        let feed = Feed::default();
        let mut frames = frames(&feed, version);
        for n in 0..=MAX_THINGS {
            feed.tell(&said(&n.to_string()), false);
        }
        let sent = events(&text(&mut frames).await);
        assert!(frames.next().await.is_none());
        let [task, refused] = sent.as_slice() else { panic!("{sent:?}") };
        assert!(task.get("result").is_some());
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(7), &json!(-32000)));
        let data = &refused["error"]["data"];
        let (code, reason) = match version {
            Version::V1_0 => (&data[0]["metadata"]["code"], &data[0]["reason"]),
            Version::V0_3 => (&data["code"], &data["reason"]),
        };
        let expected = if version == Version::V1_0 { "STREAM_TOO_SLOW" } else { "stream_too_slow" };
        assert_eq!((code, reason), (&json!("HARN-A2A-012"), &json!(expected)), "{version:?}");
    }
}

#[tokio::test]
async fn who_has_much_to_read_gives_way_to_others_now_and_then() {
    let feed = Feed::default();
    let mut frames = frames(&feed, Version::V1_0);
    let piece = "x".repeat(AT_ONCE / 2);
    (0..16).for_each(|n| feed.tell(&said(&piece), n == 15));
    let mut sent = events(&text(&mut frames).await).len();
    let mut turns = 0;
    loop {
        // Another piece is ready, and comes only after other streams had their turn.
        assert!(frames.next().now_or_never().is_none(), "after {sent}");
        frames.is_full = true;
        let Some(more) = frames.next().await else { break };
        assert!(more.len() <= 2 * AT_ONCE);
        sent += events(std::str::from_utf8(&more).unwrap()).len();
        turns += 1;
        if frames.ended {
            break;
        }
    }
    assert!(turns > 4 && sent == 17, "{turns} turns, {sent} events");
}
