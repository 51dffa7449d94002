//! Extensions that the card of an agent requires.

use super::{agent, printed, result, task};

/// A card that requires two extensions, one of which is not known here.
const REQUIRES: &str = r#"{"streaming": true, "extensions": [
    {"uri": "urn:harn:ext:reminders:1", "required": true, "params": {"inject": true, "emit": true}},
    {"uri": "urn:example:audit", "required": true}, {"uri": "urn:example:colour", "required": false}]}"#;

#[test]
fn a_required_extension_that_is_not_supported_is_told_before_anything_is_sent() {
    let peer = agent(REQUIRES, |_| panic!("asked"));
    let script = r#"
println(a2a.card(args()[0]).harn.required_extensions)
for call in [
  { -> a2a.send(args()[0], "Look.") },
  { -> a2a.stream(args()[0], "Look.") },
  { -> a2a.subscribe(args()[0], "t-1") },
  { -> a2a.send(args()[0], "Look.", {extensions: ["urn:example:colour"]}) },
] {
  try { call() } catch (e) { println("${e.code} ${e.category} ${e.extensions}: ${e.message}") }
}
"#;
    let out = printed("extension-required", script, &peer).replace(&format!(":{}", peer.port), "");
    let refused = "HARN-A2A-112 extension_required [urn:example:audit]: worker at http://127.0.0.1/rpc requires the \
                   extension `urn:example:audit`, which is not supported\n";
    assert_eq!(out, format!("[urn:harn:ext:reminders:1, urn:example:audit]\n{}", refused.repeat(4)));
    assert!(peer.calls().is_empty(), "{:?}", peer.calls());
}

#[test]
fn a_required_extension_is_activated() {
    let peer = agent(REQUIRES, |asked| match asked.method() {
        "GetTask" | "CancelTask" => result(&task("COMPLETED", "")),
        _ => result(&format!(r#"{{"task": {}}}"#, task("COMPLETED", ""))),
    });
    let script = r#"
println(a2a.send(args()[0], "Look.", {extensions: ["urn:example:audit"]}).state)
for e in a2a.stream(args()[0], "Look.", {extensions: ["urn:example:audit"], reminders: false}) { println(e.state) }
println(a2a.get(args()[0], "t-1").state)
"#;
    assert_eq!(printed("extension-activated", script, &peer), "completed\ncompleted\ncompleted\n");
    let activated: Vec<String> = peer.calls().iter().map(|call| call.header("a2a-extensions").to_owned()).collect();
    let both = "urn:example:audit, urn:harn:ext:reminders:1";
    assert_eq!(activated, [both, both, "urn:harn:ext:reminders:1"]);
}
