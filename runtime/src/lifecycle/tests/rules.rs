//! The rules of reminders and the budget of a prompt.

use crate::reminder::ExpireReason;
use crate::reminder::slots::estimated_tokens;
use crate::reminder::{ModelBodies, Priority, Refresh, ReminderRules};
use crate::transcript::StoredFirings;

use super::*;

/// Reminders without room, each with the one before it.
type Outranked = Vec<(Arc<str>, Option<Arc<str>>)>;

fn ruled(body: &str, key: Option<&str>, rules: ReminderRules) -> ReminderSpec {
    ReminderSpec { rules: rules.shared(), ..spec(body, key, None) }
}

fn put(t: &mut Transcript, world: &World, spec: ReminderSpec) -> Arc<str> {
    inject(t, spec, ReminderSource::InPipeline, None, &world.at(0)).reminder.id.clone()
}

/// Runs one turn of a loop with a budget. Returns the bodies shown, and the reasons of the records of waiting.
fn turn_with(t: &mut Transcript, world: &World, input: &SelectInput<'_>) -> (Vec<String>, Vec<&'static str>) {
    before_prompt(t);
    let selection = select(t, input);
    let rendered = render(&selection.shown, &Capabilities::default(), RenderOptions::default());
    fire(t, &rendered, true, &world.at(0));
    post_turn(t);
    let waits = selection.records.iter().filter_map(|record| match record {
        LifecycleRecord::Deferred(deferral) => Some(deferral.reason.as_str()),
        _ => None,
    });
    (selection.shown.iter().map(|shown| shown.body.to_string()).collect(), waits.collect())
}

/// Returns in which of the next turns something is shown, as `x` and `.`.
fn pattern(t: &mut Transcript, world: &World, turns: usize) -> String {
    let input = SelectInput::default();
    (0..turns).map(|_| if turn_with(t, world, &input).0.is_empty() { '.' } else { 'x' }).collect()
}

fn of(change: impl FnOnce(&mut ReminderRules)) -> ReminderRules {
    let mut rules = ReminderRules::default();
    change(&mut rules);
    rules
}

#[test]
fn each_rule_counts_the_prompts_that_carried_the_key() {
    let world = World::new();
    for (rules, expected) in [
        (of(|rules| rules.cooldown_turns = Some(2)), "x..x..x.."),
        (of(|rules| rules.every = Some(3)), "x..x..x.."),
        (of(|rules| rules.every = Some(1)), "xxxxxxxxx"),
        (of(|rules| rules.max_times = Some(2)), "xx......."),
        (of(|rules| rules.refresh = Refresh::OnChange), "x........"),
        (of(|rules| (rules.cooldown_turns, rules.max_times) = (Some(1), Some(2))), "x.x......"),
    ] {
        let mut t = Transcript::new("s".into());
        put(&mut t, &world, ruled("b", Some("k"), rules.clone()));
        assert_eq!(pattern(&mut t, &world, 9), expected, "{rules:?}");
    }
}

#[test]
fn a_beat_that_was_missed_is_made_up_and_the_rhythm_stays() {
    let world = World::new();
    let mut t = Transcript::new("s".into());
    let id = put(&mut t, &world, ruled("b", None, of(|rules| rules.every = Some(3))));
    assert_eq!(pattern(&mut t, &world, 3), "x..");
    let hidden = [(id, ConditionVerdict::Hidden)];
    let waits = turn_with(&mut t, &world, &SelectInput { verdicts: &hidden, ..SelectInput::default() });
    assert_eq!(waits, (Vec::new(), vec!["when"]));
    let shown = [(hidden[0].0.clone(), ConditionVerdict::Shown)];
    let next = turn_with(&mut t, &world, &SelectInput { verdicts: &shown, ..SelectInput::default() });
    assert_eq!(next.0, ["b"], "due since the fourth prompt, shown in the fifth");
    assert_eq!(pattern(&mut t, &world, 3), ".x.", "due again in the seventh, not in the eighth");
}

#[test]
fn what_is_injected_anew_goes_on_and_what_was_cleared_starts_over() {
    let world = World::new();
    let mut t = Transcript::new("s".into());
    let nag = || ruled("1", Some("k"), of(|rules| rules.escalate = vec!["2".into(), "3".into()]));
    let mut seen = Vec::new();
    for _ in 0..4 {
        put(&mut t, &world, nag());
        seen.extend(turn_with(&mut t, &world, &SelectInput::default()).0);
    }
    assert_eq!(seen, ["1", "2", "3", "3"]);
    clear(&mut t, &Selector { dedupe_key: Some("k".into()), ..Selector::default() });
    put(&mut t, &world, nag());
    assert_eq!(turn_with(&mut t, &world, &SelectInput::default()).0, ["1"]);
    // One that is used up ends before the next prompt, however often it is injected.
    let once = || ruled("once", Some("o"), of(|rules| rules.max_times = Some(1)));
    put(&mut t, &world, once());
    assert!(turn_with(&mut t, &world, &SelectInput::default()).0.contains(&"once".to_owned()));
    put(&mut t, &world, once());
    let records = select(&mut t, &SelectInput::default()).records;
    assert!(matches!(&records[..], [LifecycleRecord::Expired { reason: ExpireReason::MaxTimes, .. }]), "{records:?}");
    // It has ended, and its key can be forgotten all the same.
    clear(&mut t, &Selector { dedupe_key: Some("o".into()), ..Selector::default() });
    put(&mut t, &world, once());
    assert_eq!(select(&mut t, &SelectInput::default()).shown.len(), 2);
}

#[test]
fn waiting_is_told_once_and_charges_nothing() {
    let world = World::new();
    let mut t = Transcript::new("s".into());
    let rules = of(|rules| rules.cooldown_turns = Some(2));
    put(&mut t, &world, ReminderSpec { ttl_turns: Some(2), ..ruled("b", Some("k"), rules) });
    let told: Vec<_> = (0..4).map(|_| turn_with(&mut t, &world, &SelectInput::default()).1).collect();
    assert_eq!(told, [vec![], vec!["cooldown"], vec![], vec![]]);
    assert_eq!(t.pending_count(), 0, "two prompts carried it");
}

#[test]
fn each_of_two_reminders_with_one_key_has_its_own_reason() {
    let world = World::new();
    let mut t = Transcript::new("s".into());
    for body in ["1", "2"] {
        put(&mut t, &world, ruled(body, None, of(|rules| rules.max_times = Some(9))));
    }
    let keyed =
        |event: &Data| event.clone().with("reminder", event.get("reminder").clone().with("dedupe_key", "k".into()));
    let exported = t.to_data();
    let events: Data = exported.get("events").as_list().unwrap().iter().map(keyed).collect();
    let mut t = Transcript::import(&exported.with("events", events), &world.ids, 1).unwrap().transcript;
    let full = SelectInput { budget: Some(0), ..SelectInput::default() };
    let first = t.pending().next().unwrap().reminder.id.clone();
    let hidden = [(first, ConditionVerdict::Hidden)];
    assert_eq!(turn_with(&mut t, &world, &full).1, ["budget", "budget"]);
    let waits = |t: &mut Transcript| turn_with(t, &world, &SelectInput { verdicts: &hidden, ..full }).1;
    assert_eq!(waits(&mut t), ["when"], "the other one waits for the same reason as before");
    assert_eq!(waits(&mut t), Vec::<&str>::new());
}

/// Returns the number of firings of a key.
fn times(t: &Transcript, key: &str) -> u32 {
    let stored = t.stored_firings().by_key;
    stored.iter().find(|(known, _)| known.as_ref() == key).map_or(0, |(_, firing)| firing.times)
}

#[test]
fn a_reminder_without_rules_counts_for_its_key() {
    let world = World::new();
    let mut t = Transcript::new("s".into());
    let plain = |t: &mut Transcript, ttl| put(t, &world, spec("b", Some("k"), ttl));
    plain(&mut t, Some(2));
    for (turns, expected) in [(1, 1), (3, 2)] {
        pattern(&mut t, &world, turns);
        assert_eq!(times(&t, "k"), expected, "while it is pending, and after its end");
    }
    // A void prompt does not count, whether the reminder stays or is removed meanwhile.
    for removes in [false, true] {
        plain(&mut t, None);
        pattern(&mut t, &world, 1);
        let before = times(&t, "k");
        let rendered = shown(&t);
        fire(&mut t, &rendered, true, &world.at(1));
        if removes {
            let id = t.pending().next().unwrap().reminder.id.clone();
            let slot = t.slot_of_id(&id).unwrap();
            t.take_slot(slot);
            t.settle();
        }
        void(&mut t);
        assert_eq!(times(&t, "k"), before, "removes: {removes}");
    }
    // Neither does one that leaves it out.
    plain(&mut t, None);
    let before = times(&t, "k");
    for (budget, more) in [(None, 1), (Some(1), 0), (Some(1), 0), (None, 1)] {
        let counted = times(&t, "k");
        turn_with(&mut t, &world, &SelectInput { budget, ..SelectInput::default() });
        assert_eq!(times(&t, "k") - counted, more, "{budget:?}");
    }
    assert_eq!(times(&t, "k"), before + 2);
    clear(&mut t, &Selector { dedupe_key: Some("k".into()), ..Selector::default() });
    assert_eq!(times(&t, "k"), 0);
}

#[test]
fn firings_and_waits_survive_being_stored() {
    let world = World::new();
    let mut t = Transcript::new("s".into());
    put(&mut t, &world, spec("plain", Some("plain"), None));
    put(&mut t, &world, ruled("nag", Some("nag"), of(|rules| rules.escalate = vec!["louder".into()])));
    let late = put(&mut t, &world, ruled("late", None, of(|rules| rules.when = Some("condition:1".into()))));
    let hidden = [(late, ConditionVerdict::Hidden)];
    let input = SelectInput { verdicts: &hidden, ..SelectInput::default() };
    turn_with(&mut t, &world, &input);
    let first = t.stored_firings();
    turn_with(&mut t, &world, &input);
    let second = t.stored_firings();
    let mut stored = StoredFirings::default();
    for (version, before) in [(&first, StoredFirings::default()), (&second, first.clone())] {
        stored.apply(version.clone().changes_since(&before));
        assert_eq!(stored, *version);
    }
    // The TTLs and rules are those of before.
    let mut restored = Transcript::new("s".into());
    for pending in t.pending() {
        restored.push_pending(pending.reminder.id.clone(), pending.reminder.clone());
    }
    restored.restore_firings(stored);
    assert_eq!(restored.stored_firings(), second);
    // A call that evaluates no conditions hides what did not hold, without another record.
    let selection = select(&mut restored.clone(), &SelectInput::default());
    assert_eq!((selection.shown.len(), selection.records.len()), (2, 0));
    let turn = turn_with(&mut restored, &world, &input);
    assert_eq!(turn, (vec!["plain".to_owned(), "louder".into()], Vec::new()));
    assert_eq!((times(&restored, "plain"), times(&restored, "nag")), (3, 3));
}

#[test]
fn the_keys_shown_longest_ago_are_forgotten_first() {
    let world = World::new();
    let mut t = Transcript::new("s".into());
    put(&mut t, &world, spec("stays", Some("stays"), None));
    for n in 0..1_100 {
        put(&mut t, &world, spec("b", Some(&format!("{n:04}")), Some(1)));
        turn(&mut t, &world, n, |_| ());
    }
    let stored = t.stored_firings().by_key;
    assert_eq!(stored.len(), 1_024);
    assert_eq!((times(&t, "stays"), times(&t, "0076"), times(&t, "0077")), (1_100, 0, 1));
    // All at once.
    for n in 0..3_000 {
        put(&mut t, &world, spec("b", Some(&format!("many {n:04}")), Some(1)));
    }
    turn(&mut t, &world, 1, |_| ());
    assert_eq!((t.stored_firings().by_key.len(), times(&t, "stays")), (1_024, 1_101));
}

#[test]
fn a_void_prompt_is_no_firing() {
    let world = World::new();
    let mut t = Transcript::new("s".into());
    put(&mut t, &world, ruled("b", Some("k"), of(|rules| rules.max_times = Some(1))));
    let selected = select(&mut t, &SelectInput::default()).shown;
    let rendered = render(&selected, &Capabilities::default(), RenderOptions::default());
    fire(&mut t, &rendered, true, &world.at(1));
    let stored = t.stored_firings();
    assert!(stored.is_empty(), "its turn is not over: {stored:?}");
    let copy = t.clone();
    void(&mut t);
    assert_eq!(pattern(&mut t, &world, 2), "x.");
    let mut fork_of = copy;
    fork(&mut fork_of);
    assert_eq!(pattern(&mut fork_of, &world, 2), "x.");
}

#[test]
fn a_compaction_makes_an_unchanged_body_news_again() {
    let world = World::new();
    let mut t = Transcript::new("s".into());
    let rules = || of(|rules| rules.refresh = Refresh::OnChange);
    let kept = ReminderSpec { preserve_on_compact: true, ..ruled("old", Some("k"), rules()) };
    put(&mut t, &world, kept.clone());
    assert_eq!(pattern(&mut t, &world, 3), "x..");
    compact(&mut t, CompactionCharge::Carried);
    preserve_only(&mut t);
    assert_eq!(pattern(&mut t, &world, 3), "x..");
    put(&mut t, &world, kept);
    assert_eq!(pattern(&mut t, &world, 1), ".", "the same body under the same key");
    put(&mut t, &world, ruled("new", Some("k"), rules()));
    assert_eq!(pattern(&mut t, &world, 2), "x.");
}

#[test]
fn a_provider_that_says_the_same_again_refreshes_its_reminder() {
    let world = World::new();
    let mut t = Transcript::new("s".into());
    let said = |t: &mut Transcript, body: &str| {
        let made = spec(body, Some("anchor"), Some(1));
        inject(t, made, ReminderSource::StdlibProvider, Some("anchor".into()), &world.at(0))
    };
    let first = said(&mut t, "here");
    for _ in 0..3 {
        let (seen, passed) = turn(&mut t, &world, 1, |t| {
            let again = said(t, "here");
            assert_eq!((&again.reminder.id, again.replaced.len()), (&first.reminder.id, 0));
            assert!(matches!(&again.records[..], [LifecycleRecord::Refreshed { ttl_turns: Some(1), .. }]));
        });
        assert_eq!((seen, passed.expired), (1, 0), "its turns start over after each prompt");
    }
    assert_eq!(turn(&mut t, &world, 4, |_| ()).1.expired, 1);
    said(&mut t, "here");
    assert_eq!(said(&mut t, "there").replaced.len(), 1, "another body replaces it");
    // Another producer's reminder is replaced like any other.
    let own = inject(&mut t, spec("there", Some("anchor"), Some(1)), ReminderSource::InPipeline, None, &world.at(0));
    assert_eq!(own.replaced.len(), 1);
}

#[test]
fn the_budget_takes_the_higher_ranks_first_and_says_who_was_first() {
    let world = World::new();
    let mut t = Transcript::new("s".into());
    let body = |name: &str| format!("{name}{}", " ".repeat(64));
    let priority = |priority: Priority| of(|rules| rules.priority = priority);
    let low = put(&mut t, &world, ruled(&body("low"), None, priority(Priority::Low)));
    let normal = put(&mut t, &world, spec(&body("normal"), None, None));
    let high = put(&mut t, &world, ruled(&body("high"), None, priority(Priority::High)));
    let critical = put(&mut t, &world, ruled(&body("critical"), None, priority(Priority::Critical)));
    let each = estimated_tokens(&body("normal"));
    let chosen = |t: &mut Transcript, budget: u64| -> (Vec<String>, Outranked) {
        let selection = select(t, &SelectInput { budget: Some(budget), ..SelectInput::default() });
        let outranked = selection.records.into_iter().filter_map(|record| match record {
            LifecycleRecord::Deferred(deferral) => Some((deferral.reminder_id, deferral.outranked_by)),
            _ => None,
        });
        (selection.shown.iter().map(|shown| shown.body.trim().to_owned()).collect(), outranked.collect())
    };
    assert_eq!(chosen(&mut t.clone(), 10 * each).0, ["low", "normal", "high", "critical"]);
    let (shown, outranked) = chosen(&mut t.clone(), 2 * each);
    assert_eq!(shown, ["high", "critical"]);
    assert_eq!(outranked, [&low, &normal].map(|id| (id.clone(), Some(high.clone()))));
    assert_eq!(chosen(&mut t.clone(), 3 * each).0, ["normal", "high", "critical"]);
    let (shown, outranked) = chosen(&mut t, 1);
    assert_eq!(shown, ["critical"], "critical is shown whatever the budget");
    assert_eq!(outranked, [low, normal, high].map(|id| (id, Some(critical.clone()))));
}

#[test]
fn nothing_starves() {
    let world = World::new();
    let mut t = Transcript::new("s".into());
    let (low, huge) = (of(|rules| rules.priority = Priority::Low), of(|rules| rules.priority = Priority::Low));
    put(&mut t, &world, ruled("small", None, low));
    put(&mut t, &world, ruled(&"huge".repeat(100), None, huge));
    let mut first = [None, None];
    for n in 0..40 {
        // A new one of high priority in each turn fills the budget alone.
        let urgent = of(|rules| rules.priority = Priority::High);
        put(&mut t, &world, ReminderSpec { ttl_turns: Some(1), ..ruled(&"u".repeat(60), None, urgent) });
        let (shown, _) = turn_with(&mut t, &world, &SelectInput { budget: Some(19), ..SelectInput::default() });
        for (place, begin) in ["small", "huge"].iter().enumerate() {
            if first[place].is_none() && shown.iter().any(|body| body.starts_with(begin)) {
                first[place] = Some(n);
            }
        }
    }
    assert!(first.iter().all(|first| first.is_some_and(|n| n <= 14)), "{first:?}");
}

#[test]
fn the_body_is_that_of_the_model() {
    let bodies = ModelBodies::from(vec![("claude-*".into(), "for Claude".into())]);
    let rules = of(|rules| (rules.bodies, rules.escalate) = (bodies, vec!["louder".into()]));
    let world = World::new();
    let mut t = Transcript::new("s".into());
    put(&mut t, &world, ruled("for all", Some("k"), rules));
    let mut chosen = |model: &str| {
        let input = SelectInput { model: Some(model), ..SelectInput::default() };
        let shown = select(&mut t, &input).shown;
        let rendered = render(&shown, &Capabilities::default(), RenderOptions::default());
        let records = fire(&mut t, &rendered, true, &world.at(1));
        post_turn(&mut t);
        let told = records[0].to_log(&world.at(1)).payload;
        (shown[0].body.to_string(), told.get("variant").to_text().to_string(), told.get("escalation").as_int())
    };
    assert_eq!(chosen("claude-opus-5"), ("for Claude".into(), "claude-*".into(), Some(1)));
    assert_eq!(chosen("claude-opus-5"), ("louder".into(), String::new(), Some(2)));
    clear(&mut t, &Selector { dedupe_key: Some("k".into()), ..Selector::default() });
}

#[test]
fn conditions_end_hide_and_show() {
    let world = World::new();
    let mut t = Transcript::new("s".into());
    let ids: Vec<_> = ["a", "b", "c", "d"].map(|body| put(&mut t, &world, spec(body, None, Some(1)))).into();
    let verdicts: Vec<_> = ids
        .iter()
        .cloned()
        .zip([ConditionVerdict::Shown, ConditionVerdict::Hidden, ConditionVerdict::Over, ConditionVerdict::Lost])
        .collect();
    let rules = of(|rules| rules.every = Some(1));
    let always = put(&mut t, &world, ruled("e", None, of(|rules| rules.cooldown_turns = Some(1))));
    assert!(rules.shared().is_some() && t.has_rules());
    let selection = select(&mut t, &SelectInput { verdicts: &verdicts, ..SelectInput::default() });
    let told: Vec<_> = selection
        .records
        .iter()
        .map(|record| (record.kind().as_str(), record.to_log(&world.at(1)).payload.get("reason").to_text().to_string()))
        .collect();
    assert_eq!(told, [("expired", "until".into()), ("dropped", "condition_lost".to_owned())]);
    assert!(selection.shown.iter().any(|shown| shown.reminder.id == always));
}
