//! Differences between two requests, for a person who changed something.

use super::request::RecordedRequest;
use base::data::Data;
use imbl::Vector;
use similar::{Algorithm, DiffOp, TextDiff, capture_diff_slices};
use std::fmt::Write as _;
use std::time::Duration;

/// Messages whose differences are shown.
const SHOWN: usize = 3;
/// Lines of one difference that are shown.
const LINES: usize = 24;
/// Characters of a line that are shown.
const WIDTH: usize = 120;
/// Texts of more bytes are compared by their first difference only.
const LARGE: usize = 200_000;

/// Returns the differences as unified diffs of each part (`-` as recorded, `+` now), or `None` if
/// the requests are equal. The first `known` messages are known to be equal, so that a long history
/// is compared once rather than once a turn.
#[must_use]
pub fn difference(then: &RecordedRequest, now: &RecordedRequest, known: usize) -> Option<String> {
    let mut parts = Vec::new();
    for ((name, one), (_, other)) in then.parts().into_iter().zip(now.parts()).filter(|(one, other)| one.1 != other.1) {
        match name {
            "tools" => tools(&mut parts, one, other),
            "system" => parts.push(part("the system text", &one.to_text(), &other.to_text())),
            _ => entries(&mut parts, name, one, other),
        }
    }
    let known = known.min(then.messages.len()).min(now.messages.len());
    if then.messages.skip(known) != now.messages.skip(known) {
        messages(&mut parts, &then.messages, &now.messages);
    }
    (!parts.is_empty()).then(|| parts.join("\n"))
}

/// A heading and the difference of two texts below it.
fn part(heading: &str, then: &str, now: &str) -> String {
    format!("{heading}:\n{}", lines(then, now))
}

/// Options and route: one line each.
fn entries(parts: &mut Vec<String>, name: &str, then: &Data, now: &Data) {
    let keys = [then, now].into_iter().filter_map(Data::as_dict).flat_map(base::data::Entries::keys);
    let keys: std::collections::BTreeSet<_> = keys.collect();
    for key in keys.into_iter().filter(|key| then.get(key) != now.get(key)) {
        let heading = if name == "route" { format!("the {key}") } else { format!("the option `{key}`") };
        parts.push(part(&heading, &shown(then.get(key)), &shown(now.get(key))));
    }
}

/// Returns a value as text for people: a scalar on one line, a collection on several.
fn shown(value: &Data) -> String {
    match value {
        Data::Nil => String::new(),
        Data::List(_) | Data::Dict(_) => value.to_json_pretty(),
        scalar => scalar.to_json(),
    }
}

/// Tools go by their names.
fn tools(parts: &mut Vec<String>, then: &Data, now: &Data) {
    let (then, now) = (then.as_list().unwrap_or_default(), now.as_list().unwrap_or_default());
    let find = |list: &[Data], name: &str| list.iter().find(|tool| tool.get("name").as_str() == Some(name)).cloned();
    let names = |list: &[Data]| list.iter().filter_map(|t| t.get("name").as_shared_str()).collect::<Vec<_>>();
    let (before, after) = (names(then), names(now));
    let count = parts.len();
    for name in before.iter().chain(after.iter().filter(|name| !before.contains(name))) {
        let (one, other) = (find(then, name), find(now, name));
        if one == other {
            continue;
        }
        match (one, other) {
            (Some(one), Some(other)) => parts.push(part(&format!("the tool `{name}`"), &shown(&one), &shown(&other))),
            (Some(_), None) => parts.push(format!("the tool `{name}` is no longer offered")),
            _ => parts.push(format!("the tool `{name}` is new")),
        }
    }
    if parts.len() == count {
        parts.push(part("the order of the tools", &before.join("\n"), &after.join("\n")));
    }
}

/// Message by message: one that is the same is not shown, however long the history is.
fn messages(parts: &mut Vec<String>, then: &Vector<Data>, now: &Vector<Data>) {
    let texts = |messages: &Vector<Data>| messages.iter().map(message).collect::<Vec<String>>();
    let (one, other) = (texts(then), texts(now));
    let ops = capture_diff_slices(Algorithm::Myers, &one, &other);
    let mut changes = Vec::new();
    for op in ops {
        match op {
            DiffOp::Equal { .. } => {}
            DiffOp::Delete { old_index, old_len, .. } => {
                changes.extend((old_index..old_index + old_len).map(|at| (Some(at), None)));
            }
            DiffOp::Insert { new_index, new_len, .. } => {
                changes.extend((new_index..new_index + new_len).map(|at| (None, Some(at))));
            }
            DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                changes.extend(
                    (0..old_len.max(new_len))
                        .map(|n| ((n < old_len).then_some(old_index + n), (n < new_len).then_some(new_index + n))),
                );
            }
        }
    }
    for (before, after) in changes.iter().take(SHOWN) {
        let (text, new) = (before.map_or("", |at| &one[at]), after.map_or("", |at| &other[at]));
        let heading = match (before, after) {
            (Some(_), Some(at)) => format!("message {} of {}", at + 1, now.len()),
            (None, Some(at)) => format!("message {} of {}, which is new", at + 1, now.len()),
            (Some(at), _) => format!("message {} of the recorded {}, which is missing now", at + 1, then.len()),
            (None, None) => continue,
        };
        parts.push(part(&heading, text, new));
    }
    if changes.len() > SHOWN {
        parts.push(format!("and {} more messages that differ", changes.len() - SHOWN));
    }
}

/// A message as lines: who speaks, what, and everything else it holds.
fn message(data: &Data) -> String {
    let mut out = data.get("role").to_text().to_string();
    out.push('\n');
    match data.get("content") {
        Data::Str(text) => out.push_str(text),
        other => out.push_str(&shown(other)),
    }
    for (key, value) in data.as_dict().into_iter().flatten() {
        if !matches!(key.as_ref(), "role" | "content") {
            // Writing into a string cannot fail.
            let _ = write!(out, "\n{key}: {}", shown(value));
        }
    }
    out
}

/// The unified difference of two texts, without the counts of its heading.
fn lines(then: &str, now: &str) -> String {
    if then.len().max(now.len()) > LARGE {
        return first_difference(then, now);
    }
    let (then, now) = (ended(then), ended(now));
    let diff = TextDiff::configure().timeout(Duration::from_millis(500)).diff_lines(&then, &now);
    let text = diff.unified_diff().context_radius(2).missing_newline_hint(false).to_string();
    let all: Vec<&str> = text.lines().filter(|line| !line.starts_with("@@")).collect();
    let mut out: Vec<String> = narrowed(&all[..all.len().min(LINES)]);
    while out.last().is_some_and(|line| line.trim().is_empty()) {
        out.pop();
    }
    if all.len() > LINES {
        out.push(format!("… {} more lines", all.len() - LINES));
    }
    out.join("\n")
}

fn ended(text: &str) -> String {
    if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
}

fn first_difference(then: &str, now: &str) -> String {
    let same = then.chars().zip(now.chars()).take_while(|(one, other)| one == other).count();
    format!("-{}\n+{}", cut(then, same), cut(now, same))
}

/// Lines too long for a screen are cut around the place where the one that goes differs from the one that comes.
fn narrowed(lines: &[&str]) -> Vec<String> {
    let mut out = Vec::with_capacity(lines.len());
    let mut at = 0;
    while at < lines.len() {
        let run = |sign: char, from: usize| lines[from..].iter().take_while(|line| line.starts_with(sign)).count();
        let gone = run('-', at);
        let come = run('+', at + gone);
        for index in 0..gone + come {
            let other = if index < gone {
                (index < come).then_some(at + gone + index)
            } else {
                (index - gone < gone).then_some(at + index - gone)
            };
            let line = lines[at + index];
            let same = other.map_or(0, |other| {
                line.chars().skip(1).zip(lines[other].chars().skip(1)).take_while(|(a, b)| a == b).count()
            });
            out.push(format!("{}{}", &line[..1], cut(&line[1..], same)));
        }
        at += gone + come;
        if gone + come == 0 {
            out.push(cut(lines[at], 0));
            at += 1;
        }
    }
    out
}

/// The part of a line around a character.
fn cut(line: &str, around: usize) -> String {
    let length = line.chars().count();
    if length <= WIDTH {
        return line.to_owned();
    }
    let from = around.saturating_sub(WIDTH / 3).min(length - WIDTH);
    let part: String = line.chars().skip(from).take(WIDTH).collect();
    let (before, after) = (if from > 0 { "…" } else { "" }, if from + WIDTH < length { "…" } else { "" });
    format!("{before}{}{after}", part.replace('\n', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(system: &str, messages: &[&str]) -> RecordedRequest {
        let message = |text: &&str| Data::dict([("role", Data::from("user")), ("content", Data::from(*text))]);
        RecordedRequest {
            system: system.into(),
            messages: messages.iter().map(message).collect(),
            ..RecordedRequest::default()
        }
    }

    #[test]
    fn only_what_differs_is_shown() {
        let one = asked("You are terse.\nBe kind.", &["a", "b", "c"]);
        assert_eq!(difference(&one, &one, 0), None);
        let other = asked("You are verbose.\nBe kind.", &["a", "b", "c"]);
        let text = difference(&one, &other, 0).unwrap();
        assert_eq!(text, "the system text:\n-You are terse.\n+You are verbose.\n Be kind.");
    }

    #[test]
    fn a_long_history_does_not_drown_the_message_that_differs() {
        let history: Vec<String> = (0..500).map(|n| format!("message number {n}")).collect();
        let texts: Vec<&str> = history.iter().map(String::as_str).collect();
        let mut changed = texts.clone();
        changed[321] = "another";
        let text = difference(&asked("", &texts), &asked("", &changed), 0).unwrap();
        assert_eq!(text, "message 322 of 500:\n user\n-message number 321\n+another");
        changed[321] = texts[321];
        changed.insert(7, "in between");
        let text = difference(&asked("", &texts), &asked("", &changed), 0).unwrap();
        assert_eq!(text, "message 8 of 501, which is new:\n+user\n+in between");
    }

    #[test]
    fn what_is_known_to_be_the_same_is_not_compared_again() {
        let (one, other) = (asked("", &["a", "b"]), asked("", &["x", "b"]));
        assert!(difference(&one, &other, 0).is_some());
        assert_eq!(difference(&one, &other, 1), None);
        assert_eq!(difference(&one, &other, 7), None);
    }

    #[test]
    fn a_long_line_is_shown_around_the_place() {
        let (one, other) = (
            format!("{}A{}", "x".repeat(5_000), "y".repeat(500)),
            format!("{}B{}", "x".repeat(5_000), "y".repeat(500)),
        );
        let text = difference(&asked(&one, &[]), &asked(&other, &[]), 0).unwrap();
        assert!(text.len() < 400 && text.contains("xxA") && text.contains("xxBy"), "{text}");
        let huge = "é".repeat(2_000_000);
        let text = difference(&asked(&huge, &[]), &asked(&format!("{huge}!"), &[]), 0).unwrap();
        assert!(text.len() < 800 && text.contains("é!"), "{text}");
    }

    #[test]
    fn options_tools_and_route_are_named() {
        let tool = |name: &str, what: &str| Data::dict([("name", Data::from(name)), ("description", what.into())]);
        let one = RecordedRequest {
            tools: Data::list([tool("a", "1"), tool("b", "2")]),
            options: Data::dict([("temperature", Data::from(0.5))]),
            route: Data::dict([("model", Data::from("m1"))]),
            ..RecordedRequest::default()
        };
        let other = RecordedRequest {
            tools: Data::list([tool("b", "3"), tool("c", "4")]),
            options: Data::empty_dict(),
            route: Data::dict([("model", Data::from("m2"))]),
            ..RecordedRequest::default()
        };
        let text = difference(&one, &other, 0).unwrap();
        for part in [
            "the tool `a` is no longer offered",
            "the tool `b`:",
            "-  \"description\": \"2\"",
            "+  \"description\": \"3\"",
            "the tool `c` is new",
            "the option `temperature`:\n-0.5",
            "the model:\n-\"m1\"\n+\"m2\"",
        ] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
        let (ab, ba) = (Data::list([tool("a", "1"), tool("b", "2")]), Data::list([tool("b", "2"), tool("a", "1")]));
        let text = difference(
            &RecordedRequest { tools: ab, ..RecordedRequest::default() },
            &RecordedRequest { tools: ba, ..RecordedRequest::default() },
            0,
        );
        assert!(text.unwrap().starts_with("the order of the tools:"));
    }
}
