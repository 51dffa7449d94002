//! Reminder files: changed while a loop runs, in folders that are trusted or not, and hostile ones.

use crate::harn::{Outcome, harn_in, scratch};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

/// A project: its own folder, a folder for scripts below it, and settings of a user.
struct FilesCase {
    folder: PathBuf,
    settings: PathBuf,
}

impl FilesCase {
    fn new(name: &str) -> FilesCase {
        let whole = scratch(&format!("reminder-files-{name}"));
        let case = FilesCase { folder: whole.join("project"), settings: whole.join("settings") };
        // The search ends here.
        fs::create_dir_all(case.folder.join(".git")).unwrap();
        case
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn harn(&self, args: &[&str]) -> Outcome {
        let settings = self.settings.to_str().unwrap();
        harn_in(&self.folder, args, b"", &[("HARN_CONFIG_HOME", settings), ("HARN_LLM_PROVIDER", "")])
    }

    fn trust(&self) {
        let outcome = self.harn(&["trust"]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.err);
    }
}

/// Prints the reminders of each prompt, for a model that calls the tool `step` `turns` times. The tool runs `body`.
fn script(turns: usize, options: &str, body: &str) -> String {
    format!(
        "var n = 0\nlet tools = tool_define(tool_registry(), \"step\", \"Steps.\", {{handler: {{ args ->\n  n += 1\n{body}\n  \
         return \"ok\"\n}}, parameters: {{}}}})\nfor i in range(0, {turns}) {{ llm_mock({{tool_calls: [{{name: \"step\", \
         arguments: {{}}}}]}}) }}\nllm_mock({{text: \"Done.\"}})\nlet result = agent_loop(\"go\", nil, {{provider: \"mock\", \
         tools: tools{options}}})\nfor (turn, request) in llm_mock_calls().enumerate() {{\n  println(\"${{turn + 1}}: \
         ${{(request.system ?? \"-\").replace(\"System reminder:\\n\", \"\").replace(\"\\n\", \" \")}}\")\n}}\nprintln(result.status)\n"
    )
}

const FILES: &str = ", reminders: {enabled: false, files: true}";

fn file(keys: &str, body: &str) -> String {
    format!("---\n{keys}---\n{body}\n")
}

#[test]
fn a_change_takes_effect_in_the_next_prompt() {
    let case = FilesCase::new("changes");
    case.write(".harn/reminders/a.md", &file("ttl_turns: 9\n", "first of ${event.task}"));
    let body = r#"  let folder = ".harn/reminders"
  if n == 1 { write_file("${folder}/a.md", "---\nttl_turns: 9\n---\nsecond of ${event.task}\n".replace("EVENT", "event")) }
  if n == 2 { write_file("${folder}/b.md", "---\nttl_turns: 9\n---\nadded\n") }
  if n == 3 { write_file("${folder}/a.md", "---\nttl_turn: 9\n---\nbroken\n") }
  if n == 4 { write_file("${folder}/a.md", "---\nttl_turns: 9\nwhen: event.max_iterations < 5\n---\nthird\n") }
  if n == 5 { delete_file("${folder}/b.md") }
  if n == 6 { write_file("${folder}/a.md", "---\nttl_turns: 9\n---\nfourth\n") }"#;
    let body = body.replace("second of ${event.task}", "second of \\${event.task}");
    case.write("main.harn", &script(7, FILES, &body));
    for _ in 0..3 {
        let outcome = case.harn(&["run", "main.harn"]);
        let expected = "1: first of go\n2: second of go\n3: second of go  added\n4: second of go  added\n5: added\n6: -\n7: fourth\n8: fourth\ndone\n";
        assert_eq!(outcome.out, expected, "{}", outcome.err);
        assert_eq!((outcome.drawn("warning"), outcome.drawn("error")), (1, 0), "{}", outcome.err);
        assert!(
            outcome.err.contains("HARN-RMF-003") && outcome.err.contains("unknown key `ttl_turn`"),
            "{}",
            outcome.err
        );
        case.write(".harn/reminders/a.md", &file("ttl_turns: 9\n", "first of ${event.task}"));
    }
}

#[test]
fn a_folder_that_appears_is_noticed() {
    let case = FilesCase::new("appears");
    let body = r#"  if n == 1 { mkdir(".harn/reminders") }
  if n == 2 { write_file(".harn/reminders/a.md", "---\nttl_turns: 9\n---\nhere\n") }
  if n == 3 { delete_file(".harn/reminders/a.md") }"#;
    case.write("main.harn", &script(4, FILES, body));
    let outcome = case.harn(&["run", "main.harn"]);
    assert_eq!((outcome.out.as_str(), outcome.err.as_str()), ("1: -\n2: -\n3: here\n4: -\n5: -\ndone\n", ""));
}

#[test]
fn files_above_the_script_need_trust() {
    let case = FilesCase::new("trust");
    case.write("harn.toml", "[fmt]\nwidth = 90\n");
    case.write(".harn/reminders/above.md", &file("ttl_turns: 9\n", "from above"));
    case.write("src/.harn/reminders/own.md", &file("ttl_turns: 9\n", "own"));
    case.write("src/main.harn", &script(0, FILES, ""));
    let outcome = case.harn(&["run", "src/main.harn"]);
    assert_eq!(outcome.out, "1: own\ndone\n", "{}", outcome.err);
    assert!(outcome.err.contains("warning[HARN-RMF-002]") && outcome.err.contains("harn trust"), "{}", outcome.err);
    case.trust();
    let outcome = case.harn(&["run", "src/main.harn"]);
    assert_eq!((outcome.out.as_str(), outcome.err.as_str()), ("1: from above  own\ndone\n", ""));
    // A nearer file replaces one with its name.
    case.write("src/.harn/reminders/above.md", &file("ttl_turns: 9\n", "nearer"));
    assert_eq!(case.harn(&["run", "src/main.harn"]).out, "1: nearer  own\ndone\n");
    // Trust ends with a change of the settings.
    case.write("harn.toml", "[fmt]\nwidth = 91\n");
    assert_eq!(case.harn(&["run", "src/main.harn"]).out, "1: nearer  own\ndone\n");
}

#[test]
fn a_project_turns_them_on_only_if_it_is_trusted() {
    let case = FilesCase::new("project");
    case.write("harn.toml", "[reminders]\nfiles = true\n");
    case.write(".harn/reminders/a.md", &file("ttl_turns: 9\n", "of the project"));
    case.write("src/main.harn", &script(0, "", ""));
    case.write("src/off.harn", &script(0, ", reminders: {files: false}", ""));
    case.write("src/none.harn", &script(0, ", reminders: false", ""));
    let outcome = case.harn(&["run", "src/main.harn"]);
    assert_eq!(outcome.out, "1: -\ndone\n");
    assert!(outcome.err.contains("HARN-CFG-006") && outcome.err.contains("`reminders.files`"), "{}", outcome.err);
    case.trust();
    assert_eq!(case.harn(&["run", "src/main.harn"]).out, "1: of the project\ndone\n");
    assert_eq!(case.harn(&["run", "--deny=fs.read", "src/main.harn"]).out, "1: of the project\ndone\n");
    for script in ["src/off.harn", "src/none.harn"] {
        assert_eq!(case.harn(&["run", script]).out, "1: -\ndone\n", "{script}");
    }
}

#[test]
fn a_script_needs_the_capability_to_read() {
    let case = FilesCase::new("denied");
    case.write(".harn/reminders/a.md", &file("ttl_turns: 9\n", "a"));
    case.write("main.harn", &script(0, FILES, ""));
    let outcome = case.harn(&["run", "--deny=fs.read", "main.harn"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (Some(1), ""));
    assert!(outcome.err.contains("`reminders.files` needs the capability `fs.read`"), "{}", outcome.err);
}

#[test]
fn hostile_files_are_named_and_not_used() {
    let case = FilesCase::new("hostile");
    case.write("secret.txt", "---\n---\nsecret\n");
    case.write("src/.harn/reminders/big.md", &file("ttl_turns: 1\n", &"x".repeat(70 << 10)));
    case.write(
        "src/.harn/reminders/loop.md",
        &file("ttl_turns: 1\nwhen: 'range(0, 1_000_000_000).reduce(0, { sum, x -> sum + x }) > 0'\n", "x"),
    );
    case.write("src/.harn/reminders/wait.md", &file("ttl_turns: 1\n", "${sleep(60_000)}"));
    case.write("src/.harn/reminders/reads.md", &file("ttl_turns: 1\n", "${read_file(\"secret.txt\")}"));
    case.write("src/.harn/reminders/long.md", &file("ttl_turns: 1\n", "${\"x\".repeat(200_000)}"));
    case.write("src/.harn/reminders/good.md", &file("ttl_turns: 1\n", "good"));
    let folder = case.folder.join("src/.harn/reminders");
    symlink("../../../secret.txt", folder.join("link.md")).unwrap();
    fs::write(folder.join("bytes.md"), [b'-', b'-', b'-', b'\n', 0xff]).unwrap();
    fs::create_dir(folder.join("folder.md")).unwrap();
    let pipe = std::process::Command::new("mkfifo").arg(folder.join("pipe.md")).status().unwrap();
    assert!(pipe.success());
    case.write("src/main.harn", &script(0, FILES, ""));
    let outcome = case.harn(&["run", "src/main.harn"]);
    assert_eq!(outcome.out, "1: good\ndone\n", "{}", outcome.err);
    for name in ["big", "loop", "wait", "reads", "long", "link", "bytes", "folder", "pipe"] {
        assert!(outcome.err.contains(&format!("{name}.md")), "{name}: {}", outcome.err);
    }
    assert!(!outcome.err.contains("secret\n"), "{}", outcome.err);
    // With `strict` the loop does not start.
    case.write("src/main.harn", &script(0, ", reminders: {files: true, strict: true}", ""));
    let outcome = case.harn(&["run", "src/main.harn"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (Some(1), ""), "{}", outcome.err);
    // The check finds what is wrong before anything runs.
    let outcome = case.harn(&["check", "src/main.harn"]);
    assert_eq!(outcome.code, Some(1));
    for name in ["big", "link", "bytes", "folder", "pipe"] {
        assert!(outcome.err.contains(&format!("{name}.md")), "{name}: {}", outcome.err);
    }
}

#[test]
fn of_too_many_files_the_first_are_used() {
    let case = FilesCase::new("many");
    for n in 0..70 {
        case.write(&format!(".harn/reminders/f{n:02}.md"), &file("ttl_turns: 1\n", &format!("f{n:02}")));
    }
    case.write("main.harn", &script(0, FILES, ""));
    let outcome = case.harn(&["run", "main.harn"]);
    assert!(outcome.out.contains("f63") && !outcome.out.contains("f64"), "{}", outcome.out);
    assert!(outcome.err.contains("warning[HARN-RMF-004]"), "{}", outcome.err);
}
