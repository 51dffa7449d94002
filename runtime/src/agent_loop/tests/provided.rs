//! Reminder providers in the loop and their list.

use crate::reminder_providers::Malformed;

use super::*;

struct FakeProvider<F> {
    id: &'static str,
    events: EventSet,
    evaluate: F,
}

impl<F: Fn(&HookEvent<'_>, &Data) -> Outcome<Vec<ReminderSpec>>> ReminderProvider for FakeProvider<F> {
    fn id(&self) -> &str {
        self.id
    }

    fn subscribes_to(&self) -> EventSet {
        self.events
    }

    fn evaluate<'a>(
        &'a self,
        _: Turn<'a>,
        event: &'a HookEvent<'a>,
        config: &'a Data,
    ) -> Answer<'a, Outcome<Vec<ReminderSpec>>> {
        Answer::Now((self.evaluate)(event, config))
    }
}

fn provider(
    id: &'static str,
    event: EventKind,
    evaluate: impl Fn(&HookEvent<'_>, &Data) -> Outcome<Vec<ReminderSpec>> + 'static,
) -> Rc<dyn ReminderProvider> {
    Rc::new(FakeProvider { id, events: EventSet::of(&[event]), evaluate })
}

fn with_options(bench: &mut LoopBench, json: &str) {
    bench.options.reminders = ReminderOptions::from_data(&Data::from_json(json).unwrap()).unwrap();
}

#[test]
fn a_provider_sees_usage_and_its_config() {
    let mut bench = LoopBench::new([calls(&["echo"]), says("ok")]);
    bench.parts.providers.register(provider("watch", EventKind::OnBudgetThreshold, |event, config| {
        let over = event.get("tokens_used").as_int() >= config.get("limit").as_int();
        Ok(if over { vec![short("much used")] } else { vec![] })
    }));
    with_options(&mut bench, r#"{"config":{"watch":{"limit":15}}}"#);
    bench.run();
    assert_eq!(bench.systems(), ["", "System reminder:\nmuch used"]);
    let words: Vec<_> = bench.records("event").into_iter().map(|(word, event)| format!("{word}:{event}")).collect();
    assert_eq!(
        words,
        [
            "provider_evaluated:OnBudgetThreshold",
            "injected:",
            "fired:",
            "provider_evaluated:OnBudgetThreshold",
            "injected:",
            "expired:"
        ]
    );
}

/// A provider that answers at once, and has something to remind of in one turn.
struct OnceProvider(&'static str, u32);

impl ReminderProvider for OnceProvider {
    fn id(&self) -> &str {
        self.0
    }

    fn subscribes_to(&self) -> EventSet {
        EventSet::of(&[EventKind::OnBudgetThreshold])
    }

    fn evaluate<'a>(
        &'a self,
        turn: Turn<'a>,
        event: &'a HookEvent<'a>,
        config: &'a Data,
    ) -> Answer<'a, Outcome<Vec<ReminderSpec>>> {
        self.look(turn, event, config).map_or_else(|| Answer::Now(Ok(Vec::new())), Answer::Now)
    }

    fn look(&self, turn: Turn<'_>, _: &HookEvent<'_>, _: &Data) -> Option<Outcome<Vec<ReminderSpec>>> {
        Some(Ok(if turn.number == self.1 { vec![short("now")] } else { Vec::new() }))
    }
}

#[test]
fn results_that_repeat_are_records_of_their_own_turns() {
    let mut bench =
        LoopBench::new([calls(&["echo"]), calls(&["echo"]), calls(&["echo"]), calls(&["echo"]), says("ok")]);
    bench.options.limits.max_repeats = 0;
    for provider in [OnceProvider("one", 0), OnceProvider("two", 3)] {
        bench.parts.providers.register(Rc::new(provider));
    }
    bench.run();
    let records = |field: &str| {
        let all = bench.records(field).into_iter().filter(|(word, _)| word == "provider_evaluated");
        all.map(|(_, value)| value).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(records("provider_id"), "one two one two one two one two one two");
    assert_eq!(records("turn"), "1 1 2 2 3 3 4 4 5 5");
    assert_eq!(records("fired"), "false false false false false true false false false false");
    assert_eq!(bench.systems().iter().filter(|system| system.contains("now")).count(), 1);
}

#[test]
fn a_failing_provider_does_not_kill_the_loop_but_strict_raises() {
    let mut bench = LoopBench::new([]);
    let bad = Data::from_json(r#"{"body":""}"#).unwrap();
    bench.parts.providers.register(provider("bad", EventKind::SessionStart, move |_, _| {
        let mut effects = crate::hooks::verdict::read_effects(&bad);
        Err(call_error(effects.malformed.remove(0)))
    }));
    bench.parts.providers.register(provider("good", EventKind::SessionStart, |_, _| Ok(vec![spec("good")])));
    let result = bench.run();
    assert_eq!((result.status, result.transcript.pending_count()), (LoopStatus::Done, 1));
    assert_eq!(result.diagnostics[0].code.map(base::codes::CodeRef::as_str), Some("HARN-RMD-006"));
    assert!(result.diagnostics[0].message.contains("provider `bad` returned a malformed reminder: the `body`"));
    let words: Vec<_> = bench.records("reason").into_iter().map(|(word, reason)| format!("{word}:{reason}")).collect();
    assert_eq!(words[..3], ["provider_evaluated:", "dropped:invalid", "provider_evaluated:"]);
    with_options(&mut bench, r#"{"strict":true}"#);
    let raised = bench.try_run().unwrap_err();
    assert_eq!(raised.as_any().downcast_ref::<ReminderError>().unwrap().field, "body");
}

#[test]
fn providers_can_be_turned_off() {
    for (json, expected) in [
        ("null", 2),
        ("false", 0),
        (r#"{"enabled":false}"#, 0),
        (r#"["-one"]"#, 1),
        (r#"{"providers":["-one","-idle_nudge","one"]}"#, 2),
        (r#"{"providers":["-token_pressure","-idle_nudge"],"config":{"token_pressure":{"context_window":1}}}"#, 2),
    ] {
        let mut bench = LoopBench::new([]);
        for id in ["one", "two"] {
            bench.parts.providers.register(provider(id, EventKind::SessionStart, |_, _| Ok(vec![spec("x")])));
        }
        with_options(&mut bench, json);
        assert_eq!(bench.run().transcript.pending_count(), expected, "{json}");
    }
}

#[test]
fn the_list_is_checked_before_the_first_turn() {
    for (json, code, part) in [
        (r#"["-token_presure"]"#, "HARN-RMD-001", "token_presure"),
        (r#"["extra"]"#, "HARN-RMD-007", "too many reminder providers: 9 are enabled, and the limit is 8"),
    ] {
        let mut bench = LoopBench::new([]);
        bench.parts.providers.register(provider("extra", EventKind::SessionStart, |_, _| Ok(vec![])));
        with_options(&mut bench, json);
        let raised = bench.try_run().unwrap_err();
        assert_eq!(raised.code().map(base::codes::CodeRef::as_str), Some(code));
        assert!(raised.to_string().contains(part), "{raised}");
        assert_eq!(bench.roles().len(), 0);
    }
    let mut bench = LoopBench::new([]);
    bench.parts.providers.register(provider("extra", EventKind::SessionStart, |_, _| Ok(vec![spec("x")])));
    with_options(&mut bench, r#"["extra", "-idle_nudge"]"#);
    assert_eq!(bench.run().transcript.pending_count(), 1);
    let unknown = ReminderOptions::from_data(&Data::from_json(r#"{"provider":[]}"#).unwrap()).unwrap_err();
    assert_eq!(unknown.suggestion.as_deref(), Some("providers"));
}

#[test]
fn one_registered_again_keeps_its_place() {
    let registry = ReminderProviders::new(vec![provider("token_pressure", EventKind::SessionStart, |_, _| Ok(vec![]))]);
    for (id, body) in [("a", "old"), ("b", "b"), ("a", "new"), ("token_pressure", "own")] {
        registry.register(provider(id, EventKind::SessionStart, move |_, _| Ok(vec![spec(body)])));
    }
    let bench = LoopBench::new([]);
    let turn = Turn { session: &bench.session, number: 0, scope: &bench.scope };
    let payload = Data::dict([("turn", Data::from(7))]);
    let event = HookEvent::Raw { kind: EventKind::SessionStart, payload: &payload };
    let report = block_on(fire(&registry.all(), turn, &event, &Data::Nil, true).get()).unwrap();
    let ids: Vec<_> = report.reports.iter().map(|report| report.provider.as_ref()).collect();
    assert_eq!(ids, ["token_pressure", "a", "b"]);
    let transcript = bench.session.transcript();
    let made: Vec<_> = transcript.pending().map(|p| (p.reminder.body.as_ref(), p.reminder.fired_at_turn)).collect();
    assert_eq!(made, [("own", 7), ("new", 7), ("b", 7)]);
}

#[test]
fn one_malformed_reminder_does_not_take_the_others_with_it() {
    let mut bench = LoopBench::new([]);
    bench.parts.providers.register(provider("mixed", EventKind::SessionStart, |_, _| {
        let bad = |body: &str| call_error(crate::hooks::verdict::read_effects(&body.into()).malformed.remove(0));
        Err(call_error(Malformed { good: vec![spec("a"), spec("b")], first: bad("x"), rest: vec![bad("y")] }))
    }));
    let result = bench.run();
    assert_eq!(result.transcript.pending_count(), 2);
    let codes: Vec<_> = result.diagnostics.iter().map(|note| note.code.map(base::codes::CodeRef::as_str)).collect();
    assert_eq!(codes, [Some("HARN-RMD-006"); 2]);
    assert_eq!(bench.records("fired")[0], ("provider_evaluated".to_owned(), "true".to_owned()));
    let words: Vec<_> = bench.records("reason").into_iter().map(|(word, _)| word).collect();
    assert_eq!(words[..5], ["provider_evaluated", "injected", "injected", "dropped", "dropped"]);

    let before = bench.session.transcript().pending_count();
    with_options(&mut bench, r#"{"strict":true}"#);
    assert_eq!(bench.try_run().unwrap_err().code().map(base::codes::CodeRef::as_str), Some("HARN-RMD-006"));
    assert_eq!(bench.session.transcript().pending_count(), before);
}

#[test]
fn configuration_for_a_provider_that_does_not_exist_is_refused() {
    let mut bench = LoopBench::new([]);
    bench.parts.providers.register(provider("mine", EventKind::SessionStart, |_, _| Ok(vec![])));
    with_options(&mut bench, r#"{"config":{"mine":{"x":1},"idle_nudge":{"seconds":1}}}"#);
    assert_eq!(bench.run().status, LoopStatus::Done);
    with_options(&mut bench, r#"{"config":{"mien":{"x":1}}}"#);
    let thrown = bench.try_run().unwrap_err();
    let error = thrown.as_any().downcast_ref::<ReminderError>().unwrap();
    assert_eq!((error.code.as_str(), error.field.as_str()), ("HARN-RMD-001", "config.mien"));
    assert_eq!(error.suggestion.as_deref(), Some("mine"));
}
