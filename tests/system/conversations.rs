//! Random conversations with vendors that refuse what the real ones refuse: tools in parallel, host messages, reminders of every
//! slot and rule, compaction, switches of model and vendor, sub-agents, copies, a process that ends in the middle.
//!
//! `HARN_CASES=20000` tries as many conversations, `HARN_SEED=7` begins with that one.

use crate::vendors::answers::{Dice, End};
use crate::vendors::server::{Exchange, Vendors};
use crate::vendors::{APIS, Api, Wire};
use eventlog::MemoryLog;
use providers::model::CapabilityTable;
use runtime::lifecycle::rebuild::rebuild;
use std::cell::{Cell, RefCell};
use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;
use std::rc::Rc;
use std::thread;
use stdlib::{Engine, Output, RunOptions, Source};

/// Conversations of a usual run.
const CASES: u64 = 400;
/// The exit code of a script that ends in the middle of a loop.
const KILLED: i32 = 9;

fn number(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

#[test]
fn random_conversations_are_never_refused() {
    let (first, cases) = (number("HARN_SEED", 1), number("HARN_CASES", CASES));
    let vendors = Vendors::start();
    let workers: Vec<_> = (0..2)
        .map(|worker| {
            let vendors = vendors.clone();
            thread::spawn(move || {
                let mut seen = Seen::default();
                for seed in (first..first + cases).filter(|seed| seed % 2 == worker) {
                    match converse(&vendors, seed) {
                        Ok(conversation) => seen.merge(&conversation),
                        Err(problem) => seen.problems.push(problem),
                    }
                }
                seen
            })
        })
        .collect();
    let mut seen = Seen::default();
    for worker in workers {
        seen.merge(&worker.join().unwrap());
    }
    let problems = std::mem::take(&mut seen.problems);
    // One of each kind is shown in full.
    let mut kinds: Vec<&str> = Vec::new();
    for problem in &problems {
        let kind = problem.lines().next().unwrap_or_default();
        if !kinds.contains(&kind) {
            kinds.push(kind);
            println!("{problem}\n");
        }
    }
    println!("{seen:?}");
    assert!(problems.is_empty(), "{} of {cases} conversations: {kinds:#?}", problems.len());
    if cases >= CASES {
        for end in
            [End::Done, End::Calls, End::CutOff, End::CutCall, End::CutThought, End::Pause, End::Refusal, End::Overflow]
        {
            assert!(seen.ends.iter().any(|(known, _)| *known == end), "{end:?} never came");
        }
        assert!(seen.killed > 0 && seen.loops > cases, "{seen:?}");
    }
}

/// Counts of what came in the conversations.
#[derive(Debug, Default)]
struct Seen {
    requests: u64,
    loops: u64,
    killed: u64,
    ends: Vec<(End, u64)>,
    /// Each begins with a line for its kind.
    problems: Vec<String>,
}

impl Seen {
    fn merge(&mut self, other: &Seen) {
        self.requests += other.requests;
        self.loops += other.loops;
        self.killed += other.killed;
        for (end, count) in &other.ends {
            match self.ends.iter_mut().find(|(known, _)| known == end) {
                Some((_, known)) => *known += count,
                None => self.ends.push((*end, *count)),
            }
        }
        self.problems.extend_from_slice(&other.problems);
    }
}

/// Runs the conversation of a seed. Returns what came in it, or its problem.
fn converse(vendors: &Vendors, seed: u64) -> Result<Seen, String> {
    let name = format!("c{seed}");
    vendors.open(&name, seed);
    let script = ConversationScript::of(seed);
    let table = CapabilityTable::built_in().unwrap().with_servers("harn.toml", &vendors.providers(&name)).unwrap();
    let log = MemoryLog::new();
    let output = Rc::new(LoopOutput {
        vendors: vendors.clone(),
        name: name.clone(),
        text: RefCell::default(),
        has_sub_agents: script.has_sub_agents,
        known: Cell::default(),
    });
    let run = |args: Vec<String>| {
        let options = RunOptions {
            seed: Some(seed),
            args,
            models: Some(table.clone()),
            log: Some(Rc::new(log.clone())),
            output: output.clone(),
            ..RunOptions::default()
        };
        Engine::new(options).run(&Source::new("conversation.harn", script.text.clone()))
    };
    let mut killed = 0;
    let mut ran = run(vec![script.file.display().to_string(), "kill".to_owned()]);
    if ran.exit_code == KILLED {
        killed = 1;
        output.known.set(vendors.last(&name).0);
        ran = run(vec![script.file.display().to_string(), "go".to_owned()]);
    }
    let _ = std::fs::remove_file(&script.file);
    let exchanges = vendors.close(&name);
    let text = output.text.borrow().clone();
    let at = || format!("seed {seed}\n{}\n{text}", script.text);
    for exchange in &exchanges {
        if let Exchange::Refused(words, body) = exchange {
            return Err(format!("{words}\n{}\n{body:#}", at()));
        }
    }
    if ran.exit_code != 0 {
        return Err(format!("exit {}\n{:?}\n{}", ran.exit_code, ran.diagnostics, at()));
    }
    if let Some(wrong) = text.lines().find(|line| line.starts_with("WRONG")) {
        return Err(format!("{wrong}\n{}", at()));
    }
    let rebuilt = rebuild(log.records().iter().map(AsRef::as_ref));
    for session in rebuilt.sessions() {
        if !session.tally().holds() {
            return Err(format!("the law of conservation\n{} {:?}\n{}", session.id, session.tally(), at()));
        }
    }
    let mut seen = Seen { requests: exchanges.len() as u64, killed, ..Seen::default() };
    seen.loops = text.matches("LOOP ").count() as u64;
    for exchange in &exchanges {
        if let Exchange::Answered(end) = exchange {
            seen.merge(&Seen { ends: vec![(*end, 1)], ..Seen::default() });
        }
    }
    Ok(seen)
}

/// Compares each loop's result with the last answer of its vendor.
struct LoopOutput {
    vendors: Vendors,
    name: String,
    text: RefCell<String>,
    /// Whether requests of other loops come between.
    has_sub_agents: bool,
    /// The exchanges before the last loop ended.
    known: Cell<usize>,
}

impl Output for LoopOutput {
    fn out(&self, text: &str) -> io::Result<()> {
        let mut all = self.text.borrow_mut();
        all.push_str(text);
        for line in text.lines().filter_map(|line| line.strip_prefix("LOOP ")) {
            let (count, last) = self.vendors.last(&self.name);
            // A resumed loop may have used up its iterations before.
            let (Some(Exchange::Answered(end)), true) = (last, self.known.replace(count) < count) else { continue };
            let [status, answer_end, category, ..] = line.split(' ').collect::<Vec<_>>()[..] else {
                all.push_str("WRONG line\n");
                continue;
            };
            if self.has_sub_agents {
                continue;
            }
            let is_named = match end {
                End::Refusal => status == "refused" && ["refusal", "content_filter"].contains(&answer_end),
                End::CutOff => status == "cut_off" && answer_end == "max_tokens",
                End::Overflow => status == "provider_error" && category == "context_window",
                // The loop asks again, up to a limit of its own or that of its iterations.
                End::CutThought => ["cut_off", "budget_exhausted", "stuck"].contains(&status),
                End::CutCall | End::Calls => ["budget_exhausted", "stuck"].contains(&status),
                End::Pause => ["cut_off", "budget_exhausted"].contains(&status),
                End::Done => ["done", "budget_exhausted"].contains(&status),
                End::Empty => ["stuck", "budget_exhausted"].contains(&status),
            };
            if !is_named {
                let _ = writeln!(all, "WRONG {line} after {end:?}");
            }
        }
        Ok(())
    }

    fn err(&self, text: &str) {
        self.text.borrow_mut().push_str(text);
    }
}

/// A script, and the file of its persisted loops.
struct ConversationScript {
    text: String,
    file: PathBuf,
    has_sub_agents: bool,
}

const PLACES: [&str; 9] = [
    "tool",
    "post_turn",
    "between",
    "iteration_start",
    "pre_tool_dispatch",
    "post_tool_dispatch",
    "iteration_end",
    "loop_exit",
    "tool",
];

impl ConversationScript {
    fn of(seed: u64) -> ConversationScript {
        let mut dice = Dice::new(seed.wrapping_mul(31));
        let persists = dice.chance(30);
        let mut text =
            String::from("var sid = nil\nvar step = 0\nfn here() { return agent_session_current_id() ?? sid }\n");
        let modulus = 3 + dice.roll(8);
        text.push_str("fn act(place) {\n  step += 1\n  let id = here()\n");
        if persists {
            let _ = writeln!(
                text,
                "  if args()[1] == \"kill\" && place == \"tool\" && step > {} {{ exit({KILLED}) }}",
                3 + dice.roll(12)
            );
        }
        text.push_str("  if id == nil { return nil }\n");
        for number in 0..2 + dice.roll(8) {
            let (place, when) = (dice.pick(&PLACES), dice.roll(modulus));
            let _ = writeln!(
                text,
                "  if place == \"{place}\" && step % {modulus} == {when} {{ {} }}",
                action(&mut dice, number)
            );
        }
        text.push_str("}\n");
        let apis: Vec<Api> = APIS.into_iter().filter(|_| dice.chance(35)).collect();
        let apis = if apis.is_empty() { vec![dice.pick(&APIS)] } else { apis };
        let has_sub_agents = dice.chance(20);
        let sub_agent = if has_sub_agents {
            let api = dice.pick(&apis);
            format!(
                "if n % 4 == 1 {{ let ended = agent_loop(\"sub ${{n}}\", nil, {{provider: \"{}\", model: \"{}\", max_iterations: 3, stream: false}}).error }}",
                api.provider, api.model
            )
        } else {
            String::new()
        };
        // A loop resumes in a session of its own.
        let keeps = if persists { "agent_session_close(r.session_id)" } else { "sid = r.session_id" };
        let _ = write!(
            text,
            "\
tool look(n: int) -> string {{
  description \"Looks.\"
  act(\"tool\")
  {sub_agent}
  if n % 5 == 4 {{ throw \"it broke\" }}
  return n % 3 == 0 ? \"long \" * 80 : \"short ${{n}}\"
}}
tool look_twice(at: string) -> string {{
  description \"Looks twice.\"
  \"seen ${{at}}\"
}}
register_session_hook(\"post_turn\", {{ e ->
  act(\"post_turn\")
  return nil
}})
register_checkpoint_hook(\"*\", {{ e ->
  act(e.kind)
  return nil
}})
fn told(r) {{
  {keeps}
  println(\"LOOP ${{r.status}} ${{r.answer_end ?? \"-\"}} ${{r.error?.category ?? \"-\"}} ${{r.stop_reason}}\")
}}
"
        );
        if !persists {
            text.push_str("sid = agent_session_open(\"s\")\n");
        }
        for loop_number in 0..1 + dice.roll(4) {
            text.push_str("act(\"between\")\n");
            if !persists && loop_number > 0 {
                text.push_str(between(&mut dice));
            }
            let _ = writeln!(
                text,
                "told(agent_loop(\"TASK {loop_number}\", {}, {}))",
                dice.pick(&["nil", "\"SYS\"", "\"OTHER\""]),
                options(&mut dice, &apis, persists, has_sub_agents)
            );
        }
        let file = std::env::temp_dir().join(format!("harn-conversation-{}-{seed}.json", std::process::id()));
        ConversationScript { text, file, has_sub_agents }
    }
}

/// A change of the session between two loops.
fn between(dice: &mut Dice) -> &'static str {
    match dice.roll(8) {
        0 => "agent_session_compact(sid, {keep_last: 3})\n",
        1 => "sid = agent_session_fork(sid)\n",
        2 => "agent_session_trim(sid, 4)\n",
        3 => "sid = agent_session_fork_at(sid, 3)\n",
        _ => "",
    }
}

fn options(dice: &mut Dice, apis: &[Api], persists: bool, has_sub_agents: bool) -> String {
    let api = dice.pick(apis);
    let mut out = format!("{{provider: \"{}\", model: \"{}\", stream: false, llm_retries: 0", api.provider, api.model);
    let _ = write!(out, ", max_iterations: {}, max_repeats: 0, max_tool_output_chars: 200", 2 + dice.roll(8));
    let _ = write!(out, ", tools: {}", dice.pick(&["[look]", "[look]", "[look, look_twice]"]));
    if persists {
        out.push_str(", persist_path: args()[0], resume_path: args()[0]");
    } else {
        out.push_str(", session_id: sid");
    }
    if has_sub_agents {
        out.push_str(", parallel_tool_calls: false");
    }
    if dice.chance(25) {
        let strategy = dice.pick(&["truncate", "observation_mask"]);
        let _ = write!(
            out,
            ", compact_threshold: 10, compact_keep_last: {}, compact_strategy: \"{strategy}\"",
            1 + dice.roll(6)
        );
    }
    if api.wire == Wire::Anthropic && api.model.contains("sonnet") && dice.chance(50) {
        out.push_str(", thinking: 1024, max_tokens: 4000");
    }
    if dice.chance(15) {
        out.push_str(", reminders: false");
    } else {
        let _ = write!(out, ", reminders: {{placement: \"{}\"", dice.pick(&["head", "tail", "auto", "auto"]));
        if dice.chance(20) {
            let _ = write!(out, ", native: {}", dice.chance(50));
        }
        if dice.chance(20) {
            let _ = write!(out, ", max_tokens: {}", dice.pick(&[10, 40]));
        }
        out.push('}');
    }
    out.push('}');
    out
}

/// A statement of a script or a host, about the session `id`.
fn action(dice: &mut Dice, number: u64) -> String {
    match dice.roll(8) {
        0..4 => format!("agent_session_inject_reminder(id, {{{}}})", reminder(dice, number)),
        4 => {
            let mode = dice.pick(&["interrupt_immediate", "finish_step", "audit_only"]);
            format!("agent_session_push_bridge_injection(id, {{{}, mode: \"{mode}\"}})", reminder(dice, number))
        }
        5 | 6 => {
            let mode = dice.pick(&["interrupt_immediate", "finish_step"]);
            format!("agent_session_push_bridge_injection(id, {{content: \"USER {number}\", mode: \"{mode}\"}})")
        }
        _ => format!("agent_session_clear_reminders(id, {})", dice.pick(&["{dedupe_key: \"a\"}", "{tag: \"x\"}"])),
    }
}

/// The fields of a reminder.
fn reminder(dice: &mut Dice, number: u64) -> String {
    let mut out = format!("body: \"REMINDER {number}.${{step}}\"");
    let hint = dice.pick(&["system", "developer", "user_block", "ephemeral_cache"]);
    let _ = write!(out, ", role_hint: \"{hint}\"");
    if dice.chance(40) {
        let _ = write!(out, ", dedupe_key: \"{}\"", dice.pick(&["a", "b"]));
    }
    if dice.chance(60) {
        let _ = write!(out, ", ttl_turns: {}", 1 + dice.roll(4));
    } else {
        let _ = write!(out, ", preserve_on_compact: {}", dice.chance(70));
    }
    for (rule, percent) in [("every: 2", 15), ("max_times: 2", 15), ("tags: [\"x\"]", 15)] {
        if dice.chance(percent) {
            let _ = write!(out, ", {rule}");
        }
    }
    out
}
