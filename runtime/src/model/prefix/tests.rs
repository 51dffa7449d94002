use proptest::prelude::*;

use crate::message::{Messages, ToolCall};
use crate::reminder::slots::{AnchoredReminder, Rendered, RenderedRole, UserBlock};

use super::*;

/// Returns the document as described above.
fn document(request: &Request) -> String {
    let system = Data::from(request.system_text().unwrap_or_default()).to_json();
    let messages: Vec<String> = request.conversation().iter().map(|message| json(message)).collect();
    let tools = tools_json(&request.tools);
    format!(r#"{{"tools":{tools},"system":{system},"messages":[{}]}}"#, messages.join(","))
}

fn naive(last: Option<&String>, request: &Request) -> (RequestSize, String) {
    let now = document(request);
    let shared = last.map(|last| common_bytes(last, &now));
    (RequestSize { total: now.len() as u64, shared, rebilled: 0, cached: Vec::new() }, now)
}

#[derive(Debug, Clone)]
enum PrefixStep {
    Say(bool, u8),
    Rewrite(u8),
    Drop,
    Send { tail: bool, slot: u8, texts: Vec<u8>, system: u8, tools: bool },
}

fn step() -> impl Strategy<Value = PrefixStep> {
    prop_oneof![
        3 => (any::<bool>(), 0..4u8).prop_map(|(user, text)| PrefixStep::Say(user, text)),
        1 => (0..4u8).prop_map(PrefixStep::Rewrite),
        1 => Just(PrefixStep::Drop),
        6 => (any::<bool>(), 0..6u8, prop::collection::vec(0..3u8, 0..3), 0..4u8, any::<bool>())
            .prop_map(|(tail, slot, texts, system, tools)| PrefixStep::Send { tail, slot, texts, system, tools }),
    ]
}

const TEXTS: [&str; 4] = ["", "one\n\n\"two\"", "one", "öñe two"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn it_measures_what_comparing_whole_documents_would(steps in prop::collection::vec(step(), 1..60)) {
        let (mut meter, mut last) = (PrefixMeter::default(), None);
        let mut messages: Messages = Messages::new();
        let tools = Arc::new(vec![ToolSpec::new("look", "Looks.", Data::Nil)]);
        for step in steps {
            match step {
                PrefixStep::Say(true, text) => messages.push_back(Arc::new(Message::user(TEXTS[text as usize]))),
                PrefixStep::Say(false, text) => {
                    let call = ToolCall::new("1", "look", Data::Nil);
                    messages.push_back(Arc::new(Message::assistant(TEXTS[text as usize], vec![call])));
                }
                PrefixStep::Rewrite(text) if !messages.is_empty() => {
                    let middle = messages.len() / 2;
                    let rest = messages.skip(middle + 1);
                    messages = messages.take(middle);
                    messages.push_back(Arc::new(Message::user(TEXTS[text as usize])));
                    messages.extend(rest.iter().cloned());
                }
                PrefixStep::Drop => messages = messages.skip(1),
                PrefixStep::Rewrite(_) => {}
                PrefixStep::Send { tail, slot, texts, system, tools: with_tools } => {
                    let texts: Vec<Arc<str>> = texts.iter().map(|text| Arc::from(TEXTS[*text as usize])).collect();
                    let mut rendered = Rendered { placement: if tail { Placement::Tail } else { Placement::Head }, ..Rendered::default() };
                    match slot {
                        0 => rendered.system_sections = texts,
                        1 => rendered.developer_messages = texts,
                        2 => rendered.native = texts,
                        3 => {
                            let anchored = |(after, text): (usize, Arc<str>)| {
                                let after = after.min(messages.len());
                                AnchoredReminder { id: text.clone(), after, slot: RenderedRole::Developer, text }
                            };
                            rendered.anchored = (1..).zip(texts).map(anchored).collect();
                        }
                        4 => {
                            rendered.placement = Placement::Tail;
                            let slots = [RenderedRole::Native, RenderedRole::UserBlock, RenderedRole::Developer];
                            let anchored = |(nth, text): (usize, &Arc<str>)| {
                                let (id, after, slot) = (text.clone(), messages.len().max(1), slots[(nth + texts.len()) % 3]);
                                AnchoredReminder { id, after, slot, text: text.clone() }
                            };
                            rendered.anchored = texts.iter().enumerate().map(anchored).collect();
                            let block = |text: &Arc<str>| UserBlock { text: text.clone(), cache_control: false };
                            rendered.user_blocks = texts.iter().skip(usize::from(tail)).map(block).collect();
                            rendered.native = texts.iter().skip(1 + usize::from(!tail)).cloned().collect();
                        }
                        _ => rendered.user_blocks = texts.into_iter().map(|text| UserBlock { text, cache_control: tail }).collect(),
                    }
                    let request = Request {
                        system: System { suffix: Some("end".into()), ..System::primary(TEXTS[system as usize]) }.into(),
                        messages: messages.clone(),
                        reminders: Arc::new(rendered),
                        tools: if with_tools { tools.clone() } else { Arc::default() },
                        ..Request::default()
                    };
                    let (expected, now) = naive(last.as_ref(), &request);
                    prop_assert_eq!(meter.measure(&request), expected);
                    last = Some(now);
                }
            }
        }
    }
}

#[test]
fn a_tail_shares_the_conversation_where_system_text_shares_nothing_of_it() {
    let shared = |tail: bool| {
        let (mut meter, mut request) = (PrefixMeter::default(), Request::default());
        request.messages.push_back(Arc::new(Message::user("x".repeat(1_000))));
        let mut send = |body: &str, request: &mut Request| {
            let mut rendered = Rendered::default();
            if tail {
                rendered.placement = Placement::Tail;
                rendered.user_blocks = vec![UserBlock { text: body.into(), cache_control: false }];
            } else {
                rendered.system_sections = vec![body.into()];
            }
            request.reminders = Arc::new(rendered);
            meter.measure(request)
        };
        send("first", &mut request);
        request.messages.push_back(Arc::new(Message::assistant("yes", Vec::new())));
        send("second", &mut request).shared.unwrap()
    };
    assert!(shared(true) > 1_000 && shared(false) < 100, "{} {}", shared(true), shared(false));
}

#[test]
fn a_reminder_in_the_conversation_is_cached_if_the_requests_share_its_bytes() {
    let cached = |slot: RenderedRole| {
        let stays: Arc<str> = "stays".into();
        let (mut meter, mut request) = (PrefixMeter::default(), Request::default());
        request.messages.push_back(Arc::new(Message::user("do it")));
        let mut send = |blocks: &[&str], request: &mut Request| {
            let anchored = AnchoredReminder { id: "a".into(), after: 1, slot, text: stays.clone() };
            let fired = RenderedReminder {
                id: "a".into(),
                rendered_role: slot,
                source: crate::reminder::ReminderSource::Hook,
                text: stays.clone(),
                choice: None,
            };
            let block = |text: &&str| UserBlock { text: (*text).into(), cache_control: false };
            request.reminders = Arc::new(Rendered {
                placement: Placement::Tail,
                anchored: vec![anchored],
                fired: vec![fired],
                user_blocks: blocks.iter().map(block).collect(),
                is_cached: true,
                ..Rendered::default()
            });
            meter.measure(request)
        };
        assert!(send(&["once"], &mut request).cached.is_empty());
        request.messages.push_back(Arc::new(Message::assistant("yes", Vec::new())));
        let second = send(&[], &mut request).cached;
        request.messages.push_back(Arc::new(Message::user("go on")));
        (second, send(&[], &mut request).cached)
    };
    // The first request had the block before the vendor's own message, and after the block of the message it is in.
    assert_eq!(cached(RenderedRole::Native), (vec![false], vec![true]));
    assert_eq!(cached(RenderedRole::UserBlock), (vec![true], vec![true]));
    assert_eq!(cached(RenderedRole::Developer), (vec![true], vec![true]));
}
