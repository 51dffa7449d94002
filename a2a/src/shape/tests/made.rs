//! Values of the model, made up.

use std::sync::Arc;

use base::data::Data;
use proptest::collection::{btree_map, vec};
use proptest::option::of;
use proptest::prelude::*;

use super::model::{
    Artifact, ArtifactUpdate, Configuration, Content, Frame, Message, Part, Role, SendMessage, Status, StatusUpdate,
    Task, TaskState,
};

fn id() -> impl Strategy<Value = Arc<str>> {
    "[!-~]{1,12}".prop_map(Arc::from)
}

fn text() -> impl Strategy<Value = Arc<str>> {
    "\\PC{1,12}".prop_map(Arc::from)
}

/// Anything that JSON can say.
fn data() -> impl Strategy<Value = Data> {
    let leaf = prop_oneof![
        Just(Data::Nil),
        any::<bool>().prop_map(Data::Bool),
        any::<i64>().prop_map(Data::Int),
        (-1.0e12..1.0e12).prop_map(Data::Float),
        ".{0,8}".prop_map(Data::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Data::from),
            btree_map("[a-z]{0,4}", inner, 0..4).prop_map(Data::dict)
        ]
    })
}

fn metadata() -> impl Strategy<Value = Data> {
    prop_oneof![2 => Just(Data::Nil), 1 => btree_map("[a-z.]{1,6}", data(), 1..3).prop_map(Data::dict)]
}

fn content() -> impl Strategy<Value = Content> {
    prop_oneof![
        ".{0,20}".prop_map(|text| Content::Text(text.into())),
        prop_oneof![Just(""), Just("aMOk"), Just("aMOkbGxv"), Just("//8="), Just("+A==")]
            .prop_map(|raw| Content::Raw(raw.into())),
        text().prop_map(Content::Url),
        data().prop_map(Content::Data),
    ]
}

fn part() -> impl Strategy<Value = Part> {
    (content(), of(text()), of(text()), metadata()).prop_map(|(content, filename, media_type, metadata)| Part {
        content,
        filename,
        media_type,
        metadata,
    })
}

fn word<T: Copy + std::fmt::Debug + 'static>(all: &'static [T]) -> impl Strategy<Value = T> {
    proptest::sample::select(all)
}

pub(super) fn message() -> impl Strategy<Value = Message> {
    let names = (id(), of(id()), of(id()), word(Role::ALL));
    (names, vec(part(), 1..4), metadata(), vec(text(), 0..3), vec(id(), 0..3)).prop_map(
        |((message_id, context_id, task_id, role), parts, metadata, extensions, reference_task_ids)| Message {
            message_id,
            context_id,
            task_id,
            role,
            parts,
            metadata,
            extensions,
            reference_task_ids,
        },
    )
}

fn status() -> impl Strategy<Value = Status> {
    (word(TaskState::ALL), of(message().prop_map(Arc::new)), of(0..253_402_300_800_000_u64))
        .prop_map(|(state, message, at_ms)| Status { state, message, at_ms })
}

fn artifact() -> impl Strategy<Value = Artifact> {
    (id(), of(text()), of(text()), vec(part(), 0..3), metadata(), vec(text(), 0..3)).prop_map(
        |(artifact_id, name, description, parts, metadata, extensions)| Artifact {
            artifact_id,
            name,
            description,
            parts,
            metadata,
            extensions,
        },
    )
}

pub(super) fn task() -> impl Strategy<Value = Task> {
    let made = (vec(artifact().prop_map(Arc::new), 0..3), vec(message().prop_map(Arc::new), 0..3));
    (id(), id(), status(), made, metadata()).prop_map(|(id, context_id, status, (artifacts, history), metadata)| Task {
        id,
        context_id,
        status,
        artifacts,
        history,
        metadata,
    })
}

fn status_update() -> impl Strategy<Value = StatusUpdate> {
    (id(), id(), status(), metadata()).prop_map(|(task_id, context_id, status, metadata)| StatusUpdate {
        task_id,
        context_id,
        status,
        metadata,
    })
}

fn artifact_update() -> impl Strategy<Value = ArtifactUpdate> {
    (id(), id(), artifact(), any::<(bool, bool)>(), metadata()).prop_map(
        |(task_id, context_id, artifact, (append, last_chunk), metadata)| ArtifactUpdate {
            task_id,
            context_id,
            artifact: artifact.into(),
            append,
            last_chunk,
            metadata,
        },
    )
}

pub(super) fn frame() -> impl Strategy<Value = Frame> {
    prop_oneof![
        task().prop_map(|task| Frame::Task(task.into())),
        message().prop_map(|message| Frame::Message(message.into())),
        status_update().prop_map(Frame::Status),
        artifact_update().prop_map(Frame::Artifact),
    ]
}

pub(super) fn send() -> impl Strategy<Value = SendMessage> {
    let configuration = (vec(text(), 0..3), of(0..9_u32), any::<bool>());
    (message(), configuration, metadata()).prop_map(|(message, configuration, metadata)| {
        let (accepted_output_modes, history_length, return_immediately) = configuration;
        let configuration = Configuration { accepted_output_modes, history_length, return_immediately, push: false };
        SendMessage { message, configuration, metadata }
    })
}
