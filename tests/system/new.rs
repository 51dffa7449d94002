//! Projects that `harn new` makes.

use crate::harn::{harn, harn_in, root, scratch};
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// Note that the mock model answers.
const MOCKED: &str =
    "note: no provider is selected and no key is set, so the mock model answers (set HARN_LLM_PROVIDER)\n";

/// The templates, each with arguments of `harn run`, its output and what it says on standard error.
const TEMPLATES: [(&str, &[&str], &str, &str); 4] = [
    ("pipeline", &["main.harn", "--task", "A rose is a ROSE"], "2 a\n2 rose\n1 is\n", ""),
    ("agent", &["main.harn"], "The changelog and the tag are left.\n", MOCKED),
    (
        "provider-pack",
        &["main.harn"],
        "Done.\nturn 1: \"You look.\"\nturn 2: \"You look.\"\n\
         turn 3: \"You look.\\n\\nSystem reminder:\\n2 tools have run: say what is left to do.\"\n",
        MOCKED,
    ),
    ("a2a", &["main.harn", "--task", "hello"], "translating\nHELLO!\n", ""),
];

fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = entries.collect();
    names.sort();
    names
}

#[test]
fn projects_of_every_template_check_run_and_pass_their_tests() {
    let help = harn(&["new", "--help"]).out;
    for (template, run, output, note) in TEMPLATES {
        assert!(help.contains(&format!("- {template}:")), "{template}: {help}");
        let dir = scratch(&format!("new-{template}"));
        let made = harn_in(&dir, &["new", "my-project", "--template", template], b"", &[]);
        assert_eq!((made.code, made.err.as_str()), (Some(0), ""), "{template}: {}", made.out);
        let project = dir.join("my-project");
        let listed: Vec<&str> = made.out.lines().filter_map(|line| line.strip_prefix("  ")).collect();
        assert_eq!(files(&project), listed, "{template}");
        for line in [&["check", "."][..], &["fmt", "--check", "."], &["test", "."], &[&["run"], run].concat()] {
            // No provider is selected, as on a new machine.
            let ran = harn_in(&project, line, b"", &[("HARN_LLM_PROVIDER", "")]);
            assert_eq!(ran.code, Some(0), "{template}: {line:?}: {}{}", ran.out, ran.err);
            if line[0] == "run" {
                assert_eq!((ran.out.as_str(), ran.err.as_str()), (output, note), "{template}");
            }
            if line[0] == "check" {
                assert_eq!((ran.out.as_str(), ran.err.as_str()), ("", ""), "{template}");
            }
        }
        for name in listed {
            let text = fs::read_to_string(project.join(name)).unwrap();
            assert!(!text.contains("{{"), "{template}: {name}");
        }
        assert!(fs::read_to_string(project.join("README.md")).unwrap().starts_with("# my-project\n"));
        assert_eq!(fs::metadata(project.join("ci.sh")).unwrap().permissions().mode() & 0o777, 0o755);
        let path = format!("{}:{}", bin(), std::env::var("PATH").unwrap());
        let ci = Command::new("./ci.sh").current_dir(&project).env("PATH", path).output().unwrap();
        assert!(ci.status.success(), "{template}: {}", String::from_utf8_lossy(&ci.stderr));
    }
}

/// Returns the folder of the command.
fn bin() -> String {
    Path::new(env!("CARGO_BIN_EXE_harn")).parent().unwrap().display().to_string()
}

#[test]
fn every_file_of_a_template_is_made() {
    for (template, ..) in TEMPLATES {
        let dir = scratch(&format!("new-files-{template}"));
        harn_in(&dir, &["new", "one", "--template", template], b"", &[]);
        let made = files(&dir.join("one"));
        for name in files(&root().join("cli/new").join(template)) {
            assert!(made.contains(&name), "{template}: {name}");
        }
    }
}

#[test]
fn a_key_is_enough_to_ask_a_real_model() {
    let texts = r#"{"id": "m", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
        "content": [{"type": "text", "text": "A real answer."}], "usage": {"input_tokens": 1, "output_tokens": 1}}"#;
    for template in ["agent", "provider-pack"] {
        let dir = scratch(&format!("new-key-{template}"));
        harn_in(&dir, &["new", "one", "--template", template], b"", &[]);
        let run = |status: &'static str, body: &'static str| {
            let url = format!("http://127.0.0.1:{}", answering(status, body));
            let env = [("HARN_LLM_PROVIDER", ""), ("ANTHROPIC_API_KEY", "a-key"), ("ANTHROPIC_BASE_URL", url.as_str())];
            harn_in(&dir.join("one"), &["run", "main.harn"], b"", &env)
        };
        let ran = run("200 OK", texts);
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), "A real answer.\n"), "{template}: {}", ran.err);
        assert!(!ran.err.contains("mock"), "{template}: {}", ran.err);
        let ran = run("401 Unauthorized", r#"{"error": {"message": "invalid x-api-key"}}"#);
        assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{template}: {}", ran.err);
        assert_eq!(
            ran.err.matches("answered 401 Unauthorized: invalid x-api-key").count(),
            1,
            "{template}: {}",
            ran.err
        );
    }
}

/// Starts a server that answers each request so. Returns its port; it ends with the process of the tests.
fn answering(status: &'static str, body: &'static str) -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            if crate::model_server::read_request(&stream) {
                let length = body.len();
                let head =
                    format!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n");
                let _ = stream.write_all(format!("{head}Connection: close\r\n\r\n{body}").as_bytes());
            }
        }
    });
    port
}

#[test]
fn nothing_is_overwritten() {
    let dir = scratch("new-overwrite");
    fs::create_dir_all(dir.join("full")).unwrap();
    fs::write(dir.join("full/notes.txt"), "mine").unwrap();
    fs::write(dir.join("file"), "mine").unwrap();
    std::os::unix::fs::symlink("nowhere", dir.join("link")).unwrap();
    for name in ["full", "file", "link"] {
        let made = harn_in(&dir, &["new", name], b"", &[]);
        assert!(made.code == Some(1) && made.err.contains("is not an empty folder"), "{name}: {}", made.err);
    }
    assert_eq!(files(&dir.join("full")), ["notes.txt"]);
    assert_eq!(fs::read_to_string(dir.join("file")).unwrap(), "mine");
    assert!(!dir.join("nowhere").exists());
    // An empty folder is filled, and `.` has the name of its folder.
    fs::create_dir(dir.join("empty")).unwrap();
    let made = harn_in(&dir.join("empty"), &["new", "."], b"", &[]);
    assert_eq!((made.code, made.err.as_str()), (Some(0), ""));
    assert!(fs::read_to_string(dir.join("empty/README.md")).unwrap().starts_with("# empty\n"));
}

#[test]
fn names_are_checked() {
    let dir = scratch("new-names");
    for name in ["1st", "a b", "a\u{1b}[31m", "-", "/", "ünï"] {
        let made = harn_in(&dir, &["new", "--", name], b"", &[]);
        assert!(made.code == Some(2) && !made.err.contains('\u{1b}'), "{name}: {}{}", made.out, made.err);
    }
    assert_eq!(harn_in(&dir, &["new"], b"", &[]).code, Some(2));
    assert_eq!(harn_in(&dir, &["new", "x", "--template", "mcp"], b"", &[]).code, Some(2));
    assert_eq!(files(&dir), Vec::<String>::new());
}
