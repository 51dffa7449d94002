use super::*;

#[test]
fn a_session_is_open_in_one_process_at_a_time() {
    let folder = StoreFolder::new();
    let (here, there) = (folder.store(), folder.store());
    let served = ServedSession::open(&here, ID);
    block_on(served.journal.settled()).unwrap();
    let claimed = |store: &SessionStore| store.claim(ID).map(|claim| claim.stored.id.to_string());
    assert_eq!(claimed(&there), Err(StoreError::Elsewhere(ID.into())));
    assert_eq!(claimed(&here).unwrap(), ID, "whoever has it may load it again");
    served.journal.closed();
    block_on(served.journal.settled()).unwrap();
    let claim = there.claim(ID).unwrap();
    assert_eq!(claimed(&here), Err(StoreError::Elsewhere(ID.into())), "of two that load it one gets it");
    let loaded = ServedSession::load(&there, claim);
    block_on(loaded.journal.settled()).unwrap();
    assert_eq!(claimed(&here), Err(StoreError::Elsewhere(ID.into())));
    drop((loaded, there));
    assert_eq!(claimed(&here).unwrap(), ID, "a process that has ended has none open");
    drop((here, served));
    let left: Vec<_> = std::fs::read_dir(&folder.0).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["events.db"], "locks leave nothing behind");
}
