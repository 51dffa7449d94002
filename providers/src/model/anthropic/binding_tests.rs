//! The digests are compared with an oracle that knows nothing of them: a vendor that remembers the JSON before each thought.

use std::collections::HashMap;

use base::data::Data;
use runtime::message::Block;
use serde_json::{Value, json};

use super::binding::{PrefixCheck, bind, stamp};

fn thought(signature: &str) -> Value {
    json!({"type": "thinking", "thinking": "Hm.", "signature": signature})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn body(system: &str, messages: Vec<Value>) -> Value {
    json!({"model": "claude-fable-5-1", "system": system, "tools": [], "messages": Value::Array(messages)})
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn answer(blocks: &[Value]) -> Value {
    json!({"role": "assistant", "content": blocks})
}

/// Returns the blocks of an answer to a body, as they stay in the conversation.
fn answered(mut body: Value, check: PrefixCheck, blocks: Vec<Value>) -> Vec<Value> {
    let bound = bind(&mut body, check);
    let mut blocks: Vec<Block> = blocks.into_iter().map(|block| Block::from_data(&Data::from(block))).collect();
    stamp(&mut blocks, &bound.prefix.unwrap());
    blocks.iter().map(|block| Value::from(&block.to_data())).collect()
}

fn refusing(mut body: Value) -> (Value, usize) {
    let bound = bind(&mut body, PrefixCheck::Refusing);
    (body, bound.left_out)
}

#[test]
fn a_thought_stays_behind_its_prefix_and_its_digest_is_not_sent() {
    let first = body("You look.", vec![user("Look.")]);
    let blocks = answered(first, PrefixCheck::Refusing, vec![thought("s1"), text("I look.")]);
    assert!(blocks[0].get("prefix_digest").is_some() && blocks[1].get("prefix_digest").is_none());
    let messages = vec![user("Look."), answer(&blocks), user("And?")];
    let (sent, left_out) = refusing(body("You look.", messages.clone()));
    assert_eq!((left_out, &sent["messages"][1]["content"][0]), (0, &thought("s1")));
    let mut unchecked = body("You look.", messages);
    assert_eq!(bind(&mut unchecked, PrefixCheck::None), super::BoundThoughts::default());
    assert_eq!(unchecked["messages"][1]["content"][0], thought("s1"));
}

#[test]
fn marks_of_the_cache_and_the_short_form_of_a_text_change_nothing() {
    let blocks = answered(body("S", vec![user("Look.")]), PrefixCheck::Refusing, vec![thought("s1"), text("Fine.")]);
    let mut marked = text("Look.");
    marked["cache_control"] = json!({"type": "ephemeral"});
    let (_, left_out) = refusing(body("S", vec![json!({"role": "user", "content": [marked]}), answer(&blocks)]));
    assert_eq!(left_out, 0);
}

#[test]
fn a_thought_behind_another_prefix_is_left_out_with_those_that_followed_it() {
    let first = answered(body("S", vec![user("Look.")]), PrefixCheck::Refusing, vec![thought("s1"), text("I look.")]);
    let so_far = vec![user("Look."), answer(&first), user("And?")];
    let second = answered(body("S", so_far.clone()), PrefixCheck::Refusing, vec![thought("s2"), text("Still.")]);
    let whole = [so_far, vec![answer(&second), user("So?")]].concat();
    let of_other_system = body("Another text.", whole.clone());
    let mut of_other_model = body("S", whole.clone());
    of_other_model["model"] = "claude-mythos-5-1".into();
    let mut with_tool = body("S", whole.clone());
    with_tool["tools"] = json!([{"name": "hear"}]);
    for changed in [of_other_system, of_other_model, with_tool] {
        let (sent, left_out) = refusing(changed);
        assert_eq!(left_out, 2);
        assert_eq!(sent["messages"][1]["content"], json!([text("I look.")]));
        assert_eq!(sent["messages"][3]["content"], json!([text("Still.")]));
    }
    // Only what came after the change is lost; a thought that was signed without the first one stays.
    let changed = body("Another text.", whole.clone());
    let third = answered(changed, PrefixCheck::Refusing, vec![thought("s3"), text("Yes.")]);
    let longer = [whole, vec![answer(&third), user("Well?")]].concat();
    let (sent, left_out) = refusing(body("Another text.", longer));
    assert_eq!((left_out, &sent["messages"][5]["content"][0]), (2, &thought("s3")));
}

#[test]
fn a_thought_without_a_digest_is_not_risked() {
    let (sent, left_out) = refusing(body("S", vec![user("Look."), answer(&[thought("s1"), text("Fine.")])]));
    assert_eq!((left_out, &sent["messages"][1]["content"]), (1, &json!([text("Fine.")])));
}

#[test]
fn an_answer_of_thoughts_alone_disappears_with_them() {
    let messages = vec![user("Look."), answer(&[thought("s1")]), user("And?")];
    let (sent, left_out) = refusing(body("S", messages));
    assert_eq!(left_out, 1);
    assert_eq!(sent["messages"], json!([{"role": "user", "content": [text("Look."), text("And?")]}]));
}

#[test]
fn an_instruction_before_an_answer_that_disappears_becomes_the_users() {
    let instruction = json!({"role": "system", "content": "Be brief."});
    let (sent, _) = refusing(body("S", vec![user("Look."), instruction, answer(&[thought("s1")]), user("And?")]));
    let texts = [text("Look."), text("Be brief."), text("And?")];
    assert_eq!(sent["messages"], json!([{"role": "user", "content": texts}]));
}

#[test]
fn the_parts_of_a_continued_answer_have_prefixes_of_their_own() {
    let first = answered(body("S", vec![user("Look.")]), PrefixCheck::Refusing, vec![thought("s1"), text("I")]);
    let paused = vec![user("Look."), answer(&first)];
    let second = answered(body("S", paused), PrefixCheck::Refusing, vec![thought("s2"), text("look.")]);
    let whole = [first, second].concat();
    let (_, left_out) = refusing(body("S", vec![user("Look."), answer(&whole), user("And?")]));
    assert_eq!(left_out, 0);
    let (sent, left_out) = refusing(body("T", vec![user("Look."), answer(&whole), user("And?")]));
    assert_eq!((left_out, sent["messages"][1]["content"].as_array().unwrap().len()), (2, 2));
}

#[test]
fn the_vendor_is_asked_to_drop_thoughts_unless_a_script_says_otherwise() {
    let with = |thinking: Value| {
        let mut body = body("S", vec![user("Look."), answer(&[thought("s1"), text("Fine.")])]);
        body["thinking"] = thinking;
        let bound = bind(&mut body, PrefixCheck::Dropping);
        (body["thinking"].clone(), bound.left_out)
    };
    let binding = json!({"prefix_mismatch_behavior": "drop_block"});
    assert_eq!(with(json!({"type": "adaptive"})), (json!({"type": "adaptive", "block_binding": binding}), 0));
    let own = json!({"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "error"}});
    assert_eq!(with(own.clone()), (own, 1));
    assert_eq!(with(json!({"type": "disabled"})), (json!({"type": "disabled"}), 1));
    assert_eq!(with(Value::Null), (Value::Null, 1));
}

/// Refuses a thought whose prefix has changed, by the JSON text before it.
#[derive(Default)]
struct Vendor {
    signed: HashMap<String, String>,
}

impl Vendor {
    fn prefix(body: &Value, until: usize) -> String {
        let messages = &body["messages"].as_array().unwrap()[..until];
        let blocks = messages.iter().map(|message| match &message["content"] {
            Value::String(words) => json!([message["role"], [text(words)]]),
            blocks => json!([message["role"], blocks]),
        });
        json!([body["model"], body["system"], body["tools"], blocks.collect::<Vec<_>>()]).to_string()
    }

    fn accepts(&self, body: &Value) -> bool {
        body["messages"].as_array().unwrap().iter().enumerate().all(|(index, message)| {
            let blocks = message["content"].as_array().into_iter().flatten();
            let mut signatures = blocks.filter_map(|block| block["signature"].as_str());
            signatures.all(|signature| self.signed[signature] == Vendor::prefix(body, index))
        })
    }

    fn answer(&mut self, body: &Value) -> Vec<Value> {
        let signature = format!("s{}", self.signed.len());
        self.signed.insert(signature.clone(), Vendor::prefix(body, body["messages"].as_array().unwrap().len()));
        vec![thought(&signature), text(&format!("Answer {signature}."))]
    }
}

#[test]
fn random_histories_are_never_refused_and_keep_some_thoughts() {
    let mut seed = 7_u64;
    let mut random = move |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let (mut kept, mut lost) = (0, 0);
    for _ in 0..200 {
        let mut vendor = Vendor::default();
        let (mut system, mut messages) = ("S0".to_owned(), vec![user("Look.")]);
        for turn in 0..8 {
            match random(5) {
                0 => system = format!("S{}", random(3)),
                1 => messages[0] = user(&format!("Look at {}.", random(2))),
                2 if messages.len() > 4 => drop(messages.drain(1..3)),
                _ => {}
            }
            let (sent, left_out) = refusing(body(&system, messages.clone()));
            assert!(vendor.accepts(&sent), "{sent:#}");
            lost += left_out;
            kept += sent.to_string().matches("signature").count();
            let blocks = vendor.answer(&sent);
            let stamped = answered(body(&system, messages.clone()), PrefixCheck::Refusing, blocks);
            messages.extend([answer(&stamped), user(&format!("And {turn}?"))]);
        }
    }
    assert!(kept > 1000 && lost > 1000, "{kept} {lost}");
}
