//! Completion scripts and manual pages.

use crate::harn::{harn, harn_in, scratch};
use std::fs;
use std::process::Command;

const SHELLS: [&str; 5] = ["bash", "elvish", "fish", "powershell", "zsh"];

/// The commands that `harn --help` lists.
fn commands() -> Vec<String> {
    let help = harn(&["--help"]).out;
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    lines.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

#[test]
fn each_shell_gets_every_command_and_the_options_of_run() {
    for shell in SHELLS {
        let script = harn(&["completions", shell]);
        assert_eq!((script.code, script.err.as_str()), (Some(0), ""), "{shell}");
        for command in commands() {
            assert!(script.out.contains(&command), "{shell}: {command}");
        }
        for option in ["max-memory", "event-log", "listen"] {
            assert!(script.out.contains(option), "{shell}: {option}");
        }
    }
}

#[test]
fn bash_completes_commands_options_and_values() {
    let dir = scratch("completions-bash");
    fs::write(dir.join("harn.bash"), harn(&["completions", "bash"]).out).unwrap();
    for (words, completed) in [
        (&["harn", "expl"][..], "explain"),
        (&["harn", "run", "--max-m"], "--max-memory"),
        (&["harn", "run", "--format", "js"], "json"),
        (&["harn", "serve", "a2"], "a2a"),
        (&["harn", "completions", "el"], "elvish"),
    ] {
        let words: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
        let script = format!(
            "source ./harn.bash; COMP_WORDS=({}); COMP_CWORD={}; COMPREPLY=(); _harn harn {} {}; echo \"${{COMPREPLY[@]}}\"",
            words.join(" "),
            words.len() - 1,
            words[words.len() - 1],
            words[words.len() - 2],
        );
        let output = Command::new("bash").args(["-c", &script]).current_dir(&dir).output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        assert_eq!(printed.trim(), completed, "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn each_command_has_a_manual_page() {
    let dir = scratch("man");
    let written = harn_in(&dir, &["man", "--out", "man1"], b"", &[]);
    assert_eq!((written.code, written.err.as_str()), (Some(0), ""));
    for command in commands().iter().filter(|command| *command != "help") {
        let page = fs::read_to_string(dir.join(format!("man1/harn-{command}.1"))).unwrap();
        assert!(page.contains(&format!(".TH harn-{command} 1")), "{page}");
        assert_eq!(harn(&["man", command]).out, page, "{command}");
    }
    assert!(dir.join("man1/harn-serve-acp.1").exists());
    let page = fs::read_to_string(dir.join("man1/harn.1")).unwrap();
    assert_eq!(harn(&["man"]).out, page);
    assert!(page.contains("harn\\-run(1)"), "{page}");
    assert!(harn(&["man", "serve", "a2a"]).out.contains("listen"));
    assert_eq!(harn(&["man", "nope"]).code, Some(2));
    fs::write(dir.join("file"), "").unwrap();
    assert_eq!(harn_in(&dir, &["man", "--out", "file"], b"", &[]).code, Some(1));
}
