use base::data::Data;

use super::*;
use crate::PayloadSource;
use crate::wait::block_on;

fn record(topic: &str, kind: &str) -> NewRecord {
    NewRecord {
        topic: topic.into(),
        kind: kind.into(),
        payload: Data::Nil.into(),
        headers: Data::Nil,
        occurred_at_ms: 0,
    }
}

fn put(log: &MemoryLog, topic: &str, kind: &str) -> u64 {
    let Answer::Now(place) = log.emit(record(topic, kind)) else { panic!("memory does not wait") };
    place.unwrap().cursor
}

fn lagged(outcome: Outcome<Option<Arc<Record>>>) -> LogError {
    outcome.unwrap_err().as_any().downcast_ref::<LogError>().unwrap().clone()
}

#[test]
fn ids_count_by_topic_and_cursors_over_all() {
    let log = MemoryLog::new();
    assert_eq!([put(&log, "a", "x"), put(&log, "b", "x"), put(&log, "a", "y")], [1, 2, 3]);
    assert_eq!(log.latest("a").unwrap(), Some(2));
    assert_eq!(log.latest("c").unwrap(), None);
    assert_eq!(log.read(&RecordFilter { after: 1, ..RecordFilter::topic("a") }, 9).unwrap()[0].id, 2);
}

#[test]
fn a_subscriber_gets_history_and_then_what_comes() {
    let log = MemoryLog::new();
    put(&log, "a", "reminder.one");
    put(&log, "a", "other");
    let filter = RecordFilter { kind_prefix: Some("reminder.".into()), ..RecordFilter::topic("a") };
    let mut reader = log.subscribe(filter);
    let seen = block_on(async {
        let first = reader.next().await.unwrap().unwrap();
        assert!(reader.try_next().now().unwrap().unwrap().is_none());
        put(&log, "a", "reminder.two");
        [first.cursor, reader.next().await.unwrap().unwrap().cursor]
    });
    assert_eq!(seen, [1, 3]);
}

#[test]
fn what_is_too_much_goes_from_the_oldest_end() {
    let log = MemoryLog::keeping(MemoryRetention { records: 32, bytes: usize::MAX });
    (0..100).for_each(|_| assert!(put(&log, "a", "x") > 0));
    let cursors: Vec<u64> = log.records().iter().map(|record| record.cursor).collect();
    assert!(cursors.len() <= 32 && cursors.len() > 28, "{}", cursors.len());
    assert_eq!(cursors.last(), Some(&100));
    assert!(cursors.windows(2).all(|pair| pair[1] == pair[0] + 1));
    assert_eq!(log.latest("a").unwrap(), Some(100));
    assert_eq!(log.read(&RecordFilter::default(), usize::MAX).unwrap().len(), cursors.len());
}

#[test]
fn bytes_are_bounded_too_and_the_newest_record_always_stays() {
    let log = MemoryLog::keeping(MemoryRetention { records: usize::MAX, bytes: 4096 });
    for _ in 0..50 {
        log.append(NewRecord { payload: Data::str("x".repeat(1000)).into(), ..record("a", "x") });
    }
    assert_eq!(log.records().len(), 3);
    log.append(NewRecord { payload: Data::str("x".repeat(10_000)).into(), ..record("a", "x") });
    assert_eq!(log.records().len(), 1);
}

#[test]
fn a_reader_that_was_overtaken_hears_how_much_it_lost_and_goes_on_behind_the_gap() {
    let log = MemoryLog::keeping(MemoryRetention { records: 16, bytes: usize::MAX });
    put(&log, "a", "x");
    put(&log, "a", "x");
    let mut reader = log.subscribe(RecordFilter::topic("a"));
    assert_eq!(reader.try_next().now().unwrap().unwrap().unwrap().cursor, 1);
    (0..20).for_each(|_| assert!(put(&log, "a", "x") > 0));
    assert_eq!(lagged(reader.try_next().now().unwrap()), LogError::Lagged { lost: 5, resume_from: 6 });
    let rest: Vec<u64> =
        std::iter::from_fn(|| reader.try_next().now().unwrap().unwrap()).map(|record| record.cursor).collect();
    assert_eq!(rest, (7..=22).collect::<Vec<_>>());
    let asked = RecordFilter { after: 3, ..RecordFilter::default() };
    assert!(log.read(&asked, 9).is_err());
    assert_eq!(lagged(log.subscribe(asked).try_next().now().unwrap()), LogError::Lagged { lost: 3, resume_from: 6 });
}

#[test]
fn a_reader_that_stood_before_the_first_record_is_overtaken_as_well() {
    let log = MemoryLog::keeping(MemoryRetention { records: 16, bytes: usize::MAX });
    let mut early = log.subscribe(RecordFilter::default());
    (0..17).for_each(|_| assert!(put(&log, "a", "x") > 0));
    assert_eq!(lagged(early.try_next().now().unwrap()), LogError::Lagged { lost: 1, resume_from: 1 });
    assert_eq!(early.try_next().now().unwrap().unwrap().unwrap().cursor, 2);
    let mut late = log.subscribe(RecordFilter::default());
    assert_eq!(late.try_next().now().unwrap().unwrap().unwrap().cursor, 2);
}

#[test]
fn a_record_that_is_too_large_is_refused_and_whoever_waits_hears_of_it() {
    let log = MemoryLog::new();
    let huge = NewRecord { payload: Data::str("x".repeat(NewRecord::MOST)).into(), ..record("a", "x") };
    let Answer::Now(refused) = log.emit(huge.clone()) else { panic!("memory does not wait") };
    assert_eq!(refused.unwrap_err().code().map(base::codes::CodeRef::as_str), Some("HARN-LOG-010"));
    let ticket = log.append(huge);
    assert!(block_on(log.durable(ticket)).is_err());
    assert_eq!(log.latest("a").unwrap(), None);
}

#[test]
fn order_is_that_of_the_cursors_also_where_the_clock_jumps_back() {
    let log = MemoryLog::new();
    for at in [30, 10, 20] {
        log.append(NewRecord { occurred_at_ms: at, ..record("a", "x") });
    }
    let times: Vec<u64> = log.records().iter().map(|record| record.occurred_at_ms).collect();
    assert_eq!(times, [30, 10, 20]);
}

/// Records of two topics, in runs, each with its number.
#[derive(Debug)]
struct Numbers {
    from: i64,
    topics: Vec<bool>,
}

impl PayloadSource for Numbers {
    fn to_data(&self, place: usize) -> Data {
        Data::Int(self.from + i64::try_from(place).unwrap())
    }

    fn weight(&self, place: usize) -> usize {
        // They differ, so that the subtracted size must be the size that was added.
        16 + usize::from(self.topics[place])
    }
}

impl RecordBatch for Numbers {
    fn count(&self) -> usize {
        self.topics.len()
    }

    fn names(&self, place: usize) -> (&'static Arc<str>, &'static Arc<str>) {
        static NAMES: [std::sync::LazyLock<Arc<str>>; 2] =
            [std::sync::LazyLock::new(|| "a".into()), std::sync::LazyLock::new(|| "b".into())];
        let name: &'static Arc<str> = &NAMES[usize::from(self.topics[place])];
        (name, name)
    }
}

proptest::proptest! {
    #[test]
    fn what_is_told_at_once_is_kept_counted_and_thrown_away_like_single_records(
        steps in proptest::collection::vec(proptest::collection::vec(proptest::bool::ANY, 0..6), 1..60),
        records in 1_usize..40,
        bytes in 100_usize..4_000,
    ) {
        let kept = MemoryRetention { records, bytes };
        let (log, single) = (MemoryLog::keeping(kept), MemoryLog::keeping(kept));
        let mut from = 0;
        for topics in steps {
            let count = i64::try_from(topics.len()).unwrap();
            let batch: Arc<dyn RecordBatch> = Arc::new(Numbers { from, topics });
            from += count;
            log.tell(batch.clone(), 7);
            for place in 0..batch.count() {
                single.append(NewRecord::of(&batch, place, 7));
            }
        }
        // Rows are dropped a sixteenth at a time, so the two may have dropped different numbers: their common records
        // are equal.
        let (ours, theirs) = (log.records(), single.records());
        let both = ours.len().min(theirs.len());
        proptest::prop_assert!(both > 0 || from == 0);
        proptest::prop_assert!(ours.len() <= records && log.0.lock().rows.weight <= bytes.max(200));
        proptest::prop_assert_eq!(&ours[ours.len() - both..], &theirs[theirs.len() - both..]);
        let weight: usize = ours.iter().map(|record| 64 + 2 + 16 + record.payload.weight()).sum();
        proptest::prop_assert_eq!(log.0.lock().rows.weight, weight);
        for (at, record) in ours.iter().enumerate() {
            // Reading on after any of them returns the next.
            let filter = RecordFilter { topic: Some("a".into()), ..RecordFilter::default() };
            let store = log.0.lock();
            let expected: Vec<_> = ours[at + 1..].iter().filter(|record| &*record.topic == "a").cloned().collect();
            let found: Vec<_> = store.rows.behind(record.cursor, &filter).collect();
            proptest::prop_assert_eq!(found, expected);
        }
    }
}
