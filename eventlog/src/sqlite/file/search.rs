//! [`CursorSearch`]: the cursors that a query may select, in its order.
//!
//! The indexes are ordered by subject and topic first, so each topic is searched by itself and the results are merged: a
//! page costs as much as it has records, whatever else the subject or the topics have.

use std::collections::VecDeque;

use rusqlite::{CachedStatement, Connection, params};

use crate::log::Query;

use super::{number, stored, topic_key};

/// Number of cursors that are searched at a time.
const AT_ONCE: usize = 256;

/// The cursors that a query may select. Kinds are not compared.
pub(super) struct CursorSearch<'a> {
    /// The searched topics; `None` if records of all topics and subjects are searched at once.
    topics: Option<Vec<i64>>,
    select: CachedStatement<'a>,
    query: &'a Query,
    /// The range that is left, without its ends.
    after: i64,
    before: i64,
    /// Maximum number of cursors of one search.
    most: usize,
    found: VecDeque<i64>,
    is_over: bool,
}

impl<'a> CursorSearch<'a> {
    pub(super) fn new(snapshot: &'a Connection, query: &'a Query, limit: usize) -> rusqlite::Result<CursorSearch<'a>> {
        let topics = match (&query.subject, query.topics.as_slice()) {
            (None, []) => None,
            (Some(_), []) => {
                let mut all = snapshot.prepare_cached("SELECT key FROM topics")?;
                Some(all.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<i64>>>()?)
            }
            (_, named) => {
                let mut keys = Vec::with_capacity(named.len());
                for name in named {
                    keys.extend(topic_key(snapshot, name)?.filter(|key| !keys.contains(key)));
                }
                Some(keys)
            }
        };
        let of_topic = if topics.is_some() { "topic = ?1" } else { "?1 IS NULL" };
        let of_subject = if query.subject.is_some() { "run_id = ?2" } else { "?2 IS NULL" };
        let order = if query.backwards { "DESC" } else { "ASC" };
        let select = snapshot.prepare_cached(&format!(
            "SELECT cursor FROM records WHERE {of_topic} AND {of_subject} AND cursor > ?3 AND cursor < ?4 \
             ORDER BY cursor {order} LIMIT ?5"
        ))?;
        // Of a kind, any number may have to be passed.
        let most = if query.kind_prefix.is_some() { AT_ONCE } else { limit.clamp(1, AT_ONCE) };
        Ok(CursorSearch {
            topics,
            select,
            query,
            after: stored(query.after),
            before: query.before.map_or(i64::MAX, stored),
            most,
            found: VecDeque::new(),
            is_over: false,
        })
    }

    /// Returns the next cursor.
    pub(super) fn next(&mut self) -> rusqlite::Result<Option<u64>> {
        if self.found.is_empty() && !self.is_over {
            self.search()?;
        }
        Ok(self.found.pop_front().map(|cursor| u64::try_from(cursor).unwrap_or(0)))
    }

    fn search(&mut self) -> rusqlite::Result<()> {
        let mut found = Vec::new();
        let (subject, limit) = (self.query.subject.as_deref(), i64::try_from(self.most).unwrap_or(i64::MAX));
        let searched = match &self.topics {
            None => vec![None],
            Some(keys) => keys.iter().copied().map(Some).collect(),
        };
        for topic in searched {
            let range = params![topic, subject, self.after, self.before, limit];
            for cursor in self.select.query_map(range, |row| number(row, 0))? {
                found.push(stored(cursor?));
            }
        }
        found.sort_unstable();
        if self.query.backwards {
            found.reverse();
        }
        self.is_over = found.len() < self.most;
        found.truncate(self.most);
        match found.last() {
            Some(last) if self.query.backwards => self.before = *last,
            Some(last) => self.after = *last,
            None => {}
        }
        self.found = found.into();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::sqlite::testing::TestFolder;
    use crate::{EventLog as _, LogFile, NewRecord, RUN_ID, SqliteLog, SqliteOptions};
    use base::data::Data;

    use super::*;

    #[test]
    fn a_page_is_searched_by_an_index_and_never_sorted_by_the_file() {
        let folder = TestFolder::new();
        let log = SqliteLog::open(folder.file(), &SqliteOptions::default()).unwrap();
        for n in 0..4 {
            let headers = Data::dict([(RUN_ID, Data::from("s"))]);
            let topic = format!("t{}", n % 2).into();
            log.append(NewRecord { topic, kind: "k".into(), payload: Data::Nil.into(), headers, occurred_at_ms: 1 });
        }
        drop(log);
        let file = LogFile::open(folder.file()).unwrap();
        for (query, index) in [
            (Query::default(), "PRIMARY KEY"),
            (Query::topic("t1"), "records_by_topic"),
            (Query::subject("s"), "COVERING INDEX records_by_run (run_id=? AND topic=?"),
            (Query { backwards: true, ..Query::subject("s") }, "COVERING INDEX records_by_run (run_id=? AND topic=?"),
        ] {
            let search = CursorSearch::new(&file.connection, &query, 9).unwrap();
            let sql = format!("EXPLAIN QUERY PLAN {}", search.select.expanded_sql().unwrap());
            let mut explained = file.connection.prepare(&sql).unwrap();
            let steps = explained.query_map([], |row| row.get::<_, String>(3)).unwrap();
            let plan: Vec<String> = steps.map(Result::unwrap).collect();
            let plan = plan.join("\n");
            assert!(plan.contains(index) && !plan.contains("TEMP B-TREE"), "{query:?}: {plan}");
        }
    }
}
