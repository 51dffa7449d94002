//! Projects that `harn new` makes.

use crate::harn::{harn, harn_in, root, scratch};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// The templates, each with arguments of `harn run` and its output.
const TEMPLATES: [(&str, &[&str], &str); 4] = [
    ("pipeline", &["main.harn", "--task", "A rose is a ROSE"], "2 a\n2 rose\n1 is\n"),
    ("agent", &["main.harn"], "The changelog and the tag are left.\n"),
    (
        "provider-pack",
        &["main.harn"],
        "turn 1: \"You look.\"\nturn 2: \"You look.\"\n\
         turn 3: \"You look.\\n\\nSystem reminder:\\n2 tools have run: say what is left to do.\"\n",
    ),
    ("a2a", &["main.harn", "--task", "hello"], "translating\nHELLO!\n"),
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
    for (template, run, output) in TEMPLATES {
        assert!(help.contains(&format!("- {template}:")), "{template}: {help}");
        let dir = scratch(&format!("new-{template}"));
        let made = harn_in(&dir, &["new", "my-project", "--template", template], b"", &[]);
        assert_eq!((made.code, made.err.as_str()), (Some(0), ""), "{template}: {}", made.out);
        let project = dir.join("my-project");
        let listed: Vec<&str> = made.out.lines().filter_map(|line| line.strip_prefix("  ")).collect();
        assert_eq!(files(&project), listed, "{template}");
        for line in [&["check", "."][..], &["fmt", "--check", "."], &["test", "."], &[&["run"], run].concat()] {
            let ran = harn_in(&project, line, b"", &[]);
            assert_eq!(ran.code, Some(0), "{template}: {line:?}: {}{}", ran.out, ran.err);
            if line[0] == "run" {
                assert_eq!((ran.out.as_str(), ran.err.as_str()), (output, ""), "{template}");
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
