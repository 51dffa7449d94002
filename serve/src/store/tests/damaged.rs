use super::*;

fn append(store: &SessionStore, id: &str, kind: &str, json: &str) {
    let topic = kind.rsplit_once('.').unwrap().0;
    let payload = Data::from_json(json).unwrap().with("session_id", id.into());
    store.log_of(id).append(NewRecord {
        topic: topic.into(),
        kind: kind.into(),
        payload: payload.into(),
        headers: Data::Nil,
        occurred_at_ms: 1,
    });
}

#[test]
fn what_is_not_known_is_passed_over_and_what_is_not_whole_is_named() {
    for (kind, json, why) in [
        ("session.life.dreamt", "{}", None),
        ("session.shown.smell", r#"{"of":"coffee"}"#, None),
        ("session.message.whispered", "{}", None),
        ("session.colour.red", "{}", None),
        ("session.injection.pondered", "{}", None),
        ("transcript.reminder.lifecycle", "{}", None),
        ("session.life.loaded", "{}", Some("`process` is missing")),
        ("session.shown.text", r#"{"text":7}"#, Some("`message_id` is not a string")),
        ("session.message.appended", r#"{"index":5,"message":{"role":"user"}}"#, Some("there are 0 messages")),
        ("session.injection.queued", r#"{"id":"x","mode":"later"}"#, Some("`mode` is not a mode")),
    ] {
        let folder = StoreFolder::new();
        let store = folder.store();
        let served = ServedSession::open(&store, ID);
        append(&store, ID, kind, json);
        served.prompt("on", []);
        match (store.load(ID), why) {
            (Ok(stored), None) => assert_eq!(stored.messages().len(), 2, "{kind}"),
            (Err(error), Some(why)) => {
                assert_eq!(error.code().as_str(), "HARN-LOG-013");
                let said = error.to_string();
                assert!(said.contains(why) && said.contains(kind) && said.contains("cursor 2"), "{said}");
            }
            (stored, why) => panic!("{kind}: {stored:?}, {why:?}"),
        }
        let other = ServedSession::open(&store, "sess_ff");
        other.prompt("on", []);
        assert_eq!(store.load("sess_ff").unwrap().messages().len(), 2, "another session is not concerned");
        assert_eq!(store.list(None, None, 9).unwrap().rows.len(), 2);
    }
}

#[test]
fn an_id_that_is_none_of_a_session_is_unknown() {
    let folder = StoreFolder::new();
    let store = folder.store();
    append(&store, "sess_..", "session.life.opened", r#"{"process":"x"}"#);
    for id in
        ["", "sess_", "sess_../../etc/passwd", "sess_..", "session", "sess_zz", &format!("sess_{}", "0".repeat(65))]
    {
        assert_eq!(store.load(id).unwrap_err(), StoreError::Unknown(id.into()));
        assert_eq!(store.claim(id).unwrap_err().code().as_str(), "HARN-LOG-011");
    }
}
