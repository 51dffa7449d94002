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
