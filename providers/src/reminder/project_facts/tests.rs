use super::*;
use crate::fact::Draft;
use crate::testing::{TestSession, block_on, fire_raw, scratch};
use runtime::events::EventKind;
use runtime::hooks::HookEvent;
use runtime::reminder_providers::ReminderProvider;

/// A provider over some facts, stored a second apart: `(kind, claim, confidence)`.
fn over(name: &str, namespace: &str, facts: &[(&str, &str, f64)]) -> ProjectFacts {
    let store = Rc::new(Facts::new(Some(scratch(name))));
    let place = store.place(None, Some(namespace)).unwrap();
    for (i, (kind, claim, confidence)) in facts.iter().enumerate() {
        let draft =
            Data::dict([("kind", Data::from(*kind)), ("claim", (*claim).into()), ("confidence", (*confidence).into())]);
        let draft = Draft::from_data(&draft).unwrap();
        store.store(&place, i.to_string().into(), draft, i as u64 * 1000).unwrap();
    }
    ProjectFacts::new(Some(store))
}

fn start(provider: &ProjectFacts, task: &str, config: &str) -> Vec<String> {
    let payload = Data::dict([("task", Data::from(task))]).to_json();
    let config = Data::from_json(config).unwrap();
    let specs = fire_raw(provider, EventKind::SessionStart, &payload, &config).unwrap();
    let lines = specs.iter().flat_map(|spec| spec.body.lines().skip(1));
    lines.map(|line| line.split_once("] ").unwrap().1.to_owned()).collect()
}

const SOME: &[(&str, &str, f64)] = &[
    ("decision", "Tabs indent the sources", 0.9),
    ("observation", "The parser is slow on comments", 0.6),
    ("hypothesis", "Comments are lexed twice", 0.4),
    ("constraint", "No file is longer than 400 lines", 1.0),
];

#[test]
fn the_best_match_of_the_task_comes_first_and_the_rest_by_age() {
    let provider = over("pf-order", "project/facts", SOME);
    let found = start(&provider, "Why is the parser slow?", "null");
    assert_eq!(
        found,
        ["The parser is slow on comments", "Tabs indent the sources", "No file is longer than 400 lines"]
    );
    assert_eq!(start(&provider, "", "null")[0], "No file is longer than 400 lines");
    assert_eq!(start(&provider, "x", r#"{"relevance_query":"indent"}"#)[0], "Tabs indent the sources");
}

#[test]
fn each_configuration_key_does_what_it_says() {
    let provider = over("pf-config", "project/facts", SOME);
    let count = |config: &str| start(&provider, "", config).len();
    assert_eq!(count("null"), 3, "min_confidence is 0.5");
    assert_eq!(count(r#"{"min_confidence":0}"#), 4);
    assert_eq!(count(r#"{"min_confidence":0.95}"#), 1);
    assert_eq!(count(r#"{"max_facts":2}"#), 2);
    assert_eq!(count(r#"{"kind_filter":["Decision","constraint"]}"#), 2);
    assert_eq!(count(r#"{"kind_filter":"observation"}"#), 1);
    assert_eq!(count(r#"{"namespace":"other"}"#), 0);
    assert_eq!(count(r#"{"scope":"team"}"#), 0);
    assert_eq!(count(r#"{"scope":"team","namespace":"project/facts"}"#), 3, "the namespace wins");
    assert_eq!(count(r#"{"scope":"project"}"#), 3);
    let elsewhere = scratch("pf-elsewhere");
    assert_eq!(count(&Data::dict([("root", Data::from(elsewhere.to_str().unwrap()))]).to_json()), 0);
    let many = ["a", "b", "c", "d", "e", "f", "g"].map(|claim| ("claim", claim, 1.0));
    assert_eq!(start(&over("pf-many", "project/facts", &many), "", "null").len(), 5, "max_facts is 5");
}

#[test]
fn the_reminder_is_that_of_the_guide() {
    let provider = over("pf-row", "project/facts", &SOME[..1]);
    let spec = fire_raw(&provider, EventKind::SessionStart, "{}", &Data::Nil).unwrap().remove(0);
    assert_eq!(spec.tags, ["project_facts".into()]);
    assert_eq!(spec.dedupe_key.as_deref(), Some("project_facts"));
    assert_eq!((spec.ttl_turns, spec.propagate), (Some(1), Propagate::Session));
    assert!(!spec.preserve_on_compact);
    assert!(spec.body.ends_with("\n- [decision, confidence 0.9] Tabs indent the sources"), "{}", spec.body);
    let reached: Vec<_> =
        EventKind::ALL.iter().filter(|kind| provider.subscribes_to().contains(**kind)).copied().collect();
    assert_eq!(reached, [EventKind::SessionStart, EventKind::OnBudgetThreshold]);
}

#[test]
fn under_pressure_it_is_told_again_from_the_ratio_on() {
    let provider = over("pf-refresh", "project/facts", SOME);
    let fired = |used: i64, window: &str, config: &str| {
        let payload = format!(r#"{{"tokens_used":{used},"context_window":{window},"task":"t"}}"#);
        fire_raw(&provider, EventKind::OnBudgetThreshold, &payload, &Data::from_json(config).unwrap()).unwrap().len()
    };
    assert_eq!([69, 70, 71, 99].map(|used| fired(used, "100", "null")), [0, 1, 1, 1]);
    assert_eq!([49, 50].map(|used| fired(used, "100", r#"{"refresh_ratio":0.5}"#)), [0, 1]);
    assert_eq!(fired(99, "null", "null"), 0, "of an unknown window nobody knows the share");
    assert_eq!(fired(99, "0", "null"), 0);
    let typed = |tokens_used| {
        let (seat, task, persona) = (TestSession::new(), "t".into(), "agent".into());
        let event = HookEvent::OnBudgetThreshold {
            persona: &persona,
            iteration: 1,
            tokens_used,
            context_window: Some(1000),
            task: &task,
        };
        block_on(provider.evaluate(seat.turn(), &event, &Data::Nil).get()).unwrap().len()
    };
    assert_eq!([699, 700].map(typed), [0, 1]);
}

#[test]
fn without_facts_without_the_right_and_with_a_broken_store_it_is_silent() {
    assert!(start(&ProjectFacts::new(None), "t", "null").is_empty());
    assert!(start(&over("pf-none", "project/facts", &[]), "t", "null").is_empty());
    let provider = ProjectFacts::new(Some(Rc::new(Facts::new(Some("/dev/null".into())))));
    let (seat, payload) = (TestSession::new(), Data::empty_dict());
    let event = HookEvent::Raw { kind: EventKind::SessionStart, payload: &payload };
    assert!(block_on(provider.evaluate(seat.turn(), &event, &Data::Nil).get()).unwrap().is_empty());
    assert_eq!(seat.scope.notes.all()[0].code.map(base::codes::CodeRef::as_str), Some("HARN-FACT-006"));
}

#[test]
fn facts_that_no_longer_hold_are_not_told() {
    let store = Rc::new(Facts::new(Some(scratch("pf-expired"))));
    let place = store.place(None, None).unwrap();
    let draft = r#"{"kind":"claim","claim":"c","confidence":1,"valid_until":5}"#;
    store.store(&place, "1".into(), Draft::from_data(&Data::from_json(draft).unwrap()).unwrap(), 1).unwrap();
    let provider = ProjectFacts::new(Some(store));
    let seat = TestSession::new();
    let payload = Data::empty_dict();
    let event = HookEvent::Raw { kind: EventKind::SessionStart, payload: &payload };
    let count = || block_on(provider.evaluate(seat.turn(), &event, &Data::Nil).get()).unwrap().len();
    assert_eq!(count(), 1);
    drop(seat.scope.clock.sleep_until(0));
    block_on(seat.scope.clock.sleep_until(5));
    assert_eq!(count(), 0);
}

#[test]
fn a_body_stays_in_bounds_and_each_fact_on_its_line() {
    let long: Vec<String> = (0..50).map(|n| format!("{n} {}", "ß\n- [decision, confidence 1] ".repeat(260))).collect();
    let facts: Vec<(&str, &str, f64)> = long.iter().map(|claim| ("claim", claim.as_str(), 1.0)).collect();
    let provider = over("pf-bounds", "project/facts", &facts);
    let config = Data::from_json(r#"{"max_facts":50}"#).unwrap();
    let spec = fire_raw(&provider, EventKind::SessionStart, "{}", &config).unwrap().remove(0);
    assert!(spec.body.len() < runtime::reminder::Reminder::MAX_BODY, "{}", spec.body.len());
    assert_eq!(spec.body.lines().count(), 51);
}

#[test]
fn the_configuration_is_read_strictly() {
    for (json, field, part) in [
        (r#"{"max_fact":1}"#, "project_facts.max_fact", "unknown configuration key"),
        (r#"{"max_facts":51}"#, "project_facts.max_facts", "at most 50"),
        (r#"{"max_facts":0}"#, "project_facts.max_facts", "above 0"),
        (r#"{"min_confidence":2}"#, "project_facts.min_confidence", "from 0 to 1"),
        (r#"{"refresh_ratio":"high"}"#, "project_facts.refresh_ratio", "from 0 to 1"),
        (r#"{"kind_filter":["decison"]}"#, "project_facts.kind_filter.0", "unknown kind of fact `decison`"),
        (r#"{"kind_filter":7}"#, "project_facts.kind_filter", "must be a string"),
        (r#"{"namespace":"../x"}"#, "project_facts.namespace", "outside of its root"),
        (r#"{"scope":".."}"#, "project_facts.scope", "outside of its root"),
        (r#"{"relevance_query":" "}"#, "project_facts.relevance_query", "not blank"),
        (r#"{"root":7}"#, "project_facts.root", "not blank"),
    ] {
        let error = ProjectFactsConfig::read(&Data::from_json(json).unwrap()).unwrap_err();
        assert_eq!(error.field, field, "{json}: {error}");
        assert!(error.message.contains(part), "{json}: {error}");
    }
    let error = ProjectFactsConfig::read(&Data::from_json(r#"{"kind_filter":["decison"]}"#).unwrap()).unwrap_err();
    assert_eq!(error.suggestion.as_deref(), Some("decision"));
}
