use std::io::Write;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

use base::data::Data;

use super::*;
use crate::fact::{FactCode, Query, recall};
use crate::testing::scratch;

fn draft(claim: &str) -> Draft {
    Draft::from_data(&Data::dict([("kind", Data::from("claim")), ("claim", claim.into()), ("confidence", 0.9.into())]))
        .unwrap()
}

fn store(facts: &Facts, place: &FactLocation, id: usize, claim: &str) {
    facts.store(place, id.to_string().into(), draft(claim), 1000 + id as u64).unwrap();
}

fn claims(facts: &Facts, place: &FactLocation, text: &str) -> Vec<String> {
    let query = Query { text: text.to_owned(), now_ms: 5000, ..Query::default() };
    recall(&facts.read(place).unwrap(), &query).iter().map(|found| found.fact().draft.claim.to_string()).collect()
}

fn setting(name: &str) -> (Facts, FactLocation) {
    let facts = Facts::new(Some(scratch(name)));
    let place = facts.place(None, None).unwrap();
    (facts, place)
}

#[test]
fn facts_are_recalled_by_words_then_by_age() {
    let (facts, place) = setting("fact-order");
    assert!(claims(&facts, &place, "anything").is_empty(), "there is no file yet");
    for (id, claim) in
        ["tabs indent", "the parser resumes", "spaces indent nothing", "resumed twice"].iter().enumerate()
    {
        store(&facts, &place, id, claim);
    }
    assert_eq!(
        claims(&facts, &place, "indent tabs"),
        ["tabs indent", "spaces indent nothing", "resumed twice", "the parser resumes"]
    );
    assert_eq!(
        claims(&facts, &place, ""),
        ["resumed twice", "spaces indent nothing", "the parser resumes", "tabs indent"]
    );
}

#[test]
fn filters_and_the_end_of_validity_leave_facts_out() {
    let (facts, place) = setting("fact-filter");
    let put = |json: &str, id: &str| {
        let draft = Draft::from_data(&Data::from_json(json).unwrap()).unwrap();
        facts.store(&place, id.into(), draft, 1000).unwrap();
    };
    put(r#"{"kind":"decision","claim":"a low","confidence":0.4}"#, "low");
    put(r#"{"kind":"decision","claim":"a brief","confidence":0.8,"valid_until":3000}"#, "expiring");
    put(r#"{"kind":"constraint","claim":"a limit","confidence":0.8}"#, "constraint");
    let ids = |query: Query| -> Vec<String> {
        let query = Query { text: "a".into(), ..query };
        recall(&facts.read(&place).unwrap(), &query).iter().map(|found| found.fact().id.to_string()).collect()
    };
    assert_eq!(ids(Query { now_ms: 2999, ..Query::default() }), ["constraint", "expiring", "low"]);
    assert_eq!(ids(Query { now_ms: 3000, ..Query::default() }), ["constraint", "low"]);
    assert_eq!(ids(Query { now_ms: 0, min_confidence: 0.8, ..Query::default() }), ["constraint", "expiring"]);
    assert_eq!(ids(Query { kinds: vec![crate::fact::FactKind::Decision], ..Query::default() }), ["expiring", "low"]);
    assert_eq!(ids(Query { limit: Some(1), ..Query::default() }), ["constraint"]);
}

#[test]
fn invalidated_facts_are_gone_and_their_lines_stay() {
    let (facts, place) = setting("fact-forget");
    for (id, claim) in ["one word", "two words", "three words", "four words"].iter().enumerate() {
        store(&facts, &place, id, claim);
    }
    let selector = |json: &str| Selector::from_data(&Data::from_json(json).unwrap()).unwrap();
    assert_eq!(facts.invalidate(&place, &selector(r#"["1","3","none"]"#), 9).unwrap().0, 2);
    assert_eq!(facts.invalidate(&place, &selector(r#"["1"]"#), 9).unwrap().0, 0, "it is invalid already");
    assert_eq!(claims(&facts, &place, "").len(), 2);
    let text = fs::read_to_string(place.file()).unwrap();
    assert_eq!(text.lines().count(), 5, "{text}");
    assert!(text.ends_with("{\"at\":9,\"event\":\"forgotten\",\"ids\":[\"1\",\"3\"]}\n"), "{text}");
}

#[test]
fn cut_at_any_byte_no_whole_record_is_lost_and_the_next_store_mends_the_file() {
    let (facts, place) = setting("fact-torn");
    for (id, claim) in ["one", "zwei ünïcode", "three"].iter().enumerate() {
        store(&facts, &place, id, claim);
    }
    let whole = fs::read(place.file()).unwrap();
    for length in 0..=whole.len() {
        fs::write(place.file(), &whole[..length]).unwrap();
        // A record is whole once its closing brace is there; the line break may be missing.
        let ends = whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at);
        let kept = ends.filter(|end| *end <= length).count();
        let facts = Facts::new(None);
        let read = facts.read(&place).unwrap();
        assert_eq!((read.facts.len(), read.oddity.is_none()), (kept, true), "cut at {length}");
        let (_, torn) = facts.store(&place, "new".into(), draft("new"), 1).unwrap();
        let read = facts.read(&place).unwrap();
        assert_eq!((read.facts.len(), read.oddity.is_none()), (kept + 1, true), "mended at {length}");
        let text = fs::read(place.file()).unwrap();
        assert_eq!(text.iter().filter(|byte| **byte == b'\n').count(), kept + 1, "cut at {length}");
        let is_clean = length == 0 || whole[length - 1] == b'\n' || whole[length] == b'\n';
        assert_eq!(torn.is_none(), is_clean, "cut at {length}: {torn:?}");
    }
}

#[test]
fn rubbish_is_reported_by_line_and_stays_where_it_is() {
    let (facts, place) = setting("fact-rubbish");
    store(&facts, &place, 0, "first");
    let first = fs::read_to_string(place.file()).unwrap();
    let rubbish =
        "not json\n\n{\"event\":\"stored\",\"record\":{\"value\":{\"schema\":\"other.v1\"}}}\n{\"event\":\"moved\"}\n";
    let torn_fact = first.replace("\"claim\":\"first\"", "\"claim\":7");
    let mut bytes = format!("{first}{rubbish}{torn_fact}").into_bytes();
    bytes.extend_from_slice(b"\xff\xfe\n");
    fs::write(place.file(), &bytes).unwrap();
    store(&facts, &place, 1, "second");
    let read = facts.read(&place).unwrap();
    assert_eq!(read.facts.len(), 2);
    let oddity = read.oddity.as_ref().unwrap();
    let lines: Vec<usize> = [oddity.line].into_iter().chain(oddity.others.iter().map(|(line, _)| *line)).collect();
    assert_eq!((lines.as_slice(), oddity.more), (&[2, 5, 6, 7][..], 0), "{oddity:?}");
    assert!(fs::read(place.file()).unwrap().starts_with(&bytes), "nothing is deleted");
}

#[test]
fn a_last_line_that_cannot_be_a_torn_one_of_ours_is_kept() {
    let (facts, place) = setting("fact-foreign-end");
    store(&facts, &place, 0, "first");
    let mut file = fs::OpenOptions::new().append(true).open(place.file()).unwrap();
    file.write_all(b"# a note by hand").unwrap();
    let (_, torn) = facts.store(&place, "1".into(), draft("second"), 2).unwrap();
    assert_eq!(torn, None);
    let read = facts.read(&place).unwrap();
    let oddity = read.oddity.as_ref().unwrap();
    assert_eq!((read.facts.len(), oddity.line, oddity.others.len()), (2, 2, 0));
}

#[test]
fn a_file_that_has_not_changed_is_not_parsed_again() {
    let (facts, place) = setting("fact-cache");
    store(&facts, &place, 0, "first");
    let (one, two) = (facts.read(&place).unwrap(), facts.read(&place).unwrap());
    assert!(Rc::ptr_eq(&one, &two));
    // Another process appends.
    store(&Facts::new(None), &place, 1, "second");
    assert_eq!(facts.read(&place).unwrap().facts.len(), 2);
    fs::remove_file(place.file()).unwrap();
    assert!(facts.read(&place).unwrap().facts.is_empty());
}

#[test]
fn threads_that_append_at_once_lose_nothing() {
    let root = scratch("fact-threads");
    let place = Facts::new(Some(root)).place(None, Some("shared")).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let place = &place;
            scope.spawn(move || {
                let facts = Facts::new(None);
                for i in 0..25 {
                    store(&facts, place, thread * 100 + i, &"word ".repeat(200));
                }
            });
        }
    });
    let read = Facts::new(None).read(&place).unwrap();
    assert_eq!((read.facts.len(), read.oddity.is_none()), (100, true));
}

#[test]
fn who_appends_waits_for_the_one_who_is_writing() {
    let (facts, place) = setting("fact-lock");
    store(&facts, &place, 0, "first");
    let line = line::stored(&Fact::new("1".into(), draft("second"), 1)).unwrap() + "\n";
    let (half, rest) = line.split_at(line.len() / 2);
    let mut file = fs::OpenOptions::new().append(true).open(place.file()).unwrap();
    file.lock().unwrap();
    file.write_all(half.as_bytes()).unwrap();
    let (is_free, begins) = (AtomicBool::new(false), Barrier::new(2));
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| {
            begins.wait();
            store(&Facts::new(None), &place, 2, "third");
            assert!(is_free.load(Ordering::SeqCst), "it was written into the half line");
        });
        begins.wait();
        file.write_all(rest.as_bytes()).unwrap();
        is_free.store(true, Ordering::SeqCst);
        file.unlock().unwrap();
        waits.join().unwrap();
    });
    let read = facts.read(&place).unwrap();
    assert_eq!((read.facts.len(), read.oddity.is_none()), (3, true), "the half line was not taken for a torn one");
}

#[test]
fn what_cannot_be_written_or_is_too_large_is_an_error_that_says_so() {
    let facts = Facts::new(None);
    let place = FactLocation::new("/dev/null", "a").unwrap();
    assert_eq!(facts.store(&place, "1".into(), draft("c"), 0).unwrap_err().code, FactCode::Store);
    assert_eq!(facts.read(&place).unwrap_err().code, FactCode::Store);
    let (facts, place) = setting("fact-large");
    let large = Draft { provenance: Data::from("x".repeat(200_000)), ..draft("c") };
    assert_eq!(facts.store(&place, "1".into(), large, 0).unwrap_err().code, FactCode::TooLarge);
    assert!(!place.file().exists());
}

#[test]
fn many_invalidated_at_once_fit_into_lines() {
    let (facts, place) = setting("fact-many");
    fs::create_dir_all(place.file().parent().unwrap()).unwrap();
    let lines: Vec<String> = (0..2500)
        .map(|i| line::stored(&Fact::new(format!("{i:036}").into(), draft(&format!("c{i}")), 0)).unwrap() + "\n")
        .collect();
    fs::write(place.file(), lines.concat()).unwrap();
    let all = Selector::from_data(&Data::from_json(r#"{"kind":"claim"}"#).unwrap()).unwrap();
    assert_eq!(facts.invalidate(&place, &all, 0).unwrap().0, 2500);
    assert!(facts.read(&place).unwrap().facts.is_empty());
}

#[test]
fn a_file_of_garbage_makes_one_short_warning() {
    let (facts, place) = setting("fact-garbage");
    std::fs::create_dir_all(place.file().parent().unwrap()).unwrap();
    std::fs::write(place.file(), format!("{{\"event\": \"{}\"}}\n", "x".repeat(2_000)).repeat(10_000)).unwrap();
    let read = facts.read(&place).unwrap();
    let shown = read.oddity.as_ref().unwrap().to_string();
    assert!(shown.starts_with("10000 lines of `") && shown.ends_with("; and 9995 more"), "{shown}");
    assert!(shown.len() < 2_000, "{} bytes", shown.len());
}
