//! Files that a hostile folder holds: pipes and devices in the place of files, links out of the project, a log with a trigger,
//! a store of facts that is all garbage.

use crate::harn::{Outcome, harn_in, scratch};
use nix::sys::stat::Mode;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// Runs a command that must neither wait nor read without end.
fn soon(folder: &Path, args: &[&str], env: &[(&str, &str)]) -> Outcome {
    harn_in(folder, args, b"", env)
}

fn pipe(path: &Path) {
    nix::unistd::mkfifo(path, Mode::S_IRWXU).unwrap();
}

#[test]
fn scripts_and_settings_are_regular_files() {
    let folder = scratch("files-scripts");
    pipe(&folder.join("pipe.harn"));
    fs::write(folder.join("imports.harn"), "import {a} from \"pipe\"\n").unwrap();
    symlink("/dev/zero", folder.join("zero.harn")).unwrap();
    for script in ["pipe.harn", "zero.harn", "imports.harn"] {
        for command in ["run", "check"] {
            let outcome = soon(&folder, &[command, script], &[]);
            assert_eq!((outcome.code, outcome.drawn("error")), (Some(1), 1), "{script}: {}", outcome.err);
            assert!(outcome.err.contains("not a regular file"), "{}", outcome.err);
        }
    }
    fs::write(folder.join("main.harn"), "println(1)\n").unwrap();
    pipe(&folder.join("harn.toml"));
    let outcome = soon(&folder, &["run", "main.harn"], &[]);
    assert_eq!((outcome.code, outcome.drawn("error")), (Some(1), 1), "{}", outcome.err);
    assert!(outcome.err.contains("error[HARN-CFG-004]"), "{}", outcome.err);
    fs::remove_file(folder.join("harn.toml")).unwrap();
    fs::write(folder.join("harn.toml"), "#".repeat(2 << 20)).unwrap();
    let outcome = soon(&folder, &["run", "main.harn"], &[]);
    assert!(outcome.err.contains("larger than 1 MiB"), "{}", outcome.err);
}

#[test]
fn packs_are_regular_files() {
    let folder = scratch("files-packs");
    pipe(&folder.join("pipe.rhai"));
    fs::write(folder.join("main.harn"), "println(1)\n").unwrap();
    let literal = "agent_loop(\"go\", nil, {llm_caller: { a -> \"x\" }, reminders: {packs: [\"pipe.rhai\"]}})\n";
    fs::write(folder.join("literal.harn"), literal).unwrap();
    for args in
        [&["run", "--provider", "pipe.rhai", "main.harn"][..], &["run", "literal.harn"], &["check", "literal.harn"]]
    {
        let outcome = soon(&folder, args, &[]);
        assert_eq!(outcome.code, Some(1), "{args:?}: {}", outcome.err);
        assert!(outcome.err.contains("not a regular file"), "{args:?}: {}", outcome.err);
    }
}

#[test]
fn a_script_reads_and_writes_regular_files() {
    let folder = scratch("files-builtins");
    pipe(&folder.join("pipe"));
    let script = "for path in [\"pipe\", \"/dev/zero\", \"/dev/tty\"] {\n  for f in [read_file, { p -> write_file(p, \"x\") }, { p -> \
                  append_file(p, \"x\") }] {\n    println(unwrap_err(try { f(path) }).message)\n  }\n}\nwrite_file(\"a\", \"one\")\n\
                  append_file(\"a\", \" two\")\nprintln(read_file(\"a\"))\nwrite_file(\"a\", \"3\")\nprintln(read_file(\"a\"))\n";
    fs::write(folder.join("main.harn"), script).unwrap();
    let outcome = soon(&folder, &["run", "main.harn"], &[]);
    assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""));
    let lines: Vec<&str> = outcome.out.lines().collect();
    assert_eq!((lines.len(), &lines[9..]), (11, &["one two", "3"][..]), "{}", outcome.out);
    assert!(lines[..9].iter().all(|line| line.ends_with("not a regular file")), "{}", outcome.out);
}

/// Text that must not be printed anywhere.
const SECRET: &str = "root-of-all-secrets";

#[test]
fn a_link_out_of_the_project_is_not_read_and_not_shown() {
    let folder = scratch("files-links");
    let (outside, project) = (folder.join("outside"), folder.join("project"));
    for folder in [&outside, &project] {
        fs::create_dir_all(folder).unwrap();
    }
    fs::create_dir_all(project.join(".git")).unwrap();
    fs::write(outside.join("secret.harn"), format!("{SECRET}: = (\n")).unwrap();
    symlink(outside.join("secret.harn"), project.join("linked.harn")).unwrap();
    symlink(outside.join("secret.harn"), project.join("pack.rhai")).unwrap();
    symlink(&outside, project.join("folder")).unwrap();
    let write = |name: &str, text: &str| fs::write(project.join(name), text).unwrap();
    write("file.harn", "import {a} from \"linked\"\n");
    write("folder.harn", "import {a} from \"folder/secret\"\n");
    let pack = "agent_loop(\"go\", nil, {llm_caller: { a -> \"x\" }, reminders: {packs: [\"pack.rhai\"]}})\n";
    write("pack.harn", pack);
    for script in ["file.harn", "folder.harn", "pack.harn"] {
        for command in ["run", "check"] {
            let outcome = soon(&project, &[command, script], &[]);
            assert_eq!(outcome.code, Some(1), "{command} {script}: {}", outcome.err);
            assert!(outcome.err.contains("link that points outside of the project"), "{script}: {}", outcome.err);
            assert!(!outcome.err.contains(SECRET), "{script}: {}", outcome.err);
        }
    }
    // A relative path out of the project is allowed, and a link within the project is too.
    write("ok.harn", "pub fn one() { 1 }\n");
    fs::write(outside.join("shared.harn"), "pub fn two() { 2 }\n").unwrap();
    symlink("ok.harn", project.join("inner.harn")).unwrap();
    write("fine.harn", "import {one} from \"inner\"\nimport {two} from \"../outside/shared\"\nprintln(one(), two())\n");
    let outcome = soon(&project, &["run", "fine.harn"], &[]);
    assert_eq!((outcome.code, outcome.out.as_str()), (Some(0), "1 2\n"), "{}", outcome.err);
    // The settings of the folder itself.
    symlink(outside.join("secret.harn"), project.join("harn.toml")).unwrap();
    let outcome = soon(&project, &["run", "ok.harn"], &[]);
    assert!(outcome.err.contains("error[HARN-CFG-004]") && !outcome.err.contains(SECRET), "{}", outcome.err);
}

#[test]
fn diagnostics_quote_only_scripts_of_the_project() {
    let folder = scratch("files-quoted");
    let project = folder.join("project");
    fs::create_dir_all(&project).unwrap();
    fs::write(project.join("harn.toml"), "").unwrap();
    let secret = format!("{SECRET}: = (\nlet x = {SECRET}\n");
    for name in ["netrc", "other.rhai", "other.harn"] {
        fs::write(folder.join(name), &secret).unwrap();
    }
    let pack = |path: &str| {
        format!(
            "agent_loop(\"go\", nil, {{llm_caller: {{ a -> \"x\" }}, reminders: {{packs: [{path:?}]}}}})\nprintln(2)\n"
        )
    };
    let absolute = folder.join("netrc");
    let cases = [
        (pack("../netrc"), "not a Rhai script"),
        (pack(absolute.to_str().unwrap()), "not a Rhai script"),
        (pack("/proc/self/environ"), "not a Rhai script"),
        (pack("../other.rhai"), "../other.rhai:1:"),
        ("import {x} from \"../other\"\nprintln(x)\n".to_owned(), "../other.harn:1:"),
    ];
    let key = [("ANTHROPIC_API_KEY", SECRET)];
    for (script, says) in cases {
        fs::write(project.join("main.harn"), &script).unwrap();
        let formats = ["--format=text", "--format=json", "--format=short", "--format=sarif", "--format=github"];
        let checks = formats.iter().map(|format| vec!["check", format, "main.harn"]);
        for args in checks.chain([vec!["run", "main.harn"], vec!["run", "--format=json", "main.harn"]]) {
            let outcome = soon(&project, &args, &key);
            let all = format!("{}{}", outcome.out, outcome.err);
            assert!(outcome.code != Some(0), "{args:?} {script}: {all}");
            assert!(!all.contains(SECRET), "{args:?} {script}: {all}");
            assert!(all.contains(says), "{args:?} {script}: {all}");
        }
    }
    // A script of the project is quoted, and so is a pack that the user names.
    fs::write(project.join("own.harn"), &secret).unwrap();
    fs::write(project.join("main.harn"), "import {x} from \"own\"\nprintln(x)\n").unwrap();
    assert!(soon(&project, &["check", "main.harn"], &[]).err.contains(SECRET));
    fs::write(project.join("main.harn"), "println(1)\n").unwrap();
    let outcome = soon(&project, &["run", "--provider", "../other.rhai", "main.harn"], &[]);
    assert!(outcome.code == Some(1) && outcome.err.contains(SECRET), "{}", outcome.err);
}

#[test]
fn a_check_reads_no_pack_that_the_script_may_not_read() {
    let folder = scratch("files-denied");
    let secret = folder.join("secret.txt");
    fs::write(&secret, format!("{SECRET} ( ( (\n")).unwrap();
    let script = format!(
        "let r = try {{ agent_loop(\"go\", nil, {{llm_caller: {{ a -> \"x\" }}, reminders: {{packs: [{:?}]}}}}) }}\n",
        secret.to_str().unwrap()
    );
    fs::write(folder.join("main.harn"), script).unwrap();
    for command in ["run", "check"] {
        let outcome = soon(&folder, &[command, "--deny", "fs.read", "main.harn"], &[]);
        assert!(!outcome.err.contains(SECRET), "{command}: {}", outcome.err);
        assert_eq!(outcome.code, Some(0), "{command}: {}", outcome.err);
    }
    // The same by the project's own word.
    fs::write(folder.join("harn.toml"), "[capabilities]\ndeny = [\"fs.read\"]\n").unwrap();
    for command in ["run", "check"] {
        let outcome = soon(&folder, &[command, "main.harn"], &[]);
        assert!(!outcome.err.contains(SECRET), "{command}: {}", outcome.err);
    }
}

#[test]
fn a_log_with_a_schema_of_its_own_is_refused() {
    let emit = "event_log.emit(\"a\", \"x\")\n";
    let slow = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c";
    for (name, sql) in [
        ("trigger", format!("CREATE TRIGGER t AFTER INSERT ON records BEGIN {slow}; END")),
        ("view", format!("CREATE VIEW v AS {slow}")),
        ("index", "CREATE INDEX i ON records (length(payload))".to_owned()),
        ("table", "CREATE TABLE extra (a)".to_owned()),
    ] {
        let folder = scratch("files-log");
        fs::write(folder.join("main.harn"), emit).unwrap();
        let args = ["run", "--timeout", "60s", "--event-log", "sqlite:events.db", "main.harn"];
        let outcome = soon(&folder, &args, &[]);
        assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""), "{name}");
        rusqlite::Connection::open(folder.join("events.db")).unwrap().execute_batch(&sql).unwrap();
        let outcome = soon(&folder, &args, &[]);
        assert_eq!((outcome.code, outcome.drawn("error")), (Some(1), 1), "{name}: {}", outcome.err);
        assert!(outcome.err.contains(&format!("it contains a {name} `")), "{name}: {}", outcome.err);
        let outcome = soon(&folder, &["trace", "events.db"], &[]);
        assert_eq!(outcome.code, Some(1), "{name}: {}", outcome.err);
    }
    let folder = scratch("files-log");
    pipe(&folder.join("events.db"));
    fs::write(folder.join("main.harn"), emit).unwrap();
    let outcome = soon(&folder, &["run", "--event-log", "sqlite:events.db", "main.harn"], &[]);
    assert!(outcome.err.contains("not a regular file"), "{}", outcome.err);
}

#[test]
fn a_log_that_takes_long_to_read_ends_with_the_time_of_the_run() {
    let folder = scratch("files-slow-log");
    let read = "event_log.emit(\"a\", \"x\")\nprintln(event_log.read({topic: \"a\"}).count)\n";
    fs::write(folder.join("main.harn"), read).unwrap();
    let run =
        |time: &str| soon(&folder, &["run", "--timeout", time, "--event-log", "sqlite:events.db", "main.harn"], &[]);
    assert_eq!(run("100s").code, Some(0));
    // Millions of objects in the schema: SQLite goes through all of them to open the file.
    let strange = "PRAGMA writable_schema = ON;\nWITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 3000000)\n\
                   INSERT INTO sqlite_master SELECT 'view', 'v' || n, 'v' || n, 0, 'CREATE VIEW v' || n || ' AS SELECT 1' FROM c;";
    rusqlite::Connection::open(folder.join("events.db")).unwrap().execute_batch(strange).unwrap();
    let outcome = run("1s");
    assert_eq!((outcome.code, outcome.drawn("error")), (Some(1), 1), "{}", outcome.err);
    assert!(outcome.err.contains("reading timed out"), "{}", outcome.err);
}

#[test]
fn garbage_among_facts_is_one_short_warning() {
    let folder = scratch("files-facts");
    let facts = folder.join(".harn/memory/project/facts");
    fs::create_dir_all(&facts).unwrap();
    fs::write(facts.join("events.jsonl"), "x\n".repeat(1 << 20)).unwrap();
    fs::write(folder.join("main.harn"), "println(recall_facts(\"\").count)\n").unwrap();
    let outcome = soon(&folder, &["run", "main.harn"], &[("HARN_MEMORY_ROOT", "")]);
    assert_eq!((outcome.code, outcome.out.as_str(), outcome.drawn("warning")), (Some(0), "0\n", 1), "{}", outcome.err);
    assert!(outcome.err.contains("1048576 lines of") && outcome.err.len() < 4_000, "{} bytes", outcome.err.len());
}

#[test]
fn the_projects_memory_does_not_lead_out_of_it() {
    let store =
        "println(unwrap_err(try { store_fact({kind: \"claim\", claim: \"It leaks.\", confidence: 0.5}) }).message)\n";
    for linked in [".harn", ".harn/memory"] {
        let whole = scratch("files-memory");
        let (outside, project) = (whole.join("outside"), whole.join("project"));
        fs::create_dir_all(outside.join("memory")).unwrap();
        let link = project.join(linked);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(&outside, &link).unwrap();
        fs::write(project.join("main.harn"), store).unwrap();
        let outcome = soon(&project, &["run", "main.harn"], &[("HARN_MEMORY_ROOT", "")]);
        assert_eq!(outcome.out, "`.harn/memory` is a link that points outside of the project\n", "{}", outcome.err);
        let written = fs::read_dir(&outside).unwrap().chain(fs::read_dir(outside.join("memory")).unwrap()).count();
        assert_eq!(written, 1, "something was written outside");
    }
}
