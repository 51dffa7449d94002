use std::sync::Arc;

use base::ids::{IdStream, SharedIds};

use crate::capabilities::Capabilities;
use crate::lifecycle::archive::{CompactOptions, Strategy, Summary, begin};
use crate::lifecycle::import::{Imported, TranscriptError};
use crate::lifecycle::{LifecycleContext, Selector, clear, fire, inject, post_turn};
use crate::message::{Message, Role, ToolCall};
use crate::reminder::{ReminderSource, ReminderSpec};
use crate::render::{RenderOptions, render};

use super::*;

fn ids() -> SharedIds {
    SharedIds::new(IdStream::new(1, "t"))
}

fn read(json: &str) -> Result<Transcript, TranscriptError> {
    Transcript::from_data(&Data::from_json(json).unwrap(), &ids(), 1)
}

fn with_moment<R>(run: impl FnOnce(&LifecycleContext<'_>) -> R) -> R {
    let (ids, id): (_, Arc<str>) = (ids(), "t".into());
    run(&LifecycleContext { session_id: &id, task_id: None, agent_id: None, turn: 0, now_ms: 1, ids: &ids })
}

#[test]
fn what_crosses_threads_is_send() {
    fn send<T: Send + Sync>() {}
    send::<Transcript>();
    send::<crate::reminder::Reminder>();
    send::<TranscriptEvent>();
    send::<Message>();
    send::<Data>();
    send::<eventlog::Record>();
    send::<crate::agent_loop::LoopState>();
    send::<crate::reminder::bridge::SharedQueue>();
}

#[test]
fn the_guides_event_is_made_to_the_letter() {
    let dict = r#"{"id":"R","tags":["token_pressure"],"dedupe_key":"token_pressure","ttl_turns":3,"preserve_on_compact":true,"propagate":"session","role_hint":"developer","source":"stdlib_provider","body":"Approaching context window cap.","fired_at_turn":4}"#;
    let event = TranscriptEvent::of_reminder(&Data::from_json(dict).unwrap(), &ids(), 1).to_data(0);
    assert_eq!(event.get("reminder"), &Data::from_json(dict).unwrap());
    assert_eq!(event.get("metadata"), event.get("reminder"));
    assert_ne!(event.get("id"), event.at("reminder.id"));
    let rest = r#"{"kind":"system_reminder","role":"developer","visibility":"public","text":"Approaching context window cap.","blocks":[{"type":"text","text":"Approaching context window cap.","visibility":"public"}]}"#;
    for (key, value) in Data::from_json(rest).unwrap().as_dict().unwrap() {
        assert_eq!(event.get(key), value, "{key}");
    }
    assert_eq!(event.as_dict().unwrap().len(), 8);
}

#[test]
fn the_lenient_builder_falls_back() {
    let dict = r#"{"body":"x","propagate":"everywhere","role_hint":7,"source":"me","ttl_turns":-1,"tags":"a"}"#;
    let event = TranscriptEvent::of_reminder(&Data::from_json(dict).unwrap(), &ids(), 1).to_data(0);
    let reminder = event.get("reminder");
    let got = ["propagate", "role_hint", "source", "ttl_turns", "dedupe_key"]
        .map(|key| reminder.get(key).to_text().to_string());
    assert_eq!(got, ["session", "system", "in_pipeline", "", ""]);
}

#[test]
fn a_transcript_survives_being_written_and_read() {
    let json = r#"{"messages":[{"role":"user","content":"hi"},
        {"kind":"system_reminder","reminder":{"id":"R","body":"b","ttl_turns":2}}],"title":"x","summary":"s"}"#;
    let t = read(json).unwrap();
    assert_eq!((t.messages().len(), t.pending_count()), (1, 1), "a reminder's event is no message");
    assert_eq!(t.metadata.get("title").as_str(), Some("x"));
    let again = Transcript::from_data(&t.to_data(), &ids(), 9).unwrap();
    assert_eq!(again.to_data(), t.to_data());
    assert_eq!(t.to_data().as_dict().unwrap().keys().map(AsRef::as_ref).collect::<Vec<_>>(), t.keys());
    assert!(t.find("R").is_some() && again.find("R").is_some());
}

#[test]
fn bad_input_says_where() {
    for (json, part) in [
        ("[]", "a transcript must be made from a dict, got list"),
        (r#"{"messages":{}}"#, "`messages` of a transcript must be a list of messages, got dict"),
        (r#"{"messages":[{"role":"user"},{"role":"usr"}]}"#, "message 1: `role` of a message"),
        (r#"{"_type":"transcript","version":9}"#, "version 9; the newest supported version is 1"),
        (r#"{"_type":"transcript","events":[1]}"#, "`events` of a transcript must be a list of dicts"),
    ] {
        let error = read(json).unwrap_err().to_string();
        assert!(error.contains(part), "{json}: {error}");
    }
}

#[test]
fn an_older_version_stays_as_it_was() {
    with_moment(|at| {
        let before = Transcript::new("t".into());
        let mut after = before.clone();
        inject(&mut after, ReminderSpec::new("x"), ReminderSource::InPipeline, None, at);
        assert_eq!((before.pending_count(), after.pending_count()), (0, 1));
    });
}

#[test]
fn holes_are_closed_and_everything_is_still_found() {
    with_moment(|at| {
        let mut t = Transcript::new("t".into());
        let mut ids = Vec::new();
        for n in 0..100 {
            let spec = ReminderSpec { dedupe_key: Some(format!("k{}", n % 60).into()), ..ReminderSpec::new("x") };
            ids.push(inject(&mut t, spec, ReminderSource::InPipeline, None, at).reminder.id.clone());
        }
        for id in &ids[30..80] {
            clear(&mut t, &Selector { id: Some(id.clone()), ..Selector::default() });
        }
        assert!(t.events.len() <= 2 * t.event_count(), "{} slots for {} events", t.events.len(), t.event_count());
        // The first forty were replaced by the last forty; of these the clear took twenty.
        assert_eq!(t.pending_count(), 20);
        assert!(ids[80..].iter().all(|id| t.find(id).is_some()) && ids[..80].iter().all(|id| t.find(id).is_none()));
        assert!(!t.is_crowded(), "the index knows every key, so no look-up needs a scan");
        let by_key = Selector { dedupe_key: Some("k39".into()), ..Selector::default() };
        assert_eq!((clear(&mut t, &by_key).len(), t.pending_count()), (1, 19));
    });
}

#[test]
fn ids_from_elsewhere_are_found_among_others() {
    with_moment(|at| {
        let mut t = read(r#"{"messages":[{"kind":"system_reminder","id":"zzz","body":"early"}]}"#).unwrap();
        let own = inject(&mut t, ReminderSpec::new("own"), ReminderSource::InPipeline, None, at).reminder.id.clone();
        assert!(t.find("zzz").is_some() && t.find(&own).is_some() && t.find("nobody").is_none());
    });
}

#[test]
fn what_is_read_is_recorded_as_a_copy() {
    let json = r#"{"_type":"transcript","id":"t","messages":[{"kind":"system_reminder","reminder":{"id":"3","body":"c"}}],"events":[
        {"kind":"system_reminder","reminder":{"id":"1","body":"a","dedupe_key":"k"}},
        {"kind":"note","text":"x"},
        {"kind":"system_reminder","reminder":{"id":"2","body":"b","dedupe_key":"k"}},
        {"kind":"system_reminder","delivery":"audit_only","reminder":{"id":"4","body":"d"}},
        {"kind":"system_reminder","reminder":{"id":"1","body":"a again","dedupe_key":"k"}}]}"#;
    let Imported { transcript: t, records, .. } =
        Transcript::import(&Data::from_json(json).unwrap(), &ids(), 1).unwrap();
    let told: Vec<_> = records.iter().map(|record| record.kind().as_str()).collect();
    assert_eq!(told, ["forked", "forked", "deduped", "forked", "forked"]);
    let bodies: Vec<_> = t.pending().map(|pending| pending.reminder.body.to_string()).collect();
    assert_eq!(bodies, ["b", "a again", "c"], "a key may stand twice, a reminder may not");
    assert_eq!(t.event_count(), 5);
}

#[test]
fn no_cut_parts_a_call_from_its_result() {
    let parted = |t: &Transcript| {
        let messages: Vec<_> = t.messages().iter().collect();
        let is_result = |n: usize| messages.get(n).is_some_and(|message: &&Arc<Message>| message.role == Role::Tool);
        (0..messages.len()).any(|n| messages[n].tool_calls.is_empty() == is_result(n + 1)) || is_result(0)
    };
    let whole = conversation();
    assert!(!parted(&whole));
    for keep in 0..=20 {
        let (mut last, mut first) = (whole.clone(), whole.clone());
        last.keep_last(keep);
        first.keep_first(keep);
        assert!(!parted(&last) && last.messages().len() <= keep, "the last {keep}");
        assert!(!parted(&first) && first.messages().len() <= keep, "the first {keep}");
        assert!(keep - last.messages().len() <= 1 && keep - first.messages().len() <= 1, "no more is lost than a half");
    }
}

#[test]
fn after_a_compaction_events_stand_where_they_stood() {
    with_moment(|at| {
        let mut t = conversation();
        let kept = ReminderSpec { preserve_on_compact: true, ..ReminderSpec::new("early") };
        inject(&mut t, kept.clone(), ReminderSource::InPipeline, None, at);
        for text in ["question", "another"] {
            t.push_message(Arc::new(Message::user(text)));
        }
        inject(&mut t, ReminderSpec { body: "late".into(), ..kept }, ReminderSource::InPipeline, None, at);
        let options = CompactOptions { keep_last: Some(2), ..CompactOptions::default() };
        let note = Summary::Text("so far".into());
        let compacted = begin(&t, options).unwrap().finish(t.clone(), note, at).unwrap().transcript;
        assert_eq!(compacted.messages().len(), 3);
        let bodies = |t: &Transcript| t.pending().map(|p| p.reminder.body.to_string()).collect::<Vec<_>>();
        let mut copy = compacted.clone();
        copy.keep_first(1);
        assert_eq!(bodies(&copy), ["early"], "it came before the messages that were kept");
        let mut copy = compacted.clone();
        assert_eq!(copy.keep_last(2).len(), 1);
        assert_eq!(bodies(&copy), ["late"], "it came after the first of them");
    });
}

/// A guard against slow structures that needs no clock: an event whose count rises was copied along with its
/// neighbours.
#[test]
fn a_change_to_a_copy_touches_few_events() {
    with_moment(|at| {
        let spec = |n: usize| ReminderSpec {
            dedupe_key: Some(n.to_string().into()),
            ttl_turns: Some(9),
            ..ReminderSpec::new("x")
        };
        let mut t = Transcript::new("t".into());
        for n in 0..10_000 {
            inject(&mut t, spec(n), ReminderSource::InPipeline, None, at);
        }
        let touched = |change: &dyn Fn(&mut Transcript)| {
            let mut copy = t.clone();
            change(&mut copy);
            t.events.all().iter().filter(|event| Arc::strong_count(event) > 1).count()
        };
        let by_key = Selector { dedupe_key: Some("5000".into()), ..Selector::default() };
        assert_eq!(touched(&|copy| assert_eq!(clear(copy, &by_key).len(), 1)), 0, "what is gone is a bit");
        let keyed = touched(&|copy| drop(inject(copy, spec(5_000), ReminderSource::InPipeline, None, at)));
        assert!(keyed <= 64, "{keyed} events were copied along by an inject with a key");
        copy_after_a_turn(&t, at);
    });
}

/// Checks that a turn in which nothing expires copies nothing.
fn copy_after_a_turn(t: &Transcript, at: &LifecycleContext<'_>) {
    let mut copy = t.clone();
    let pending: Vec<_> = t.pending().map(|pending| pending.reminder.as_ref()).collect();
    let rendered = render(pending, &Capabilities::default(), RenderOptions::default());
    fire(&mut copy, &rendered, true, at);
    post_turn(&mut copy);
    assert_eq!(copy.ttl_left(copy.pending().next().unwrap()), Some(8));
    assert!(t.events.all().ptr_eq(copy.events.all()));
}

#[test]
fn what_is_found_by_id_is_found_past_holes() {
    with_moment(|at| {
        let mut t = Transcript::new("t".into());
        let admit = |t: &mut Transcript| {
            inject(t, ReminderSpec::new("x"), ReminderSource::InPipeline, None, at).reminder.id.clone()
        };
        let ids: Vec<_> = (0..200).map(|_| admit(&mut t)).collect();
        let by_id = |id: &Arc<str>| Selector { id: Some(id.clone()), ..Selector::default() };
        for id in &ids[..90] {
            assert_eq!(clear(&mut t, &by_id(id)).len(), 1);
            assert_eq!(clear(&mut t, &by_id(id)).len(), 0, "a hole is no reminder");
        }
        assert_eq!((t.pending_count(), t.event_count(), t.events().count()), (110, 110, 110));
        assert!(ids[90..].iter().all(|id| t.find(id).is_some()));
    });
}

fn conversation() -> Transcript {
    let call = ToolCall::new("c", "read", Data::empty_dict());
    let mut t = Transcript::new("t".into());
    for n in 0..5 {
        for message in [
            Message::user(format!("question {n}")),
            Message::assistant("", vec![call.clone()]),
            Message::tool_result(&call, "text", true),
            Message::assistant("answer", vec![]),
        ] {
            t.push_message(Arc::new(message));
        }
    }
    t
}

#[test]
fn compaction_cuts_where_no_tool_result_loses_its_call() {
    for keep_last in 1..20 {
        let options = CompactOptions { keep_last: Some(keep_last), ..CompactOptions::default() };
        let before = conversation();
        let begun = begin(&before, options).unwrap();
        let note = begun.truncation_note();
        let after = with_moment(|at| begun.finish(before, Summary::Text(note.clone()), at)).unwrap().transcript;
        assert_eq!(after.messages()[0].text(), note);
        assert!(after.messages().get(1).is_none_or(|first| first.role != Role::Tool), "keep_last {keep_last}");
        assert!(after.messages().len() <= keep_last + 1);
    }
}

#[test]
fn a_compaction_that_does_not_happen_changes_nothing() {
    with_moment(|at| {
        let mut t = conversation();
        let spec = ReminderSpec { ttl_turns: Some(1), ..ReminderSpec::new("x") };
        inject(&mut t, spec, ReminderSource::InPipeline, None, at);
        assert!(begin(&t, CompactOptions { keep_last: Some(20), ..CompactOptions::default() }).is_none());
        let under = CompactOptions { target_tokens: Some(1_000_000), ..CompactOptions::default() };
        assert!(begin(&t, under).is_none());
        // Begun and vetoed: the transcript itself is unchanged.
        assert_eq!(begin(&t, CompactOptions::default()).unwrap().survivors.len(), 0);
        assert_eq!(t.pending_count(), 1);
    });
}

#[test]
fn a_custom_compactor_sees_reminders_before_the_filter() {
    with_moment(|at| {
        let mut t = conversation();
        for (body, preserve_on_compact) in [("kept", true), ("lost", false)] {
            let spec = ReminderSpec { preserve_on_compact, ttl_turns: Some(3), ..ReminderSpec::new(body) };
            inject(&mut t, spec, ReminderSource::InPipeline, None, at);
        }
        t.push_event("e".into(), "hook", Data::empty_dict());
        let begun = begin(&t, CompactOptions { strategy: Strategy::Custom, ..CompactOptions::default() }).unwrap();
        assert_eq!((begun.archived.len(), begun.survivors.len()), (20, 2));
        assert_eq!(begun.survivors[0].ttl_turns, Some(2));
        let before = begun.outlook();
        let done = begun.finish(t, Summary::Messages(vec![Arc::new(Message::user("short"))]), at).unwrap();
        let bodies: Vec<_> = done.transcript.pending().map(|p| p.reminder.body.to_string()).collect();
        assert_eq!((bodies, done.transcript.messages().len()), (vec!["kept".to_owned()], 1));
        let kinds: Vec<_> = done.transcript.events().map(|event| event.kind.to_string()).collect();
        assert_eq!(kinds, ["system_reminder", "hook", "compaction"]);
        assert_eq!(done.report.get("reminders_preserved").as_int(), Some(1));
        // The fields that are known before are the same afterwards.
        let fields = |report: &Data| report.as_dict().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(fields(&before), fields(&done.report));
        for same in ["message_count", "archived_messages", "reminders_expired", "reminders_preserved", "keep_last"] {
            assert_eq!(before.get(same), done.report.get(same), "{same}");
        }
        assert_eq!(
            (before.get("message_count").as_int(), before.get("reminders_expired").as_int()),
            (Some(20), Some(0))
        );
        assert_eq!((before.get("remaining_messages"), done.report.get("remaining_messages")), (&0.into(), &1.into()));
    });
}

#[test]
fn what_came_while_somebody_summed_up_stays() {
    with_moment(|at| {
        let mut t = conversation();
        let begun = begin(&t, CompactOptions { keep_last: Some(4), ..CompactOptions::default() }).unwrap();
        t.push_message(Arc::new(Message::user("one more thing")));
        let spec = ReminderSpec { preserve_on_compact: true, ..ReminderSpec::new("late") };
        inject(&mut t, spec, ReminderSource::InPipeline, None, at);
        let again = begun.clone();
        let done = begun.finish(t.clone(), Summary::Text("s".into()), at).unwrap().transcript;
        assert_eq!(done.messages().last().unwrap().text().as_ref(), "one more thing");
        assert_eq!((done.messages().len(), done.pending_count()), (6, 1));
        // Another conversation by now, so it is left unchanged.
        t.keep_last(2);
        assert!(again.finish(t, Summary::Text("s".into()), at).is_none());
    });
}

#[test]
fn masking_keeps_every_message_and_saves_once() {
    with_moment(|at| {
        let mut t = Transcript::new("t".into());
        let call = ToolCall::new("c", "read", Data::empty_dict());
        for text in ["short", &"long ".repeat(200), &"longer ".repeat(200)] {
            t.push_message(Arc::new(Message::tool_result(&call, text, true)));
        }
        let mask = |keep_last| CompactOptions {
            strategy: Strategy::ObservationMask,
            keep_last: Some(keep_last),
            ..CompactOptions::default()
        };
        let begun = begin(&t, mask(1)).unwrap();
        assert_eq!(begun.outlook().get("archived_messages").as_int(), Some(1));
        let summary = Summary::Messages(begun.masked());
        let done = begun.finish(t, summary, at).unwrap().transcript;
        let texts: Vec<_> = done.messages().iter().map(|m| m.text().chars().take(50).collect::<String>()).collect();
        assert_eq!(texts[..2], ["short", "[output masked to save context: 1000 characters]"]);
        assert!(texts[2].starts_with("longer longer"));
        assert!(begin(&done, mask(1)).is_none(), "nothing is left to mask");
    });
}

#[test]
fn handlers_change_what_may_be_changed() {
    let options = CompactOptions::default();
    let changed = |json: &str| options.modified(&Data::from_json(json).unwrap());
    let payload = r#"{"event":"PreCompact","session":{"id":"s"},"mode":"manual","message_count":20,"keep_last":3,"summary":null}"#;
    assert_eq!(changed(payload).unwrap().keep_last, Some(3));
    let all = changed(r#"{"strategy":"llm","target_tokens":9,"summary":"s"}"#).unwrap();
    assert_eq!((all.strategy, all.target_tokens, all.summary.as_deref()), (Strategy::Llm, Some(9), Some("s")));
    for (json, part) in [
        ("3", "`modify` must be a dict, got int"),
        (r#"{"keep_last":"many"}"#, "`keep_last` must be a number of at least 0, got string"),
        (r#"{"keep_last":-1}"#, "`keep_last` must be"),
        (r#"{"strategy":"trunkate"}"#, "unknown `strategy`"),
        (r#"{"kep_last":1}"#, "`kep_last` cannot be changed; did you mean `keep_last`?"),
    ] {
        assert!(changed(json).unwrap_err().contains(part), "{json}: {:?}", changed(json));
    }
}

#[test]
fn a_call_that_waits_for_its_result_is_not_compacted_away() {
    let call = ToolCall::new("open", "read", Data::empty_dict());
    let mut t = conversation();
    t.push_message(Arc::new(Message::assistant("", vec![call.clone()])));
    for strategy in [Strategy::Truncate, Strategy::Custom] {
        let options = CompactOptions { strategy, keep_last: Some(0), ..CompactOptions::default() };
        assert_eq!(begin(&t, options).unwrap().archived.len(), 20, "{strategy}");
    }
    let options = CompactOptions { keep_last: Some(0), ..CompactOptions::default() };
    t.push_message(Arc::new(Message::tool_result(&call, "text", true)));
    t.push_message(Arc::new(Message::user("and?")));
    assert_eq!(begin(&t, options.clone()).unwrap().archived.len(), 20, "no model has seen the result");
    t.push_message(Arc::new(Message::assistant("answer", vec![])));
    assert_eq!(begin(&t, options).unwrap().archived.len(), 24);
}

#[test]
fn tokens_counted_on_the_way_are_those_of_a_new_count() {
    let agree = |t: &mut Transcript| {
        let fresh: usize = t.messages().iter().map(|message| message.estimated_tokens()).sum();
        assert_eq!((t.count_tokens(), t.estimated_tokens()), (fresh, fresh));
    };
    let mut t = Transcript::new("t".into());
    agree(&mut t);
    for n in 0..40 {
        t.push_message(Arc::new(Message::user("word ".repeat(n))));
        if n % 3 == 0 {
            agree(&mut t);
        }
    }
    t.keep_first(30);
    agree(&mut t);
    t.keep_last(10);
    agree(&mut t);
    t.push_message(Arc::new(Message::user("one more")));
    agree(&mut t);
    t.set_messages(t.messages().take(2));
    agree(&mut t);
}
