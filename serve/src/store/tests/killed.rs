use super::*;
use runtime::reminder::bridge::MessagePayload;

/// Returns all records of a session with many changes.
fn history() -> Vec<Arc<Record>> {
    let folder = StoreFolder::new();
    let store = folder.store();
    let served = ServedSession::open(&store, ID);
    served.remind("thrice", Some(3));
    served.remind("always", None);
    served.put_in("soon", DeliveryMode::FinishStep);
    served.put_in("audit only", DeliveryMode::AuditOnly);
    let message = MessagePayload {
        message: Arc::new(Message::user("by the way")),
        mode: DeliveryMode::FinishStep,
        meta: Data::Nil,
    };
    served.session.accept_message(&served.scope, message).unwrap();
    served.prompt("look", [calls("c1"), calls("c2"), says("seen")]);
    served.put_in("waits", DeliveryMode::FinishStep);
    let helper = Session::new("helper", IdStream::new(1, "helper"), 1);
    helper.inject_reminder(&served.scope, ReminderSpec::new("of the helper"), ReminderSource::InPipeline, None);
    served.compact();
    served.remind("twice", Some(2));
    // Call ids are reused.
    served.prompt("and now", [calls("c1"), says("done")]);
    served.put_in("left", DeliveryMode::FinishStep);
    served.journal.note(&SessionEvent::Title("a title".into()));
    served.session.with(|state| {
        state.provider_memory.insert("p".into(), Data::from(1));
    });
    served.journal.see(&served.session);
    store.log().read(&RecordFilter::default(), usize::MAX).unwrap()
}

/// Returns a log with the first records of another, as a process that was killed after them leaves it.
fn cut(folder: &StoreFolder, records: &[Arc<Record>]) {
    let log = folder.log();
    for record in records {
        let Record { topic, kind, payload, headers, occurred_at_ms, .. } = record.as_ref().clone();
        log.append(NewRecord { topic, kind, payload, headers, occurred_at_ms });
    }
}

/// Asserts that each call is followed by its result, and that no result lacks a call.
fn assert_whole(messages: &[Arc<Message>]) {
    let mut open: Vec<Arc<str>> = Vec::new();
    for message in messages {
        match (&message.role, &message.tool_call_id) {
            (Role::Tool, Some(id)) => {
                let at = open.iter().position(|call| call == id);
                open.remove(at.expect("an answer follows its call"));
            }
            _ => assert!(open.is_empty(), "{messages:?}"),
        }
        open.extend(message.tool_calls.iter().map(|call| call.id.clone()));
    }
    assert!(open.is_empty(), "{messages:?}");
}

fn assert_adds_up(store: &SessionStore, served: &ServedSession) {
    let records = store.log().read(&RecordFilter::default(), usize::MAX).unwrap();
    let lives = rebuild(records.iter().map(AsRef::as_ref));
    for life in lives.sessions() {
        assert!(life.tally().holds(), "{:?}", life.tally());
        assert!(&*life.id == ID || life.pending().next().is_none(), "{} is gone", life.id);
        assert!(!life.branched && life.run == 1);
    }
    assert!(lives.notes.is_empty(), "{:?}", lives.notes);
    let stored = store.load(ID).unwrap();
    assert_eq!(pending(&stored), served.pending());
    assert_eq!(stored.messages(), served.messages());
    assert_eq!(stored.turns(), served.session.with(|state| state.turns));
    assert!(stored.ends().is_empty());
    let mut born = HashMap::new();
    for record in records.iter().filter(|record| record.kind.ends_with(".injected")) {
        *born.entry(record.payload.get("reminder_id").to_text()).or_insert(0) += 1;
    }
    assert!(born.values().all(|times| *times == 1), "an id came again: {born:?}");
}

/// Returns the records of the session's lifecycle with a word.
fn life(store: &SessionStore, word: &str) -> Vec<Arc<Record>> {
    let records = store.log().read(&RecordFilter::topic(Topic::Life), usize::MAX).unwrap();
    records.into_iter().filter(|record| Topic::Life.word_of(&record.kind) == Some(word)).collect()
}

#[test]
fn the_turn_of_a_killed_process_ends_once() {
    let records = history();
    let last = records.iter().rposition(|record| &*record.kind == "session.life.prompted").unwrap();
    let folder = StoreFolder::new();
    cut(&folder, &records[..=last + 3]);
    let store = folder.store();
    assert_eq!(life(&store, "answered").len(), 1);
    store.end_interrupted().unwrap();
    store.end_interrupted().unwrap();
    let answered = life(&store, "answered");
    assert_eq!(answered.len(), 2, "{answered:?}");
    let end = &answered[1].payload;
    assert_eq!((end.get("stop").as_str(), end.get("reason").as_str()), (Some("failed"), Some("interrupted")));
    assert_eq!(end.get("turn_id"), records[last].payload.get("turn_id"));
    assert!(life(&store, "loaded").is_empty());
    ServedSession::load(&store, store.claim(ID).unwrap());
    assert_eq!(life(&store, "answered").len(), 2);
}

#[test]
fn the_turn_of_a_living_process_does_not_end() {
    let folder = StoreFolder::new();
    let (here, there) = (folder.store(), folder.store());
    let served = ServedSession::open(&there, ID);
    served.journal.prompted("look", None);
    here.end_interrupted().unwrap();
    assert!(life(&here, "answered").is_empty());
}

#[test]
fn killed_behind_whichever_record_a_session_goes_on() {
    let records = history();
    let opened = records.iter().position(|record| &*record.kind == "session.life.opened").unwrap();
    let mut seen = BTreeSet::new();
    // The next process may end the turn before anyone loads the session.
    for (n, is_ended) in (0..=records.len()).flat_map(|n| [(n, false), (n, true)]) {
        let folder = StoreFolder::new();
        cut(&folder, &records[..n]);
        let store = folder.store();
        if is_ended {
            store.end_interrupted().unwrap();
        }
        let claim = match store.claim(ID) {
            Err(StoreError::Unknown(_)) if n <= opened => continue,
            claim => claim.unwrap(),
        };
        let accepted = records[..n]
            .iter()
            .any(|record| record.kind.ends_with(".queued") && !record.payload.get("message").is_nil());
        let is_compacted = records[..n].iter().any(|record| &*record.kind == "session.message.replaced");
        for event in claim.stored.shown() {
            let SessionEvent::UserMessage { content, .. } = event else { continue };
            assert!(["look", "and now"].contains(&content.to_text().as_ref()));
        }
        let served = ServedSession::load(&store, claim);
        assert_eq!(life(&store, "answered").len(), life(&store, "prompted").len(), "every turn has an end");
        assert_whole(&served.messages());
        assert_adds_up(&store, &served);
        let there: Vec<_> = served.session.queue().lock().unwrap().pending().cloned().collect();
        assert!(store.load(ID).unwrap().queue().eq(&there), "the log says what waits");
        let said = |messages: &[Arc<Message>]| messages.iter().filter(|m| &*m.text() == "by the way").count();
        seen.extend(served.pending());
        served.remind("new", Some(1));
        served.prompt("go on", [calls("c9"), says("gone on")]);
        assert!(served.session.queue().lock().unwrap().pending().len() == 0);
        let times = usize::from(accepted && !is_compacted);
        assert_eq!(said(&served.messages()), times, "what a host was told is accepted comes once");
        assert_whole(&served.messages());
        assert_adds_up(&store, &served);
        let asked = served.model.asked.borrow();
        assert!(asked[0].messages.iter().any(|message| &*message.text() == "go on"));
    }
    let seen: Vec<_> = seen.iter().map(|(body, left)| format!("{body} {}", left.map_or(-1, i64::from))).collect();
    assert_eq!(seen, ["always -1", "soon -1", "thrice 1", "thrice 2", "thrice 3", "twice 1", "twice 2", "waits -1"]);
}

#[test]
fn what_was_not_answered_is_void_and_what_was_is_charged() {
    let records = history();
    let at = |n: usize, kind: &str| {
        let places = records.iter().enumerate().filter(|(_, record)| &*record.kind == kind).map(|(place, _)| place);
        places.collect::<Vec<_>>()[n]
    };
    let prompt = at(1, "transcript.turn.prompt");
    let is_answer = |place: &usize| records[*place].payload.at("message.role").as_str() == Some("assistant");
    let answer = (prompt..).find(is_answer).unwrap();
    for (upto, left) in [(prompt, 2), (answer, 1)] {
        let folder = StoreFolder::new();
        cut(&folder, &records[..=upto]);
        let store = folder.store();
        let served = ServedSession::load(&store, store.claim(ID).unwrap());
        let thrice = served.pending().into_iter().find(|(body, _)| body == "thrice").unwrap();
        assert_eq!(thrice.1, Some(left), "killed behind {}", records[upto].kind);
    }
}

#[test]
fn a_call_whose_end_the_client_saw_is_answered_by_it_and_another_is_not_run() {
    let records = history();
    let kind = |kind: &str| records.iter().position(|record| &*record.kind == kind).unwrap();
    for (upto, text) in
        [("session.shown.tool_ended", "echoed"), ("session.shown.tool_call", "not run: the process ended")]
    {
        let folder = StoreFolder::new();
        cut(&folder, &records[..=kind(upto)]);
        let store = folder.store();
        let served = ServedSession::load(&store, store.claim(ID).unwrap());
        let last = served.messages().pop().unwrap();
        assert!(last.text().starts_with(text), "{}", last.text());
        let stored = store.load(ID).unwrap();
        let Some(SessionEvent::ToolEnded { text: shown, .. }) = stored.shown().last() else {
            panic!("{:?}", stored.shown())
        };
        assert!(shown.starts_with(text));
    }
}

#[test]
fn a_session_that_was_compacted_comes_back_compacted_and_is_shown_whole() {
    let folder = StoreFolder::new();
    cut(&folder, &history());
    let store = folder.store();
    let stored = store.load(ID).unwrap();
    assert_eq!(&*stored.messages()[0].text(), "in short");
    let seen = stored.shown().iter().filter_map(|event| match event {
        SessionEvent::UserMessage { content, .. } => Some(content.to_text().to_string()),
        SessionEvent::Text { text, .. } => Some(text.to_string()),
        SessionEvent::ToolEnded { id, .. } => Some(format!("<{id}>")),
        _ => None,
    });
    let saw = ["look", "let me see", "<c1>", "let me see", "<c2>", "seen", "and now", "let me see", "<c1>", "done"];
    assert_eq!(seen.collect::<Vec<_>>(), saw);
    assert_eq!(stored.about().title.as_deref(), Some("a title"));
    let served = ServedSession::load(&store, store.claim(ID).unwrap());
    served.session.with(|state| {
        assert_eq!(state.provider_memory.get("p"), Some(&Data::from(1)));
        assert_eq!(state.transcript.summary.as_deref(), Some("in short"));
    });
    let pending = served.pending();
    assert!(!pending.iter().any(|(body, _)| body == "thrice"));
}
