use std::sync::Arc;

use base::data::Data;
use base::ids::{IdStream, SharedIds};

use crate::capabilities::Capabilities;
use crate::reminder::Propagate;
use crate::render::{RenderOptions, render};

use super::*;

mod rules;

struct World {
    ids: SharedIds,
    session: Arc<str>,
}

impl World {
    fn new() -> World {
        World { ids: SharedIds::new(IdStream::new(1, "s")), session: "s".into() }
    }

    fn at(&self, turn: u32) -> LifecycleContext<'_> {
        LifecycleContext {
            session_id: &self.session,
            task_id: None,
            agent_id: None,
            turn,
            now_ms: 1_000,
            ids: &self.ids,
        }
    }
}

fn spec(body: &str, key: Option<&str>, ttl: Option<u32>) -> ReminderSpec {
    ReminderSpec { dedupe_key: key.map(Into::into), ttl_turns: ttl, ..ReminderSpec::new(body) }
}

fn shown(transcript: &Transcript) -> Rendered {
    let pending: Vec<_> = transcript.pending().map(|pending| pending.reminder.as_ref()).collect();
    render(pending, &Capabilities::default(), RenderOptions::default())
}

fn bodies(transcript: &Transcript) -> Vec<&str> {
    transcript.pending().map(|pending| pending.reminder.body.as_ref()).collect()
}

/// Runs one turn of a loop: a prompt that carries the pending reminders, then `meanwhile`, then the pass.
fn turn(t: &mut Transcript, world: &World, n: u32, meanwhile: impl FnOnce(&mut Transcript)) -> (usize, PassResult) {
    let rendered = shown(t);
    fire(t, &rendered, true, &world.at(n));
    meanwhile(t);
    (rendered.fired.len(), post_turn(t))
}

#[test]
fn a_ttl_of_k_means_in_k_prompts() {
    let world = World::new();
    for k in 1..5 {
        let mut t = Transcript::new("s".into());
        inject(&mut t, spec("before", None, Some(k)), ReminderSource::InPipeline, None, &world.at(0));
        let seen: usize = (1..9).map(|n| turn(&mut t, &world, n, |_| ()).0).sum();
        assert_eq!(seen, k as usize, "made before the loop");
        let mut t = Transcript::new("s".into());
        let late = |t: &mut Transcript| {
            inject(t, spec("late", None, Some(k)), ReminderSource::Hook, None, &world.at(1));
        };
        let first = turn(&mut t, &world, 1, late).0;
        let seen: usize = (2..9).map(|n| turn(&mut t, &world, n, |_| ()).0).sum();
        assert_eq!((first, seen), (0, k as usize), "made in a turn whose prompt was built already");
    }
}

#[test]
fn the_ttl_shown_is_the_number_of_prompts_to_come() {
    let world = World::new();
    let mut t = Transcript::new("s".into());
    inject(&mut t, spec("a", None, Some(3)), ReminderSource::InPipeline, None, &world.at(0));
    let mut left = Vec::new();
    for n in 1..4 {
        left.push(t.ttl_left(t.pending().next().unwrap()));
        turn(&mut t, &world, n, |_| ());
    }
    assert_eq!((left, t.pending_count()), (vec![Some(3), Some(2), Some(1)], 0));
}

#[test]
fn a_prompt_that_nobody_saw_charges_nothing() {
    let world = World::new();
    let mut t = Transcript::new("s".into());
    inject(&mut t, spec("early", None, Some(1)), ReminderSource::InPipeline, None, &world.at(0));
    let rendered = shown(&t);
    fire(&mut t, &rendered, true, &world.at(1));
    inject(&mut t, spec("during", None, Some(1)), ReminderSource::InPipeline, None, &world.at(1));
    void(&mut t);
    assert_eq!(post_turn(&mut t).expired, 0);
    assert_eq!(turn(&mut t, &world, 2, |_| ()).0, 2);
    assert_eq!(t.pending_count(), 0);
}

#[test]
fn what_comes_between_rendering_and_sending_is_not_charged() {
    let world = World::new();
    let mut t = Transcript::new("s".into());
    inject(&mut t, spec("old", Some("k"), Some(2)), ReminderSource::InPipeline, None, &world.at(0));
    let rendered = shown(&t);
    inject(&mut t, spec("new", Some("k"), Some(1)), ReminderSource::Hook, None, &world.at(1));
    fire(&mut t, &rendered, true, &world.at(1));
    assert_eq!(post_turn(&mut t).expired, 0);
    assert_eq!(turn(&mut t, &world, 2, |_| ()).0, 1);
    assert_eq!(t.pending_count(), 0);
}

#[test]
fn the_pass_by_hand_charges_by_turn_of_origin() {
    let world = World::new();
    let mut t = Transcript::new("s".into());
    inject(&mut t, spec("old", None, Some(1)), ReminderSource::InPipeline, None, &world.at(0));
    inject(&mut t, spec("older", None, Some(2)), ReminderSource::InPipeline, None, &world.at(0));
    inject(&mut t, spec("new", None, Some(1)), ReminderSource::InPipeline, None, &world.at(3));
    inject(&mut t, spec("forever", None, None), ReminderSource::InPipeline, None, &world.at(0));
    let passed = post_turn_by_hand(&mut t, 0);
    assert_eq!((passed.expired, passed.decremented, t.pending_count()), (1, 1, 3));
    let ttl: Vec<_> = t.pending().map(|pending| t.ttl_left(pending)).collect();
    assert_eq!(ttl, [Some(1), Some(1), None]);
    // A turn of the loop charges the rest as usual.
    assert_eq!(turn(&mut t, &world, 4, |_| ()).1.expired, 2);
    assert_eq!(bodies(&t), ["forever"]);
}

#[test]
fn the_newest_of_a_key_stays_and_the_log_says_so_in_order() {
    let world = World::new();
    let mut t = Transcript::new("s".into());
    let first = inject(&mut t, spec("1", Some("k"), None), ReminderSource::InPipeline, None, &world.at(0));
    let other = inject(&mut t, spec("2", Some("other"), None), ReminderSource::InPipeline, None, &world.at(0));
    let second = inject(&mut t, spec("3", Some("k"), None), ReminderSource::InPipeline, None, &world.at(0));
    assert_eq!(bodies(&t), ["2", "3"]);
    assert_eq!(second.replaced, std::slice::from_ref(&first.reminder.id));
    assert_eq!(second.records.iter().map(|record| record.kind().as_str()).collect::<Vec<_>>(), ["deduped", "injected"]);
    assert_eq!(t.find(&other.reminder.id).unwrap().reminder, other.reminder);
    assert!(t.find(&first.reminder.id).is_none());
    let log = second.records[0].to_log(&world.at(0));
    assert_eq!(log.payload.get("replaced_id").as_str(), Some(first.reminder.id.as_ref()));
    assert_eq!(log.kind.as_ref(), "transcript.reminder.deduped");
}

#[test]
fn clearing_matches_all_that_is_given() {
    let world = World::new();
    let mut t = Transcript::new("s".into());
    for (body, key, tag) in [("1", Some("a"), "x"), ("2", Some("b"), "x"), ("3", None, "y")] {
        let tagged = ReminderSpec { tags: vec![tag.into()], ..spec(body, key, None) };
        inject(&mut t, tagged, ReminderSource::InPipeline, None, &world.at(0));
    }
    let select = |json: &str| Selector::from_data(&Data::from_json(json).unwrap());
    assert_eq!(clear(&mut t, &select(r#"{"tag":"x","dedupe_key":"c"}"#).unwrap()).len(), 0);
    assert_eq!(clear(&mut t, &select(r#"{"tag":"x","dedupe_key":"a"}"#).unwrap()).len(), 1);
    assert_eq!(clear(&mut t, &select(r#"{"tag":"x"}"#).unwrap()).len(), 1);
    let id = t.pending().next().unwrap().reminder.id.clone();
    assert_eq!(clear(&mut t, &Selector { id: Some(id), tag: Some("x".into()), dedupe_key: None }).len(), 0);
    assert!(select("{}").is_err() && select(r#"{"tags":"x"}"#).unwrap_err().suggestion.as_deref() == Some("tag"));
}

#[test]
fn compaction_takes_ttl_then_dedupe_then_the_filter() {
    let world = World::new();
    let json = r#"{"_type":"transcript","id":"t","messages":[],"events":[
        {"kind":"system_reminder","reminder":{"id":"1","body":"old","dedupe_key":"k","preserve_on_compact":true}},
        {"kind":"system_reminder","reminder":{"id":"2","body":"new","dedupe_key":"k","preserve_on_compact":true}},
        {"kind":"system_reminder","reminder":{"id":"3","body":"short","ttl_turns":1,"preserve_on_compact":true}},
        {"kind":"system_reminder","reminder":{"id":"4","body":"lost","ttl_turns":2}}]}"#;
    let t = Transcript::from_data(&Data::from_json(json).unwrap(), &world.ids, 0).unwrap();
    assert_eq!(t.pending_count(), 4);
    assert!(t.is_crowded());
    let (t, records) = apply(t, LifecycleCommand::Compact(CompactionCharge::All), &world.at(0));
    assert!(!t.is_crowded(), "no key stands twice, so no look-up needs a scan");
    let told: Vec<_> = records
        .iter()
        .filter(|r| r.kind().topic() == crate::event_log::Topic::Reminder)
        .map(|r| (r.kind().as_str(), r.to_log(&world.at(0)).payload.get("reason").to_text().to_string()))
        .collect();
    assert_eq!(told, [("expired", "ttl".into()), ("deduped", String::new()), ("expired", "compaction".into())]);
    assert_eq!(bodies(&t), ["new"]);
}

#[test]
fn children_get_what_the_guide_says() {
    let world = World::new();
    let mut parent = Transcript::new("p".into());
    for propagate in Propagate::ALL {
        let wide = ReminderSpec { propagate: *propagate, ..spec(propagate.as_str(), None, Some(3)) };
        inject(&mut parent, wide, ReminderSource::InPipeline, None, &world.at(0));
    }
    turn(&mut parent, &world, 1, |_| ());
    let mut child = Transcript::new("c".into());
    let admitted = inherit(&mut child, propagation(&parent, &"p".into()), &world.at(0));
    assert_eq!(bodies(&child), ["all", "session"]);
    assert!(
        admitted
            .iter()
            .all(|a| a.reminder.originating_agent_id.as_deref() == Some("p") && a.reminder.ttl_turns == Some(2))
    );
    let mut grandchild = Transcript::new("g".into());
    inherit(&mut grandchild, propagation(&child, &"c".into()), &world.at(0));
    assert_eq!(bodies(&grandchild), ["all"]);
    assert_eq!(grandchild.pending().next().unwrap().reminder.originating_agent_id.as_deref(), Some("p"));
}

#[test]
fn what_is_for_the_record_only_is_never_pending() {
    let world = World::new();
    let mut t = Transcript::new("s".into());
    let reminder = Arc::new(spec("x", None, None).into_reminder("r".into(), ReminderSource::Bridge, 1));
    assert_eq!(audit(&mut t, reminder, &world.at(1)).kind(), LifecycleKind::Audited);
    assert_eq!((t.pending_count(), t.event_count(), shown(&t).fired.len()), (0, 1, 0));
}

#[test]
fn a_turn_that_was_cut_short_is_over_when_the_next_prompt_is_built() {
    let world = World::new();
    let mut t = Transcript::new("s".into());
    inject(&mut t, spec("once", None, Some(1)), ReminderSource::InPipeline, None, &world.at(0));
    inject(&mut t, spec("twice", None, Some(2)), ReminderSource::InPipeline, None, &world.at(0));
    let rendered = shown(&t);
    fire(&mut t, &rendered, true, &world.at(1));
    // A handler threw: no pass.
    let words: Vec<_> = before_prompt(&mut t).iter().map(|record| record.kind().as_str()).collect();
    assert_eq!(words.first(), Some(&"expired"));
    assert_eq!(bodies(&t), ["twice"]);
    assert!(before_prompt(&mut t).is_empty(), "a turn that is over is over once");
    assert_eq!(turn(&mut t, &world, 2, |_| ()).1.expired, 1);
}

#[test]
fn a_void_prompt_moves_only_what_came_after_it() {
    let world = World::new();
    let mut t = Transcript::new("s".into());
    for n in 0..40 {
        inject(
            &mut t,
            spec(&format!("early {n}"), Some(&n.to_string()), Some(2)),
            ReminderSource::Hook,
            None,
            &world.at(0),
        );
    }
    let rendered = shown(&t);
    fire(&mut t, &rendered, true, &world.at(1));
    // Holes are closed on the way, so places move.
    for n in 0..30 {
        clear(&mut t, &Selector { dedupe_key: Some(n.to_string().into()), ..Selector::default() });
    }
    inject(&mut t, spec("late", None, Some(1)), ReminderSource::Hook, None, &world.at(1));
    t.prompt_void();
    let (seen, passed) = turn(&mut t, &world, 2, |_| ());
    assert_eq!((seen, passed.expired, t.pending_count()), (11, 1, 10));
}

#[test]
fn the_same_reminder_again_takes_its_own_place() {
    let world = World::new();
    let mut parent = Transcript::new("p".into());
    inject(&mut parent, spec("b", None, Some(3)), ReminderSource::InPipeline, None, &world.at(0));
    let mut child = Transcript::new("c".into());
    inherit(&mut child, propagation(&parent, &"p".into()), &world.at(0));
    turn(&mut child, &world, 1, |_| ());
    let again = inherit(&mut child, propagation(&parent, &"p".into()), &world.at(0));
    assert_eq!(
        again[0].records.iter().map(|record| record.kind().as_str()).collect::<Vec<_>>(),
        ["deduped", "inherited"]
    );
    assert_eq!(again[0].replaced, [again[0].reminder.id.clone()]);
    assert!(again[0].records[0].to_log(&world.at(0)).payload.get("dedupe_key").is_nil());
    assert_eq!((child.pending_count(), child.ttl_left(child.pending().next().unwrap())), (1, Some(3)));
}

#[test]
fn passes_by_hand_leave_nothing_behind() {
    let world = World::new();
    let mut t = Transcript::new("s".into());
    inject(&mut t, spec("long", None, Some(u32::MAX)), ReminderSource::InPipeline, None, &world.at(0));
    for _ in 0..5_000 {
        post_turn_by_hand(&mut t, 0);
    }
    assert_eq!(t.ttl_left(t.pending().next().unwrap()), Some(u32::MAX - 5_000));
    assert!(t.notes_of_due() < 200, "{} notes of when one reminder is due", t.notes_of_due());
}
