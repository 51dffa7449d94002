//! Runs that are recorded and run again: the same output, byte for byte, without a server; and what is said where that cannot
//! be.

use crate::harn::{Outcome, harn_with_input, root, scratch, trust};
use crate::wait::{LIMIT, until};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

const KEY: &str = "sk-a-key-that-nobody-may-see";

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn record(tape: &Path, script: &Path, more: &[&str], env: &[(&str, &str)]) -> Outcome {
    let args = [&["run", "--record", text(tape)], more, &[text(script)]].concat();
    harn_with_input(&args, b"", env)
}

/// Replays without a provider, a key or an address.
fn replay(tape: &Path, script: &Path, more: &[&str]) -> Outcome {
    let args = [&["run", "--replay", text(tape)], more, &[text(script)]].concat();
    harn_with_input(&args, b"", &[("HARN_LLM_PROVIDER", "")])
}

fn assert_same(recorded: &Outcome, replayed: &Outcome, what: &str) {
    let shown = |outcome: &Outcome| format!("exit code {:?}\n{}{}", outcome.code, outcome.out, outcome.err);
    assert_eq!(shown(recorded), shown(replayed), "{what}");
}

/// A script in a folder of its own, and the place of its tape.
fn case(name: &str, script: &str) -> (PathBuf, PathBuf) {
    let dir = scratch(&format!("recording-{name}"));
    let path = dir.join("script.harn");
    fs::write(&path, script).unwrap();
    (path, dir.join("tape"))
}

/// Options that the first line of a script asks for.
fn options(script: &Path) -> Vec<String> {
    let text = fs::read_to_string(script).unwrap();
    let line = text.lines().next().and_then(|line| line.strip_prefix("// run -"));
    line.map(|rest| format!("-{rest}").split(' ').map(str::to_owned).collect()).unwrap_or_default()
}

#[test]
fn every_script_about_agents_prints_the_same_again() {
    let dir = scratch("recording-all");
    let mut scripts = Vec::new();
    let mut folders = vec![root().join("tests/agents")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "harn") {
                scripts.push(path.strip_prefix(root()).unwrap().to_owned());
            }
        }
    }
    assert!(scripts.len() > 20);
    let (next, compared) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(script) = scripts.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let tape = dir.join(text(script).replace('/', "-"));
                    let asked = options(script);
                    let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
                    let recorded = record(&tape, script, &[&["--seed", "1"], &asked[..]].concat(), &[]);
                    // What does not pass the check leaves no recording.
                    if tape.exists() {
                        assert_same(&recorded, &replay(&tape, script, &asked), text(script));
                        compared.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let compared = compared.into_inner();
    assert!(compared * 10 > scripts.len() * 9, "{compared} of {} scripts left a tape", scripts.len());
}

#[test]
fn without_a_seed_ids_and_times_are_those_of_the_recorded_run() {
    for name in ["ids-and-chance", "given-up", "streamed", "failures", "workers"] {
        let script = root().join(format!("tests/agents/recording/{name}.harn"));
        let tape = scratch(&format!("recording-unseeded-{name}"));
        let denied = ["--deny", "fs.write"];
        let recorded = record(&tape, &script, &denied, &[]);
        assert_same(&recorded, &replay(&tape, &script, &denied), name);
    }
    let script = root().join("tests/agents/recording/ids-and-chance.harn");
    let outputs: Vec<String> =
        (0..2).map(|n| record(&scratch(&format!("recording-other-{n}")), &script, &[], &[]).out).collect();
    assert_ne!(outputs[0], outputs[1], "each recording draws a seed of its own");
}

#[test]
fn the_quick_start_is_run_again_and_a_word_that_changed_is_shown() {
    let source = fs::read_to_string(root().join("examples/quickstart.harn")).unwrap();
    let (script, tape) = case("quickstart", &source);
    let recorded = record(&tape, &script, &[], &[]);
    assert_eq!(recorded.code, Some(0), "{}", recorded.err);
    assert_same(&recorded, &replay(&tape, &script, &[]), "the quick start");
    fs::write(&script, source.replace("You review release notes.", "You check release notes.")).unwrap();
    let other = replay(&tape, &script, &[]);
    assert_eq!((other.code, other.out.as_str()), (Some(1), ""));
    for part in [
        "error[HARN-REC-001]: call 1 of `main` differs from the recorded one",
        "script.harn:61:10",
        "turn 1 of the session",
        "-You review release notes. Use the tools to read files.\n",
        "+You check release notes. Use the tools to read files.\n",
        "the script differs from the recorded one",
        "harn run --record DIR",
    ] {
        assert!(other.err.contains(part), "{part:?} in\n{}", other.err);
    }
}

#[test]
fn the_message_that_differs_is_found_in_a_long_history() {
    let script = "let word = read_file(\"word.txt\").trim()
let tools = tool_define(tool_registry(), \"look\", \"Looks.\", {parameters: {}, handler: { a -> \"seen ${word}\" }})
let replies = (1 to 30).map({ n -> {tool_calls: [{id: \"c${n}\", name: \"look\", arguments: {}}]} })
let script = replies.concat([{text: \"done\"}])
println(with_llm_script(script, { -> agent_loop(\"go\", nil, {provider: \"mock\", tools: tools, reminders: false, max_repeats: 0}).text }))
";
    let (script, tape) = case("history", script);
    let word = script.with_file_name("word.txt");
    let dir = text(script.parent().unwrap()).to_owned();
    let source = fs::read_to_string(&script).unwrap().replace("word.txt", &format!("{dir}/word.txt"));
    fs::write(&script, source).unwrap();
    fs::write(&word, "green").unwrap();
    assert_eq!(record(&tape, &script, &[], &[]).out, "done\n");
    fs::write(&word, "blue").unwrap();
    let other = replay(&tape, &script, &[]);
    assert!(other.err.contains("error[HARN-REC-001]: call 2 of `main`"), "{}", other.err);
    assert!(other.err.contains("message 3 of 3:") && other.err.contains("-seen green\n"), "{}", other.err);
    assert!(other.err.contains("files, programs, servers"), "{}", other.err);
    assert!(other.err.lines().count() < 25, "{}", other.err);
}

#[test]
fn more_calls_and_fewer_calls_than_recorded_are_told() {
    let (script, tape) =
        case("count", "for n in 1 to 2 {\n  println(llm_call(\"q\", nil, {provider: \"mock\"}).text)\n}\n");
    record(&tape, &script, &[], &[]);
    let with = |from: &str, to: &str| {
        let source = fs::read_to_string(&script).unwrap();
        fs::write(&script, source.replace(from, to)).unwrap();
        let outcome = replay(&tape, &script, &[]);
        fs::write(&script, source).unwrap();
        outcome
    };
    let more = with("1 to 2", "1 to 3");
    assert_eq!((more.code, more.out.as_str()), (Some(1), "mock: q\nmock: q\n"));
    assert!(more.err.contains("error[HARN-REC-002]: call 3 of `main` was not recorded"), "{}", more.err);
    assert!(more.err.contains("the recorded run made 2 calls there"), "{}", more.err);
    let fewer = with("1 to 2", "1 to 1");
    assert_eq!((fewer.code, fewer.out.as_str()), (Some(0), "mock: q\n"));
    assert!(fewer.err.contains("warning[HARN-REC-003]: 1 recorded call was not repeated"), "{}", fewer.err);
    assert!(fewer.err.contains("call 2 of `main`"), "{}", fewer.err);
    let elsewhere =
        with("println(llm_call(\"q\", nil, {provider: \"mock\"}).text)", "await(spawn { llm_call(\"q\") })");
    assert!(elsewhere.err.contains("no call of `main.task1` was recorded"), "{}", elsewhere.err);
    assert!(elsewhere.err.contains("made calls in `main`"), "{}", elsewhere.err);
}

#[test]
fn an_imported_file_that_changed_is_named() {
    let (script, tape) =
        case("imports", "import \"lib\"\nprintln(llm_call(question(), nil, {provider: \"mock\"}).text)\n");
    let lib = script.with_file_name("lib.harn");
    fs::write(&lib, "pub fn question() {\n  return \"one\"\n}\n").unwrap();
    let recorded = record(&tape, &script, &[], &[]);
    assert_same(&recorded, &replay(&tape, &script, &[]), "nothing changed");
    fs::write(&lib, fs::read_to_string(&lib).unwrap().replace("one", "two")).unwrap();
    let other = replay(&tape, &script, &[]);
    assert!(other.err.contains("lib.harn` differs from the recorded one"), "{}", other.err);
    assert!(!other.err.contains("is not on record"), "{}", other.err);
}

#[test]
fn what_follows_an_answer_that_cannot_be_written_does_not_happen() {
    // A folder has the name of the call's file.
    let (script, tape) = case(
        "unwritten",
        "mkdir(args()[0])\ntry {\n  llm_call(\"a\", nil, {provider: \"mock\"})\n} catch e {\n  println(\"caught\")\n}\n\
         println(\"after\")\n",
    );
    let place = tape.join("calls/main-0001.json");
    let args = ["run", "--record", text(&tape), text(&script), "--", text(&place)];
    let outcome = harn_with_input(&args, b"", &[]);
    assert_eq!((outcome.code, outcome.out.as_str()), (Some(1), ""), "{}", outcome.err);
    assert!(outcome.err.contains("error[HARN-REC-006]: cannot write"), "{}", outcome.err);
}

#[test]
fn the_variable_that_a_project_names_for_a_key_gets_onto_not_recording() {
    let source = "println(llm_call(\"My key is ${env(\"GPU_KEY\", \"\")}.\", nil, {provider: \"mock\"}).text)\n";
    let (script, tape) = case("named-key", source);
    let project = "[providers.openai_compatible]\nbase_url = \"http://127.0.0.1:1\"\nkey_env = \"GPU_KEY\"\n";
    fs::write(script.with_file_name("harn.toml"), project).unwrap();
    trust(script.parent().unwrap());
    let recorded = record(&tape, &script, &[], &[("GPU_KEY", KEY)]);
    assert_eq!(recorded.code, Some(0), "{}", recorded.err);
    let call = fs::read_to_string(tape.join("calls/main-0001.json")).unwrap();
    assert!(!call.contains(KEY) && call.contains("My key is [GPU_KEY]."), "{call}");
}

#[test]
fn nothing_catches_a_run_that_is_not_the_recorded_one() {
    let (script, tape) = case(
        "uncaught",
        "try {\n  println(llm_call(\"one\", nil, {provider: \"mock\"}).text)\n} catch e {\n  println(\"caught\")\n} finally {\n  \
         println(\"finally\")\n}\nprintln(\"after\")\n",
    );
    record(&tape, &script, &[], &[]);
    fs::write(&script, fs::read_to_string(&script).unwrap().replace("\"one\"", "\"two\"")).unwrap();
    let other = replay(&tape, &script, &[]);
    assert_eq!((other.code, other.out.as_str(), other.drawn("error")), (Some(1), "", 1), "{}", other.err);
}

#[test]
fn the_folder_is_new_or_empty_and_what_is_no_recording_is_refused() {
    let (script, tape) = case("folders", "println(llm_call(\"q\", nil, {provider: \"mock\"}).text)\n");
    let refused = |outcome: &Outcome, code: &str, part: &str| {
        assert_eq!((outcome.code, outcome.out.as_str(), outcome.drawn("error")), (Some(1), "", 1), "{}", outcome.err);
        assert!(outcome.err.contains(code) && outcome.err.contains(part), "{code} and {part:?} in\n{}", outcome.err);
        assert!(outcome.err.contains("help: "), "{}", outcome.err);
    };
    refused(&replay(&tape, &script, &[]), "HARN-REC-004", "the folder does not exist");
    record(&tape, &script, &[], &[]);
    refused(&record(&tape, &script, &[], &[]), "HARN-REC-006", "already contains a recording");
    let other = script.with_file_name("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("letter.txt"), "x").unwrap();
    refused(&record(&other, &script, &[], &[]), "HARN-REC-006", "the folder is not empty");
    refused(&replay(&other, &script, &[]), "HARN-REC-004", "it does not contain a tape.json");
    refused(&record(&script.join("below"), &script, &[], &[]), "HARN-REC-006", "cannot write");

    let manifest = fs::read_to_string(tape.join("tape.json")).unwrap();
    fs::write(tape.join("tape.json"), manifest.replace("\"version\": 1", "\"version\": 2")).unwrap();
    refused(&replay(&tape, &script, &[]), "HARN-REC-005", "has version 2");
    fs::write(tape.join("tape.json"), &manifest[..manifest.len() / 2]).unwrap();
    refused(&replay(&tape, &script, &[]), "HARN-REC-004", "tape.json: it is not valid JSON");
    fs::write(tape.join("tape.json"), &manifest).unwrap();
    let call = tape.join("calls/main-0001.json");
    let said = fs::read_to_string(&call).unwrap();
    fs::write(&call, said.replace("mock: q", "mock: r")).unwrap();
    refused(&replay(&tape, &script, &[]), "HARN-REC-004", "was edited after it was recorded");
    let without: Vec<&str> = said.lines().filter(|line| !line.contains("\"digest\"")).collect();
    let edited =
        without.join("\n").replace("\"waited\": false,", "\"waited\": false").replace("mock: q", "as I like it");
    fs::write(&call, edited).unwrap();
    assert_eq!(replay(&tape, &script, &[]).out, "as I like it\n");
    fs::remove_file(&call).unwrap();
    refused(
        &replay(&tape, &script, &[]),
        "HARN-REC-004",
        "the manifest lists 1 calls in main, but there are files for 0",
    );
    fs::remove_file(tape.join("end.json")).unwrap();
    let cut = replay(&tape, &script, &[]);
    assert!(cut.err.contains("HARN-REC-002") && cut.err.contains("ended before call 1 of `main`"), "{}", cut.err);
}

#[test]
fn a_script_that_cannot_run_leaves_no_folder() {
    let (script, tape) = case("unchecked", "println(nobody)\n");
    let outcome = record(&tape, &script, &[], &[]);
    assert_eq!(outcome.code, Some(1));
    assert!(!tape.exists());
}

#[test]
fn arguments_and_task_come_from_the_recording() {
    let source = "pipeline main(task) {\n  println(task, args())\n  println(llm_call(\"q ${task}\", nil, {provider: \"mock\"}).text)\n}\n";
    let (script, tape) = case("args", source);
    let args = ["run", "--record", text(&tape), "--task", "dig", text(&script), "--", "a", "b c"];
    let recorded = harn_with_input(&args, b"", &[]);
    assert_eq!(recorded.out, "dig [a, b c]\nmock: q dig\n");
    assert_same(&recorded, &replay(&tape, &script, &[]), "arguments");
}

/// A server of OpenAI's chat completions. It answers when `together` requests are there, each after a while of its own.
struct CompletionServer {
    port: u16,
    asked: Arc<AtomicUsize>,
}

impl CompletionServer {
    fn start(together: usize) -> CompletionServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(AtomicUsize::new(0));
        let here = Arc::new((Mutex::new(Requests::default()), Condvar::new()));
        let count = asked.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (count, here) = (count.clone(), here.clone());
                thread::spawn(move || serve(&stream, together, &count, &here));
            }
        });
        CompletionServer { port, asked }
    }

    fn env(&self) -> Vec<(&'static str, String)> {
        vec![
            ("HARN_LLM_PROVIDER", "openai".into()),
            ("OPENAI_API_KEY", KEY.into()),
            ("OPENAI_BASE_URL", format!("http://127.0.0.1:{}", self.port)),
        ]
    }

    fn record(&self, tape: &Path, script: &Path) -> Outcome {
        let env = self.env();
        let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (*name, value.as_str())).collect();
        record(tape, script, &[], &env)
    }
}

/// The requests of a server so far.
#[derive(Default)]
struct Requests {
    arrived: usize,
    answered: usize,
}

fn serve(stream: &TcpStream, together: usize, asked: &AtomicUsize, here: &(Mutex<Requests>, Condvar)) {
    let mut reader = BufReader::new(stream);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let (requests, changed) = here;
        let mut present = requests.lock().unwrap();
        let number = asked.fetch_add(1, Ordering::SeqCst);
        present.arrived += 1;
        changed.notify_all();
        // A lone request waits for the others of its round, whose answers do not come in the order of the questions.
        let round = number / together * together..(number / together + 1) * together;
        let key = |number: usize| (7 * number % 23, number);
        let place = round.start + round.clone().filter(|other| key(*other) < key(number)).count();
        while present.arrived < round.end || present.answered < place {
            let (guard, waited) = changed.wait_timeout(present, LIMIT).unwrap();
            assert!(!waited.timed_out(), "the others never came");
            present = guard;
        }
        drop(present);
        let body = format!(
            r#"{{"id": "x", "object": "chat.completion", "model": "m", "choices": [{{"index": 0, "finish_reason": "stop",
            "message": {{"role": "assistant", "content": "answer {number}"}}}}], "usage": {{"prompt_tokens": {number}, "completion_tokens": 1}}}}"#
        );
        let answer = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut stream = stream;
        let written = stream.write_all(answer.as_bytes());
        requests.lock().unwrap().answered += 1;
        changed.notify_all();
        if written.is_err() {
            return;
        }
    }
}

#[test]
fn loops_side_by_side_against_a_server_overlap_and_are_run_again_without_it() {
    let source = "let ticker = spawn {\n  for n in 1 to 20 {\n    sleep(3)\n    println(\"tick ${n} ${now_ms()}\")\n  }\n}\n\
        let texts = parallel each [\"a\", \"b\", \"c\", \"d\"] { name ->\n  let first = agent_loop(name, \"You are ${name}.\", {stream: false})\n  \
        println(\"${now_ms()} ${name} ${first.text} ${first.session_id}\")\n  \
        return agent_loop(\"again\", nil, {session_id: first.session_id, stream: false}).text\n}\nprintln(texts)\nawait(ticker)\n";
    let (script, tape) = case("server", source);
    let server = CompletionServer::start(4);
    let recorded = server.record(&tape, &script);
    assert_eq!((recorded.code, recorded.err.as_str()), (Some(0), ""));
    assert_eq!(server.asked.load(Ordering::SeqCst), 8);
    for line in ["main.each2.0-0001", "main.each2.3-0002"] {
        assert!(tape.join(format!("calls/{line}.json")).exists(), "{line}");
    }
    for _ in 0..3 {
        assert_same(&recorded, &replay(&tape, &script, &[]), "loops side by side");
    }
    assert_eq!(server.asked.load(Ordering::SeqCst), 8, "nobody was asked again");
}

#[test]
fn keys_get_onto_not_recording() {
    let source = "let key = env(\"OPENAI_API_KEY\", \"\")\nprintln(llm_call(\"My key is ${key}.\", \"Header: Bearer ${key}\", {stream: false}).text)\n";
    let (script, tape) = case("secrets", source);
    let server = CompletionServer::start(1);
    let recorded = server.record(&tape, &script);
    assert_eq!((recorded.code, recorded.out.as_str()), (Some(0), "answer 0\n"), "{}", recorded.err);
    let mut files = vec![tape.join("tape.json"), tape.join("routes.json"), tape.join("end.json")];
    files.extend(fs::read_dir(tape.join("calls")).unwrap().map(|entry| entry.unwrap().path()));
    let all: String = files.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    assert!(!all.contains(KEY) && all.contains("My key is [OPENAI_API_KEY]."), "{all}");
    let args = ["run", "--replay", text(&tape), text(&script)];
    let again = harn_with_input(&args, b"", &[("HARN_LLM_PROVIDER", ""), ("OPENAI_API_KEY", "another-key-altogether")]);
    assert_same(&recorded, &again, "with another key");
}

#[test]
fn a_run_that_is_killed_loses_only_the_call_in_flight() {
    // The second round waits for a request that never comes, so the run hangs there.
    let source = "let (a, b) = (spawn { llm_call(\"a\", nil, {stream: false}).text }, llm_call(\"b\", nil, {stream: false}).text)\nprintln(await(a), b)\nprintln(llm_call(\"c\", nil, {stream: false}).text)\n";
    let source = source.replace(
        "let (a, b) = (spawn { llm_call(\"a\", nil, {stream: false}).text }, llm_call(\"b\", nil, {stream: false}).text)",
        "let a = spawn { llm_call(\"a\", nil, {stream: false}).text }\nlet b = llm_call(\"b\", nil, {stream: false}).text",
    );
    let (script, tape) = case("killed", &source);
    let server = CompletionServer::start(2);
    let args = ["run", "--record", text(&tape), text(&script)];
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_harn"));
    command.args(args).env_clear().envs(server.env()).stdout(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("answer "), "{line}");
    until("the third request", || server.asked.load(Ordering::SeqCst) >= 3);
    child.kill().unwrap();
    child.wait().unwrap();
    let again = replay(&tape, &script, &[]);
    assert_eq!((again.code, again.out.as_str()), (Some(1), line.as_str()), "{}", again.err);
    assert!(again.err.contains("the recorded run ended before call 2 of `main` was answered"), "{}", again.err);
}
