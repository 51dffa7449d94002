use super::*;

struct TwoNames;

impl NameSource for TwoNames {
    fn bound(&self, _: &str) -> Vec<Completion> {
        vec![Completion::new(CompletionKind::Variable, "answer", "dict")]
    }

    fn members(&self, receiver: &str) -> Option<ValueMembers> {
        let keys = vec![Completion::new(CompletionKind::Key, "usage", "int")];
        receiver.ends_with("answer").then(|| ValueMembers { types: vec!["dict".to_owned()], keys })
    }

    fn fields(&self, type_name: &str) -> Vec<Completion> {
        let fields = ["x", "y"].map(|name| Completion::new(CompletionKind::Field, name, "int"));
        if type_name == "Point" { fields.to_vec() } else { Vec::new() }
    }
}

fn found(text: &str) -> Vec<Completion> {
    complete(text, text.len(), &TwoNames).1
}

/// The names of an editor, which shows what replaces a name.
struct NamesOfEditor;

impl NameSource for NamesOfEditor {
    fn bound(&self, written: &str) -> Vec<Completion> {
        TwoNames.bound(written)
    }

    fn members(&self, receiver: &str) -> Option<ValueMembers> {
        TwoNames.members(receiver)
    }

    fn offers_aliases(&self) -> bool {
        true
    }
}

#[test]
fn builtins_are_offered_for_names_of_other_languages_and_for_words() {
    let offered = |text: &str| -> Vec<(String, Option<String>)> {
        let (_, found) = complete(text, text.len(), &NamesOfEditor);
        found.into_iter().map(|completion| (completion.text, completion.alias)).collect()
    };
    let of = |name: &str, alias: &str| (name.to_owned(), Some(alias.to_owned()));
    assert_eq!(offered("let x = strfti"), [of("date_format", "strftime")]);
    assert_eq!(offered("getcwd"), [of("cwd", "getcwd")]);
    assert!(offered("csv").contains(&("csv_parse".to_owned(), None)), "its own name comes first");
    assert_eq!(offered("[1].forE"), [of("for_each", "forEach")]);
    // A method, and a word of the texts.
    assert!(offered("substring").contains(&of("substring", "substring")));
    assert_eq!(offered("average").first(), Some(&of("mean", "average")));
    // Neither where a type is, nor for a terminal.
    assert!(offered("fn f(a: strfti").is_empty());
    assert!(texts("let x = strfti").is_empty());
}

fn texts(text: &str) -> Vec<String> {
    found(text).into_iter().map(|completion| completion.text).collect()
}

#[test]
fn names_and_members_are_completed() {
    assert_eq!(texts("let x = ans"), ["answer"]);
    assert_eq!(texts("println"), ["println"]);
    assert_eq!(texts("answer.us"), ["usage"]);
    assert_eq!(texts("transcript.inject_r"), ["inject_reminder"]);
    assert_eq!(texts("\"abc\".upp"), ["upper", "uppercase"]);
    assert_eq!(texts("[1, 2].enumer"), ["enumerate"]);
    assert_eq!(texts("retur"), ["return"]);
    assert!(texts("").is_empty() && texts("// ans").is_empty());
    assert_eq!(texts("@depr"), ["deprecated"]);
    assert_eq!(texts("fn f(a: floa"), ["float"]);
    assert_eq!(found("let x = ans")[0].detail, "dict");
}

#[test]
fn keys_of_options_have_their_types_defaults_and_documentation() {
    let (start, found) = complete("agent_loop(\"go\", nil, {max_it", 29, &TwoNames);
    assert_eq!((start, found[0].text.as_str()), (23, "max_iterations: "));
    assert_eq!(found[0].detail, "count = 50");
    assert!(found[0].doc.starts_with("Maximum number of model calls"));
    assert_eq!(texts("shared_cell({key: \"a\", ini"), ["initial: "]);
    // The value of a key is an expression, and a key is written once.
    assert_eq!(texts("shared_cell({key: ans"), ["answer"]);
    assert!(texts("shared_cell({initial: 1, ini").is_empty());
}

#[test]
fn options_in_options_are_completed() {
    assert_eq!(texts("agent_loop(\"go\", nil, {reminders: {pla"), ["placement: "]);
    assert_eq!(texts("agent_loop(\"go\", nil, {reminders: {placement: \"ta"), ["tail"]);
    assert_eq!(texts("llm_mock({error: {cat"), ["category: "]);
    assert_eq!(texts("transcript.inject_reminder(t, {body: \"x\", ttl"), ["ttl_turns: "]);
    assert_eq!(texts("agent_session_inject_reminder(id, {\n  propagate: \"se"), ["session"]);
    assert_eq!(texts("register_session_hook(\"post_turn\", { event -> {reminder: {role"), ["role_hint: "]);
    assert_eq!(texts("Point {"), ["x: ", "y: "]);
    assert_eq!(texts("let p = Point {x: 1, "), ["y: "]);
}

#[test]
fn strings_that_are_words_are_completed() {
    assert_eq!(texts("register_session_hook(\"session_st"), ["session_start"]);
    assert_eq!(texts("register_checkpoint_hook(\"loop_e"), ["loop_exit"]);
    assert_eq!(texts("agent_loop(\"go\", nil, {provider: \"anth"), ["anthropic"]);
    assert_eq!(texts("agent_loop(\"go\", nil, {reminders: {providers: [\"idle"), ["idle_nudge"]);
    assert_eq!(texts("register_reminder_provider({id: \"x\", subscribes_to: [\"post_tu"), ["post_turn"]);
    assert!(texts("println(\"hel").is_empty());
}

#[test]
fn rhai_has_the_same_builtins() {
    let texts = |text: &str| -> Vec<String> {
        complete_rhai(text, text.len()).1.into_iter().map(|completion| completion.text).collect()
    };
    assert_eq!(texts("let t = transcript::inject_r"), ["inject_reminder"]);
    assert_eq!(texts("transcript::inject_reminder(t, #{body: `x`, ttl"), ["ttl_turns: "]);
    assert_eq!(texts("agent_loop(\"x\", (), #{provider: \"olla"), ["ollama"]);
    assert_eq!(texts("let answer = 1; answ"), ["answer"]);
    assert_eq!(texts("[1].enumer"), ["enumerate"]);
    assert_eq!(texts("transcri")[..3], ["transcript", "transcript::", "transcript_compact"]);
    let text = "transcript::inject_reminder(t)";
    assert_eq!(rhai_builtin(text, 12, 27).map(|row| row.name), Some("inject_reminder"));
}
