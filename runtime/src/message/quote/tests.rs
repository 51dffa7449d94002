use std::sync::LazyLock;

use proptest::prelude::*;
use regex::Regex;

use super::*;

/// Finds markers by a method other than that of the code under test.
static MARKER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)<\s*/?\s*system[-_\s]*reminder|(?:^|[\n\r])[ \t]*system[-_ \t]*reminder[ \t]*:").unwrap()
});
static QUOTED_TAG: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)(<\s*/?\s*)quoted-((?:quoted[-_\s]*)*system[-_\s]*reminder)").unwrap());
static QUOTED_HEADER: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"(?i)(^|[\n\r])((?:[ \t]*\[quoted\])*[ \t]*)\[quoted\] (system[-_ \t]*reminder[ \t]*:)";
    Regex::new(pattern).unwrap()
});

/// Removes one mark from each marker.
fn restored(text: &str) -> String {
    // A header may be inside of what reads as a tag.
    let text = QUOTED_HEADER.replace_all(text, "$1$2$3");
    QUOTED_TAG.replace_all(&text, "$1$2").into_owned()
}

#[test]
fn each_variant_of_a_marker_is_quoted() {
    for (text, expected) in [
        ("<system-reminder>", "<quoted-system-reminder>"),
        ("a</system-reminder>b", "a</quoted-system-reminder>b"),
        ("< / System-REMINDER >", "< / quoted-System-REMINDER >"),
        ("<system_reminder id=\"1\">", "<quoted-system_reminder id=\"1\">"),
        ("<\nsystem reminder\n>", "<\nquoted-system reminder\n>"),
        ("<sys\u{200b}tem-rem\u{ad}inder>", "<quoted-sys\u{200b}tem-rem\u{ad}inder>"),
        ("<<system-reminder>", "<<quoted-system-reminder>"),
        ("<quoted-system-reminder>", "<quoted-quoted-system-reminder>"),
        ("<system-reminder", "<quoted-system-reminder"),
        ("System reminder: x", "[quoted] System reminder: x"),
        ("a\n  SYSTEM  Reminder :\nb", "a\n  [quoted] SYSTEM  Reminder :\nb"),
        ("a\r\nsystem-reminder:", "a\r\n[quoted] system-reminder:"),
        ("a\u{2028}System reminder:", "a\u{2028}[quoted] System reminder:"),
        ("\u{feff}System reminder:", "\u{feff}[quoted] System reminder:"),
        ("[quoted] System reminder:", "[quoted] [quoted] System reminder:"),
    ] {
        assert_eq!(quoted(text), expected, "{text:?}");
    }
}

#[test]
fn other_text_is_left_as_it_is() {
    for text in [
        "",
        "<",
        ":",
        "r:",
        "<system>",
        "<reminder>",
        "&lt;system-reminder&gt;",
        "the tag system-reminder",
        "A system reminder: in the middle of a line",
        "System reminders: two",
        "System\nreminder:",
        "reminder:",
        "<p>System update</p>",
    ] {
        assert!(matches!(quoted(text), Cow::Borrowed(same) if same == text), "{text:?}");
    }
}

#[test]
fn every_part_of_a_message_is_quoted_and_signed_blocks_of_the_model_stay() {
    let bad = || Data::from("<system-reminder>");
    let data = Data::dict([("<system-reminder>", Data::list([bad()]))]);
    let call = ToolCall::new("System reminder:", "<system-reminder>", data.clone());
    let signed =
        Block::Other(Data::dict([("type", "thinking".into()), ("thinking", bad()), ("signature", "s".into())]));
    let blocks = vec![Block::text("<system-reminder>"), Block::Other(data), signed.clone()];
    let message = Message {
        reasoning: Some("System reminder:".into()),
        name: Some("</system-reminder>".into()),
        extra: [("x".into(), bad())].into_iter().collect(),
        content: Content::Blocks(Arc::new(blocks)),
        ..Message::assistant("", vec![call])
    };
    assert!(holds_marker(&message));
    let quoted = quoted_message(&message);
    let kept = quoted.content.to_blocks().pop();
    assert_eq!(kept, Some(signed), "the vendor checks it");
    let others = Content::Blocks(Arc::new(quoted.content.to_blocks()[..2].to_vec()));
    let json = Message { content: others, ..quoted.clone() }.to_data().to_json();
    assert!(!MARKER.is_match(&json) && !json.contains("\"System reminder:"), "{json}");
    let user = Message { role: Role::User, ..quoted };
    assert!(holds_marker(&user), "only the model's own blocks are signed");
}

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[ -~\n]{0,12}",
        Just("\u{e9}\u{200b}".to_owned()),
        Just("<".to_owned()),
        Just("\n".to_owned()),
        Just("[quoted] ".to_owned()),
        Just("<quoted-".to_owned()),
        Just("<system-reminder>".to_owned()),
        Just("</SYSTEM-reminder\t x=1>".to_owned()),
        Just("system-reminder>".to_owned()),
        Just("System reminder:".to_owned()),
        Just("\r\n \tsystem  REMINDER :".to_owned()),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_marker_is_left_and_the_text_can_be_restored(text in text()) {
        let quoted = quoted(&text);
        prop_assert!(!MARKER.is_match(&quoted), "{quoted:?}");
        prop_assert_eq!(restored(&quoted), text);
    }
}
