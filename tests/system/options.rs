//! Options of builtins: `check` reports every wrong literal, and what it accepts does not fail in a run because of its type.

use lang::ast::{PatternKind, TypeExpr, TypeKind};
use lang::builtins::OptionTable;
use lang::check::signature;
use lang::diagnostic::{Diagnostic, Severity};
use lang::source::Source;
use runtime::events::EventKind;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;
use stdlib::limits::RunLimits;
use stdlib::{Captured, Engine, RunOptions, registry};

/// Literals of several kinds, by the names of the types that they belong to.
const LITERALS: [(&str, &[&str]); 6] = [
    ("7", &["int", "float", "count", "positive", "ms", "tokens", "share", "dollars", "portion"]),
    ("\"qqq\"", &["string"]),
    ("true", &["bool"]),
    ("[7]", &["list"]),
    ("{qqq_zzz: 7}", &["dict", "linted", "open", "shape"]),
    ("{ a -> a }", &["fn"]),
];

/// Numbers that are outside of ranges, by the names of these.
const OUTSIDE: [(&str, &str); 7] = [
    ("count", "-1"),
    ("positive", "0"),
    ("ms", "-1"),
    ("tokens", "-1"),
    ("share", "-0.5"),
    ("portion", "1.5"),
    ("dollars", "-1"),
];

/// Values that are right for some options and wrong for others.
const VALUES: &[&str] =
    &["-1", "0", "3", "1.5", "-0.5", "\"word\"", "true", "[3]", "[\"word\"]", "[]", "{zz: 1}", "{}", "{ -> 1 }"];

/// Options whose values may be of any type.
const ANY: [&str; 22] = [
    "AgentLoopOptions.tools[][]",
    "CellOptions.initial",
    "Fact.provenance",
    "Handoff.metadata",
    "Handoff.target_persona_or_human",
    "Handoff.task",
    "HttpMockReply.json",
    "HttpOptions.json",
    "JsonOptions.as",
    "LifecycleToolOptions.subagents",
    "LlmOptions.tools[][]",
    "MessagePart.data",
    "MockToolCall.arguments",
    "PartialResult.data",
    "PromptMessage.content[]",
    "SessionOptions.workspace_anchor",
    "SubAgentOptions.tools[][]",
    "ToolDefinition.parameters",
    "ToolDefinition.returns",
    "WorkerBehaviour.tools[][]",
    "WorkerSpec.task",
    "WorkerSpec.tools[][]",
];

/// Calls with a dict of options, and the named types of these. `OPTIONS` is the dict, without its braces.
const CALLS: &[(&str, &str)] = &[
    ("LlmOptions", "llm_call(\"Hello\", nil, {provider: \"mock\", OPTIONS})"),
    ("AgentLoopOptions", "agent_loop(\"Hello\", nil, {provider: \"mock\", OPTIONS})"),
    ("SubAgentOptions", "sub_agent_run(\"Hello\", {provider: \"mock\", OPTIONS})"),
    ("WorkerSpec", "wait_agent(spawn_agent({task: \"Hello\", provider: \"mock\", OPTIONS}))"),
    (
        "Handoff",
        "handoff({source_persona: \"a\", target_persona_or_human: \"b\", task: \"c\", reason: \"d\", OPTIONS})",
    ),
    ("CompactOptions", "transcript_compact(transcript(), {OPTIONS})"),
    ("MockReply", "llm_mock({OPTIONS})"),
    ("ShellToolOptions", "shell_tool({root: \".\", allow: [\"true\"], OPTIONS})"),
    ("RecallOptions", "recall_facts(\"a\", nil, nil, {OPTIONS})"),
    ("ToolHook", "register_tool_hook({OPTIONS})"),
    ("SessionOptions", "agent_session_open(\"s\", {OPTIONS})"),
    ("LogFilter", "event_log.read({OPTIONS})"),
    ("TaskArtifact", "task.artifact({name: \"a\", parts: [], OPTIONS})"),
    ("PlanEntry", "task.plan([{content: \"a\", OPTIONS}])"),
    ("PartialResult", "task.status(\"a\", {OPTIONS})"),
    ("ToolAnnotations", "tool_define(tool_registry(), \"a\", \"A.\", {handler: { a -> a }, annotations: {OPTIONS}})"),
    ("HttpOptions", "http_get(\"http://127.0.0.1:9\", {OPTIONS})"),
    ("HttpPageOptions", "http_paginate(\"http://127.0.0.1:9\", {OPTIONS})"),
    ("HttpMockReply", "http_mock(\"*\", {OPTIONS})"),
    ("WatchOptions", "watch(\"*.qqq\", {OPTIONS})"),
    ("A2aSendOptions", "a2a.send(\"http://127.0.0.1:9\", \"Hello\", {OPTIONS})"),
    ("A2aStreamOptions", "a2a.stream(\"http://127.0.0.1:9\", \"Hello\", {OPTIONS})"),
    ("A2aSubscribeOptions", "a2a.subscribe(\"http://127.0.0.1:9\", \"t\", {OPTIONS})"),
    ("A2aGetOptions", "a2a.get(\"http://127.0.0.1:9\", \"t\", {OPTIONS})"),
    ("A2aInjectOptions", "a2a.inject_reminder(\"http://127.0.0.1:9\", \"t\", {body: \"a\"}, {OPTIONS})"),
    ("HubConnectOptions", "hub.local({OPTIONS})"),
    ("HubCard", "hub.local().register({name: \"a\", OPTIONS})"),
    ("HubRegisterOptions", "hub.local().register({name: \"a\"}, {OPTIONS})"),
    ("HubPublishOptions", "hub.local({agent: \"a\"}).publish(\"x\", {queue: \"q\", OPTIONS})"),
    ("HubListOptions", "hub.local({agent: \"a\"}).list({OPTIONS})"),
    ("HubDeadLetterOptions", "hub.local({agent: \"a\"}).dead_letters({OPTIONS})"),
    ("HubEventsOptions", "hub.local({agent: \"a\"}).updates({OPTIONS})"),
    ("HubTasksOptions", "hub.local({agent: \"a\"}).tasks({OPTIONS})"),
    ("ChannelOptions", "channel.open({OPTIONS})"),
    ("McpServer", "mcp.tools({name: \"a\", url: \"http://127.0.0.1:9\", OPTIONS})"),
];

/// Options whose effect a test cannot await: files, sleeps, and programs.
const EFFECTS: [&str; 5] = ["daemon", "persist_path", "resume_path", "snapshot_path", "command"];

/// A script with a wrong literal.
struct WrongLiteral {
    path: String,
    script: String,
    /// The text that the error must point at.
    wrong: String,
}

/// Collects the wrong literals of options.
#[derive(Default)]
struct Walk {
    cases: Vec<WrongLiteral>,
    /// Options of any type.
    any: BTreeSet<String>,
    seen: BTreeSet<String>,
}

fn parsed(table: &OptionTable) -> TypeExpr {
    let ty = signature(&format!("dict() -> {table}")).and_then(|decl| decl.returns);
    ty.unwrap_or_else(|| panic!("{}: {table}", table.name))
}

/// A member of a union, and the table that it is of.
struct Member {
    ty: TypeExpr,
    table: Option<&'static OptionTable>,
}

/// Returns the members of a union, with the dicts of tables in place of their names.
fn members(ty: &TypeExpr) -> Vec<Member> {
    match &ty.kind {
        TypeKind::Union(members) => members.iter().flat_map(self::members).collect(),
        TypeKind::Optional(inner) => self::members(inner),
        TypeKind::Name { name, .. } => {
            let table = registry().table(name);
            vec![Member { ty: table.map_or_else(|| ty.clone(), parsed), table }]
        }
        _ => vec![Member { ty: ty.clone(), table: None }],
    }
}

impl Member {
    /// Returns the name of its kind.
    fn kind(&self) -> &str {
        match (&self.ty.kind, self.table) {
            (_, Some(table)) if table.linted => "linted",
            (_, Some(table)) if table.open => "open",
            (TypeKind::Name { name, .. }, _) => name,
            (TypeKind::Fn { .. }, _) => "fn",
            (TypeKind::Shape { .. }, _) => "shape",
            (TypeKind::Literal(_), _) => "word",
            _ => "any",
        }
    }
}

impl Walk {
    /// Visits a value of this type; `around` makes a script of the value.
    fn value(&mut self, path: &str, ty: &TypeExpr, around: &dyn Fn(&str) -> String) {
        let members = members(ty);
        let kinds: Vec<&str> = members.iter().map(Member::kind).collect();
        if kinds.contains(&"any") {
            self.any.insert(path.to_owned());
            return;
        }
        let mut wrong = |literal: &str| {
            let case = WrongLiteral { path: path.to_owned(), script: around(literal), wrong: literal.to_owned() };
            self.cases.push(case);
        };
        for (literal, names) in LITERALS {
            if !names.iter().any(|name| kinds.contains(name)) {
                wrong(literal);
            }
        }
        if !kinds.iter().any(|kind| matches!(*kind, "int" | "float")) {
            let ranges = OUTSIDE.iter().filter(|(name, _)| kinds.contains(name));
            ranges.for_each(|(_, number)| wrong(number));
        }
        // Of several dicts, an error is about the whole one.
        let is_dict = |member: &&Member| matches!(member.kind(), "shape" | "open" | "linted" | "dict");
        let dicts = members.iter().filter(is_dict).count();
        for member in &members {
            match &member.ty.kind {
                TypeKind::Shape { .. } if dicts > 1 || member.kind() == "linted" => {}
                TypeKind::Shape { fields, open } => {
                    if !open {
                        let script = around("{qqq_zzz: 1}");
                        self.cases.push(WrongLiteral { path: path.to_owned(), script, wrong: "qqq_zzz".to_owned() });
                    }
                    let owner = member.table.map_or(path, |table| table.name);
                    // The rows of a table are the same wherever it is used.
                    if member.table.is_some_and(|table| !self.seen.insert(table.name.to_owned())) {
                        continue;
                    }
                    for (name, _, ty) in fields {
                        let inside = |literal: &str| around(&format!("{{{}: {literal}}}", name.text));
                        self.value(&format!("{owner}.{}", name.text), ty, &inside);
                    }
                }
                TypeKind::Name { name, args } if name == "list" => {
                    if let Some(of) = args.first() {
                        self.value(&format!("{path}[]"), of, &|literal| around(&format!("[{literal}]")));
                    }
                }
                TypeKind::Name { name, args } if name == "dict" => {
                    if let Some(of) = args.get(1) {
                        self.value(&format!("{path}.*"), of, &|literal| around(&format!("{{a: {literal}}}")));
                    }
                }
                _ => {}
            }
        }
    }
}

/// Returns a literal of a type that is accepted.
fn placeholder(ty: Option<&TypeExpr>) -> &'static str {
    match ty.map(members).unwrap_or_default().first().map(Member::kind) {
        Some("dict" | "shape" | "open" | "linted") => "{}",
        Some("fn") => "{ a -> a }",
        Some("list") => "[]",
        Some("int") => "1",
        _ => "\"x\"",
    }
}

fn walk() -> Walk {
    let mut walk = Walk::default();
    for row in registry().all().filter(|row| !row.module.starts_with('<')) {
        let decl = signature(row.sig).unwrap();
        for (i, param) in decl.params.iter().enumerate() {
            let Some(ty) = param.ty.as_deref() else { continue };
            let PatternKind::Bind(_) = &param.pattern.kind else { continue };
            if !members(ty).iter().any(|member| member.table.is_some()) {
                continue;
            }
            let before: Vec<&str> = decl.params[..i].iter().map(|param| placeholder(param.ty.as_deref())).collect();
            let around = |literal: &str| {
                let args = before.iter().copied().chain([literal]).collect::<Vec<_>>().join(", ");
                format!("let value = {}({args})\nprintln(value)\n", row.full_name())
            };
            walk.value(row.name, ty, &around);
        }
    }
    walk
}

fn errors(found: &[Diagnostic]) -> Vec<String> {
    let errors = found.iter().filter(|d| d.severity == Severity::Error);
    errors.map(|d| format!("{}: {}", d.code, d.message)).collect()
}

/// Checks a script, and runs it if nothing was found. Returns the errors, and whether it ran.
fn check_and_run(text: &str) -> (Vec<String>, bool) {
    let limits = RunLimits { fuel: Some(20_000_000), time: Some(Duration::from_secs(2)), ..RunLimits::default() };
    let output = Rc::new(Captured::default());
    let engine = Engine::new(RunOptions { limits, output, ..RunOptions::default() });
    let source = Source::new("options.harn", text);
    let found = errors(&engine.check(&source));
    if found.is_empty() { (errors(&engine.run(&source).diagnostics), true) } else { (found, false) }
}

#[test]
fn every_table_is_a_type_and_every_row_has_a_text() {
    let mut names = BTreeSet::new();
    for table in registry().tables() {
        assert!(names.insert(table.name), "{} is there twice", table.name);
        assert!(table.doc.ends_with('.'), "{}: {}", table.name, table.doc);
        let TypeKind::Shape { fields, .. } = parsed(table).kind else { panic!("{}: {table}", table.name) };
        assert_eq!(fields.len(), table.all().len(), "{}: {table}", table.name);
        for row in table.all() {
            assert!(!row.doc.is_empty(), "{}.{} has no text", table.name, row.key);
            assert!(!row.required || row.default.is_empty(), "{}.{} is required", table.name, row.key);
        }
    }
}

#[test]
fn every_name_in_a_type_is_one_of_the_registry_or_the_language() {
    fn names(ty: &TypeExpr, found: &mut BTreeSet<String>) {
        match &ty.kind {
            TypeKind::Name { name, args } => {
                found.insert(name.to_string());
                args.iter().for_each(|arg| names(arg, found));
            }
            TypeKind::Fn { params, returns } => {
                params.iter().for_each(|param| names(param, found));
                names(returns, found);
            }
            TypeKind::Shape { fields, .. } => fields.iter().for_each(|(_, _, ty)| names(ty, found)),
            TypeKind::Union(members) => members.iter().for_each(|member| names(member, found)),
            TypeKind::Optional(inner) => names(inner, found),
            TypeKind::Literal(_) | TypeKind::Error => {}
        }
    }
    let mut found = BTreeSet::new();
    for row in registry().all() {
        let decl = signature(row.sig).unwrap();
        decl.params.iter().filter_map(|param| param.ty.as_deref()).for_each(|ty| names(ty, &mut found));
        decl.returns.iter().for_each(|ty| names(ty, &mut found));
    }
    registry().tables().for_each(|table| names(&parsed(table), &mut found));
    let ranges = ["count", "positive", "ms", "tokens", "share", "portion", "dollars", "transcript", "cookie_jar"];
    found.retain(|name| {
        name.len() > 1
            && lang::builtin_type::builtin_type(name).is_none()
            && registry().table(name).is_none()
            && !ranges.contains(&name.as_str())
            && EventKind::parse(name).is_err()
    });
    assert!(found.is_empty(), "unknown types: {found:?}");
}

#[test]
fn check_reports_every_wrong_literal_at_its_place() {
    let engine = Engine::new(RunOptions::default());
    let walk = walk();
    let mut missed = Vec::new();
    for case in &walk.cases {
        let found = engine.check(&Source::new("test.harn", case.script.clone()));
        let is_it = |label: &lang::diagnostic::Label| label.source.slice(label.span) == case.wrong;
        let errors = found.iter().filter(|d| d.severity == Severity::Error);
        if !errors.filter_map(|d| d.labels.first()).any(is_it) {
            missed.push(format!("{}: {}", case.path, case.script.lines().next().unwrap_or("")));
        }
    }
    assert!(missed.is_empty(), "{} of {}: {missed:#?}", missed.len(), walk.cases.len());
    let any: BTreeSet<&str> = walk.any.iter().map(String::as_str).filter(|path| path.contains('.')).collect();
    assert_eq!(any, BTreeSet::from(ANY), "options of any type");
}

#[test]
fn a_literal_option_that_check_accepts_has_the_right_type() {
    let mut failed = Vec::new();
    let (mut accepted, mut refused) = (0, 0);
    for (name, call) in CALLS {
        let table = registry().table(name).unwrap_or_else(|| panic!("no type {name}"));
        for row in table.all() {
            for value in VALUES {
                if EFFECTS.contains(&row.key) && !matches!(*value, "-1" | "[3]" | "{ -> 1 }") {
                    continue;
                }
                let text = format!("{}\n", call.replace("OPTIONS", &format!("{}: {value}", row.key)));
                let (codes, ran) = check_and_run(&text);
                if !ran {
                    refused += 1;
                    continue;
                }
                accepted += 1;
                failed.extend(
                    codes.iter().filter(|code| code.starts_with("HARN-TYP")).map(|code| format!("{text}  {code}")),
                );
            }
        }
    }
    assert!(refused > accepted / 2, "{refused} refused, {accepted} accepted");
    assert!(failed.is_empty(), "{} options fail in the run:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn a_key_that_is_no_option_is_refused() {
    for (name, call) in CALLS {
        let table = registry().table(name).unwrap_or_else(|| panic!("no type {name}"));
        for key in table.keys().filter(|_| !table.open) {
            let misspelt = format!("{key}x");
            let (codes, ran) = check_and_run(&call.replace("OPTIONS", &format!("{misspelt}: nil")));
            assert!(!ran && codes.iter().any(|code| code.contains(&misspelt)), "{name}: {misspelt}: {codes:?}");
        }
    }
}
