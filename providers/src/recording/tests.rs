use base::codes::Severity;
use base::data::Data;

use super::*;
use runtime::message::{Message, ToolCall};
use runtime::model::{Destination, ModelError, ModelErrorKind, ModelReply, Request, System};
use runtime::note::Note;
use runtime::seam::Turn;
use runtime::usage::Usage;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::testing::{TestSession, scratch};

fn folder(name: &str) -> PathBuf {
    // Who records makes the folder.
    scratch(&format!("tape-{name}")).join("tape")
}

fn manifest() -> Manifest {
    Manifest {
        harn: "0.1.0".into(),
        script: "a.harn".into(),
        digest: digest_of(b"a"),
        seed: u64::MAX,
        seeded: false,
        started_at_ms: 5,
        args: vec!["x".into()],
        task: None,
    }
}

fn request(system: &str, messages: &[&str]) -> Request {
    Request {
        system: System::primary(system).into(),
        messages: messages.iter().map(|text| Arc::new(Message::user(*text))).collect(),
        ..Request::default()
    }
}

fn reply() -> ModelReply {
    ModelReply {
        text: "hi".into(),
        tool_calls: vec![ToolCall::new("c1", "look", Data::from("no json"))],
        usage: Usage {
            input_tokens: 1,
            output_tokens: 2,
            cache_read_tokens: 3,
            cache_write_tokens: 4,
            cost_nano_usd: Some(5),
        },
        stop_reason: Some("tool_use".into()),
        reasoning: Some("hm".into()),
        model: "m".into(),
        provider: "p".into(),
        ..ModelReply::default()
    }
}

/// A recording of two calls, whole where `closed`.
fn record(path: &Path, closed: bool) {
    let place = TestSession::new();
    let turn = Turn { session: &place.session, number: 1, scope: &place.scope };
    let to = Destination { provider: Some("p".into()), model: None };
    let recorder = Recorder::create(path, &manifest(), Secrets::default()).unwrap();
    let chosen = Err(ModelError::new(ModelErrorKind::Auth, "no key"));
    recorder.chosen(Some("p"), None, &chosen).unwrap();
    let first = recorder.begin(turn, &request("s", &["a"]), &to);
    let pieces = [TimedPiece { after_ms: Some(3), piece: RecordedPiece::ToolCallArguments(1, "{".into()) }];
    let note = Note { code: None, severity: Severity::Warning, message: "odd".into(), about: None, fault: None };
    let answered = CallOutcome::of(&Ok(reply()));
    let came = CallResult { pieces: pieces.to_vec(), notes: vec![note], answered, took_ms: 7, waited: true };
    recorder.end(first, came).unwrap();
    let second = recorder.begin(turn, &request("s", &["a", "b"]), &to);
    let came = CallResult { pieces: vec![], notes: vec![], answered: CallOutcome::GivenUp, took_ms: 0, waited: false };
    recorder.end(second, came).unwrap();
    if closed {
        recorder.close(0, &[("lib.harn".to_owned(), digest_of(b"lib"))].into_iter().collect()).unwrap();
    }
}

#[test]
fn what_was_written_is_read_again() {
    let path = folder("again");
    record(&path, true);
    let second = fs::read_to_string(path.join("calls/main-0002.json")).unwrap();
    assert!(second.contains("\"messages_as_before\": 1") && !second.contains("\"a\""), "{second}");
    let recording = Recording::open(&path).unwrap();
    assert_eq!(recording.manifest, manifest());
    assert_eq!(
        (recording.exit_code(), recording.sources()["lib.harn"].as_str()),
        (Some(0), digest_of(b"lib").as_str())
    );
    assert_eq!(recording.chosen(Some("p"), None).unwrap().unwrap_err().message, "no key");
    assert!(recording.chosen(None, None).is_none());
    assert_eq!(recording.unused(), [("main".to_owned(), 1, 2)]);
    let (call, asked) = recording.next("main").unwrap();
    assert_eq!((call.took_ms, call.waited, call.pieces[0].after_ms, asked.messages.len()), (7, true, Some(3), 1));
    assert_eq!((call.notes.len(), call.notes[0].message.as_str()), (1, "odd"));
    let CallOutcome::Reply(got) = &call.answered else { panic!("{:?}", call.answered) };
    assert_eq!(format!("{got:?}"), format!("{:?}", reply()));
    let (call, asked) = recording.next("main").unwrap();
    assert!(call.answered.outcome().is_none());
    let mut line = LastRequest::default();
    let to = Destination { provider: Some("p".into()), model: None };
    line.next(&request("s", &["a", "b"]), &to, &Secrets::default());
    assert_eq!(difference(&asked, &line.asked, 0), None);
    assert_eq!(recording.next("main").unwrap_err(), MissingAnswer::Unmade(2, vec!["main".into()]));
    assert!(matches!(Recorder::create(&path, &manifest(), Secrets::default()), Err(RecordingError::Recorded(_))));
    fs::remove_dir_all(path).unwrap();
}

/// A recording of one call, made where variables have these values, that asks `prompt` and is answered so.
fn record_one(path: &Path, variables: &[(&str, &str)], prompt: Data, pieces: Vec<RecordedPiece>, reply: ModelReply) {
    let place = TestSession::new();
    let turn = Turn { session: &place.session, number: 1, scope: &place.scope };
    let to = Destination { provider: Some("p".into()), model: None };
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let recorder = Recorder::create(path, &manifest(), Secrets::of(variables, |_| false)).unwrap();
    recorder.chosen(Some("provider"), None, &Err(ModelError::new(ModelErrorKind::Auth, "no provider"))).unwrap();
    let mut request = request("s", &[]);
    request.messages.push_back(Arc::new(Message::user("look")));
    request.output_schema = prompt;
    let begun = recorder.begin(turn, &request, &to);
    let pieces = pieces.into_iter().map(|piece| TimedPiece { after_ms: None, piece }).collect();
    let came = CallResult { pieces, notes: vec![], answered: CallOutcome::of(&Ok(reply)), took_ms: 0, waited: false };
    recorder.end(begun, came).unwrap();
    recorder.close(0, &Default::default()).unwrap();
}

#[test]
fn a_secret_in_several_pieces_is_on_not_recording() {
    let path = folder("pieces");
    let args = |json: &str| RecordedPiece::ToolCallArguments(0, json.into());
    let pieces = vec![
        RecordedPiece::Text("sk-abcdef".into()),
        RecordedPiece::Restart,
        RecordedPiece::Text("the key is sk-abc".into()),
        args("{\"key\": \"sk-"),
        RecordedPiece::Text("def123456".into()),
        args("abcdef123456\"}"),
    ];
    record_one(&path, &[("MY_API_KEY", "sk-abcdef123456")], Data::Nil, pieces, reply());
    let (call, _) = Recording::open(&path).unwrap().next("main").unwrap();
    let pieces: Vec<&RecordedPiece> = call.pieces.iter().map(|piece| &piece.piece).collect();
    assert_eq!(pieces[2], &RecordedPiece::Text("the key is [MY_API_KEY]".into()));
    assert_eq!(pieces[3], &args("{\"key\": \"[MY_API_KEY]"));
    assert_eq!((pieces[4], pieces[5]), (&RecordedPiece::Text("".into()), &args("\"}")));
    fs::remove_dir_all(path).unwrap();
}

#[test]
fn a_secret_that_is_a_word_of_the_format_leaves_the_tape_readable() {
    for word in ["messages", "messages_as_before", "provider", "arguments", "reasoning", "stop_reason", "took_ms_"] {
        let path = folder("words");
        let told = ModelReply { text: format!("it is {word}").into(), ..reply() };
        record_one(&path, &[("DB_PASSWORD", word)], Data::dict([("x", Data::from(word))]), vec![], told);
        let recording = Recording::open(&path).unwrap();
        assert!(recording.chosen(Some("provider"), None).is_some());
        let (call, asked) = recording.next("main").unwrap();
        let CallOutcome::Reply(got) = &call.answered else { panic!("{:?}", call.answered) };
        assert_eq!(&*got.text, "it is [DB_PASSWORD]", "{word}");
        assert_eq!(asked.options.at("output_schema.x").as_str(), Some("[DB_PASSWORD]"));
        fs::remove_dir_all(path).unwrap();
    }
}

#[test]
fn values_as_deep_as_they_may_be_are_written_and_read_again() {
    let mut deep = Data::from("bottom");
    for _ in 0..Data::MAX_DEPTH {
        deep = Data::list([deep]);
    }
    let path = folder("deep");
    let told = ModelReply { tool_calls: vec![ToolCall::new("c1", "look", deep.clone())], ..reply() };
    record_one(&path, &[], deep.clone(), vec![], told);
    let (call, asked) = Recording::open(&path).unwrap().next("main").unwrap();
    let CallOutcome::Reply(got) = &call.answered else { panic!("{:?}", call.answered) };
    assert!(got.tool_calls[0].arguments == deep && *asked.options.get("output_schema") == deep);
    fs::remove_dir_all(path).unwrap();
}

#[test]
fn what_is_no_whole_tape_says_why() {
    let path = folder("wrong");
    let open = || Recording::open(&path).unwrap_err().to_string();
    assert!(open().contains("the folder does not exist"));
    fs::create_dir(&path).unwrap();
    assert!(open().contains("does not contain a tape.json"));
    fs::write(path.join("tape.json"), "{\"format\": \"song\"}").unwrap();
    assert!(open().contains("does not contain"));
    assert!(matches!(Recorder::create(&path, &manifest(), Secrets::default()), Err(RecordingError::Recorded(_))));
    fs::write(path.join("tape.json"), "{\"format\": \"harn tape\", \"version\": 99}").unwrap();
    assert!(open().contains("has version 99"));
    fs::remove_dir_all(&path).unwrap();
    record(&path, true);
    fs::remove_file(path.join("calls/main-0001.json")).unwrap();
    assert!(open().contains("main-0001.json: this file is missing"), "{}", open());
    fs::remove_file(path.join("calls/main-0002.json")).unwrap();
    assert!(open().contains("the manifest lists 2 calls in main, but there are files for 0"), "{}", open());
    fs::remove_dir_all(&path).unwrap();
    record(&path, false);
    fs::remove_file(path.join("calls/main-0001.json")).unwrap();
    assert_eq!(Recording::open(&path).unwrap().next("main").unwrap_err(), MissingAnswer::Unfinished(0));
    fs::remove_dir_all(&path).unwrap();
}

#[test]
fn no_pipe_and_no_time_beyond_all_times_is_taken() {
    let path = folder("odd");
    record(&path, true);
    let file = path.join("calls/main-0001.json");
    let mut entries = Data::from_json(&fs::read_to_string(&file).unwrap()).unwrap().as_dict().unwrap().clone();
    entries.remove("digest");
    entries.insert("took_ms".into(), Data::from(i64::MAX));
    fs::write(&file, Data::from(entries).to_json()).unwrap();
    assert!(Recording::open(&path).unwrap_err().to_string().contains("`took_ms` is not a valid time"));
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert!(Recording::open(&path).unwrap_err().to_string().contains("it is not a regular file"));
    fs::remove_dir_all(path).unwrap();
}

#[test]
fn a_change_by_hand_is_noticed_unless_the_digest_is_taken_out() {
    let path = folder("edited");
    record(&path, true);
    let file = path.join("calls/main-0001.json");
    let text = fs::read_to_string(&file).unwrap().replace("\"hi\"", "\"ho\"");
    fs::write(&file, &text).unwrap();
    assert_eq!(Recording::open(&path).unwrap_err(), RecordingError::Edited(file.clone()));
    let data = Data::from_json(&text).unwrap();
    let mut entries = data.as_dict().unwrap().clone();
    entries.remove("digest");
    fs::write(&file, Data::from(entries).to_json()).unwrap();
    let (call, _) = Recording::open(&path).unwrap().next("main").unwrap();
    assert!(matches!(&call.answered, CallOutcome::Reply(reply) if &*reply.text == "ho"));
    fs::remove_dir_all(path).unwrap();
}

#[test]
fn rubbish_is_refused_and_never_panics() {
    let path = folder("rubbish");
    record(&path, true);
    let files = ["tape.json", "routes.json", "end.json", "calls/main-0001.json", "calls/main-0002.json"];
    let mut seed = 1_u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below.max(1)
    };
    let (mut refused, mut taken) = (0, 0);
    for round in 0..500 {
        let file = path.join(files[random(files.len())]);
        let good = fs::read(&file).unwrap();
        let mut bytes = good.clone();
        match round % 4 {
            0 => bytes.truncate(random(bytes.len())),
            1 => {
                for _ in 0..=random(4) {
                    let at = random(bytes.len());
                    bytes[at] = random(256) as u8;
                }
            }
            // Without its digest it is read as far as it goes.
            _ => {
                let text = String::from_utf8(good.clone()).unwrap();
                let mut entries = Data::from_json(&text).unwrap().as_dict().unwrap().clone();
                entries.remove("digest");
                let keys: Vec<_> = entries.keys().cloned().collect();
                let key = keys[random(keys.len())].clone();
                let other =
                    [Data::Nil, Data::from(-1), Data::from("x"), Data::list([]), Data::empty_dict(), Data::from(true)];
                entries.insert(key, other[random(other.len())].clone());
                bytes = Data::from(entries).to_json().into_bytes();
            }
        }
        fs::write(&file, &bytes).unwrap();
        match Recording::open(&path) {
            Ok(recording) => {
                taken += 1;
                while recording.next("main").is_ok() {}
            }
            Err(error) => {
                refused += 1;
                assert!(!error.to_string().is_empty() && !error.help().is_empty());
            }
        }
        fs::write(&file, &good).unwrap();
    }
    assert!(refused > 200 && taken > 20, "{refused} refused, {taken} taken");
    assert!(Recording::open(&path).is_ok());
    fs::remove_dir_all(path).unwrap();
}
