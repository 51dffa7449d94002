//! A loop that is stopped after any of its polls, cancelled or simply dropped: no accepted item is lost, no tool call
//! is left without its answer, and the session remains usable.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use base::call::Outcome;
use runtime::agent_loop::{LoopOptions, LoopResult, agent_loop};
use runtime::event_log::Topic;
use runtime::loop_status::LoopStatus;
use runtime::message::Role;
use runtime::session::Session;

use crate::judge::balances;

mod scene;

use scene::Scene;

#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

type Looping<'a> = Pin<Box<dyn Future<Output = Outcome<LoopResult>> + 'a>>;

/// Polls `polls` times or until the loop is done; time advances when no task can make progress.
fn poll(scene: &Scene, looping: &mut Looping<'_>, polls: usize) -> Option<Outcome<LoopResult>> {
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(woken.clone());
    for _ in 0..polls {
        if let Poll::Ready(ended) = looping.as_mut().poll(&mut Context::from_waker(&waker)) {
            return Some(ended);
        }
        if !woken.0.swap(false, Ordering::Relaxed) {
            let next = scene.clock.next_wake().expect("nobody is woken and nobody sleeps: the loop hangs");
            scene.clock.advance(next.saturating_sub(base::clock::Clock::now_ms(&scene.clock)));
            woken.0.store(false, Ordering::Relaxed);
        }
    }
    None
}

/// Maximum number of polls that a loop may take, cancelled or not.
const MOST: usize = 10_000;

#[test]
fn a_loop_that_is_cancelled_after_any_poll_ends_as_it_should() {
    let mut statuses = BTreeSet::new();
    for polls in 1..MOST {
        let scene = Scene::new();
        let mut looping: Looping<'_> =
            Box::pin(agent_loop(&scene.session, &scene.scope, &scene.parts, scene.options.clone()));
        let ended = poll(&scene, &mut looping, polls);
        let by_itself = ended.is_some();
        let ended = ended.unwrap_or_else(|| {
            scene.scope.cancel.cancel("enough");
            poll(&scene, &mut looping, MOST).expect("a cancelled loop ends")
        });
        drop(looping);
        let result = ended.unwrap_or_else(|thrown| panic!("after {polls} polls: {thrown}"));
        statuses.insert(result.status.as_str());
        let ends = [scene.ends[0].get(), scene.ends[1].get()];
        assert_eq!(ends, [1, 1], "`loop_exit` and `session_end` are told, after {polls} polls");
        judge(&scene, polls);
        if by_itself {
            assert_eq!(statuses.into_iter().collect::<Vec<_>>(), ["cancelled", "done"]);
            return everything_happened(&scene, &result, polls);
        }
    }
    panic!("the loop does not end");
}

/// Checks that the scene covers everything it claims.
fn everything_happened(scene: &Scene, result: &LoopResult, polls: usize) {
    let events: Vec<_> = result.transcript.events().map(|event| event.kind.as_ref().to_owned()).collect();
    let records = scene.log.records();
    let told = |word: &str| records.iter().filter(|record| record.kind.ends_with(word)).count();
    assert!(events.iter().any(|kind| kind == "compaction"), "{events:?}");
    assert_eq!(scene.all().len(), 2, "a sub-agent");
    for word in [".injected", ".inherited", ".fired", ".expired", ".deduped", ".audited", ".delivered"] {
        assert!(told(word) > 0, "{word}");
    }
    // Five answers, one for the last injection, one for the wake-up of the daemon.
    assert_eq!(
        (result.iterations, result.tools.rejected.len() > 3, result.tools.successful.len() > 2),
        (7, true, true)
    );
    assert!(polls > 60, "{polls} polls");
}

#[test]
fn a_loop_that_is_dropped_after_any_poll_leaves_a_session_that_can_go_on() {
    for polls in 1..MOST {
        let scene = Scene::new();
        let mut looping: Looping<'_> =
            Box::pin(agent_loop(&scene.session, &scene.scope, &scene.parts, scene.options.clone()));
        let ended = poll(&scene, &mut looping, polls);
        drop(looping);
        judge(&scene, polls);
        if ended.is_some() {
            return;
        }
        // The next loop finds the session free and a conversation that any wire accepts.
        let options = LoopOptions { daemon: None, ..scene.options.clone() };
        let mut next: Looping<'_> = Box::pin(agent_loop(&scene.session, &scene.scope, &scene.parts, options));
        let result = poll(&scene, &mut next, MOST).expect("it ends").unwrap();
        drop(next);
        assert_eq!(result.status, LoopStatus::Done, "after {polls} polls");
        judge(&scene, polls);
    }
    panic!("the loop does not end");
}

fn judge(scene: &Scene, polls: usize) {
    let balances = balances(&scene.log);
    for session in scene.all() {
        let at = format!("in {} after {polls} polls", session.id());
        let left = balances.get(session.id()).copied().unwrap_or(0);
        assert_eq!(left, session.transcript().pending_count() as i64, "what the log says is pending, {at}");
        assert!(!session.is_busy(), "{at}");
        no_call_dangles(&session, &at);
        accepted_is_accounted_for(scene, &session, &at);
    }
}

/// Checks that each message with tool calls is directly followed by one answer per call.
fn no_call_dangles(session: &Session, at: &str) {
    let transcript = session.transcript();
    let mut open: Vec<Arc<str>> = Vec::new();
    for message in transcript.messages() {
        match message.tool_call_id.as_ref().filter(|_| message.role == Role::Tool) {
            Some(id) => {
                let place = open.iter().position(|call| call == id);
                open.remove(place.unwrap_or_else(|| panic!("an answer to no call, {at}")));
            }
            None => {
                assert!(open.is_empty(), "{open:?} have no answer, {at}");
                open = message.tool_calls.iter().map(|call| call.id.clone()).collect();
            }
        }
    }
    assert!(open.is_empty(), "{open:?} have no answer, {at}");
}

/// Checks that each accepted item is queued or has exactly one outcome on the log.
fn accepted_is_accounted_for(scene: &Scene, session: &Session, at: &str) {
    let mut items: BTreeMap<Arc<str>, (usize, usize)> = BTreeMap::new();
    for record in scene.log.records().iter().filter(|record| record.topic.as_ref() == Topic::Injection.as_str()) {
        if record.payload.get("session_id").as_str() != Some(session.id()) {
            continue;
        }
        let item = items.entry(record.payload.get("id").as_shared_str().unwrap()).or_default();
        if record.kind.ends_with(".queued") { item.0 += 1 } else { item.1 += 1 }
    }
    let queue = session.queue().lock().unwrap();
    for item in queue.pending() {
        items.get_mut(&item.id).unwrap_or_else(|| panic!("{} was never accepted, {at}", item.id)).1 += 1;
    }
    for (id, fate) in items {
        assert_eq!(fate, (1, 1), "{id} was accepted once and has one fate, {at}");
    }
}
