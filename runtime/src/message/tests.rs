use super::*;

#[test]
fn what_has_no_name_here_is_kept() {
    let json = r#"{"content":[{"text":"hi","type":"text"},{"data":"…","type":"image"}],"name":"a","reasoning_details":[1],"role":"assistant","tool_calls":[{"arguments":{"x":1},"id":"c1","name":"f"}]}"#;
    let message = Message::from_data(&Data::from_json(json).unwrap()).unwrap();
    assert_eq!(message.to_data().to_json(), json);
}

#[test]
fn calls_are_read_in_both_shapes() {
    let ours = Data::from_json(r#"{"id":"1","name":"f","arguments":{"a":2}}"#).unwrap();
    let openai =
        Data::from_json(r#"{"id":"1","type":"function","function":{"name":"f","arguments":"{\"a\":2}"}}"#).unwrap();
    assert_eq!(ToolCall::from_data(&ours), ToolCall::from_data(&openai));
}

#[test]
fn an_unknown_role_is_refused_with_a_suggestion() {
    let error = Message::from_data(&Data::dict([("role", "asistant".into())])).unwrap_err();
    let MessageError::Role(word) = error else { panic!("{error}") };
    assert_eq!(word.suggestion, Some("assistant"));
}
