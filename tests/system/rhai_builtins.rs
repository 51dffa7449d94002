//! Every builtin of the table can be called from Rhai, with each number of arguments that it takes.
//!
//! They are called with arguments of no meaning: most refuse them with an error of their own. What must not come is the
//! error of Rhai for a function that is not there.

use crate::harn::{harn, scratch};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use stdlib::builtins;

/// Rows that are not called here, each with its reason. `*` means all of a namespace.
const LEFT_OUT: &[(&str, &str, &str)] = &[
    ("", "exit", "it ends the run; the pair `exit-code-called` of `tests/rhai/parity` calls it"),
    ("<control>", "*", "they are what the syntax of the other language is made of, and no names that it has"),
    ("<type>", "*", "types are values only in the other language"),
    ("<generator>", "*", "only functions of the other language make generators; their methods are those of `<iter>`"),
];

/// Returns a task of a hub.
const LEASED: &str = r#"fn leased() {
    let broker = hub::local(#{agent: "me"});
    broker.publish("x", #{queue: "rows"});
    broker.claim("rows")
}
"#;

/// Returns the script text for a receiver of a type's methods.
fn receiver(module: &str) -> Option<&'static str> {
    Some(match module {
        "<list>" => "[1, 2]",
        "<dict>" => "#{a: 1}",
        "<string>" => "\"text\"",
        "<int>" => "7",
        "<float>" => "1.5",
        "<bytes>" => "blob(2, 65)",
        "<set>" => "set(1, 2)",
        "<range>" => "(0..3)",
        "<iter>" => "iter([1, 2])",
        "<pair>" => "pair(1, 2)",
        "<variant>" => "Ok(1)",
        // It acts as no agent, so that no method waits.
        "<hub>" => "hub::local()",
        "<hub_task>" => "leased()",
        // No daemon serves the script.
        "<channel_connection>" => "channel::open()",
        // One that ends.
        "<stream>" => "llm_stream(\"x\")",
        _ => return None,
    })
}

#[test]
fn every_row_can_be_called() {
    let mut script = LEASED.to_owned();
    let mut wanted = BTreeSet::new();
    for row in builtins() {
        if LEFT_OUT.iter().any(|(module, name, _)| *module == row.module && ["*", row.name].contains(name)) {
            continue;
        }
        // A word that Rhai keeps for itself.
        let reserved = !rhai::is_valid_function_name(row.name);
        let name = if reserved { format!("{}_", row.name) } else { row.name.to_owned() };
        let most = if row.arity.rest { row.arity.max.max(6) } else { row.arity.max };
        for count in row.arity.min..=most {
            let mut args = vec!["()"; usize::from(count)];
            if row.is_method() {
                let Some(first) = args.first_mut() else { panic!("{} takes no receiver", row.full_name()) };
                *first = receiver(row.module).unwrap_or_else(|| panic!("there is no receiver for {}", row.full_name()));
            }
            let call = match (row.is_method(), row.module) {
                (true, _) => format!("({}).{name}({})", args[0], args[1..].join(", ")),
                (false, "") => format!("{name}({})", args.join(", ")),
                (false, module) => format!("{module}::{name}({})", args.join(", ")),
            };
            let label = format!("{}/{count}", row.full_name());
            writeln!(script, "try {{ {call}; told(\"{label}\", ()); }} catch (e) {{ told(\"{label}\", e); }}").unwrap();
            wanted.insert(label);
        }
    }
    assert!(wanted.len() > 500, "{}", wanted.len());
    let found = told(&script);
    let told: BTreeSet<String> = found.iter().map(|(label, _)| label.clone()).collect();
    let untold: Vec<&String> = wanted.difference(&told).collect();
    assert!(untold.is_empty(), "not reached: {untold:?}");
    let kind_of = |label: &str| found.iter().find(|(told, _)| told == label).map(|(_, kind)| kind.clone());
    let not_there = kind_of("probe").unwrap();
    assert_ne!(not_there, kind_of("agent_session_length/1").unwrap());
    let missing: Vec<&String> =
        found.iter().filter(|(label, kind)| label != "probe" && *kind == not_there).map(|(label, _)| label).collect();
    assert!(missing.is_empty(), "{not_there}: {missing:#?}");
}

/// Runs the calls; the label of each that was reached, and the kind of error that it raised. `probe` is a function that is
/// not there.
fn told(calls: &str) -> Vec<(String, String)> {
    let folder = scratch("rhai-builtins");
    let file = folder.join("all.rhai");
    let head = "fn told(label, e) { eprintln(label + \"\\t\" + str(e?.code ?? e?.error)); }";
    let probe = "try { Fn(\"surely_not_there\").call(1); } catch (e) { told(\"probe\", e); }";
    fs::write(&file, format!("{head}\n{probe}\n{calls}")).unwrap();
    // What a row would do to the machine it has no right to do.
    let found = harn(&["run", "--seed", "1", "--deny", "fs.read,fs.write,process,net,env", file.to_str().unwrap()]);
    assert_eq!(found.code, Some(0), "{}", found.err);
    let lines = found.err.lines().filter_map(|line| line.split_once('\t'));
    lines.map(|(label, kind)| (label.to_owned(), kind.to_owned())).collect()
}
