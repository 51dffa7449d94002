//! Both homes answer alike, whatever is asked of them in whatever order.

use std::sync::Arc;

use proptest::prelude::*;

use super::{EventLog, Filter, MemoryLog, NewRecord, Record, SqliteLog, SqliteOptions, Subscription};
use crate::data::Data;

/// An operation on a log.
#[derive(Debug, Clone)]
enum Act {
    Append(NewRecord),
    Latest(Arc<str>),
    Read(Filter, usize),
    Subscribe(Filter),
    /// The nth subscription, counted round.
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

fn filter() -> impl Strategy<Value = Filter> {
    (prop::option::of(topic()), prop::option::of(kind()), 0..12_u64).prop_map(|(topic, kind_prefix, after)| Filter {
        topic,
        kind_prefix,
        after,
    })
}

fn act() -> impl Strategy<Value = Act> {
    let record = (topic(), kind(), payload(), any::<u32>()).prop_map(|(topic, kind, payload, at)| NewRecord {
        topic,
        kind,
        payload: payload.into(),
        headers: Data::Nil,
        occurred_at_ms: at.into(),
    });
    prop_oneof![
        4 => record.prop_map(Act::Append),
        1 => topic().prop_map(Act::Latest),
        2 => (filter(), 0..5_usize).prop_map(|(filter, limit)| Act::Read(filter, limit)),
        1 => filter().prop_map(Act::Subscribe),
        3 => (0..8_usize).prop_map(Act::Next),
        1 => Just(Act::Reopen),
    ]
}

/// A subscription, and the filter that would go on where it is.
type Stream = (Box<dyn Subscription>, Filter);

/// A log with its readers, and what it answered.
struct Played<L> {
    log: L,
    streams: Vec<Stream>,
    answers: Vec<String>,
}

impl<L: EventLog> Played<L> {
    fn new(log: L) -> Played<L> {
        Played { log, streams: Vec::new(), answers: Vec::new() }
    }

    fn play(&mut self, act: &Act) {
        let answer = match act {
            Act::Append(record) => {
                self.log.append(record.clone());
                return;
            }
            Act::Latest(topic) => format!("{:?}", self.log.latest(topic).unwrap()),
            Act::Read(filter, limit) => shown(self.log.read(filter, *limit).unwrap()),
            Act::Subscribe(filter) => {
                self.streams.push((self.log.subscribe(filter.clone()), filter.clone()));
                return;
            }
            Act::Next(n) => {
                if self.streams.is_empty() {
                    return;
                }
                let at = n % self.streams.len();
                let (stream, filter) = &mut self.streams[at];
                let record = stream.try_next().now().unwrap();
                filter.after = record.as_ref().map_or(filter.after, |record| record.cursor);
                shown(record)
            }
            Act::Reopen => return,
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
        let folder = super::sqlite::testing::Folder::new();
        let open = || SqliteLog::open(folder.file(), &SqliteOptions::default()).unwrap();
        let (mut memory, mut file) = (Played::new(MemoryLog::new()), Played::new(open()));
        for act in &acts {
            if matches!(act, Act::Reopen) {
                let behind: Vec<Filter> = file.streams.drain(..).map(|(_, filter)| filter).collect();
                file.log = open();
                file.streams = behind.into_iter().map(|filter| (file.log.subscribe(filter.clone()), filter)).collect();
            }
            memory.play(act);
            file.play(act);
            prop_assert_eq!(memory.answers.last(), file.answers.last(), "{:?}", act);
        }
        let all = |log: &dyn EventLog| shown(log.read(&Filter::default(), usize::MAX).unwrap());
        prop_assert_eq!(all(&memory.log), all(&file.log));
    }
}
