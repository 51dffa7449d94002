//! Random acts.

use std::sync::Arc;

use eventlog::{LeaseClock, MemoryLog, Query, SqliteLog, SqliteOptions, SubjectQuery};
use proptest::prelude::*;

use crate::play::{Act, Backend, BatchPlan, Play, RecordPlan, SUBJECTS, TOPICS};
use crate::storage::LogFolder;

fn subject() -> impl Strategy<Value = usize> {
    0..SUBJECTS.len()
}

fn record() -> impl Strategy<Value = RecordPlan> {
    (0..TOPICS.len(), "[xy]{0,2}", any::<i64>()).prop_map(|(topic, kind, number)| RecordPlan { topic, kind, number })
}

fn batch() -> impl Strategy<Value = BatchPlan> {
    let records = prop::collection::vec(record(), 0..5);
    let option = |most: u64| prop::option::weighted(0.3, 0..most);
    let numbers = (prop::option::weighted(0.4, 0..4_u8), prop::option::weighted(0.3, 0..2_u8));
    (subject(), option(2), option(2), numbers, records).prop_map(
        |(subject, epoch, expected, (request, state), records)| BatchPlan {
            subject,
            epoch,
            expected,
            request,
            state,
            records,
        },
    )
}

fn query() -> impl Strategy<Value = Query> {
    let name = |names: &'static [&'static str]| prop::option::of((0..names.len()).prop_map(|n| Arc::from(names[n])));
    let kind = prop::option::of("[xy]{0,1}".prop_map(Arc::from));
    let range = (0..12_u64, prop::option::of(0..24_u64), any::<bool>());
    let topics = prop::collection::vec((0..TOPICS.len()).prop_map(|n| Arc::from(TOPICS[n])), 0..3);
    (name(&SUBJECTS), topics, kind, range).prop_map(|(subject, topics, kind_prefix, (after, before, backwards))| {
        Query { subject, topics, kind_prefix, after, before, backwards }
    })
}

fn subjects() -> impl Strategy<Value = SubjectQuery> {
    let prefix = prop::option::of(Just(Arc::from("a")));
    let state = prop::option::of((0..2_u8).prop_map(|n| Arc::from(format!("state-{n}"))));
    let owner = prop::option::of((0..2_u8).prop_map(|n| Arc::from(format!("owner-{n}"))));
    (prefix, state, owner, prop::option::of(0..24_u64), 0..4_usize)
        .prop_map(|(prefix, state, owner, before, limit)| SubjectQuery { prefix, state, owner, before, limit })
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => batch().prop_map(Act::Append),
        2 => (subject(), record()).prop_map(|(subject, record)| Act::Put { subject, record }),
        3 => (query(), 0..6_usize).prop_map(|(query, limit)| Act::Read(query, limit)),
        1 => query().prop_map(Act::Tail),
        4 => (0..8_usize).prop_map(Act::Next),
        1 => (0..8_usize).prop_map(Act::GiveUp),
        2 => (subject(), 0..2_usize, 0..20_u64).prop_map(|(subject, owner, ttl_ms)| Act::Claim { subject, owner, ttl_ms }),
        1 => (0..3_usize, 0..20_u64).prop_map(|(back, ttl_ms)| Act::Renew { back, ttl_ms }),
        1 => (0..3_usize).prop_map(|back| Act::Release { back }),
        1 => subject().prop_map(Act::OwnerOf),
        1 => (1..15_u64).prop_map(Act::Later),
        1 => subjects().prop_map(Act::Subjects),
        1 => (subject(), 0..30_u64).prop_map(|(subject, before)| Act::Trim { subject, before }),
        1 => Just(Act::Reopen),
    ]
}

/// Number of random plays: as many as `HARN_CASES` says.
fn cases() -> ProptestConfig {
    let cases = std::env::var("HARN_CASES").ok().and_then(|number| number.parse().ok()).unwrap_or(96);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

fn play<B: Backend>(backend: &B, acts: &[Act]) {
    let mut play = Play::new(backend);
    for act in acts {
        play.act(act);
    }
    play.end();
}

struct InMemory;

impl Backend for InMemory {
    type Opened = MemoryLog;
    const IS_KEPT: bool = false;

    fn open(&self, clock: LeaseClock) -> MemoryLog {
        MemoryLog::with_clock(clock)
    }
}

impl Backend for LogFolder {
    type Opened = SqliteLog;
    const IS_KEPT: bool = true;

    fn open(&self, clock: LeaseClock) -> SqliteLog {
        SqliteLog::open_with_clock(self.file(), &SqliteOptions::default(), clock).unwrap()
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn a_log_in_memory_keeps_the_laws(acts in prop::collection::vec(act(), 0..60)) {
        play(&InMemory, &acts);
    }

    #[test]
    fn a_log_in_a_file_keeps_the_laws(acts in prop::collection::vec(act(), 0..60)) {
        play(&LogFolder::new(), &acts);
    }
}
