//! Quoting: text that only looks like a reminder is marked as quoted before it is sent. Tool results, user messages,
//! answers of the model, summaries and the bodies of reminders pass through here; the transcript and the event log are
//! unchanged.
//!
//! | form | text | sent as |
//! |---|---|---|
//! | XML tag | `<system-reminder>`, `</system-reminder>` | `<quoted-system-reminder>`, `</quoted-system-reminder>` |
//! | header at the start of a line | `System reminder:` | `[quoted] System reminder:` |
//!
//! Case, white space, attributes, `_` for `-` and invisible characters inside of a marker make no difference. A marker that
//! is quoted already gets one more mark, so removing one mark from each restores the text.

use std::borrow::Cow;
use std::sync::Arc;

use base::data::{Data, Entries};

use crate::message::{Block, Content, Message, Role, ToolCall};

#[cfg(test)]
mod tests;

const IN_TAG: &str = "quoted-";
const AT_HEADER: &str = "[quoted] ";

/// Returns the text with every marker quoted. A text without markers is not copied.
#[must_use]
pub fn quoted(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut copied = 0;
    for (at, mark) in markers(text) {
        out.push_str(&text[copied..at]);
        out.push_str(mark);
        copied = at;
    }
    if copied == 0 && out.is_empty() {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// Returns whether a message contains a marker anywhere in the parts that a wire may send.
pub(crate) fn holds_marker(message: &Message) -> bool {
    let own = message.role == Role::Assistant;
    let in_content = match &message.content {
        Content::Text(text) => has_marker(text),
        Content::Blocks(blocks) => blocks.iter().any(|block| match block {
            Block::Text { text, .. } => has_marker(text),
            Block::Other(data) => !(own && is_signed(data)) && data_has_marker(data),
        }),
    };
    let in_call = |call: &ToolCall| has_marker(&call.id) || has_marker(&call.name) || data_has_marker(&call.arguments);
    let texts = [&message.tool_call_id, &message.name, &message.reasoning];
    in_content
        || message.tool_calls.iter().any(in_call)
        || texts.into_iter().flatten().any(|text| has_marker(text))
        || entries_have_marker(&message.extra)
}

/// Returns the message with every marker quoted.
pub(crate) fn quoted_message(message: &Message) -> Message {
    let own = message.role == Role::Assistant;
    let content = match &message.content {
        Content::Text(text) => Content::Text(shared(text)),
        Content::Blocks(blocks) => {
            let block = |block: &Block| match block {
                Block::Text { text, cache_control } => {
                    Block::Text { text: shared(text), cache_control: cache_control.clone() }
                }
                Block::Other(data) if own && is_signed(data) => block.clone(),
                Block::Other(data) => Block::Other(quoted_data(data)),
            };
            Content::Blocks(Arc::new(blocks.iter().map(block).collect()))
        }
    };
    let call = |call: &ToolCall| ToolCall {
        id: shared(&call.id),
        name: shared(&call.name),
        arguments: quoted_data(&call.arguments),
    };
    Message {
        role: message.role,
        content,
        tool_calls: message.tool_calls.iter().map(call).collect(),
        tool_call_id: message.tool_call_id.as_ref().map(shared),
        name: message.name.as_ref().map(shared),
        is_error: message.is_error,
        reasoning: message.reasoning.as_ref().map(shared),
        extra: quoted_entries(&message.extra),
    }
}

fn shared(text: &Arc<str>) -> Arc<str> {
    match quoted(text) {
        Cow::Borrowed(_) => text.clone(),
        Cow::Owned(text) => text.into(),
    }
}

/// Returns whether the vendor checks a block of its own answer when it is sent back: changing it would invalidate the
/// request.
fn is_signed(block: &Data) -> bool {
    const SIGNED: [&str; 4] = ["signature", "encrypted_content", "thoughtSignature", "thought_signature"];
    let inner = ["item", "part", "openai_item", "gemini_part"].map(|key| block.get(key));
    block.get("type").as_str() == Some("redacted_thinking")
        || std::iter::once(block).chain(inner).any(|data| SIGNED.iter().any(|key| !data.get(key).is_nil()))
}

fn data_has_marker(data: &Data) -> bool {
    match data {
        Data::Str(text) => has_marker(text),
        Data::List(items) => items.iter().any(data_has_marker),
        Data::Dict(entries) => entries_have_marker(entries),
        _ => false,
    }
}

fn entries_have_marker(entries: &Entries) -> bool {
    entries.iter().any(|(key, value)| has_marker(key) || data_has_marker(value))
}

fn quoted_data(data: &Data) -> Data {
    match data {
        Data::Str(text) => Data::Str(shared(text)),
        Data::List(items) => Data::list(items.iter().map(quoted_data)),
        Data::Dict(entries) => Data::from(quoted_entries(entries)),
        other => other.clone(),
    }
}

fn quoted_entries(entries: &Entries) -> Entries {
    entries.iter().map(|(key, value)| (shared(key), quoted_data(value))).collect()
}

fn has_marker(text: &str) -> bool {
    // Names and ids are shorter than any marker.
    text.len() > "systemreminder".len() && markers(text).next().is_some()
}

/// Returns the places where a mark must be inserted, in order, each with its mark. A tag has a `<` and a header a `:`,
/// so the rest of the text is skipped.
fn markers(text: &str) -> impl Iterator<Item = (usize, &'static str)> {
    let mut marked = None;
    memchr::memchr2_iter(b'<', b':', text.as_bytes()).filter_map(move |at| {
        let (at, mark) = if text.as_bytes()[at] == b'<' {
            (name_of_tag(text, at + 1)?, IN_TAG)
        } else {
            (start_of_header(text, at)?, AT_HEADER)
        };
        // The name of a tag may read as a header, too; one mark per place is enough.
        (marked.replace(at) != Some(at)).then_some((at, mark))
    })
}

/// Returns the position of a reminder tag's name, if one follows a `<`.
fn name_of_tag(text: &str, from: usize) -> Option<usize> {
    // The first letter excludes most tags.
    if matches!(text.as_bytes().get(from)?, first if first.is_ascii_alphanumeric() && !b"sSqQ".contains(first)) {
        return None;
    }
    let inner = text[from..].trim_start_matches(is_blank);
    let name = inner.strip_prefix('/').unwrap_or(inner).trim_start_matches(is_blank);
    let mut rest = name;
    while let Some(after) = strip_word(rest, "quoted") {
        rest = after.trim_start_matches(is_separator);
    }
    let rest = strip_word(rest, "system")?.trim_start_matches(is_separator);
    strip_word(rest, "reminder").map(|_| text.len() - name.len())
}

/// Returns the position of a reminder's header that ends with the `:` at `colon` and is at the start of a line.
fn start_of_header(text: &str, colon: usize) -> Option<usize> {
    let last = *text.as_bytes().get(colon.checked_sub(1)?)?;
    // The letter before a colon excludes most headers.
    if last.is_ascii_graphic() && !last.eq_ignore_ascii_case(&b'r') {
        return None;
    }
    let before = strip_last_word(text[..colon].trim_end_matches(is_gap), "reminder")?;
    let start = strip_last_word(before.trim_end_matches(|c| is_separator(c) && !is_line_break(c)), "system")?;
    let mut line = start;
    loop {
        line = line.trim_end_matches(is_gap);
        match line.strip_suffix(AT_HEADER.trim_end()) {
            Some(rest) => line = rest,
            None => return (line.is_empty() || line.ends_with(is_line_break)).then_some(start.len()),
        }
    }
}

/// Returns the text after a word, whatever its case.
fn strip_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let mut rest = text.chars();
    for expected in word.chars() {
        if !rest.by_ref().find(|c| !is_invisible(*c))?.eq_ignore_ascii_case(&expected) {
            return None;
        }
    }
    Some(rest.as_str())
}

/// Returns the text before a word that it ends with, whatever its case.
pub(crate) fn strip_last_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let mut rest = text.chars();
    for expected in word.chars().rev() {
        if !rest.by_ref().rfind(|c| !is_invisible(*c))?.eq_ignore_ascii_case(&expected) {
            return None;
        }
    }
    Some(rest.as_str())
}

pub(crate) fn is_line_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() || is_invisible(c)
}

/// Returns whether a character is white space inside of a line.
pub(crate) fn is_gap(c: char) -> bool {
    is_blank(c) && !is_line_break(c)
}

/// Returns whether a character may separate the two words of a marker.
fn is_separator(c: char) -> bool {
    is_blank(c) || matches!(c, '-' | '_' | '\u{2010}'..='\u{2015}' | '\u{2212}')
}

/// Returns whether a character is invisible: a model ignores it.
fn is_invisible(c: char) -> bool {
    if matches!(c, '\u{20}'..='\u{7e}') {
        return false;
    }
    let is_listed = matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{feff}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e0fff}'
    );
    is_listed || c.is_control() && !c.is_whitespace()
}
