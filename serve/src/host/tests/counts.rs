//! The metrics of a host while its sessions work.

use crate::host::testing::{block_on_runtime, host, named, says};
use crate::metrics::Exposition;
use crate::probe::Probed as _;
use runtime::reminder::bridge::RemindPayload;

const LOOP: &str = "
let tools = tool_define(tool_registry(), \"edit\", \"Edits.\", {handler: { args -> return \"edited\" }})
pipeline default(task, context) {
  let reminder = {body: \"Read first.\", ttl_turns: 1, expect: { _ -> false }}
  agent_session_inject_reminder(context.session_id, reminder)
  with_llm_script([llm_tool_call(\"edit\", {}), llm_text(\"ok\")], { ->
    agent_loop(task, nil, {provider: \"mock\", tools: tools, reminders: false, session_id: context.session_id})
  })
  return nil
}
";

#[test]
fn sessions_turns_calls_and_injections_are_counted() {
    let (host, _) = host(LOOP, 1);
    block_on_runtime(async {
        let session = host.open(named("s")).await.unwrap();
        let inbox = session.inbox().unwrap().clone();
        let payload = RemindPayload::from_data(&base::data::Data::dict([("body", "Be brief.".into())]));
        inbox.accept_reminder(payload.unwrap()).unwrap();
        let count = |name: &str| {
            let mut text = Exposition::default();
            host.expose(&mut text);
            let text = text.into_text();
            let found = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ').map(str::to_owned));
            found.unwrap_or_else(|| panic!("{name} is not in:\n{text}"))
        };
        assert_eq!(count("harn_injection_queue_depth"), "1");
        session.prompt(says("go")).await.unwrap();
        for (name, expected) in [
            ("harn_sessions_open", "1"),
            ("harn_sessions_opened_total", "1"),
            ("harn_sessions_busy", "0"),
            ("harn_draining", "0"),
            ("harn_turns_total", "2"),
            ("harn_model_calls_total{outcome=\"ok\"}", "2"),
            ("harn_model_calls_total{outcome=\"error\"}", "0"),
            ("harn_model_call_duration_seconds_count", "2"),
            ("harn_tool_calls_total{outcome=\"ok\"}", "1"),
            ("harn_tool_calls_total{outcome=\"error\"}", "0"),
            ("harn_injections_total{outcome=\"accepted\"}", "1"),
            ("harn_injections_total{outcome=\"delivered\"}", "1"),
            ("harn_injection_queue_depth", "0"),
            ("harn_reminder_verdicts_total{verdict=\"heeded\"}", "0"),
            ("harn_reminder_verdicts_total{verdict=\"ignored\"}", "1"),
        ] {
            assert_eq!(count(name), expected, "{name}");
        }
        host.begin_drain();
        assert_eq!(count("harn_draining"), "1");
        assert_eq!(host.readiness(), Err("draining"));
        assert!(host.accepts().is_err());
        host.stop().await;
    });
}
