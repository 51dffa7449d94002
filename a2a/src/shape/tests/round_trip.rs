//! Round trips: a written value is read back unchanged, as far as the version can express it.

use std::sync::Arc;

use base::data::Data;
use proptest::prelude::*;

use super::made;
use super::reduced::Reduce;
use crate::{Artifact, Frame, ListTasks, Message, Part, SendMessage, Status, Task, TaskPage, TaskState, Version};

const VERSIONS: [Version; 2] = [Version::V0_3, Version::V1_0];

/// Returns the data as a peer receives it.
fn sent(data: &Data) -> Data {
    Data::from_json(&data.to_json()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn tasks(task in made::task()) {
        for version in VERSIONS {
            let read = version.read_task(&sent(&version.task(&task, None))).unwrap();
            prop_assert_eq!(read, task.clone().reduced_to(version));
        }
    }

    #[test]
    fn frames(frame in made::frame(), is_last in any::<bool>()) {
        for version in VERSIONS {
            let read = version.read_frame(&sent(&version.frame(&frame, is_last))).unwrap();
            prop_assert_eq!(read, frame.clone().reduced_to(version));
        }
    }

    #[test]
    fn what_sending_answers_is_read_as_a_frame(task in made::task()) {
        for version in VERSIONS {
            let read = version.read_frame(&sent(&version.sent(&task, None))).unwrap();
            prop_assert_eq!(read, Frame::Task(task.clone().reduced_to(version).into()));
        }
    }

    #[test]
    fn requests(request in made::send()) {
        for version in VERSIONS {
            let read = version.read_send(&sent(&version.send(&request))).unwrap();
            prop_assert_eq!(read, request.clone().reduced_to(version));
        }
    }

    #[test]
    fn messages(message in made::message()) {
        for version in VERSIONS {
            let data = version.message(&message);
            let sent = version.send(&request_of(&message));
            prop_assert_eq!(&data, sent.get("message"));
        }
    }

    /// Checks that readers return a value or an error with a field, whatever the input.
    #[test]
    fn nothing_that_comes_is_too_much(task in made::task(), request in made::send(), at in any::<usize>(), with in 0..6_usize) {
        let with = [Data::Nil, Data::Bool(true), Data::Int(-1), "x".into(), Data::list([]), Data::empty_dict()][with].clone();
        for version in VERSIONS {
            let task = version.task(&task, None);
            let broken = replaced(&task, at % count(&task), &with);
            let _ = version.read_task(&broken);
            let _ = version.read_frame(&broken);
            let request = version.send(&request);
            let broken = replaced(&request, at % count(&request), &with);
            if let Err(shape_error) = version.read_send(&broken) {
                prop_assert!(shape_error.message.contains(&shape_error.field), "{:?}", shape_error);
            }
            let _ = version.read_get(&broken);
            let _ = version.read_list(&broken);
        }
    }
}

fn request_of(message: &Message) -> SendMessage {
    SendMessage { message: message.clone(), configuration: Default::default(), metadata: Data::Nil }
}

/// Counts the values in `data`, itself included.
fn count(data: &Data) -> usize {
    match data {
        Data::List(items) => 1 + items.iter().map(count).sum::<usize>(),
        Data::Dict(entries) => 1 + entries.values().map(count).sum::<usize>(),
        _ => 1,
    }
}

/// Returns `data` with its `nth` value replaced.
fn replaced(data: &Data, nth: usize, with: &Data) -> Data {
    fn go(data: &Data, left: &mut usize, with: &Data) -> Data {
        if *left == 0 {
            *left = usize::MAX;
            return with.clone();
        }
        *left -= 1;
        match data {
            Data::List(items) => items.iter().map(|item| go(item, left, with)).collect(),
            Data::Dict(entries) => Data::dict(entries.iter().map(|(key, one)| (key.clone(), go(one, left, with)))),
            other => other.clone(),
        }
    }
    go(data, &mut { nth }, with)
}

#[test]
fn a_history_is_cut_from_its_old_end_and_a_page_has_what_was_asked_for() {
    let say = |id: &str| Arc::new(Message::new(crate::Role::User, id, vec![Part::text("x")]));
    let task = Task {
        id: "t".into(),
        context_id: "c".into(),
        status: Status { state: TaskState::Working, message: None, at_ms: None },
        artifacts: vec![Arc::new(Artifact {
            artifact_id: "a".into(),
            name: None,
            description: None,
            parts: vec![],
            metadata: Data::Nil,
            extensions: vec![],
        })],
        history: vec![say("1"), say("2"), say("3")],
        metadata: Data::Nil,
    };
    let ids = |data: &Data| -> Vec<String> {
        let history = data.get("history").as_list().unwrap_or_default();
        history.iter().map(|message| message.get("messageId").to_text().to_string()).collect()
    };
    for version in VERSIONS {
        assert_eq!(ids(&version.task(&task, None)), ["1", "2", "3"]);
        assert_eq!(ids(&version.task(&task, Some(2))), ["2", "3"]);
        assert_eq!(ids(&version.task(&task, Some(9))), ["1", "2", "3"]);
        assert!(version.task(&task, Some(0)).get("history").is_nil());
    }
    let page = TaskPage { tasks: vec![task.into()], next_page_token: String::new(), page_size: 50, total_size: 1 };
    for version in VERSIONS {
        let plain = version.page(&page, &ListTasks::default());
        let tasks = plain.get("tasks").as_list().unwrap();
        assert_eq!(
            (tasks.len(), tasks[0].get("artifacts").is_nil(), tasks[0].get("history").is_nil()),
            (1, true, true)
        );
        let asked = ListTasks { include_artifacts: true, history_length: Some(1), ..ListTasks::default() };
        let full = version.page(&page, &asked);
        let task = &full.get("tasks").as_list().unwrap()[0];
        assert_eq!(task.get("artifacts").as_list().map(<[Data]>::len), Some(1));
        assert_eq!(task.get("history").as_list().map(<[Data]>::len), Some(1));
    }
}
