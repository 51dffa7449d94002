use super::*;

const REACHED: PeerTaskFacts =
    PeerTaskFacts { native: TaskState::Working, contact: PeerContact::Reached, quiet_ms: 0, artifacts_stored: false };

fn link() -> PeerTaskLink {
    PeerTaskLink {
        task_id: "local-1".into(),
        parent_task_id: Some("call-1".into()),
        direction: PeerTaskDirection::Outgoing,
        session_id: Some("s".into()),
        channel_id: None,
        remote_task_id: "remote-1".into(),
        remote_context_id: Some("context-1".into()),
        agent_card_ref: Some("http://peer/.well-known/agent-card.json".into()),
        native_status: TaskState::Submitted,
        artifact_refs: Vec::new(),
        state: PeerTaskState::Idle,
        cause: None,
    }
}

#[test]
fn state_running_is_a_task_that_the_peer_works_on() {
    assert_eq!(decide(REACHED), PeerTaskState::Running);
}

#[test]
fn state_idle_is_a_task_that_the_peer_has_and_does_not_work_on() {
    for native in [TaskState::Submitted, TaskState::Unknown] {
        assert_eq!(decide(PeerTaskFacts { native, ..REACHED }), PeerTaskState::Idle);
    }
    assert_eq!(decide(PeerTaskFacts { quiet_ms: IDLE_AFTER_MS - 1, ..REACHED }), PeerTaskState::Running);
    assert_eq!(decide(PeerTaskFacts { quiet_ms: IDLE_AFTER_MS, ..REACHED }), PeerTaskState::Idle);
}

#[test]
fn state_waiting_is_a_task_that_needs_input_or_authorization() {
    for native in [TaskState::InputRequired, TaskState::AuthRequired] {
        let facts = PeerTaskFacts { native, quiet_ms: u64::MAX, ..REACHED };
        assert_eq!(decide(facts), PeerTaskState::Waiting);
    }
}

#[test]
fn state_completed_unreconciled_lasts_until_the_artifacts_are_stored() {
    let completed = PeerTaskFacts { native: TaskState::Completed, ..REACHED };
    assert_eq!(decide(completed), PeerTaskState::CompletedUnreconciled);
    let offline = PeerContact::Unavailable(UnavailableCause::Network);
    assert_eq!(decide(PeerTaskFacts { contact: offline, ..completed }), PeerTaskState::CompletedUnreconciled);
    assert_eq!(decide(PeerTaskFacts { artifacts_stored: true, ..completed }), PeerTaskState::Completed);
}

#[test]
fn state_missing_is_a_task_that_the_peer_no_longer_has() {
    for native in [TaskState::Submitted, TaskState::Working, TaskState::InputRequired, TaskState::Completed] {
        let facts = PeerTaskFacts { native, contact: PeerContact::NotFound, ..REACHED };
        assert_eq!(decide(facts), PeerTaskState::Missing, "{native}");
    }
}

#[test]
fn state_unavailable_is_a_peer_that_cannot_be_asked() {
    for cause in UnavailableCause::ALL {
        for native in [TaskState::Submitted, TaskState::Working, TaskState::InputRequired, TaskState::Unknown] {
            let facts = PeerTaskFacts { native, contact: PeerContact::Unavailable(*cause), ..REACHED };
            assert_eq!(decide(facts), PeerTaskState::Unavailable, "{native} {cause}");
        }
    }
}

#[test]
fn a_finished_state_needs_the_peer_to_say_so() {
    let contacts = UnavailableCause::ALL.iter().map(|cause| PeerContact::Unavailable(*cause));
    for contact in contacts.chain([PeerContact::Reached, PeerContact::NotFound]) {
        for native in TaskState::ALL.iter().copied() {
            for artifacts_stored in [false, true] {
                let state = decide(PeerTaskFacts { native, contact, quiet_ms: 0, artifacts_stored });
                assert!(!state.is_finished() || native.is_terminal(), "{native} {contact:?} is {state}");
                let is_failure = matches!(native, TaskState::Failed | TaskState::Rejected);
                assert_eq!(state == PeerTaskState::Failed, is_failure, "{native} {contact:?}");
            }
        }
    }
}

#[test]
fn every_a2a_state_has_its_local_status() {
    let status = |native, contact, artifacts_stored| {
        local_status(native, decide(PeerTaskFacts { native, contact, quiet_ms: 0, artifacts_stored }))
    };
    for (native, expected) in [
        (TaskState::Submitted, LocalTaskStatus::Queued),
        (TaskState::Working, LocalTaskStatus::Running),
        (TaskState::InputRequired, LocalTaskStatus::WaitingInput),
        (TaskState::AuthRequired, LocalTaskStatus::WaitingPermission),
        (TaskState::Completed, LocalTaskStatus::Running),
        (TaskState::Failed, LocalTaskStatus::Failed),
        (TaskState::Rejected, LocalTaskStatus::Failed),
        (TaskState::Canceled, LocalTaskStatus::Cancelled),
        (TaskState::Unknown, LocalTaskStatus::Unknown),
    ] {
        assert_eq!(status(native, PeerContact::Reached, false), expected, "{native}");
    }
    assert_eq!(status(TaskState::Completed, PeerContact::Reached, true), LocalTaskStatus::Completed);
    assert_eq!(status(TaskState::Working, PeerContact::NotFound, false), LocalTaskStatus::Lost);
    let offline = PeerContact::Unavailable(UnavailableCause::Network);
    assert_eq!(status(TaskState::Working, offline, false), LocalTaskStatus::Unknown);
}

#[test]
fn a_link_keeps_both_identities_on_the_log() {
    let mut links = PeerTaskLinks::default();
    let mut written = link();
    let record = |new: NewRecord, cursor| Record {
        topic: new.topic,
        kind: new.kind,
        payload: Data::from_json(&new.payload.to_data().to_json()).unwrap().into(),
        headers: new.headers,
        occurred_at_ms: new.occurred_at_ms,
        id: cursor,
        cursor,
    };
    links.take(&record(written.to_record(true, 5), 1));
    assert_eq!(links.all(), [written.clone()]);
    written.artifact_refs.push("artifact:local-1/a".into());
    assert!(written.apply(PeerTaskFacts { native: TaskState::Completed, artifacts_stored: true, ..REACHED }));
    links.take(&record(written.to_record(false, 6), 2));
    let card = written.agent_card_ref.as_deref();
    let known = links.of_remote(card, "remote-1").unwrap();
    assert_eq!((known, known.status()), (&written, LocalTaskStatus::Completed));
    assert_eq!((links.of_remote(card, "local-1"), links.of_remote(None, "remote-1")), (None, None));
    assert_eq!(links.unfinished().count(), 0);
    // Nothing reopens a finished task.
    assert!(!written.apply(PeerTaskFacts { contact: PeerContact::NotFound, ..REACHED }));
    assert_eq!(written.state, PeerTaskState::Completed);
}

#[test]
fn a_change_is_reported_once() {
    let mut link = link();
    assert!(link.apply(REACHED) && !link.apply(REACHED));
    let offline = |cause| PeerTaskFacts { contact: PeerContact::Unavailable(cause), ..REACHED };
    assert!(link.apply(offline(UnavailableCause::Network)));
    assert_eq!((link.state, link.cause), (PeerTaskState::Unavailable, Some(UnavailableCause::Network)));
    assert!(link.apply(offline(UnavailableCause::Auth)) && link.apply(REACHED));
    assert_eq!((link.state, link.cause), (PeerTaskState::Running, None));
}
