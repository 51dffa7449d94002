//! Packages from PyPI and npm that tests need: installed under `target/` when they are first wanted, kept as long as the
//! versions stay. Tests that want the same ones at once wait for each other.

use crate::harn::root;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The Python of a virtual environment that holds what `requirements`, a file below the root, asks for.
pub(crate) fn python(name: &str, requirements: &str) -> PathBuf {
    let wanted = root().join(requirements);
    let versions = fs::read_to_string(&wanted).unwrap();
    let dir = folder(name);
    let python = dir.join("venv/bin/python");
    installed(&dir, &versions, &python, || {
        let new_enough = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))";
        assert!(
            is_there("python3", &["-c", new_enough]),
            "`python3` is missing, older than 3.10, or without its module `venv`: this test needs the packages of \
             {requirements}; install Python 3.10 or later (on Debian also python3-venv) and run it again"
        );
        let venv = dir.join("venv");
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(venv), "a virtual environment", VENV);
        let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary=:all:", "-r"];
        run(Command::new(&python).args(install).arg(&wanted), &format!("the packages of {requirements}"), PYPI);
    });
    python
}

/// The folder `node_modules` that holds `packages`, each with its version.
pub(crate) fn node(name: &str, packages: &[&str]) -> PathBuf {
    let dir = folder(name);
    let modules = dir.join("node_modules");
    let what = format!("the npm packages {}", packages.join(" "));
    require_node("node", &what);
    installed(&dir, &packages.join(" "), &modules, || {
        require_node("npm", &what);
        let install = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", "--prefix"];
        run(Command::new("npm").args(install).arg(&dir).args(packages), &what, NPM);
    });
    modules
}

/// A copy of `package`, a folder below the root, with the packages of its lock file.
pub(crate) fn locked_node(name: &str, package: &str) -> PathBuf {
    let (dir, source) = (folder(name), root().join(package));
    copy(&source, &dir);
    let versions = fs::read_to_string(source.join("package-lock.json")).unwrap();
    let what = format!("the npm packages of {package}/package-lock.json");
    require_node("node", &what);
    require_node("npm", &what);
    installed(&dir, &versions, &dir.join("node_modules"), || {
        let install = ["ci", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", "--prefix"];
        run(Command::new("npm").args(install).arg(&dir), &what, NPM);
    });
    dir
}

/// Copies a folder without what was installed or built in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (name, target) = (entry.file_name(), to.join(entry.file_name()));
        if !entry.file_type().unwrap().is_dir() {
            fs::copy(entry.path(), target).unwrap();
        } else if name != "node_modules" && name != "dist" {
            copy(&entry.path(), &target);
        }
    }
}

/// The advice if packages cannot be installed.
const NPM: &str = "check that npm reaches its registry (`npm ping`)";
const VENV: &str = "install Python's module `venv` (on Debian python3-venv)";
const PYPI: &str = "check that pip reaches PyPI or the index of PIP_INDEX_URL";

/// Fails unless a program of Node can be run.
pub(crate) fn require_node(program: &str, packages: &str) {
    assert!(
        is_there(program, &["--version"]),
        "`{program}` is missing: this test needs {packages}; install Node 20 or later with npm and run it again"
    );
}

/// Fails unless a program can be run with an argument that only shows something. `what` is what the test does with it, and
/// `package` the package of Debian.
pub(crate) fn require(program: &str, argument: &str, what: &str, package: &str) {
    assert!(
        is_there(program, &[argument]),
        "`{program}` is missing: this test {what}; install it (on Debian the package {package}) and run it again"
    );
}

fn is_there(program: &str, args: &[&str]) -> bool {
    let output = Command::new(program).args(args).stdin(Stdio::null()).output();
    output.is_ok_and(|output| output.status.success())
}

fn folder(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&dir).unwrap();
    dir
}

/// Installs into the folder unless those versions, and what comes of them, are there already.
fn installed(dir: &Path, versions: &str, made: &Path, install: impl FnOnce()) {
    let lock = File::create(dir.join("lock")).unwrap();
    lock.lock().unwrap();
    let stamp = dir.join("installed");
    if !fs::read_to_string(&stamp).is_ok_and(|there| there == versions) || !made.exists() {
        install();
        fs::write(stamp, versions).unwrap();
    }
}

fn run(command: &mut Command, what: &str, advice: &str) {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "could not install {what}: {advice} and run the test again\n{said}");
}
