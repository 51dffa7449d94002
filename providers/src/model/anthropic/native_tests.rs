//! The vendor's own slot in generated conversations: each request follows the rules of the API.

use std::sync::Arc;

use base::data::Data;
use base::ids::{IdStream, SharedIds};
use proptest::prelude::*;
use runtime::capabilities::{Capabilities, PlacementPolicy};
use runtime::lifecycle::{LifecycleContext, inject};
use runtime::message::{Message, Role, ToolCall};
use runtime::model::{Request, System};
use runtime::reminder::{ReminderSource, ReminderSpec, RoleHint};
use runtime::render::{PromptReminders, RenderOptions, bars_native, render};
use runtime::transcript::Transcript;
use serde_json::Value;

use crate::model::CapabilityTable;

const MODEL: &str = "claude-opus-4-8";

#[derive(Debug, Clone)]
enum Step {
    Say,
    Instruct(bool),
    Answer(&'static str),
    Call { calls: usize, remind_before_results: bool },
    Remind { hint: RoleHint, ttl_turns: Option<u32> },
}

fn step() -> impl Strategy<Value = Step> {
    let hint = prop::sample::select(RoleHint::ALL);
    prop_oneof![
        2 => Just(Step::Say),
        1 => any::<bool>().prop_map(Step::Instruct),
        2 => prop::sample::select(vec!["yes", "", "  "]).prop_map(Step::Answer),
        2 => (1..3usize, any::<bool>())
            .prop_map(|(calls, remind_before_results)| Step::Call { calls, remind_before_results }),
        3 => (hint, prop::option::of(1..3u32)).prop_map(|(hint, ttl_turns)| Step::Remind { hint, ttl_turns }),
    ]
}

fn transcript(steps: &[Step]) -> Transcript {
    let (session_id, ids) = (Arc::from("s"), SharedIds::new(IdStream::new(1, "native")));
    let at = LifecycleContext { session_id: &session_id, task_id: None, agent_id: None, turn: 1, now_ms: 1, ids: &ids };
    let mut transcript = Transcript::new(session_id.clone());
    let remind = |transcript: &mut Transcript, role_hint: RoleHint, ttl_turns: Option<u32>| {
        let spec = ReminderSpec { role_hint, ttl_turns, ..ReminderSpec::new("mind the gap") };
        inject(transcript, spec, ReminderSource::InPipeline, None, &at);
    };
    for (number, step) in steps.iter().enumerate() {
        let push = |transcript: &mut Transcript, message: Message| transcript.push_message(Arc::new(message));
        match step {
            Step::Say => push(&mut transcript, Message::user("go on")),
            Step::Instruct(true) => push(&mut transcript, Message::new(Role::System, "be brief")),
            Step::Instruct(false) => push(&mut transcript, Message::new(Role::Developer, "be brief")),
            Step::Answer(text) => push(&mut transcript, Message::assistant(*text, Vec::new())),
            Step::Call { calls, remind_before_results } => {
                let calls: Vec<ToolCall> =
                    (0..*calls).map(|n| ToolCall::new(format!("c{number}_{n}"), "look", Data::empty_dict())).collect();
                push(&mut transcript, Message::assistant("", calls.clone()));
                if *remind_before_results {
                    remind(&mut transcript, RoleHint::System, None);
                }
                for call in &calls {
                    push(&mut transcript, Message::tool_result(call, "seen", true));
                }
            }
            Step::Remind { hint, ttl_turns } => remind(&mut transcript, *hint, *ttl_turns),
        }
    }
    transcript
}

fn request(transcript: &Transcript, placement: PlacementPolicy) -> (Request, Capabilities) {
    let capabilities = CapabilityTable::built_in().unwrap().lookup("anthropic", MODEL);
    let options = RenderOptions {
        placement: Some(placement),
        native: Some(true),
        is_native_barred: bars_native(transcript.messages()),
    };
    let shown = PromptReminders::new(transcript, None, options.keeps_places(&capabilities)).inputs();
    let request = Request {
        system: Arc::new(System::primary("primary")),
        messages: transcript.messages().clone(),
        reminders: Arc::new(render(shown, &capabilities, options)),
        prompt_cache: true,
        ..Request::default()
    };
    (request, capabilities)
}

fn blocks_of(message: &Value, kind: &str) -> Vec<String> {
    let blocks = message["content"].as_array().into_iter().flatten().filter(|block| block["type"] == kind);
    let id =
        |block: &Value| block["id"].as_str().or_else(|| block["tool_use_id"].as_str()).unwrap_or_default().to_owned();
    blocks.map(id).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn every_request_follows_the_rules_of_the_slot(steps in prop::collection::vec(step(), 1..14)) {
        let transcript = transcript(&steps);
        for placement in PlacementPolicy::ALL {
            let (request, capabilities) = request(&transcript, *placement);
            let Ok(body) = super::body(&request, MODEL, &capabilities) else {
                // Nothing is left to send but system text.
                let is_silent = |message: &Arc<Message>| message.tool_calls.is_empty() && message.text().trim().is_empty();
                let instructs = |message: &Arc<Message>| matches!(message.role, Role::System | Role::Developer);
                prop_assert!(transcript.messages().iter().all(|message| instructs(message) || is_silent(message)));
                continue;
            };
            let messages = body["messages"].as_array().unwrap();
            let role = |index: usize| messages.get(index).and_then(|message| message["role"].as_str());
            for (index, message) in messages.iter().enumerate() {
                if role(index) == Some("system") {
                    prop_assert!(index > 0 && role(index - 1) == Some("user"), "after a user message: {body}");
                    prop_assert!(matches!(role(index + 1), None | Some("assistant")), "last or before an answer: {body}");
                    let is_text = |block: &Value| block["type"] == "text" && block.get("cache_control").is_none();
                    let content = &message["content"];
                    prop_assert!(content.is_string() || content.as_array().unwrap().iter().all(is_text), "{body}");
                } else if index > 0 {
                    prop_assert_ne!(role(index), role(index - 1), "{}", body);
                }
                let calls = blocks_of(message, "tool_use");
                if !calls.is_empty() && index + 1 < messages.len() {
                    prop_assert_eq!(calls, blocks_of(&messages[index + 1], "tool_result"), "{}", body);
                }
            }
            let shown = body.to_string().matches("mind the gap").count();
            prop_assert_eq!(shown, transcript.pending_count(), "each reminder is shown once: {}", body);
            let marks = body.to_string().matches("cache_control").count();
            prop_assert!(marks <= 4, "{body}");
        }
    }
}
