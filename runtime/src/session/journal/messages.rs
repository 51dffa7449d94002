//! The durable messages of a transcript, written by comparing the list with its last written state.

use std::sync::Arc;

use base::data::Data;

use crate::message::{Message, Messages};

/// A change of the list: its word and its payload.
pub(super) type ListChange = (&'static str, Data);

/// Returns the changes from `known` to `now`. Lists share their messages, so unchanged parts are not visited.
pub(super) fn changes(known: &Messages, now: &Messages) -> Vec<ListChange> {
    let kept = known.shared_with(now);
    let new = now.iter().skip(kept);
    if kept == known.len() {
        let appended = |(index, message): (usize, &Arc<Message>)| {
            ("appended", Data::dict([("index", Data::from(index)), ("message", message.to_data())]))
        };
        return (kept..).zip(new).map(appended).collect();
    }
    let messages = new.map(|message| message.to_data()).collect();
    vec![("replaced", Data::dict([("keep", Data::from(kept)), ("messages", messages)]))]
}

/// Applies a change; other words are skipped.
///
/// # Errors
/// Explains why the change is unreadable, as the end of a sentence.
pub(super) fn apply(messages: &mut Vec<Arc<Message>>, word: &str, payload: &Data) -> Result<(), String> {
    let index = |field: &str| {
        let index = payload.get(field).as_int().and_then(|index| usize::try_from(index).ok());
        let there = messages.len();
        match index {
            Some(index) if index <= there => Ok(index),
            Some(index) => Err(format!("`{field}` is {index}, but there are {there} messages")),
            None => Err(format!("`{field}` is not a number of messages")),
        }
    };
    match word {
        "appended" => {
            if index("index")? != messages.len() {
                return Err(format!("its message already exists: there are {}", messages.len()));
            }
            messages.push(read(payload.get("message"))?);
        }
        "replaced" => {
            let keep = index("keep")?;
            let new = payload.get("messages").as_list().ok_or("`messages` is not a list")?;
            let new = new.iter().map(read).collect::<Result<Vec<_>, _>>()?;
            messages.truncate(keep);
            messages.extend(new);
        }
        _ => {}
    }
    Ok(())
}

fn read(data: &Data) -> Result<Arc<Message>, String> {
    Message::from_data(data).map(Arc::new).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_becomes_of_a_list_the_log_tells_it() {
        let message = |n: usize| Arc::new(Message::user(n.to_string()));
        let mut now: Messages = (0..70).map(message).collect();
        let (mut known, mut told) = (Messages::new(), Vec::new());
        let mut words = Vec::new();
        for step in 0..6 {
            match step {
                1 => (70..75).for_each(|n| now.push_back(message(n))),
                2 => now = now.take(40),
                3 => now = std::iter::once(message(99)).chain(now.iter().skip(30).cloned()).collect(),
                4 => now = Messages::new(),
                5 => now.push_back(message(5)),
                _ => {}
            }
            for (word, payload) in changes(&known, &now) {
                words.push(word);
                apply(&mut told, word, &Data::from_json(&payload.to_json()).unwrap()).unwrap();
            }
            known = now.clone();
            assert!(told.iter().eq(now.iter()), "step {step}");
        }
        assert_eq!(words.iter().filter(|word| **word == "replaced").count(), 3);
        assert!(changes(&known, &now).is_empty());
    }

    #[test]
    fn what_does_not_follow_is_an_error() {
        let mut messages = Vec::new();
        let mut why = |word: &str, json: &str| apply(&mut messages, word, &Data::from_json(json).unwrap());
        let hi = r#"{"index":0,"message":{"role":"user","content":"hi"}}"#;
        assert!(why("appended", &hi.replace('0', "1")).unwrap_err().contains("there are 0 messages"));
        assert!(why("appended", r#"{"index":0,"message":7}"#).unwrap_err().contains("a message must be a dict"));
        assert_eq!(why("appended", hi), Ok(()));
        assert!(why("appended", hi).unwrap_err().contains("already"));
        assert!(why("replaced", r#"{"keep":2,"messages":[]}"#).is_err());
        assert_eq!(why("a later word", "{}"), Ok(()));
    }
}
