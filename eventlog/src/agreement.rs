//! Both backends return the same results for any sequence of operations.

use std::sync::Arc;

use base::data::Data;
use proptest::prelude::*;

use super::{EventLog, MemoryLog, NewRecord, Record, RecordFilter, SqliteLog, SqliteOptions, Subscription};

/// An operation on a log.
#[derive(Debug, Clone)]
enum LogOperation {
    Append(NewRecord),
    Latest(Arc<str>),
    Read(RecordFilter, usize),
    Subscribe(RecordFilter),
    /// Reads the next record of a subscription, by index modulo their number.
    Next(usize),
    /// The file is closed and opened again; subscriptions restart after what they have seen.
    Reopen,
}

fn topic() -> impl Strategy<Value = Arc<str>> {
    prop_oneof![Just(Arc::from("a")), Just(Arc::from("b")), Just(Arc::from("ab"))]
}

fn kind() -> impl Strategy<Value = Arc<str>> {
    "[xy]{0,2}".prop_map(Arc::from)
}

fn payload() -> impl Strategy<Value = Data> {
    let leaf = prop_oneof![
        Just(Data::Nil),
        any::<bool>().prop_map(Data::from),
        any::<i64>().prop_map(Data::Int),
        (-1e300..1e300_f64).prop_map(Data::Float),
        any::<String>().prop_map(Data::str),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Data::list),
            prop::collection::btree_map(any::<String>(), inner, 0..4).prop_map(Data::dict),
        ]
    })
}

fn filter() -> impl Strategy<Value = RecordFilter> {
    (prop::option::of(topic()), prop::option::of(kind()), 0..12_u64)
        .prop_map(|(topic, kind_prefix, after)| RecordFilter { topic, kind_prefix, after })
}

fn act() -> impl Strategy<Value = LogOperation> {
    let record = (topic(), kind(), payload(), any::<u32>()).prop_map(|(topic, kind, payload, at)| NewRecord {
        topic,
        kind,
        payload: payload.into(),
        headers: Data::Nil,
        occurred_at_ms: at.into(),
    });
    prop_oneof![
        4 => record.prop_map(LogOperation::Append),
        1 => topic().prop_map(LogOperation::Latest),
        2 => (filter(), 0..5_usize).prop_map(|(filter, limit)| LogOperation::Read(filter, limit)),
        1 => filter().prop_map(LogOperation::Subscribe),
        3 => (0..8_usize).prop_map(LogOperation::Next),
        1 => Just(LogOperation::Reopen),
    ]
}

/// A subscription, and the filter that would continue from its position.
type OpenSubscription = (Box<dyn Subscription>, RecordFilter);

/// A log with its readers and its results.
struct PlayedLog<L> {
    log: L,
    streams: Vec<OpenSubscription>,
    answers: Vec<String>,
}

impl<L: EventLog> PlayedLog<L> {
    fn new(log: L) -> PlayedLog<L> {
        PlayedLog { log, streams: Vec::new(), answers: Vec::new() }
    }

    fn play(&mut self, act: &LogOperation) {
        let answer = match act {
            LogOperation::Append(record) => {
                self.log.append(record.clone());
                return;
            }
            LogOperation::Latest(topic) => format!("{:?}", self.log.latest(topic).unwrap()),
            LogOperation::Read(filter, limit) => shown(self.log.read(filter, *limit).unwrap()),
            LogOperation::Subscribe(filter) => {
                self.streams.push((self.log.subscribe(filter.clone()), filter.clone()));
                return;
            }
            LogOperation::Next(n) => {
                if self.streams.is_empty() {
                    return;
                }
                let at = n % self.streams.len();
                let (stream, filter) = &mut self.streams[at];
                let record = stream.try_next().now().unwrap().unwrap();
                filter.after = record.as_ref().map_or(filter.after, |record| record.cursor);
                shown(record)
            }
            LogOperation::Reopen => return,
        };
        self.answers.push(answer);
    }
}

fn shown(records: impl IntoIterator<Item = Arc<Record>>) -> String {
    records.into_iter().map(|record| record.to_data().to_json()).collect::<Vec<_>>().join("\n")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn both_homes_answer_alike(acts in prop::collection::vec(act(), 0..60)) {
        let folder = super::sqlite::testing::TestFolder::new();
        let open = || SqliteLog::open(folder.file(), &SqliteOptions::default()).unwrap();
        let (mut memory, mut file) = (PlayedLog::new(MemoryLog::new()), PlayedLog::new(open()));
        for act in &acts {
            if matches!(act, LogOperation::Reopen) {
                let behind: Vec<RecordFilter> = file.streams.drain(..).map(|(_, filter)| filter).collect();
                file.log = open();
                file.streams = behind.into_iter().map(|filter| (file.log.subscribe(filter.clone()), filter)).collect();
            }
            memory.play(act);
            file.play(act);
            prop_assert_eq!(memory.answers.last(), file.answers.last(), "{:?}", act);
        }
        let all = |log: &dyn EventLog| shown(log.read(&RecordFilter::default(), usize::MAX).unwrap());
        prop_assert_eq!(all(&memory.log), all(&file.log));
    }
}
