use super::*;

fn taken(text: &str) -> (String, Vec<String>) {
    let reply = read(ModelReply { text: text.into(), ..ModelReply::default() });
    let calls = reply.tool_calls.iter().map(|call| format!("{}{}", call.name, call.arguments.to_json())).collect();
    (reply.text.to_string(), calls)
}

fn calls(text: &str) -> Vec<String> {
    taken(text).1
}

const A: &str = r#"<tool_call>{"name":"a","arguments":{"n":1}}</tool_call>"#;

#[test]
fn calls_are_read_from_among_prose() {
    assert_eq!(taken("no call"), ("no call".into(), vec![]));
    assert_eq!(
        taken(&format!("First this.\n{A}\nThen that.")),
        ("First this.\n\nThen that.".into(), vec![r#"a{"n":1}"#.into()])
    );
    assert_eq!(calls(&format!("{A}{A}\n{A}")).len(), 3);
    assert_eq!(calls(&format!("I call it. {A}")).len(), 1);
    for (text, expected) in [
        ("<tool_call>\n```json\n{\"name\": \"a\"}\n```\n</tool_call>", "a{}"),
        (r#"<tool_call>{"tool":"a","args":{"x":2}}</tool_call>"#, r#"a{"x":2}"#),
        (r#"<tool_call>{"function":{"name":"a","arguments":"{\"x\":2}"}}</tool_call>"#, r#"a{"x":2}"#),
        (r#"<tool_call>{"name":"a","arguments":{"t":"</tool_call>"}}</tool_call>"#, r#"a{"t":"</tool_call>"}"#),
        (r#"<tool_call>{"name":"a"}"#, "a{}"),
        ("<tool_call>[{\"name\":\"a\"}]</tool_call>", "a{}"),
        ("```xml\n<tool_call>{\"name\":\"a\"}</tool_call>\n```", "a{}"),
    ] {
        assert_eq!(calls(text), [expected], "{text}");
    }
    assert_eq!(calls(r#"<tool_call>{"name":"a"}<tool_call>{"name":"b"}</tool_call>"#), ["a{}", "b{}"]);
    assert_eq!(calls(r#"<tool_call>{"name":"a"}{"name":"b"}</tool_call>"#), ["a{}", "b{}"]);
}

#[test]
fn half_of_a_character_and_a_wide_integer_lose_no_call() {
    let text =
        r#"<tool_call>{"name":"a","arguments":{"t":"x\ud83d","n":123456789012345678901}}{"name":"b"}</tool_call>"#;
    assert_eq!(calls(text), ["a{\"n\":\"123456789012345678901\",\"t\":\"x\u{fffd}\"}", "b{}"]);
}

#[test]
fn a_call_that_is_quoted_is_none() {
    let fenced = format!("To call a tool write\n```\n{A}\n```\nand wait.");
    assert_eq!(taken(&fenced), (fenced.clone(), vec![]));
    assert_eq!(calls("write `<tool_call>` first"), Vec::<String>::new());
    assert_eq!(calls(&format!("```\nquoted\n```\n{A}")).len(), 1);
}

#[test]
fn what_is_no_json_is_a_call_with_its_text() {
    assert_eq!(
        calls(r#"<tool_call>{"name": "a", "arguments": {"x": </tool_call>"#),
        [r#"a"{\"name\": \"a\", \"arguments\": {\"x\":""#]
    );
    assert_eq!(calls("<tool_call>please</tool_call>"), [r#""please""#]);
    assert_eq!(calls("<tool_call></tool_call>"), [r#""""#]);
}

#[test]
fn pieces_of_a_stream_give_the_same_as_the_whole() {
    let text = format!(
        "Look ` < <tool ```x\n```\n<tool_call>quoted</tool_call>\n```\n{A}ähm <tool_ca {A} end <tool_call>{{\"name\":\"z\"}}"
    );
    let mut whole = Vec::new();
    let mut scanner = Scanner::default();
    scanner.push(&text, &mut whole);
    scanner.finish(&mut whole);
    for size in 1..20 {
        let mut pieces = Vec::new();
        let mut scanner = Scanner::default();
        let chars: Vec<char> = text.chars().collect();
        for part in chars.chunks(size) {
            scanner.push(&part.iter().collect::<String>(), &mut pieces);
        }
        scanner.finish(&mut pieces);
        assert_eq!(pieces, whole, "{size}");
    }
    assert_eq!(whole.iter().filter(|piece| matches!(piece, ScannedPiece::Call(_))).count(), 3);
}

#[test]
fn five_megabytes_are_read_in_linear_time() {
    let begun = crate::wait::thread_cpu_time();
    let open = "<tool_call>{\"name\":\"a\",\"x\":\"".repeat(150_000);
    assert!(!calls(&open).is_empty());
    assert_eq!(calls(&"<tool_call>x</tool_call>".repeat(200_000)).len(), 200_000);
    assert_eq!(calls(&"<tool_cal".repeat(600_000)).len(), 0);
    assert_eq!(calls(&format!("<tool_call>{}", "</tool_call".repeat(400_000))).len(), 1);
    // Quadratic work would take hours.
    assert!((crate::wait::thread_cpu_time() - begun).as_secs() < 60);
}
