use super::*;

fn write(store: &SessionStore, n: usize, cwd: &str) -> Rc<ServedSession> {
    let id: Arc<str> = format!("sess_{n:032x}").into();
    let about = SessionDescription { cwd: Some(cwd.into()), ..SessionDescription::default() };
    let served = ServedSession::with(store, &id, SessionJournal::new(store, &id, about));
    served.journal.opened(store);
    served.journal.prompted(&format!("task {n}\nmore"), None);
    Rc::new(served)
}

fn ids(page: &SessionPage) -> Vec<usize> {
    page.rows.iter().map(|row| usize::from_str_radix(&row.id[5..], 16).unwrap()).collect()
}

#[test]
fn lists_come_in_pages_newest_first() {
    let folder = StoreFolder::new();
    let store = folder.store();
    let sessions: Vec<_> = (0..7).map(|n| write(&store, n, if n % 2 == 0 { "/even" } else { "/odd/" })).collect();
    sessions[3].journal.answered(&sessions[3].session, &PromptOutcome::Done);
    let first = store.list(None, None, 3).unwrap();
    assert_eq!(ids(&first), [3, 6, 5]);
    let even = first.rows[1].clone();
    assert_eq!((even.title.as_deref(), even.cwd.as_deref()), (Some("task 6"), Some(std::path::Path::new("/even"))));
    let second = store.list(None, first.next.as_deref(), 3).unwrap();
    assert_eq!(ids(&second), [4, 2, 1], "one that is at work again is not given twice");
    let third = store.list(None, second.next.as_deref(), 3).unwrap();
    assert_eq!((ids(&third), third.next), (vec![0], None));
    let odd = store.list(Some("/odd".as_ref()), None, 9).unwrap();
    assert_eq!((ids(&odd), odd.next), (vec![3, 5, 1], None));
    for wrong in ["", "x", "-1", "+1", "fffffffffffffffff"] {
        assert_eq!(store.list(None, Some(wrong), 3), Err(StoreError::Cursor(wrong.to_owned())));
    }
}

#[test]
fn an_empty_log_has_no_sessions() {
    let folder = StoreFolder::new();
    assert_eq!(folder.store().list(None, None, 3).unwrap(), SessionPage::default());
}
