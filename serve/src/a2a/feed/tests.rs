use std::sync::atomic::AtomicUsize;
use std::task::{Context, Wake, Waker};

use a2a::{
    Artifact, ArtifactUpdate, Content, Message, Part, Role, Status, StatusUpdate, Task, TaskState, model::text_of,
};
use base::data::Data;
use futures_util::FutureExt;
use proptest::prelude::*;

use super::*;

fn status(state: TaskState) -> Status {
    Status { state, message: None, at_ms: None }
}

fn task() -> Frame {
    Frame::Task(Arc::new(Task {
        id: "t".into(),
        context_id: "c".into(),
        status: status(TaskState::Working),
        artifacts: Vec::new(),
        history: Vec::new(),
        metadata: Data::Nil,
    }))
}

fn said(text: &str) -> FeedUpdate {
    let message = Message::new(Role::Agent, "m", vec![Part::text(text)]);
    FeedUpdate::Frame(Frame::Status(StatusUpdate {
        task_id: "t".into(),
        context_id: "c".into(),
        status: Status { message: Some(message.into()), ..status(TaskState::Working) },
        metadata: Data::Nil,
    }))
}

fn chunk(id: &str, part: Part, append: bool, last_chunk: bool) -> FeedUpdate {
    let artifact = Artifact {
        artifact_id: id.into(),
        name: Some(id.into()),
        description: None,
        parts: vec![part],
        metadata: Data::Nil,
        extensions: Vec::new(),
    };
    FeedUpdate::Frame(Frame::Artifact(ArtifactUpdate {
        task_id: "t".into(),
        context_id: "c".into(),
        artifact: artifact.into(),
        append,
        last_chunk,
        metadata: Data::Nil,
    }))
}

fn text(id: &str, text: &str, append: bool) -> FeedUpdate {
    chunk(id, Part::text(text), append, false)
}

/// Returns a subscriber that has received the task.
fn following(feed: &Feed) -> Subscription {
    let mut subscription = feed.follow(task(), false);
    assert_eq!(now(&mut subscription), Some(FeedItem::Update(Arc::new(FeedUpdate::Frame(task())), false)));
    subscription
}

/// Returns the next item. Panics if there is none yet.
fn now(subscription: &mut Subscription) -> Option<FeedItem> {
    subscription.next().now_or_never().expect("an update is ready")
}

fn next_update(subscription: &mut Subscription) -> Arc<FeedUpdate> {
    match now(subscription) {
        Some(FeedItem::Update(feed_update, _)) => feed_update,
        other => panic!("{other:?} is reported"),
    }
}

fn nothing_yet(subscription: &mut Subscription) -> bool {
    subscription.next().now_or_never().is_none()
}

fn size(feed: &Feed) -> (usize, usize) {
    feed.0.window().size()
}

#[test]
fn all_are_told_the_same_in_order_and_share_it() {
    let feed = Feed::default();
    let mut both = [following(&feed), following(&feed)];
    for n in 0..10 {
        feed.tell(&said(&n.to_string()), n == 9);
    }
    for n in 0..10 {
        let [one, two] = both.each_mut().map(next_update);
        assert_eq!(*one, said(&n.to_string()));
        assert!(Arc::ptr_eq(&one, &two));
    }
    assert_eq!(both.each_mut().map(now), [None, None]);
    assert_eq!(size(&feed), (0, 0));
}

#[test]
fn the_last_ends_who_follows_and_not_who_follows_later() {
    let feed = Feed::default();
    let mut before = following(&feed);
    feed.tell(&text("a", "before", false), false);
    feed.tell(&said("end"), true);
    let mut after = following(&feed);
    feed.tell(&text("a", "after", false), false);
    assert_eq!(*next_update(&mut before), text("a", "before", false));
    assert_eq!(now(&mut before), Some(FeedItem::Update(said("end").into(), true)));
    assert_eq!((now(&mut before), now(&mut before)), (None, None));
    assert_eq!(*next_update(&mut after), text("a", "after", false));
    assert!(nothing_yet(&mut after));
    let mut over = feed.follow(task(), true);
    assert_eq!(now(&mut over), Some(FeedItem::Update(FeedUpdate::Frame(task()).into(), true)));
    assert_eq!(now(&mut over), None);
}

#[test]
fn chunks_are_joined_for_who_has_not_read_them() {
    let feed = Feed::default();
    let (mut slow, mut quick) = (following(&feed), following(&feed));
    let pieces = ["a", "b", "c", "d"];
    for (n, piece) in pieces.into_iter().enumerate() {
        feed.tell(&text("answer", piece, n > 0), false);
        if n < 2 {
            assert_eq!(*next_update(&mut quick), text("answer", piece, n > 0));
        }
    }
    assert_eq!(*next_update(&mut slow), text("answer", "abcd", false));
    assert_eq!(*next_update(&mut quick), text("answer", "cd", true));
    assert!(nothing_yet(&mut slow) && nothing_yet(&mut quick));
    assert_eq!(size(&feed), (0, 0));
}

#[test]
fn chunks_are_joined_with_their_like_only() {
    let feed = Feed::default();
    let mut slow = following(&feed);
    let all = [
        text("a", "1", false),
        text("b", "2", true),
        said("between"),
        text("b", "3", true),
        chunk("b", Part::data(Data::Int(4)), true, false),
        text("b", "5", true),
        chunk("b", Part::text("6"), true, true),
    ];
    all.iter().for_each(|feed_update| feed.tell(feed_update, false));
    for expected in &all {
        assert_eq!(&*next_update(&mut slow), expected);
    }
}

#[test]
fn a_new_beginning_takes_the_place_of_what_waits() {
    let feed = Feed::default();
    let mut slow = following(&feed);
    for (id, piece, append) in [("a", "old", false), ("b", "other", false), ("a", "older", true), ("a", "new", false)] {
        feed.tell(&text(id, piece, append), false);
    }
    assert_eq!(*next_update(&mut slow), text("b", "other", false));
    assert_eq!(*next_update(&mut slow), text("a", "new", false));
    assert!(nothing_yet(&mut slow));
}

#[test]
fn a_task_that_is_left_ends_what_is_told_of_it_behind_all_that_was() {
    let feed = Feed::default();
    let mut follows = following(&feed);
    feed.tell(&said("on"), false);
    feed.leave();
    assert_eq!(*next_update(&mut follows), said("on"));
    assert_eq!((now(&mut follows), now(&mut follows)), (Some(FeedItem::Left), None));
    let mut late = following(&feed);
    assert_eq!((now(&mut late), now(&mut late)), (Some(FeedItem::Left), None));
}

#[test]
fn who_does_not_take_what_is_told_lags_once_and_holds_up_nobody() {
    let feed = Feed::default();
    let (mut slow, mut quick) = (following(&feed), following(&feed));
    for n in 0..=MAX_THINGS {
        feed.tell(&said(&n.to_string()), false);
        assert_eq!(*next_update(&mut quick), said(&n.to_string()));
    }
    assert_eq!(now(&mut slow), Some(FeedItem::Lagged));
    assert_eq!((now(&mut slow), now(&mut slow)), (None, None));
    assert_eq!(size(&feed), (0, 0), "no other stream waits for it");
    feed.tell(&said("on"), true);
    assert_eq!(*next_update(&mut quick), said("on"));
}

#[test]
fn as_many_as_fit_wait() {
    let feed = Feed::default();
    let mut slow = following(&feed);
    for n in 0..MAX_THINGS {
        feed.tell(&said(&n.to_string()), false);
    }
    assert_eq!(*next_update(&mut slow), said("0"));
}

#[test]
fn content_is_bounded_in_pieces_and_joined() {
    let feed = Feed::default();
    let (mut slow, piece) = (following(&feed), "x".repeat(MAX_CONTENT / 4));
    for n in 0..64 {
        feed.tell(&text("a", &piece, n > 0), false);
        assert!(size(&feed).1 <= MAX_CONTENT, "{:?}", size(&feed));
    }
    assert_eq!(now(&mut slow), Some(FeedItem::Lagged));
    let mut slow = following(&feed);
    for n in 0..64 {
        feed.tell(&said(&piece), false);
        assert!(size(&feed).1 <= MAX_CONTENT, "{n}");
    }
    assert_eq!(now(&mut slow), Some(FeedItem::Lagged));
    drop(slow);
    assert_eq!(size(&feed), (0, 0));
}

#[test]
fn one_thing_may_be_as_large_as_it_is() {
    let feed = Feed::default();
    let (mut slow, large) = (following(&feed), "x".repeat(3 * MAX_CONTENT));
    feed.tell(&text("a", &large, true), false);
    assert_eq!(*next_update(&mut slow), text("a", &large, true));
    for id in ["a", "b"] {
        feed.tell(&chunk(id, Part::text(&*large), false, true), false);
    }
    assert!(size(&feed).1 == 0, "the task holds a whole artifact anyway");
    assert_eq!(*next_update(&mut slow), chunk("a", Part::text(&*large), false, true));
}

#[test]
fn dropping_frees_at_once() {
    let feed = Feed::default();
    let (gone, stays) = (following(&feed), following(&feed));
    feed.tell(&said("x"), false);
    assert_eq!(size(&feed).0, 1);
    drop(gone);
    assert!(feed.is_followed() && size(&feed).0 == 1);
    drop(stays);
    assert!(!feed.is_followed() && size(&feed) == (0, 0));
    feed.tell(&said("y"), false);
    assert_eq!(size(&feed), (0, 0), "no subscriber is left");
}

#[test]
fn a_feed_that_is_dropped_ends_what_is_told() {
    let feed = Feed::default();
    let mut follower = following(&feed);
    feed.tell(&said("x"), false);
    drop(feed);
    assert_eq!(*next_update(&mut follower), said("x"));
    assert_eq!(now(&mut follower), None);
}

#[test]
fn who_waits_is_woken() {
    struct WakeCounter(AtomicUsize);
    impl Wake for WakeCounter {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let count = Arc::new(WakeCounter(AtomicUsize::new(0)));
    let waker = Waker::from(count.clone());
    let feed = Feed::default();
    let mut followers: Vec<_> = (0..1_000).map(|_| following(&feed)).collect();
    let mut all = Vec::new();
    for follower in &mut followers {
        let mut next = Box::pin(follower.next());
        assert!(next.poll_unpin(&mut Context::from_waker(&waker)).is_pending());
        all.push(next);
    }
    feed.tell(&said("x"), false);
    feed.tell(&said("y"), false);
    assert_eq!(count.0.load(Ordering::SeqCst), 1_000, "each once");
    assert!(all.into_iter().all(|next| next.now_or_never().is_some()));
}

#[tokio::test]
async fn another_thread_tells() {
    let feed = Feed::default();
    let mut follower = following(&feed);
    let teller = std::thread::spawn(move || {
        for n in 0..500 {
            feed.tell(&said(&n.to_string()), n == 499);
        }
        feed
    });
    for n in 0..500 {
        let Some(FeedItem::Update(feed_update, is_last)) = follower.next().await else { panic!("{n} is reported") };
        assert_eq!((&*feed_update, is_last), (&said(&n.to_string()), n == 499));
    }
    assert_eq!(follower.next().await, None);
    drop(teller.join());
}

/// The result of a task, as its worker has it and as a subscriber assembles it.
#[derive(Debug, Clone, Default, PartialEq)]
struct AssembledTask {
    artifacts: Vec<(Arc<str>, Vec<Part>)>,
    said: Vec<String>,
}

impl AssembledTask {
    fn take(&mut self, feed_update: &FeedUpdate) {
        match feed_update {
            FeedUpdate::Frame(Frame::Status(update)) => {
                self.said.extend(update.status.message.iter().map(|m| m.text()));
            }
            FeedUpdate::Frame(Frame::Artifact(update)) => self.take_artifact(update),
            FeedUpdate::Frame(Frame::Task(_) | Frame::Message(_)) | FeedUpdate::Reminder(_) => {}
        }
    }

    fn take_artifact(&mut self, update: &ArtifactUpdate) {
        let id = &update.artifact.artifact_id;
        let at = self.artifacts.iter().position(|(known, _)| known == id).unwrap_or_else(|| {
            self.artifacts.push((id.clone(), Vec::new()));
            self.artifacts.len() - 1
        });
        let parts = &mut self.artifacts[at].1;
        if !update.append {
            parts.clear();
        }
        for part in &update.artifact.parts {
            match (&part.content, parts.last_mut()) {
                // Chunks do not mark the boundary between two texts.
                (Content::Text(more), Some(last @ Part { content: Content::Text(_), .. })) => {
                    *last = Part::text(format!("{}{more}", text_of(std::slice::from_ref(last))));
                }
                _ => parts.push(part.clone()),
            }
        }
    }

    /// Sorts by id: replacing the beginning of an artifact loses the order of first appearance.
    fn sorted(mut self) -> AssembledTask {
        self.artifacts.sort_by(|(one, _), (two, _)| one.cmp(two));
        self
    }
}

#[derive(Debug, Clone)]
enum Step {
    Tell(FeedUpdate),
    /// The given subscriber reads this many pending items.
    Read(usize, usize),
    Drop(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let id = prop_oneof![Just("a"), Just("b")];
    let step = prop_oneof![
        6 => (id.clone(), "[a-zé]{0,4}", prop::bool::weighted(0.8), prop::bool::weighted(0.1))
            .prop_map(|(id, text, append, last)| Step::Tell(chunk(id, Part::text(text), append, last))),
        1 => (id, 0..9_i64).prop_map(|(id, n)| Step::Tell(chunk(id, Part::data(Data::Int(n)), true, false))),
        2 => "[a-z]{1,3}".prop_map(|text| Step::Tell(said(&text))),
        4 => (0..4_usize, 0..6_usize).prop_map(|(who, many)| Step::Read(who, many)),
        1 => (0..4_usize).prop_map(Step::Drop),
    ];
    prop::collection::vec(step, 0..200)
}

fn read(subscription: &mut Subscription, made: &mut AssembledTask, most: usize) {
    for _ in 0..most {
        match subscription.next().now_or_never() {
            Some(Some(FeedItem::Update(feed_update, _))) => made.take(&feed_update),
            Some(Some(FeedItem::Lagged | FeedItem::Left)) => panic!("so few fit"),
            Some(None) | None => return,
        }
    }
}

proptest! {
    #[test]
    fn who_follows_comes_to_what_the_task_has_made(steps in steps()) {
        let (feed, mut made) = (Feed::default(), AssembledTask::default());
        let mut followers: Vec<_> = (0..4).map(|_| Some((following(&feed), AssembledTask::default()))).collect();
        for step in steps {
            match step {
                Step::Tell(feed_update) => {
                    feed.tell(&feed_update, false);
                    made.take(&feed_update);
                }
                Step::Read(who, most) => {
                    if let Some((subscription, made)) = &mut followers[who] {
                        read(subscription, made, most);
                    }
                }
                // One subscriber stays to the end, and reads only there.
                Step::Drop(who) => followers[who.max(1)] = None,
            }
        }
        feed.tell(&said("end"), true);
        made.take(&said("end"));
        for (mut subscription, mut reconstructed) in followers.into_iter().flatten() {
            read(&mut subscription, &mut reconstructed, usize::MAX);
            prop_assert_eq!(reconstructed.sorted(), made.clone().sorted());
        }
        prop_assert_eq!(size(&feed), (0, 0));
    }
}

#[test]
fn what_reminders_say_is_content() {
    use crate::a2a::injection::TaskInjections;
    use crate::host::ReminderEvent;
    use runtime::reminder::{ReminderSource, ReminderSpec};
    let feed = Feed::default();
    let mut slow = following(&feed);
    for n in 0..8 {
        let body = "x".repeat(MAX_CONTENT / 4);
        let reminder = ReminderSpec::new(body).into_reminder(format!("r{n}").into(), ReminderSource::Bridge, 0);
        let event = ReminderEvent::Emitted { reminder: reminder.into(), turn: 1 };
        feed.tell(&FeedUpdate::Reminder(Arc::new(PeerReminderEvent::of(event, &TaskInjections::default()))), false);
    }
    assert_eq!(size(&feed), (4, MAX_CONTENT));
    assert_eq!(now(&mut slow), Some(FeedItem::Lagged));
}
