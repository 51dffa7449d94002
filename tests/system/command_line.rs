//! Sources of scripts, their arguments, and the output of running loops.

use crate::harn::{harn, harn_in, harn_with_input, root, scratch};
use std::fs;

#[test]
fn a_script_is_read_from_standard_input() {
    let ran = harn_with_input(&["run", "-", "a", "b"], b"println(args())\nprintln(1 + 1)\n", &[]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "[a, b]\n2\n", ""));
    let ran = harn_with_input(&["run", "-"], b"println(1 +)\n", &[]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("<stdin>:1:12"), "{}", ran.err);
    let ran = harn_with_input(&["run", "--rhai", "-"], b"println(`${1 + 1}`);\n", &[]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "2\n", ""));
    let ran = harn_with_input(&["run", "-"], b"println(\"\xff\")\n", &[]);
    assert!(ran.code == Some(1) && ran.err.contains("HARN-SRC-002"), "{}", ran.err);
}

#[test]
fn a_script_is_taken_from_the_command_line() {
    let ran = harn(&["run", "-e", "println(args())", "a", "b"]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "[a, b]\n", ""));
    let ran = harn(&["run", "--rhai", "-e", "println(`${1 + 1}`);"]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "2\n", ""));
    let ran = harn(&["run", "-e", "let x ="]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("<command line>:1:"), "{}", ran.err);
}

#[test]
fn what_a_script_without_a_file_imports_is_looked_up_in_the_working_directory() {
    let dir = scratch("command-line-imports");
    fs::write(dir.join("lib.harn"), "pub fn twice(n) { return n * 2 }\n").unwrap();
    let ran = harn_in(&dir, &["run", "-e", "import {twice} from \"lib\"\nprintln(twice(4))"], b"", &[]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "8\n", ""));
}

#[test]
fn what_follows_the_dashes_are_arguments() {
    let dir = scratch("command-line-dashes");
    fs::write(dir.join("show.harn"), "println(\"show\", args())\n").unwrap();
    let missing = harn_in(&dir, &["run", "--", "show.harn", "b"], b"", &[]);
    assert_eq!((missing.code, missing.out.as_str()), (Some(2), ""));
    for said in ["`main.harn` does not exist", "harn run show.harn", "what follows `--` are arguments of the script"] {
        assert!(missing.err.contains(said), "{}", missing.err);
    }
    fs::write(dir.join("main.harn"), "println(\"main\", args())\n").unwrap();
    for (line, shown) in [
        (&["run", "--", "a", "b"][..], "main [a, b]\n"),
        (&["run", "--", "show.harn", "--seed"], "main [show.harn, --seed]\n"),
        (&["run", "--seed", "1", "--", "-x"], "main [-x]\n"),
        (&["run", "--"], "main []\n"),
        (&["run", "show.harn", "--", "a", "--", "b"], "show [a, --, b]\n"),
        (&["run", "show.harn", "a", "--seed", "1", "--", "b"], "show [a, b]\n"),
        (&["run", "-e", "println(args())", "a", "--", "-b"], "[a, -b]\n"),
        (&["show.harn", "--", "a"], "show [--, a]\n"),
    ] {
        let ran = harn_in(&dir, line, b"", &[]);
        assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), shown, ""), "{line:?}");
    }
}

#[test]
fn arguments_need_no_dashes_before_them() {
    let dir = scratch("command-line-args");
    fs::write(dir.join("show.harn"), "#!/usr/bin/env harn\nprintln(args())\n").unwrap();
    for (line, shown) in [
        (&["run", "show.harn", "a", "b"][..], "[a, b]\n"),
        (&["run", "show.harn", "a", "--", "--b"], "[a, --b]\n"),
        (&["run", "show.harn", "--seed", "1", "a"], "[a]\n"),
        // As the system calls a script by its first line: all of it belongs to the script.
        (&["show.harn", "--seed", "1", "a"], "[--seed, 1, a]\n"),
        (&["./show.harn"], "[]\n"),
    ] {
        let ran = harn_in(&dir, line, b"", &[]);
        assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), shown, ""), "{line:?}");
    }
    let ran = harn_in(&dir, &["run", "show.harn", "--sed", "1"], b"", &[]);
    assert!(ran.code == Some(2) && ran.err.contains("--seed"), "{}", ran.err);
}

#[test]
fn help_is_a_command_too() {
    let help = harn(&["help"]);
    assert_eq!(help.code, Some(0));
    assert_eq!(help.out, harn(&["--help"]).out);
    assert_eq!(harn(&["help", "run"]).out, harn(&["run", "--help"]).out);
}

#[test]
fn folders_and_standard_input_are_checked() {
    let dir = scratch("command-line-check");
    fs::create_dir_all(dir.join("deep/skipped")).unwrap();
    fs::create_dir_all(dir.join("empty")).unwrap();
    fs::write(dir.join(".gitignore"), "skipped\n").unwrap();
    fs::write(dir.join("good.harn"), "println(1)\n").unwrap();
    fs::write(dir.join("deep/bad.harn"), "println(totl)\n").unwrap();
    fs::write(dir.join("deep/bad.rhai"), "let x = ;\n").unwrap();
    fs::write(dir.join("deep/other.txt"), "not a script").unwrap();
    fs::write(dir.join("deep/skipped/bad.harn"), "println(skipped)\n").unwrap();
    let checked = harn_in(&dir, &["check", "."], b"", &[]);
    assert_eq!((checked.code, checked.drawn("error")), (Some(1), 2), "{}", checked.err);
    assert!(checked.err.contains("deep/bad.harn:1:9") && checked.err.contains("deep/bad.rhai"), "{}", checked.err);
    let checked = harn_in(&dir, &["check", "good.harn", "empty"], b"", &[]);
    assert!(checked.code == Some(1) && checked.err.contains("contains no scripts"), "{}", checked.err);
    let checked = harn_in(&dir, &["check", "-"], b"println(totl)\n", &[]);
    assert!(checked.code == Some(1) && checked.err.contains("<stdin>:1:9"), "{}", checked.err);
    let checked = harn_in(&dir, &["check", "-"], b"println(1)\n", &[]);
    assert_eq!((checked.code, checked.err.as_str()), (Some(0), ""));
}

#[test]
fn a_topic_that_is_not_a_code_is_searched() {
    let found = harn(&["explain", "rmd"]);
    assert_eq!((found.code, found.out.matches("HARN-RMD-").count()), (Some(0), 8), "{}", found.out);
    let found = harn(&["explain", "unclosed", "comment"]);
    assert!(found.code == Some(0) && found.out.starts_with("HARN-LEX-003 (error)"), "{}", found.out);
    let found = harn(&["explain", "dedupe"]);
    assert!(found.code == Some(0) && found.out.contains("HARN-"), "{}", found.out);
    let found = harn(&["explain", "xylophone"]);
    assert!(found.code == Some(2) && found.err.contains("no diagnostic matches `xylophone`"), "{}", found.err);
}

/// Wrong arguments in a folder with `main.harn`, each with a tip that the error contains.
const WRONG_ARGUMENTS: &[(&[&str], &str)] = &[
    (&["rnu"], "did you mean `harn run`?"),
    (&["explian", "x"], "did you mean `harn explain`?"),
    (&["lint", "main.harn"], "use `harn check`"),
    (&["format"], "use `harn fmt`"),
    (&["exec", "main.harn"], "use `harn run`"),
    (&["eval", "1"], "to run code, use `harn run -e`"),
    (&["shell"], "use `harn repl`"),
    (&["logs"], "use `harn trace`"),
    (&["acp", "main.harn"], "use `harn serve acp`"),
    (&["main"], "use `harn run main.harn`"),
    (&["main.hrn"], "did you mean the script `main.harn`?"),
    (&["other.py"], "names of scripts end in `.harn` or `.rhai`"),
    (&["-"], "`harn run -` reads a script from standard input"),
    (&["mian.harn"], "did you mean `main.harn`?"),
    (&["run", "mian.harn"], "did you mean `main.harn`?"),
    (&["check", "mian.harn"], "did you mean `main.harn`?"),
    (&["serve", "main.harn"], "`harn serve acp main.harn` serves it to an editor"),
    (&["serve", "http"], "use `harn serve a2a`"),
    (&["--seed", "1", "run", "main.harn"], "options follow the command: `harn run --seed"),
    (&["-e", "println(1)"], "options follow the command: `harn run -e"),
    (&["run", "main.harn", "--sed", "1"], "'--seed'"),
    (&["run", "main.harn", "--model", "gpt"], "HARN_LLM_MODEL"),
    (&["run", "main.harn", "--json"], "use `--format json`"),
    (&["run", "main.harn", "--memory", "1g"], "use `--max-memory`"),
    (&["run", "main.harn", "--quiet"], "use `--live never`"),
    (&["run", "main.harn", "--allow", "net"], "`--deny CAPABILITY` removes some"),
    (&["run", "--provider", "openai", "main.harn"], "set HARN_LLM_PROVIDER=openai"),
    (&["run", "main.harn", "--deny", "network"], "unknown capability"),
    (&["run", "main.harn", "--deny", "fs.wirte"], "did you mean `fs.write`?"),
    (&["preview", "main.harn", "--allow", "proc"], "use one of fs.write, process, net"),
    (&["preview", "main.harn", "--provider", "own.rhai"], "`--pack own.rhai` loads a file"),
    (&["doc", "notify_file_edites"], "did you mean `notify_file_edited`?"),
    (&["run", "-c", "println(1)"], "use `--eval`"),
    (&["check", "--task", "x", "main.harn"], "`--task` is an option of `harn run`"),
    (&["fmt", "--write", "main.harn"], "writes the files unless `--check`"),
    (&["serve", "a2a", "main.harn", "--port", "80"], "use `--listen`"),
    (&["test", "--bail"], "use `--fail-fast`"),
    (&["test", "-k", "adds"], "use `--filter`"),
    (&["test", "--junit"], "use `--format junit`"),
    (&["test", "--reporter", "junit"], "use `--format`"),
    (&["test", "--nocapture"], "use `--show-output`"),
    (&["test", "-u"], "use `--update`"),
    (&["test", "-w"], "use `--watch`"),
    (&["test", "--cov"], "use `--coverage`"),
    (&["test", "--fliter", "adds"], "'--filter'"),
    (&["fmt", "-w", "main.harn"], "writes the files unless `--check`"),
    (&["doc", "--output", "x"], "use `--out`"),
    (&["man", "rnu"], "did you mean `run`?"),
    (&["new", "agent", "demo"], "use `harn new demo --template agent`"),
    (&["new", "demo", "provider-pack"], "use `harn new demo --template provider-pack`"),
    (&["check", "main.harn", "--warnings-as-errors"], "use `--deny-warnings`"),
    (&["completions", "bsh"], "'bash'"),
];

#[test]
fn a_wrong_argument_names_the_right_one() {
    let dir = scratch("command-line-wrong");
    fs::write(dir.join("main.harn"), "println(1)\n").unwrap();
    let mut wrong = String::new();
    for (line, tip) in WRONG_ARGUMENTS {
        let ran = harn_in(&dir, line, b"", &[]);
        // A script that cannot be read is an error of the run, all others are wrong usage.
        let code = if line.last() == Some(&"mian.harn") { 1 } else { 2 };
        if ran.code != Some(code) || !ran.err.contains(tip) || !ran.out.is_empty() {
            wrong.push_str(&format!(
                "harn {}: {tip}: exit code {:?}\n{}{}",
                line.join(" "),
                ran.code,
                ran.out,
                ran.err
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn a_command_without_a_path_means_the_project() {
    let dir = scratch("command-line-project");
    fs::create_dir_all(dir.join("src/deep")).unwrap();
    // The search for a project ends here.
    fs::create_dir_all(dir.join(".git")).unwrap();
    fs::write(dir.join("harn.toml"), "").unwrap();
    fs::write(dir.join("main.harn"), "println(args(),1)\n").unwrap();
    fs::write(dir.join("src/lib.harn"), "println(totl)\n").unwrap();
    fs::write(dir.join("src/deep/one_test.harn"), "test \"one\" { assert_eq(1, 1) }\n").unwrap();
    for (folder, up) in [("", ""), ("src", "../"), ("src/deep", "../../")] {
        let folder = dir.join(folder);
        let checked = harn_in(&folder, &["check"], b"", &[]);
        assert!(checked.code == Some(1) && checked.err.contains(&format!("{up}src/lib.harn:1:9")), "{}", checked.err);
        let listed = harn_in(&folder, &["fmt", "--check"], b"", &[]);
        assert!(
            listed.code == Some(1) && listed.out.contains(&format!("{up}main.harn\n")),
            "{}{}",
            listed.out,
            listed.err
        );
        let tested = harn_in(&folder, &["test"], b"", &[]);
        assert!(tested.code == Some(0) && tested.out.contains("1 passed"), "{}{}", tested.out, tested.err);
        let ran = harn_in(&folder, &["run"], b"", &[]);
        assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "[] 1\n", ""));
    }
    let ran = harn_in(&dir.join("src"), &["run", "--seed", "1"], b"", &[]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "[] 1\n"), "{}", ran.err);
    fs::remove_file(dir.join("main.harn")).unwrap();
    fs::write(dir.join("main.rhai"), "println(2);\n").unwrap();
    assert_eq!(harn_in(&dir.join("src"), &["run"], b"", &[]).out, "2\n");
}

#[test]
fn a_command_without_a_path_says_so_if_there_is_nothing() {
    let dir = scratch("command-line-no-project");
    fs::create_dir_all(dir.join(".git")).unwrap();
    for command in ["check", "fmt"] {
        let ran = harn_in(&dir, &[command], b"", &[]);
        assert!(ran.code == Some(1) && ran.err.contains("the folder contains no scripts"), "{}", ran.err);
        assert!(ran.err.contains("run the command in the folder of a project"), "{}", ran.err);
    }
    let ran = harn_in(&dir, &["test"], b"", &[]);
    assert!(ran.code == Some(1) && ran.err.contains("no tests found in ."), "{}", ran.err);
    let ran = harn_in(&dir, &["run"], b"", &[]);
    let expected = "error: no script to run: `main.harn` does not exist\n  help: name a script, for example `harn run report.harn`; \
                    `-` reads standard input\n";
    assert_eq!((ran.code, ran.err.as_str()), (Some(2), expected));
    fs::write(dir.join("a_test.harn"), "").unwrap();
    fs::write(dir.join("hello.harn"), "").unwrap();
    let ran = harn_in(&dir, &["run"], b"", &[]);
    assert!(ran.code == Some(2) && ran.err.contains("for example `harn run hello.harn`"), "{}", ran.err);
}

#[test]
fn codes_are_explained_as_people_write_them() {
    for topic in [&["HARN-RMD-0O5"][..], &["rmd005"], &["rmd-5"], &["harn_rmd_005"], &["RMD", "5"]] {
        let found = harn(&[&["explain"], topic].concat());
        assert!(found.code == Some(0) && found.out.starts_with("HARN-RMD-005 (error)"), "{topic:?}: {}", found.err);
    }
    let found = harn(&["explain", "undefined", "variable"]);
    assert!(found.code == Some(0) && found.out.starts_with("HARN-NAM-001  error    unknown name\n"), "{}", found.out);
    assert!(found.out.lines().count() > 2, "{}", found.out);
    let found = harn(&["explain", "undefned", "propagte"]);
    assert!(found.code == Some(2) && found.out.is_empty(), "{}", found.out);
    assert!(found.err.contains("did you mean `propagate`?\n    HARN-RMD-"), "{}", found.err);
}

#[test]
fn tips_show_hostile_words_as_text() {
    let dir = scratch("command-line-hostile");
    fs::write(dir.join("ma\u{1b}[31min.harn"), "println(1)\n").unwrap();
    let ran = harn_in(&dir, &["ma\u{1b}[31min.hrn"], b"", &[]);
    assert!(ran.code == Some(2) && ran.err.contains("did you mean the script"), "{}", ran.err);
    assert!(!ran.err.contains('\u{1b}'), "{}", ran.err);
}

#[test]
fn standard_input_is_read_once() {
    for script in ["println(read_line())", "println(read_stdin())", "println(task.ask(\"Name?\"))"] {
        let ran = harn_with_input(&["run", "-"], script.as_bytes(), &[]);
        assert!(ran.code == Some(1) && ran.err.contains("HARN-IO-004"), "{script}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains("it contained the script") && ran.err.contains("<stdin>:1:"), "{}", ran.err);
    }
    let ran = harn_with_input(&["run", "-e", "println(read_line())"], b"typed\n", &[]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "typed\n", ""));
    for command in ["check", "fmt"] {
        let ran = harn_with_input(&[command, "-", "-"], b"println(1)\n", &[]);
        assert!(ran.code == Some(2) && ran.err.contains("`-` is given twice"), "{command}: {}{}", ran.out, ran.err);
    }
}

#[test]
fn scripts_without_a_file_have_spans_and_exit_codes() {
    for (line, input, place) in [
        (&["run", "-"][..], "let x = 1\nprintln(x.nope())\n", "<stdin>:2:"),
        (&["run", "-e", "let x = 1\nprintln(x.nope())\n"], "", "<command line>:2:"),
    ] {
        let ran = harn_with_input(line, input.as_bytes(), &[]);
        assert!(ran.code == Some(1) && ran.err.contains(place), "{line:?}: {}", ran.err);
        let ran = harn_with_input(&[line, &["--format", "json"]].concat(), input.as_bytes(), &[]);
        let name = place.split(':').next().unwrap();
        assert!(ran.code == Some(1) && ran.err.contains(&format!("\"{name}\"")), "{line:?}: {}", ran.err);
    }
    for (line, code) in [
        (&["run", "-e", "exit(7)"][..], 7),
        (&["run", "-e", "pipeline main() { return 5 }"], 5),
        (&["run", "-e", "pipeline main() { return 5000 }"], 255),
        (&["run", "-e", "while true { }", "--fuel", "1000"], 3),
        (&["run", "-e", "throw \"no\""], 1),
        (&["run", "-e", ""], 0),
        (&["run", "-e"], 2),
    ] {
        assert_eq!(harn(line).code, Some(code), "{line:?}");
    }
    let ran = harn_with_input(&["run", "-"], b"exit(7)", &[]);
    assert_eq!(ran.code, Some(7), "{}", ran.err);
}

#[test]
fn a_script_with_a_shebang_runs_as_a_program() {
    use std::os::unix::fs::PermissionsExt;
    let dir = scratch("command-line-shebang");
    let script = dir.join("tool");
    fs::write(&script, format!("#!{}\nprintln(args())\nexit(4)\n", env!("CARGO_BIN_EXE_harn"))).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let ran = std::process::Command::new(&script).args(["--seed", "a b"]).output().unwrap();
    assert_eq!(ran.status.code(), Some(4), "{}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!(String::from_utf8(ran.stdout).unwrap(), "[--seed, a b]\n");
}

const LOOP: &str = r#"
let tools = tool_define(tool_registry(), "look", "Looks.", {
  parameters: {path: "string"},
  handler: { args -> if args.path == "b" { throw "not there" } else { "text" } },
})
register_session_hook("session_start", { event ->
  return {reminder: {body: "Keep it short.", dedupe_key: "draft:notes.md", ttl_turns: 5}}
})
agent_loop("go", nil, {tools: tools, reminders: false, llm_caller: { asked ->
  match asked.turn {
    1 -> ({text: "", tool_calls: [{id: "1", name: "look", arguments: {path: "a"}}, {id: "2", name: "look", arguments: {path: "b"}}]})
    _ -> "done"
  }
}})
"#;

#[test]
fn the_live_view_has_a_line_for_each_reminder_and_each_tool_call() {
    let ran = harn(&["run", "--live", "always", "-e", LOOP]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let lines: Vec<&str> = ran.err.lines().collect();
    let shown =
        ["+ draft:notes.md (ttl 5)", "> look {\"path\":\"a\"}", "> look {\"path\":\"b\"} failed: not there", "done"];
    assert_eq!(lines, shown, "{}", ran.err);
}

#[test]
fn a_refused_request_is_not_a_broken_answer() {
    let script = r#"
llm_mock({error: {category: "rate_limit", message: "slow down", status: 429}})
llm_mock({text: "fine"})
mock_time(0)
println(agent_loop("go", nil, {provider: "mock", reminders: false, llm_retries: 1}).text)
"#;
    let ran = harn(&["run", "--live", "always", "-e", script]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "fine\n"), "{}", ran.err);
    assert!(!ran.err.contains("broke off"), "{}", ran.err);
}

#[test]
fn the_coding_agent_run_by_hand_leaves_the_folder_alone() {
    let dir = scratch("command-line-coding-agent");
    let script = root().join("examples/acp/coding_agent.harn");
    let ran = harn_in(&dir, &["run", script.to_str().unwrap(), "--task", "greet"], b"", &[]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 0);
    let place = ran.out.lines().find_map(|line| line.strip_prefix("working in ")).unwrap();
    assert_eq!(fs::read_to_string(std::path::Path::new(place).join("GREETING.md")).unwrap(), "Hello, world.\n");
    fs::remove_dir_all(place).unwrap();
}
