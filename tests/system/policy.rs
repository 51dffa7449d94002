//! Policy about reminders, from a project and from the file that `HARN_POLICY` names.

use crate::diff::diff;
use crate::harn::{Outcome, harn_in, harn_with_input, root, scratch};
use std::fs;

const FOLDER: &str = "examples/policy";

fn run(language: &str, env: &[(&str, &str)]) -> Outcome {
    harn_with_input(&["run", "--seed", "1", &format!("{FOLDER}/policy.{language}")], b"", env)
}

#[test]
fn both_halves_print_what_the_files_beside_them_say() {
    for (file, env) in [("policy.out", vec![]), ("managed.out", vec![("HARN_POLICY", "examples/policy/managed.toml")])]
    {
        let expected = root().join(FOLDER).join(file);
        for language in ["harn", "rhai"] {
            let outcome = run(language, &env);
            assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""), "{language}: {}", outcome.out);
            if language == "harn" && std::env::var_os("UPDATE").is_some() {
                fs::write(&expected, &outcome.out).unwrap();
            }
            let wanted = fs::read_to_string(&expected).unwrap();
            assert_eq!(diff(&wanted, &outcome.out), None, "{file}, {language} (-expected, +found)");
        }
    }
}

#[test]
fn a_managed_policy_that_cannot_be_read_stops_every_run() {
    let folder = scratch("policy-managed");
    let write = |name: &str, text: &str| {
        fs::write(folder.join(name), text).unwrap();
        folder.join(name).to_str().unwrap().to_owned()
    };
    let script = write("script.harn", "println(\"ran\")\n");
    let cases = [
        (write("key.toml", "[reminders.policy]\nforbid_tag = [\"x\"]\n"), "unknown key `forbid_tag`"),
        (write("table.toml", "[limits]\nfuel = 1\n"), "unknown key `limits`"),
        (write("source.toml", "[reminders.policy.sources.hosts]\nmax_body = 1\n"), "did you mean `host`?"),
        (write("glob.toml", "[reminders.policy]\nforbid_tags = [\"a[\"]\n"), "invalid glob"),
        (write("toml.toml", "[reminders.policy\n"), "invalid TOML"),
        (write("force.toml", "[reminders.policy]\nforce = [{text = \"x\"}]\n"), "reminder"),
        (
            write(
                "keys.toml",
                "[reminders.policy]\nforce = [{body = \"a\", dedupe_key = \"k\"}, {body = \"b\", dedupe_key = \"k\"}]\n",
            ),
            "two forced reminders have the `dedupe_key` `k`",
        ),
        (folder.join("missing.toml").to_str().unwrap().to_owned(), "cannot read"),
    ];
    for (path, phrase) in cases {
        for command in [["run", script.as_str()], ["check", script.as_str()], ["test", script.as_str()]] {
            let outcome = harn_with_input(&command, b"", &[("HARN_POLICY", path.as_str())]);
            assert_ne!(outcome.code, Some(0), "{command:?} {path}: {}", outcome.out);
            assert!(
                outcome.err.contains(phrase) || outcome.out.contains(phrase),
                "{command:?} {path}: {}",
                outcome.err
            );
            assert!(!outcome.out.contains("ran"), "{path}");
        }
    }
}

#[test]
fn what_is_forced_comes_back_and_counts_only_in_a_trusted_folder() {
    let folder = scratch("policy-forced");
    // Trust in an earlier content is remembered.
    let rules = format!("# {}\n[reminders.policy]\nforce = [{{body = \"Never print a key.\"}}]\n", std::process::id());
    fs::write(folder.join("harn.toml"), rules).unwrap();
    let script = folder.join("script.harn");
    fs::write(
        &script,
        "llm_mock({text: \"one\"})\nllm_mock({text: \"two\"})\n\
         let session = agent_session_open()\n\
         agent_loop(\"a\", nil, {session_id: session, provider: \"mock\"})?\n\
         agent_session_clear_reminders(session, {dedupe_key: \"policy:1\"})\n\
         agent_loop(\"b\", nil, {session_id: session, provider: \"mock\"})?\n\
         println(llm_mock_calls().map({ call -> call.system }))\n",
    )
    .unwrap();
    let run = || harn_with_input(&["run", "--seed", "1", script.to_str().unwrap()], b"", &[]);
    let untrusted = run();
    assert_eq!((untrusted.code, untrusted.out.contains("Never print")), (Some(0), false), "{}", untrusted.err);
    assert!(untrusted.err.contains("reminders.policy.force"), "{}", untrusted.err);
    crate::harn::trust(&folder);
    let trusted = run();
    assert_eq!((trusted.code, trusted.err.as_str()), (Some(0), ""), "{}", trusted.out);
    assert_eq!(trusted.out.matches("System reminder:\nNever print a key.").count(), 2, "{}", trusted.out);
}

/// A managed file that forces a reminder, and a script that says which requests show it: those of a loop, and those of a loop with
/// limits of its own.
const FORCED: &str = "[reminders.policy]\nforce = [{body = \"Never print a key.\", tags = [\"keys\"]}]\n";
const SHOWS: &str = r#"llm_mock({text: "one"})
llm_mock({text: "two"})
agent_loop("a", "sys", {provider: "mock"})?
agent_loop("b", "sys", {provider: "mock", reminders: {max_tokens: 1, max_share: 0.000001}})?
println(llm_mock_calls().map({ call -> to_string(call).contains("Never print a key.") }))
println(llm_mock_calls().map({ call -> to_string(call).contains("Be brief.") }))
"#;

#[test]
fn no_setting_of_a_project_removes_what_is_forced() {
    let folder = scratch("policy-kept");
    fs::write(folder.join("managed.toml"), FORCED).unwrap();
    fs::write(folder.join("main.harn"), SHOWS).unwrap();
    let row = |keys: &str| format!("[[capabilities]]\nprovider = \"mock\"\n{keys}\n");
    let policy = |keys: &str| format!("[reminders.policy]\n{keys}\n");
    let settings = [
        String::new(),
        "[reminders]\nmax_body = \"1\"\n".to_owned(),
        "[reminders]\nmax_tokens = 1\n".to_owned(),
        format!("[reminders]\nmax_share = 0.000001\n{}", row("context_window = 1000")),
        "[reminders]\nplacement = \"tail\"\nfiles = false\n".to_owned(),
        "[reminders]\nplacement = \"auto\"\nmax_body = \"1\"\nmax_tokens = 1\n".to_owned(),
        policy("forbid_ids = [\"*\"]\nforbid_tags = [\"*\"]"),
        policy("forbid_sources = [\"host\", \"peer\", \"mcp\", \"pack\", \"provider\", \"hook\", \"pipeline\"]"),
        policy("mark_untrusted = false\nsources.provider = {max_body = 1, role_hint = [\"user_block\"]}"),
        "[limits]\ndeny = [\"fs.read\", \"fs.write\", \"process\", \"net\", \"env\"]\n".to_owned(),
        "[hooks]\ntimeout_ms = 1\n[event_log]\nkeep_records = 1\nkeep_bytes = 1\n".to_owned(),
        row("wire = \"anthropic\""),
        row("wire = \"anthropic\"\nmid_conversation_system = true\nprompt_caching = true\nplacement = \"tail\""),
        row("wire = \"openai_responses\"\nprefers_role_developer = true"),
        row("wire = \"gemini\"\nprefers_xml_scaffolding = true\nautomatic_caching = true\nplacement = \"auto\""),
        row("wire = \"ollama\"\nnative_tools = false\nadaptive_thinking = true"),
        row("prefers_role_developer = true\nsystem_text = false"),
    ];
    let run = |toml: &str| {
        fs::write(folder.join("harn.toml"), toml).unwrap();
        harn_in(&folder, &["run", "main.harn"], b"", &[("HARN_POLICY", "managed.toml")])
    };
    for toml in settings {
        let outcome = run(&toml);
        assert_eq!(outcome.code, Some(0), "{toml}: {}", outcome.err);
        assert_eq!(outcome.out, "[true, true]\n[false, false]\n", "{toml}: {}", outcome.err);
    }
    // What a trusted project forces is added, also under a key that looks like one of the managed file.
    for key in ["", ", dedupe_key = \"policy:1\""] {
        let toml = format!("# {}\n[reminders.policy]\nforce = [{{body = \"Be brief.\"{key}}}]\n", std::process::id());
        fs::write(folder.join("harn.toml"), &toml).unwrap();
        crate::harn::trust(&folder);
        let outcome = run(&toml);
        assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""), "{toml}");
        assert_eq!(outcome.out, "[true, true]\n[true, true]\n", "{toml}");
    }
}

#[test]
fn a_variant_of_an_evaluation_does_not_change_what_is_forced() {
    let folder = scratch("policy-eval");
    fs::write(folder.join("managed.toml"), FORCED).unwrap();
    let script = "pipeline default(task) {\n  llm_mock({text: \"Done.\"})\n  agent_loop(task, \"S\", {provider: \"mock\"})?\n  \
                  throw to_string(llm_mock_calls())\n}\n";
    fs::write(folder.join("main.harn"), script).unwrap();
    let variants = "[[tasks]]\nname = \"t\"\ntask = \"Go.\"\n[[variants]]\nname = \"changed\"\nreminders = {enabled = false, \
                    max_tokens = 1}\n[[variants.overrides]]\nset = {body = \"CHANGED\", ttl_turns = 1, max_times = 1}\n";
    fs::write(folder.join("v.toml"), variants).unwrap();
    let args = ["eval", "main.harn", "--variants", "v.toml", "--format", "json"];
    let outcome = harn_in(&folder, &args, b"", &[("HARN_POLICY", "managed.toml")]);
    assert!(
        outcome.out.contains("Never print a key.") && !outcome.out.contains("CHANGED"),
        "{}{}",
        outcome.out,
        outcome.err
    );
}

#[test]
fn a_request_without_a_slot_for_what_is_forced_is_refused() {
    let folder = scratch("policy-slot");
    fs::write(folder.join("managed.toml"), FORCED).unwrap();
    fs::write(
        folder.join("harn.toml"),
        "[[capabilities]]\nprovider = \"mock\"\nmodel = \"bare\"\nsystem_text = false\n",
    )
    .unwrap();
    let refused = "the request was refused by policy: `bare` has no slot for the forced reminder `policy:1`";
    let head = "let session = agent_session_open()\nllm_mock({text: \"one\"})\nllm_mock({text: \"two\"})\n\
                agent_loop(\"a\", nil, {provider: \"mock\", session_id: session})?\n";
    for ask in [
        "agent_loop(\"b\", nil, {provider: \"mock\", model: \"bare\", session_id: session})",
        "llm_call(\"b\", nil, {provider: \"mock\", model: \"bare\", session_id: session})",
    ] {
        let script = format!("{head}defer {{ println(llm_mock_calls().count()) }}\nprintln({ask}.text)\n");
        fs::write(folder.join("main.harn"), script).unwrap();
        let outcome = harn_in(&folder, &["run", "main.harn"], b"", &[("HARN_POLICY", "managed.toml")]);
        assert_eq!((outcome.code, outcome.out.as_str()), (Some(1), "1\n"), "{ask}: {}", outcome.err);
        assert!(outcome.err.contains(&format!("error[HARN-RUN-014]: {refused}")), "{ask}: {}", outcome.err);
        assert!(outcome.err.contains("use a model with a system prompt"), "{}", outcome.err);
    }
}

#[test]
fn a_refused_reminder_is_in_the_trace_and_its_provider_hears_of_it() {
    let folder = scratch("policy-trace");
    fs::write(folder.join("harn.toml"), "[reminders.policy]\nforbid_ids = [\"nag*\"]\n").unwrap();
    let script = folder.join("script.harn");
    fs::write(
        &script,
        "register_reminder_provider({id: \"nagger\", subscribes_to: [\"session_start\"], evaluate: { ctx -> {body: \"Buy!\", ttl_turns: 1} }})\n\
         llm_mock({text: \"one\"})\n\
         let result = agent_loop(\"a\", nil, {provider: \"mock\"})?\n\
         println(result.diagnostics.map({ note -> note.message }))\n",
    )
    .unwrap();
    let log = folder.join("events.db");
    let to = format!("sqlite:{}", log.display());
    let outcome = harn_with_input(&["run", "--event-log", &to, script.to_str().unwrap()], b"", &[]);
    let reason = "refused by policy: the id `nagger` is forbidden (`nag*`)";
    assert!(outcome.out.contains(reason) && outcome.err.contains(reason), "{}{}", outcome.out, outcome.err);
    let trace = harn_with_input(&["trace", log.to_str().unwrap()], b"", &[]);
    let line = "dropped before it became a reminder (policy): the id `nagger` is forbidden (`nag*`)";
    assert!(trace.out.contains(line), "{}", trace.out);
}

/// A server whose tool reminds its client, and a loop that calls the tool once.
const REMINDING: &str = r#"/// Works.
pub pipeline work() -> string {
  mcp.remind({body: "The index is stale.", tags: ["index"], dedupe_key: "stale", ttl_turns: 2})
  return "done"
}
"#;
const REMINDED: &str = r#"llm_mock({tool_calls: [{name: "h__work", arguments: {}}]})
llm_mock({text: "ok"})
let server = {name: "h", command: "harn", args: ["serve", "mcp", args()[0]], protocol: args()[1], reminders: true}
agent_loop("go", nil, {provider: "mock", mcp_servers: [server]})?
println(llm_mock_calls().last().system)
"#;

#[test]
fn each_rule_applies_to_the_reminders_of_mcp_servers() {
    let (served, folder) = (scratch("policy-mcp-server").join("server.harn"), scratch("policy-mcp"));
    fs::write(&served, REMINDING).unwrap();
    fs::write(folder.join("loop.harn"), REMINDED).unwrap();
    let managed = folder.join("managed.toml");
    // A rule, and the reason for which it refuses the reminder; none if the reminder is shown.
    let rules = [
        ("forbid_ids = [\"st*\"]", Some("the id `stale` is forbidden (`st*`)")),
        ("forbid_ids = [\"index\"]", None),
        ("forbid_tags = [\"mcp:h\"]", Some("the tag `mcp:h` is forbidden (`mcp:h`)")),
        ("forbid_tags = [\"index\"]", Some("the tag `index` is forbidden (`index`)")),
        ("forbid_sources = [\"mcp\"]", Some("reminders of the source `mcp` are forbidden")),
        ("forbid_sources = [\"peer\", \"pipeline\"]", None),
        ("sources.host.max_body = 5", None),
        ("force = [{body = \"Be brief.\"}]", None),
        ("sources.mcp.max_body = \"18 B\"", Some("the body has 19 bytes")),
        ("sources.mcp.max_body = \"19 B\"", None),
        ("sources.mcp.role_hint = [\"user_block\"]", Some("may not use the role_hint `system`")),
        ("sources.mcp.role_hint = [\"system\"]", None),
        ("mark_untrusted = true", None),
    ];
    for (rule, reason) in rules {
        for (is_managed, era) in [(false, "2026-07-28"), (true, "2025-11-25")] {
            let policy = format!("[reminders.policy]\n{rule}\n");
            fs::write(folder.join("harn.toml"), if is_managed { "" } else { &policy }).unwrap();
            crate::harn::trust(&folder);
            fs::write(&managed, if is_managed { &policy } else { "" }).unwrap();
            let env = [("HARN_POLICY", managed.to_str().unwrap())];
            let line = ["run", "loop.harn", "--", served.to_str().unwrap(), era];
            let outcome = harn_in(&folder, &line, b"", &env);
            let place = format!("{rule}, {era}: {}{}", outcome.out, outcome.err);
            assert_eq!(outcome.code, Some(0), "{place}");
            match reason {
                Some(reason) => {
                    assert_eq!(outcome.out, "nil\n", "{place}");
                    assert!(outcome.err.contains("refused by policy") && outcome.err.contains(reason), "{place}");
                }
                None => {
                    assert!(outcome.out.contains("The index is stale."), "{place}");
                    let mark = outcome.out.contains("[untrusted origin: mcp]");
                    assert_eq!((mark, outcome.err.as_str()), (rule.starts_with("mark"), ""), "{place}");
                }
            }
        }
    }
}

/// Adds a reminder with the tag `promo` on each road into pending, and prints what the prompts showed.
const ROADS: &str = r#"
fn promo(name) { return {body: "PROMO by ${name}.", tags: ["promo"], ttl_turns: 2} }
fn event(name) { return transcript_reminder_event(promo(name)) }
fn whole(name) {
  return {_type: "transcript", version: 1, id: name, messages: [], events: [event(name)], assets: []}
}
fn refused(road, attempt) {
  let result = try { attempt() }
  println(road, result.is_err() ? "refused" : "dropped", result.is_err() ? result.unwrap_err().message : "")
}
let mock = {provider: "mock"}
fn go(options) { return agent_loop("go", nil, {...mock, ...options})? }

let s = agent_session_open("s")
refused("inject_reminder", { -> agent_session_inject_reminder(s, promo("inject_reminder")) })
refused("transcript.inject_reminder", { -> transcript.inject_reminder(transcript(), promo("transcript.inject_reminder")) })
refused("an event", { -> agent_session_inject(s, event("an event")) })
refused("a bridge", { -> agent_session_push_bridge_injection(s, promo("a bridge")) })
refused("messages of a loop", { -> go({session_id: s, messages: [event("messages of a loop")]}) })
refused("reminder_propagation of sub_agent_run", { -> sub_agent_run("go", {...mock, reminder_propagation: [{...promo("sub_agent_run"), id: "a"}]}) })
refused("reminder_propagation of spawn_agent", { -> spawn_agent({task: "go", ...mock, reminder_propagation: [{...promo("spawn_agent"), id: "b"}]}) })
refused("reminder_propagation of handoff", { -> handoff({source_persona: "a", target_persona_or_human: "b", task: "c", reason: "d", reminder_propagation: [{...promo("handoff"), id: "c"}]}) })
refused("transcript_import", { -> go({transcript: transcript_import(whole("transcript_import"))}) })
refused("transcript of a dict", { -> go({transcript: transcript(whole("transcript of a dict"))}) })
refused("transcript of a loop", { -> go({transcript: whole("transcript of a loop")}) })
refused("transcript_from_messages", { -> go({transcript: transcript_from_messages([event("transcript_from_messages")])}) })
refused("transcript_fork", { -> go({transcript: transcript_fork(whole("transcript_fork"))}) })
refused("transcript of llm_call", { -> llm_call("go", nil, {...mock, transcript: whole("transcript of llm_call")}) })
refused("transcript_compact", { ->
  let compacted = transcript_compact(whole("transcript_compact"), {
    strategy: "custom",
    custom_compactor: { messages, reminders -> transcript(whole("a compactor")) },
  })
  go({transcript: compacted})
})
register_session_hook("session_start", { e -> {reminder: promo("a hook")} })
register_reminder_provider({id: "seller", subscribes_to: ["session_start"], evaluate: { ctx -> promo("a provider") }})
register_tool_hook({pattern: "*", post: { ctx -> {reminder: promo("a tool hook")} }})
let look = tool_define(tool_registry(), "look", "Looks.", {parameters: {}, handler: { a -> "seen" }})
llm_mock({tool_calls: [{name: "look", arguments: {}}]})
llm_mock("done")
refused("hooks, providers, files", { -> go({session_id: s, tools: look, reminders: {files: true}}) })
println(len(llm_mock_calls()) > 8, json_stringify(llm_mock_calls()).contains("PROMO"))
println(event_log.read({topic: "transcript.reminder.lifecycle"})
  .filter({ r -> r.kind.ends_with("dropped") && r.payload.reason == "policy" }).map({ r -> r.payload.detail }).unique())
"#;

#[test]
fn a_policy_holds_on_every_road_into_pending() {
    let folder = scratch("policy-roads");
    fs::write(folder.join("roads.harn"), ROADS).unwrap();
    fs::create_dir_all(folder.join(".harn/reminders")).unwrap();
    let file = "---\ntags: [\"promo\"]\nttl_turns: 2\n---\nPROMO by a file.\n";
    fs::write(folder.join(".harn/reminders/sale.md"), file).unwrap();
    fs::write(folder.join("harn.toml"), "[reminders.policy]\nforbid_tags = [\"promo*\"]\n").unwrap();
    crate::harn::trust(&folder);
    let outcome = harn_in(&folder, &["run", "--seed", "1", "roads.harn"], b"", &[]);
    assert_eq!(outcome.code, Some(0), "{}{}", outcome.out, outcome.err);
    let reason = "refused by policy: the tag `promo` is forbidden (`promo*`)";
    let refused = [
        "inject_reminder",
        "transcript.inject_reminder",
        "an event",
        "a bridge",
        "messages of a loop",
        "reminder_propagation of sub_agent_run",
        "reminder_propagation of spawn_agent",
        "reminder_propagation of handoff",
    ];
    for line in outcome.out.lines().take_while(|line| !line.starts_with("true")) {
        let is_refused = refused.iter().any(|road| line.starts_with(&format!("{road} refused")));
        let is_dropped = !is_refused && line.ends_with(" dropped ");
        assert!(is_dropped || is_refused && line.contains(reason), "{line}\n{}", outcome.err);
    }
    let end = "true false\n[the tag `promo` is forbidden (`promo*`)]\n";
    assert!(outcome.out.ends_with(end), "{}{}", outcome.out, outcome.err);
    // What is not refused at the call is reported, each warning once.
    for from in ["an earlier reminder", "`session_start`", "`seller`", "`*`", "`file:sale.md`"] {
        assert!(outcome.err.contains(&format!("{from} was {reason}")), "{from}: {}", outcome.err);
    }
}

/// Suspends a worker with a reminder, or resumes it and prints what its next prompt shows.
const RESUMED: &str = r#"
let behaviour = {reminders: {enabled: false}, llm_caller: { asked ->
  println(asked.system)
  return asked.turn == 1 ?
    {tool_calls: [{id: "c", name: "agent_await_resumption", arguments: {reason: "you"}}]} : "done"
}}
if len(args()) == 0 {
  register_session_hook("pre_suspend", { e ->
    agent_session_push_bridge_injection(e.session.id, {body: "PROMO queued.", tags: ["promo"], ttl_turns: 2})
    return nil
  })
  let worker = spawn_agent({task: "go", ...behaviour, reminder_propagation: [
    {id: "r", body: "PROMO", tags: ["promo"]}, {id: "o", body: "Other."},
  ]})
  println(wait_agent(worker).snapshot_path)
} else {
  println(wait_agent(resume_agent(args()[0], "go on", true, behaviour)).status)
}
"#;

#[test]
fn a_policy_holds_for_what_another_process_has_left() {
    let folder = scratch("policy-resumed");
    fs::write(folder.join("script.harn"), RESUMED).unwrap();
    let run = |args: &[&str]| {
        let line = [&["run", "--seed", "1", "script.harn", "--"], args].concat();
        harn_in(&folder, &line, b"", &[])
    };
    let first = run(&[]);
    assert_eq!((first.code, first.err.as_str()), (Some(0), ""), "{}", first.out);
    let (shown, path) = first.out.trim_end().rsplit_once('\n').unwrap();
    assert_eq!(shown, "System reminder:\nPROMO\n\nSystem reminder:\nOther.");
    fs::write(folder.join("harn.toml"), "[reminders.policy]\nforbid_tags = [\"promo*\"]\n").unwrap();
    let second = run(&[path]);
    assert_eq!(second.code, Some(0), "{}{}", second.out, second.err);
    assert_eq!(second.out, "System reminder:\nOther.\ncompleted\n");
    let reason = "an earlier reminder was refused by policy: the tag `promo` is forbidden (`promo*`)";
    assert!(second.err.contains(reason), "{}", second.err);
}
