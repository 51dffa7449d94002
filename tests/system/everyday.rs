//! The programs of `examples/everyday`: each in Harn and in Rhai prints what the one file beside it says, and in Python is not much
//! shorter.
//!
//! `UPDATE=1 cargo test --test system everyday` writes what the Harn half prints. Read it before you commit.

use crate::diff::diff;
use crate::harn::{Outcome, environment, harn, harn_in, root, scratch};
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

const FOLDER: &str = "examples/everyday";
/// Programs that a new user would write, which are longer without a standard library.
const AGENTS: &str = "examples/everyday/agents";
/// The programs, each with its arguments; `URL` is that of a server, `REPOSITORY` a folder.
const PROGRAMS: [(&str, &[&str]); 9] = [
    ("api_client", &["URL", "item"]),
    ("changelog", &["REPOSITORY"]),
    ("csv_report", &[]),
    ("dedupe", &["photos", "--delete"]),
    ("extract", &[]),
    ("front_matter_lint", &["notes"]),
    ("link_checker", &["links"]),
    ("log_triage", &["app.log"]),
    ("mail_merge", &[]),
];
/// Files that programs write, printed after what they say.
const WRITTEN: [&str; 3] = ["report.json", "out/ann.eml", "out/bo.eml"];

/// Returns a folder with the files that the programs read, with the address of the server in them.
fn data(name: &str, url: &str) -> PathBuf {
    let folder = scratch(&format!("everyday-{name}"));
    copy(&root().join(FOLDER).join("data"), &folder, url);
    folder
}

fn copy(from: &Path, to: &Path, url: &str) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target, url);
        } else {
            fs::write(&target, fs::read_to_string(&path).unwrap().replace("http://server", url)).unwrap();
        }
    }
}

/// Makes a repository whose commits are the same each time.
fn repository(folder: &Path) -> String {
    let commits = [
        ("start", "2026-01-01", "Ann"),
        ("feat: read CSV", "2026-01-02", "Ann"),
        ("fix(parser): accept an empty file", "2026-01-05", "Bo"),
        ("feat(api)!: remove version 1", "2026-02-01", "Bo"),
        ("tidy up", "2026-02-03", "Ann"),
        ("docs: explain the options: all of them", "2026-02-05", "Ann"),
    ];
    let git = |args: &[&str], author: &str, date: &str| {
        let mut command = Command::new("git");
        let date = format!("{date}T10:00:00Z");
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), author).env(format!("GIT_{who}_EMAIL"), "a@example.com");
            command.env(format!("GIT_{who}_DATE"), &date);
        }
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", folder).arg("-C").arg(folder).args(args);
        let done = command.output().expect("needs git");
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    };
    git(&["init", "-q", "-b", "main"], "Ann", commits[0].1);
    for (at, (subject, date, author)) in commits.iter().enumerate() {
        git(&["commit", "-q", "--allow-empty", "-m", subject], author, date);
        if at == 0 {
            git(&["tag", "v1.0"], author, date);
        }
    }
    folder.display().to_string()
}

/// Starts a server with 23 items in pages of ten, of which the second fails at first. Returns its URL.
fn server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    // It ends with the process of the tests.
    thread::spawn(move || {
        let mut fails = true;
        for stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(&stream);
            let (mut request, mut line) = (String::new(), String::new());
            let mut is_known = false;
            if reader.read_line(&mut request).is_err() {
                continue;
            }
            while reader.read_line(&mut line).is_ok_and(|length| length > 2) {
                is_known |= line.trim_end().eq_ignore_ascii_case("authorization: Bearer s3cret");
                line.clear();
            }
            let path = request.split(' ').nth(1).unwrap_or_default();
            let page = path.split(['?', '&']).find_map(|part| part.strip_prefix("page=")?.parse::<usize>().ok());
            let (status, body) = match (path.split('?').next().unwrap_or_default(), page) {
                ("/ok", _) => ("200 OK", String::new()),
                ("/items", _) if !is_known => ("401 Unauthorized", "bad token".to_owned()),
                ("/items", Some(2)) if std::mem::take(&mut fails) => ("503 Service Unavailable", String::new()),
                ("/items", Some(page)) => ("200 OK", items(page)),
                _ => ("404 Not Found", String::new()),
            };
            respond(&stream, status, if request.starts_with("HEAD") { "" } else { &body });
        }
    });
    url
}

fn items(page: usize) -> String {
    let all: Vec<String> = (1..24)
        .map(|i| {
            let tags = if i % 2 == 0 { r#"["even"]"# } else { "[]" };
            format!(r#"{{"id":{i},"name":"item {i}","price":{},"tags":{tags}}}"#, f64::from(i) * 61.25)
        })
        .collect();
    let shown = all.chunks(10).nth(page - 1).unwrap_or_default();
    let next = if page < 3 { (page + 1).to_string() } else { "null".to_owned() };
    format!(r#"{{"items":[{}],"next":{next},"total":{}}}"#, shown.join(","), all.len())
}

fn respond(mut stream: &TcpStream, status: &str, body: &str) {
    let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len());
    let _ = stream.write_all(head.as_bytes());
}

/// Runs a program in its folder; what it writes to files is added to what it prints.
fn run(script: &str, folder: &Path, args: &[&str], url: &str) -> Outcome {
    let script = root().join(script).display().to_string();
    let args: Vec<String> = args
        .iter()
        .map(|arg| match *arg {
            "URL" => url.to_owned(),
            "REPOSITORY" => repository(folder),
            arg => arg.to_owned(),
        })
        .collect();
    let line: Vec<String> =
        ["run", "--seed", "1", &script, "--"].iter().map(|&word| word.to_owned()).chain(args).collect();
    let mut outcome = harn_in(folder, &line, b"", &[("API_TOKEN", "s3cret")]);
    for file in WRITTEN {
        if let Ok(text) = fs::read_to_string(folder.join(file)) {
            outcome.out.push_str(&format!("--- {file}\n{text}"));
        }
    }
    outcome.out = outcome.out.replace(url, "http://server");
    outcome
}

fn is_update() -> bool {
    std::env::var_os("UPDATE").is_some_and(|set| set == "1")
}

fn compare(expected: &Path, found: &str, is_first: bool) -> Option<String> {
    if is_first && is_update() {
        fs::write(expected, found).unwrap();
    }
    diff(&fs::read_to_string(expected).unwrap_or_default(), found)
}

#[test]
fn both_halves_print_what_the_file_beside_them_says() {
    let mut wrong = Vec::new();
    for (program, args) in PROGRAMS {
        for language in ["harn", "rhai"] {
            let url = server();
            let folder = data(&format!("{program}-{language}"), &url);
            let found = run(&format!("{FOLDER}/{program}.{language}"), &folder, args, &url);
            let code = if matches!(program, "front_matter_lint" | "link_checker") { 1 } else { 0 };
            if (found.code, found.err.as_str()) != (Some(code), "") {
                wrong.push(format!("{program}.{language}: {:?} {}", found.code, found.err));
            }
            if program == "dedupe" {
                assert!(folder.join("photos/c.txt").exists() && !folder.join("photos/copies/c1.txt").exists());
            }
            let expected = root().join(FOLDER).join(format!("{program}.out"));
            let difference = compare(&expected, &found.out, language == "harn");
            wrong.extend(difference.map(|text| format!("{program}.{language} (-expected, +found):\n{text}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Programs that need the server or a repository, and the others.
const OF_AGENTS: [(&str, &[&str]); 6] = [
    ("changelog", &["--task", "REPOSITORY"]),
    ("client", &["URL"]),
    ("guard", &[]),
    ("report", &[]),
    ("research", &[]),
    ("triage", &[]),
];

#[test]
fn agents_print_what_the_file_beside_them_says() {
    let mut wrong = Vec::new();
    for (program, args) in OF_AGENTS {
        let url = server();
        let folder = data(&format!("agents-{program}"), &url);
        let found = run_agent(program, &folder, args, &url);
        if found.code != Some(0) {
            wrong.push(format!("{program}: {:?} {}", found.code, found.err));
        }
        let expected = root().join(AGENTS).join(format!("{program}.out"));
        let difference = compare(&expected, &found.out, true);
        wrong.extend(difference.map(|text| format!("{program} (-expected, +found):\n{text}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A pipeline's task is an option of the command.
fn run_agent(program: &str, folder: &Path, args: &[&str], url: &str) -> Outcome {
    if let ["--task", _] = args {
        let script = root().join(AGENTS).join(format!("{program}.harn")).display().to_string();
        return harn_in(folder, &["run", "--seed", "1", "--task", &repository(folder), &script], b"", &[]);
    }
    run(&format!("{AGENTS}/{program}.harn"), folder, args, url)
}

/// Returns the names of the programs of a folder in a language.
fn programs(folder: &str, language: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let chosen = entries.filter(|path| path.extension().is_some_and(|found| found == language));
    chosen.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect()
}

/// The program that runs until it has seen so many changes.
const WATCHER: &str = "watcher";

/// Starts the watcher, changes the files when it says that it watches, and returns all that it prints.
fn watched(language: &str) -> String {
    let folder = data(&format!("{WATCHER}-{language}"), "http://server");
    let script = root().join(FOLDER).join(format!("{WATCHER}.{language}"));
    let mut watcher = Command::new(env!("CARGO_BIN_EXE_harn"))
        .arg("run")
        .arg(&script)
        .args(["--", "notes", "index.md", "2"])
        .envs(environment())
        .current_dir(&folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(watcher.stdout.take().unwrap());
    let mut printed = String::new();
    lines.read_line(&mut printed).unwrap();
    assert_eq!(printed, "watching notes\n");
    let before = fs::read_to_string(folder.join("index.md")).unwrap();
    assert!(before.contains("# 5 pages") && before.contains("[First light](notes/first.md): 7 words"), "{before}");
    fs::write(folder.join("notes/new.md"), "---\ntitle: New\n---\nOne two three.\n").unwrap();
    lines.read_line(&mut printed).unwrap();
    fs::remove_file(folder.join("notes/old.md")).unwrap();
    lines.read_to_string(&mut printed).unwrap();
    assert!(watcher.wait().unwrap().success());
    printed
}

#[test]
fn the_watcher_follows_the_files() {
    for language in ["harn", "rhai"] {
        let expected = root().join(FOLDER).join(format!("{WATCHER}.out"));
        assert_eq!(compare(&expected, &watched(language), language == "harn"), None, "{language}");
    }
}

#[test]
fn each_program_is_run_and_written_in_three_languages() {
    let mut wanted: BTreeSet<String> = PROGRAMS.iter().map(|(program, _)| (*program).to_owned()).collect();
    wanted.insert(WATCHER.to_owned());
    assert_eq!(wanted.len(), 10);
    for language in ["harn", "rhai", "py", "out"] {
        assert_eq!(programs(FOLDER, language), wanted, ".{language}");
    }
    let wanted: BTreeSet<String> = OF_AGENTS.iter().map(|(program, _)| (*program).to_owned()).collect();
    assert_eq!(programs(AGENTS, "harn"), wanted);
}

/// Counts the lines that are neither blank nor a comment.
fn lines(path: &Path, comment: &str) -> usize {
    let text = fs::read_to_string(path).unwrap();
    // The text at the beginning of a program in Python is a comment.
    let text = text.strip_prefix("\"\"\"").and_then(|text| text.split_once("\"\"\"")).map_or(&*text, |(_, rest)| rest);
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(comment)).count()
}

#[test]
fn no_program_is_much_longer_than_in_python() {
    for program in programs(FOLDER, "harn") {
        let path = |language: &str| root().join(FOLDER).join(format!("{program}.{language}"));
        let python = lines(&path("py"), "#");
        for language in ["harn", "rhai"] {
            let own = lines(&path(language), "//");
            assert!(python * 10 >= own * 8, "{program}: {python} lines in Python, {own} in .{language}");
        }
        let whole = fs::read_to_string(path("harn")).unwrap().lines().count();
        assert!((20..=60).contains(&whole), "{program} has {whole} lines");
    }
}

#[test]
fn each_program_checks_clean() {
    for folder in [FOLDER, AGENTS] {
        for language in ["harn", "rhai"] {
            for program in programs(folder, language) {
                let outcome = harn(&["check", &format!("{folder}/{program}.{language}")]);
                assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""), "{program}.{language}");
            }
        }
    }
}
