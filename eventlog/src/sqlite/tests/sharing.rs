use super::*;

#[test]
fn logs_of_one_file_give_no_id_twice_and_leave_none_out() {
    let folder = TestFolder::new();
    let write = |log: SqliteLog| {
        std::thread::spawn(move || (0..300).map(|i| emit(&log, if i % 3 == 0 { "a" } else { "b" })).collect::<Vec<_>>())
    };
    let writers = [write(folder.log()), write(folder.log()), write(folder.log())];
    let mut cursors: Vec<u64> =
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).map(|place| place.cursor).collect();
    cursors.sort_unstable();
    assert_eq!(cursors, (1..=900).collect::<Vec<_>>());
    let log = folder.log();
    for (topic, count) in [("a", 300), ("b", 600)] {
        let ids: Vec<u64> =
            log.read(&RecordFilter::topic(topic), usize::MAX).unwrap().iter().map(|record| record.id).collect();
        assert_eq!(ids, (1..=count).collect::<Vec<_>>());
    }
}

#[test]
fn a_file_is_made_once_also_where_many_open_it_at_the_same_moment() {
    for _ in 0..5 {
        let folder = TestFolder::new();
        let path = folder.file();
        let openers: Vec<_> = (0..8)
            .map(|_| {
                let path = path.clone();
                std::thread::spawn(move || emit(&SqliteLog::open(path, &SqliteOptions::default()).unwrap(), "a").id)
            })
            .collect();
        let mut ids: Vec<u64> = openers.into_iter().map(|opener| opener.join().unwrap()).collect();
        ids.sort_unstable();
        assert_eq!(ids, (1..=8).collect::<Vec<_>>());
    }
}

#[test]
fn a_file_that_is_written_can_be_read_by_others() {
    let folder = TestFolder::new();
    let log = folder.log();
    emit(&log, "a");
    let reader = LogFile::open(folder.file()).unwrap();
    assert_eq!(reader.read(&RecordFilter::default(), 9).unwrap().len(), 1);
    emit(&log, "a");
    assert_eq!(reader.read(&RecordFilter { after: 1, ..RecordFilter::default() }, 9).unwrap()[0].cursor, 2);
}

/// A statement that ends only if it is interrupted.
const ENDLESS: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";

#[test]
fn a_long_read_delays_no_other_one_and_a_log_that_is_closed_interrupts_it() {
    let folder = TestFolder::new();
    let log = folder.log();
    emit(&log, "a");
    let (begins, begun) = std::sync::mpsc::channel();
    let (ends, ended) = std::sync::mpsc::channel::<()>();
    let its = log.clone();
    let reader = std::thread::spawn(move || {
        its.look(|_| {
            begins.send(()).unwrap();
            let _ = ended.recv();
            Ok(())
        })
    });
    begun.recv().unwrap();
    assert_eq!(all(&log).len(), 1);
    drop(ends);
    reader.join().unwrap().unwrap();
    let has_begun = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let told = has_begun.clone();
    let (inner, given) = (log.0.clone(), std::sync::mpsc::channel());
    let mut read = Box::pin(async move {
        let read = inner.readers.read(move |file| {
            told.store(true, std::sync::atomic::Ordering::Relaxed);
            let counted = file.ask(|rows| rows.query_row(ENDLESS, [], |row| row.get::<_, i64>(0)));
            given.0.send(counted.is_err()).unwrap();
            counted
        });
        read.await
    });
    assert!(read.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    until("the read has begun", || has_begun.load(std::sync::atomic::Ordering::Relaxed));
    drop(read);
    drop(log);
    assert!(given.1.recv().unwrap(), "it was interrupted");
}

#[test]
fn a_mark_is_between_what_was_appended_before_and_after() {
    let folder = TestFolder::new();
    let log = folder.log();
    emit(&log, "a");
    let held = hold(&folder);
    log.append(record("a", "before"));
    let mark = log.mark();
    log.append(record("a", "after"));
    drop(held);
    assert_eq!(log.look_upto(&mark, |file, upto| Ok((upto, file.head()?))).unwrap(), (2, 3));
    assert_eq!(all(&log).len(), 3);
}
